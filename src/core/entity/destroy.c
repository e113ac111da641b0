#include "core/entity/destroy.h"

#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "mica/entity.h"

static const mica_location no_place = {0};

void micap_destroy_row(mica_world *world, micap_row spot)
{
    mica_entity entity = micap_chunk_entities(spot.chunk)[spot.row];
    if (MICAP_UNLIKELY(world->pools.count))
        micap_pools_entity_dies(world, entity);
    if (MICAP_UNLIKELY(!spot.chunk->archetype->trivial)) {
        micap_preserve_rows(world, spot.chunk, spot.row, 1);
        micap_row_destruct(spot);
    }
    micap_row_fill_hole(world, spot);
    micap_entity_forget(world, entity);
    ++world->structure;
}

void micap_destroy_row_with_hooks(mica_world *world, micap_row spot)
{
    if (MICAP_UNLIKELY(micap_has_hooks(spot.chunk->archetype, 1 << MICA_EVENT_REMOVE | 1 << MICA_EVENT_DESTROY)))
        micap_hooks_removing(world, NULL, spot, 1);
    micap_destroy_row(world, spot);
}

/* Destroys rows that lie one after the other, and belong to these entities. */
static void destroy_run(mica_world *world, micap_row spot, const mica_entity *entities, uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (micap_has_hooks(archetype, 1 << MICA_EVENT_REMOVE | 1 << MICA_EVENT_DESTROY))
        micap_hooks_removing(world, NULL, spot, count);
    micap_preserve_rows(world, spot.chunk, spot.row, count);
    for (uint32_t i = 0; !archetype->trivial && i < archetype->column_count; ++i)
        if (!archetype->columns[i].trivial)
            micap_values_destruct(archetype->columns[i].type, micap_chunk_value(spot.chunk, i, spot.row), count);
    for (uint32_t i = 0; world->pools.count && i < count; ++i)
        micap_pools_entity_dies(world, entities[i]);
    micap_rows_fill_holes(world, spot, count);
    for (uint32_t i = 0; i < count; ++i)
        micap_entity_forget(world, entities[i]);
    ++world->structure;
}

static void destroy_rows(mica_world *world, const mica_entity *entities, uint32_t count, void *died)
{
    for (uint32_t begin = 0, run; begin < count; begin += run) {
        micap_row spot = micap_locate(world, entities[begin]);
        run = micap_is_row(spot) ? micap_run_of(world, entities + begin, count - begin) : 1;
        if (!micap_is_row(spot))
            continue;
        destroy_run(world, spot, entities + begin, run);
        *(uint32_t *)died += run;
    }
}

uint32_t micap_destroy_dependents(mica_world *world, mica_entity entity)
{
    uint32_t died = 0;
    if (world->has_dependents)
        micap_modules_each_dependent(world, entity, destroy_rows, &died);
    return died;
}

uint32_t micap_destroy_with_dependents(mica_world *world, mica_entity entity)
{
    uint32_t died = micap_destroy_dependents(world, entity);
    micap_destroy_row_with_hooks(world, micap_locate(world, entity));
    return died + 1;
}

static MICAP_COLD bool destroy_any(mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING_IN("mica_destroy", world))
        return false;
    if (world->recording_depth)
        return mica_command_destroy_id(micap_recorder(world), entity, no_place);
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "destroy");
        return false;
    }
    micap_destroy_with_dependents(world, entity);
    micap_hooks_end(world);
    return true;
}

/* The fast path of an entity with rows in pools; the rest is as in mica_destroy. */
static __attribute__((noinline)) bool destroy_in_pools(mica_world *world, mica_entity entity)
{
    micap_row spot = micap_locate(world, entity);
    uint64_t mask = micap_pools_mask(&world->pools, entity.index);
    if (!micap_pools_leave_fast(&world->pools, mask))
        return destroy_any(world, entity);
    micap_pools_remove_fast(world, entity, mask);
    micap_entity_put_free(&world->entities, entity.index, entity.generation + 1);
    return micap_row_fill_hole(world, spot);
}

bool mica_destroy(mica_world *world, mica_entity entity)
{
    if (MICAP_UNLIKELY(!world))
        return destroy_any(world, entity);
    micap_row spot = micap_locate(world, entity);
    const micap_archetype *archetype = spot.chunk->archetype;
    if (MICAP_UNLIKELY(world->recording_depth | world->names.count | world->undo.before || !micap_is_row(spot) ||
                       !archetype->destroys_fast || entity.generation == MICAP_GENERATION_MAX))
        return destroy_any(world, entity);
    if (MICAP_UNLIKELY(micap_pools_mask(&world->pools, entity.index)))
        return destroy_in_pools(world, entity);
    micap_entity_put_free(&world->entities, entity.index, entity.generation + 1);
    ++world->structure;
    return micap_row_fill_hole(world, spot);
}
