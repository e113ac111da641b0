#include "flow/messaging/stream_snapshot.h"

#include "core/world/world.h"
#include "flow/messaging/stream_frame.h"

typedef struct saved_stream {
    struct saved_stream *next;
    uint64_t number; /* of the stream */
    micap_saved_queue *queue;
    micap_stream_reader *readers;
    uint32_t reader_count;
    uint64_t lost_bytes;
    uint64_t missed;
} saved_stream;

typedef struct saved_streams {
    uint64_t frame;
    saved_stream *first;
} saved_streams;

void micap_streams_drop(mica_world *world, void *state, void *data)
{
    (void)state;
    saved_streams *saved = data;
    for (saved_stream *at = saved->first, *next; at; at = next) {
        next = at->next;
        micap_queue_drop_saved(&world->memory, at->queue);
        MICAP_RELEASE_ARRAY(&world->memory, at->readers, at->reader_count);
        micap_release(&world->memory, at, sizeof *at, MICAP_ARRAY_ALIGNMENT);
    }
    micap_release(&world->memory, saved, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
}

static bool save_one(saved_streams *saved, const mica_stream *stream)
{
    micap_memory *memory = &stream->world->memory;
    saved_stream *copy = micap_allocate_zeroed(memory, sizeof *copy, MICAP_ARRAY_ALIGNMENT);
    if (!copy)
        return false;
    copy->next = saved->first;
    saved->first = copy;
    copy->number = stream->number;
    copy->lost_bytes = stream->lost_bytes;
    copy->missed = atomic_load_explicit(&stream->missed, memory_order_relaxed);
    copy->queue = micap_queue_save(&stream->queue);
    copy->reader_count = stream->reader_count;
    copy->readers = micap_allocate(memory, stream->reader_count * sizeof *copy->readers, MICAP_ARRAY_ALIGNMENT);
    if (!copy->queue || !copy->readers)
        return false;
    if (copy->reader_count)
        memcpy(copy->readers, stream->readers, copy->reader_count * sizeof *copy->readers);
    return true;
}

void *micap_streams_save(mica_world *world, void *state)
{
    const micap_streams *streams = state;
    saved_streams *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    saved->frame = streams->frame;
    for (const mica_stream *stream = streams->first; stream; stream = stream->next)
        if (!save_one(saved, stream)) {
            micap_streams_drop(world, state, saved);
            return NULL;
        }
    return saved;
}

static const saved_stream *saved_of(const saved_streams *saved, const mica_stream *stream)
{
    const saved_stream *at = saved ? saved->first : NULL;
    while (at && at->number != stream->number)
        at = at->next;
    return at;
}

bool micap_streams_prepare(mica_world *world, void *state, const void *data)
{
    (void)world;
    const micap_streams *streams = state;
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        const saved_stream *old = saved_of(data, stream);
        if (old && !micap_queue_prepare_load(&stream->queue, old->queue)) /* the array of readers never shrinks */
            return false;
    }
    return true;
}

/* A stream that was created after the snapshot is now empty, and its readers stand at its end. */
static void load_readers(mica_stream *stream, const saved_stream *old)
{
    if (old) {
        stream->reader_count = old->reader_count;
        if (old->reader_count)
            memcpy(stream->readers, old->readers, old->reader_count * sizeof *old->readers);
    }
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        micap_stream_reader *reader = &stream->readers[i];
        reader->span = reader->sequence_span = NULL;
        reader->sequence = 0;
        if (!old)
            reader->position = stream->queue.end;
    }
}

void micap_streams_load(mica_world *world, void *state, const void *data)
{
    (void)world;
    const saved_streams *saved = data;
    micap_streams *streams = state;
    streams->frame = saved ? saved->frame : 0;
    streams->systems_version = 0; /* compare readers with what systems declare */
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        const saved_stream *old = saved_of(saved, stream);
        micap_queue_load(&stream->queue, old ? old->queue : NULL);
        stream->lost_bytes = old ? old->lost_bytes : 0;
        atomic_store_explicit(&stream->missed, old ? old->missed : 0, memory_order_relaxed);
        load_readers(stream, old);
    }
}
