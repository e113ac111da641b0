/* User events that propagate from an entity to its ancestors. */
#include "flow/diary.h"
#include "mica/hierarchy.h"
#include "random.h"

MICA_TAG(Wall)

static const mica_value nothing;

/* "2<4" for an event that began at 4 and arrived at 2. */
static void note_arrival(const mica_event *seen)
{
    diary *diary = seen->context;
    char word[64];
    ck_assert_uint_eq(seen->count, 1);
    snprintf(word, sizeof word, "%u<%u ", seen->entities[0].index - diary->base.index,
             seen->target.index - diary->base.index);
    write_down(diary, word);
}

static void stop(const mica_event *seen)
{
    write_down(seen->context, "stop ");
    ck_assert(mica_event_stop(seen));
}

/* A chain of entities, the first of which is the root. */
typedef struct family {
    mica_world *world;
    reports heard;
    diary diary;
    mica_entity entities[5];
} family;

static void open_family(family *family)
{
    *family = (struct family){.world = open_world(&family->heard)};
    for (uint32_t i = 0; i < 5; ++i) {
        family->entities[i] = mica_create(family->world);
        if (i)
            mica_set_parent(family->world, family->entities[i], family->entities[i - 1]);
    }
    family->diary.base = family->entities[0];
}

static void observe_alarm(family *family, mica_event_fn fn, mica_component component, const mica_term *term)
{
    mica_observer_def def = {.event = ALARM, .component = component, .fn = fn, .context = &family->diary};
    def.terms = term;
    def.term_count = term != NULL;
    ck_assert_uint_ne(mica_observer_add(family->world, &def).id, 0);
}

START_TEST(events_arrive_at_every_ancestor_from_child_to_root)
{
    static family family;
    open_family(&family);
    mica_world *world = family.world;
    observe_alarm(&family, note_arrival, 0, NULL);
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[3], nothing));
    expect_diary(&family.diary, "3<3 2<3 1<3 0<3");
    ck_assert(mica_event_emit(world, ALARM, 0, family.entities[3], nothing));
    expect_diary(&family.diary, "3<3");
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[0], nothing));
    expect_diary(&family.diary, "0<0");
    mica_add(world, family.entities[1], Wall);
    observe_alarm(&family, stop, 0, &(mica_term){.component = MICA_ID(Wall), .access = MICA_ACCESS_HAS});
    observe_alarm(&family, note_arrival, 0, NULL); /* those of the same entity are called after a stop */
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[2], nothing));
    expect_diary(&family.diary, "2<2 2<2 1<2 stop 1<2");
    ck_assert(mica_event_emit(world, ALARM, 0, family.entities[1], nothing)); /* has nothing to stop */
    expect_diary(&family.diary, "1<1 stop 1<1");
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[0], nothing)); /* the stop is forgotten */
    expect_diary(&family.diary, "0<0 0<0");
    close_world(world, &family.heard);
}
END_TEST

static void count_values(const mica_event *seen)
{
    char word[32];
    const Heat *heat = seen->values;
    snprintf(word, sizeof word, "%.0f ", heat ? (double)heat->degrees : -1.0);
    write_down(seen->context, word);
}

START_TEST(values_are_those_of_the_entity_it_arrived_at)
{
    static family family;
    open_family(&family);
    mica_world *world = family.world;
    observe_alarm(&family, count_values, MICA_ID(Heat), NULL);
    mica_set(world, family.entities[2], Heat, {2});
    mica_set(world, family.entities[0], Heat, {7});
    ck_assert(mica_event_propagate(world, ALARM, MICA_ID(Heat), family.entities[2], nothing));
    expect_diary(&family.diary, "2 -1 7");
    ck_assert(mica_event_propagate(world, ALARM, MICA_ID(Lamp), family.entities[2], nothing));
    expect_diary(&family.diary, "");
    close_world(world, &family.heard);
}
END_TEST

static void count_call(const mica_event *seen)
{
    write_down(seen->context, seen->count ? "entity " : "none ");
}

START_TEST(events_without_an_entity_or_a_hierarchy_arrive_once)
{
    static family family;
    family = (struct family){.world = open_world(&family.heard)};
    mica_entity alone = mica_create(family.world);
    observe_alarm(&family, count_call, 0, NULL);
    ck_assert(mica_event_propagate(family.world, ALARM, 0, mica_nil(), nothing));
    ck_assert(mica_event_propagate(family.world, ALARM, 0, alone, nothing));
    expect_diary(&family.diary, "none entity");
    mica_set_parent(family.world, mica_create(family.world), mica_create(family.world));
    ck_assert(mica_event_propagate(family.world, ALARM, 0, mica_nil(), nothing));
    ck_assert(mica_event_propagate(family.world, ALARM, 0, alone, nothing));
    expect_diary(&family.diary, "none entity");
    close_world(family.world, &family.heard);
}
END_TEST

START_TEST(recorded_events_take_the_way_that_is_there_after_the_flush)
{
    static family family;
    open_family(&family);
    mica_world *world = family.world;
    observe_alarm(&family, note_arrival, 0, NULL);
    mica_defer(world);
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[4], nothing));
    mica_set_parent(world, family.entities[4], family.entities[1]);
    mica_create_child(world, family.entities[4]);
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[2], nothing));
    mica_flush(world);
    expect_diary(&family.diary, "4<4 1<4 0<4 2<2 1<2 0<2");
    mica_defer(world);
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[2], nothing)); /* dies with its parent */
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[0], nothing));
    mica_destroy(world, family.entities[1]);
    mica_flush(world);
    expect_diary(&family.diary, "0<0");
    close_world(world, &family.heard);
}
END_TEST

/* Changes the way while the event is on it: that takes effect afterwards. */
static void tear_down(const mica_event *seen)
{
    note_arrival(seen);
    mica_set_parent(seen->world, seen->entities[0], mica_nil());
    mica_destroy(seen->world, seen->target);
}

START_TEST(what_observers_change_takes_effect_afterwards)
{
    static family family;
    open_family(&family);
    mica_world *world = family.world;
    observe_alarm(&family, tear_down, 0, NULL);
    ck_assert(mica_event_propagate(world, ALARM, 0, family.entities[2], nothing));
    expect_diary(&family.diary, "2<2 1<2 0<2");
    forget_reports(&family.heard); /* it was destroyed three times */
    ck_assert(mica_is_nil(mica_parent(world, family.entities[1])));
    ck_assert(!mica_is_alive(world, family.entities[2]));
    close_world(world, &family.heard);
}
END_TEST

enum { CROWD = 40 };

START_TEST(random_trees_agree_with_a_model)
{
    for (uint64_t seed = 0; seed < 40; ++seed) {
        static family family;
        family = (struct family){.world = open_world(&family.heard)};
        mica_world *world = family.world;
        random_source random = {seed};
        mica_entity entities[CROWD];
        for (uint32_t i = 0; i < CROWD; ++i) {
            entities[i] = mica_create(world);
            if (i && !random_one_in(&random, 6))
                mica_set_parent(world, entities[i], entities[random_below(&random, i)]);
            if (random_one_in(&random, 5))
                mica_add(world, entities[i], Wall);
            if (random_one_in(&random, 2))
                mica_add(world, entities[i], Torch);
        }
        family.diary.base = entities[0];
        observe_alarm(&family, note_arrival, 0, &(mica_term){.component = MICA_ID(Torch), .access = MICA_ACCESS_HAS});
        observe_alarm(&family, stop, 0, &(mica_term){.component = MICA_ID(Wall), .access = MICA_ACCESS_HAS});
        for (uint32_t round = 0; round < 30; ++round) {
            char expected[2048] = "";
            uint32_t first = random_below(&random, CROWD);
            bool is_recorded = random_one_in(&random, 2);
            if (is_recorded)
                mica_defer(world);
            ck_assert(mica_event_propagate(world, ALARM, 0, entities[first], nothing));
            if (is_recorded && first)
                mica_set_parent(world, entities[first], entities[random_below(&random, first)]);
            if (is_recorded)
                mica_flush(world);
            for (mica_entity at = entities[first]; !mica_is_nil(at); at = mica_parent(world, at)) {
                if (mica_has(world, at, Torch))
                    snprintf(expected + strlen(expected), 64, "%u<%u ", at.index - entities[0].index, first);
                if (mica_has(world, at, Wall)) {
                    strcat(expected, "stop ");
                    break;
                }
            }
            ck_assert_str_eq(family.diary.text, expected);
            family.diary.text[0] = '\0';
        }
        close_world(world, &family.heard);
    }
}
END_TEST

static void stop_wrongly(const mica_event *seen)
{
    ck_assert(!mica_event_stop(seen));
}

START_TEST(mistakes_are_reported)
{
    static family family;
    open_family(&family);
    mica_world *world = family.world;
    ck_assert(!mica_event_stop(&(mica_event){.world = world, .kind = ALARM})); /* there are no observers */
    expect_report(&family.heard, MICA_ERROR_INVALID, "event_stop: event must be a user event");
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Wall, stop_wrongly));
    mica_add(world, family.entities[0], Wall);
    expect_report(&family.heard, MICA_ERROR_INVALID, "event_stop: event must be a user event");
    observe_alarm(&family, note_arrival, 0, NULL);
    mica_entity dead = family.entities[4];
    mica_destroy(world, dead);
    ck_assert(!mica_event_propagate(world, ALARM, 0, dead, nothing));
    expect_report(&family.heard, MICA_ERROR_DEAD, "event_emit");
    ck_assert(!mica_event_propagate(world, MICA_EVENT_SET, 0, family.entities[1], nothing));
    expect_report(&family.heard, MICA_ERROR_INVALID, "MICA_EVENT_USER");
    expect_diary(&family.diary, "");
    close_world(world, &family.heard);
}
END_TEST

TEST_SUITE(event_propagation, events_arrive_at_every_ancestor_from_child_to_root,
           values_are_those_of_the_entity_it_arrived_at, events_without_an_entity_or_a_hierarchy_arrive_once,
           recorded_events_take_the_way_that_is_there_after_the_flush, what_observers_change_takes_effect_afterwards,
           random_trees_agree_with_a_model, mistakes_are_reported)
