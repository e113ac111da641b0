#include "flow/messaging/stream_snapshot.h"

#include "core/world/world.h"
#include "flow/messaging/stream_frame.h"
#include "type/value_bytes.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

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
    const micap_streams *streams = state;
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        const saved_stream *old = saved_of(data, stream);
        if (old && (!micap_queue_prepare_load(&stream->queue, old->queue) ||
                    !MICAP_RESERVE(&world->memory, stream->readers, &stream->reader_capacity, old->reader_count)))
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
        stream->told = stream->queue.end;
        load_readers(stream, old);
    }
}

static void put_messages(micap_bytes *bytes, const char *begin, const char *end, const void *context)
{
    const mica_stream *stream = context;
    micap_bytes_put_number(bytes, (uint64_t)(end - begin) / stream->message_bytes);
    for (; begin < end; begin += stream->message_bytes) {
        if (stream->type) {
            micap_value_put(bytes, &stream->type->type, begin);
            continue;
        }
        const micap_question_head *head = (const micap_question_head *)(const void *)begin;
        micap_bytes_put64(bytes, head->key);
        micap_bytes_put32(bytes, head->asker.index);
        micap_bytes_put32(bytes, head->asker.generation);
        micap_value_put(bytes, &stream->question->type, begin + stream->question_offset);
    }
}

static bool take_messages(micap_reader *reader, micap_bytes *out, const void *context)
{
    const mica_stream *stream = context;
    uint64_t count = micap_reader_take_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        char *message = micap_bytes_grow(out, stream->message_bytes);
        if (!message)
            return false;
        memset(message, 0, stream->message_bytes);
        if (stream->type) {
            micap_value_take(reader, &stream->type->type, message);
            continue;
        }
        micap_question_head head = {.key = micap_reader_take64(reader)};
        head.asker.index = micap_reader_take32(reader);
        head.asker.generation = micap_reader_take32(reader);
        memcpy(message, &head, sizeof head);
        micap_value_take(reader, &stream->question->type, message + stream->question_offset);
    }
    return !reader->failed;
}

static micap_queue_codec codec_of(const mica_stream *stream)
{
    return (micap_queue_codec){put_messages, take_messages, stream->message_bytes, stream};
}

static const micap_type *type_of(const mica_stream *stream)
{
    return stream->type ? stream->type : stream->question;
}

static const char *name_of(const micap_flow *flow, uint32_t system)
{
    const micap_system *found = micap_system_find_number(flow, system);
    return found ? found->def.name : ""; /* of one that was removed, or the application */
}

static void write_stream(const micap_flow *flow, const mica_stream *stream, micap_bytes *bytes)
{
    micap_queue_codec codec = codec_of(stream);
    micap_bytes_put_number(bytes, stream->lost_bytes / stream->message_bytes);
    micap_bytes_put_number(bytes, atomic_load_explicit(&stream->missed, memory_order_relaxed));
    micap_queue_write(&stream->queue, bytes, &codec);
    micap_bytes_put_number(bytes, stream->reader_count);
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        const micap_stream_reader *reader = &stream->readers[i];
        micap_bytes_put_text(bytes, name_of(flow, reader->system));
        micap_bytes_put_number(bytes, reader->position / stream->message_bytes);
        micap_bytes_put_number(bytes, reader->lost_bytes / stream->message_bytes);
    }
}

void micap_streams_write(const mica_world *world, const void *state, micap_bytes *bytes)
{
    const micap_streams *streams = state;
    micap_bytes_put_number(bytes, streams->frame);
    for (const mica_stream *stream = streams->first; stream; stream = stream->next) {
        micap_bytes_put_text(bytes, stream->name);
        micap_bytes_put64(bytes, type_of(stream)->layout_hash);
        micap_bytes_put32(bytes, 0);
        uint32_t begin = bytes->count;
        write_stream(micap_flow_get(world), stream, bytes);
        uint32_t count = micap_little32(bytes->count - begin);
        if (!bytes->failed)
            memcpy(bytes->data + begin - sizeof count, &count, sizeof count);
    }
}

/* The stream of that name and layout that nothing was read for yet; several may have the same name. */
static mica_stream *find_stream(const micap_streams *streams, const saved_streams *saved, const char *name,
                                size_t count, uint64_t layout_hash)
{
    mica_stream *stream = streams->first;
    while (stream && (saved_of(saved, stream) || type_of(stream)->layout_hash != layout_hash ||
                      !micap_is_same_text(name, count, stream->name)))
        stream = stream->next;
    return stream;
}

static uint32_t find_system(const micap_flow *flow, const char *name, size_t count)
{
    for (uint32_t i = 0; i < flow->system_count; ++i)
        if (micap_is_same_text(name, count, flow->systems[i]->def.name))
            return flow->systems[i]->id;
    return 0;
}

static bool read_readers(const mica_stream *stream, saved_stream *saved, micap_reader *reader)
{
    const micap_flow *flow = micap_flow_get(stream->world);
    uint64_t begin, end, count = micap_reader_take_up_to(reader, micap_reader_left(reader));
    micap_saved_queue_range(saved->queue, &begin, &end);
    saved->readers =
        micap_allocate_zeroed(&stream->world->memory, count * sizeof *saved->readers, MICAP_ARRAY_ALIGNMENT);
    if (!saved->readers)
        return false;
    saved->reader_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; ++i) {
        size_t name_bytes;
        const char *name = micap_reader_take_text(reader, &name_bytes);
        micap_stream_reader *at = &saved->readers[i];
        at->system = name && name_bytes ? find_system(flow, name, name_bytes) : 0;
        if (name_bytes && !at->system)
            at->system = UINT32_MAX; /* it is not there: the next frame removes it */
        at->position = micap_reader_take_number(reader) * stream->message_bytes;
        at->lost_bytes = micap_reader_take_number(reader) * stream->message_bytes;
        if (reader->failed || at->position > end)
            return false;
    }
    return true;
}

static bool read_stream(saved_streams *all, const mica_stream *stream, micap_reader *reader)
{
    micap_queue_codec codec = codec_of(stream);
    saved_stream *saved = micap_allocate_zeroed(&stream->world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return false;
    saved->next = all->first;
    all->first = saved;
    saved->number = stream->number;
    saved->lost_bytes = micap_reader_take_number(reader) * stream->message_bytes;
    saved->missed = micap_reader_take_number(reader);
    saved->queue = micap_queue_read(&stream->queue, reader, &codec);
    return saved->queue && read_readers(stream, saved, reader);
}

void *micap_streams_read(mica_world *world, void *state, micap_reader *reader)
{
    const micap_streams *streams = state;
    saved_streams *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    saved->frame = micap_reader_take_number(reader);
    bool fine = !reader->failed;
    while (fine && micap_reader_left(reader)) {
        size_t name_bytes;
        const char *name = micap_reader_take_text(reader, &name_bytes);
        uint64_t layout_hash = micap_reader_take64(reader);
        uint32_t count = micap_reader_take32(reader);
        const char *begin = micap_reader_take(reader, count);
        const mica_stream *stream = begin ? find_stream(streams, saved, name, name_bytes, layout_hash) : NULL;
        micap_reader content = {begin, begin, begin ? begin + count : NULL, false};
        fine = begin && (!stream || read_stream(saved, stream, &content));
    }
    if (fine)
        return saved;
    micap_streams_drop(world, state, saved);
    return NULL;
}
