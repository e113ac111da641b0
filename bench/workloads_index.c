/* Finding entities by a value and by position, next to a hash table, a sorted array and a counting-sort grid. */
#include "bench.h"
#include "raw.h"

#include "mica/index.h"
#include "mica/mica.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ticket { uint32_t number; } Ticket;
MICA_COMPONENT(Ticket, number)
typedef struct Spot { float x, y; } Spot;
MICA_COMPONENT_WITH(Spot, (.track_changed = true), x, y)

/* Different numbers that are spread over 32 bits. */
static uint32_t number_of(uint32_t i)
{
    return i * 2654435761u;
}

static measurement find_mica(uint32_t n, bool hashed)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity first = mica_nil();
    for (uint32_t i = 0; i < n; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Ticket, {number_of(i)}));
        first = i ? first : entity;
    }
    mica_index *index =
        mica_index_create(world, &(mica_index_def){.component = MICA_ID(Ticket), .fields = "number", .hashed = hashed});
    require(index && mica_index_update(index) == MICA_OK, "mica_index_update failed");
    uint32_t *order = shuffled(n);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_find_by(index, mica_key_integer(number_of(order[i]))).index - first.index;
    double time = (now_ns() - start) / n;
    free(order);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement find_hash_mica(uint32_t n)
{
    return find_mica(n, true);
}

static measurement find_ordered_mica(uint32_t n)
{
    return find_mica(n, false);
}

typedef struct ticket_slot {
    uint32_t number;
    raw_id id; /* generation 0: empty */
} ticket_slot;

/* At most half of the slots are in use, as in Mica's table. */
static measurement find_hash_raw(uint32_t n)
{
    uint32_t bits = 1;
    while (1u << bits < n * 2)
        ++bits;
    uint32_t mask = (1u << bits) - 1;
    ticket_slot *slots = allocate_or_exit(((size_t)mask + 1) * sizeof *slots);
    memset(slots, 0, ((size_t)mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t slot = (uint32_t)(number_of(i) * 0x9e3779b97f4a7c15u >> (64 - bits));
        while (slots[slot].id.generation)
            slot = (slot + 1) & mask;
        slots[slot] = (ticket_slot){number_of(i), {i, 1}};
    }
    uint32_t *order = shuffled(n);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t number = number_of(order[i]), slot = (uint32_t)(number * 0x9e3779b97f4a7c15u >> (64 - bits));
        while (slots[slot].id.generation && slots[slot].number != number)
            slot = (slot + 1) & mask;
        sum += slots[slot].id.index;
    }
    double time = (now_ns() - start) / n;
    free(order);
    free(slots);
    return (measurement){time, sum};
}

static int compare_slots(const void *a, const void *b)
{
    const ticket_slot *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

static measurement find_ordered_raw(uint32_t n)
{
    ticket_slot *sorted = allocate_or_exit(n * sizeof *sorted);
    for (uint32_t i = 0; i < n; ++i)
        sorted[i] = (ticket_slot){number_of(i), {i, 1}};
    qsort(sorted, n, sizeof *sorted, compare_slots);
    uint32_t *order = shuffled(n);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t number = number_of(order[i]), count = n;
        const ticket_slot *base = sorted;
        while (count > 1) {
            uint32_t half = count / 2;
            base += base[half - 1].number < number ? half : 0;
            count -= half;
        }
        sum += base->id.index;
    }
    double time = (now_ns() - start) / n;
    free(order);
    free(sorted);
    return (measurement){time, sum};
}

/* Grids. Positions are multiples of 1/16, so that distances are exact in float and in double. */

enum { SIZE = 396, CELLS = 198, GRID_ROUNDS = 10, PROBES = 1000 };
static const float RADIUS = 2;

static float coordinate(uint32_t i, uint32_t round, uint32_t axis)
{
    uint32_t hash = (i * 2 + axis + 1) * 2654435761u ^ (round + 1) * 2246822519u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    return (float)((hash ^ hash >> 13) % (SIZE * 16)) / 16;
}

/* The cells of points, by counting sort. */
typedef struct raw_grid {
    uint32_t starts[CELLS * CELLS + 1];
    struct raw_point {
        float x, y;
        uint32_t id;
    } * points;
    uint32_t *cells; /* of points by id */
} raw_grid;

static uint32_t cell_on_axis(float value)
{
    uint32_t cell = (uint32_t)(value * ((float)CELLS / SIZE));
    return cell < CELLS ? cell : CELLS - 1;
}

static void raw_grid_rebuild(raw_grid *grid, const Spot *spots, uint32_t n)
{
    memset(grid->starts, 0, sizeof grid->starts);
    for (uint32_t i = 0; i < n; ++i) {
        grid->cells[i] = cell_on_axis(spots[i].y) * CELLS + cell_on_axis(spots[i].x);
        ++grid->starts[grid->cells[i] + 1];
    }
    for (uint32_t cell = 1; cell <= CELLS * CELLS; ++cell)
        grid->starts[cell] += grid->starts[cell - 1];
    for (uint32_t i = 0; i < n; ++i)
        grid->points[grid->starts[grid->cells[i]]++] = (struct raw_point){spots[i].x, spots[i].y, i};
    for (uint32_t cell = CELLS * CELLS; cell > 0; --cell) /* each start has moved to its end */
        grid->starts[cell] = grid->starts[cell - 1];
    grid->starts[0] = 0;
}

/* How far away the neighbours of a point are in all, without the point itself. */
static double raw_grid_visit(const raw_grid *grid, float x, float y, uint32_t self)
{
    uint32_t column = cell_on_axis(x), row = cell_on_axis(y);
    uint32_t left = column ? column - 1 : 0, right = column + 1 < CELLS ? column + 1 : column;
    uint32_t low = row ? row - 1 : 0, high = row + 1 < CELLS ? row + 1 : row;
    double sum = 0;
    for (uint32_t at = low; at <= high; ++at) {
        uint32_t end = grid->starts[at * CELLS + right + 1];
        for (uint32_t i = grid->starts[at * CELLS + left]; i < end; ++i) {
            float dx = grid->points[i].x - x, dy = grid->points[i].y - y, distance = dx * dx + dy * dy;
            if (distance <= RADIUS * RADIUS && grid->points[i].id != self)
                sum += distance;
        }
    }
    return sum;
}

static raw_grid *raw_grid_create(uint32_t n)
{
    raw_grid *grid = allocate_or_exit(sizeof *grid);
    grid->points = allocate_or_exit(n * sizeof *grid->points);
    grid->cells = allocate_or_exit(n * sizeof *grid->cells);
    return grid;
}

static void raw_grid_free(raw_grid *grid)
{
    free(grid->points);
    free(grid->cells);
    free(grid);
}

static void move_all(Spot *spots, uint32_t n, uint32_t round)
{
    for (uint32_t i = 0; i < n; ++i)
        spots[i] = (Spot){coordinate(i, round, 0), coordinate(i, round, 1)};
}

static measurement neighbours_raw(uint32_t n)
{
    Spot *spots = allocate_or_exit(n * sizeof *spots);
    raw_grid *grid = raw_grid_create(n);
    double sum = 0, time = 0;
    for (uint32_t round = 0; round < GRID_ROUNDS; ++round) {
        move_all(spots, n, round);
        double start = now_ns();
        raw_grid_rebuild(grid, spots, n);
        for (uint32_t i = 0; i < n; ++i)
            sum += raw_grid_visit(grid, grid->points[i].x, grid->points[i].y, grid->points[i].id);
        time += now_ns() - start;
    }
    raw_grid_free(grid);
    free(spots);
    return (measurement){time / n / GRID_ROUNDS, (uint64_t)sum};
}

static mica_index *grid_create(mica_world *world, uint32_t n, mica_entity *out_entities)
{
    for (uint32_t i = 0; i < n; ++i)
        out_entities[i] = mica_create(world, MICA_WITH(Spot, {coordinate(i, 0, 0), coordinate(i, 0, 1)}));
    mica_index *grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Spot),
                                                                  .fields = "x, y",
                                                                  .cell_size = (double)SIZE / CELLS,
                                                                  .maximum = {SIZE, SIZE}});
    require(grid && mica_index_update(grid) == MICA_OK, "mica_index_update failed");
    return grid;
}

static void add_distances(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)entity;
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += neighbours[i].distance_squared;
    *(double *)context += sum;
}

static measurement neighbours_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *entities = allocate_or_exit(n * sizeof *entities);
    mica_index *grid = grid_create(world, n, entities);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Spot)));
    double sum = 0, time = 0;
    for (uint32_t round = 0; round < GRID_ROUNDS; ++round) {
        uint32_t done = 0;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); done += view.count) {
            Spot *spots = mica_view_write(&view, Spot);
            for (uint32_t i = 0; i < view.count; ++i)
                spots[i] = (Spot){coordinate(done + i, round, 0), coordinate(done + i, round, 1)};
        }
        double start = now_ns();
        mica_index_update(grid);
        mica_grid_loop loop = {.radius = (double)RADIUS, .one_thread = true, .fn = add_distances, .context = &sum};
        mica_grid_each(grid, &loop);
        time += now_ns() - start;
    }
    free(entities);
    mica_world_destroy(world);
    return (measurement){time / n / GRID_ROUNDS, (uint64_t)sum};
}

/* One percent of the points, other ones in each round. */
static uint32_t mover_of(uint32_t n, uint32_t round, uint32_t i)
{
    return (i * 100 + round * 37 + i % 97) % n;
}

static measurement update_raw(uint32_t n)
{
    Spot *spots = allocate_or_exit(n * sizeof *spots);
    raw_grid *grid = raw_grid_create(n);
    double sum = 0, time = 0;
    move_all(spots, n, 0);
    for (uint32_t round = 1; round <= GRID_ROUNDS; ++round) {
        for (uint32_t i = 0; i < n / 100; ++i) {
            uint32_t moved = mover_of(n, round, i);
            spots[moved] = (Spot){coordinate(moved, round, 0), coordinate(moved, round, 1)};
        }
        double start = now_ns();
        raw_grid_rebuild(grid, spots, n);
        time += now_ns() - start;
    }
    for (uint32_t i = 0; i < PROBES; ++i)
        sum += raw_grid_visit(grid, spots[i].x, spots[i].y, i);
    raw_grid_free(grid);
    free(spots);
    return (measurement){time / n / GRID_ROUNDS, (uint64_t)sum};
}

static measurement update_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *entities = allocate_or_exit(n * sizeof *entities);
    mica_index *grid = grid_create(world, n, entities);
    double sum = 0, time = 0;
    for (uint32_t round = 1; round <= GRID_ROUNDS; ++round) {
        for (uint32_t i = 0; i < n / 100; ++i) {
            uint32_t moved = mover_of(n, round, i);
            *mica_write(world, entities[moved], Spot) =
                (Spot){coordinate(moved, round, 0), coordinate(moved, round, 1)};
        }
        double start = now_ns();
        mica_index_update(grid);
        time += now_ns() - start;
    }
    for (uint32_t i = 0; i < PROBES; ++i) {
        mica_neighbour near[64];
        uint32_t count = mica_grid_around(grid, entities[i], (double)RADIUS, near, 64);
        add_distances(entities[i], near, count, &sum);
    }
    free(entities);
    mica_world_destroy(world);
    return (measurement){time / n / GRID_ROUNDS, (uint64_t)sum};
}

const workload index_workloads[] = {
    {"index_find_1M", 1000000, find_hash_mica, find_hash_raw, 1.3, UNIT_RATIO},
    {"index_find_ordered_1M", 1000000, find_ordered_mica, find_ordered_raw, 1.3, UNIT_RATIO},
    {"index_find_10k", 10000, find_hash_mica, find_hash_raw, 1.3, UNIT_RATIO},
    {"grid_neighbours", 100000, neighbours_mica, neighbours_raw, 1.2, UNIT_RATIO},
    {"grid_update", 100000, update_mica, update_raw, 0.1, UNIT_RATIO},
    {NULL, 0, NULL, NULL, 0, UNIT_RATIO},
};
