/* All ways to talk in one scene: the same world after every frame for 1, 2, 3, 4, 7 and 16 workers, whatever the timing. */
#include "mica/flow.h"
#include "support/reports.h"
#include "support/test.h"

#include <sched.h>

enum { FRAMES = 12, CROWD = 12000 };

typedef struct Walker { uint32_t number, energy; } Walker;
typedef struct Wound { uint32_t depth; mica_entity by; } Wound;
typedef struct Route { uint64_t map; uint32_t location; } Route;
typedef struct Tally { uint64_t read, wounds, routes, deaths, alarms, order; } Tally;
MICA_COMPONENT(Walker, number, energy)
MICA_COMPONENT(Wound, depth, by)
MICA_COMPONENT(Route, map, location)
MICA_SINGLETON(Tally, read, wounds, routes, deaths, alarms, order)

typedef struct Step { mica_entity walker; uint32_t energy; } Step;
typedef struct Push { uint32_t force; mica_entity by; } Push;
typedef struct Rest { uint32_t amount; } Rest;
typedef struct Question { uint32_t from; } Question;
MICA_STRUCT(Step, walker, energy)
MICA_STRUCT(Push, force, by)
MICA_STRUCT(Rest, amount)
MICA_STRUCT(Question, from)

enum { ALARM = MICA_EVENT_USER };

static mica_stream *steps;
static mica_requests *routes;
static bool with_delays;

static void delay(const mica_view *view)
{
    static _Thread_local uint32_t state = 1;
    state = state * 1664525u + 1013904223u + (uint32_t)(uintptr_t)view;
    for (uint32_t i = 0; with_delays && i < (state >> 24) % 4; ++i)
        sched_yield();
}

static void walk(mica_view *view)
{
    delay(view);
    mica_random random = mica_random_of(view);
    Walker *walker = mica_view_write(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i) {
        walker[i].energy += mica_random_below(&random, 10);
        if (walker[i].energy % 5 == 0)
            mica_stream_push(steps, Step, {view->entities[i], walker[i].energy});
    }
}

static void shove(mica_view *view)
{
    delay(view);
    const Walker *walker = mica_view_read(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity next = view->entities[(i + 1) % view->count];
        if (walker[i].energy % 7 == 0)
            mica_send(view->world, next, Push, {walker[i].number, view->entities[i]});
        if (walker[i].energy % 1000 == 3)
            mica_broadcast(view->world, Rest, {walker[i].number % 3});
        if (walker[i].energy % 50 == 9)
            mica_event_emit(view->world, ALARM, 0, view->entities[i], (mica_value){0});
        if (walker[i].energy % 3 == 1)
            mica_request_post(routes, walker[i].number % 17, view->entities[i], Question, {walker[i].number});
    }
}

/* Order matters: a sum that depends on it. */
static void mix(uint64_t *sum, uint64_t value)
{
    *sum = *sum * 6364136223846793005u + value;
}

static void read_steps(const mica_frame *frame)
{
    Tally *tally = mica_singleton_write(frame->world, Tally);
    uint32_t count;
    for (const Step *some; (some = mica_stream_read(steps, Step, &count)); tally->read += count)
        for (uint32_t i = 0; i < count; ++i) {
            mix(&tally->order, some[i].walker.index * (uint64_t)1000 + some[i].energy);
            if (some[i].energy % 35 == 0)
                mica_create(frame->world, MICA_WITH(Walker, {some[i].energy, some[i].walker.index}));
        }
}

static void is_pushed(const mica_message *message)
{
    const Push *push = message->data;
    Walker *walker = message->values;
    walker->energy += push->force % 11;
    if (walker->energy % 13 == 0)
        mica_destroy(message->world, message->entities[0]);
    else if (walker->energy % 2)
        mica_set(message->world, message->entities[0], Wound, {push->force, push->by});
}

static void rests(const mica_message *message)
{
    Walker *walker = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        walker[i].energy += ((const Rest *)message->data)->amount;
}

static void find_routes(const mica_request_group *group)
{
    const Question *asked = group->questions;
    Route *route = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        route[i] = (Route){group->key, i};
        group->answered[i] = asked[i].from % 4 != 0;
    }
}

static void wounded(const mica_event *seen)
{
    Tally *tally = mica_singleton_write(seen->world, Tally);
    const Wound *wound = seen->values;
    for (uint32_t i = 0; i < seen->count; ++i) {
        mix(&tally->order, wound[i].depth);
        if (wound[i].depth % 9 == 0)
            mica_remove(seen->world, seen->entities[i], Wound);
    }
    tally->wounds += seen->count;
}

static void routed(const mica_event *seen)
{
    mica_singleton_write(seen->world, Tally)->routes += seen->count;
}

static void died(const mica_event *seen)
{
    Tally *tally = mica_singleton_write(seen->world, Tally);
    tally->deaths += seen->count;
    for (uint32_t i = 0; i < seen->count; ++i)
        mix(&tally->order, seen->entities[i].index);
}

static void alarmed(const mica_event *seen)
{
    Tally *tally = mica_singleton_write(seen->world, Tally);
    ++tally->alarms;
    mix(&tally->order, seen->entities[0].index);
}

static mica_world *open_scene(reports *heard, uint32_t workers)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    mica_world *world = open_world_with(heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    steps = mica_stream_create(world, MICA_STREAM(Step));
    routes = mica_requests_create(world, MICA_REQUESTS(Question, Route, find_routes, NULL));
    mica_handler_add(world, MICA_HANDLER(Walker, Push, is_pushed));
    mica_handler_add(world, MICA_HANDLER(Walker, Rest, rests));
    mica_message_every_frame(world, Rest, MICA_PHASE_BEGIN);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_SET, Wound, wounded));
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Route, routed, MICA_HAS(Wound)));
    mica_observer_add(world, MICA_OBSERVER_DESTROY(died));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = alarmed});
    mica_system_add(world,
                    MICA_SYSTEM_WITH(walk, (MICA_USES(MICA_USE_STREAM_WRITE(steps)), .parallel = MICA_PARALLEL_EVEN),
                                     MICA_WRITE(Walker)));
    mica_system_add(world, MICA_SYSTEM_WITH(shove, (MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(routes)))),
                                            MICA_READ(Walker)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(
                               read_steps, (MICA_TERMS(MICA_WRITE(Tally)), MICA_USES(MICA_USE_STREAM_READ(steps)))));
    for (uint32_t i = 0; i < CROWD; ++i)
        mica_create(world, MICA_WITH(Walker, {i, i * 7919 % 1013}));
    return world;
}

START_TEST(the_world_is_the_same_for_any_number_of_workers)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 4, 7, 16};
    uint64_t hashes[FRAMES] = {0};
    Tally tally = {0};
    for (uint32_t run = 0; run < 12; ++run) {
        reports heard;
        with_delays = run >= 6;
        mica_world *world = open_scene(&heard, worker_counts[run % 6]);
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            if (run == 0)
                hashes[frame] = mica_world_hash(world);
            ck_assert_msg(hashes[frame] == mica_world_hash(world), "%u workers differ in frame %u",
                          worker_counts[run % 6], frame);
        }
        tally = *mica_singleton_get(world, Tally);
        close_world(world, &heard);
    }
    ck_assert(tally.read > 1000 && tally.wounds > 1000 && tally.routes > 100 && tally.deaths > 100);
    ck_assert_uint_gt(tally.alarms, 100);
}
END_TEST

/* What systems and handlers send at random, against a list of all that was sent, applied one by one. */
typedef struct Word { uint32_t value; uint32_t hops; } Word;
typedef struct Noise { uint32_t value; } Noise;
typedef struct Sent { mica_entity to; uint32_t value; uint32_t is_noise; } Sent;
typedef struct Ear { uint64_t heard; } Ear;
typedef struct Memory { uint64_t heard; } Memory;
MICA_STRUCT(Word, value, hops)
MICA_STRUCT(Noise, value)
MICA_STRUCT(Sent, to, value, is_noise)
MICA_COMPONENT_WITH(Ear, (.toggle = true), heard)
MICA_POOL(Memory, heard)
MICA_TAG(Quiet)
MICA_TAG(Deaf)

enum { TALKERS = 9000, ROUNDS = 3 };

static mica_entity talkers[TALKERS];
static mica_stream *log_of_all;

static uint64_t hear(uint64_t before, uint32_t value)
{
    return before * 6364136223846793005u + value;
}

static void say(mica_world *world, mica_entity to, uint32_t value, uint32_t hops)
{
    mica_stream_push(log_of_all, Sent, {to, value, 0});
    mica_send(world, to, Word, {value, hops});
}

static void talk(mica_view *view)
{
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t value = mica_random_next(&random);
        if (value % 3 == 0)
            say(view->world, talkers[mica_random_below(&random, TALKERS)], value, value % 4);
        if (value % 2000 == 1) {
            mica_stream_push(log_of_all, Sent, {mica_nil(), value, 1});
            mica_broadcast(view->world, Noise, {value});
        }
    }
}

static void hear_all(const mica_message *message, uint32_t value)
{
    uint64_t *heard = message->values; /* an Ear or a Memory: of both it is all there is */
    for (uint32_t i = 0; i < message->count; ++i)
        heard[i] = hear(heard[i], value);
}

static void hears_word(const mica_message *message)
{
    const Word *word = message->data;
    ck_assert_uint_eq(message->count, 1);
    hear_all(message, word->value);
    if (word->hops && message->component == MICA_ID(Ear))
        say(message->world, talkers[(message->entities[0].index * 7u + word->value) % TALKERS], word->value / 2,
            word->hops - 1);
}

static void hears_noise(const mica_message *message)
{
    hear_all(message, ((const Noise *)message->data)->value);
}

typedef struct listener_model { bool has_ear, is_on, has_memory; uint64_t ear, memory; } listener_model;

static void model_hear(listener_model *listener, uint32_t value)
{
    listener->ear = listener->has_ear && listener->is_on ? hear(listener->ear, value) : listener->ear;
    listener->memory = listener->has_memory ? hear(listener->memory, value) : listener->memory;
}

static uint32_t place_of(mica_entity entity)
{
    return entity.index - talkers[0].index;
}

static void make_talkers(mica_world *world, listener_model *model)
{
    for (uint32_t i = 0; i < TALKERS; ++i) {
        model[i] = (listener_model){.has_ear = i % 5 != 0, .is_on = i % 11 != 0, .has_memory = i % 3 == 0};
        talkers[i] = mica_create(world);
        if (model[i].has_ear)
            mica_add(world, talkers[i], Ear);
        if (model[i].has_ear && !model[i].is_on)
            mica_disable(world, talkers[i], Ear);
        if (model[i].has_memory)
            mica_add(world, talkers[i], Memory);
        if (i % 2)
            mica_add(world, talkers[i], Quiet);
    }
}

static void apply_log(listener_model *model)
{
    uint32_t count;
    for (const Sent *sent; (sent = mica_stream_read(log_of_all, Sent, &count));)
        for (uint32_t i = 0; i < count; ++i)
            for (uint32_t j = 0; j < (sent[i].is_noise ? TALKERS : 1); ++j)
                model_hear(&model[sent[i].is_noise ? j : place_of(sent[i].to)], sent[i].value);
}

START_TEST(each_component_hears_all_that_was_sent_to_it_in_order_for_any_number_of_workers)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 4, 7, 16};
    static listener_model model[TALKERS];
    for (uint32_t i = 0; i < 6; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def def = mica_flow_def_default();
        def.worker_count = worker_counts[i];
        mica_flow_configure(world, &def);
        log_of_all = mica_stream_create(world, MICA_STREAM_WITH(Sent, (.application = true)));
        make_talkers(world, model);
        mica_handler_add(world, MICA_HANDLER(Ear, Word, hears_word));
        mica_handler_add(world, MICA_HANDLER(Memory, Word, hears_word));
        mica_handler_add(world, MICA_HANDLER(Memory, Noise, hears_noise));
        mica_handler_add(world, MICA_HANDLER(Ear, Noise, hears_noise));
        mica_system_add(world, MICA_SYSTEM_WITH(
                                   talk, (.parallel = MICA_PARALLEL_EVEN, MICA_USES(MICA_USE_STREAM_WRITE(log_of_all))),
                                   MICA_WITHOUT(Deaf)));
        for (uint32_t frame = 0; frame < ROUNDS; ++frame) {
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            apply_log(model);
            for (uint32_t j = 0; j < TALKERS; ++j) {
                const Ear *ear = mica_get(world, talkers[j], Ear);
                const Memory *memory = mica_get(world, talkers[j], Memory);
                ck_assert_msg((!ear || ear->heard == model[j].ear) && (!memory || memory->heard == model[j].memory),
                              "%u workers, frame %u, entity %u", worker_counts[i], frame, j);
            }
        }
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(communication, the_world_is_the_same_for_any_number_of_workers,
           each_component_hears_all_that_was_sent_to_it_in_order_for_any_number_of_workers)
