#include "replication/replica_restore.h"

#include "core/world/module.h"
#include "core/world/world.h"

/* The replicas of a world: the state of the module. */
typedef struct micap_replicas {
    mica_replica *first;
    uint64_t last_id;
} micap_replicas;

/* How many deltas the world had of each replica. */
typedef struct saved_replicas {
    uint32_t count;
    struct saved_replica {
        uint64_t id;
        uint64_t world_count;
    } list[];
} saved_replicas;

static size_t saved_bytes(uint32_t count)
{
    return sizeof(saved_replicas) + count * sizeof(struct saved_replica);
}

static void *save(mica_world *world, void *state)
{
    const micap_replicas *replicas = state;
    uint32_t count = 0;
    for (const mica_replica *replica = replicas->first; replica; replica = replica->next)
        ++count;
    saved_replicas *saved = micap_allocate_zeroed(&world->memory, saved_bytes(count), MICAP_ARRAY_ALIGNMENT);
    for (const mica_replica *replica = replicas->first; saved && replica; replica = replica->next)
        saved->list[saved->count++] = (struct saved_replica){replica->id, replica->world_count};
    return saved;
}

static void drop(mica_world *world, void *state, void *data)
{
    saved_replicas *saved = data;
    (void)state;
    micap_release(&world->memory, saved, saved_bytes(saved->count), MICAP_ARRAY_ALIGNMENT);
}

static void load(mica_world *world, void *state, const void *data)
{
    const micap_replicas *replicas = state;
    const saved_replicas *saved = data;
    (void)world;
    for (mica_replica *replica = replicas->first; replica; replica = replica->next) {
        replica->world_count = 0; /* of a replica that did not exist then */
        for (uint32_t i = 0; saved && i < saved->count; ++i)
            if (saved->list[i].id == replica->id)
                replica->world_count = saved->list[i].world_count;
    }
}

static void free_replicas(mica_world *world, void *state)
{
    micap_release(&world->memory, state, sizeof(micap_replicas), MICAP_ARRAY_ALIGNMENT);
}

static const micap_module_ops ops = {.save = save, .drop = drop, .load = load, .free = free_replicas};

bool micap_replica_list(mica_replica *replica)
{
    mica_world *world = replica->world;
    micap_replicas *replicas = micap_module_state(world, MICAP_MODULE_REPLICATION);
    if (!replicas) {
        replicas = micap_allocate_zeroed(&world->memory, sizeof *replicas, MICAP_ARRAY_ALIGNMENT);
        if (replicas)
            micap_module_set(world, MICAP_MODULE_REPLICATION, &ops, replicas);
    }
    if (replicas) {
        replica->id = ++replicas->last_id;
        replica->next = replicas->first;
        replicas->first = replica;
    }
    return replicas != NULL;
}

void micap_replica_unlist(mica_replica *replica)
{
    micap_replicas *replicas = micap_module_state(replica->world, MICAP_MODULE_REPLICATION);
    mica_replica **link = &replicas->first;
    while (*link != replica)
        link = &(*link)->next;
    *link = replica->next;
}
