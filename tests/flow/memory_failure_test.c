/* Memory runs out at every point: each call is made with its first allocation failing, then its second, and so on until it
 * needs no more. After each failure the world is whole, the next try succeeds, and nothing is lost when the world ends. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/test.h"

typedef struct stage {
    faulty_allocator allocator;
    mica_world *world;
    uint32_t reports;
    mica_system system;
} stage;

static void hear(const mica_report *report, void *context)
{
    (void)report;
    __atomic_fetch_add(&((stage *)context)->reports, 1, __ATOMIC_RELAXED); /* from the thread that caused it */
}

static void add_one(mica_view *view)
{
    Number *number = mica_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static void record(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity made = mica_create(view->world, MICA_WITH(Position, {1, 2, 3}));
        if (!mica_is_nil(made))
            mica_set(view->world, made, Mass, {4});
        if (i % 4 == 0)
            mica_destroy(view->world, view->entities[i]);
    }
}

static void once(const mica_frame *frame)
{
    mica_create(frame->world, MICA_WITH(Velocity, {0}));
}

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    return (int)((const Number *)a)->value - (int)((const Number *)b)->value;
}

static mica_system add_systems(mica_world *world)
{
    mica_system_add(world, MICA_SYSTEM(add_one, MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM_WITH(record,
                                            (.split = MICA_SPLIT_EVERY, .split_rows = 10, .after = {"add_one"},
                                             MICA_USES(MICA_USE_READ(Mass))),
                                            MICA_READ(Number)));
    mica_system_def sorted = *MICA_SYSTEM(add_one, MICA_WRITE(Number));
    sorted.name = "sorted";
    sorted.order_by = MICA_ID(Number);
    sorted.compare = by_number;
    mica_system_add(world, &sorted);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(once, (.exclusive = true)));
    mica_system_def last = *MICA_SYSTEM_ONCE_WITH(once, (.phase = MICA_PHASE_END, MICA_TERMS(MICA_READ(Clock))));
    last.name = "last";
    return mica_system_add(world, &last);
}

static bool act_configure(stage *stage)
{
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 3;
    return mica_flow_configure(stage->world, &def) == MICA_OK;
}

static bool act_add(stage *stage)
{
    mica_system_def def = *MICA_SYSTEM_WITH(add_one, (.before = {"record"}, MICA_USES(MICA_USE_READ(Clock))),
                                            MICA_WRITE(Number), MICA_READ(Position));
    def.name = "another";
    return mica_system_add(stage->world, &def).id != 0;
}

static bool act_replace(stage *stage)
{
    mica_system_def def = *MICA_SYSTEM_WITH(add_one, (.after = {"sorted"}), MICA_WRITE(Number));
    def.name = "fresh";
    return mica_system_replace(stage->world, stage->system, &def) == MICA_OK;
}

static bool act_phase(stage *stage)
{
    return mica_phase_add(stage->world, MICA_PHASE_AFTER("late", MICA_PHASE_END)) != MICA_PHASE_NONE;
}

/* What systems record may fail without failing the step; then it was reported. */
static bool act_step(stage *stage)
{
    return mica_step(stage->world, 0.5f) == MICA_OK && !stage->reports;
}

static bool act_graph(stage *stage)
{
    char text[64];
    return mica_graph_write(stage->world, MICA_GRAPH_TEXT, text, sizeof text) != 0;
}

static void sum_up(uint32_t begin, uint32_t end, void *sum, void *context)
{
    (void)context;
    *(uint64_t *)sum += end - begin;
}

static void add_up(void *sum, const void *later, void *context)
{
    (void)context;
    *(uint64_t *)sum += *(const uint64_t *)later;
}

static bool act_reduce(stage *stage)
{
    static const uint64_t zero = 0;
    uint64_t sum = 77;
    const mica_reduction how = {.zero = &zero, .bytes = 8, .range = sum_up, .combine = add_up};
    bool done = mica_reduce_range(stage->world, 1000, 10, &how, &sum) == MICA_OK;
    ck_assert_uint_eq(sum, done ? 1000 : 77);
    return done;
}

static void open(stage *stage, bool with_systems)
{
    *stage = (struct stage){0};
    faulty_allocator_init(&stage->allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&stage->allocator);
    def.report = hear;
    def.report_context = stage;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    stage->world = mica_world_create(&def);
    for (uint32_t i = 0; i < 60; ++i)
        mica_create(stage->world, MICA_WITH(Number, {i}), MICA_WITH(Position, {0}));
    if (!with_systems)
        return;
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    ck_assert_int_eq(mica_flow_configure(stage->world, &flow), MICA_OK);
    stage->system = add_systems(stage->world);
    ck_assert(stage->system.id);
}

static void close_stage(stage *stage)
{
    ck_assert_int_eq(mica_world_validate(stage->world), MICA_OK);
    mica_world_destroy(stage->world);
    ck_assert_uint_eq(stage->allocator.live_blocks, 0);
    faulty_allocator_free(&stage->allocator);
}

START_TEST(every_call_survives_a_lack_of_memory_at_every_point)
{
    static const struct {
        const char *name;
        bool (*act)(stage *stage);
        bool with_systems;
    } calls[] = {
        {"configure", act_configure, false},
        {"configure again", act_configure, true},
        {"add", act_add, true},
        {"replace", act_replace, true},
        {"phase", act_phase, false},
        {"first step", act_step, true},
        {"graph", act_graph, true},
        {"reduce", act_reduce, true},
    };
    for (uint32_t i = 0; i < COUNT_OF(calls); ++i)
        for (uint32_t keep = 0; keep < 2; ++keep) {
            bool needed = true;
            for (uint32_t k = 1; needed; ++k) {
                stage stage;
                open(&stage, calls[i].with_systems);
                stage.reports = 0;
                faulty_allocator_fail_at(&stage.allocator, k, keep);
                bool done = calls[i].act(&stage);
                needed = stage.allocator.failures != 0;
                faulty_allocator_fail_at(&stage.allocator, 0, false);
                ck_assert_msg(done || stage.reports, "%s, allocation %u: a failure without a report", calls[i].name, k);
                ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
                stage.reports = 0;
                if (!done)
                    ck_assert_msg(calls[i].act(&stage), "%s, allocation %u: the next try fails too", calls[i].name, k);
                ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
                close_stage(&stage);
                ck_assert_uint_lt(k, 2000);
            }
        }
}
END_TEST

START_TEST(threads_that_run_out_of_memory_leave_the_world_whole)
{
    for (uint32_t k = 1; k < 60; k += 3) {
        stage stage;
        open(&stage, true);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = 4;
        ck_assert_int_eq(mica_flow_configure(stage.world, &flow), MICA_OK);
        faulty_allocator_fail_at(&stage.allocator, k, true);
        mica_step(stage.world, 1);
        faulty_allocator_fail_at(&stage.allocator, 0, false);
        ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
        ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
        close_stage(&stage);
    }
}
END_TEST

START_TEST(trim_gives_back_what_systems_hold_and_they_go_on)
{
    stage stage;
    open(&stage, true);
    ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
    uint64_t hash = mica_world_hash(stage.world);
    ck_assert_uint_gt(mica_world_trim(stage.world), 0);
    ck_assert(mica_world_hash(stage.world) == hash);
    ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
    close_stage(&stage);
}
END_TEST

TEST_SUITE(memory_failure, every_call_survives_a_lack_of_memory_at_every_point,
           threads_that_run_out_of_memory_leave_the_world_whole, trim_gives_back_what_systems_hold_and_they_go_on)
