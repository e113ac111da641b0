/* Objects that are destroyed while something uses them: by a loop, a hook or another function of the program. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/delta.h"
#include "mica/index.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/system.h"
#include "mica/traffic.h"
#include "mica/message.h"

#include <string.h>

typedef struct Rank { uint32_t value; } Rank;
MICA_POOL(Rank, value)
typedef struct Knows { uint32_t years; } Knows;
MICA_RELATION(Knows, years)
typedef struct Hit { uint32_t points; } Hit;
MICA_STRUCT(Hit, points)

enum { MANY = 600 };
static reports heard;
static mica_world *world;
static mica_query *query;
static mica_entity entities[MANY];

static void open_crowd(void)
{
    world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {MANY - i}), MICA_WITH(Position, {(float)i, 0, 0}),
                                  MICA_WITH(Rank, {i}));
    for (uint32_t i = 0; i + 1 < MANY; ++i)
        mica_relate(world, entities[i], Knows, entities[i + 1]);
}

static int by_number(const void *a, const void *b, void *context)
{
    const Number *first = a, *second = b;
    (void)context;
    return (first->value > second->value) - (first->value < second->value);
}

static mica_query *make(uint32_t kind)
{
    switch (kind) {
    case 0: return mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    case 1: return mica_query_create(world, MICA_QUERY(MICA_CHANGED(Number)));
    case 2: return mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number)));
    case 3: return mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Rank)));
    case 4: return mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Knows, .target = mica_variable(1))));
    default: return NULL;
    }
}

START_TEST(a_loop_continues_when_its_query_is_destroyed)
{
    for (uint32_t kind = 0; kind < 5; ++kind) {
        open_crowd();
        query = make(kind);
        uint32_t expected = kind == 4 ? MANY - 1 : MANY, count = 0;
        bool is_destroyed = false;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); count += view.count) {
            if (!is_destroyed)
                mica_query_destroy(query);
            is_destroyed = true;
            if (kind != 1)
                ck_assert_ptr_nonnull(mica_view_read(&view, Number));
        }
        ck_assert_msg(count == expected, "kind %u: %u rows", kind, count);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_loop_over_a_destroyed_query_ends_when_the_structure_changes)
{
    for (uint32_t kind = 0; kind < 5; ++kind)
        for (uint32_t trims = 0; trims < 2; ++trims) {
            open_crowd();
            mica_view view = mica_query_begin(query = make(kind));
            ck_assert(mica_view_next(&view));
            mica_query_destroy(query);
            mica_create(world);
            if (trims)
                mica_world_trim(world);
            ck_assert(!mica_view_next(&view));
            expect_report(&heard, MICA_ERROR_REFUSED,
                          trims ? "a query was destroyed inside its loop" : "the structure");
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(the_memory_of_destroyed_queries_is_bounded)
{
    for (uint32_t kind = 0; kind < 5; ++kind) {
        open_crowd();
        size_t memory = 0, most = 0;
        for (uint32_t i = 0; i < 300; ++i) {
            mica_query_first(query = make(kind)); /* which leaves a loop */
            mica_query_destroy(query);
            size_t now = mica_world_get_stats(world).memory_bytes;
            memory = i == 100 ? now : memory;
            most = now > most ? now : most;
        }
        ck_assert_msg(most <= memory + 65536, "kind %u: %zu, then %zu bytes", kind, memory, most);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(large_destroyed_queries_are_not_kept)
{
    world = open_world(&heard);
    ck_assert_int_eq(mica_create_many(world, 100000, (mica_value[]){MICA_WITH(Number, {1})}, 1, NULL), MICA_OK);
    size_t memory = 0;
    for (uint32_t i = 0; i < 10; ++i) {
        mica_query_first(query = make(2));
        mica_query_destroy(query);
        memory = i ? memory : mica_world_get_stats(world).memory_bytes;
    }
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, memory + 65536);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_is_destroyed_once)
{
    open_crowd();
    mica_view view = mica_query_begin(query = make(0));
    mica_query_destroy(query);
    mica_query_destroy(query);
    expect_report(&heard, MICA_ERROR_REFUSED, "it was destroyed before");
    ck_assert(mica_view_next(&view));
    close_world(world, &heard);
}
END_TEST

static void destroy_own_query(const mica_frame *frame)
{
    mica_query_destroy(frame->query);
}

START_TEST(the_query_of_a_system_is_not_destroyed_by_the_program)
{
    open_crowd();
    mica_system_add(world, &(mica_system_def){.name = "lone",
                                              .once = destroy_own_query,
                                              .phase = MICA_PHASE_UPDATE,
                                              .exclusive = true,
                                              MICA_TERMS(MICA_READ(Number))});
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        expect_report(&heard, MICA_ERROR_REFUSED, "it belongs to a system");
    }
    close_world(world, &heard);
}
END_TEST

static uint32_t calls;

/* What a function of the program can't do. The query is destroyed all the same. */
static void meddle(void)
{
    if (calls++)
        return;
    mica_query_destroy(query);
    mica_world_destroy(world);
    expect_report(&heard, MICA_ERROR_REFUSED, "world_destroy");
}

static void meddle_with_each(mica_entity entity, void *const *columns, void *context)
{
    (void)entity, (void)columns, (void)context;
    meddle();
    if (calls == 3) {
        mica_create(world);
        mica_world_trim(world);
    }
}

START_TEST(a_function_called_for_each_entity_can_destroy_the_query_but_not_the_world)
{
    open_crowd();
    query = make(0);
    calls = 0;
    mica_query_each(query, meddle_with_each, NULL);
    ck_assert_uint_eq(calls, 3);
    expect_report(&heard, MICA_ERROR_REFUSED, "the structure of the world changed");
    close_world(world, &heard);
}
END_TEST

static int meddle_and_compare(const void *a, const void *b, void *context)
{
    meddle();
    if (calls < 100) {
        mica_create(world, MICA_WITH(Number, {calls}), MICA_WITH(Rank, {calls}));
        mica_destroy(world, entities[calls]);
    }
    return by_number(a, b, context);
}

START_TEST(changes_of_a_compare_function_are_applied_after_sorting)
{
    for (uint32_t pooled = 0; pooled < 2; ++pooled) {
        open_crowd();
        query = make(0);
        calls = 0;
        ck_assert_int_eq(pooled ? mica_pool_sort(mica_pool_of(world, Rank), meddle_and_compare, NULL)
                                : mica_query_sort_rows(query, MICA_ID(Number), meddle_and_compare, NULL),
                         MICA_OK);
        ck_assert_uint_gt(calls, 100);
        ck_assert(!mica_is_alive(world, entities[5]) && mica_is_alive(world, entities[150]));
        expect_valid(world);
        close_world(world, &heard);
    }
}
END_TEST

static mica_batch *batch;

static void end_batch(const mica_event *event)
{
    (void)event;
    mica_batch_cancel(batch);
    expect_report(&heard, MICA_ERROR_REFUSED, "batch_cancel: refused inside a hook of the batch");
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "batch_commit: refused inside a hook of the batch");
    ++calls;
}

START_TEST(a_batch_is_not_ended_by_its_own_hook)
{
    open_crowd();
    calls = 0;
    mica_hook_set(world, Mass, MICA_EVENT_ADD, end_batch, NULL);
    const mica_batch_group group = {3, 1, (mica_value[]){MICA_WITH(Mass, {2})}, 0};
    ck_assert_int_eq(mica_batch_begin(world, &group, 1, &batch), MICA_OK);
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    ck_assert_uint_ge(calls, 1);
    close_world(world, &heard);
}
END_TEST

static mica_index *grid;

static void meddle_with_grid(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)neighbours, (void)count, (void)context;
    if (calls)
        return;
    meddle();
    mica_index_destroy(grid);
    expect_report(&heard, MICA_ERROR_REFUSED, "index_destroy: Position: refused inside mica_grid_each");
    mica_create(world, MICA_WITH(Position, {1, 1, 1}));
    ck_assert_int_eq(mica_index_update(grid), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "index_update: Position: refused inside mica_grid_each");
    ck_assert_int_eq(mica_index_refresh(grid, entity), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "index_refresh: Position: refused inside mica_grid_each");
}

START_TEST(a_grid_stays_while_its_loop_runs)
{
    open_crowd();
    query = make(0);
    calls = 0;
    grid = mica_index_create(
        world,
        &(mica_index_def){.component = MICA_ID(Position), .fields = "x, y", .cell_size = 5, .maximum = {600, 600}});
    ck_assert_int_eq(mica_index_update(grid), MICA_OK);
    const mica_grid_loop loop = {.radius = 3, .one_thread = true, .fn = meddle_with_grid};
    ck_assert_int_eq(mica_grid_each(grid, &loop), MICA_OK);
    ck_assert_int_eq(mica_index_update(grid), MICA_OK);
    mica_index_destroy(grid);
    close_world(world, &heard);
}
END_TEST

static mica_replica *replica;
static mica_sender *sender;

static void destroy_replica(const mica_event *event)
{
    (void)event;
    if (++calls > 3)
        return;
    mica_replica_destroy(replica);
    expect_report(&heard, MICA_ERROR_REFUSED, "replica_destroy");
}

static bool destroy_sender(const mica_world *from, mica_entity entity, const void *value, void *out_instance,
                           void *context)
{
    (void)from, (void)entity, (void)context;
    if (!calls) {
        mica_sender_destroy(sender);
        expect_report(&heard, MICA_ERROR_REFUSED, "sender_destroy");
        calls = 1;
    }
    memcpy(out_instance, value, sizeof(Number));
    return true;
}

static bool destroy_replica_too(const mica_spawn_run *run, void *context)
{
    (void)context;
    destroy_replica(NULL);
    memcpy(run->values, run->instances, run->count * sizeof(Number));
    return true;
}

START_TEST(a_replica_and_a_sender_stay_while_they_work)
{
    open_crowd();
    mica_world *other = open_world(&heard);
    mica_component_define(other, &mica_type_of_Number);
    mica_component_define(other, &mica_type_of_Position);
    mica_component_define(other, &mica_type_of_Rank);
    mica_component_define(other, &mica_type_of_Knows);
    mica_hook_set(other, Number, MICA_EVENT_ADD, destroy_replica, NULL);
    mica_hook_set(other, Number, MICA_EVENT_REMOVE, destroy_replica, NULL);
    const mica_resource_rule rule = {.component = MICA_ID(Number),
                                     .recipe = &mica_type_of_Number,
                                     .spawn = destroy_replica_too,
                                     .save = destroy_sender};
    replica = mica_replica_create(other, &(mica_replica_def){.rules = &rule, .rule_count = 1});
    sender = mica_sender_create(world, &(mica_sender_def){.rules = &rule, .rule_count = 1});
    mica_delta delta = {0};
    for (uint32_t i = 0; i < 2; ++i) {
        calls = 0;
        ck_assert_int_eq(mica_delta_encode(sender, delta.version, &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        ck_assert_uint_gt(calls, 1 - i);
        mica_destroy_many(world, entities, 10);
    }
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(other, &heard);
    close_world(world, &heard);
}
END_TEST

static void meddle_with_traffic(const mica_traffic *traffic, void *context)
{
    (void)traffic, (void)context;
    meddle();
    ck_assert_int_eq(mica_traffic_watch(world, NULL, NULL), MICA_OK);
}

static void ignore(const mica_message *message)
{
    (void)message;
}

START_TEST(a_function_that_is_told_about_traffic_can_remove_itself)
{
    open_crowd();
    query = make(0);
    calls = 0;
    mica_handler_add(world,
                     &(mica_handler){.component = &mica_type_of_Number, .message = &mica_type_of_Hit, .fn = ignore});
    ck_assert_int_eq(mica_traffic_watch(world, meddle_with_traffic, NULL), MICA_OK);
    ck_assert(mica_broadcast(world, Hit, {3}));
    ck_assert_uint_eq(calls, 1);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(in_use, a_loop_continues_when_its_query_is_destroyed,
           a_loop_over_a_destroyed_query_ends_when_the_structure_changes, the_memory_of_destroyed_queries_is_bounded,
           large_destroyed_queries_are_not_kept, a_query_is_destroyed_once,
           the_query_of_a_system_is_not_destroyed_by_the_program,
           a_function_called_for_each_entity_can_destroy_the_query_but_not_the_world,
           changes_of_a_compare_function_are_applied_after_sorting, a_batch_is_not_ended_by_its_own_hook,
           a_grid_stays_while_its_loop_runs, a_replica_and_a_sender_stay_while_they_work,
           a_function_that_is_told_about_traffic_can_remove_itself)
