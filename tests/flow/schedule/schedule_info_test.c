/* The lists of phases, systems, accesses and dependencies that inspectors read. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

static void once(const mica_frame *frame)
{
    (void)frame;
}

static void rows(mica_view *view)
{
    (void)view;
}

static void on_message(const mica_message *message)
{
    (void)message;
}

static mica_system add_once(mica_world *world, const char *name, mica_system_def def)
{
    def.name = name;
    def.once = once;
    return mica_system_add(world, &def);
}

/* The names in the order of the list, each with a blank after it. */
static void list_names(mica_world *world, char *out, size_t capacity)
{
    *out = '\0';
    for (mica_system system = {0}; (system = mica_system_next(world, system)).id;) {
        mica_system_info info;
        ck_assert(mica_system_get_info(world, system, &info));
        size_t length = strlen(out);
        snprintf(out + length, capacity - length, "%s%s ", info.name, info.enabled ? "" : "(off)");
    }
}

START_TEST(systems_are_listed_in_the_order_they_run)
{
    reports heard;
    mica_world *world = open_world(&heard);
    char names[128];
    list_names(world, names, sizeof names);
    ck_assert_str_eq(names, "");
    add_once(world, "draw", (mica_system_def){.phase = MICA_PHASE_END});
    add_once(world, "late", (mica_system_def){.after = {"early"}, .disabled = true});
    mica_system early = add_once(world, "early", (mica_system_def){0});
    add_once(world, "input", (mica_system_def){.phase = MICA_PHASE_BEGIN});
    list_names(world, names, sizeof names);
    ck_assert_str_eq(names, "input early late(off) draw ");
    ck_assert(mica_system_remove(world, early));
    ck_assert_uint_eq(mica_system_next(world, early).id, 0);
    mica_system_info info;
    ck_assert(!mica_system_get_info(world, early, &info));
    heard.count = 0; /* "late" names a system that does not exist */
    close_world(world, &heard);
}
END_TEST

START_TEST(phases_are_listed_in_the_order_they_run)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_phase late = mica_phase_add(world, MICA_PHASE_AFTER("late", MICA_PHASE_UPDATE));
    add_once(world, "one", (mica_system_def){.phase = late});
    mica_phase_enable(world, late, false);
    char names[128] = "";
    mica_phase_info info;
    for (mica_phase phase = MICA_PHASE_NONE; (phase = mica_phase_next(world, phase)) != MICA_PHASE_NONE;) {
        ck_assert(mica_phase_get_info(world, phase, &info));
        strcat(strcat(names, info.name), " ");
    }
    ck_assert_str_eq(names, "start begin fixed update late end (messages) ");
    ck_assert(mica_phase_get_info(world, late, &info));
    ck_assert(!info.enabled && info.system_count == 1 && info.fixed_seconds == 0 && info.run_count == 0);
    ck_assert(mica_phase_get_info(world, MICA_PHASE_FIXED, &info) && info.fixed_seconds > 0);
    ck_assert_uint_eq(mica_phase_next(world, 1000), MICA_PHASE_NONE);
    ck_assert(!mica_phase_get_info(world, 1000, &info));
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_are_not_listed_while_memory_is_short)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    reports heard;
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_system system = add_once(world, "one", (mica_system_def){0});
    mica_phase_info info;
    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert(!mica_phase_get_info(world, MICA_PHASE_UPDATE, &info));
    expect_report(&heard, MICA_ERROR_MEMORY, "graph of systems");
    ck_assert_uint_eq(mica_system_next(world, (mica_system){0}).id, 0);
    expect_report(&heard, MICA_ERROR_MEMORY, "graph of systems");
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert(mica_phase_get_info(world, MICA_PHASE_UPDATE, &info) && info.system_count == 1);
    ck_assert_uint_eq(mica_system_next(world, (mica_system){0}).id, system.id);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(the_accesses_of_a_system_are_its_terms_and_its_uses)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system system =
        mica_system_add(world, MICA_SYSTEM_WITH(rows, (MICA_USES(MICA_USE_STREAM_WRITE(stream), MICA_USE_READ(Mass))),
                                                MICA_WRITE(Position), MICA_READ(Velocity), MICA_WITHOUT(Age)));
    const mica_system_access expected[] = {{MICA_ID(Position), NULL, true, true},
                                           {MICA_ID(Velocity), NULL, false, true},
                                           {0, stream, true, false},
                                           {MICA_ID(Mass), NULL, false, false}};
    mica_system_access accesses[8];
    ck_assert_uint_eq(mica_system_get_accesses(world, system, accesses, 8), COUNT_OF(expected));
    for (uint32_t i = 0; i < COUNT_OF(expected); ++i)
        ck_assert_msg(accesses[i].component == expected[i].component && accesses[i].stream == expected[i].stream &&
                          accesses[i].write == expected[i].write && accesses[i].own_rows == expected[i].own_rows,
                      "access %u", i);
    accesses[1].component = 77;
    ck_assert_uint_eq(mica_system_get_accesses(world, system, accesses, 1), COUNT_OF(expected));
    ck_assert_uint_eq(accesses[1].component, 77);
    ck_assert_uint_eq(mica_system_get_accesses(world, (mica_system){99}, accesses, 8), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_dependencies_of_a_system_have_reasons)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system first = mica_system_add(
        world, MICA_SYSTEM_WITH(rows, (MICA_USES(MICA_USE_STREAM_WRITE(stream))), MICA_WRITE(Position)));
    mica_system second = add_once(world, "second", (mica_system_def){MICA_TERMS(MICA_READ(Position))});
    mica_system third =
        add_once(world, "third", (mica_system_def){MICA_USES(MICA_USE_STREAM_READ(stream)), .after = {"second"}});
    mica_system last = add_once(world, "last", (mica_system_def){.exclusive = true, .after = {"third"}});
    mica_system_dependency found[4];
    ck_assert_uint_eq(mica_system_get_dependencies(world, first, found, 4), 0);
    ck_assert_uint_eq(mica_system_get_dependencies(world, second, found, 4), 1);
    ck_assert(found[0].on.id == first.id && found[0].component == MICA_ID(Position) && !found[0].stream);
    ck_assert_uint_eq(mica_system_get_dependencies(world, third, found, 4), 2);
    ck_assert(found[0].on.id == second.id && !found[0].component && !found[0].stream);
    ck_assert(found[1].on.id == first.id && !found[1].component && found[1].stream == stream);
    found[1].on.id = 77;
    ck_assert_uint_eq(mica_system_get_dependencies(world, third, found, 1), 2);
    ck_assert_uint_eq(found[1].on.id, 77);
    ck_assert_uint_eq(mica_system_get_dependencies(world, last, NULL, 0), 0);
    ck_assert_uint_eq(mica_system_get_dependencies(world, (mica_system){99}, found, 4), 0);
    mica_system_info info;
    ck_assert(mica_system_get_info(world, first, &info));
    ck_assert(!info.exclusive && !info.one_thread && !info.has_handlers && info.location.line > 0);
    ck_assert(mica_system_get_info(world, last, &info) && info.exclusive && info.one_thread);
    close_world(world, &heard);
}
END_TEST

static mica_system added;
static uint32_t listed;

/* An exclusive system that adds one and removes itself. */
static void change_systems(const mica_frame *frame)
{
    added = add_once(frame->world, "added", (mica_system_def){0});
    mica_system_remove(frame->world, frame->system);
    for (mica_system system = {0}; (system = mica_system_next(frame->world, system)).id;)
        ++listed;
    mica_system_dependency dependency;
    ck_assert_uint_eq(mica_system_get_dependencies(frame->world, added, &dependency, 1), 0);
    ck_assert_uint_eq(mica_system_next(frame->world, added).id, 0);
}

START_TEST(during_a_frame_the_list_is_that_of_its_start_without_removed_systems)
{
    reports heard;
    mica_world *world = open_world(&heard);
    listed = 0;
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(change_systems, (.exclusive = true)));
    add_once(world, "other", (mica_system_def){0});
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(listed, 1);
    char names[128];
    list_names(world, names, sizeof names);
    ck_assert_str_eq(names, "other added ");
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_that_run_message_handlers_say_so)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Position, Number, on_message)), MICA_OK);
    mica_system system = mica_system_next(world, (mica_system){0});
    mica_system_info info;
    ck_assert(mica_system_get_info(world, system, &info) && info.has_handlers);
    ck_assert_uint_eq(mica_system_next(world, system).id, 0);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(schedule_info, systems_are_not_listed_while_memory_is_short, systems_are_listed_in_the_order_they_run,
           phases_are_listed_in_the_order_they_run, the_accesses_of_a_system_are_its_terms_and_its_uses,
           the_dependencies_of_a_system_have_reasons,
           during_a_frame_the_list_is_that_of_its_start_without_removed_systems,
           systems_that_run_message_handlers_say_so)
