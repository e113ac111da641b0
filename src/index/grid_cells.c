#include "index/grid_cells.h"

#include "base/bits.h"

#include <string.h>

enum { SMALLEST_BLOCK = 4 };

static bool is_finite(double value)
{
    return value - value == 0;
}

const char *micap_grid_init(micap_grid *grid, const mica_index_def *def, uint32_t axis_count)
{
    *grid =
        (micap_grid){.axis_count = axis_count, .is_torus = def->torus, .cell_size = def->cell_size, .is_packed = true};
    uint64_t cells = 1;
    if (axis_count < 2)
        return "a grid needs two or three .fields";
    if (!(def->cell_size > 0) || !is_finite(def->cell_size))
        return "its .cell_size must be a positive number";
    for (uint32_t i = 0; i < axis_count; ++i) {
        double minimum = def->minimum[i], maximum = def->maximum[i], extent = maximum - minimum;
        if (!(extent > 0) || !is_finite(extent))
            return "its .maximum must be above its .minimum for each field";
        double count = extent / def->cell_size;
        if (count >= MICAP_GRID_CELLS_MAX)
            return "its .cell_size is too small for its bounds: there would be too many cells";
        uint32_t whole = count < 1 ? 1 : (uint32_t)count;
        grid->axes[i] = (micap_grid_axis){.minimum = minimum,
                                          .maximum = maximum,
                                          .extent = extent,
                                          .half = extent / 2,
                                          .per_size = whole / extent,
                                          .last = whole - 1,
                                          .count = whole,
                                          .step = (uint32_t)cells};
        cells *= whole;
        if (cells > MICAP_GRID_CELLS_MAX)
            return "its .cell_size is too small for its bounds: there would be too many cells";
        double ends = (minimum < 0 ? -minimum : minimum) + (maximum < 0 ? -maximum : maximum);
        grid->slack += ends * 1e-15;
    }
    grid->cell_count = (uint32_t)cells;
    return NULL;
}

bool micap_grid_allocate(micap_memory *memory, micap_grid *grid)
{
    grid->cells = micap_allocate_zeroed(memory, grid->cell_count * sizeof *grid->cells, MICAP_ARRAY_ALIGNMENT);
    return grid->cells != NULL;
}

void micap_grid_free(micap_memory *memory, micap_grid *grid)
{
    MICAP_RELEASE_ARRAY(memory, grid->cells, grid->cell_count);
    MICAP_RELEASE_ARRAY(memory, grid->entries, grid->entry_capacity);
    grid->cells = NULL;
    grid->entries = NULL;
    grid->entry_capacity = 0;
}

double micap_grid_wrap(const micap_grid_axis *axis, double value)
{
    if (value >= axis->minimum && value < axis->maximum)
        return value;
    double turns = (value - axis->minimum) / axis->extent;
    if (!(turns > -0x1p52 && turns < 0x1p52))
        return axis->minimum; /* a double of that size does not say where it is */
    int64_t whole = (int64_t)turns;
    whole -= (double)whole > turns;
    value -= (double)whole * axis->extent;
    return value >= axis->minimum && value < axis->maximum ? value : axis->minimum;
}

static bool is_handle_before(mica_entity a, mica_entity b)
{
    return a.index < b.index || (a.index == b.index && a.generation < b.generation);
}

/* How many entries of a cell are before an entity. */
static uint32_t position_of(const micap_grid *grid, const micap_grid_cell *cell, mica_entity entity)
{
    uint32_t begin = 0, end = cell->count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (is_handle_before(grid->entries[cell->start + middle].entity, entity))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

micap_grid_entry *micap_grid_find(const micap_grid *grid, uint32_t cell, mica_entity entity)
{
    const micap_grid_cell *found = &grid->cells[cell];
    uint32_t position = position_of(grid, found, entity);
    micap_grid_entry *entry = grid->entries + found->start + position;
    return position < found->count && mica_same(entry->entity, entity) ? entry : NULL;
}

/* A block of 2^order entries; false if memory is short. */
static bool take_block(micap_memory *memory, micap_grid *grid, uint32_t order, uint32_t *out_start)
{
    if (grid->free_blocks[order]) {
        *out_start = grid->free_blocks[order] - 1;
        grid->free_blocks[order] = grid->entries[*out_start].entity.index;
        return true;
    }
    uint64_t needed = (uint64_t)grid->entry_limit + (1u << order);
    if (!MICAP_RESERVE(memory, grid->entries, &grid->entry_capacity, needed))
        return false;
    *out_start = grid->entry_limit;
    grid->entry_limit = (uint32_t)needed;
    return true;
}

/* Leaves the block of a cell to others, unless it is a part of the packed array. */
static void leave_block(micap_grid *grid, const micap_grid_cell *cell)
{
    if (cell->start < grid->packed_count || !cell->capacity)
        return;
    uint32_t order = micap_log2(cell->capacity);
    grid->entries[cell->start].entity.index = grid->free_blocks[order];
    grid->free_blocks[order] = cell->start + 1;
}

/* Makes room for one more entry in a cell. */
static bool grow_cell(micap_memory *memory, micap_grid *grid, micap_grid_cell *cell)
{
    if (cell->count < cell->capacity)
        return true;
    uint64_t capacity = micap_power_of_two_at_least(cell->count < SMALLEST_BLOCK ? SMALLEST_BLOCK : cell->count + 1);
    uint32_t start;
    if (!take_block(memory, grid, micap_log2(capacity), &start))
        return false;
    memcpy(grid->entries + start, grid->entries + cell->start, cell->count * sizeof *grid->entries);
    leave_block(grid, cell);
    cell->start = start;
    cell->capacity = (uint32_t)capacity;
    return true;
}

static void remove_entry(micap_grid *grid, uint32_t number, mica_entity entity)
{
    micap_grid_cell *cell = &grid->cells[number];
    micap_grid_entry *entry = micap_grid_find(grid, number, entity);
    const micap_grid_entry *end = grid->entries + cell->start + cell->count;
    memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof *entry);
    --cell->count;
    --grid->count;
    grid->is_packed = false;
}

static bool insert_entry(micap_memory *memory, micap_grid *grid, uint32_t number, mica_entity entity, const double *at)
{
    micap_grid_cell *cell = &grid->cells[number];
    if (!grow_cell(memory, grid, cell))
        return false;
    uint32_t position = position_of(grid, cell, entity);
    micap_grid_entry *entry = grid->entries + cell->start + position;
    memmove(entry + 1, entry, (cell->count - position) * sizeof *entry);
    *entry = (micap_grid_entry){{at[0], at[1], at[2]}, entity};
    ++cell->count;
    ++grid->count;
    ++grid->move_count;
    grid->is_packed = false;
    return true;
}

bool micap_grid_change(micap_memory *memory, micap_grid *grid, mica_entity entity, const uint64_t *old_words,
                       const uint64_t *new_words)
{
    double from[3], to[3];
    bool was = old_words && micap_grid_place(grid, old_words, from);
    bool is = new_words && micap_grid_place(grid, new_words, to);
    uint32_t old_cell = was ? micap_grid_cell_of(grid, from) : 0, new_cell = is ? micap_grid_cell_of(grid, to) : 0;
    if (was && is && old_cell == new_cell) {
        memcpy(micap_grid_find(grid, old_cell, entity)->at, to, sizeof to);
        return true;
    }
    if (was)
        remove_entry(grid, old_cell, entity);
    return !is || insert_entry(memory, grid, new_cell, entity, to);
}

void micap_grid_clear(micap_grid *grid)
{
    memset(grid->cells, 0, grid->cell_count * sizeof *grid->cells);
    memset(grid->free_blocks, 0, sizeof grid->free_blocks);
    grid->count = grid->packed_count = grid->entry_limit = 0;
    grid->move_count = 0;
    grid->is_packed = true;
}

/* Counts the entries of each cell, and lists the cells of the tracked entities; UINT32_MAX for one without a place. */
static void count_cells(micap_grid *grid, const micap_tracked *tracked, uint32_t *out_cells)
{
    for (uint32_t number = 0; number < tracked->page_count; ++number) {
        const micap_tracked_page *page = tracked->pages[number];
        for (uint32_t slot = 0; page && slot < MICAP_TRACKED_PAGE; ++slot) {
            double at[3];
            if (!page->generations[slot])
                continue;
            bool has_place = micap_grid_place(grid, &page->words[(size_t)slot * tracked->width], at);
            uint32_t cell = has_place ? micap_grid_cell_of(grid, at) : UINT32_MAX;
            if (has_place)
                ++grid->cells[cell].count;
            *out_cells++ = cell;
        }
    }
}

/* Puts the entries into their cells, in the order of handles. */
static void fill_cells(micap_grid *grid, const micap_tracked *tracked, const uint32_t *cells)
{
    for (uint32_t number = 0; number < tracked->page_count; ++number) {
        const micap_tracked_page *page = tracked->pages[number];
        for (uint32_t slot = 0; page && slot < MICAP_TRACKED_PAGE; ++slot) {
            if (!page->generations[slot])
                continue;
            uint32_t cell = *cells++;
            if (cell == UINT32_MAX)
                continue;
            micap_grid_entry *entry = &grid->entries[grid->cells[cell].start + grid->cells[cell].count++];
            micap_grid_place(grid, &page->words[(size_t)slot * tracked->width], entry->at);
            entry->entity = (mica_entity){number * MICAP_TRACKED_PAGE + slot, page->generations[slot]};
        }
    }
}

bool micap_grid_rebuild(micap_memory *memory, micap_grid *grid, const micap_tracked *tracked)
{
    micap_grid_clear(grid);
    uint32_t *cells = micap_allocate(memory, tracked->count * sizeof *cells, MICAP_ARRAY_ALIGNMENT);
    if (!cells ||
        !MICAP_RESERVE(memory, grid->entries, &grid->entry_capacity, (uint64_t)tracked->count + tracked->count / 2)) {
        micap_release(memory, cells, tracked->count * sizeof *cells, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    count_cells(grid, tracked, cells);
    uint32_t start = 0;
    for (uint32_t i = 0; i < grid->cell_count; ++i) {
        micap_grid_cell *cell = &grid->cells[i];
        uint32_t count = cell->count;
        *cell = (micap_grid_cell){.start = start, .capacity = count};
        start += count;
    }
    fill_cells(grid, tracked, cells);
    grid->count = grid->packed_count = grid->entry_limit = start;
    micap_release(memory, cells, tracked->count * sizeof *cells, MICAP_ARRAY_ALIGNMENT);
    return true;
}

const char *micap_grid_check(const micap_grid *grid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < grid->cell_count; ++i) {
        const micap_grid_cell *cell = &grid->cells[i];
        if (cell->count > cell->capacity || cell->start + cell->capacity > grid->entry_limit)
            return "a cell of a grid has more entries than room";
        if (grid->is_packed && cell->start != count)
            return "a cell of a packed grid does not follow the one before";
        const micap_grid_entry *entries = cell->count ? grid->entries + cell->start : NULL;
        for (uint32_t k = 0; k < cell->count; ++k) {
            if (k && !is_handle_before(entries[k - 1].entity, entries[k].entity))
                return "the entries of a cell of a grid are not sorted";
            if (micap_grid_cell_of(grid, entries[k].at) != i)
                return "an entry of a grid is in the wrong cell";
        }
        count += cell->count;
    }
    return count == grid->count ? NULL : "the count of a grid is wrong";
}
