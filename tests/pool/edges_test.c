/* The tables of edges from the inside: every invariant is broken once, ranks run out, and edges wait to be linked. What relations promise
 * to programs is tested in tests/relation. */
#include "../relation/relations.h"
#include "../support/components.h"
#include "../support/damage.h"
#include "../support/faulty_allocator.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/snapshot.h"

#include "core/storage/world_pools.h"
#include "core/world/world.h"
#include "pool/pool_edge_table.h"
#include "pool/pool_rows.h"

#include <string.h>

static reports heard;

/* The target and the rank of an edge, where they are stored. */
static mica_entity *target_of(const mica_pool *pool, uint32_t row)
{
    return (mica_entity *)(void *)(pool->values + (size_t)row * pool->value_bytes + pool->edges->target_offset);
}
static uint32_t *rank_of(const mica_pool *pool, uint32_t row)
{
    return (uint32_t *)(void *)(pool->values + (size_t)row * pool->value_bytes + pool->edges->rank_offset);
}

START_TEST(damage_to_edges_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_entity target = mica_create(world), other = mica_create(world), without = mica_create(world);
    REQUIRE(mica_relate(world, a, Likes, target) && mica_relate(world, b, Likes, target));
    REQUIRE(mica_relate(world, c, Likes, target) && mica_relate(world, a, Likes, other));
    for (uint32_t i = 0; i < MICAP_EDGES_WALKED; ++i) /* so that there is a table */
        REQUIRE(mica_relate(world, a, Likes, mica_create(world)));
    mica_pool *pool = mica_pool_of(world, Likes);
    micap_pool_edges *edges = pool->edges;
    micap_edge_links *links = pool->links;
    uint64_t *entries = edges->targets.pages[0];
    uint32_t slot = 0;
    while (!edges->slots[slot])
        ++slot;
    ck_assert_msg(links[0].next == 1 && links[1].next == 2 && links[0].previous == 2, "rows 0, 1 and 2 are a list");
    ck_assert_msg(*rank_of(pool, 0) == 1 && *rank_of(pool, 2) == 3, "the ranks are 1 to 3");
    const damage list[] = {
        DAMAGE(links[1].previous, MICAP_ROW_NONE, "an edge is linked while its target is alive"),
        DAMAGE(*target_of(pool, 1), 0, "an edge is linked while its target is alive"),
        DAMAGE(target_of(pool, 1)->generation, target.generation + 1, "an edge is linked while its target is alive"),
        DAMAGE(edges->slots[slot], 0, "the table has every edge"),
        DAMAGE(edges->used, 5, "the table has no other edges"),
        DAMAGE(links[0].source_count, 3, "the first edge of a source knows how many there are"),
        DAMAGE(links[1].source_count, 0, "the first edge of a source knows how many there are"),
        DAMAGE(links[0].next, pool->row_limit, "the edges of a target are linked"),
        DAMAGE(links[0].next, 3, "the edges of a target are linked"),
        DAMAGE(links[0].next, 2, "an edge knows the one before"),
        DAMAGE(links[1].previous, 2, "an edge knows the one before"),
        DAMAGE(links[2].next, 0, "the ranks of the edges of a target rise"), /* round and round */
        DAMAGE(*rank_of(pool, 1), 1, "the ranks of the edges of a target rise"),
        DAMAGE(*rank_of(pool, 1), 3, "the ranks of the edges of a target rise"),
        DAMAGE(links[0].previous, 1, "the first edge of a target knows the last"),
        DAMAGE(links[1].next, MICAP_ROW_NONE, "the first edge of a target knows the last"),
        DAMAGE(links[0].target_count, 2, "the first edge of a target knows how many there are"),
        DAMAGE(entries[target.index], micap_map_entry(target, pool->row_limit),
               "the index finds the first edge of a target"),
        DAMAGE(entries[without.index], micap_map_entry(without, 1), "the index finds the first edge of a target"),
        DAMAGE(entries[other.index], 0, "every linked edge is in the list of its target"),
        DAMAGE(entries[other.index], micap_map_entry(other, 0), "every linked edge is in the list of its target"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

START_TEST(damage_to_edges_without_a_table_or_a_target_is_named)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), target = mica_create(world), lost = mica_create(world);
    REQUIRE(mica_relate(world, a, DockedTo, target) && mica_relate(world, a, Remembers, lost));
    mica_destroy(world, lost);
    const damage list[] = {
        DAMAGE(mica_pool_of(world, DockedTo)->edges->used, 1, "the table has no other edges"),
        DAMAGE(mica_pool_of(world, Remembers)->links[0].previous, 0, "an edge is linked while its target is alive"),
        DAMAGE(*target_of(mica_pool_of(world, Remembers), 0), (uint64_t)target.generation << 32 | target.index,
               "an edge is linked while its target is alive"),
    };
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

/* Ranks. */

enum { SOURCES = 6 };

typedef struct ranked {
    mica_world *world;
    mica_entity target;
    mica_entity sources[SOURCES];
} ranked;

/* Loads an edge per rank: 0 is for sources that are related later. */
static ranked open_ranked(const uint32_t *ranks)
{
    ranked it = {.world = open_world(&heard)};
    it.target = mica_create(it.world);
    for (uint32_t i = 0; i < SOURCES; ++i) {
        it.sources[i] = mica_create(it.world);
        struct mica_edge_of_PartOf value = {.target = it.target, .rank = ranks[i]};
        if (ranks[i])
            REQUIRE(mica_load_edges_id(it.world, MICA_ID(PartOf), &it.sources[i], &value, 1) == MICA_OK);
    }
    return it;
}

static void expect_order(const ranked *it, const char *order)
{
    mica_edges at = mica_sources(it->world, it->target, PartOf);
    for (; *order; ++order)
        REQUIRE_SAYING(mica_edge_next(&at) && mica_same(at.entity, it->sources[*order - '0']), "before %s", order);
    REQUIRE(!mica_edge_next(&at));
    expect_valid(it->world);
}

/* Numbers, from the first edge of the target on. */
static void expect_ranks(const ranked *it, const uint32_t *ranks, uint32_t count)
{
    const mica_pool *pool = mica_pool_of(it->world, PartOf);
    uint32_t row = micap_edges_first(pool, it->target);
    for (uint32_t i = 0; i < count; ++i, row = pool->links[row].next)
        ck_assert_uint_eq(*rank_of(pool, row), ranks[i]);
    ck_assert_uint_eq(row, MICAP_ROW_NONE);
}

START_TEST(ranks_that_run_out_begin_anew)
{
    const uint32_t most = UINT32_MAX;
    ranked it = open_ranked((uint32_t[SOURCES]){7, 9, most - 1, most, 0, 0});
    expect_ranks(&it, (uint32_t[]){7, 9, most - 1, most}, 4);
    mica_snapshot before = mica_snapshot_take(it.world);
    uint64_t hash = mica_world_hash(it.world);

    REQUIRE(mica_relate(it.world, it.sources[4], PartOf, it.target)); /* at the end */
    expect_order(&it, "01234");
    expect_ranks(&it, (uint32_t[]){1, 2, 3, 4, 5}, 5);
    REQUIRE(mica_relate(it.world, it.sources[5], PartOf, it.target));
    expect_order(&it, "012345");

    ck_assert_int_eq(mica_snapshot_restore(it.world, before), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(it.world), hash);
    expect_order(&it, "0123");
    REQUIRE(mica_place_source(it.world, it.sources[0], PartOf, it.target, it.sources[3]) == MICA_OK);
    expect_order(&it, "1203"); /* where there is no number between the neighbours, nor above */
    expect_ranks(&it, (uint32_t[]){1, 2, 3, 4}, 4);

    ck_assert_int_eq(mica_snapshot_restore(it.world, before), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(it.world), hash);
    REQUIRE(mica_place_source(it.world, it.sources[1], PartOf, it.target, mica_nil()) == MICA_OK);
    expect_order(&it, "0231");
    expect_ranks(&it, (uint32_t[]){1, 2, 3, 4}, 4);
    mica_snapshot_drop(it.world, before);
    close_world(it.world, &heard);
}
END_TEST

START_TEST(a_rank_that_is_between_its_neighbours_stays)
{
    ranked it = open_ranked((uint32_t[SOURCES]){10, 20, 30, 40, 0, 0});
    REQUIRE(mica_place_source(it.world, it.sources[3], PartOf, it.target, it.sources[1]) == MICA_OK);
    expect_order(&it, "0312");
    expect_ranks(&it, (uint32_t[]){10, 11, 20, 30}, 4);
    REQUIRE(mica_place_source(it.world, it.sources[3], PartOf, it.target, it.sources[1]) == MICA_OK);
    expect_ranks(&it, (uint32_t[]){10, 11, 20, 30}, 4);
    REQUIRE(mica_place_source(it.world, it.sources[2], PartOf, it.target, it.sources[0]) == MICA_OK);
    expect_order(&it, "2031");
    expect_ranks(&it, (uint32_t[]){1, 10, 11, 20}, 4);
    REQUIRE(mica_place_source(it.world, it.sources[1], PartOf, it.target, it.sources[1]) ==
            MICA_OK); /* before itself */
    expect_order(&it, "2031");
    close_world(it.world, &heard);
}
END_TEST

/* The table. */

START_TEST(a_table_shrinks_with_its_edges)
{
    enum { EDGES = 500, KEPT = 10 };
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_entity hub = mica_create(world), nodes[EDGES];
    for (uint32_t i = 0; i < EDGES; ++i) {
        nodes[i] = mica_create(world);
        REQUIRE(mica_relate(world, hub, Likes, nodes[i]));
    }
    mica_snapshot full = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    const micap_pool_edges *edges = mica_pool_of(world, Likes)->edges;
    uint32_t large = edges->slot_count;
    for (uint32_t i = KEPT; i < EDGES; ++i)
        REQUIRE(mica_unrelate(world, hub, Likes, nodes[i]));
    faulty_allocator_fail_at(&faulty, 1, true);
    mica_world_trim(world); /* without memory for a smaller one */
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_uint_eq(edges->slot_count, large);
    expect_valid(world);
    ck_assert_int_eq(mica_snapshot_restore(world, full), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    for (uint32_t i = KEPT; i < EDGES; ++i)
        REQUIRE(mica_unrelate(world, hub, Likes, nodes[i]));
    mica_snapshot_drop(world, full);
    REQUIRE(mica_relate(world, nodes[0], DockedTo, hub)); /* which has no table */
    ck_assert_uint_gt(mica_world_trim(world), 0);
    ck_assert_uint_eq(edges->slot_count, 16);
    mica_world_trim(world);
    ck_assert_uint_eq(edges->slot_count, 16);
    expect_valid(world);
    for (uint32_t i = 0; i < EDGES; ++i)
        REQUIRE(mica_is_related(world, hub, Likes, nodes[i]) == (i < KEPT));
    for (uint32_t i = MICAP_EDGES_WALKED; i < KEPT; ++i)
        REQUIRE(mica_unrelate(world, hub, Likes, nodes[i]));
    ck_assert_uint_gt(mica_world_trim(world), 0);
    ck_assert_msg(!edges->has_table && !edges->slot_count, "a table without a long list is given back");
    expect_valid(world);
    for (uint32_t i = 0; i < EDGES; ++i)
        REQUIRE(mica_relate(world, hub, Likes, nodes[i]));
    expect_valid(world);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(edges_are_found_without_memory_for_a_table)
{
    enum { EDGES = 40 };
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_entity hub = mica_create(world), nodes[EDGES];
    for (uint32_t i = 0; i < EDGES; ++i) {
        nodes[i] = mica_create(world);
        REQUIRE(mica_relate(world, nodes[i], Likes, hub));
    }
    for (uint32_t i = 0; i < EDGES; ++i) /* there is room for rows of both directions now */
        REQUIRE(mica_relate(world, nodes[i], Likes, nodes[(i + 1) % EDGES]));
    for (uint32_t i = 0; i < EDGES; ++i)
        REQUIRE(mica_unrelate(world, nodes[i], Likes, nodes[(i + 1) % EDGES]));
    REQUIRE(mica_relate(world, hub, Likes, nodes[0]) && mica_unrelate(world, hub, Likes, nodes[0]));
    const micap_pool_edges *edges = mica_pool_of(world, Likes)->edges;
    faulty_allocator_fail_at(&faulty, 1, true);
    for (uint32_t i = 0; i + 1 < EDGES; ++i)
        REQUIRE(mica_relate(world, hub, Likes, nodes[i]));
    ck_assert_msg(!edges->has_table, "there is no memory for a table");
    for (uint32_t i = 0; i < EDGES; ++i)
        REQUIRE(mica_is_related(world, hub, Likes, nodes[i]) == (i + 1 < EDGES));
    expect_valid(world);
    faulty_allocator_fail_at(&faulty, 0, false);
    REQUIRE(mica_relate(world, hub, Likes, nodes[EDGES - 1]));
    ck_assert_msg(edges->has_table, "it is made as soon as there is memory");
    expect_valid(world);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(a_restore_removes_an_edge_to_nil)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    REQUIRE(mica_relate(world, a, Remembers, b));
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    struct mica_edge_of_Remembers value = {.target = mica_nil()};
    ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(Remembers), &a, &value, 1), MICA_OK);
    ck_assert_uint_eq(mica_target_count(world, a, Remembers), 2);
    expect_valid(world);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert_uint_eq(mica_target_count(world, a, Remembers), 1);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    expect_valid(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_snapshot_is_restored_after_a_trim)
{
    enum { EDGES = 500 };
    mica_world *world = open_world(&heard);
    mica_entity hub = mica_create(world), nodes[EDGES];
    for (uint32_t i = 0; i < EDGES; ++i) {
        nodes[i] = mica_create(world);
        REQUIRE(mica_relate(world, nodes[i], Likes, hub));
    }
    mica_snapshot full = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    ck_assert_uint_eq(mica_unrelate_sources(world, hub, Likes), EDGES);
    mica_world_trim(world);
    expect_valid(world);
    ck_assert_int_eq(mica_snapshot_restore(world, full), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    expect_valid(world);
    ck_assert_uint_eq(mica_source_count(world, hub, Likes), EDGES);
    mica_snapshot_drop(world, full);
    close_world(world, &heard);
}
END_TEST

/* Rows that are exchanged. */

/* Edges in both directions, one to an entity that was destroyed, and a source that may have many. */
static mica_pool *relate_for_exchange(mica_world *world, uint32_t more)
{
    mica_entity nodes[4], lost = mica_create(world);
    for (uint32_t i = 0; i < COUNT_OF(nodes); ++i)
        nodes[i] = mica_create(world);
    for (uint32_t i = 0; i < COUNT_OF(nodes); ++i)
        for (uint32_t k = 0; k < COUNT_OF(nodes); ++k)
            REQUIRE(i == k || mica_relate(world, nodes[i], Remembers, nodes[k]));
    for (uint32_t i = 0; i < more; ++i)
        REQUIRE(mica_relate(world, nodes[1], Remembers, mica_create(world)));
    REQUIRE(mica_relate(world, nodes[2], Remembers, lost));
    mica_destroy(world, lost);
    return mica_pool_of(world, Remembers);
}

START_TEST(rows_that_are_exchanged_keep_their_edges_and_are_restored)
{
    for (uint32_t more = 0; more <= MICAP_EDGES_WALKED; more += MICAP_EDGES_WALKED) { /* the second has a table */
        mica_world *world = open_world(&heard);
        mica_pool *pool = relate_for_exchange(world, more);
        ck_assert_int_eq(pool->edges->has_table, more != 0);
        uint64_t hash = mica_world_hash(world);
        for (uint32_t i = 0; i < pool->row_limit * pool->row_limit; ++i) {
            uint32_t a = i / pool->row_limit, b = i % pool->row_limit;
            mica_entity owner = pool->owners[a], target = *target_of(pool, a);
            mica_snapshot before = mica_snapshot_take(world);
            micap_pool_swap_rows(pool, a, b, micap_version(world));
            REQUIRE(mica_same(pool->owners[b], owner) && mica_same(*target_of(pool, b), target));
            expect_valid(world);
            REQUIRE_SAYING(mica_world_hash(world) == hash, "no order changes: rows %u and %u", a, b);
            REQUIRE(mica_snapshot_restore(world, before) == MICA_OK);
            REQUIRE(mica_same(pool->owners[a], owner) && mica_same(*target_of(pool, a), target));
            expect_valid(world);
            REQUIRE_SAYING(mica_world_hash(world) == hash, "rows %u and %u", a, b);
            mica_snapshot_drop(world, before);
        }
        close_world(world, &heard);
    }
}
END_TEST

/* Edges that wait. */

typedef struct waiting {
    faulty_allocator faulty;
    mica_world *world;
    mica_pool *pool;
    mica_entity nodes[SOURCES];
    mica_entity target;
} waiting;

/* Some edges are linked, more have been added since, and all have the same ranks as others or none. */
static void open_waiting(waiting *it)
{
    faulty_allocator_init(&it->faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&it->faulty);
    it->world = open_world_with(&heard, def);
    it->target = mica_create(it->world);
    for (uint32_t i = 0; i < SOURCES; ++i)
        it->nodes[i] = mica_create(it->world);
    for (uint32_t i = 0; i < SOURCES; ++i) {
        if (i == SOURCES / 2)
            mica_pool_of(it->world, Likes)->edges->waits = true;
        REQUIRE(mica_relate(it->world, it->nodes[i], Likes, it->target));
        REQUIRE(mica_relate(it->world, it->nodes[i], Likes, it->nodes[(i + 1) % SOURCES]));
    }
    it->pool = mica_pool_of(it->world, Likes);
}

static void close_waiting(waiting *it)
{
    close_world(it->world, &heard);
    faulty_allocator_free(&it->faulty);
}

START_TEST(edges_that_wait_can_be_removed)
{
    for (uint32_t gone = 0; gone < SOURCES; ++gone) {
        waiting it;
        open_waiting(&it);
        ck_assert(mica_remove(it.world, it.nodes[gone], Likes));
        micap_pools_relink(it.world);
        expect_valid(it.world);
        ck_assert_uint_eq(mica_source_count(it.world, it.target, Likes), SOURCES - 1);
        for (uint32_t i = 0; i < SOURCES; ++i) {
            mica_entity next = it.nodes[(i + 1) % SOURCES];
            REQUIRE(mica_is_related(it.world, it.nodes[i], Likes, it.target) == (i != gone));
            REQUIRE(mica_is_related(it.world, it.nodes[i], Likes, next) == (i != gone));
        }
        close_waiting(&it);
    }
}
END_TEST

/* The table gets those that wait when they are linked. Until then rows are removed and exchanged that it does not have. */
START_TEST(edges_that_wait_are_not_in_the_table)
{
    enum { EDGES = 20, WAITING = 10 };
    for (uint32_t gone = 0; gone < EDGES; ++gone) {
        mica_world *world = open_world(&heard);
        mica_entity hub = mica_create(world), nodes[EDGES];
        for (uint32_t i = 0; i < EDGES; ++i) {
            nodes[i] = mica_create(world);
            REQUIRE(mica_relate(world, hub, Likes, nodes[i])); /* so that there is room for them */
        }
        for (uint32_t i = WAITING; i < EDGES; ++i)
            REQUIRE(mica_unrelate(world, hub, Likes, nodes[i]));
        mica_pool *pool = mica_pool_of(world, Likes);
        pool->edges->waits = true;
        for (uint32_t i = WAITING; i < EDGES; ++i)
            REQUIRE(mica_relate(world, hub, Likes, nodes[i]));
        ck_assert_msg(pool->edges->has_table && pool->edges->used == WAITING, "the table has those that were linked");
        micap_pool_swap_rows(pool, 0, WAITING, micap_version(world));
        micap_pools_remove_instance(world, pool, gone == 0 ? WAITING : gone == WAITING ? 0 : gone);
        ck_assert_uint_eq(pool->edges->used, WAITING - (gone < WAITING));
        micap_pools_relink(world);
        expect_valid(world);
        for (uint32_t i = 0; i < EDGES; ++i)
            REQUIRE(mica_is_related(world, hub, Likes, nodes[i]) == (i != gone));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(edges_whose_target_dies_while_they_wait_are_removed)
{
    for (uint32_t with_memory = 0; with_memory < 2; ++with_memory) {
        waiting it;
        open_waiting(&it);
        mica_destroy(it.world, it.target);
        faulty_allocator_fail_at(&it.faulty, with_memory ? 0 : 1, true);
        micap_pools_relink(it.world);
        faulty_allocator_fail_at(&it.faulty, 0, false);
        expect_valid(it.world);
        ck_assert_uint_eq(it.pool->count, SOURCES);
        it.pool->edges->waits = true;
        for (uint32_t i = 0; i < SOURCES; ++i)
            mica_destroy(it.world, it.nodes[i]);
        micap_pools_relink(it.world); /* nothing is left */
        ck_assert_uint_eq(it.pool->count, 0);
        expect_valid(it.world);
        close_waiting(&it);
    }
}
END_TEST

/* Ranks of the edges to the target, in the order of their sources, and the order of the sources that they make. */
typedef struct rank_case {
    uint32_t ranks[SOURCES];
    const char *order;
} rank_case;

static void expect_linked(const rank_case *expected, bool with_memory)
{
    waiting it;
    open_waiting(&it);
    for (uint32_t i = 0, row = 0; row < it.pool->row_limit; ++row)
        if (mica_same(*target_of(it.pool, row), it.target))
            *rank_of(it.pool, row) = expected->ranks[i++];
    faulty_allocator_fail_at(&it.faulty, with_memory ? 0 : 1, true);
    micap_pools_relink(it.world);
    faulty_allocator_fail_at(&it.faulty, 0, false);
    expect_valid(it.world);
    mica_edges at = mica_sources(it.world, it.target, Likes);
    for (const char *order = expected->order; *order; ++order)
        REQUIRE_SAYING(mica_edge_next(&at) && mica_same(at.entity, it.nodes[*order - '0']), "%s, before %s",
                       expected->order, order);
    REQUIRE(!mica_edge_next(&at));
    close_waiting(&it);
}

START_TEST(edges_that_wait_are_linked_by_rank)
{
    const uint32_t most = UINT32_MAX;
    const rank_case list[] = {
        {{1, 2, 3, 4, 5, 6}, "012345"},
        {{6, 5, 4, 3, 2, 1}, "543210"},
        {{3, 9, 1, 7, 2, 8}, "240351"},
        {{0, 0, 0, 0, 0, 0}, "012345"},
        {{0, 5, 0, 6, 0, 0}, "130245"},
        {{most, 1, 0, 2, 3, 4}, "134502"},
        {{5, 5, 5, 5, 5, 5}, "012345"},
        {{most, most, 1, 1, 9, 9}, "234501"},
    };
    for (uint32_t i = 0; i < COUNT_OF(list); ++i)
        for (uint32_t with_memory = 0; with_memory < 2; ++with_memory)
            expect_linked(&list[i], with_memory);
}
END_TEST

TEST_SUITE(edges, damage_to_edges_is_named, damage_to_edges_without_a_table_or_a_target_is_named,
           ranks_that_run_out_begin_anew, a_rank_that_is_between_its_neighbours_stays, a_table_shrinks_with_its_edges,
           edges_are_found_without_memory_for_a_table, a_restore_removes_an_edge_to_nil,
           a_snapshot_is_restored_after_a_trim, rows_that_are_exchanged_keep_their_edges_and_are_restored,
           edges_that_wait_can_be_removed, edges_that_wait_are_not_in_the_table,
           edges_whose_target_dies_while_they_wait_are_removed, edges_that_wait_are_linked_by_rank)
