/* Indexes of one field, and what all indexes have in common: defs, keys, uniqueness, loops, and systems that use them. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/flow.h"
#include "mica/index.h"
#include "mica/snapshot.h"

#include <math.h>
#include <string.h>

typedef struct Wide {
    int8_t small;
    uint64_t large;
    double real;
    bool flag;
    Mood mood;
    Skills skills;
    mica_asset asset;
    mica_entity entity;
    char letter;
    int16_t list[3];
    Vec3 home;
    mica_text text;
    float single;
} Wide;
MICA_COMPONENT(Wide, small, large, real, flag, (mood, Mood), (skills, Skills), asset, entity, letter, list,
               (home, Vec3), text, single)
typedef struct Stack {
    uint32_t count;
} Stack;
MICA_POOL_WITH(Stack, (.many = true), count)
typedef struct Score {
    uint32_t value;
} Score;
MICA_SINGLETON(Score, value)

START_TEST(invalid_defs_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    const struct {
        mica_index_def def;
        const char *fragment;
    } cases[] = {
        {{.component = MICA_ID(Wide)}, "needs .fields"},
        {{.component = MICA_ID(Wide), .fields = ""}, "a field is missing"},
        {{.component = MICA_ID(Wide), .fields = "small,"}, "a field is missing"},
        {{.component = MICA_ID(Wide), .fields = "smell"}, "has no field \"smell\""},
        {{.component = MICA_ID(Wide), .fields = "list"}, "\"list\" is not a number"},
        {{.component = MICA_ID(Wide), .fields = "list[3]"}, "only 3 elements"},
        {{.component = MICA_ID(Wide), .fields = "small, text", .cell_size = 1, .maximum = {1, 1}},
         "\"text\" is not a number"},
        {{.component = MICA_ID(Wide), .fields = "home"}, "\"home\" is not a number"},
        {{.component = MICA_ID(Wide), .fields = "small, large"}, "needs a .cell_size"},
        {{.component = MICA_ID(Wide), .fields = "small, large, real, flag"}, "more than 3"},
        {{.component = MICA_ID(Stack), .fields = "count"}, "one value per entity"},
        {{.component = MICA_ID(Frozen), .fields = "x"}, "must have data"},
        {{.component = MICA_ID(Wide), .fields = "small", .cell_size = 1, .maximum = {1}}, "two or three .fields"},
        {{.component = MICA_ID(Wide), .fields = "small, flag", .cell_size = 1, .maximum = {1, 1}},
         "\"flag\" is not a number"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = -1, .maximum = {1, 1}}, ".cell_size"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = NAN, .maximum = {1, 1}}, ".cell_size"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1, .maximum = {1, 0}}, ".maximum"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1, .maximum = {1, INFINITY}}, ".maximum"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1e-9, .maximum = {1, 1}}, "too many cells"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1, .maximum = {1e5, 1e5}},
         "too many cells"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1, .maximum = {1, 1}, .unique = true},
         "neither"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = 1, .maximum = {1, 1}, .hashed = true},
         "neither"},
        {{.component = MICA_ID(Wide), .fields = "small, real", .cell_size = INFINITY, .maximum = {1, 1}}, ".cell_size"},
        {{.component = MICA_ID(Wide),
          .fields = "small, real",
          .cell_size = 1,
          .minimum = {-INFINITY},
          .maximum = {1, 1}},
         ".maximum"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_ptr_null(mica_index_create(world, &cases[i].def));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].fragment);
    }
    ck_assert_ptr_null(mica_index_create(world, &(mica_index_def){.component = MICA_ID(Score), .fields = "value"}));
    forget_reports(&heard);
    ck_assert_ptr_null(mica_index_create(world, &(mica_index_def){.component = 61234, .fields = "value"}));
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

static uint32_t count_of(mica_world *world, const char *field, mica_key low, mica_key high)
{
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Wide), .fields = field});
    REQUIRE(index && mica_index_update(index) == MICA_OK);
    uint32_t count = mica_index_count(index, low, high);
    if (low.kind && !memcmp(&low, &high, sizeof low))
        REQUIRE(mica_is_nil(mica_find_by(index, low)) == (count == 0));
    mica_index_destroy(index);
    return count;
}

START_TEST(keys_of_every_kind_find_fields_of_every_kind)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity friend = mica_create(world);
    for (int i = -2; i <= 2; ++i)
        mica_create(world, MICA_WITH(Wide, {.small = (int8_t)i,
                                            .large = i == 2 ? UINT64_MAX : (uint64_t)(i + 2),
                                            .real = i == 2 ? NAN : i * 0.5,
                                            .flag = i > 0,
                                            .mood = i ? MOOD_ANGRY : MOOD_AFRAID,
                                            .skills = SKILL_SING,
                                            .asset = {(uint64_t)(i + 3) << 60},
                                            .entity = i ? friend : mica_nil(),
                                            .letter = (char)('a' + i),
                                            .list = {0, (int16_t)(i * 100), 0},
                                            .home = {0, (float)i, 0},
                                            .single = (float)i / 10}));
    const mica_key open = {0};
    const struct {
        const char *field;
        mica_key low, high;
        uint32_t count;
    } cases[] = {
        {"small", open, open, 5},
        {"small", mica_key_integer(-1), mica_key_integer(1), 3},
        {"small", mica_key_real(-1.5), mica_key_real(1.5), 3},
        {"small", mica_key_real(1.5), mica_key_real(1.5), 0},
        {"small", mica_key_natural(1), mica_key_natural(UINT64_MAX), 2},
        {"small", mica_key_natural(UINT64_MAX), open, 0},
        {"small", mica_key_real(-1e300), mica_key_real(1e300), 5},
        {"small", mica_key_real(1e300), mica_key_real(1e300), 0},
        {"small", mica_key_real(-1e300), mica_key_real(-1e300), 0},
        {"small", mica_key_real(NAN), mica_key_real(NAN), 0},
        {"small", mica_key_integer(2), mica_key_integer(-2), 0},
        {"large", mica_key_integer(-5), mica_key_integer(1), 2},
        {"large", mica_key_integer(-5), mica_key_integer(-5), 0},
        {"large", mica_key_natural(UINT64_MAX), mica_key_natural(UINT64_MAX), 1},
        {"large", mica_key_real(0x1p63), mica_key_real(0x1p65), 1},
        {"large", mica_key_real(0x1p64), mica_key_real(0x1p64), 0},
        {"real", mica_key_integer(-1), mica_key_integer(0), 3},
        {"real", mica_key_real(-0.0), mica_key_real(0), 1},
        {"real", mica_key_real(NAN), mica_key_real(NAN), 1},
        {"real", mica_key_natural(0), open, 3},
        {"real", open, mica_key_real(INFINITY), 4},
        {"single", mica_key_real(0.1), mica_key_real(0.1), 1},
        {"flag", mica_key_integer(1), mica_key_integer(1), 2},
        {"mood", mica_key_integer(MOOD_ANGRY), mica_key_integer(MOOD_ANGRY), 4},
        {"skills", mica_key_natural(SKILL_SING), mica_key_natural(SKILL_SING), 5},
        {"asset", mica_key_natural((uint64_t)5 << 60), mica_key_natural((uint64_t)5 << 60), 1},
        {"letter", mica_key_integer('a'), mica_key_integer('z'), 3},
        {"entity", mica_key_entity(friend), mica_key_entity(friend), 4},
        {"entity", mica_key_entity(mica_nil()), mica_key_entity(mica_nil()), 1},
        {" list[1] ", mica_key_integer(-100), mica_key_integer(100), 3},
        {"home.y", mica_key_integer(2), open, 1},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        REQUIRE_SAYING(count_of(world, cases[i].field, cases[i].low, cases[i].high) == cases[i].count, "case %u", i);
    count_of(world, "entity", mica_key_integer(1), open);
    expect_report(&heard, MICA_ERROR_INVALID, "must be an entity");
    count_of(world, "real", open, mica_key_entity(friend));
    expect_report(&heard, MICA_ERROR_INVALID, "must be a number");
    close_world(world, &heard);
}
END_TEST

START_TEST(equal_values_of_a_unique_index_are_reported_once_and_the_lowest_handle_is_found)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t hashed = 0; hashed < 2; ++hashed) {
        mica_index *index = mica_index_create(
            world,
            &(mica_index_def){
                .name = "numbers", .component = MICA_ID(Number), .fields = "value", .unique = true, .hashed = hashed});
        mica_entity first = mica_create(world, MICA_WITH(Number, {1})),
                    second = mica_create(world, MICA_WITH(Number, {2}));
        ck_assert(mica_index_update(index) == MICA_OK);
        if (first.index > second.index) { /* slots are used again, the last one first */
            mica_entity entity = first;
            first = second;
            second = entity;
        }
        mica_write(world, first, Number)->value = mica_write(world, second, Number)->value = 2;
        ck_assert(mica_index_update(index) == MICA_ERROR_EXISTS);
        expect_report(&heard, MICA_ERROR_EXISTS, "index numbers: it is unique");
        ck_assert(mica_index_update(index) == MICA_ERROR_EXISTS);
        expect_no_report(&heard);
        ck_assert(mica_same(mica_find_by(index, mica_key_integer(2)), first));
        ck_assert(mica_is_nil(mica_find_by(index, mica_key_integer(1))));
        mica_destroy(world, first);
        ck_assert(mica_index_refresh(index, first) == MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_integer(2)), second));
        mica_destroy(world, second);
        mica_index_destroy(index);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_ends_when_the_index_is_updated)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    mica_match empty = mica_index_range(index, (mica_key){0}, (mica_key){0});
    ck_assert(!mica_match_next(&empty) && !mica_match_next(&empty));
    for (uint32_t i = 0; i < 10; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_index_update(index);
    mica_match match = mica_index_range(index, mica_key_integer(3), (mica_key){0});
    ck_assert(mica_match_next(&match));
    ck_assert(mica_index_update(index) == MICA_OK); /* nothing has changed */
    ck_assert(mica_match_next(&match));
    mica_create(world, MICA_WITH(Number, {100}));
    mica_index_update(index);
    ck_assert(!mica_match_next(&match));
    expect_report(&heard, MICA_ERROR_REFUSED, "updated during a loop");
    ck_assert(!mica_match_next(&match));
    close_world(world, &heard);
}
END_TEST

START_TEST(functions_of_the_other_kind_of_index_report)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x"});
    mica_index *grid = mica_index_create(
        world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}});
    mica_neighbour near[1];
    ck_assert_uint_eq(mica_grid_within(index, (mica_point){0}, 1, near, 1), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "must be a grid");
    ck_assert(mica_is_nil(mica_find_by(grid, mica_key_integer(1))));
    expect_report(&heard, MICA_ERROR_INVALID, "not a grid");
    ck_assert_uint_eq(mica_grid_within(NULL, (mica_point){0}, 1, near, 1), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(results_without_room_for_them_are_refused)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 1, 0}));
    mica_index *grid = mica_index_create(
        world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}});
    ck_assert_int_eq(mica_index_update(grid), MICA_OK);
    mica_neighbour near[1];
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position)));
    mica_random random = mica_random_make(1, 0);
    ck_assert_uint_eq(mica_grid_within(grid, (mica_point){1, 1, 0}, 1, NULL, 1), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "out must not be NULL");
    ck_assert_uint_eq(mica_grid_around(grid, entity, 1, NULL, 1), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "out must not be NULL");
    ck_assert_uint_eq(mica_grid_nearest(grid, (mica_point){1, 1, 0}, NULL, 1), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "out must not be NULL");
    ck_assert_uint_eq(mica_query_shuffled(query, &random, NULL, 1), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "out must not be NULL");
    ck_assert_uint_eq(mica_grid_within(grid, (mica_point){1, 1, 0}, -1, near, 1), 0);
    ck_assert_uint_eq(mica_grid_within(grid, (mica_point){1, 1, 0}, NAN, near, 1), 0);
    ck_assert_uint_eq(mica_query_shuffled(query, &random, NULL, 0), 1);
    forget_reports(&heard);
    ck_assert_ptr_null(mica_index_create(world, NULL));
    expect_report(&heard, MICA_ERROR_INVALID, "def must not be NULL");
    close_world(world, &heard);
}
END_TEST

/* Systems. */

static mica_index *numbers;
static uint32_t seen_first, seen_second;
static mica_entity lowest;

static void raise(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value += 10;
}

static void look_first(const mica_frame *frame)
{
    (void)frame;
    seen_first = mica_index_count(numbers, mica_key_integer(0), mica_key_integer(9));
}

static void look_second(const mica_frame *frame)
{
    (void)frame;
    seen_second = mica_index_count(numbers, mica_key_integer(10), mica_key_integer(19));
}

START_TEST(a_system_reads_an_index_between_the_writers_before_and_after_it)
{
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = workers;
        mica_flow_configure(world, &flow);
        numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
        for (uint32_t i = 0; i < 3000; ++i)
            mica_create(world, MICA_WITH(Number, {i % 10}));
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(look_first, (MICA_USES({.index = numbers}))));
        mica_system_add(world, MICA_SYSTEM_WITH(raise, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Number)));
        mica_system system =
            mica_system_add(world, MICA_SYSTEM_ONCE_WITH(look_second, (MICA_USES({.index = numbers}))));
        ck_assert(mica_step(world, 0.1f) == MICA_OK);
        ck_assert_uint_eq(seen_first, 3000);
        ck_assert_uint_eq(seen_second, 3000);
        mica_index_destroy(numbers);
        expect_report(&heard, MICA_ERROR_REFUSED, "2 systems use it");
        mica_system_access access;
        ck_assert(mica_system_get_accesses(world, system, &access, 1) == 1 && access.component == MICA_ID(Number) &&
                  !access.write && !access.own_rows);
        close_world(world, &heard);
    }
}
END_TEST

/* A system that writes the component it reads through the index sees the values from before it started, on any number of threads. */
static void swap_with_next(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_match match = mica_index_range(numbers, mica_key_integer(number[i].value + 1), (mica_key){0});
        number[i].value = mica_match_next(&match) ? match.entity.index : 1000000;
    }
}

START_TEST(a_parallel_system_may_write_what_it_reads_through_an_index)
{
    uint64_t hashes[2];
    for (uint32_t run = 0; run < 2; ++run) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = run ? 3 : 1;
        mica_flow_configure(world, &flow);
        numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
        for (uint32_t i = 0; i < 5000; ++i)
            mica_create(world, MICA_WITH(Number, {(i * 7919) % 5000}));
        mica_system system = mica_system_add(
            world, MICA_SYSTEM_WITH(swap_with_next, (.parallel = MICA_PARALLEL_EVEN, MICA_USES({.index = numbers})),
                                    MICA_WRITE(Number)));
        mica_system_info info;
        ck_assert(mica_system_get_info(world, system, &info) && !info.one_thread);
        for (uint32_t i = 0; i < 5; ++i)
            ck_assert(mica_step(world, 0.1f) == MICA_OK);
        hashes[run] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert(hashes[0] == hashes[1]);
}
END_TEST

static void find_lowest(const mica_frame *frame)
{
    mica_create(frame->world, MICA_WITH(Number, {0}));
    ck_assert(mica_index_update(numbers) == MICA_OK);
    lowest = mica_find_by(numbers, mica_key_integer(0));
}

START_TEST(an_exclusive_system_may_update)
{
    reports heard;
    mica_world *world = open_world(&heard);
    numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    mica_create(world, MICA_WITH(Number, {1}));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(find_lowest, (.exclusive = true, MICA_USES({.index = numbers}))));
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert(mica_get(world, lowest, Number)->value == 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(wrong_uses_are_reported)
{
    reports heard, other_heard;
    mica_world *world = open_world(&heard), *other = open_world(&other_heard);
    numbers = mica_index_create(other, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    ck_assert(!mica_system_add(world, MICA_SYSTEM_ONCE_WITH(look_first, (MICA_USES({.index = numbers})))).id);
    expect_report(&heard, MICA_ERROR_INVALID, "index of another world");
    ck_assert(!mica_system_add(other, MICA_SYSTEM_ONCE_WITH(
                                          look_first, (MICA_USES({.component = MICA_ID(Number), .index = numbers}))))
                   .id);
    expect_report(&other_heard, MICA_ERROR_INVALID, "either a component, a stream or an index");
    close_world(world, &heard);
    close_world(other, &other_heard);
}
END_TEST

/* Message handlers. */
typedef struct Ask {
    uint32_t value;
} Ask;
MICA_STRUCT(Ask, value)

static void answer(const mica_message *message)
{
    const Ask *ask = message->data;
    seen_second = mica_index_count(numbers, mica_key_integer(ask->value), (mica_key){0});
}

static void ask(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        mica_send(view->world, view->entities[i], Ask, {3});
}

START_TEST(a_message_handler_reads_a_current_index)
{
    reports heard;
    mica_world *world = open_world(&heard);
    numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Mass, {1}));
    const mica_use uses[] = {{.index = numbers}, {.index = numbers}};
    mica_handler handler = *MICA_HANDLER(Mass, Ask, answer);
    handler.uses = uses;
    handler.use_count = 2;
    ck_assert(mica_handler_add(world, &handler) == MICA_OK);
    mica_system_add(world, MICA_SYSTEM(ask, MICA_HAS(Mass)));
    seen_second = 0;
    ck_assert(mica_step(world, 0.1f) == MICA_OK);
    ck_assert_uint_eq(seen_second, 1);
    close_world(world, &heard);
}
END_TEST

/* Agents that act one after the other. */

static mica_index *grid;

static void walk_to_the_right(const mica_frame *frame)
{
    mica_entity agents[100];
    mica_random random = mica_random_of_frame(frame);
    uint32_t count = mica_query_shuffled(frame->query, &random, agents, 100);
    for (uint32_t i = 0; i < count; ++i) {
        Position *position = mica_write(frame->world, agents[i], Position);
        mica_neighbour near[4];
        if (mica_grid_within(grid, (mica_point){position->x + 1, position->y, 0}, 0.5, near, 4))
            continue; /* another one stands there */
        position->x += 1;
        REQUIRE(mica_index_refresh(grid, agents[i]) == MICA_OK);
    }
}

START_TEST(agents_that_act_in_random_order_see_what_those_before_them_did)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Position, {(float)(i % 10), (float)(i / 10), 0}));
    grid = mica_index_create(
        world,
        &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {40, 10}});
    mica_system_add(world,
                    MICA_SYSTEM_ONCE_WITH(walk_to_the_right, (MICA_TERMS(MICA_HAS(Position)),
                                                              MICA_USES({.index = grid}, MICA_USE_WRITE(Position)))));
    mica_neighbour near[4];
    for (uint32_t step = 0; step < 25; ++step) {
        ck_assert(mica_step(world, 0.1f) == MICA_OK);
        ck_assert(mica_index_update(grid) == MICA_OK);
        for (uint32_t x = 0; x < 40; ++x) /* no two in one place */
            for (uint32_t y = 0; y < 10; ++y)
                ck_assert(mica_grid_within(grid, (mica_point){x, y, 0}, 0.5, near, 4) <= 1);
    }
    ck_assert_uint_eq(mica_grid_within(grid, (mica_point){9, 5, 0}, 0.5, near, 4), 0); /* they have moved on */
    close_world(world, &heard);
}
END_TEST

START_TEST(shuffled_entities_depend_on_handles_and_seed_alone)
{
    mica_entity orders[2][64];
    for (uint32_t run = 0; run < 2; ++run) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_entity made[128];
        for (uint32_t i = 0; i < 128; ++i)
            made[i] = mica_create(world, MICA_WITH(Number, {i}));
        for (uint32_t i = 0; i < 64; ++i) /* in another order: rows move to other places */
            mica_destroy(world, made[run ? 126 - 2 * i : 2 * i]);
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
        mica_random random = mica_random_make(5, 0);
        ck_assert_uint_eq(mica_query_shuffled(query, &random, orders[run], 64), 64);
        mica_entity few[4];
        ck_assert_uint_eq(mica_query_shuffled(query, &random, few, 4), 64);
        close_world(world, &heard);
    }
    ck_assert_mem_eq(orders[0], orders[1], sizeof orders[0]);
    ck_assert(orders[0][0].index > orders[0][1].index || orders[0][1].index > orders[0][2].index ||
              orders[0][2].index > orders[0][3].index);
}
END_TEST

START_TEST(a_grid_answers_the_same_after_any_number_of_moves)
{
    enum { POINTS = 40, ROUNDS = 6000 };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entities[POINTS];
    for (uint32_t i = 0; i < POINTS; ++i)
        entities[i] = mica_create(world, MICA_WITH(Position, {0}));
    grid = mica_index_create(
        world, &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 3, .maximum = {8, 8}});
    mica_random random = mica_random_make(9, 9);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_entity moved = entities[mica_random_below(&random, POINTS)];
        *mica_write(world, moved, Position) =
            (Position){mica_random_range(&random, 0, 8), mica_random_range(&random, 0, 8), 0};
        REQUIRE(mica_index_update(grid) == MICA_OK);
        if (round % 50)
            continue;
        mica_neighbour near[POINTS];
        uint32_t count = mica_grid_within(grid, (mica_point){4, 4, 0}, 2, near, POINTS), expected = 0;
        for (uint32_t i = 0; i < POINTS; ++i) {
            const Position *position = mica_get(world, entities[i], Position);
            double x = (double)position->x - 4, y = (double)position->y - 4;
            expected += x * x + y * y <= 4;
        }
        ck_assert_uint_eq(count, expected);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

static void update_inside(const mica_event *event)
{
    (void)event;
    ck_assert(mica_index_update(numbers) == MICA_ERROR_REFUSED);
    ck_assert(mica_index_refresh(numbers, mica_nil()) == MICA_ERROR_REFUSED);
}

START_TEST(hooks_do_not_update)
{
    reports heard;
    mica_world *world = open_world(&heard);
    numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    mica_hook_set(world, Number, MICA_EVENT_ADD, update_inside, NULL);
    mica_create(world, MICA_WITH(Number, {1}));
    expect_report(&heard, MICA_ERROR_REFUSED, "index_update: called inside a hook");
    expect_report(&heard, MICA_ERROR_REFUSED, "index_refresh: called inside a hook");
    close_world(world, &heard);
}
END_TEST

typedef struct Cell { int32_t x; uint16_t y; } Cell;
MICA_COMPONENT(Cell, x, y)

static void add_hash(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    _Atomic uint64_t *sum = context;
    for (uint32_t i = 0; i < count; ++i)
        *sum += (uint64_t)entity.index * neighbours[i].entity.index;
}

START_TEST(a_loop_on_workers_visits_what_a_loop_on_one_thread_visits)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 3;
    mica_flow_configure(world, &flow);
    for (uint32_t i = 0; i < 5000; ++i)
        mica_create(world, MICA_WITH(Cell, {(int32_t)(i * 7919 % 100) - 50, (uint16_t)(i * 104729 % 90)}));
    grid = mica_index_create(
        world,
        &(mica_index_def){
            .component = MICA_ID(Cell), .fields = "x, y", .cell_size = 3, .minimum = {-50, 0}, .maximum = {50, 90}});
    ck_assert(mica_index_update(grid) == MICA_OK);
    _Atomic uint64_t sums[2] = {0};
    for (uint32_t i = 0; i < 2; ++i) {
        mica_grid_loop loop = {.radius = 3, .one_thread = i, .fn = add_hash, .context = &sums[i]};
        ck_assert(mica_grid_each(grid, &loop) == MICA_OK);
    }
    ck_assert(sums[0] == sums[1] && sums[0]);
    close_world(world, &heard);
}
END_TEST

/* Doubles of that size do not say where on the torus they are. */
START_TEST(a_position_far_away_from_a_torus_is_at_its_beginning)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity far = mica_create(world, MICA_WITH(Position, {1e30f, -1e30f, 0}));
    grid = mica_index_create(
        world, &(mica_index_def){
                   .component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {7, 7}, .torus = true});
    ck_assert(mica_index_update(grid) == MICA_OK);
    mica_neighbour near[2];
    ck_assert(mica_grid_within(grid, (mica_point){7, 14, 0}, 0.1, near, 2) == 1 && mica_same(near[0].entity, far));
    close_world(world, &heard);
}
END_TEST

static void update_and_destroy(mica_view *view)
{
    (void)view;
    ck_assert(mica_index_update(numbers) == MICA_ERROR_REFUSED);
    mica_index_destroy(numbers);
}

START_TEST(systems_neither_update_nor_destroy)
{
    if (STOPS_AT_MISTAKES)
        return;
    reports heard;
    mica_world *world = open_world(&heard);
    numbers = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
    mica_create(world, MICA_WITH(Number, {1}));
    mica_system_add(world, MICA_SYSTEM(update_and_destroy, MICA_READ(Number)));
    mica_step(world, 0.1f);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    ck_assert(mica_index_update(numbers) == MICA_OK && mica_index_entity_count(numbers) == 1);
    close_world(world, &heard);
}
END_TEST

/* The stamps of rows come from the other world, where they may be older than the last update of this index. */
START_TEST(an_index_that_is_older_than_a_resumed_state_has_its_rows)
{
    for (uint32_t marks = 0; marks <= 100;
         marks += 50) { /* before the state is taken: versions below and above those of the index */
        reports heard, saved_heard;
        mica_world *saved = open_world(&saved_heard), *world = open_world(&heard);
        mica_entity entity = mica_create(saved, MICA_WITH(Number, {4}));
        for (uint32_t i = 0; i < marks; ++i)
            mica_world_mark(saved);
        mica_index *index =
            mica_index_create(world, &(mica_index_def){.component = MICA_ID(Number), .fields = "value"});
        for (uint32_t i = 0; i < 20; ++i)
            ck_assert(mica_index_update(index) == MICA_OK);
        mica_state *state;
        size_t byte_count;
        ck_assert(mica_state_take(saved, &state) == MICA_OK);
        const void *bytes = mica_state_bytes(state, &byte_count);
        mica_resume *resume;
        mica_batch *batch;
        mica_value column = {MICA_ID(Number), sizeof(Number), mica_get(saved, entity, Number)};
        ck_assert(mica_resume_begin(world, bytes, byte_count, &entity, 1, &resume) == MICA_OK);
        ck_assert(mica_batch_begin(world, &(mica_batch_group){.count = 1, .column_count = 1, .columns = &column}, 1,
                                   &batch) == MICA_OK);
        ck_assert(mica_batch_commit(batch, NULL, 0) == MICA_OK && mica_resume_end(resume) == MICA_OK);
        mica_state_free(state);
        ck_assert(mica_index_update(index) == MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_integer(4)), entity));
        mica_write(world, entity, Number)->value = 5;
        ck_assert(mica_index_update(index) == MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_integer(5)), entity));
        close_world(world, &heard);
        close_world(saved, &saved_heard);
    }
}
END_TEST

typedef struct Sizes {
    int8_t tiny;
    uint16_t small;
    int32_t signed_word;
    uint32_t word;
    int64_t large;
} Sizes;
MICA_COMPONENT(Sizes, tiny, small, signed_word, word, large)

START_TEST(a_hashed_index_tells_keys_apart_that_differ_in_bits_the_field_does_not_have)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity ones = mica_create(world, MICA_WITH(Sizes, {-1, UINT16_MAX, -1, UINT32_MAX, -1}));
    mica_entity zeros = mica_create(world, MICA_WITH(Sizes, {0}));
    const struct {
        const char *field;
        int64_t ones; /* the value of the first entity */
    } fields[] = {
        {"tiny", -1}, {"small", UINT16_MAX}, {"signed_word", -1}, {"word", UINT32_MAX}, {"large", -1},
    };
    for (uint32_t i = 0; i < COUNT_OF(fields); ++i) {
        mica_index_def def = {.component = MICA_ID(Sizes), .fields = fields[i].field, .hashed = true};
        mica_index *index = mica_index_create(world, &def);
        ck_assert(mica_is_nil(mica_find_by(index, mica_key_integer(0)))); /* before the first update */
        ck_assert(mica_index_update(index) == MICA_OK);
        const int64_t keys[] = {-1, 0, 1, 255, UINT16_MAX, UINT32_MAX, (int64_t)1 << 32, INT64_MAX, INT64_MIN};
        for (uint32_t k = 0; k < COUNT_OF(keys); ++k) {
            mica_entity expected = keys[k] == fields[i].ones ? ones : keys[k] == 0 ? zeros : mica_nil();
            ck_assert(mica_same(mica_find_by(index, mica_key_integer(keys[k])), expected));
            if (keys[k] >= 0)
                ck_assert(mica_same(mica_find_by(index, mica_key_natural((uint64_t)keys[k])), expected));
            ck_assert_uint_eq(mica_index_count(index, mica_key_integer(keys[k]), mica_key_integer(keys[k])),
                              !mica_is_nil(expected));
        }
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(every_value_of_a_table_of_megabytes_is_found)
{
    enum { ROWS = 100000 };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_index_def def = {.component = MICA_ID(Number), .fields = "value", .hashed = true};
    mica_index *index = mica_index_create(world, &def);
    mica_entity first = mica_create(world, MICA_WITH(Number, {0}));
    for (uint32_t i = 1; i < ROWS; ++i)
        mica_create(world, MICA_WITH(Number, {i * 2654435761u}));
    ck_assert(mica_index_update(index) == MICA_OK);
    for (uint32_t i = 0; i < ROWS; ++i)
        REQUIRE(mica_find_by(index, mica_key_integer(i * 2654435761u)).index == first.index + i);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(index, invalid_defs_are_reported, every_value_of_a_table_of_megabytes_is_found,
           keys_of_every_kind_find_fields_of_every_kind,
           a_hashed_index_tells_keys_apart_that_differ_in_bits_the_field_does_not_have,
           equal_values_of_a_unique_index_are_reported_once_and_the_lowest_handle_is_found,
           a_loop_ends_when_the_index_is_updated, results_without_room_for_them_are_refused,
           functions_of_the_other_kind_of_index_report, a_system_reads_an_index_between_the_writers_before_and_after_it,
           a_parallel_system_may_write_what_it_reads_through_an_index, an_exclusive_system_may_update,
           wrong_uses_are_reported, a_message_handler_reads_a_current_index,
           agents_that_act_in_random_order_see_what_those_before_them_did,
           shuffled_entities_depend_on_handles_and_seed_alone, a_grid_answers_the_same_after_any_number_of_moves,
           hooks_do_not_update, a_loop_on_workers_visits_what_a_loop_on_one_thread_visits,
           a_position_far_away_from_a_torus_is_at_its_beginning, systems_neither_update_nor_destroy,
           an_index_that_is_older_than_a_resumed_state_has_its_rows)
