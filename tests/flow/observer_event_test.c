/* Observers of pools, and events of the program. */
#include "diary.h"

START_TEST(events_of_the_program_reach_who_asked)
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
    ck_assert(mica_observe_emit(world, ALARM, 0, torch, nothing));
    expect_diary(&diary, "!0");
    ck_assert(mica_observe_emit(world, ALARM, MICA_ID(Heat), torch, nothing));
    expect_diary(&diary, "!Heat0 !Heat0 !Heat0");
    ck_assert(mica_observe_emit(world, ALARM, MICA_ID(Heat), stone, nothing));
    expect_diary(&diary, "!Heat1 !Heat1");
    ck_assert(mica_observe_emit(world, QUIET, MICA_ID(Heat), stone, nothing));
    expect_diary(&diary, "");
    mica_destroy(world, stone);
    ck_assert(!mica_observe_emit(world, ALARM, 0, stone, nothing));
    expect_report(&heard, MICA_ERROR_DEAD, "observe_emit");
    ck_assert(!mica_observe_emit(world, MICA_OBSERVE_ADD, 0, torch, nothing));
    expect_report(&heard, MICA_ERROR_INVALID, "MICA_OBSERVE_USER");
    close_world(world, &heard);
}
END_TEST

START_TEST(components_in_pools_are_observed_like_others)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    for (mica_observe event = MICA_OBSERVE_ADD; event <= MICA_OBSERVE_DISABLE; ++event)
        if (event != MICA_OBSERVE_DESTROY)
            observe(world, &diary, event, MICA_ID(Buff));
    mica_observer_def def = *MICA_OBSERVER(MICA_OBSERVE_ADD, Buff, note, MICA_HAS(Torch));
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

static void cry(mica_view *view)
{
    const Weight *weight = mica_read(view, Weight);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((uint32_t)weight[i].kilos % 1000 == 7)
            ck_assert(mica_observe_emit(view->world, ALARM, 0, view->entities[i],
                                        (mica_value){.size_bytes = sizeof *weight, .data = &weight[i]}));
}

static void fall_silent(mica_view *view)
{
    const Weight *weight = mica_read(view, Weight);
    for (uint32_t i = 0; i < view->count; ++i)
        if (weight[i].kilos == 2007)
            mica_destroy(view->world, view->entities[i]);
}

static void note_data(const mica_observation *seen)
{
    char word[32];
    snprintf(word, sizeof word, "%.0f ", (double)((const Weight *)seen->data)->kilos);
    write_down(seen->context, word);
}

START_TEST(events_told_inside_systems_come_behind_the_flush_in_order)
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
        mica_system_add(world, MICA_SYSTEM_WITH(cry, (.split = MICA_SPLIT_EVEN), MICA_READ(Weight)));
        mica_system_add(world, MICA_SYSTEM(fall_silent, MICA_READ(Weight)));
        mica_step(world, 1);
        expect_diary(&diary, "7 1007 3007 4007"); /* one of them is dead by then */
        mica_step(world, 1);
        expect_diary(&diary, "7 1007 3007 4007");
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(observer_event, events_of_the_program_reach_who_asked, components_in_pools_are_observed_like_others,
           events_told_inside_systems_come_behind_the_flush_in_order)
