/* Many kinds at once, in steps: all of it or nothing, and hooks see only what is complete. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <string.h>

static reports heard;

enum { FEW = 5, MANY = 3000 };
static Number numbers[MANY];

typedef struct Aim { mica_entity target; uint32_t number; } Aim;
MICA_COMPONENT(Aim, target, number)

static mica_batch *begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count)
{
    mica_batch *batch;
    mica_result result = mica_batch_begin(world, groups, group_count, &batch);
    ck_assert_int_eq(result == MICA_OK, batch != NULL);
    return batch;
}

static void number_all(void)
{
    for (uint32_t i = 0; i < MANY; ++i)
        numbers[i].value = i;
}

START_TEST(groups_are_created_in_order_with_their_columns)
{
    number_all();
    mica_world *world = open_world_of_small_chunks(&heard);
    const mica_value first[] = {MICA_COLUMN(Number, numbers)};
    const mica_value second[] = {MICA_COLUMN(Number, numbers + FEW), MICA_WITH(Frozen)};
    const mica_batch_group groups[] = {
        {FEW, 1, first, 0}, {0, 0, NULL, 0}, {MANY - FEW, 2, second, 0}, {1, 0, NULL, 0}};
    mica_batch *batch = begin(world, groups, COUNT_OF(groups));
    ck_assert_ptr_nonnull(batch);
    mica_entity entities[MANY + 1];
    mica_batch_entities(batch, entities);
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_uint_eq(mica_get(world, entities[i], Number)->value, i);
        ck_assert_int_eq(mica_has(world, entities[i], Frozen), i >= FEW);
    }
    ck_assert(mica_is_alive(world, entities[MANY]));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_batch_gives_the_world_that_creating_many_gives)
{
    number_all();
    const mica_value column[] = {MICA_COLUMN(Number, numbers), MICA_WITH(Health)};
    mica_world *world = open_world(&heard);
    mica_create_many(world, MANY, column, 2, NULL);
    uint64_t expected = mica_world_hash(world);
    close_world(world, &heard);
    world = open_world(&heard);
    mica_batch_commit(begin(world, &(mica_batch_group){MANY, 2, column, 0}, 1), NULL, 0);
    ck_assert_uint_eq(mica_world_hash(world), expected);
    close_world(world, &heard);
}
END_TEST

static void aim_at_the_next(mica_batch *batch)
{
    static mica_entity entities[MANY];
    mica_batch_entities(batch, entities);
    for (mica_batch_run run = {.component = MICA_ID(Aim)}; mica_batch_next(batch, &run);)
        for (uint32_t i = 0; i < run.count; ++i) {
            ck_assert(mica_same(run.entities[i], entities[run.first + i]));
            ((Aim *)run.values)[i] = (Aim){entities[(run.first + i + 1) % MANY], run.first + i};
        }
}

static uint32_t aims_seen;

static void expect_complete(const mica_event *event)
{
    const Aim *aims = event->values;
    for (uint32_t i = 0; i < event->count; ++i)
        ck_assert_msg(mica_is_alive(event->world, aims[i].target), "what a hook sees is complete");
    aims_seen += event->count;
}

START_TEST(more_entities_or_columns_than_can_be_counted_are_refused)
{
    mica_world *world = open_world(&heard);
    const mica_batch_group many[] = {{UINT32_MAX, 0, NULL, 0}, {1, 0, NULL, 0}};
    const mica_value column = {0};
    const mica_batch_group wide[] = {{1, UINT32_MAX, &column, 0}, {1, 1, &column, 0}};
    mica_batch *batch;
    ck_assert_int_eq(mica_batch_begin(world, many, 2, &batch), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "2^32");
    ck_assert_int_eq(mica_batch_begin(world, wide, 2, &batch), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "2^32");
    close_world(world, &heard);
}
END_TEST

START_TEST(columns_with_a_period_repeat)
{
    number_all();
    mica_world *world = open_world_of_small_chunks(&heard);
    const mica_value column[] = {MICA_COLUMN(Number, numbers)};
    for (uint32_t period = 1; period < 700; period = period * 3 + 1) {
        mica_batch *batch = begin(world, &(mica_batch_group){MANY, 1, column, period}, 1);
        static mica_entity entities[MANY];
        mica_batch_entities(batch, entities);
        for (uint32_t i = 0; i < MANY; ++i)
            ck_assert_uint_eq(mica_get(world, entities[i], Number)->value, i % period);
        mica_batch_commit(batch, NULL, 0);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(values_are_completed_before_hooks_see_them)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_hook_set(world, Aim, MICA_EVENT_ADD, expect_complete, NULL);
    mica_hook_set(world, Aim, MICA_EVENT_SET, expect_complete, NULL);
    const mica_value plain[] = {MICA_WITH(Aim)}, frozen[] = {MICA_WITH(Frozen), MICA_WITH(Aim)};
    const mica_batch_group groups[] = {{MANY / 3, 1, plain, 0}, {MANY / 3, 2, frozen, 0}, {MANY / 3, 1, plain, 0}};
    mica_batch *batch = begin(world, groups, COUNT_OF(groups));
    aim_at_the_next(batch);
    aims_seen = 0;
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    ck_assert_uint_eq(aims_seen, 2 * MANY);
    close_world(world, &heard);
}
END_TEST

typedef struct Load { uint32_t value; } Load;
MICA_POOL(Load, value)

static void count_all(const mica_event *event)
{
    void *context = event->context;
    *(uint32_t *)context += event->count;
}

/* A value is set when it was given, or completed in the batch: not when it is the default. */
START_TEST(only_values_that_were_given_are_told_as_set)
{
    mica_world *world = open_world(&heard);
    uint32_t numbers_set = 0, loads_set = 0;
    mica_hook_set(world, Number, MICA_EVENT_SET, count_all, &numbers_set);
    mica_hook_set(world, Load, MICA_EVENT_SET, count_all, &loads_set);
    const Number number = {1};
    const Load load = {2};
    const mica_value given[] = {MICA_FROM(Number, &number), MICA_FROM(Load, &load)};
    const mica_value defaults[] = {{MICA_ID(Number), 0, NULL}, {MICA_ID(Load), 0, NULL}};
    const mica_batch_group groups[] = {{10, 2, given, 1}, {20, 2, defaults, 0}};
    ck_assert_int_eq(mica_batch_commit(begin(world, groups, 2), NULL, 0), MICA_OK);
    ck_assert(numbers_set == 10 && loads_set == 10);
    mica_batch *batch = begin(world, &groups[1], 1);
    for (mica_batch_run run = {.component = MICA_ID(Load)}; mica_batch_next(batch, &run);)
        memset(run.values, 0, run.count * sizeof(Load));
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    ck_assert(numbers_set == 10 && loads_set == 30);
    close_world(world, &heard);
}
END_TEST

static char calls[64];

static void note_call(const mica_event *event)
{
    void *context = event->context;
    (void)event;
    strcat(calls, context);
}

START_TEST(hooks_run_in_the_order_asked_for_then_by_id)
{
    mica_world *world = open_world(&heard);
    char *const names[] = {"n", "p", "f"};
    const mica_component ids[] = {MICA_ID(Number), MICA_ID(Position), MICA_ID(Frozen)};
    for (int i = 0; i < 3; ++i)
        mica_hook_set_id(world, ids[i], MICA_EVENT_ADD, note_call, names[i]);
    const mica_value columns[] = {MICA_WITH(Number), MICA_WITH(Position), MICA_WITH(Frozen)};
    const mica_batch_group groups[] = {{2, 3, columns, 0}, {2, 1, columns, 0}};
    calls[0] = 0;
    mica_batch_commit(begin(world, groups, 2), (mica_component[]){ids[2], ids[1], ids[0]}, 3);
    ck_assert_str_eq(calls, "fpnn");
    calls[0] = 0;
    mica_batch_commit(begin(world, groups, 2), (mica_component[]){ids[1]}, 1);
    ck_assert_msg(strcmp(calls, "pnfn") == 0 || strcmp(calls, "pfnn") == 0, "the rest by rising id: %s", calls);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_cancelled_batch_leaves_nothing_but_dead_handles)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    const mica_value text[] = {MICA_WITH(Text), MICA_WITH(Number)};
    mica_create_many(world, FEW, text, 2, NULL);
    uint64_t before = mica_world_hash(world);
    mica_hook_set(world, Number, MICA_EVENT_ADD, note_call, "x");
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, note_call, "x");
    calls[0] = 0;
    const mica_batch_group groups[] = {{MANY, 2, text, 0}, {MANY, 1, text, 0}};
    mica_batch *batch = begin(world, groups, 2);
    static mica_entity made[2 * MANY];
    mica_batch_entities(batch, made);
    mica_entity first = made[0];
    ck_assert_int_eq(mica_name_set(world, first, mica_nil(), "first"), MICA_OK);
    mica_batch_cancel(batch);
    ck_assert_str_eq(calls, "");
    ck_assert(!mica_is_alive(world, first));
    ck_assert(mica_is_nil(mica_find(world, "first")));
    ck_assert_uint_eq(mica_world_hash(world), before);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_group_that_is_refused_undoes_those_before_it)
{
    mica_world *world = open_world(&heard);
    const mica_value text[] = {MICA_WITH(Text)}, unknown[] = {{30000, 0, NULL}};
    uint64_t before = mica_world_hash(world);
    mica_batch_group groups[] = {{MANY, 1, text, 0}, {1, 1, unknown, 0}};
    ck_assert_ptr_null(begin(world, groups, 2));
    expect_report(&heard, MICA_ERROR_UNKNOWN, "30000");
    groups[1] = (mica_batch_group){MANY, 1, text, 0};
    texts_allowed = MANY + 10;
    ck_assert_ptr_null(begin(world, groups, 2));
    expect_report(&heard, MICA_ERROR_MEMORY, "Text");
    texts_allowed = 1 << 30;
    ck_assert_uint_eq(mica_world_hash(world), before);
    ck_assert_int_eq(texts_alive, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(changes_made_during_a_batch_are_applied_at_its_end)
{
    mica_world *world = open_world(&heard);
    mica_batch *batch = begin(world, &(mica_batch_group){FEW, 0, NULL, 0}, 1);
    mica_entity made[FEW];
    mica_batch_entities(batch, made);
    mica_entity first = made[0];
    mica_set(world, first, Number, {7});
    ck_assert(!mica_has(world, first, Number));
    ck_assert_ptr_null(begin(world, NULL, 0));
    expect_report(&heard, MICA_ERROR_REFUSED, "batch");
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    ck_assert_uint_eq(mica_get(world, first, Number)->value, 7);
    close_world(world, &heard);
}
END_TEST

/* The same component in every kind of pool. */
typedef struct Mark {
    uint32_t number;
    mica_entity next;
} Mark, HashMark, DirectMark, ManyMark;
MICA_POOL(Mark, number, next)
MICA_POOL_WITH(HashMark, (.index = MICA_INDEX_HASH), number, next)
MICA_POOL_WITH(DirectMark, (.index = MICA_INDEX_DIRECT), number, next)
MICA_POOL_WITH(ManyMark, (.many = true), number, next)
MICA_POOL_TAG(Picked)

static uint32_t marks_seen[2];

static void count_marks(const mica_event *event)
{
    void *context = event->context;
    const Mark *marks = event->values;
    for (uint32_t i = 0; i < event->count; ++i)
        ck_assert_msg(mica_is_alive(event->world, marks[i].next), "what a hook sees is complete");
    marks_seen[event->kind == MICA_EVENT_SET] += event->count;
    (void)context;
}

static void count_picked(const mica_event *event)
{
    void *context = event->context;
    *(uint32_t *)context += event->count;
}

/* Two groups with a mark each, a third without; the first repeats its column. */
static void expect_marks(mica_component mark, uint32_t period, bool cancelled)
{
    static Mark marks[MANY];
    static mica_entity entities[2 * MANY + FEW];
    uint32_t picked = 0;
    for (uint32_t i = 0; i < MANY; ++i)
        marks[i].number = i;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_create(world, MICA_WITH(Number, {7}));
    mica_hook_set_id(world, mark, MICA_EVENT_ADD, count_marks, NULL);
    mica_hook_set_id(world, mark, MICA_EVENT_SET, count_marks, NULL);
    mica_hook_set(world, Picked, MICA_EVENT_ADD, count_picked, &picked);
    const mica_value first[] = {MICA_COLUMN(Number, numbers), {mark, 0, marks}, MICA_WITH(Picked)};
    const mica_value second[] = {{mark, 0, marks}, MICA_WITH(Frozen)}, third[] = {MICA_WITH(Frozen)};
    const mica_batch_group groups[] = {{MANY, 3, first, period}, {FEW, 1, third, 0}, {MANY, 2, second, 0}};
    uint64_t before = mica_world_hash(world);
    mica_batch *batch = begin(world, groups, 3);
    mica_batch_entities(batch, entities);
    uint32_t completed = 0;
    for (mica_batch_run run = {.component = mark}; mica_batch_next(batch, &run); completed += run.count)
        for (uint32_t i = 0; i < run.count; ++i) {
            Mark *value = (Mark *)run.values + i;
            uint32_t at = run.first + i;
            ck_assert(mica_same(run.entities[i], entities[at]));
            ck_assert_uint_eq(value->number, at < MANY ? at % (period ? period : MANY) : at - MANY - FEW);
            value->next = entities[(at + 1) % MANY];
        }
    ck_assert_uint_eq(completed, 2 * MANY);
    marks_seen[0] = marks_seen[1] = 0;
    if (cancelled)
        mica_batch_cancel(batch);
    else
        ck_assert_int_eq(mica_batch_commit(batch, &mark, 1), MICA_OK);
    ck_assert_uint_eq(marks_seen[0], cancelled ? 0 : 2 * MANY);
    ck_assert_uint_eq(marks_seen[1], cancelled ? 0 : 2 * MANY);
    ck_assert_uint_eq(picked, cancelled ? 0 : MANY);
    for (uint32_t i = 0; i < 2 * MANY + FEW; ++i) {
        const Mark *value = mica_get_id(world, entities[i], mark);
        ck_assert(!value == (cancelled || (i >= MANY && i < MANY + FEW)));
        ck_assert_int_eq(mica_has(world, entities[i], Picked), !cancelled && i < MANY);
        if (value)
            ck_assert(mica_same(value->next, entities[(i + 1) % MANY]));
    }
    ck_assert(!cancelled || mica_world_hash(world) == before);
    close_world(world, &heard);
}

START_TEST(components_in_pools_come_with_their_batch)
{
    number_all();
    const mica_component marks[] = {MICA_ID(Mark), MICA_ID(HashMark), MICA_ID(DirectMark), MICA_ID(ManyMark)};
    for (uint32_t i = 0; i < COUNT_OF(marks); ++i)
        for (uint32_t period = 0; period < 500; period = period * 7 + 1) {
            expect_marks(marks[i], period, false);
            expect_marks(marks[i], period, true);
        }
}
END_TEST

typedef struct LateMark { uint32_t number; } LateMark;
MICA_POOL_WITH(LateMark, (.dying = MICA_DYING_LAZILY), number)

START_TEST(rows_that_outlive_their_owners_do_not_come_with_a_batch)
{
    mica_world *world = open_world(&heard);
    const mica_value first[] = {MICA_WITH(Number)}, second[] = {MICA_WITH(LateMark)};
    const mica_batch_group groups[] = {{FEW, 1, first, 0}, {FEW, 1, second, 0}};
    ck_assert_ptr_null(begin(world, groups, 2));
    expect_report(&heard, MICA_ERROR_INVALID, "rows of LateMark outlive their owners");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_batch_with_pools_gives_the_world_that_creating_many_gives)
{
    static Mark marks[MANY];
    const mica_value columns[] = {MICA_WITH(Health), {MICA_ID(Mark), 0, marks}, MICA_WITH(Picked)};
    uint64_t hashes[2];
    for (uint32_t i = 0; i < MANY; ++i)
        marks[i].number = 3 * i;
    for (int batched = 0; batched < 2; ++batched) {
        mica_world *world = open_world(&heard);
        if (batched)
            mica_batch_commit(begin(world, &(mica_batch_group){MANY, 3, columns, 0}, 1), NULL, 0);
        else
            mica_create_many(world, MANY, columns, 3, NULL);
        hashes[batched] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

/* Slots are freed and taken as runs, which snapshots must keep: here those of a full world, and of one that is empty again. */
START_TEST(a_snapshot_brings_back_what_was_cleared_and_made_anew)
{
    static Mark marks[MANY];
    const mica_value columns[] = {MICA_COLUMN(Number, numbers), {MICA_ID(Mark), 0, marks}};
    for (int was_full = 0; was_full < 2; ++was_full)
        for (int cancelled = 0; cancelled < 2; ++cancelled) {
            mica_world *world = open_world(&heard);
            uint32_t column_count = was_full ? 1 : 2; /* without pools, whole chunks go at once */
            mica_create_many(world, MANY, columns, column_count, NULL);
            if (!was_full)
                mica_world_clear(world);
            uint64_t hash = mica_world_hash(world);
            mica_snapshot before = mica_snapshot_take(world);
            if (was_full)
                mica_world_clear(world);
            mica_batch *batch = begin(world, &(mica_batch_group){MANY, column_count, columns, 0}, 1);
            if (cancelled)
                mica_batch_cancel(batch);
            else
                mica_batch_commit(batch, NULL, 0);
            expect_valid(world);
            ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
            expect_valid(world);
            ck_assert_uint_eq(mica_world_hash(world), hash);
            close_world(world, &heard);
        }
}
END_TEST

TEST_SUITE(batch, only_values_that_were_given_are_told_as_set, more_entities_or_columns_than_can_be_counted_are_refused,
           a_snapshot_brings_back_what_was_cleared_and_made_anew,
           rows_that_outlive_their_owners_do_not_come_with_a_batch, components_in_pools_come_with_their_batch,
           a_batch_with_pools_gives_the_world_that_creating_many_gives, groups_are_created_in_order_with_their_columns,
           a_batch_gives_the_world_that_creating_many_gives, columns_with_a_period_repeat,
           values_are_completed_before_hooks_see_them, hooks_run_in_the_order_asked_for_then_by_id,
           a_cancelled_batch_leaves_nothing_but_dead_handles, a_group_that_is_refused_undoes_those_before_it,
           changes_made_during_a_batch_are_applied_at_its_end)
