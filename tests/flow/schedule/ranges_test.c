/* Worlds that compare what C code writes with the ranges of fields, in every storage and for every way to write. */
#include "../../support/tuned.h"
#include "../faults.h"

#include "mica/snapshot.h"
#include "mica/split.h"
#include "mica/value.h"

#include <string.h>

static reports heard;

static mica_world *open_checking(bool checks)
{
    mica_world_def def = mica_world_def_default();
    def.check_ranges = checks;
    return open_world_with(&heard, def);
}

/* A value that starts as described, with another level: from -5 to 9000. */
static Tuned tuned(int32_t level)
{
    Tuned value;
    memset(&value, 0, sizeof value);
    ck_assert_int_eq(mica_value_reset(mica_member_of(MICA_ID(Tuned), &value)), MICA_OK);
    value.level = level;
    return value;
}

static void on_set(const mica_event *event)
{
    Tuned *values = event->values;
    for (uint32_t i = 0; i < event->count; ++i)
        values[i].level = values[i].level > 9000 ? 9000 : values[i].level;
}

typedef enum way { CREATE, CREATE_MANY, SET, SET_NEW, RECORD, RECORD_CREATE, ADD_ALL, WAYS } way;

/* Writes a value of a component, which has the layout of Tuned, to one or more entities. */
static void write_value(mica_world *world, mica_component component, way way, int32_t level)
{
    const Tuned value = tuned(level), many[3] = {tuned(1), tuned(level), tuned(1)};
    mica_value given = {.component = component, .data = &value};
    switch (way) {
    case CREATE: mica_create_id(world, &given, 1); break;
    case CREATE_MANY: mica_create_many(world, 3, &(mica_value){.component = component, .data = many}, 1, NULL); break;
    case SET: {
        mica_entity entity = mica_create(world);
        mica_add_id(world, entity, component);
        mica_set_id(world, entity, given);
        break;
    }
    case SET_NEW: mica_set_id(world, mica_create(world), given); break;
    case RECORD: {
        mica_entity entity = mica_create(world);
        mica_defer(world);
        mica_set_id(world, entity, given);
        expect_no_report(&heard);
        mica_flush(world);
        break;
    }
    case RECORD_CREATE:
        mica_defer(world);
        mica_create_id(world, &given, 1);
        mica_flush(world);
        break;
    default: {
        mica_create(world, MICA_WITH(Number));
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
        mica_add_all_id(query, given);
        mica_query_destroy(query);
    }
    }
}

static mica_component component_at(uint32_t which)
{
    const mica_component all[] = {MICA_ID(Tuned),         MICA_ID(TunedToggle), MICA_ID(TunedSplit),
                                  MICA_ID(TunedPool),     MICA_ID(TunedDirect), MICA_ID(TunedHash),
                                  MICA_ID(TunedSplitPool)};
    return which < COUNT_OF(all) ? all[which] : 0;
}

static void expect_compared(bool checks, way way)
{
    mica_component component;
    for (uint32_t which = 0; (component = component_at(which)); ++which) {
        mica_world *world = open_checking(checks);
        write_value(world, component, way, 9000);
        expect_no_report(&heard);
        write_value(world, component, way, 9001);
        char name[64];
        snprintf(name, sizeof name, "%s of entity", mica_component_type(component)->name);
        if (checks) {
            const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, name);
            ck_assert_msg(strstr(report->text, "expected level from -5 to 9000 m, found 9001"), "%s", report->text);
        }
        forget_reports(&heard); /* ADD_ALL tells of two entities */
        /* The value is written all the same, and found by a pass over all. */
        ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, name);
        ck_assert_int_eq(mica_world_validate(world), checks ? MICA_ERROR_INVALID : MICA_OK);
        forget_reports(&heard);
        mica_world_clear(world);
        ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_OK);
        close_world(world, &heard);
    }
}

START_TEST(what_is_set_is_compared_at_once)
{
    for (uint32_t way = 0; way < WAYS; ++way) {
        expect_compared(false, (enum way)way);
        expect_compared(true, (enum way)way);
    }
}
END_TEST

START_TEST(a_pass_sees_what_changed_since_a_mark)
{
    mica_component component;
    for (uint32_t which = 0; (component = component_at(which)); ++which) {
        mica_world *world = open_checking(false);
        for (uint32_t i = 0; i < 300; ++i)
            write_value(world, component, CREATE, 1);
        write_value(world, component, CREATE, -6);
        mica_version mark = mica_world_mark(world);
        ck_assert_int_eq(mica_world_check_ranges(world, mark), MICA_OK);
        ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
        forget_reports(&heard);
        write_value(world, component, CREATE, 9001); /* the -6 is in the same slice */
        ck_assert_int_eq(mica_world_check_ranges(world, mark), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "found -6");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(instances_lists_and_singletons_are_compared)
{
    mica_world *world = open_checking(true);
    mica_entity entity = mica_create(world, MICA_WITH(TunedText), MICA_WITH(TunedPoolText));
    mica_pool *pool = mica_pool_of(world, TunedMany);
    mica_pool_add(pool, entity);
    mica_instance second = mica_pool_add(pool, entity);
    ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_OK);
    ((TunedMany *)mica_instance_write_id(pool, second))->weights[1] = 9;
    ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID,
                  "TunedMany of entity 1 (generation 1): expected weights[1] from 1 to 5, found 9");
    mica_pool_remove(pool, second);
    mica_list_add(&mica_write(world, entity, TunedText)->scores, float, 11);
    ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "expected scores[2] from 0 to 10, found 11");
    mica_list_clear(&mica_write(world, entity, TunedText)->scores, float);
    mica_list_add(&mica_write(world, entity, TunedPoolText)->scores, float, -1);
    ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "TunedPoolText of entity");
    mica_list_clear(&mica_write(world, entity, TunedPoolText)->scores, float);
    mica_singleton_write(world, TunedSingleton)->scales[1].y = 0;
    ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "TunedSingleton: expected scales[1].y from 0.1 to 10, found 0");
    mica_singleton_write(world, TunedSingleton)->scales[1].y = 1;
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_may_correct_what_is_set)
{
    mica_world *world = open_checking(true);
    mica_hook_set(world, Tuned, MICA_EVENT_SET, on_set, NULL);
    write_value(world, MICA_ID(Tuned), CREATE, 9001);
    write_value(world, MICA_ID(Tuned), RECORD, 10000);
    expect_no_report(&heard);
    mica_world *clone = mica_world_clone(world); /* checks, too */
    mica_create(clone, MICA_WITH(Tuned, {.level = 9001}));
    ck_assert_uint_ge(forget_reports(&heard), 1);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

static void age(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    Tuned *values = mica_view_write(view, Tuned);
    for (uint32_t i = 0; i < view->count; ++i)
        values[i].level = view->frame->tick == 3 && numbers[i].value == 777 ? 9001 : 1, values[i].speed = 1;
}

static void speed_up(mica_view *view)
{
    Tuned *values = mica_view_write(view, Tuned);
    for (uint32_t i = 0; i < view->count; ++i)
        values[i].speed = view->frame->tick == 2 && view->entities[i].index == 4321 ? -1 : 1;
}

static void alone(const mica_frame *frame)
{
    mica_singleton_write(frame->world, TunedSingleton)->level = frame->tick == 5 ? 9001 : 1;
}

/* Not through a view: nothing says which of the systems of the phase it was. */
static void elsewhere(const mica_frame *frame)
{
    Tuned *value = mica_write(frame->world, *(mica_entity *)frame->context, Tuned);
    value->scale.y = frame->tick == 6 ? 11 : 1;
}

static void expect_systems_compared(uint32_t workers)
{
    mica_entity first = mica_nil();
    mica_world *world = open_checking(true);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    for (uint32_t i = 0; i < 5000; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Tuned));
        first = i ? first : entity;
    }
    mica_system_add(world,
                    &(mica_system_def){.name = "age", MICA_TERMS(MICA_READ(Number), MICA_WRITE(Tuned)), .view = age});
    mica_system_add(world, &(mica_system_def){
                               .name = "speed_up", .every_frames = 2, MICA_TERMS(MICA_WRITE(Tuned)), .view = speed_up});
    mica_system_add(world,
                    &(mica_system_def){
                        .name = "elsewhere", .once = elsewhere, .context = &first, MICA_USES(MICA_USE_WRITE(Tuned))});
    mica_system_add(world, &(mica_system_def){.name = "alone", .exclusive = true, .once = alone});
    static const char *const wanted[] = {
        [2] = "after system speed_up: Tuned of entity 4321 (generation 1): expected speed of at least 0 m/s, found -1",
        [3] = "after system age: Tuned of entity 778 (generation 1): expected level from -5 to 9000 m, found 9001",
        [5] = "after system alone: TunedSingleton: expected level from -5 to 9000 m, found 9001",
        [6] = "after systems: Tuned of entity 1 (generation 1): expected scale.y from 0.1 to 10, found 11",
    };
    for (uint64_t tick = 0; tick < 8; ++tick) {
        mica_step(world, 0.01f);
        if (tick < COUNT_OF(wanted) && wanted[tick])
            expect_report(&heard, MICA_ERROR_INVALID, wanted[tick]);
        expect_no_report(&heard);
    }
    close_world(world, &heard);
}

START_TEST(what_systems_write_in_place_is_compared_after_them)
{
    for (uint32_t workers = 1; workers < 5; ++workers)
        expect_systems_compared(workers);
}
END_TEST

static void try_split(faults *faults)
{
    mica_world_def def = mica_world_def_default();
    def.check_ranges = true;
    def.allocator = faulty_allocator_interface(&faults->allocator);
    def.report = reports_collect;
    def.report_context = &faults->heard;
    mica_world *world = mica_world_create(&def);
    mica_entity entity = mica_create(world, MICA_WITH(TunedSplit), MICA_WITH(TunedSplitPool));
    faults_begin(faults);
    TunedSplit value = {.level = 9001};
    mica_set_id(world, entity, (mica_value){.component = MICA_ID(TunedSplit), .data = &value});
    mica_world_check_ranges(world, 0);
    if (!faults_end(faults))
        ck_assert_int_eq(mica_world_check_ranges(world, 0), MICA_ERROR_INVALID);
    mica_world_destroy(world);
}

START_TEST(without_memory_nothing_is_said_to_be_in_range)
{
    ck_assert_uint_ge(fail_everywhere(try_split), 2);
}
END_TEST

TEST_SUITE(ranges, what_is_set_is_compared_at_once, a_pass_sees_what_changed_since_a_mark,
           instances_lists_and_singletons_are_compared, a_hook_may_correct_what_is_set,
           what_systems_write_in_place_is_compared_after_them, without_memory_nothing_is_said_to_be_in_range)
