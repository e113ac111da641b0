#include "cluster/neighbour_table.h"

#include "base/hash.h"

#include <stdlib.h>

static void free_rows(micap_memory *memory, micap_rows *rows)
{
    MICAP_RELEASE_ARRAY(memory, rows->rows, rows->row_capacity);
    MICAP_RELEASE_ARRAY(memory, rows->values, rows->value_capacity);
}

void micap_neighbour_table_free(micap_neighbour_table *table)
{
    if (!table->memory)
        return;
    free_rows(table->memory, &table->added);
    free_rows(table->memory, &table->sorted);
    MICAP_RELEASE_ARRAY(table->memory, table->order, table->order_capacity);
    MICAP_RELEASE_ARRAY(table->memory, table->row_of_index, table->row_of_index_capacity);
    MICAP_RELEASE_ARRAY(table->memory, table->slots, table->slot_capacity);
}

static bool reserve_rows(micap_neighbour_table *table, micap_rows *rows, uint64_t count)
{
    return MICAP_RESERVE(table->memory, rows->rows, &rows->row_capacity, count) &&
           MICAP_RESERVE(table->memory, rows->values, &rows->value_capacity, count * table->layout.row_bytes);
}

static char *values_of(const micap_neighbour_table *table, const micap_rows *rows, uint32_t row)
{
    return rows->values + (size_t)row * table->layout.row_bytes;
}

void micap_neighbour_table_begin(micap_neighbour_table *table)
{
    table->added.count = 0;
}

char *micap_neighbour_table_add(micap_neighbour_table *table, const micap_neighbour_row *row)
{
    micap_rows *rows = &table->added;
    if (!reserve_rows(table, rows, (uint64_t)rows->count + 1))
        return NULL;
    rows->rows[rows->count] = *row;
    return memset(values_of(table, rows, rows->count++), 0, table->layout.row_bytes);
}

/* Sorts the rows of a cell by identity. Cells have few rows, so insertion is best; a crowded one is sorted by halves. */
static void sort_cell(const micap_neighbour_table *table, uint32_t *numbers, uint32_t count, uint32_t *spare)
{
    const micap_neighbour_row *rows = table->added.rows;
    if (count <= 24) {
        for (uint32_t i = 1; i < count; ++i) {
            uint32_t number = numbers[i], at = i;
            for (; at && rows[numbers[at - 1]].identity > rows[number].identity; --at)
                numbers[at] = numbers[at - 1];
            numbers[at] = number;
        }
        return;
    }
    uint32_t half = count / 2, left = 0, right = half;
    sort_cell(table, numbers, half, spare);
    sort_cell(table, numbers + half, count - half, spare);
    memcpy(spare, numbers, count * sizeof *numbers);
    for (uint32_t i = 0; i < count; ++i) {
        bool is_left = right == count || (left < half && rows[spare[left]].identity <= rows[spare[right]].identity);
        numbers[i] = spare[is_left ? left++ : right++];
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const micap_numbered_cell *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the cells by number, unless they are those of the last time. False if memory is short. */
static bool order_cells(micap_neighbour_table *table, micap_cell_table *cells)
{
    bool is_known = table->order_count == cells->cell_count;
    for (uint32_t i = 0; is_known && i < table->order_count; ++i)
        is_known = table->order[i].number == cells->cells[table->order[i].cell].number;
    if (!is_known) {
        table->order_count = 0;
        if (!MICAP_RESERVE(table->memory, table->order, &table->order_capacity, cells->cell_count))
            return false;
        for (uint32_t i = 0; i < cells->cell_count; ++i)
            table->order[i] = (micap_numbered_cell){.number = cells->cells[i].number, .cell = i};
        table->order_count = cells->cell_count;
        qsort(table->order, table->order_count, sizeof *table->order, compare_numbers);
    }
    for (uint32_t i = 0; i < table->order_count; ++i) {
        cells->cells[table->order[i].cell].position = i;
        table->order[i].row_count = 0;
    }
    return true;
}

static micap_numbered_cell *ordered_cell(const micap_neighbour_table *table, const micap_cell_table *cells,
                                         uint32_t added)
{
    return &table->order[cells->cells[table->added.rows[added].cell].position];
}

/* Numbers of the added rows, by cell. */
static void number_rows(const micap_neighbour_table *table, const micap_cell_table *cells, uint32_t *numbers)
{
    for (uint32_t i = 0; i < table->added.count; ++i)
        ++ordered_cell(table, cells, i)->row_count;
    uint32_t first = 0;
    for (uint32_t i = 0; i < table->order_count; ++i) {
        table->order[i].row_first = first;
        first += table->order[i].row_count;
        table->order[i].row_count = 0;
    }
    for (uint32_t i = 0; i < table->added.count; ++i) {
        micap_numbered_cell *cell = ordered_cell(table, cells, i);
        numbers[cell->row_first + cell->row_count++] = i;
    }
}

/* Copies a row to its place and remembers where it is. */
static bool place_row(micap_neighbour_table *table, uint32_t from, uint32_t to)
{
    const micap_neighbour_row *row = &table->added.rows[from];
    table->sorted.rows[to] = *row;
    memcpy(values_of(table, &table->sorted, to), values_of(table, &table->added, from), table->layout.row_bytes);
    if (mica_is_nil(row->entity)) {
        ++table->ghost_count;
        return true;
    }
    uint32_t old = table->row_of_index_capacity;
    if (!MICAP_RESERVE(table->memory, table->row_of_index, &table->row_of_index_capacity,
                       (uint64_t)row->entity.index + 1))
        return false;
    memset(table->row_of_index + old, 0, (table->row_of_index_capacity - old) * sizeof *table->row_of_index);
    table->row_of_index[row->entity.index] = to + 1;
    return true;
}

bool micap_neighbour_table_end(micap_neighbour_table *table, micap_cell_table *cells)
{
    uint32_t count = table->added.count;
    size_t bytes = (size_t)count * 2 * sizeof(uint32_t);
    uint32_t *numbers = micap_allocate(table->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    bool done = numbers && reserve_rows(table, &table->sorted, count) && order_cells(table, cells);
    table->sorted.count = table->ghost_count = 0;
    table->has_slots = false;
    if (done) {
        number_rows(table, cells, numbers);
        for (uint32_t i = 0; i < table->order_count; ++i)
            sort_cell(table, numbers + table->order[i].row_first, table->order[i].row_count, numbers + count);
        for (uint32_t i = 0; i < count && done; ++i)
            done = place_row(table, numbers[i], i);
        table->sorted.count = done ? count : 0;
    }
    micap_release(table->memory, numbers, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

uint32_t micap_neighbour_table_row(const micap_neighbour_table *table, mica_entity entity)
{
    uint32_t row = entity.index < table->row_of_index_capacity ? table->row_of_index[entity.index] - 1 : MICAP_NO_ROW;
    return row < table->sorted.count && mica_same(table->sorted.rows[row].entity, entity) ? row : MICAP_NO_ROW;
}

uint64_t micap_neighbour_table_identity(const micap_neighbour_table *table, mica_entity entity)
{
    uint32_t row = micap_neighbour_table_row(table, entity);
    return row == MICAP_NO_ROW ? 0 : table->sorted.rows[row].identity;
}

static bool build_slots(micap_neighbour_table *table)
{
    uint64_t capacity = 64;
    while (capacity < (uint64_t)table->sorted.count * 2)
        capacity *= 2;
    if (!MICAP_RESERVE(table->memory, table->slots, &table->slot_capacity, capacity))
        return false;
    memset(table->slots, 0, table->slot_capacity * sizeof *table->slots);
    for (uint32_t i = 0; i < table->sorted.count; ++i) {
        uint64_t at = micap_hash_mix(table->sorted.rows[i].identity) % table->slot_capacity;
        while (table->slots[at])
            at = at + 1 < table->slot_capacity ? at + 1 : 0;
        table->slots[at] = i + 1;
    }
    return table->has_slots = true;
}

bool micap_neighbour_table_find(micap_neighbour_table *table, uint64_t identity, uint32_t *out_row)
{
    *out_row = MICAP_NO_ROW;
    if (!table->has_slots && !build_slots(table))
        return false;
    uint64_t at = micap_hash_mix(identity) % table->slot_capacity;
    for (; table->slots[at]; at = at + 1 < table->slot_capacity ? at + 1 : 0)
        if (table->sorted.rows[table->slots[at] - 1].identity == identity) {
            *out_row = table->slots[at] - 1;
            return true;
        }
    return true;
}

/* What a search has found so far. */
typedef struct search {
    const micap_neighbour_table *table;
    uint32_t row;
    double limit; /* of the squared distance */
    mica_cluster_neighbour *out;
    uint32_t capacity, count;
} search;

/* Every row is written, and the next one takes its place unless it is near: branches on distances can't be predicted. */
static void search_rows(search *search, uint32_t begin, uint32_t end)
{
    const micap_neighbour_table *table = search->table;
    const micap_neighbour_row *self = &table->sorted.rows[search->row];
    for (uint32_t i = begin; i < end; ++i) {
        const micap_neighbour_row *row = &table->sorted.rows[i];
        double x = micap_cell_offset(table->space, 0, self->at[0], row->at[0]);
        double y = micap_cell_offset(table->space, 1, self->at[1], row->at[1]);
        double z = table->space->axis_count < 3 ? 0 : micap_cell_offset(table->space, 2, self->at[2], row->at[2]);
        double distance = x * x + y * y + z * z;
        if (search->count < search->capacity)
            search->out[search->count] = (mica_cluster_neighbour){row->identity, distance, {x, y, z}, i};
        search->count += (uint32_t)(distance <= search->limit) & (uint32_t)(i != search->row);
    }
}

/* A cell with rows of the table, or NULL. The cell after the one that was found last is next to it, if it has rows. */
static const micap_numbered_cell *find_cell(const micap_neighbour_table *table, const micap_cell_table *cells,
                                            const micap_numbered_cell *last, uint64_t number)
{
    if (last && last->number + 1 == number) {
        const micap_numbered_cell *next = last + 1;
        return next < table->order + table->order_count && next->number == number ? next : NULL;
    }
    uint32_t cell = micap_cell_table_find(cells, number);
    uint32_t position = cell == MICAP_NO_CELL ? table->order_count : cells->cells[cell].position;
    return position < table->order_count && table->order[position].cell == cell ? &table->order[position] : NULL;
}

uint32_t micap_neighbour_table_search(const micap_neighbour_table *table, const micap_cell_table *cells, uint32_t row,
                                      double radius, mica_cluster_neighbour *out, uint32_t capacity)
{
    search search = {.table = table, .row = row, .limit = radius * radius, .out = out, .capacity = capacity};
    micap_cell own = cells->cells[table->sorted.rows[row].cell].cell, at;
    micap_cell_span spans[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
        spans[axis] = micap_cell_span_around(table->space, axis, own.at[axis], radius);
    const micap_numbered_cell *last = NULL;
    uint32_t begin = 0, end = 0; /* rows of cells that are next to each other */
    for (int32_t z = 0; z < spans[2].count; ++z)
        for (int32_t y = 0; y < spans[1].count; ++y)
            for (int32_t x = 0; x < spans[0].count; ++x) {
                at.at[0] = micap_cell_span_at(table->space, 0, spans[0], x);
                at.at[1] = micap_cell_span_at(table->space, 1, spans[1], y);
                at.at[2] = micap_cell_span_at(table->space, 2, spans[2], z);
                const micap_numbered_cell *cell = find_cell(table, cells, last, micap_cell_number(at));
                if (!cell)
                    continue;
                last = cell;
                if (cell->row_first != end) {
                    search_rows(&search, begin, end);
                    begin = cell->row_first;
                }
                end = cell->row_first + cell->row_count;
            }
    search_rows(&search, begin, end);
    return search.count;
}
