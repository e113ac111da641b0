/* A world in which everything talks: systems, alone, in chains and over a pool, that send messages, ask, write a stream and
 * tell observers, while statistics are kept and a trace is written. For tests of what may fail anywhere. */
#ifndef MICA_TESTS_FLOW_TALK_H
#define MICA_TESTS_FLOW_TALK_H

#include "mica/flow.h"
#include "support/components.h"
#include "support/test.h"

typedef struct Hit { uint32_t points; } Hit;
typedef struct Shout { uint32_t volume; } Shout;
typedef struct Wave { uint32_t height; } Wave;
MICA_STRUCT(Hit, points)
MICA_STRUCT(Shout, volume)
MICA_STRUCT(Wave, height)

/* Both described with handlers, and one of them in a pool. */
typedef struct Fuel { uint32_t litres; } Fuel;
typedef struct Ear { uint32_t heard; } Ear;
static inline void count_heard(const mica_message *message)
{
    for (uint32_t i = 0; i < message->count; ++i)
        ++((uint32_t *)message->values)[i];
}
static const mica_handler described_handlers[] = {MICA_HANDLED(Shout, count_heard), MICA_HANDLED(Hit, count_heard)};
MICA_POOL_WITH(Fuel, (MICA_HANDLERS(described_handlers)), litres)
MICA_COMPONENT_WITH(Ear, (MICA_HANDLERS(described_handlers)), heard)

enum { TALKERS = 70, ALARM = MICA_EVENT_USER };

typedef struct talk {
    mica_entity far; /* has a number only; the others, TALKERS of them, have a place too */
    mica_stream *stream;
    mica_requests *requests;
} talk;

static inline void talk_populate(mica_world *world, talk *talk)
{
    for (uint32_t i = 0; i < TALKERS; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {0}));
    talk->far = mica_create(world, MICA_WITH(Number, {0}));
}

static inline void answer_with_mass(const mica_request_group *group)
{
    for (uint32_t i = 0; i < group->count; ++i)
        ((Mass *)group->answers)[i].value = 1;
}

static inline void hear_alarm(const mica_event *seen)
{
    mica_set(seen->world, seen->entities[0], Letter, {'a'});
}

static inline void take_hit(const mica_message *message)
{
    for (uint32_t i = 0; i < message->count; ++i)
        ((Number *)message->values)[i].value += ((const Hit *)message->data)->points;
}

static inline void hear(const mica_message *message)
{
    (void)message;
}

/* Of one component for two kinds of messages, with what they declare. */
static inline bool talk_add_handlers(mica_world *world)
{
    static const mica_message_fn fn = hear;
    return mica_handler_add(world, MICA_HANDLER(Number, Hit, take_hit)) == MICA_OK &&
           mica_handler_add(world, MICA_HANDLER_WITH(Number, Hit, fn, (MICA_USES(MICA_USE_READ(Mass))))) == MICA_OK &&
           mica_handler_add(world, MICA_HANDLER_WITH(Number, Shout, fn, (MICA_USES(MICA_USE_READ(Mass))))) == MICA_OK &&
           mica_handler_add(world, MICA_HANDLER(Position, Shout, fn)) == MICA_OK &&
           mica_handler_add(world, MICA_HANDLER(Position, Wave, fn)) == MICA_OK;
}

/* To the far one in between, so that letters must be sorted. */
static inline void talk_to_all(mica_view *view)
{
    const talk *talk = view->frame->context;
    mica_world *world = view->world;
    if (mica_same(view->entities[0], talk->far))
        return;
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_send(world, view->entities[i], Hit, {1});
        if (i == view->count / 2)
            mica_send(world, talk->far, Hit, {2});
        mica_request_post(talk->requests, i % 3, view->entities[i], Hit, {i});
        mica_stream_push(talk->stream, Hit, {i});
    }
    mica_entity born = mica_create(world, MICA_WITH(Ear, {0})); /* the first that has one */
    if (!mica_is_nil(born))
        mica_send(world, born, Hit, {1});
    mica_event_emit(world, ALARM, 0, talk->far, (mica_value){.data = &view->count, .size_bytes = 4});
    mica_broadcast(world, Wave, {1});
}

static inline void listen_to_stream(const mica_frame *frame)
{
    const talk *talk = frame->context;
    uint32_t count;
    while (mica_stream_read(talk->stream, Hit, &count))
        mica_create(frame->world, MICA_WITH(Mass, {(float)count}));
    mica_commands *commands = mica_frame_commands(frame);
    if (commands)
        mica_command_create(commands, MICA_WITH(Color, {1, 2, 3}));
}

static inline void burn(mica_view *view)
{
    ++mica_view_write(view, Fuel)->litres;
}

static inline void drift(mica_view *view)
{
    mica_view_write(view, Position)->x += 1;
}

static inline void talk_add_systems(mica_world *world, talk *talk)
{
    mica_system_def again = *MICA_SYSTEM(drift, MICA_WRITE(Position), MICA_READ(Number));
    again.name = "drift again";
    mica_system_add(world, MICA_SYSTEM(drift, MICA_WRITE(Position)));
    mica_system_add(world, &again);
    mica_system_add(world,
                    MICA_SYSTEM_WITH(burn, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 1), MICA_WRITE(Fuel)));
    const mica_use writes[] = {MICA_USE_STREAM_WRITE(talk->stream),
                               MICA_USE_STREAM_WRITE(mica_requests_stream(talk->requests))};
    const mica_use reads[] = {MICA_USE_STREAM_READ(talk->stream)};
    mica_system_add(
        world, MICA_SYSTEM_WITH(talk_to_all, (.context = talk, .uses = writes, .use_count = 2), MICA_READ(Number)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(listen_to_stream, (.context = talk, .uses = reads, .use_count = 1)));
}

/* All of it, in a world that was populated. */
static inline void talk_prepare(mica_world *world, talk *talk)
{
    mica_observer_def alarmed = {.event = ALARM, .fn = hear_alarm, MICA_TERMS(MICA_HAS(Number))};
    mica_set(world, talk->far, Fuel, {1});
    for (uint32_t i = 0; i < 9; ++i)
        mica_create(world, MICA_WITH(Fuel, {i}));
    ck_assert(talk_add_handlers(world) && mica_observer_add(world, &alarmed).id);
    talk->stream = mica_stream_create(world, MICA_STREAM(Hit));
    talk->requests = mica_requests_create(world, MICA_REQUESTS(Hit, Mass, answer_with_mass, NULL));
    talk_add_systems(world, talk);
    ck_assert_int_eq(mica_stats_enable(world, 2), MICA_OK);
    ck_assert_int_eq(mica_trace_start(world), MICA_OK);
}

#endif
