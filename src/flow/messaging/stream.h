/* A stream: a queue of messages of one size, and the places its readers have reached.
 *
 *     stream.c       what users call      stream_frame.c    what happens around frames and phases */
#ifndef MICAP_FLOW_MESSAGING_STREAM_H
#define MICAP_FLOW_MESSAGING_STREAM_H

#include "flow/messaging/ordered_queue.h"
#include "mica/stream.h"
#include "type/type.h"

/* Who reads, and how far. While a phase runs, a reader goes on, behind the list, with the lanes of systems that come before
 * it: they are complete, and when they join the list they lie in the order they were read in. */
typedef struct micap_reader {
    uint32_t system;     /* the id: it stays when a system is replaced; 0 is the application */
    uint64_t location;   /* behind the last byte it has read */
    micap_run *run;      /* of the list, where that place is or a place before it; NULL: the first */
    uint64_t lost_bytes; /* were dropped before it had read them */
    /* In the phase that runs. */
    micap_run *lane_run; /* the last run of a lane that it has read */
    uint32_t lane;       /* lanes below it are read */
} micap_reader;

struct mica_stream {
    mica_world *world;
    mica_stream *next; /* of the world's, in the order they were made */
    uint64_t number;   /* how many-eth of the world: an address may be had again, a number is not */
    char *name;
    size_t name_bytes;
    mica_location location;
    micap_queue queue;
    bool is_owned;
    const micap_type *type; /* of its messages; NULL: they are requests' */
    uint32_t message_bytes;
    uint32_t keep_frames;
    uint64_t capacity_bytes; /* 0: it grows */
    micap_reader *readers;
    uint32_t reader_count;
    uint32_t reader_capacity;
    uint64_t lost_bytes;     /* dropped for room, whoever had read them */
    _Atomic uint64_t missed; /* messages for which there was no memory */
};

/* What a stream is made of, where there is no description of its messages. */
typedef struct micap_stream_shape {
    const char *name;
    const micap_type *type;
    uint32_t message_bytes;
    uint32_t alignment;
    uint32_t capacity;
    uint32_t keep_frames;
    bool application;
    bool is_owned; /* by requests: users don't destroy it */
    mica_location location;
} micap_stream_shape;

/* NULL with a report when memory is short. */
mica_stream *micap_stream_make(mica_world *world, const micap_stream_shape *shape);
/* Gives it back without asking who uses it, */
void micap_stream_end(mica_stream *stream);
/* and without taking it off the list of the world's streams. */
void micap_stream_free(mica_stream *stream);

/* The next messages that the application has not read, then forgotten with the next frame. */
const void *micap_stream_take(mica_stream *stream, uint32_t *out_count);

/* All streams of a world; NULL when memory is short, with a report. */
typedef struct micap_streams {
    mica_stream *first, *last;
    uint64_t made_count;
    uint64_t frame; /* frames begun */
    bool is_in_frame;
    uint64_t systems_version; /* when readers were last compared with what systems declare */
} micap_streams;

micap_streams *micap_streams_of(mica_world *world);

/* For snapshots: see micap_listener_ops. */
void *micap_streams_save(mica_world *world, void *state);
void micap_streams_drop(mica_world *world, void *state, void *saved);
bool micap_streams_prepare(mica_world *world, void *state, const void *saved);
void micap_streams_load(mica_world *world, void *state, const void *saved);

/* Adds a reader, who begins with what is still there. False when memory is short. */
bool micap_stream_add_reader(mica_stream *stream, uint32_t system);

/* Drops the oldest messages of a bounded stream that has too many. */
void micap_stream_bound(mica_stream *stream);

#endif
