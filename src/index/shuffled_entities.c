/* Entities in random order, for agents that act one after the other. */
#include "base/argument.h"
#include "core/query/query.h"
#include "mica/index.h"

static bool is_before(mica_entity a, mica_entity b)
{
    return a.index < b.index;
}

static void sift_down(mica_entity *heap, uint32_t at, uint32_t count)
{
    mica_entity moved = heap[at];
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        child += child + 1 < count && is_before(heap[child], heap[child + 1]);
        if (!is_before(moved, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* By handle: the order of rows depends on what was destroyed before. Mostly they are in order already. */
static void sort(mica_entity *entities, uint32_t count)
{
    uint32_t sorted = 1;
    while (sorted < count && is_before(entities[sorted - 1], entities[sorted]))
        ++sorted;
    if (sorted >= count)
        return;
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(entities, i, count);
    while (count > 1) {
        mica_entity last = entities[0];
        entities[0] = entities[--count];
        sift_down(entities, 0, count);
        entities[count] = last;
    }
}

uint32_t mica_query_shuffled(mica_query *query, mica_random *random, mica_entity *out, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(query->world, random) ||
        MICAP_MISSING_ARRAY(query->world, out, capacity))
        return 0;
    uint64_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); count += view.count)
        for (uint32_t i = 0; i < view.count && count + i < capacity; ++i)
            out[count + i] = view.entities[i];
    uint32_t listed = count < capacity ? (uint32_t)count : capacity;
    sort(out, listed);
    mica_random_shuffle(random, out, listed, sizeof *out);
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}
