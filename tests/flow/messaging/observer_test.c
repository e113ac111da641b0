/* Observers: which are called with what, how often, and in which order. */
#include "flow/diary.h"
#include "flow/faults.h"
#include "mica/snapshot.h"

START_TEST(each_change_is_told_once)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary;
    observe_everything(world, &diary);
    mica_entity one = diary.base = mica_create(world);
    expect_diary(&diary, "");
    mica_set(world, one, Heat, {3});
    expect_diary(&diary, "+Heat0 =Heat0");
    mica_set(world, one, Heat, {4});
    expect_diary(&diary, "=Heat0");
    mica_add(world, one, Weight);
    expect_diary(&diary, "+Weight0");
    mica_remove(world, one, Heat);
    expect_diary(&diary, "-Heat0");
    mica_destroy(world, one);
    expect_diary(&diary, "x0 -Weight0");
    close_world(world, &heard);
}
END_TEST

/* What is recorded for an entity, and what is true after it: the same whether one buffer or two recorded it. */
typedef struct truth {
    const char *name;
    void (*record)(mica_commands *first, mica_commands *second, mica_entity entity);
    bool has_heat;
    const char *told;
} truth;

static void change_and_destroy(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_set(first, entity, Heat, {1});
    mica_command_set(first, entity, Weight, {1});
    mica_command_destroy(second, entity);
}

static void destroy_and_change(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_destroy(first, entity);
    mica_command_set(second, entity, Heat, {1});
}

static void remove_and_destroy(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_remove(first, entity, Heat);
    mica_command_destroy(second, entity);
}

static void destroy_twice(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_destroy(first, entity);
    mica_command_destroy(second, entity);
}

static void add_and_remove(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_set(first, entity, Weight, {1});
    mica_command_remove(second, entity, Weight);
}

static void remove_and_add(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_remove(first, entity, Heat);
    mica_command_set(second, entity, Heat, {5});
}

static void set_three_times(mica_commands *first, mica_commands *second, mica_entity entity)
{
    mica_command_set(first, entity, Heat, {5});
    mica_command_set(first, entity, Heat, {6});
    mica_command_set(second, entity, Heat, {7});
}

static const truth truths[] = {
    {"changed and destroyed, it is destroyed", change_and_destroy, true, "x0 -Heat0"},
    {"changed and destroyed without the component", change_and_destroy, false, "x0"},
    {"destroyed and changed", destroy_and_change, true, "x0 -Heat0"},
    {"removed and destroyed, the component goes once", remove_and_destroy, true, "x0 -Heat0"},
    {"destroyed twice, it dies once", destroy_twice, true, "x0 -Heat0"},
    {"added and removed, nothing has happened", add_and_remove, true, ""},
    {"removed and added, it has a new value", remove_and_add, true, "=Heat0"},
    {"set three times, it has one new value", set_three_times, true, "=Heat0"},
    {"set three times anew, it is there", set_three_times, false, "+Heat0 =Heat0"},
};

START_TEST(an_entity_changed_and_destroyed_in_one_flush_notifies_once_for_each_truth)
{
    for (uint32_t two = 0; two < 2; ++two)
        for (uint32_t i = 0; i < sizeof truths / sizeof *truths; ++i) {
            reports heard;
            mica_world *world = open_world(&heard);
            diary diary;
            mica_entity entity = mica_create(world);
            if (truths[i].has_heat)
                mica_set(world, entity, Heat, {20});
            observe_everything(world, &diary);
            diary.base = entity;
            mica_commands *first = mica_commands_create(world);
            mica_commands *second = two ? mica_commands_create(world) : first;
            truths[i].record(first, second, entity);
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            expect_diary(&diary, truths[i].told);
            forget_reports(&heard);
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(an_entity_created_and_destroyed_in_one_flush_is_never_told)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary;
    observe_everything(world, &diary);
    mica_defer(world);
    mica_entity entity = mica_create(world, MICA_WITH(Heat, {1}));
    mica_destroy(world, entity);
    mica_flush(world);
    expect_diary(&diary, "");
    close_world(world, &heard);
}
END_TEST

START_TEST(switching_is_told_when_it_changes_something)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary;
    mica_entity lamp = mica_create(world, MICA_WITH(Lamp, {60}));
    observe_everything(world, &diary);
    diary.base = lamp;
    mica_enable(world, lamp, Lamp);
    expect_diary(&diary, "");
    mica_disable(world, lamp, Lamp);
    expect_diary(&diary, "off Lamp0");
    mica_defer(world);
    mica_enable(world, lamp, Lamp);
    mica_disable(world, lamp, Lamp);
    mica_flush(world);
    expect_diary(&diary, "");
    mica_defer(world);
    mica_set(world, lamp, Heat, {1});
    mica_enable(world, lamp, Lamp);
    mica_flush(world);
    expect_diary(&diary, "+Heat0 =Heat0 on Lamp0");
    mica_defer(world);
    mica_entity dark = mica_create(world, MICA_WITH(Lamp, {40}));
    mica_disable(world, dark, Lamp);
    mica_flush(world);
    expect_diary(&diary, "+Lamp1 =Lamp1 off Lamp1");
    close_world(world, &heard);
}
END_TEST

static void note_a(const mica_event *seen)
{
    write_down(seen->context, "a");
}

static void note_b(const mica_event *seen)
{
    write_down(seen->context, "b");
}

static void hook_first(const mica_event *event)
{
    void *context = event->context;
    (void)event;
    write_down(context, "hook");
}

START_TEST(observers_come_after_the_hook_in_the_order_they_were_added)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_observer_def def = {.component = MICA_ID(Heat), .fn = note_b, .context = &diary};
    mica_observer_add(world, &def);
    def.fn = note_a;
    mica_observer second = mica_observer_add(world, &def);
    def.fn = note_b;
    mica_observer_add(world, &def);
    mica_hook_set(world, Heat, MICA_EVENT_ADD, hook_first, &diary);
    mica_create(world, MICA_WITH(Heat, {1}));
    expect_diary(&diary, "hookbab");
    ck_assert(mica_observer_remove(world, second));
    ck_assert(!mica_observer_remove(world, second));
    mica_create(world, MICA_WITH(Heat, {1}));
    expect_diary(&diary, "hookbb");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_filter_keeps_others_out)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Heat, note, MICA_HAS(Torch), MICA_WITHOUT(Weight));
    def.context = &diary;
    mica_observer_add(world, &def);
    def = *MICA_OBSERVER(MICA_EVENT_REMOVE, Heat, note, MICA_HAS(Lamp));
    def.context = &diary;
    mica_observer_add(world, &def);
    mica_entity plain = diary.base = mica_create(world);
    mica_entity torch = mica_create(world, MICA_WITH(Torch));
    mica_entity heavy = mica_create(world, MICA_WITH(Torch), MICA_WITH(Weight, {2}));
    mica_entity lamps[3];
    for (int i = 0; i < 3; ++i)
        lamps[i] = mica_create(world, MICA_WITH(Lamp, {60}), MICA_WITH(Heat, {1}));
    mica_set(world, plain, Heat, {1});
    mica_set(world, torch, Heat, {1});
    mica_set(world, heavy, Heat, {1});
    expect_diary(&diary, "+Heat1");
    mica_disable(world, lamps[1], Lamp); /* HAS means switched on: rows are asked, not only archetypes */
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_HAS(Heat)));
    mica_remove_all(all, Heat);
    mica_query_destroy(all);
    expect_diary(&diary, "-Heat3 -Heat5");
    close_world(world, &heard);
}
END_TEST

static void leave_open(const mica_event *seen)
{
    mica_defer(seen->world);
}

static void try_to_flush(const mica_event *seen)
{
    *(mica_result *)seen->context = mica_flush(seen->world);
}

START_TEST(what_one_observer_leaves_open_is_closed_for_the_next)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_result result = MICA_OK;
    mica_observer_add(world, &(mica_observer_def){.component = MICA_ID(Heat), .fn = leave_open});
    mica_observer_add(world, &(mica_observer_def){.component = MICA_ID(Heat), .fn = try_to_flush, .context = &result});
    mica_entity one = mica_create(world, MICA_WITH(Heat, {1}));
    ck_assert_int_eq(result, MICA_ERROR_REFUSED);
    mica_hook_set(world, Heat, MICA_EVENT_ADD, leave_open, NULL);
    result = MICA_OK;
    mica_create(world, MICA_WITH(Heat, {1}));
    ck_assert_int_eq(result, MICA_ERROR_REFUSED);
    ck_assert_msg(mica_remove(world, one, Heat) && !mica_has(world, one, Heat), "nothing is recorded any more");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a hook");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a hook");
    close_world(world, &heard);
}
END_TEST

typedef struct Fuel { int32_t litres; } Fuel;
MICA_POOL(Fuel, litres)

/* Reads the value in the pool of an entity that is about to be destroyed, and records a change of another. */
static void read_last(const mica_event *seen)
{
    const mica_entity *other = seen->context;
    const Fuel *fuel = mica_get(seen->world, seen->entities[0], Fuel);
    ck_assert_msg(fuel && fuel->litres == 5, "everything is still there");
    mica_set(seen->world, *other, Weight, {((const Heat *)seen->values)->degrees});
}

START_TEST(the_value_in_a_pool_is_there_until_the_observers_of_a_destroyed_entity_have_run)
{
    for (int has_snapshot = 0; has_snapshot < 2; ++has_snapshot) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_entity other = mica_create(world);
        mica_entity one = mica_create(world, MICA_WITH(Heat, {3}), MICA_WITH(Fuel, {5}));
        uint64_t before = mica_world_hash(world);
        mica_snapshot snapshot = {0};
        if (has_snapshot)
            snapshot = mica_snapshot_take(world);
        mica_observer reader = mica_observer_add(
            world, &(mica_observer_def){
                       .component = MICA_ID(Heat), .event = MICA_EVENT_REMOVE, .fn = read_last, .context = &other});
        ck_assert(mica_destroy(world, one));
        ck_assert(!mica_is_alive(world, one) && mica_get(world, other, Weight)->kilos == 3);
        if (has_snapshot) {
            ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(world), before);
        }
        mica_observer_remove(world, reader);
        close_world(world, &heard);
    }
}
END_TEST

static void count_rows(const mica_event *seen)
{
    uint32_t *counts = seen->context;
    ++counts[0];
    counts[1] += seen->count;
    const Heat *heat = seen->values;
    for (uint32_t i = 0; i < seen->count; ++i)
        counts[2] += heat[i].degrees == 7;
}

START_TEST(many_at_once_are_told_in_runs)
{
    reports heard;
    mica_world *world = open_world(&heard);
    uint32_t counts[3] = {0};
    mica_observer_add(world, &(mica_observer_def){.component = MICA_ID(Heat), .fn = count_rows, .context = counts});
    Heat heat[5000];
    for (int i = 0; i < 5000; ++i)
        heat[i].degrees = 7;
    mica_create_many(world, 5000, &(mica_value){.component = MICA_ID(Heat), .data = heat}, 1, NULL);
    ck_assert_uint_eq(counts[1], 5000);
    ck_assert_uint_eq(counts[2], 5000);
    ck_assert_uint_lt(counts[0], 20);
    close_world(world, &heard);
}
END_TEST

static void spread(const mica_event *seen)
{
    const Heat *heat = seen->values;
    for (uint32_t i = 0; i < seen->count; ++i)
        if (heat[i].degrees > 1) {
            mica_create(seen->world, MICA_WITH(Heat, {heat[i].degrees - 1}));
            mica_set(seen->world, seen->entities[i], Weight, {heat[i].degrees});
        }
}

START_TEST(what_observers_change_is_applied_when_the_operation_ends)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Heat, spread));
    mica_entity first = mica_create(world, MICA_WITH(Heat, {4}));
    ck_assert_float_eq(mica_get(world, first, Weight)->kilos, 4);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 4);
    close_world(world, &heard);
}
END_TEST

static void add_another(const mica_event *seen)
{
    ck_assert_uint_eq(mica_observer_add(seen->world, MICA_OBSERVER(MICA_EVENT_ADD, Weight, note)).id, 0);
    ck_assert(!mica_observer_remove(seen->world, (mica_observer){1}));
}

START_TEST(mistakes_are_reported_and_change_nothing)
{
    reports heard;
    mica_world *world = open_world(&heard);
    const mica_observer_def bad[] = {
        {.event = MICA_EVENT_ADD, .component = MICA_ID(Heat)},
        {.event = MICA_EVENT_ADD, .fn = note},
        {.event = MICA_EVENT_DESTROY, .component = MICA_ID(Heat), .fn = note},
        {.event = 17, .fn = note},
        {.event = MICA_EVENT_ENABLE, .component = MICA_ID(Heat), .fn = note},
        {.event = MICA_EVENT_DISABLE, .component = MICA_ID(Heat), .fn = note},
    };
    ck_assert_uint_eq(mica_observer_add(world, NULL).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "def must not be NULL");
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_uint_eq(mica_observer_add(world, &bad[i]).id, 0);
        expect_report(&heard, MICA_ERROR_INVALID, "observer");
    }
    mica_term unknown = {.component = 60000, .access = MICA_ACCESS_HAS};
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Heat, note);
    def.terms = &unknown;
    def.term_count = 1;
    def.name = NULL;
    ck_assert_uint_eq(mica_observer_add(world, &def).id, 0);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "observer");
    ck_assert(!mica_observer_remove(world, (mica_observer){3}));
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Heat, add_another));
    mica_create(world, MICA_WITH(Heat, {1}));
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a system, hook or observer");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a system, hook or observer");
    close_world(world, &heard);
}
END_TEST

static void observe_inside(const mica_frame *frame)
{
    ck_assert_uint_eq(mica_observer_add(frame->world, MICA_OBSERVER(MICA_EVENT_ADD, Heat, note)).id, 0);
    ck_assert(!mica_observer_remove(frame->world, (mica_observer){1}));
}

START_TEST(observers_neither_come_nor_go_inside_a_system)
{
    if (STOPS_AT_MISTAKES)
        return;
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    observe(world, &diary, MICA_EVENT_ADD, MICA_ID(Heat));
    mica_system_add(world, MICA_SYSTEM_ONCE(observe_inside));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be added inside a system");
    expect_report(&heard, MICA_ERROR_REFUSED, "observer_remove: refused inside a system");
    diary.base = mica_create(world, MICA_WITH(Heat, {1}));
    ck_assert_str_ne(diary.text, "");
    close_world(world, &heard);
}
END_TEST

static void observe_a_creation(faults *faults)
{
    diary diary = {0};
    mica_observer_def wanted = *MICA_OBSERVER(MICA_EVENT_ADD, Heat, note, MICA_HAS(Torch));
    wanted.context = &diary;
    faults_begin(faults);
    mica_observer added = mica_observer_add(faults->world, &wanted);
    bool failed = faults_end(faults);
    ck_assert_int_eq(added.id == 0, failed);
    ck_assert_int_eq(forget_reports(&faults->heard) != 0, failed);
    ck_assert_uint_eq(mica_create(faults->world, MICA_WITH(Heat, {1}), MICA_WITH(Torch)).index, 1);
    expect_diary(&diary, failed ? "" : "+Heat1");
}

START_TEST(running_out_of_memory_leaves_no_half_observer)
{
    ck_assert_uint_ge(fail_everywhere(observe_a_creation), 3);
}
END_TEST

TEST_SUITE(observer, each_change_is_told_once,
           an_entity_changed_and_destroyed_in_one_flush_notifies_once_for_each_truth,
           an_entity_created_and_destroyed_in_one_flush_is_never_told, switching_is_told_when_it_changes_something,
           observers_come_after_the_hook_in_the_order_they_were_added, a_filter_keeps_others_out,
           what_one_observer_leaves_open_is_closed_for_the_next,
           the_value_in_a_pool_is_there_until_the_observers_of_a_destroyed_entity_have_run,
           many_at_once_are_told_in_runs, what_observers_change_is_applied_when_the_operation_ends,
           mistakes_are_reported_and_change_nothing, observers_neither_come_nor_go_inside_a_system,
           running_out_of_memory_leaves_no_half_observer)
