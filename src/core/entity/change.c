/* What is done to one entity at once, outside of recording. */
#include "base/argument.h"
#include "base/assert.h"
#include "core/world/access_check.h"
#include "core/events/hooks.h"
#include "core/entity/change.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/events/watch.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/split_row.h"
#include "core/entity/pool_fast_path.h"
#include "mica/entity.h"

static const mica_location no_place = {0};

/* Fills the raw value of a component that is about to be added: a copy, or from NULL the default. */
static bool make_value(mica_world *world, const micap_column *column, void *value, const void *from)
{
    if (from && column->trivial) {
        micap_copy_fresh(value, from, column->bytes);
        return true;
    }
    if (from ? micap_values_copy(column->type, value, from, 1) : micap_values_construct(column->type, value, 1))
        return true;
    return micap_fail_value(world, column->type);
}

/* Moves an entity along an edge to the archetype that has the component, with a copy of what `from` points to, or the
 * default. Returns the value, or NULL: nothing has changed then. */
static void *add_value(mica_world *world, micap_row spot, mica_component component, const void *from)
{
    const micap_archetype *old = spot.chunk->archetype;
    micap_edge *edge = micap_archetype_step(world, spot.chunk->archetype, component);
    if (MICAP_UNLIKELY(!edge))
        return NULL;
    micap_archetype *to = edge->end;
    if (MICAP_UNLIKELY(!micap_rows_reserve_one(world, to))) {
        micap_fail_memory(world, "add");
        return NULL;
    }
    micap_row next = micap_rows_next(to);
    void *value = &micap_tag_value;
    if (edge->column != MICAP_COLUMN_TAG) {
        value = micap_chunk_value(next.chunk, edge->column, next.row);
        if (!make_value(world, &to->columns[edge->column], value, from))
            return NULL;
    }
    micap_row_change_archetype(world, spot, to);
    if (micap_type_of(component)->leaves)
        micap_row_scatter(next, micap_type_of(component), from);
    ++world->structure;
    if (MICAP_UNLIKELY(micap_has_hooks(to, 1 << MICA_EVENT_ADD)))
        micap_hooks_added(world, old, next, 1);
    return value;
}

void *micap_add_any(mica_world *world, mica_entity entity, mica_component component)
{
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "add");
        return NULL;
    }
    if (micap_is_pooled(component))
        return micap_pooled_add(world, entity, component);
    if (micap_archetype_has(spot.chunk->archetype, component))
        return micap_type_of(component)->leaves ? &micap_tag_value : mica_write_id(world, entity, component);
    void *value = add_value(world, spot, component, NULL);
    if (value && world->hooks_recorded) {
        micap_hooks_end(world);
        value = value == &micap_tag_value && mica_has_id(world, entity, component)
                    ? value
                    : mica_write_id(world, entity, component);
    }
    return value;
}

/* The edge that an immediate change can take at once: known and short, with room at its end and no hooks; or NULL. */
static inline const micap_edge *short_edge(micap_row spot, mica_component component, micap_edge_path path)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (MICAP_UNLIKELY(!micap_is_row(spot) || !archetype->edge_capacity))
        return NULL;
    const micap_edge *edge = micap_archetype_edge(archetype, component);
    if (MICAP_UNLIKELY(edge->path != path || !edge->end->open ||
                       micap_change_hooks(edge->end) | micap_change_hooks(archetype)))
        return NULL;
    return edge;
}

static __attribute__((noinline)) void *add_recorded(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING_IN("mica_add_id", world))
        return NULL;
    return mica_command_add_id(micap_recorder(world), entity, component, no_place);
}

void *mica_add_id(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return add_recorded(world, entity, component);
    if (micap_is_pooled(component))
        return micap_pooled_add_or_any(world, entity, component);
    micap_row spot = micap_locate(world, entity);
    const micap_edge *edge = short_edge(spot, component, MICAP_EDGE_ADDS);
    if (MICAP_UNLIKELY(!edge))
        return micap_add_any(world, entity, component);
    ++world->structure;
    return micap_row_step_add(world, entity, spot, edge);
}

/* Overwrites a value that is there, with a copy or, from NULL, the default. When that fails the old value stays. */
static bool replace_value(mica_world *world, const micap_type *type, void *value, const void *from)
{
    MICAP_ASSERT(value, "it is there");
    if (from && !type->type.copy && !type->type.destruct) {
        memmove(value, from, type->type.size_bytes);
        return true;
    }
    if (value == from)
        return true;
    void *fresh = micap_allocate(&world->memory, type->type.size_bytes, type->type.alignment);
    bool done = fresh && (from ? micap_values_copy(type, fresh, from, 1) : micap_values_construct(type, fresh, 1));
    if (done) {
        micap_values_destruct(type, value, 1);
        micap_values_move(type, value, fresh, 1);
    } else {
        micap_fail_value(world, type);
    }
    micap_release(&world->memory, fresh, type->type.size_bytes, type->type.alignment);
    return done;
}

bool micap_set_any(mica_world *world, mica_entity entity, mica_value value)
{
    micap_row spot = micap_locate(world, entity);
    if (MICAP_UNLIKELY(!micap_is_row(spot))) {
        micap_fail_dead(world, entity, "set");
        return false;
    }
    if (micap_is_pooled(value.component)) {
        bool done = micap_pooled_set(world, entity, &value);
        micap_hooks_end(world);
        return done;
    }
    const micap_type *type = micap_type_for_entities(world, value.component);
    if (!type || !micap_value_fits(world, type, &value, no_place))
        return false;
    const micap_component *used = micap_component_of(&world->components, value.component);
    if (!micap_archetype_has(spot.chunk->archetype, value.component)) {
        if (!add_value(world, spot, value.component, value.data))
            return false;
    } else if (used->type->leaves) {
        micap_row_overwrite_leaves(world, spot, used->type, value.data);
    } else if (used->type->type.size_bytes) {
        if (!replace_value(world, used->type, mica_write_id(world, entity, value.component), value.data))
            return false;
    }
    if (micap_is_awaited(used, MICA_EVENT_SET))
        micap_hooks_run(world, MICA_EVENT_SET, value.component, micap_locate(world, entity), 1);
    micap_hooks_end(world);
    return true;
}

static __attribute__((noinline)) bool set_recorded(mica_world *world, mica_entity entity, mica_value value)
{
    if (MICAP_MISSING_IN("mica_set_id", world))
        return false;
    return mica_command_set_id(micap_recorder(world), entity, value, no_place);
}

bool mica_set_id(mica_world *world, mica_entity entity, mica_value value)
{
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return set_recorded(world, entity, value);
    return micap_is_pooled(value.component) ? micap_pooled_set_or_any(world, entity, value)
                                            : micap_set_any(world, entity, value);
}

bool micap_remove_any(mica_world *world, mica_entity entity, mica_component component)
{
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "remove");
        return false;
    }
    if (micap_is_pooled(component)) {
        bool removed = micap_pooled_remove(world, entity, component);
        micap_hooks_end(world);
        return removed;
    }
    if (!micap_archetype_has(spot.chunk->archetype, component))
        return false;
    micap_edge *edge = micap_archetype_step(world, spot.chunk->archetype, component);
    if (!edge)
        return false;
    micap_archetype *to = edge->end;
    if (!micap_rows_reserve_one(world, to)) {
        micap_fail_memory(world, "remove");
        return false;
    }
    if (micap_has_hooks(spot.chunk->archetype, 1 << MICA_EVENT_REMOVE))
        micap_hooks_removing(world, to, spot, 1);
    micap_row_change_archetype(world, spot, to);
    ++world->structure;
    micap_hooks_end(world);
    return true;
}

static __attribute__((noinline)) bool remove_recorded(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING_IN("mica_remove_id", world))
        return false;
    return mica_command_remove_id(micap_recorder(world), entity, component, no_place);
}

bool mica_remove_id(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return remove_recorded(world, entity, component);
    if (micap_is_pooled(component))
        return micap_pooled_remove_or_any(world, entity, component);
    micap_row spot = micap_locate(world, entity);
    const micap_edge *edge = short_edge(spot, component, MICAP_EDGE_REMOVES);
    if (MICAP_UNLIKELY(!edge))
        return micap_remove_any(world, entity, component);
    ++world->structure;
    return micap_row_step_remove(world, entity, spot, edge);
}

/* The byte that says whether the component is switched on; NULL when the entity lacks it or it can't be toggled. */
static uint8_t *enabled_byte(const mica_world *world, micap_row spot, mica_component component)
{
    const micap_component *used = micap_component_find(&world->components, component);
    if (!used || !used->type->enabled)
        return NULL;
    uint32_t column = micap_archetype_column(spot.chunk->archetype, used->type->enabled);
    return column == MICAP_COLUMN_NONE ? NULL : micap_chunk_value(spot.chunk, column, spot.row);
}

bool mica_enable_id(mica_world *world, mica_entity entity, mica_component component, bool enabled)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    if (MICAP_UNLIKELY(world->recording_depth))
        return mica_command_enable_id(micap_recorder(world), entity, component, enabled, no_place);
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "enable");
        return false;
    }
    const micap_type *type = micap_type_of(component);
    if (!type || !type->type.toggle) {
        micap_fail(world, MICA_ERROR_INVALID, no_place,
                   "component %s can't be toggled: describe it with .toggle = true",
                   type ? type->type.name : "without a description");
        return false;
    }
    if (micap_is_pooled(component))
        return micap_pooled_enable(world, entity, type, enabled);
    uint8_t *byte = enabled_byte(world, spot, component);
    if (!byte)
        return false;
    if (*byte != enabled) {
        micap_touch_value(world, spot.chunk, micap_archetype_column(spot.chunk->archetype, type->enabled), spot.row);
        *byte = enabled;
        micap_hooks_run(world, enabled ? MICA_EVENT_ENABLE : MICA_EVENT_DISABLE, component, spot, 1);
        micap_hooks_end(world);
    }
    return true;
}

bool mica_is_enabled_id(const mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    if (micap_is_pooled(component))
        return micap_pooled_is_enabled(world, entity, component);
    micap_row spot = micap_locate(world, entity);
    if (!micap_archetype_has(spot.chunk->archetype, component))
        return false;
    const uint8_t *byte = enabled_byte(world, spot, component);
    return !byte || *byte;
}
