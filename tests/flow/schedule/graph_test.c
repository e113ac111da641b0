/* The order of systems: from access, from before and after, and the loops that are refused. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

static char seen[256];

/* Systems that note their names; those of one row-wise kind would be chained, which keeps the order too. */
#define NOTING(name)                                                                                                   \
    static void name(const mica_frame *frame)                                                                          \
    {                                                                                                                  \
        (void)frame;                                                                                                   \
        strcat(seen, #name " ");                                                                                       \
    }
NOTING(one)
NOTING(two)
NOTING(three)
NOTING(four)

typedef struct Weather { int32_t wind; } Weather;
MICA_SINGLETON(Weather, wind)

static mica_world *open_flow(reports *heard)
{
    seen[0] = '\0';
    mica_world *world = open_world(heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    return world;
}

START_TEST(conflicting_systems_run_as_added_unless_told_otherwise)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (MICA_TERMS(MICA_WRITE(Number)), .after = {"three"})));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (MICA_TERMS(MICA_WRITE(Number)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(three, (MICA_TERMS(MICA_WRITE(Number)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(four, (MICA_TERMS(MICA_WRITE(Number)), .before = {"two", "one"})));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_str_eq(seen, "three four one two ");
    close_world(world, &heard);
}
END_TEST

static void rest(const mica_frame *frame)
{
    (void)frame;
}

START_TEST(a_great_many_systems_are_ordered)
{
    enum { COUNT = 300 };
    static const struct {
        int32_t before, after; /* distance to the system that is named; 0: none */
        uint32_t refused;      /* how many of all */
    } rows[] = {{0, 0, 0}, {0, -1, 0},          {-1, 0, 0}, {1, 0, 0},
                {0, 1, 0}, {-1, -2, COUNT / 3}, {1, -1, 0}, {1, 1, COUNT / 2}};
    for (uint32_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        reports heard;
        mica_world *world = open_flow(&heard);
        uint32_t refused = 0;
        for (int32_t i = 0; i < COUNT; ++i) {
            char name[16], before[16], after[16];
            snprintf(name, sizeof name, "system %d", i);
            snprintf(before, sizeof before, "system %d", i + rows[row].before);
            snprintf(after, sizeof after, "system %d", i + rows[row].after);
            mica_system_def def = *MICA_SYSTEM_ONCE(rest);
            def.name = name;
            def.before[0] = rows[row].before ? before : NULL;
            def.after[0] = rows[row].after ? after : NULL;
            refused += mica_system_add(world, &def).id == 0;
            ck_assert_int_eq(mica_system_find(world, name).id != 0, forget_reports(&heard) == 0);
        }
        ck_assert_msg(refused == rows[row].refused, "row %u: %u are refused", row, refused);
        mica_system_remove(world, mica_system_find(world, "system 0"));
        ck_assert_uint_eq(mica_system_find(world, "system 0").id, 0);
        mica_step(world, 1);
        forget_reports(&heard);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(loops_of_before_and_after_are_refused_with_the_names_along_them)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (.before = {"two"})));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (.before = {"three"})));
    ck_assert_uint_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(three, (.before = {"one"}))).id, 0);
    const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, "form a loop: ");
    ck_assert_msg(strstr(report->text, "one before two") && strstr(report->text, "two before three") &&
                      strstr(report->text, "three before one"),
                  "%s", report->text);
    ck_assert_uint_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(four, (.after = {"four"}))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "four before four");
    ck_assert_uint_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(four, (.after = {"one", "four"}))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID,
                  "loop: four before four"); /* systems that wait, but are not part of it, are not named */
    mica_system last = mica_system_add(world, MICA_SYSTEM_ONCE(four));
    ck_assert_int_eq(mica_system_replace(world, last, MICA_SYSTEM_ONCE_WITH(three, (.before = {"one"}))),
                     MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "loop");
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_str_eq(seen, "one two four ");
    expect_report(&heard, MICA_ERROR_UNKNOWN, ".before names three, which does not exist");
    mica_system_replace(world, last, MICA_SYSTEM_ONCE_WITH(four, (.after = {"five"})));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_UNKNOWN, ".after names five, which does not exist");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_system_that_is_refused_creates_no_singleton)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    uint64_t hash = mica_world_hash(world);
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(one, (.before = {"one"}, MICA_USES(MICA_USE_WRITE(Weather))));
    ck_assert_uint_eq(mica_system_add(world, &def).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "loop");
    ck_assert_uint_eq(mica_world_hash(world), hash);
    def.before[0] = NULL;
    ck_assert_uint_ne(mica_system_add(world, &def).id, 0);
    ck_assert_uint_ne(mica_world_hash(world), hash);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_of_long_names_is_told_as_far_as_there_is_room)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    enum { COUNT = 5 };
    char names[COUNT][151];
    for (uint32_t i = 0; i < COUNT; ++i) {
        memset(names[i], 'a' + (int)i, 150);
        names[i][150] = '\0';
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        mica_system_def def = *MICA_SYSTEM_ONCE(one);
        def.name = names[i];
        def.before[0] = names[(i + 1) % COUNT];
        ck_assert_int_eq(mica_system_add(world, &def).id != 0, i < COUNT - 1);
    }
    expect_report(&heard, MICA_ERROR_INVALID, "form a loop: ");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_order_that_contradicts_the_phases_is_refused)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (.phase = MICA_PHASE_END)));
    ck_assert_uint_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (.after = {"one"}))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "two: it can't run after one, because phase end runs after phase update");
    ck_assert(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(three, (.before = {"one"}))).id);
    ck_assert_uint_eq(
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(four, (.phase = MICA_PHASE_END, .before = {"three"}))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID,
                  "four: it can't run before three, because phase update runs before phase end");
    close_world(world, &heard);
}
END_TEST

static void rows_a(mica_view *view)
{
    (void)view;
}

static void rows_b(mica_view *view)
{
    (void)view;
}

static void rows_c(mica_view *view)
{
    (void)view;
}

START_TEST(the_graph_is_shown_as_text_and_for_graphviz)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM(rows_a, MICA_WRITE(Position)));
    mica_system_add(world, MICA_SYSTEM(rows_b, MICA_READ(Position), MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM_WITH(rows_c, (MICA_USES(MICA_USE_READ(Velocity))), MICA_WRITE(Mass)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (.after = {"rows_a"})));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (.exclusive = true)));
    char text[1024];
    size_t length = mica_graph_write(world, MICA_GRAPH_TEXT, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(text, "update\n"
                           "  rows_a  chain rows_a rows_b\n"
                           "  rows_b  waits for rows_a (Position)  chain rows_a rows_b\n"
                           "  rows_c  waits for rows_b (Velocity)\n"
                           "  one  waits for rows_a (asked)\n"
                           "  two (exclusive)\n");
    char little[10];
    ck_assert_uint_eq(mica_graph_write(world, MICA_GRAPH_TEXT, little, sizeof little), length);
    ck_assert_str_eq(little, "update\n  ");
    ck_assert_uint_eq(mica_graph_write(world, MICA_GRAPH_TEXT, NULL, 0), length);
    mica_graph_write(world, MICA_GRAPH_DOT, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "digraph systems {"));
    ck_assert_ptr_nonnull(strstr(text, "\"rows_a\" -> \"rows_b\" [label=\"Position\"];"));
    close_world(world, &heard);
}
END_TEST

static char inside[512];

static void write_graph(const mica_frame *frame)
{
    mica_graph_write(frame->world, MICA_GRAPH_TEXT, inside, sizeof inside);
}

START_TEST(the_graph_shows_streams_and_what_is_switched_off)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (MICA_USES(MICA_USE_STREAM_WRITE(stream)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (.disabled = true, MICA_USES(MICA_USE_STREAM_READ(stream),
                                                                                   MICA_USE_STREAM_WRITE(stream)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(three, (MICA_USES(MICA_USE_STREAM_WRITE(stream)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(four, (.phase = MICA_PHASE_END)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(write_graph, (.phase = MICA_PHASE_BEGIN)));
    mica_phase_enable(world, MICA_PHASE_END, false);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_str_eq(seen, "one three ");
    ck_assert_str_eq(inside, "begin\n  write_graph\n"
                             "update\n"
                             "  one\n"
                             "  two (off)  waits for one (stream)\n"
                             "  three  waits for two (stream)\n"
                             "end (off)\n  four\n");
    close_world(world, &heard);
}
END_TEST

/* Whether the graph chains the last system with the first. */
static bool is_chained(mica_world *world)
{
    char text[2048];
    mica_graph_write(world, MICA_GRAPH_TEXT, text, sizeof text);
    return strstr(text, "chain rows_a rows_b") != NULL;
}

START_TEST(only_systems_that_keep_to_their_rows_are_chained)
{
    static const struct {
        mica_system_def first, between, second;
        bool chained;
    } cases[] = {
        {{.use_count = 0}, {0}, {.use_count = 0}, true},
        {{.parallel = MICA_PARALLEL_NONE}, {0}, {0}, false},
        {{.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 10}, {0}, {0}, false},
        {{0}, {0}, {.priority = 1}, false},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        reports heard;
        mica_world *world = open_flow(&heard);
        const mica_term terms[] = {MICA_WRITE(Position)};
        mica_system_def first = cases[i].first, second = cases[i].second;
        first.name = "rows_a";
        second.name = "rows_b";
        first.view = rows_a;
        second.view = rows_b;
        first.terms = second.terms = terms;
        first.term_count = second.term_count = 1;
        mica_system_add(world, &first);
        mica_system_add(world, &second);
        ck_assert_msg(is_chained(world) == cases[i].chained, "case %u", i);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(what_is_read_and_used_for_writing_counts_as_written)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system_add(world, MICA_SYSTEM(rows_a, MICA_READ(Position), MICA_ADDED(Age)));
    mica_system_add(world, MICA_SYSTEM_WITH(rows_b,
                                            (MICA_USES(MICA_USE_WRITE(Position), MICA_USE_STREAM_READ(stream),
                                                       MICA_USE_STREAM_READ(stream))),
                                            MICA_READ(Position)));
    mica_system_add(world, MICA_SYSTEM(rows_c, MICA_READ(Position), MICA_WRITE(Age)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (MICA_USES(MICA_USE_STREAM_READ(stream)))));
    char text[512];
    mica_graph_write(world, MICA_GRAPH_TEXT, text, sizeof text);
    ck_assert_str_eq(text, "update\n"
                           "  rows_a\n"
                           "  rows_b  waits for rows_a (Position)\n"
                           "  rows_c  waits for rows_b (Position), rows_a (Age)\n"
                           "  one\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_system_over_rows_that_reads_a_stream_is_in_no_chain)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system_add(world, MICA_SYSTEM(rows_a, MICA_WRITE(Position)));
    mica_system_add(world, MICA_SYSTEM_WITH(rows_b, (MICA_USES(MICA_USE_STREAM_READ(stream))), MICA_WRITE(Position)));
    ck_assert(!is_chained(world));
    close_world(world, &heard);
}
END_TEST

START_TEST(what_must_run_between_two_systems_keeps_them_apart)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM(rows_a, MICA_WRITE(Position)));
    /* Looks at any Position, so it needs all of rows_a, and rows_b needs all of it. */
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(one, (MICA_TERMS(MICA_READ(Position)))));
    mica_system_add(world, MICA_SYSTEM(rows_b, MICA_WRITE(Position)));
    ck_assert(!is_chained(world));
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_after_an_exclusive_system_are_fused_whatever_they_waited_for_before_it)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE(one));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(two, (.exclusive = true)));
    mica_system_add(world, MICA_SYSTEM(rows_a, MICA_WRITE(Position)));
    mica_system_add(world, MICA_SYSTEM_WITH(rows_b, (.after = {"one"}), MICA_WRITE(Position)));
    ck_assert(is_chained(world));
    mica_step(world, 1);
    ck_assert_str_eq(seen, "one two ");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_thousand_systems_are_ordered)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_create(world, MICA_WITH(Number, {0}), MICA_WITH(Mass, {0}));
    for (uint32_t i = 0; i < 1000; ++i) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        mica_system_def def = *MICA_SYSTEM(rows_a, MICA_WRITE(Number));
        def.name = name;
        ck_assert(mica_system_add(world, &def).id);
    }
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(graph, conflicting_systems_run_as_added_unless_told_otherwise,
           loops_of_before_and_after_are_refused_with_the_names_along_them, a_great_many_systems_are_ordered,
           a_system_that_is_refused_creates_no_singleton, a_loop_of_long_names_is_told_as_far_as_there_is_room,
           an_order_that_contradicts_the_phases_is_refused, the_graph_is_shown_as_text_and_for_graphviz,
           the_graph_shows_streams_and_what_is_switched_off,
           systems_after_an_exclusive_system_are_fused_whatever_they_waited_for_before_it,
           only_systems_that_keep_to_their_rows_are_chained, what_is_read_and_used_for_writing_counts_as_written,
           a_system_over_rows_that_reads_a_stream_is_in_no_chain, what_must_run_between_two_systems_keeps_them_apart,
           a_thousand_systems_are_ordered)
