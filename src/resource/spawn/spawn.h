/* Spawning: the instances of a file become values of a world.
 *
 *     spawn_prepare.c      what is known before the world changes   layout_migration.c   values of another layout, by field name
 *     spawn.c              creates entities and fills their columns   spawn_flat.c   one bulk call for the simplest resources */
#ifndef MICAP_RESOURCE_SPAWN_SPAWN_H
#define MICAP_RESOURCE_SPAWN_SPAWN_H

#include "mica/batch.h"
#include "mica/state.h"
#include "mica/value.h"
#include "resource/spawn/layout_migration.h"
#include "resource/verify/resource.h"
#include "type/value_bytes.h"

/* How the instances of one block become values. */
typedef struct micap_entry {
    const micap_component_block *block;
    const mica_resource_rule *rule; /* NULL: none */
    const mica_type *type;          /* the program's, of the component */
    const mica_type *recipe;   /* the program's, of what lies in the file: another one only with a spawn function */
    mica_component component;  /* 0: unknown, passed over */
    bool has_spawn;            /* the rule has a spawn function */
    bool is_column;            /* copied without conversion when the entities are created */
    bool is_separate;          /* given entity by entity: several of them, or split and to be completed */
    bool is_required;          /* another component of the file requires it: it may have come along */
    bool is_made;              /* a singleton is in `scratch`, to be moved into the world when nothing can fail */
    char *scratch;             /* room for one value of a separate component, or of a singleton that is made apart */
    micap_migration migration; /* if it is not a column, from block->type to the recipe */
} micap_entry;

typedef struct micap_spawning {
    mica_world *world;
    const mica_resource *resource;
    mica_resume *resume;  /* of a saved world that continues; else NULL */
    mica_entity *handles; /* that its entities had */
    const mica_spawn_def *def;
    micap_memory memory; /* the resource's allocator: it may be shared by several threads, its count may not */
    micap_entry *entries;
    uint32_t entry_count;
    mica_batch_group *groups;
    uint32_t group_count;
    mica_value *values; /* the columns of all groups */
    uint32_t value_count;
    mica_component *order;
    mica_batch *batch;
    char *repeated; /* columns of groups that are copied many times, repeated a few hundred times */
    size_t repeated_bytes;
    uint32_t copies;
    const mica_entity *entities; /* by index in the file, copy after copy; NULL when they are not needed */
    mica_entity *kept;           /* owned, unless the caller gave room */
    mica_result result;
    size_t room_used;
    _Alignas(MICAP_ARRAY_ALIGNMENT) char room[2048]; /* so that a small resource needs no allocation; not zeroed */
} micap_spawning;

/* References in values that were copied without conversion become handles. */
void micap_spawn_remap(const micap_scalars *references, uint32_t size_bytes, void *values, uint64_t count,
                       const mica_entity *entities);

/* Whether values are bytes and no more, which start as zero or as the initial values of their description. */
static inline bool micap_type_is_trivial(const mica_type *type)
{
    return (!type->construct || micap_type_has_initial(type)) && !type->destruct && !type->copy && !type->move;
}

/* Fills values that are zero with the initial values of their description. False if memory is short. */
static inline bool micap_spawn_initialize(const mica_type *type, void *values, uint32_t count)
{
    bool done = true;
    for (uint32_t i = 0; micap_type_has_initial(type) && i < count; ++i)
        done &= mica_value_reset(mica_member_of_type(type, (char *)values + (size_t)i * type->size_bytes)) == MICA_OK;
    return done;
}

/* Reports what micap_migration_apply returned. Returns false. */
bool micap_spawn_fail_migration(micap_spawning *work, const micap_entry *entry, const char *problem);

/* Converts instances of the file to values of the recipe. False with a report if memory is short, or something does not fit. */
static inline bool micap_spawn_migrate(micap_spawning *work, const micap_entry *entry, void *to, const char *from,
                                       uint32_t count, const mica_entity *entities)
{
    const char *problem = micap_migration_apply(&entry->migration, to, from, count, entities);
    return !problem || micap_spawn_fail_migration(work, entry, problem);
}

/* Makes a value in the scratch of a singleton, to be filled in: a default one for its spawn function, else that of the world; false when
 * it can't. What is made is moved into the world, or destroyed by micap_spawn_free. */
bool micap_spawn_make_singleton(mica_world *world, micap_entry *entry);
void micap_spawn_move_singleton(mica_world *world, micap_entry *entry);

/* Makes room for all singletons of the file, so that giving them their values can't fail. That makes them used: call it when nothing
 * else can fail. False when memory is short. */
bool micap_spawn_reserve_singletons(const micap_spawning *work);

#endif
