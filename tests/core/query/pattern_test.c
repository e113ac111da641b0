/* Queries about several entities: every term kind for every storage, what is rejected, and what loops, systems and observers do with them.
 * pattern_view_test.c is about what views show, pattern_memory_test.c about short memory; tests/integration/join_test.c compares random ones with SQLite. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/bulk.h"
#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/observer.h"
#include "mica/query_text.h"
#include "mica/relation.h"
#include "mica/split.h"

#include <stdio.h>
#include <string.h>

typedef struct Wing {
    uint32_t value;
} Wing;
MICA_POOL_WITH(Wing, (.toggle = true, .track_changed = true), value)
typedef struct Buff {
    uint32_t value;
} Buff;
MICA_POOL_WITH(Buff, (.many = true), value)
typedef struct Spin {
    float x, y;
} Spin;
MICA_COMPONENT_WITH(Spin, (.split = true), x, y)
typedef struct Drift {
    float x, y;
} Drift;
MICA_POOL_WITH(Drift, (.split = true), x, y)
typedef struct Dose {
    uint32_t value;
} Dose;
MICA_COMPONENT_WITH(Dose, (.track_changed = true, .toggle = true), value)
MICA_POOL_TAG(Marked)
MICA_RELATION(Likes)
typedef struct Road {
    uint32_t meters;
} Road;
MICA_RELATION(Road, meters)
MICA_RELATION_WITH(Borders, (.symmetric = true))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
typedef Road Flow;
MICA_RELATION_WITH(Flow, (.transitive = true), meters)
MICA_RELATION_WITH(Near, (.symmetric = true, .transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))
MICA_RELATION_WITH(Docked, (.exclusive = true))
MICA_RELATION_WITH(Remembers, (.on_target = MICA_TARGET_KEEP))

enum { OTHER = 1, THIRD };

static reports heard;

/* A chain of parts and some edges: hull <- deck <- gun; gun likes hull and ally. */
typedef struct fleet {
    mica_world *world;
    mica_entity hull, deck, gun, ally;
} fleet;

static fleet open_fleet(void)
{
    fleet fleet = {.world = open_world(&heard)};
    mica_world *world = fleet.world;
    fleet.gun = mica_create(world, MICA_WITH(Number, {3}), MICA_WITH(Enemy));
    fleet.deck = mica_create(world, MICA_WITH(Number, {2}));
    fleet.hull = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Position, {1, 2, 3}));
    fleet.ally = mica_create(world, MICA_WITH(Number, {4}), MICA_WITH(Player));
    mica_relate(world, fleet.deck, PartOf, fleet.hull);
    mica_relate(world, fleet.gun, PartOf, fleet.deck);
    mica_relate(world, fleet.gun, Likes, fleet.hull);
    mica_relate(world, fleet.gun, Likes, fleet.ally);
    mica_relate(world, fleet.gun, Road, fleet.ally)->meters = 70;
    mica_relate(world, fleet.hull, Borders, fleet.ally);
    mica_relate(world, fleet.gun, LeadsTo, fleet.deck);
    mica_relate(world, fleet.deck, LeadsTo, fleet.hull);
    mica_relate(world, fleet.hull, Near, fleet.gun);
    mica_relate(world, fleet.gun, Near, fleet.deck);
    return fleet;
}

static mica_query *ask(mica_world *world, const char *text)
{
    mica_value_error error;
    mica_query *query = mica_query_text(world, text, &error);
    ck_assert_msg(query != NULL, "%s: at %u: %s", text, error.position, error.text);
    return query;
}

/* What is found, as the numbers of this entity and the first variable. */
static const struct {
    const char *text;
    const char *found;
} answers[] = {
    {"Number, Likes($this, $other)", "3-1 3-4"},
    {"Likes($this, $other), Position($other)", "3-1"},
    {"Number, Likes($other, $this)", "1-3 4-3"},
    {"Number, !Likes($this, _), !Likes(_, $this)", "2-0"},
    {"Number, Likes($this, _)", "3-0"},
    {"Number, Likes(_, $this)", "1-0 4-0"},
    {"Number, Likes($this, *)", "3-0 3-0"},
    {"Number, Borders($this, $other)", "1-4 4-1"},
    {"Borders($this, $other)", "1-4 4-1"},
    {"Number, Borders($this, _)", "1-0 4-0"},
    {"Number, !Borders($this, *)", "2-0 3-0"},
    {"Enemy, LeadsTo($this, $other)", "3-2 3-1"},
    {"Position, LeadsTo($other, $this)", "1-2 1-3"},
    {"LeadsTo($this, $other), Likes($this, $other)", "3-1"},
    {"Number, Position(up PartOf)", "2-0 3-0"},
    {"Number, Position(self up PartOf)", "1-0 2-0 3-0"},
    {"Number, !Position(self up PartOf)", "4-0"},
    {"Number, Enemy(down PartOf)", "1-0 2-0"},
    {"Number, Enemy(self down PartOf)", "1-0 2-0 3-0"},
    {"Number, !Enemy(self down PartOf)", "4-0"},
    {"Number, ?Position(cascade PartOf)", "1-0 4-0 2-0 3-0"},
    {"Number, Position(cascade PartOf), Number($other), Likes($this, $other)", "3-1 3-4"},
    {"Number, ?Position(cascade PartOf), Likes($other, $this)", "1-3 4-3"},
    {"?Position(cascade PartOf), Likes($other, $this), Likes($other, $third)", "1-3 1-3 4-3 4-3"},
    {"Number(cascade PartOf), Player($third), Likes($this, $other)", "3-1 3-4"},
    {"?Position(cascade PartOf), LeadsTo($other, $this), Number($third)",
     "1-3 1-3 1-3 1-3 1-2 1-2 1-2 1-2 2-3 2-3 2-3 2-3"},
    {"Number, ?Likes($this, $other)", "1-0 2-0 3-1 3-4 4-0"},
    {"Number, ?LeadsTo($this, $other)", "1-0 2-1 3-1 3-2 4-0"},
    {"Number, ?Likes($this, $other), ?Borders($other, $third)", "1-0 2-0 3-1 3-4 4-0"},
    {"Number, ?Likes($this, $other), ?Likes($this, $third), ?Borders($other, $third)", "1-0 2-0 3-1 3-1 3-4 3-4 4-0"},
    {"Number, ?Likes($this, $other), ?LeadsTo($other, $third)", "1-0 2-0 3-1 3-4 4-0"},
    {"Number, ?Likes(_, $this), ?Likes($this, *)", "1-0 2-0 3-0 3-0 4-0"},
    {"Number, Near($this, $other)", "1-1 1-2 1-3 2-1 2-2 2-3 3-1 3-2 3-3"},
    {"Enemy, Number($other), Near($other, $this)", "3-1 3-2 3-3"},
    {"Enemy, Number($other), !Near($other, $this)", "3-4"},
    {"Number, ?Near($this, $other), Enemy", "3-1 3-2 3-3"},
    {"Enemy, ?Enemy(up PartOf)", "3-0"},
    {"Number, Number($other), ?Likes($this, $other), Player($other)", "1-4 2-4 3-4 4-4"},
    {"Number, Player | Likes($this, _)", "3-0 4-0"},
    {"Number, Likes($this, $other), Player($other) | Likes($other, _)", "3-4"},
    {"Number, Enemy(up PartOf) | Position(up PartOf)", "2-0 3-0"},
    {"Number, Enemy(down PartOf) | LeadsTo($this, _) | Borders(_, $this)", "1-0 2-0 3-0 4-0"},
    {"Number, Player(*)", "1-0 2-0 3-0 4-0"},
    {"Number, Likes($this, $other), !Borders($other, $other)", "3-1 3-4"},
    {"LeadsTo($this, $this)", ""},
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of a text, sorted. */
static void sort_words(const char *text, char *out)
{
    char copy[400], *words[64];
    uint32_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    qsort(words, count, sizeof *words, compare_texts);
    out[0] = 0;
    for (uint32_t i = 0; i < count; ++i)
        sprintf(out + strlen(out), "%s ", words[i]);
}

static uint32_t number_of(const mica_world *world, mica_entity entity)
{
    return mica_is_nil(entity) ? 0 : (uint32_t)mica_get(world, entity, Number)->value;
}

static void list_results(mica_world *world, mica_query *query, mica_view view, char *out)
{
    uint32_t other = mica_query_variable(query, "other");
    for (out[0] = 0; mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            sprintf(out + strlen(out), "%u-%u ", number_of(world, view.entities[i]),
                    other ? number_of(world, mica_view_variable(&view, other)) : 0);
}

START_TEST(each_kind_of_term_finds_what_it_means)
{
    fleet fleet = open_fleet();
    for (uint32_t i = 0; i < COUNT_OF(answers); ++i) {
        char found[400], expected[400], sorted[400], plan[2000], written[500];
        mica_query *query = ask(fleet.world, answers[i].text);
        list_results(fleet.world, query, mica_query_begin(query), found);
        sort_words(found, sorted);
        sort_words(answers[i].found, expected);
        ck_assert_msg(strcmp(sorted, expected) == 0, "%s: %s instead of %s", answers[i].text, sorted, expected);
        if (strstr(answers[i].text, "cascade PartOf)\0")) /* parents first */
            ck_assert_msg(strncmp(found, answers[i].found, strlen(answers[i].found)) == 0, "%s", found);
        ck_assert(mica_query_explain(query, plan, sizeof plan) == strlen(plan) && plan[0]);
        mica_query_write_text(query, written, sizeof written);
        mica_query *again = ask(fleet.world, written);
        ck_assert_uint_eq(mica_query_count(again), mica_query_count(query));
        mica_query_destroy(again);
        mica_query_destroy(query);
    }
    close_world(fleet.world, &heard);
}
END_TEST

static const struct {
    const char *text;
    uint32_t position;
    const char *problem;
} mistakes[] = {
    {"Number, Likes($this, $x", 23, "expected ')', found the end"},
    {"Number, Likes($this, )", 21, "expected an entity"},
    {"Number, Likes($, $x)", 15, "expected the name of a variable, found ','"},
    {"Number, Likes($this, nothing)", 21, "there is no entity \"nothing\""},
    {"Number, Likes($this, hul)", 21, "there is no entity \"hul\" (did you mean \"hull\"?)"},
    {"Number, Likes($this, #7)", 23, "expected ':' and the generation"},
    {"Number, Likes($this, #x)", 22, "expected a number"},
    {"Number, Likes($this, #9999:1)", 21, "the entity #9999:1 is not alive"},
    {"Number, Likes($this, #1:9999)", 21, "the entity #1:9999 is not alive"},
    {"Number, Likes($this, #5000000000:1)", 21, "the entity #5000000000:1 is not alive"},
    {"Number, Likes($this, #1:5000000000)", 21, "the entity #1:5000000000 is not alive"},
    {"Number, Likes($this, #00000000001:1)", 22, "expected a number of at most ten digits"},
    {"Number, Likes($this, _x)", 21, "there is no entity \"_x\""},
    {"Number, Likes($this, $that) | nothing", 30, "there is no component \"nothing\""},
    {"Number, Enemy | Likes($, _)", 23, "expected the name of a variable"},
    {"Number(up nothing)", 10, "there is no component \"nothing\""},
    {"Number(up \"\")", 11, "expected the name of a component"},
    {"Number($this up nothing)", 16, "there is no component \"nothing\""},
    {"Number, !Likes($this, $)", 23, "expected the name of a variable"},
    {"Number($this, $x)", 0, "Number: only a relation has a target"},
    {"Number(up Likes)", 0, "is a relation without .exclusive = true"},
    {"Number(up Number)", 0, "ancestors are found along a relation"},
    {"Number(self Likes)", 12, "expected up, down or cascade"},
    {"Number($x cascade PartOf), Enemy", 0, "only this entity can be visited after its ancestors"},
    {"Likes(up PartOf, $x)", 0, "use a variable for the ancestor"},
    {"Number, !Likes($this, $x)", 8, "no term requires its variable"},
    {"Number, Enemy($x) | Likes($this, _)", 8, "a group binds no variable"},
    {"Number, ?Likes($x, $y)", 8, "no term before it binds its variables"},
    {"Number, ?Enemy($x up PartOf)", 8, "no term before it binds its variables"},
    {"Number($x)", 0, "no term is about this entity"},
    {"Number(_)", 0, "any entity as the subject of a component"},
    {"Number, Clock($x)", 8, "a singleton belongs to no entity"},
    {"Number, changed Likes($this, $x)", 8, "edges can't be asked for changes"},
    {"Number, write Likes($this, $x)", 8, "its edges have no fields"},
    {"Number, write Flow($this, $x)", 8, "what follows from several edges has no fields"},
    {"Number(up Borders)", 0, "ancestors are found along a relation that is exclusive"},
    {"Number(up Docked)", 0, "is a relation without .acyclic = true"},
    {"Number, write LeadsFar($this, $x)", 14, "there is no component"},
    {"Number, Likes($this, $x), !Likes($this, $x)", 26, "it is both asked for and excluded"},
    {"Number, Road($this, $x), write Road($this, $x)", 25, "it is given twice"},
    {"Number, ?Likes", 8, "edges have a column only with a target"},
};

START_TEST(an_invalid_text_is_rejected_with_its_place)
{
    fleet fleet = open_fleet();
    mica_name_set(fleet.world, fleet.hull, mica_nil(), "hull");
    mica_define(fleet.world, Clock);
    mica_define(fleet.world, Flow);
    mica_define(fleet.world, Docked);
    for (uint32_t i = 0; i < COUNT_OF(mistakes); ++i) {
        mica_value_error error = {0};
        ck_assert_msg(!mica_query_text(fleet.world, mistakes[i].text, &error), "%s", mistakes[i].text);
        ck_assert_msg(strstr(error.text, mistakes[i].problem) != NULL, "%s: %s", mistakes[i].text, error.text);
        ck_assert_msg(error.position == mistakes[i].position, "%s: at %u", mistakes[i].text, error.position);
    }
    char longest[200], many[800] = "Number";
    snprintf(longest, sizeof longest, "Likes($this, $%0100u)", 1);
    mica_value_error error;
    ck_assert_ptr_null(mica_query_text(fleet.world, longest, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "longer than 63"));
    for (uint32_t i = 0; i <= MICA_VARIABLES_MAX; ++i)
        sprintf(many + strlen(many), ", Number($v%u)", i);
    ck_assert_ptr_null(mica_query_text(fleet.world, many, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "more than 15 variables"));
    close_world(fleet.world, &heard);
}
END_TEST

static int compare_numbers(const void *a, const void *b, void *context)
{
    (void)context;
    return (int)((const Number *)a)->value - (int)((const Number *)b)->value;
}

START_TEST(invalid_terms_are_reported)
{
    fleet fleet = open_fleet();
    mica_entity dead = mica_create(fleet.world);
    mica_destroy(fleet.world, dead);
    const struct {
        mica_term term;
        const char *problem;
    } cases[] = {
        {MICA_HAS(Likes, .target = {.kind = (mica_node_kind)77}), "unknown kind"},
        {MICA_HAS(Likes, .target = {.kind = MICA_NODE_VARIABLE}), "number of a variable"},
        {MICA_HAS(Likes, .subject = {.kind = MICA_NODE_VARIABLE, .variable = 99}), "number of a variable"},
        {MICA_HAS(Likes, .target = {.kind = MICA_NODE_ENTITY}), "not alive"},
        {{.component = 0, .access = MICA_ACCESS_HAS}, ""},
    };
    for (uint32_t i = 0; i + 1 < COUNT_OF(cases); ++i) {
        mica_term terms[] = {MICA_HAS(Number), cases[i].term};
        ck_assert_ptr_null(mica_query_create(fleet.world, &(mica_query_def){.terms = terms, .term_count = 2}));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].problem);
    }
    ck_assert_ptr_null(
        mica_query_create(fleet.world, MICA_QUERY(MICA_HAS(Number, .up = MICA_ID(PartOf), .down = MICA_ID(PartOf)))));
    expect_report(&heard, MICA_ERROR_INVALID, "more than one of .up, .down and .cascade");
    ck_assert_ptr_null(mica_query_create(fleet.world, MICA_QUERY(MICA_HAS(Number, .or_self = true))));
    expect_report(&heard, MICA_ERROR_INVALID, "it has .or_self");
    ck_assert_ptr_null(
        mica_query_create(fleet.world, MICA_QUERY_SORTED(Number, compare_numbers, NULL, MICA_READ(Number),
                                                         MICA_HAS(Likes, .target = mica_variable(OTHER)))));
    expect_report(&heard, MICA_ERROR_INVALID, "can't be sorted");
    const char *names[20] = {0};
    mica_term terms[] = {MICA_HAS(Likes, .target = mica_each())};
    ck_assert_ptr_null(mica_query_create(
        fleet.world, &(mica_query_def){.terms = terms, .term_count = 1, .variables = names, .variable_count = 20}));
    expect_report(&heard, MICA_ERROR_INVALID, "more names of variables");
    ck_assert_ptr_null(mica_query_create(
        fleet.world, &(mica_query_def){.terms = terms, .term_count = 1, .variables = names, .variable_count = 2}));
    expect_report(&heard, MICA_ERROR_INVALID, "one of the names of variables is NULL");
    ck_assert_ptr_null(mica_query_create(
        fleet.world, MICA_QUERY_INSTANCES(Buff, MICA_READ(Buff), MICA_HAS(Likes, .target = mica_variable(OTHER)))));
    expect_report(&heard, MICA_ERROR_INVALID, "show instances");
    mica_query *plain = mica_query_create(fleet.world, MICA_QUERY(MICA_HAS(Number)));
    mica_view rows = mica_query_begin(plain);
    ck_assert(!mica_view_bind(&rows, 0, fleet.hull) && mica_is_nil(mica_view_variable(&rows, 0)));
    expect_report(&heard, MICA_ERROR_INVALID, "view_bind: there is no variable 0");
    expect_report(&heard, MICA_ERROR_INVALID, "view_variable: there is no variable 0");
    mica_query *query = mica_query_create(fleet.world, MICA_QUERY(MICA_HAS(Likes, .target = mica_variable(OTHER))));
    mica_view view = mica_query_begin(query);
    ck_assert(!mica_view_bind(&view, THIRD, fleet.hull));
    expect_report(&heard, MICA_ERROR_INVALID, "there is no variable 2");
    ck_assert(!mica_view_bind(&view, OTHER, dead));
    expect_report(&heard, MICA_ERROR_INVALID, "the entity is not alive");
    ck_assert(mica_view_next(&view));
    ck_assert(!mica_view_bind(&view, OTHER, fleet.hull));
    expect_report(&heard, MICA_ERROR_INVALID, "before the first mica_view_next");
    ck_assert(mica_is_nil(mica_view_variable(&view, THIRD)));
    expect_report(&heard, MICA_ERROR_INVALID, "there is no variable 2");
    ck_assert(!mica_query_matches(query, dead));
    close_world(fleet.world, &heard);
}
END_TEST

START_TEST(variables_have_numbers_and_names)
{
    fleet fleet = open_fleet();
    mica_query *query = ask(fleet.world, "Likes($this, $friend), Number($friend)");
    ck_assert_uint_eq(mica_query_variable(query, "friend"), 1);
    ck_assert_uint_eq(mica_query_variable(query, "nothing"), 0);
    ck_assert_str_eq(mica_query_variable_name(query, 1), "friend");
    ck_assert_ptr_null(mica_query_variable_name(query, 2));
    mica_query *plain = ask(fleet.world, "Number");
    ck_assert_uint_eq(mica_query_variable(plain, "friend"), 0);
    ck_assert_ptr_null(mica_query_variable_name(plain, 1));
    mica_query *unnamed = mica_query_create(fleet.world, MICA_QUERY(MICA_HAS(Likes, .target = mica_variable(OTHER))));
    ck_assert_ptr_null(mica_query_variable_name(unnamed, 1));
    char text[100];
    mica_query_write_text(unnamed, text, sizeof text);
    ck_assert_str_eq(text, "Likes($this, $1)");
    mica_query_explain(unnamed, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "Likes($this, $1)"));
    close_world(fleet.world, &heard);
}
END_TEST

START_TEST(given_entities_are_written_by_their_path_or_handle)
{
    fleet fleet = open_fleet();
    mica_world *world = fleet.world;
    mica_name_set(world, fleet.hull, mica_nil(), "the hull");
    mica_name_set(world, fleet.ally, fleet.hull, "ally");
    mica_query *query =
        ask(world, "Number, Likes($this, \"the hull/ally\"), !Borders($this, \"the hull\"), Number(#1:1)");
    char text[200];
    mica_query_write_text(query, text, sizeof text);
    ck_assert_msg(strstr(text, "Likes($this, \"the hull/ally\"), !Borders($this, \"the hull\"), has Number(#") ||
                      strstr(text, "Likes($this, \"the hull/ally\"), !Borders($this, \"the hull\"), Number(#"),
                  "%s", text);
    ck_assert_uint_eq(mica_query_count(query), 1);
    mica_query *fixed =
        mica_query_create(world, MICA_QUERY(MICA_HAS(Number), MICA_HAS(Likes, .target = mica_fixed(fleet.ally)),
                                            MICA_HAS(Number, .subject = mica_fixed(fleet.ally))));
    ck_assert_uint_eq(mica_query_count(fixed), 1);
    mica_name_set(world, fleet.gun, mica_nil(), "the \"gun\"");
    mica_query *quoted = mica_query_create(
        world, MICA_QUERY(MICA_HAS(Number), MICA_HAS(Likes, .subject = mica_fixed(fleet.gun), .target = mica_this())));
    mica_query_write_text(quoted, text, sizeof text);
    ck_assert_msg(strstr(text, "Likes(#") != NULL, "%s", text);
    ck_assert_uint_eq(mica_query_count(quoted), 2);
    mica_name_set(world, fleet.gun, mica_nil(), "up"); /* which is a word of traversals only before a relation */
    ck_assert_uint_eq(mica_query_count(ask(world, "Number, Likes(up, $this)")), 2);
    mica_destroy(world, fleet.ally);
    ck_assert_uint_eq(mica_query_count(fixed), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(columns_of_other_entities_are_read_and_written)
{
    fleet fleet = open_fleet();
    mica_world *world = fleet.world;
    mica_set(world, fleet.ally, Wing, {5});
    mica_set(world, fleet.ally, Spin, {1, 2});
    mica_set(world, fleet.ally, Drift, {3, 4});
    mica_set(world, fleet.ally, Dose, {6});
    mica_add(world, fleet.ally, Marked);
    mica_set(world, fleet.ally, Buff, {8});
    const mica_node other = mica_variable(OTHER);
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_WRITE(Number), MICA_HAS(Likes, .target = other), MICA_WRITE(Wing, .subject = other),
                          MICA_WRITE(Spin, .subject = other), MICA_WRITE(Drift, .subject = other),
                          MICA_WRITE(Dose, .subject = other), MICA_MAYBE_READ(Marked, .subject = other),
                          MICA_READ(Buff, .subject = other), MICA_MAYBE_READ(Age, .subject = other),
                          MICA_WRITE(Road, .target = other),
                          MICA_MAYBE_READ(Borders, .subject = other, .target = mica_any())));
    mica_version mark = mica_world_mark(world);
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++rows) {
        ck_assert_uint_eq(view.count, 1);
        mica_view_write(&view, Number)->value = 30;
        mica_view_write(&view, Wing)->value += 1;
        *(float *)mica_view_write_field_id(&view, MICA_ID(Spin), offsetof(Spin, y)) = 9;
        *(float *)mica_view_write_field_unmarked_id(&view, MICA_ID(Drift), offsetof(Drift, x)) = 7;
        ck_assert(*(const float *)mica_view_read_field_id(&view, MICA_ID(Drift), offsetof(Drift, y)) == 4);
        mica_view_write_unmarked(&view, Dose)->value = 60;
        mica_view_mark(&view, Dose, 0);
        mica_view_write_unmarked(&view, Wing);
        mica_view_mark(&view, Wing, 0);
        ck_assert_uint_eq(mica_view_read(&view, Buff)->value, 8);
        ck_assert(mica_view_has(&view, Marked) && !mica_view_has(&view, Age) && mica_view_has(&view, Borders));
        ck_assert_ptr_null(mica_view_read(&view, Age));
        ck_assert(mica_view_enabled(&view, Wing)[0] && mica_view_enabled(&view, Dose)[0]);
        ck_assert_uint_eq(((Road *)mica_view_write_at(&view, 9))->meters, 70);
        ((Road *)mica_view_write_at(&view, 9))->meters = 80;
        ck_assert_ptr_nonnull(mica_view_write_unmarked_id(&view, MICA_ID(Road)));
    }
    ck_assert_uint_eq(rows, 1);
    mica_query *fields =
        mica_query_create(world, MICA_QUERY(MICA_HAS(Road, .target = other), MICA_MAYBE_READ(Spin, .subject = other),
                                            MICA_MAYBE_READ(Drift, .subject = other), MICA_MAYBE_READ(Spin)));
    mica_view optional = mica_query_begin(fields);
    ck_assert(mica_view_next(&optional) && mica_view_has_at(&optional, 1) && mica_view_has_at(&optional, 2));
    ck_assert(!mica_view_has_at(&optional, 3));
    ck_assert_uint_eq(mica_get(world, fleet.ally, Wing)->value, 6);
    ck_assert_uint_eq(mica_get(world, fleet.ally, Dose)->value, 60);
    ck_assert_uint_eq(((const Road *)mica_edge_get(world, fleet.gun, Road, fleet.ally))->meters, 80);
    mica_query *changed =
        mica_query_create(world, MICA_QUERY(MICA_HAS(Likes, .target = other), MICA_CHANGED(Dose, .subject = other)));
    mica_view since = mica_query_begin_since(changed, mark);
    ck_assert(mica_view_next(&since));
    mica_view later = mica_query_begin_since(changed, mica_world_mark(world));
    ck_assert(!mica_view_next(&later));
    ck_assert_uint_eq(mica_query_count(changed), 1);
    for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
        ;
    ck_assert_uint_eq(mica_query_count(changed), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(absent_optional_nodes_have_no_columns)
{
    fleet fleet = open_fleet();
    mica_world *world = fleet.world;
    const mica_node other = mica_variable(OTHER);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Position), MICA_MAYBE_READ(Likes, .target = other),
                                                            MICA_MAYBE_WRITE(Dose, .subject = other),
                                                            MICA_MAYBE_WRITE(Spin, .subject = other),
                                                            MICA_MAYBE_READ(Wing, .up = MICA_ID(PartOf))));
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view) && view.count == 1);
    ck_assert(mica_is_nil(mica_view_variable(&view, OTHER)) && !mica_view_has(&view, Likes));
    ck_assert(!mica_view_has(&view, Dose) && !mica_view_has(&view, Spin) && !mica_view_has(&view, Wing));
    ck_assert_ptr_null(mica_view_write(&view, Dose));
    ck_assert_ptr_null(mica_view_write_unmarked(&view, Dose));
    ck_assert_ptr_null(mica_view_enabled(&view, Dose));
    ck_assert_ptr_null(mica_view_read_field_id(&view, MICA_ID(Spin), 0));
    ck_assert_ptr_null(mica_view_write_field_id(&view, MICA_ID(Spin), 0));
    mica_view_mark(&view, Dose, 0);
    ck_assert(!mica_view_next(&view));
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_that_follow_each_other_come_as_one_view)
{
    mica_world *world = open_world(&heard);
    mica_entity planets[2] = {mica_create(world, MICA_WITH(Position)), mica_create(world, MICA_WITH(Position))};
    for (uint32_t i = 0; i < 100; ++i)
        mica_relate(world, mica_create(world, MICA_WITH(Number, {(int)i})), PartOf, planets[i >= 60]);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Number), MICA_READ(Position, .up = MICA_ID(PartOf))));
    uint32_t views = 0, rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++views) {
        Number *numbers = mica_view_write(&view, Number);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_int_eq(numbers[i].value, (int)rows++);
    }
    ck_assert_uint_eq(views, 2);
    ck_assert_uint_eq(rows, 100);
    mica_query *fixed =
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Position, .subject = mica_fixed(planets[0]))));
    mica_view whole = mica_query_begin(fixed);
    ck_assert(mica_view_next(&whole) && whole.count == 100 && !mica_view_next(&whole));
    ck_assert_uint_eq(mica_query_count(fixed), 100);
    close_world(world, &heard);
}
END_TEST

START_TEST(hidden_and_dead_entities_are_not_found)
{
    fleet fleet = open_fleet();
    mica_world *world = fleet.world;
    mica_entity lost = mica_create(world);
    mica_relate(world, fleet.gun, Remembers, lost);
    mica_relate(world, fleet.gun, Remembers, fleet.ally);
    mica_destroy(world, lost);
    mica_query *remembered = ask(world, "Number, Remembers($this, $other)");
    mica_query *any = ask(world, "Number, Remembers($this, _)");
    ck_assert_uint_eq(mica_query_count(remembered), 1);
    mica_entity_disable(world, fleet.ally);
    ck_assert_uint_eq(mica_query_count(remembered), 0);
    ck_assert_uint_eq(mica_query_count(any), 1);
    mica_entity_enable(world, fleet.ally);
    ck_assert_uint_eq(mica_query_count(remembered), 1);
    close_world(world, &heard);
}
END_TEST

/* A relation with many edges of one source finds them in a table. */
START_TEST(an_edge_is_found_however_many_its_source_has)
{
    fleet fleet = open_fleet();
    mica_world *world = fleet.world;
    mica_define(world, Docked);
    mica_query *query = ask(world, "Number, Docked($this, $other), Likes($this, $other)");
    mica_relate(world, fleet.gun, Docked, fleet.hull);
    mica_relate(world, fleet.deck, Docked, fleet.hull);
    for (uint32_t i = 0; i < 100; ++i) {
        ck_assert_uint_eq(mica_query_count(query), 1);
        mica_relate(world, fleet.gun, Likes, mica_create(world));
        mica_relate(world, fleet.deck, Likes, mica_create(world));
    }
    mica_unrelate(world, fleet.gun, Likes, fleet.hull);
    ck_assert_uint_eq(mica_query_count(query), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(changes_to_all_matches_reach_each_entity_once)
{
    fleet fleet = open_fleet();
    mica_query *query = ask(fleet.world, "Number, Likes($this, $other)");
    ck_assert_int_eq(mica_add_all_id(query, (mica_value)MICA_WITH(Frozen)), MICA_OK);
    ck_assert(mica_has(fleet.world, fleet.gun, Frozen) && !mica_has(fleet.world, fleet.ally, Frozen));
    mica_query *none = ask(fleet.world, "Player, Likes($this, $other)");
    ck_assert_int_eq(mica_add_all_id(none, (mica_value)MICA_WITH(Frozen)), MICA_OK);
    mica_query *sorted = ask(fleet.world, "Number, Number($other)");
    ck_assert_int_eq(mica_query_sort_rows(sorted, MICA_ID(Number), compare_numbers, NULL), MICA_OK);
    ck_assert_int_eq(mica_destroy_all(query), MICA_OK);
    ck_assert(!mica_is_alive(fleet.world, fleet.gun) && mica_is_alive(fleet.world, fleet.hull));
    close_world(fleet.world, &heard);
}
END_TEST

START_TEST(more_loops_than_a_query_allows_end_the_oldest)
{
    fleet fleet = open_fleet();
    mica_query *query = ask(fleet.world, "Number, Likes($this, $other)");
    mica_view oldest = mica_query_begin(query), last = {0};
    ck_assert(mica_view_next(&oldest));
    for (uint32_t i = 0; i < 64; ++i) {
        last = mica_query_begin(query);
        ck_assert(mica_view_next(&last));
    }
    ck_assert(!mica_view_next(&oldest));
    expect_report(&heard, MICA_ERROR_LIMIT, "this one ends here");
    ck_assert(mica_view_next(&last) && !mica_view_next(&last) && !mica_view_next(&last));
    close_world(fleet.world, &heard);
}
END_TEST

START_TEST(a_structural_change_ends_a_loop)
{
    fleet fleet = open_fleet();
    mica_query *query = ask(fleet.world, "Number, Likes($this, $other)");
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view));
    mica_relate(fleet.world, fleet.ally, Likes, fleet.hull);
    ck_assert(!mica_view_next(&view));
    expect_report(&heard, MICA_ERROR_REFUSED, "the structure of the world changed inside the loop");
    close_world(fleet.world, &heard);
}
END_TEST

/* A ship shells what it is at war with. */
static void shell(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    Mass *mass = mica_view_write(view, Mass);
    for (uint32_t i = 0; i < view->count; ++i) {
        mass->value = mass->value * 0.5f + (float)number[i].value;
        mica_command_add(mica_view_commands(view), view->entities[i], Frozen);
    }
}

static void grow(mica_entity entity, void *const *columns, void *context)
{
    (void)entity, (void)context;
    ((Number *)columns[0])->value += 1;
}

static uint64_t run_war(uint32_t workers)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    mica_entity planets[10];
    for (uint32_t i = 0; i < 10; ++i)
        planets[i] = mica_create(world, MICA_WITH(Mass, {(float)i}));
    for (uint32_t i = 0; i < 3000; ++i) {
        mica_entity ship = mica_create(world, MICA_WITH(Number, {(int)(i % 7)}));
        mica_relate(world, ship, Likes, planets[i * 7 % 10]);
        mica_relate(world, ship, Road, planets[i * 3 % 10])->meters = i;
    }
    mica_system_add(world, MICA_SYSTEM(shell, MICA_READ(Number), MICA_HAS(Likes, .target = mica_variable(OTHER)),
                                       MICA_WRITE(Mass, .subject = mica_variable(OTHER))));
    const mica_term growing[] = {MICA_WRITE(Number), MICA_HAS(Road, .target = mica_variable(OTHER)),
                                 MICA_READ(Mass, .subject = mica_variable(OTHER))};
    mica_system_add(world, &(mica_system_def){.name = "grow", .each = grow, .terms = growing, .term_count = 3});
    for (uint32_t frame = 0; frame < 4; ++frame)
        mica_step(world, 1.0f);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(systems_with_joins_do_the_same_for_any_number_of_workers)
{
    uint64_t hash = run_war(1);
    ck_assert_uint_eq(run_war(3), hash);
    ck_assert_uint_eq(run_war(7), hash);
}
END_TEST

static uint32_t told;

static void note(const mica_event *event)
{
    (void)event;
    ++told;
}

START_TEST(observers_filter_by_joins_and_monitors_refuse_them)
{
    fleet fleet = open_fleet();
    told = 0;
    mica_observer_add(fleet.world,
                      MICA_OBSERVER(MICA_EVENT_ADD, Frozen, note, MICA_HAS(Likes, .target = mica_variable(OTHER)),
                                    MICA_HAS(Position, .subject = mica_variable(OTHER))));
    mica_add(fleet.world, fleet.ally, Frozen);
    ck_assert_uint_eq(told, 0);
    mica_add(fleet.world, fleet.gun, Frozen);
    ck_assert_uint_eq(told, 1);
    mica_observer none =
        mica_observer_add(fleet.world, MICA_MONITOR(note, MICA_HAS(Likes, .target = mica_variable(OTHER))));
    ck_assert_uint_eq(none.id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "can't be monitored");
    close_world(fleet.world, &heard);
}
END_TEST

static void add_rows(mica_view *view, void *sum, void *context)
{
    (void)context;
    *(uint32_t *)sum += view->count;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    *(uint32_t *)sum += *(const uint32_t *)later;
}

START_TEST(a_join_can_be_reduced)
{
    fleet fleet = open_fleet();
    uint32_t zero = 0, sum = 0;
    mica_reduction reduction = {.zero = &zero, .bytes = sizeof zero, .view = add_rows, .combine = add_sums};
    mica_query *query = ask(fleet.world, "Number, Likes($this, $x)");
    ck_assert_int_eq(mica_reduce_query(query, &reduction, &sum), MICA_OK);
    ck_assert_uint_gt(sum, 0);
    ck_assert_uint_eq(sum, mica_query_count(query));
    close_world(fleet.world, &heard);
}
END_TEST

enum { CROWD = 200 };

static mica_world *open_crowd(mica_entity *out_entities)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Age);
    for (uint32_t i = 0; i < CROWD; ++i)
        out_entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Dose, {i}), MICA_WITH(Wing, {i}));
    for (uint32_t i = 0; i < CROWD; ++i)
        for (uint32_t k = 1; k <= 3; ++k) {
            mica_relate(world, out_entities[i], Likes, out_entities[(i + k) % CROWD]);
            mica_relate(world, out_entities[i], Borders, out_entities[(i + k) % CROWD]);
            mica_relate(world, out_entities[i], LeadsTo, out_entities[(i + k) % CROWD]);
        }
    for (uint32_t i = 1; i < CROWD; ++i)
        mica_relate(world, out_entities[i], PartOf, out_entities[i - 1]);
    return world;
}

/* Nothing connects the variables: without a limit this would not end. */
START_TEST(a_text_with_variables_that_nothing_connects_ends_with_a_report)
{
    mica_entity crowd[CROWD];
    mica_world *world = open_crowd(crowd);
    mica_query *query = ask(world, "Number($a), Number($b), Number($c), Number($d), Number($e), has Age");
    ck_assert_uint_eq(mica_query_count(query), 0); /* no one has an age, which is asked first */
    mica_set(world, crowd[0], Age, {1});
    if (!UNDER_SANITIZER) {
        ck_assert_uint_le(mica_query_count(query), MICA_QUERY_TEXT_STEPS);
        expect_report(&heard, MICA_ERROR_LIMIT, "100000000 steps");
    }
    mica_query_limit(query, 1000);
    uint32_t views = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        ++views;
    ck_assert(views > 0 && views <= 1000);
    expect_report(&heard, MICA_ERROR_LIMIT, "1000 steps, its limit");
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_destroy_all(query), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "1000 steps");
    ck_assert_int_eq(mica_remove_all(query, Age), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "1000 steps");
    ck_assert_int_eq(mica_add_all(query, Mass, {1}), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "1000 steps");
    ck_assert_uint_eq(mica_world_hash(world), hash);
    close_world(world, &heard);
}
END_TEST

/* Each way to search counts what it looks at, also where it finds nothing. */
START_TEST(every_search_has_a_limit)
{
    static const char *const texts[] = {
        "Likes($this, $a), Likes($a, $b), Likes($b, $c)",
        "Number, Likes($this, $a), disabled Dose($a)",
        "Likes($this, $b), Likes($c, $d), disabled Dose($d)",
        "Borders($this, $a), Borders($a, $b), disabled Dose($b)",
        "Borders($this, $b), Borders($c, $d)",
        "LeadsTo($this, $a), LeadsTo($a, $b)",
        "Number, Age(up PartOf)",
        "Number, changed Dose($a), changed Dose($b)",
        "Number, Wing($a), Wing($b), !Likes($a, $b)",
    };
    mica_entity crowd[CROWD];
    mica_world *world = open_crowd(crowd);
    mica_create(world, MICA_WITH(Age, {1}));
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        mica_query *query = ask(world, texts[i]);
        mica_query_limit(query, UINT64_MAX);
        uint64_t count = mica_query_count(query);
        mica_query_limit(query, 150);
        ck_assert_msg(mica_query_count(query) < count || count == 0, "%s", texts[i]);
        ck_assert_msg(heard.count == 1, "%s", texts[i]);
        expect_report(&heard, MICA_ERROR_LIMIT, "150 steps");
        mica_query_matches(query, crowd[7]);
        forget_reports(&heard);
        mica_query_limit(query, 0);
        ck_assert_uint_eq(mica_query_count(query), count);
    }
    mica_query *plain = ask(world, "Number");
    mica_query_limit(plain, 1);
    ck_assert_uint_eq(mica_query_count(plain), CROWD);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(pattern, a_text_with_variables_that_nothing_connects_ends_with_a_report, every_search_has_a_limit,
           each_kind_of_term_finds_what_it_means, an_invalid_text_is_rejected_with_its_place,
           invalid_terms_are_reported, variables_have_numbers_and_names,
           given_entities_are_written_by_their_path_or_handle, columns_of_other_entities_are_read_and_written,
           absent_optional_nodes_have_no_columns, rows_that_follow_each_other_come_as_one_view,
           hidden_and_dead_entities_are_not_found, an_edge_is_found_however_many_its_source_has,
           changes_to_all_matches_reach_each_entity_once, more_loops_than_a_query_allows_end_the_oldest,
           a_structural_change_ends_a_loop, systems_with_joins_do_the_same_for_any_number_of_workers,
           observers_filter_by_joins_and_monitors_refuse_them, a_join_can_be_reduced)
