/* All ways to talk in one scene: the same world after every frame for 1, 2, 3, 4, 7 and 16 workers, whatever the timing. */
#include "mica/flow.h"
#include "reports.h"
#include "test.h"

#include <sched.h>

enum { FRAMES = 12, CROWD = 12000 };

typedef struct Walker { uint32_t number, energy; } Walker;
typedef struct Wound { uint32_t depth; mica_entity by; } Wound;
typedef struct Route { uint64_t map; uint32_t place; } Route;
typedef struct Tally { uint64_t read, wounds, routes, deaths, alarms, order; } Tally;
MICA_COMPONENT(Walker, number, energy)
MICA_COMPONENT(Wound, depth, by)
MICA_COMPONENT(Route, map, place)
MICA_SINGLETON(Tally, read, wounds, routes, deaths, alarms, order)

typedef struct Step { mica_entity who; uint32_t energy; } Step;
typedef struct Push { uint32_t force; mica_entity by; } Push;
typedef struct Rest { uint32_t amount; } Rest;
typedef struct Question { uint32_t from; } Question;
MICA_STRUCT(Step, who, energy)
MICA_STRUCT(Push, force, by)
MICA_STRUCT(Rest, amount)
MICA_STRUCT(Question, from)

enum { ALARM = MICA_OBSERVE_USER };

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
    Walker *walker = mica_write(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i) {
        walker[i].energy += mica_random_below(&random, 10);
        if (walker[i].energy % 5 == 0)
            mica_emit(steps, Step, {view->entities[i], walker[i].energy});
    }
}

static void shove(mica_view *view)
{
    delay(view);
    const Walker *walker = mica_read(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity next = view->entities[(i + 1) % view->count];
        if (walker[i].energy % 7 == 0)
            mica_send(view->world, next, Push, {walker[i].number, view->entities[i]});
        if (walker[i].energy % 1000 == 3)
            mica_broadcast(view->world, Rest, {walker[i].number % 3});
        if (walker[i].energy % 50 == 9)
            mica_observe_emit(view->world, ALARM, 0, view->entities[i], (mica_value){0});
        if (walker[i].energy % 3 == 1)
            mica_request(routes, walker[i].number % 17, view->entities[i], Question, {walker[i].number});
    }
}

/* Order matters: a sum that depends on it. */
static void mix(uint64_t *sum, uint64_t value)
{
    *sum = *sum * 6364136223846793005u + value;
}

static void read_steps(const mica_frame *frame)
{
    Tally *tally = mica_write_the(frame->world, Tally);
    uint32_t count;
    for (const Step *some; (some = mica_stream_read(steps, Step, &count)); tally->read += count)
        for (uint32_t i = 0; i < count; ++i) {
            mix(&tally->order, some[i].who.index * (uint64_t)1000 + some[i].energy);
            if (some[i].energy % 35 == 0)
                mica_create(frame->world, MICA_WITH(Walker, {some[i].energy, some[i].who.index}));
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

static void wounded(const mica_observation *seen)
{
    Tally *tally = mica_write_the(seen->world, Tally);
    const Wound *wound = seen->values;
    for (uint32_t i = 0; i < seen->count; ++i) {
        mix(&tally->order, wound[i].depth);
        if (wound[i].depth % 9 == 0)
            mica_remove(seen->world, seen->entities[i], Wound);
    }
    tally->wounds += seen->count;
}

static void routed(const mica_observation *seen)
{
    mica_write_the(seen->world, Tally)->routes += seen->count;
}

static void died(const mica_observation *seen)
{
    Tally *tally = mica_write_the(seen->world, Tally);
    tally->deaths += seen->count;
    for (uint32_t i = 0; i < seen->count; ++i)
        mix(&tally->order, seen->entities[i].index);
}

static void alarmed(const mica_observation *seen)
{
    Tally *tally = mica_write_the(seen->world, Tally);
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
    mica_observer_add(world, MICA_OBSERVER(MICA_OBSERVE_SET, Wound, wounded));
    mica_observer_add(world, MICA_OBSERVER(MICA_OBSERVE_ADD, Route, routed, MICA_HAS(Wound)));
    mica_observer_add(world, MICA_OBSERVER_DESTROY(died));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = alarmed});
    mica_system_add(world, MICA_SYSTEM_WITH(walk, (MICA_USES(MICA_USE_STREAM_WRITE(steps)), .split = MICA_SPLIT_EVEN),
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
        tally = *mica_get_the(world, Tally);
        close_world(world, &heard);
    }
    ck_assert(tally.read > 1000 && tally.wounds > 1000 && tally.routes > 100 && tally.deaths > 100);
    ck_assert_uint_gt(tally.alarms, 100);
}
END_TEST

TEST_SUITE(communication, the_world_is_the_same_for_any_number_of_workers)
