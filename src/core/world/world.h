/* The world: one struct that holds all parts of the core. Each part has a header and functions of its own.
 *
 *     world.c            create, clear, trim, destroy       validate.c         checks every invariant
 *     report.c           errors and their reports           world_hash.c       the hash of a world
 *     module.c           layers above, called by the core   thread_context.c   what the thread runs
 *     access_check.c, stale_pointers.c                      checked builds */
#ifndef MICAP_CORE_WORLD_WORLD_H
#define MICAP_CORE_WORLD_WORLD_H

#include "base/region_arena.h"
#include "base/undo_log.h"
#include "core/storage/archetype.h"
#include "core/storage/attachments.h"
#include "core/commands/command_buffer.h"
#include "core/storage/component.h"
#include "core/storage/entity_index.h"
#include "core/commands/flush.h"
#include "core/world/module.h"
#include "core/storage/names.h"
#include "core/storage/world_pools.h"
#include "mica/lookup.h"
#include "mica/world.h"

struct micap_create_plan;
struct micap_mark_log;
struct micap_queries;

/* See core/entity/create_plan.h. */
typedef struct micap_create_plans {
    struct micap_create_plan *
        *recent; /* by key: the plan that was used last, never NULL: there is one that is for no list */
    struct micap_create_plan **chains; /* by hash: all plans; a chain ends with the one that is for no list */
    uint32_t mask;                     /* how many there are of both, less 1 */
    uint32_t count;                    /* of plans */
} micap_create_plans;

struct mica_world {
    /* Hot: what looking up an entity reads. */
    union {
        mica_private_lookup
            lookup; /* what the inline functions of the public headers read; see core/storage/column_table.h */
        struct {
            uint64_t structure;           /* raised by every change that invalidates pointers */
            _Atomic mica_version version; /* stamped on what changes; raised by mica_world_mark */
            unsigned char
                in_lookup[offsetof(mica_private_lookup, undo_before) - offsetof(mica_private_lookup, records)];
            micap_undo_logs undo; /* the undo logs of snapshots */
        };
    };
    micap_entities entities;
    micap_chunks chunks;
    mica_version restored; /* the version when a snapshot was last restored; 0: never. See micap_is_on_this_line */

    micap_components components;
    micap_archetypes archetypes;
    struct micap_queries *queries;
    micap_pools pools;
    micap_names names;
    micap_attachments attachments;
    micap_create_plans create_plans;

    mica_commands deferred;        /* the buffer of changes that the world records itself */
    mica_commands *first_commands; /* the buffers, in order of creation; the first is `deferred` */
    mica_commands *last_commands;
    mica_commands *parked_commands; /* of systems: see micap_commands_park */
    uint64_t
        last_serial; /* of buffers and lists of removals: snapshots identify them by it, since addresses are reused */
    mica_commands refusing;   /* for threads that have no buffer to record into */
    uint32_t recording_depth; /* of mica_defer and of hooks: changes are recorded while it is not 0 */
    uint32_t hook_depth;
    uint32_t frame_depth; /* of functions that call the program, outside hooks, and use the world afterwards */
    struct micap_mark_log *mark_logs; /* of the indexes of tracked components */
    bool hooks_recorded; /* hooks recorded changes, which are applied when the operation that called them ends */
    bool flushing;
    micap_flush flush;
    /* Runs jobs on the threads of a module that has some; NULL if none has. Set by the module. */
    void (*share)(mica_world *world, void (*fn)(void *data, uint32_t piece), void *data, uint32_t count);
    /* See core/events/settle.h. Set by the module that has watches. */
    bool (*settle)(mica_world *world);
    bool is_unsettled;
    uint32_t settle_holds;
    /* Called when the world begins to use a component that hides entities; NULL: no module wants to know. False if memory is
     * short. */
    bool (*hides)(mica_world *world, mica_component component);
    struct micap_traffic_watch *traffic; /* is told what passes through the world: mica/traffic.h; NULL: none */
    micap_hook destroy_hook;
    struct micap_watch *destroy_watches;
    micap_module modules[MICAP_MODULES];
    bool has_dependents;   /* some module has entities that are destroyed with others */
    bool copies;           /* some module copies what it has for entities */
    bool refuses_deaths;   /* some module may refuse to have entities with attachments destroyed */
    bool sees_parents;     /* loops may ask for parents: changing one ends them, as other changes of structure do */
    bool sees_every_death; /* some module is told about all destroyed entities, */
    uint32_t sees_deaths;  /* or about those that have attachments: a bit for each module */

    micap_memory memory;
    micap_arena arena;
    mica_world_def def;
    mica_guard_fn guard; /* of checked builds */
    void *guard_context;
    _Atomic(mica_result) last_error; /* for mica_world_take_error */
    _Atomic(mica_result) failure;    /* of the last operation that failed, for functions that return it */
};

_Static_assert(offsetof(mica_world, lookup) == 0 &&
                   offsetof(mica_world, structure) == offsetof(mica_private_lookup, structure) &&
                   offsetof(mica_world, version) == offsetof(mica_private_lookup, version) &&
                   offsetof(mica_world, undo.before) == offsetof(mica_private_lookup, undo_before),
               "inline functions find the fields where they are");

static inline mica_version micap_version(const mica_world *world)
{
    return atomic_load_explicit(&world->version, memory_order_relaxed);
}

/* The id of a system, a phase or an observer: its number, with the handle space of the world. */
static inline uint32_t micap_id_in_space(const mica_world *world, uint32_t number)
{
    return world->def.handle_space << 24 | number;
}

/* Whether no snapshot was restored since the world had this version. A restore sets stamps back, so that comparing stamps with an
 * older version no longer finds everything that differs. */
static inline bool micap_is_on_this_line(const mica_world *world, mica_version version)
{
    return version > world->restored;
}

/* How many entities are alive. */
uint64_t micap_entity_count(const mica_world *world);

/* The error of the operation that just returned NULL or false. */
static inline mica_result micap_failure(const mica_world *world)
{
    return atomic_load_explicit(&world->failure, memory_order_relaxed);
}

#endif
