/* What relations promise, case by case. Random histories are in model_test.c. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/observer.h"
#include "mica/snapshot.h"
#include "relations.h"

#include <stdio.h>
#include <string.h>

typedef struct Heat { uint32_t degrees; } Heat;
MICA_POOL(Heat, degrees)

static reports heard;

START_TEST(many_edges_create_no_archetype_and_move_no_row)
{
    mica_world *world = open_world(&heard);
    enum { SOURCES = 1000, TARGETS = 100 };
    static mica_entity entities[SOURCES];
    for (uint32_t i = 0; i < SOURCES; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    const Number *before = mica_get(world, entities[7], Number);
    uint32_t archetypes = mica_world_get_stats(world).archetype_count, seen = 0;
    mica_view view = mica_query_begin(query);
    while (mica_view_next(&view)) {
        for (uint32_t i = 0; i < view.count; ++i) /* while the query is open */
            for (uint32_t k = 0; k < TARGETS; ++k)
                if (k != i)
                    ck_assert(mica_relate(world, view.entities[i], Likes, entities[k]));
        seen += view.count;
    }
    ck_assert_uint_eq(seen, SOURCES);
    ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, archetypes);
    ck_assert_ptr_eq(mica_get(world, entities[7], Number), before);
    ck_assert_uint_eq(mica_source_count(world, entities[3], Likes), SOURCES - 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(fields_have_defaults_and_can_be_written)
{
    mica_world *world = open_world(&heard);
    mica_entity paris = mica_create(world), rome = mica_create(world), oslo = mica_create(world);
    ck_assert(mica_relate(world, paris, Distance, rome)->meters == 0);
    mica_edge_write(world, paris, Distance, rome)->meters = 5;
    ck_assert(mica_relate(world, paris, Distance, rome)->meters == 5);
    ck_assert(mica_relate_with(world, paris, Distance, rome, {.meters = 7, .lanes = 2}));
    ck_assert(mica_edge_get(world, paris, Distance, rome)->lanes == 2);
    ck_assert(mica_relate_with_id(world, paris, (mica_value)MICA_WITH(Distance, {.meters = 8, .lanes = 3}), rome));
    ck_assert(mica_edge_get(world, paris, Distance, rome)->lanes == 3);
    ck_assert_ptr_null(mica_edge_get(world, rome, Distance, paris));
    ck_assert_ptr_null(mica_edge_write(world, paris, Distance, oslo));
    ck_assert(mica_same(mica_target(world, paris, Distance), rome) && mica_is_nil(mica_target(world, rome, Distance)));
    ck_assert(mica_has(world, paris, Distance) && mica_remove(world, paris, Distance));
    ck_assert(!mica_is_related(world, paris, Distance, rome));
    close_world(world, &heard);
}
END_TEST

/* A call that is refused, and what the report says. */
typedef struct refusal {
    bool (*call)(mica_world *world, mica_entity a, mica_entity b);
    mica_result result;
    const char *says;
} refusal;

static bool relate_dead(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    mica_entity stale = {a.index, a.generation + 1};
    return mica_relate(world, a, Likes, stale);
}
static bool relate_from_dead(mica_world *world, mica_entity a, mica_entity b)
{
    mica_entity stale = {a.index, a.generation + 1};
    return mica_relate(world, stale, Likes, b);
}
static bool record_dead(mica_world *world, mica_entity a, mica_entity b)
{
    mica_entity stale = {a.index, a.generation + 1};
    mica_commands *commands = mica_commands_create(world);
    bool done = mica_command_relate_id(commands, stale, MICA_ID(Likes), b, MICA_HERE);
    mica_commands_destroy(commands);
    return done;
}
static bool record_nothing(mica_world *world, mica_entity a, mica_entity b)
{
    mica_commands *commands = mica_commands_create(world);
    bool done = mica_command_relate_id(commands, a, 0, b, MICA_HERE);
    mica_commands_destroy(commands);
    return done;
}
static bool unrelate_dead(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_unrelate_targets(world, ((mica_entity){a.index, a.generation + 1}), Likes);
}
static bool find_nothing(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_is_related_id(world, a, 0, b);
}
static bool find_heat(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_add(world, a, Heat) || mica_is_related(world, a, Heat, b);
}
static bool relate_heat(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_add(world, a, Heat) || mica_relate(world, a, Heat, b);
}
static bool relate_many_numbers(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_relate_many(world, Number, &a, &b, 1);
}
static bool relate_with_number(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_relate_with(world, a, Number, b, {1});
}
static bool relate_with_nothing(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_relate_with_id(world, a, (mica_value){0, sizeof a, &a}, b);
}
static bool relate_too_large(mica_world *world, mica_entity a, mica_entity b)
{
    const struct mica_edge_of_Distance value = {0};
    return mica_relate_with_id(world, a, (mica_value){MICA_ID(Distance), sizeof value, &value}, b);
}
static bool place_unused(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_place_source(world, a, PartOf, b, a) == MICA_OK;
}
static bool relate_self(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_relate(world, a, Likes, a);
}
static bool relate_number(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_relate(world, a, Number, b);
}
static bool count_number(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_target_count(world, a, Number);
}
static bool record_number(mica_world *world, mica_entity a, mica_entity b)
{
    mica_defer(world);
    bool done = mica_relate(world, a, Number, b);
    mica_flush(world);
    return done;
}
static bool record_self(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    mica_defer(world);
    bool done = mica_relate(world, a, Likes, a);
    mica_flush(world);
    return done;
}
static bool close_circle(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_relate(world, a, DependsOn, b) || mica_relate(world, b, DependsOn, a);
}
static bool close_recorded(mica_world *world, mica_entity a, mica_entity b)
{
    mica_defer(world);
    bool done = mica_relate(world, b, PartOf, a) && mica_relate(world, a, PartOf, b);
    return !done || mica_flush(world) == MICA_OK;
}
static bool relate_wrong_size(mica_world *world, mica_entity a, mica_entity b)
{
    return mica_relate_with_id(world, a, (mica_value){MICA_ID(Distance), 2, &a}, b);
}
static bool add(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_add(world, a, Likes);
}
static bool set(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_set(world, a, Distance, {1, 1});
}
static bool add_recorded(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    mica_defer(world);
    bool done = mica_add(world, a, Likes);
    mica_flush(world);
    return done;
}
static bool create(mica_world *world, mica_entity a, mica_entity b)
{
    (void)a, (void)b;
    return !mica_is_nil(mica_create(world, MICA_WITH(Likes)));
}
static bool add_instance(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_add_instance(world, a, Distance);
}
static bool add_all(mica_world *world, mica_entity a, mica_entity b)
{
    (void)a, (void)b;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Number)));
    return mica_add_all_tag(query, Likes) == MICA_OK;
}
static bool read_column(mica_world *world, mica_entity a, mica_entity b)
{
    (void)a, (void)b;
    return mica_query_create(world, MICA_QUERY(MICA_READ(Distance)));
}
static bool read_array(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_relate(world, a, Distance, b) || mica_pool_read_id(mica_pool_of(world, Distance));
}
static void on_number(const mica_message *message)
{
    (void)message;
}
static bool add_handler(mica_world *world, mica_entity a, mica_entity b)
{
    (void)a, (void)b;
    mica_handler handler = {.component = &mica_type_of_Likes, .message = &mica_type_of_Number, .fn = on_number};
    return mica_handler_add(world, &handler) == MICA_OK;
}
static void on_request(const mica_request_group *group)
{
    (void)group;
}
static bool answer_with_edges(mica_world *world, mica_entity a, mica_entity b)
{
    (void)a, (void)b;
    return mica_requests_create(world, &(mica_requests_def){.name = "ask",
                                                            .question = &mica_type_of_Number,
                                                            .answer = &mica_type_of_Likes,
                                                            .fn = on_request}) != NULL;
}
static bool place_unordered(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_relate(world, a, Likes, b) || mica_place_source(world, a, Likes, b, mica_nil()) == MICA_OK;
}
static bool load_recording(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    mica_defer(world);
    bool done = mica_load_edges_id(world, MICA_ID(Likes), &a, &a, 1) == MICA_OK;
    mica_flush(world);
    return done;
}
static bool load_number(mica_world *world, mica_entity a, mica_entity b)
{
    (void)b;
    return mica_load_edges_id(world, MICA_ID(Number), &a, &a, 1) == MICA_OK;
}
static bool place_recording(mica_world *world, mica_entity a, mica_entity b)
{
    mica_defer(world);
    bool done = mica_place_source(world, a, PartOf, b, mica_nil()) == MICA_OK;
    return done && mica_flush(world) == MICA_OK; /* which finds that they are not related */
}
static bool destroy_guarded(mica_world *world, mica_entity a, mica_entity b)
{
    return !mica_relate(world, a, Guards, b) || mica_destroy(world, b);
}
static bool destroy_guarded_recorded(mica_world *world, mica_entity a, mica_entity b)
{
    if (!mica_relate(world, a, Guards, b))
        return true;
    mica_defer(world);
    mica_destroy(world, b);
    return mica_flush(world) == MICA_OK || !mica_is_alive(world, b);
}

START_TEST(mistakes_are_refused_with_a_report)
{
    static const refusal list[] = {
        {relate_dead, MICA_ERROR_DEAD, "relate"},
        {relate_from_dead, MICA_ERROR_DEAD, "relate"},
        {record_dead, MICA_ERROR_DEAD, "relate"},
        {record_nothing, MICA_ERROR_INVALID, "without an id is not a relation"},
        {unrelate_dead, MICA_ERROR_DEAD, "unrelate_targets"},
        {find_nothing, MICA_ERROR_INVALID, "without an id is not a relation"},
        {find_heat, MICA_ERROR_INVALID, "Heat is not a relation"},
        {relate_heat, MICA_ERROR_INVALID, "Heat is not a relation"},
        {relate_many_numbers, MICA_ERROR_INVALID, "Number is not a relation"},
        {relate_with_number, MICA_ERROR_INVALID, "Number is not a relation"},
        {relate_with_nothing, MICA_ERROR_INVALID, "without an id is not a relation"},
        {relate_too_large, MICA_ERROR_INVALID, "fields must be a value of the relation"},
        {place_unused, MICA_ERROR_INVALID, ".ordered"},
        {relate_self, MICA_ERROR_INVALID, "itself"},
        {relate_number, MICA_ERROR_INVALID, "is not a relation"},
        {count_number, MICA_ERROR_INVALID, "is not a relation"},
        {record_number, MICA_ERROR_INVALID, "is not a relation"},
        {record_self, MICA_ERROR_INVALID, "Likes: it can't be related to itself"},
        {close_circle, MICA_ERROR_INVALID, "circle"},
        {close_recorded, MICA_ERROR_INVALID, "circle"},
        {relate_wrong_size, MICA_ERROR_INVALID, "fields must be a value of the relation"},
        {add, MICA_ERROR_INVALID, "mica_relate"},
        {set, MICA_ERROR_INVALID, "mica_relate"},
        {add_recorded, MICA_ERROR_INVALID, "mica_relate"},
        {create, MICA_ERROR_INVALID, "mica_relate"},
        {add_instance, MICA_ERROR_INVALID, "mica_relate"},
        {add_all, MICA_ERROR_INVALID, "mica_relate"},
        {read_column, MICA_ERROR_INVALID, "edges have a column only with a target"},
        {read_array, MICA_ERROR_INVALID, "no array"},
        {add_handler, MICA_ERROR_INVALID, "get no messages"},
        {answer_with_edges, MICA_ERROR_INVALID, "mica_relate"},
        {place_unordered, MICA_ERROR_INVALID, ".ordered"},
        {place_recording, MICA_ERROR_INVALID, "place_source"},
        {load_recording, MICA_ERROR_REFUSED, "load_edges"},
        {load_number, MICA_ERROR_INVALID, "is not a relation"},
        {destroy_guarded, MICA_ERROR_REFUSED, "Guards"},
        {destroy_guarded_recorded, MICA_ERROR_REFUSED, "Guards"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        mica_world *world = open_world(&heard);
        mica_entity a = mica_create(world, MICA_WITH(Number, {1})), b = mica_create(world, MICA_WITH(Number, {2}));
        ck_assert_msg(!list[i].call(world, a, b), "case %zu", i);
        expect_report(&heard, list[i].result, list[i].says);
        ck_assert(mica_is_alive(world, a) && mica_is_alive(world, b));
        close_world(world, &heard);
    }
}
END_TEST

static char story[1024];

static void tell(const mica_event *event)
{
    size_t at = strlen(story);
    snprintf(story + at, sizeof story - at, "%c%u%u ", "+=-"[event->kind],
             mica_get(event->world, event->entities[0], Number) -> value,
             mica_get(event->world, event->target, Number) -> value);
}

START_TEST(hooks_and_observers_see_edges_with_their_targets)
{
    for (int observes = 0; observes < 2; ++observes) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[4];
        for (uint32_t i = 0; i < 4; ++i)
            nodes[i] = mica_create(world, MICA_WITH(Number, {i}));
        for (mica_event_kind kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
            if (observes)
                ck_assert(
                    mica_observer_add(world, &(mica_observer_def){.events = &kind,
                                                                  .event_count = 1,
                                                                  .components = &(mica_component){MICA_ID(DockedTo)},
                                                                  .component_count = 1,
                                                                  .fn = tell})
                        .id);
            else
                ck_assert_int_eq(mica_hook_set(world, DockedTo, kind, tell, NULL), MICA_OK);
        *story = 0;
        mica_relate(world, nodes[0], Likes, nodes[1]);
        mica_relate(world, nodes[2], Likes, nodes[3]);
        mica_event_kind added = MICA_EVENT_ADD; /* an observer that is told what is there */
        mica_observer_def existing = {.events = &added, .event_count = 1, .existing = true, .fn = tell};
        existing.components = &(mica_component){MICA_ID(Likes)};
        existing.component_count = 1;
        ck_assert(mica_observer_add(world, &existing).id);
        mica_relate(world, nodes[0], DockedTo, nodes[1]);
        mica_relate_with(world, nodes[0], DockedTo, nodes[1], {3});
        mica_relate_with(world, nodes[0], DockedTo, nodes[2], {4});
        mica_relate(world, nodes[3], DockedTo, nodes[2]);
        mica_destroy(world, nodes[2]);
        ck_assert_str_eq(story, "+01 +23 +01 =01 -01 +02 =02 +32 -02 -32 ");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(an_iteration_ends_when_edges_change)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_relate(world, a, Likes, b);
    mica_relate(world, a, Likes, c);
    mica_edges at = mica_targets(world, a, Likes);
    ck_assert(mica_edge_next(&at));
    mica_unrelate(world, a, Likes, b);
    ck_assert(!mica_edge_next(&at) && !mica_edge_next(&at));
    expect_report(&heard, MICA_ERROR_INVALID, "defer");
    mica_defer(world);
    for (at = mica_targets(world, a, Likes); mica_edge_next(&at);)
        mica_unrelate(world, a, Likes, at.entity);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_target_count(world, a, Likes), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(fields_are_copied_while_the_table_grows)
{
    enum { TARGETS = 12, CLONES = 400 };
    mica_world *world = open_world(&heard);
    mica_entity hub = mica_create(world), targets[TARGETS];
    for (uint32_t i = 0; i < TARGETS; ++i) {
        targets[i] = mica_create(world);
        REQUIRE(mica_relate_with(world, hub, Distance, targets[i], {.meters = (float)i + 1}));
    }
    for (uint32_t i = 0; i < CLONES; ++i) {
        mica_entity clone = mica_clone(world, hub);
        for (uint32_t k = 0; k < TARGETS; ++k) {
            const Distance *distance = mica_edge_get(world, clone, Distance, targets[k]);
            REQUIRE(distance && distance->meters == (float)k + 1);
        }
        const Distance *first = mica_edge_get(world, clone, Distance, targets[0]); /* into the table */
        REQUIRE(mica_relate_with_id(world, clone, (mica_value){MICA_ID(Distance), sizeof *first, first}, hub));
        ck_assert(mica_edge_get(world, clone, Distance, hub)->meters == 1);
    }
    expect_valid(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(edges_within_a_cloned_tree_stay_within_the_copy)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_entity outside = mica_create(world), car = mica_create(world);
        mica_entity left = mica_create_child(world, car), right = mica_create_child(world, car);
        mica_relate_with(world, left, Distance, right, {.meters = 3});
        mica_relate(world, left, Distance, outside);
        mica_relate(world, car, Likes, left);
        mica_relate(world, left, MarriedTo, right);
        if (recorded)
            mica_defer(world);
        mica_entity copy = mica_clone_tree(world, car);
        if (recorded)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        mica_entity twin = mica_first_child(world, copy), other = mica_last_child(world, copy);
        ck_assert(mica_edge_get(world, twin, Distance, other)->meters == 3);
        ck_assert(mica_is_related(world, twin, Distance, outside) && mica_is_related(world, copy, Likes, twin));
        ck_assert(mica_is_related(world, other, MarriedTo, twin));
        ck_assert_uint_eq(mica_target_count(world, twin, Distance), 2);
        ck_assert_uint_eq(mica_source_count(world, right, Distance), 1);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(many_are_related_until_one_is_refused)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_entity list[6];
        for (uint32_t i = 0; i < 6; ++i)
            list[i] = mica_create(world);
        if (recorded)
            mica_defer(world);
        ck_assert_uint_eq(mica_relate_many(world, DependsOn, list, list + 1, 5), 5);
        mica_entity sources[] = {list[0], list[2], list[1]}, targets[] = {list[3], list[2], list[4]};
        ck_assert_uint_eq(mica_relate_many(world, DependsOn, sources, targets, 3), 1);
        expect_report(&heard, MICA_ERROR_INVALID, "itself");
        if (recorded)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert(mica_is_related(world, list[0], DependsOn, list[5]));
        if (recorded) {
            mica_defer(world);
            ck_assert_uint_eq(mica_unrelate_targets(world, list[0], DependsOn), 2);
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        } else {
            ck_assert_uint_eq(mica_unrelate_targets(world, list[0], DependsOn), 2);
        }
        ck_assert_uint_eq(mica_unrelate_sources(world, list[2], DependsOn), 1);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(what_is_recorded_for_the_dead_is_dropped)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    ck_assert(mica_command_relate_id(commands, a, MICA_ID(Likes), b, MICA_HERE));
    ck_assert(mica_command_relate_id(commands, a, MICA_ID(WritesTo), c, MICA_HERE));
    ck_assert(mica_command_unrelate_id(commands, a, MICA_ID(Likes), c, MICA_HERE));
    mica_text_set(&((WritesTo *)mica_command_relate_id(commands, c, MICA_ID(WritesTo), a, MICA_HERE))->text,
                  "a text that needs memory of its own");
    mica_destroy(world, b);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
    ck_assert_uint_eq(mica_target_count(world, a, Likes), 0);
    ck_assert(mica_text_is(&mica_edge_get(world, c, WritesTo, a)->text, "a text that needs memory of its own"));
    /* The target is destroyed by the same flush: the source of PartOf goes with it. */
    mica_defer(world);
    mica_relate(world, a, PartOf, c);
    mica_relate(world, a, WritesTo, c);
    mica_destroy(world, c);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(!mica_is_alive(world, a) && !mica_is_alive(world, c));
    /* A staged text is freed with what was never flushed. */
    mica_entity d = mica_create(world), e = mica_create(world);
    mica_text_set(&((WritesTo *)mica_command_relate_id(commands, d, MICA_ID(WritesTo), e, MICA_HERE))->text,
                  "another text that needs memory of its own");
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_flush_that_is_refused_relates_nothing)
{
    mica_world *world = open_world_with(&heard, (mica_world_def){.dead_target = MICA_DEAD_TARGET_ERROR});
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    ck_assert(mica_command_relate_id(commands, a, MICA_ID(Likes), b, MICA_HERE));
    mica_text_set(&((WritesTo *)mica_command_relate_id(commands, a, MICA_ID(WritesTo), b, MICA_HERE))->text,
                  "a text that needs memory of its own");
    ck_assert(mica_command_relate_id(commands, c, MICA_ID(Likes), a, MICA_HERE));
    mica_destroy(world, c);
    ck_assert_int_eq(mica_flush(world), MICA_ERROR_DEAD);
    expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
    ck_assert(!mica_is_related(world, a, Likes, b) && !mica_is_related(world, a, WritesTo, b));
    ck_assert_int_eq(mica_flush(world), MICA_OK); /* the changes were dropped */
    ck_assert(!mica_is_related(world, a, Likes, b));
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_edge_can_be_given_its_own_fields)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    mica_relate_with(world, a, Distance, b, {.meters = 3, .lanes = 2});
    const Distance *distance = mica_edge_get(world, a, Distance, b);
    ck_assert(mica_relate_with_id(world, a, (mica_value){MICA_ID(Distance), sizeof *distance, distance}, b));
    distance = mica_edge_get(world, a, Distance, b);
    ck_assert(distance->meters == 3 && distance->lanes == 2);
    mica_relate_with(world, a, WritesTo, b, {mica_text_of("a text that needs memory of its own")});
    const WritesTo *letter = mica_edge_get(world, a, WritesTo, b);
    ck_assert(mica_relate_with_id(world, a, (mica_value){MICA_ID(WritesTo), sizeof *letter, letter}, b));
    ck_assert(mica_text_is(&mica_edge_get(world, a, WritesTo, b)->text, "a text that needs memory of its own"));
    close_world(world, &heard);
}
END_TEST

START_TEST(what_no_one_uses_has_no_edges)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    ck_assert(mica_is_nil(mica_target(world, a, Borders)) && !mica_is_related(world, a, DependsOn, b));
    ck_assert_ptr_null(mica_edge_write(world, a, Distance, b));
    ck_assert_ptr_null(mica_edge_get(world, a, Distance, b));
    ck_assert_uint_eq(mica_target_count(world, a, Borders) + mica_source_count(world, a, Borders), 0);
    ck_assert_uint_eq(mica_unrelate_targets(world, a, Borders) + mica_unrelate_sources(world, a, Borders), 0);
    mica_edges none = mica_targets(world, a, Borders);
    ck_assert(!mica_edge_next(&none));
    mica_defer(world);
    ck_assert(mica_unrelate(world, a, Borders, b));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_relate_many(world, Borders, NULL, NULL, 0), 0);
    mica_relate(world, a, Borders, b);
    ck_assert(mica_same(mica_target(world, a, Borders), b) && mica_same(mica_target(world, b, Borders), a));
    mica_defer(world);
    ck_assert_uint_eq(mica_unrelate_sources(world, b, Borders), 1);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_source_count(world, b, Borders), 0);
    close_world(world, &heard);
}
END_TEST

/* Beside a pool that is no relation. */
START_TEST(sources_go_once_with_all_their_targets)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world, MICA_WITH(Heat, {1})), targets[3];
    for (uint32_t i = 0; i < 3; ++i) {
        targets[i] = mica_create(world, MICA_WITH(Heat, {2}));
        mica_relate(world, a, Needs, targets[i]);
    }
    ck_assert_uint_eq(mica_destroy_many(world, targets, 2), 2);
    ck_assert(!mica_is_alive(world, a) && mica_is_alive(world, targets[2]));
    ck_assert_uint_eq(mica_source_count(world, targets[2], Needs), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(edges_to_the_dead_have_no_place)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world, MICA_WITH(Heat, {1})), b = mica_create(world), c = mica_create(world);
    mica_entity d = mica_create(world);
    mica_relate(world, a, Mourns, c);
    mica_relate(world, b, Mourns, c);
    mica_relate(world, a, Mourns, d);
    ck_assert_int_eq(mica_place_source(world, b, Mourns, c, a), MICA_OK);
    mica_destroy(world, c);
    ck_assert(mica_same(mica_target(world, a, Mourns), c));
    ck_assert_int_eq(mica_place_source(world, a, Mourns, c, b), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, ".ordered");
    mica_entity copy = mica_clone(world, a);
    ck_assert_uint_eq(mica_target_count(world, copy, Mourns), 1);
    uint64_t hash = mica_world_hash(world);
    mica_unrelate(world, copy, Mourns, d);
    ck_assert_uint_ne(mica_world_hash(world), hash);
    close_world(world, &heard);
}
END_TEST

static void forget_original(const mica_event *event)
{
    mica_entity original = *(const mica_entity *)event->context;
    if (!mica_same(event->entities[0], original))
        mica_unrelate_targets(event->world, original, Likes);
}

/* Relates the original to the same entities in the same order, in other rows. */
static void renew_original(const mica_event *event)
{
    mica_entity original = *(const mica_entity *)event->context;
    if (mica_same(event->entities[0], original))
        return;
    mica_edges at = mica_targets(event->world, original, Likes);
    mica_unrelate_targets(event->world, original, Likes);
    while (mica_edge_next(&at))
        mica_relate(event->world, original, Likes, at.entity);
}

static void destroy_copy(const mica_event *event)
{
    if (!mica_same(event->entities[0], *(const mica_entity *)event->context))
        mica_destroy(event->world, event->entities[0]);
}

/* The target of the newest edge of an entity. */
static mica_entity last_target(const mica_world *world, mica_entity entity)
{
    mica_entity last = mica_nil();
    for (mica_edges at = mica_targets(world, entity, Likes); mica_edge_next(&at);)
        last = at.entity;
    return last;
}

static void forget_copied(const mica_event *event)
{
    mica_entity original = *(const mica_entity *)event->context;
    if (!mica_same(event->entities[0], original))
        mica_unrelate(event->world, original, Likes, last_target(event->world, event->entities[0]));
}

/* The first edge moves the row of the last one into its place; the last one is not copied any more. */
static void forget_ends(const mica_event *event)
{
    mica_entity original = *(const mica_entity *)event->context;
    if (mica_same(event->entities[0], original))
        return;
    mica_unrelate(event->world, original, Likes, mica_target(event->world, original, Likes));
    mica_unrelate(event->world, original, Likes, last_target(event->world, original));
}

static void add_more(const mica_event *event)
{
    mica_entity original = *(const mica_entity *)event->context;
    if (!mica_same(event->entities[0], original))
        mica_relate(event->world, original, Likes, mica_create(event->world));
}

START_TEST(a_recorded_clone_leaves_out_edges_to_what_is_destroyed_before)
{
    mica_world *world = open_world(&heard);
    mica_entity alice = mica_create(world), bob = mica_create(world), carol = mica_create(world);
    mica_relate(world, alice, Likes, bob);
    mica_relate(world, alice, Likes, carol);
    mica_defer(world);
    mica_destroy(world, bob);
    mica_entity copy = mica_clone(world, alice);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_target_count(world, copy, Likes), 1);
    ck_assert(mica_same(mica_target(world, copy, Likes), carol));
    close_world(world, &heard); /* without a report */
}
END_TEST

START_TEST(hooks_may_change_what_is_cloned)
{
    enum { MANY = 40 }; /* more than are listed on the stack */
    static const struct {
        mica_event_fn fn;
        uint32_t count;  /* edges of the original, */
        uint32_t left;   /* after it was cloned, */
        uint32_t copied; /* and of the copy */
        bool is_alive;
    } list[] = {
        {forget_original, 4, 0, 1, true},       {renew_original, 4, 4, 4, true},
        {destroy_copy, 4, 4, 0, false},         {forget_copied, 4, 0, 4, true},
        {forget_copied, MANY, 0, MANY, true},   {forget_ends, 4, 0, 2, true},
        {forget_ends, MANY, 0, MANY / 2, true}, {add_more, 4, 8, 4, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        mica_world *world = open_world(&heard);
        mica_entity a = mica_create(world);
        ck_assert_int_eq(mica_hook_set(world, Likes, MICA_EVENT_ADD, list[i].fn, &a), MICA_OK);
        for (uint32_t k = 0; k < list[i].count; ++k)
            mica_relate(world, a, Likes, mica_create(world));
        mica_entity copy = mica_clone(world, a);
        expect_valid(world);
        ck_assert_uint_eq(mica_target_count(world, a, Likes), list[i].left);
        ck_assert_uint_eq(mica_target_count(world, copy, Likes), list[i].copied);
        ck_assert_int_eq(mica_is_alive(world, copy), list[i].is_alive);
        close_world(world, &heard);
    }
}
END_TEST

/* Their records are beyond those of the world, in pages of the relation that exist: relating finds that out before it writes there. */
START_TEST(handles_that_the_world_never_gave_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    REQUIRE(mica_relate(world, a, Likes, b));
    uint64_t hash = mica_world_hash(world);
    static const uint32_t indices[] = {100, 1 << 10, 4095, 4096, UINT32_MAX};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; ++i) {
        mica_entity never = {indices[i], 1};
        ck_assert(!mica_relate(world, a, Likes, never));
        expect_report(&heard, MICA_ERROR_DEAD, "relate");
        ck_assert(!mica_relate(world, never, Likes, b));
        expect_report(&heard, MICA_ERROR_DEAD, "relate");
        ck_assert(!mica_unrelate(world, a, Likes, never));
        expect_report(&heard, MICA_ERROR_DEAD, "unrelate");
    }
    ck_assert_uint_eq(mica_world_hash(world), hash);
    expect_valid(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(clearing_the_world_asks_no_relation)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    mica_relate(world, a, Guards, b);
    mica_relate(world, b, Guards, a);
    mica_relate(world, a, PartOf, b);
    mica_relate(world, a, Remembers, b);
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(relation, many_edges_create_no_archetype_and_move_no_row, fields_have_defaults_and_can_be_written,
           mistakes_are_refused_with_a_report, hooks_and_observers_see_edges_with_their_targets,

           an_iteration_ends_when_edges_change, fields_are_copied_while_the_table_grows,
           edges_within_a_cloned_tree_stay_within_the_copy, many_are_related_until_one_is_refused,
           what_is_recorded_for_the_dead_is_dropped, a_flush_that_is_refused_relates_nothing,
           an_edge_can_be_given_its_own_fields, what_no_one_uses_has_no_edges, sources_go_once_with_all_their_targets,
           edges_to_the_dead_have_no_place, a_recorded_clone_leaves_out_edges_to_what_is_destroyed_before,
           hooks_may_change_what_is_cloned, handles_that_the_world_never_gave_are_refused,
           clearing_the_world_asks_no_relation)
