/* The links of the hierarchy as the relation mica_child_of: random trees compared with a relation that has the same edges. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/partition.h"
#include "mica/query_text.h"
#include "mica/relation.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MICA_RELATION_WITH(Mirror, (.exclusive = true, .acyclic = true))

enum { NODES = 40, ROWS_MAX = 4096, VARIABLES = 2 };

static reports heard;

typedef struct scene {
    mica_world *world;
    mica_entity nodes[NODES];
    random_source random;
} scene;

typedef struct row {
    mica_entity entities[1 + VARIABLES];
} row;

typedef struct rows {
    row list[ROWS_MAX];
    uint32_t count;
} rows;

static mica_entity any_node(scene *scene)
{
    mica_entity *node = &scene->nodes[random_below(&scene->random, NODES)];
    if (!mica_is_alive(scene->world, *node)) {
        *node = mica_create(scene->world, MICA_WITH(Number, {1}));
        if (random_one_in(&scene->random, 2))
            mica_set(scene->world, *node, Mass, {1});
        if (random_one_in(&scene->random, 2))
            mica_add(scene->world, *node, Frozen);
    }
    return *node;
}

/* A change of the tree; what is refused is reported. */
static void change(scene *scene)
{
    mica_entity a = any_node(scene), b = any_node(scene);
    bool defers = random_one_in(&scene->random, 4);
    if (defers)
        mica_defer(scene->world);
    switch (random_below(&scene->random, 16)) {
    case 0: mica_destroy(scene->world, a); break;
    case 1: mica_destroy_with(scene->world, a, MICA_ORPHANS_STAY); break;
    case 2: mica_set_parent(scene->world, a, mica_nil()); break;
    case 3: mica_place_before(scene->world, a, b); break;
    case 4: mica_detach_children(scene->world, a); break;
    default: mica_set_parent(scene->world, a, b); break;
    }
    if (defers)
        mica_flush(scene->world);
    heard.count = 0;
}

static void mirror(scene *scene)
{
    for (uint32_t i = 0; i < NODES; ++i)
        if (mica_is_alive(scene->world, scene->nodes[i]))
            mica_unrelate_targets(scene->world, scene->nodes[i], Mirror);
    for (uint32_t i = 0; i < NODES; ++i) {
        mica_entity parent = mica_parent(scene->world, scene->nodes[i]);
        if (!mica_is_nil(parent))
            ck_assert(mica_relate(scene->world, scene->nodes[i], Mirror, parent) != NULL);
    }
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(row));
}

static mica_query *ask(scene *scene, const char *format, const char *relation)
{
    char text[400] = "";
    for (const char *at = format; *at; ++at) {
        size_t length = strlen(text);
        if (*at == '%')
            snprintf(text + length, sizeof text - length, "%s", relation);
        else
            snprintf(text + length, sizeof text - length, "%c", *at);
    }
    mica_value_error error;
    mica_query *query = mica_query_text(scene->world, text, &error);
    ck_assert_msg(query != NULL, "%s: at %u: %s", text, error.position, error.text);
    return query;
}

static void find(scene *scene, const char *format, const char *relation, rows *out)
{
    mica_query *query = ask(scene, format, relation);
    uint32_t variables[VARIABLES] = {mica_query_variable(query, "p"), mica_query_variable(query, "q")};
    out->count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert_uint_lt(out->count, ROWS_MAX);
            row *found = &out->list[out->count++];
            *found = (row){.entities = {view.entities[i]}};
            for (uint32_t k = 0; k < VARIABLES; ++k)
                if (variables[k])
                    found->entities[1 + k] = mica_view_variable(&view, variables[k]);
        }
    ck_assert_uint_eq(mica_query_count(query), out->count);
    qsort(out->list, out->count, sizeof *out->list, compare_rows);
    mica_query_destroy(query);
}

static const char *const questions[] = {
    "%",
    "!%, Number",
    "%($this, _)",
    "%(_, $this)",
    "%(*, $this)",
    "%($this, *)",
    "!%(_, $this), Mass",
    "%($this, $p)",
    "%($p, $this)",
    "Number, %($this, $p), Mass($p)",
    "Frozen, %($p, $this), !Mass($p)",
    "%($p, $q), %($q, $this), Mass($p)",
    "%($this, $p), %($q, $p), Frozen($q)",
    "Number, Mass($p), !%($this, $p), Frozen",
    "Number, ?%($this, $p)",
    "Number, ?%($p, $this)",
    "Number, Mass($p), %($this, $p) | %($p, $this)",
    "Mass(up %)",
    "Mass(self up %), Frozen",
    "!Mass(up %), Number",
    "Number, ?Mass(up %)",
    "Mass(down %)",
    "!Frozen(self down %), Number",
    "Number, ?Mass(cascade %)",
    "Mass(cascade %)",
};

static void compare_all(scene *scene)
{
    static rows expected, found;
    for (uint32_t i = 0; i < COUNT_OF(questions); ++i) {
        find(scene, questions[i], "Mirror", &expected);
        find(scene, questions[i], "mica_child_of", &found);
        ck_assert_msg(expected.count == found.count &&
                          memcmp(expected.list, found.list, found.count * sizeof *found.list) == 0,
                      "%s: %u and %u rows", questions[i], expected.count, found.count);
    }
    for (uint32_t i = 0; i < NODES; ++i) {
        mica_entity node = scene->nodes[i], other = scene->nodes[random_below(&scene->random, NODES)];
        ck_assert(mica_same(mica_target(scene->world, node, mica_child_of), mica_target(scene->world, node, Mirror)));
        ck_assert(mica_is_related(scene->world, node, mica_child_of, other) ==
                  mica_is_related(scene->world, node, Mirror, other));
        ck_assert(mica_has(scene->world, node, mica_child_of) == mica_has(scene->world, node, Mirror));
        ck_assert_uint_eq(mica_target_count(scene->world, node, mica_child_of),
                          mica_target_count(scene->world, node, Mirror));
        ck_assert_uint_eq(mica_source_count(scene->world, node, mica_child_of),
                          mica_source_count(scene->world, node, Mirror));
    }
}

START_TEST(queries_find_what_those_about_a_relation_with_the_same_edges_find)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1), steps = setting_from_environment("MICA_STEPS", 150);
    for (uint64_t run = 0; run < 8; ++run) {
        scene scene = {.world = open_world(&heard), .random = {seed * 100 + run}};
        mica_entity known = mica_create(scene.world, MICA_WITH(Mass, {1}), MICA_WITH(Frozen)); /* to text */
        mica_relate(scene.world, known, Mirror, mica_create(scene.world));
        mica_destroy(scene.world, mica_target(scene.world, known, Mirror));
        mica_destroy(scene.world, known);
        mica_snapshot snapshot = {0};
        mica_entity nodes[NODES];
        mica_query *kept = NULL;
        for (uint64_t i = 0; i < steps; ++i) {
            change(&scene);
            if (i == 0) /* the world does not use mica_child_of before */
                ck_assert(!mica_is_related(scene.world, scene.nodes[0], mica_child_of, scene.nodes[1]));
            if (random_one_in(&scene.random, 8)) {
                mirror(&scene);
                compare_all(&scene);
                kept = kept ? kept : ask(&scene, "%($this, $p)", "mica_child_of");
                uint32_t children = 0;
                for (uint32_t k = 0; k < NODES; ++k)
                    children += !mica_is_nil(mica_parent(scene.world, scene.nodes[k]));
                ck_assert_uint_eq(mica_query_count(kept), children);
            }
            if (i == steps / 2) {
                snapshot = mica_snapshot_take(scene.world);
                memcpy(nodes, scene.nodes, sizeof nodes);
            }
            ck_assert_int_eq(mica_world_validate(scene.world), MICA_OK);
        }
        ck_assert_int_eq(mica_snapshot_restore(scene.world, snapshot), MICA_OK);
        ck_assert_int_eq(mica_world_validate(scene.world), MICA_OK);
        memcpy(scene.nodes, nodes, sizeof nodes);
        mirror(&scene);
        compare_all(&scene);
        close_world(scene.world, &heard);
    }
}
END_TEST

/* A cascade visits parents before their children, and what is printed names the relation and counts its edges. */
START_TEST(a_cascade_visits_parents_first)
{
    scene scene = {.world = open_world(&heard), .random = {7}};
    for (uint32_t i = 0; i < 100; ++i)
        change(&scene);
    mica_query *query = mica_query_create(
        scene.world, MICA_QUERY(MICA_HAS(Number), MICA_MAYBE_READ(Mass, .cascade = MICA_ID(mica_child_of))));
    uint32_t depth = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert_uint_ge(mica_depth(scene.world, view.entities[i]), depth);
            depth = mica_depth(scene.world, view.entities[i]);
        }
    ck_assert_uint_gt(depth, 1);
    mica_query_destroy(query);
    close_world(scene.world, &heard);
}
END_TEST

START_TEST(plans_count_children)
{
    mica_world *world = open_world(&heard);
    mica_entity parents[2] = {mica_create(world, MICA_WITH(Mass, {1})), mica_create(world, MICA_WITH(Mass, {2}))};
    for (uint32_t i = 0; i < 100; ++i)
        mica_create_child(world, parents[i % 2], MICA_WITH(Number, {i}));
    char text[400];
    mica_query *query = mica_query_text(world, "Number, mica_child_of($this, $p), Mass($p)", NULL);
    mica_query_explain(query, text, sizeof text);
    ck_assert_msg(strstr(text, "mica_child_of($this, $p)") && strstr(text, "100 edges"), "%s", text);
    ck_assert_uint_eq(mica_query_count(query), 100);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

/* Links that lie far apart, and a page without any between them. */
START_TEST(all_children_are_visited_wherever_they_are)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 4000; ++i)
        if (i < 3 || i > 3000)
            mica_create_child(world, mica_create(world), MICA_WITH(Number, {i}));
        else
            mica_create(world);
    char text[400];
    mica_query *query = mica_query_text(world, "mica_child_of($this, $p)", NULL);
    mica_query_explain(query, text, sizeof text);
    ck_assert_msg(strstr(text, "visit edges mica_child_of") == text, "%s", text);
    ck_assert_uint_eq(mica_query_count(query), 1002);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

static _Atomic uint32_t views;
static _Atomic uint64_t total;

static void add_up(mica_view *view)
{
    const Number *numbers = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        total += numbers[i].value;
    ++views;
}

START_TEST(children_of_an_entity_are_divided_into_jobs)
{
    for (uint32_t workers = 1; workers < 4; ++workers) {
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = workers;
        ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
        mica_entity parent = mica_create(world), other = mica_create(world);
        for (uint32_t i = 0; i < 2000; ++i)
            mica_create_child(world, i % 4 ? parent : other, MICA_WITH(Number, {i}));
        for (uint32_t i = 0; i < 20000; ++i) /* so that it is cheaper to start from the parent */
            mica_create(world, MICA_WITH(Number, {i}));
        views = 0;
        total = 0;
        mica_system_add(world,
                        MICA_SYSTEM_WITH(add_up, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 10),
                                         MICA_READ(Number), MICA_HAS(mica_child_of, .target = mica_fixed(parent))));
        ck_assert_int_eq(mica_step(world, 0), MICA_OK);
        ck_assert_uint_eq(total, 2000 * 1999 / 2 - 4 * 500 * 499 / 2);
        ck_assert_uint_gt(views, 100);
        close_world(world, &heard);
    }
}
END_TEST

static mica_entity moved, home;

START_TEST(a_loop_ends_when_a_parent_changes)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world);
    for (uint32_t i = 0; i < 4; ++i)
        moved = mica_create_child(world, parent, MICA_WITH(Number, {i}));
    home = mica_create(world);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_HAS(mica_child_of, .target = mica_fixed(parent)), MICA_READ(Number)));
    uint32_t seen = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++seen)
        mica_set_parent(world, moved, home);
    ck_assert_uint_eq(seen, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "inside the loop");
    ck_assert_uint_eq(mica_query_count(query), 3);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

static void ignore_event(const mica_event *event)
{
    (void)event;
}

START_TEST(what_changes_edges_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent);
    mica_entity other = mica_create(world);
    for (int is_used = 0; is_used < 2; ++is_used) {
        uint64_t hash = mica_world_hash(world);
        ck_assert(!mica_relate(world, other, mica_child_of, parent));
        expect_report(&heard, MICA_ERROR_INVALID, "mica/hierarchy.h");
        ck_assert(!mica_unrelate(world, child, mica_child_of, parent));
        expect_report(&heard, MICA_ERROR_INVALID, "unrelate: mica_child_of");
        ck_assert_uint_eq(mica_unrelate_sources(world, parent, mica_child_of), 0);
        expect_report(&heard, MICA_ERROR_INVALID, "unrelate_sources: mica_child_of");
        ck_assert_int_eq(mica_place_source(world, child, mica_child_of, parent, mica_nil()), MICA_ERROR_INVALID);
        heard.count = heard.taken = 0;
        ck_assert(!mica_edge_get(world, child, mica_child_of, parent));
        expect_report(&heard, MICA_ERROR_INVALID, "edge_get: mica_child_of");
        mica_edges edges = mica_sources(world, parent, mica_child_of);
        ck_assert(!mica_edge_next(&edges));
        edges = mica_targets(world, child, mica_child_of);
        ck_assert(!mica_edge_next(&edges));
        if (is_used) {
            expect_report(&heard, MICA_ERROR_INVALID, "sources: mica_child_of");
            expect_report(&heard, MICA_ERROR_INVALID, "targets: mica_child_of");
        }
        heard.count = heard.taken = 0;
        mica_defer(world);
        ck_assert(!mica_relate(world, other, mica_child_of, parent));
        mica_flush(world);
        expect_report(&heard, MICA_ERROR_INVALID, "relate: mica_child_of");
        ck_assert(!mica_add(world, other, mica_child_of));
        expect_report(&heard, MICA_ERROR_INVALID, "mica_child_of");
        ck_assert(mica_hook_set(world, mica_child_of, MICA_EVENT_ADD, ignore_event, NULL) != MICA_OK);
        expect_report(&heard, MICA_ERROR_INVALID, "mica_set_parent");
        ck_assert(!mica_pool_of(world, mica_child_of));
        expect_report(&heard, MICA_ERROR_INVALID, "mica_set_parent");
        mica_partition partition = mica_partitions_by_target_id(world, MICA_ID(mica_child_of));
        ck_assert(!mica_partition_next(&partition));
        expect_report(&heard, MICA_ERROR_INVALID, "mica_first_child");
        ck_assert(!mica_query_text(world, "mica_child_of(up mica_child_of)", NULL));
        expect_report(&heard, MICA_ERROR_INVALID, "use a variable for the ancestor");
        mica_query *query = mica_query_text(world, "mica_child_of", NULL);
        ck_assert(mica_same(mica_query_first(query), child));
        mica_query_destroy(query);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        ck_assert(mica_same(mica_parent(world, child), parent));
        ck_assert_uint_eq(mica_component_next(world, 0), 0); /* it is no data */
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(child_of, queries_find_what_those_about_a_relation_with_the_same_edges_find, a_cascade_visits_parents_first,
           plans_count_children, all_children_are_visited_wherever_they_are,
           children_of_an_entity_are_divided_into_jobs, a_loop_ends_when_a_parent_changes,
           what_changes_edges_is_refused)
