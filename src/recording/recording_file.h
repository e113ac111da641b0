/* Recordings. A file is a header and records, one behind the other, each with its size and checksum: docs/format.md. Other than
 * a resource it has no table of sections, whose sizes are known only at the end: a recording must be whole up to the
 * frame in which the program crashed. */
#ifndef MICAP_RECORDING_RECORDING_H
#define MICAP_RECORDING_RECORDING_H

#include "mica/record.h"
#include "base/byte_stream.h"
#include "snapshot/hash_tree.h"

#include <stdio.h>

#define MICAP_RECORD_MAGIC "MREC\r\n\x1a\n"

enum {
    MICAP_RECORD_VERSION_MAJOR = 1,
    MICAP_RECORD_VERSION_MINOR = 0,
    MICAP_RECORD_HEADER_BYTES = 48,
    MICAP_RECORD_HEAD_BYTES = 16, /* of each record: kind, size, checksum */
    MICAP_RECORD_LEAF_BYTES = 40,
    MICAP_RECORD_TICK_BYTES = 24,
    MICAP_RECORD_SYSTEM_BYTES = 16,
    MICAP_RECORD_SYSTEMS = 1, /* flag: systems are hashed */
};

typedef enum micap_record_kind {
    MICAP_RECORD_NAME = 1, /* hash, text without an end */
    MICAP_RECORD_INPUT,    /* bytes, for the tick that follows */
    MICAP_RECORD_SYSTEM,   /* hash of its name, hash of the world behind it */
    MICAP_RECORD_LEAVES,   /* those of the hash tree that changed; no rows: gone */
    MICAP_RECORD_TICK,     /* number, hash of the world, dt, 0: ends a frame */
    MICAP_RECORD_KINDS,
} micap_record_kind;

typedef struct micap_diary_entry {
    micap_record_kind kind;
    uint32_t byte_count;
    const char *bytes;
} micap_diary_entry;

typedef struct micap_diary_frame {
    uint32_t record; /* the first */
    uint32_t record_count;
    mica_recorded_tick tick;
} micap_diary_frame;

struct mica_recording {
    micap_memory memory;
    mica_recording_info info;
    char *bytes; /* all of the file */
    size_t byte_count;
    micap_diary_entry *records;
    uint32_t record_count;
    uint32_t record_capacity;
    micap_diary_frame *frames;
    uint32_t frame_count;
    uint32_t frame_capacity;
    mica_hash_tree *names; /* nothing but these */
};

/* As mica_recording_open, with memory from elsewhere. */
mica_recording *micap_recording_open(mica_allocator allocator, const void *bytes, size_t byte_count,
                                     mica_recording_error *out_error);

/* The record of that kind in a frame; NULL behind the last. */
const micap_diary_entry *micap_diary_find(const mica_recording *recording, uint32_t tick, micap_record_kind kind,
                                          uint32_t index);
/* The tree behind a tick; NULL when memory is short. */
mica_hash_tree *micap_recording_tree(const mica_recording *recording, uint32_t tick);

/* What watches the frames of a world: it records, replays, or has nothing but the handler of input. */
typedef struct micap_diary {
    mica_world *world;
    mica_input_fn input;
    void *input_context;

    FILE *file;
    mica_record_def def;
    uint64_t tick;
    micap_bytes frame;    /* records of the frame under way */
    mica_hash_tree *tree; /* behind the last frame */
    uint64_t *named;      /* hashes whose texts are in the file */
    uint32_t named_count;
    uint32_t named_capacity;

    const mica_recording *replay;
    uint32_t system_index; /* of the frame that is replayed */
    char system[64];       /* the first that went another way */
} micap_diary;

/* The diary of a world, made when there is none; NULL with a report when memory is short. */
micap_diary *micap_diary_of(mica_world *world);
/* Begins and ends to listen to each system. */
bool micap_diary_listen(micap_diary *diary, bool systems);

/* Of a system that was run again. */
void micap_replay_system(micap_diary *diary, const char *name, uint64_t name_hash);

/* MICA_OK, or a report that frames run. */
mica_result micap_record_refuse_inside(mica_world *world, const char *what);

#endif
