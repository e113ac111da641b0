/* Observers of pools, and events of the program. */
#include "flow/diary.h"

#include "mica/hierarchy.h"

static void note_data(const mica_event *seen)
{
    char word[32];
    snprintf(word, sizeof word, "%.0f ", (double)((const Weight *)seen->data)->kilos);
    write_down(seen->context, word);
}

START_TEST(user_events_reach_their_observers)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity torch = diary.base = mica_create(world, MICA_WITH(Torch), MICA_WITH(Heat, {1}));
    mica_entity stone = mica_create(world);
    mica_observer_def def = {.event = ALARM, .fn = note, .context = &diary};
    mica_observer_add(world, &def);
    def.component = MICA_ID(Heat);
    mica_observer_add(world, &def);
    def = *MICA_OBSERVER(ALARM, Heat, note, MICA_HAS(Torch));
    def.context = &diary;
    mica_observer_add(world, &def);
    mica_value nothing = {0};
    ck_assert(mica_event_emit(world, ALARM, 0, torch, nothing));
    expect_diary(&diary, "!0");
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Heat), torch, nothing));
    expect_diary(&diary, "!Heat0 !Heat0 !Heat0");
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Heat), stone, nothing));
    expect_diary(&diary, "!Heat1 !Heat1");
    ck_assert(mica_event_emit(world, QUIET, MICA_ID(Heat), stone, nothing));
    expect_diary(&diary, "");
    mica_destroy(world, stone);
    ck_assert(!mica_event_emit(world, ALARM, 0, stone, nothing));
    expect_report(&heard, MICA_ERROR_DEAD, "event_emit");
    ck_assert(!mica_event_emit(world, MICA_EVENT_ADD, 0, torch, nothing));
    expect_report(&heard, MICA_ERROR_INVALID, "MICA_EVENT_USER");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_event_may_have_no_entity_and_be_of_a_tag)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity torch = diary.base = mica_create(world, MICA_WITH(Torch));
    mica_value number = {.size_bytes = 4, .data = &(float){7}};
    ck_assert(mica_event_emit(world, ALARM, 0, torch, number)); /* there are no observers */
    ck_assert(!mica_observer_remove(world, (mica_observer){1}));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = note_data, .context = &diary});
    ck_assert(mica_event_emit(world, ALARM, 0, mica_nil(), number));
    expect_diary(&diary, "7");
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Heat), mica_nil(), number));
    expect_diary(&diary, "7");
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Torch, note, MICA_HAS(Heat));
    def.context = &diary;
    mica_observer_add(world, &def);
    def.event = ALARM;
    mica_observer_add(world, &def);
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Torch), mica_nil(), number)); /* no entity passes a filter */
    expect_diary(&diary, "7");
    mica_create(world, MICA_WITH(Torch), MICA_WITH(Heat, {1}));
    mica_create(world, MICA_WITH(Torch));
    expect_diary(&diary, "+Torch1");
    ck_assert(mica_event_emit(world, ALARM, MICA_ID(Torch), torch, number));
    expect_diary(&diary, "7");
    close_world(world, &heard);
}
END_TEST

START_TEST(observers_leave_from_the_middle_and_from_the_end)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diaries[4] = {0};
    mica_observer ids[4];
    for (uint32_t i = 0; i < 4; ++i)
        ids[i] =
            mica_observer_add(world, &(mica_observer_def){.event = i == 1 ? (mica_event_kind)ALARM : MICA_EVENT_ADD,
                                                          .component = MICA_ID(Heat),
                                                          .fn = note,
                                                          .context = &diaries[i]});
    static const uint32_t leaving[] = {1, 3, 0, 2};
    bool there[4] = {true, true, true, true};
    for (uint32_t i = 0; i < 4; ++i) {
        ck_assert(mica_observer_remove(world, ids[leaving[i]]));
        ck_assert(!mica_observer_remove(world, ids[leaving[i]]));
        there[leaving[i]] = false;
        mica_entity hot = mica_create(world, MICA_WITH(Heat, {1}));
        mica_event_emit(world, ALARM, MICA_ID(Heat), hot, (mica_value){0});
        for (uint32_t j = 0; j < 4; ++j) {
            diaries[j].base = hot;
            ck_assert_int_eq(diaries[j].text[0] != '\0', there[j]);
            diaries[j].text[0] = '\0';
        }
    }
    close_world(world, &heard);
}
END_TEST

/* Its rows outlive their owners for a while. */
typedef struct Ember { float degrees; } Ember;
MICA_POOL_WITH(Ember, (.dying = MICA_DYING_LAZILY), degrees)

START_TEST(a_filter_asks_nothing_of_the_dead)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    observe(world, &diary, MICA_EVENT_REMOVE, MICA_ID(Ember));
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_REMOVE, Ember, note, MICA_HAS(Torch));
    def.context = &diary;
    mica_observer_add(world, &def);
    mica_entity torch = diary.base = mica_create(world, MICA_WITH(Torch), MICA_WITH(Ember, {1}));
    mica_entity living = mica_create(world, MICA_WITH(Torch), MICA_WITH(Ember, {2}));
    mica_remove(world, living, Ember);
    expect_diary(&diary, "-Ember1 -Ember1");
    mica_destroy(world, torch);
    mica_world_trim(world);
    expect_diary(&diary, "-Ember0");
    close_world(world, &heard);
}
END_TEST

START_TEST(components_in_pools_are_observed_like_others)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    for (mica_event_kind event = MICA_EVENT_ADD; event <= MICA_EVENT_DISABLE; ++event)
        if (event != MICA_EVENT_DESTROY)
            observe(world, &diary, event, MICA_ID(Buff));
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Buff, note, MICA_HAS(Torch));
    def.context = &diary;
    mica_observer_add(world, &def);
    mica_entity one = diary.base = mica_create(world), torch = mica_create(world, MICA_WITH(Torch));
    mica_set(world, one, Buff, {1});
    expect_diary(&diary, "+Buff0 =Buff0");
    mica_set(world, torch, Buff, {1});
    expect_diary(&diary, "+Buff1 +Buff1 =Buff1");
    mica_disable(world, one, Buff);
    mica_disable(world, one, Buff);
    expect_diary(&diary, "off Buff0");
    mica_defer(world);
    mica_set(world, one, Buff, {2});
    mica_enable(world, one, Buff);
    mica_set(world, torch, Buff, {3});
    mica_destroy(world, torch);
    mica_flush(world);
    expect_diary(&diary, "=Buff0 on Buff0 -Buff1");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_filter_may_name_pools)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Heat, note, MICA_HAS(Buff));
    def.context = &diary;
    mica_observer_add(world, &def);
    def = *MICA_OBSERVER(MICA_EVENT_REMOVE, Heat, note, MICA_WITHOUT(Buff), MICA_WITHOUT(Torch));
    def.context = &diary;
    mica_observer_add(world, &def);
    mica_entity entities[5];
    for (uint32_t i = 0; i < 5; ++i) {
        entities[i] = mica_create(world);
        if (i != 2)
            mica_set(world, entities[i], Buff, {1});
    }
    diary.base = entities[0];
    mica_disable(world, entities[4], Buff);
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_WITHOUT(Torch)));
    ck_assert_int_eq(mica_add_all(all, Heat, {1}), MICA_OK); /* one event with all rows */
    expect_diary(&diary, "+Heat0 +Heat1 +Heat3");
    mica_remove(world, entities[3], Buff);
    mica_add(world, entities[2], Torch);
    ck_assert_int_eq(mica_remove_all(all, Heat), MICA_OK);
    expect_diary(&diary, "-Heat3");
    close_world(world, &heard);
}
END_TEST

static void cry(mica_view *view)
{
    const Weight *weight = mica_view_read(view, Weight);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((uint32_t)weight[i].kilos % 1000 == 7)
            ck_assert(mica_event_emit(view->world, ALARM, 0, view->entities[i],
                                      (mica_value){.size_bytes = sizeof *weight, .data = &weight[i]}));
}

static void fall_silent(mica_view *view)
{
    const Weight *weight = mica_view_read(view, Weight);
    for (uint32_t i = 0; i < view->count; ++i)
        if (weight[i].kilos == 2007)
            mica_destroy(view->world, view->entities[i]);
}

START_TEST(events_emitted_inside_systems_come_after_the_flush_in_order)
{
    for (uint32_t workers = 1; workers <= 16; workers = workers * 2 + 1) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = workers;
        mica_flow_configure(world, &flow);
        diary diary = {0};
        mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = note_data, .context = &diary});
        for (int i = 0; i < 5000; ++i)
            mica_create(world, MICA_WITH(Weight, {(float)i}));
        mica_system_add(world, MICA_SYSTEM_WITH(cry, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Weight)));
        mica_system_add(world, MICA_SYSTEM(fall_silent, MICA_READ(Weight)));
        mica_step(world, 1);
        expect_diary(&diary, "7 1007 3007 4007"); /* one of them is dead by then */
        mica_step(world, 1);
        expect_diary(&diary, "7 1007 3007 4007");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(events_are_recorded_into_buffers_like_changes)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_commands *second = NULL, *first = mica_commands_create(world);
    second = mica_commands_create(world);
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = note_data, .context = &diary});
    mica_entity root = mica_create(world), leaf = mica_create(world), doomed = mica_create(world);
    mica_set_parent(world, leaf, root);
    for (int i = 0; i < 2; ++i) {
        Weight weights[] = {{1}, {2}, {3}, {4}, {5}};
#define WEIGHT(number) ((mica_value)MICA_FROM(Weight, &weights[number]))
        mica_entity fresh = mica_command_create(second, MICA_WITH(Heat, {1}));
        ck_assert(mica_command_emit(second, ALARM, 0, fresh, WEIGHT(3))); /* which the same buffer creates */
        ck_assert(mica_command_propagate(first, ALARM, 0, leaf, WEIGHT(0)));
        ck_assert(mica_command_emit(first, ALARM, 0, mica_nil(), WEIGHT(1)));
        ck_assert(mica_command_emit(second, ALARM, 0, doomed, WEIGHT(4)));
        weights[0].kilos = 77; /* the data is copied */
        mica_command_destroy(first, doomed);
        expect_diary(&diary, "");
        mica_flush(world);
        expect_diary(&diary, "1 1 2 4"); /* of the first buffer first; what died in it is left out */
        expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
        doomed = mica_create(world);
    }
    ck_assert(!mica_command_emit(first, MICA_EVENT_ADD, 0, leaf, (mica_value){0}));
    expect_report(&heard, MICA_ERROR_INVALID, "MICA_EVENT_USER");
    mica_destroy(world, doomed);
    ck_assert(!mica_command_propagate(first, ALARM, 0, doomed, (mica_value){0}));
    expect_report(&heard, MICA_ERROR_DEAD, "event_emit");
    mica_commands_destroy(first);
    mica_commands_destroy(second);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(observer_event, events_are_recorded_into_buffers_like_changes, user_events_reach_their_observers,
           an_event_may_have_no_entity_and_be_of_a_tag, observers_leave_from_the_middle_and_from_the_end,
           a_filter_asks_nothing_of_the_dead, components_in_pools_are_observed_like_others, a_filter_may_name_pools,
           events_emitted_inside_systems_come_after_the_flush_in_order)
