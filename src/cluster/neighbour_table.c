#include "cluster/neighbour_table.h"

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/value_codec.h"
#include "mica/component.h"

#include <stdlib.h>

/* Runs are listed if so many cells are within reach: more would take too much memory. */
enum { LISTED_CELLS_MAX = 64 };

static void clear_rich(const micap_ghost_layout *layout, char *values, uint32_t count)
{
    for (uint32_t row = 0; layout->rich && row < count; ++row, values += layout->row_bytes)
        for (uint32_t i = 0; i < layout->count; ++i)
            if (layout->rich >> i & 1)
                micap_codec_clear_value(mica_component_type(layout->components[i]), values + layout->offsets[i]);
}

void micap_neighbour_table_free(micap_neighbour_table *table)
{
    micap_memory *memory = table->memory;
    if (!memory)
        return;
    micap_neighbour_table_begin(table);
    clear_rich(&table->layout, table->values, table->count);
    MICAP_RELEASE_ARRAY(memory, table->added, table->added_capacity);
    MICAP_RELEASE_ARRAY(memory, table->added_values, table->added_value_capacity);
    MICAP_RELEASE_ARRAY(memory, table->rows, table->row_capacity);
    MICAP_RELEASE_ARRAY(memory, table->origins, table->origin_capacity);
    MICAP_RELEASE_ARRAY(memory, table->values, table->value_capacity);
    MICAP_RELEASE_ARRAY(memory, table->order, table->order_capacity);
    MICAP_RELEASE_ARRAY(memory, table->places, table->place_capacity);
    MICAP_RELEASE_ARRAY(memory, table->runs, table->run_capacity);
    MICAP_RELEASE_ARRAY(memory, table->slots, table->slot_capacity);
}

void micap_neighbour_table_begin(micap_neighbour_table *table)
{
    clear_rich(&table->layout, table->added_values, table->added_rich_count);
    table->added_count = table->added_rich_count = 0;
}

char *micap_neighbour_table_add(micap_neighbour_table *table, const micap_neighbour_row *row)
{
    size_t bytes = table->layout.row_bytes;
    uint64_t count = (uint64_t)table->added_count + 1;
    if (!MICAP_RESERVE(table->memory, table->added, &table->added_capacity, count) ||
        !MICAP_RESERVE(table->memory, table->added_values, &table->added_value_capacity, count * bytes))
        return NULL;
    table->added[table->added_count] = *row;
    ++table->added_rich_count;
    return memset(table->added_values + table->added_count++ * bytes, 0, bytes);
}

/* Sorts the rows of a cell by identity. Cells have few rows, so insertion is best; a crowded one is sorted by halves. */
static void sort_cell(const micap_neighbour_table *table, uint32_t *numbers, uint32_t count, uint32_t *spare)
{
    const micap_neighbour_row *rows = table->added;
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

/* Sorts the cells by number. Those of the last time are sorted already, and stay unless the cells were cleared. False if memory is short. */
static bool order_cells(micap_neighbour_table *table, micap_cell_table *cells)
{
    uint32_t known = table->order_count <= cells->cell_count ? table->order_count : 0;
    for (uint32_t i = 0; i < known; ++i)
        if (table->order[i].cell >= known || table->order[i].number != cells->cells[table->order[i].cell].number)
            known = 0;
    table->order_count = 0;
    if (!cells->cell_count)
        return true;
    if (!MICAP_RESERVE(table->memory, table->order, &table->order_capacity, 2 * (uint64_t)cells->cell_count))
        return false;
    micap_numbered_cell *order = table->order, *added = order + cells->cell_count; /* room for those that are merged */
    uint32_t added_count = cells->cell_count - known;
    for (uint32_t i = 0; i < added_count; ++i)
        added[i] = (micap_numbered_cell){.number = cells->cells[known + i].number, .cell = known + i};
    if (added_count)
        qsort(added, added_count, sizeof *added, compare_numbers);
    for (uint32_t to = cells->cell_count; added_count; --to) {
        bool is_known = known && order[known - 1].number > added[added_count - 1].number;
        order[to - 1] = is_known ? order[--known] : added[--added_count];
    }
    table->order_count = cells->cell_count;
    for (uint32_t i = 0; i < table->order_count; ++i) {
        cells->cells[order[i].cell].position = i;
        order[i].row_count = order[i].run_count = 0;
    }
    return true;
}

static micap_numbered_cell *ordered_cell(const micap_neighbour_table *table, const micap_cell_table *cells,
                                         uint32_t added)
{
    return &table->order[cells->cells[table->added[added].cell].position];
}

/* Numbers of the added rows, by cell. */
static void number_rows(const micap_neighbour_table *table, const micap_cell_table *cells, uint32_t *numbers)
{
    for (uint32_t i = 0; i < table->added_count; ++i)
        ++ordered_cell(table, cells, i)->row_count;
    uint32_t first = 0;
    for (uint32_t i = 0; i < table->order_count; ++i) {
        table->order[i].row_first = first;
        first += table->order[i].row_count;
        table->order[i].row_count = 0;
    }
    for (uint32_t i = 0; i < table->added_count; ++i) {
        micap_numbered_cell *cell = ordered_cell(table, cells, i);
        numbers[cell->row_first + cell->row_count++] = i;
    }
}

/* Copies a row to its place and remembers where it is. */
static bool place_row(micap_neighbour_table *table, const micap_cell_table *cells, uint32_t from, uint32_t to)
{
    const micap_neighbour_row *row = &table->added[from];
    size_t bytes = table->layout.row_bytes;
    table->rows[to] = (micap_near_row){{row->at[0], row->at[1], row->at[2]}, row->identity};
    table->origins[to] = (micap_row_origin){row->entity, row->rank, row->cell};
    memcpy(table->values + to * bytes, table->added_values + from * bytes, bytes);
    if (mica_is_nil(row->entity)) {
        ++table->ghost_count;
        return true;
    }
    uint32_t old = table->place_capacity;
    if (!MICAP_RESERVE(table->memory, table->places, &table->place_capacity, (uint64_t)row->entity.index + 1))
        return false;
    memset(table->places + old, 0, (table->place_capacity - old) * sizeof *table->places);
    table->places[row->entity.index] =
        (micap_row_place){to, cells->cells[row->cell].position, row->entity.generation, table->build};
    return true;
}

static bool reserve_rows(micap_neighbour_table *table, uint32_t count)
{
    uint64_t bytes = (uint64_t)count * table->layout.row_bytes;
    return MICAP_RESERVE(table->memory, table->rows, &table->row_capacity, count) &&
           MICAP_RESERVE(table->memory, table->origins, &table->origin_capacity, count) &&
           MICAP_RESERVE(table->memory, table->values, &table->value_capacity, bytes);
}

/* ---- rows around a cell */

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

/* The cells around a cell, in their order, as runs of consecutive rows. */
typedef struct cell_walk {
    micap_cell_span spans[3];
    int32_t x, y, z;
    const micap_numbered_cell *last;
    micap_row_run next; /* found already */
} cell_walk;

static cell_walk begin_walk(const micap_neighbour_table *table, micap_cell centre, double radius)
{
    cell_walk walk = {0};
    for (uint32_t axis = 0; axis < 3; ++axis)
        walk.spans[axis] = micap_cell_span_around(table->space, axis, centre.at[axis], radius);
    return walk;
}

/* The next cell of a walk that has rows, or NULL at the end. */
static const micap_numbered_cell *next_cell(const micap_neighbour_table *table, const micap_cell_table *cells,
                                            cell_walk *walk)
{
    for (; walk->z < walk->spans[2].count; ++walk->z, walk->y = 0)
        for (; walk->y < walk->spans[1].count; ++walk->y, walk->x = 0)
            while (walk->x < walk->spans[0].count) {
                micap_cell at = {{micap_cell_span_at(table->space, 0, walk->spans[0], walk->x++),
                                  micap_cell_span_at(table->space, 1, walk->spans[1], walk->y),
                                  micap_cell_span_at(table->space, 2, walk->spans[2], walk->z)}};
                const micap_numbered_cell *cell = find_cell(table, cells, walk->last, micap_cell_number(at));
                if (cell)
                    return walk->last = cell;
            }
    return NULL;
}

/* The next run of rows; empty at the end. */
static micap_row_run next_run(const micap_neighbour_table *table, const micap_cell_table *cells, cell_walk *walk)
{
    micap_row_run run = walk->next;
    walk->next = (micap_row_run){0};
    for (const micap_numbered_cell *cell; (cell = next_cell(table, cells, walk));) {
        if (!cell->row_count)
            continue;
        micap_row_run own = {cell->row_first, cell->row_first + cell->row_count};
        if (run.end && own.begin != run.end) {
            walk->next = own;
            return run;
        }
        run = (micap_row_run){run.end ? run.begin : own.begin, own.end};
    }
    return run;
}

/* What is within reach of a cell is the same for all of its entities, so it is found once. False if memory is short. */
static bool list_runs(micap_neighbour_table *table, const micap_cell_table *cells)
{
    if (!(cells->reach > 0) || micap_cells_in_reach(table->space, cells->reach) > LISTED_CELLS_MAX)
        return true;
    for (uint32_t i = 0; i < table->order_count; ++i) {
        micap_numbered_cell *cell = &table->order[i];
        cell->run_first = table->run_count;
        if (!cell->row_count || cells->cells[cell->cell].owner != cells->rank)
            continue;
        cell_walk walk = begin_walk(table, cells->cells[cell->cell].cell, cells->reach);
        for (micap_row_run run; (run = next_run(table, cells, &walk)).end;) {
            if (!MICAP_RESERVE(table->memory, table->runs, &table->run_capacity, (uint64_t)table->run_count + 1))
                return false;
            table->runs[table->run_count++] = run;
        }
        cell->run_count = table->run_count - cell->run_first;
    }
    return true;
}

/* ---- the table */

bool micap_neighbour_table_end(micap_neighbour_table *table, micap_cell_table *cells)
{
    uint32_t count = table->added_count;
    size_t bytes = (size_t)count * 2 * sizeof(uint32_t);
    uint32_t *numbers = micap_allocate(table->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    clear_rich(&table->layout, table->values, table->count); /* of the last time */
    bool done = numbers && reserve_rows(table, count) && order_cells(table, cells);
    table->count = table->ghost_count = table->run_count = 0;
    table->has_slots = false;
    ++table->build;
    if (done) {
        number_rows(table, cells, numbers);
        for (uint32_t i = 0; i < table->order_count; ++i)
            sort_cell(table, numbers + table->order[i].row_first, table->order[i].row_count, numbers + count);
        for (uint32_t i = 0; i < count && done; ++i)
            done = place_row(table, cells, numbers[i], i);
        done = done && list_runs(table, cells);
        table->count = done ? count : 0;
        table->added_rich_count = done ? 0 : table->added_rich_count;
    }
    micap_release(table->memory, numbers, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

/* Where an entity of this rank is; NULL if it has no row. */
static const micap_row_place *find_place(const micap_neighbour_table *table, mica_entity entity)
{
    const micap_row_place *place = entity.index < table->place_capacity ? &table->places[entity.index] : NULL;
    bool is_there = place && place->build == table->build && place->generation == entity.generation;
    return is_there && place->row < table->count ? place : NULL;
}

uint64_t micap_neighbour_table_identity(const micap_neighbour_table *table, mica_entity entity)
{
    const micap_row_place *place = find_place(table, entity);
    return place ? table->rows[place->row].identity : 0;
}

static bool build_slots(micap_neighbour_table *table)
{
    uint64_t capacity = 64;
    while (capacity < (uint64_t)table->count * 2)
        capacity *= 2;
    if (!MICAP_RESERVE(table->memory, table->slots, &table->slot_capacity, capacity))
        return false;
    memset(table->slots, 0, table->slot_capacity * sizeof *table->slots);
    for (uint32_t i = 0; i < table->count; ++i) {
        uint64_t at = micap_hash_mix(table->rows[i].identity) % table->slot_capacity;
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
        if (table->rows[table->slots[at] - 1].identity == identity) {
            *out_row = table->slots[at] - 1;
            return true;
        }
    return true;
}

/* ---- searching */

/* What a search has found so far. */
typedef struct search {
    const micap_neighbour_table *table;
    uint32_t row;
    double limit; /* of the squared distance */
    mica_cluster_neighbour *out;
    uint32_t capacity, count;
} search;

static inline mica_point offset_to(const search *search, const micap_near_row *row, bool is_torus, bool has_depth)
{
    const micap_cell_space *space = search->table->space;
    const double *from = search->table->rows[search->row].at;
    return (mica_point){micap_cell_offset(&space->axes[0], is_torus, from[0], row->at[0]),
                        micap_cell_offset(&space->axes[1], is_torus, from[1], row->at[1]),
                        has_depth ? micap_cell_offset(&space->axes[2], is_torus, from[2], row->at[2]) : 0};
}

/* Which rows are near is as good as random to the processor, so their numbers are listed without a branch first. The last two
 * arguments are constants. */
static MICAP_INLINE void search_rows(search *search, micap_row_run run, bool is_torus, bool has_depth)
{
    enum { LISTED = 64 };
    const micap_near_row *rows = search->table->rows;
    while (run.begin < run.end) {
        uint32_t count = run.end - run.begin < LISTED ? run.end - run.begin : LISTED, hit_count = 0;
        uint8_t hits[LISTED];
        for (uint32_t i = 0; i < count; ++i) {
            mica_point to = offset_to(search, &rows[run.begin + i], is_torus, has_depth);
            hits[hit_count] = (uint8_t)i;
            hit_count += to.x * to.x + to.y * to.y + to.z * to.z <= search->limit;
        }
        for (uint32_t i = 0; i < hit_count; ++i) {
            /* The analyzer does not follow the count of hits. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
            uint32_t number = run.begin + hits[i];
            const micap_near_row *row = &rows[number];
            mica_point to = offset_to(search, row, is_torus, has_depth);
            if (number == search->row)
                continue;
            if (search->count < search->capacity)
                search->out[search->count] = (mica_cluster_neighbour){
                    row->identity, to.x * to.x + to.y * to.y + to.z * to.z, {to.x, to.y, to.z}, number};
            ++search->count;
        }
        run.begin += count;
    }
}

static void search_run(search *search, micap_row_run run)
{
    const micap_cell_space *space = search->table->space;
    if (space->axis_count == 2 && !space->is_torus)
        search_rows(search, run, false, false);
    else if (space->axis_count == 2)
        search_rows(search, run, true, false);
    else if (!space->is_torus)
        search_rows(search, run, false, true);
    else
        search_rows(search, run, true, true);
}

uint32_t micap_neighbour_table_search(const micap_neighbour_table *table, const micap_cell_table *cells,
                                      mica_entity entity, double radius, mica_cluster_neighbour *out, uint32_t capacity)
{
    const micap_row_place *place = find_place(table, entity);
    if (!place)
        return 0;
    search search = {.table = table, .row = place->row, .limit = radius * radius, .out = out, .capacity = capacity};
    const micap_numbered_cell *own = &table->order[place->position];
    if (radius == cells->reach && own->run_count) {
        for (uint32_t i = 0; i < own->run_count; ++i)
            search_run(&search, table->runs[own->run_first + i]);
        return search.count;
    }
    cell_walk walk = begin_walk(table, cells->cells[own->cell].cell, radius);
    for (micap_row_run run; (run = next_run(table, cells, &walk)).end;)
        search_run(&search, run);
    return search.count;
}
