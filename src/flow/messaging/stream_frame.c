#include "flow/messaging/stream_frame.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "core/world/world_hash.h"
#include "flow/messaging/stream_snapshot.h"
#include "flow/messaging/traffic.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"
#include "type/owned.h"

/* An exclusive system reads as the application. */
static bool reads(const micap_system *system, const mica_stream *stream)
{
    return !system->def.exclusive && !system->is_removed && micap_system_uses_stream(system, stream, false);
}

static bool is_declared(const micap_flow *flow, const mica_stream *stream, uint32_t id)
{
    for (uint32_t i = 0; i < flow->system_count; ++i)
        if (flow->systems[i]->id == id)
            return reads(flow->systems[i], stream);
    return false;
}

static bool is_known(const mica_stream *stream, uint32_t id)
{
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (stream->readers[i].system == id)
            return true;
    return false;
}

/* Removes readers that are no longer declared, and adds new ones. False with a report if memory is short. */
static bool update_readers(const micap_flow *flow, mica_stream *stream)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (!stream->readers[i].system || is_declared(flow, stream, stream->readers[i].system))
            stream->readers[kept++] = stream->readers[i];
    stream->reader_count = kept;
    for (uint32_t i = 0; i < flow->system_count; ++i) {
        const micap_system *system = flow->systems[i];
        if (!reads(system, stream) || is_known(stream, system->id))
            continue;
        if (!micap_stream_add_reader(stream, system->id)) {
            micap_fail_memory(flow->world, "stream");
            return false;
        }
    }
    return true;
}

static bool update_all_readers(mica_world *world, micap_streams *streams)
{
    const micap_flow *flow = micap_flow_get(world);
    if (streams->systems_version == flow->systems_version)
        return true;
    for (mica_stream *stream = streams->first; stream; stream = stream->next)
        if (!update_readers(flow, stream))
            return false;
    streams->systems_version = flow->systems_version;
    return true;
}

/* Returns the position of the first message that is at most that many frames old. */
static uint64_t position_by_age(const mica_stream *stream, uint32_t frames)
{
    const micap_queue_span *span = stream->queue.first;
    while (span && span->frame + frames < stream->queue.frame)
        span = span->next;
    return span ? span->position : stream->queue.end;
}

static void drop_old_messages(mica_stream *stream)
{
    micap_queue *queue = &stream->queue;
    uint64_t position = queue->end;
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        position = stream->readers[i].position < position ? stream->readers[i].position : position;
    if (stream->keep_frames || !stream->reader_count)
        position = position_by_age(stream, stream->keep_frames ? stream->keep_frames : 1);
    queue->begin = position > queue->begin ? position : queue->begin;
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        micap_queue_span *span = stream->readers[i].span;
        if (span && micap_queue_span_end(span) <= queue->begin)
            stream->readers[i].span = NULL;
    }
    micap_queue_drop(queue, queue->begin);
}

static void frame_begin(mica_world *world, void *state)
{
    micap_streams *streams = state;
    if (MICAP_UNLIKELY(world->traffic))
        micap_traffic_tell_streams(streams);
    ++streams->frame;
    streams->is_in_frame = true;
    bool all_known = update_all_readers(world, streams);
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        stream->queue.frame = streams->frame;
        if (all_known) /* else a message that a new reader needs might be dropped */
            drop_old_messages(stream);
    }
}

static void frame_end(mica_world *world, void *state)
{
    micap_streams *streams = state;
    streams->is_in_frame = false;
    if (MICAP_UNLIKELY(world->traffic)) /* of the last flush */
        micap_traffic_tell_streams(streams);
}

static bool phase_begin(mica_world *world, void *state)
{
    micap_streams *streams = state;
    if (!streams->is_in_frame) { /* mica_system_run: counts as a frame */
        frame_begin(world, state);
        streams->is_in_frame = false;
    }
    if (!update_all_readers(world, streams))
        return false;
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        if (!micap_queue_prepare(&stream->queue, mica_worker_count(world), micap_sequence_count(world))) {
            micap_fail_memory(world, "stream");
            return false;
        }
    }
    return true;
}

static void phase_end(mica_world *world, void *state)
{
    micap_streams *streams = state;
    for (mica_stream *stream = streams->first; stream; stream = stream->next)
        micap_queue_commit(&stream->queue);
    if (MICAP_UNLIKELY(world->traffic)) /* before messages are dropped */
        micap_traffic_tell_streams(streams);
    for (mica_stream *stream = streams->first; stream; stream = stream->next) {
        for (uint32_t i = 0; i < stream->reader_count; ++i) {
            micap_stream_reader *reader = &stream->readers[i];
            reader->span = reader->sequence_span ? reader->sequence_span : reader->span;
            reader->sequence_span = NULL;
            reader->sequence = 0;
        }
        micap_stream_bound(stream);
    }
}

static void hash_questions(const mica_stream *stream, const char *begin, const char *end, micap_hasher *hasher)
{
    for (; begin < end; begin += stream->message_bytes) {
        const micap_question_head *head = (const micap_question_head *)(const void *)begin;
        micap_hasher_integer(hasher, head->key, 8);
        micap_hash_entity(hasher, head->asker);
        micap_hash_values(hasher, stream->question, begin + stream->question_offset, 1);
    }
}

/* Hashes the messages, and how much each reader has not read. The age of messages counts if they are dropped by age. Where a
 * span ends does not count, because it depends on threads. */
static void hash_stream(const mica_stream *stream, micap_hasher *hasher)
{
    const micap_queue *queue = &stream->queue;
    bool is_dropped_by_age = stream->keep_frames || !stream->reader_count;
    uint64_t age = UINT64_MAX;
    micap_hasher_bytes(hasher, stream->name, stream->name_bytes);
    micap_hasher_integer(hasher, (queue->end - queue->begin) / stream->message_bytes, 8);
    for (uint32_t i = 0; i < stream->reader_count; ++i) {
        uint64_t position = stream->readers[i].position;
        micap_hasher_integer(hasher, queue->end - (position > queue->begin ? position : queue->begin), 8);
    }
    for (const micap_queue_span *span = queue->first; span; span = span->next) {
        if (micap_queue_span_end(span) <= queue->begin || span->begin == span->end)
            continue;
        uint64_t skip = span->position < queue->begin ? queue->begin - span->position : 0;
        if (is_dropped_by_age && queue->frame - span->frame != age)
            micap_hasher_integer(hasher, age = queue->frame - span->frame, 8);
        if (stream->type)
            micap_hash_values(hasher, stream->type, span->begin + skip,
                              (uint32_t)((size_t)(span->end - span->begin - (ptrdiff_t)skip) / stream->message_bytes));
        else
            hash_questions(stream, span->begin + skip, span->end, hasher);
    }
}

static void hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    const micap_streams *streams = state;
    for (const mica_stream *stream = streams->first; stream; stream = stream->next)
        if (stream->queue.begin != stream->queue.end) /* an empty stream does not count */
            hash_stream(stream, hasher);
}

/* What is wrong with the text and lists of messages, or NULL. */
static const char *problem_of_messages(const mica_stream *stream)
{
    const micap_queue_life *life = &stream->queue.life;
    const char *problem = NULL;
    for (const micap_queue_span *span = stream->queue.first; life->type && !problem && span; span = span->next)
        for (const char *at = span->begin; !problem && at < span->end; at += life->entry_bytes)
            problem = micap_owned_problem(&life->type->type, at + life->offset);
    return problem;
}

static bool validate(mica_world *world, void *state)
{
    const micap_streams *streams = state;
    for (const mica_stream *stream = streams->first; stream; stream = stream->next) {
        bool sound = micap_queue_is_sound(&stream->queue);
        for (uint32_t i = 0; i < stream->reader_count; ++i)
            sound = sound && stream->readers[i].position <= stream->queue.end;
        const char *problem = sound ? problem_of_messages(stream) : "broken invariant";
        if (problem) {
            micap_fail(world, MICA_ERROR_INVALID, stream->location, "stream %s: %s", stream->name, problem);
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

static void free_streams(mica_world *world, void *state)
{
    (void)world;
    const micap_streams *streams = state;
    for (mica_stream *stream = streams->first, *next; stream; stream = next) {
        next = stream->next;
        micap_stream_free(stream);
    }
}

static const micap_listener_ops listener = {
    .save = micap_streams_save,
    .drop = micap_streams_drop,
    .prepare = micap_streams_prepare,
    .load = micap_streams_load,
    .write = micap_streams_write,
    .read = micap_streams_read,
    .frame_begin = frame_begin,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .frame_end = frame_end,
    .hash = hash,
    .validate = validate,
    .trim = trim,
    .free = free_streams,
};

micap_streams *micap_streams_of(mica_world *world)
{
    return micap_listener_require(world, MICAP_LISTENER_STREAMS, &listener, sizeof(micap_streams), "stream");
}
