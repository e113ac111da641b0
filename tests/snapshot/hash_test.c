/* The hash tree: two worlds with one difference, and the name of the difference. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/sample.h"
#include "../support/test.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"

#include <string.h>

typedef struct Burning { float seconds; uint32_t by; } Burning;
MICA_POOL(Burning, seconds, by)
MICA_POOL_TAG(Chosen)
typedef struct Wind { float x, y; } Wind;
MICA_COMPONENT_WITH(Wind, (.split = true), x, y)

typedef struct Spark { float x, y; } Spark;
MICA_POOL_WITH(Spark, (.split = true), x, y)
typedef struct Buff { uint32_t kind; } Buff;
MICA_POOL_WITH(Buff, (.many = true), kind)
typedef struct Ember { float glow; } Ember;
MICA_POOL_WITH(Ember, (.dying = MICA_DYING_LAZILY), glow)
typedef struct Tide { float height; } Tide;
MICA_SINGLETON(Tide, height)
typedef struct Swell { float height; } Swell;
MICA_SINGLETON(Swell, height)

enum { ENTITIES = 1500 };
static mica_entity entities[2][ENTITIES];

static mica_world *make_world(uint32_t which, reports *heard)
{
    mica_world *world = open_world(heard);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Position, {(float)i, 1, 2}), MICA_WITH(Number, {i}));
        entities[which][i] = entity;
        if (i % 3 == 0)
            mica_set(world, entity, Health, {(int32_t)i, 100});
        if (i % 5 == 0)
            mica_set(world, entity, Burning, {1, i});
        if (i % 7 == 0)
            mica_add(world, entity, Chosen);
        if (i % 11 == 0)
            mica_set(world, entity, Wind, {1, 2});
        if (i % 25 == 0) {
            mica_set(world, entity, Spark, {1, 2});
            mica_set(world, entity, Buff, {i});
        }
    }
    mica_define(world, Tide); /* and no value */
    mica_singleton_write(world, Clock)->ticks = 4;
    mica_name_set(world, entities[which][3], mica_nil(), "three");
    mica_set_parent(world, entities[which][8], entities[which][3]);
    return world;
}

/* What is done to entity 750 of the second world, or to the world. */
static void write_field(mica_world *world, mica_entity entity)
{
    mica_write(world, entity, Position)->y = 5;
}
static void switch_off(mica_world *world, mica_entity entity)
{
    mica_disable(world, entity, Health);
}
static void write_pool(mica_world *world, mica_entity entity)
{
    mica_write(world, entity, Burning)->by = 3;
}
static void leave_pool(mica_world *world, mica_entity entity)
{
    mica_remove(world, entity, Burning);
}
static void choose(mica_world *world, mica_entity entity)
{
    mica_add(world, entity, Chosen);
}
static void change_archetype(mica_world *world, mica_entity entity)
{
    mica_add(world, entity, Frozen);
}
static void die(mica_world *world, mica_entity entity)
{
    mica_destroy(world, entity);
}
static void write_split(mica_world *world, mica_entity entity)
{
    (void)entity;
    mica_set(world, entities[1][11], Wind, {1, 3});
}
static void write_split_pool(mica_world *world, mica_entity entity)
{
    mica_set(world, entity, Spark, {1, 3});
}
static void write_many(mica_world *world, mica_entity entity)
{
    mica_set(world, entity, Buff, {9});
}
static void make_tide(mica_world *world, mica_entity entity)
{
    (void)entity;
    mica_singleton_write(world, Tide)->height = 1;
}
static void make_swell(mica_world *world, mica_entity entity)
{
    (void)entity;
    mica_singleton_write(world, Swell)->height = 1;
}
static void change_time(mica_world *world, mica_entity entity)
{
    (void)entity;
    mica_singleton_write(world, Clock)->seconds = 2;
}
static void rename_three(mica_world *world, mica_entity entity)
{
    mica_name_set(world, entity, mica_nil(), "renamed");
}
static void link_up(mica_world *world, mica_entity entity)
{
    mica_set_parent(world, entity, entities[1][3]);
}

static const struct {
    const char *name;
    void (*change)(mica_world *world, mica_entity entity);
    const char *words; /* in the text */
    bool names_entity;
} cases[] = {
    {"a field", write_field, "Position.y of entity ", true},
    {"a toggle", switch_off, "Health.enabled of entity ", true},
    {"a field in a pool", write_pool, "Burning.by of entity ", true},
    {"a field of what is split", write_split, "Wind.y", false},
    {"what is split in a pool", write_split_pool, "Spark of entity ", true},
    {"one of many", write_many, "Buff of entity ", true},
    {"a singleton that the other knows", make_tide, "Tide", false},
    {"a singleton that the other does not know", make_swell, "Swell", false},
    {"a row of a pool", leave_pool, "pool Burning", false},
    {"a tag in a pool", choose, "pool Chosen", false},
    {"an archetype", change_archetype, "which entities there are", false},
    {"a death", die, "which entities there are", false},
    {"a singleton", change_time, "Clock.seconds", false},
    {"a name", rename_three, "names", false},
    {"a link", link_up, "links", false},
};

START_TEST(the_first_difference_is_named)
{
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        reports heard[2];
        mica_world *a = make_world(0, &heard[0]), *b = make_world(1, &heard[1]);
        mica_difference difference;
        ck_assert(!mica_hash_diff(a, b, &difference));
        cases[i].change(b, entities[1][750]);
        REQUIRE_SAYING(mica_hash_diff(a, b, &difference), "%s", cases[i].name);
        REQUIRE_SAYING(strstr(difference.text, cases[i].words), "%s: %s", cases[i].name, difference.text);
        REQUIRE_SAYING(!cases[i].names_entity || mica_same(difference.entity, entities[1][750]), "%s: %s",
                       cases[i].name, difference.text);
        ck_assert(mica_hash_diff(b, a, NULL) && mica_hash_diff(b, a, &difference));
        ck_assert(mica_world_hash(a) != mica_world_hash(b));
        close_world(a, &heard[0]);
        close_world(b, &heard[1]);
    }
}
END_TEST

START_TEST(a_tree_is_compared_without_its_world)
{
    reports heard;
    mica_world *world = make_world(0, &heard);
    mica_hash_tree *before = mica_hash_tree_take(world, MICA_HASH_SLICES);
    mica_hash_tree *same = mica_hash_tree_take(world, MICA_HASH_SLICES);
    mica_write(world, entities[0][750], Position)->y = 5;
    mica_hash_tree *after = mica_hash_tree_take(world, MICA_HASH_SLICES);
    close_world(world, &heard);

    uint32_t count;
    const mica_hash_leaf *leaves = mica_hash_tree_leaves(after, &count);
    mica_hash_tree *sent = mica_hash_tree_from_leaves(leaves, count);
    mica_difference difference;
    ck_assert(mica_hash_tree_root(before) == mica_hash_tree_root(same));
    ck_assert(mica_hash_tree_root(before) != mica_hash_tree_root(after));
    ck_assert(mica_hash_tree_root(after) == mica_hash_tree_root(sent));
    ck_assert(!mica_hash_tree_diff(before, same, &difference));
    ck_assert(!mica_hash_tree_diff(after, sent, NULL));
    ck_assert(mica_hash_tree_diff(before, sent, &difference));
    ck_assert_str_eq(difference.component, "Position");
    ck_assert_uint_gt(difference.row_count, 1);
    ck_assert_uint_le(difference.row_count, MICA_SLICE_ROWS);
    ck_assert_ptr_nonnull(strstr(difference.text, "{"));
    mica_hash_tree_free(before);
    mica_hash_tree_free(same);
    mica_hash_tree_free(after);
    mica_hash_tree_free(sent);
}
END_TEST

START_TEST(leaves_in_the_same_place_are_refused)
{
    mica_hash_leaf twice[2] = {{.table = 1, .row = 4, .hash = 1}, {.table = 1, .row = 4, .hash = 2}};
    ck_assert_ptr_null(mica_hash_tree_from_leaves(twice, 2));
    mica_hash_tree *empty = mica_hash_tree_from_leaves(NULL, 0);
    ck_assert_ptr_nonnull(empty);
    mica_hash_tree_free(empty);
}
END_TEST

START_TEST(a_tree_needs_memory_and_says_so)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    reports heard;
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    for (uint32_t i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Burning, {1, i}));
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        size_t blocks = faulty.live_blocks;
        faulty_allocator_fail_at(&faulty, k, false);
        mica_hash_tree *tree = mica_hash_tree_take(world, MICA_HASH_ROWS);
        reached = faulty.failures > 0;
        REQUIRE((tree == NULL) == reached);
        if (reached)
            expect_report(&heard, MICA_ERROR_MEMORY, "hash tree");
        mica_hash_tree_free(tree);
        REQUIRE(faulty.live_blocks == blocks);
    }
    ck_assert_uint_gt(k, 3);
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_ptr_null(mica_hash_tree_take(world, 7));
    expect_report(&heard, MICA_ERROR_INVALID, "rows");
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(rows_of_destroyed_entities_are_not_hashed)
{
    reports heard[2];
    mica_world *worlds[2];
    for (uint32_t i = 0; i < 2; ++i) {
        worlds[i] = open_world(&heard[i]);
        mica_entity entity = mica_create(worlds[i], MICA_WITH(Ember, {1}));
        mica_create(worlds[i], MICA_WITH(Ember, {2}));
        if (i)
            mica_remove(worlds[i], entity, Ember);
        mica_destroy(worlds[i], entity);
    }
    mica_difference difference;
    ck_assert_msg(!mica_hash_diff(worlds[0], worlds[1], &difference), "%s", difference.text);
    close_world(worlds[0], &heard[0]);
    close_world(worlds[1], &heard[1]);
}
END_TEST

START_TEST(the_names_of_a_large_archetype_are_cut_short)
{
    static const sample_kind kinds[] = {SAMPLE_SWITCHED_SPLIT, SAMPLE_SWITCHED_TAG, SAMPLE_DATED_TAG, SAMPLE_PADDED,
                                        SAMPLE_DATED,          SAMPLE_SMALL,        SAMPLE_SEEDED};
    reports heard[2];
    mica_world *worlds[2];
    for (uint32_t i = 0; i < 2; ++i) {
        worlds[i] = open_world(&heard[i]);
        mica_entity entity = mica_create(worlds[i], MICA_WITH(Number, {i}));
        for (uint32_t k = 0; k < COUNT_OF(kinds); ++k)
            mica_add_id(worlds[i], entity, sample_id(kinds[k]));
    }
    mica_difference difference;
    ck_assert(mica_hash_diff(worlds[0], worlds[1], &difference));
    ck_assert_msg(strstr(difference.text, "Number.value of entity 1 (generation 1), in {"), "%s", difference.text);
    ck_assert_msg(strstr(difference.text, "...}, row 0"), "%s", difference.text);
    close_world(worlds[0], &heard[0]);
    close_world(worlds[1], &heard[1]);
}
END_TEST

/* Leaves as they come over a wire: names are known by what this process has described. */
START_TEST(leaves_without_names_are_described_as_well_as_can_be)
{
    const mica_hash_leaf common = {.table = 1, .component = 1, .row_count = 1, .hash = 1};
    const struct {
        mica_hash_leaf leaf;
        const char *text;
    } others[] = {
        {{.table = 2, .component = mica_component_name_hash(MICA_ID(Position)), .row_count = 3},
         "Position, rows 0 to 2"},
        {{.table = 2, .component = mica_component_name_hash(MICA_ID(Burning)), .row_count = 3}, "Burning, rows 0 to 2"},
        {{.table = 2, .component = 7, .row_count = 3}, "component #0000000000000007, rows 0 to 2"},
        {{.table = 2, .row_count = 1, .row = 4, .entity = {5, 6}},
         "which entities there are, or their order of entity 5 (generation 6), row 4"},
        {{.table = 2}, "something"},
    };
    for (uint32_t i = 0; i < COUNT_OF(others); ++i) {
        mica_hash_tree *a = mica_hash_tree_from_leaves(&common, 1);
        mica_hash_tree *b = mica_hash_tree_from_leaves((mica_hash_leaf[]){others[i].leaf, common}, 2);
        mica_difference difference;
        ck_assert(mica_hash_tree_diff(a, b, NULL) && mica_hash_tree_diff(a, b, &difference));
        ck_assert_str_eq(difference.text, others[i].text);
        ck_assert(mica_hash_tree_diff(b, a, &difference));
        ck_assert_str_eq(difference.text, others[i].text);
        mica_hash_tree_free(a);
        mica_hash_tree_free(b);
    }
}
END_TEST

/* If memory runs out, the worlds are not reported as equal. */
START_TEST(a_comparison_without_memory_is_a_difference)
{
    for (uint32_t differ = 0; differ < 2; ++differ) {
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        reports heard[2];
        mica_world *worlds[2];
        for (uint32_t i = 0; i < 2; ++i) {
            worlds[i] = open_world_with(&heard[i], def);
            for (uint32_t k = 0; k < 3; ++k)
                mica_create(worlds[i], MICA_WITH(Number, {k + i * differ}));
        }
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_difference difference;
            size_t blocks = faulty.live_blocks;
            faulty_allocator_fail_at(&faulty, k, false);
            bool differs = mica_hash_diff(worlds[0], worlds[1], &difference);
            reached = faulty.failures > 0;
            REQUIRE(differs == (reached || differ));
            REQUIRE(!differs || difference.text[0]);
            REQUIRE((forget_reports(&heard[0]) + forget_reports(&heard[1]) > 0) == reached);
            REQUIRE(faulty.live_blocks == blocks);
        }
        ck_assert_uint_gt(k, 4);
        faulty_allocator_fail_at(&faulty, 0, false);
        close_world(worlds[0], &heard[0]);
        close_world(worlds[1], &heard[1]);
        faulty_allocator_free(&faulty);
    }
}
END_TEST

TEST_SUITE(hash, the_first_difference_is_named, a_tree_is_compared_without_its_world,
           leaves_in_the_same_place_are_refused, a_tree_needs_memory_and_says_so,
           rows_of_destroyed_entities_are_not_hashed, the_names_of_a_large_archetype_are_cut_short,
           leaves_without_names_are_described_as_well_as_can_be, a_comparison_without_memory_is_a_difference)
