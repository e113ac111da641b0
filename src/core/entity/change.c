/* What is done to one entity at once, outside of recording. */
#include "base/argument.h"
#include "base/assert.h"
#include "core/world/access_check.h"
#include "core/events/hooks.h"
#include "core/entity/change.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/events/watch.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rivals.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/split_row.h"
#include "core/entity/pool_fast_path.h"
#include "core/entity/required.h"
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
 * default. Returns the value, or NULL: nothing has changed then. Hooks are left to the caller. */
static void *add_value(mica_world *world, micap_row spot, mica_component component, const void *from)
{
    micap_edge *edge = micap_archetype_step(world, spot.chunk->archetype, component);
    if (MICAP_UNLIKELY(!edge))
        return NULL;
    if (world->components.meets_pools &&
        !micap_entity_accepts(world, micap_chunk_entities(spot.chunk)[spot.row], component))
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
    return value;
}

/* Adds a component with those that it requires; the add hooks run. Returns the value, or NULL: nothing has changed then. */
static void *add_required(mica_world *world, mica_entity entity, const micap_type *type)
{
    if (!micap_add_required(world, entity, type, NULL))
        return NULL;
    micap_row spot = micap_locate(world, entity);
    void *value = micap_finder_value(micap_chunk_find(spot.chunk, type->id), spot.row);
    return value ? value : &micap_tag_value;
}

/* Calls the hook of a component for one row, whose value is given; micap_tag_value if it has none. */
static inline void call_hook(mica_world *world, mica_event_kind kind, mica_component component, micap_row spot,
                             void *value)
{
    const micap_component *used = world->components.by_id[component];
    if (!micap_is_awaited(used, kind))
        return;
    micap_preserve_row(world, spot.chunk, spot.row); /* the hook may write to the value */
    micap_hooks_call(world, kind, used, micap_chunk_entities(spot.chunk) + spot.row,
                     value == &micap_tag_value ? NULL : value, 1);
}

/* As mica_write_id, at the address of the value itself. */
static void *find_to_write(mica_world *world, mica_entity entity, mica_component component)
{
    micap_row spot = micap_locate(world, entity);
    const micap_finder *finder = micap_chunk_find(spot.chunk, component);
    if (!finder->component)
        return NULL;
    micap_touch_value(world, spot.chunk, finder->column, spot.row);
    return micap_finder_value(finder, spot.row);
}

/* The value of a component that was just added, after its hook. What hooks record may move it. */
static MICAP_INLINE void *end_add(mica_world *world, mica_entity entity, mica_component component, void *value)
{
    if (MICAP_LIKELY(!world->hooks_recorded))
        return value;
    micap_hooks_end(world);
    return value == &micap_tag_value && mica_has_id(world, entity, component) ? value
                                                                              : find_to_write(world, entity, component);
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
    const micap_type *type = micap_type_of(component);
    bool brings = type && type->required_count;
    void *value = brings ? add_required(world, entity, type) : add_value(world, spot, component, NULL);
    if (!value)
        return NULL;
    if (!brings)
        call_hook(world, MICA_EVENT_ADD, component, micap_locate(world, entity), value);
    return end_add(world, entity, component, value);
}

/* The edge that an immediate change of a row can take with the fast path: known, with room at its end; or NULL. */
static inline const micap_edge *short_edge(micap_row spot, mica_component component, micap_edge_path path)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (MICAP_UNLIKELY(!archetype->edge_capacity))
        return NULL;
    const micap_edge *edge = micap_archetype_edge(archetype, component);
    return MICAP_LIKELY(edge->path == path && edge->end->open) ? edge : NULL;
}

static MICAP_NOINLINE void *add_recorded(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING_IN("mica_add_id", world))
        return NULL;
    return mica_command_add_id(micap_recorder(world), entity, component, no_place);
}

static MICAP_NOINLINE void *add_hooked(mica_world *world, mica_entity entity, micap_row spot, const micap_edge *edge)
{
    mica_component component = edge->component;
    micap_row next = micap_rows_next(edge->end);
    ++world->structure;
    void *value = micap_row_step_add(world, entity, spot, edge);
    call_hook(world, MICA_EVENT_ADD, component, next, value);
    return end_add(world, entity, component, value);
}

static MICAP_INLINE void *add(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return add_recorded(world, entity, component);
    if (micap_is_pooled(component))
        return micap_pooled_add_or_any(world, entity, component);
    micap_row spot;
    const micap_edge *edge =
        micap_locate_row(world, entity, &spot) ? short_edge(spot, component, MICAP_EDGE_ADDS) : NULL;
    if (MICAP_UNLIKELY(!edge))
        return micap_add_any(world, entity, component);
    if (MICAP_UNLIKELY(micap_has_hooks(edge->end, 1 << MICA_EVENT_ADD)))
        return add_hooked(world, entity, spot, edge);
    ++world->structure;
    return micap_row_step_add(world, entity, spot, edge);
}

void *mica_add_id(mica_world *world, mica_entity entity, mica_component component)
{
    micap_check_change(world, entity, no_place);
    const micap_immediate_change change = micap_immediate_change_begin(world);
    void *value = add(world, entity, component);
    micap_immediate_change_end(&change);
    return micap_lend_values(world, entity, component, value, 1);
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
    char bytes[256];
    if (from && !type->type.copy && !type->type.move && type->type.size_bytes <= sizeof bytes) {
        memcpy(bytes, from, type->type.size_bytes);
        micap_values_destruct(type, value, 1);
        memcpy(value, bytes, type->type.size_bytes);
        return true;
    }
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
        bool brings = type->required_count != 0;
        if (!(brings ? micap_add_required(world, entity, type, value.data)
                     : add_value(world, spot, value.component, value.data) != NULL))
            return false;
        if (!brings && micap_is_awaited(used, MICA_EVENT_ADD))
            micap_hooks_run(world, MICA_EVENT_ADD, value.component, micap_locate(world, entity), 1);
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

static MICAP_NOINLINE bool set_recorded(mica_world *world, mica_entity entity, mica_value value)
{
    if (MICAP_MISSING_IN("mica_set_id", world))
        return false;
    return mica_command_set_id(micap_recorder(world), entity, value, no_place);
}

/* Calls the hooks of a component that was just set. */
static MICAP_NOINLINE bool end_set(mica_world *world, micap_row spot, mica_component component, void *value,
                                   bool is_new)
{
    if (is_new)
        call_hook(world, MICA_EVENT_ADD, component, spot, value);
    call_hook(world, MICA_EVENT_SET, component, spot, value);
    micap_hooks_end(world);
    return true;
}

/* Whether a value has as many bytes as its type; 0 is as many. */
static inline bool fits(mica_value value, uint64_t bytes)
{
    return MICAP_LIKELY(value.size_bytes == bytes) || value.size_bytes == 0;
}

/* The fast path of adding a component by setting it, with hooks. */
static MICAP_NOINLINE bool set_new_hooked(mica_world *world, mica_entity entity, mica_value value, micap_row spot)
{
    const micap_edge *edge = micap_archetype_edge(spot.chunk->archetype, value.component);
    micap_row next = micap_rows_next(edge->end);
    void *place =
        edge->column == MICAP_COLUMN_TAG ? &micap_tag_value : micap_chunk_value(next.chunk, edge->column, next.row);
    micap_row_step_set(world, entity, spot, edge, value.data);
    return end_set(world, next, value.component, place, true);
}

/* A tag that the entity has already, without a hook, stays as it is. Everything else takes the general path. */
static MICAP_NOINLINE bool set_tag_or_any(mica_world *world, mica_entity entity, mica_value value, micap_row spot)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    const micap_type *type = micap_type_of(value.component);
    return (!value.data && !value.size_bytes && type && !type->type.size_bytes &&
            !micap_has_hooks(archetype, 1 << MICA_EVENT_SET) && micap_archetype_has(archetype, value.component)) ||
           micap_set_any(world, entity, value);
}

/* The same without hooks; or one of the others. */
static MICAP_NOINLINE bool set_new(mica_world *world, mica_entity entity, mica_value value, micap_row spot)
{
    const micap_edge *edge = short_edge(spot, value.component, MICAP_EDGE_ADDS);
    if (MICAP_UNLIKELY(!edge || (uint64_t)value.size_bytes + 1 != edge->set_limit))
        return set_tag_or_any(world, entity, value, spot);
    ++world->structure;
    if (MICAP_UNLIKELY(micap_has_hooks(edge->end, 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET)))
        return set_new_hooked(world, entity, value, spot);
    return micap_row_step_set(world, entity, spot, edge, value.data);
}

/* Overwriting a value of a tracked component, or of which a snapshot needs a copy. */
static MICAP_NOINLINE bool overwrite_touched(mica_world *world, const micap_finder *finder, mica_value value,
                                             micap_row spot)
{
    micap_touch_value(world, spot.chunk, finder->column, spot.row);
    void *place = micap_finder_value(finder, spot.row);
    memmove(place, value.data, finder->bytes);
    return !micap_has_hooks(spot.chunk->archetype, 1 << MICA_EVENT_SET) ||
           end_set(world, spot, value.component, place, false);
}

/* The fast path of overwriting a value in a chunk; or one of the others. */
static MICAP_NOINLINE bool overwrite(mica_world *world, const micap_finder *finder, mica_value value, micap_row spot)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    if (MICAP_UNLIKELY(!archetype->columns[finder->column].trivial || !value.data || !fits(value, finder->bytes)))
        return micap_set_any(world, micap_chunk_entities(spot.chunk)[spot.row], value);
    mica_version *stamp = micap_chunk_stamps(spot.chunk, spot.row) + 1 + finder->column;
    if (MICAP_UNLIKELY(!micap_touch_without_copy(world, stamp, micap_version(world))))
        return overwrite_touched(world, finder, value, spot);
    void *place = micap_finder_value(finder, spot.row);
    micap_copy_fresh(place, value.data, finder->bytes);
    return MICAP_LIKELY(!micap_has_hooks(archetype, 1 << MICA_EVENT_SET)) ||
           end_set(world, spot, value.component, place, false);
}

bool mica_set_id(mica_world *world, mica_entity entity, mica_value value)
{
    MICAP_IMMEDIATE_CHANGE(world);
    micap_check_change(world, entity, no_place);
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return set_recorded(world, entity, value);
    if (micap_is_pooled(value.component))
        return micap_pooled_set_or_any(world, entity, value);
    micap_row spot;
    if (MICAP_UNLIKELY(!micap_locate_row(world, entity, &spot)))
        return micap_set_any(world, entity, value);
    const micap_finder *finder = micap_chunk_find(spot.chunk, value.component);
    return finder->component ? overwrite(world, finder, value, spot) : set_new(world, entity, value, spot);
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

static MICAP_NOINLINE bool remove_recorded(mica_world *world, mica_entity entity, mica_component component)
{
    if (MICAP_MISSING_IN("mica_remove_id", world))
        return false;
    return mica_command_remove_id(micap_recorder(world), entity, component, no_place);
}

/* The fast path with a remove hook, which runs while the value is there. What it records is applied afterwards. */
static MICAP_NOINLINE bool remove_hooked(mica_world *world, mica_entity entity, micap_row spot, const micap_edge *edge)
{
    void *value = edge->column == MICAP_COLUMN_TAG ? NULL : micap_chunk_value(spot.chunk, edge->column, spot.row);
    call_hook(world, MICA_EVENT_REMOVE, edge->component, spot, value);
    ++world->structure;
    micap_row_step_remove(world, entity, spot, edge);
    micap_hooks_end(world);
    return true;
}

bool mica_remove_id(mica_world *world, mica_entity entity, mica_component component)
{
    MICAP_IMMEDIATE_CHANGE(world);
    micap_check_change(world, entity, no_place);
    if (MICAP_UNLIKELY(!world || world->recording_depth))
        return remove_recorded(world, entity, component);
    if (micap_is_pooled(component))
        return micap_pooled_remove_or_any(world, entity, component);
    micap_row spot;
    const micap_edge *edge =
        micap_locate_row(world, entity, &spot) ? short_edge(spot, component, MICAP_EDGE_REMOVES) : NULL;
    if (MICAP_UNLIKELY(!edge))
        return micap_remove_any(world, entity, component);
    if (MICAP_UNLIKELY(micap_has_hooks(spot.chunk->archetype, 1 << MICA_EVENT_REMOVE)))
        return remove_hooked(world, entity, spot, edge);
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
    micap_check_change(world, entity, no_place);
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
    if (micap_is_pooled(component)) {
        bool is_there = micap_pooled_enable(world, entity, type, enabled);
        micap_hooks_end(world);
        return is_there;
    }
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
