#include "resource/spawn/spawn_flat.h"

#include "mica/batch.h"
#include "mica/bulk.h"
#include "mica/component.h"
#include "mica/hook.h"

enum { COLUMNS_MAX = 64 };

static bool is_simple(const mica_resource *resource, const mica_spawn_def *def)
{
    bool has_names = def->names != MICA_SPAWN_NAMES_NONE && resource->name_texts;
    bool may_resume = resource->single[MICAP_SECTION_STATE] && !def->skip_state;
    bool has_room = !def->out_entities || def->out_capacity >= resource->header.entity_count;
    return resource->is_flat && resource->block_count <= COLUMNS_MAX && def->copies <= 1 && !def->rule_count &&
           !def->link && mica_is_nil(def->parent) && !has_names && !may_resume && has_room;
}

/* Whether the instances of a block are values of a component of the world, as an earlier spawn found. */
static bool take_column(const mica_world *world, micap_component_block *block, mica_value *out)
{
    mica_component component = atomic_load_explicit(&block->column, memory_order_relaxed);
    *out = (mica_value){component, block->type->size_bytes, block->instances};
    return component && mica_component_next(world, component - 1) == component;
}

bool micap_spawn_flat(mica_world *world, const mica_resource *resource, const mica_spawn_def *def,
                      mica_result *out_result)
{
    mica_value values[COLUMNS_MAX];
    if (!is_simple(resource, def) || mica_is_deferred(world))
        return false;
    uint32_t observed = 0;
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        if (!take_column(world, &resource->blocks[i], &values[i]))
            return false;
        observed += mica_is_observed_id(world, values[i].component);
    }
    if (observed > 1) /* hooks run in the order of the file, which mica_create_many does not know */
        return false;
    *out_result =
        mica_create_many(world, resource->header.entity_count, values, resource->block_count, def->out_entities);
    return true;
}
