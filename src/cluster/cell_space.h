/* Where a position is: the cell of a grid, and the position of the cell on a Hilbert curve, which is its key. Ranks own ranges of keys.
 * Everything here depends only on the def, so that all ranks agree. */
#ifndef MICAP_CLUSTER_CELL_SPACE_H
#define MICAP_CLUSTER_CELL_SPACE_H

#include "mica/cluster.h"

enum { MICAP_CELL_BITS = 20, MICAP_CELLS_IN_BOX_MAX = 4096 };

typedef struct micap_cell_axis {
    double minimum, extent, half;
    double per_size; /* 1 / size of a cell */
    int32_t count;   /* of cells */
} micap_cell_axis;

typedef struct micap_cell_space {
    micap_cell_axis axes[3];
    uint32_t axis_count;
    bool is_torus;
    uint32_t bits; /* of a coordinate on the curve */
} micap_cell_space;

typedef struct micap_cell {
    int32_t at[3];
} micap_cell;

/* Neighbouring cells on an axis: `count` of them from `first` on, which wraps around on a torus. */
typedef struct micap_cell_span {
    int32_t first, count;
} micap_cell_span;

/* NULL, or what is wrong with the def. */
const char *micap_cell_space_init(micap_cell_space *space, const mica_index_def *def, uint32_t axis_count);

/* Moves a position on a torus between the bounds. */
void micap_cell_space_wrap(const micap_cell_space *space, double at[3]);

/* The cell of a position. What lies outside, or is not a number, is in the cells at the edge. */
micap_cell micap_cell_of(const micap_cell_space *space, const double at[3]);

/* A number for each cell, for tables. */
static inline uint64_t micap_cell_number(micap_cell cell)
{
    return (uint64_t)cell.at[0] | (uint64_t)cell.at[1] << MICAP_CELL_BITS | (uint64_t)cell.at[2] << 2 * MICAP_CELL_BITS;
}

/* The position of the cell on the curve. */
uint64_t micap_cell_key(const micap_cell_space *space, micap_cell cell);

/* The cells on an axis that a radius around a cell can reach. Exchange and search use the same cells, so that rounding never makes
 * a difference between numbers of ranks. */
micap_cell_span micap_cell_span_around(const micap_cell_space *space, uint32_t axis, int32_t at, double radius);

/* How many cells a radius reaches. */
uint64_t micap_cells_in_reach(const micap_cell_space *space, double radius);

static inline int32_t micap_cell_span_at(const micap_cell_space *space, uint32_t axis, micap_cell_span span, int32_t i)
{
    int32_t at = span.first + i;
    return at < space->axes[axis].count ? at : at - space->axes[axis].count;
}

/* The offset between two wrapped positions, the shortest way. */
static inline double micap_cell_offset(const micap_cell_axis *axis, bool is_torus, double from, double to)
{
    double offset = to - from;
    if (is_torus && offset > axis->half)
        offset -= axis->extent;
    else if (is_torus && offset < -axis->half)
        offset += axis->extent;
    return offset;
}

#endif
