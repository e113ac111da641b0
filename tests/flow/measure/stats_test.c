/* Statistics and traces: what was counted is what was done. */
#include "flow/faults.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Number {
    uint32_t value;
} Number;
typedef struct Other {
    uint32_t value;
} Other;
MICA_COMPONENT(Number, value)
MICA_COMPONENT(Other, value)

static void count_up(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static void mark_some(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value == 2)
            mica_set(view->world, view->entities[i], Other, {1});
}

static void once(const mica_frame *frame)
{
    (void)frame;
}

enum { ENTITIES = 5000 };

static mica_world *open_measured(reports *heard, uint32_t workers)
{
    mica_world *world = open_world(heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    mica_flow_configure(world, &def);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        mica_create(world, MICA_WITH(Number, {0}));
    mica_system_add(world, MICA_SYSTEM_WITH(count_up, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(mark_some, MICA_READ(Number)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(once, (.phase = MICA_PHASE_FIXED)));
    return world;
}

START_TEST(what_systems_did_is_counted_frame_by_frame)
{
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        reports heard;
        mica_world *world = open_measured(&heard, workers);
        mica_system up = mica_system_find(world, "count_up"), mark = mica_system_find(world, "mark_some");
        mica_system fixed = mica_system_find(world, "once");
        mica_system_stats stats;
        ck_assert(!mica_stats_get_system(world, up, 0, &stats));
        ck_assert_int_eq(mica_stats_enable(world, 3), MICA_OK);
        ck_assert(!mica_stats_get_system(world, up, 0, &stats));
        for (int frame = 0; frame < 5; ++frame)
            mica_step(world, 3.0f / 60);
        for (uint32_t ago = 0; ago < 3; ++ago) {
            ck_assert(mica_stats_get_system(world, up, ago, &stats));
            ck_assert_uint_eq(stats.runs, 1);
            ck_assert_uint_eq(stats.entities, ENTITIES);
            ck_assert_uint_ge(stats.slices, 3);
            ck_assert_uint_ge(stats.workers, 1);
            ck_assert_uint_le(stats.workers, workers);
            mica_frame_stats frame;
            ck_assert(mica_stats_get_frame(world, ago, &frame));
            ck_assert_uint_eq(frame.frame, 5 - ago);
            ck_assert_uint_gt(frame.time_ns, 0);
        }
        ck_assert(!mica_stats_get_system(world, up, 3, &stats));
        ck_assert(mica_stats_get_system(world, fixed, 0, &stats));
        ck_assert_uint_eq(stats.runs, 3);
        ck_assert(mica_stats_get_system_total(world, up, &stats));
        ck_assert_uint_eq(stats.runs, 3);
        ck_assert_uint_eq(stats.entities, 3 * ENTITIES);
        mica_stats_enable(world, 0);
        ck_assert(!mica_stats_get_system(world, mark, 0, &stats));
        close_world(world, &heard);
    }
}
END_TEST

/* Many times the work of count_up per row, also where the thread sanitizer makes the access to a row expensive. */
static void count_slowly(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        for (volatile uint32_t turn = 0; turn < 150; ++turn)
            number[i].value += turn;
}

/* Only some slices are timed: what is reported fits into the frame, and the slower system has the larger part. */
START_TEST(the_time_of_a_job_is_divided_among_its_systems)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    for (uint32_t i = 0; i < 200000; ++i)
        mica_create(world, MICA_WITH(Number, {0}));
    mica_system_add(world, MICA_SYSTEM(count_up, MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(count_slowly, MICA_WRITE(Number)));
    mica_stats_enable(world, 20);
    for (int frame = 0; frame < 20; ++frame)
        mica_step(world, 0);
    mica_system_stats fast, slow;
    ck_assert(mica_stats_get_system_total(world, mica_system_find(world, "count_up"), &fast));
    ck_assert(mica_stats_get_system_total(world, mica_system_find(world, "count_slowly"), &slow));
    ck_assert_uint_eq(fast.fused_with, 2);
    ck_assert_uint_eq(fast.entities, 20 * 200000);
    ck_assert_uint_eq(fast.slices, slow.slices);
    ck_assert_uint_gt(fast.slices, 20);
    ck_assert(fast.time_ns > 0 && slow.time_ns > 2 * fast.time_ns);
    for (uint32_t ago = 0; ago < 20; ++ago) {
        mica_frame_stats frame;
        ck_assert(mica_stats_get_frame(world, ago, &frame));
        ck_assert(frame.busy_ns > frame.time_ns / 4 && frame.busy_ns <= frame.time_ns);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_changes_are_counted)
{
    reports heard;
    mica_world *world = open_measured(&heard, 1);
    mica_frame_stats none;
    ck_assert(!mica_stats_get_frame(world, 0, &none));
    mica_stats_enable(world, 10);
    for (int frame = 0; frame < 3; ++frame)
        mica_step(world, 0);
    mica_system_stats stats;
    mica_frame_stats frame;
    ck_assert(mica_stats_get_system(world, mica_system_find(world, "mark_some"), 1, &stats));
    ck_assert_uint_eq(stats.commands, ENTITIES);
    ck_assert(mica_stats_get_frame(world, 1, &frame));
    ck_assert_uint_eq(frame.commands, ENTITIES);
    ck_assert_uint_gt(frame.flush_ns, 0);
    ck_assert(mica_stats_get_frame(world, 0, &frame));
    ck_assert_uint_eq(frame.commands, 0);
    mica_flow_def more = mica_flow_def_default();
    more.worker_count = 3; /* new workers are counted, too */
    mica_flow_configure(world, &more);
    mica_step(world, 0);
    ck_assert(mica_stats_get_system(world, mica_system_find(world, "count_up"), 0, &stats));
    ck_assert_uint_eq(stats.entities, ENTITIES);
    close_world(world, &heard);
}
END_TEST

static char *text_of(FILE *file)
{
    long bytes = (fseek(file, 0, SEEK_END), ftell(file));
    char *text = calloc(1, (size_t)bytes + 1);
    rewind(file);
    ck_assert_uint_eq(fread(text, 1, (size_t)bytes, file), (size_t)bytes);
    return text;
}

START_TEST(a_table_has_a_line_per_system_in_the_order_they_run)
{
    reports heard;
    mica_world *world = open_measured(&heard, 1);
    FILE *file = tmpfile();
    mica_stats_print(world, file);
    mica_stats_enable(world, 10);
    mica_step(world, 1.0f / 60);
    mica_stats_print(world, file);
    char *text = text_of(file);
    char *none = strstr(text, "no frames were measured"), *fixed = strstr(text, "\nonce ");
    char *up = strstr(text, "\ncount_up "), *mark = strstr(text, "\nmark_some "), *sum = strstr(text, "\n1 frames of ");
    ck_assert(none && fixed && up && mark && sum);
    ck_assert(strstr(text, "system, per frame") && strstr(text, " us ") && strstr(sum, " us in flushes"));
    ck_assert(none < fixed && fixed < up && up < mark && mark < sum);
    mica_system_def idle = *MICA_SYSTEM_ONCE(once);
    idle.name = "added later";
    mica_system added = mica_system_add(world, &idle);
    mica_stats_enable(world, 10);
    mica_phase_enable(world, MICA_PHASE_UPDATE, false);
    mica_step(world, 0);                /* nothing runs, and nothing is divided by */
    for (uint32_t i = 0; i < 40; ++i) { /* more than there was room for */
        char name[16];
        snprintf(name, sizeof name, "new%u", i);
        idle.name = name;
        added = mica_system_add(world, &idle);
    }
    mica_graph_write(world, MICA_GRAPH_TEXT, NULL, 0);
    mica_system_stats stats;
    ck_assert(!mica_stats_get_system(world, (mica_system){0}, 0, &stats));
    ck_assert(!mica_stats_get_system(world, added, 0, &stats) && !mica_stats_get_system_total(world, added, &stats));
    FILE *second = tmpfile();
    mica_stats_print(world, second);
    char *quiet = text_of(second);
    ck_assert(strstr(quiet, "\ncount_up ") && !strstr(quiet, "nan") && !strstr(quiet, "\nnew39 "));
    free(quiet);
    fclose(second);
    free(text);
    fclose(file);
    close_world(world, &heard);
}
END_TEST

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        ++count;
    return count;
}

/* Braces and brackets outside of texts close in order. */
static bool is_balanced(const char *text)
{
    char stack[64];
    int depth = 0;
    bool inside = false;
    for (; *text; ++text) {
        if (inside && *text == '\\')
            ++text;
        else if (*text == '"')
            inside = !inside;
        else if (!inside && (*text == '{' || *text == '['))
            stack[depth++] = *text;
        else if (!inside && (*text == '}' || *text == ']') && (!depth || stack[--depth] != *text - 2))
            return false;
    }
    return depth == 0 && !inside;
}

START_TEST(a_trace_has_an_event_per_piece_of_work)
{
    reports heard;
    mica_world *world = open_measured(&heard, 4);
    char path[64];
    snprintf(path, sizeof path, "/tmp/mica_trace_%ld.json", (long)getpid());
    mica_system_def def = *MICA_SYSTEM_ONCE(once);
    def.name = "a \"quoted\\name\"";
    mica_system quoted = mica_system_add(world, &def);
    def.name = "two\nlines";
    mica_system replaced = mica_system_add(world, &def);
    ck_assert_int_eq(mica_trace_start(world), MICA_OK);
    for (int frame = 0; frame < 3; ++frame)
        mica_step(world, 1.0f / 60);
    mica_system_remove(world, quoted);
    def.name = "another";
    ck_assert_int_eq(mica_system_replace(world, replaced, &def), MICA_OK);
    ck_assert_int_eq(mica_trace_stop(world, path), MICA_OK);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = text_of(file);
    ck_assert(is_balanced(text));
    ck_assert_uint_eq(occurrences(text, "\"cat\":\"frame\""), 3);
    ck_assert_uint_ge(occurrences(text, "\"name\":\"count_up\""), 3);
    ck_assert_uint_eq(occurrences(text, "\"name\":\"once\""), 3);
    ck_assert_uint_eq(occurrences(text, "a \\\"quoted\\\\name\\\""), 3);
    ck_assert_uint_eq(occurrences(text, "two\\u000alines"), 3); /* what it was called then */
    ck_assert_uint_ge(occurrences(text, "\"name\":\"flush\""), 3);
    free(text);
    fclose(file);
    remove(path);
    close_world(world, &heard);
}
END_TEST

static void stop_inside(const mica_frame *frame)
{
    ck_assert_int_eq(mica_trace_stop(frame->world, NULL), MICA_ERROR_REFUSED);
}

START_TEST(a_trace_is_not_stopped_inside_a_frame)
{
    reports heard;
    mica_world *world = open_measured(&heard, 1);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(stop_inside, (.exclusive = true)));
    mica_trace_start(world);
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "trace_stop: refused inside a frame");
    ck_assert_int_eq(mica_trace_stop(world, NULL), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_trace_that_cannot_be_written_is_reported)
{
    reports heard;
    mica_world *world = open_measured(&heard, 1);
    ck_assert_int_eq(mica_trace_stop(world, "/nowhere"), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "no trace was started");
    mica_trace_start(world);
    ck_assert_int_eq(mica_trace_start(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "already started");
    mica_step(world, 1);
    ck_assert_int_eq(mica_trace_stop(world, "/no/such/folder/trace.json"), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "/no/such/folder/trace.json");
    static const uint32_t frames[] = {0, 500}; /* what is noticed when it is closed, and while it is written */
    for (uint32_t i = 0; i < 2; ++i) {
        mica_trace_start(world);
        for (uint32_t frame = 0; frame < frames[i]; ++frame)
            mica_step(world, 1);
        ck_assert_int_eq(mica_trace_stop(world, "/dev/full"), MICA_ERROR_REFUSED);
        expect_report(&heard, MICA_ERROR_REFUSED, "trace: /dev/full: No space left");
    }
    mica_trace_start(world);
    ck_assert_int_eq(mica_trace_stop(world, NULL), MICA_OK);
    mica_trace_start(world); /* the world takes it along */
    mica_step(world, 1);
    close_world(world, &heard);
}
END_TEST

static void measure(faults *faults)
{
    mica_world *world = faults->world;
    mica_entity one = mica_create(world, MICA_WITH(Number, {0}));
    mica_system_add(world, MICA_SYSTEM(count_up, MICA_WRITE(Number)));
    mica_stats_enable(world, 4);
    mica_step(world, 1);
    for (uint32_t i = 0; i < 7; ++i) { /* more than it has room for; the last one's name needs room, too */
        char name[16];
        snprintf(name, sizeof name, "new%u", i);
        mica_system_def def = *MICA_SYSTEM_ONCE(once);
        def.name = name;
        mica_system added = mica_system_add(world, &def);
        ck_assert_int_eq(mica_system_run(world, added, 0), MICA_OK);
    }
    faults_begin(faults);
    mica_step(world, 0);
    mica_result enabled = mica_stats_enable(world, 4), traced = mica_trace_start(world);
    mica_step(world, 1);
    if (traced == MICA_OK)
        mica_trace_stop(world, "/dev/null");
    bool failed = faults_end(faults);
    ck_assert(failed || (enabled == MICA_OK && traced == MICA_OK && !faults->heard.count));
    ck_assert_uint_eq(mica_get(world, one, Number)->value, 3); /* measuring changes nothing but time */
    mica_step(world, 1);
    mica_frame_stats frame;
    ck_assert(mica_stats_get_frame(world, 0, &frame)); /* the old statistics continue if new ones can't be created */
}

typedef struct steps {
    mica_entity one;
    char text[512];
    uint32_t numbers[16];
    uint32_t count;
} steps;

static void note_step(mica_world *world, mica_system system, void *context)
{
    steps *steps = context;
    size_t length = strlen(steps->text);
    snprintf(steps->text + length, sizeof steps->text - length, "%s ",
             system.id ? mica_system_name(world, system) : "flush");
    steps->numbers[steps->count++] =
        mica_get(world, steps->one, Number)->value * 10 + (mica_has(world, steps->one, Other) ? 1 : 0);
}

static void step_inside(const mica_frame *frame)
{
    steps steps = {0};
    ck_assert_int_eq(mica_step_each(frame->world, 1, note_step, &steps), MICA_ERROR_REFUSED);
}

START_TEST(a_frame_is_watched_system_by_system)
{
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        reports heard;
        mica_world *world = open_measured(&heard, workers), *other = open_measured(&heard, workers);
        steps steps = {.one = mica_create(world, MICA_WITH(Number, {1}))};
        mica_create(other, MICA_WITH(Number, {1}));
        ck_assert_int_eq(mica_step_each(world, 1.0f / 60, note_step, &steps), MICA_OK);
        ck_assert_int_eq(mica_step(other, 1.0f / 60), MICA_OK);
        ck_assert_str_eq(steps.text, "once flush count_up mark_some flush ");
        static const uint32_t expected[] = {10, 10, 20, 20, 21}; /* what was recorded is seen after the flush */
        for (uint32_t i = 0; i < 5; ++i)
            ck_assert_uint_eq(steps.numbers[i], expected[i]);
        ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
        mica_step(world, 1); /* the function is not called any more */
        ck_assert_uint_eq(steps.count, 5);
        mica_system_add(other, MICA_SYSTEM_ONCE_WITH(step_inside, (.exclusive = true)));
        mica_step(other, 1);
        expect_report(&heard, MICA_ERROR_REFUSED, "step_each: refused inside a frame");
        ck_assert_int_eq(mica_step_each(other, 1, NULL, NULL), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "fn");
        mica_world_destroy(other);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_trace_is_written_to_an_open_file)
{
    reports heard;
    mica_world *world = open_measured(&heard, 1);
    FILE *file = tmpfile(), *full = fopen("/dev/full", "w");
    ck_assert_int_eq(mica_trace_stop_to(world, file), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "no trace was started");
    ck_assert_int_eq(mica_trace_stop_to(world, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "out");
    mica_trace_start(world);
    mica_step(world, 1);
    ck_assert_int_eq(mica_trace_stop_to(world, file), MICA_OK);
    char text[4096] = "";
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    ck_assert_ptr_nonnull(strstr(text, "count_up"));
    mica_trace_start(world);
    ck_assert_int_eq(mica_trace_stop_to(world, full), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "trace: it can't be written");
    fclose(file);
    fclose(full);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_part_of_a_trace_names_its_process_and_what_is_missing)
{
    faulty_allocator allocator;
    reports heard;
    faulty_allocator_init(&allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&allocator);
    mica_world *world = open_world_with(&heard, def);
    FILE *file = tmpfile();
    ck_assert_int_eq(mica_trace_stop_part(world, 7, "part", file), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "no trace was started");
    ck_assert_int_eq(mica_trace_stop_part(world, 7, NULL, file), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "name");
    mica_step(world, 1);
    mica_trace_start(world);
    faulty_allocator_fail_at(&allocator, 1, false);
    mica_step(world, 1); /* there is no room for its event */
    faulty_allocator_fail_at(&allocator, 0, false);
    ck_assert_int_eq(mica_trace_stop_part(world, 7, "part", file), MICA_OK);
    char text[4096] = "";
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    ck_assert_ptr_nonnull(
        strstr(text, ",\n{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"part\"}}"));
    ck_assert_ptr_nonnull(strstr(text, "1 events missed"));
    fclose(file);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_watched_frame_needs_memory)
{
    faulty_allocator allocator;
    reports heard;
    faulty_allocator_init(&allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&allocator);
    mica_world *world = open_world_with(&heard, def);
    steps steps = {0};
    faulty_allocator_fail_at(&allocator, 1, true);
    ck_assert_int_eq(mica_step_each(world, 1, note_step, &steps), MICA_ERROR_MEMORY);
    faulty_allocator_fail_at(&allocator, 0, false);
    expect_report(&heard, MICA_ERROR_MEMORY, "");
    ck_assert_int_eq(mica_step_each(world, 1, note_step, &steps), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(running_out_of_memory_only_costs_the_measurement)
{
    ck_assert_uint_ge(fail_everywhere(measure), 5);
}
END_TEST

TEST_SUITE(stats, what_systems_did_is_counted_frame_by_frame, the_time_of_a_job_is_divided_among_its_systems,
           recorded_changes_are_counted, a_table_has_a_line_per_system_in_the_order_they_run,
           a_trace_has_an_event_per_piece_of_work, a_trace_is_not_stopped_inside_a_frame,
           a_trace_that_cannot_be_written_is_reported, a_frame_is_watched_system_by_system,
           a_trace_is_written_to_an_open_file, a_part_of_a_trace_names_its_process_and_what_is_missing,
           a_watched_frame_needs_memory, running_out_of_memory_only_costs_the_measurement)
