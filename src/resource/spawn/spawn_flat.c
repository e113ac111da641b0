#include "resource/spawn/spawn_flat.h"

#include "mica/batch.h"
#include "mica/bulk.h"
#include "mica/component.h"
#include "mica/hook.h"
#include "mica/state.h"

enum { COLUMNS_MAX = 64 };

static bool is_simple(const mica_world *world, const mica_resource *resource, const mica_spawn_def *def)
{
    bool has_names = def->names != MICA_SPAWN_NAMES_NONE && resource->name_texts;
    bool may_resume = resource->single[MICAP_SECTION_STATE] && !def->skip_state && mica_world_is_unused(world);
    bool has_room = !def->out_entities || def->out_capacity >= resource->header.entity_count;
    return resource->is_flat && resource->block_count <= COLUMNS_MAX && def->copies <= 1 && !def->rule_count &&
           !def->link && mica_is_nil(def->parent) && !has_names && !may_resume && has_room;
}

/* Whether the instances of a block are values of a component of the world, as an earlier spawn found. Worlds keep their components, so that
 * each block is compared with the components of a world once. */
static bool take_column(const mica_world *world, uint64_t world_key, micap_component_block *block, mica_value *out)
{
    uint64_t column = atomic_load_explicit(&block->column, memory_order_relaxed);
    mica_component component = (mica_component)column;
    *out = (mica_value){component, block->type->size_bytes, block->instances};
    if (column == (component | world_key) && component)
        return true;
    if (!component || mica_component_next(world, component - 1) != component)
        return false;
    atomic_store_explicit(&block->column, component | world_key, memory_order_relaxed);
    return true;
}

/* The upper half of the structure of a world begins with a number of its own, as for mica_ref. */
static uint64_t key_of(const mica_world *world)
{
    return mica_world_structure(world) >> 40 << 32;
}

/* Whether several components have hooks: after a spawn they run in the order of the file, which creating entities does not know. */
static bool has_ordered_hooks(const mica_world *world, const mica_value *values, uint32_t count)
{
    uint32_t observed = 0;
    for (uint32_t i = 0; count > 1 && i < count; ++i)
        observed += mica_is_observed_id(world, values[i].component);
    return observed > 1;
}

bool micap_spawn_flat(mica_world *world, const mica_resource *resource, const mica_spawn_def *def,
                      mica_result *out_result)
{
    mica_value values[COLUMNS_MAX];
    if (!is_simple(world, resource, def) || mica_is_deferred(world))
        return false;
    uint64_t world_key = key_of(world);
    uint32_t count = resource->block_count, entity_count = resource->header.entity_count;
    for (uint32_t i = 0; i < count; ++i)
        if (!take_column(world, world_key, &resource->blocks[i], &values[i]))
            return false;
    if (has_ordered_hooks(world, values, count))
        return false;
    *out_result = mica_create_many(world, entity_count, values, count, def->out_entities);
    return true;
}
