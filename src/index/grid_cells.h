/* The entries of a grid, cell by cell and within a cell by handle, with copies of their positions.
 *
 * After a rebuild, which is a counting sort, all cells follow each other: the grid is packed, and cells that are next to each other in a row
 * are searched as one. A few changes are made in place: a cell that is full moves to the end, to a block of a power of two of entries,
 * and blocks that are left are reused for cells of the same size. The place that a cell leaves in the packed array is
 * unused until the next rebuild.
 *
 *     grid_cells     this file          grid_search    within a radius, nearest
 *     grid_loop      all entities with their neighbours */
#ifndef MICAP_INDEX_GRID_CELLS_H
#define MICAP_INDEX_GRID_CELLS_H

#include "base/float_bits.h"
#include "index/tracked_values.h"
#include "mica/index.h"

enum { MICAP_GRID_CELLS_MAX = 1 << 27, MICAP_GRID_CLASSES = 32 };

typedef struct micap_grid_entry {
    double at[3]; /* on a torus within its bounds */
    mica_entity entity;
} micap_grid_entry;

typedef struct micap_grid_cell {
    uint32_t start;
    uint32_t count;
    uint32_t capacity; /* not 0, unless the cell is in the packed array or was never used */
} micap_grid_cell;

typedef struct micap_grid_axis {
    double minimum, maximum, extent, half;
    double per_size; /* 1 / size of a cell */
    double last;     /* the number of the last cell */
    uint32_t count;  /* of cells */
    uint32_t step;   /* from one cell to the next */
} micap_grid_axis;

typedef struct micap_grid {
    micap_grid_axis axes[3];
    uint32_t axis_count;
    bool is_torus;
    bool is_packed;
    double slack;     /* what a radius is widened by to find cells, because positions are rounded */
    double cell_size; /* of the def */
    uint32_t cell_count;
    micap_grid_cell *cells;
    micap_grid_entry *entries;
    uint32_t entry_limit; /* entries from here on were not used since the last rebuild */
    uint32_t entry_capacity;
    uint32_t count;
    uint32_t packed_count; /* after the last rebuild */
    uint64_t move_count;   /* of entries since then */
    uint32_t free_blocks
        [MICAP_GRID_CLASSES]; /* by log2 of their size: 1 + the first entry of the first one, whose entity.index is that of
                                                 the next one; 0: none */
} micap_grid;

/* NULL, or what is wrong with the def; does not allocate. */
const char *micap_grid_init(micap_grid *grid, const mica_index_def *def, uint32_t axis_count);
bool micap_grid_allocate(micap_memory *memory, micap_grid *grid);
void micap_grid_free(micap_memory *memory, micap_grid *grid);

/* A coordinate on a torus, between its bounds. */
double micap_grid_wrap(const micap_grid_axis *axis, double value);

/* The number of the cell on an axis. Rises with the value, and everything outside is in the first or last one. Without branches: the two
 * choices are instructions. */
static inline uint32_t micap_grid_coordinate(const micap_grid_axis *axis, double value)
{
    double at = (value - axis->minimum) * axis->per_size;
    at = at > 0 ? at : 0;
    at = at < axis->last ? at : axis->last;
    return (uint32_t)(int32_t)at;
}

static inline uint32_t micap_grid_cell_of(const micap_grid *grid, const double *at)
{
    uint32_t cell = micap_grid_coordinate(&grid->axes[0], at[0]) +
                    micap_grid_coordinate(&grid->axes[1], at[1]) * grid->axes[1].step;
    return grid->axis_count < 3 ? cell : cell + micap_grid_coordinate(&grid->axes[2], at[2]) * grid->axes[2].step;
}

/* The position that words of a tracked entity give; false if it is not finite: such entities are not in the grid. */
static inline bool micap_grid_place(const micap_grid *grid, const uint64_t *words, double *out_at)
{
    double x = micap_double_of(words[0]), y = micap_double_of(words[1]);
    double z = grid->axis_count > 2 ? micap_double_of(words[2]) : 0;
    if ((x - x) + (y - y) + (z - z) != 0) /* of infinite numbers, these are not numbers */
        return false;
    out_at[0] = x;
    out_at[1] = y;
    out_at[2] = z;
    if (grid->is_torus) {
        out_at[0] = micap_grid_wrap(&grid->axes[0], x);
        out_at[1] = micap_grid_wrap(&grid->axes[1], y);
        if (grid->axis_count > 2)
            out_at[2] = micap_grid_wrap(&grid->axes[2], z);
    }
    return true;
}

/* The entry of an entity in a cell; NULL if it is not there. */
micap_grid_entry *micap_grid_find(const micap_grid *grid, uint32_t cell, mica_entity entity);

/* Whether a rebuild is better than more changes. */
static inline bool micap_grid_is_worn(const micap_grid *grid)
{
    return grid->move_count / 4 > grid->count + (uint64_t)1024;
}

/* Changes entries one by one; false if memory is short. */
bool micap_grid_change(micap_memory *memory, micap_grid *grid, const micap_index_change *changes, uint32_t count);
/* Replaces all entries; false if memory is short, and then there are none. */
bool micap_grid_rebuild(micap_memory *memory, micap_grid *grid, const micap_tracked *tracked);
void micap_grid_clear(micap_grid *grid);

/* The first broken invariant, or NULL. */
const char *micap_grid_check(const micap_grid *grid);

#endif
