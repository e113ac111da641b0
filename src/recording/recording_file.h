/* A recording that was loaded: records by frame. Everything in it was verified.
 *
 *     recording_format.h   the bytes                        run_recorder.c   writes a recording while a world runs
 *     recording_file.c     reads and verifies recordings    replay.c         runs a recording again, and compares two */
#ifndef MICAP_RECORDING_RECORDING_FILE_H
#define MICAP_RECORDING_RECORDING_FILE_H

#include "mica/recording.h"
#include "recording/recording_format.h"
#include "snapshot/hash_tree.h"

/* One record, in the bytes of the file. */
typedef struct micap_run_record {
    micap_record_kind kind;
    uint32_t byte_count;
    const char *bytes;
} micap_run_record;

typedef struct micap_run_frame {
    uint32_t record; /* the first */
    uint32_t record_count;
    mica_recorded_tick tick;
} micap_run_frame;

struct mica_recording {
    micap_memory memory;
    mica_recording_info info;
    char *bytes; /* all of the file */
    size_t byte_count;
    micap_run_record *records;
    uint32_t record_count;
    uint32_t record_capacity;
    micap_run_frame *frames;
    uint32_t frame_count;
    uint32_t frame_capacity;
    uint32_t snapshot_count; /* that were taken */
    mica_hash_tree *names;   /* no leaves */
};

/* As mica_recording_open, with another allocator. */
mica_recording *micap_recording_open(mica_allocator allocator, const void *bytes, size_t byte_count,
                                     mica_recording_error *out_error);

/* Record `index` of a kind in a frame; NULL after the last. */
const micap_run_record *micap_recording_find_record(const mica_recording *recording, uint32_t tick,
                                                    micap_record_kind kind, uint32_t index);
/* The number in a record about a snapshot. */
uint32_t micap_run_record_snapshot(const micap_run_record *record);
/* The hash tree after a tick; NULL when memory is short. */
mica_hash_tree *micap_recording_tree(const mica_recording *recording, uint32_t tick);

#endif
