#include "core/query/query_sort.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/pattern.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"

typedef struct micap_sorting {
    mica_compare_fn compare;
    void *context;
    mica_component component;
    const mica_pool *pool; /* where the component is kept, or NULL */
} sorting;

static const void *key_of(const sorting *how, const micap_order *order)
{
    if (how->pool) /* the owner has it, or it would not be listed */
        return micap_pool_value(how->pool, micap_pool_row(how->pool, micap_chunk_entities(order->chunk)[order->row]));
    uint32_t column = micap_archetype_column(order->chunk->archetype, how->component);
    return micap_chunk_value(order->chunk, column, order->row);
}

static bool comes_after(const sorting *how, const micap_order *a, const micap_order *b)
{
    return how->compare(key_of(how, a), key_of(how, b), how->context) > 0;
}

static void insertion_sort(const sorting *how, micap_order *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i) {
        micap_order item = items[i];
        uint32_t at = i;
        for (; at > 0 && comes_after(how, &items[at - 1], &item); --at)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Bottom-up over blocks that insertion sorted. Runs that are in order already are left alone. */
static void merge_sort(const sorting *how, micap_order *items, micap_order *scratch, uint32_t count)
{
    enum { BLOCK = 16 };
    for (uint32_t begin = 0; begin < count; begin += BLOCK)
        insertion_sort(how, items + begin, count - begin < BLOCK ? count - begin : BLOCK);
    for (uint64_t width = BLOCK; width < count; width *= 2) {
        for (uint64_t begin = 0; begin + width < count; begin += 2 * width) {
            uint64_t middle = begin + width, end = middle + width < count ? middle + width : count;
            if (!comes_after(how, &items[middle - 1], &items[middle]))
                continue;
            memcpy(scratch, items + begin, (middle - begin) * sizeof *items);
            uint64_t left = 0, left_count = middle - begin, right = middle, at = begin;
            while (left < left_count && right < end)
                items[at++] = comes_after(how, &scratch[left], &items[right]) ? items[right++] : scratch[left++];
            memcpy(items + at, scratch + left, (left_count - left) * sizeof *items);
        }
    }
}

static bool reserve_order(mica_query *query, uint64_t count)
{
    micap_memory *memory = &query->world->memory;
    return MICAP_RESERVE(memory, query->order, &query->order_capacity, count) &&
           MICAP_RESERVE(memory, query->order_scratch, &query->order_scratch_capacity, count);
}

/* Of a component in a pool only those rows whose entity has it. */
static uint32_t list_rows(micap_archetype *archetype, uint32_t match, const mica_pool *pool, micap_order *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row)
            if (!pool || micap_pool_row(pool, micap_chunk_entities(archetype->chunks[i])[row]) != MICAP_ROW_NONE)
                out[count++] = (micap_order){archetype->chunks[i], row, match};
    return count;
}

static bool pool_changed(const mica_pool *pool, mica_version since)
{
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        if (micap_pool_slice_changed(pool, row, since))
            return true;
    return false;
}

static bool column_changed(const micap_archetype *archetype, mica_component component, mica_version since)
{
    uint32_t column = micap_archetype_column(archetype, component);
    for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
        const micap_chunk *chunk = archetype->chunks[i];
        for (uint32_t row = 0; row < chunk->count; row += MICA_SLICE_ROWS)
            if (micap_stamp_version(micap_chunk_stamps(chunk, row)[1 + column]) > since)
                return true;
    }
    return false;
}

static bool is_current(const mica_query *query)
{
    if (!query->order_valid || query->order_structure != query->world->structure)
        return false;
    if (micap_is_pooled(query->order_by))
        return !pool_changed(micap_pool_of(query->world, query->order_by), query->order_version);
    for (uint32_t match = 0; match < query->match_count; ++match)
        if (column_changed(query->archetypes[match], query->order_by, query->order_version))
            return false;
    return true;
}

bool micap_query_sort(mica_query *query)
{
    if (is_current(query))
        return true;
    uint64_t count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match)
        count += query->archetypes[match]->row_count;
    query->order_valid = false;
    if (!reserve_order(query, count))
        return false;
    query->order_count = 0;
    const mica_pool *pool = micap_is_pooled(query->order_by) ? micap_pool_of(query->world, query->order_by) : NULL;
    for (uint32_t match = 0; match < query->match_count; ++match)
        if (query->archetypes[match]->row_count) /* without rows there is no array to list them in */
            query->order_count += list_rows(query->archetypes[match], match, pool, query->order + query->order_count);
    sorting how = {query->compare, query->context, query->order_by, pool};
    merge_sort(&how, query->order, query->order_scratch, query->order_count);
    query->order_structure = query->world->structure;
    const micap_thread_context *here = micap_thread_context_of(query->world); /* what is written from now on is newer */
    query->order_version = here ? here->version - 1 : mica_world_mark(query->world);
    query->order_valid = true;
    return true;
}

static void move_row(mica_world *world, micap_row from, micap_row to, mica_entity entity)
{
    micap_row_move(from, to);
    micap_touch_row(world, to.chunk, to.row);
    micap_row_own(to, entity, micap_record_at(&world->entities, entity.index));
}

static uint64_t place_of(const micap_order *order)
{
    return (uint64_t)order->match << 32 | order->row; /* here match is the chunk's place in the archetype */
}

/* Puts row order[i] into place i, cycle by cycle; one row beyond the last is the spare hand. */
static void permute_rows(mica_world *world, micap_archetype *archetype, micap_order *order, const micap_order *places,
                         uint32_t count)
{
    micap_row spare = micap_rows_next(archetype);
    for (uint32_t start = 0; start < count; ++start) {
        if (place_of(&order[start]) == place_of(&places[start]))
            continue;
        mica_entity held = micap_chunk_entities(places[start].chunk)[places[start].row];
        micap_row_move((micap_row){places[start].chunk, places[start].row}, spare);
        uint32_t at = start;
        for (;;) {
            micap_order from = order[at];
            order[at] = places[at];
            micap_row to = {places[at].chunk, places[at].row};
            if (place_of(&from) == place_of(&places[start])) {
                move_row(world, spare, to, held);
                break;
            }
            move_row(world, (micap_row){from.chunk, from.row}, to, micap_chunk_entities(from.chunk)[from.row]);
            uint32_t before = 0;
            for (uint32_t chunk = 0; chunk < from.match; ++chunk)
                before += archetype->chunks[chunk]->count;
            at = before + from.row;
        }
    }
}

/* Everything sorting an archetype needs, so that it can't fail. */
static bool reserve_sorting(mica_query *query, micap_archetype *archetype)
{
    query->order_valid = false; /* its memory is used for this */
    return archetype->row_count < 2 ||
           (reserve_order(query, 2 * archetype->row_count) && micap_rows_reserve(query->world, archetype, 1));
}

static void sort_archetype(mica_query *query, micap_archetype *archetype, const sorting *how)
{
    uint32_t count = (uint32_t)archetype->row_count, at = 0;
    if (count < 2)
        return;
    micap_order *order = query->order, *places = query->order + count;
    for (uint32_t i = 0; i <= archetype->tail; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row)
            order[at++] = (micap_order){archetype->chunks[i], row, i};
    memcpy(places, order, count * sizeof *order);
    merge_sort(how, order, query->order_scratch, count);
    for (uint32_t i = 0; i <= archetype->tail; ++i)
        micap_preserve_rows(query->world, archetype->chunks[i], 0, archetype->chunks[i]->count);
    permute_rows(query->world, archetype, order, places, count);
}

static bool is_in_every_match(const mica_query *query, mica_component component)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].component == component && query->terms[i].access <= MICA_ACCESS_WRITE)
            return micap_type_of(component)->type.storage == MICA_STORAGE_CHUNK && !micap_type_of(component)->leaves;
    return false;
}

mica_result mica_query_sort_rows(mica_query *query, mica_component component, mica_compare_fn compare, void *context)
{
    MICAP_IMMEDIATE_CHANGE(query ? query->world : NULL);
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    mica_result result = micap_refuse_while_recording(world, "sort_rows");
    if (result != MICA_OK)
        return result;
    if (query->pattern) /* the rows of what matches the terms about this entity */
        query = query->pattern->nodes[0].query;
    const micap_type *type = micap_type_of(component);
    if (!type)
        return micap_fail(world, MICA_ERROR_UNKNOWN, micap_place_of_call(query->location),
                          "%s: sort_rows: there is no component with id %u", query->name, component);
    if (!compare || !is_in_every_match(query, component))
        return micap_fail(world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                          "%s: sort_rows needs a compare function and a component with data that the query reads or "
                          "writes, not %s%s",
                          query->name, type->type.name,
                          micap_is_pooled(component) ? ", whose rows lie in a pool: use mica_pool_sort" : "");
    sorting how = {compare, context, component, NULL};
    for (uint32_t match = 0; match < query->match_count; ++match)
        if (!reserve_sorting(query, query->archetypes[match]))
            return micap_fail_memory(world, "sort_rows");
    ++world->structure;
    for (uint32_t match = 0; match < query->match_count; ++match)
        sort_archetype(query, query->archetypes[match], &how);
    return MICA_OK;
}
