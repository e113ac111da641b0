/* Components in pools that own memory and know their own address: every value is made, moved and dropped once, whatever
 * happens to the rows, and a value that can't be made changes nothing. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/sample.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

enum { ENTITIES = 60, STEPS = UNDER_SANITIZER ? 1500 : 6000 };

typedef struct how {
    mica_pool_index index;
    mica_dying dying;
    bool many, grouped;
} how;

static const how ways[] = {
    {MICA_INDEX_MAP, MICA_DYING_AT_ONCE, false, false},   {MICA_INDEX_MAP, MICA_DYING_AT_FLUSH, false, false},
    {MICA_INDEX_MAP, MICA_DYING_LAZILY, false, false},    {MICA_INDEX_DIRECT, MICA_DYING_AT_ONCE, false, false},
    {MICA_INDEX_DIRECT, MICA_DYING_LAZILY, false, false}, {MICA_INDEX_DIRECT, MICA_DYING_AT_FLUSH, false, false},
    {MICA_INDEX_HASH, MICA_DYING_AT_ONCE, false, false},  {MICA_INDEX_HASH, MICA_DYING_LAZILY, false, false},
    {MICA_INDEX_MAP, MICA_DYING_AT_ONCE, true, false},    {MICA_INDEX_HASH, MICA_DYING_LAZILY, true, false},
    {MICA_INDEX_MAP, MICA_DYING_AT_ONCE, false, true},    {MICA_INDEX_MAP, MICA_DYING_LAZILY, false, true},
    {MICA_INDEX_HASH, MICA_DYING_AT_FLUSH, false, true},
};

static mica_component owner_component(const how *way, char letter)
{
    char name[64];
    snprintf(name, sizeof name, "Owner %c %d %d %d", letter, (int)way->index, (int)way->dying, way->many);
    mica_type type = *samples[SAMPLE_OWNER].type;
    type.name = name;
    type.id_cache = 0;
    type.storage = MICA_STORAGE_POOL;
    type.index = way->index;
    type.dying = way->dying;
    type.many = way->many;
    mica_component component = mica_type_intern(&type);
    REQUIRE(component);
    return component;
}

typedef struct play {
    mica_world *world;
    mica_component components[2];
    mica_entity entities[ENTITIES];
    uint32_t numbers[ENTITIES][2]; /* UINT32_MAX: it has none */
    sample_room room;
} play;

static play game;

static mica_value make_value(uint32_t which, uint32_t number)
{
    mica_value value = sample_value_begin(SAMPLE_OWNER, number, &game.room);
    value.component = game.components[which];
    return value;
}

static void drop_value(void)
{
    sample_value_end(SAMPLE_OWNER, &game.room);
}

static bool holds(uint32_t at, uint32_t which)
{
    const void *value = mica_get_id(game.world, game.entities[at], game.components[which]);
    uint32_t number = game.numbers[at][which];
    return number == UINT32_MAX ? !value : value && samples[SAMPLE_OWNER].holds(value, number);
}

static void expect_all(void)
{
    for (uint32_t at = 0; at < ENTITIES; ++at)
        REQUIRE(holds(at, 0) && holds(at, 1));
    expect_valid(game.world);
}

static void open_game(const how *way)
{
    game.world = open_world(&heard);
    memset(game.numbers, 0xff, sizeof game.numbers);
    for (uint32_t which = 0; which < 2; ++which)
        game.components[which] = owner_component(way, (char)('a' + which));
    if (way->grouped)
        REQUIRE(mica_group_id(game.world, game.components, 2) == MICA_OK);
    for (uint32_t at = 0; at < ENTITIES; ++at)
        game.entities[at] = mica_create(game.world);
}

static void close_game(void)
{
    close_world(game.world, &heard);
    REQUIRE_SAYING(sample_owners_alive() == 0, "%d owners are left", (int)sample_owners_alive());
}

static int compare(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = *(const uint32_t *)a % 8, right = *(const uint32_t *)b % 8; /* the number comes first */
    return (left > right) - (left < right);
}

static void set(uint32_t at, uint32_t which, uint32_t number)
{
    REQUIRE(mica_set_id(game.world, game.entities[at], make_value(which, number)));
    drop_value();
    game.numbers[at][which] = number;
}

/* A value that lies in the pool itself is given to another entity. */
static void copy_within(uint32_t at, uint32_t other, uint32_t which)
{
    const void *value = mica_get_id(game.world, game.entities[other], game.components[which]);
    if (!value)
        return;
    mica_value given = {game.components[which], 0, value};
    REQUIRE(mica_set_id(game.world, game.entities[at], given));
    game.numbers[at][which] = game.numbers[other][which];
}

/* Reuses the index of a destroyed entity. The value of `other` is passed as a pointer into the pool. */
static void be_born(uint32_t at, uint32_t number, const mica_entity *other)
{
    REQUIRE(mica_destroy(game.world, game.entities[at]));
    mica_value value = make_value(0, number);
    value.data = other ? mica_get_id(game.world, *other, game.components[0]) : value.data;
    game.entities[at] = mica_create_id(game.world, &value, 1);
    drop_value();
    game.numbers[at][0] = number;
    game.numbers[at][1] = UINT32_MAX;
}

static void record(random_source *random)
{
    mica_defer(game.world);
    for (uint32_t i = 0; i < 6; ++i) {
        uint32_t at = random_below(random, ENTITIES), which = random_below(random, 2);
        uint32_t number = random_below(random, 1000);
        if (random_one_in(random, 3)) {
            mica_remove_id(game.world, game.entities[at], game.components[which]);
            game.numbers[at][which] = UINT32_MAX;
        } else {
            set(at, which, number);
        }
    }
    REQUIRE(mica_flush(game.world) == MICA_OK);
}

static void clone_over(uint32_t at, uint32_t other)
{
    if (at == other)
        return;
    REQUIRE(mica_destroy(game.world, game.entities[at]));
    game.entities[at] = mica_clone(game.world, game.entities[other]);
    memcpy(game.numbers[at], game.numbers[other], sizeof game.numbers[at]);
}

static void step(random_source *random, const how *way)
{
    uint32_t at = random_below(random, ENTITIES), other = random_below(random, ENTITIES);
    uint32_t which = random_below(random, 2), number = random_below(random, 1000);
    mica_pool *pool = mica_pool_of_id(game.world, game.components[which]);
    switch (random_below(random, 12)) {
    case 0:
        mica_remove_id(game.world, game.entities[at], game.components[which]);
        game.numbers[at][which] = UINT32_MAX;
        break;
    case 1: be_born(at, number, NULL); break;
    case 2:
        if (game.numbers[other][0] != UINT32_MAX && at != other)
            be_born(at, game.numbers[other][0], &game.entities[other]);
        break;
    case 3: mica_pool_gc(pool, 10); break;
    case 4: REQUIRE(mica_flush(game.world) == MICA_OK); break;
    case 5: copy_within(at, other, which); break;
    case 6:
        if (way->index != MICA_INDEX_DIRECT && random_one_in(random, 4))
            REQUIRE(mica_pool_sort(pool, compare, NULL) == MICA_OK);
        break;
    case 7: record(random); break;
    case 8: clone_over(at, other); break;
    case 9:
        if (random_one_in(random, 4))
            mica_world_trim(game.world);
        break;
    default: set(at, which, number); break;
    }
}

START_TEST(owned_values_are_made_moved_and_dropped_once)
{
    random_source random = {(uint64_t)_i};
    open_game(&ways[_i]);
    for (uint32_t i = 0; i < STEPS; ++i) {
        step(&random, &ways[_i]);
        if (i % 32 == 0)
            expect_all();
    }
    expect_all();
    close_game();
}
END_TEST

START_TEST(a_copy_that_fails_changes_nothing)
{
    static faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_allocator interface = faulty_allocator_interface(&faulty);
    sample_owners_use(&interface);
    open_game(&ways[_i]);
    for (uint32_t at = 0; at < 30; ++at)
        set(at, at % 2, at);
    for (uint32_t at = 20; at < 26; ++at) { /* rows of the dead, in slots that are used again */
        REQUIRE(mica_destroy(game.world, game.entities[at]));
        memset(game.numbers[at], 0xff, sizeof game.numbers[at]);
    }
    for (uint32_t at = 20; at < 26; ++at)
        game.entities[at] = mica_create(game.world);
    mica_value value = make_value(0, 500);
    uint64_t before = mica_world_hash(game.world);
    int64_t alive = sample_owners_alive();
    faulty_allocator_fail_at(&faulty, 1, true);
    for (uint32_t at = 0; at < ENTITIES; ++at) {
        REQUIRE(!mica_set_id(game.world, game.entities[at], value));
        REQUIRE(holds(at, 0) && holds(at, 1));
        if (game.numbers[at][0] == UINT32_MAX)
            REQUIRE(!mica_add_id(game.world, game.entities[at], game.components[0]));
    }
    REQUIRE(mica_is_nil(mica_create_id(game.world, &value, 1)));
    REQUIRE(mica_is_nil(mica_clone(game.world, game.entities[0])));
    mica_value values[] = {value, {game.components[1], 0, NULL}};
    faulty_allocator_fail_at(&faulty, 2, true); /* the first value is made, the second is not */
    REQUIRE(mica_is_nil(mica_create_id(game.world, values, 2)));
    faulty_allocator_fail_at(&faulty, 5, true);
    REQUIRE(mica_create_many(game.world, 9, &(mica_value){game.components[0], 0, NULL}, 1, NULL) != MICA_OK);
    faulty_allocator_fail_at(&faulty, 0, false);
    REQUIRE(sample_owners_alive() == alive);
    REQUIRE(mica_world_hash(game.world) == before);
    forget_reports(&heard);
    expect_all();
    drop_value();
    close_game();
    sample_owners_use(NULL);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(instances_that_own_something_come_and_go_in_any_order)
{
    const how way = {MICA_INDEX_MAP, MICA_DYING_LAZILY, true, false};
    open_game(&way);
    mica_pool *pool = mica_pool_of_id(game.world, game.components[0]);
    random_source random = {5};
    uint32_t total = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
        mica_entity entity = game.entities[random_below(&random, 5)];
        mica_instance instance = mica_pool_find(pool, entity);
        if (random_one_in(&random, 2)) {
            instance = mica_pool_add(pool, entity);
            REQUIRE(!mica_instance_is_nil(instance));
            samples[SAMPLE_OWNER].assign(mica_instance_write_id(pool, instance), i);
            ++total;
        } else if (!mica_instance_is_nil(instance)) {
            if (random_one_in(&random, 2) && !mica_instance_is_nil(mica_pool_next(pool, instance)))
                instance = mica_pool_next(pool, instance);
            REQUIRE(mica_pool_remove(pool, instance));
            --total;
        }
        if (i % 50 == 0)
            REQUIRE(mica_pool_sort(pool, compare, NULL) == MICA_OK);
    }
    REQUIRE(mica_pool_count(pool) == total);
    mica_commands *commands = mica_commands_create(game.world);
    for (uint32_t i = 0; i < 10; ++i)
        samples[SAMPLE_OWNER].assign(
            mica_command_add_instance_id(commands, game.entities[7], game.components[0], MICA_HERE), i);
    REQUIRE(mica_flush(game.world) == MICA_OK);
    mica_instance instance = mica_pool_find(pool, game.entities[7]);
    for (uint32_t i = 0; i < 10; ++i, instance = mica_pool_next(pool, instance))
        REQUIRE(samples[SAMPLE_OWNER].holds(mica_instance_read_id(pool, instance), i));
    for (uint32_t i = 0; i < 3; ++i) /* and some that are never applied */
        REQUIRE(mica_command_add_instance_id(commands, game.entities[7], game.components[0], MICA_HERE));
    REQUIRE(mica_command_remove_id(commands, game.entities[7], game.components[0], MICA_HERE));
    REQUIRE(mica_command_add_instance_id(commands, game.entities[8], game.components[0], MICA_HERE));
    mica_commands_destroy(commands);
    close_game();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("owner");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, owned_values_are_made_moved_and_dropped_once, 0, (int)COUNT_OF(ways));
    tcase_add_loop_test(cases, a_copy_that_fails_changes_nothing, 0, (int)COUNT_OF(ways));
    tcase_add_test(cases, instances_that_own_something_come_and_go_in_any_order);
    return test_run("owner", cases);
}
