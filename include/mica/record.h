/* Mica, record: a run in a file, to run it again and be told where it goes another way.
 *
 *     mica_input_handle(world, take_input, game);            what input does; called by mica_input and by a replay
 *     mica_record_begin(world, "run.micarec", NULL);
 *     while (is_running()) {
 *         mica_input(world, &buttons, sizeof buttons);       any bytes, as often as you like before each frame
 *         mica_step(world, 1.0f / 60);
 *     }
 *     mica_record_end(world);
 *
 * The file holds for each frame its input, its time step and the hash of the world behind it; on request also a hash behind
 * each system, and the tree of hashes (mica/hash.h). Then, in a world that was set up alike:
 *
 *     mica_recording *recording = mica_recording_load("run.micarec", NULL);
 *     if (!mica_replay(world, recording, &difference))
 *         puts(difference.text);        "tick 41: first behind system move: Position of entity 700 (generation 1), in ..."
 *
 * `mica replay` does that for modules, `mica diff` compares two recordings. A frame is in the file when mica_step returns: a
 * recording explains the crash that ended it. What changes the world between frames must come through mica_input, or the
 * replay will differ; but snapshots that are taken, restored and dropped (mica/snapshot.h) are recorded too, and a replay does the
 * same. Restoring one that was taken before the recording began ends the recording with a report; the file stays valid up to the last
 * frame. The bytes are described in docs/format.md.
 */
#ifndef MICA_RECORD_H
#define MICA_RECORD_H

#include "mica/hash.h"
#include "mica/world.h"

MICA_BEGIN

/* Does to the world what input bytes say. The bytes are gone when it returns. */
typedef void (*mica_input_fn)(mica_world *world, const void *bytes, size_t byte_count, void *context);

/* Says what input does; NULL forgets it. Refused inside a system. Threads: owner. */
MICA_API mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context);

enum { MICA_INPUT_BYTES_MAX = 16 << 20 };

/* Hands input to the handler, and records it for the frame that comes next. MICA_ERROR_UNKNOWN with a report when there is no
 * handler. Refused inside a frame. Threads: owner. */
MICA_API mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count);

/* How much a recording can tell about a difference. */
typedef enum mica_record_detail {
    MICA_RECORD_WORLD = 0, /* which frame: 40 bytes for each */
    MICA_RECORD_SLICES,    /* and component and slice: 40 bytes for each column of a slice that changed */
    MICA_RECORD_ENTITIES,  /* and entity: 40 bytes for each value that changed; to look into what slices found */
} mica_record_detail;

typedef struct mica_record_def {
    mica_record_detail detail;
    bool systems; /* which system too: they run one by one, and the world is hashed behind each */
} mica_record_def;

/* Begins to record every mica_step into a file; NULL means the defaults. MICA_ERROR_FILE with a report when it can't be
 * written. Refused while recording already, and inside a frame. A recording that fails later (a full disk) ends with a
 * report, and the world goes on. Threads: owner. */
MICA_API mica_result mica_record_begin(mica_world *world, const char *path, const mica_record_def *def);

/* Ends the recording. Returns MICA_ERROR_FILE when not all of it could be written, MICA_ERROR_REFUSED when there was none.
 * Destroying the world ends it too. Threads: owner. */
MICA_API mica_result mica_record_end(mica_world *world);

typedef struct mica_recording mica_recording;

/* What is wrong with a recording, and where. */
typedef struct mica_recording_error {
    mica_result result;
    uint64_t offset;
    char text[256];
} mica_recording_error;

/* Loads a recording and verifies it; a frame that was cut off at the end is left out. Returns NULL and fills `out_error`, which
 * may be NULL, when it can't. Threads: any. */
MICA_API mica_recording *mica_recording_load(const char *path, mica_recording_error *out_error);

/* The same for bytes in memory, which are copied. Threads: any. */
MICA_API mica_recording *mica_recording_open(const void *bytes, size_t byte_count, mica_recording_error *out_error);

/* Gives a recording back; NULL is fine. Threads: any, when nobody uses it. */
MICA_API void mica_recording_free(mica_recording *recording);

typedef struct mica_recording_info {
    uint64_t start_hash; /* of the world before the first frame */
    uint64_t byte_count;
    uint32_t tick_count;
    mica_record_detail detail;
    bool systems;
    bool is_cut; /* the last frame is not whole: the program did not end the recording */
} mica_recording_info;

/* One frame. Ticks are counted from 1. */
typedef struct mica_recorded_tick {
    uint64_t hash; /* of the world behind it */
    float dt;
    uint32_t input_count;
} mica_recorded_tick;

/* Return what the recording holds. A tick beyond the last is all zero, input beyond the last NULL. Pointers live as long as
 * the recording. Threads: any. */
MICA_API mica_recording_info mica_recording_get_info(const mica_recording *recording);
MICA_API mica_recorded_tick mica_recording_tick(const mica_recording *recording, uint32_t tick);
MICA_API const void *mica_recording_input(const mica_recording *recording, uint32_t tick, uint32_t index,
                                          size_t *out_byte_count);

/* Runs all frames of a recording on a world that is as it was when the recording began: hands input to the handler, steps, and
 * compares. Returns whether all was the same; it stops behind the first frame that is not, and says what differs.
 * `out` may be NULL. Refused (false) while recording and inside a frame. Threads: owner. */
MICA_API bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out);

/* Returns whether two recordings differ, and says where first. `out` may be NULL. Threads: any. */
MICA_API bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out);

MICA_END
#endif
