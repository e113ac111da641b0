#include "pool/pool_edge_rows.h"

#include "base/assert.h"
#include "pool/pool_fast_edges.h"

static MICAP_COLD void preserve_with_neighbours(const mica_pool *pool, uint32_t row)
{
    const micap_edge_links *links = &pool->links[row];
    mica_entity source = pool->owners[row], target = micap_edge_target(pool, row);
    uint32_t others[] = {
        row,         pool->next[row], pool->previous[row], micap_map_row_at(&pool->index, source.index),
        links->next, links->previous, MICAP_ROW_NONE};
    micap_map_touch(&pool->index, source.index);
    if (micap_edge_is_linked(pool, row)) {
        others[6] = micap_map_row_at(&pool->edges->targets, target.index);
        micap_map_touch(&pool->edges->targets, target.index);
    }
    for (uint32_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (others[i] != MICAP_ROW_NONE)
            micap_pool_save_slices(pool, others[i], 1);
}

void micap_edges_preserve(const mica_pool *pool, uint32_t row)
{
    if (MICAP_UNLIKELY(pool->undo->before))
        preserve_with_neighbours(pool, row);
}

/* The first edges of a source and of a target, whose last ones get a new neighbour. */
static MICAP_COLD void preserve_ends(const mica_pool *pool, uint32_t row, mica_entity source, bool is_alive)
{
    mica_entity target = micap_edge_target(pool, row);
    uint32_t first = micap_map_find(&pool->index, source);
    micap_pool_save_slices(pool, row, 1);
    micap_map_touch(&pool->index, source.index);
    if (first != MICAP_ROW_NONE) {
        micap_pool_save_slices(pool, first, 1);
        micap_pool_save_slices(pool, pool->previous[first], 1);
    }
    if (!is_alive)
        return;
    micap_map_touch(&pool->edges->targets, target.index);
    first = micap_edges_first(pool, target);
    if (first != MICAP_ROW_NONE) {
        micap_pool_save_slices(pool, first, 1);
        micap_pool_save_slices(pool, pool->links[first].previous, 1);
    }
}

void micap_edges_append(mica_pool *pool, mica_entity source, bool is_alive, mica_version version)
{
    const micap_pool_edges *edges = pool->edges;
    MICAP_ASSERT_HOT(pool->row_limit < pool->capacity, "room was reserved");
    is_alive &= !edges->waits;
    if (MICAP_UNLIKELY(pool->undo->before))
        preserve_ends(pool, pool->row_limit, source, is_alive); /* before the row counts as used */
    uint32_t row = micap_edges_own_row(pool, source, version);
    uint32_t count = micap_edges_join_source(pool, row, source, micap_map_entry_at(&pool->index, source.index));
    if (MICAP_LIKELY(is_alive)) {
        mica_entity target = micap_edge_target(pool, row);
        micap_edges_join_target(pool, row, target, micap_map_entry_at(&edges->targets, target.index),
                                micap_edge_rank(pool, row), version);
    }
    if (MICAP_UNLIKELY(edges->waits))
        return;
    if (MICAP_UNLIKELY(edges->has_table))
        micap_edge_table_enter(pool, row);
    else if (MICAP_UNLIKELY(count > MICAP_EDGES_WALKED))
        micap_edge_table_make(pool);
}

void micap_edges_append_any(mica_pool *pool, mica_entity source, mica_version version)
{
    micap_edges_append(pool, source, micap_edges_can_link(pool, micap_edge_target(pool, pool->row_limit)), version);
}

void micap_edges_drop(mica_pool *pool, uint32_t row, mica_version version)
{
    if (MICAP_UNLIKELY(pool->undo->before)) {
        preserve_with_neighbours(pool, row);
        preserve_with_neighbours(pool, pool->row_limit - 1);
    }
    micap_edges_remove(pool, row, pool->owners[row], micap_edge_target(pool, row), version, pool->type->trivial);
}
