#include "cluster/cell_space.h"

#include "test.h"

static micap_cell_space space_of(uint32_t axis_count, double size, bool is_torus)
{
    micap_cell_space space;
    mica_index_def def = {.cell_size = 1, .maximum = {size, size, size}, .torus = is_torus};
    ck_assert_ptr_null(micap_cell_space_init(&space, &def, axis_count));
    return space;
}

/* Cells in the order of their keys: each is a neighbour of the one before, and none is missing. */
static void expect_a_curve(uint32_t axis_count, int32_t size)
{
    micap_cell_space space = space_of(axis_count, size, false);
    uint32_t count = (uint32_t)(axis_count == 2 ? size * size : size * size * size);
    micap_cell *cells = calloc(count, sizeof *cells);
    bool *is_seen = calloc(count, sizeof *is_seen);
    for (int32_t z = 0; z < (axis_count == 2 ? 1 : size); ++z)
        for (int32_t y = 0; y < size; ++y)
            for (int32_t x = 0; x < size; ++x) {
                micap_cell cell = {{x, y, z}};
                uint64_t key = micap_cell_key(&space, cell);
                ck_assert_uint_lt(key, count);
                ck_assert(!is_seen[key]);
                is_seen[key] = true;
                cells[key] = cell;
            }
    for (uint32_t i = 1; i < count; ++i) {
        int32_t distance = 0;
        for (uint32_t axis = 0; axis < 3; ++axis)
            distance += abs(cells[i].at[axis] - cells[i - 1].at[axis]);
        ck_assert_int_eq(distance, 1);
    }
    free(cells);
    free(is_seen);
}

START_TEST(the_curve_visits_every_cell_once_and_goes_to_a_neighbour_each_time)
{
    for (int32_t size = 2; size <= 32; size *= 2)
        expect_a_curve(2, size);
    for (int32_t size = 2; size <= 16; size *= 2)
        expect_a_curve(3, size);
}
END_TEST

START_TEST(positions_are_in_cells_also_outside_and_if_they_are_no_numbers)
{
    micap_cell_space space = space_of(2, 10, false);
    const struct {
        double at[3];
        int32_t x, y;
    } cases[] = {{{0, 0}, 0, 0},      {{9.99, 3.5}, 9, 3},    {{10, 10}, 9, 9},
                 {{-5, 1e300}, 0, 9}, {{0.0 / 0.0, 4}, 0, 4}, {{1 / 0.0, -1 / 0.0}, 9, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        micap_cell cell = micap_cell_of(&space, cases[i].at);
        ck_assert_int_eq(cell.at[0], cases[i].x);
        ck_assert_int_eq(cell.at[1], cases[i].y);
    }
    space = space_of(2, 10, true);
    double far[3] = {-1, 1e300, 0};
    micap_cell_space_wrap(&space, far);
    ck_assert(far[0] == 9 && far[1] == 0);
}
END_TEST

START_TEST(spans_cover_a_radius_and_no_cell_twice)
{
    micap_cell_space torus = space_of(2, 10, true), flat = space_of(2, 10, false);
    const struct {
        double radius;
        int32_t at, first_on_torus, count_on_torus, first, count;
    } cases[] = {{1, 5, 4, 3, 4, 3}, {1, 0, 9, 3, 0, 2},     {1.5, 9, 7, 5, 7, 3},
                 {0, 3, 3, 1, 3, 1}, {4.5, 3, 0, 10, 0, 10}, {1e9, 3, 0, 10, 0, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        micap_cell_span span = micap_cell_span_around(&torus, 0, cases[i].at, cases[i].radius);
        ck_assert_int_eq(span.first, cases[i].first_on_torus);
        ck_assert_int_eq(span.count, cases[i].count_on_torus);
        span = micap_cell_span_around(&flat, 0, cases[i].at, cases[i].radius);
        ck_assert_int_eq(span.first, cases[i].first);
        ck_assert_int_eq(span.count, cases[i].count);
    }
}
END_TEST

TEST_SUITE(cell_space, the_curve_visits_every_cell_once_and_goes_to_a_neighbour_each_time,
           positions_are_in_cells_also_outside_and_if_they_are_no_numbers, spans_cover_a_radius_and_no_cell_twice)
