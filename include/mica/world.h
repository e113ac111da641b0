/* Mica, world: the one door to entities, components, queries and recorded changes.
 * Any number of worlds live side by side and share nothing but component ids. */
#ifndef MICA_WORLD_H
#define MICA_WORLD_H

#include "mica/base.h"

MICA_BEGIN

/* What a flush does with a recorded change whose entity has died meanwhile. */
typedef enum mica_dead_target {
    MICA_DEAD_TARGET_WARN = 0, /* report it with the place that recorded it, and go on */
    MICA_DEAD_TARGET_IGNORE,
    MICA_DEAD_TARGET_ERROR, /* refuse the whole flush: nothing is applied, the changes are dropped */
} mica_dead_target;

/* How to make a world. Start from mica_world_def_default. */
typedef struct mica_world_def {
    mica_allocator allocator;
    mica_report_fn report; /* NULL prints to stderr */
    void *report_context;
    uint32_t chunk_bytes_first; /* powers of two; a new archetype starts with a chunk of this size, */
    uint32_t chunk_bytes_last;  /* and each further chunk is twice as large up to this one */
    mica_dead_target dead_target;
    uint64_t seed; /* of the world's random numbers, such as those of mica_pool_gc: equal seeds repeat */
} mica_world_def;

/* Returns the defaults: chunks from 2 KiB to 2 MiB, malloc, reports on stderr. Threads: any. */
MICA_API mica_world_def mica_world_def_default(void);

/* Makes an empty world; NULL means the defaults. Returns NULL when memory is short or the def is malformed.
 * Threads: any. */
MICA_API mica_world *mica_world_create(const mica_world_def *def);

/* Destroys all entities (remove hooks and destructors run), queries and command buffers, then the world.
 * NULL is fine. Threads: owner. */
MICA_API void mica_world_destroy(mica_world *world);

/* Destroys every entity but keeps components, queries, hooks and memory. Handles to them stay dead; their slots become
 * free kind by kind, the last row of each first, so that what is created next has the same handles every time.
 * Returns MICA_ERROR_REFUSED while changes are being recorded. Threads: owner. */
MICA_API mica_result mica_world_clear(mica_world *world);

/* Gives unused memory back to the allocator and returns how many bytes that were; 0 while changes are recorded, inside
 * hooks for example. Rows that the dead left in pools go; pointers to components are void after it. Threads: owner. */
MICA_API size_t mica_world_trim(mica_world *world);

/* A sealed world refuses operations that would need a new archetype. Threads: owner. */
MICA_API void mica_world_seal(mica_world *world, bool sealed);

/* A count that grows with the history of the world: stamps of changes are compared against it. */
typedef uint64_t mica_version;

/* Returns a mark: what is written, added or removed from now on is newer than it. Threads: owner. */
MICA_API mica_version mica_world_mark(mica_world *world);

/* Returns a count that grows when entities, components or rows come, go or move: while it stays the same, so do views and
 * pointers to components. For who keeps a loop open while others run. Threads: reader. */
MICA_API mica_version mica_world_structure(const mica_world *world);

/* Returns a hash of everything a program can observe: handles, the order of rows, described fields (never padding),
 * singletons, names, and messages that are kept in streams. Equal on every machine and for every number of threads. Threads: reader. */
MICA_API uint64_t mica_world_hash(const mica_world *world);

/* Walks every invariant; returns MICA_OK, or reports the first that is broken. Slow. Threads: owner. */
MICA_API mica_result mica_world_validate(mica_world *world);

/* Returns the result of the last call that failed, and forgets it; MICA_OK when none did. Threads: owner. */
MICA_API mica_result mica_world_take_error(mica_world *world);

/* Complains as the world itself does: to its report handler, and for mica_world_take_error. For modules that stand on
 * the world. Returns the result. Threads: any. */
MICA_API mica_result mica_world_report(const mica_world *world, mica_result result, const char *text);

typedef struct mica_world_stats {
    uint64_t entity_count;
    uint32_t component_count;
    uint32_t archetype_count;
    uint32_t chunk_count;
    uint32_t query_count;
    uint32_t name_count; /* entities that have one */
    size_t memory_bytes; /* asked of the allocator and not released yet */
    size_t chunk_bytes;  /* of that, in chunks */
} mica_world_stats;

/* Returns what the world holds. Threads: reader. */
MICA_API mica_world_stats mica_world_get_stats(const mica_world *world);

MICA_END
#endif
