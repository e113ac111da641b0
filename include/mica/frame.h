/* Mica, frame: the frame loop. A frame runs the systems phase by phase, with a flush after each phase.
 *
 *     mica_run_def run = mica_run_def_default();
 *     run.frames_per_second = 30;
 *     mica_run(world, &run); // until a system calls mica_stop
 *
 * or, for programs with a loop of their own:
 *
 *     while (is_running())
 *         mica_step(world, seconds_since_the_last_frame());
 *
 * The phases are START, BEGIN, FIXED, UPDATE and END, plus those you add. START runs once: in the first frame in which the phase
 * has systems, is enabled and the world is not paused. A snapshot, a clone and a saved world know whether it ran: a world that continues
 * does not start again.
 *
 * A phase with a fixed step runs as often as its step fits into the elapsed time: not at all, once, or several times to catch up. Steps
 * beyond catch_up_max in one frame are dropped; a remainder shorter than one step is kept for the next frame. frame->alpha is the position
 * of the frame between two fixed steps, for interpolation.
 *
 * The world after a frame is bit-identical for any number of workers and any timing.
 */
#ifndef MICA_FRAME_H
#define MICA_FRAME_H

#include "mica/query.h"
#include "mica/task.h"

MICA_BEGIN

/* A system id, unique within the world. Zero is none. */
typedef struct mica_system {
    uint32_t id;
} mica_system;

/* A phase id. Zero, MICA_PHASE_UPDATE, is the default of systems. */
typedef uint32_t mica_phase;
enum {
    MICA_PHASE_UPDATE = 0, /* once per frame: the default */
    MICA_PHASE_BEGIN,      /* once per frame, first: input */
    MICA_PHASE_FIXED,      /* with a fixed time step: simulation */
    MICA_PHASE_END,        /* once per frame, last: output */
    MICA_PHASE_START,      /* once per world, before the first BEGIN */
    MICA_PHASE_NONE = 0x7FFFFFFF,
};

/* The context in which a system runs. Valid while the system runs. */
typedef struct mica_frame {
    mica_world *world;
    mica_query *query; /* of the system's terms, for systems that iterate themselves; NULL without terms */
    void *context;     /* of the system */
    float dt;          /* seconds since the system last ran, scaled; in a phase with a fixed step, that step */
    float alpha;       /* from 0 to 1: the position of this frame between the last fixed step and the next */
    double seconds;    /* since the world was created, scaled; in a phase with a fixed step, the time of its steps */
    uint64_t tick;     /* runs of the phase so far */
    mica_system system;
    uint32_t order;    /* private: position in the phase */
    uint64_t identity; /* private: hash of the name */
} mica_frame;

/* How a world runs its systems. A value of 0 means the default. */
typedef struct mica_flow_def {
    uint32_t
        worker_count; /* number of threads, including the caller, up to MICA_WORKERS_MAX; by default one per core */
    const mica_scheduler *scheduler; /* replaces the built-in scheduler: see mica/task.h */
    uint64_t seed;                   /* of the random numbers of systems: see mica/random.h */
    double fixed_seconds;            /* the step of MICA_PHASE_FIXED; 1/60 */
    uint32_t catch_up_max;           /* maximum number of steps of a fixed phase per frame; 8 */
    bool no_fusion; /* run systems one after another instead of fused per slice: same result, for comparison */
} mica_flow_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_flow_def mica_flow_def_default(void);

/* Configures how systems run. Without a call the defaults apply. Stops the threads of the old configuration. On error the old
 * configuration stays. Rejected inside a system. Threads: owner. */
MICA_API mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def);

/* Runs one frame: every phase in order, each followed by a flush. Returns the first error of a flush or phase; errors that systems
 * cause themselves are only reported. If a flush fails because memory runs out or a seal rejects it, it is repeated before the next
 * systems run. If memory runs out before the systems of MICA_PHASE_START are called, the frame ends there, and the next frame
 * tries again. Rejected inside a system and while recording. Threads: owner. */
MICA_API mica_result mica_step(mica_world *world, float dt);

/* Like mica_step, but starts with the given system: everything before it in the frame is skipped. If it is in a phase with a
 * fixed step or in MICA_PHASE_START, that phase runs once. Threads: owner. */
MICA_API mica_result mica_step_from(mica_world *world, mica_system system, float dt);

/* Called after a frame, in the thread that called mica_step. */
typedef void (*mica_after_frame_fn)(mica_world *world, void *context);

/* Sets the function that mica_step and mica_step_from call after each frame, also while paused; NULL removes it. The function may do
 * everything that is allowed between two frames; a frame that it runs itself does not call it again. For tools such as mica/inspect.h. A
 * world has one such function: setting a second one returns MICA_ERROR_EXISTS. Not part of hashes, snapshots and clones. Threads: owner. */
MICA_API mica_result mica_after_frame(mica_world *world, mica_after_frame_fn fn, void *context);

/* A clock for mica_run, in seconds since any moment. */
typedef struct mica_clock {
    double (*now)(void *context);                /* must not go back */
    void (*wait)(double seconds, void *context); /* returns after about this time */
    void *context;
} mica_clock;

/* How mica_run runs frames. Start with mica_run_def_default: a def of zeros does not wait between frames. */
typedef struct mica_run_def {
    double frames_per_second; /* the loop waits for the rest of a shorter frame; 60; 0: it never waits */
    double frame_seconds_max; /* a longer frame counts as this long; 0.25, also for 0 */
    uint64_t frame_count;     /* ends after this many frames; 0: runs until mica_stop */
    const mica_clock *clock;  /* NULL: the clock of the computer; tests pass their own */
} mica_run_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_run_def mica_run_def_default(void);

/* Runs frames with measured time until a system calls mica_stop, `frame_count` frames have run or a frame fails. The dt of a frame
 * is the time since the frame before it began, at most frame_seconds_max; that of the first frame is 0. Frames that are late by
 * more than one frame are not made up for. So a frame that takes long, or a stop in the debugger, never makes later frames longer.
 * Returns the error of mica_step; calling it again continues. Rejected inside a system and while recording. Threads: owner. */
MICA_API mica_result mica_run(mica_world *world, const mica_run_def *def);

/* Ends mica_run after the current frame, which is completed. No effect outside mica_run. Threads: any, during mica_run. */
MICA_API void mica_stop(mica_world *world);

/* Runs one system, regardless of its rate and condition, and flushes. Threads: owner. */
MICA_API mica_result mica_system_run(mica_world *world, mica_system system, float dt);

/* Pauses or continues. While paused, mica_step only runs systems with .while_paused. Threads: owner. */
MICA_API void mica_pause(mica_world *world, bool paused);

/* Returns whether the world is paused. Threads: reader. */
MICA_API bool mica_is_paused(const mica_world *world);

/* Returns whether a frame is under way: in systems, also exclusive ones, and in what they call. Threads: reader. */
MICA_API bool mica_is_stepping(const mica_world *world);

/* While paused, lets the next mica_step run normally. Threads: owner. */
MICA_API void mica_pause_step(mica_world *world);

/* Scales time: every dt is multiplied by it. Rejects negative and infinite values. Threads: owner. */
MICA_API mica_result mica_time_set_scale(mica_world *world, double scale);

/* The time of the world. */
typedef struct mica_time {
    double seconds; /* total, scaled */
    uint64_t frame; /* number of frames started */
    uint64_t step;  /* number of runs of MICA_PHASE_FIXED */
    float dt;       /* of the last frame, scaled */
    float alpha;    /* between the last run of MICA_PHASE_FIXED and the next */
} mica_time;

/* Returns the time of the world. Threads: reader. */
MICA_API mica_time mica_time_get(const mica_world *world);

typedef struct mica_phase_def {
    const char *name;
    mica_phase beside; /* it runs right after this phase, */
    bool before;       /* or right before it */
    double
        fixed_seconds; /* its fixed step; 0: once per frame. Neighbouring phases with equal steps alternate step by step. */
    mica_location location;
} mica_phase_def;

/* Adds a phase. Returns MICA_PHASE_NONE with a report on error. Rejected inside a system. Threads: owner. */
MICA_API mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def);

/* Removes a phase that was added, with its systems. Returns false if there is none. Threads: owner. */
MICA_API bool mica_phase_remove(mica_world *world, mica_phase phase);

/* Enables or disables a phase with all its systems. Threads: owner. */
MICA_API bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled);

/* Finds a phase by name, or returns MICA_PHASE_NONE. The built-in ones are "update", "begin", "fixed", "end" and
 * "start". Threads: reader. */
MICA_API mica_phase mica_phase_find(const mica_world *world, const char *name);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_flow_configure(world, ...) mica_flow_configure(MICA_AT_(world), __VA_ARGS__)
#    define mica_step(world, ...) mica_step(MICA_AT_(world), __VA_ARGS__)
#    define mica_step_from(world, ...) mica_step_from(MICA_AT_(world), __VA_ARGS__)
#    define mica_after_frame(world, ...) mica_after_frame(MICA_AT_(world), __VA_ARGS__)
#    define mica_run(world, ...) mica_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_stop(world) mica_stop(MICA_AT_(world))
#    define mica_system_run(world, ...) mica_system_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_pause(world, ...) mica_pause(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_paused(world) mica_is_paused(MICA_AT_(world))
#    define mica_is_stepping(world) mica_is_stepping(MICA_AT_(world))
#    define mica_pause_step(world) mica_pause_step(MICA_AT_(world))
#    define mica_time_set_scale(world, ...) mica_time_set_scale(MICA_AT_(world), __VA_ARGS__)
#    define mica_time_get(world) mica_time_get(MICA_AT_(world))
#    define mica_phase_add(world, ...) mica_phase_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_remove(world, ...) mica_phase_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_enable(world, ...) mica_phase_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_find(world, ...) mica_phase_find(MICA_AT_(world), __VA_ARGS__)
#endif

/* MICA_PHASE_AFTER(name, phase), MICA_PHASE_BEFORE(name, phase): further fields of the def may follow.
 *     mica_phase_add(world, MICA_PHASE_AFTER("physics", MICA_PHASE_BEGIN, .fixed_seconds = 1.0 / 120)); */
#define MICA_PHASE_AFTER(name_, ...)                                                                                   \
    (&(const mica_phase_def){.name = (name_), .location = MICA_HERE, .beside = __VA_ARGS__})
#define MICA_PHASE_BEFORE(name_, ...)                                                                                  \
    (&(const mica_phase_def){.name = (name_), .location = MICA_HERE, .before = true, .beside = __VA_ARGS__})

#endif
