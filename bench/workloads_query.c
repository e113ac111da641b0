/* Making queries, and visiting only what changed. */
#include "bench.h"
#include "components.h"
#include "fragments.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

enum { QUERIES = 200 };

/* Among n archetypes with Position and Velocity, find the half that has one of the tags. */
static measurement query_new_cached_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    populate_tag_sets(world, n);
    const mica_term terms[] = {
        MICA_WRITE(Position), MICA_READ(Velocity), {.component = tag_at(3), .access = MICA_ACCESS_HAS}};
    const mica_query_def def = {.terms = terms, .term_count = 3, .location = MICA_HERE};
    mica_query *query = NULL;
    double start = now_ns();
    for (uint32_t i = 0; i < QUERIES; ++i) {
        mica_query_destroy(query);
        query = mica_query_create(world, &def);
    }
    double time = (now_ns() - start) / QUERIES;
    uint64_t matches = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        ++matches;
    mica_world_destroy(world);
    return (measurement){time, matches};
}

typedef struct raw_matches {
    uint32_t *archetypes;
    uint32_t count;
} raw_matches;

/* Not to be inlined: the compiler must not see that one query is like the next. */
__attribute__((noinline)) static raw_matches find_matches(const uint64_t *masks, uint32_t n, uint64_t wanted)
{
    raw_matches matches = {NULL, 0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < n; ++i) {
        if ((masks[i] & wanted) != wanted)
            continue;
        if (matches.count == capacity) {
            capacity = capacity == 0 ? 16 : capacity * 2;
            uint32_t *larger = realloc(matches.archetypes, capacity * sizeof *larger);
            require(larger != NULL, "out of memory");
            matches.archetypes = larger;
        }
        matches.archetypes[matches.count++] = i;
    }
    return matches;
}

static measurement query_new_cached_raw(uint32_t n)
{
    uint64_t *masks = allocate_or_exit(n * sizeof *masks);
    for (uint32_t i = 0; i < n; ++i)
        masks[i] = 3 | (uint64_t)i << 2;
    raw_matches matches = {NULL, 0};
    double start = now_ns();
    for (uint32_t i = 0; i < QUERIES; ++i) {
        free(matches.archetypes);
        matches = find_matches(masks, n, 3 | 1u << 5);
    }
    double time = (now_ns() - start) / QUERIES;
    free(matches.archetypes);
    free(masks);
    return (measurement){time, matches.count};
}

enum { ROUNDS = 50, BLOCK_ROWS = 512 };

/* One entity in each of one percent of the blocks, other ones in every round. */
static uint32_t entity_to_change(uint32_t n, uint32_t round, uint32_t change)
{
    return (uint32_t)(((uint64_t)change * 100 + round * 7) * BLOCK_ROWS + round) % n;
}

static uint32_t changes_for(uint32_t n)
{
    return n / BLOCK_ROWS / 100;
}

/* Only changed rows have a z other than zero, so the rows that share a block with them don't show in the sum:
 * blocks need not begin at the same rows on both sides. */
static measurement change_iter_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    for (uint32_t i = 0; i < n; ++i)
        mica_write(world, ids[i], Position)->z = 0;
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_CHANGED(Position)));
    require(changed != NULL, "mica_query_create failed");
    uint64_t sum = 0;
    double time = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_version since = mica_world_mark(world);
        for (uint32_t i = 0; i < changes_for(n); ++i)
            mica_write(world, ids[entity_to_change(n, round, i)], Position)->z = (float)(round + i);
        double start = now_ns();
        for (mica_view view = mica_query_begin_since(changed, since); mica_view_next(&view);)
            sum += sum_of_z(mica_view_read_at(&view, 0), view.count);
        time += now_ns() - start;
        for (uint32_t i = 0; i < changes_for(n); ++i)
            mica_write(world, ids[entity_to_change(n, round, i)], Position)->z = 0;
    }
    free(ids);
    mica_world_destroy(world);
    return (measurement){time / ROUNDS, sum};
}

static void touch_raw(raw_world *world, uint8_t *dirty, raw_id id, float z)
{
    Position *position = raw_get_position(world, id);
    position->z = z;
    dirty[(position - world->position) / BLOCK_ROWS] = 1;
}

static measurement change_iter_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    for (uint32_t i = 0; i < n; ++i)
        world.position[i].z = 0;
    uint32_t blocks = (n + BLOCK_ROWS - 1) / BLOCK_ROWS;
    uint8_t *dirty = allocate_or_exit(blocks);
    uint64_t sum = 0;
    double time = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        memset(dirty, 0, blocks);
        for (uint32_t i = 0; i < changes_for(n); ++i)
            touch_raw(&world, dirty, ids[entity_to_change(n, round, i)], (float)(round + i));
        double start = now_ns();
        for (uint32_t block = 0; block < blocks; ++block) {
            if (!dirty[block])
                continue;
            uint32_t first = block * BLOCK_ROWS;
            uint32_t count = world.count - first < BLOCK_ROWS ? world.count - first : BLOCK_ROWS;
            sum += sum_of_z(world.position + first, count);
        }
        time += now_ns() - start;
        for (uint32_t i = 0; i < changes_for(n); ++i)
            touch_raw(&world, dirty, ids[entity_to_change(n, round, i)], 0);
    }
    free(dirty);
    free(ids);
    raw_world_free(&world);
    return (measurement){time / ROUNDS, sum};
}

/* A query that is created, used for one loop and destroyed. */
static measurement query_once_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    free(populate_mica(world, n, NULL));
    uint64_t rows = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < QUERIES; ++i) {
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Velocity)));
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            rows += view.count;
        mica_query_destroy(query);
    }
    double time = (now_ns() - start) / QUERIES;
    mica_world_destroy(world);
    return (measurement){time, rows};
}

/* By hand: what a query keeps is found and allocated. */
static measurement query_once_raw(uint32_t n)
{
    const uint64_t masks[] = {3};
    uint64_t rows = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < QUERIES; ++i) {
        raw_matches matches = find_matches(masks, 1, 3);
        for (uint32_t k = 0; k < matches.count; ++k)
            rows += n;
        free(matches.archetypes);
    }
    return (measurement){(now_ns() - start) / QUERIES, rows};
}

const workload query_workloads[] = {
    {"query_once", 100, query_once_mica, query_once_raw, 20.0, UNIT_RATIO},
    {"query_new_cached_1024", TAG_SETS, query_new_cached_mica, query_new_cached_raw, 3.0, UNIT_RATIO},
    {"change_iter", 1000000, change_iter_mica, change_iter_raw, 1.5, UNIT_RATIO},
    {0},
};
