/* Recorded changes whose entity died before the flush: warn, ignore or refuse, with the label of the buffer and the location. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>

static reports heard;

/* Two buffers destroy and then change the same entity; the second can't know. */
static mica_result flush_with_a_dead_target(mica_world *world, mica_entity victim, mica_entity bystander, int *out_line)
{
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    mica_commands_set_label(second, "gravity");
    mica_command_destroy(first, victim);
    *out_line = __LINE__ + 1;
    ck_assert_msg(mica_command_set(second, victim, Mass, {1}), "the second buffer can't know");
    mica_command_set(second, bystander, Mass, {2});
    return mica_flush(world);
}

START_TEST(changes_to_destroyed_entities_are_reported_with_their_origin)
{
    mica_world *world = open_world(&heard);
    mica_entity victim = mica_create(world), bystander = mica_create(world);
    int line;
    ck_assert_msg(flush_with_a_dead_target(world, victim, bystander, &line) == MICA_OK, "a warning stops nothing");
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "gravity");
    ck_assert_msg(strstr(report->file, "dead_target_test.c") && report->line == line,
                  "the place that recorded it: %s:%d", report->file, report->line);
    ck_assert_msg(!mica_is_alive(world, victim) && mica_has(world, bystander, Mass), "the rest is applied");
    close_world(world, &heard);
}
END_TEST

START_TEST(changes_to_the_dead_can_be_ignored)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    mica_world *world = open_world_with(&heard, def);
    mica_entity victim = mica_create(world), bystander = mica_create(world);
    int line;
    ck_assert_msg(flush_with_a_dead_target(world, victim, bystander, &line) == MICA_OK, "it is fine");
    ck_assert_msg(!mica_is_alive(world, victim) && mica_has(world, bystander, Mass), "the rest is applied");
    close_world(world, &heard);
}
END_TEST

START_TEST(destroying_twice_in_one_recording_is_reported_unless_ignored)
{
    for (int policy = MICA_DEAD_TARGET_WARN; policy <= MICA_DEAD_TARGET_ERROR; ++policy) {
        mica_world_def def = mica_world_def_default();
        def.dead_target = (mica_dead_target)policy;
        mica_world *world = open_world_with(&heard, def);
        mica_entity victim = mica_create(world), stale = mica_create(world);
        mica_destroy(world, stale);
        mica_defer(world);
        ck_assert(mica_destroy(world, victim));
        ck_assert_msg(!mica_destroy(world, victim) && !mica_add(world, victim, Mass), "nothing more is recorded");
        for (int i = 0; i < 2 && policy != MICA_DEAD_TARGET_IGNORE; ++i)
            expect_report(&heard, MICA_ERROR_DEAD, "destroyed by an earlier recorded change");
        ck_assert_msg(!mica_destroy(world, stale), "a stale handle is a mistake under every policy");
        expect_report(&heard, MICA_ERROR_DEAD, "not alive");
        ck_assert_msg(mica_flush(world) == MICA_OK && !mica_is_alive(world, victim), "the first one is applied");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(changes_to_the_dead_can_refuse_the_whole_flush)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_ERROR;
    mica_world *world = open_world_with(&heard, def);
    mica_entity victim = mica_create(world, MICA_WITH(Number, {1})), bystander = mica_create(world);
    int line;
    ck_assert_msg(flush_with_a_dead_target(world, victim, bystander, &line) == MICA_ERROR_DEAD, "the flush is refused");
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "gravity");
    ck_assert_msg(report->line == line, "with the place that recorded it");
    ck_assert_msg(mica_is_alive(world, victim) && !mica_has(world, bystander, Mass), "nothing is applied");
    ck_assert_msg(mica_flush(world) == MICA_OK, "the changes are dropped");
    ck_assert_msg(mica_is_alive(world, victim) && !mica_has(world, bystander, Mass), "and do not come back");
    close_world(world, &heard);
}
END_TEST

START_TEST(commands_on_the_dead_are_refused_with_their_place)
{
    mica_world *world = open_world(&heard);
    mica_entity dead = mica_create(world);
    mica_destroy(world, dead);
    mica_commands *commands = mica_commands_create(world);
    int line = __LINE__ + 1;
    ck_assert_msg(mica_command_add(commands, dead, Mass) == NULL, "nothing is recorded");
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "");
    ck_assert_msg(report->line == line, "the report points to line %d, not %d", line, report->line);
    ck_assert_msg(mica_flush(world) == MICA_OK, "and nothing is applied");
    close_world(world, &heard);
}
END_TEST

static void touch_dying(const mica_event *event)
{
    mica_set(event->world, event->entities[0], Mass, {9});
}

START_TEST(a_dead_target_of_a_hook_drops_nothing_of_other_buffers)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_ERROR;
    mica_world *world = open_world_with(&heard, def);
    mica_entity dying = mica_create(world, MICA_WITH(Number, {1}));
    mica_commands *commands = mica_commands_create(world);
    mica_entity made = mica_command_create(commands, MICA_WITH(Number, {3}));
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, touch_dying, NULL);
    ck_assert_msg(mica_destroy(world, dying) && !mica_is_alive(world, dying), "the destruction itself goes through");
    forget_reports(&heard);
    ck_assert_msg(mica_is_alive(world, made), "pending entities stay pending");
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, NULL, NULL);
    ck_assert_msg(mica_flush(world) == MICA_OK, "and is applied by it");
    ck_assert_msg(mica_has(world, made, Number) && mica_get(world, made, Number)->value == 3, "with its value");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(dead_target, changes_to_destroyed_entities_are_reported_with_their_origin,
           changes_to_the_dead_can_be_ignored, destroying_twice_in_one_recording_is_reported_unless_ignored,
           changes_to_the_dead_can_refuse_the_whole_flush, commands_on_the_dead_are_refused_with_their_place,
           a_dead_target_of_a_hook_drops_nothing_of_other_buffers)
