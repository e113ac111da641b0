/* Reading and writing the components of one entity. */
#include "base/argument.h"
#include "core/entity/pool_component.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/storage/chunk_write.h"
#include "core/world/stale_pointers.h"
#include "mica/entity.h"

static const mica_location no_place = {0};

bool mica_is_alive(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    return micap_record_chunk(micap_record_of(&world->entities, entity)) != MICAP_CHUNK_NONE;
}

/* Where there is no column: something to point to for a tag, and NULL for what is not there, or is split. */
static void *tag_of(const mica_world *world, micap_row spot, mica_component component)
{
    if (!micap_archetype_has(spot.chunk->archetype, component))
        return NULL;
    if (!micap_type_of(component)->leaves)
        return &micap_tag_value;
    micap_fail(world, MICA_ERROR_INVALID, no_place,
               "component %s is split: there is no whole value to point to; use mica_get_field or mica_get_value",
               micap_type_of(component)->type.name);
    return NULL;
}

/* The general path: the finder is not the first one tried, or there is none. A tail call, so that the fast path needs no stack
 * frame. */
static MICAP_COLD const void *get_any(const mica_world *world, mica_entity entity, mica_component component)
{
    micap_row spot = micap_locate(world, entity);
    const micap_finder *finder = micap_chunk_find(spot.chunk, component);
    return finder->component ? micap_finder_value(finder, spot.row) : tag_of(world, spot, component);
}

static MICAP_COLD void *write_any(mica_world *world, mica_entity entity, mica_component component)
{
    micap_row spot = micap_locate(world, entity);
    const micap_finder *finder = micap_chunk_find(spot.chunk, component);
    if (!finder->component)
        return tag_of(world, spot, component);
    micap_touch_value(world, spot.chunk, finder->column, spot.row);
    return micap_finder_value(finder, spot.row);
}

const void *mica_get_id(const mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_check_access(world, entity, component, false);
    if (micap_is_pooled(component))
        return micap_lend_values(world, entity, component, micap_pooled_get(world, entity, component), 1);
    micap_row spot = micap_locate(world, entity);
    const micap_finder *finder = micap_chunk_first_finder(spot.chunk, component);
    if (MICAP_UNLIKELY(finder->component != (uint16_t)component))
        return micap_lend_values(world, entity, component, get_any(world, entity, component), 1);
    return micap_lend_values(world, entity, component, micap_finder_value(finder, spot.row), 1);
}

void *mica_write_id(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_check_handle(world, entity);
    micap_check_change(world, entity, (mica_location){0});
    if (micap_is_pooled(component))
        return micap_lend_values(world, entity, component, micap_pooled_write(world, entity, component), 1);
    micap_row spot = micap_locate(world, entity);
    const micap_finder *finder = micap_chunk_first_finder(spot.chunk, component);
    if (MICAP_UNLIKELY(finder->component != (uint16_t)component || !component))
        return micap_lend_values(world, entity, component, write_any(world, entity, component), 1);
    mica_version *stamp = &micap_chunk_stamps(spot.chunk, spot.row)[1 + finder->column];
    if (!micap_touch_without_copy(world, stamp, micap_version(world)))
        return micap_lend_values(world, entity, component, write_any(world, entity, component), 1);
    return micap_lend_values(world, entity, component, micap_finder_value(finder, spot.row), 1);
}

bool mica_has_id(const mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_check_handle(world, entity);
    if (micap_is_pooled(component))
        return micap_pooled_has(world, entity, component);
    return micap_archetype_has(micap_locate(world, entity).chunk->archetype, component);
}

uint32_t mica_get_components(const mica_world *world, mica_entity entity, mica_component *out, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, out, capacity))
        return 0;
    const micap_archetype *archetype = micap_locate(world, entity).chunk->archetype;
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        if (micap_type_of(archetype->components[i])->companion != MICAP_COMPANION_NONE)
            continue;
        if (count < capacity)
            out[count] = archetype->components[i];
        ++count;
    }
    return count +
           micap_pools_components_of(world, entity, out ? out + count : NULL, count < capacity ? capacity - count : 0);
}
