#include "index/grid_nearest.h"

#include "base/argument.h"
#include "index/grid_search.h"
#include "index/index_read.h"

static bool is_farther(const mica_neighbour *a, const mica_neighbour *b)
{
    if (a->distance_squared != b->distance_squared)
        return a->distance_squared > b->distance_squared;
    return a->entity.index > b->entity.index;
}

/* Moves the first of a heap, in which the farthest is on top, down to where it belongs. */
static void sift_down(mica_neighbour *heap, uint32_t count)
{
    mica_neighbour moved = heap[0];
    uint32_t at = 0;
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        child += child + 1 < count && is_farther(&heap[child + 1], &heap[child]);
        if (!is_farther(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void sift_up(mica_neighbour *heap, uint32_t at)
{
    mica_neighbour moved = heap[at];
    for (; at && is_farther(&moved, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moved;
}

void micap_nearest_add(micap_nearest_heap *nearest, const mica_neighbour *neighbour)
{
    if (nearest->count < nearest->capacity) {
        nearest->heap[nearest->count] = *neighbour;
        sift_up(nearest->heap, nearest->count++);
    } else if (is_farther(&nearest->heap[0], neighbour)) {
        nearest->heap[0] = *neighbour;
        sift_down(nearest->heap, nearest->count);
    }
}

static void sort(mica_neighbour *heap, uint32_t count)
{
    while (count > 1) {
        mica_neighbour farthest = heap[0];
        heap[0] = heap[--count];
        sift_down(heap, count);
        heap[count] = farthest;
    }
}

uint32_t mica_grid_nearest(const mica_index *index, mica_point centre, mica_neighbour *out, uint32_t capacity)
{
    const micap_grid *grid = micap_index_read_grid(index, __func__);
    micap_grid_search search = {0};
    if (!grid || MICAP_MISSING_ARRAY(micap_index_world(index), out, capacity) ||
        !micap_grid_search_init(grid, &search, centre, 0))
        return 0;
    micap_nearest_heap nearest = {.heap = out, .capacity = capacity < grid->count ? capacity : grid->count};
    if (!nearest.capacity)
        return 0;
    search.radius = grid->cell_size / 2;
    for (;; search.radius *= 1.6) {
        micap_grid_search_run(grid, &search);
        if (search.count >= nearest.capacity)
            break;
    }
    search.nearest = &nearest;
    micap_grid_search_run(grid, &search);
    sort(out, nearest.count);
    return nearest.count;
}
