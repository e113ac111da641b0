/* Handlers of messages: what they declare, those that are described with components, how they are added and removed, and which entities are left
 * out. */
#include "support/reports.h"
#include "support/test.h"

#include "mica/flow.h"

#include <stdio.h>
#include <string.h>

typedef struct Hit { uint32_t points; } Hit;
typedef struct Tick { uint32_t unused; } Tick;
MICA_STRUCT(Hit, points)
MICA_STRUCT(Tick, unused)

typedef struct Health { uint32_t points; } Health;
typedef struct Armour { uint32_t points; } Armour;
typedef struct Spot { float x, y; } Spot;
typedef struct Score { uint32_t points; } Score;
MICA_COMPONENT(Health, points)
MICA_COMPONENT(Armour, points)
MICA_COMPONENT_WITH(Spot, (.split = true), x, y)
MICA_SINGLETON(Score, points)
MICA_TAG(Fragile)

static uint32_t points, calls;

static void count(const mica_message *message)
{
    ++calls;
    points += ((const Hit *)message->data)->points * message->count;
}

static void count_too(const mica_message *message)
{
    count(message);
}

static void count_into(const mica_message *message)
{
    *(uint32_t *)message->context += message->count;
}

static void count_without_values(const mica_message *message)
{
    ck_assert_ptr_null(message->values);
    count(message);
}

/* Described: the same function twice, with something of its own each time, and what is not complete. */
static uint32_t ones, others;
static const mica_handler mind_handlers[] = {
    {.message = &mica_type_of_Hit, .fn = count_into, .context = &ones},
    {.message = &mica_type_of_Hit, .fn = count_into, .context = &others},
    {.message = &mica_type_of_Hit, .fn = count},
    {.message = NULL, .fn = count},
    {.message = &mica_type_of_Hit, .fn = NULL},
};
typedef struct Mind { uint32_t thoughts; } Mind;
MICA_COMPONENT_WITH(Mind, (MICA_HANDLERS(mind_handlers)), thoughts)

static mica_world *open_quiet(reports *heard)
{
    points = calls = ones = others = 0;
    return open_world(heard);
}

static bool graph_has(mica_world *world, const char *text)
{
    char graph[2048];
    mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph);
    return strstr(graph, text) != NULL;
}

static void forge(const mica_frame *frame)
{
    (void)frame;
}

START_TEST(a_handler_that_comes_later_tells_the_system_of_every_frame_what_it_declares)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    mica_entity one = mica_create(world, MICA_WITH(Health, {1}));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(forge, (MICA_TERMS(MICA_WRITE(Armour)))));
    mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE);
    mica_handler_add(world, MICA_HANDLER(Health, Tick, count));
    ck_assert(!graph_has(world, "Health.Tick  waits for"));
    for (uint32_t i = 0; i < 2; ++i) /* the same declared twice is declared */
        ck_assert_int_eq(
            mica_handler_add(world, MICA_HANDLER_WITH(Health, Tick, count_too,
                                                      (MICA_USES(MICA_USE_READ(Armour), MICA_USE_READ(Score))))),
            MICA_OK);
    ck_assert(graph_has(world, "Health.Tick  waits for forge (Armour)"));
    mica_step(world, 1);
    ck_assert_uint_eq(calls, 3);
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count_too));
    ck_assert(graph_has(world, "Health.Tick  waits for forge (Armour)"));
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count_too));
    ck_assert(!graph_has(world, "Health.Tick  waits for"));
    mica_step(world, 1);
    ck_assert_uint_eq(calls, 4);
    ck_assert(mica_send(world, one, Tick, {0}));
    ck_assert_uint_eq(calls, 5);
    close_world(world, &heard);
}
END_TEST

START_TEST(handlers_that_declare_too_much_together_are_refused)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    mica_use uses[66];
    for (uint32_t i = 0; i < 66; ++i)
        uses[i] = (mica_use){.stream = mica_stream_create(world, MICA_STREAM(Hit)), .write = true};
    mica_handler many = *MICA_HANDLER(Health, Hit, count), another = *MICA_HANDLER(Health, Tick, count);
    many.uses = uses;
    many.use_count = 64;
    ck_assert_int_eq(mica_handler_add(world, &many), MICA_OK);
    another.uses = uses + 64;
    for (another.use_count = 1; another.use_count <= 2; ++another.use_count) {
        ck_assert_int_eq(mica_handler_add(world, &another), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "Health.messages: it has too many .uses");
    }
    ck_assert(!mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count));
    mica_entity one = mica_create(world, MICA_WITH(Health, {1}));
    mica_send(world, one, Tick, {0});
    ck_assert_uint_eq(calls, 0);
    mica_send(world, one, Hit, {2});
    ck_assert_uint_eq(points, 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_described_is_added_once)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    mica_handler_add(world, MICA_HANDLER(Mind, Hit, count));
    mica_entity one = mica_create(world, MICA_WITH(Mind, {0}));
    mica_send(world, one, Hit, {1});
    ck_assert(ones == 1 && others == 1 && calls == 2);
    mica_create(world, MICA_WITH(Armour, {0})); /* descriptions are searched again */
    mica_send(world, one, Hit, {1});
    ck_assert(ones == 2 && others == 2 && calls == 4);
    ck_assert(mica_handler_remove(world, MICA_ID(Mind), MICA_ID(Hit), count)); /* the one that was added */
    ck_assert(!mica_handler_remove(world, MICA_ID(Mind), MICA_ID(Hit), count));
    mica_send(world, one, Hit, {1});
    ck_assert(ones == 3 && others == 3 && calls == 5);
    close_world(world, &heard);
}
END_TEST

/* Pools have numbers of their own; this world has no use for the first. */
typedef struct Unused { uint32_t value; } Unused;
typedef struct Spirit { uint32_t value; } Spirit;
MICA_POOL(Unused, value)
static const mica_handler spirit_handlers[] = {MICA_HANDLED(Hit, count)};
MICA_POOL_WITH(Spirit, (MICA_HANDLERS(spirit_handlers)), value)

START_TEST(handlers_of_pools_are_found_among_those_that_are_in_use)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    ck_assert_uint_ne(MICA_ID(Unused), 0);
    mica_entity one = mica_create(world, MICA_WITH(Spirit, {0}));
    mica_send(world, one, Hit, {4});
    ck_assert_uint_eq(points, 4);
    close_world(world, &heard);
}
END_TEST

static mica_entity target;
static mica_stream *shared;

static void write_shared(const mica_message *message)
{
    (void)message;
    calls += mica_stream_push(shared, Hit, {1});
}

static void strike_once(const mica_frame *frame)
{
    mica_send(frame->world, target, Hit, {10});
}

START_TEST(a_handler_writes_any_stream_that_no_handler_reads)
{
    if (STOPS_AT_MISTAKES)
        return;
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Health, {1}));
    shared = mica_stream_create(world, MICA_STREAM_WITH(Hit, (.application = true)));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, write_shared));
    mica_system_add(world, MICA_SYSTEM_ONCE(strike_once));
    mica_step(world, 1);
    ck_assert_uint_eq(calls, 1);
    mica_handler_add(world, MICA_HANDLER_WITH(Armour, Tick, count, (MICA_USES(MICA_USE_STREAM_READ(shared)))));
    mica_step(world, 1);
    ck_assert_uint_eq(calls, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "Health.messages does not declare that it will write it");
    close_world(world, &heard);
}
END_TEST

static void strike(const mica_frame *frame)
{
    mica_send(frame->world, target, Hit, {10});
    mica_broadcast(frame->world, Hit, {1});
}

START_TEST(tags_and_split_components_hear_without_values)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Fragile), MICA_WITH(Spot, {1, 2}));
    mica_create(world, MICA_WITH(Fragile));
    mica_handler_add(world, MICA_HANDLER(Fragile, Hit, count_without_values));
    mica_handler_add(world, MICA_HANDLER(Spot, Hit, count_without_values));
    mica_send(world, target, Hit, {100});
    ck_assert_uint_eq(points, 200);
    mica_system_add(world, MICA_SYSTEM_ONCE(strike));
    mica_step(world, 1);
    ck_assert_uint_eq(points, 200 + 10 + 10 + 3);
    close_world(world, &heard);
}
END_TEST

START_TEST(messages_without_handlers_are_dropped_after_the_phase)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Health, {1}));
    mica_system strikes = mica_system_add(world, MICA_SYSTEM_ONCE(strike));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    mica_system_remove(world, strikes);
    mica_handler_add(world, MICA_HANDLER(Health, Hit, count));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(calls, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_system_of_a_mailbox_can_be_switched_off)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Health, {1}), MICA_WITH(Armour, {1}));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, count));
    mica_handler_add(world, MICA_HANDLER(Armour, Hit, count));
    mica_system_add(world, MICA_SYSTEM_ONCE(strike));
    mica_system box = mica_system_find(world, "Health.messages");
    ck_assert(mica_system_enable(world, box, false));
    mica_step(world, 1);
    ck_assert_uint_eq(points, 11);
    ck_assert(mica_system_enable(world, box, true));
    mica_step(world, 1);
    ck_assert_uint_eq(points, 11 + 22);
    close_world(world, &heard);
}
END_TEST

static void bear(const mica_frame *frame)
{
    mica_entity born = mica_create(frame->world, MICA_WITH(Mind, {0}));
    mica_send(frame->world, born, Hit, {1});
}

START_TEST(a_component_that_is_new_with_the_flush_hears_what_came_with_it)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE(bear));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert(ones == 1 && others == 1 && calls == 1);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert(ones == 2 && others == 2 && calls == 2);
    close_world(world, &heard);
}
END_TEST

static void send_on_add(const mica_event *event)
{
    mica_send(event->world, event->entities[0], Hit, {5});
    ck_assert_uint_eq(calls, 0); /* it waits for the others */
}

static void arm(const mica_frame *frame)
{
    mica_set(frame->world, target, Armour, {1});
    mica_send(frame->world, target, Hit, {1});
}

START_TEST(what_a_hook_of_the_flush_sends_comes_with_what_systems_sent)
{
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Health, {1}));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, count));
    mica_hook_set(world, Armour, MICA_EVENT_ADD, send_on_add, NULL);
    mica_system_add(world, MICA_SYSTEM_ONCE(arm));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(points, 6);
    close_world(world, &heard);
}
END_TEST

static void send_in_piece(uint32_t begin, uint32_t end, void *world)
{
    (void)begin, (void)end;
    ck_assert(!mica_send(world, target, Hit, {1}));
}

static void send_in_pieces(const mica_frame *frame)
{
    mica_parallel_for(frame->world, 1, 1, send_in_piece, frame->world);
}

static void change_handlers(const mica_frame *frame)
{
    ck_assert_int_eq(mica_message_every_frame(frame->world, Tick, MICA_PHASE_UPDATE), MICA_ERROR_REFUSED);
    ck_assert_int_eq(mica_handler_add(frame->world, MICA_HANDLER(Health, Tick, count)), MICA_ERROR_REFUSED);
}

START_TEST(mistakes_are_reported_and_change_nothing)
{
    static mica_type nameless = {.size_bytes = 4, .alignment = 4};
    static const struct { mica_handler handler; mica_result result; } bad[] = {
        {{.message = &mica_type_of_Hit, .fn = count}, MICA_ERROR_INVALID},
        {{.component = &mica_type_of_Health, .fn = count}, MICA_ERROR_INVALID},
        {{.component = &mica_type_of_Health, .message = &mica_type_of_Hit}, MICA_ERROR_INVALID},
        {{.component = &mica_type_of_Health, .message = &nameless, .fn = count}, MICA_ERROR_INVALID},
        {{.component = &mica_type_of_Score, .message = &mica_type_of_Hit, .fn = count}, MICA_ERROR_INVALID},
    };
    reports heard;
    mica_world *world = open_quiet(&heard);
    target = mica_create(world, MICA_WITH(Health, {1}));
    ck_assert(!mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), count)); /* before there were any */
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_msg(mica_handler_add(world, &bad[i].handler) == bad[i].result, "case %u", i);
        ck_assert_uint_eq(forget_reports(&heard), 1);
    }
    ck_assert_int_eq(mica_handler_add(world, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "needs a component");
    ck_assert_int_eq(mica_message_every_frame_id(world, 61234, MICA_PHASE_UPDATE), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such message");
    ck_assert_int_eq(mica_message_every_frame(world, Fragile, MICA_PHASE_UPDATE), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such message");
    mica_handler_add(world, MICA_HANDLER(Health, Hit, count));
    ck_assert(!mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count));
    ck_assert(!mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), count_too));
    const mica_value values[] = {{MICA_ID(Hit), 4, NULL}, {MICA_ID(Hit), 8, &points}, {0, 4, &points}};
    for (uint32_t i = 0; i < sizeof values / sizeof *values; ++i) {
        ck_assert(!mica_send_id(world, target, values[i], MICA_HERE));
        expect_report(&heard, MICA_ERROR_INVALID, "no description or no data, or its size");
    }
    ck_assert(mica_send_id(world, target, (mica_value){MICA_ID(Hit), 0, &(Hit){3}}, MICA_HERE));
    ck_assert_uint_eq(points, 3);
    mica_system_add(world, MICA_SYSTEM_ONCE(send_in_pieces));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(change_handlers, (.exclusive = true)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_report(&heard, MICA_ERROR_REFUSED, "send_in_pieces: messages can't be sent inside a parallel for");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a frame");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a frame");
    ck_assert_uint_eq(points, 3);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(handler, a_handler_that_comes_later_tells_the_system_of_every_frame_what_it_declares,
           handlers_that_declare_too_much_together_are_refused, what_is_described_is_added_once,
           tags_and_split_components_hear_without_values, messages_without_handlers_are_dropped_after_the_phase,
           the_system_of_a_mailbox_can_be_switched_off, handlers_of_pools_are_found_among_those_that_are_in_use,
           a_handler_writes_any_stream_that_no_handler_reads,
           a_component_that_is_new_with_the_flush_hears_what_came_with_it,
           what_a_hook_of_the_flush_sends_comes_with_what_systems_sent, mistakes_are_reported_and_change_nothing)
