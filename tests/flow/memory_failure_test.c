/* Memory runs out at every point: each call is made with its first allocation failing, then its second, and so on until it
 * needs no more. After each failure the world is whole, the next try succeeds, and nothing is lost when the world ends. */
#include "mica/snapshot.h"
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "talk.h"

typedef struct Scale { float value; } Scale;
MICA_SINGLETON(Scale, value)

typedef struct stage {
    faulty_allocator allocator;
    mica_world *world;
    uint32_t reports;
    mica_system system;
    mica_query *numbers;
    mica_snapshot snapshot;
    uint64_t hash; /* of the snapshot */
    talk talk;
} stage;

static void hear_report(const mica_report *report, void *context)
{
    (void)report;
    __atomic_fetch_add(&((stage *)context)->reports, 1, __ATOMIC_RELAXED); /* from the thread that caused it */
}

static void add_one(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

/* In place of a name that it may have, so that a flush that is refused gives it back. */
static void rename_one(mica_world *world, mica_entity entity)
{
    char name[48];
    const char *old = mica_name_get(world, entity);
    snprintf(name, sizeof name, "%s of entity %u", old ? "the second name" : "a name", entity.index);
    mica_name_set(world, entity, mica_nil(), name);
}

static void record(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity made = mica_create(view->world, MICA_WITH(Position, {1, 2, 3}));
        if (!mica_is_nil(made))
            mica_set(view->world, made, Mass, {4});
        if (i % 4 == 0)
            mica_destroy(view->world, view->entities[i]);
        else
            rename_one(view->world, view->entities[i]);
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
                                            (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 10, .after = {"add_one"},
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
    mica_system_def def = *MICA_SYSTEM_WITH(add_one, (.before = {"record", "drift"}, MICA_USES(MICA_USE_READ(Clock))),
                                            MICA_WRITE(Number), MICA_READ(Position));
    def.name = "another";
    return mica_system_add(stage->world, &def).id != 0;
}

/* Which comes into being, and stays. */
static bool act_add_singleton(stage *stage)
{
    return mica_system_add(stage->world, MICA_SYSTEM_ONCE_WITH(once, (MICA_USES(MICA_USE_READ(Scale))))).id != 0;
}

static bool act_replace(stage *stage)
{
    mica_system_def def = *MICA_SYSTEM_WITH(add_one, (.after = {"sorted"}), MICA_WRITE(Number));
    def.name = "fresh";
    return mica_system_replace(stage->world, stage->system, &def) == MICA_OK;
}

static bool act_phase(stage *stage)
{
    static const char *const names[] = {"late", "later", "last", "very last"};
    bool done = true;
    for (uint32_t i = 0; i < COUNT_OF(names); ++i)
        done = done && (mica_phase_find(stage->world, names[i]) != MICA_PHASE_NONE ||
                        mica_phase_add(stage->world, MICA_PHASE_AFTER(names[i], MICA_PHASE_END)) != MICA_PHASE_NONE);
    return done;
}

/* What systems record may fail without failing the step; then it was reported. */
static bool act_step(stage *stage)
{
    return mica_step(stage->world, 0.5f) == MICA_OK && !stage->reports;
}

static bool act_graph(stage *stage)
{
    char text[64];
    return mica_graph_write(stage->world, MICA_GRAPH_DOT, text, sizeof text) != 0;
}

static bool act_list(stage *stage)
{
    return mica_system_next(stage->world, (mica_system){0}).id != 0;
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

/* Calls that are the first to need what systems run on. Some have no way to say that they failed but the report. */
static bool act_stream(stage *stage)
{
    return mica_stream_create(stage->world, MICA_STREAM_WITH(Hit, (.application = true))) != NULL;
}

static bool act_requests(stage *stage)
{
    mica_requests_def def = *MICA_REQUESTS(Hit, Mass, answer_with_mass, NULL);
    def.as_stream = def.application = true;
    return mica_requests_create(stage->world, &def) != NULL;
}

static bool act_observer(stage *stage)
{
    mica_observer_def def = {.event = ALARM, .fn = hear_alarm, MICA_TERMS(MICA_HAS(Number))};
    return mica_observer_add(stage->world, &def).id != 0;
}

static bool act_handler(stage *stage)
{
    return mica_handler_add(stage->world, MICA_HANDLER(Number, Hit, take_hit)) == MICA_OK;
}

static bool act_handlers(stage *stage)
{
    return talk_add_handlers(stage->world);
}

/* Handlers that are there, those that components are described with, and one that comes later. */
static bool act_every_frame(stage *stage)
{
    mica_result result = mica_message_every_frame(stage->world, Shout, MICA_PHASE_UPDATE);
    return (result == MICA_OK || result == MICA_ERROR_EXISTS) &&
           mica_handler_add(stage->world, MICA_HANDLER_WITH(Number, Shout, hear, (MICA_USES(MICA_USE_READ(Clock))))) ==
               MICA_OK;
}

static bool act_send(stage *stage)
{
    return mica_send(stage->world, stage->talk.far, Hit, {1});
}

static bool act_stats(stage *stage)
{
    return mica_stats_enable(stage->world, 2) == MICA_OK;
}

static bool act_trace(stage *stage)
{
    return mica_trace_start(stage->world) == MICA_OK && mica_trace_stop(stage->world, NULL) == MICA_OK;
}

static bool act_pause(stage *stage)
{
    mica_pause(stage->world, true);
    mica_pause_step(stage->world);
    return mica_time_set_scale(stage->world, 2) == MICA_OK && !stage->reports;
}

static bool act_run_nothing(stage *stage)
{
    return mica_system_run(stage->world, (mica_system){1}, 1) == MICA_ERROR_UNKNOWN;
}

static bool act_switch_phase(stage *stage)
{
    return mica_phase_enable(stage->world, MICA_PHASE_UPDATE, true);
}

static void count_range(uint32_t begin, uint32_t end, void *context)
{
    for (uint32_t i = begin; i < end; ++i)
        ++((uint32_t *)context)[i];
}

/* All jobs run, however many workers are missing. */
static bool act_parallel_for(stage *stage)
{
    uint32_t counts[100] = {0};
    mica_parallel_for(stage->world, COUNT_OF(counts), 7, count_range, counts);
    for (uint32_t i = 0; i < COUNT_OF(counts); ++i)
        ck_assert_uint_eq(counts[i], 1);
    return !stage->reports;
}

static void count_view(mica_view *view, void *sum, void *context)
{
    (void)context;
    *(uint64_t *)sum += view->count;
}

static bool act_reduce_query(stage *stage)
{
    static const uint64_t zero = 0;
    uint64_t sum = 77;
    const mica_reduction how = {.zero = &zero, .bytes = 8, .view = count_view, .combine = add_up};
    bool done = mica_reduce_query(stage->numbers, &how, &sum) == MICA_OK;
    ck_assert_uint_eq(sum, done ? TALKERS + 1 : 77);
    return done;
}

static void prepare_nothing(stage *stage)
{
    (void)stage;
}

static void prepare_systems(stage *stage)
{
    stage->system = add_systems(stage->world);
    ck_assert(stage->system.id);
}

static void prepare_handlers(stage *stage)
{
    ck_assert(act_handlers(stage));
    mica_set(stage->world, stage->talk.far, Fuel, {1});
    mica_set(stage->world, stage->talk.far, Ear, {0});
}

/* A helper that comes at once. */
static void *submit_now(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    fn(data);
    return NULL;
}

static void wait_now(void *task, void *context)
{
    (void)task;
    (void)context;
}

static void prepare_scheduler(stage *stage)
{
    static const mica_scheduler now = {submit_now, wait_now, NULL};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 4;
    flow.scheduler = &now;
    ck_assert_int_eq(mica_flow_configure(stage->world, &flow), MICA_OK);
}

static void prepare_talk(stage *stage)
{
    talk_prepare(stage->world, &stage->talk);
}

/* Frames have passed, and something waits in a stream that the application reads. */
static void prepare_talked(stage *stage)
{
    prepare_talk(stage);
    mica_stream *waiting = mica_stream_create(stage->world, MICA_STREAM_WITH(Hit, (.application = true)));
    ck_assert_int_eq(mica_step(stage->world, 1), MICA_OK);
    mica_stream_push(waiting, Hit, {1});
    ck_assert_int_eq(mica_step(stage->world, 1), MICA_OK);
    mica_stream_push(waiting, Hit, {2});
}

static bool act_take(stage *stage)
{
    return (stage->snapshot = mica_snapshot_take(stage->world)).id != 0;
}

static void prepare_restore(stage *stage)
{
    prepare_talked(stage);
    ck_assert(act_take(stage));
    stage->hash = mica_world_hash(stage->world);
    ck_assert_int_eq(mica_step(stage->world, 1), MICA_OK);
    ck_assert_uint_gt(mica_world_trim(stage->world), 0);
}

static bool act_restore(stage *stage)
{
    bool done = mica_snapshot_restore(stage->world, stage->snapshot) == MICA_OK;
    ck_assert(!done || mica_world_hash(stage->world) == stage->hash);
    return done;
}

static void open(stage *stage, void (*prepare)(struct stage *stage))
{
    *stage = (struct stage){0};
    faulty_allocator_init(&stage->allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&stage->allocator);
    def.report = hear_report;
    def.report_context = stage;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    stage->world = mica_world_create(&def);
    talk_populate(stage->world, &stage->talk);
    stage->numbers = mica_query_create(stage->world, MICA_QUERY(MICA_READ(Number)));
    mica_singleton_get(stage->world, Clock); /* comes into being when it is first declared, and is part of the hash */
    if (!prepare)
        return;
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    ck_assert_int_eq(mica_flow_configure(stage->world, &flow), MICA_OK);
    prepare(stage);
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
    if (UNDER_THREAD_SANITIZER)
        return; /* of one thread it has nothing to say, and takes long to say it */
    static const struct {
        const char *name;
        bool (*act)(stage *stage);
        void (*prepare)(stage *stage); /* NULL: nothing runs yet */
        bool runs_systems;             /* a failure half way leaves what they did */
    } calls[] = {
        {"configure", act_configure, NULL, false},
        {"configure again", act_configure, prepare_systems, false},
        {"add first", act_add, NULL, false},
        {"add", act_add, prepare_systems, false},
        {"add before another", act_add, prepare_talk, false},
        {"add with a singleton", act_add_singleton, NULL, true},
        {"replace", act_replace, prepare_systems, false},
        {"phase", act_phase, NULL, false},
        {"switch phase", act_switch_phase, NULL, false},
        {"step", act_step, NULL, true},
        {"run nothing", act_run_nothing, NULL, false},
        {"step with systems", act_step, prepare_systems, true},
        {"graph first", act_graph, NULL, false},
        {"graph", act_graph, prepare_systems, false},
        {"list", act_list, prepare_systems, false},
        {"reduce first", act_reduce, NULL, false},
        {"reduce", act_reduce, prepare_systems, false},
        {"reduce a query", act_reduce_query, NULL, false},
        {"parallel for", act_parallel_for, NULL, false},
        {"parallel for with helpers", act_parallel_for, prepare_scheduler, false},
        {"stream", act_stream, NULL, false},
        {"requests", act_requests, NULL, false},
        {"observer", act_observer, NULL, false},
        {"handler", act_handler, NULL, false},
        {"handlers", act_handlers, NULL, false},
        {"every frame first", act_every_frame, NULL, false},
        {"every frame", act_every_frame, prepare_handlers, false},
        {"send first", act_send, NULL, false},
        {"stats", act_stats, NULL, false},
        {"trace", act_trace, NULL, false},
        {"pause", act_pause, NULL, false},
        {"talk", act_step, prepare_talk, true},
        {"take a snapshot", act_take, prepare_talked, false},
        {"restore a snapshot", act_restore, prepare_restore, false},
    };
    for (uint32_t i = 0; i < COUNT_OF(calls); ++i)
        for (uint32_t keep = 0; keep < 2; ++keep) {
            bool needed = true;
            for (uint32_t k = 1; needed; ++k) {
                stage stage;
                open(&stage, calls[i].prepare);
                stage.reports = 0;
                uint64_t hash = mica_world_hash(stage.world);
                faulty_allocator_fail_at(&stage.allocator, k, keep);
                bool done = calls[i].act(&stage);
                needed = stage.allocator.failures != 0;
                faulty_allocator_fail_at(&stage.allocator, 0, false);
                ck_assert_msg(done || stage.reports, "%s, allocation %u: a failure without a report", calls[i].name, k);
                ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
                ck_assert_msg(done || calls[i].runs_systems || mica_world_hash(stage.world) == hash,
                              "%s, allocation %u: something has changed", calls[i].name, k);
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

static void read_nothing(const mica_frame *frame)
{
    (void)frame;
}

/* The rest of the frame has all that it needs, except a position in the stream. */
static void add_reader(const mica_frame *frame)
{
    stage *stage = frame->context;
    if (frame->tick != 2)
        return;
    mica_use reads = MICA_USE_STREAM_READ(mica_stream_create(frame->world, MICA_STREAM(Hit)));
    ck_assert(mica_system_add(frame->world, MICA_SYSTEM_ONCE_WITH(read_nothing, (.uses = &reads, .use_count = 1))).id);
    faulty_allocator_fail_at(&stage->allocator, 1, true);
}

START_TEST(a_reader_that_comes_inside_a_frame_needs_a_place)
{
    stage stage;
    open(&stage, prepare_nothing);
    mica_system_add(stage.world, MICA_SYSTEM_ONCE_WITH(add_reader, (.exclusive = true, .context = &stage)));
    mica_system_add(stage.world, MICA_SYSTEM(add_one, MICA_WRITE(Number)));
    for (uint32_t frame = 0; frame < 4; ++frame) {
        ck_assert_int_eq(mica_step(stage.world, 1), frame == 2 ? MICA_ERROR_MEMORY : MICA_OK);
        faulty_allocator_fail_at(&stage.allocator, 0, false);
        ck_assert_uint_eq(mica_get(stage.world, stage.talk.far, Number)->value, frame < 2 ? frame + 1 : frame);
    }
    close_stage(&stage);
}
END_TEST

START_TEST(threads_that_run_out_of_memory_leave_the_world_whole)
{
    for (uint32_t k = 1; k < 60; k += 3) {
        stage stage;
        open(&stage, prepare_systems);
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

START_TEST(trim_frees_what_systems_hold_and_they_continue)
{
    stage stage;
    open(&stage, prepare_talk);
    prepare_systems(&stage);
    ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
    uint64_t hash = mica_world_hash(stage.world);
    ck_assert_uint_gt(mica_world_trim(stage.world), 0);
    ck_assert(mica_world_hash(stage.world) == hash);
    ck_assert_int_eq(mica_step(stage.world, 1), MICA_OK);
    close_stage(&stage);
}
END_TEST

TEST_SUITE(memory_failure, every_call_survives_a_lack_of_memory_at_every_point,
           a_reader_that_comes_inside_a_frame_needs_a_place, threads_that_run_out_of_memory_leave_the_world_whole,
           trim_frees_what_systems_hold_and_they_continue)
