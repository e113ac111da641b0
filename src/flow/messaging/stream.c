/* Streams as users see them. */
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/stream.h"

bool micap_stream_add_reader(mica_stream *stream, uint32_t system)
{
    if (!MICAP_RESERVE(&stream->world->memory, stream->readers, &stream->reader_capacity,
                       (uint64_t)stream->reader_count + 1))
        return false;
    stream->readers[stream->reader_count++] = (micap_reader){.system = system, .location = stream->queue.begin};
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
    stream->message_bytes = shape->message_bytes;
    stream->keep_frames = shape->keep_frames;
    stream->capacity_bytes = (uint64_t)shape->capacity * shape->message_bytes;
    return micap_queue_prepare(&stream->queue, mica_worker_count(stream->world), 0) &&
           (!shape->application || micap_stream_add_reader(stream, 0));
}

mica_stream *micap_stream_make(mica_world *world, const micap_stream_shape *shape)
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

void micap_stream_end(mica_stream *stream)
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

/* What is made and given back between frames, since those that run count on it. */
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
    mica_location location = def ? def->location : (mica_location){0};
    if (!def || !def->type || !def->type->size_bytes) {
        micap_fail(world, MICA_ERROR_INVALID, location, "stream: a message has a described type with data");
        return NULL;
    }
    if (def->type->copy || def->type->destruct || def->type->move) {
        micap_fail(world, MICA_ERROR_INVALID, location, "stream: messages are copied as bytes, and %s owns something",
                   def->type->name);
        return NULL;
    }
    if (is_refused(world, location, "stream_create"))
        return NULL;
    return micap_stream_make(world, &(micap_stream_shape){.name = def->name ? def->name : def->type->name,
                                                          .type = micap_type_of(mica_type_id(def->type)),
                                                          .message_bytes = def->type->size_bytes,
                                                          .alignment = def->type->alignment,
                                                          .capacity = def->capacity,
                                                          .keep_frames = def->keep_frames,
                                                          .application = def->application,
                                                          .location = location});
}

void mica_stream_destroy(mica_stream *stream)
{
    if (!stream || is_refused(stream->world, stream->location, "stream_destroy"))
        return;
    uint32_t users = micap_stream_user_count(stream->world, stream);
    if (users) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, stream->location,
                   "stream %s: %u systems declare it: remove them first", stream->name, users);
        return;
    }
    if (stream->is_owned) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, stream->location, "stream %s: it goes with its requests",
                   stream->name);
        return;
    }
    micap_stream_end(stream);
}

/* Whether this piece of work may write or read; asked once for a run. */
static bool may_use(const mica_stream *stream, const micap_task *task, bool write, mica_location location)
{
    const char *verb = write ? "write" : "read";
    const char *label = micap_system_label(task->system);
    if (task->lane == MICAP_LANE_NONE) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: system %s tries to %s it inside a parallel for, where nothing has an order",
                   stream->name, label, verb);
        return false;
    }
    bool is_declared = micap_system_uses_stream(task->system, stream, write);
    if (!is_declared && !(write && micap_system_may_write_any(task->system, stream))) {
        micap_check_stream(stream->world, stream->name, write, location);
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: system %s does not declare to %s it (.uses)", stream->name, label, verb);
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
    micap_fail(stream->world, MICA_ERROR_MEMORY, stream->location, "stream %s: out of memory", stream->name);
}

void *mica_stream_push_many_id(mica_stream *stream, uint32_t count, mica_location location)
{
    if (!stream || !count)
        return NULL;
    size_t bytes = (size_t)count * stream->message_bytes;
    const micap_task *task = micap_task_here(stream->world);
    void *room;
    if (task) {
        if (MICAP_UNLIKELY(!micap_queue_is_open(&stream->queue, task->worker, task->lane)) &&
            !may_use(stream, task, true, location))
            return NULL;
        room = micap_queue_append(&stream->queue, task->worker, task->lane, bytes);
    } else {
        room = micap_queue_append(&stream->queue, 0, MICAP_LANE_NONE, bytes);
        micap_stream_bound(stream);
    }
    if (MICAP_UNLIKELY(!room))
        miss(stream, count);
    return room;
}

static MICAP_COLD bool push_slowly(mica_stream *stream, const void *message, size_t message_bytes,
                                   mica_location location)
{
    if (stream && message_bytes != stream->message_bytes) {
        micap_fail(stream->world, MICA_ERROR_LAYOUT, location, "stream %s: a message of %zu bytes instead of %u",
                   stream->name, message_bytes, stream->message_bytes);
        return false;
    }
    void *room = mica_stream_push_many_id(stream, 1, location);
    if (room)
        memcpy(room, message, message_bytes);
    return room != NULL;
}

/* A million times in a frame: the run of this piece of work is open, and has room. */
bool mica_stream_push_id(mica_stream *stream, const void *message, size_t message_bytes, mica_location location)
{
    const micap_here *here = micap_here_now;
    if (MICAP_UNLIKELY(!stream || !here || here->world != stream->world || message_bytes != stream->message_bytes))
        return push_slowly(stream, message, message_bytes, location);
    const micap_task *task = (const micap_task *)(const void *)here;
    micap_writer *writer = &stream->queue.writers[task->worker];
    char *room = writer->at;
    if (MICAP_UNLIKELY(writer->lane != task->lane || (size_t)(writer->limit - room) < message_bytes))
        return push_slowly(stream, message, message_bytes, location);
    writer->at = writer->run->end = room + message_bytes;
    micap_copy_fresh(room, message, (uint32_t)message_bytes);
    return true;
}

static micap_reader *find_reader(const mica_stream *stream, uint32_t system)
{
    for (uint32_t i = 0; i < stream->reader_count; ++i)
        if (stream->readers[i].system == system)
            return &stream->readers[i];
    return NULL;
}

/* The reader that this thread is at the moment; NULL when it is none. */
static micap_reader *reader_here(const mica_stream *stream, uint32_t *out_lane_limit)
{
    const micap_task *task = micap_task_here(stream->world);
    *out_lane_limit = 0;
    if (task)
        micap_system_lanes(task->system, out_lane_limit);
    return find_reader(stream, task ? micap_system_id(task->system).id : 0);
}

/* The end of what a reader can see. */
static uint64_t visible_end(const mica_stream *stream, const micap_reader *reader, uint32_t lane_limit)
{
    uint64_t end = reader->lane_run ? reader->location : stream->queue.end;
    for (const micap_run *run = reader->lane_run ? reader->lane_run->next : NULL; run; run = run->next)
        end += (uint64_t)(run->end - run->begin);
    for (uint32_t lane = reader->lane; lane < lane_limit; ++lane)
        for (const micap_run *run = stream->queue.lanes[lane].first; run; run = run->next)
            end += (uint64_t)(run->end - run->begin);
    return end;
}

/* Where a reader really is: what was dropped meanwhile, it will not see. */
static uint64_t effective_place(const mica_stream *stream, const micap_reader *reader, uint32_t lane_limit)
{
    uint64_t location = reader->location > stream->queue.begin ? reader->location : stream->queue.begin;
    if (stream->capacity_bytes) {
        uint64_t end = visible_end(stream, reader, lane_limit);
        if (end - location > stream->capacity_bytes)
            return end - stream->capacity_bytes;
    }
    return location;
}

/* The next bytes behind the reader's place that lie together, of the list and then of lanes; NULL when there are none. */
static const char *next_bytes(const mica_stream *stream, micap_reader *reader, uint32_t lane_limit, uint64_t *out_bytes)
{
    const micap_queue *queue = &stream->queue;
    const char *begin;
    micap_run *run;
    if (reader->location < queue->end) { /* then it is not in a lane yet */
        run = reader->run ? reader->run : queue->first;
        while (micap_run_end(run) <= reader->location)
            run = run->next;
        reader->run = run;
        begin = run->begin + (reader->location - run->location);
    } else {
        run = reader->lane_run ? reader->lane_run->next : NULL;
        while (!run && reader->lane < lane_limit)
            run = queue->lanes[reader->lane++].first;
        if (!run)
            return NULL;
        reader->lane_run = run;
        begin = run->begin;
    }
    *out_bytes = (uint64_t)(run->end - begin);
    reader->location += *out_bytes;
    return begin;
}

static const void *read_next(mica_stream *stream, micap_reader *reader, uint32_t lane_limit, uint32_t *out_count)
{
    uint64_t floor = effective_place(stream, reader, lane_limit);
    uint64_t bytes;
    if (reader->location < stream->queue.begin) {
        reader->lost_bytes += stream->queue.begin - reader->location;
        reader->location = stream->queue.begin;
        reader->run = NULL;
    }
    for (const char *begin; (begin = next_bytes(stream, reader, lane_limit, &bytes));) {
        uint64_t location = reader->location - bytes;
        uint64_t skip = location >= floor ? 0 : floor - location < bytes ? floor - location : bytes;
        reader->lost_bytes += skip;
        *out_count = (uint32_t)((bytes - skip) / stream->message_bytes);
        if (*out_count)
            return begin + skip;
    }
    return NULL;
}

const void *mica_stream_read_id(mica_stream *stream, uint32_t *out_count, mica_location location)
{
    *out_count = 0;
    if (!stream)
        return NULL;
    uint32_t lane_limit;
    micap_reader *reader = reader_here(stream, &lane_limit);
    const micap_task *task = micap_task_here(stream->world);
    if (task && (task->lane == MICAP_LANE_NONE || !reader) && !may_use(stream, task, false, location))
        return NULL;
    if (!reader) {
        micap_fail(stream->world, MICA_ERROR_REFUSED, location,
                   "stream %s: the application has no place in it: make it with .application = true", stream->name);
        return NULL;
    }
    return read_next(stream, reader, lane_limit, out_count);
}

const void *micap_stream_take(mica_stream *stream, uint32_t *out_count)
{
    *out_count = 0;
    micap_reader *reader = find_reader(stream, 0);
    MICAP_ASSERT(reader, "streams of the library are the application's");
    return read_next(stream, reader, 0, out_count);
}

uint64_t mica_stream_count(const mica_stream *stream)
{
    uint32_t lane_limit;
    const micap_reader *reader = stream ? reader_here(stream, &lane_limit) : NULL;
    if (!reader)
        return 0;
    return (visible_end(stream, reader, lane_limit) - effective_place(stream, reader, lane_limit)) /
           stream->message_bytes;
}

uint64_t mica_stream_dropped(const mica_stream *stream)
{
    if (!stream)
        return 0;
    uint32_t lane_limit;
    const micap_reader *reader = reader_here(stream, &lane_limit);
    uint64_t lost = stream->lost_bytes;
    if (reader)
        lost = reader->lost_bytes + effective_place(stream, reader, lane_limit) - reader->location;
    return lost / stream->message_bytes + atomic_load_explicit(&stream->missed, memory_order_relaxed);
}
