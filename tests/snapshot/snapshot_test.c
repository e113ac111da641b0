/* Taking, restoring and dropping snapshots, and what goes wrong. What comes back is shown by random play (core.model) and by rollback. */
#include "mica/snapshot.h"
#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"
#include "support/test_length.h"

#include <signal.h>
#include <string.h>

/* Can be moved, and not be copied. */
typedef struct Handle { int32_t number; } Handle;
static void handle_close(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}
MICA_COMPONENT_WITH(Handle, (.destruct = handle_close), number)

static mica_entity make_numbers(mica_world *world, uint32_t count)
{
    mica_entity first = mica_nil();
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {(float)i, 0, 0}));
        first = i ? first : made;
    }
    return first;
}

START_TEST(a_world_comes_back_as_it_was)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity first = make_numbers(world, 3000);
    mica_ref ref = mica_ref_of(first, Number);
    uint64_t hash = mica_world_hash(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    ck_assert_uint_eq(mica_snapshot_bytes(world, snapshot), 0);
    mica_destroy(world, first);
    mica_entity next = make_numbers(world, 500);
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    ck_assert(mica_is_alive(world, first) && !mica_is_alive(world, next));
    ck_assert_ptr_eq(mica_ref_read(world, &ref, Number), mica_get(world, first, Number));
    expect_valid(world);
    mica_destroy(world, first); /* and the next handle is the one it was */
    ck_assert(mica_same(make_numbers(world, 1), next));
    close_world(world, &heard);
}
END_TEST

START_TEST(only_slices_that_are_written_are_kept)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity first = make_numbers(world, 20000);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_write(world, first, Number)->value = 7;
    size_t one = mica_snapshot_bytes(world, snapshot);
    ck_assert_uint_ge(one, sizeof(Number));
    ck_assert_uint_le(one, MICA_SLICE_ROWS * sizeof(Number) + 256);
    mica_write(world, first, Number)->value = 8;
    ck_assert_uint_eq(mica_snapshot_bytes(world, snapshot), one);
    close_world(world, &heard);
}
END_TEST

START_TEST(snapshots_are_restored_in_any_order)
{
    enum { STATES = 6 };
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_snapshot snapshots[STATES];
    uint64_t hashes[STATES];
    for (uint32_t i = 0; i < STATES; ++i) {
        mica_entity made = make_numbers(world, 100 + 50 * i);
        mica_set(world, made, Mass, {(float)i});
        if (i % 2)
            mica_destroy(world, made);
        hashes[i] = mica_world_hash(world);
        snapshots[i] = mica_snapshot_take(world);
    }
    static const uint32_t order[] = {2, 5, 0, 4, 4, 1, 3, 0, 5};
    for (uint32_t i = 0; i < COUNT_OF(order); ++i) {
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[order[i]]), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hashes[order[i]]);
        expect_valid(world);
        make_numbers(world, 10);
    }
    for (uint32_t i = 1; i < STATES; i += 2)
        ck_assert(mica_snapshot_drop(world, snapshots[i]));
    for (uint32_t i = 0; i < STATES; i += 2) {
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[i]), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hashes[i]);
    }
    close_world(world, &heard);
}
END_TEST

/* A chunk that only one of two snapshots has, and only while it is empty: rows that come into it are not those of the snapshot. */
START_TEST(a_chunk_comes_and_goes_with_the_snapshots_that_have_it)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity first = make_numbers(world, 1);
    while (mica_world_get_stats(world).chunk_count < 2)
        make_numbers(world, 1);
    uint32_t rows = (uint32_t)mica_world_get_stats(world).entity_count - 1; /* of the first chunk */
    mica_destroy(world, first);                                             /* the second one is empty, and stays */
    mica_snapshot with = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    mica_world_trim(world);
    mica_snapshot without = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 4; ++round) {
        ck_assert_int_eq(mica_snapshot_restore(world, with), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        make_numbers(world, rows);
        expect_valid(world);
        ck_assert_int_eq(mica_snapshot_restore(world, round % 2 ? with : without), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(values_that_own_something_are_copied_and_given_back)
{
    reports heard;
    mica_world *world = open_world(&heard);
    Text hello = text_make("hello"), bye = text_make("bye");
    mica_entity entity = mica_create(world);
    mica_set_id(world, entity, (mica_value){MICA_ID(Text), sizeof hello, &hello});
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_set_id(world, entity, (mica_value){MICA_ID(Text), sizeof bye, &bye});
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "bye");
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "hello");
    mica_destroy(world, entity);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "hello");
    text_drop(&hello);
    text_drop(&bye);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(archetypes_made_meanwhile_are_forgotten)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_HAS(Number))});
    mica_entity entity = make_numbers(world, 1);
    mica_snapshot snapshot = mica_snapshot_take(world);
    uint32_t count = mica_world_get_stats(world).archetype_count;
    for (uint32_t round = 0; round < 3; ++round) {
        mica_set(world, entity, Mass, {1});
        mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Velocity, {1, 0, 0}));
        ck_assert_uint_eq(mica_query_count(query), 2);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, count);
        ck_assert_uint_eq(mica_query_count(query), 1);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

static mica_result result_inside;
static mica_snapshot taken_inside;
static void restore_inside(const mica_frame *frame)
{
    taken_inside = mica_snapshot_take(frame->world);
    result_inside = mica_snapshot_restore(frame->world, (mica_snapshot){1});
}

START_TEST(snapshots_are_refused_while_changes_are_on_their_way)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_command_create(commands);
    ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded changes wait");
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded changes wait");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_entity entity = make_numbers(world, 1);
    mica_command_set(commands, entity, Number, {2}); /* and of what is recorded in short form */
    ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded changes wait");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_command_remove(commands, entity, Number);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded changes wait");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_defer(world);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_ERROR_REFUSED);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(forget_reports(&heard), 1);
    if (!STOPS_AT_MISTAKES) {
        mica_system_add(world, MICA_SYSTEM_ONCE(restore_inside));
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_int_eq(result_inside, MICA_ERROR_REFUSED);
        ck_assert_uint_eq(taken_inside.id, 0);
        ck_assert_uint_eq(forget_reports(&heard), 2);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_dropped_snapshot_is_unknown)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_snapshot snapshot = mica_snapshot_take(world);
    ck_assert(mica_snapshot_drop(world, snapshot));
    ck_assert(!mica_snapshot_drop(world, snapshot));
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no snapshot");
    ck_assert_int_eq(mica_snapshot_restore(world, (mica_snapshot){0}), MICA_ERROR_UNKNOWN);
    ck_assert_uint_eq(forget_reports(&heard), 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_that_cannot_be_copied_is_named)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_ptr_nonnull(mica_add(world, mica_create(world), Handle));
    ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
    expect_report(&heard, MICA_ERROR_REFUSED, "component Handle has a destruct function");
    close_world(world, &heard);
}
END_TEST

typedef struct middle {
    mica_history *history;
    uint64_t hash;
} middle;

static void take_in_the_middle(const mica_frame *frame)
{
    middle *middle = frame->context;
    mica_create(frame->world, MICA_WITH(Number, {5}));
    ck_assert_int_eq(mica_history_take(middle->history, 2), MICA_OK);
    middle->hash = mica_world_hash(frame->world);
}

static void take_refused(const mica_frame *frame)
{
    middle *middle = frame->context;
    ck_assert_int_eq(mica_history_take(middle->history, 9), MICA_ERROR_REFUSED);
    ck_assert_uint_eq(mica_snapshot_take(frame->world).id, 0);
}

START_TEST(an_exclusive_system_takes_a_tick_in_the_middle_of_a_frame)
{
    reports heard;
    mica_world *world = open_world(&heard);
    middle middle = {.history = mica_history_create(world, 4)};
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(take_in_the_middle, (.exclusive = true, .context = &middle)));
    uint64_t before = mica_world_hash(world);
    ck_assert_int_eq(mica_history_take(middle.history, 1), MICA_OK);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    make_numbers(world, 3);
    ck_assert_int_eq(mica_history_restore(middle.history, 2), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), middle.hash);
    ck_assert_int_eq(mica_history_restore(middle.history, 1), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), before);
    close_world(world, &heard);
}
END_TEST

START_TEST(other_systems_take_no_ticks)
{
    reports heard;
    mica_world *world = open_world(&heard);
    middle middle = {.history = mica_history_create(world, 4)};
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(take_refused, (.context = &middle)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(mica_history_count(middle.history), 0);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_history_keeps_the_last_ticks)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_history *history = mica_history_create(world, 4);
    mica_entity entity = make_numbers(world, 1);
    for (uint64_t tick = 1; tick <= 10; ++tick) {
        ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
        mica_write(world, entity, Number)->value = (uint32_t)tick;
    }
    ck_assert_uint_eq(mica_history_count(history), 4);
    ck_assert_uint_eq(mica_history_first(history), 7);
    ck_assert_int_eq(mica_history_restore(history, 6), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "tick 6");
    ck_assert_int_eq(mica_history_restore(history, 8), MICA_OK);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, 7);
    ck_assert(mica_history_has(history, 8) && !mica_history_has(history, 9));
    ck_assert_int_eq(mica_history_take(history, 8), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "not after the last one");
    ck_assert_int_eq(mica_history_take(history, 9), MICA_OK);
    /* Snapshots outside the history stay. */
    mica_snapshot other = mica_snapshot_take(world);
    mica_write(world, entity, Number)->value = 99;
    ck_assert_int_eq(mica_history_restore(history, 7), MICA_OK);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, 6);
    ck_assert_int_eq(mica_snapshot_restore(world, other), MICA_OK);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, 7);
    mica_history_destroy(history);
    close_world(world, &heard);
}
END_TEST

/* After the first ticks nothing grows. */
START_TEST(memory_stays_flat_with_a_snapshot_every_tick)
{
    enum { TICKS = UNDER_SANITIZER ? 2000 : 20000, RING = 30 };
    random_source random = {setting_from_environment("MICA_TEST_SEED", 1)};
    test_length length = test_length_begin("a snapshot every tick", random.state, TICKS, 100);
    reports heard;
    mica_world *world = open_world(&heard);
    mica_history *history = mica_history_create(world, RING);
    mica_snapshot checkpoint = {0};
    static mica_entity entities[600], before[600];
    for (uint32_t i = 0; i < 600; ++i)
        entities[i] = make_numbers(world, 1);
    size_t settled = 0;
    for (uint64_t tick = 0; test_length_continues(&length, tick); ++tick) {
        if (tick == 100)
            checkpoint = mica_snapshot_take(world);
        ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
        for (uint32_t i = (uint32_t)tick % 7; i < 600; i += 7)
            ++mica_write(world, entities[i], Number)->value;
        uint32_t changed = random_below(&random, 600);
        mica_destroy(world, entities[changed]);
        entities[changed] = make_numbers(world, 1);
        if (tick % 100 == 94)
            memcpy(before, entities, sizeof entities);
        if (tick % 100 == 99) {
            ck_assert_int_eq(mica_history_restore(history, tick - 4), MICA_OK);
            memcpy(entities, before, sizeof entities);
        }
        if (tick == TICKS / 4)
            settled = mica_world_get_stats(world).memory_bytes;
    }
    if (settled > 0) /* or the time was too short to say */
        ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, settled + settled / 4);
    ck_assert_int_eq(mica_snapshot_restore(world, checkpoint), MICA_OK);
    close_world(world, &heard);
}
END_TEST

/* The second list comes to lie where the first one was. */
START_TEST(a_list_of_removals_that_is_made_meanwhile_is_empty)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = make_numbers(world, 2), read[8];
    mica_removals *numbers = mica_removals_create(world, Number), *kept = mica_removals_create(world, Number);
    mica_remove(world, entity, Number);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_removals_destroy(numbers);
    mica_removals *positions = mica_removals_create(world, Position);
    mica_remove(world, entity, Position);
    ck_assert_uint_eq(mica_removals_read(kept, read, 8), 1);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_removals_read(positions, read, 8), 0);
    ck_assert_uint_eq(mica_removals_read(kept, read, 8), 1);
    ck_assert(mica_same(read[0], entity));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_singleton_that_is_made_meanwhile_was_never_there)
{
    reports heard, other_heard;
    mica_world *world = open_world(&heard), *other = open_world(&other_heard);
    mica_snapshot snapshot = mica_snapshot_take(world);
    Clock *clock = mica_singleton_write(world, Clock);
    clock->ticks = 5;
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    snapshot = mica_snapshot_take(world); /* which does not have it either */
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    mica_difference difference;
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
    ck_assert_msg(!mica_hash_diff(world, other, &difference), "%s", difference.text);
    mica_world *clone = mica_world_clone(world);
    ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(other));
    mica_world_destroy(clone);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(other, NULL);
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
    mica_sender_destroy(sender);
    mica_replica_destroy(replica);
    ck_assert_ptr_eq(mica_singleton_get(world, Clock), clock);
    ck_assert_uint_eq(clock->ticks, 0);
    close_world(world, &heard);
    close_world(other, &other_heard);
}
END_TEST

/* Values are moved in the midst of a flush. */
static mica_world *being_flushed;
typedef struct Camera { int32_t pictures; } Camera;
static void take_while_moving(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Camera));
    taken_inside = mica_snapshot_take(being_flushed);
}
MICA_COMPONENT_WITH(Camera, (.move = take_while_moving), pictures)

static void count_ticks(mica_view *view)
{
    mica_view_write(view, Clock)->ticks += view->count;
}

/* A query that was created after the snapshot stays: the singleton is in use again when the query next shows it. */
START_TEST(a_query_does_not_keep_a_singleton_in_use)
{
    reports heard;
    mica_world *world = open_world(&heard);
    make_numbers(world, 3);
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Clock), MICA_HAS(Number)));
    mica_system_add(world, MICA_SYSTEM(count_ticks, MICA_WRITE(Clock), MICA_HAS(Position)));
    ck_assert(mica_singleton_is_used(world, MICA_ID(Clock)));
    mica_singleton_write(world, Clock)->ticks = 5;
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert(!mica_singleton_is_used(world, MICA_ID(Clock)));
    ck_assert_uint_eq(mica_world_hash(world), hash);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        mica_view_write(&view, Clock)->ticks += 1;
    ck_assert(mica_singleton_is_used(world, MICA_ID(Clock)));
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 1);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    ck_assert(mica_singleton_is_used(world, MICA_ID(Clock)));
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 3);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_snapshot_is_refused_inside_a_flush)
{
    reports heard;
    mica_world *world = being_flushed = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Camera, {1}));
    mica_defer(world);
    mica_set(world, entity, Number, {1});
    taken_inside.id = 1;
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(taken_inside.id, 0);
    expect_report(&heard, MICA_ERROR_REFUSED, "refused inside a flush");
    close_world(world, &heard);
}
END_TEST

static mica_history *history_of_system;
static void destroy_history(mica_view *view)
{
    mica_history_destroy(history_of_system);
    ck_assert(!mica_snapshot_drop(view->world, (mica_snapshot){1}));
}

START_TEST(histories_come_and_go)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = make_numbers(world, 1);
    ck_assert(!mica_snapshot_drop(world, (mica_snapshot){1}));
    mica_snapshot oldest = mica_snapshot_take(world);
    ck_assert_uint_eq(oldest.id, 1);
    mica_history *first = mica_history_create(world, 0), *second = mica_history_create(world, 3);
    ck_assert_uint_eq(mica_history_first(first), 0);
    ck_assert_uint_eq(mica_history_last(first), 0);
    for (uint64_t tick = 5; tick < 8; ++tick) {
        ck_assert_int_eq(mica_history_take(first, tick), MICA_OK);
        ck_assert_int_eq(mica_history_take(second, tick), MICA_OK);
        ++mica_write(world, entity, Number)->value;
    }
    ck_assert_uint_eq(mica_history_count(first), 1);
    ck_assert_uint_eq(mica_history_first(first), 7);
    ck_assert_uint_gt(mica_history_bytes(second), 0);
    ck_assert_uint_eq(mica_snapshot_bytes(world, (mica_snapshot){999}), 0);
    mica_history_destroy(NULL);
    if (!STOPS_AT_MISTAKES) {
        history_of_system = second;
        mica_system_add(world, MICA_SYSTEM(destroy_history, MICA_READ(Number)));
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        expect_report(&heard, MICA_ERROR_REFUSED, "history_destroy");
        expect_report(&heard, MICA_ERROR_REFUSED, "snapshot_drop");
    }
    mica_history_destroy(first); /* after the other in the world's list */
    ck_assert_int_eq(mica_history_restore(second, 6), MICA_OK);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, 1);
    close_world(world, &heard);
}
END_TEST

/* Whether it is, only checked builds can tell: they stop. */
START_TEST(a_pointer_from_before_a_restore_is_invalid)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entity = make_numbers(world, 1);
    mica_snapshot before = mica_snapshot_take(world);
    const volatile char *kept = (const volatile char *)mica_get(world, entity, Number);
    mica_create(world);
    mica_snapshot_restore(world, before);
    ck_assert_int_ge(*kept, 0); /* never gets this far */
    mica_world_destroy(world);
}
END_TEST

static mica_snapshot taken_before;
static mica_history *filled_before;
static reports dying_heard;

static void drop_on_destroy(const mica_event *event)
{
    ck_assert(!mica_snapshot_drop(event->world, taken_before));
    ck_assert_uint_eq(mica_snapshot_bytes(event->world, taken_before), 0);
    ck_assert_int_ne(mica_snapshot_restore(event->world, taken_before), MICA_OK);
    ck_assert_int_ne(mica_history_restore(filled_before, 1), MICA_OK);
    mica_history_destroy(filled_before);
    filled_before = NULL;
}

START_TEST(a_hook_of_a_world_that_is_destroyed_finds_no_snapshots)
{
    mica_world *world = open_world(&dying_heard);
    mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_hook_set(world, Position, MICA_EVENT_REMOVE, drop_on_destroy, NULL);
    taken_before = mica_snapshot_take(world);
    filled_before = mica_history_create(world, 4);
    ck_assert_int_eq(mica_history_take(filled_before, 1), MICA_OK);
    mica_write(world, mica_query_first(mica_query_create(world, MICA_QUERY(MICA_READ(Position)))), Position)->x = 4;
    mica_world_destroy(world);
    ck_assert_ptr_null(filled_before);
    forget_reports(&dying_heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("snapshot");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_world_comes_back_as_it_was);
    tcase_add_test(cases, only_slices_that_are_written_are_kept);
    tcase_add_test(cases, snapshots_are_restored_in_any_order);
    tcase_add_test(cases, a_chunk_comes_and_goes_with_the_snapshots_that_have_it);
    tcase_add_test(cases, values_that_own_something_are_copied_and_given_back);
    tcase_add_test(cases, archetypes_made_meanwhile_are_forgotten);
    tcase_add_test(cases, snapshots_are_refused_while_changes_are_on_their_way);
    tcase_add_test(cases, a_dropped_snapshot_is_unknown);
    tcase_add_test(cases, a_component_that_cannot_be_copied_is_named);
    tcase_add_test(cases, a_history_keeps_the_last_ticks);
    tcase_add_test(cases, an_exclusive_system_takes_a_tick_in_the_middle_of_a_frame);
    tcase_add_test(cases, a_list_of_removals_that_is_made_meanwhile_is_empty);
    tcase_add_test(cases, a_singleton_that_is_made_meanwhile_was_never_there);
    tcase_add_test(cases, a_query_does_not_keep_a_singleton_in_use);
    tcase_add_test(cases, a_snapshot_is_refused_inside_a_flush);
    tcase_add_test(cases, histories_come_and_go);
    tcase_add_test(cases, a_hook_of_a_world_that_is_destroyed_finds_no_snapshots);
    tcase_add_test(cases, memory_stays_flat_with_a_snapshot_every_tick);
    if (STOPS_AT_MISTAKES) {
        tcase_add_test_raise_signal(cases, other_systems_take_no_ticks, SIGABRT);
        tcase_add_test_raise_signal(cases, a_pointer_from_before_a_restore_is_invalid, SIGABRT);
    } else {
        tcase_add_test(cases, other_systems_take_no_ticks);
    }
    return test_run("snapshot", cases);
}
