#include "index/grid_cells.h"

#include "base/assert.h"
#include "index/large_array.h"

#include <string.h>

enum { SMALLEST_BLOCK = 4 };
static const uint32_t NO_CELL = UINT32_MAX;

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
    micap_large_release(memory, grid->entries, grid->entry_capacity * sizeof *grid->entries);
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

static uint64_t order_of(mica_entity entity)
{
    return (uint64_t)entity.index << 32 | entity.generation;
}

/* How many entries of a cell are before an entity. A few are all compared: which one it is can't be predicted. */
static uint32_t position_of(const micap_grid_entry *entries, uint32_t count, mica_entity entity)
{
    enum { FEW = 8 };
    uint32_t begin = 0, end = count;
    while (end - begin > FEW) {
        uint32_t middle = begin + (end - begin) / 2;
        if (order_of(entries[middle].entity) < order_of(entity))
            begin = middle + 1;
        else
            end = middle;
    }
    uint32_t position = begin;
    for (uint32_t i = begin; i < end; ++i)
        position += order_of(entries[i].entity) < order_of(entity);
    return position;
}

micap_grid_entry *micap_grid_find(const micap_grid *grid, uint32_t cell, mica_entity entity)
{
    const micap_grid_cell *found = &grid->cells[cell];
    uint32_t position = position_of(grid->entries + found->start, found->count, entity);
    micap_grid_entry *entry = grid->entries + found->start + position;
    return position < found->count && mica_same(entry->entity, entity) ? entry : NULL;
}

/* Makes room for so many entries in all; false if memory is short. */
static bool reserve_entries(micap_memory *memory, micap_grid *grid, uint64_t needed)
{
    if (needed <= grid->entry_capacity)
        return true;
    uint64_t capacity = micap_power_of_two_at_least(needed);
    micap_grid_entry *grown =
        capacity <= UINT32_MAX / 2 ? micap_large_allocate(memory, capacity * sizeof *grown) : NULL;
    if (!grown)
        return false;
    if (grid->entry_limit)
        memcpy(grown, grid->entries, grid->entry_limit * sizeof *grown);
    micap_large_release(memory, grid->entries, grid->entry_capacity * sizeof *grown);
    grid->entries = grown;
    grid->entry_capacity = (uint32_t)capacity;
    return true;
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
    if (!reserve_entries(memory, grid, needed))
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

/* Makes room for one more entry in a cell that is full. */
static bool grow_cell(micap_memory *memory, micap_grid *grid, micap_grid_cell *cell)
{
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

/* Entries of a short cell are passed one by one, from the end on, and each of them moves by one. */
enum { SHORT_CELL = 12 };

static void remove_entry(micap_grid *grid, uint32_t number, mica_entity entity)
{
    micap_grid_cell *cell = &grid->cells[number];
    micap_grid_entry *first = grid->entries + cell->start, *end = first + cell->count;
    if (cell->count <= SHORT_CELL) {
        micap_grid_entry *at = end - 1, passed = *at;
        while (!mica_same(passed.entity, entity)) {
            MICAP_ASSERT_HOT(at > first, "a tracked entity has an entry in its cell");
            micap_grid_entry before = *--at;
            *at = passed;
            passed = before;
        }
    } else {
        micap_grid_entry *entry = micap_grid_find(grid, number, entity);
        memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof *entry);
    }
    --cell->count;
    --grid->count;
    grid->is_packed = false;
}

static bool insert_entry(micap_memory *memory, micap_grid *grid, uint32_t number, mica_entity entity, const double *at)
{
    micap_grid_cell *cell = &grid->cells[number];
    if (cell->count == cell->capacity && !grow_cell(memory, grid, cell))
        return false;
    micap_grid_entry *first = grid->entries + cell->start, *entry = first + cell->count;
    if (cell->count <= SHORT_CELL) {
        for (; entry > first && order_of(entry[-1].entity) > order_of(entity); --entry)
            *entry = entry[-1];
    } else {
        uint32_t position = position_of(first, cell->count, entity);
        entry = first + position;
        memmove(entry + 1, entry, (cell->count - position) * sizeof *entry);
    }
    *entry = (micap_grid_entry){{at[0], at[1], at[2]}, entity};
    ++cell->count;
    ++grid->count;
    ++grid->move_count;
    grid->is_packed = false;
    return true;
}

/* Where an entry is taken from and goes to. */
typedef struct entry_move {
    uint32_t from, to; /* cells, or NO_CELL */
    double at[3];
} entry_move;

static entry_move plan_move(const micap_grid *grid, const micap_index_change *change)
{
    entry_move move = {NO_CELL, NO_CELL, {0}};
    if (change->before.generation && micap_grid_place(grid, change->old_words, move.at))
        move.from = micap_grid_cell_of(grid, move.at);
    if (change->after.generation && micap_grid_place(grid, change->new_words, move.at))
        move.to = micap_grid_cell_of(grid, move.at);
    return move;
}

static bool apply_move(micap_memory *memory, micap_grid *grid, const entry_move *move, const micap_index_change *change)
{
    if (move->from == move->to && move->from != NO_CELL && mica_same(change->before, change->after)) {
        micap_grid_entry *entry = micap_grid_find(grid, move->from, change->after);
        MICAP_ASSERT(entry, "a tracked entity has an entry in its cell");
        memcpy(entry->at, move->at, sizeof move->at);
        return true;
    }
    if (move->from != NO_CELL)
        remove_entry(grid, move->from, change->before);
    return move->to == NO_CELL || insert_entry(memory, grid, move->to, change->after, move->at);
}

static void prefetch_cells(const micap_grid *grid, const entry_move *move)
{
    if (move->from != NO_CELL)
        MICAP_PREFETCH(&grid->cells[move->from], 1);
    if (move->to != NO_CELL)
        MICAP_PREFETCH(&grid->cells[move->to], 1);
}

/* Most cells have entries on two lines at most. */
static void prefetch_entries(const micap_grid *grid, const entry_move *move)
{
    const uint32_t numbers[2] = {move->from, move->to};
    for (uint32_t i = 0; i < 2; ++i) {
        if (numbers[i] == NO_CELL)
            continue;
        const micap_grid_cell *cell = &grid->cells[numbers[i]];
        MICAP_PREFETCH(&grid->entries[cell->start], 1);
        MICAP_PREFETCH(&grid->entries[cell->start + cell->count], 1);
    }
}

/* Each change reads two cells and their entries, which are anywhere in memory: they are asked for some changes ahead. */
bool micap_grid_change(micap_memory *memory, micap_grid *grid, const micap_index_change *changes, uint32_t count)
{
    enum { AHEAD = 32 };
    entry_move moves[AHEAD];
    for (uint32_t left = count; left;) {
        uint32_t taken = left < AHEAD ? left : AHEAD;
        for (uint32_t i = 0; i < taken; ++i) {
            moves[i] = plan_move(grid, &changes[i]);
            prefetch_cells(grid, &moves[i]);
        }
        for (uint32_t i = 0; i < taken && grid->entries; ++i)
            prefetch_entries(grid, &moves[i]);
        for (uint32_t i = 0; i < taken; ++i)
            if (!apply_move(memory, grid, &moves[i], &changes[i]))
                return false;
        changes += taken;
        left -= taken;
    }
    return true;
}

void micap_grid_clear(micap_grid *grid)
{
    memset(grid->cells, 0, grid->cell_count * sizeof *grid->cells);
    memset(grid->free_blocks, 0, sizeof grid->free_blocks);
    grid->count = grid->packed_count = grid->entry_limit = 0;
    grid->move_count = 0;
    grid->is_packed = true;
}

/* Counts the entries of each cell, and lists the cells of the tracked entities; NO_CELL for one without a place. */
static void count_cells(micap_grid *grid, const micap_tracked *tracked, uint32_t *out_cells)
{
    for (uint32_t number = 0; number < tracked->page_count; ++number) {
        const micap_tracked_page *page = tracked->pages[number];
        for (uint32_t slot = 0; page && slot < MICAP_TRACKED_PAGE; ++slot) {
            double at[3];
            if (!page->generations[slot])
                continue;
            bool has_place = micap_grid_place(grid, &page->words[(size_t)slot * tracked->width], at);
            uint32_t cell = has_place ? micap_grid_cell_of(grid, at) : NO_CELL;
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
            if (cell == NO_CELL)
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
    if (!cells || !reserve_entries(memory, grid, (uint64_t)tracked->count + tracked->count / 2)) {
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
            if (k && order_of(entries[k - 1].entity) >= order_of(entries[k].entity))
                return "the entries of a cell of a grid are not sorted";
            if (micap_grid_cell_of(grid, entries[k].at) != i)
                return "an entry of a grid is in the wrong cell";
        }
        count += cell->count;
    }
    return count == grid->count ? NULL : "the count of a grid is wrong";
}
