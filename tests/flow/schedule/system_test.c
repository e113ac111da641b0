/* Systems: kinds, terms, what may be done inside, adding, replacing, switching and removing them. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

static uint32_t calls;
static uint32_t rows;

static void add_one(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static void add_one_each(mica_entity entity, void *const *columns, void *context)
{
    Number *number = columns[1];
    const Clock *clock = columns[0];
    ck_assert(!mica_is_nil(entity));
    number->value += clock->ticks + *(uint32_t *)context;
}

static void add_mass_each(mica_entity entity, void *const *columns, void *context)
{
    (void)entity, (void)context;
    ck_assert(!columns[1] && !columns[2]); /* no entity has it, and HAS gives no column */
    ((Number *)columns[0])->value += 1000;
}

static void add_one_columns(uint32_t count, void *const *columns)
{
    Number *number = columns[0];
    ck_assert_ptr_null(columns[1]); /* HAS gives no column */
    for (uint32_t i = 0; i < count; ++i)
        ++number[i].value;
}

static void count_once(const mica_frame *frame)
{
    ++calls;
    rows += (uint32_t)mica_query_count(frame->query);
}

static void count_again(const mica_frame *frame)
{
    count_once(frame);
}

static mica_world *open_flow(reports *heard, uint32_t workers)
{
    calls = rows = 0;
    mica_world *world = open_world(heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    return world;
}

START_TEST(every_kind_of_system_gets_what_it_asks_for)
{
    reports heard;
    mica_world *world = open_flow(&heard, 2);
    uint32_t extra = 10;
    mica_singleton_write(world, Clock)->ticks = 100;
    mica_entity one = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Frozen));
    mica_entity two = mica_create(world, MICA_WITH(Number, {2}));
    mica_system_add(world, MICA_SYSTEM(add_one, MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM_WITH(add_one_each, (.context = &extra), MICA_READ(Clock), MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(add_one_columns, MICA_WRITE(Number), MICA_HAS(Frozen)));
    mica_system_add(world, MICA_SYSTEM(add_mass_each, MICA_WRITE(Number), MICA_MAYBE_READ(Mass), MICA_HAS(Frozen)));
    mica_system_add(world, MICA_SYSTEM(count_once, MICA_READ(Number)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_again, (MICA_TERMS(MICA_READ(Number)))));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_eq(mica_get(world, one, Number)->value, 1 + 1 + 110 + 1 + 1000);
    ck_assert_uint_eq(mica_get(world, two, Number)->value, 2 + 1 + 110);
    ck_assert_uint_eq(calls, 2);
    ck_assert_uint_eq(rows, 4);
    close_world(world, &heard);
}
END_TEST

START_TEST(no_entities_and_fewer_than_workers_are_fine)
{
    for (uint32_t count = 0; count <= 20; ++count)
        for (uint32_t split = 0; split <= MICA_PARALLEL_THRESHOLD; ++split) {
            reports heard;
            mica_world *world = open_flow(&heard, 16);
            for (uint32_t i = 0; i < count; ++i)
                mica_create(world, MICA_WITH(Number, {i}));
            mica_system_add(world, MICA_SYSTEM_WITH(add_one, (.parallel = (mica_parallel)split, .parallel_rows = 1),
                                                    MICA_WRITE(Number)));
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
            uint32_t sum = 0;
            for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
                for (uint32_t i = 0; i < view.count; ++i)
                    sum += mica_view_read(&view, Number)[i].value;
            ck_assert_uint_eq(sum, count * (count + 1) / 2);
            close_world(world, &heard);
        }
}
END_TEST

static void note_piece(mica_view *view)
{
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&rows, view->count, __ATOMIC_RELAXED);
    ck_assert_uint_le(view->count, *(uint32_t *)view->frame->context);
}

START_TEST(splits_show_every_row_once_in_pieces_of_the_size_asked_for)
{
    static const struct {
        mica_parallel parallel;
        uint32_t parallel_rows, most;
    } cases[] = {
        {MICA_PARALLEL_AUTO, 0, MICA_VIEW_ROWS},
        {MICA_PARALLEL_NONE, 0, MICA_VIEW_ROWS},
        {MICA_PARALLEL_EVEN, 0, MICA_VIEW_ROWS},
        {MICA_PARALLEL_EVERY, 1, 3},
        {MICA_PARALLEL_EVERY, 7, 7},
        {MICA_PARALLEL_EVERY, 5000, MICA_VIEW_ROWS},
        {MICA_PARALLEL_THRESHOLD, 100, MICA_VIEW_ROWS},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        reports heard;
        mica_world *world = open_flow(&heard, 3);
        uint32_t most = cases[i].most;
        for (uint32_t j = 0; j < 10000; ++j)
            mica_create(world, MICA_WITH(Number, {j}));
        mica_system_add(world, MICA_SYSTEM_WITH(note_piece,
                                                (.parallel = cases[i].parallel, .parallel_rows = cases[i].parallel_rows,
                                                 .context = &most),
                                                MICA_READ(Number)));
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_uint_eq(rows, 10000);
        close_world(world, &heard);
    }
}
END_TEST

static void replace_all(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i) {
        const Number *number = mica_view_read(view, Number);
        mica_destroy(view->world, view->entities[i]);
        mica_entity fresh = mica_create(view->world, MICA_WITH(Number, {number[i].value + 1}));
        ck_assert_msg(mica_is_alive(view->world, fresh), "a handle is valid at once");
        Mass *mass = mica_add(view->world, fresh, Mass);
        mass->value = 3; /* staged */
        mica_set(view->world, fresh, Velocity, {1, 2, 3});
        ck_assert(!mica_has(view->world, fresh, Number));
    }
}

START_TEST(changes_inside_a_system_are_made_after_its_phase)
{
    reports heard;
    mica_world *world = open_flow(&heard, 2);
    for (uint32_t i = 0; i < 5000; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_system_add(world, MICA_SYSTEM(replace_all, MICA_READ(Number)));
    for (uint32_t frame = 0; frame < 5; ++frame) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        expect_valid(world);
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Mass), MICA_READ(Velocity)));
    uint32_t at = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++at)
            ck_assert_msg(mica_view_read(&view, Number)[i].value == at + 5 && mica_view_read(&view, Mass)[i].value == 3,
                          "in the order of slices");
    ck_assert_uint_eq(at, 5000);
    close_world(world, &heard);
}
END_TEST

static void kill_even(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value % 2 == 0)
            mica_command_destroy(mica_view_commands(view), view->entities[i]);
}

static void change_all(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        mica_command_set(mica_view_commands(view), view->entities[i], Mass, {7});
}

START_TEST(a_change_to_what_an_earlier_system_destroys_is_reported_with_system_and_place)
{
    reports heard;
    mica_world *world = open_flow(&heard, 1);
    mica_create(world, MICA_WITH(Number, {2}));
    mica_entity odd = mica_create(world, MICA_WITH(Number, {3}));
    mica_system_add(world, MICA_SYSTEM(kill_even, MICA_READ(Number)));
    mica_system_add(world, MICA_SYSTEM(change_all, MICA_READ(Number)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "change_all: a change was recorded");
    ck_assert_msg(strstr(report->file, "system_test.c") != NULL && report->line > 0, "%s", report->file);
    ck_assert(mica_has(world, odd, Mass));
    close_world(world, &heard);
}
END_TEST

static const char *last_order;
static char order_seen[64];

#define NOTING(name)                                                                                                   \
    static void name(const mica_frame *frame)                                                                          \
    {                                                                                                                  \
        (void)frame;                                                                                                   \
        strcat(order_seen, #name);                                                                                     \
        last_order = #name;                                                                                            \
    }
NOTING(a)
NOTING(b)
NOTING(c)

START_TEST(systems_are_switched_replaced_and_removed_in_place)
{
    reports heard;
    mica_world *world = open_flow(&heard, 1);
    order_seen[0] = '\0';
    mica_system first = mica_system_add(world, MICA_SYSTEM_ONCE(a));
    mica_system second = mica_system_add(world, MICA_SYSTEM_ONCE(b));
    mica_step(world, 1);
    ck_assert(mica_system_enable(world, first, false));
    mica_step(world, 1);
    ck_assert(mica_system_enable(world, first, true));
    ck_assert_int_eq(mica_system_replace(world, first, MICA_SYSTEM_ONCE(c)), MICA_OK);
    ck_assert_str_eq(mica_system_name(world, first), "c");
    ck_assert_uint_eq(mica_system_find(world, "c").id, first.id);
    mica_step(world, 1);
    ck_assert(mica_system_remove(world, second));
    ck_assert(!mica_system_remove(world, second));
    mica_step(world, 1);
    ck_assert_str_eq(order_seen, "abbcbc");
    ck_assert_ptr_null(mica_system_name(world, second));
    ck_assert(!mica_system_enable(world, second, true));
    close_world(world, &heard);
}
END_TEST

static mica_system grown;

static void grow(const mica_frame *frame)
{
    if (!grown.id)
        grown = mica_system_add(frame->world, MICA_SYSTEM_ONCE(a));
    else
        mica_system_remove(frame->world, frame->system);
}

START_TEST(an_exclusive_system_adds_and_removes_systems_itself_too)
{
    reports heard;
    mica_world *world = open_flow(&heard, 2);
    order_seen[0] = '\0';
    grown = (mica_system){0};
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(grow, (.exclusive = true)));
    mica_step(world, 1);
    ck_assert_msg(grown.id && order_seen[0] == '\0', "what is added takes part from the next frame on");
    mica_step(world, 1);
    mica_step(world, 1);
    ck_assert_str_eq(order_seen, "aa");
    ck_assert_uint_eq(mica_system_find(world, "grow").id, 0);
    close_world(world, &heard);
}
END_TEST

/* A system that is removed inside a frame is not found any more, and is freed when the frame ends. */
static void exchange(const mica_frame *frame)
{
    mica_world *world = frame->world;
    mica_system old = mica_system_find(world, "b");
    if (calls++)
        return;
    ck_assert(mica_system_remove(world, old));
    ck_assert(!mica_system_remove(world, old));
    ck_assert_uint_eq(mica_system_find(world, "b").id, 0);
    ck_assert_ptr_null(mica_system_name(world, old));
    ck_assert(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(b, (.before = {"c"}))).id);
}

START_TEST(a_system_that_was_removed_in_the_frame_leaves_its_name_to_another)
{
    reports heard;
    mica_world *world = open_flow(&heard, 1);
    order_seen[0] = '\0';
    mica_stream *stream = mica_stream_create(world, MICA_STREAM(Number));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(exchange, (.exclusive = true)));
    mica_system_add(world, MICA_SYSTEM_ONCE(c));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(b, (.phase = MICA_PHASE_END, .every_frames = 2,
                                                     MICA_USES(MICA_USE_STREAM_READ(stream)))));
    mica_step(world, 1);
    mica_step(world, 1);
    ck_assert_str_eq(order_seen, "cbc");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_bad_def_is_refused_with_its_name_and_place)
{
    static const mica_term term = {.component = 0, .access = MICA_ACCESS_READ};
    const struct {
        mica_system_def def;
        mica_result result;
        const char *text;
    } cases[] = {
        {{.name = "s"}, MICA_ERROR_INVALID, "s: exactly one of"},
        {{.name = "s", .view = add_one, .once = a}, MICA_ERROR_INVALID, "exactly one of"},
        {{.name = "s", .view = add_one}, MICA_ERROR_INVALID, "without terms"},
        {{.name = "s", .once = a, .phase = 77}, MICA_ERROR_UNKNOWN, "no such phase"},
        {{.name = "s", .view = add_one, .terms = &term, .term_count = 1}, MICA_ERROR_UNKNOWN, "term 0"},
        {{.name = "s", .view = add_one, .exclusive = true, MICA_TERMS(MICA_WRITE(Number))},
         MICA_ERROR_INVALID,
         "exclusive"},
        {{.name = "s", .view = add_one, .parallel = MICA_PARALLEL_EVERY, MICA_TERMS(MICA_WRITE(Number))},
         MICA_ERROR_INVALID,
         "parallel_rows"},
        {{.name = "s", .view = add_one, .parallel = (mica_parallel)9, MICA_TERMS(MICA_WRITE(Number))},
         MICA_ERROR_INVALID,
         "parallel"},
        {{.name = "s", .once = a, .uses = &(const mica_use){0}, .use_count = 1}, MICA_ERROR_INVALID, "uses"},
        {{.name = "s", .once = a, .uses = &(const mica_use){0}, .use_count = 65}, MICA_ERROR_INVALID, "too many .uses"},
        {{.name = "s", .once = a, .use_count = 1}, MICA_ERROR_INVALID, "too many .uses"},
        {{.name = "s", .once = a, .uses = &(const mica_use){.component = 61234}, .use_count = 1},
         MICA_ERROR_UNKNOWN,
         "one of its .uses can't be used"},
        {{.name = "s", .once = a, .every_seconds = -1}, MICA_ERROR_INVALID, "every_seconds"},
        {{.name = "taken", .once = a}, MICA_ERROR_EXISTS, "another system"},
        {{.once = a}, MICA_ERROR_INVALID, "needs a name"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        reports heard;
        mica_world *world = open_flow(&heard, 1);
        mica_system_def taken = *MICA_SYSTEM_ONCE(b);
        taken.name = "taken";
        mica_system kept = mica_system_add(world, &taken);
        mica_system_def def = cases[i].def;
        def.location = MICA_HERE;
        mica_system_def another = *MICA_SYSTEM_ONCE(c);
        mica_system replaced = mica_system_add(world, &another);
        for (uint32_t way = 0; way < 2; ++way) {
            if (way == 0)
                ck_assert_uint_eq(mica_system_add(world, &def).id, 0);
            else
                ck_assert_int_eq(mica_system_replace(world, replaced, &def), cases[i].result);
            while (heard.taken + 1 < heard.count) /* what is wrong comes before what is refused for it */
                expect_report(&heard, cases[i].result, "");
            const heard_report *report = expect_report(&heard, cases[i].result, cases[i].text);
            ck_assert_int_eq(report->line, def.location.line);
        }
        ck_assert_uint_eq(mica_system_add(world, NULL).id, 0);
        expect_report(&heard, MICA_ERROR_INVALID, "it needs a name");
        ck_assert_str_eq(mica_system_name(world, kept), "taken");
        ck_assert_str_eq(mica_system_name(world, replaced), "c");
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        close_world(world, &heard);
    }
}
END_TEST

static void see_changed(mica_view *view)
{
    rows += view->count;
}

static void touch_first(mica_view *view)
{
    if (calls++ % 2 == 0)
        mica_view_write(view, Number)[0].value = calls;
}

START_TEST(changed_means_since_the_system_ran_last)
{
    reports heard;
    mica_world *world = open_flow(&heard, 1);
    mica_entity made = mica_create(world, MICA_WITH(Number, {1}));
    mica_system_add(world, MICA_SYSTEM(see_changed, MICA_CHANGED(Number)));
    mica_system_add(world, MICA_SYSTEM(touch_first, MICA_WRITE(Number)));
    static const uint32_t seen[] = {1, 2, 2, 3, 3, 4};
    for (uint32_t frame = 0; frame < COUNT_OF(seen); ++frame) {
        mica_step(world, 1);
        ck_assert_msg(rows == seen[frame], "frame %u: %u", frame, rows);
    }
    mica_write(world, made, Number)->value = 9; /* from outside */
    mica_step(world, 1);
    ck_assert_uint_eq(rows, 5);
    close_world(world, &heard);
}
END_TEST

typedef struct Tally { uint32_t rows, reads; } Tally;
MICA_SINGLETON(Tally, rows, reads)

static void tally(mica_view *view)
{
    mica_view_write(view, Tally)->rows += view->count;
}

static const Tally *read_at;

static void read_tally(const mica_frame *frame)
{
    read_at = mica_singleton_get(frame->world, Tally);
    rows = read_at->rows;
}

START_TEST(the_output_of_a_system_is_a_singleton_that_stays_where_it_is)
{
    reports heard;
    mica_world *world = open_flow(&heard, 4);
    for (uint32_t i = 0; i < 10000; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(tally, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Number), MICA_WRITE(Tally)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(read_tally, (MICA_TERMS(MICA_READ(Tally)))));
    const Tally *here = mica_singleton_get(world, Tally);
    for (uint32_t frame = 1; frame <= 5; ++frame) {
        mica_step(world, 1);
        ck_assert_msg(rows == frame * 10000, "a reader runs after all of a writer: %u", rows);
        ck_assert_ptr_eq(read_at, here);
    }
    close_world(world, &heard);
}
END_TEST

static void fail_half_way(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i) {
        if (i == view->count / 2 && !mica_set_id(view->world, view->entities[i], (mica_value){MICA_ID(Clock), 0, NULL}))
            return;
        mica_set(view->world, view->entities[i], Mass, {1});
    }
}

START_TEST(a_system_that_fails_half_way_keeps_what_it_did_and_stops_no_other)
{
    reports heard;
    mica_world *world = open_flow(&heard, 2);
    for (uint32_t i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Number, {0}));
    mica_system_add(world, MICA_SYSTEM(fail_half_way, MICA_READ(Number), MICA_WITHOUT(Mass)));
    mica_system_add(world, MICA_SYSTEM_WITH(add_one, (.phase = MICA_PHASE_END), MICA_WRITE(Number)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    mica_query *heavy = mica_query_create(world, MICA_QUERY(MICA_HAS(Mass)));
    uint64_t count = mica_query_count(heavy);
    ck_assert_msg(count > 0 && count < 100, "%u", (unsigned)count);
    mica_query *counted = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(counted); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_uint_eq(mica_view_read(&view, Number)[i].value, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_of_one_function_have_names_of_their_own)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_system first = mica_system_add(world, MICA_SYSTEM_ONCE(count_once));
    ck_assert_uint_eq(mica_system_add(world, MICA_SYSTEM_ONCE(count_once)).id, 0);
    expect_report(&heard, MICA_ERROR_EXISTS, "count_once: another system has this name");
    mica_system second = mica_system_add(world, MICA_SYSTEM_WITH(count_once, (.name = "second"), MICA_READ(Position)));
    ck_assert_str_eq(mica_system_name(world, first), "count_once");
    ck_assert_str_eq(mica_system_name(world, second), "second");
    ck_assert_int_eq(mica_system_replace(world, second, MICA_SYSTEM_ONCE_WITH(count_once, (.name = "third"))), MICA_OK);
    ck_assert_str_eq(mica_system_name(world, second), "third");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(system, systems_of_one_function_have_names_of_their_own,
           the_output_of_a_system_is_a_singleton_that_stays_where_it_is,
           a_system_that_fails_half_way_keeps_what_it_did_and_stops_no_other,
           every_kind_of_system_gets_what_it_asks_for, no_entities_and_fewer_than_workers_are_fine,
           splits_show_every_row_once_in_pieces_of_the_size_asked_for, changes_inside_a_system_are_made_after_its_phase,
           a_change_to_what_an_earlier_system_destroys_is_reported_with_system_and_place,
           systems_are_switched_replaced_and_removed_in_place, an_exclusive_system_adds_and_removes_systems_itself_too,
           a_system_that_was_removed_in_the_frame_leaves_its_name_to_another,
           a_bad_def_is_refused_with_its_name_and_place, changed_means_since_the_system_ran_last)
