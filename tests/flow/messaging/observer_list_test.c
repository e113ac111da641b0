/* Observers of several events and several components. */
#include "flow/diary.h"
#include "flow/faults.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))

START_TEST(one_observer_is_told_each_event_of_each_component)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    const mica_event_kind events[] = {MICA_EVENT_ADD, MICA_EVENT_REMOVE, MICA_EVENT_DESTROY, ALARM, MICA_EVENT_ADD};
    const mica_component components[] = {MICA_ID(Heat), MICA_ID(Buff), MICA_ID(Torch), MICA_ID(Heat)};
    mica_observer added = mica_observer_add(world, &(mica_observer_def){.events = events,
                                                                        .event_count = COUNT(events),
                                                                        .components = components,
                                                                        .component_count = COUNT(components),
                                                                        .fn = note,
                                                                        .context = &diary});
    ck_assert_uint_ne(added.id, 0);
    mica_entity one = diary.base = mica_create(world, MICA_WITH(Weight, {1}));
    mica_set(world, one, Heat, {1});
    expect_diary(&diary, "+Heat0");
    mica_set(world, one, Buff, {1});
    mica_add(world, one, Torch);
    mica_remove(world, one, Heat);
    expect_diary(&diary, "+Buff0 +Torch0 -Heat0");
    mica_value nothing = {0};
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Heat), one, nothing));
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Weight), one, nothing)); /* not one of them */
    ck_assert(mica_event_emit(world, QUIET, MICA_ID(Heat), one, nothing));
    expect_diary(&diary, "!Heat0");
    mica_destroy(world, one);
    expect_diary(&diary, "x0 -Torch0 -Buff0");
    ck_assert(mica_observer_remove(world, added));
    mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Torch));
    expect_diary(&diary, "");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_list_of_events_takes_one_component_and_a_list_of_components_one_event)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    const mica_event_kind events[] = {MICA_EVENT_DISABLE, MICA_EVENT_ENABLE};
    mica_observer_add(
        world, &(mica_observer_def){
                   .events = events, .event_count = 2, .component = MICA_ID(Lamp), .fn = note, .context = &diary});
    const mica_component components[] = {MICA_ID(Heat), MICA_ID(Weight)};
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_SET, Lamp, note, MICA_HAS(Torch));
    def.components = components;
    def.component_count = 2;
    def.context = &diary;
    mica_observer_add(world, &def);
    const mica_event_kind alarms[] = {ALARM, QUIET};
    mica_observer_add(world, &(mica_observer_def){.events = alarms, .event_count = 2, .fn = note, .context = &diary});
    mica_entity plain = diary.base = mica_create(world, MICA_WITH(Lamp, {1}), MICA_WITH(Heat, {1}));
    mica_entity torch = mica_create(world, MICA_WITH(Torch), MICA_WITH(Lamp, {1}), MICA_WITH(Weight, {1}));
    mica_set(world, torch, Heat, {1});
    expect_diary(&diary, "=Weight1 =Heat1");
    mica_disable(world, plain, Lamp);
    mica_enable(world, plain, Lamp);
    expect_diary(&diary, "off Lamp0 on Lamp0");
    mica_event_emit(world, QUIET, MICA_ID(Lamp), torch, (mica_value){0});
    mica_event_emit(world, ALARM, 0, plain, (mica_value){0});
    expect_diary(&diary, "!Lamp1 !0");
    close_world(world, &heard);
}
END_TEST

START_TEST(mistakes_in_lists_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static const mica_event_kind deaths[] = {MICA_EVENT_DESTROY, MICA_EVENT_DESTROY}, unknown[] = {ALARM, 7},
                                 changes[] = {MICA_EVENT_DESTROY, MICA_EVENT_ADD}, toggles[] = {MICA_EVENT_ENABLE};
    const mica_component heat[] = {MICA_ID(Lamp), MICA_ID(Heat)}, none[] = {MICA_ID(Heat), 0};
    const struct {
        mica_observer_def def;
        mica_result result;
        const char *text;
    } mistakes[] = {
        {{.event_count = 1}, MICA_ERROR_INVALID, "lists that are not NULL"},
        {{.component_count = 1}, MICA_ERROR_INVALID, "lists that are not NULL"},
        {{.events = unknown, .event_count = 2}, MICA_ERROR_INVALID, "an event are required"},
        {{.events = deaths, .event_count = 2, .components = heat, .component_count = 2},
         MICA_ERROR_INVALID,
         "DESTROY must have no component"},
        {{.events = changes, .event_count = 2}, MICA_ERROR_INVALID, "the other events must have one"},
        {{.events = toggles, .event_count = 1, .components = heat, .component_count = 2},
         MICA_ERROR_INVALID,
         "Heat can't be enabled"},
        {{.components = none, .component_count = 2}, MICA_ERROR_UNKNOWN, "no component with id 0"},
    };
    for (uint32_t i = 0; i < COUNT(mistakes); ++i) {
        mica_observer_def def = mistakes[i].def;
        def.fn = note;
        ck_assert_uint_eq(mica_observer_add(world, &def).id, 0);
        expect_report(&heard, mistakes[i].result, mistakes[i].text);
    }
    close_world(world, &heard);
}
END_TEST

static void observe_with_lists(faults *faults)
{
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    const mica_event_kind events[] = {MICA_EVENT_ADD, MICA_EVENT_REMOVE};
    const mica_component components[] = {MICA_ID(Heat), MICA_ID(Buff)};
    mica_observer_def def = {.events = events, .event_count = 2, .components = components, .component_count = 2};
    def.fn = note;
    def.context = &diary;
    faults_begin(faults);
    mica_observer added = mica_observer_add(faults->world, &def);
    bool failed = faults_end(faults);
    ck_assert_int_eq(added.id == 0, failed);
    mica_entity one = diary.base = mica_create(faults->world);
    mica_set(faults->world, one, Heat, {1});
    mica_set(faults->world, one, Buff, {1});
    mica_remove(faults->world, one, Buff);
    expect_diary(&diary, failed ? "" : "+Heat0 +Buff0 -Buff0");
}

START_TEST(running_out_of_memory_leaves_no_observer_of_some_events)
{
    ck_assert_uint_ge(fail_everywhere(observe_with_lists), 3);
}
END_TEST

TEST_SUITE(observer_list, one_observer_is_told_each_event_of_each_component,
           a_list_of_events_takes_one_component_and_a_list_of_components_one_event, mistakes_in_lists_are_reported,
           running_out_of_memory_leaves_no_observer_of_some_events)
