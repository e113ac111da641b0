/* The world ties the parts together. Each part is a struct of its own with functions of its own. */
#ifndef MICAP_CORE_WORLD_WORLD_H
#define MICAP_CORE_WORLD_WORLD_H

#include "base/arena.h"
#include "base/undo_log.h"
#include "core/storage/archetype.h"
#include "core/commands/command_buffer.h"
#include "core/storage/component.h"
#include "core/storage/entity_index.h"
#include "core/commands/flush.h"
#include "core/world/module.h"
#include "core/storage/names.h"
#include "core/storage/entity_pools.h"
#include "core/query/query.h"
#include "mica/world.h"

enum { MICAP_SHAPE_COMPONENTS = 7, MICAP_SHAPES = 64 }; /* a shape has 128 bytes, found by a shift */

/* What mica_create did last for a list of values: from the list as the caller writes it straight to the columns. Only
 * for lists that fill every column of a plain archetype: then a row is nothing but copies. */
typedef struct micap_shape {
    micap_archetype *archetype;
    uint32_t known; /* 1 + how many components the list has; 0 when there is none here */
    uint32_t wordy; /* the same when every value is a few words or a tag, else 0: see micap_copy_few_words */
    struct micap_shape_item {
        mica_component component;
        uint32_t size_bytes; /* as the caller gives it */
        uint32_t bytes;      /* 0 for a tag */
        uint32_t
            lane_offset; /* of its column, from the beginning of the chunk: the same in all chunks of an archetype */
    } items[MICAP_SHAPE_COMPONENTS];
} micap_shape;

struct mica_world {
    /* Hot: what looking up an entity reads. */
    micap_entities entities;
    micap_chunks chunks;
    _Atomic mica_version version; /* stamped on what changes; raised by mica_world_mark */
    mica_version restored;        /* when a snapshot was last restored; 0: never. See micap_is_on_this_line */
    uint64_t structure;           /* raised by every change after which pointers are void */
    micap_keeper keeper;          /* of what snapshots need */

    micap_components components;
    micap_archetypes archetypes;
    micap_queries queries;
    micap_pools pools;
    micap_names names;
    micap_shape shapes[MICAP_SHAPES];

    mica_commands deferred;        /* what the world records by itself */
    mica_commands *first_commands; /* the buffers, in order of creation; the first is `deferred` */
    mica_commands *last_commands;
    mica_commands *parked_commands; /* of systems: see micap_commands_park */
    uint64_t last_serial;     /* of buffers and lists of removals: snapshots know them by it, since others may come to
                                       lie where one was */
    mica_commands refusing;   /* where a thread has nothing to record into */
    uint32_t recording_depth; /* of mica_defer and of hooks: changes are recorded while it is not 0 */
    uint32_t hook_depth;
    bool hooks_recorded; /* something that is to be applied when the operation that called them ends */
    bool flushing;
    micap_flush flush;
    /* Runs pieces over the threads of a module that has some; NULL without. Set by it. */
    void (*share)(mica_world *world, void (*fn)(void *data, uint32_t piece), void *data, uint32_t count);
    micap_hook destroy_hook;
    struct micap_watch *destroy_watches;
    micap_module modules[MICAP_MODULES];
    bool has_dependents; /* some module may know of entities that die with others */

    micap_memory memory;
    micap_arena arena;
    mica_world_def def;
    _Atomic(mica_result) last_error; /* for the user, who takes it away */
    _Atomic(mica_result) failure;    /* of the last operation that failed, for those who return it */
};

static inline mica_version micap_version(const mica_world *world)
{
    return atomic_load_explicit(&world->version, memory_order_relaxed);
}

/* Whether the world has only gone forward since a version that it had. Restoring a snapshot puts stamps back to what they were, so
 * that comparing stamps with an older version no longer finds all that is different since. */
static inline bool micap_is_on_this_line(const mica_world *world, mica_version version)
{
    return version > world->restored;
}

/* How many entities live. */
uint64_t micap_entity_count(const mica_world *world);

/* Why the operation that just returned NULL or false has failed. */
static inline mica_result micap_failure(const mica_world *world)
{
    return atomic_load_explicit(&world->failure, memory_order_relaxed);
}

#endif
