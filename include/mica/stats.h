/* Mica, stats: the cost of each system per frame, and traces.
 *
 *     mica_stats_enable(world, 120);                       keep the last 120 frames
 *     ...
 *     mica_stats_print(world, stdout);
 *
 *     mica_trace_start(world);
 *     ...
 *     mica_trace_stop(world, "run.json");                  for Perfetto, speedscope and chrome://tracing
 *
 * Measuring affects only timing. A world that does not measure pays nothing. The time of a job that several systems share is divided among them by the
 * time of every eighth slice.
 */
#ifndef MICA_STATS_H
#define MICA_STATS_H

#include "mica/frame.h"

#include <stdio.h>

MICA_BEGIN

typedef struct mica_system_stats {
    uint64_t runs;
    uint64_t time_ns;    /* sum over all workers */
    uint64_t entities;   /* rows processed */
    uint32_t slices;     /* views processed */
    uint32_t commands;   /* entities with recorded changes */
    uint32_t workers;    /* number of threads that ran it */
    uint32_t fused_with; /* number of systems fused with it, including itself; 0 if it is not fused */
} mica_system_stats;

typedef struct mica_frame_stats {
    uint64_t frame;
    uint64_t time_ns;  /* from start to end */
    uint64_t flush_ns; /* of these, in flushes */
    uint64_t busy_ns;  /* in systems, sum over all workers */
    uint64_t commands;
    uint32_t workers;
} mica_frame_stats;

/* Keeps statistics of the last `frame_count` frames; 0 stops and discards them. Threads: owner. */
MICA_API mica_result mica_stats_enable(mica_world *world, uint32_t frame_count);

/* Returns the statistics of a system in one frame (0 is the last), or false if they are not kept. Threads: owner. */
MICA_API bool mica_stats_get_system(const mica_world *world, mica_system system, uint32_t frames_ago,
                                    mica_system_stats *out);

/* The same summed over all frames that are kept; `workers` and `fused_with` are maxima. Threads: owner. */
MICA_API bool mica_stats_get_system_total(const mica_world *world, mica_system system, mica_system_stats *out);

/* Returns the statistics of one frame (0 is the last), or false if they are not kept. Threads: owner. */
MICA_API bool mica_stats_get_frame(const mica_world *world, uint32_t frames_ago, mica_frame_stats *out);

/* Prints a table over the kept frames, one line per system in execution order, times in microseconds. Threads: owner. */
MICA_API void mica_stats_print(const mica_world *world, FILE *out);

/* Starts a trace: records system, slices, thread, start and end of every job. Threads: owner. */
MICA_API mica_result mica_trace_start(mica_world *world);

/* Stops the trace and writes it in Chrome trace event format; a NULL path discards it. Returns MICA_ERROR_REFUSED with a report if
 * the file cannot be written or no trace was started. Threads: owner. */
MICA_API mica_result mica_trace_stop(mica_world *world, const char *path);

/* The same, written to an open file, which stays open. Threads: owner. */
MICA_API mica_result mica_trace_stop_to(mica_world *world, FILE *out);

/* Stops the trace and writes only its events to an open file, each after a comma and a line break, as those of a process with this number and
 * name: for a file about several worlds. Times are since the trace was started. Threads: owner. */
MICA_API mica_result mica_trace_stop_part(mica_world *world, uint32_t process, const char *name, FILE *out);

/* Called by mica_step_each. A zero system means a flush. */
typedef void (*mica_after_system_fn)(mica_world *world, mica_system system, void *context);

/* Like mica_step, but runs systems one by one in the thread of the caller, and calls `fn` after each system and after each flush. The
 * world is the same afterwards. `fn` can read the world, and must not change it. For tools that find out which system wrote a value.
 * Returns MICA_ERROR_INVALID without a function. Threads: owner. */
MICA_API mica_result mica_step_each(mica_world *world, float dt, mica_after_system_fn fn, void *context);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_stats_enable(world, ...) mica_stats_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_system(world, ...) mica_stats_get_system(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_system_total(world, ...) mica_stats_get_system_total(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_get_frame(world, ...) mica_stats_get_frame(MICA_AT_(world), __VA_ARGS__)
#    define mica_stats_print(world, ...) mica_stats_print(MICA_AT_(world), __VA_ARGS__)
#    define mica_trace_start(world) mica_trace_start(MICA_AT_(world))
#    define mica_trace_stop(world, ...) mica_trace_stop(MICA_AT_(world), __VA_ARGS__)
#    define mica_trace_stop_to(world, ...) mica_trace_stop_to(MICA_AT_(world), __VA_ARGS__)
#    define mica_trace_stop_part(world, ...) mica_trace_stop_part(MICA_AT_(world), __VA_ARGS__)
#    define mica_step_each(world, ...) mica_step_each(MICA_AT_(world), __VA_ARGS__)
#endif
#endif
