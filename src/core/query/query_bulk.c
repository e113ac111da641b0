/* Changing all entities that a query shows. Everything that can fail is done before the first row moves. */
#include "base/argument.h"
#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/query/query_sort.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/split_row.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "mica/bulk.h"

typedef struct micap_selection {
    mica_entity *entities; /* copied: the change alters what the query walks */
    uint32_t count;
    uint32_t capacity;
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

static bool select_all(mica_query *query, selection *selected)
{
    mica_world *world = query->world;
    *selected = (selection){0};
    if (query->instances_of)
        return select_owners(query, selected);
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

static void drop_selection(mica_world *world, selection *selected)
{
    MICAP_RELEASE_ARRAY(&world->memory, selected->entities, selected->capacity);
}

/* Drops those that have the component (adding) or lack it (removing). */
static void keep_if(mica_world *world, selection *selected, mica_component component, bool has)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < selected->count; ++i)
        if (mica_has_id(world, selected->entities[i], component) == has)
            selected->entities[kept++] = selected->entities[i];
    selected->count = kept;
}

static micap_archetype *target_of(mica_world *world, micap_archetype *from, mica_component component)
{
    const micap_edge *edge = micap_archetype_step(world, from, component);
    return edge ? edge->end : NULL;
}

/* Finds every target archetype and makes room in it. */
static bool reserve_targets(mica_world *world, const selection *selected, mica_component component)
{
    bool found = true;
    for (uint32_t i = 0; found && i < selected->count; ++i) {
        micap_archetype *from = micap_locate(world, selected->entities[i]).chunk->archetype;
        micap_archetype *to = target_of(world, from, component);
        if (to)
            ++to->incoming;
        else
            found = false;
    }
    for (uint32_t i = 0; i < world->archetypes.count; ++i) {
        micap_archetype *to = world->archetypes.by_id[i];
        if (found && to->incoming && !micap_rows_reserve(world, to, to->incoming)) {
            micap_fail_memory(world, "bulk change");
            found = false;
        }
        if (!found)
            to->incoming = 0;
    }
    for (uint32_t i = 0; !found && i < world->archetypes.count; ++i)
        world->archetypes.by_id[i]->incoming = 0;
    return found;
}

/* The values to be moved in: for a component that owns something, one made for each entity. */
typedef struct micap_values {
    char *data;
    size_t bytes;
    uint32_t made;
} staged_values;

static bool make_values(mica_world *world, const micap_type *type, const void *from, uint32_t count,
                        staged_values *staged)
{
    *staged = (staged_values){.bytes = (size_t)type->type.size_bytes * count};
    if (!staged->bytes)
        return true;
    staged->data = micap_allocate(&world->memory, staged->bytes, type->type.alignment);
    for (; staged->data && staged->made < count; ++staged->made) {
        void *value = staged->data + (size_t)type->type.size_bytes * staged->made;
        if (!(from ? micap_values_copy(type, value, from, 1) : micap_values_construct(type, value, 1)))
            break;
    }
    if (staged->data && staged->made == count)
        return true;
    micap_fail_memory(world, type->type.name);
    if (staged->data)
        micap_values_destruct(type, staged->data, staged->made);
    micap_release(&world->memory, staged->data, staged->bytes, type->type.alignment);
    return false;
}

static bool reserve_in_pool(mica_world *world, mica_pool *pool, const selection *selected)
{
    for (uint32_t i = 0; i < selected->count; ++i)
        if (!micap_pools_make_room(world, pool, selected->entities[i], selected->count)) {
            micap_fail_memory(world, "bulk change");
            return false;
        }
    return true;
}

static void add_to_pool(mica_world *world, mica_pool *pool, const selection *selected, staged_values *staged)
{
    for (uint32_t i = 0; i < selected->count; ++i)
        micap_pools_evict(world, pool, selected->entities[i]);
    for (uint32_t i = 0; i < selected->count; ++i) {
        if (staged->data)
            micap_pool_move_value_in(pool, micap_pool_next_row(pool, selected->entities[i]),
                                     staged->data + (size_t)pool->value_bytes * i);
        micap_pools_commit(world, pool, selected->entities[i]);
    }
    micap_release(&world->memory, staged->data, staged->bytes, pool->type->type.alignment);
}

static void add_to_all(mica_world *world, const selection *selected, const micap_type *type, staged_values *staged)
{
    for (uint32_t i = 0; i < selected->count; ++i) {
        micap_row from = micap_locate(world, selected->entities[i]);
        micap_archetype *to = target_of(world, from.chunk->archetype, type->id);
        micap_row spot = micap_row_change_archetype(world, from, to);
        --to->incoming;
        if (type->leaves) {
            micap_row_scatter(spot, type, staged->data + (size_t)type->type.size_bytes * i);
        } else if (type->type.size_bytes) {
            uint32_t column = micap_archetype_column(to, type->id);
            micap_values_move(type, micap_chunk_value(spot.chunk, column, spot.row),
                              staged->data + (size_t)type->type.size_bytes * i, 1);
        }
    }
    micap_release(&world->memory, staged->data, staged->bytes, type->type.alignment);
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

mica_result mica_add_all_id(mica_query *query, mica_value value)
{
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    mica_result result = micap_refuse_while_recording(world, "query_add");
    if (result != MICA_OK)
        return result;
    const micap_type *type = micap_type_for_entities(world, value.component);
    if (!type || !micap_value_fits(world, type, &value, (mica_location){0}))
        return micap_failure(world);
    mica_pool *pool = micap_is_pooled(type->id) ? micap_pool_of(world, type->id) : NULL;
    selection selected;
    staged_values staged;
    bool done = false;
    if (!select_all(query, &selected)) {
        micap_fail_memory(world, "query_add");
    } else {
        keep_if(world, &selected, value.component, false);
        done = make_values(world, type, value.data, selected.count, &staged);
        if (done &&
            !(pool ? reserve_in_pool(world, pool, &selected) : reserve_targets(world, &selected, value.component))) {
            micap_values_destruct(type, staged.data, staged.made);
            micap_release(&world->memory, staged.data, staged.bytes, type->type.alignment);
            done = false;
        }
    }
    if (done) {
        world->structure += selected.count != 0;
        if (pool)
            add_to_pool(world, pool, &selected, &staged);
        else
            add_to_all(world, &selected, type, &staged);
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
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    mica_result result = micap_refuse_while_recording(world, "query_remove");
    if (result != MICA_OK)
        return result;
    if (!micap_type_for_entities(world, component))
        return micap_failure(world);
    selection selected;
    bool done = select_all(query, &selected);
    if (!done)
        micap_fail_memory(world, "query_remove");
    keep_if(world, &selected, component, true);
    mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
    for (uint32_t i = 0; pool && done && i < selected.count; ++i)
        micap_pools_remove(world, pool, selected.entities[i]);
    if (pool) {
        drop_selection(world, &selected);
        micap_hooks_end(world);
        return done ? MICA_OK : micap_failure(world);
    }
    done = done && reserve_targets(world, &selected, component);
    if (done)
        micap_hooks_run_many(world, MICA_EVENT_REMOVE, component, selected.entities, selected.count);
    for (uint32_t i = 0; done && i < selected.count; ++i) {
        micap_row from = micap_locate(world, selected.entities[i]);
        micap_archetype *to = target_of(world, from.chunk->archetype, component);
        micap_row_change_archetype(world, from, to);
        --to->incoming;
        ++world->structure;
    }
    drop_selection(world, &selected);
    micap_hooks_end(world);
    return done ? MICA_OK : micap_failure(world);
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
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    mica_result result = micap_refuse_while_recording(world, "query_destroy_entities");
    if (result != MICA_OK)
        return result;
    selection selected;
    if (!select_all(query, &selected)) {
        result = micap_fail_memory(world, "query_destroy_entities");
    } else if (world->has_dependents) {
        mica_destroy_many(world, selected.entities, selected.count);
    } else {
        run_destroy_hooks(world, &selected);
        for (uint32_t i = 0; i < selected.count; ++i)
            micap_destroy_row(world, micap_locate(world, selected.entities[i]));
    }
    drop_selection(world, &selected);
    micap_hooks_end(world);
    return result;
}
