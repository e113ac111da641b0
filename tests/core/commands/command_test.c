/* Recorded changes: valid handles and staged values at once, everything applied at the flush, in order. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>

static reports heard;

START_TEST(changes_wait_for_the_flush)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Frozen)),
                doomed = mica_create(world);
    mica_defer(world);
    ck_assert_msg(mica_set(world, entity, Position, {9, 9, 9}), "a set is recorded");
    ck_assert_msg(mica_set(world, entity, Velocity, {4, 5, 6}), "so is one that adds");
    ck_assert_msg(mica_remove(world, entity, Frozen), "and a removal");
    ck_assert_msg(mica_destroy(world, doomed), "and a destruction");
    ck_assert_msg(mica_get(world, entity, Position)->x == 1, "but the value is as it was");
    ck_assert_msg(!mica_has(world, entity, Velocity), "nothing is added");
    ck_assert_msg(mica_has(world, entity, Frozen), "nothing is removed");
    ck_assert_msg(mica_is_alive(world, doomed), "it is still alive");
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    ck_assert_msg(mica_get(world, entity, Position)->x == 9, "the value is set");
    ck_assert_msg(mica_get(world, entity, Velocity)->y == 5, "the other is added");
    ck_assert_msg(!mica_has(world, entity, Frozen), "the tag is removed");
    ck_assert_msg(!mica_is_alive(world, doomed), "the doomed is dead");
    mica_set(world, entity, Mass, {1});
    ck_assert_msg(mica_has(world, entity, Mass), "recording has ended");
    close_world(world, &heard);
}
END_TEST

START_TEST(created_handles_are_valid_at_once)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity entity = mica_command_create(commands, MICA_WITH(Position, {1, 2, 3}));
    mica_entity plain = mica_command_create(commands);
    ck_assert_msg(!mica_is_nil(entity) && !mica_is_nil(plain) && !mica_same(entity, plain), "two handles");
    ck_assert_msg(mica_is_alive(world, entity) && mica_is_alive(world, plain), "a recorded creation is alive");
    ck_assert_msg(mica_command_set(commands, entity, Mass, {5}), "it can be changed");
    mica_entity friend_of = mica_command_create(commands, MICA_WITH(Monster, {.target = entity}));
    ck_assert_msg(mica_get(world, entity, Position) == NULL, "it has no components before the flush");
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush makes it");
    ck_assert_msg(mica_get(world, entity, Position)->z == 3 && mica_get(world, entity, Mass)->value == 5,
                  "with all its values");
    ck_assert_msg(mica_is_alive(world, plain) && mica_get_components(world, plain, NULL, 0) == 0,
                  "the plain one is plain");
    ck_assert_msg(mica_same(mica_get(world, friend_of, Monster)->target, entity), "the handle was good to store");
    close_world(world, &heard);
}
END_TEST

START_TEST(add_returns_the_staged_value)
{
    mica_world *world = open_world(&heard);
    mica_entity without = mica_create(world), with = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_commands *commands = mica_commands_create(world);
    Position *fresh = mica_command_add(commands, without, Position);
    Position *copy = mica_command_add(commands, with, Position);
    ck_assert_msg(fresh && fresh->x == 0 && fresh->z == 0, "a new one starts from its default");
    ck_assert_msg(copy && copy->x == 1 && copy->z == 3, "one that is there as a copy");
    fresh->x = 7;
    copy->x = 8;
    ck_assert_msg(mica_get(world, with, Position)->x == 1, "the staged value is not the value");
    mica_flush(world);
    ck_assert_msg(mica_get(world, without, Position)->x == 7, "what was filled in is there");
    ck_assert_msg(mica_get(world, with, Position)->x == 8 && mica_get(world, with, Position)->z == 3, "here too");
    close_world(world, &heard);
}
END_TEST

START_TEST(adding_twice_returns_the_first_staged_value)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_defer(world);
    mica_add(world, entity, Position)->x = 1;
    mica_add(world, entity, Position)->y = 2;
    mica_set(world, entity, Mass, {5});
    ck_assert_msg(mica_add(world, entity, Mass)->value == 5, "what was set before is what is staged");
    mica_flush(world);
    ck_assert_msg(mica_get(world, entity, Position)->x == 1 && mica_get(world, entity, Position)->y == 2,
                  "both writes count");
    close_world(world, &heard);
}
END_TEST

START_TEST(pointers_to_staged_values_stay_valid_with_any_number_of_additions)
{
    enum { MANY = 10001 };
    static Number *staged[MANY];
    static mica_entity entities[MANY];
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        staged[i] = mica_command_add(commands, entities[i], Number);
        ck_assert_msg(staged[i] != NULL, "addition %u is recorded", i);
        staged[i]->value = i;
        ck_assert_msg(staged[0]->value == 0 && staged[i / 2]->value == i / 2, "addition %u spoilt an earlier one", i);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_msg(staged[i]->value == i, "staged value %u is wrong", i);
        staged[i]->value = i * 3 + 1;
    }
    ck_assert_msg(mica_flush(world) == MICA_OK, "all are applied");
    for (uint32_t i = 0; i < MANY; ++i)
        ck_assert_msg(mica_get(world, entities[i], Number)->value == i * 3 + 1, "a late write to number %u is lost", i);
    close_world(world, &heard);
}
END_TEST

START_TEST(staged_values_of_all_sizes_and_alignments_stay_where_they_are)
{
    enum { MANY = 500 };
    static Matrix *matrices[MANY];
    static Letter *letters[MANY];
    static mica_entity entities[MANY];
    mica_world *world = open_world(&heard);
    mica_defer(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Color, {1, 2, 3}));
        letters[i] = mica_add(world, entities[i], Letter);
        matrices[i] = mica_add(world, entities[i], Matrix);
        ck_assert_msg((uintptr_t)matrices[i] % 64 == 0, "a staged matrix is aligned");
        letters[i]->value = (char)(i % 100);
        matrices[i]->cells[15] = (float)i;
    }
    for (uint32_t i = 0; i < MANY; ++i)
        ck_assert_msg(letters[i]->value == (char)(i % 100) && matrices[i]->cells[15] == (float)i, "staged values %u",
                      i);
    mica_flush(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_msg(mica_get(world, entities[i], Letter)->value == (char)(i % 100), "letter %u", i);
        ck_assert_msg(mica_get(world, entities[i], Matrix)->cells[15] == (float)i, "matrix %u", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(recording_a_removal_twice_reports_false_the_second_time)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen));
    mica_commands *commands = mica_commands_create(world);
    ck_assert_msg(mica_command_remove(commands, entity, Position), "the first is true");
    ck_assert_msg(!mica_command_remove(commands, entity, Position), "the second is false");
    ck_assert_msg(!mica_command_remove(commands, entity, Mass), "what was never there is false");
    ck_assert_msg(mica_command_add(commands, entity, Mass) != NULL, "a recorded addition");
    ck_assert_msg(mica_command_remove(commands, entity, Mass), "can be removed again");
    ck_assert_msg(!mica_command_remove(commands, entity, Mass), "once");
    ck_assert_msg(mica_command_add(commands, entity, Position) != NULL, "a removed one can be added");
    ck_assert_msg(mica_command_remove(commands, entity, Position), "and removed");
    forget_reports(&heard);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    ck_assert_msg(!mica_has(world, entity, Position) && !mica_has(world, entity, Mass), "both are removed");
    ck_assert_msg(mica_has(world, entity, Frozen), "the rest is there");
    close_world(world, &heard);
}
END_TEST

START_TEST(recording_a_destruction_twice_reports_false_the_second_time)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position));
    mica_commands *commands = mica_commands_create(world);
    mica_entity staged = mica_command_create(commands, MICA_WITH(Position));
    ck_assert_msg(mica_command_destroy(commands, entity), "the first is true");
    ck_assert_msg(!mica_command_destroy(commands, entity), "the second is false");
    ck_assert_msg(mica_command_destroy(commands, staged), "a recorded creation can be destroyed");
    ck_assert_msg(!mica_command_destroy(commands, staged), "once");
    ck_assert_msg(mica_command_add(commands, entity, Mass) == NULL, "what this buffer destroys takes nothing more");
    ck_assert_msg(!mica_command_set(commands, entity, Mass, {1}), "no value");
    ck_assert_msg(!mica_command_remove(commands, entity, Position), "and loses nothing");
    forget_reports(&heard);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    ck_assert_msg(!mica_is_alive(world, entity) && !mica_is_alive(world, staged), "both are dead");
    mica_defer(world);
    mica_entity other = mica_create(world);
    ck_assert_msg(mica_destroy(world, other) && !mica_destroy(world, other), "the same through the world");
    forget_reports(&heard);
    mica_flush(world);
    close_world(world, &heard);
}
END_TEST

/* Each letter records one thing for the entity: a add, s set to 5, t set to 7, r remove, d disable, e enable. */
typedef struct contradiction {
    const char *script;
    bool had; /* the entity starts with Health {3, 0} */
    bool has, enabled;
    int32_t value;
} contradiction;

START_TEST(contradictory_commands_end_as_if_done_one_by_one)
{
    static const contradiction cases[] = {
        {"a", false, true, true, 0},     {"a", true, true, true, 3},      {"ar", false, false, false, 0},
        {"r", true, false, false, 0},    {"ra", true, true, true, 0},     {"rs", true, true, true, 5},
        {"st", false, true, true, 7},    {"srt", false, true, true, 7},   {"sr", true, false, false, 0},
        {"d", true, true, false, 3},     {"de", true, true, true, 3},     {"sd", false, true, false, 5},
        {"ds", true, true, false, 5},    {"dra", true, true, true, 0},    {"rad", true, true, false, 0},
        {"sdrst", true, true, true, 7},  {"srsrs", false, true, true, 5}, {"rararar", true, false, false, 0},
    };
    mica_world *world = open_world(&heard);
    mica_entity entities[COUNT_OF(cases)][2];
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        for (uint32_t deferred = 0; deferred < 2; ++deferred)
            entities[i][deferred] = cases[i].had ? mica_create(world, MICA_WITH(Health, {3, 0})) : mica_create(world);
    for (uint32_t deferred = 0; deferred < 2; ++deferred) {
        if (deferred)
            mica_defer(world);
        for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
            for (const char *letter = cases[i].script; *letter; ++letter)
                switch (*letter) {
                case 'a': mica_add(world, entities[i][deferred], Health); break;
                case 's': mica_set(world, entities[i][deferred], Health, {5, 0}); break;
                case 't': mica_set(world, entities[i][deferred], Health, {7, 0}); break;
                case 'r': mica_remove(world, entities[i][deferred], Health); break;
                case 'd': mica_disable(world, entities[i][deferred], Health); break;
                case 'e': mica_enable(world, entities[i][deferred], Health); break;
                default: break;
                }
        if (deferred)
            ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
        for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
            const Health *health = mica_get(world, entities[i][deferred], Health);
            ck_assert_msg((health != NULL) == cases[i].has, "'%s' (recorded: %u): there", cases[i].script, deferred);
            ck_assert_msg(mica_is_enabled(world, entities[i][deferred], Health) == cases[i].enabled,
                          "'%s' (recorded: %u): on", cases[i].script, deferred);
            ck_assert_msg(!health || health->current == cases[i].value, "'%s' (recorded: %u): value %d",
                          cases[i].script, deferred, health ? (int)health->current : 0);
        }
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(all_changes_to_one_entity_become_one_move)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    mica_defer(world);
    mica_set(world, entity, Position, {1, 2, 3});
    mica_set(world, entity, Velocity, {4, 5, 6});
    mica_add(world, entity, Frozen);
    mica_remove(world, entity, Number);
    mica_set(world, entity, Mass, {7});
    mica_flush(world);
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes + 1, "no archetype on the way was made");
    ck_assert_msg(mica_get(world, entity, Velocity)->x == 4 && mica_get(world, entity, Mass)->value == 7,
                  "the values are there");
    ck_assert_msg(mica_get_components(world, entity, NULL, 0) == 4, "and the set is right");
    close_world(world, &heard);
}
END_TEST

START_TEST(buffers_are_applied_in_the_order_they_were_made)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {0}));
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    mica_command_set(second, entity, Number, {2});
    mica_command_set(first, entity, Number, {1});
    mica_defer(world);
    mica_set(world, entity, Number, {9});
    mica_flush(world);
    ck_assert_msg(mica_get(world, entity, Number)->value == 2, "the buffer made last has the last word: %u",
                  mica_get(world, entity, Number)->value);
    mica_defer(world);
    mica_command_set(first, entity, Number, {1});
    mica_set(world, entity, Number, {9});
    mica_flush(world);
    ck_assert_msg(mica_get(world, entity, Number)->value == 1, "the world's own buffer comes first");
    close_world(world, &heard);
}
END_TEST

/* Records the same things into two buffers, in turns or one after the other, and returns the handles. */
static uint64_t record_two_buffers(mica_world *world, bool in_turns, mica_entity handles[2][200])
{
    mica_entity old[50];
    for (uint32_t i = 0; i < 50; ++i)
        old[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < 50; i += 3)
        mica_destroy(world, old[i]);
    mica_commands *buffers[2] = {mica_commands_create(world), mica_commands_create(world)};
    for (uint32_t step = 0; step < 400; ++step) {
        uint32_t side = in_turns ? step % 2 : step / 200, i = in_turns ? step / 2 : step % 200;
        handles[side][i] = mica_command_create(buffers[side], MICA_WITH(Number, {side * 1000 + i}));
        if (i % 4 == 0)
            mica_command_set(buffers[side], handles[side][i], Mass, {1});
        if (i % 7 == 0)
            mica_command_destroy(buffers[side], handles[side][i / 2]);
        if (i < 50 && i % 3 != 0)
            mica_command_set(buffers[side], old[i], Number, {side});
    }
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    expect_valid(world);
    return mica_world_hash(world);
}

START_TEST(the_result_does_not_depend_on_threads_and_timing)
{
    static mica_entity turns[2][200], blocks[2][200];
    mica_world *world = open_world(&heard);
    uint64_t in_turns = record_two_buffers(world, true, turns);
    forget_reports(&heard);
    close_world(world, &heard);
    world = open_world(&heard);
    uint64_t in_blocks = record_two_buffers(world, false, blocks);
    forget_reports(&heard);
    close_world(world, &heard);
    ck_assert_msg(memcmp(turns, blocks, sizeof turns) == 0, "the handles are the same");
    ck_assert_msg(in_turns == in_blocks, "and so is the world");
}
END_TEST

START_TEST(recording_nests)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_defer(world);
    mica_defer(world);
    mica_add(world, entity, Frozen);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the inner flush");
    ck_assert_msg(!mica_has(world, entity, Frozen), "applies nothing");
    mica_add(world, entity, Enemy);
    ck_assert_msg(!mica_has(world, entity, Enemy), "the world still records");
    ck_assert_msg(mica_flush(world) == MICA_OK, "the outer flush");
    ck_assert_msg(mica_has(world, entity, Frozen) && mica_has(world, entity, Enemy), "applies all");
    ck_assert_msg(mica_flush(world) == MICA_OK, "a flush without recording is fine");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_may_record_what_it_must_not_do)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 500; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint32_t rows = 0;
    mica_defer(world);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++rows) {
            uint32_t number = mica_view_read(&view, Number)[i].value;
            if (number % 2)
                mica_destroy(world, view.entities[i]);
            else if (number % 4)
                mica_set(world, view.entities[i], Mass, {1});
            else
                mica_create(world, MICA_WITH(Number, {number + 1000}));
        }
    ck_assert_msg(rows == 500, "the loop was not disturbed: %u", rows);
    ck_assert_msg(mica_flush(world) == MICA_OK, "all is applied");
    ck_assert_msg(mica_query_count(query) == 375, "250 stayed, 125 came: %u", (unsigned)mica_query_count(query));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_dropped_buffer_drops_what_it_recorded)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_commands *commands = mica_commands_create(world);
    mica_entity never = mica_command_create(commands, MICA_WITH(Text));
    mica_command_set(commands, entity, Number, {2});
    mica_command_add(commands, entity, Text);
    mica_command_destroy(commands, entity);
    mica_commands_destroy(commands);
    mica_commands_destroy(NULL);
    ck_assert_msg(mica_flush(world) == MICA_OK, "there is nothing to apply");
    ck_assert_msg(!mica_is_alive(world, never), "what would have been created is dead");
    ck_assert_msg(mica_get(world, entity, Number)->value == 1, "nothing was changed");
    ck_assert_msg(texts_alive == 0, "staged values are dropped: %d", texts_alive);
    mica_entity next = mica_create(world);
    ck_assert_msg(!mica_same(next, never), "a handle that was handed out is not handed out again");
    mica_destroy(world, next);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_world_may_go_with_changes_still_recorded)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_command_create(commands, MICA_WITH(Text), MICA_WITH(Position));
    mica_defer(world);
    mica_add(world, mica_create(world, MICA_WITH(Number)), Text);
    mica_world_destroy(world);
    ck_assert_msg(texts_alive == 0, "staged values are dropped: %d", texts_alive);
    expect_no_report(&heard);
}
END_TEST

START_TEST(owned_values_are_staged_and_applied_once)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("staged");
    const mica_value value = {MICA_ID(Text), sizeof text, &text};
    mica_entity with = mica_create(world, MICA_WITH(Text)), without = mica_create(world);
    mica_defer(world);
    mica_set_id(world, with, value);
    mica_set_id(world, without, value);
    mica_set_id(world, without, value);
    mica_entity fresh = mica_create_id(world, &value, 1);
    mica_entity short_lived = mica_create_id(world, &value, 1);
    mica_destroy(world, short_lived);
    mica_entity stripped = mica_create_id(world, &value, 1);
    mica_remove(world, stripped, Text);
    mica_add(world, mica_clone(world, with), Mass);
    text_drop(&text);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    const mica_entity all[] = {with, without, fresh};
    for (uint32_t i = 0; i < COUNT_OF(all); ++i)
        ck_assert_str_eq(mica_get(world, all[i], Text)->characters, "staged");
    ck_assert_msg(texts_alive == 4, "three and the clone own one each: %d", texts_alive);
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "and all are dropped: %d", texts_alive);
}
END_TEST

START_TEST(a_clone_can_be_recorded)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Frozen));
    mica_defer(world);
    mica_entity twin = mica_clone(world, entity);
    ck_assert_msg(!mica_is_nil(twin) && mica_is_alive(world, twin), "its handle is valid at once");
    mica_flush(world);
    ck_assert_msg(mica_get(world, twin, Number)->value == 5 && mica_has(world, twin, Frozen),
                  "and it is made at the flush");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_buffer_can_be_used_for_many_flushes)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {0}));
    size_t memory = 0;
    for (uint32_t frame = 0; frame < 200; ++frame) {
        for (uint32_t i = 0; i < 50; ++i)
            mica_command_add(commands, entity, Number)->value += 1;
        mica_entity brief = mica_command_create(commands, MICA_WITH(Matrix), MICA_WITH(Text));
        ck_assert_msg(mica_flush(world) == MICA_OK, "frame %u", frame);
        ck_assert_msg(mica_get(world, entity, Number)->value == (frame + 1) * 50, "frame %u adds 50", frame);
        mica_command_destroy(commands, brief);
        if (frame == 20)
            memory = mica_world_get_stats(world).memory_bytes;
    }
    ck_assert_msg(mica_world_get_stats(world).memory_bytes <= memory, "memory stays flat");
    mica_flush(world);
    close_world(world, &heard);
}
END_TEST

typedef struct Wide { _Alignas(16) float values[4]; } Wide;
MICA_COMPONENT(Wide, values)

/* Changes of both alignments alternate, and add returns where a value is staged. */
START_TEST(staged_values_are_aligned_as_their_type_wants)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity entities[40];
    for (uint32_t i = 0; i < 40; ++i)
        entities[i] = mica_create(world);
    for (uint32_t i = 0; i < 40; ++i) {
        mica_command_set(commands, entities[i], Number, {(int)i});
        Wide *wide = mica_command_add(commands, entities[i], Wide);
        ck_assert(wide && (uintptr_t)wide % 16 == 0);
        wide->values[3] = (float)i;
    }
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < 40; ++i)
        ck_assert(mica_get(world, entities[i], Number)->value == i &&
                  mica_get(world, entities[i], Wide)->values[3] == i);
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

/* Entities whose indices are in no order, so that most changes are to entities between others that were changed. */
enum { MIXED_UP = 600 };

static void mix_up(mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t other = (uint32_t)((i * 7919ull + 13) % count);
        mica_entity entity = entities[i];
        entities[i] = entities[other];
        entities[other] = entity;
    }
}

/* By its number: set, added, removed, destroyed, or several of these. */
static void record_in_any_order(mica_world *world, mica_entity entity, uint32_t i)
{
    switch (i % 6) {
    case 0: ck_assert(mica_set(world, entity, Position, {(float)i, 0, 0})); break;
    case 1: mica_add(world, entity, Velocity)->x = (float)i; break;
    case 2: ck_assert(mica_remove(world, entity, Frozen)); break;
    case 3: ck_assert(mica_destroy(world, entity)); break;
    case 4: ck_assert(mica_set(world, entity, Mass, {(float)i}) && mica_remove(world, entity, Position)); break;
    default: ck_assert(mica_add(world, entity, Enemy) != NULL && mica_add(world, entity, Velocity) != NULL); break;
    }
}

static bool is_as_recorded(const mica_world *world, mica_entity entity, uint32_t i)
{
    switch (i % 6) {
    case 0: return mica_get(world, entity, Position)->x == (float)i && mica_has(world, entity, Frozen);
    case 1: return mica_get(world, entity, Velocity)->x == (float)i && mica_has(world, entity, Frozen);
    case 2: return !mica_has(world, entity, Frozen) && mica_has(world, entity, Position);
    case 3: return !mica_is_alive(world, entity);
    case 4: return mica_get(world, entity, Mass)->value == (float)i && !mica_has(world, entity, Position);
    default: return mica_has(world, entity, Enemy) && mica_get(world, entity, Velocity)->x == 0;
    }
}

START_TEST(changes_recorded_in_any_order_of_entities_are_applied)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[MIXED_UP];
    for (uint32_t i = 0; i < MIXED_UP; ++i)
        entities[i] = mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen));
    mix_up(entities, MIXED_UP);
    mica_defer(world);
    for (uint32_t i = 0; i < MIXED_UP; ++i)
        record_in_any_order(world, entities[i], i);
    for (uint32_t i = 2; i < MIXED_UP; i += 6)
        ck_assert_msg(!mica_remove(world, entities[i], Frozen), "a removal that is recorded is known");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < MIXED_UP; ++i)
        ck_assert_msg(is_as_recorded(world, entities[i], i), "entity %u", i);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(command, staged_values_are_aligned_as_their_type_wants, changes_wait_for_the_flush,
           created_handles_are_valid_at_once, add_returns_the_staged_value, adding_twice_returns_the_first_staged_value,
           pointers_to_staged_values_stay_valid_with_any_number_of_additions,
           staged_values_of_all_sizes_and_alignments_stay_where_they_are,
           recording_a_removal_twice_reports_false_the_second_time,
           recording_a_destruction_twice_reports_false_the_second_time,
           contradictory_commands_end_as_if_done_one_by_one, all_changes_to_one_entity_become_one_move,
           buffers_are_applied_in_the_order_they_were_made, the_result_does_not_depend_on_threads_and_timing,
           recording_nests, a_loop_may_record_what_it_must_not_do, a_dropped_buffer_drops_what_it_recorded,
           a_world_may_go_with_changes_still_recorded, owned_values_are_staged_and_applied_once,
           a_clone_can_be_recorded, a_buffer_can_be_used_for_many_flushes,
           changes_recorded_in_any_order_of_entities_are_applied)
