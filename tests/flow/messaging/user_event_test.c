/* User events while the world records: they are delivered by the flush, after the changes and in their order. */
#include "flow/diary.h"
#include "flow/faults.h"
#include "random.h"

typedef struct Order { uint32_t number; mica_entity victim; } Order;
MICA_STRUCT(Order, number, victim)
MICA_TAG(Doomed)

static const mica_value nothing;

static mica_value order(const Order *given)
{
    return (mica_value){MICA_ID(Order), sizeof *given, given};
}

/* Writes the number of the order and the weight of the entity at this moment. */
static void note_order(const mica_event *seen)
{
    char word[64];
    const Weight *weight = seen->count ? mica_get(seen->world, seen->entities[0], Weight) : NULL;
    const Order *given = seen->data;
    ck_assert(!seen->count || mica_same(seen->target, seen->entities[0]));
    snprintf(word, sizeof word, "%u:%.0f ", given ? given->number : 0, weight ? (double)weight->kilos : -1.0);
    write_down(seen->context, word);
}

static void observe_orders(mica_world *world, diary *diary, mica_event_fn fn)
{
    ck_assert_uint_ne(mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = fn, .context = diary}).id, 0);
}

START_TEST(events_are_delivered_by_the_flush_after_the_changes)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity one = mica_create(world, MICA_WITH(Weight, {1}));
    observe_orders(world, &diary, note_order);
    Order given = {1, mica_nil()};
    mica_defer(world);
    ck_assert(mica_event_emit(world, ALARM, 0, one, order(&given)));
    mica_set(world, one, Weight, {2});
    given.number = 2; /* the first has a copy */
    mica_entity two = mica_create(world, MICA_WITH(Weight, {5}));
    ck_assert(mica_event_emit(world, ALARM, 0, two, order(&given)));
    ck_assert(mica_event_emit(world, ALARM, 0, mica_nil(), (mica_value){.component = MICA_ID(Order), .data = &given}));
    ck_assert(mica_event_emit(world, ALARM, 0, one, nothing));
    mica_set(world, one, Weight, {3});
    expect_diary(&diary, "");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    expect_diary(&diary, "1:3 2:5 2:-1 0:3");
    mica_defer(world); /* nothing but an event */
    mica_event_emit(world, ALARM, 0, one, nothing);
    mica_flush(world);
    expect_diary(&diary, "0:3");
    mica_world_trim(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(observers_added_before_the_flush_see_what_was_recorded)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_defer(world);
    ck_assert(mica_event_emit(world, ALARM, 0, mica_nil(), nothing));
    ck_assert_int_eq(mica_flush(world), MICA_OK); /* there are no observers */
    mica_defer(world);
    ck_assert(mica_event_emit(world, ALARM, 0, mica_nil(), nothing));
    observe_orders(world, &diary, note_order);
    mica_flush(world);
    expect_diary(&diary, "0:-1");
    close_world(world, &heard);
}
END_TEST

static void alarm_added(const mica_event *seen)
{
    ck_assert(mica_event_emit(seen->world, ALARM, 0, seen->entities[0], nothing));
    mica_set(seen->world, seen->entities[0], Weight, {9});
    write_down(seen->context, "hook ");
}

START_TEST(events_of_hooks_come_when_the_operation_has_ended)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    observe_orders(world, &diary, note_order);
    mica_hook_set(world, Heat, MICA_EVENT_ADD, alarm_added, &diary);
    mica_entity one = mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Buff, {1}));
    expect_diary(&diary, "hook 0:9");
    mica_clone(world, one); /* several changes that count as one operation */
    expect_diary(&diary, "hook 0:9");
    mica_defer(world);
    mica_set(world, mica_create(world), Heat, {1});
    mica_set(world, mica_create(world), Heat, {1});
    mica_flush(world);
    expect_diary(&diary, "hook hook 0:9 0:9");
    mica_hook_set(world, Heat, MICA_EVENT_ADD, NULL, NULL);
    mica_hook_set(world, Heat, MICA_EVENT_REMOVE, alarm_added, &diary);
    forget_reports(&heard);
    mica_remove(world, one, Heat);
    expect_diary(&diary, "hook 0:9");
    close_world(world, &heard);
}
END_TEST

static void destroy_victim(const mica_event *seen)
{
    const Order *given = seen->data;
    note_order(seen);
    if (given && !mica_is_nil(given->victim))
        mica_destroy(seen->world, given->victim);
    if (given && given->number == 7) /* a new event comes after those that wait */
        mica_event_emit(seen->world, ALARM, 0, seen->entities[0], order(&(Order){8, mica_nil()}));
}

static void note_matches(const mica_event *seen)
{
    char word[32];
    snprintf(word, sizeof word, "%s%u ", seen->kind == MICA_EVENT_MATCH ? "<" : ">", seen->count);
    write_down(seen->context, word);
}

START_TEST(what_follows_from_an_event_comes_before_the_next_one)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity entities[4];
    for (uint32_t i = 0; i < 4; ++i)
        entities[i] = mica_create(world, MICA_WITH(Weight, {(float)i}));
    observe_orders(world, &diary, destroy_victim);
    mica_observer_def monitor = *MICA_MONITOR(note_matches, MICA_READ(Weight));
    monitor.context = &diary;
    mica_observer_add(world, &monitor);
    mica_defer(world);
    mica_event_emit(world, ALARM, 0, entities[0], order(&(Order){7, entities[1]}));
    mica_event_emit(world, ALARM, 0, entities[1], order(&(Order){1, mica_nil()})); /* destroyed by the first */
    mica_event_emit(world, ALARM, 0, entities[2], order(&(Order){2, entities[2]}));
    mica_remove(world, entities[3], Weight);
    mica_flush(world);
    expect_diary(&diary, ">1 7:0 >1 2:2 >1 8:0");
    mica_event_emit(world, ALARM, 0, entities[0], order(&(Order){7, mica_nil()}));
    expect_diary(&diary, "7:0 8:0");
    close_world(world, &heard);
    diary.text[0] = '\0';
}
END_TEST

static void weigh(const mica_event *seen)
{
    note_matches(seen);
    if (seen->kind == MICA_EVENT_MATCH)
        mica_set(seen->world, seen->entities[0], Weight, {6});
}

static void light_torch(const mica_event *seen)
{
    note_order(seen);
    mica_add(seen->world, seen->entities[0], Torch);
}

START_TEST(what_monitors_change_comes_before_the_next_event)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    mica_entity one = mica_create(world, MICA_WITH(Weight, {1}));
    observe_orders(world, &diary, light_torch);
    mica_observer_def monitor = *MICA_MONITOR(weigh, MICA_HAS(Torch));
    monitor.context = &diary;
    mica_observer_add(world, &monitor);
    mica_defer(world);
    mica_event_emit(world, ALARM, 0, one, order(&(Order){1, mica_nil()}));
    mica_event_emit(world, ALARM, 0, one, order(&(Order){2, mica_nil()}));
    mica_flush(world);
    expect_diary(&diary, "1:1 <1 2:6");
    close_world(world, &heard);
}
END_TEST

static void emit_again(const mica_event *seen)
{
    ++*(uint32_t *)seen->context;
    mica_event_emit(seen->world, ALARM, 0, seen->entities[0], nothing);
}

static void change_and_emit(const mica_event *seen)
{
    if (mica_is_alive(seen->world, seen->entities[0]))
        mica_event_emit(seen->world, ALARM, 0, seen->entities[0], nothing);
}

static void toggle_torch(const mica_event *seen)
{
    ++*(uint32_t *)seen->context;
    if (mica_has(seen->world, seen->entities[0], Torch))
        mica_remove(seen->world, seen->entities[0], Torch);
    else
        mica_add(seen->world, seen->entities[0], Torch);
}

START_TEST(events_that_never_come_to_rest_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity one = mica_create(world);
    uint32_t count = 0;
    mica_observer added =
        mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = emit_again, .context = &count});
    for (uint32_t i = 1; i <= 2; ++i) {
        ck_assert(mica_event_emit(world, ALARM, 0, one, nothing));
        expect_report(&heard, MICA_ERROR_LIMIT, "observers still emit events after 256 rounds");
        ck_assert_uint_eq(count, i * 257);
    }
    ck_assert(mica_observer_remove(world, added));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = toggle_torch, .context = &count});
    mica_observer_add(world, MICA_MONITOR(change_and_emit, MICA_HAS(Torch)));
    count = 0;
    ck_assert(mica_event_emit(world, ALARM, 0, one, nothing)); /* event, change, monitor, event ... */
    expect_report(&heard, MICA_ERROR_LIMIT, "observers still emit events after 256 rounds");
    ck_assert_uint_eq(count, 257);
    count = 0;
    mica_defer(world);
    for (uint32_t i = 0; i < 1000; ++i) /* many that follow from nothing are no matter */
        mica_event_emit(world, QUIET, 0, one, nothing);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

static void change_heat(const mica_event *seen)
{
    mica_set(seen->world, seen->entities[0], Heat, {*(const float *)seen->data});
}

START_TEST(a_flush_may_have_more_events_than_rounds)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity one = mica_create(world);
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = change_heat});
    mica_defer(world);
    for (uint32_t i = 0; i < 1000; ++i) {
        float degrees = (float)i;
        mica_event_emit(world, ALARM, 0, one, (mica_value){.size_bytes = sizeof degrees, .data = &degrees});
    }
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(mica_get(world, one, Heat)->degrees == 999);
    close_world(world, &heard);
}
END_TEST

/* What happens to an entity for which something is recorded. */
typedef enum fate { DEAD_IN_LATER_ROUND, DESTROYED_BEFORE, DESTROYED_AFTER, DESTROYED_IN_CALL, FATES } fate;

static struct {
    fate fate;
    bool emits; /* or sets */
    bool accepted;
    mica_entity victim;
} now;

static void change_victim(mica_world *world)
{
    now.accepted =
        now.emits ? mica_event_emit(world, ALARM, 0, now.victim, nothing) : mica_set(world, now.victim, Weight, {3});
}

static void change_first(const mica_frame *frame)
{
    if (now.fate == DESTROYED_IN_CALL)
        mica_destroy(frame->world, now.victim);
    if (now.fate == DESTROYED_BEFORE)
        mica_destroy(frame->world, now.victim);
    else if (now.fate != DEAD_IN_LATER_ROUND)
        change_victim(frame->world);
}

static void change_second(const mica_frame *frame)
{
    if (now.fate == DESTROYED_AFTER)
        mica_destroy(frame->world, now.victim);
    else if (now.fate == DESTROYED_BEFORE)
        change_victim(frame->world);
    if (now.fate == DEAD_IN_LATER_ROUND) {
        mica_set(frame->world, mica_create(frame->world), Heat, {1});
        mica_destroy(frame->world, now.victim);
    }
}

static void change_in_hook(const mica_event *seen)
{
    change_victim(seen->world);
}

/* The result of the step, and what was reported. */
static mica_result meet_fate(mica_dead_target policy, fate fate, bool emits, char *out_reports, bool *out_accepted)
{
    reports heard;
    mica_world_def def = mica_world_def_default();
    def.dead_target = policy;
    mica_world *world = open_world_with(&heard, def);
    diary diary = {0};
    observe_orders(world, &diary, note_order);
    mica_hook_set(world, Heat, MICA_EVENT_ADD, change_in_hook, NULL);
    now.fate = fate;
    now.emits = emits;
    now.accepted = false;
    now.victim = mica_create(world, MICA_WITH(Weight, {1}));
    mica_system_add(world, MICA_SYSTEM_ONCE(change_first));
    mica_system_add(world, MICA_SYSTEM_ONCE(change_second));
    mica_result result = mica_step(world, 1);
    out_reports[0] = '\0';
    for (uint32_t i = 0; i < heard.count; ++i)
        snprintf(out_reports + strlen(out_reports), 512, "%d ", heard.list[i].result);
    *out_accepted = now.accepted;
    expect_diary(&diary, "");
    forget_reports(&heard);
    close_world(world, &heard);
    return result;
}

START_TEST(an_event_for_the_dead_is_treated_like_a_change)
{
    static const mica_dead_target policies[] = {MICA_DEAD_TARGET_WARN, MICA_DEAD_TARGET_IGNORE, MICA_DEAD_TARGET_ERROR};
    for (uint32_t i = 0; i < 3; ++i)
        for (fate fate = 0; fate < FATES; ++fate) {
            char expected[2048], found[2048];
            bool was_set, was_emitted;
            mica_result result = meet_fate(policies[i], fate, false, expected, &was_set);
            ck_assert_int_eq(meet_fate(policies[i], fate, true, found, &was_emitted), result);
            ck_assert_msg(strcmp(expected, found) == 0, "policy %u, fate %u: reports %s instead of %s", i, fate, found,
                          expected);
            ck_assert_int_eq(was_set, was_emitted);
        }
}
END_TEST

START_TEST(mistakes_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    observe_orders(world, &diary, note_order);
    mica_entity one = mica_create(world), dead = mica_create(world);
    mica_destroy(world, dead);
    for (uint32_t i = 0; i < 2; ++i) { /* at once, and recorded */
        if (i)
            mica_defer(world);
        ck_assert(!mica_event_emit(world, ALARM, 0, dead, nothing));
        expect_report(&heard, MICA_ERROR_DEAD, "event_emit");
        ck_assert(!mica_event_emit(world, MICA_EVENT_ADD, 0, one, nothing));
        expect_report(&heard, MICA_ERROR_INVALID, "MICA_EVENT_USER");
        ck_assert(!mica_event_emit(world, ALARM, 0, one, (mica_value){.data = &one}));
        expect_report(&heard, MICA_ERROR_INVALID, "mica_event_emit: data must be of a described type, or have a size");
        ck_assert(!mica_event_propagate(world, ALARM, 0, one, (mica_value){.component = 4000}));
        expect_report(&heard, MICA_ERROR_INVALID, "mica_event_propagate: data must be of a described type");
        ck_assert(!mica_event_emit(world, ALARM, 4000, one, nothing));
        expect_report(&heard, MICA_ERROR_INVALID, "component must be a component, or 0");
        ck_assert(!mica_event_emit(world, ALARM, 0, one, (mica_value){MICA_ID(Order), 3, &one}));
        expect_report(&heard, MICA_ERROR_INVALID, "3 bytes");
    }
    mica_flush(world);
    expect_diary(&diary, "");
    ck_assert(!mica_event_stop(&(mica_event){.world = world, .kind = ALARM}));
    expect_report(&heard, MICA_ERROR_INVALID, "event_stop");
    close_world(world, &heard);
}
END_TEST

static void emit_inside(uint32_t begin, uint32_t end, void *context)
{
    const mica_view *view = context;
    for (uint32_t i = begin; i < end; ++i)
        ck_assert(!mica_event_emit(view->world, ALARM, 0, view->entities[i], nothing));
}

static void emit_in_pieces(mica_view *view)
{
    mica_parallel_for(view->world, view->count, 1, emit_inside, view);
}

START_TEST(events_need_a_place_in_the_order)
{
    if (STOPS_AT_MISTAKES) /* see checked_test.c */
        return;
    reports heard;
    mica_world *world = open_world(&heard);
    diary diary = {0};
    observe_orders(world, &diary, note_order);
    mica_create(world, MICA_WITH(Weight, {1}));
    mica_system_add(world, MICA_SYSTEM(emit_in_pieces, MICA_READ(Weight)));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "parallel for");
    expect_diary(&diary, "");
    close_world(world, &heard);
}
END_TEST

enum { CROWD = 200, RECORDED = 60 };

/* What a random flush should do: weights, which entities live, and the events in order. */
typedef struct model {
    mica_entity entities[CROWD];
    float weights[CROWD];
    bool lives[CROWD];
    Order orders[RECORDED];
    mica_entity targets[RECORDED];
    uint32_t order_count;
} model;

/* The place of a living entity; CROWD: it is dead. */
static uint32_t place_of(const model *model, mica_entity entity)
{
    uint32_t i = 0;
    while (i < CROWD && !(model->lives[i] && mica_same(model->entities[i], entity)))
        ++i;
    return i;
}

/* Records random changes and events; in a model their result. */
static void record_randomly(mica_world *world, random_source *random, model *model)
{
    for (uint32_t i = 0; i < RECORDED; ++i) {
        uint32_t at = random_below(random, CROWD), what = random_below(random, 4);
        if (!model->lives[at] && what == 0) {
            model->lives[at] = true;
            model->weights[at] = (float)i;
            model->entities[at] = mica_create(world, MICA_WITH(Weight, {(float)i}));
        }
        if (!model->lives[at])
            continue;
        if (what == 1) {
            mica_set(world, model->entities[at], Weight, {model->weights[at] = (float)i});
        } else if (what == 2 && random_one_in(random, 3)) {
            model->lives[at] = false;
            mica_destroy(world, model->entities[at]);
        } else if (what == 3) {
            uint32_t other = random_below(random, CROWD);
            Order given = {i, random_one_in(random, 2) && model->lives[other] ? model->entities[other] : mica_nil()};
            model->orders[model->order_count] = given;
            model->targets[model->order_count++] = model->entities[at];
            ck_assert(mica_event_emit(world, ALARM, 0, model->entities[at], order(&given)));
        }
    }
}

/* What the observers should have written: an order destroys its victim before the next one. */
static void expect_orders(model *model, diary *diary)
{
    char expected[2048] = "";
    for (uint32_t i = 0; i < model->order_count; ++i) {
        uint32_t at = place_of(model, model->targets[i]), victim = place_of(model, model->orders[i].victim);
        if (at == CROWD)
            continue;
        snprintf(expected + strlen(expected), 64, "%s%u:%.0f", expected[0] ? " " : "", model->orders[i].number,
                 (double)model->weights[at]);
        if (victim < CROWD)
            model->lives[victim] = false;
    }
    expect_diary(diary, expected);
    model->order_count = 0;
}

static void kill_victim(const mica_event *seen)
{
    const Order *given = seen->data;
    note_order(seen);
    if (!mica_is_nil(given->victim) && mica_is_alive(seen->world, given->victim))
        mica_destroy(seen->world, given->victim);
}

START_TEST(random_flushes_agree_with_a_model)
{
    static model model;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.dead_target = MICA_DEAD_TARGET_IGNORE;
        mica_world *world = open_world_with(&heard, def);
        random_source random = {seed};
        diary diary = {0};
        observe_orders(world, &diary, kill_victim);
        model = (struct model){0};
        for (uint32_t flush = 0; flush < 40; ++flush) {
            mica_defer(world);
            record_randomly(world, &random, &model);
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            expect_orders(&model, &diary);
            for (uint32_t i = 0; i < CROWD; ++i)
                ck_assert_int_eq(mica_is_alive(world, model.entities[i]) && !mica_is_nil(model.entities[i]),
                                 model.lives[i]);
        }
        close_world(world, &heard);
    }
}
END_TEST

/* Systems that change, destroy and tell: about themselves and about the one after them. */
static void tell_and_change(mica_view *view)
{
    const Weight *weight = mica_view_read(view, Weight);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t number = (uint32_t)weight[i].kilos;
        if (number % 7 == 3)
            mica_event_emit(view->world, ALARM, 0, view->entities[i], order(&(Order){number, mica_nil()}));
        if (number % 11 == 5)
            mica_destroy(view->world, view->entities[i]);
        else if (number % 5 == 1)
            mica_set(view->world, view->entities[i], Heat, {1});
    }
}

static void tell_later(mica_view *view)
{
    const Weight *weight = mica_view_read(view, Weight);
    for (uint32_t i = 0; i + 1 < view->count; ++i)
        if ((uint32_t)weight[i].kilos % 13 == 0)
            mica_event_propagate(view->world, ALARM, 0, view->entities[i + 1],
                                 order(&(Order){10000 + (uint32_t)weight[i].kilos, mica_nil()}));
}

/* A digest of what was told, in order. */
static void digest(const mica_event *seen)
{
    uint64_t *sum = seen->context;
    *sum = *sum * 1099511628211u + ((const Order *)seen->data)->number + seen->entities[0].index;
    mica_set(seen->world, seen->entities[0], Lamp, {(int32_t)*sum});
    if (*sum % 9 == 0)
        mica_create(seen->world, MICA_WITH(Weight, {(float)(*sum % 4000)}));
}

START_TEST(the_order_does_not_depend_on_the_number_of_workers)
{
    uint64_t sums[4] = {0}, hashes[4];
    for (uint32_t i = 0; i < 4; ++i) {
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.dead_target = MICA_DEAD_TARGET_IGNORE;
        mica_world *world = open_world_with(&heard, def);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = i * i;
        mica_flow_configure(world, &flow);
        for (uint32_t k = 0; k < 4000; ++k)
            mica_create(world, MICA_WITH(Weight, {(float)k}));
        mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = digest, .context = &sums[i]});
        mica_system_add(world, MICA_SYSTEM_WITH(tell_and_change, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Weight)));
        mica_system_add(world, MICA_SYSTEM_WITH(tell_later, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Weight)));
        for (uint32_t k = 0; k < 3; ++k)
            mica_step(world, 1);
        hashes[i] = mica_world_hash(world);
        close_world(world, &heard);
        ck_assert_uint_ne(sums[i], 0);
        ck_assert_uint_eq(sums[i], sums[0]);
        ck_assert_uint_eq(hashes[i], hashes[0]);
    }
}
END_TEST

/* Nothing is lost, and nothing is told twice: a flush that fails is repeated. */
static void flush_without_memory(faults *faults)
{
    mica_world *world = faults->world;
    static diary diary; /* the world is destroyed later */
    diary = (struct diary){0};
    mica_entity one = mica_create(world, MICA_WITH(Weight, {1})), two = mica_create(world);
    observe_orders(world, &diary, destroy_victim);
    mica_world_trim(world);
    faults_begin(faults);
    mica_defer(world);
    bool first = mica_event_emit(world, ALARM, 0, one, order(&(Order){1, mica_nil()}));
    bool changed = mica_set(world, one, Weight, {4});
    bool second = mica_event_emit(world, ALARM, 0, one, order(&(Order){2, two}));
    mica_result result = mica_flush(world);
    bool failed = faults_end(faults);
    ck_assert(failed || (first && second && changed && result == MICA_OK));
    if (result != MICA_OK)
        mica_flush(world);
    char expected[64];
    snprintf(expected, sizeof expected, "%s%s%s", first ? changed ? "1:4" : "1:1" : "", first && second ? " " : "",
             second ? changed ? "2:4" : "2:1" : "");
    forget_reports(&faults->heard);
    expect_diary(&diary, expected);
    mica_flush(world); /* what observers recorded, if that failed */
    ck_assert(!second || !mica_is_alive(world, two) || failed);
}

START_TEST(running_out_of_memory_loses_nothing)
{
    ck_assert_uint_ge(fail_everywhere(flush_without_memory), 8);
}
END_TEST

TEST_SUITE(user_event, events_are_delivered_by_the_flush_after_the_changes,
           observers_added_before_the_flush_see_what_was_recorded, events_of_hooks_come_when_the_operation_has_ended,
           what_follows_from_an_event_comes_before_the_next_one, what_monitors_change_comes_before_the_next_event,
           events_that_never_come_to_rest_are_reported, a_flush_may_have_more_events_than_rounds,
           an_event_for_the_dead_is_treated_like_a_change, mistakes_are_reported, events_need_a_place_in_the_order,
           random_flushes_agree_with_a_model, the_order_does_not_depend_on_the_number_of_workers,
           running_out_of_memory_loses_nothing)
