/* Streams: queues of messages of one size, and the positions of their readers.
 *
 *     stream            creating, writing, reading
 *     stream_frame      the streams of a world around frames and phases
 *     stream_snapshot   the streams of a world in snapshots */
#ifndef MICAP_FLOW_MESSAGING_STREAM_H
#define MICAP_FLOW_MESSAGING_STREAM_H

#include "flow/messaging/ordered_queue.h"
#include "mica/stream.h"
#include "type/type.h"

/* A reader and its position. While a phase runs, a reader that has read the whole list continues with the spans of systems
 * that run before it. Those are complete, and will be added to the list in the order they were read in. */
typedef struct micap_stream_reader {
    uint32_t system;        /* its id, which is kept when a system is replaced; 0 is the application */
    uint64_t position;      /* after the last byte it has read */
    micap_queue_span *span; /* of the list, which contains that position or an earlier one; NULL: the first */
    uint64_t lost_bytes;    /* dropped before it had read them */
    /* In the running phase. */
    micap_queue_span *sequence_span; /* the last span it has read that is not in the list */
    uint32_t sequence;               /* lower sequence numbers were read */
} micap_stream_reader;

struct mica_stream {
    mica_world *world; /* first: a system that uses the stream compares it with its own */
    mica_stream *next; /* of the world, in the order they were created */
    uint64_t told;     /* the end of what mica/traffic.h was told */
    uint64_t number;   /* unique in the world: an address may be reused, a number is not */
    char *name;
    size_t name_bytes;
    mica_location location;
    micap_queue queue;
    bool is_owned;              /* by requests */
    const micap_type *type;     /* of its messages; NULL: they are questions of requests: */
    const micap_type *question; /* their type, and where it follows key and asker */
    uint32_t question_offset;
    uint32_t message_bytes;
    uint32_t
        fast_bytes; /* message_bytes; UINT32_MAX if messages own something: then the fast path does not take them */
    uint32_t keep_frames;
    uint64_t capacity_bytes; /* 0: it grows */
    micap_stream_reader *readers;
    uint32_t reader_count;
    uint32_t reader_capacity;
    uint64_t lost_bytes;     /* dropped because the stream was full */
    _Atomic uint64_t missed; /* messages that were lost because memory was short */
};

/* What a question begins with. */
typedef struct micap_question_head {
    uint64_t key;
    mica_entity asker;
} micap_question_head;

/* What a stream is created from. */
typedef struct micap_stream_shape {
    const char *name;
    const micap_type *type; /* or */
    const micap_type *question;
    uint32_t question_offset;
    uint32_t message_bytes;
    uint32_t alignment;
    uint32_t capacity;
    uint32_t keep_frames;
    bool application;
    bool is_owned; /* by requests: users don't destroy it */
    mica_location location;
} micap_stream_shape;

/* Returns NULL with a report if memory is short. */
mica_stream *micap_stream_create(mica_world *world, const micap_stream_shape *shape);

/* Removes a stream from the world and frees it, without checking that it is unused. */
void micap_stream_remove(mica_stream *stream);
/* Frees a stream whose world ends. */
void micap_stream_free(mica_stream *stream);

/* Returns the next messages that the application has not read. They are dropped with the next frame. */
const void *micap_stream_take(mica_stream *stream, uint32_t *out_count);

/* Adds a reader, which begins with the oldest message. False if memory is short. */
bool micap_stream_add_reader(mica_stream *stream, uint32_t system);

/* Appends uninitialized messages, as mica_stream_push_many_id does, and makes messages that have the bytes of others copies of these. If
 * memory is short, takes them back and returns false with a report. */
char *micap_stream_append(mica_stream *stream, uint32_t count, mica_location location);
bool micap_stream_own(mica_stream *stream, char *messages, uint32_t count);

/* Drops the oldest messages of a bounded stream that has too many. */
void micap_stream_bound(mica_stream *stream);

#endif
