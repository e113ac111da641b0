/* What was spawned, remembered for reloading. */
#include "resource/reload/reload.h"
#include "base/argument.h"

#include <string.h>

mica_spawned *mica_spawn_kept(mica_world *world, const mica_resource *resource, const mica_spawn_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, resource) ||
        (def && MICAP_MISSING_ARRAY(world, def->rules, def->rule_count)))
        return NULL;
    micap_memory memory;
    mica_spawn_def kept = def ? *def : (mica_spawn_def){0};
    uint64_t count = (uint64_t)resource->header.entity_count * (kept.copies ? kept.copies : 1);
    const char *problem = count > UINT32_MAX ? "spawn_kept: more than 2^32 entities"
                          : kept.out_entities && count > kept.out_capacity
                              ? "spawn_kept: out_entities has too little room (out_capacity)"
                              : NULL;
    if (kept.link || problem) {
        mica_world_report(world, kept.link ? MICA_ERROR_REFUSED : MICA_ERROR_LIMIT,
                          kept.link ? "spawn_kept: links that a function of the program makes can't be followed"
                                    : problem);
        return NULL;
    }
    micap_memory_init(&memory, resource->memory.allocator);
    mica_spawned *spawned = micap_allocate_zeroed(&memory, sizeof *spawned, MICAP_ARRAY_ALIGNMENT);
    if (spawned) {
        micap_memory_init(&spawned->memory, memory.allocator);
        spawned->entities = micap_allocate(&spawned->memory, count * sizeof *spawned->entities, MICAP_ARRAY_ALIGNMENT);
        spawned->entity_count = (uint32_t)count;
    }
    if (!spawned || !spawned->entities) {
        mica_world_report(world, MICA_ERROR_MEMORY, "spawn_kept: out of memory");
        mica_spawned_free(spawned);
        return NULL;
    }
    kept.out_entities = spawned->entities;
    kept.out_capacity = spawned->entity_count;
    if (mica_spawn(world, resource, &kept) != MICA_OK) {
        mica_spawned_free(spawned);
        return NULL;
    }
    if (def && def->out_entities)
        memcpy(def->out_entities, spawned->entities, count * sizeof *def->out_entities);
    kept.out_entities = NULL;
    kept.out_capacity = 0;
    spawned->world = world;
    spawned->resource = resource;
    spawned->def = kept;
    return spawned;
}

void mica_spawned_free(mica_spawned *spawned)
{
    if (!spawned)
        return;
    mica_allocator allocator = spawned->memory.allocator;
    micap_release(&spawned->memory, spawned->entities, spawned->entity_count * sizeof *spawned->entities,
                  MICAP_ARRAY_ALIGNMENT);
    allocator.release(spawned, sizeof *spawned, MICAP_ARRAY_ALIGNMENT, allocator.context);
}

const mica_resource *mica_spawned_resource(const mica_spawned *spawned)
{
    if (MICAP_MISSING(NULL, spawned))
        return NULL;
    return spawned->resource;
}

const mica_entity *mica_spawned_entities(const mica_spawned *spawned)
{
    if (MICAP_MISSING(NULL, spawned))
        return NULL;
    return spawned->entities;
}

uint32_t mica_spawned_count(const mica_spawned *spawned)
{
    if (MICAP_MISSING(NULL, spawned))
        return 0;
    return spawned->entity_count;
}
