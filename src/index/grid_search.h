/* Searching a grid. */
#ifndef MICAP_INDEX_GRID_SEARCH_H
#define MICAP_INDEX_GRID_SEARCH_H

#include "index/grid_cells.h"

/* What is looked for, and what was found. */
typedef struct micap_grid_search {
    double at[3];
    double radius;
    const micap_grid_entry *self;       /* an entry that is not found; NULL: none */
    bool after_self;                    /* finds only what comes after it, in the order of cells and handles */
    struct micap_nearest_heap *nearest; /* gets what is found; NULL: `out` does */
    mica_neighbour *out;
    uint32_t capacity;
    uint32_t count; /* of entries within the radius; the first `capacity` of them are in `out` */
} micap_grid_search;

/* Prepares a search around a position, which is wrapped on a torus. False if it finds nothing: the position or radius is not a number. */
bool micap_grid_search_init(const micap_grid *grid, micap_grid_search *search, mica_point centre, double radius);

/* Finds entries by rising cell and handle. */
void micap_grid_search_run(const micap_grid *grid, micap_grid_search *search);

#endif
