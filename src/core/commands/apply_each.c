#include "core/commands/apply_each.h"

#include "core/commands/apply_batch.h"
#include "core/commands/record_kind.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/events/hooks.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

bool micap_is_for_each(const mica_world *world, const micap_route *route)
{
    return micap_kind_operation(route->kind) == MICAP_OPERATION_DESTROY ||
           micap_batch_has_fast_pools(world, route->kind);
}

static micap_hooked hooked_of(const mica_world *world, const micap_archetype *archetype, mica_component component)
{
    uint32_t column = micap_archetype_column(archetype, component);
    return (micap_hooked){micap_component_of(&world->components, component),
                          column == MICAP_COLUMN_TAG ? 0 : micap_column_offset(archetype, column)};
}

/* Lists the components of one archetype that another one lacks and that something awaits an event of. Returns how many. */
static uint32_t list_difference(const mica_world *world, micap_hooked *out, const micap_archetype *with,
                                const micap_archetype *without, mica_event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; (i = micap_next_hooked(with, kind, i)) < with->component_count; ++i) {
        mica_component component = with->components[i];
        if (!without || !micap_archetype_has(without, component))
            out[count++] = hooked_of(world, with, component);
    }
    return count;
}

static void list_values(const mica_world *world, micap_each_plan *plan, const micap_route *route,
                        micap_each_value *values)
{
    const micap_kind_value *value = micap_kind_values(route->kind), *end = value + route->kind->value_count;
    micap_hooked *set = plan->hooked + plan->removed_count + plan->added_count;
    for (; value < end; ++value) {
        if (value->operation != MICAP_OPERATION_VALUE || micap_is_pooled(value->component))
            continue;
        bool was_there = route->from && micap_archetype_has(route->from, value->component);
        if (value->offset)
            values[plan->value_count++] =
                (micap_each_value){value->offset, value->bytes, micap_archetype_column(route->to, value->component),
                                   was_there ? value->type : NULL};
        if (micap_kind_sets(route->kind, value) &&
            micap_is_awaited(micap_component_of(&world->components, value->component), MICA_EVENT_SET))
            set[plan->set_count++] = hooked_of(world, route->to, value->component);
    }
}

const micap_each_plan *micap_each_make_plan(mica_world *world, const micap_route *route)
{
    const micap_archetype *from = route->from, *to = route->to;
    size_t value_count = route->kind->value_count, hooked_max = value_count;
    if (to && to != from)
        hooked_max += (from ? from->component_count : 0u) + to->component_count;
    micap_each_plan *plan = micap_flush_allocate(world, sizeof *plan + hooked_max * sizeof *plan->hooked);
    micap_each_value *values = plan ? micap_flush_allocate(world, (value_count + 1) * sizeof *values) : NULL;
    if (!values)
        return NULL;
    *plan = (micap_each_plan){.values = values};
    if (!to)
        return plan;
    if (from && to != from)
        plan->removed_count = list_difference(world, plan->hooked, from, to, MICA_EVENT_REMOVE);
    if (to != from)
        plan->added_count = list_difference(world, plan->hooked + plan->removed_count, to, from, MICA_EVENT_ADD);
    list_values(world, plan, route, values);
    return plan;
}

/* Moves staged values into the row. */
static inline void place_values(mica_world *world, const micap_each_plan *plan, micap_row spot, const char *change)
{
    const micap_each_value *value = plan->values;
    for (uint32_t left = plan->value_count; left; --left, ++value) {
        void *to = micap_chunk_value(spot.chunk, value->column, spot.row);
        if (value->replaced) {
            micap_touch_value(world, spot.chunk, value->column, spot.row);
            if (value->replaced->type.destruct)
                micap_values_destruct(value->replaced, to, 1);
        }
        micap_copy_trivial(to, change + value->offset, value->bytes);
    }
}

/* Moves a row to the archetype of the group, with the values of a change. Returns the new row. */
static inline micap_row move_row(mica_world *world, const micap_group *group, const micap_each_plan *plan,
                                 mica_entity entity, micap_row from, const char *change)
{
    micap_row to = micap_rows_next(group->to);
    const micap_edge *edge = &group->edge;
    bool is_only = edge->path == MICAP_EDGE_ADDS && plan->value_count == 1 && !plan->values->replaced;
    if (is_only)
        micap_row_step_set(world, entity, from, edge, change + plan->values->offset);
    else if (edge->path == MICAP_EDGE_ADDS)
        micap_row_step_add(world, entity, from, edge);
    else if (edge->path == MICAP_EDGE_REMOVES)
        micap_row_step_remove(world, entity, from, edge);
    else
        micap_row_change_archetype(world, from, group->to);
    micap_rows_have_moved(world);
    if (!is_only)
        place_values(world, plan, to, change);
    return to;
}

/* Runs hooks, and changes the pools of an entity. */
static inline void end_change(mica_world *world, const micap_flush_step *step, micap_row spot, micap_recorded *change)
{
    const micap_each_plan *plan = step->each;
    if (plan->added_count | plan->set_count)
        micap_hooks_run_lists(world, spot, plan->hooked + plan->removed_count, plan->added_count, plan->set_count);
    if (step->kind->has_pools && !world->flush.is_shared)
        micap_batch_change_pools(world, &(micap_flush_step){.kind = step->kind, .changes = change, .count = 1}, NULL);
}

static void create_rows(mica_world *world, const micap_flush_step *step, micap_archetype *to)
{
    micap_recorded *change = step->changes;
    to->incoming -= step->count;
    for (uint32_t left = step->count; left; --left, change = micap_recorded_after(change, step->kind)) {
        micap_row spot = micap_row_create(world, to, change->entity);
        place_values(world, step->each, spot, (const char *)change);
        micap_rows_have_moved(world);
        end_change(world, step, spot, change);
    }
}

static void change_rows(mica_world *world, const micap_flush_step *step, const micap_group *group)
{
    const micap_each_plan *plan = step->each;
    micap_recorded *change = step->changes;
    bool moves = group->from != group->to;
    if (moves)
        group->to->incoming -= step->count;
    for (uint32_t left = step->count; left; --left, change = micap_recorded_after(change, step->kind)) {
        micap_row spot = micap_locate(world, change->entity);
        if (plan->removed_count)
            micap_hooks_run_list(world, MICA_EVENT_REMOVE, spot, plan->hooked, plan->removed_count);
        if (moves)
            spot = move_row(world, group, plan, change->entity, spot, (const char *)change);
        else
            place_values(world, plan, spot, (const char *)change);
        end_change(world, step, spot, change);
    }
}

static void destroy_rows(mica_world *world, const micap_flush_step *step)
{
    const micap_recorded *change = step->changes;
    for (uint32_t left = step->count; left; --left) {
        micap_destroy_living(world, change->entity, micap_locate(world, change->entity));
        change = (const micap_recorded *)(const void *)((const char *)change + step->kind->stride);
    }
}

void micap_each_apply(mica_world *world, const micap_group *group, const micap_flush_step *step)
{
    if (!group->from)
        create_rows(world, step, group->to);
    else if (!group->to)
        destroy_rows(world, step);
    else
        change_rows(world, step, group);
}
