/* Mica, stats: what each system cost, frame by frame, and a trace of a run.
 *
 *     mica_stats_enable(world, 120);                       keep the last 120 frames
 *     ...
 *     mica_stats_print(world, stdout);
 *
 *     mica_trace_start(world);
 *     ...
 *     mica_trace_stop(world, "run.json");                  opens in Perfetto, speedscope and chrome://tracing
 *
 * Measuring changes nothing but time; a world that does not measure pays nothing.
 */
#ifndef MICA_STATS_H
#define MICA_STATS_H

#include "mica/frame.h"

#include <stdio.h>

MICA_BEGIN

typedef struct mica_system_stats {
    uint64_t runs;
    uint64_t time_ns;    /* of all workers together */
    uint64_t entities;   /* rows it was given */
    uint32_t slices;     /* views it was given */
    uint32_t commands;   /* entities it recorded changes for */
    uint32_t workers;    /* different threads that ran it */
    uint32_t fused_with; /* systems in the same chain over slices, itself among them; 0 outside of one */
} mica_system_stats;

typedef struct mica_frame_stats {
    uint64_t frame;
    uint64_t time_ns;  /* from begin to end */
    uint64_t flush_ns; /* of that, in flushes */
    uint64_t busy_ns;  /* of all workers together, in systems */
    uint64_t commands;
    uint32_t workers;
} mica_frame_stats;

/* Keeps the numbers of the last `frame_count` frames; 0 stops and drops them. Threads: owner. */
MICA_API mica_result mica_stats_enable(mica_world *world, uint32_t frame_count);

/* Fills in a system's numbers of one frame, 0 being the last; false when it is not kept. Threads: owner. */
MICA_API bool mica_stats_get_system(const mica_world *world, mica_system system, uint32_t frames_ago,
                                    mica_system_stats *out);

/* The same over all frames that are kept; `workers` and `fused_with` are the largest. Threads: owner. */
MICA_API bool mica_stats_get_system_total(const mica_world *world, mica_system system, mica_system_stats *out);

/* Fills in the numbers of one frame, 0 being the last; false when it is not kept. Threads: owner. */
MICA_API bool mica_stats_get_frame(const mica_world *world, uint32_t frames_ago, mica_frame_stats *out);

/* Prints a table over the frames that are kept, a line per system in the order they run; times are in microseconds. Threads: owner. */
MICA_API void mica_stats_print(const mica_world *world, FILE *out);

/* Starts to note every piece of work: system, slices, thread, begin and end. Threads: owner. */
MICA_API mica_result mica_trace_start(mica_world *world);

/* Stops, and writes the trace as a file of Chrome trace events; a NULL path drops it. Returns MICA_ERROR_REFUSED with a report when the
 * file can't be written, or no trace was started. Threads: owner. */
MICA_API mica_result mica_trace_stop(mica_world *world, const char *path);

MICA_END
#endif
