/* The edges of scale: thousands of component types, a hundred thousand archetypes, millions of lives, large values,
 * generations that run out, and a flush whose commands contradict each other. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

enum { TYPE_COUNT = 4096 };

/* Four bytes each, under names made at run time. */
static void define_types(mica_world *world, const char *prefix, mica_storage storage, uint32_t count,
                         mica_component *out)
{
    for (uint32_t i = 0; i < count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%s%u", prefix, i);
        mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
        mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = storage};
        if (storage == MICA_STORAGE_CHUNK) {
            type.fields = &field;
            type.field_count = 1;
            type.size_bytes = type.alignment = 4;
        }
        out[i] = mica_component_define(world, &type);
        REQUIRE(out[i] != 0);
    }
}

static uint32_t number_of(const mica_world *world, mica_entity entity, mica_component component)
{
    uint32_t number = 0;
    const void *value = mica_get_id(world, entity, component);
    REQUIRE(value);
    memcpy(&number, value, sizeof number);
    return number;
}

START_TEST(a_world_holds_4096_component_types)
{
    static mica_component types[TYPE_COUNT];
    static mica_entity entities[TYPE_COUNT];
    mica_world *world = open_world(&heard);
    define_types(world, "Many", MICA_STORAGE_CHUNK, TYPE_COUNT, types);
    ck_assert_uint_eq(mica_world_get_stats(world).component_count, TYPE_COUNT);
    for (uint32_t i = 0; i < TYPE_COUNT; ++i) {
        uint32_t next = (i + 1) % TYPE_COUNT;
        mica_value values[] = {{types[i], 4, &i}, {types[next], 4, &next}};
        entities[i] = mica_create_id(world, values, 2);
    }
    for (uint32_t i = 0; i < TYPE_COUNT; ++i) {
        REQUIRE(number_of(world, entities[i], types[i]) == i);
        REQUIRE(number_of(world, entities[i], types[(i + 1) % TYPE_COUNT]) == (i + 1) % TYPE_COUNT);
        REQUIRE(!mica_has_id(world, entities[i], types[(i + 2) % TYPE_COUNT]));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(one_entity_has_4096_components)
{
    static mica_component types[TYPE_COUNT], listed[TYPE_COUNT];
    static mica_value values[TYPE_COUNT];
    static uint32_t numbers[TYPE_COUNT];
    mica_world *world = open_world(&heard);
    define_types(world, "Many", MICA_STORAGE_CHUNK, TYPE_COUNT, types);
    for (uint32_t i = 0; i < TYPE_COUNT; ++i) {
        numbers[i] = i * 3;
        values[i] = (mica_value){types[i], 4, &numbers[i]};
    }
    mica_entity first = mica_create_id(world, values, TYPE_COUNT);
    mica_entity second = mica_clone(world, first);
    ck_assert(mica_destroy(world, first));
    ck_assert_uint_eq(mica_get_components(world, second, listed, TYPE_COUNT), TYPE_COUNT);
    ck_assert(mica_remove_id(world, second, types[77]));
    for (uint32_t i = 0; i < TYPE_COUNT; ++i)
        if (i != 77)
            REQUIRE(number_of(world, second, types[i]) == numbers[i]);
    close_world(world, &heard);
}
END_TEST

enum { TAG_COUNT = 17, ARCHETYPE_COUNT = 100000, ARCHETYPE_BYTES_MAX = 3072 };

static mica_entity create_with_tags(mica_world *world, const mica_component *tags, uint32_t set)
{
    mica_value values[TAG_COUNT];
    uint32_t count = 0;
    for (uint32_t t = 0; t < TAG_COUNT; ++t)
        if (set >> t & 1)
            values[count++] = (mica_value){tags[t], 0, NULL};
    return mica_create_id(world, values, count);
}

START_TEST(a_hundred_thousand_archetypes_stay_cheap)
{
    mica_component tags[TAG_COUNT];
    mica_world *world = open_world(&heard);
    define_types(world, "Tag", MICA_STORAGE_TAG, TAG_COUNT, tags);
    mica_term terms[] = {{.component = tags[3], .access = MICA_ACCESS_HAS},
                         {.component = tags[5], .access = MICA_ACCESS_WITHOUT}};
    mica_query *query = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2});
    size_t before = mica_world_get_stats(world).memory_bytes;
    uint32_t expected = 0;
    for (uint32_t set = 1; set <= ARCHETYPE_COUNT; ++set) {
        REQUIRE(!mica_is_nil(create_with_tags(world, tags, set)));
        expected += (set >> 3 & 1) && !(set >> 5 & 1);
    }
    mica_world_stats stats = mica_world_get_stats(world);
    size_t each = (stats.memory_bytes - before) / ARCHETYPE_COUNT;
    printf("scale: %zu bytes per archetype with one entity\n", each);
    ck_assert_uint_ge(stats.archetype_count, ARCHETYPE_COUNT);
    ck_assert_uint_eq(stats.entity_count, ARCHETYPE_COUNT);
    ck_assert_uint_lt(each, ARCHETYPE_BYTES_MAX);
    ck_assert_uint_eq(mica_query_count(query), expected);
    mica_query *late = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2});
    ck_assert_uint_eq(mica_query_count(late), expected);
    close_world(world, &heard);
}
END_TEST

enum {
    LIVES = UNDER_SANITIZER ? 100000 : 1000000,
    ROUNDS = 8,
    REGION_BYTES = 2 << 20, /* memory is given back in whole regions: one may stay in part */
};

static void shuffle(mica_entity *entities, uint32_t count, random_source *random)
{
    for (uint32_t i = count; i > 1; --i) {
        uint32_t other = random_below(random, i);
        mica_entity swapped = entities[i - 1];
        entities[i - 1] = entities[other];
        entities[other] = swapped;
    }
}

/* By turns: one by one and in bulk, in order and shuffled. Returns the bytes in use when all live. */
static size_t live_and_die(mica_world *world, mica_entity *entities, uint32_t round, random_source *random)
{
    mica_value columns[] = {{MICA_ID(Position), 0, NULL}, {MICA_ID(Velocity), 0, NULL}};
    if (round % 2 == 0)
        REQUIRE(mica_create_many(world, LIVES, columns, 2, entities) == MICA_OK);
    else
        for (uint32_t i = 0; i < LIVES; ++i)
            entities[i] = mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}), MICA_WITH(Velocity, {0}));
    size_t bytes = mica_world_get_stats(world).memory_bytes;
    if (round % 3 == 1)
        shuffle(entities, LIVES, random);
    if (round % 4 < 2)
        REQUIRE(mica_destroy_many(world, entities, LIVES) == LIVES);
    else
        for (uint32_t i = 0; i < LIVES; ++i)
            REQUIRE(mica_destroy(world, entities[i]));
    return bytes;
}

START_TEST(memory_stays_flat_over_millions_of_lives)
{
    mica_world *world = open_world(&heard);
    mica_entity *entities = malloc(LIVES * sizeof *entities);
    random_source random = {5};
    size_t most = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        size_t bytes = live_and_die(world, entities, round, &random);
        if (round < 2)
            most = bytes > most ? bytes : most;
        else
            ck_assert_msg(bytes <= most, "round %u uses %zu bytes, the first ones %zu", round, bytes, most);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    }
    expect_valid(world);
    size_t before = mica_world_get_stats(world).memory_bytes;
    size_t given = mica_world_trim(world);
    size_t after = mica_world_get_stats(world).memory_bytes;
    printf("scale: %.1f bytes per entity; trim gave back %zu of %zu bytes\n", (double)most / LIVES, given, before);
    ck_assert_uint_eq(before - after, given);
    ck_assert_uint_lt(after, most / 3 + REGION_BYTES);
    free(entities);
    close_world(world, &heard);
}
END_TEST

enum { LARGE_BYTES = 1 << 20 };
typedef struct Large { uint32_t words[LARGE_BYTES / 4]; } Large;
MICA_COMPONENT(Large, words)

static void fill_large(Large *large, uint32_t number)
{
    for (uint32_t i = 0; i < LARGE_BYTES / 4; ++i)
        large->words[i] = number ^ i;
}

static bool holds_large(const Large *large, uint32_t number)
{
    uint32_t difference = 0;
    for (uint32_t i = 0; i < LARGE_BYTES / 4; ++i)
        difference |= large->words[i] ^ number ^ i;
    return difference == 0;
}

START_TEST(a_component_of_one_mebibyte_is_an_ordinary_component)
{
    enum { COUNT = 10 };
    mica_world *world = open_world(&heard);
    mica_entity entities[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}));
        fill_large(mica_add(world, entities[i], Large), i);
    }
    for (uint32_t i = 0; i < COUNT; i += 2)
        ck_assert_ptr_nonnull(mica_add(world, entities[i], Frozen));
    ck_assert(mica_destroy(world, entities[0]));
    ck_assert(mica_destroy(world, entities[1]));
    mica_defer(world);
    fill_large(mica_add(world, entities[2], Large), 77);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 2; i < COUNT; ++i)
        ck_assert(holds_large(mica_get(world, entities[i], Large), i == 2 ? 77 : i));
    ck_assert(mica_remove(world, entities[3], Large));
    ck_assert(mica_get(world, entities[3], Position)->x == 3);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_slot_retires_before_a_stale_handle_comes_alive)
{
    enum { GENERATIONS = 1 << 24, KEPT = 64 };
    mica_world *world = open_world(&heard);
    mica_entity kept[KEPT];
    mica_entity first = mica_create(world);
    mica_entity last = first;
    ck_assert(mica_destroy(world, first));
    uint32_t slots = 1;
    for (uint32_t life = 0; life < GENERATIONS + 1000; ++life) {
        mica_entity entity = mica_create(world);
        if (entity.index == last.index)
            REQUIRE(entity.generation > last.generation);
        else
            ++slots;
        REQUIRE(!mica_same(entity, first));
        if (life % (GENERATIONS / KEPT) == 0)
            kept[life / (GENERATIONS / KEPT) % KEPT] = last;
        last = entity;
        if (entity.generation > GENERATIONS - 4) /* all at once, too */
            REQUIRE(mica_world_clear(world) == MICA_OK);
        else
            REQUIRE(mica_destroy(world, entity));
    }
    ck_assert_uint_eq(slots, 2);
    mica_entity alive = mica_create(world);
    for (uint32_t i = 0; i < KEPT; ++i)
        ck_assert(!mica_is_alive(world, kept[i]) && !mica_same(kept[i], alive));
    ck_assert(!mica_is_alive(world, first));
    close_world(world, &heard);
}
END_TEST

/* Two buffers, one entity with a Number of 1. Each case says what is recorded and what must come of it. */
typedef struct contradiction {
    const char *name;
    void (*record)(mica_commands *a, mica_commands *b, mica_entity entity);
    bool alive;
    uint32_t number; /* 0: no Number */
    uint32_t dead_targets;
} contradiction;

static void add_then_remove(mica_commands *a, mica_commands *b, mica_entity entity)
{
    (void)b;
    mica_command_remove(a, entity, Number);
    mica_command_set(a, entity, Number, {5});
    ck_assert(mica_command_remove(a, entity, Number));
    ck_assert(!mica_command_remove(a, entity, Number));
}

static void remove_then_add(mica_commands *a, mica_commands *b, mica_entity entity)
{
    (void)b;
    ck_assert(mica_command_remove(a, entity, Number));
    Number *staged = mica_command_add(a, entity, Number);
    ck_assert_uint_eq(staged->value, 0);
    staged->value = 6;
}

static void both_set(mica_commands *a, mica_commands *b, mica_entity entity)
{
    mica_command_set(b, entity, Number, {8});
    mica_command_set(a, entity, Number, {7});
}

static void one_removes_the_other_sets(mica_commands *a, mica_commands *b, mica_entity entity)
{
    mica_command_set(b, entity, Number, {9});
    mica_command_remove(a, entity, Number);
}

static void one_sets_the_other_removes(mica_commands *a, mica_commands *b, mica_entity entity)
{
    mica_command_remove(b, entity, Number);
    mica_command_set(a, entity, Number, {9});
}

static void one_destroys_the_other_sets(mica_commands *a, mica_commands *b, mica_entity entity)
{
    mica_command_set(b, entity, Number, {9});
    mica_command_destroy(a, entity);
}

static void one_sets_the_other_destroys(mica_commands *a, mica_commands *b, mica_entity entity)
{
    mica_command_destroy(b, entity);
    mica_command_set(a, entity, Number, {9});
}

static void both_destroy(mica_commands *a, mica_commands *b, mica_entity entity)
{
    ck_assert(mica_command_destroy(a, entity));
    ck_assert(!mica_command_destroy(a, entity));
    ck_assert(mica_command_destroy(b, entity));
}

static void born_and_destroyed(mica_commands *a, mica_commands *b, mica_entity entity)
{
    (void)entity;
    mica_entity born = mica_command_create(a, MICA_WITH(Number, {3}));
    mica_command_set(a, born, Mass, {1});
    ck_assert(mica_command_destroy(a, born));
    born = mica_command_create(a, MICA_WITH(Number, {3}));
    ck_assert(mica_command_destroy(b, born));
}

static const contradiction contradictions[] = {
    {"add then remove", add_then_remove, true, 0, 0},
    {"remove then add", remove_then_add, true, 6, 0},
    {"both set", both_set, true, 8, 0},
    {"one removes, the other sets", one_removes_the_other_sets, true, 9, 0},
    {"one sets, the other removes", one_sets_the_other_removes, true, 0, 0},
    {"one destroys, the other sets", one_destroys_the_other_sets, false, 0, 1},
    {"one sets, the other destroys", one_sets_the_other_destroys, false, 0, 0},
    {"both destroy", both_destroy, false, 0, 1},
    {"born and destroyed", born_and_destroyed, true, 1, 0},
};

START_TEST(contradicting_commands_end_in_their_last_word)
{
    for (uint32_t i = 0; i < sizeof contradictions / sizeof *contradictions; ++i) {
        const contradiction *tried = &contradictions[i];
        mica_world *world = open_world(&heard);
        mica_commands *a = mica_commands_create(world);
        mica_commands *b = mica_commands_create(world);
        mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
        tried->record(a, b, entity);
        forget_reports(&heard);
        ck_assert_msg(mica_flush(world) == MICA_OK, "%s", tried->name);
        ck_assert_msg(forget_reports(&heard) == tried->dead_targets, "%s", tried->name);
        const Number *number = mica_get(world, entity, Number);
        ck_assert_msg(mica_is_alive(world, entity) == tried->alive, "%s", tried->name);
        ck_assert_msg((number ? number->value : 0) == tried->number, "%s", tried->name);
        ck_assert_msg(mica_world_get_stats(world).entity_count == tried->alive, "%s", tried->name);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(scale, a_world_holds_4096_component_types, one_entity_has_4096_components,
           a_hundred_thousand_archetypes_stay_cheap, memory_stays_flat_over_millions_of_lives,
           a_component_of_one_mebibyte_is_an_ordinary_component, a_slot_retires_before_a_stale_handle_comes_alive,
           contradicting_commands_end_in_their_last_word)
