/* Memory runs out at every point of a call on an index: the error is known and reported, the index has no wrong entries, and the same call then
 * succeeds and ends where a call that never failed ends. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/flow.h"
#include "mica/index.h"

enum { ENTITIES = 600, INDEXES = 3 };

typedef struct fixture {
    faulty_allocator allocator;
    mica_world *world;
    mica_entity entities[ENTITIES];
    mica_index *indexes[INDEXES];
    uint32_t report_count;
} fixture;

static mica_index_def def_of(uint32_t number)
{
    switch (number) {
    case 0: return (mica_index_def){.component = MICA_ID(Number), .fields = "value"};
    case 1: return (mica_index_def){.component = MICA_ID(Number), .fields = "value", .hashed = true, .name = "hashed"};
    default:
        return (mica_index_def){
            .component = MICA_ID(Position), .fields = "x, y", .cell_size = 2, .maximum = {50, 50}, .name = "grid"};
    }
}

static void hear(const mica_report *report, void *context)
{
    (void)report;
    ++((fixture *)context)->report_count;
}

static void create_entities(fixture *fixture, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; ++i)
        fixture->entities[i] = mica_create(fixture->world, MICA_WITH(Number, {i * 7919 % ENTITIES / 2}),
                                           MICA_WITH(Position, {(float)(i % 50), (float)(i / 50 * 2), 0}));
}

static bool create_indexes(fixture *fixture)
{
    for (uint32_t i = 0; i < INDEXES; ++i) {
        mica_index_def def = def_of(i);
        if (!fixture->indexes[i] && !(fixture->indexes[i] = mica_index_create(fixture->world, &def)))
            return false;
    }
    return true;
}

static bool update_indexes(fixture *fixture)
{
    for (uint32_t i = 0; i < INDEXES; ++i)
        if (mica_index_update(fixture->indexes[i]) != MICA_OK) {
            REQUIRE(mica_index_entity_count(fixture->indexes[i]) == 0);
            return false;
        }
    return true;
}

static void open_fixture(fixture *fixture)
{
    *fixture = (struct fixture){0};
    faulty_allocator_init(&fixture->allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&fixture->allocator);
    def.report = hear;
    def.report_context = fixture;
    fixture->world = mica_world_create(&def);
    create_entities(fixture, 0, ENTITIES / 2);
}

static void close_fixture(fixture *fixture)
{
    REQUIRE(mica_world_validate(fixture->world) == MICA_OK);
    mica_world_destroy(fixture->world);
    REQUIRE(fixture->allocator.live_bytes == 0);
    faulty_allocator_free(&fixture->allocator);
}

static void prepare_indexes(fixture *fixture)
{
    REQUIRE(create_indexes(fixture));
}

static void prepare_rebuild(fixture *fixture)
{
    prepare_indexes(fixture);
    REQUIRE(update_indexes(fixture));
    create_entities(fixture, ENTITIES / 2, ENTITIES); /* more than are inserted one by one */
}

/* Fewer, all with new values in full blocks and cells. */
static void prepare_changes(fixture *fixture)
{
    prepare_indexes(fixture);
    REQUIRE(update_indexes(fixture));
    create_entities(fixture, ENTITIES / 2, ENTITIES / 2 + 200);
    mica_write(fixture->world, fixture->entities[0], Number)->value = 1000;
}

static bool refresh(fixture *fixture)
{
    for (uint32_t i = 0; i < INDEXES; ++i)
        for (uint32_t k = 0; k < 240; ++k) {
            uint32_t at = k < 200 ? ENTITIES / 2 + k : k;
            if (mica_index_refresh(fixture->indexes[i], fixture->entities[at]) != MICA_OK)
                return false;
        }
    return true;
}

/* The first entries of indexes that were empty. */
static void prepare_first(fixture *fixture)
{
    prepare_indexes(fixture);
    REQUIRE(mica_world_clear(fixture->world) == MICA_OK && update_indexes(fixture));
    create_entities(fixture, 0, ENTITIES / 2 + 200);
}

static void count_visits(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)entity, (void)neighbours;
    *(uint32_t *)context += count;
}

/* All others are neighbours: more than fit on the stack. */
static bool visit_all(fixture *fixture)
{
    uint32_t visits = 0;
    mica_grid_loop loop = {.radius = 100, .fn = count_visits, .context = &visits};
    return mica_grid_each(fixture->indexes[2], &loop) == MICA_OK && visits == ENTITIES / 2 * (ENTITIES / 2 - 1);
}

static void prepare_visit(fixture *fixture)
{
    prepare_indexes(fixture);
    REQUIRE(update_indexes(fixture));
}

static void see(const mica_frame *frame)
{
    (void)frame;
}

/* The index stays as the first system sees it, which may run at the same time. */
static void see_too(const mica_frame *frame)
{
    (void)frame;
}

static void prepare_system(fixture *fixture)
{
    prepare_indexes(fixture);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    mica_flow_configure(fixture->world, &flow);
    mica_system_add(fixture->world, MICA_SYSTEM_ONCE_WITH(see, (MICA_USES({.index = fixture->indexes[2]}))));
    mica_system_add(fixture->world, MICA_SYSTEM_ONCE_WITH(see_too, (MICA_USES({.index = fixture->indexes[2]}))));
    REQUIRE(mica_step(fixture->world, 0.1f) == MICA_OK);
    create_entities(fixture, ENTITIES / 2, ENTITIES);
}

static bool step(fixture *fixture)
{
    return mica_step(fixture->world, 0.1f) == MICA_OK && mica_index_entity_count(fixture->indexes[2]) == ENTITIES;
}

typedef struct scenario {
    const char *name;
    void (*prepare)(fixture *fixture);
    bool (*act)(fixture *fixture);
} scenario;

static const scenario scenarios[] = {
    {"create", NULL, create_indexes},
    {"first update", prepare_indexes, update_indexes},
    {"rebuild", prepare_rebuild, update_indexes},
    {"changes", prepare_changes, update_indexes},
    {"refresh", prepare_changes, refresh},
    {"first entries", prepare_first, refresh},
    {"loop", prepare_visit, visit_all},
    {"system", prepare_system, step},
};

/* What all indexes answer. */
static uint64_t answers_of(fixture *fixture)
{
    uint64_t sum = 0;
    if (!fixture->indexes[2])
        return 0;
    REQUIRE(update_indexes(fixture));
    for (uint32_t i = 0; i < 2; ++i)
        for (mica_match match = mica_index_range(fixture->indexes[i], (mica_key){0}, (mica_key){0});
             mica_match_next(&match);)
            sum = sum * 31 + match.entity.index;
    for (uint32_t i = 0; i < ENTITIES; ++i)
        sum = sum * 31 + mica_find_by(fixture->indexes[1], mica_key_integer(i)).index;
    static mica_neighbour near[ENTITIES];
    uint32_t count = mica_grid_within(fixture->indexes[2], (mica_point){20, 5, 0}, 100, near, ENTITIES);
    for (uint32_t i = 0; i < count; ++i)
        sum = sum * 31 + near[i].entity.index;
    return sum;
}

/* Returns whether there was an allocation to fail. */
static bool fail_at(const scenario *scenario, uint64_t k, bool keep_failing, uint64_t expected)
{
    static fixture fixture;
    open_fixture(&fixture);
    if (scenario->prepare)
        scenario->prepare(&fixture);
    faulty_allocator_fail_at(&fixture.allocator, k, keep_failing);
    uint64_t before = fixture.allocator.failures;
    bool done = scenario->act(&fixture);
    bool has_failed = fixture.allocator.failures != before;
    faulty_allocator_fail_at(&fixture.allocator, 0, false);
    REQUIRE_SAYING(done || (has_failed && fixture.report_count), "%s %llu", scenario->name, (unsigned long long)k);
    REQUIRE(mica_world_validate(fixture.world) == MICA_OK);
    if (!done)
        REQUIRE_SAYING(scenario->act(&fixture), "%s %llu", scenario->name, (unsigned long long)k);
    REQUIRE_SAYING(answers_of(&fixture) == expected, "%s %llu", scenario->name, (unsigned long long)k);
    close_fixture(&fixture);
    return has_failed;
}

START_TEST(every_failure_is_reported_and_can_be_repeated)
{
    const scenario *scenario = &scenarios[_i];
    static fixture fixture;
    open_fixture(&fixture);
    if (scenario->prepare)
        scenario->prepare(&fixture);
    REQUIRE(scenario->act(&fixture));
    uint64_t expected = answers_of(&fixture);
    close_fixture(&fixture);
    uint64_t k = 1;
    while (fail_at(scenario, k, false, expected))
        REQUIRE(++k < 5000);
    ck_assert_msg(k > 1, "%s needs no memory", scenario->name);
    for (uint64_t i = 1; i < k; ++i)
        fail_at(scenario, i, true, expected);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("index_memory_failure");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, every_failure_is_reported_and_can_be_repeated, 0, COUNT_OF(scenarios));
    return test_run("index_memory_failure", cases);
}
