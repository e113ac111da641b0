/* Worlds with handle spaces: what one of them hands out is refused by the other, whatever it is; and copies of a world share its
 * handles. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/index.h"
#include "mica/snapshot.h"
#include "mica/state.h"

enum { LEFT = 3, RIGHT = 200, SLOT_USES = 65535, CREATED = 300 };

typedef struct Ping { uint32_t number; } Ping;
MICA_STRUCT(Ping, number)

static reports heard, heard_right;

static mica_world *open_in(uint32_t space, reports *reports)
{
    mica_world_def def = mica_world_def_default();
    def.handle_space = space;
    return open_world_with(reports, def);
}

static uint32_t space_of(mica_entity entity)
{
    return entity.generation >> 16;
}

START_TEST(an_entity_of_another_world_is_refused_and_the_report_says_so)
{
    mica_world *left = open_in(LEFT, &heard), *right = open_in(RIGHT, &heard_right);
    mica_entity own = mica_create(left, MICA_WITH(Number, {1})), other = mica_create(right, MICA_WITH(Number, {2}));
    ck_assert_uint_eq(own.index, other.index);
    ck_assert(!mica_same(own, other));
    ck_assert(!mica_is_alive(left, other));
    ck_assert(!mica_set(left, other, Number, {5}));
    expect_report(&heard, MICA_ERROR_DEAD, "is of another world: it has another handle space");
    ck_assert(!mica_destroy(left, other));
    expect_report(&heard, MICA_ERROR_DEAD, "is of another world");
    ck_assert_int_eq(mica_set_parent(left, own, other), MICA_ERROR_DEAD);
    expect_report(&heard, MICA_ERROR_DEAD, "is of another world");
    mica_commands *commands = mica_commands_create(left);
    ck_assert(!mica_command_set(commands, other, Number, {5}));
    expect_report(&heard, MICA_ERROR_DEAD, "is of another world");
    ck_assert(!mica_send(left, other, Ping, {1}));
    expect_report(&heard, MICA_ERROR_DEAD, "is of another world");
    ck_assert(!mica_destroy(left, mica_nil()));
    expect_report(&heard, MICA_ERROR_DEAD, "is not alive");
    if (!STOPS_AT_MISTAKES) {
        ck_assert_ptr_null(mica_get(left, other, Number));
        ck_assert_ptr_null(mica_write(left, other, Number));
        ck_assert(!mica_has(left, other, Number));
        mica_ref ref = mica_ref_of(own, Number);
        ck_assert_ptr_nonnull(mica_ref_read(left, &ref, Number));
        ck_assert_ptr_null(mica_ref_read(right, &ref, Number));
    }
    ck_assert_uint_eq(mica_get(left, own, Number)->value, 1);
    close_world(left, &heard);
    close_world(right, &heard_right);
}
END_TEST

static void nothing(const mica_frame *frame)
{
    (void)frame;
}

static void unheard(const mica_event *event)
{
    (void)event;
}

START_TEST(systems_phases_observers_snapshots_and_streams_of_another_world_are_refused)
{
    mica_world *worlds[2] = {open_in(LEFT, &heard), open_in(RIGHT, &heard_right)};
    mica_system systems[2];
    mica_phase phases[2];
    mica_observer observers[2];
    mica_snapshot snapshots[2];
    mica_stream *streams[2];
    for (uint32_t i = 0; i < 2; ++i) {
        phases[i] = mica_phase_add(worlds[i], MICA_PHASE_AFTER("late", MICA_PHASE_UPDATE));
        systems[i] = mica_system_add(worlds[i], MICA_SYSTEM_ONCE_WITH(nothing, (.phase = phases[i])));
        observers[i] = mica_observer_add(worlds[i], MICA_OBSERVER(MICA_EVENT_ADD, Number, unheard));
        streams[i] = mica_stream_create(worlds[i], MICA_STREAM(Ping));
        snapshots[i] = mica_snapshot_take(worlds[i]);
        ck_assert(systems[i].id && observers[i].id && snapshots[i].id && streams[i]);
    }
    mica_world *left = worlds[0];
    ck_assert(!mica_system_enable(left, systems[1], false) && !mica_system_remove(left, systems[1]));
    ck_assert(!mica_phase_enable(left, phases[1], false) && !mica_phase_remove(left, phases[1]));
    ck_assert(!mica_observer_remove(left, observers[1]));
    ck_assert_uint_eq(mica_system_next(left, systems[1]).id, 0);
    ck_assert_uint_eq(mica_system_next(left, (mica_system){0}).id, systems[0].id);
    ck_assert_uint_eq(mica_system_find(left, "nothing").id, systems[0].id);
    forget_reports(&heard);
    ck_assert_int_ne(mica_system_run(left, systems[1], 1), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert(!mica_snapshot_drop(left, snapshots[1]));
    ck_assert_int_eq(mica_snapshot_restore(left, snapshots[1]), MICA_ERROR_UNKNOWN);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    mica_use use = {.stream = streams[1], .write = true};
    mica_system_def def = {.name = "writer", .once = nothing, .uses = &use, .use_count = 1};
    ck_assert_uint_eq(mica_system_add(left, &def).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "a stream of another world");
    use.stream = streams[0];
    ck_assert_uint_ne(mica_system_add(left, &def).id, 0);
    ck_assert_int_eq(mica_step(left, 1), MICA_OK);
    ck_assert_int_eq(mica_snapshot_restore(left, snapshots[0]), MICA_OK);
    ck_assert_int_eq(mica_system_run(left, systems[0], 1), MICA_OK);
    ck_assert(mica_observer_remove(left, observers[0]) && mica_system_remove(left, systems[0]));
    for (uint32_t i = 0; i < 2; ++i)
        mica_snapshot_drop(worlds[i], snapshots[i]);
    close_world(worlds[0], &heard);
    close_world(worlds[1], &heard_right);
}
END_TEST

static void unvisited(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    (void)entity, (void)neighbours, (void)count, (void)context;
    ck_abort();
}

START_TEST(a_query_and_an_index_of_another_world_are_refused)
{
    mica_world *left = open_world(&heard), *right = open_world(&heard_right); /* also without handle spaces */
    mica_create(left, MICA_WITH(Position, {1, 1, 0}));
    mica_create(right, MICA_WITH(Position, {1, 1, 0}));
    mica_index_def def = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}};
    mica_index *grid = mica_index_create(left, &def), *other = mica_index_create(right, &def);
    ck_assert_int_eq(mica_index_update(grid), MICA_OK);
    mica_query *query = mica_query_create(right, MICA_QUERY(MICA_READ(Position)));
    mica_grid_loop loop = {.radius = 1, .query = query, .fn = unvisited};
    ck_assert_int_eq(mica_grid_each(grid, &loop), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "is a query of another world");
    mica_system_def system = {.name = "finds", .once = nothing, .uses = &(mica_use){.index = other}, .use_count = 1};
    ck_assert_uint_eq(mica_system_add(left, &system).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "an index of another world");
    close_world(left, &heard);
    close_world(right, &heard_right);
}
END_TEST

START_TEST(a_slot_keeps_its_space_and_is_retired_after_65535_uses)
{
    mica_world *world = open_in(LEFT, &heard);
    mica_entity first = mica_create(world), last = first;
    ck_assert_uint_eq(first.generation, (LEFT << 16) + 1);
    for (uint32_t i = 1; i < SLOT_USES; ++i) {
        mica_destroy(world, last);
        last = mica_create(world);
        REQUIRE(last.index == first.index && space_of(last) == LEFT);
    }
    mica_destroy(world, last);
    for (uint32_t i = 0; i < CREATED; ++i)
        ck_assert_uint_ne(mica_create(world).index, first.index);
    close_world(world, &heard);
}
END_TEST

/* One by one, many at once, recorded, and recorded in more buffers than have handles in stock. */
START_TEST(every_way_of_creating_keeps_the_space)
{
    mica_world *world = open_in(RIGHT, &heard);
    random_source random = {5};
    mica_commands *commands[3];
    mica_entity made[CREATED];
    for (uint32_t i = 0; i < 3; ++i)
        commands[i] = mica_commands_create(world);
    for (uint32_t round = 0; round < 40; ++round) {
        uint32_t count = 0, buffer = random_below(&random, 4);
        if (buffer == 3)
            REQUIRE(mica_create_many(world, count = 1 + random_below(&random, CREATED - 1), NULL, 0, made) == MICA_OK);
        for (; count < CREATED; ++count)
            made[count] = buffer < 3 ? mica_command_create(commands[buffer], MICA_WITH(Number, {count}))
                                     : mica_create(world, MICA_WITH(Number, {count}));
        mica_flush(world);
        for (uint32_t i = 0; i < CREATED; ++i) {
            REQUIRE(space_of(made[i]) == RIGHT && mica_is_alive(world, made[i]));
            if (random_below(&random, 3))
                REQUIRE(mica_destroy(world, made[i]));
        }
        REQUIRE(mica_world_validate(world) == MICA_OK);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_clone_has_the_handles_of_the_original_and_continues_like_it)
{
    mica_world *world = open_in(LEFT, &heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_world *clone = mica_world_clone(world);
    ck_assert_ptr_nonnull(clone);
    ck_assert_uint_eq(mica_get(clone, entity, Number)->value, 1);
    mica_entity next = mica_create(world), next_of_clone = mica_create(clone);
    ck_assert(mica_same(next, next_of_clone));
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(clone));
    close_world(clone, &heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_state_has_the_space_and_gives_it_to_the_world_that_continues)
{
    mica_world *left = open_in(LEFT, &heard), *right = open_in(RIGHT, &heard_right);
    mica_entity entity = mica_create(left);
    mica_state *state;
    mica_resume *resume;
    size_t byte_count;
    ck_assert_int_eq(mica_state_take(left, &state), MICA_OK);
    const void *bytes = mica_state_bytes(state, &byte_count);
    ck_assert_int_eq(mica_resume_begin(right, bytes, byte_count, &entity, 1, &resume), MICA_OK);
    ck_assert_int_eq(mica_resume_end(resume), MICA_OK);
    ck_assert_uint_eq(space_of(mica_create(right)), LEFT);
    ck_assert_int_eq(mica_world_validate(right), MICA_OK);
    mica_state_free(state);
    close_world(left, &heard);
    close_world(right, &heard_right);
}
END_TEST

START_TEST(a_replica_has_the_space_of_its_sender_or_none_or_is_mapped)
{
    const struct {
        uint32_t space;
        bool mapped;
        mica_result result;
    } cases[] = {
        {LEFT, false, MICA_OK}, {0, false, MICA_OK}, {RIGHT, true, MICA_OK}, {RIGHT, false, MICA_ERROR_INVALID}};
    mica_world *world = open_in(LEFT, &heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {7}));
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        mica_world *receiver = open_in(cases[i].space, &heard_right);
        mica_define(receiver, Number);
        mica_replica *replica = mica_replica_create(receiver, &(mica_replica_def){.mapped = cases[i].mapped});
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), cases[i].result);
        if (cases[i].result != MICA_OK)
            expect_report(&heard_right, MICA_ERROR_INVALID, "this world has another handle space");
        else
            ck_assert_uint_eq(mica_get(receiver, mica_replica_local(replica, entity), Number)->value, 7);
        mica_replica_destroy(replica);
        close_world(receiver, &heard_right);
    }
    mica_sender_destroy(sender);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(handle_space, an_entity_of_another_world_is_refused_and_the_report_says_so,
           systems_phases_observers_snapshots_and_streams_of_another_world_are_refused,
           a_query_and_an_index_of_another_world_are_refused, a_slot_keeps_its_space_and_is_retired_after_65535_uses,
           every_way_of_creating_keeps_the_space, a_clone_has_the_handles_of_the_original_and_continues_like_it,
           a_state_has_the_space_and_gives_it_to_the_world_that_continues,
           a_replica_has_the_space_of_its_sender_or_none_or_is_mapped)
