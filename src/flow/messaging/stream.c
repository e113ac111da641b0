#include "flow/messaging/stream.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/stream_frame.h"
#include "flow/schedule/system.h"
#include "type/each_value.h"
#include "type/owned.h"

bool micap_stream_add_reader(mica_stream *stream, uint32_t system)
{
    if (!MICAP_RESERVE(&stream->world->memory, stream->readers, &stream->reader_capacity,
                       (uint64_t)stream->reader_count + 1))
        return false;
    stream->readers[stream->reader_count++] = (micap_stream_reader){.system = system, .position = stream->queue.begin};
    return true;
}

void micap_stream_free(mica_stream *stream)
{
    micap_memory *memory = &stream->world->memory;
    micap_queue_free(&stream->queue);
    MICAP_RELEASE_ARRAY(memory, stream->readers, stream->reader_capacity);
    micap_release(memory, stream->name, stream->name_bytes, 1);
    micap_release(memory, stream, sizeof *stream, MICAP_CACHE_LINE);
}

static char *value_at(const micap_queue_life *life, char *entry)
{
    return entry + life->offset;
}

static void release_messages(const micap_queue_life *life, char *begin, char *end)
{
    for (; begin < end; begin += life->entry_bytes)
        micap_owned_release(&life->type->type, value_at(life, begin), 1);
}

static bool retain_messages(const micap_queue_life *life, char *begin, char *end)
{
    for (char *at = begin; at < end; at += life->entry_bytes)
        if (!micap_owned_retain(&life->type->type, value_at(life, at), 1)) {
            release_messages(life, begin, at);
            return false;
        }
    return true;
}

/* Messages with text or lists own these. */
static void set_life(mica_stream *stream)
{
    const micap_type *type = stream->type ? stream->type : stream->question;
    stream->fast_bytes = type->owns ? UINT32_MAX : stream->message_bytes;
    if (!type->owns)
        return;
    stream->queue.life = (micap_queue_life){.retain = retain_messages,
                                            .release = release_messages,
                                            .type = type,
                                            .offset = stream->question_offset,
                                            .entry_bytes = stream->message_bytes};
    stream->queue.owns = true;
}

static bool fill(mica_stream *stream, const micap_stream_shape *shape)
{
    micap_memory *memory = &stream->world->memory;
    size_t name_bytes = strlen(shape->name) + 1;
    micap_queue_init(&stream->queue, memory, shape->alignment);
    stream->name = micap_allocate(memory, name_bytes, 1);
    if (!stream->name)
        return false;
    stream->name_bytes = name_bytes;
    memcpy(stream->name, shape->name, name_bytes);
    stream->location = shape->location;
    stream->is_owned = shape->is_owned;
    stream->type = shape->type;
    stream->question = shape->question;
    stream->question_offset = shape->question_offset;
    stream->message_bytes = shape->message_bytes;
    set_life(stream);
    stream->keep_frames = shape->keep_frames;
    stream->capacity_bytes = (uint64_t)shape->capacity * shape->message_bytes;
    return micap_queue_prepare(&stream->queue, mica_worker_count(stream->world), 0) &&
           (!shape->application || micap_stream_add_reader(stream, 0));
}

mica_stream *micap_stream_create(mica_world *world, const micap_stream_shape *shape)
{
    micap_streams *streams = micap_streams_of(world);
    if (!streams)
        return NULL;
    mica_stream *stream = micap_allocate_zeroed(&world->memory, sizeof *stream, MICAP_CACHE_LINE);
    if (!stream) {
        micap_fail_memory(world, "stream");
        return NULL;
    }
    stream->world = world;
    if (!fill(stream, shape)) {
        micap_stream_free(stream);
        micap_fail_memory(world, "stream");
        return NULL;
    }
    stream->number = ++streams->made_count;
    stream->queue.frame = streams->frame;
    *(streams->last ? &streams->last->next : &streams->first) = stream;
    streams->last = stream;
    return stream;
}

void micap_stream_remove(mica_stream *stream)
{
    micap_streams *streams = micap_streams_of(stream->world);
    mica_stream *before = NULL;
    for (mica_stream *other = streams->first; other != stream; other = other->next)
        before = other;
    *(before ? &before->next : &streams->first) = stream->next;
    if (streams->last == stream)
        streams->last = before;
    micap_stream_free(stream);
}

/* Whether systems span, with a report: streams are created and destroyed between phases only. */
static bool is_refused(const mica_world *world, mica_location location, const char *what)
{
    micap_check_door(world, what);
    if (!micap_is_running(world))
        return false;
    micap_fail(world, MICA_ERROR_REFUSED, location, "%s: refused inside a system", what);
    return true;
}

mica_stream *mica_stream_create(mica_world *world, const mica_stream_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    mica_location location = def ? def->location : (mica_location){0};
    const micap_type *type = def && def->type ? micap_type_of(mica_type_id(def->type)) : NULL;
    if (!type || !type->type.size_bytes) {
        micap_fail(world, MICA_ERROR_INVALID, location,
                   "stream_create: the type of the messages must be described and have data");
        return NULL;
    }
    if (micap_type_has_life(def->type) && !micap_owned_is_derived(def->type)) {
        micap_fail(world, MICA_ERROR_INVALID, location,
                   "stream_create: messages are copied as bytes, but %s has a copy, move or destruct function",
                   def->type->name);
        return NULL;
    }
    if (is_refused(world, location, "stream_create"))
        return NULL;
    return micap_stream_create(world, &(micap_stream_shape){.name = def->name ? def->name : def->type->name,
                                                            .type = type,
                                                            .message_bytes = def->type->size_bytes,
                                                            .alignment = def->type->alignment,
                                                            .capacity = def->capacity,
                                                            .keep_frames = def->keep_frames,
                                                            .application = def->application,
                                                            .location = location});
}

void mica_stream_destroy(mica_stream *stream)
{
    if (!stream || is_refused(stream->world, micap_place_of_call(stream->location), "stream_destroy"))
        return;
    uint32_t users = micap_stream_user_count(stream->world, stream);
    if (users) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, micap_place_of_call(stream->location),
                   "stream_destroy: %s: %u systems declare it: remove them first", stream->name, users);
        return;
    }
    if (stream->is_owned) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, micap_place_of_call(stream->location),
                   "stream_destroy: %s belongs to requests: destroy those instead", stream->name);
        return;
    }
    micap_stream_remove(stream);
}

/* Whether this job may write or read the stream, with a report if not. Called once for a span. */
static bool may_use(const mica_stream *stream, const micap_running_job *job, bool write, mica_location location)
{
    const char *verb = write ? "write" : "read";
    const char *label = job->system->def.name;
    if (job->sequence == MICAP_SEQUENCE_NONE) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: system %s can't %s it inside a parallel for, because calls have no order there",
                   stream->name, label, verb);
        return false;
    }
    bool is_declared = micap_system_uses_stream(job->system, stream, write);
    if (!is_declared && !(write && micap_system_may_write_undeclared(job->system, stream))) {
        micap_check_stream(stream->world, stream->name, write, location);
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: system %s does not declare that it will %s it (.uses)", stream->name, label, verb);
        return false;
    }
    return true;
}

void micap_stream_bound(mica_stream *stream)
{
    micap_queue *queue = &stream->queue;
    if (!stream->capacity_bytes || queue->end - queue->begin <= stream->capacity_bytes)
        return;
    stream->lost_bytes += queue->end - stream->capacity_bytes - queue->begin;
    queue->begin = queue->end - stream->capacity_bytes;
}

static MICAP_COLD void miss(mica_stream *stream, uint32_t count)
{
    atomic_fetch_add_explicit(&stream->missed, count, memory_order_relaxed);
    micap_fail(stream->world, MICA_ERROR_MEMORY, micap_place_of_call(stream->location), "stream %s: out of memory",
               stream->name);
}

char *micap_stream_append(mica_stream *stream, uint32_t count, mica_location location)
{
    size_t bytes = (size_t)count * stream->message_bytes;
    const micap_running_job *job = micap_running_job_of(stream->world);
    char *room;
    if (job) {
        if (MICAP_UNLIKELY(!micap_queue_is_open(&stream->queue, job->worker, job->sequence)) &&
            !may_use(stream, job, true, location))
            return NULL;
        room = micap_queue_append(&stream->queue, job->worker, job->sequence, bytes);
    } else {
        room = micap_queue_append(&stream->queue, 0, MICAP_SEQUENCE_NONE, bytes);
    }
    if (MICAP_UNLIKELY(!room))
        miss(stream, count);
    return room;
}

bool micap_stream_own(mica_stream *stream, char *messages, uint32_t count)
{
    const micap_running_job *job = micap_running_job_of(stream->world);
    if (!stream->queue.life.retain ||
        micap_queue_own(&stream->queue, job ? job->worker : 0, messages, (size_t)count * stream->message_bytes))
        return true;
    miss(stream, count);
    return false;
}

/* Of a stream that the application writes; what systems write is bounded after the phase. */
static void bound_outside(mica_stream *stream)
{
    if (!micap_running_job_of(stream->world))
        micap_stream_bound(stream);
}

void *mica_stream_push_many_id(mica_stream *stream, uint32_t count, mica_location location)
{
    if (MICAP_MISSING(NULL, stream) || !count)
        return NULL;
    char *room = micap_stream_append(stream, count, location);
    if (room && stream->queue.life.retain)
        memset(room, 0, (size_t)count * stream->message_bytes);
    bound_outside(stream);
    return room;
}

static MICAP_COLD bool push_slowly(mica_stream *stream, const void *message, size_t message_bytes,
                                   mica_location location)
{
    if (message_bytes != stream->message_bytes) {
        micap_fail(stream->world, MICA_ERROR_LAYOUT, location, "stream %s: a message of %zu bytes instead of %u",
                   stream->name, message_bytes, stream->message_bytes);
        return false;
    }
    char *room = micap_stream_append(stream, 1, location);
    if (!room)
        return false;
    memcpy(room, message, message_bytes);
    bool done = micap_stream_own(stream, room, 1);
    bound_outside(stream);
    return done;
}

/* The fast path, a million times in a frame: the job has a span open that has room. */
bool mica_stream_push_id(mica_stream *stream, const void *message, size_t message_bytes, mica_location location)
{
    if (MICAP_MISSING(NULL, stream) || MICAP_MISSING_ARRAY(stream->world, message, message_bytes))
        return false;
    const micap_thread_context *here = micap_this_thread;
    if (MICAP_UNLIKELY(!here || here->world != stream->world || message_bytes != stream->fast_bytes))
        return push_slowly(stream, message, message_bytes, location);
    const micap_running_job *job = (const micap_running_job *)(const void *)here;
    micap_queue_writer *writer = &stream->queue.writers[job->worker];
    char *room = writer->at;
    if (MICAP_UNLIKELY(writer->sequence != job->sequence || (size_t)(writer->limit - room) < message_bytes))
        return push_slowly(stream, message, message_bytes, location);
    writer->at = writer->span->end = room + message_bytes;
    micap_copy_fresh(room, message, (uint32_t)message_bytes);
    return true;
}

static micap_stream_reader *find_reader(const mica_stream *stream, uint32_t system)
{
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (stream->readers[i].system == system)
            return &stream->readers[i];
    return NULL;
}

/* Returns the reader that this thread runs as, or NULL. Sequence numbers below the limit are complete. */
static micap_stream_reader *reader_here(const mica_stream *stream, uint32_t *out_sequence_limit)
{
    const micap_running_job *job = micap_running_job_of(stream->world);
    *out_sequence_limit = job ? job->system->first_sequence : 0;
    return find_reader(stream, job ? job->system->id : 0);
}

/* Returns the end of what a reader can see. */
static uint64_t visible_end(const mica_stream *stream, const micap_stream_reader *reader, uint32_t sequence_limit)
{
    uint64_t end = reader->sequence_span ? reader->position : stream->queue.end;
    for (const micap_queue_span *span = reader->sequence_span ? reader->sequence_span->next : NULL; span;
         span = span->next)
        end += (uint64_t)(span->end - span->begin);
    for (uint32_t sequence = reader->sequence; sequence < sequence_limit; ++sequence)
        for (const micap_queue_span *span = stream->queue.sequences[sequence].first; span; span = span->next)
            end += (uint64_t)(span->end - span->begin);
    return end;
}

/* Returns the position of a reader, past what was dropped meanwhile. */
static uint64_t effective_position(const mica_stream *stream, const micap_stream_reader *reader,
                                   uint32_t sequence_limit)
{
    uint64_t position = reader->position > stream->queue.begin ? reader->position : stream->queue.begin;
    if (stream->capacity_bytes) {
        uint64_t end = visible_end(stream, reader, sequence_limit);
        if (end - position > stream->capacity_bytes)
            return end - stream->capacity_bytes;
    }
    return position;
}

/* Returns the next bytes of one span, from the list and then from complete sequence numbers, or NULL. Advances the reader. */
static const char *next_bytes(const mica_stream *stream, micap_stream_reader *reader, uint32_t sequence_limit,
                              uint64_t *out_bytes)
{
    const micap_queue *queue = &stream->queue;
    const char *begin;
    micap_queue_span *span;
    if (reader->position < queue->end) { /* it still reads the list */
        span = reader->span ? reader->span : queue->first;
        while (micap_queue_span_end(span) <= reader->position)
            span = span->next;
        reader->span = span;
        begin = span->begin + (reader->position - span->position);
    } else {
        span = reader->sequence_span ? reader->sequence_span->next : NULL;
        while (!span && reader->sequence < sequence_limit)
            span = queue->sequences[reader->sequence++].first;
        if (!span)
            return NULL;
        reader->sequence_span = span;
        begin = span->begin;
    }
    *out_bytes = (uint64_t)(span->end - begin);
    reader->position += *out_bytes;
    return begin;
}

static const void *read_next(mica_stream *stream, micap_stream_reader *reader, uint32_t sequence_limit,
                             uint32_t *out_count)
{
    uint64_t floor = effective_position(stream, reader, sequence_limit);
    uint64_t bytes;
    if (reader->position < stream->queue.begin) {
        reader->lost_bytes += stream->queue.begin - reader->position;
        reader->position = stream->queue.begin;
        reader->span = NULL;
    }
    for (const char *begin; (begin = next_bytes(stream, reader, sequence_limit, &bytes));) {
        uint64_t position = reader->position - bytes;
        uint64_t skip = position >= floor ? 0 : floor - position < bytes ? floor - position : bytes;
        reader->lost_bytes += skip;
        *out_count = (uint32_t)((bytes - skip) / stream->message_bytes);
        if (*out_count)
            return begin + skip;
    }
    return NULL;
}

const void *mica_stream_read_id(mica_stream *stream, uint32_t *out_count, mica_location location)
{
    if (MICAP_MISSING(NULL, stream) || MICAP_MISSING(stream->world, out_count))
        return NULL;
    *out_count = 0;
    uint32_t sequence_limit;
    micap_stream_reader *reader = reader_here(stream, &sequence_limit);
    const micap_running_job *job = micap_running_job_of(stream->world);
    if (job && (job->sequence == MICAP_SEQUENCE_NONE || !reader) && !may_use(stream, job, false, location))
        return NULL;
    if (!reader) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: the application can't read it: create it with .application = true", stream->name);
        return NULL;
    }
    return read_next(stream, reader, sequence_limit, out_count);
}

const void *micap_stream_take(mica_stream *stream, uint32_t *out_count)
{
    *out_count = 0;
    micap_stream_reader *reader = find_reader(stream, 0);
    MICAP_ASSERT(reader, "streams of requests are read by the application");
    return read_next(stream, reader, 0, out_count);
}

mica_component mica_stream_component(const mica_stream *stream)
{
    return MICAP_MISSING(NULL, stream) || !stream->type ? 0 : stream->type->id;
}

uint64_t mica_stream_count(const mica_stream *stream)
{
    if (MICAP_MISSING(NULL, stream))
        return 0;
    uint32_t sequence_limit;
    const micap_stream_reader *reader = stream ? reader_here(stream, &sequence_limit) : NULL;
    if (!reader)
        return 0;
    return (visible_end(stream, reader, sequence_limit) - effective_position(stream, reader, sequence_limit)) /
           stream->message_bytes;
}

uint64_t mica_stream_dropped(const mica_stream *stream)
{
    if (MICAP_MISSING(NULL, stream))
        return 0;
    uint32_t sequence_limit;
    const micap_stream_reader *reader = reader_here(stream, &sequence_limit);
    uint64_t lost = stream->lost_bytes;
    if (reader)
        lost = reader->lost_bytes + effective_position(stream, reader, sequence_limit) - reader->position;
    return lost / stream->message_bytes + atomic_load_explicit(&stream->missed, memory_order_relaxed);
}
