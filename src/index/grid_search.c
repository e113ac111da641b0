#include "index/grid_search.h"

#include "base/argument.h"
#include "base/assert.h"
#include "index/grid_nearest.h"
#include "index/index_read.h"

bool micap_grid_search_init(const micap_grid *grid, micap_grid_search *search, mica_point centre, double radius)
{
    const double at[3] = {centre.x, centre.y, centre.z};
    search->radius = radius;
    search->at[2] = 0;
    MICAP_ASSERT_HOT(grid->axis_count <= 3, "a grid has two or three axes");
    for (uint32_t i = 0; i < grid->axis_count; ++i) {
        if (at[i] - at[i] != 0)
            return false;
        search->at[i] = grid->is_torus ? micap_grid_wrap(&grid->axes[i], at[i]) : at[i];
    }
    return radius >= 0;
}

static inline double offset_on(const micap_grid_axis *axis, bool is_torus, double from, double to)
{
    double offset = to - from;
    if (is_torus && offset > axis->half)
        offset -= axis->extent;
    else if (is_torus && offset < -axis->half)
        offset += axis->extent;
    return offset;
}

/* Stores what was found. */
static MICAP_INLINE void keep(const micap_grid *grid, micap_grid_search *search, const micap_grid_entry *entry,
                              bool is_torus, bool has_depth)
{
    double dx = offset_on(&grid->axes[0], is_torus, search->at[0], entry->at[0]);
    double dy = offset_on(&grid->axes[1], is_torus, search->at[1], entry->at[1]);
    double dz = has_depth ? offset_on(&grid->axes[2], is_torus, search->at[2], entry->at[2]) : 0;
    mica_neighbour found = {entry->entity, dx * dx + dy * dy + dz * dz, {dx, dy, dz}};
    if (search->count < search->capacity)
        search->out[search->count] = found;
    else if (search->nearest)
        micap_nearest_add(search->nearest, &found);
    ++search->count;
}

/* Tests consecutive entries. Which of them are within the radius is as good as random to the processor, so their numbers are listed without
 * a branch first. The last two arguments are constants. */
static MICAP_INLINE void test_entries(const micap_grid *grid, micap_grid_search *search, uint32_t begin, uint32_t end,
                                      bool is_torus, bool has_depth)
{
    enum { LISTED = 64 };
    double x = search->at[0], y = search->at[1], z = search->at[2], limit = search->radius * search->radius;
    while (begin < end) {
        const micap_grid_entry *entries = grid->entries + begin;
        uint32_t count = end - begin < LISTED ? end - begin : LISTED, hit_count = 0;
        uint8_t hits[LISTED];
        for (uint32_t i = 0; i < count; ++i) {
            double dx = offset_on(&grid->axes[0], is_torus, x, entries[i].at[0]);
            double dy = offset_on(&grid->axes[1], is_torus, y, entries[i].at[1]);
            double dz = has_depth ? offset_on(&grid->axes[2], is_torus, z, entries[i].at[2]) : 0;
            double distance = dx * dx + dy * dy + dz * dz;
            hits[hit_count] = (uint8_t)i;
            hit_count += distance <= limit;
        }
        MICAP_ASSERT_HOT(hit_count <= count, "an entry is listed once");
        for (uint32_t i = 0; i < hit_count; ++i)
            if (&entries[hits[i]] != search->self)
                keep(grid, search, &entries[hits[i]], is_torus, has_depth);
        begin += count;
    }
}

/* Ranges of cells on an axis, both ends included: two where a torus wraps around, the lower one first. */
typedef struct cell_ranges {
    uint32_t first[2], last[2], count;
} cell_ranges;

static inline cell_ranges ranges_on(const micap_grid_axis *axis, bool is_torus, double low, double high)
{
    cell_ranges all = {{0}, {axis->count - 1}, 1};
    if (!is_torus || (low >= axis->minimum && high < axis->maximum)) {
        all.first[0] = micap_grid_coordinate(axis, low);
        all.last[0] = micap_grid_coordinate(axis, high);
        return all;
    }
    if (high - low >= axis->extent)
        return all;
    uint32_t first = micap_grid_coordinate(axis, micap_grid_wrap(axis, low));
    uint32_t last = micap_grid_coordinate(axis, micap_grid_wrap(axis, high));
    return first <= last ? all : (cell_ranges){{0, first}, {last, axis->count - 1}, 2};
}

/* Tests a row of cells. If the grid is packed, it is one run of entries. */
static MICAP_INLINE void test_cells(const micap_grid *grid, micap_grid_search *search, uint32_t first, uint32_t last,
                                    uint32_t own, bool is_torus, bool has_depth)
{
    uint32_t skipped = search->after_self ? (uint32_t)(search->self - grid->entries) + 1 : 0;
    if (grid->is_packed) {
        uint32_t begin = grid->cells[first].start, end = grid->cells[last].start + grid->cells[last].count;
        test_entries(grid, search, begin < skipped ? skipped : begin, end, is_torus, has_depth);
        return;
    }
    for (uint32_t cell = search->after_self && first < own ? own : first; cell <= last; ++cell) {
        uint32_t begin = grid->cells[cell].start, end = begin + grid->cells[cell].count;
        test_entries(grid, search, search->after_self && cell == own ? skipped : begin, end, is_torus, has_depth);
    }
}

static MICAP_INLINE void search_cells(const micap_grid *grid, micap_grid_search *search, bool is_torus, bool has_depth)
{
    double reach = search->radius + search->radius * 1e-14 + grid->slack;
    const double *at = search->at;
    cell_ranges xs = ranges_on(&grid->axes[0], is_torus, at[0] - reach, at[0] + reach);
    cell_ranges ys = ranges_on(&grid->axes[1], is_torus, at[1] - reach, at[1] + reach);
    cell_ranges zs = {{0}, {0}, 1};
    if (has_depth)
        zs = ranges_on(&grid->axes[2], is_torus, at[2] - reach, at[2] + reach);
    uint32_t own = search->after_self && !grid->is_packed ? micap_grid_cell_of(grid, search->at) : 0;
    for (uint32_t k = 0; k < zs.count; ++k)
        for (uint32_t z = zs.first[k]; z <= zs.last[k]; ++z)
            for (uint32_t j = 0; j < ys.count; ++j)
                for (uint32_t y = ys.first[j]; y <= ys.last[j]; ++y)
                    for (uint32_t i = 0; i < xs.count; ++i) {
                        uint32_t row = y * grid->axes[1].step + (has_depth ? z * grid->axes[2].step : 0);
                        test_cells(grid, search, row + xs.first[i], row + xs.last[i], own, is_torus, has_depth);
                    }
}

void micap_grid_search_run(const micap_grid *grid, micap_grid_search *search)
{
    search->count = 0;
    if (grid->axis_count == 2 && !grid->is_torus)
        search_cells(grid, search, false, false);
    else if (grid->axis_count == 2)
        search_cells(grid, search, true, false);
    else if (!grid->is_torus)
        search_cells(grid, search, false, true);
    else
        search_cells(grid, search, true, true);
}

uint32_t mica_grid_within(const mica_index *index, mica_point centre, double radius, mica_neighbour *out,
                          uint32_t capacity)
{
    const micap_grid *grid = micap_index_read_grid(index, __func__);
    micap_grid_search search = {.out = out, .capacity = capacity};
    if (!grid || MICAP_MISSING_ARRAY(micap_index_world(index), out, capacity) ||
        !micap_grid_search_init(grid, &search, centre, radius))
        return 0;
    micap_grid_search_run(grid, &search);
    return search.count;
}

uint32_t mica_grid_around(const mica_index *index, mica_entity entity, double radius, mica_neighbour *out,
                          uint32_t capacity)
{
    const micap_grid *grid = micap_index_read_grid(index, __func__);
    micap_grid_search search = {.radius = radius, .out = out, .capacity = capacity};
    if (!grid || MICAP_MISSING_ARRAY(micap_index_world(index), out, capacity) || !(radius >= 0))
        return 0;
    const uint64_t *words = micap_index_words(index, entity);
    if (!words || !micap_grid_place(grid, words, search.at))
        return 0;
    search.self = micap_grid_find(grid, micap_grid_cell_of(grid, search.at), entity);
    micap_grid_search_run(grid, &search);
    return search.count;
}

uint32_t mica_grid_cell(const mica_index *index, mica_point point, mica_entity *out, uint32_t capacity)
{
    const micap_grid *grid = micap_index_read_grid(index, __func__);
    micap_grid_search search = {0};
    if (!grid || MICAP_MISSING_ARRAY(micap_index_world(index), out, capacity) ||
        !micap_grid_search_init(grid, &search, point, 0))
        return 0;
    const micap_grid_cell *cell = &grid->cells[micap_grid_cell_of(grid, search.at)];
    for (uint32_t i = 0; i < cell->count && i < capacity; ++i)
        out[i] = grid->entries[cell->start + i].entity;
    return cell->count;
}
