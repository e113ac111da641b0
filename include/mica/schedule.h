/* Mica, schedule: which systems run, in which order and why. For inspectors, tools and logs.
 *
 *     for (mica_system system = {0}; (system = mica_system_next(world, system)).id;) {
 *         mica_system_info info;
 *         mica_system_get_info(world, system, &info);
 *         printf("%s%s\n", info.name, info.enabled ? "" : " (off)");
 *     }
 *
 * Systems are listed in the order in which one thread runs them. During a frame, the list is that of the start of the frame.
 */
#ifndef MICA_SCHEDULE_H
#define MICA_SCHEDULE_H

#include "mica/system.h"

MICA_BEGIN

/* Returns the next phase in the order they run, or MICA_PHASE_NONE at the end. Start with MICA_PHASE_NONE. The internal phase
 * "(messages)", which runs message handlers, is listed too. Threads: owner. */
MICA_API mica_phase mica_phase_next(mica_world *world, mica_phase phase);

typedef struct mica_phase_info {
    const char *name;
    double fixed_seconds; /* its fixed step; 0: it runs once per frame */
    uint64_t run_count;
    uint32_t system_count; /* including disabled systems */
    bool enabled;
} mica_phase_info;

/* Describes a phase. Returns false if there is none, and with a report if memory runs out. The name is valid as long as the phase.
 * Threads: owner. */
MICA_API bool mica_phase_get_info(mica_world *world, mica_phase phase, mica_phase_info *out);

/* Returns the next system in the order they run, phase by phase, or zero at the end. Start with zero. Returns zero with a report
 * if memory runs out. Threads: owner. */
MICA_API mica_system mica_system_next(mica_world *world, mica_system system);

typedef struct mica_system_info {
    const char *name;
    mica_phase phase;
    mica_location location; /* where it was added */
    bool enabled;
    bool exclusive;
    bool flush_first;  /* a flush precedes it */
    bool one_thread;   /* never runs on several threads at once */
    bool has_handlers; /* Mica added it to run message handlers */
} mica_system_info;

/* Describes a system. Returns false if there is none. The name is valid as long as the system. Threads: reader. */
MICA_API bool mica_system_get_info(const mica_world *world, mica_system system, mica_system_info *out);

/* What a system reads or writes. */
typedef struct mica_system_access {
    mica_component component; /* or 0, and */
    const struct mica_stream *stream;
    bool write;
    bool own_rows; /* only in the rows that the system is called with */
} mica_system_access;

/* Writes up to `capacity` accesses of the system to `out`: its terms, then its uses. Returns how many it has, or 0 if there is no
 * such system. Threads: reader. */
MICA_API uint32_t mica_system_get_accesses(const mica_world *world, mica_system system, mica_system_access *out,
                                           uint32_t capacity);

/* Why a system waits for an earlier system of its phase. */
typedef struct mica_system_dependency {
    mica_system on;                   /* the system that runs first */
    mica_component component;         /* both access it; or 0, and */
    const struct mica_stream *stream; /* both access it; or NULL, and the reason is .before or .after */
} mica_system_dependency;

/* Writes up to `capacity` dependencies of the system to `out`. Returns how many it has, or 0 if there is no such system, or with a
 * report if memory runs out. An exclusive system has none: it waits for all systems before it in its phase, and all systems
 * after it wait for it. A system with flush_first, and those after it, wait for all systems before it; of these, only systems in
 * .before and .after are listed. Threads: owner. */
MICA_API uint32_t mica_system_get_dependencies(mica_world *world, mica_system system, mica_system_dependency *out,
                                               uint32_t capacity);

typedef enum mica_graph_format { MICA_GRAPH_TEXT = 0, MICA_GRAPH_DOT } mica_graph_format;

/* Writes the order of systems, with what each waits for and why, as text or in Graphviz format. Writes what fits into `capacity`
 * bytes, zero-terminated, and returns the complete length. Returns 0 with a report if memory runs out. Threads: owner. */
MICA_API size_t mica_graph_write(mica_world *world, mica_graph_format format, char *out, size_t capacity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_phase_next(world, ...) mica_phase_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_phase_get_info(world, ...) mica_phase_get_info(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_next(world, ...) mica_system_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_info(world, ...) mica_system_get_info(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_accesses(world, ...) mica_system_get_accesses(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_get_dependencies(world, ...) mica_system_get_dependencies(MICA_AT_(world), __VA_ARGS__)
#    define mica_graph_write(world, ...) mica_graph_write(MICA_AT_(world), __VA_ARGS__)
#endif
#endif
