#include "pool/pool_edges.h"

#include "base/assert.h"
#include "pool/pool_edge_rows.h"
#include "pool/pool_edge_table.h"
#include "pool/pool_undo.h"

#include <stdlib.h>

bool micap_edges_create(mica_pool *pool)
{
    const mica_type *type = &pool->type->type;
    micap_pool_edges *edges = micap_allocate_zeroed(pool->memory, sizeof *edges, MICAP_ARRAY_ALIGNMENT);
    if (!edges)
        return false;
    edges->targets = (micap_index){.arena = pool->index.arena,
                                   .undo = pool->undo,
                                   .keep_kind = MICAP_UNDO_TARGETS,
                                   .keep_place = pool->index.keep_place};
    edges->target_offset = type->fields[0].offset; /* see relation_problem in type/describe.c */
    edges->rank_offset = type->fields[1].offset;
    edges->is_acyclic = type->acyclic;
    pool->edges = edges;
    return true;
}

void micap_edges_free(mica_pool *pool)
{
    micap_pool_edges *edges = pool->edges;
    if (!edges)
        return;
    MICAP_RELEASE_ARRAY(pool->memory, edges->slots, edges->slot_count);
    micap_index_free(&edges->targets);
    micap_release(pool->memory, edges, sizeof *edges, MICAP_ARRAY_ALIGNMENT);
}

mica_entity micap_edges_next_target(const mica_pool *pool, uint32_t from)
{
    mica_entity target = micap_map_next(&pool->edges->targets, from);
    if (!pool->type->type.symmetric)
        return target;
    mica_entity source = micap_map_next(&pool->index, from);
    return mica_is_nil(target) || (!mica_is_nil(source) && source.index < target.index) ? source : target;
}

/* The lists of targets. */

bool micap_edges_reserve_target(mica_pool *pool, uint32_t target_index)
{
    return micap_map_reserve(&pool->edges->targets, target_index);
}

static void set_rank(const mica_pool *pool, uint32_t row, uint32_t rank)
{
    memcpy(pool->values + (size_t)row * pool->value_bytes + pool->edges->rank_offset, &rank, sizeof rank);
}

static bool is_first(const mica_pool *pool, uint32_t row)
{
    return pool->links[pool->links[row].previous].next == MICAP_ROW_NONE;
}

static void set_first(mica_pool *pool, uint32_t row)
{
    micap_map_set(&pool->edges->targets, micap_edge_target(pool, row), row);
}

/* Appends a row, which is not linked, to the list of its target. */
static void link_last(mica_pool *pool, uint32_t row, mica_entity target)
{
    micap_edge_links *links = pool->links;
    uint32_t first = micap_edges_first(pool, target);
    links[row].next = MICAP_ROW_NONE;
    if (first == MICAP_ROW_NONE) {
        links[row].previous = row;
        links[row].target_count = 1;
        set_first(pool, row);
        return;
    }
    uint32_t last = links[first].previous;
    micap_pool_preserve(pool, first, 1);
    micap_pool_preserve(pool, last, 1);
    links[row].previous = last;
    links[last].next = row;
    links[first].previous = row;
    ++links[first].target_count;
}

MICAP_COLD void micap_edges_renumber(mica_pool *pool, uint32_t first, mica_version version)
{
    uint32_t rank = 0;
    for (uint32_t row = first; row != MICAP_ROW_NONE; row = pool->links[row].next) {
        micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, 1, version);
        set_rank(pool, row, ++rank);
    }
}

bool micap_edges_can_link(const mica_pool *pool, mica_entity target)
{
    const micap_pool_edges *edges = pool->edges;
    return micap_map_at(&edges->targets, target.index) && edges->is_alive(pool->world, target);
}

void micap_edges_unlink(mica_pool *pool, uint32_t row)
{
    micap_edge_links *links = pool->links, gone = links[row];
    mica_entity target = micap_edge_target(pool, row);
    micap_pool_preserve(pool, row, 1);
    links[row].next = links[row].previous = MICAP_ROW_NONE;
    links[row].target_count = 0;
    if (gone.previous == row) {
        micap_map_erase(&pool->edges->targets, target.index);
        return;
    }
    uint32_t first = micap_map_row_at(&pool->edges->targets, target.index);
    if (row == first) {
        micap_pool_preserve(pool, gone.next, 1);
        links[gone.next].previous = gone.previous;
        links[gone.next].target_count = gone.target_count - 1;
        set_first(pool, gone.next);
        return;
    }
    uint32_t after = gone.next == MICAP_ROW_NONE ? first : gone.next;
    micap_pool_preserve(pool, gone.previous, 1);
    micap_pool_preserve(pool, after, 1);
    micap_pool_preserve(pool, first, 1);
    links[gone.previous].next = gone.next;
    links[after].previous = gone.previous;
    --links[first].target_count;
}

static uint32_t after_swap(uint32_t row, uint32_t a, uint32_t b)
{
    return row == a ? b : row == b ? a : row;
}

micap_edge_swap micap_edges_swapping(const mica_pool *pool, uint32_t a, uint32_t b)
{
    micap_edge_swap swap = {.rows = {a, b}};
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t row = swap.rows[i];
        micap_edges_preserve(pool, row);
        swap.slots[i] = pool->edges->has_table ? micap_edge_table_slot(pool, row) : 0;
        swap.is_first[i] = micap_edge_is_linked(pool, row) && is_first(pool, row);
    }
    return swap;
}

void micap_edges_swapped(mica_pool *pool, const micap_edge_swap *swap)
{
    micap_edge_links *links = pool->links;
    micap_pool_edges *edges = pool->edges;
    for (uint32_t i = 0; i < 2; ++i) { /* what was in this row is in the other one */
        uint32_t now = swap->rows[1 - i];
        if (edges->has_table && edges->slots[swap->slots[i]])
            edges->slots[swap->slots[i]] = now + 1;
        if (!micap_edge_is_linked(pool, now))
            continue;
        links[now].previous = after_swap(links[now].previous, swap->rows[0], swap->rows[1]);
        if (links[now].next != MICAP_ROW_NONE)
            links[now].next = after_swap(links[now].next, swap->rows[0], swap->rows[1]);
        if (swap->is_first[i])
            set_first(pool, now);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t now = swap->rows[1 - i];
        if (!micap_edge_is_linked(pool, now))
            continue;
        if (!swap->is_first[i])
            links[links[now].previous].next = now;
        uint32_t after = links[now].next;
        links[after == MICAP_ROW_NONE ? micap_edges_first(pool, micap_edge_target(pool, now)) : after].previous = now;
    }
}

void micap_edges_reordered(mica_pool *pool, uint32_t old_first, uint32_t first)
{
    pool->links[first].source_count = pool->links[old_first].source_count; /* both are preserved */
}

/* Gives a row, and those after it, ranks that rise. A rank that is between those of its neighbours stays. */
static void raise_ranks(mica_pool *pool, uint32_t row, mica_version version)
{
    uint32_t first = micap_edges_first(pool, micap_edge_target(pool, row)), next = pool->links[row].next;
    uint64_t rank = row == first ? 0 : micap_edge_rank(pool, pool->links[row].previous);
    bool moves = next != MICAP_ROW_NONE && micap_edge_rank(pool, row) >= micap_edge_rank(pool, next);
    for (; row != MICAP_ROW_NONE && (moves || micap_edge_rank(pool, row) <= rank); row = pool->links[row].next) {
        if (++rank > UINT32_MAX) {
            micap_edges_renumber(pool, first, version);
            return;
        }
        micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, 1, version);
        set_rank(pool, row, (uint32_t)rank);
        moves = false;
    }
}

static void move_before(mica_pool *pool, uint32_t row, uint32_t before)
{
    micap_edge_links *links = pool->links;
    micap_edges_unlink(pool, row);
    if (before == MICAP_ROW_NONE) {
        link_last(pool, row, micap_edge_target(pool, row));
    } else {
        uint32_t first = micap_edges_first(pool, micap_edge_target(pool, row)), previous = links[before].previous;
        micap_pool_preserve(pool, before, 1);
        micap_pool_preserve(pool, previous, 1);
        micap_pool_preserve(pool, first, 1);
        links[row].next = before;
        links[row].previous = previous;
        links[before].previous = row;
        if (before == first) {
            links[row].target_count = links[first].target_count + 1;
            set_first(pool, row);
        } else {
            links[previous].next = row;
            ++links[first].target_count;
        }
    }
}

void micap_edges_place(mica_pool *pool, uint32_t row, uint32_t before, mica_version version)
{
    if (row == before)
        return;
    move_before(pool, row, before);
    raise_ranks(pool, row, version);
}

/* Edges without a rank come after all others. */
static uint64_t place_of(const mica_pool *pool, uint32_t row)
{
    uint32_t rank = micap_edge_rank(pool, row);
    return rank ? rank : (uint64_t)1 << 32;
}

/* What edges are sorted by. */
typedef struct micap_edge_key {
    uint64_t place;
    uint32_t target;
    uint32_t row;
} edge_key;

static int compare_keys(const void *left, const void *right)
{
    const edge_key *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void clear_links(mica_pool *pool)
{
    const micap_index *targets = &pool->edges->targets;
    for (uint32_t page = 0; page < targets->page_count; ++page)
        for (uint32_t i = 0; targets->pages[page] != micap_map_no_entries && i < MICAP_MAP_PAGE_ENTRIES; ++i)
            if (targets->pages[page][i])
                micap_map_erase(&pool->edges->targets, page << MICAP_MAP_PAGE_SHIFT | i);
    micap_pool_preserve(pool, 0, pool->row_limit);
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        pool->links[row].next = pool->links[row].previous = MICAP_ROW_NONE;
        pool->links[row].target_count = 0;
    }
}

/* Without memory for a list: slow, but it can't fail. */
static MICAP_COLD void link_one_by_one(mica_pool *pool)
{
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        mica_entity target = micap_edge_target(pool, row);
        if (!micap_edges_can_link(pool, target))
            continue;
        link_last(pool, row, target);
        uint32_t first = micap_edges_first(pool, target), at = row;
        while (at != first && place_of(pool, pool->links[at].previous) > place_of(pool, row))
            at = pool->links[at].previous;
        if (at != row)
            move_before(pool, row, at);
    }
}

/* Sorts edges before they are linked. False if memory is short for a list. */
static bool link_sorted(mica_pool *pool)
{
    uint32_t count = 0;
    size_t bytes = (size_t)pool->row_limit * sizeof(edge_key);
    edge_key *keys = micap_allocate(pool->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!keys)
        return false;
    for (uint32_t row = 0; row < pool->row_limit; ++row)
        if (micap_edges_can_link(pool, micap_edge_target(pool, row)))
            keys[count++] = (edge_key){place_of(pool, row), micap_edge_target(pool, row).index, row};
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; ++i)
        link_last(pool, keys[i].row, micap_edge_target(pool, keys[i].row));
    micap_release(pool->memory, keys, bytes, MICAP_ARRAY_ALIGNMENT);
    return true;
}

/* Edges from several worlds can have the same rank. */
static void settle_ranks(mica_pool *pool, mica_version version)
{
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        if (!micap_edge_is_linked(pool, row))
            continue;
        if (micap_edge_rank(pool, row) <= (is_first(pool, row) ? 0 : micap_edge_rank(pool, pool->links[row].previous)))
            raise_ranks(pool, row, version);
    }
}

void micap_edges_relink(mica_pool *pool, mica_version version)
{
    pool->edges->waits = false;
    if (!pool->row_limit)
        return;
    clear_links(pool);
    micap_edge_table_renew(pool);
    if (!link_sorted(pool))
        link_one_by_one(pool);
    settle_ranks(pool, version);
}

bool micap_edges_reserve_clone(mica_pool *to, const mica_pool *from)
{
    for (uint32_t row = 0; row < from->row_limit; ++row)
        if (micap_edge_is_linked(from, row) && !micap_edges_reserve_target(to, micap_edge_target(from, row).index))
            return false;
    to->edges->has_table = from->edges->has_table;
    return micap_edge_table_reserve(to, from->row_limit);
}

void micap_edges_finish_clone(mica_pool *to)
{
    micap_edge_table_fill(to);
    for (uint32_t row = 0; row < to->row_limit; ++row)
        if (micap_edge_is_linked(to, row) && is_first(to, row))
            set_first(to, row);
}

void micap_edges_trim(mica_pool *pool)
{
    micap_map_trim(&pool->edges->targets);
    micap_edge_table_trim(pool);
}

size_t micap_edges_bytes(const mica_pool *pool)
{
    return micap_index_bytes(&pool->edges->targets) + pool->edges->slot_count * sizeof *pool->edges->slots;
}

static const char *check_list(const mica_pool *pool, uint32_t first, uint32_t *met)
{
    const micap_edge_links *links = pool->links;
    mica_entity target = micap_edge_target(pool, first);
    uint32_t last = first, count = 1;
    for (uint32_t row = links[first].next; row != MICAP_ROW_NONE; row = links[row].next) {
        if (row >= pool->row_limit || !mica_same(micap_edge_target(pool, row), target))
            return "the edges of a target are linked";
        if (links[row].previous != last)
            return "an edge knows the one before";
        if (micap_edge_rank(pool, row) <= micap_edge_rank(pool, last))
            return "the ranks of the edges of a target rise"; /* so that a list is no ring either */
        last = row;
        ++count;
    }
    *met += count;
    if (links[first].previous != last)
        return "the first edge of a target knows the last";
    return links[first].target_count == count ? NULL : "the first edge of a target knows how many there are";
}

static const char *check_edge(const mica_pool *pool, uint32_t row)
{
    const micap_pool_edges *edges = pool->edges;
    mica_entity target = micap_edge_target(pool, row);
    bool is_alive = edges->is_alive(pool->world, target);
    if (is_alive != micap_edge_is_linked(pool, row))
        return "an edge is linked while its target is alive";
    if (edges->has_table && !edges->slots[micap_edge_table_slot(pool, row)])
        return "the table has every edge";
    if (micap_pool_is_first(pool, row)) {
        uint32_t count = 0;
        for (uint32_t at = row; at != MICAP_ROW_NONE; at = pool->next[at])
            ++count;
        if (pool->links[row].source_count != count)
            return "the first edge of a source knows how many there are";
    }
    return NULL;
}

const char *micap_edges_check(const mica_pool *pool)
{
    const micap_index *targets = &pool->edges->targets;
    uint32_t linked = 0, met = 0;
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        const char *problem = check_edge(pool, row);
        if (problem)
            return problem;
        linked += micap_edge_is_linked(pool, row);
    }
    for (uint32_t page = 0; page < targets->page_count; ++page)
        for (uint32_t i = 0; i < MICAP_MAP_PAGE_ENTRIES; ++i) {
            uint32_t first = micap_map_row_at(targets, page << MICAP_MAP_PAGE_SHIFT | i);
            const char *problem = NULL;
            if (first != MICAP_ROW_NONE)
                problem = first < pool->row_limit && micap_edges_first(pool, micap_edge_target(pool, first)) == first
                              ? check_list(pool, first, &met)
                              : "the index finds the first edge of a target";
            if (problem)
                return problem;
        }
    if (met != linked)
        return "every linked edge is in the list of its target";
    return pool->edges->used == (pool->edges->has_table ? pool->count : 0) ? NULL : "the table has no other edges";
}
