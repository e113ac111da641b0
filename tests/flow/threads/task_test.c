/* Work over threads: parallel for, reductions, nesting without end, schedulers of the user. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>

static mica_world *open_flow(reports *heard, uint32_t workers, const mica_scheduler *scheduler)
{
    mica_world *world = open_world(heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    def.scheduler = scheduler;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    ck_assert_uint_eq(mica_worker_count(world), workers);
    return world;
}

static void count_up(uint32_t begin, uint32_t end, void *context)
{
    for (uint32_t i = begin; i < end; ++i)
        atomic_fetch_add_explicit((atomic_uint *)context + i, 1, memory_order_relaxed);
}

START_TEST(parallel_for_touches_each_element_once)
{
    static const uint32_t workers[] = {1, 2, 4, 16}, counts[] = {0, 1, 2, 63, 1000}, grains[] = {0, 1, 7, 5000};
    static atomic_uint touched[1000];
    for (uint32_t w = 0; w < COUNT_OF(workers); ++w) {
        reports heard;
        mica_world *world = open_flow(&heard, workers[w], NULL);
        for (uint32_t c = 0; c < COUNT_OF(counts); ++c)
            for (uint32_t g = 0; g < COUNT_OF(grains); ++g) {
                memset(touched, 0, sizeof touched);
                mica_parallel_for(world, counts[c], grains[g], count_up, touched);
                for (uint32_t i = 0; i < counts[c]; ++i)
                    ck_assert_uint_eq(atomic_load(&touched[i]), 1);
            }
        close_world(world, &heard);
    }
}
END_TEST

typedef struct nest {
    mica_world *world;
    uint32_t depth;
    atomic_uint *leaves;
} nest;

/* Every piece waits for pieces of its own, so that without helping all threads would wait for each other. */
static void go_deeper(uint32_t begin, uint32_t end, void *context)
{
    nest *up = context;
    (void)begin;
    (void)end;
    if (up->depth == 0) {
        atomic_fetch_add(up->leaves, 1);
        return;
    }
    nest down = {up->world, up->depth - 1, up->leaves};
    mica_parallel_for(up->world, 4, 1, go_deeper, &down);
}

static void nested_system(mica_view *view)
{
    nest top = {view->world, 3, view->frame->context};
    mica_parallel_for(view->world, 4, 1, go_deeper, &top);
}

static void other_system(mica_view *view)
{
    Mass *mass = mica_view_write(view, Mass);
    for (uint32_t i = 0; i < view->count; ++i)
        mass[i].value += 1;
}

START_TEST(nesting_never_locks_up_however_few_workers_there_are)
{
    for (uint32_t workers = 1; workers <= 5; ++workers) {
        reports heard;
        mica_world *world = open_flow(&heard, workers, NULL);
        atomic_uint leaves = 0;
        for (uint32_t i = 0; i < 40; ++i)
            mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Mass, {0}));
        mica_system_add(world,
                        MICA_SYSTEM_WITH(nested_system,
                                         (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 1, .context = &leaves),
                                         MICA_READ(Number)));
        mica_system_add(world, MICA_SYSTEM_WITH(other_system, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Mass)));
        for (uint32_t frame = 1; frame <= 3; ++frame) {
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            ck_assert_uint_eq(atomic_load(&leaves), frame * 40 * 256);
        }
        close_world(world, &heard);
    }
}
END_TEST

static void add_inverse(uint32_t begin, uint32_t end, void *sum, void *context)
{
    (void)context;
    for (uint32_t i = begin; i < end; ++i)
        *(float *)sum += 1.0f / (float)(i + 1);
}

static void add_floats(void *sum, const void *later, void *context)
{
    (void)context;
    *(float *)sum += *(const float *)later;
}

START_TEST(a_reduction_is_the_same_to_the_last_bit_for_any_number_of_workers)
{
    static const float zero = 0;
    const mica_reduction how = {.zero = &zero, .bytes = 4, .range = add_inverse, .combine = add_floats};
    float expected = 0;
    for (uint32_t workers = 1; workers <= 8; ++workers) {
        reports heard;
        mica_world *world = open_flow(&heard, workers, NULL);
        for (uint32_t round = 0; round < 20; ++round) {
            float sum = -1;
            ck_assert_int_eq(mica_reduce_range(world, 100000, 77, &how, &sum), MICA_OK);
            if (workers == 1 && round == 0)
                expected = sum;
            ck_assert(memcmp(&sum, &expected, sizeof sum) == 0);
        }
        float none = -1;
        ck_assert_int_eq(mica_reduce_range(world, 0, 0, &how, &none), MICA_OK);
        ck_assert(none == 0);
        ck_assert_int_eq(mica_reduce_range(world, 5, 0, &(mica_reduction){0}, &none), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "reduction");
        close_world(world, &heard);
    }
}
END_TEST

/* A scheduler that starts a thread for each task, one that never runs anything until it must, and one that runs it on the
 * spot. */
typedef struct request {
    mica_task_fn fn;
    void *data;
    pthread_t thread;
} request;

static void *run_request(void *data)
{
    request *task = data;
    task->fn(task->data);
    return NULL;
}

static atomic_uint submitted, waited;

static void *submit_thread(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    request *task = malloc(sizeof *task);
    *task = (request){.fn = fn, .data = data};
    ck_assert_int_eq(pthread_create(&task->thread, NULL, run_request, task), 0);
    atomic_fetch_add(&submitted, 1);
    return task;
}

static void wait_thread(void *task, void *context)
{
    (void)context;
    pthread_join(((request *)task)->thread, NULL);
    free(task);
    atomic_fetch_add(&waited, 1);
}

static void *submit_late(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    request *task = malloc(sizeof *task);
    *task = (request){.fn = fn, .data = data};
    atomic_fetch_add(&submitted, 1);
    return task;
}

static void wait_late(void *task, void *context)
{
    (void)context;
    run_request(task);
    free(task);
    atomic_fetch_add(&waited, 1);
}

static void *submit_now(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    fn(data);
    atomic_fetch_add(&submitted, 1);
    return NULL;
}

static void wait_now(void *task, void *context)
{
    (void)task;
    (void)context;
    atomic_fetch_add(&waited, 1);
}

START_TEST(a_scheduler_of_the_user_may_help_early_late_or_on_the_spot)
{
    static const mica_scheduler schedulers[] = {
        {submit_thread, wait_thread, NULL}, {submit_late, wait_late, NULL}, {submit_now, wait_now, NULL}};
    uint64_t expected = 0;
    for (uint32_t i = 0; i <= COUNT_OF(schedulers); ++i) {
        reports heard;
        submitted = waited = 0;
        mica_world *world = open_flow(&heard, 4, i ? &schedulers[i - 1] : NULL);
        for (uint32_t j = 0; j < 20000; ++j)
            mica_create(world, MICA_WITH(Number, {j}), MICA_WITH(Mass, {(float)j}));
        atomic_uint leaves = 0;
        mica_system_add(world, MICA_SYSTEM_WITH(other_system, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Mass)));
        mica_system_add(world, MICA_SYSTEM_WITH(nested_system, (.parallel = MICA_PARALLEL_EVEN, .context = &leaves),
                                                MICA_READ(Number)));
        for (uint32_t frame = 0; frame < 5; ++frame)
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        uint64_t hash = mica_world_hash(world);
        expected = i ? expected : hash;
        ck_assert(hash == expected);
        ck_assert_uint_eq(submitted, waited);
        ck_assert(!i || submitted > 0);
        close_world(world, &heard);
    }
}
END_TEST

static void count_rows(mica_view *view)
{
    atomic_fetch_add((atomic_uint *)view->frame->context, view->count);
}

/* No helper comes before the end, so that all jobs are in one deque. */
START_TEST(more_than_fits_into_a_queue_is_done_at_once)
{
    static const mica_scheduler late = {submit_late, wait_late, NULL};
    enum { SYSTEMS = 700, ROWS = 4 };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 4;
    flow.scheduler = &late;
    flow.no_fusion = true;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    for (uint32_t i = 0; i < ROWS; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    atomic_uint rows = 0;
    for (uint32_t i = 0; i < SYSTEMS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        mica_system_def def = *MICA_SYSTEM_WITH(
            count_rows, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 1, .context = &rows), MICA_READ(Number));
        def.name = name;
        ck_assert(mica_system_add(world, &def).id);
    }
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(rows, SYSTEMS * ROWS);
    close_world(world, &heard);
}
END_TEST

typedef struct Extra { uint32_t value; } Extra;
MICA_POOL(Extra, value)

static void add_values(mica_view *view, void *sum, void *context)
{
    (void)context;
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        *(uint64_t *)sum += number[i].value;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    *(uint64_t *)sum += *(const uint64_t *)later;
}

static const uint64_t no_sum = 0;
static const mica_reduction sum_of_numbers = {.zero = &no_sum, .bytes = 8, .view = add_values, .combine = add_sums};

static uint64_t reduce(mica_query *query)
{
    uint64_t sum = 77;
    ck_assert_int_eq(mica_reduce_query(query, &sum_of_numbers, &sum), MICA_OK);
    return sum;
}

static uint64_t loop(mica_query *query)
{
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        add_values(&view, &sum, NULL);
    return sum;
}

static void reduce_inside(const mica_frame *frame)
{
    *(uint64_t *)frame->context = reduce(frame->query);
}

START_TEST(a_reduction_sees_the_rows_that_a_loop_over_its_query_sees)
{
    reports heard;
    mica_world *world = open_flow(&heard, 3, NULL);
    mica_query *queries[] = {
        mica_query_create(world, MICA_QUERY(MICA_READ(Number))),
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Extra))),
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Extra), MICA_READ(Health))),
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Health))),
    };
    for (uint32_t i = 0; i < COUNT_OF(queries); ++i)
        ck_assert_uint_eq(reduce(queries[i]), 0); /* of no entity */
    for (uint32_t i = 0; i < 9000; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Health, {1, 1}));
        if (i % 3 == 0)
            mica_set(world, made, Extra, {i});
        if (i % 7 == 0 || i > 6000) /* whole views without one that is switched on */
            mica_disable(world, made, Health);
    }
    uint64_t sums[COUNT_OF(queries)], inside = 0;
    for (uint32_t i = 0; i < COUNT_OF(queries); ++i) {
        sums[i] = loop(queries[i]);
        ck_assert_uint_gt(sums[i], 0);
        ck_assert_uint_eq(reduce(queries[i]), sums[i]);
    }
    ck_assert_uint_eq(sums[0], 9000u * 8999 / 2);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(reduce_inside, (.context = &inside, MICA_TERMS(MICA_READ(Number)))));
    mica_step(world, 1);
    ck_assert_uint_eq(inside, sums[0]);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_chunk_with_more_rows_than_a_view_comes_in_several)
{
    reports heard;
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = 1 << 20;
    mica_world *world = open_world_with(&heard, def);
    for (uint32_t i = 0; i < MICA_VIEW_ROWS + 1; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    atomic_uint rows = 0;
    mica_system_add(world, MICA_SYSTEM_WITH(count_rows, (.context = &rows), MICA_READ(Number)));
    mica_step(world, 1);
    ck_assert_uint_eq(rows, MICA_VIEW_ROWS + 1);
    ck_assert_ptr_null(mica_frame_commands(NULL));
    ck_assert_ptr_null(mica_frame_commands(&(mica_frame){.world = world})); /* no system runs */
    ck_assert_ptr_null(mica_view_commands(&(mica_view){.world = world}));
    close_world(world, &heard);
}
END_TEST

static void record_inside(uint32_t begin, uint32_t end, void *context)
{
    (void)begin;
    (void)end;
    mica_create(context);
}

static void record_nested(mica_view *view)
{
    mica_parallel_for(view->world, 8, 1, record_inside, view->world);
}

START_TEST(a_parallel_for_inside_a_system_records_nothing)
{
    if (STOPS_AT_MISTAKES) /* see checked_test.c */
        return;
    reports heard;
    mica_world *world = open_flow(&heard, 1, NULL);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_system_add(world, MICA_SYSTEM(record_nested, MICA_READ(Number)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    for (uint32_t i = 0; i < 8; ++i)
        expect_report(&heard, MICA_ERROR_REFUSED, "record_nested: changes can't be recorded inside a parallel for");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    close_world(world, &heard);
}
END_TEST

static void step_inner(mica_view *view)
{
    mica_world *inner = view->frame->context;
    ck_assert_int_eq(mica_step(inner, 1), MICA_OK);
    mica_create(view->world, MICA_WITH(Frozen)); /* still recorded here */
}

START_TEST(a_system_may_step_another_world)
{
    for (uint32_t workers = 1; workers <= 3; ++workers) {
        reports heard, heard_inside;
        mica_world *outer = open_flow(&heard, workers, NULL), *inner = open_flow(&heard_inside, workers, NULL);
        mica_entity counted = mica_create(inner, MICA_WITH(Mass, {0}));
        mica_create(outer, MICA_WITH(Number, {0}));
        mica_system_add(inner, MICA_SYSTEM(other_system, MICA_WRITE(Mass)));
        mica_system_add(
            outer, MICA_SYSTEM_WITH(step_inner, (.context = inner, .parallel = MICA_PARALLEL_EVEN), MICA_READ(Number)));
        for (uint32_t frame = 1; frame <= 4; ++frame) {
            ck_assert_int_eq(mica_step(outer, 1), MICA_OK);
            ck_assert(mica_get(inner, counted, Mass)->value == (float)frame);
            ck_assert_uint_eq(mica_world_get_stats(outer).entity_count, 1 + frame);
        }
        close_world(inner, &heard_inside);
        close_world(outer, &heard);
    }
}
END_TEST

static char order_seen[8];

static void low(const mica_frame *frame)
{
    (void)frame;
    strcat(order_seen, "l");
}

static void high(const mica_frame *frame)
{
    (void)frame;
    strcat(order_seen, "h");
}

START_TEST(of_those_that_may_start_the_higher_priority_starts_first)
{
    reports heard;
    mica_world *world = open_flow(&heard, 1, NULL);
    order_seen[0] = '\0';
    mica_system_add(world, MICA_SYSTEM_ONCE(low));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(high, (.priority = 5)));
    mica_step(world, 1);
    ck_assert_str_eq(order_seen, "hl");
    close_world(world, &heard);
}
END_TEST

/* Outside of systems there is neither a seed nor a frame: the slice decides alone. */
START_TEST(random_numbers_can_be_had_without_a_system)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view));
    mica_random of_view = mica_random_of(&view), expected = mica_random_make(0, view.slice + 1);
    ck_assert_uint_eq(mica_random_next(&of_view), mica_random_next(&expected));
    mica_frame frame = {.world = world, .tick = 3};
    mica_random early = mica_random_of_frame(&frame);
    ck_assert_int_eq(mica_flow_configure(world, &(mica_flow_def){.fixed_seconds = 1, .catch_up_max = 1}), MICA_OK);
    mica_random late = mica_random_of_frame(&frame); /* a seed of zero is none */
    ck_assert_uint_eq(mica_random_next(&early), mica_random_next(&late));
    while (mica_view_next(&view))
        ;
    close_world(world, &heard);
}
END_TEST

START_TEST(random_numbers_are_the_same_everywhere_and_spread_evenly)
{
    mica_random random = mica_random_make(1, 2);
    uint32_t first = mica_random_next(&random), counts[10] = {0};
    mica_random again = mica_random_make(1, 2), other = mica_random_make(1, 3);
    ck_assert_uint_eq(first, mica_random_next(&again));
    ck_assert_uint_ne(first, mica_random_next(&other));
    for (uint32_t i = 0; i < 100000; ++i) {
        ++counts[mica_random_below(&random, 10)];
        float unit = mica_random_unit(&random), range = mica_random_range(&random, -2, 3);
        ck_assert(unit >= 0 && unit < 1 && range >= -2 && range < 3);
    }
    for (uint32_t i = 0; i < 10; ++i)
        ck_assert_msg(counts[i] > 9500 && counts[i] < 10500, "%u of %u", counts[i], i);
    ck_assert_uint_eq(mica_random_below(&random, 0), 0);
    ck_assert_uint_eq(mica_random_below(&random, 1), 0);
    mica_random golden = mica_random_make(42, 54);
    ck_assert_uint_eq(mica_random_next(&golden), 3717664053u);
}
END_TEST

TEST_SUITE(task, a_system_may_step_another_world, parallel_for_touches_each_element_once,
           nesting_never_locks_up_however_few_workers_there_are,
           a_reduction_is_the_same_to_the_last_bit_for_any_number_of_workers,
           a_scheduler_of_the_user_may_help_early_late_or_on_the_spot, a_parallel_for_inside_a_system_records_nothing,
           of_those_that_may_start_the_higher_priority_starts_first, more_than_fits_into_a_queue_is_done_at_once,
           a_chunk_with_more_rows_than_a_view_comes_in_several,
           a_reduction_sees_the_rows_that_a_loop_over_its_query_sees, random_numbers_can_be_had_without_a_system,
           random_numbers_are_the_same_everywhere_and_spread_evenly)
