/* Observers and monitors that are told first what is there already. */
#include "flow/diary.h"
#include "flow/faults.h"
#include "match_set.h"
#include "mica/disable.h"
#include "mica/snapshot.h"
#include "random.h"

typedef struct Ember { float degrees; } Ember;
MICA_POOL_WITH(Ember, (.dying = MICA_DYING_LAZILY), degrees)
typedef struct Spark { int32_t count; } Spark;
MICA_POOL_WITH(Spark, (.many = true), count)
typedef struct Seat { int32_t number; } Seat;
MICA_POOL_WITH(Seat, (.index = MICA_INDEX_DIRECT), number)
typedef struct Place { float x, y; } Place;
MICA_COMPONENT_WITH(Place, (.split = true), x, y)
MICA_POOL_TAG(Wet)

static mica_observer observe_existing(mica_world *world, diary *diary, const mica_observer_def *def)
{
    mica_observer_def with_diary = *def;
    with_diary.context = diary;
    with_diary.existing = true;
    return mica_observer_add(world, &with_diary);
}

START_TEST(what_is_there_is_told_once_in_the_order_of_rows)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity one = diary.base = mica_create(world, MICA_WITH(Heat, {1}));
    mica_entity two = mica_create(world, MICA_WITH(Heat, {2}), MICA_WITH(Torch));
    mica_create(world, MICA_WITH(Torch));
    mica_create(world, MICA_WITH(Heat, {4}));
    mica_destroy(world, one);
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Heat, note));
    expect_diary(&diary, "+Heat3 +Heat1");
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Heat, note, MICA_HAS(Torch)));
    expect_diary(&diary, "+Heat1");
    mica_entity_disable(world, two);
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Torch, note));
    expect_diary(&diary, "+Torch2 +Torch1");
    mica_add(world, diary.base = mica_create(world), Torch); /* what comes later is told as ever */
    expect_diary(&diary, "+Torch0");
    close_world(world, &heard);
}
END_TEST

START_TEST(additions_are_told_of_listed_components_and_nothing_else)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    diary.base = mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Lamp, {1}));
    mica_create(world, MICA_WITH(Lamp, {1}));
    mica_disable(world, diary.base, Lamp);
    mica_event_kind events[] = {MICA_EVENT_REMOVE, MICA_EVENT_ADD, MICA_EVENT_ADD, MICA_EVENT_DESTROY, ALARM};
    mica_component components[] = {MICA_ID(Lamp), MICA_ID(Heat)};
    mica_observer_def def = {.events = events, .event_count = 5, .components = components, .component_count = 2};
    def.fn = note;
    ck_assert_uint_ne(observe_existing(world, &diary, &def).id, 0);
    expect_diary(&diary, "+Lamp0 +Lamp1 +Heat0"); /* disabled or not */
    mica_destroy(world, diary.base);
    ck_assert_uint_ne(strlen(diary.text), 0);
    diary.text[0] = '\0';
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_of_pools_are_told_without_those_of_the_dead)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity entities[6];
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Wet, note)); /* there is none */
    expect_diary(&diary, "");
    for (uint32_t i = 0; i < 6; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Ember, {(float)i}), MICA_WITH(Place, {1, 2}));
        mica_add_instance(world, entities[i], Spark);
        if (i % 2)
            mica_set(world, entities[i], Seat, {1});
        mica_add_instance(world, entities[i], Spark);
    }
    diary.base = entities[0];
    mica_add(world, entities[1], Wet);
    mica_add(world, entities[5], Wet);
    expect_diary(&diary, "+Wet1 +Wet5");
    mica_destroy(world, entities[0]);
    mica_destroy(world, entities[3]);
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Ember, note));
    expect_diary(&diary, "+Ember1 +Ember2 +Ember4 +Ember5");
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Wet, note));
    expect_diary(&diary, "+Wet1 +Wet5");
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Seat, note));
    expect_diary(&diary, "+Seat1 +Seat5");
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Ember, note, MICA_HAS(Place), MICA_WITHOUT(Seat)));
    expect_diary(&diary, "+Ember2 +Ember4");
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Place, note));
    expect_diary(&diary, "+Place5 +Place1 +Place2 +Place4");
    uint32_t sparks = 0;
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Spark, note)); /* each instance */
    for (const char *at = diary.text; (at = strstr(at, "+Spark")); ++at)
        ++sparks;
    ck_assert_uint_eq(sparks, 8);
    close_world(world, &heard);
}
END_TEST

static void warm_up(const mica_event *seen)
{
    if (seen->component == MICA_ID(Ember))
        ((Ember *)seen->values)->degrees += 1;
    else
        ((Heat *)seen->values)->degrees += 1;
}

START_TEST(values_can_be_changed_and_count_as_changed)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity one = mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Ember, {1}));
    mica_query *heat = mica_query_create(world, MICA_QUERY(MICA_READ(Heat), MICA_CHANGED(Heat)));
    mica_query *ember = mica_query_create(world, MICA_QUERY(MICA_READ(Ember), MICA_CHANGED(Ember)));
    mica_version mark = mica_world_mark(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_view view = mica_query_begin_since(heat, mark);
    ck_assert(!mica_view_next(&view));
    mica_component components[] = {MICA_ID(Heat), MICA_ID(Ember)};
    mica_observer_def def = {.event = MICA_EVENT_ADD, .components = components, .component_count = 2, .fn = warm_up};
    def.existing = true;
    mica_observer added = mica_observer_add(world, &def);
    ck_assert(mica_get(world, one, Heat)->degrees == 2 && mica_get(world, one, Ember)->degrees == 2);
    view = mica_query_begin_since(heat, mark);
    ck_assert(mica_view_next(&view));
    view = mica_query_begin_since(ember, mark);
    ck_assert(mica_view_next(&view));
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert(mica_get(world, one, Heat)->degrees == 1 && mica_get(world, one, Ember)->degrees == 1);
    mica_snapshot_drop(world, snapshot);
    ck_assert(mica_observer_remove(world, added));
    close_world(world, &heard);
}
END_TEST

static void note_match(const mica_event *seen)
{
    diary *diary = seen->context;
    char word[64];
    for (uint32_t i = 0; i < seen->count; ++i) {
        snprintf(word, sizeof word, "%s%u ", seen->kind == MICA_EVENT_MATCH ? "<" : ">",
                 seen->entities[i].index - diary->base.index);
        write_down(diary, word);
    }
}

START_TEST(monitors_are_told_what_matches_already)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity entities[5];
    for (uint32_t i = 0; i < 5; ++i)
        entities[i] = mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Lamp, {1}));
    diary.base = entities[0];
    mica_disable(world, entities[1], Lamp);
    mica_entity_disable(world, entities[2]);
    mica_add(world, entities[3], Torch);
    mica_observer_def def = *MICA_MONITOR(note_match, MICA_READ(Heat), MICA_HAS(Lamp), MICA_WITHOUT(Torch));
    observe_existing(world, &diary, &def);
    expect_diary(&diary, "<0 <4");
    mica_enable(world, entities[1], Lamp);
    mica_destroy(world, entities[0]);
    expect_diary(&diary, "<1 >0");
    def.event_count = 1; /* only MATCH */
    observe_existing(world, &diary, &def);
    ck_assert_str_eq(diary.text, "<4 <1 ");
    diary.text[0] = '\0';
    close_world(world, &heard);
}
END_TEST

/* An observer that reacts to what is there. */
static void burn(const mica_event *seen)
{
    note(seen);
    for (uint32_t i = 0; i < seen->count; ++i) {
        if (seen->entities[i].index % 2)
            mica_remove(seen->world, seen->entities[i], Torch);
        mica_create(seen->world, MICA_WITH(Weight, {1}));
    }
}

START_TEST(what_observers_do_is_applied_when_all_is_told)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0}, weights = {0};
    for (uint32_t i = 0; i < 3; ++i)
        mica_create(world, MICA_WITH(Torch));
    observe(world, &weights, MICA_EVENT_ADD, MICA_ID(Weight));
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Torch, burn));
    expect_diary(&diary, "+Torch1 +Torch2 +Torch3");
    expect_diary(&weights, "+Weight4 +Weight5 +Weight6");
    mica_query *torches = mica_query_create(world, MICA_QUERY(MICA_HAS(Torch)));
    ck_assert_uint_eq(mica_query_count(torches), 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(while_the_world_records_nothing_is_told_twice)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0}, matches = {0};
    mica_entity one = diary.base = matches.base = mica_create(world, MICA_WITH(Heat, {1}));
    mica_entity two = mica_create(world);
    mica_defer(world);
    mica_set(world, two, Heat, {2});
    mica_create(world, MICA_WITH(Heat, {3}));
    observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Heat, note));
    observe_existing(world, &matches, MICA_MONITOR(note_match, MICA_READ(Heat)));
    expect_diary(&diary, "+Heat0");
    expect_diary(&matches, "<0");
    mica_remove(world, one, Heat);
    mica_flush(world);
    expect_diary(&diary, "+Heat1 +Heat2");
    expect_diary(&matches, ">0 <1 <2");
    close_world(world, &heard);
}
END_TEST

static void add_inside(const mica_frame *frame)
{
    mica_observer_def def = *MICA_OBSERVER(MICA_EVENT_ADD, Heat, note);
    def.existing = true;
    ck_assert_uint_eq(mica_observer_add(frame->world, &def).id, 0);
}

START_TEST(mistakes_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_create(world, MICA_WITH(Heat, {1}));
    ck_assert_uint_eq(observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_SET, Heat, note)).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "existing needs the event ADD or MATCH");
    ck_assert_uint_eq(observe_existing(world, &diary, &(mica_observer_def){.event = ALARM, .fn = note}).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "existing needs the event ADD or MATCH");
    mica_observer_def def = *MICA_MONITOR(note_match, MICA_READ(Heat));
    def.events = (mica_event_kind[]){MICA_EVENT_UNMATCH};
    def.event_count = 1;
    ck_assert_uint_eq(observe_existing(world, &diary, &def).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "existing needs the event ADD or MATCH");
    if (!STOPS_AT_MISTAKES) {
        mica_system_add(world, MICA_SYSTEM_ONCE(add_inside));
        mica_step(world, 1);
        expect_report(&heard, MICA_ERROR_REFUSED, "can't be added inside a system");
    }
    expect_diary(&diary, "");
    close_world(world, &heard);
}
END_TEST

enum { CROWD = 60, COMPONENTS = 8 };

/* How often an entity was told, by component and index. */
typedef struct tally {
    uint32_t counts[COMPONENTS][1024];
    const mica_component *components;
} tally;

static void count_told(const mica_event *seen)
{
    tally *tally = seen->context;
    uint32_t which = 0;
    while (tally->components[which] != seen->component)
        ++which;
    ck_assert_int_eq(seen->kind, MICA_EVENT_ADD);
    for (uint32_t i = 0; i < seen->count; ++i) {
        ck_assert(mica_is_alive(seen->world, seen->entities[i]) && seen->entities[i].index < 1024);
        ++tally->counts[which][seen->entities[i].index];
    }
}

static uint32_t instances_of(mica_world *world, mica_entity entity)
{
    const mica_pool *pool = mica_pool_of(world, Spark);
    uint32_t count = 0;
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        ++count;
    return count;
}

START_TEST(random_worlds_are_told_completely)
{
    const mica_component components[COMPONENTS] = {MICA_ID(Heat), MICA_ID(Torch), MICA_ID(Lamp),  MICA_ID(Place),
                                                   MICA_ID(Wet),  MICA_ID(Ember), MICA_ID(Spark), MICA_ID(Seat)};
    static tally tally;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        reports heard;
        mica_world *world = open_world_of_small_chunks(&heard);
        random_source random = {seed};
        mica_entity entities[CROWD];
        for (uint32_t i = 0; i < CROWD; ++i) {
            entities[i] = mica_create(world);
            for (uint32_t k = 0; k < COMPONENTS; ++k)
                if (random_one_in(&random, 3))
                    mica_add_id(world, entities[i], components[k]);
            if (mica_has(world, entities[i], Lamp) && random_one_in(&random, 2))
                mica_disable(world, entities[i], Lamp);
            if (random_one_in(&random, 4))
                mica_add_instance(world, entities[i], Spark);
            if (random_one_in(&random, 6))
                mica_destroy(world, entities[random_below(&random, i + 1)]);
        }
        forget_reports(&heard); /* of the dead */
        mica_term term = {.component = components[random_below(&random, COMPONENTS)], .access = MICA_ACCESS_HAS};
        term.access = random_one_in(&random, 2) ? MICA_ACCESS_HAS : MICA_ACCESS_WITHOUT;
        bool is_filtered = random_one_in(&random, 2);
        tally = (struct tally){.components = components};
        mica_observer_def def = {.event = MICA_EVENT_ADD, .components = components, .component_count = COMPONENTS};
        def.terms = &term;
        def.term_count = is_filtered;
        def.fn = count_told;
        def.context = &tally;
        def.existing = true;
        ck_assert_uint_ne(mica_observer_add(world, &def).id, 0);
        for (uint32_t i = 0; i < CROWD; ++i) {
            bool passes =
                !is_filtered || (term.access == MICA_ACCESS_HAS ? mica_is_enabled_id(world, entities[i], term.component)
                                                                : !mica_has_id(world, entities[i], term.component));
            for (uint32_t k = 0; k < COMPONENTS && mica_is_alive(world, entities[i]); ++k) {
                uint32_t count = mica_has_id(world, entities[i], components[k]);
                count = components[k] == MICA_ID(Spark) ? instances_of(world, entities[i]) : count;
                ck_assert_msg(tally.counts[k][entities[i].index] == (passes ? count : 0),
                              "seed %u, entity %u, component %u", (unsigned)seed, i, k);
                tally.counts[k][entities[i].index] = 0;
            }
        }
        for (uint32_t k = 0; k < COMPONENTS; ++k)
            for (uint32_t i = 0; i < 1024; ++i)
                ck_assert_msg(!tally.counts[k][i], "the dead are not told");
        close_world(world, &heard);
    }
}
END_TEST

/* There is no observer, or one that was told everything. */
static void add_without_memory(faults *faults)
{
    mica_world *world = faults->world;
    static diary diaries[2]; /* the world is destroyed later */
    memset(diaries, 0, sizeof diaries);
    mica_entity one = diaries[0].base = diaries[1].base = mica_create(world, MICA_WITH(Heat, {1}));
    for (uint32_t i = 0; i < 2; ++i)
        mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Torch));
    faults_begin(faults);
    bool added =
        observe_existing(world, &diaries[0], MICA_OBSERVER(MICA_EVENT_ADD, Heat, note, MICA_HAS(Torch))).id != 0;
    bool monitors = observe_existing(world, &diaries[1], MICA_MONITOR(note_match, MICA_READ(Heat))).id != 0;
    bool failed = faults_end(faults);
    ck_assert(failed || (added && monitors));
    expect_diary(&diaries[0], added ? "+Heat1 +Heat2" : "");
    expect_diary(&diaries[1], monitors ? "<0 <1 <2" : "");
    mica_destroy(world, one);
    expect_diary(&diaries[1], monitors ? ">0" : "");
}

/* What the observer does may fail, which is reported; the observer stays. */
static void react_without_memory(faults *faults)
{
    mica_world *world = faults->world;
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    mica_create(world, MICA_WITH(Torch));
    mica_create(world, MICA_WITH(Torch));
    mica_world_trim(world);
    faults_begin(faults);
    bool added = observe_existing(world, &diary, MICA_OBSERVER(MICA_EVENT_ADD, Torch, burn)).id != 0;
    bool failed = faults_end(faults);
    ck_assert(failed || added);
    expect_diary(&diary, added ? "+Torch1 +Torch2" : "");
    mica_flush(world);
}

START_TEST(running_out_of_memory_leaves_no_observer_or_a_complete_one)
{
    ck_assert_uint_ge(fail_everywhere(add_without_memory), 8);
    ck_assert_uint_ge(fail_everywhere(react_without_memory), 4);
}
END_TEST

TEST_SUITE(existing_matches, what_is_there_is_told_once_in_the_order_of_rows,
           additions_are_told_of_listed_components_and_nothing_else, rows_of_pools_are_told_without_those_of_the_dead,
           values_can_be_changed_and_count_as_changed, monitors_are_told_what_matches_already,
           what_observers_do_is_applied_when_all_is_told, while_the_world_records_nothing_is_told_twice,
           mistakes_are_reported, random_worlds_are_told_completely,
           running_out_of_memory_leaves_no_observer_or_a_complete_one)
