/* The nearest entries of a grid. A search is repeated with a larger radius until it finds enough; then the nearest of these are kept. */
#ifndef MICAP_INDEX_GRID_NEAREST_H
#define MICAP_INDEX_GRID_NEAREST_H

#include "mica/index.h"

/* The nearest of what was added: a heap with the farthest on top. */
typedef struct micap_nearest_heap {
    mica_neighbour *heap;
    uint32_t count;
    uint32_t capacity;
} micap_nearest_heap;

void micap_nearest_add(micap_nearest_heap *nearest, const mica_neighbour *neighbour);

#endif
