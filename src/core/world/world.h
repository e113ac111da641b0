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
#include "core/entity/create_plan.h"
#include "core/world/module.h"
#include "core/storage/names.h"
#include "core/storage/entity_pools.h"
#include "core/query/query.h"
#include "mica/world.h"

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
    micap_create_plan create_plans[MICAP_CREATE_PLANS];

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
