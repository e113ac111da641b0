/* Mica, recording: record a run to a file, replay it, and find out where it diverges.
 *
 *     mica_input_handle(world, take_input, game);            applies input; called by mica_input and by a replay
 *     mica_recording_begin(world, "run.micarec", NULL);
 *     while (is_running()) {
 *         mica_input(world, &buttons, sizeof buttons);       any bytes, any number of times per frame
 *         mica_step(world, 1.0f / 60);
 *     }
 *     mica_recording_end(world);
 *
 * The file stores the input, the time step and the resulting world hash of each frame; optionally also a hash after each system,
 * and the hash tree (mica/hash.h). Then, in a world that was set up the same way:
 *
 *     mica_recording *recording = mica_recording_load("run.micarec", NULL);
 *     if (!mica_replay(world, recording, &difference))
 *         puts(difference.text);        "tick 41: first after system move: Position of entity 700 (generation 1), in ..."
 *
 * `mica replay` does this for modules, `mica diff` compares two recordings. A frame is in the file when mica_step returns, so a
 * recording survives a crash. Everything that changes the world between frames must go through mica_input, or the replay
 * diverges. Snapshots that are taken, restored and dropped between frames (mica/snapshot.h) are recorded and replayed too. Snapshots of
 * exclusive systems are not recorded: the systems take and restore them again. Restoring one between frames that a system took, or the
 * reverse, or one from before the recording, ends the recording with a report; the file stays valid up to the last frame.
 * docs/format.md describes the bytes.
 */
#ifndef MICA_RECORDING_H
#define MICA_RECORDING_H

#include "mica/hash.h"
#include "mica/world.h"

MICA_BEGIN

/* Applies input to the world. The bytes are valid until it returns. */
typedef void (*mica_input_fn)(mica_world *world, const void *bytes, size_t byte_count, void *context);

/* Sets the input handler; NULL removes it. Rejected inside a system. Threads: owner. */
MICA_API mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context);

enum { MICA_INPUT_BYTES_MAX = 16 << 20 };

/* Passes input to the handler and records it for the next frame. Returns MICA_ERROR_UNKNOWN with a report if there is no handler.
 * Rejected inside a frame. Threads: owner. */
MICA_API mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count);

/* How precisely a recording can locate a difference. */
typedef enum mica_recording_detail {
    MICA_RECORDING_WORLD = 0, /* the frame: 40 bytes per frame */
    MICA_RECORDING_SLICES,    /* also component and slice: 40 bytes per changed column of a slice */
    MICA_RECORDING_ENTITIES,  /* also the entity: 40 bytes per changed value */
} mica_recording_detail;

typedef struct mica_recording_def {
    mica_recording_detail detail;
    bool systems; /* also the system: systems run one by one, and the world is hashed after each */
} mica_recording_def;

/* Begins to record every mica_step to a file. A NULL def means the defaults. Returns MICA_ERROR_FILE with a report if the file
 * cannot be written. Rejected while a recording is in progress and inside a frame. If writing fails later (a full disk), the
 * recording ends with a report and the world continues to run. Threads: owner. */
MICA_API mica_result mica_recording_begin(mica_world *world, const char *path, const mica_recording_def *def);

/* Ends the recording. Returns MICA_ERROR_FILE if it could not be written completely, MICA_ERROR_REFUSED if there is none. Destroying
 * the world also ends it. Threads: owner. */
MICA_API mica_result mica_recording_end(mica_world *world);

typedef struct mica_recording mica_recording;

enum { MICA_RECORDING_MAGIC_BYTES = 8 };

/* An error in a recording, and its position. */
typedef struct mica_recording_error {
    mica_result result;
    uint64_t offset;
    char text[256];
} mica_recording_error;

/* Loads and verifies a recording; an incomplete frame at the end is ignored. On error returns NULL and fills `out_error`, which may be
 * NULL. Threads: any. */
MICA_API mica_recording *mica_recording_load(const char *path, mica_recording_error *out_error);

/* The same for bytes in memory, which are copied. Threads: any. */
MICA_API mica_recording *mica_recording_open(const void *bytes, size_t byte_count, mica_recording_error *out_error);

/* Returns whether these bytes begin like a recording: the first MICA_RECORDING_MAGIC_BYTES of a file are enough. Threads: any. */
MICA_API bool mica_recording_detect(const void *bytes, size_t byte_count);

/* Frees a recording. NULL is a no-op. Threads: any, if no thread uses it. */
MICA_API void mica_recording_free(mica_recording *recording);

typedef struct mica_recording_info {
    uint64_t start_hash; /* of the world before the first frame */
    uint64_t byte_count;
    uint32_t tick_count;
    mica_recording_detail detail;
    bool systems;
    bool is_cut; /* the last frame is incomplete: the program did not end the recording */
} mica_recording_info;

/* One frame. Ticks start at 1. */
typedef struct mica_recorded_tick {
    uint64_t hash; /* of the world after it */
    float dt;
    uint32_t input_count;
} mica_recorded_tick;

/* Return the contents of a recording. A tick after the last is all zero, an input after the last is NULL. Pointers are valid as long
 * as the recording. Threads: any. */
MICA_API mica_recording_info mica_recording_get_info(const mica_recording *recording);
MICA_API mica_recorded_tick mica_recording_tick(const mica_recording *recording, uint32_t tick);
MICA_API const void *mica_recording_input(const mica_recording *recording, uint32_t tick, uint32_t index,
                                          size_t *out_byte_count);

/* Replays a recording on a world that has the same state as when the recording began: passes the input of each frame to the
 * handler, steps and compares. Returns true if all frames are equal. Otherwise stops after the first frame that differs, writes the
 * difference to `out`, which may be NULL, and returns false. Rejected (false) while recording and inside a frame. Threads: owner. */
MICA_API bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out);

/* Returns whether two recordings differ, and the first difference. `out` may be NULL. Threads: any. */
MICA_API bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_input_handle(world, ...) mica_input_handle(MICA_AT_(world), __VA_ARGS__)
#    define mica_input(world, ...) mica_input(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_begin(world, ...) mica_recording_begin(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_end(world) mica_recording_end(MICA_AT_(world))
#    define mica_recording_load(...) MICA_AT_(mica_recording_load(__VA_ARGS__))
#    define mica_recording_open(...) MICA_AT_(mica_recording_open(__VA_ARGS__))
#    define mica_recording_detect(...) MICA_AT_(mica_recording_detect(__VA_ARGS__))
#    define mica_recording_free(recording) mica_recording_free(MICA_AT_(recording))
#    define mica_recording_get_info(recording) mica_recording_get_info(MICA_AT_(recording))
#    define mica_recording_tick(recording, ...) mica_recording_tick(MICA_AT_(recording), __VA_ARGS__)
#    define mica_recording_input(recording, ...) mica_recording_input(MICA_AT_(recording), __VA_ARGS__)
#    define mica_replay(world, ...) mica_replay(MICA_AT_(world), __VA_ARGS__)
#    define mica_recording_diff(a, ...) mica_recording_diff(MICA_AT_(a), __VA_ARGS__)
#endif
#endif
