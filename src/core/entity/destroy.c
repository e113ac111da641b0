#include "core/entity/destroy.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "mica/entity.h"

static const mica_location no_place = {0};

void micap_entities_forget(mica_world *world, const mica_entity *entities, uint32_t count)
{
    const micap_attachments attachments = world->attachments;
    const bool clears = !world->undo.before; /* see micap_detach */
    micap_entities_give_in_order(&world->entities, entities, count);
    for (uint32_t i = 0; world->names.count && i < count; ++i)
        if (micap_is_attached(&attachments, entities[i].index))
            micap_name_forget(world, entities[i]);
    for (uint32_t i = 0; clears && i < count; ++i)
        if (MICAP_LIKELY(entities[i].index >> 6 < attachments.word_count))
            micap_attachment_clear(&attachments, entities[i].index);
}

void micap_destroy_row(mica_world *world, micap_row spot)
{
    mica_entity entity = micap_chunk_entities(spot.chunk)[spot.row];
    if (MICAP_UNLIKELY(world->pools.count))
        micap_pools_entity_dies(world, entity);
    if (MICAP_UNLIKELY(!spot.chunk->archetype->trivial))
        micap_rows_destruct(world, spot, 1);
    micap_row_fill_hole(world, spot);
    micap_entity_forget(world, entity);
    ++world->structure;
}

/* Whether a hook, a list or a module may have to be told of the death of an entity. */
static inline bool is_seen(const mica_world *world, const micap_archetype *archetype)
{
    return world->sees_deaths || micap_death_hooks(archetype);
}

void micap_destroy_row_with_hooks(mica_world *world, micap_row spot)
{
    if (MICAP_UNLIKELY(is_seen(world, spot.chunk->archetype)))
        micap_hooks_removing(world, NULL, spot, 1);
    micap_destroy_row(world, spot);
}

/* Destroys rows that lie one after the other, and belong to these entities. */
static void destroy_run(mica_world *world, micap_row spot, const mica_entity *entities, uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (is_seen(world, archetype))
        micap_hooks_removing(world, NULL, spot, count);
    if (world->pools.count) /* hooks may read the rows */
        micap_pools_entities_die(world, entities, count);
    micap_rows_destruct(world, spot, count);
    if (count == 1)
        micap_row_fill_hole(world, spot);
    else
        micap_rows_fill_holes(world, spot, count);
    micap_entities_forget(world, entities, count);
    ++world->structure;
}

static void destroy_rows(mica_world *world, const mica_entity *entities, uint32_t count, void *died)
{
    for (uint32_t begin = 0, run; begin < count; begin += run) {
        micap_row spot = micap_locate(world, entities[begin]);
        run = micap_is_row(spot) ? micap_rows_in_order(spot, entities + begin, count - begin) : 1;
        if (!micap_is_row(spot))
            continue;
        destroy_run(world, spot, entities + begin, run);
        *(uint32_t *)died += run;
    }
}

uint32_t micap_destroy_dependents(mica_world *world, mica_entity entity)
{
    uint32_t died = 0;
    if (world->has_dependents && micap_is_attached(&world->attachments, entity.index))
        micap_modules_each_dependent(world, entity, destroy_rows, &died);
    return died;
}

static MICAP_COLD void refuse(mica_world *world, mica_entity entity, const char *what)
{
    mica_result result =
        micap_fail(world, MICA_ERROR_REFUSED, no_place,
                   "destroy: entity %u is a target of the relation %s, which keeps it alive", entity.index, what);
    if (world->flushing)
        world->flush.refusal = result;
}

uint32_t micap_destroy_with_dependents(mica_world *world, mica_entity entity)
{
    const char *refusing = micap_modules_refuse(world, entity);
    if (MICAP_UNLIKELY(refusing != NULL)) {
        refuse(world, entity, refusing);
        return 0;
    }
    uint32_t died = micap_destroy_dependents(world, entity);
    micap_destroy_row_with_hooks(world, micap_locate(world, entity));
    return died + 1;
}

static MICAP_COLD bool destroy_any(mica_world *world, mica_entity entity)
{
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "destroy");
        return false;
    }
    bool done = micap_destroy_with_dependents(world, entity) != 0;
    micap_hooks_end(world);
    return done;
}

static MICAP_NOINLINE bool destroy_recorded(mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING_IN("mica_destroy", world))
        return false;
    return mica_command_destroy_id(micap_recorder(world), entity, no_place);
}

/* Whether nothing but rows and the handle has to go, and hooks and destructors of values to be called. */
static inline bool dies_alone(const mica_world *world, mica_entity entity, micap_row spot, uint64_t pools)
{
    return micap_is_row(spot) && entity.generation != world->entities.last_generation &&
           !micap_is_attached(&world->attachments, entity.index) &&
           (!pools || (!world->undo.before && micap_pools_leave_fast(&world->pools, pools)));
}

/* The fast path for rows in pools, for values with destructors, and while there are snapshots. */
static MICAP_INLINE bool destroy_alone(mica_world *world, mica_entity entity, micap_row spot, uint64_t pools)
{
    if (pools)
        micap_pools_remove_fast(world, entity, pools);
    micap_touch_record(&world->entities, entity.index);
    if (!spot.chunk->archetype->trivial)
        micap_rows_destruct(world, spot, 1);
    micap_entity_put_free(&world->entities, entity.index, entity.generation + 1);
    ++world->structure;
    return micap_row_fill_hole(world, spot);
}

/* The same with hooks, which run while everything is there. What they record is applied afterwards; a name that they give to the entity is
 * set at once, and goes with it. */
static MICAP_INLINE void destroy_hooked(mica_world *world, mica_entity entity, micap_row spot, uint64_t pools)
{
    micap_hooks_removing(world, NULL, spot, 1);
    if (MICAP_UNLIKELY(!dies_alone(world, entity, spot, pools)))
        micap_destroy_row(world, spot);
    else
        destroy_alone(world, entity, spot, pools);
}

static MICAP_NOINLINE bool destroy_other(mica_world *world, mica_entity entity, micap_row spot)
{
    uint64_t pools = micap_pools_mask(&world->pools, entity.index);
    if (!dies_alone(world, entity, spot, pools))
        return destroy_any(world, entity);
    if (MICAP_LIKELY(!micap_death_hooks(spot.chunk->archetype)))
        return destroy_alone(world, entity, spot, pools);
    destroy_hooked(world, entity, spot, pools);
    micap_hooks_end(world);
    return true;
}

uint32_t micap_destroy_living(mica_world *world, mica_entity entity, micap_row spot)
{
    uint64_t pools = micap_pools_mask(&world->pools, entity.index);
    if (MICAP_UNLIKELY(!dies_alone(world, entity, spot, pools)))
        return micap_destroy_with_dependents(world, entity);
    if (micap_death_hooks(spot.chunk->archetype))
        destroy_hooked(world, entity, spot, pools);
    else
        destroy_alone(world, entity, spot, pools);
    return 1;
}

/* The handle and the row go. Snapshots have the record. */
static MICAP_INLINE bool destroy_fast(mica_world *world, mica_entity entity, micap_row spot,
                                      bool (*fill_hole)(mica_world *world, micap_row hole))
{
    micap_entity_put_free(&world->entities, entity.index, entity.generation + 1);
    ++world->structure;
    return fill_hole(world, spot);
}

static MICAP_NOINLINE bool destroy_preserved(mica_world *world, mica_entity entity, micap_row spot)
{
    if (MICAP_UNLIKELY(!micap_record_is_saved(&world->entities, entity.index)))
        return destroy_other(world, entity, spot);
    return destroy_fast(world, entity, spot, micap_row_fill_hole_saving);
}

bool mica_destroy(mica_world *world, mica_entity entity)
{
    MICAP_IMMEDIATE_CHANGE(world);
    micap_check_change(world, entity, (mica_location){0});
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return destroy_recorded(world, entity);
    micap_row spot;
    if (MICAP_UNLIKELY(!micap_locate_row(world, entity, &spot)))
        return destroy_any(world, entity);
    if (MICAP_UNLIKELY(!spot.chunk->archetype->destroys_fast || entity.generation == world->entities.last_generation ||
                       micap_pools_mask(&world->pools, entity.index) ||
                       micap_is_attached(&world->attachments, entity.index)))
        return destroy_other(world, entity, spot);
    if (MICAP_UNLIKELY(world->undo.before))
        return destroy_preserved(world, entity, spot);
    return destroy_fast(world, entity, spot, micap_row_fill_hole_fast);
}
