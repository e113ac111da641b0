/* Mica, stream: typed messages from many writers to many readers, in an order that does not depend on threads.
 *
 *     typedef struct Hit { mica_entity target; float damage; } Hit;
 *     MICA_STRUCT(Hit, target, damage)
 *     mica_stream *hits = mica_stream_create(world, MICA_STREAM(Hit));
 *
 *     in a system with MICA_USES(MICA_USE_STREAM_WRITE(hits))
 *         mica_stream_push(hits, Hit, {view->entities[i], 3});
 *     in a later system with MICA_USES(MICA_USE_STREAM_READ(hits))
 *         uint32_t count;
 *         for (const Hit *hit; (hit = mica_stream_read(hits, Hit, &count));)
 *             for (uint32_t i = 0; i < count; ++i) ...
 *
 * Messages are ordered by (system, slice, call). Several systems can write a stream at the same time. A system that declares to
 * read it runs after the writers that were added before it, and reads what later writers write in its next run.
 *
 * Each reading system runs on one thread and has its own read position. So has the application, which reads between frames;
 * exclusive systems, hooks, observers, and message handlers outside systems, read and write as the application. Message handlers
 * inside a frame can write without declaring it, unless another handler reads the stream. A message is kept until the slowest
 * reader has read it, even if that reader is disabled, or as long as .keep_frames says.
 *
 * If a system's output is one value instead of a list, use a singleton (mica/singleton.h).
 */
#ifndef MICA_STREAM_H
#define MICA_STREAM_H

#include "mica/describe.h"

MICA_BEGIN

typedef struct mica_stream mica_stream;

typedef struct mica_stream_def {
    const char *name;
    mica_type *type;   /* of a message; trivially copyable, or with text and lists */
    uint32_t capacity; /* maximum number of messages; the oldest are dropped; 0: unlimited */
    uint32_t
        keep_frames;  /* drop messages after this many frames, read or not; 0: when every reader has read them. Without
                             readers they are dropped after the next frame. */
    bool application; /* the application is a reader too, between frames */
    mica_location location;
} mica_stream_def;

/* Creates a stream. Returns NULL with a report on error. Rejected inside a system. Threads: owner. */
MICA_API mica_stream *mica_stream_create(mica_world *world, const mica_stream_def *def);

/* Destroys a stream with its messages. NULL is a no-op. Rejected inside a system, and while a system declares it.
 * Threads: owner. */
MICA_API void mica_stream_destroy(mica_stream *stream);

/* Appends `count` contiguous messages and returns a pointer to them, to be filled in before the function of the system returns.
 * Messages with text or lists are zero; set these with mica_text_set, not with mica_text_of. Returns NULL with a report if memory
 * runs out or the system does not declare the write. Threads: any that runs a system; else owner. */
MICA_API void *mica_stream_push_many_id(mica_stream *stream, uint32_t count, mica_location location);

/* Appends a copy of one message, with copies of its text and lists. Returns false on error, as above. Threads: as above, any that runs a system. */
MICA_API bool mica_stream_push_id(mica_stream *stream, const void *message, size_t message_bytes,
                                  mica_location location);

/* Returns the next unread messages of this reader, oldest first, as many as are contiguous, and their number. Returns NULL if all
 * are read. The messages are valid until the end of the frame; for the application, until systems run again.
 * Threads: the system's own; else owner. */
MICA_API const void *mica_stream_read_id(mica_stream *stream, uint32_t *out_count, mica_location location);

/* Returns the id of the type of its messages, or 0 for the stream of mica_requests_stream. Threads: any. */
MICA_API mica_component mica_stream_component(const mica_stream *stream);

/* Returns the number of unread messages of this reader. Threads: as above, reader. */
MICA_API uint64_t mica_stream_count(const mica_stream *stream);

/* Returns how many messages this reader lost: dropped because of capacity or age before it read them, or not written because
 * memory ran out. If the caller is not a reader, returns how many were dropped because of capacity. Threads: as above, reader. */
MICA_API uint64_t mica_stream_dropped(const mica_stream *stream);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_stream_create(world, ...) mica_stream_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_stream_destroy(stream) mica_stream_destroy(MICA_AT_(stream))
#    define mica_stream_push_many_id(stream, ...) mica_stream_push_many_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_push_id(stream, ...) mica_stream_push_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_read_id(stream, ...) mica_stream_read_id(MICA_AT_(stream), __VA_ARGS__)
#    define mica_stream_component(stream) mica_stream_component(MICA_AT_(stream))
#    define mica_stream_count(stream) mica_stream_count(MICA_AT_(stream))
#    define mica_stream_dropped(stream) mica_stream_dropped(MICA_AT_(stream))
#endif

#define MICA_STREAM(T) MICA_STREAM_WITH(T, (.application = false))
#define MICA_STREAM_WITH(T, options)                                                                                   \
    (&(const mica_stream_def){.name = #T, .type = &MICA_JOIN_(mica_type_of_, T), .location = MICA_HERE, MICA_UNWRAP_ options})
#define mica_stream_push(stream, T, ...) mica_stream_push_id((stream), &(const T)__VA_ARGS__, sizeof(T), MICA_HERE)
#define mica_stream_push_from(stream, T, pointer) mica_stream_push_id((stream), (const T *){(pointer)}, sizeof(T), MICA_HERE)
#define mica_stream_push_many(stream, T, count) ((T *)mica_stream_push_many_id((stream), (count), MICA_HERE))
#define mica_stream_read(stream, T, out_count) ((const T *)mica_stream_read_id((stream), (out_count), MICA_HERE))

#endif
