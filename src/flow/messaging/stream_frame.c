/* Streams around frames and phases: lanes are made before systems write, put into order behind them, and what all have
 * read is dropped when the next frame begins. */
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "flow/schedule/flow.h"
#include "flow/messaging/stream.h"

/* An exclusive system reads as the application does. */
static bool reads(const micap_system *system, const mica_stream *stream)
{
    return !system->def.exclusive && !system->is_removed && micap_system_uses_stream(system, stream, false);
}

static bool is_declared(const mica_world *world, const mica_stream *stream, uint32_t id)
{
    const micap_system *system;
    for (uint32_t i = 0; (system = micap_system_at(world, i)); ++i)
        if (micap_system_id(system).id == id)
            return reads(system, stream);
    return false;
}

static bool is_known(const mica_stream *stream, uint32_t id)
{
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (stream->readers[i].system == id)
            return true;
    return false;
}

/* Readers that are no longer declared go, new ones come. False when memory is short. */
static bool update_readers(mica_world *world, mica_stream *stream)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (!stream->readers[i].system || is_declared(world, stream, stream->readers[i].system))
            stream->readers[kept++] = stream->readers[i];
    stream->reader_count = kept;
    const micap_system *system;
    for (uint32_t i = 0; (system = micap_system_at(world, i)); ++i) {
        uint32_t id = micap_system_id(system).id;
        if (!reads(system, stream) || is_known(stream, id))
            continue;
        if (!micap_stream_add_reader(stream, id)) {
            micap_fail_memory(world, "stream");
            return false;
        }
    }
    return true;
}

static bool update_all_readers(mica_world *world, micap_streams *streams)
{
    if (streams->systems_version == micap_systems_version(world))
        return true;
    for (mica_stream *stream = streams->first; stream; stream = stream->next)
        if (!update_readers(world, stream))
            return false;
    streams->systems_version = micap_systems_version(world);
    return true;
}

/* The place before which nothing is older than that many frames. */
static uint64_t aged(const mica_stream *stream, uint32_t frames)
{
    const micap_run *run = stream->queue.first;
    while (run && run->frame + frames < stream->queue.frame)
        run = run->next;
    return run ? run->location : stream->queue.end;
}

static void retire(mica_stream *stream)
{
    micap_queue *queue = &stream->queue;
    uint64_t location = queue->end;
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        location = stream->readers[i].location < location ? stream->readers[i].location : location;
    if (stream->keep_frames || !stream->reader_count)
        location = aged(stream, stream->keep_frames ? stream->keep_frames : 1);
    queue->begin = location > queue->begin ? location : queue->begin;
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        micap_run *run = stream->readers[i].run;
        if (run && micap_run_end(run) <= queue->begin)
            stream->readers[i].run = NULL;
    }
    micap_queue_drop(queue, queue->begin);
}

static void frame_begin(mica_world *world, void *state)
{
    micap_streams *streams = state;
    ++streams->frame;
    streams->is_in_frame = true;
    bool all_known = update_all_readers(world, streams);
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        stream->queue.frame = streams->frame;
        if (all_known) /* or what a new one wants to read might go */
            retire(stream);
    }
}

static void frame_end(mica_world *world, void *state)
{
    (void)world;
    micap_streams *streams = state;
    streams->is_in_frame = false;
}

static bool phase_begin(mica_world *world, void *state)
{
    micap_streams *streams = state;
    if (!streams->is_in_frame) { /* one system is run by itself: that counts as a frame */
        frame_begin(world, state);
        streams->is_in_frame = false;
    }
    if (!update_all_readers(world, streams))
        return false;
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        if (!micap_queue_prepare(&stream->queue, mica_worker_count(world), micap_lane_count(world))) {
            micap_fail_memory(world, "stream");
            return false;
        }
    }
    return true;
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    micap_streams *streams = state;
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        micap_queue_commit(&stream->queue);
        for (uint32_t i = 0; i < stream->reader_count; ++i) {
            micap_reader *reader = &stream->readers[i];
            reader->run = reader->lane_run ? reader->lane_run : reader->run;
            reader->lane_run = NULL;
            reader->lane = 0;
        }
        micap_stream_bound(stream);
    }
}

/* Messages that are still there, and how much each reader has left of them. Where age counts, so does it here; runs do not:
 * where one ends depends on who wrote it. */
static void hash_stream(const mica_stream *stream, micap_hasher *hasher)
{
    const micap_queue *queue = &stream->queue;
    bool grows_old = stream->keep_frames || !stream->reader_count;
    uint64_t age = UINT64_MAX;
    micap_hasher_bytes(hasher, stream->name, stream->name_bytes);
    micap_hasher_integer(hasher, (queue->end - queue->begin) / stream->message_bytes, 8);
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        uint64_t location = stream->readers[i].location;
        micap_hasher_integer(hasher, queue->end - (location > queue->begin ? location : queue->begin), 8);
    }
    for (const micap_run *run = queue->first; run && stream->type; run = run->next) {
        if (micap_run_end(run) <= queue->begin)
            continue;
        uint64_t skip = run->location < queue->begin ? queue->begin - run->location : 0;
        if (grows_old && queue->frame - run->frame != age)
            micap_hasher_integer(hasher, age = queue->frame - run->frame, 8);
        micap_hash_values(hasher, stream->type, run->begin + skip,
                          (uint32_t)((size_t)(run->end - run->begin - (ptrdiff_t)skip) / stream->message_bytes));
    }
}

static void hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    const micap_streams *streams = state;
    for (const mica_stream *stream = streams->first; stream; stream = stream->next)
        if (stream->queue.begin != stream->queue.end) /* an empty one is as none */
            hash_stream(stream, hasher);
}

static bool validate(mica_world *world, void *state)
{
    const micap_streams *streams = state;
    for (const mica_stream *stream = streams->first; stream; stream = stream->next) {
        bool sound = micap_queue_is_sound(&stream->queue);
        for (uint32_t i = 0; i < stream->reader_count; ++i)
            sound = sound && stream->readers[i].location <= stream->queue.end;
        if (!sound) {
            micap_fail(world, MICA_ERROR_INVALID, stream->location, "stream %s: broken invariant", stream->name);
            return false;
        }
    }
    return true;
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    const micap_streams *streams = state;
    for (mica_stream *stream = streams->first; stream; stream = stream->next)
        micap_queue_trim(&stream->queue);
}

static void release(mica_world *world, void *state)
{
    micap_streams *streams = state;
    for (mica_stream *stream = streams->first, *next; stream; stream = next) {
        next = stream->next;
        micap_stream_free(stream);
    }
    micap_release(&world->memory, streams, sizeof *streams, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops listener = {
    .save = micap_streams_save,
    .drop = micap_streams_drop,
    .prepare = micap_streams_prepare,
    .load = micap_streams_load,
    .frame_begin = frame_begin,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .frame_end = frame_end,
    .hash = hash,
    .validate = validate,
    .trim = trim,
    .free = release,
};

micap_streams *micap_streams_of(mica_world *world)
{
    micap_streams *streams = micap_listener_state(world, MICAP_LISTENER_STREAMS);
    if (streams)
        return streams;
    streams = micap_allocate_zeroed(&world->memory, sizeof *streams, MICAP_ARRAY_ALIGNMENT);
    if (!streams)
        micap_fail_memory(world, "stream");
    else if (!micap_listen(world, MICAP_LISTENER_STREAMS, &listener, streams)) {
        micap_release(&world->memory, streams, sizeof *streams, MICAP_ARRAY_ALIGNMENT);
        streams = NULL;
    }
    return streams;
}
