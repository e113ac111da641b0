/* Messages: which entities receive what, in which order, and which are never visited. */
#include "flow/faults.h"

#include <stdio.h>
#include <string.h>

typedef struct Hit { uint32_t points; } Hit;
typedef struct Tick { uint32_t unused; } Tick;
typedef struct Chain { uint32_t left; mica_entity next; } Chain;
MICA_STRUCT(Hit, points)
MICA_STRUCT(Tick, unused)
MICA_STRUCT(Chain, left, next)

typedef struct Health { uint32_t points; } Health;
typedef struct Armour { uint32_t points; } Armour;
typedef struct Mind { uint32_t thoughts; } Mind;
typedef struct Shield { uint32_t points; } Shield;
MICA_COMPONENT(Armour, points)
MICA_COMPONENT_WITH(Health, (.toggle = true), points)
MICA_POOL(Shield, points)
MICA_TAG(Fragile)

static uint32_t visits;  /* calls of handlers, */
static uint32_t visited; /* and entities in them */
static char diary[1024];

static void count_visit(const mica_message *message)
{
    ++visits;
    visited += message->count;
}

static void note(const mica_message *message, const char *handler)
{
    count_visit(message);
    for (uint32_t i = 0; i < message->count; ++i)
        snprintf(diary + strlen(diary), sizeof diary - strlen(diary), "%s%u:%u ", handler, message->entities[i].index,
                 ((const Hit *)message->data)->points);
}

static void health_suffers(const mica_message *message)
{
    Health *health = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        health[i].points -= ((const Hit *)message->data)->points;
    note(message, "h");
}

static void armour_wears(const mica_message *message)
{
    note(message, "a");
}

static void fragile_breaks(const mica_message *message)
{
    ck_assert_ptr_null(message->values);
    note(message, "f");
    for (uint32_t i = 0; i < message->count; ++i)
        mica_destroy(message->world, message->entities[i]);
}

static void mind_thinks(const mica_message *message)
{
    count_visit(message);
    Mind *mind = message->values;
    ck_assert_uint_eq(((const Tick *)message->data)->unused, 0);
    for (uint32_t i = 0; i < message->count; ++i)
        ++mind[i].thoughts;
}
static const mica_handler mind_handlers[] = {MICA_HANDLED(Tick, mind_thinks)};
MICA_COMPONENT_WITH(Mind, (MICA_HANDLERS(mind_handlers)), thoughts)

static void expect_diary(const char *text)
{
    if (*diary)
        diary[strlen(diary) - 1] = '\0';
    ck_assert_str_eq(diary, text);
    *diary = '\0';
}

static void add_handlers(mica_world *world)
{
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Health, Hit, health_suffers)), MICA_OK);
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Armour, Hit, armour_wears)), MICA_OK);
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Fragile, Hit, fragile_breaks)), MICA_OK);
}

START_TEST(a_message_reaches_each_component_with_a_handler)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_handlers(world);
    mica_entity knight = mica_create(world, MICA_WITH(Armour, {8}), MICA_WITH(Health, {10}), MICA_WITH(Mind, {0}));
    mica_entity monk = mica_create(world, MICA_WITH(Mind, {0}));
    mica_version before = mica_world_mark(world);
    ck_assert(mica_send(world, knight, Hit, {3}));
    expect_diary("h1:3 a1:3");
    ck_assert_uint_eq(mica_get(world, knight, Health)->points, 7);
    ck_assert(mica_send(world, monk, Hit, {3}));
    expect_diary("");
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Health)));
    mica_view view = mica_query_begin_since(changed, before);
    ck_assert(mica_view_next(&view));
    mica_destroy(world, monk);
    ck_assert(!mica_send(world, monk, Hit, {3}));
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_broadcast_goes_type_by_type_and_visits_no_type_without_a_handler)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_handlers(world);
    mica_create(world, MICA_WITH(Health, {10}));
    mica_create(world, MICA_WITH(Armour, {1}), MICA_WITH(Health, {20}));
    mica_create(world, MICA_WITH(Armour, {2}));
    mica_create(world, MICA_WITH(Fragile));
    for (int i = 0; i < 1000; ++i)
        mica_create(world, MICA_WITH(Mind, {0}));
    visits = visited = 0;
    ck_assert(mica_broadcast(world, Hit, {1}));
    expect_diary("h1:1 h2:1 a2:1 a3:1 f4:1");
    ck_assert_uint_eq(visited, 5);
    ck_assert_uint_eq(visits, 5);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1003);
    visits = visited = 0;
    ck_assert(mica_broadcast(world, Tick, {0}));
    ck_assert_uint_eq(visited, 1000);
    ck_assert_uint_le(visits, 10);
    visits = 0;
    ck_assert(mica_broadcast(world, Chain, {0}));
    ck_assert_uint_eq(visits, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(components_that_are_switched_off_hear_nothing)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_handlers(world);
    mica_entity one = mica_create(world, MICA_WITH(Health, {10}));
    mica_entity two = mica_create(world, MICA_WITH(Health, {10}));
    mica_disable(world, one, Health);
    mica_send(world, one, Hit, {1});
    expect_diary("");
    mica_broadcast(world, Hit, {2});
    expect_diary("h2:2");
    ck_assert_uint_eq(mica_get(world, two, Health)->points, 8);
    close_world(world, &heard);
}
END_TEST

START_TEST(components_in_pools_hear_like_others)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_handler_add(world, MICA_HANDLER(Shield, Hit, armour_wears));
    mica_entity bare = mica_create(world);
    mica_entity one = mica_create(world, MICA_WITH(Shield, {1}));
    mica_create(world, MICA_WITH(Shield, {2}), MICA_WITH(Health, {2}));
    mica_send(world, bare, Hit, {4});
    mica_send(world, one, Hit, {4});
    expect_diary("a2:4");
    mica_broadcast(world, Hit, {5});
    expect_diary("a2:5 a3:5");
    close_world(world, &heard);
}
END_TEST

START_TEST(handlers_of_one_pair_are_called_in_the_order_they_were_added)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_handler_add(world, MICA_HANDLER(Health, Hit, armour_wears));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, health_suffers));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, armour_wears));
    mica_entity one = mica_create(world, MICA_WITH(Health, {10}));
    mica_send(world, one, Hit, {1});
    expect_diary("a1:1 h1:1 a1:1");
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), armour_wears));
    mica_send(world, one, Hit, {1});
    expect_diary("h1:1 a1:1");
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), armour_wears));
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), health_suffers));
    ck_assert(!mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), health_suffers));
    mica_send(world, one, Hit, {1});
    expect_diary("");
    close_world(world, &heard);
}
END_TEST

static void pass_on(const mica_message *message)
{
    const Chain *chain = message->data;
    snprintf(diary + strlen(diary), sizeof diary - strlen(diary), "c%u:%u ", message->entities[0].index, chain->left);
    if (chain->left) {
        mica_send(message->world, message->entities[0], Hit, {chain->left});
        mica_send(message->world, chain->next, Chain, {chain->left - 1, message->entities[0]});
    }
}

START_TEST(what_handlers_send_comes_after_what_waits)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_handler_add(world, MICA_HANDLER(Health, Chain, pass_on));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, health_suffers));
    mica_entity one = mica_create(world, MICA_WITH(Health, {10}));
    mica_entity two = mica_create(world, MICA_WITH(Health, {10}));
    mica_send(world, one, Chain, {2, two});
    expect_diary("c1:2 h1:2 c2:1 h2:1 c1:0");
    mica_send(world, one, Chain, {1000, two});
    expect_report(&heard, MICA_ERROR_LIMIT, "handlers still send");
    *diary = '\0';
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

static mica_entity boss, born;

static void attack(mica_view *view)
{
    const Armour *armour = mica_view_read(view, Armour);
    for (uint32_t i = 0; i < view->count; ++i)
        if (armour[i].points % 100 == 0)
            mica_send(view->world, boss, Hit, {armour[i].points});
}

static void answer(const mica_frame *frame)
{
    mica_broadcast(frame->world, Hit, {7});
    born = mica_create(frame->world, MICA_WITH(Health, {100}));
    mica_send(frame->world, born, Hit, {1});
    mica_entity unborn = mica_create(frame->world, MICA_WITH(Health, {100}));
    mica_send(frame->world, unborn, Hit, {2});
    mica_destroy(frame->world, unborn);
}

START_TEST(what_systems_send_is_delivered_after_the_flush_in_order)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 4, 7, 16};
    char expected[sizeof diary] = "";
    for (uint32_t i = 0; i < 6; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def def = mica_flow_def_default();
        def.worker_count = worker_counts[i];
        mica_flow_configure(world, &def);
        boss = mica_create(world, MICA_WITH(Health, {1000000}));
        for (uint32_t number = 0; number < 4000; ++number)
            mica_create(world, MICA_WITH(Armour, {number}));
        mica_handler_add(world, MICA_HANDLER(Health, Hit, health_suffers));
        mica_system_add(world, MICA_SYSTEM_WITH(attack, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Armour)));
        mica_system_add(world, MICA_SYSTEM_ONCE(answer));
        mica_step(world, 1);
        if (i == 0)
            memcpy(expected, diary, sizeof diary);
        ck_assert_str_eq(diary, expected);
        ck_assert_ptr_nonnull(strstr(diary, "h1:0 h1:100 h1:200 "));
        char end[64];
        snprintf(end, sizeof end, "h1:3900 h1:7 h%u:7 h%u:1 ", born.index, born.index);
        ck_assert_str_eq(diary + strlen(diary) - strlen(end), end);
        ck_assert_ptr_null(strstr(diary, ":2 "));
        *diary = '\0';
        close_world(world, &heard);
    }
}
END_TEST

static void is_struck(const mica_message *message)
{
    Health *health = message->values;
    for (uint32_t i = 0; i < message->count; ++i) {
        const Armour *armour = mica_get(message->world, boss, Armour);
        health[i].points += armour->points + ((const Hit *)message->data)->points;
        if (((const Hit *)message->data)->points == 100)
            mica_destroy(message->world, message->entities[i]);
    }
}

static void strike_twice(const mica_frame *frame)
{
    mica_broadcast(frame->world, Hit, {100});
    mica_broadcast(frame->world, Hit, {1});
}

START_TEST(handlers_are_systems_of_the_schedule_with_what_they_declare)
{
    reports heard;
    mica_world *world = open_world(&heard);
    boss = mica_create(world, MICA_WITH(Armour, {5}));
    mica_entity one = mica_create(world, MICA_WITH(Health, {1}));
    mica_handler_add(world, MICA_HANDLER(Armour, Hit, armour_wears));
    mica_handler_add(world, MICA_HANDLER_WITH(Health, Hit, is_struck, (MICA_USES(MICA_USE_READ(Armour)))));
    char graph[512];
    mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph);
    ck_assert_ptr_nonnull(strstr(graph, "Health.messages  waits for Armour.messages (Armour)"));
    mica_system_add(world, MICA_SYSTEM_ONCE(strike_twice));
    visits = 0;
    mica_step(world, 1);
    expect_diary("a1:100 a1:1"); /* one round: both before anything is applied */
    ck_assert(!mica_is_alive(world, one));
    mica_entity fresh = mica_create(world, MICA_WITH(Health, {0}));
    mica_send(world, fresh, Hit, {3});
    ck_assert_uint_eq(mica_get(world, fresh, Health)->points, 8);
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), is_struck));
    mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph);
    ck_assert_ptr_null(strstr(graph, "Health.messages"));
    mica_system mine = mica_system_add(
        world, MICA_SYSTEM_WITH(attack, (.phase = mica_phase_find(world, "(messages)")), MICA_READ(Armour)));
    ck_assert_uint_eq(mine.id, 0); /* that phase is the messages' own */
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such phase");
    *diary = '\0';
    close_world(world, &heard);
}
END_TEST

START_TEST(a_message_of_every_frame_is_run_by_systems)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE), MICA_OK);
    mica_entity monk = mica_create(world, MICA_WITH(Mind, {0})); /* described: found when the frame begins */
    visits = 0;
    mica_step(world, 1);
    ck_assert_uint_eq(mica_get(world, monk, Mind)->thoughts, 1);
    ck_assert_uint_eq(visits, 1);
    ck_assert_uint_ne(mica_system_find(world, "Mind.Tick").id, 0);
    mica_handler_add(world, MICA_HANDLER(Health, Tick, count_visit));
    mica_create(world, MICA_WITH(Health, {1}));
    visits = 0;
    mica_step(world, 1);
    ck_assert_uint_eq(visits, 2);
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count_visit));
    ck_assert_uint_eq(mica_system_find(world, "Health.Tick").id, 0);
    mica_step(world, 1);
    ck_assert_uint_eq(visits, 3);
    ck_assert_int_eq(mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "Tick is already sent every frame");
    ck_assert_int_eq(mica_message_every_frame(world, Hit, 4711), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "phase must be a phase of this world");
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_of_handlers_come_and_go_with_them_alone)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_handler_add(world, MICA_HANDLER(Health, Tick, count_visit));
    mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE);
    mica_create(world, MICA_WITH(Health, {1}));
    const char *const names[] = {"Health.messages", "Health.Tick"};
    for (uint32_t i = 0; i < 2; ++i) {
        mica_system system = mica_system_find(world, names[i]);
        ck_assert_uint_ne(system.id, 0);
        ck_assert(!mica_system_remove(world, system));
        expect_report(&heard, MICA_ERROR_REFUSED, names[i]);
        ck_assert_int_eq(mica_system_replace(world, system, MICA_SYSTEM_ONCE(answer)), MICA_ERROR_REFUSED);
        expect_report(&heard, MICA_ERROR_REFUSED, names[i]);
    }
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Health, Hit, count_visit)), MICA_OK);
    visits = 0;
    mica_step(world, 1);
    ck_assert_uint_eq(visits, 1);
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Tick), count_visit));
    ck_assert_uint_eq(mica_system_find(world, "Health.Tick").id, 0);
    ck_assert(mica_handler_remove(world, MICA_ID(Health), MICA_ID(Hit), count_visit));
    ck_assert_uint_eq(mica_system_find(world, "Health.messages").id, 0);
    close_world(world, &heard);
}
END_TEST

static void add_inside(const mica_message *message)
{
    ck_assert_int_eq(mica_handler_add(message->world, MICA_HANDLER(Health, Tick, count_visit)), MICA_ERROR_REFUSED);
    ck_assert(!mica_handler_remove(message->world, MICA_ID(Health), MICA_ID(Hit), add_inside));
}

START_TEST(mistakes_are_reported_and_change_nothing)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_handler_add(world, &(mica_handler){.fn = count_visit}), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "needs a component");
    mica_entity one = mica_create(world, MICA_WITH(Health, {1}));
    ck_assert(!mica_send_id(world, one, (mica_value){.component = 61234}, MICA_HERE));
    expect_report(&heard, MICA_ERROR_INVALID, "no description");
    mica_handler_add(world, MICA_HANDLER(Health, Hit, add_inside));
    mica_send(world, one, Hit, {1});
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a frame or a handler");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a frame or a handler");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_broadcast_after_a_refused_step_is_delivered_by_the_next_step)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity one = mica_create(world, MICA_WITH(Health, {1}));
    mica_handler_add(world, MICA_HANDLER(Health, Tick, count_visit));
    mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE);
    mica_world_seal(world, true);
    mica_commands *commands = mica_commands_create(world);
    mica_command_set(commands, one, Mind, {1});
    ck_assert_int_ne(mica_step(world, 1), MICA_OK); /* a sealed world makes no new archetype */
    mica_world_seal(world, false);
    visits = 0;
    ck_assert(mica_broadcast(world, Tick, {0}));
    ck_assert_uint_eq(visits, 0);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(visits, 4); /* Health and Mind: the broadcast, and the message of every frame */
    mica_commands_destroy(commands);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

static void add_send_and_step(faults *faults)
{
    mica_world *world = faults->world;
    mica_system_add(world, MICA_SYSTEM_ONCE(answer));
    mica_entity one = mica_create(world, MICA_WITH(Health, {100}), MICA_WITH(Mind, {0}));
    faults_begin(faults);
    bool added = mica_handler_add(world, MICA_HANDLER(Health, Hit, health_suffers)) == MICA_OK;
    bool ticking = mica_message_every_frame(world, Tick, MICA_PHASE_UPDATE) == MICA_OK;
    bool sent = mica_send(world, one, Hit, {1});
    bool stepped = mica_step(world, 1) == MICA_OK;
    bool failed = faults_end(faults);
    ck_assert(failed || (added && ticking && sent && stepped && faults->heard.count == 0));
    forget_reports(&faults->heard);
    expect_valid(world);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_no_report(&faults->heard);
    if (!failed)
        ck_assert_uint_eq(mica_get(world, one, Health)->points, 100 - 1 - 7 - 7);
    *diary = '\0';
}

START_TEST(running_out_of_memory_is_reported_and_leaves_a_sound_world)
{
    ck_assert_uint_ge(fail_everywhere(add_send_and_step), 10);
}
END_TEST

TEST_SUITE(message, a_message_reaches_each_component_with_a_handler,
           a_broadcast_goes_type_by_type_and_visits_no_type_without_a_handler,
           components_that_are_switched_off_hear_nothing, components_in_pools_hear_like_others,
           handlers_of_one_pair_are_called_in_the_order_they_were_added, what_handlers_send_comes_after_what_waits,
           what_systems_send_is_delivered_after_the_flush_in_order,
           handlers_are_systems_of_the_schedule_with_what_they_declare, a_message_of_every_frame_is_run_by_systems,
           systems_of_handlers_come_and_go_with_them_alone, mistakes_are_reported_and_change_nothing,
           a_broadcast_after_a_refused_step_is_delivered_by_the_next_step,
           running_out_of_memory_is_reported_and_leaves_a_sound_world)
