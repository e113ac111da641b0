/* Mica, world: the container of entities, components, queries and recorded changes. A program can have any number of worlds;
 * they share nothing except component ids. */
#ifndef MICA_WORLD_H
#define MICA_WORLD_H

#include "mica/handle.h"

MICA_BEGIN

/* What happens to a recorded change of an entity that another recorded change, or the program, destroys before it is applied: two bullets
 * destroy the same target, for example. The change itself is always dropped. A later change in the same command buffer is dropped when it is
 * made: the call returns false or NULL. A change in another buffer is dropped by the flush. */
typedef enum mica_dead_target {
    MICA_DEAD_TARGET_WARN =
        0, /* it is reported, by the flush with the source location of mica_command_...; the rest is applied */
    MICA_DEAD_TARGET_IGNORE, /* there is no report */
    MICA_DEAD_TARGET_ERROR,  /* if the flush finds one, it reports it, applies nothing and drops all recorded changes */
} mica_dead_target;

/* Options of a world. Zero fields mean the defaults: (mica_world_def){.report = log_report}. */
typedef struct mica_world_def {
    mica_allocator allocator;
    mica_report_fn report; /* NULL prints to stderr */
    void *report_context;
    uint32_t chunk_bytes_first; /* size of the first chunk of an archetype, a power of two */
    uint32_t chunk_bytes_last;  /* maximum size, a power of two; each further chunk is twice as large, up to this */
    mica_dead_target dead_target;
    uint64_t seed; /* of the world's random numbers, such as those of mica_pool_gc; 0 is the same as 1 */
    /* 1 to 255: handles of entities, systems, phases, observers and snapshots differ from those of worlds with another number, so that
     * using one in the wrong world is detected. Clones and resumed worlds have the number of the original. Generations of entities
     * have 16 bits then. 0: none. */
    uint32_t handle_space;
    /* Reports values that C code writes outside the ranges of their fields (mica_attributes), but does not refuse them. Values passed to
     * create and set are checked by the call or the flush, values that a system writes in place after the system has run, and all other
     * values by mica_world_check_ranges. False: writes are not checked, which costs nothing. */
    bool check_ranges;
} mica_world_def;

/* Returns the defaults: chunks from 2 KiB to 2 MiB, malloc, reports to stderr. Threads: any. */
MICA_API mica_world_def mica_world_def_default(void);

/* Creates an empty world. NULL means the defaults. Returns NULL if memory runs out or the def is invalid. Threads: any. */
MICA_API mica_world *mica_world_create(const mica_world_def *def);

/* Private: programs call mica_world_create by a name that contains the version and the setting of MICA_CHECKED. If the linker does not
 * find this name, the program was compiled for another version of the library, or with another setting. Bindings, which have no inline
 * functions, may use the plain name. */
#ifdef MICA_CHECKED
#    define mica_private_world_create mica_world_create_needs_checked_mica_0_2
#else
#    define mica_private_world_create mica_world_create_needs_unchecked_mica_0_2
#endif
extern MICA_API mica_world *mica_private_world_create(const mica_world_def *def);

/* Destroys all entities (remove hooks and destructors run), queries and command buffers, then the world. NULL is a no-op. Refused with a
 * report inside a frame, a hook, an observer, a handler of messages or requests, or another function that Mica calls. Leave loops over
 * its queries first. Threads: owner. */
MICA_API void mica_world_destroy(mica_world *world);

/* Destroys every entity; keeps components, queries, hooks and memory. Old handles stay invalid. Slots are freed in a fixed order,
 * so entities created afterwards get the same handles every time. Returns MICA_ERROR_REFUSED while recording.
 * Threads: owner. */
MICA_API mica_result mica_world_clear(mica_world *world);

/* Returns unused memory to the allocator, and removes rows of dead entities from pools. Returns the number of bytes; 0 while
 * recording, for example inside hooks. Memory that text and lists of all worlds do not use, and unused pages of memory that is in use in
 * part, go back to the system, and are not counted. Invalidates pointers to components, and ends loops if a query was
 * destroyed in one. Threads: owner. */
MICA_API size_t mica_world_trim(mica_world *world);

/* A sealed world rejects operations that need a new archetype. Threads: owner. */
MICA_API void mica_world_seal(mica_world *world, bool sealed);

/* Returns the reason why systems must not change an entity, or NULL if they may. Called by any thread that runs a system; it must only
 * read. */
typedef const char *(*mica_guard_fn)(const mica_world *world, mica_entity entity, void *context);

/* Sets the function that checked builds call when a system changes an entity: writes, adds, removes or records one of its components or
 * edges, or destroys it. If it returns a reason, the system and the line are reported, and the program is aborted, as for other mistakes
 * that checked builds find. Other builds do not call it. NULL removes it. For modules whose entities are owned elsewhere. Threads: owner. */
MICA_API void mica_world_set_guard(mica_world *world, mica_guard_fn fn, void *context);

/* A counter that grows with every mark and every system run. Each change is stamped with its current value. */
typedef uint64_t mica_version;

/* Returns a mark: later writes, additions and removals are newer than it. Threads: owner. */
MICA_API mica_version mica_world_mark(mica_world *world);

/* Returns a counter that grows when entities or components are added, removed or moved. While it stays the same, views and
 * pointers to components stay valid. Use it to detect that an iteration was invalidated. Threads: reader. */
MICA_API mica_version mica_world_structure(const mica_world *world);

/* Returns a hash of everything a program can observe: handles, row order, described fields (never padding), singletons, names, links,
 * time, ticks and clocks of systems, waiting messages and requests, and messages kept in streams. Equal worlds have equal hashes on every
 * machine and for any number of threads, if no field is NaN (docs/determinism.md). Threads: reader. */
MICA_API uint64_t mica_world_hash(const mica_world *world);

/* Like mica_world_hash, without time, clocks and messages: what a replica (mica/delta.h) has in common with the world it follows.
 * Threads: reader. */
MICA_API uint64_t mica_world_hash_content(const mica_world *world);

/* Checks every invariant, and ranges if the world checks them. Returns MICA_OK, or reports the first violation. Slow. Threads: owner. */
MICA_API mica_result mica_world_validate(mica_world *world);

/* Compares the values that changed since a mark, 0 for all, with the ranges of their fields, whether or not the world checks ranges. Reports
 * the first that is outside and returns MICA_ERROR_INVALID; MICA_ERROR_MEMORY if memory is short. Reads whole slices of rows, and all
 * singletons. Threads: owner. */
MICA_API mica_result mica_world_check_ranges(mica_world *world, mica_version since);

/* Returns the result of the last failed call and resets it to MICA_OK. Threads: owner. */
MICA_API mica_result mica_world_take_error(mica_world *world);

/* Reports an error as the world itself does: to its report handler and to mica_world_take_error. For modules built on the
 * world. Without a world (NULL) it prints the text to stderr. Returns the result. Threads: any. */
MICA_API mica_result mica_world_report(const mica_world *world, mica_result result, const char *text);

typedef struct mica_world_stats {
    uint64_t entity_count;
    uint32_t component_count;
    uint32_t archetype_count;
    uint32_t chunk_count;
    uint32_t query_count;
    uint32_t name_count; /* entities with a name */
    size_t memory_bytes; /* currently allocated */
    size_t chunk_bytes;  /* of these, in chunks */
} mica_world_stats;

/* Returns statistics about the contents. Threads: reader. */
MICA_API mica_world_stats mica_world_get_stats(const mica_world *world);

MICA_END

#if !defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_world_create mica_private_world_create
#endif

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_world_create(...) MICA_AT_(mica_private_world_create(__VA_ARGS__))
#    define mica_world_destroy(world) mica_world_destroy(MICA_AT_(world))
#    define mica_world_clear(world) mica_world_clear(MICA_AT_(world))
#    define mica_world_trim(world) mica_world_trim(MICA_AT_(world))
#    define mica_world_set_guard(world, ...) mica_world_set_guard(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_seal(world, ...) mica_world_seal(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_mark(world) mica_world_mark(MICA_AT_(world))
#    define mica_world_structure(world) mica_world_structure(MICA_AT_(world))
#    define mica_world_hash(world) mica_world_hash(MICA_AT_(world))
#    define mica_world_hash_content(world) mica_world_hash_content(MICA_AT_(world))
#    define mica_world_validate(world) mica_world_validate(MICA_AT_(world))
#    define mica_world_check_ranges(world, ...) mica_world_check_ranges(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_take_error(world) mica_world_take_error(MICA_AT_(world))
#    define mica_world_report(world, ...) mica_world_report(MICA_AT_(world), __VA_ARGS__)
#    define mica_world_get_stats(world) mica_world_get_stats(MICA_AT_(world))
#endif
#endif
