/* Mica, frame: the game loop. A frame runs the systems, phase by phase, with a flush after each phase.
 *
 *     while (is_running())
 *         mica_step(world, seconds_since_the_last_one());
 *
 * Phases, in order: BEGIN, FIXED, UPDATE, END, and those you add. A phase with a fixed step runs as often as its step fits
 * into the time that has passed: not at all, once, or several times to catch up, up to a bound after which time is let
 * go. frame->alpha then says how far the frame lies between two steps, to interpolate what is shown.
 *
 * The world after a frame is the same, bit for bit, for any number of workers and any timing.
 */
#ifndef MICA_FRAME_H
#define MICA_FRAME_H

#include "mica/query.h"
#include "mica/task.h"

MICA_BEGIN

/* The id of a system, for as long as the world lives. All zero is none. */
typedef struct mica_system {
    uint32_t id;
} mica_system;

/* The id of a phase. Zero is the one that systems are in unless they say otherwise. */
typedef uint32_t mica_phase;
enum {
    MICA_PHASE_UPDATE = 0, /* once per frame: what is not said to be elsewhere */
    MICA_PHASE_BEGIN,      /* once per frame, first: input */
    MICA_PHASE_FIXED,      /* by the fixed step: simulation */
    MICA_PHASE_END,        /* once per frame, last: what is shown */
    MICA_PHASE_NONE = 0x7FFFFFFF,
};

/* What a system knows about the moment. Lives while the system runs. */
typedef struct mica_frame {
    mica_world *world;
    mica_query *query; /* of the system's terms, for those that walk by themselves; NULL without terms */
    void *context;     /* of the system */
    float dt;          /* seconds since the system ran last, scaled; in a phase with a fixed step, that step */
    float alpha;       /* from 0 to 1: how far this frame lies between the last fixed step and the next */
    double seconds;    /* since the world began, scaled; in a phase with a fixed step, the steps so far */
    uint64_t tick;     /* runs of the phase so far */
    mica_system system;
    uint32_t order;    /* private: its place in the phase */
    uint64_t identity; /* private: hash of its name */
} mica_frame;

/* How a world runs its systems. Start from mica_flow_def_default. */
typedef struct mica_flow_def {
    uint32_t worker_count; /* threads that work, the caller among them; 0: as many as there are cores; 1: no threads */
    const mica_scheduler *scheduler; /* yours instead of the built-in one: see mica/task.h */
    uint64_t seed;                   /* of all random numbers: see mica/random.h */
    double fixed_seconds;            /* the step of MICA_PHASE_FIXED; 1/60 */
    uint32_t catch_up_max;           /* steps of a fixed phase in one frame; 8 */
    bool no_fusion; /* systems one after the other instead of slice by slice: same outcome, to compare */
} mica_flow_def;

/* Returns the defaults. Threads: any. */
MICA_API mica_flow_def mica_flow_def_default(void);

/* Sets how systems run; a world that is never told uses the defaults. Ends the threads of the old setting and returns an
 * error when it can't, the old setting in place. Refused inside a system. Threads: owner. */
MICA_API mica_result mica_flow_configure(mica_world *world, const mica_flow_def *def);

/* Runs one frame: every phase in order, each followed by a flush. Returns the first error; what systems report by themselves
 * doesn't count. A flush that fails, for lack of memory or because of a seal, is tried again before the next systems run,
 * which wait until it succeeds. Refused inside a system and while changes are recorded. Threads: owner. */
MICA_API mica_result mica_step(mica_world *world, float dt);

/* As mica_step, but begins with that system: what comes before it in the frame is left out, and a phase with a fixed step
 * that holds it runs once. Threads: owner. */
MICA_API mica_result mica_step_from(mica_world *world, mica_system system, float dt);

/* Runs one system, whatever its rate and condition, and flushes. Threads: owner. */
MICA_API mica_result mica_system_run(mica_world *world, mica_system system, float dt);

/* While paused, mica_step runs only systems with .while_paused. Threads: owner. */
MICA_API void mica_pause(mica_world *world, bool paused);

/* Lets one frame through a pause: the next mica_step. Threads: owner. */
MICA_API void mica_pause_step(mica_world *world);

/* Makes time pass slower or faster: every dt is multiplied by it. Negative and endless scales are refused.
 * Threads: owner. */
MICA_API mica_result mica_time_set_scale(mica_world *world, double scale);

/* The time of the last frame. */
typedef struct mica_time {
    double seconds; /* scaled, over all frames */
    uint64_t frame; /* frames begun */
    uint64_t step;  /* runs of MICA_PHASE_FIXED */
    float dt;       /* of the last frame, scaled */
    float alpha;    /* between the last run of MICA_PHASE_FIXED and the next */
} mica_time;

/* Returns the time. Threads: reader. */
MICA_API mica_time mica_time_get(const mica_world *world);

typedef struct mica_phase_def {
    const char *name;
    mica_phase beside;    /* it comes right behind this one, */
    bool before;          /* or right before it */
    double fixed_seconds; /* its fixed step; 0: once per frame. Neighbours with equal steps take turns step by step. */
    mica_location location;
} mica_phase_def;

/* Adds a phase. Returns MICA_PHASE_NONE with a report when it can't. Refused inside a system. Threads: owner. */
MICA_API mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def);

/* Removes a phase that was added, with its systems. False when there is none such. Threads: owner. */
MICA_API bool mica_phase_remove(mica_world *world, mica_phase phase);

/* Switches a phase with all its systems off or on. Threads: owner. */
MICA_API bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled);

/* Returns the phase of that name, or MICA_PHASE_NONE; the first four are "update", "begin", "fixed", "end".
 * Threads: reader. */
MICA_API mica_phase mica_phase_find(const mica_world *world, const char *name);

MICA_END

#define MICA_PHASE_AFTER(name_, beside_)                                                                               \
    (&(const mica_phase_def){.name = (name_), .beside = (beside_), .location = MICA_HERE})
#define MICA_PHASE_BEFORE(name_, beside_)                                                                              \
    (&(const mica_phase_def){.name = (name_), .beside = (beside_), .before = true, .location = MICA_HERE})

#endif
