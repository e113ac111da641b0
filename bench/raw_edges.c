#include "raw_edges.h"

#include <stdlib.h>

raw_edges raw_edges_make(void)
{
    return (raw_edges){.world = raw_world_make()};
}

void raw_edges_free(raw_edges *table)
{
    raw_world_free(&table->world);
    free(table->edges);
    free(table->ends);
    *table = raw_edges_make();
}

static bool make_room(raw_edges *table)
{
    uint32_t slots = table->world.slot_capacity;
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity ? table->capacity * 2 : 64;
        raw_edge *edges = realloc(table->edges, capacity * sizeof *edges);
        if (edges == NULL)
            return false;
        table->edges = edges;
        table->capacity = capacity;
    }
    if (table->end_capacity == slots)
        return true;
    raw_edge_ends *ends = realloc(table->ends, slots * sizeof *ends);
    if (ends == NULL)
        return false;
    for (uint32_t i = table->end_capacity; i < slots; ++i)
        ends[i] = (raw_edge_ends){RAW_NONE, RAW_NONE, RAW_NONE, RAW_NONE, 0, 0};
    table->ends = ends;
    table->end_capacity = slots;
    return true;
}

static uint32_t find(const raw_edges *table, raw_id source, raw_id target)
{
    if (source.index >= table->end_capacity)
        return RAW_NONE;
    uint32_t row = table->ends[source.index].first_target;
    while (row != RAW_NONE &&
           (table->edges[row].target.index != target.index || table->edges[row].target.generation != target.generation))
        row = table->edges[row].next_target;
    return row;
}

bool raw_relate(raw_edges *table, raw_id source, raw_id target)
{
    if (!raw_is_alive(&table->world, source) || !raw_is_alive(&table->world, target) || source.index == target.index ||
        !make_room(table))
        return false;
    if (find(table, source, target) != RAW_NONE)
        return true;
    uint32_t row = table->count++;
    raw_edge_ends *from = &table->ends[source.index], *to = &table->ends[target.index];
    table->edges[row] = (raw_edge){source, target, RAW_NONE, from->last_target, RAW_NONE, to->last_source};
    *(from->last_target == RAW_NONE ? &from->first_target : &table->edges[from->last_target].next_target) = row;
    *(to->last_source == RAW_NONE ? &to->first_source : &table->edges[to->last_source].next_source) = row;
    from->last_target = to->last_source = row;
    ++from->target_count;
    ++to->source_count;
    return true;
}

/* Makes the neighbours of an edge, or the ends of its lists, point to others. */
static void connect(raw_edges *table, const raw_edge *edge, uint32_t before_target, uint32_t after_target,
                    uint32_t before_source, uint32_t after_source)
{
    raw_edge_ends *from = &table->ends[edge->source.index], *to = &table->ends[edge->target.index];
    raw_edge *edges = table->edges;
    *(edge->previous_target == RAW_NONE ? &from->first_target : &edges[edge->previous_target].next_target) =
        after_target;
    *(edge->next_target == RAW_NONE ? &from->last_target : &edges[edge->next_target].previous_target) = before_target;
    *(edge->previous_source == RAW_NONE ? &to->first_source : &edges[edge->previous_source].next_source) = after_source;
    *(edge->next_source == RAW_NONE ? &to->last_source : &edges[edge->next_source].previous_source) = before_source;
}

bool raw_unrelate(raw_edges *table, raw_id source, raw_id target)
{
    uint32_t row = find(table, source, target);
    if (row == RAW_NONE)
        return false;
    raw_edge gone = table->edges[row];
    connect(table, &gone, gone.previous_target, gone.next_target, gone.previous_source, gone.next_source);
    --table->ends[source.index].target_count;
    --table->ends[target.index].source_count;
    uint32_t last = --table->count;
    if (row != last) {
        table->edges[row] = table->edges[last];
        connect(table, &table->edges[row], row, row, row, row);
    }
    return true;
}
