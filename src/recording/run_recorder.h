/* The recorder of a world: it listens to frames, and writes them into a file, compares them with a recording that is replayed, or
 * only has the handler of input. */
#ifndef MICAP_RECORDING_RUN_RECORDER_H
#define MICAP_RECORDING_RUN_RECORDER_H

#include "base/byte_stream.h"
#include "mica/snapshot.h"
#include "recording/recording_file.h"

#include <stdio.h>

typedef struct micap_run_recorder {
    mica_world *world;
    mica_input_fn input;
    void *input_context;
    bool is_in_input; /* the handler runs: a replay calls it too, so that what it does is not recorded */

    FILE *file;
    mica_recording_def def;
    uint64_t number; /* of the recording in this process, so that snapshots know theirs */
    uint64_t tick;
    uint32_t snapshot_count; /* taken since the recording began */
    bool has_failed;         /* the recording ended early, with a report */
    micap_bytes frame;       /* records of the frame that comes next */
    mica_hash_tree *tree;    /* after the last frame */
    uint64_t *named;         /* hashes whose texts are in the file */
    uint32_t named_count;
    uint32_t named_capacity;

    const mica_recording *replay;
    uint32_t system_index;    /* in the frame that is replayed */
    char system[64];          /* the first after which the world differs */
    mica_snapshot *snapshots; /* that the replay has taken, by number; id 0: dropped */
} micap_run_recorder;

/* The recorder of a world, created when there is none; NULL with a report when memory is short. */
micap_run_recorder *micap_run_recorder_of(mica_world *world);
/* Begins or ends listening to each system. */
bool micap_run_recorder_listen(micap_run_recorder *recorder, bool systems);
/* Hands input to the handler, which there is. */
void micap_run_recorder_input(micap_run_recorder *recorder, const void *bytes, size_t byte_count);

/* MICA_OK, or a report that it is refused inside a frame. */
mica_result micap_run_recorder_refuse_inside(mica_world *world, const char *what);

#endif
