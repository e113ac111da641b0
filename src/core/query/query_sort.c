#include "core/query/query_sort.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/pattern.h"
#include "core/entity/pool_component.h"
#include "core/events/hooks.h"
#include "core/world/callback.h"
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

/* Whether one row lies after another: by archetype, chunk and row. */
static bool lies_after(const micap_order *a, const micap_order *b)
{
    if (a->match != b->match)
        return a->match > b->match;
    return a->chunk_index != b->chunk_index ? a->chunk_index > b->chunk_index : a->row > b->row;
}

/* No two rows are equal: those with equal values keep the order in which they lie, whatever order they are given in. */
static bool comes_after(const sorting *how, const micap_order *a, const micap_order *b)
{
    int result = how->compare(a->value, b->value, how->context);
    return result ? result > 0 : lies_after(a, b);
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

/* How many of these rows, which are in order, come before another one. */
static uint64_t count_before(const sorting *how, const micap_order *items, uint64_t count, const micap_order *item)
{
    uint64_t low = 0;
    for (uint64_t end = count; low < end;) {
        uint64_t middle = low + (end - low) / 2;
        if (comes_after(how, &items[middle], item))
            end = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Merges items[0, middle) and items[middle, end), which are in order. Rows at the begin and at the end that are in their places stay there.
 * After some rows of one side in turn, the end of these rows is searched. */
static void merge(const sorting *how, micap_order *items, micap_order *scratch, uint64_t middle, uint64_t end)
{
    enum { IN_TURN = 8 };
    uint64_t at = count_before(how, items, middle, &items[middle]);
    end = middle + count_before(how, items + middle, end - middle, &items[middle - 1]);
    uint64_t left = 0, left_count = middle - at, right = middle, left_run = 0, right_run = 0;
    memcpy(scratch, items + at, left_count * sizeof *items);
    while (left < left_count && right < end) {
        if (comes_after(how, &scratch[left], &items[right])) {
            items[at++] = items[right++];
            left_run = 0;
            if (++right_run % IN_TURN)
                continue;
            uint64_t run = count_before(how, items + right, end - right, &scratch[left]);
            memmove(items + at, items + right, run * sizeof *items);
            at += run;
            right += run;
        } else {
            items[at++] = scratch[left++];
            right_run = 0;
            if (++left_run % IN_TURN)
                continue;
            uint64_t run = count_before(how, scratch + left, left_count - left, &items[right]);
            memcpy(items + at, scratch + left, run * sizeof *items);
            at += run;
            left += run;
        }
    }
    memcpy(items + at, scratch + left, (left_count - left) * sizeof *items);
}

/* Bottom-up over blocks that insertion sorted. Rows that are nearly in order take little more than one comparison each. */
static void merge_sort(const sorting *how, micap_order *items, micap_order *scratch, uint32_t count)
{
    enum { BLOCK = 16 };
    for (uint32_t begin = 0; begin < count; begin += BLOCK)
        insertion_sort(how, items + begin, count - begin < BLOCK ? count - begin : BLOCK);
    for (uint64_t width = BLOCK; width < count; width *= 2)
        for (uint64_t begin = 0; begin + width < count; begin += 2 * width) {
            uint64_t size = count - begin < 2 * width ? count - begin : 2 * width;
            if (comes_after(how, &items[begin + width - 1], &items[begin + width]))
                merge(how, items + begin, scratch, width, size);
        }
}

static bool reserve_order(mica_query *query, uint64_t count)
{
    micap_memory *memory = &query->world->memory;
    return MICAP_RESERVE(memory, query->order, &query->order_capacity, count) &&
           MICAP_RESERVE(memory, query->order_scratch, &query->order_scratch_capacity, count);
}

/* Lists the rows of a chunk. Of a component in a pool, those whose entity lacks it have no chunk in the list. */
static void list_chunk(const sorting *how, micap_chunk *chunk, uint32_t match, uint32_t chunk_index, micap_order *out)
{
    uint32_t column = how->pool ? 0 : micap_archetype_column(chunk->archetype, how->component);
    for (uint32_t row = 0; row < chunk->count; ++row) {
        out[row] = (micap_order){chunk, NULL, row, match, chunk_index};
        if (!how->pool) {
            out[row].value = micap_chunk_value(chunk, column, row);
            continue;
        }
        uint32_t pool_row = micap_pool_row(how->pool, micap_chunk_entities(chunk)[row]);
        if (pool_row != MICAP_ROW_NONE)
            out[row].value = micap_pool_value(how->pool, pool_row);
        else
            out[row].chunk = NULL;
    }
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

/* Counts the rows of all matches, and makes room for them. */
static bool reserve_rows(mica_query *query, uint64_t *out_count)
{
    uint64_t places = query->match_count, count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        places += query->archetypes[match]->chunk_count;
        count += query->archetypes[match]->row_count;
    }
    *out_count = count;
    return reserve_order(query, count) &&
           MICAP_RESERVE(&query->world->memory, query->order_places, &query->order_place_capacity, places);
}

/* Lists all rows in the order in which they lie in the scratch memory, and the places of chunks in that list. */
static void list_rows(mica_query *query, const sorting *how)
{
    uint32_t *places = query->order_places, place = query->match_count, at = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        places[match] = place;
        for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
            places[place++] = at;
            if (archetype->chunks[i]->count) /* without rows there may be no array to list them in */
                list_chunk(how, archetype->chunks[i], match, i, query->order_scratch + at);
            at += archetype->chunks[i]->count;
        }
    }
}

/* The listed row that is where one of the last order was; NULL if there is none. */
static micap_order *find_listed(const mica_query *query, const micap_order *before)
{
    const micap_archetype *archetype = before->match < query->match_count ? query->archetypes[before->match] : NULL;
    if (!archetype || before->chunk_index >= archetype->chunk_count ||
        before->row >= archetype->chunks[before->chunk_index]->count)
        return NULL;
    return query->order_scratch + query->order_places[query->order_places[before->match] + before->chunk_index] +
           before->row;
}

/* Orders the listed rows as those that were in their places the last time, and new ones after them. Most entities are where they were, so
 * that this is nearly the right order. */
static void arrange_rows(mica_query *query, uint32_t count)
{
    uint32_t known = query->order_count, arranged = 0;
    for (uint32_t i = 0; i < known; ++i) {
        micap_order *row = find_listed(query, &query->order[i]);
        if (!row || !row->chunk)
            continue;
        query->order[arranged++] = *row; /* never beyond place i */
        row->chunk = NULL;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (query->order_scratch[i].chunk)
            query->order[arranged++] = query->order_scratch[i];
    query->order_count = arranged;
}

bool micap_query_sort(mica_query *query)
{
    if (is_current(query))
        return true;
    const mica_pool *pool = micap_is_pooled(query->order_by) ? micap_pool_of(query->world, query->order_by) : NULL;
    sorting how = {query->compare, query->context, query->order_by, pool};
    bool has_same_rows = query->order_valid && query->order_structure == query->world->structure;
    uint64_t count = 0;
    if (!query->order_valid)
        query->order_count = 0;
    query->order_valid = false;
    if (!has_same_rows) {
        if (!reserve_rows(query, &count))
            return false;
        list_rows(query, &how);
        arrange_rows(query, (uint32_t)count);
    }
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
    return (uint64_t)order->chunk_index << 32 | order->row;
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
            for (uint32_t chunk = 0; chunk < from.chunk_index; ++chunk)
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
    for (uint32_t i = 0; i <= archetype->tail; ++i) {
        list_chunk(how, archetype->chunks[i], 0, i, order + at);
        at += archetype->chunks[i]->count;
    }
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
    uint32_t depth = micap_callback_begin(world);
    ++query->hold_count; /* by the compare function it can be destroyed */
    for (uint32_t match = 0; match < query->match_count; ++match)
        sort_archetype(query, query->archetypes[match], &how);
    --query->hold_count;
    micap_callback_end(world, depth);
    micap_hooks_end(world);
    return MICA_OK;
}
