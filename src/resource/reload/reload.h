/* A reload inside: two files, how their entities correspond, and the buffer in which the difference is recorded. */
#ifndef MICAP_RESOURCE_RELOAD_RELOAD_H
#define MICAP_RESOURCE_RELOAD_RELOAD_H

#include "base/assert.h"
#include "mica/command.h"
#include "mica/reload.h"
#include "resource/spawn/spawn.h"

struct mica_spawned {
    micap_memory memory; /* the allocator of the first resource */
    mica_world *world;
    const mica_resource *resource;
    mica_spawn_def def;
    mica_entity *entities;
    uint32_t entity_count; /* of all copies */
    /* By entity of the new file, the same one of the old file, or MICAP_NONE: for the next reload. NULL: found by their paths. */
    const uint32_t *old_of_new;
};

/* The position of the next sibling: what is known of the children of one parent that were placed already. */
typedef struct micap_siblings {
    mica_entity last;
    uint32_t position; /* in the old order, the highest of those that stay where they are; 0: none yet, else 1 more */
} micap_siblings;

typedef struct micap_reloading {
    mica_spawned *spawned;
    mica_world *world;
    micap_memory *memory;
    micap_spawning before; /* of these, the entries: how either file's instances become values */
    micap_spawning after;
    uint32_t *old_of_new; /* entities that are the same; MICAP_NONE for those of one file alone */
    uint32_t *new_of_old;
    uint32_t *old_entry;      /* by entry of the new file, the old file's of the same component, or MICAP_NONE */
    uint32_t *new_entry;      /* and the other way round */
    micap_scalars *scalars;   /* by entry of the new file, of the program's type */
    mica_entity *entities;    /* by new index, copy after copy */
    micap_siblings *siblings; /* by new index of the parent, those without one last */
    char *values;             /* room for three: what the old file says, what the new one says, what is in the world */
    size_t value_bytes;
    const mica_type *held[2]; /* the types of the first two, if these have text or lists; else NULL */
    bool is_broken;           /* a value could not be made: with a report */
    size_t value_alignment;
    uint32_t copies;
    mica_commands *commands;
    mica_entity probe; /* created with the rest: whether it lives says whether the flush was applied */
    mica_reload_stats stats;
    mica_result result;
} micap_reloading;

/* Notes and reports what went wrong. Returns false. */
bool micap_reload_fail(micap_reloading *work, mica_result result, const char *format, ...) MICAP_FORMAT(3, 4);

/* Record the difference; false with a report when something can't be recorded. */
bool micap_reload_create(micap_reloading *work, uint32_t copy);
bool micap_reload_destroy(micap_reloading *work, uint32_t copy);

/* The handles of one copy, before and after. */
static inline const mica_entity *micap_reload_old(const micap_reloading *work, uint32_t copy)
{
    return work->spawned->entities + (size_t)copy * work->before.resource->header.entity_count;
}

static inline mica_entity *micap_reload_new(const micap_reloading *work, uint32_t copy)
{
    return work->entities + (size_t)copy * work->after.resource->header.entity_count;
}

#endif
