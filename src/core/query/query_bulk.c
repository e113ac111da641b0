/* Changing all entities that a query shows. Everything that can fail is done before the first row moves. */
#include "base/argument.h"
#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/entity/bulk_record.h"
#include "core/entity/destroy.h"
#include "core/entity/destroy_list.h"
#include "core/entity/pool_component.h"
#include "core/entity/pool_fast_path.h"
#include "core/query/entity_set.h"
#include "core/query/pattern.h"
#include "core/query/query_sort.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rivals.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/split_row.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "mica/bulk.h"

/* Entities of one archetype that follow each other in a selection. */
typedef struct micap_selected_group {
    micap_archetype *archetype;
    micap_archetype *to; /* where they go */
    uint32_t count;
} selected_group;

typedef struct micap_selection {
    mica_entity *entities; /* copied: the change alters what the query walks */
    uint32_t count;
    uint32_t capacity;
    selected_group *groups; /* if they are known */
    uint32_t group_count;
    uint32_t group_capacity;
} selection;

/* Of a query that shows instances, each entity once: a bit per row of the pool notes whose first instance was listed. */
static bool select_owners(mica_query *query, selection *selected)
{
    micap_memory *memory = &query->world->memory;
    const mica_pool *pool = micap_pool_of(query->world, query->instances_of);
    MICAP_ASSERT(pool, "the query shows its rows");
    size_t words = pool->row_limit / 64 + (size_t)1;
    uint64_t *listed = micap_allocate_zeroed(memory, words * sizeof *listed, MICAP_ARRAY_ALIGNMENT);
    bool done = listed != NULL;
    for (mica_view view = mica_query_begin(query); done && mica_view_next(&view);) {
        done = MICAP_RESERVE(memory, selected->entities, &selected->capacity, (uint64_t)selected->count + view.count);
        for (uint32_t i = 0; done && i < view.count; ++i) {
            uint32_t first = micap_pool_row(pool, view.entities[i]);
            if (!micap_bit(listed, first))
                selected->entities[selected->count++] = view.entities[i];
            listed[first / 64] |= (uint64_t)1 << first % 64;
        }
    }
    MICAP_RELEASE_ARRAY(memory, listed, words);
    return done;
}

/* Of a query that shows entities several times, each once. */
static bool select_distinct(mica_query *query, selection *selected)
{
    micap_memory *memory = &query->world->memory;
    micap_entity_set set = {0};
    bool done = true;
    query->pattern->is_incomplete = false;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) /* to the end, which returns its memory */
        for (uint32_t i = 0; done && i < view.count; ++i)
            done = micap_entity_set_add(memory, &set, view.entities[i]);
    done = done && !query->pattern->is_incomplete &&
           MICAP_RESERVE(memory, selected->entities, &selected->capacity, set.count);
    if (done && set.count)
        memcpy(selected->entities, set.entities, set.count * sizeof *set.entities);
    selected->count = done ? set.count : 0;
    micap_entity_set_free(memory, &set);
    return done;
}

static bool add_group(mica_world *world, selection *selected, micap_archetype *archetype, uint32_t count)
{
    if (!MICAP_RESERVE(&world->memory, selected->groups, &selected->group_capacity,
                       (uint64_t)selected->group_count + 1))
        return false;
    selected->groups[selected->group_count++] = (selected_group){archetype, NULL, count};
    return true;
}

/* Of a query that shows whole chunks, in the order of a loop. */
static bool list_chunks(mica_query *query, selection *selected)
{
    mica_world *world = query->world;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        micap_archetype *archetype = query->archetypes[match];
        uint32_t left = archetype->row_count;
        if (!left)
            continue;
        if (!MICAP_RESERVE(&world->memory, selected->entities, &selected->capacity, (uint64_t)selected->count + left) ||
            !add_group(world, selected, archetype, left))
            return false;
        for (uint32_t i = 0, count; left; ++i, left -= count) {
            count = archetype->chunks[i]->count;
            memcpy(selected->entities + selected->count, micap_chunk_entities(archetype->chunks[i]),
                   count * sizeof(mica_entity));
            selected->count += count;
        }
    }
    return true;
}

static bool list_all(mica_query *query, selection *selected)
{
    mica_world *world = query->world;
    if (query->pattern)
        return select_distinct(query, selected);
    if (query->instances_of)
        return select_owners(query, selected);
    if (!query->special)
        return list_chunks(query, selected);
    if (query->compare && !micap_query_sort(query))
        return false;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        if (!MICAP_RESERVE(&world->memory, selected->entities, &selected->capacity,
                           (uint64_t)selected->count + view.count))
            return false;
        MICAP_ASSERT(selected->entities, "views have rows");
        memcpy(selected->entities + selected->count, view.entities, view.count * sizeof *view.entities);
        selected->count += view.count;
    }
    return true;
}

/* False with a report if memory is short, or if the query reached its limit, which it has reported. */
static bool select_all(mica_query *query, selection *selected, const char *what)
{
    *selected = (selection){0};
    bool done = list_all(query, selected);
    if (!done && !(query->pattern && query->pattern->is_incomplete))
        micap_fail_memory(query->world, what);
    return done;
}

static void drop_selection(mica_world *world, selection *selected)
{
    MICAP_RELEASE_ARRAY(&world->memory, selected->entities, selected->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, selected->groups, selected->group_capacity);
}

/* How many entities, from the first on, are in the archetype of the first. */
static selected_group group_of(const mica_world *world, const mica_entity *entities, uint32_t count)
{
    micap_row first = micap_locate(world, entities[0]);
    selected_group group = {.archetype = first.chunk->archetype};
    while (first.chunk->archetype == group.archetype) {
        group.count += micap_rows_in_order(first, entities + group.count, count - group.count);
        if (group.count == count)
            break;
        first = micap_locate(world, entities[group.count]);
    }
    return group;
}

/* Finds the groups of a selection. False if memory is short. */
static bool find_groups(mica_world *world, selection *selected)
{
    for (uint32_t at = 0; at < selected->count;) {
        selected_group group = group_of(world, selected->entities + at, selected->count - at);
        if (!add_group(world, selected, group.archetype, group.count))
            return false;
        at += group.count;
    }
    return true;
}

/* Drops groups that have the component (adding) or lack it (removing). */
static void keep_groups_if(selection *selected, mica_component component, bool has)
{
    mica_entity *entities = selected->entities;
    uint32_t at = 0, kept = 0, group_count = 0;
    for (uint32_t i = 0; i < selected->group_count; ++i) {
        selected_group group = selected->groups[i];
        if (micap_archetype_has(group.archetype, component) == has) {
            selected->groups[group_count++] = group;
            if (kept != at)
                memmove(entities + kept, entities + at, group.count * sizeof *entities);
            kept += group.count;
        }
        at += group.count;
    }
    selected->count = kept;
    selected->group_count = group_count;
}

/* Drops entities that have a component in a pool (adding) or lack it (removing). */
static void keep_if_in_pool(const mica_world *world, selection *selected, const mica_pool *pool, bool has)
{
    uint32_t kept = 0;
    mica_entity *entities = selected->entities;
    for (uint32_t i = 0; i < selected->count; ++i) {
        bool is_in = micap_pooled_is_in(world, pool, entities[i]);
        entities[kept] = entities[i];
        kept += is_in == has;
    }
    selected->count = kept;
    selected->group_count = 0;
}

/* Selects what has the component, or does not have it; false with a report. */
static bool select_to_change(mica_query *query, selection *selected, const mica_pool *pool, mica_component component,
                             bool has)
{
    mica_world *world = query->world;
    const char *what = has ? "query_remove" : "query_add";
    if (!select_all(query, selected, what))
        return false;
    if (pool)
        keep_if_in_pool(world, selected, pool, has);
    bool has_groups = selected->group_count || (pool && (has || !pool->type->required_count));
    if (!has_groups && !find_groups(world, selected)) {
        micap_fail_memory(world, what);
        return false;
    }
    if (!pool)
        keep_groups_if(selected, component, has);
    return true;
}

/* Finds every target archetype and makes room in it. */
static bool reserve_targets(mica_world *world, const selection *selected, mica_component component)
{
    selected_group *const groups = selected->groups;
    uint32_t found = 0, reserved = 0;
    for (; found < selected->group_count; ++found) {
        const micap_edge *edge = micap_archetype_step(world, groups[found].archetype, component);
        if (!edge)
            break;
        groups[found].to = edge->end;
        edge->end->incoming += edge->end != groups[found].archetype ? groups[found].count : 0;
    }
    bool is_known = found == selected->group_count;
    while (is_known && reserved < found &&
           micap_rows_reserve(world, groups[reserved].to, groups[reserved].to->incoming))
        ++reserved;
    if (is_known && reserved == found)
        return true;
    if (is_known)
        micap_fail_memory(world, "bulk change");
    for (uint32_t i = 0; i < found; ++i)
        groups[i].to->incoming = 0;
    return false;
}

/* The values to be moved in: one for each entity if a function of the type has to make or move them; else the bytes that all get. */
typedef struct micap_values {
    micap_new_values values;
    size_t bytes;
    uint32_t made;
} staged_values;

static void drop_values(mica_world *world, staged_values *staged)
{
    const micap_type *type = staged->values.type;
    if (staged->values.data && staged->values.stride)
        micap_values_destruct(type, staged->values.data, staged->made);
    micap_release(&world->memory, staged->values.data, staged->bytes, type->type.alignment);
}

static bool make_values(mica_world *world, const micap_type *type, const void *from, uint32_t count,
                        staged_values *staged)
{
    bool is_each = type->type.construct || type->type.copy || type->type.move || type->leaves;
    if (!is_each && count)
        count = 1;
    *staged = (staged_values){.values = {.type = type, .stride = is_each ? type->type.size_bytes : 0},
                              .bytes = (size_t)type->type.size_bytes * count};
    if (!staged->bytes)
        return true;
    staged->values.data = micap_allocate(&world->memory, staged->bytes, type->type.alignment);
    for (; staged->values.data && staged->made < count; ++staged->made) {
        void *value = staged->values.data + (size_t)type->type.size_bytes * staged->made;
        if (!(from ? micap_values_copy(type, value, from, 1) : micap_values_construct(type, value, 1)))
            break;
    }
    if (staged->values.data && staged->made == count)
        return true;
    micap_fail_memory(world, type->type.name);
    drop_values(world, staged);
    return false;
}

static bool reserve_in_pool(mica_world *world, mica_pool *pool, const selection *selected)
{
    if (micap_pools_make_room_for_list(world, pool, selected->entities, selected->count))
        return true;
    micap_fail_memory(world, "bulk change");
    return false;
}

static void add_to_pool(mica_world *world, mica_pool *pool, const selection *selected, const staged_values *staged)
{
    const micap_new_values *values = &staged->values;
    if (micap_pool_is_fast(world, pool)) {
        micap_pooled_add_many(world, pool, selected->entities, selected->count, values->data);
        return;
    }
    for (uint32_t i = 0; i < selected->count; ++i)
        micap_pools_evict(world, pool, selected->entities[i]);
    for (uint32_t i = 0; i < selected->count; ++i) {
        if (values->data)
            micap_pool_move_value_in(pool, micap_pool_next_row(pool, selected->entities[i]),
                                     micap_new_values_after(values, i));
        micap_pools_commit(world, pool, selected->entities[i]);
    }
}

static void remove_from_pool(mica_world *world, mica_pool *pool, const selection *selected)
{
    if (micap_pool_is_fast(world, pool))
        micap_pooled_remove_many(world, pool, selected->entities, selected->count);
    else
        for (uint32_t i = 0; i < selected->count; ++i)
            micap_pools_remove(world, pool, selected->entities[i]);
}

/* A component that others require, and the entities that get it. */
typedef struct micap_brought {
    selection selected;
    staged_values staged; /* one for each of them, */
    char *next;           /* from here on not moved yet */
    mica_pool *pool;      /* NULL: it is in chunks */
} brought;

static void drop_brought(mica_world *world, brought *list, uint32_t made, const micap_type *of)
{
    for (uint32_t i = 0; i < made; ++i) {
        drop_values(world, &list[i].staged);
        drop_selection(world, &list[i].selected);
    }
    MICAP_RELEASE_ARRAY(&world->memory, list, of->required_count);
}

/* Lists the entities of a selection that lack a required component. */
static bool select_lacking(mica_world *world, const selection *all, const micap_type *type, selection *out)
{
    *out = (selection){0};
    if (!MICAP_RESERVE(&world->memory, out->entities, &out->capacity, all->count))
        return false;
    for (uint32_t i = 0; i < all->count; ++i)
        if (!mica_has_id(world, all->entities[i], type->id))
            out->entities[out->count++] = all->entities[i];
    return true;
}

/* Makes the values of all that comes along, and room in pools. False with a report; `*out_list` is NULL if nothing does. */
static bool bring_all(mica_world *world, const selection *all, const micap_type *of, brought **out_list)
{
    *out_list = NULL;
    if (!of->required_count)
        return true;
    brought *list = micap_allocate(&world->memory, of->required_count * sizeof *list, MICAP_ARRAY_ALIGNMENT);
    if (!list)
        return micap_fail_memory(world, "bulk change"), false;
    for (uint32_t i = 0; i < of->required_count; ++i) {
        const micap_type *type = micap_type_of(of->required[i]);
        brought *next = &list[i];
        *next = (brought){.pool = micap_is_pooled(type->id) ? micap_pool_of(world, type->id) : NULL};
        bool fine = select_lacking(world, all, type, &next->selected);
        if (!fine)
            micap_fail_memory(world, "bulk change");
        fine = fine && make_values(world, type, NULL, next->selected.count, &next->staged);
        next->next = next->staged.values.data;
        if (fine && (!next->pool || reserve_in_pool(world, next->pool, &next->selected)))
            continue;
        if (fine)
            drop_values(world, &next->staged);
        drop_selection(world, &next->selected);
        drop_brought(world, list, i, of);
        return false;
    }
    *out_list = list;
    return true;
}

/* Moves a value of a component that is new into a row. */
static void fill_value(micap_row spot, const micap_type *type, char *value)
{
    if (!value)
        return;
    if (type->leaves)
        micap_row_scatter(spot, type, value);
    else
        micap_values_move(
            type, micap_chunk_value(spot.chunk, micap_archetype_column(spot.chunk->archetype, type->id), spot.row),
            value, 1);
}

/* Fills the columns of components that came along with another one. */
static void fill_brought(micap_row spot, const micap_archetype *from, brought *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const micap_new_values *values = &list[i].staged.values;
        if (list[i].pool || micap_archetype_has(from, values->type->id))
            continue;
        fill_value(spot, values->type, list[i].next);
        list[i].next = list[i].next ? list[i].next + values->stride : NULL;
    }
}

/* The general path: one row after the other. */
static void step_each(mica_world *world, const mica_entity *entities, const selected_group *group, micap_archetype *to,
                      const micap_new_values *values, brought *list)
{
    uint32_t brought_count = list ? values->type->required_count : 0;
    for (uint32_t i = 0; i < group->count; ++i) {
        micap_row spot = micap_row_change_archetype(world, micap_locate(world, entities[i]), to);
        if (values->type && !micap_is_pooled(values->type->id))
            fill_value(spot, values->type, micap_new_values_after(values, i));
        fill_brought(spot, group->archetype, list, brought_count);
    }
}

/* Moves one row along an edge with the fast path: archetypes of few rows take a fifth of the instructions of a batch. */
static void step_one(mica_world *world, mica_entity entity, const micap_edge *edge, const micap_new_values *values)
{
    micap_row spot = micap_locate(world, entity);
    if (edge->path == MICAP_EDGE_REMOVES)
        micap_row_step_remove(world, entity, spot, edge);
    else if (edge->column == MICAP_COLUMN_TAG)
        micap_row_step_add(world, entity, spot, edge);
    else
        micap_row_step_set(world, entity, spot, edge, values->data);
}

/* Moves all to the archetypes with or without a component, in which there is room. `list` has what comes along. */
static void step_all(mica_world *world, const selection *selected, mica_component component, micap_new_values values,
                     brought *list)
{
    const mica_entity *entities = selected->entities;
    const selected_group *group = selected->groups;
    for (uint32_t i = 0; i < selected->group_count; ++i, entities += group->count, ++group) {
        if (group->to == group->archetype) /* there is nothing to bring for a component in a pool */
            continue;
        const micap_edge *edge = micap_archetype_edge(group->archetype, component);
        MICAP_ASSERT(edge->end, "it was found when room was made");
        if (edge->path == MICAP_EDGE_GENERAL)
            step_each(world, entities, group, edge->end, &values, list);
        else if (group->count == 1)
            step_one(world, *entities, edge, &values);
        else
            micap_rows_step_many(world, entities, group->count, edge, values);
        edge->end->incoming -= group->count;
        values.data = micap_new_values_after(&values, group->count);
    }
    world->structure += selected->count;
}

/* A hook for everyone of a selection, wherever the component is kept. */
static void run_hooks(mica_world *world, mica_pool *pool, mica_event_kind kind, mica_component component,
                      const selection *selected)
{
    if (!pool)
        micap_hooks_run_many(world, kind, component, selected->entities, selected->count);
    for (uint32_t i = 0; pool && pool->hook_mask & 1 << kind && i < selected->count; ++i)
        micap_pools_run_hook(world, kind, pool, micap_pool_row(pool, selected->entities[i]), 1);
}

/* Adds what comes along to pools. */
static void add_brought(mica_world *world, brought *list, const micap_type *of)
{
    for (uint32_t i = 0; list && i < of->required_count; ++i)
        if (list[i].pool)
            add_to_pool(world, list[i].pool, &list[i].selected, &list[i].staged);
}

/* Runs the add hooks of what came along, and releases its memory: the values have moved. */
static void end_brought(mica_world *world, brought *list, const micap_type *of)
{
    for (uint32_t i = 0; list && i < of->required_count; ++i) {
        run_hooks(world, list[i].pool, MICA_EVENT_ADD, of->required[i], &list[i].selected);
        list[i].staged.made = 0;
    }
    if (list)
        drop_brought(world, list, of->required_count, of);
}

/* Adds a component, whose values are made, to all that are selected. */
static void add_selected(mica_world *world, mica_pool *pool, const micap_type *type, const selection *selected,
                         const staged_values *staged, brought *list)
{
    world->structure += selected->count != 0;
    if (!pool || type->required_count)
        step_all(world, selected, type->id, staged->values, list);
    if (pool)
        add_to_pool(world, pool, selected, staged);
    add_brought(world, list, type);
    micap_release(&world->memory, staged->values.data, staged->bytes, type->type.alignment);
    end_brought(world, list, type);
}

/* Whether every entity of a selection can have a component and what comes along; a report if one can't. */
static bool accept_all(const mica_world *world, const selection *selected, const micap_type *type)
{
    bool fine = true;
    for (uint32_t i = 0; fine && micap_meets_pools(world, type) && i < selected->count; ++i)
        fine = micap_entity_accepts_all(world, selected->entities[i], type);
    return fine;
}

typedef enum recorded_bulk { RECORDED_ADD, RECORDED_REMOVE, RECORDED_DESTROY } recorded_bulk;

/* While the world records: the change of each entity that matches now is recorded. */
static mica_result record_all(mica_query *query, recorded_bulk bulk, mica_value value)
{
    mica_world *world = query->world;
    const mica_pool *pool = micap_is_pooled(value.component) ? micap_pool_of(world, value.component) : NULL;
    selection selected;
    bool done = bulk == RECORDED_DESTROY
                    ? select_all(query, &selected, "query_destroy_entities")
                    : select_to_change(query, &selected, pool, value.component, bulk == RECORDED_REMOVE);
    mica_result result = micap_failure(world);
    if (done && bulk == RECORDED_ADD)
        result = micap_record_add_all(world, selected.entities, selected.count, value);
    else if (done && bulk == RECORDED_REMOVE)
        result = micap_record_remove_all(world, selected.entities, selected.count, value.component);
    else if (done)
        result = micap_record_destroy_all(world, selected.entities, selected.count);
    drop_selection(world, &selected);
    return result;
}

mica_result mica_add_all_id(mica_query *query, mica_value value)
{
    MICAP_IMMEDIATE_CHANGE(query ? query->world : NULL);
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    if (world->recording_depth)
        return record_all(query, RECORDED_ADD, value);
    micap_check_door(world, "query_add");
    const micap_type *type = micap_type_for_entities(world, value.component);
    if (!type || (value.data && !micap_expect_copyable(world, type, "add_all")) ||
        !micap_takes_values(world, type, (mica_location){0}) ||
        !micap_value_fits(world, type, &value, (mica_location){0}))
        return micap_failure(world);
    mica_pool *pool = micap_is_pooled(type->id) ? micap_pool_of(world, type->id) : NULL;
    selection selected;
    staged_values staged;
    brought *list = NULL;
    bool done = select_to_change(query, &selected, pool, value.component, false) &&
                accept_all(world, &selected, type) && make_values(world, type, value.data, selected.count, &staged);
    if (done && !((!pool || reserve_in_pool(world, pool, &selected)) && bring_all(world, &selected, type, &list) &&
                  ((pool && !type->required_count) || reserve_targets(world, &selected, value.component)))) {
        drop_values(world, &staged);
        if (list)
            drop_brought(world, list, type->required_count, type);
        done = false;
    }
    if (done) {
        add_selected(world, pool, type, &selected, &staged, list);
        run_hooks(world, pool, MICA_EVENT_ADD, type->id, &selected);
        if (value.data)
            run_hooks(world, pool, MICA_EVENT_SET, type->id, &selected);
    }
    drop_selection(world, &selected);
    micap_hooks_end(world);
    return done ? MICA_OK : micap_failure(world);
}

mica_result mica_remove_all_id(mica_query *query, mica_component component)
{
    MICAP_IMMEDIATE_CHANGE(query ? query->world : NULL);
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    if (world->recording_depth)
        return record_all(query, RECORDED_REMOVE, (mica_value){.component = component});
    micap_check_door(world, "query_remove");
    if (!micap_type_for_entities(world, component))
        return micap_failure(world);
    mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
    selection selected;
    bool done = select_to_change(query, &selected, pool, component, true);
    if (pool) {
        if (done)
            remove_from_pool(world, pool, &selected);
        drop_selection(world, &selected);
        micap_hooks_end(world);
        return done ? MICA_OK : micap_failure(world);
    }
    done = done && reserve_targets(world, &selected, component);
    if (done)
        micap_hooks_run_many(world, MICA_EVENT_REMOVE, component, selected.entities, selected.count);
    if (done)
        step_all(world, &selected, component, (micap_new_values){0}, NULL);
    drop_selection(world, &selected);
    micap_hooks_end(world);
    return done ? MICA_OK : micap_failure(world);
}

/* Whether something sees that entities of a selection die. */
static bool is_any_seen(const mica_world *world, const selection *selected)
{
    bool is_seen = world->sees_deaths;
    for (uint32_t i = 0; i < selected->group_count; ++i)
        is_seen |= micap_death_hooks(selected->groups[i].archetype) != 0;
    for (uint32_t i = 0; !selected->group_count && !is_seen && i < selected->count; ++i)
        is_seen = micap_death_hooks(micap_locate(world, selected->entities[i]).chunk->archetype) != 0;
    return is_seen;
}

/* While all are still there, in runs of those that lie one after the other. */
static void run_destroy_hooks(mica_world *world, const selection *selected)
{
    for (uint32_t begin = 0, run; begin < selected->count; begin += run) {
        run = micap_run_of(world, selected->entities + begin, selected->count - begin);
        micap_hooks_removing(world, NULL, micap_locate(world, selected->entities[begin]), run);
    }
}

mica_result mica_destroy_all(mica_query *query)
{
    MICAP_IMMEDIATE_CHANGE(query ? query->world : NULL);
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    if (world->recording_depth)
        return record_all(query, RECORDED_DESTROY, (mica_value){0});
    micap_check_door(world, "query_destroy_entities");
    mica_result result = MICA_OK;
    selection selected;
    if (!select_all(query, &selected, "query_destroy_entities")) {
        result = micap_failure(world);
    } else if (world->has_dependents || world->refuses_deaths || !is_any_seen(world, &selected)) {
        micap_destroy_list(world, selected.entities, selected.count);
    } else {
        run_destroy_hooks(world, &selected);
        for (uint32_t i = 0; i < selected.count; ++i)
            micap_destroy_row(world, micap_locate(world, selected.entities[i]));
    }
    drop_selection(world, &selected);
    micap_hooks_end(world);
    return result;
}
