/* What the views of queries about several entities show: which rows come together, what is shown while the loop changes switches, loops that
 * lost their place, and how a plan is explained. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/query_text.h"
#include "mica/relation.h"
#include "mica/split.h"

#include <string.h>

typedef struct Wing {
    uint32_t value;
} Wing;
MICA_POOL_WITH(Wing, (.toggle = true, .track_changed = true), value)
typedef struct Dose {
    uint32_t value;
} Dose;
MICA_COMPONENT_WITH(Dose, (.track_changed = true, .toggle = true), value)
typedef struct Spin {
    float x, y;
} Spin;
MICA_COMPONENT_WITH(Spin, (.split = true), x, y)
MICA_RELATION(Likes)
typedef struct Road {
    uint32_t meters;
} Road;
MICA_RELATION(Road, meters)
MICA_RELATION_WITH(Near, (.symmetric = true, .transitive = true))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

enum { OTHER = 1, ROWS = 6, LOOPS_MAX = 64 };

static reports heard;

static mica_query *ask(mica_world *world, const char *text)
{
    mica_value_error error;
    mica_query *query = mica_query_text(world, text, &error);
    ck_assert_msg(query != NULL, "%s: at %u: %s", text, error.position, error.text);
    return query;
}

/* How many rows each view has, as digits. */
static const char *rows_of_views(mica_query *query)
{
    static char digits[20];
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        digits[count++] = (char)('0' + view.count);
    digits[count] = 0;
    return digits;
}

START_TEST(rows_come_together_while_everything_else_is_the_same)
{
    mica_world *world = open_world(&heard);
    mica_entity hubs[2] = {mica_create(world, MICA_WITH(Mass)), mica_create(world, MICA_WITH(Mass))};
    for (uint32_t i = 0; i < ROWS; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        mica_relate(world, entity, PartOf, hubs[i / 2 == 1]);
        if (i >= 2)
            mica_relate(world, entity, Likes, hubs[0]);
        if (i != 3)
            mica_relate(world, entity, Road, hubs[0])->meters = i;
    }
    static const struct {
        const char *text;
        const char *rows;
    } cases[] = {
        {"Number, Mass(up PartOf)", "222"},
        {"Number, ?Likes($this, _)", "24"},
        {"Number, ?Likes($this, $hub)", "24"},
        {"Number, Mass(up PartOf), ?Likes($this, _)", "222"},
        {"Number, ?Road($this, $hub)", "111111"}, /* each has its own value */
        {"Number, Likes($this, _) | Road($this, _)", "111111"},
        {"Number, !Road($this, _)", "1"},
        {"Number, Mass($hub), !Road($this, _)", "11"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        const char *rows = rows_of_views(ask(world, cases[i].text));
        ck_assert_msg(strcmp(rows, cases[i].rows) == 0, "%s: %s", cases[i].text, rows);
    }
    uint32_t at = 0;
    mica_query *roads = ask(world, "Number, ?Road($this, $hub)");
    for (mica_view view = mica_query_begin(roads); mica_view_next(&view); ++at) {
        const Road *road = mica_view_read(&view, Road);
        ck_assert((road == NULL) == (at == 3) && (!road || road->meters == at));
    }
    close_world(world, &heard);
}
END_TEST

/* The search is ahead of the loop: what was found to match is shown, although a switch was thrown since. */
START_TEST(what_the_loop_switches_off_is_still_shown)
{
    static const char *const texts[] = {"Number, Likes($this, $other), Dose($other), Wing($other)",
                                        "Number, Likes($this, $other), Dose($other)",
                                        "Number, Likes($this, $other), Wing($other)"};
    for (uint32_t i = 0; i < COUNT_OF(texts); ++i) {
        mica_world *world = open_world(&heard);
        mica_entity liked[ROWS];
        for (uint32_t k = 0; k < ROWS; ++k)
            liked[k] = mica_create(world, MICA_WITH(Dose, {k}), MICA_WITH(Wing, {k}));
        for (uint32_t k = 0; k < ROWS; ++k)
            mica_relate(world, mica_create(world, MICA_WITH(Number, {k})), Likes, liked[k]);
        mica_query *query = ask(world, texts[i]);
        bool has_dose = strstr(texts[i], "Dose"), has_wing = strstr(texts[i], "Wing");
        uint32_t shown = 0;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++shown) {
            uint32_t number = mica_get(world, view.entities[0], Number)->value;
            ck_assert(!has_dose || mica_view_read(&view, Dose)->value == number);
            ck_assert(!has_wing || mica_view_read(&view, Wing)->value == number);
            for (uint32_t k = 0; k < ROWS; ++k) {
                mica_disable(world, liked[k], Dose);
                mica_disable(world, liked[k], Wing);
            }
        }
        ck_assert_uint_ge(shown, 1);
        ck_assert_uint_le(shown, 2);
        ck_assert_uint_eq(mica_query_count(query), 0);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_loop_that_lost_its_place_shows_nothing_more)
{
    mica_world *world = open_world(&heard);
    mica_entity hub = mica_create(world, MICA_WITH(Dose, {7}), MICA_WITH(Spin, {1, 2}));
    for (uint32_t i = 0; i < ROWS; ++i)
        mica_relate(world, mica_create(world, MICA_WITH(Number, {i})), Likes, hub);
    const mica_node other = mica_variable(OTHER);
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Likes, .target = other), MICA_WRITE(Dose, .subject = other),
                          MICA_WRITE(Spin, .subject = other), MICA_MAYBE_READ(Mass, .subject = other),
                          MICA_MAYBE_READ(Road, .target = other)));
    mica_view lost = mica_query_begin(query), unstarted = mica_query_begin(query);
    ck_assert(mica_view_next(&lost) && mica_same(mica_view_variable(&lost, OTHER), hub));
    for (uint32_t i = 0; i < LOOPS_MAX; ++i) {
        mica_view view = mica_query_begin(query);
        ck_assert(mica_view_next(&view));
    }
    ck_assert(mica_is_nil(mica_view_variable(&lost, OTHER)));
    ck_assert_ptr_null(mica_view_write(&lost, Dose));
    ck_assert_ptr_null(mica_view_write_unmarked(&lost, Dose));
    ck_assert_ptr_null(mica_view_enabled(&lost, Dose));
    ck_assert_ptr_null(mica_view_read_field_id(&lost, MICA_ID(Spin), 0));
    ck_assert(!mica_view_has(&lost, Mass) && !mica_view_has(&lost, Road));
    mica_view_mark(&lost, Dose, 0);
    ck_assert_uint_eq(heard.count, 0);
    ck_assert(!mica_view_bind(&unstarted, OTHER, hub));
    expect_report(&heard, MICA_ERROR_INVALID, "bind it before the first mica_view_next");
    ck_assert(!mica_view_next(&unstarted) && !mica_view_next(&lost));
    expect_report(&heard, MICA_ERROR_LIMIT, "64 other loops began since");
    expect_report(&heard, MICA_ERROR_LIMIT, "64 other loops began since");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_row_is_marked_for_this_entity_and_for_others)
{
    mica_world *world = open_world(&heard);
    mica_entity hub = mica_create(world, MICA_WITH(Dose, {7}), MICA_WITH(Mass)), rows[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i) {
        rows[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Dose, {i}));
        mica_relate(world, rows[i], PartOf, hub);
    }
    mica_version mark = mica_world_mark(world);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_HAS(Number), MICA_WRITE(Dose), MICA_HAS(Mass, .up = MICA_ID(PartOf))));
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view) && view.count == ROWS);
    mica_view_write_unmarked(&view, Dose)[4].value = 40;
    mica_view_mark(&view, Dose, 4);
    ck_assert(!mica_view_next(&view));
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Dose)));
    mica_view found = mica_query_begin_since(changed, mark);
    ck_assert(mica_view_next(&found) && found.count == 1 && mica_same(found.entities[0], rows[4]));
    ck_assert(!mica_view_next(&found));
    mark = mica_world_mark(world);
    mica_query *parent =
        mica_query_create(world, MICA_QUERY(MICA_HAS(Number), MICA_WRITE(Dose, .up = MICA_ID(PartOf))));
    view = mica_query_begin(parent);
    ck_assert(mica_view_next(&view) && view.count == ROWS);
    mica_view_write_unmarked(&view, Dose)->value = 70;
    mica_view_mark(&view, Dose, 4);
    ck_assert(!mica_view_next(&view));
    found = mica_query_begin_since(changed, mark);
    ck_assert(mica_view_next(&found) && found.count == 1 && mica_same(found.entities[0], hub));
    ck_assert(!mica_view_next(&found));
    close_world(world, &heard);
}
END_TEST

/* Whatever the indices of entities are: these differ by multiples of 32 and 64, and so have the same low bits. */
START_TEST(what_is_reached_is_found_whatever_the_indices_are)
{
    enum { LINKED = 40, APART = 64 };
    mica_world *world = open_world(&heard);
    mica_entity linked[LINKED];
    for (uint32_t i = 0; i < LINKED * APART; ++i) {
        mica_entity entity = mica_create(world);
        if (i % APART == 0)
            linked[i / APART] = entity;
    }
    for (uint32_t i = 0; i < LINKED; ++i)
        mica_add(world, linked[i], Player);
    for (uint32_t i = 1; i < LINKED; ++i) {
        mica_relate(world, linked[i], Near, linked[i - 1]);
        mica_relate(world, linked[i], LeadsTo, linked[i - 1]);
    }
    ck_assert_uint_eq(mica_query_count(ask(world, "Player, Near($this, $other)")), LINKED * LINKED);
    ck_assert_uint_eq(mica_query_count(ask(world, "Player, LeadsTo($this, $other)")), LINKED * (LINKED - 1) / 2);
    ck_assert_uint_eq(mica_query_count(ask(world, "Player, Player($other), LeadsTo($this, $other)")),
                      LINKED * (LINKED - 1) / 2);
    ck_assert_uint_eq(mica_query_count(ask(world, "Player, Player($other), !Near($this, $other)")), 0);
    close_world(world, &heard);
}
END_TEST

/* The steps of a plan, and for how many rows they are expected to run. */
static const struct {
    const char *text;
    const char *plan;
} plans[] = {
    {"Number, Mass(\"hub\"), Likes($this, \"hub\")", "check #1:1: Mass -> about 1\n"
                                                     "visit $this: Number, 6 rows -> about 6\n"
                                                     "test Likes($this, #1:1), 6 edges -> about 6"},
    {"Number, Likes($this, $a)", "visit $this: Number, 6 rows -> about 6\n"
                                 "follow Likes($this, $a), 6 edges -> about 6"},
    {"Number | Enemy, Mass($a), !Player($a), ?Position($a), ?write Number($a)",
     "visit $a: Mass, !Player, ?Position, ?Number, 1 row -> about 1\n"
     "visit $this: Number | Enemy, 6 rows -> about 6"},
    {"Number, ?Mass(cascade PartOf)", "visit level by level $this: Number, 6 rows -> about 6\n"
                                      "follow ?PartOf up($this, *1): Mass, 6 edges -> about 6"},
    {"Likes($this, $a), Likes($a, $this)", "visit edges Likes($this, $a), 6 edges -> about 6\n"
                                           "test Likes($a, $this), 6 edges -> about 1"},
    {"Number, Mass($a), Likes($this, $a)", "visit edges Likes($this, $a), 6 edges -> about 6"},
    {"Number, !Likes(_, $this)", "visit $this: Number, 6 rows -> about 6\n"
                                 "follow back !Likes(*1, $this), 6 edges -> about 6"},
    {"Likes($this, $a), Number($a) | Likes($a, _)", "visit edges Likes($this, $a), 6 edges -> about 6\n"
                                                    "test ?Number($a) | ?Likes($a, *2) -> about 6"},
    {"Number, LeadsTo($this, *), !Near($this, _), ?Road($this, $x)", "visit $this: Number, 6 rows -> about 6\n"
                                                                     "follow !Near+($this, *2), 0 edges -> about 6\n"
                                                                     "visit *1, 7 rows -> about 42\n"
                                                                     "test LeadsTo+($this, *1), 6 edges -> about 6\n"
                                                                     "follow ?Road($this, $x), 0 edges -> about 6"},
};

START_TEST(each_kind_of_step_is_explained)
{
    mica_world *world = open_world(&heard);
    mica_entity hub = mica_create(world, MICA_WITH(Mass));
    mica_name_set(world, hub, mica_nil(), "hub");
    for (uint32_t i = 0; i < ROWS; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        mica_relate(world, entity, Likes, hub);
        mica_relate(world, entity, PartOf, hub);
        mica_relate(world, entity, LeadsTo, hub);
    }
    mica_define(world, Near);
    mica_define(world, Road);
    mica_define(world, Enemy);
    mica_define(world, Player);
    mica_define(world, Position);
    for (uint32_t i = 0; i < COUNT_OF(plans); ++i) {
        char text[1000];
        mica_query_explain(ask(world, plans[i].text), text, sizeof text);
        ck_assert_msg(strcmp(text, plans[i].plan) == 0, "%s:\n%s", plans[i].text, text);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(pattern_view, rows_come_together_while_everything_else_is_the_same,
           what_the_loop_switches_off_is_still_shown, a_loop_that_lost_its_place_shows_nothing_more,
           a_row_is_marked_for_this_entity_and_for_others, what_is_reached_is_found_whatever_the_indices_are,
           each_kind_of_step_is_explained)
