/* Monitors: which entities start and stop to match, told once per operation or flush. */
#include "flow/diary.h"
#include "flow/faults.h"
#include "match_set.h"
#include "mica/disable.h"
#include "mica/snapshot.h"
#include "random.h"

typedef struct Ember { float degrees; } Ember;
MICA_POOL_WITH(Ember, (.dying = MICA_DYING_LAZILY), degrees)
typedef struct Spark { int32_t count; } Spark;
MICA_POOL_WITH(Spark, (.dying = MICA_DYING_AT_FLUSH, .many = true, .toggle = true), count)
MICA_TAG_WITH(Template, (.hides = true))
MICA_TAG_WITH(Ghost, (.hides = true))
MICA_POOL_TAG(Wet)

/* "<" for entities that start to match, ">" for those that stop. */
static void note_match(const mica_event *seen)
{
    diary *diary = seen->context;
    char word[64];
    ck_assert(!seen->component && !seen->values && !seen->data);
    for (uint32_t i = 0; i < seen->count; ++i) {
        snprintf(word, sizeof word, "%s%u ", seen->kind == MICA_EVENT_MATCH ? "<" : ">",
                 seen->entities[i].index - diary->base.index);
        write_down(diary, word);
    }
}

static mica_observer monitor(mica_world *world, diary *diary, const mica_observer_def *def)
{
    mica_observer_def with_diary = *def;
    with_diary.context = diary;
    mica_observer added = mica_observer_add(world, &with_diary);
    ck_assert_uint_ne(added.id, 0);
    return added;
}

START_TEST(entities_that_start_and_stop_to_match_are_told)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity one = diary.base = mica_create(world);
    mica_observer added = monitor(
        world, &diary,
        MICA_MONITOR(note_match, MICA_READ(Heat), MICA_HAS(Lamp), MICA_WITHOUT(Torch), MICA_MAYBE_READ(Weight)));
    mica_set(world, one, Heat, {1});
    expect_diary(&diary, "");
    mica_set(world, one, Lamp, {1});
    expect_diary(&diary, "<0");
    mica_set(world, one, Lamp, {2});
    mica_add(world, one, Weight);
    expect_diary(&diary, "");
    mica_disable(world, one, Lamp);
    expect_diary(&diary, ">0");
    mica_disable(world, one, Lamp);
    mica_enable(world, one, Lamp);
    expect_diary(&diary, "<0");
    mica_add(world, one, Torch);
    mica_remove(world, one, Torch);
    expect_diary(&diary, ">0 <0");
    mica_entity_disable(world, one);
    expect_diary(&diary, ">0");
    mica_add(world, one, Template); /* a tag that the world did not use before hides it too */
    mica_entity_enable(world, one);
    expect_diary(&diary, "");
    mica_remove(world, one, Template);
    expect_diary(&diary, "<0");
    mica_entity two = mica_clone(world, one);
    expect_diary(&diary, "<1");
    mica_disable(world, two, Lamp);
    mica_clone(world, two); /* is created and switched off in one operation */
    expect_diary(&diary, ">1");
    mica_destroy(world, one);
    expect_diary(&diary, ">0");
    mica_enable(world, two, Lamp);
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    expect_diary(&diary, "<1 >1");
    ck_assert(mica_observer_remove(world, added));
    mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Lamp, {1}));
    expect_diary(&diary, "");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_may_be_in_two_terms)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    diary.base = mica_create(world);
    monitor(world, &diary,
            MICA_MONITOR(note_match, MICA_READ(Heat), MICA_WITHOUT(Wet), MICA_HAS(Heat), MICA_WITHOUT(Wet)));
    mica_add(world, diary.base, Heat);
    expect_diary(&diary, "<0");
    mica_add(world, diary.base, Wet);
    expect_diary(&diary, ">0");
    mica_remove(world, diary.base, Wet);
    expect_diary(&diary, "<0");
    mica_remove(world, diary.base, Heat);
    expect_diary(&diary, ">0");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(only_the_net_result_of_a_flush_is_told)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity one = diary.base = mica_create(world, MICA_WITH(Heat, {1}));
    mica_entity two = mica_create(world, MICA_WITH(Heat, {1}));
    monitor(world, &diary, MICA_MONITOR(note_match, MICA_READ(Heat), MICA_WITHOUT(Buff)));
    mica_defer(world);
    mica_set(world, one, Buff, {1});
    mica_remove(world, one, Buff);
    mica_remove(world, two, Heat);
    mica_set(world, two, Heat, {3});
    mica_entity dead = mica_create(world, MICA_WITH(Heat, {1}));
    mica_destroy(world, dead);
    mica_entity buffed = mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Buff, {1}));
    expect_diary(&diary, "");
    mica_flush(world);
    expect_diary(&diary, "");
    mica_defer(world);
    mica_destroy(world, one);
    mica_remove(world, buffed, Buff);
    mica_set(world, two, Buff, {1});
    mica_flush(world);
    char expected[32];
    snprintf(expected, sizeof expected, ">0 >1 <%u", buffed.index - one.index);
    expect_diary(&diary, expected);
    close_world(world, &heard);
}
END_TEST

/* A hook that takes away what was added, within the same operation. */
static void take_away(const mica_event *seen)
{
    mica_remove(seen->world, seen->entities[0], Heat);
}

/* Gives those that match a second component, and takes it from those that do not. */
static void follow(const mica_event *seen)
{
    note_match(seen);
    for (uint32_t i = 0; i < seen->count; ++i)
        if (seen->kind == MICA_EVENT_MATCH)
            mica_set(seen->world, seen->entities[i], Weight, {1});
        else if (mica_is_alive(seen->world, seen->entities[i]))
            mica_remove(seen->world, seen->entities[i], Weight);
}

START_TEST(what_hooks_and_monitors_record_belongs_to_the_operation)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary first = {0}, second = {0};
    mica_entity one = first.base = second.base = mica_create(world);
    monitor(world, &second, MICA_MONITOR(note_match, MICA_READ(Weight)));
    monitor(world, &first, MICA_MONITOR(follow, MICA_READ(Heat)));
    mica_hook_set(world, Heat, MICA_EVENT_ADD, take_away, NULL);
    mica_set(world, one, Heat, {1});
    ck_assert(!mica_has(world, one, Heat));
    expect_diary(&first, "");
    mica_hook_set(world, Heat, MICA_EVENT_ADD, NULL, NULL);
    mica_set(world, one, Heat, {1});
    ck_assert(mica_has(world, one, Weight));
    expect_diary(&first, "<0");
    expect_diary(&second, "<0");
    mica_remove(world, one, Heat);
    ck_assert(!mica_has(world, one, Weight));
    expect_diary(&first, ">0");
    expect_diary(&second, ">0");
    close_world(world, &heard);
}
END_TEST

static void toggle_heat(const mica_event *seen)
{
    for (uint32_t i = 0; i < seen->count; ++i)
        if (seen->kind == MICA_EVENT_MATCH)
            mica_remove(seen->world, seen->entities[i], Heat);
        else
            mica_set(seen->world, seen->entities[i], Heat, {1});
}

START_TEST(monitors_that_never_come_to_rest_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity one = mica_create(world);
    mica_observer added = mica_observer_add(world, MICA_MONITOR(toggle_heat, MICA_READ(Heat)));
    mica_set(world, one, Heat, {1});
    expect_report(&heard, MICA_ERROR_LIMIT, "keep recording");
    ck_assert(mica_observer_remove(world, added));
    bool has = mica_has(world, one, Heat);
    mica_flush(world);
    ck_assert_msg(mica_has(world, one, Heat) == has, "the rest is dropped");
    close_world(world, &heard);
}
END_TEST

START_TEST(mistakes_in_monitors_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static const mica_event_kind both[] = {MICA_EVENT_MATCH, MICA_EVENT_ADD};
    static const mica_term heat = {0};
    mica_term has = MICA_HAS(Heat), changed = MICA_CHANGED(Heat), without = MICA_WITHOUT(Heat), two[2] = {has, without};
    const struct {
        mica_observer_def def;
        const char *text;
    } mistakes[] = {
        {{.event = MICA_EVENT_MATCH}, "must require a component"},
        {{.event = MICA_EVENT_MATCH, .term_count = 1}, "must require a component"},
        {{.event = MICA_EVENT_UNMATCH, .terms = &without, .term_count = 1}, "must require a component"},
        {{.event = MICA_EVENT_MATCH, .terms = &changed, .term_count = 1}, "not states of an entity"},
        {{.event = MICA_EVENT_MATCH, .terms = &has, .term_count = 1, .component = MICA_ID(Heat)}, "no component"},
        {{.events = both, .event_count = 2, .terms = &has, .term_count = 1}, "not combined"},
        {{.event = MICA_EVENT_MATCH, .terms = &heat, .term_count = 1}, "no component with id 0"},
        {{.event = MICA_EVENT_MATCH, .terms = two, .term_count = 2}, "both asked for and excluded"},
    };
    for (uint32_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        mica_observer_def def = mistakes[i].def;
        def.fn = note_match;
        ck_assert_uint_eq(mica_observer_add(world, &def).id, 0);
        expect_report(&heard, i == 6 ? MICA_ERROR_UNKNOWN : MICA_ERROR_INVALID, mistakes[i].text);
    }
    close_world(world, &heard);
}
END_TEST

/* A random life. The set that each monitor was told of must be what a query finds, after every operation. */
enum { MONITORS = 8, STEPS = 3000 };

static mica_component random_component(random_source *random)
{
    mica_component ids[] = {MICA_ID(Heat),  MICA_ID(Lamp),     MICA_ID(Torch), MICA_ID(Buff),          MICA_ID(Ember),
                            MICA_ID(Spark), MICA_ID(Template), MICA_ID(Wet),   MICA_ID(mica_disabled), MICA_ID(Ghost)};
    return ids[random_below(random, sizeof ids / sizeof *ids)];
}

static void change_one(mica_world *world, random_source *random, mica_entity one)
{
    mica_component id = random_component(random);
    bool has_switch = mica_component_type(id)->toggle;
    switch (random_below(random, has_switch ? 5 : 3)) {
    case 0: mica_remove_id(world, one, id); break;
    case 3:
    case 4: mica_enable_id(world, one, id, random_one_in(random, 2)); break;
    default: mica_add_id(world, one, id); break;
    }
}

static mica_entity create_one(mica_world *world, random_source *random)
{
    switch (random_below(random, 3)) {
    case 0: return mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Lamp, {1}));
    case 1: return mica_create(world, MICA_WITH(Ember, {1}), MICA_WITH(Buff, {1}), MICA_WITH(Torch));
    default: return mica_create(world);
    }
}

static void change_many(random_source *random, const match_set *all)
{
    mica_query *query = all[random_below(random, MONITORS)].query;
    mica_component id = random_component(random);
    switch (random_below(random, 4)) {
    case 0: mica_destroy_all(query); break;
    case 1: mica_remove_all_id(query, id); break;
    default: mica_add_all_id(query, (mica_value){.component = id}); break;
    }
}

static void change_instances(mica_world *world, random_source *random, mica_entity one)
{
    mica_pool *pool = mica_pool_of(world, Spark);
    mica_instance instance = mica_pool_find(pool, one);
    if (random_one_in(random, 2))
        mica_pool_add(pool, one);
    else
        mica_pool_remove(pool, instance);
    mica_pool_gc(mica_pool_of(world, Ember), 4);
}

typedef struct life {
    mica_world *world;
    random_source random;
    match_set all[MONITORS];
    mica_entity entities[40];
    mica_snapshot snapshot;
} life;

static void begin_life(life *life, mica_world *world)
{
    life->world = world;
    const mica_observer_def *defs[MONITORS] = {
        MICA_MONITOR(match_set_see, MICA_READ(Heat)),
        MICA_MONITOR(match_set_see, MICA_READ(Lamp), MICA_WITHOUT(Torch), MICA_MAYBE_READ(Heat)),
        MICA_MONITOR(match_set_see, MICA_DISABLED(Lamp), MICA_WITHOUT(Buff)),
        MICA_MONITOR(match_set_see, MICA_READ(Ember)),
        MICA_MONITOR(match_set_see, MICA_READ(Spark), MICA_MAYBE_READ(Heat)),
        MICA_MONITOR(match_set_see, MICA_EITHER(Ember), MICA_OR(Heat), MICA_OR(Wet), MICA_WITHOUT(Spark)),
        MICA_MONITOR(match_set_see, MICA_HAS(Template), MICA_EITHER(Heat), MICA_OR(Lamp)),
        MICA_MONITOR(match_set_see, MICA_HAS(Wet), MICA_HAS(Buff), MICA_WITHOUT(Heat)),
    };
    for (uint32_t i = 0; i < MONITORS; ++i)
        ck_assert(match_set_open(&life->all[i], world, defs[i]->terms, defs[i]->term_count));
}

/* Whether the step went back to a snapshot, which tells nothing. */
static bool live_a_step(life *life)
{
    mica_world *world = life->world;
    random_source *random = &life->random;
    mica_entity *one = &life->entities[random_below(random, 40)];
    uint32_t what = random_below(random, 40);
    if (what == 0 && life->snapshot.id) {
        ck_assert_int_eq(mica_snapshot_restore(world, life->snapshot), MICA_OK);
        return true;
    }
    if (what == 1) {
        mica_snapshot_drop(world, life->snapshot);
        life->snapshot = mica_snapshot_take(world);
    } else if (what == 2) {
        change_many(random, life->all);
    } else if (what < 8) {
        mica_defer(world);
        for (uint32_t i = random_below(random, 12); i-- > 0;) {
            mica_entity *other = &life->entities[random_below(random, 40)];
            if (random_one_in(random, 6) && mica_is_alive(world, *other))
                mica_destroy(world, *other);
            else if (random_one_in(random, 6))
                *other = create_one(world, random);
            else if (mica_is_alive(world, *other))
                change_one(world, random, *other);
        }
        mica_flush(world);
    } else if (!mica_is_alive(world, *one)) {
        *one = what < 10 ? mica_clone(world, life->entities[0]) : create_one(world, random);
    } else if (what < 11) {
        mica_destroy(world, *one);
    } else if (what < 13) {
        change_instances(world, random, *one);
    } else if (what == 13) {
        mica_world_trim(world);
    } else {
        change_one(world, random, *one);
    }
    return false;
}

START_TEST(a_random_life_agrees_with_queries)
{
    static life life;
    for (uint64_t seed = 0; seed < 6; ++seed) {
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.dead_target = MICA_DEAD_TARGET_IGNORE;
        mica_world *world = open_world_with(&heard, def);
        life = (struct life){.random = {seed}};
        begin_life(&life, world);
        for (uint32_t step = 0; step < STEPS; ++step) {
            bool is_new = live_a_step(&life);
            for (uint32_t i = 0; i < MONITORS; ++i) {
                ck_assert_msg(is_new || match_set_is_right(&life.all[i]), "step %u, monitor %u", step, i);
                match_set_reset(&life.all[i]);
            }
            if (step % 500 == 250)
                ck_assert_int_eq(mica_world_clear(world), MICA_OK);
        }
        forget_reports(&heard);
        mica_snapshot_drop(world, life.snapshot);
        close_world(world, &heard);
        for (uint32_t i = 0; i < MONITORS; ++i) {
            for (uint32_t k = 0; k < life.all[i].capacity; ++k)
                ck_assert_msg(mica_is_nil(life.all[i].matches[k]), "all are destroyed with the world");
            match_set_close(&life.all[i], NULL);
        }
    }
}
END_TEST

static void monitor_a_life(faults *faults)
{
    mica_world *world = faults->world;
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    mica_observer_def def = *MICA_MONITOR(note_match, MICA_READ(Heat), MICA_HAS(Lamp));
    def.context = &diary;
    mica_entity one = diary.base = mica_create(world);
    faults_begin(faults);
    mica_observer added = mica_observer_add(world, &def);
    bool failed = faults_end(faults);
    ck_assert_int_eq(added.id == 0, failed);
    mica_set(world, one, Heat, {1});
    mica_add(world, one, Template);
    mica_remove(world, one, Template);
    mica_set(world, one, Lamp, {1});
    expect_diary(&diary, failed ? "" : "<0");
    mica_destroy(world, one);
    expect_diary(&diary, failed ? "" : ">0");
}

/* Entities with a component that outlives them, and which no tag hides that is known before. */
static void monitor_what_outlives(faults *faults)
{
    mica_world *world = faults->world;
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    mica_observer_def def = *MICA_MONITOR(note_match, MICA_READ(Ember));
    def.context = &diary;
    mica_define(world, Template);
    mica_entity one = diary.base = mica_create(world);
    faults_begin(faults);
    mica_observer added = mica_observer_add(world, &def);
    bool failed = faults_end(faults);
    ck_assert_int_eq(added.id == 0, failed);
    mica_set(world, one, Ember, {1});
    expect_diary(&diary, failed ? "" : "<0");
    mica_add(world, one, Template);
    expect_diary(&diary, failed ? "" : ">0");
    mica_remove(world, one, Template);
    expect_diary(&diary, failed ? "" : "<0");
    mica_destroy(world, one);
    expect_diary(&diary, failed ? "" : ">0");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
}

/* The tag is used for the first time: two monitors watch it, or none and the operation fails. */
static void hide_without_memory(faults *faults)
{
    mica_world *world = faults->world;
    static diary diaries[2]; /* the world is destroyed later */
    memset(diaries, 0, sizeof diaries);
    mica_entity one = diaries[0].base = diaries[1].base = mica_create(world);
    for (uint32_t i = 0; i < 2; ++i)
        monitor(world, &diaries[i], MICA_MONITOR(note_match, MICA_READ(Heat)));
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Heat, note_match, MICA_HAS(Lamp)));
    mica_set(world, one, Heat, {1});
    faults_begin(faults);
    bool added = mica_add(world, one, Ghost);
    bool failed = faults_end(faults);
    ck_assert(added || failed);
    if (!added) {
        forget_reports(&faults->heard);
        ck_assert(mica_add(world, one, Ghost));
    }
    mica_remove(world, one, Ghost);
    for (uint32_t i = 0; i < 2; ++i)
        expect_diary(&diaries[i], "<0 >0 <0");
}

/* What can't be noted is reported; nothing else is lost. */
static void note_without_memory(faults *faults)
{
    mica_world *world = faults->world;
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    diary.base = mica_create(world);
    monitor(world, &diary, MICA_MONITOR(note_match, MICA_READ(Heat)));
    Heat heat[30] = {0};
    const mica_value column = {MICA_ID(Heat), sizeof *heat, heat};
    mica_create_id(world, &column, 1); /* the list is known then */
    mica_world_trim(world);
    diary.text[0] = '\0';
    faults_begin(faults);
    bool created = mica_create_many(world, 30, &column, 1, NULL) == MICA_OK;
    bool failed = faults_end(faults);
    ck_assert(created || failed);
    ck_assert_int_eq(forget_reports(&faults->heard) != 0, failed);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Heat)));
    ck_assert_uint_eq(mica_query_count(query), created ? 31 : 1);
    mica_query_destroy(query);
    if (!failed)
        ck_assert_uint_ge(strlen(diary.text), 30 * 3);
}

START_TEST(running_out_of_memory_is_reported)
{
    ck_assert_uint_ge(fail_everywhere(monitor_a_life), 6);
    ck_assert_uint_ge(fail_everywhere(monitor_what_outlives), 6);
    ck_assert_uint_ge(fail_everywhere(hide_without_memory), 4);
    ck_assert_uint_ge(fail_everywhere(note_without_memory), 4);
}
END_TEST

TEST_SUITE(monitor, entities_that_start_and_stop_to_match_are_told, a_component_may_be_in_two_terms,
           only_the_net_result_of_a_flush_is_told, what_hooks_and_monitors_record_belongs_to_the_operation,
           monitors_that_never_come_to_rest_are_reported, mistakes_in_monitors_are_reported,
           a_random_life_agrees_with_queries, running_out_of_memory_is_reported)
