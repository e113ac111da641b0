#define _POSIX_C_SOURCE 200809L /* for fork */
#include "mica/cluster.h"

#include "faulty_allocator.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/message.h"
#include "mica/name.h"
#include "mica/relation.h"
#include "mica/stats.h"
#include "reports.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Position { float x, y; } Position;
typedef struct Health { int32_t points; } Health;
typedef struct Story { mica_text text; } Story;
typedef struct Owner { mica_entity of; } Owner;
typedef struct Poke { int32_t force; } Poke;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Health, points)
MICA_COMPONENT(Story, text)
MICA_COMPONENT(Owner, of)
MICA_STRUCT(Poke, force)
typedef struct Weather { float rain; mica_text name; } Weather;
MICA_SINGLETON(Weather, rain, name)
MICA_RELATION(Likes)
MICA_RELATION_WITH(Married, (.symmetric = true))

static mica_cluster_def cluster_def(void)
{
    static mica_component ghosts[1], messages[1];
    ghosts[0] = MICA_ID(Health);
    messages[0] = MICA_ID(Poke);
    return (mica_cluster_def){
        .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {10, 10}},
        .reach = 2,
        .ghosts = ghosts,
        .ghost_count = 1,
        .messages = messages,
        .message_count = 1};
}

static uint64_t identity_of(mica_world *world, mica_entity entity)
{
    const mica_identity *identity = mica_get(world, entity, mica_identity);
    return identity ? identity->value : 0;
}

START_TEST(invalid_defs_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static const mica_component story[1] = {0};
    mica_component bad[1] = {MICA_ID(Story)}, owner[1] = {MICA_ID(Owner)};
    mica_component twice[2] = {MICA_ID(Weather), MICA_ID(Weather)};
    const struct {
        mica_cluster_def def;
        const char *text;
    } cases[] = {
        {{.grid = {.cell_size = 1}}, ".component"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x", .cell_size = 1, .maximum = {9, 9}}}, "two or three"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, z", .cell_size = 1, .maximum = {9, 9}}}, "field"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y, x, y", .cell_size = 1, .maximum = {9, 9, 9}}},
         "three"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .maximum = {9, 9}}}, ".cell_size"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1}}, ".maximum"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1e-9, .maximum = {9, 9}}},
         "too small"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}}, .reach = -1},
         ".reach"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {999, 999}},
          .reach = 99},
         "4096"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .ghosts = owner,
          .ghost_count = 1},
         ".ghosts"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .ghosts = story,
          .ghost_count = 31},
         "30 .ghosts"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .messages = owner,
          .message_count = 1},
         ".messages"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .singletons = bad,
          .singleton_count = 1},
         ".singletons"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .singletons = twice,
          .singleton_count = 2},
         "one twice"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .singleton_count = 1},
         ".singletons"},
        {{.grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}},
          .time_limit_seconds = -1},
         "time_limit"},
        {{.grid = {.component = MICA_ID(Owner), .fields = "of, of", .cell_size = 1, .maximum = {9, 9}}}, "mica_entity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_ptr_null(mica_cluster_create(world, &cases[i].def));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].text);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(shared_singletons_are_part_of_the_hash)
{
    uint64_t hashes[3];
    for (int i = 0; i < 3; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        def.singletons = (const mica_component[]){MICA_ID(Weather)};
        def.singleton_count = i < 2;
        mica_cluster *cluster = mica_cluster_create(world, &def);
        ck_assert(mica_cluster_step(cluster, 0.1f));
        uint64_t before = mica_cluster_hash(cluster);
        mica_text_set(&mica_singleton_write(world, Weather)->name, i ? "fine" : "a long name that is stored elsewhere");
        hashes[i] = mica_cluster_hash(cluster);
        ck_assert((hashes[i] != before) == (i < 2));
        ck_assert(mica_cluster_step(cluster, 0.1f));
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
    ck_assert(hashes[0] != hashes[1]);
}
END_TEST

static uint32_t poke_order;

static void take_poke(const mica_message *message)
{
    Health *health = message->values;
    health[0].points -= ((const Poke *)message->data)->force;
    poke_order = poke_order * 10 + (uint32_t)((const Poke *)message->data)->force;
}

START_TEST(neighbours_are_shown_as_they_were_at_the_end_of_the_last_step)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    mica_entity a = mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Health, {10}));
    mica_entity b = mica_create(world, MICA_WITH(Position, {2, 1}), MICA_WITH(Health, {20}));
    mica_entity c = mica_create(world, MICA_WITH(Position, {9, 9}));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    mica_cluster_neighbour near[2];
    ck_assert_uint_eq(mica_cluster_around(cluster, a, 2, near, 2), 1);
    ck_assert_uint_eq(near[0].identity, identity_of(world, b));
    ck_assert(near[0].offset.x == 1 && near[0].distance_squared == 1);
    mica_write(world, b, Health)->points = 99;
    mica_write(world, b, Position)->x = 8;
    ck_assert_uint_eq(mica_cluster_around(cluster, a, 2, near, 2), 1);
    ck_assert_int_eq(((const Health *)mica_cluster_read(cluster, &near[0], MICA_ID(Health)))->points, 20);
    ck_assert(mica_same(mica_cluster_find(cluster, identity_of(world, c)), c));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_uint_eq(mica_cluster_around(cluster, a, 2, near, 2), 0);
    ck_assert_uint_eq(mica_cluster_around(cluster, c, 2, near, 0), 0);
    ck_assert_uint_eq(mica_cluster_around(cluster, a, 2.5, near, 2), 0);
    expect_report(&heard, MICA_ERROR_INVALID,
                  "radius is 2.5 and must be at least 0 and at most the .reach of the cluster, 2");
    mica_destroy(world, c);
    ck_assert(mica_is_nil(mica_cluster_find(cluster, identity_of(world, c))));
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

START_TEST(messages_are_delivered_by_identity_and_only_within_reach)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    mica_handler_add(world, MICA_HANDLER(Health, Poke, take_poke));
    mica_entity target =
        mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Health, {10}), MICA_WITH(mica_identity, {9}));
    mica_entity second = mica_create(world, MICA_WITH(Position, {2, 1}), MICA_WITH(mica_identity, {5}));
    mica_entity first = mica_create(world, MICA_WITH(Position, {1, 2}), MICA_WITH(mica_identity, {3}));
    mica_entity far = mica_create(world, MICA_WITH(Position, {9, 9}), MICA_WITH(mica_identity, {7}));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert(mica_cluster_send(cluster, second, 9, (mica_value)MICA_WITH(Poke, {2})));
    ck_assert(mica_cluster_send(cluster, first, 9, (mica_value)MICA_WITH(Poke, {1})));
    ck_assert(mica_cluster_send(cluster, target, 9, (mica_value)MICA_WITH(Poke, {3})));
    ck_assert(mica_cluster_send(cluster, far, 9, (mica_value)MICA_WITH(Poke, {4})));
    poke_order = 0;
    ck_assert(mica_cluster_step(cluster, 0.1f));
    expect_report(&heard, MICA_ERROR_INVALID, "was not within .reach");
    ck_assert_uint_eq(poke_order, 123); /* by the identities of the senders */
    ck_assert_int_eq(mica_get(world, target, Health)->points, 4);
    mica_cluster_send(cluster, first, 9, (mica_value)MICA_WITH(Poke, {1}));
    mica_destroy(world, target);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_uint_eq(mica_cluster_get_stats(cluster).dropped_count, 2);
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

START_TEST(new_entities_get_identities_that_do_not_depend_on_the_order_of_creation)
{
    uint64_t hashes[2];
    for (int turn = 0; turn < 2; ++turn) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        mica_cluster *cluster = mica_cluster_create(world, &def);
        ck_assert(mica_cluster_step(cluster, 0.1f));
        for (int i = 0; i < 6; ++i) {
            int number = turn ? 5 - i : i;
            mica_create(world, MICA_WITH(Position, {(float)(number / 2), 1}), MICA_WITH(Health, {number % 2 ? 1 : 1}));
        }
        ck_assert(mica_cluster_step(cluster, 0.1f));
        ck_assert_uint_eq(mica_cluster_get_stats(cluster).owned_count, 6);
        hashes[turn] = mica_cluster_hash(cluster);
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

START_TEST(a_component_with_handles_that_is_defined_late_ends_the_run)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Owner, {{0, 0}}));
    ck_assert(!mica_cluster_step(cluster, 0.1f));
    expect_report(&heard, MICA_ERROR_REFUSED, "was defined after the first step");
    ck_assert_int_eq(mica_cluster_result(cluster), MICA_ERROR_REFUSED);
    ck_assert(!mica_cluster_step(cluster, 0.1f));
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

START_TEST(references_are_part_of_the_hash_and_reach_far_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    mica_define(world, Likes), mica_define(world, Owner);
    mica_handler_add(world, MICA_HANDLER(Health, Poke, take_poke));
    mica_entity a = mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Health, {10}));
    mica_entity b = mica_create(world, MICA_WITH(Position, {9, 9}), MICA_WITH(Health, {10}), MICA_WITH(Owner, {a}));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    uint64_t before = mica_cluster_hash(cluster);
    mica_relate(world, a, Likes, b);
    ck_assert_uint_ne(mica_cluster_hash(cluster), before);
    ck_assert_uint_eq(mica_cluster_identity(cluster, b), identity_of(world, b));
    mica_cluster_send(cluster, a, mica_cluster_identity(cluster, b), (mica_value)MICA_WITH(Poke, {3}));
    mica_cluster_send(cluster, a, 12345, (mica_value)MICA_WITH(Poke, {3})); /* there is none */
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_int_eq(mica_get(world, b, Health)->points, 7);
    ck_assert_uint_eq(mica_cluster_get_stats(cluster).dropped_count, 1);
    mica_entity new_one = mica_create(world, MICA_WITH(Position, {2, 2}), MICA_WITH(Owner, {a}));
    ck_assert_uint_eq(mica_cluster_identity(cluster, new_one), 0);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    mica_entity newer = mica_create(world, MICA_WITH(Position, {3, 3}));
    mica_relate(world, a, Likes, newer);
    ck_assert_uint_ne(mica_cluster_hash(cluster), 0);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_uint_ne(mica_cluster_identity(cluster, newer), 0);
    mica_relate(world, a, Likes, mica_create(world)); /* it is not shared */
    ck_assert_uint_ne(mica_cluster_hash(cluster), 0);
    ck_assert(!mica_cluster_step(cluster, 0.1f));
    expect_report(&heard, MICA_ERROR_REFUSED, "refers to an entity that is not shared");
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

static mica_entity the_stand_in, the_owner;

static void change_stand_in(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        mica_set(view->world, the_stand_in, Health, {3});
}

/* What the program does to a stand-in, by turn. */
static void change(mica_world *world, int turn)
{
    switch (turn) {
    case 0: mica_set(world, the_stand_in, Health, {3}); break;
    case 1: mica_set(world, the_stand_in, Position, {1, 1}); break;
    case 2: mica_name_set(world, the_stand_in, mica_nil(), "mine"); break;
    case 3: mica_destroy(world, the_stand_in); break;
    case 4: mica_set_parent(world, the_stand_in, the_owner); break;
    case 5: mica_create_child(world, the_stand_in, MICA_WITH(Health, {1})); break;
    default: mica_system_add(world, MICA_SYSTEM(change_stand_in, MICA_READ(Health))); break;
    }
}

START_TEST(a_stand_in_is_read_only)
{
    static const char *const expected[] = {
        "got the component Health",       "got the component Position", "got a name", "was destroyed", "got a parent",
        "got a child that is not shared", "got the component Health"};
    for (int turn = 0; turn < (STOPS_AT_MISTAKES ? 6 : 7); ++turn) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        mica_cluster *cluster = mica_cluster_create(world, &def);
        mica_define(world, Owner);
        the_stand_in = mica_create(world, MICA_WITH(mica_identity, {77}), MICA_WITH(mica_remote));
        the_owner =
            mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Health, {1}), MICA_WITH(Owner, {the_stand_in}));
        ck_assert(mica_cluster_step(cluster, 0.1f) && mica_cluster_step(cluster, 0.1f));
        change(world, turn);
        ck_assert(!mica_cluster_step(cluster, 0.1f));
        expect_report(&heard, MICA_ERROR_REFUSED, expected[turn]);
        ck_assert_int_eq(mica_cluster_result(cluster), MICA_ERROR_REFUSED);
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
}
END_TEST

/* A checked build stops at the line of the system. */
START_TEST(a_checked_build_stops_a_system_that_changes_a_stand_in)
{
    if (!STOPS_AT_MISTAKES)
        return;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        mica_cluster *cluster = mica_cluster_create(world, &def);
        mica_define(world, Owner);
        the_stand_in = mica_create(world, MICA_WITH(mica_identity, {77}), MICA_WITH(mica_remote));
        mica_create(world, MICA_WITH(Position, {1, 1}), MICA_WITH(Health, {1}), MICA_WITH(Owner, {the_stand_in}));
        mica_cluster_step(cluster, 0.1f);
        change(world, 6);
        mica_cluster_step(cluster, 0.1f);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

START_TEST(relations_that_need_the_edges_of_all_ranks_are_refused)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    mica_define(world, Married);
    ck_assert(!mica_cluster_step(cluster, 0.1f));
    expect_report(&heard, MICA_ERROR_REFUSED, "the component Married is a symmetric, acyclic");
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

/* What is linked, and what the report says; nothing if it is allowed. */
static const struct {
    bool has_links, is_parent_shared, is_child_shared;
    const char *text;
} links[] = {
    {false, false, false, NULL},
    {false, false, true, "has a parent or children, and the cluster has no .links"},
    {false, true, false, "has a parent or children, and the cluster has no .links"},
    {false, true, true, "has a parent or children, and the cluster has no .links"},
    {true, false, false, NULL},
    {true, false, true, "has a parent that is not shared"},
    {true, true, false, "has a child that is not shared"},
    {true, true, true, NULL},
};

START_TEST(shared_entities_are_linked_with_shared_ones_if_the_cluster_has_links)
{
    for (size_t i = 0; i < sizeof links / sizeof *links; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        def.links = links[i].has_links;
        mica_cluster *cluster = mica_cluster_create(world, &def);
        mica_entity parent = mica_create(world, MICA_WITH(Health, {1}));
        mica_entity child = mica_create(world, MICA_WITH(Health, {1}));
        if (links[i].is_parent_shared)
            mica_set(world, parent, Position, {1, 1});
        if (links[i].is_child_shared)
            mica_set(world, child, Position, {8, 8});
        mica_set_parent(world, child, parent);
        ck_assert_int_eq(mica_cluster_step(cluster, 0.1f), !links[i].text);
        if (links[i].text)
            expect_report(&heard, MICA_ERROR_REFUSED, links[i].text);
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_name_in_the_scope_of_another_entity_needs_links_and_that_entity_as_a_parent_to_be_saved)
{
    for (int has_links = 0; has_links < 2; ++has_links) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster_def def = cluster_def();
        def.links = has_links;
        mica_cluster *cluster = mica_cluster_create(world, &def);
        mica_entity scope = mica_create(world, MICA_WITH(Position, {1, 1}));
        mica_entity child = mica_create(world, MICA_WITH(Position, {2, 1}));
        mica_name_set(world, child, scope, "far");
        ck_assert(mica_cluster_step(cluster, 0.1f));
        ck_assert_uint_ne(mica_cluster_hash(cluster), 0);
        if (has_links) {
            ck_assert_int_eq(mica_cluster_save(cluster, "never"), MICA_ERROR_REFUSED);
            expect_report(&heard, MICA_ERROR_REFUSED, "the name far is not in the scope of the parent");
        } else {
            ck_assert(!mica_cluster_step(cluster, 0.1f));
            expect_report(&heard, MICA_ERROR_REFUSED, "the name far is in the scope of another entity");
        }
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_stop_ends_the_run_without_an_error)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    mica_cluster_stop(cluster);
    ck_assert(!mica_cluster_step(cluster, 0.1f));
    ck_assert_int_eq(mica_cluster_result(cluster), MICA_OK);
    ck_assert_uint_eq(mica_cluster_tick(cluster), 2);
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_trace_has_the_steps_of_all_ranks_and_refuses_what_is_invalid)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster_def def = cluster_def();
    mica_cluster *cluster = mica_cluster_create(world, &def);
    static const char path[] = "/tmp/mica_cluster_trace_test.json";
    ck_assert_int_eq(mica_cluster_trace_stop(cluster, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "no trace was started");
    ck_assert_int_eq(mica_cluster_trace_start(cluster), MICA_OK);
    ck_assert_int_eq(mica_cluster_trace_start(cluster), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "a trace was already started");
    mica_create(world, MICA_WITH(Position, {1, 1}));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_int_eq(mica_cluster_trace_stop(cluster, path), MICA_OK);
    char text[4096] = {0};
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    remove(path);
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"rank 0\""));
    ck_assert_ptr_nonnull(strstr(text, "\"name\":\"step 1\""));
    ck_assert_ptr_nonnull(strstr(text, "\"args\":{\"owned\":1,\"ghosts\":0"));
    ck_assert_int_eq(mica_cluster_trace_start(cluster), MICA_OK);
    ck_assert_int_eq(mica_cluster_trace_stop(cluster, "/no folder/trace.json"), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/no folder/trace.json");
    ck_assert_int_eq(mica_trace_start(world), MICA_OK); /* the program traces already */
    ck_assert_int_eq(mica_cluster_trace_start(cluster), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "a trace was already started");
    ck_assert_int_eq(mica_trace_stop(world, NULL), MICA_OK);
    ck_assert_int_eq(mica_cluster_trace_start(cluster), MICA_OK);
    ck_assert_int_eq(mica_cluster_trace_stop(cluster, NULL), MICA_OK);
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

static bool save_health(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                        void *context)
{
    (void)world, (void)entity, (void)context;
    memcpy(out_instance, value, sizeof(Health));
    return true;
}

static bool spawn_health(const mica_spawn_run *run, void *context)
{
    (void)context;
    memcpy(run->values, run->instances, run->count * sizeof(Health));
    return true;
}

/* Lets each allocation of the cluster fail once. Either a call reports it, or nothing is lost. */
START_TEST(a_cluster_that_runs_out_of_memory_reports_it_and_leaks_nothing)
{
    for (uint64_t k = 1, is_done = 0; !is_done; ++k) {
        reports heard;
        mica_world *world = open_world(&heard);
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        faulty_allocator_fail_at(&faulty, k, true);
        mica_cluster_def def = cluster_def();
        def.allocator = faulty_allocator_interface(&faulty);
        def.singletons = (const mica_component[]){MICA_ID(Weather)};
        def.singleton_count = 1;
        def.rules = &(mica_resource_rule){
            .component = MICA_ID(Health), .recipe = &mica_type_of_Health, .save = save_health, .spawn = spawn_health};
        def.rule_count = 1;
        mica_cluster *cluster = mica_cluster_create(world, &def);
        bool has_failed = !cluster;
        for (int step = 0; step < 3 && cluster && !has_failed; ++step) {
            mica_entity from = mica_create(world, MICA_WITH(Position, {1, (float)step}), MICA_WITH(Health, {step}));
            has_failed = !mica_cluster_step(cluster, 0.1f);
            has_failed |= !has_failed &&
                          !mica_cluster_send(cluster, from, identity_of(world, from), (mica_value)MICA_WITH(Poke, {1}));
        }
        has_failed = has_failed || !mica_cluster_hash(cluster);
        ck_assert(has_failed == (faulty.failures > 0));
        has_failed = has_failed || mica_cluster_trace_start(cluster) != MICA_OK;
        has_failed = has_failed || !mica_cluster_step(cluster, 0.1f);
        has_failed = has_failed || mica_cluster_trace_stop(cluster, "/tmp/mica_cluster_trace_memory.json") != MICA_OK;
        remove("/tmp/mica_cluster_trace_memory.json");
        ck_assert(has_failed == (faulty.failures > 0));
        is_done = !has_failed;
        forget_reports(&heard);
        mica_cluster_destroy(cluster);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(cluster, shared_singletons_are_part_of_the_hash, invalid_defs_are_reported,
           neighbours_are_shown_as_they_were_at_the_end_of_the_last_step,
           messages_are_delivered_by_identity_and_only_within_reach,
           new_entities_get_identities_that_do_not_depend_on_the_order_of_creation,
           a_component_with_handles_that_is_defined_late_ends_the_run,
           references_are_part_of_the_hash_and_reach_far_entities, a_stand_in_is_read_only,
           a_checked_build_stops_a_system_that_changes_a_stand_in,
           relations_that_need_the_edges_of_all_ranks_are_refused,
           shared_entities_are_linked_with_shared_ones_if_the_cluster_has_links,
           a_name_in_the_scope_of_another_entity_needs_links_and_that_entity_as_a_parent_to_be_saved,
           a_stop_ends_the_run_without_an_error, a_trace_has_the_steps_of_all_ranks_and_refuses_what_is_invalid,
           a_cluster_that_runs_out_of_memory_reports_it_and_leaks_nothing)
