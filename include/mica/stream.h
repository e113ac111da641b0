/* Mica, stream: typed messages from many writers to many readers, in an order that does not depend on threads.
 *
 *     typedef struct Hit { mica_entity who; float damage; } Hit;
 *     MICA_STRUCT(Hit, who, damage)
 *     mica_stream *hits = mica_stream_create(world, MICA_STREAM(Hit));
 *
 *     in a system with .uses = MICA_USES(MICA_USE_STREAM_WRITE(hits))
 *         mica_stream_push(hits, Hit, {view->entities[i], 3});
 *     in a later one with .uses = MICA_USES(MICA_USE_STREAM_READ(hits))
 *         uint32_t count;
 *         for (const Hit *hit; (hit = mica_stream_read(hits, Hit, &count));)
 *             for (uint32_t i = 0; i < count; ++i) ...
 *
 * Messages come ordered by (system, slice, call). Many systems may write a stream at the same time; declaring that a system
 * reads it puts it behind those that write it and were added before it. What later ones write it reads in the next run.
 * Each system that declares to read runs in one thread and has a place of its own in the stream, and so has the
 * application, which reads between frames; exclusive systems, hooks and observers write and read as the application does, and
 * so do handlers of messages outside of systems. Those that run in a frame may write without declaring it, unless another
 * handler reads the stream. A message is kept until the slowest reader has read it, even one that is switched off, or as long as
 * .keep_frames says. Memory is used again from frame to frame.
 *
 * The output of a system that is one value and not a list is a singleton that it writes and others read (mica/singleton.h).
 */
#ifndef MICA_STREAM_H
#define MICA_STREAM_H

#include "mica/describe.h"

MICA_BEGIN

typedef struct mica_stream mica_stream;

typedef struct mica_stream_def {
    const char *name;
    mica_type *type;      /* of a message; its bytes are copied, so it owns nothing */
    uint32_t capacity;    /* the most messages it keeps, the oldest are dropped for new ones; 0: it grows */
    uint32_t keep_frames; /* drop messages after that many frames, read or not; 0: when all have read them. Without any
                             reader they are dropped after the frame that follows. */
    bool application;     /* the application reads it too, between frames */
    mica_location location;
} mica_stream_def;

/* Makes a stream. Returns NULL with a report when it can't. Refused inside a system. Threads: owner. */
MICA_API mica_stream *mica_stream_create(mica_world *world, const mica_stream_def *def);

/* Gives it back with its messages; NULL is fine. Refused inside a system and while a system declares it. Threads: owner. */
MICA_API void mica_stream_destroy(mica_stream *stream);

/* Appends room for `count` messages that lie one after the other and returns it, to be filled in before the function of the
 * system returns. NULL with a report when memory is short or the system does not declare to write it.
 * Threads: any that runs a system; else owner. */
MICA_API void *mica_stream_push_many_id(mica_stream *stream, uint32_t count, mica_location location);

/* Appends one message, copied. False as above. Threads: as above, any that runs a system. */
MICA_API bool mica_stream_push_id(mica_stream *stream, const void *message, size_t message_bytes,
                                  mica_location location);

/* Returns the next messages that this reader has not read, oldest first, as many as lie one after the other, and fills in how
 * many; NULL when it has read all. They stay in place until the end of the frame, for the application until systems run again.
 * Threads: the system's own; else owner. */
MICA_API const void *mica_stream_read_id(mica_stream *stream, uint32_t *out_count, mica_location location);

/* Returns how many messages this reader has not read. Threads: as above, reader. */
MICA_API uint64_t mica_stream_count(const mica_stream *stream);

/* Returns how many messages this reader has lost: dropped for room or of old age before it read them, or never written because
 * memory was short. Who is no reader gets what was dropped for room. Threads: as above, reader. */
MICA_API uint64_t mica_stream_dropped(const mica_stream *stream);

MICA_END

#define MICA_STREAM(T) MICA_STREAM_WITH(T, (.application = false))
#define MICA_STREAM_WITH(T, options)                                                                                   \
    (&(const mica_stream_def){.name = #T, .type = &mica_type_of_##T, .location = MICA_HERE, MICA_UNWRAP_ options})
#define mica_stream_push(stream, T, ...) mica_stream_push_id((stream), &(const T)__VA_ARGS__, sizeof(T), MICA_HERE)
#define mica_stream_push_from(stream, T, pointer) mica_stream_push_id((stream), (const T *){(pointer)}, sizeof(T), MICA_HERE)
#define mica_stream_push_many(stream, T, count) ((T *)mica_stream_push_many_id((stream), (count), MICA_HERE))
#define mica_stream_read(stream, T, out_count) ((const T *)mica_stream_read_id((stream), (out_count), MICA_HERE))

#endif
