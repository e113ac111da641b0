#include "cluster/cell_space.h"

static bool is_finite(double value)
{
    return value - value == 0;
}

const char *micap_cell_space_init(micap_cell_space *space, const mica_index_def *def, uint32_t axis_count)
{
    *space = (micap_cell_space){.axis_count = axis_count, .is_torus = def->torus, .bits = 1};
    if (axis_count < 2)
        return "its grid needs two or three .fields";
    if (!(def->cell_size > 0) || !is_finite(def->cell_size))
        return "the .cell_size of its grid must be a positive number";
    for (uint32_t i = 0; i < 3; ++i) {
        double extent = i < axis_count ? def->maximum[i] - def->minimum[i] : 1;
        if (!(extent > 0) || !is_finite(extent))
            return "the .maximum of its grid must be above its .minimum for each field";
        double count = i < axis_count ? extent / def->cell_size : 1;
        if (count >= 1 << MICAP_CELL_BITS)
            return "the .cell_size of its grid is too small: there are more than 1048575 cells in a row";
        int32_t whole = count < 1 ? 1 : (int32_t)count;
        space->axes[i] = (micap_cell_axis){.minimum = i < axis_count ? def->minimum[i] : 0,
                                           .extent = extent,
                                           .half = extent / 2,
                                           .per_size = whole / extent,
                                           .count = whole};
        while ((int32_t)1 << space->bits < whole)
            ++space->bits;
    }
    return NULL;
}

void micap_cell_space_wrap(const micap_cell_space *space, double at[3])
{
    for (uint32_t i = 0; space->is_torus && i < space->axis_count; ++i) {
        const micap_cell_axis *axis = &space->axes[i];
        double maximum = axis->minimum + axis->extent;
        if (at[i] >= axis->minimum && at[i] < maximum)
            continue;
        double turns = (at[i] - axis->minimum) / axis->extent;
        if (!(turns > -0x1p52 && turns < 0x1p52)) { /* a double of that size does not say where it is */
            at[i] = axis->minimum;
            continue;
        }
        int64_t whole = (int64_t)turns;
        whole -= (double)whole > turns;
        at[i] -= (double)whole * axis->extent;
        if (!(at[i] >= axis->minimum && at[i] < maximum))
            at[i] = axis->minimum;
    }
}

micap_cell micap_cell_of(const micap_cell_space *space, const double at[3])
{
    micap_cell cell = {{0}};
    for (uint32_t i = 0; i < space->axis_count; ++i) {
        const micap_cell_axis *axis = &space->axes[i];
        double number = (at[i] - axis->minimum) * axis->per_size;
        number = number > 0 ? number : 0;
        number = number < axis->count - 1 ? number : axis->count - 1;
        cell.at[i] = (int32_t)number;
    }
    return cell;
}

/* J. Skilling: Programming the Hilbert curve, 2004. The bits of the result are spread over the coordinates, the highest first. */
uint64_t micap_cell_key(const micap_cell_space *space, micap_cell cell)
{
    uint32_t n = space->axis_count, bits = space->bits, x[3] = {0};
    for (uint32_t i = 0; i < n; ++i)
        x[i] = (uint32_t)cell.at[i];
    for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
        for (uint32_t i = 0; i < n; ++i) {
            uint32_t low = q - 1;
            if (x[i] & q) {
                x[0] ^= low;
            } else {
                uint32_t swapped = (x[0] ^ x[i]) & low;
                x[0] ^= swapped;
                x[i] ^= swapped;
            }
        }
    for (uint32_t i = 1; i < n; ++i)
        x[i] ^= x[i - 1];
    uint32_t turn = 0;
    for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
        if (x[n - 1] & q)
            turn ^= q - 1;
    uint64_t key = 0;
    for (uint32_t bit = bits; bit-- > 0;)
        for (uint32_t i = 0; i < n; ++i)
            key = key << 1 | ((x[i] ^ turn) >> bit & 1);
    return key;
}

micap_cell_span micap_cell_span_around(const micap_cell_space *space, uint32_t axis, int32_t at, double radius)
{
    int32_t count = space->axes[axis].count;
    double cells = radius * space->axes[axis].per_size;
    int32_t distance = cells < count ? (int32_t)cells : count;
    distance += (double)distance < cells;
    if (axis >= space->axis_count || 2 * (int64_t)distance + 1 >= count)
        return (micap_cell_span){0, count};
    int32_t first = at - distance, last = at + distance;
    if (space->is_torus)
        return (micap_cell_span){first < 0 ? first + count : first, 2 * distance + 1};
    first = first < 0 ? 0 : first;
    last = last < count ? last : count - 1;
    return (micap_cell_span){first, last - first + 1};
}

uint64_t micap_cells_in_reach(const micap_cell_space *space, double radius)
{
    uint64_t cells = 1;
    for (uint32_t i = 0; i < space->axis_count; ++i)
        cells *= (uint64_t)micap_cell_span_around(space, i, space->axes[i].count / 2, radius).count;
    return cells;
}
