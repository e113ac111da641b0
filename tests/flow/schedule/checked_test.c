/* Mistakes, planted one by one. A checked build stops at each with a report that names the system, the component, the entity and
 * the line; any other build goes through all of them without harm. */
#define _POSIX_C_SOURCE 200809L /* for fork and pipes */
#include "mica/flow.h"
#include "support/components.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Burning { float heat; } Burning;
MICA_POOL(Burning, heat)
typedef struct Wind { float x, y; } Wind;
MICA_COMPONENT_WITH(Wind, (.split = true), x, y)
typedef struct Smoke { float x, y; } Smoke;
MICA_POOL_WITH(Smoke, (.split = true), x, y)

/* What the systems below get at: an entity in their rows, one that is not, and things kept from earlier. */
static mica_entity own, other, plain;
static mica_entity guarded; /* the guard of the world protects it */
static mica_entity foreign; /* what own is in another world */
static mica_query *numbers;
static mica_view kept_view;
static Mass *kept_stage;
static mica_commands *kept_commands;
static uint32_t runs;
static mica_entity passer; /* comes and goes, so that flushes move something */
static Number *kept_number;
static const Position *kept_place;
static const Burning *kept_fire; /* in a pool */
static volatile float sink;

#define MISTAKE(name, ...)                                                                                             \
    static void name(mica_view *view)                                                                                  \
    {                                                                                                                  \
        mica_world *world = view->world;                                                                               \
        (void)world;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
    }
#define MISTAKE_ONCE(name, ...)                                                                                        \
    static void name(const mica_frame *frame)                                                                          \
    {                                                                                                                  \
        mica_world *world = frame->world;                                                                              \
        (void)world;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
    }

/* Most mistakes are in the asking: what they get is of no use. */
#pragma GCC diagnostic ignored "-Wunused-value"

/* Undeclared components. All of these systems write Number and read Position. */
MISTAKE(get_undeclared, mica_get(world, own, Mass))
MISTAKE(get_undeclared_elsewhere, mica_get(world, other, Mass))
MISTAKE(get_undeclared_of_the_dead, mica_get(world, mica_nil(), Mass))
MISTAKE(get_many_undeclared, const Mass *found[1]; mica_get_many(world, &own, 1, Mass, found))
MISTAKE(write_guarded, mica_write(world, guarded, Mass))
MISTAKE(set_guarded, mica_set(world, guarded, Mass, {1}))
MISTAKE(add_guarded, mica_add(world, guarded, Age))
MISTAKE(remove_guarded, mica_remove(world, guarded, Mass))
MISTAKE(destroy_guarded, mica_destroy(world, guarded))
MISTAKE_ONCE(set_guarded_at_once, mica_set(world, guarded, Mass, {1}))
MISTAKE_ONCE(destroy_guarded_at_once, mica_destroy(world, guarded))
MISTAKE(write_undeclared, mica_write(world, own, Mass))
MISTAKE(write_what_is_only_read, mica_write(world, own, Position))
MISTAKE(write_undeclared_elsewhere, mica_write(world, other, Velocity))
MISTAKE(get_another_row, mica_get(world, other, Number))
MISTAKE(get_another_row_of_what_is_read, mica_get(world, other, Position))
MISTAKE(write_another_row, mica_write(world, other, Number))
MISTAKE(write_a_field_undeclared, mica_write_field(world, own, Wind, x))
MISTAKE(write_in_a_pool_undeclared, mica_write(world, plain, Burning))
MISTAKE(write_a_field_in_a_pool_undeclared, mica_write_field(world, plain, Smoke, x))
MISTAKE(write_a_pool_undeclared, mica_pool_write(mica_pool_of(world, Burning), Burning))
MISTAKE(ref_undeclared, mica_ref ref = mica_ref_of(own, Mass); mica_ref_read(world, &ref, Mass))
MISTAKE(ref_another_row, mica_ref ref = mica_ref_of(other, Number); mica_ref_read(world, &ref, Number))
MISTAKE(ref_write_undeclared, mica_ref ref = mica_ref_of(own, Mass); mica_ref_write(world, &ref, Mass))
MISTAKE(ref_write_what_is_only_read, mica_ref ref = mica_ref_of(own, Position); mica_ref_write(world, &ref, Position))
MISTAKE(singleton_read_undeclared, mica_singleton_get(world, Clock))
MISTAKE(singleton_written_undeclared, mica_singleton_write(world, Clock))
MISTAKE(column_undeclared, mica_view_read(view, Mass))
MISTAKE(column_written_undeclared, mica_view_write(view, Mass))
MISTAKE(column_written_that_is_read, mica_view_write(view, Position))
MISTAKE(column_by_number_too_far, mica_view_read_at(view, 7))
MISTAKE(column_by_number_written_that_is_read, mica_view_write_at(view, 1))
MISTAKE(column_by_number_written_too_far, mica_view_write_at(view, 9))
MISTAKE(add_copies_what_is_undeclared, mica_add(world, own, Mass))
MISTAKE(add_copies_by_command, mica_command_add(mica_view_commands(view), own, Mass))
MISTAKE(clone_reads_what_is_undeclared, mica_clone(world, own))
MISTAKE(get_of_a_plain_one, mica_get(world, plain, Velocity))
MISTAKE(get_of_another_world, mica_get(world, foreign, Number))
MISTAKE(has_of_another_world, mica_has(world, foreign, Number))
MISTAKE(write_of_another_world, mica_write(world, foreign, Number))
MISTAKE(ref_of_another_world, mica_ref ref = mica_ref_of(foreign, Number); mica_ref_read(world, &ref, Number))

/* Wrong doors. */
MISTAKE(flushes, mica_flush(world))
MISTAKE(clears, mica_world_clear(world))
static int compare_nothing(const void *a, const void *b, void *context)
{
    (void)a;
    (void)b;
    (void)context;
    return 0;
}
MISTAKE(sorts_rows, mica_query_sort_rows(numbers, MICA_ID(Number), compare_nothing, NULL))
MISTAKE(makes_a_query, mica_query_create(world, MICA_QUERY(MICA_READ(Number))))
MISTAKE(takes_a_query_down, mica_query_destroy(numbers))
MISTAKE(sets_a_hook, mica_hook_set(world, Number, MICA_EVENT_ADD, NULL, NULL))
MISTAKE(makes_commands, mica_commands_create(world))
MISTAKE(keeps_removals, mica_removals_create(world, Number))
MISTAKE(defines, mica_component_define(world, &mica_type_of_Monster))
MISTAKE(adds_a_system, mica_system_add(world, MICA_SYSTEM(defines, MICA_READ(Number))))
MISTAKE(removes_a_system, mica_system_remove(world, view->frame->system))
MISTAKE(switches_a_system, mica_system_enable(world, view->frame->system, false))
MISTAKE(steps, mica_step(world, 1))
MISTAKE(runs_a_system, mica_system_run(world, view->frame->system, 1))
static void record(uint32_t begin, uint32_t end, void *context)
{
    (void)begin;
    (void)end;
    mica_create(context);
}
MISTAKE(records_in_a_parallel_for, mica_parallel_for(world, 1, 1, record, world))
static void destroy_own(uint32_t begin, uint32_t end, void *context)
{
    (void)begin;
    (void)end;
    mica_destroy(context, own);
}
MISTAKE(destroys_in_a_parallel_for, mica_parallel_for(world, 1, 1, destroy_own, world))

/* After its time. */
MISTAKE(keeps_its_view, if (runs++ == 0) kept_view = *view; else mica_view_read(&kept_view, Position))
MISTAKE(keeps_its_view_to_write, if (runs++ == 0) kept_view = *view; else mica_view_write(&kept_view, Number))
MISTAKE(keeps_its_view_by_number, if (runs++ == 0) kept_view = *view; else mica_view_read_at(&kept_view, 0))
MISTAKE(keeps_its_buffer, if (runs++ == 0) kept_commands = mica_view_commands(view))
MISTAKE(stages, if (runs++ == 0) kept_stage = mica_command_add(mica_view_commands(view), plain, Mass);
        else if (kept_stage) kept_stage->value = 5)
MISTAKE_ONCE(uses_a_view_that_has_ended, if (kept_view.world) mica_view_read(&kept_view, Position))
MISTAKE_ONCE(uses_a_buffer_that_has_ended, if (kept_commands) mica_command_destroy(kept_commands, plain))
MISTAKE_ONCE(adds_into_a_buffer_that_has_ended, if (kept_commands) mica_command_add(kept_commands, plain, Mass))
MISTAKE_ONCE(creates_into_a_buffer_that_has_ended, if (kept_commands) mica_command_create(kept_commands))

/* Pointers from before a flush that moved something. */
MISTAKE(keeps_a_column, if (runs++ == 0) kept_place = mica_view_read(view, Position); else sink = kept_place->x)
MISTAKE(keeps_a_column_to_write, if (runs++ == 0) kept_number = mica_view_write(view, Number);
        else kept_number->value = 7)
MISTAKE(keeps_a_column_by_number, if (runs++ == 0) kept_number = mica_view_write_at(view, 0);
        else kept_number->value = 7)
MISTAKE(keeps_what_it_got, if (runs++ == 0) kept_place = mica_get(world, own, Position); else sink = kept_place->y)
MISTAKE(keeps_what_it_wrote, if (runs++ == 0) kept_number = mica_write(world, own, Number); else kept_number->value = 7)
MISTAKE(
    keeps_what_a_ref_read, if (runs++ == 0) {
        mica_ref ref = mica_ref_of(own, Position);
        kept_place = mica_ref_read(world, &ref, Position);
    } else sink = kept_place->z)
MISTAKE(takes_a_pointer, if (runs++ == 0) kept_place = mica_get(world, own, Position))
MISTAKE_ONCE(uses_a_pointer_of_another, if (kept_place && runs++ > 1) sink = kept_place->x)
MISTAKE_ONCE(keeps_a_value_of_a_pool, if (runs++ == 0) kept_fire = mica_get(world, plain, Burning);
             else sink = kept_fire->heat)

/* Exclusive systems, whose changes are immediate: every change of structure in turn. */
#define MISTAKE_EXCLUSIVE(name, ...)                                                                                   \
    MISTAKE_ONCE(name, kept_place = mica_get(world, own, Position); __VA_ARGS__;                                       \
                 if (STOPS_AT_MISTAKES) sink = kept_place->x)

static void remove_position(mica_world *world)
{
    mica_remove_all(numbers, Position);
    (void)world;
}

MISTAKE_EXCLUSIVE(keeps_it_over_an_add, mica_add(world, own, Velocity))
MISTAKE_EXCLUSIVE(keeps_it_over_a_set, mica_set(world, own, Velocity, {0}))
MISTAKE_EXCLUSIVE(keeps_it_over_a_remove, mica_remove(world, own, Position))
MISTAKE_EXCLUSIVE(keeps_it_over_a_destroy, mica_destroy(world, own))
MISTAKE_EXCLUSIVE(keeps_it_over_many_destroyed, mica_destroy_many(world, &own, 1))
MISTAKE_EXCLUSIVE(keeps_it_over_a_removal_of_all, remove_position(world))
MISTAKE_EXCLUSIVE(keeps_it_over_the_destruction_of_all, mica_destroy_all(numbers))
MISTAKE_EXCLUSIVE(keeps_it_over_a_clear, mica_world_clear(world))
MISTAKE_ONCE(keeps_a_pool_value_over_an_add, kept_fire = mica_get(world, plain, Burning); mica_add(world, own, Burning);
             if (STOPS_AT_MISTAKES) sink = kept_fire->heat)

/* Systems that run once, with a singleton and without. */
MISTAKE_ONCE(once_reads_undeclared, mica_get(world, own, Mass))
MISTAKE_ONCE(once_writes_what_it_reads, mica_write(world, own, Number))
MISTAKE_ONCE(once_writes_a_singleton_it_reads, mica_singleton_write(world, Clock))

typedef struct mistake {
    const char *name;
    mica_view_fn view;
    mica_once_fn once;
    const char *parts[3]; /* of the report, beside the system */
    uint32_t frames;
    mica_view_fn helper; /* a system before it */
    bool exclusive;
} mistake;

#define ROWS(system, ...) {#system, .view = system, .parts = {__VA_ARGS__}, .frames = 1}
#define LATER(system, ...) {#system, .view = system, .parts = {__VA_ARGS__}, .frames = 3}
#define ONCE(system, helper_, ...) {#system, .once = system, .parts = {__VA_ARGS__}, .frames = 3, .helper = helper_}
#define EXCLUSIVE(system, ...) {#system, .once = system, .parts = {__VA_ARGS__}, .frames = 1, .exclusive = true}

static const mistake mistakes[] = {
    ROWS(get_undeclared, "reads component Mass of entity", "which it does not declare"),
    ROWS(get_undeclared_elsewhere, "reads component Mass of entity"),
    ROWS(get_undeclared_of_the_dead, "reads component Mass, which it does not declare"),
    ROWS(get_many_undeclared, "reads component Mass of entity"),
    ROWS(write_guarded, "changes entity", "it is looked after elsewhere"),
    ROWS(set_guarded, "changes entity", "it is looked after elsewhere"),
    ROWS(add_guarded, "changes entity", "it is looked after elsewhere"),
    ROWS(remove_guarded, "changes entity", "it is looked after elsewhere"),
    ROWS(destroy_guarded, "changes entity", "it is looked after elsewhere"),
    EXCLUSIVE(set_guarded_at_once, "changes entity", "it is looked after elsewhere"),
    EXCLUSIVE(destroy_guarded_at_once, "changes entity", "it is looked after elsewhere"),
    ROWS(write_undeclared, "writes component Mass of entity"),
    ROWS(write_what_is_only_read, "writes component Position of entity"),
    ROWS(write_undeclared_elsewhere, "writes component Velocity of entity"),
    ROWS(get_another_row, "reads component Number of entity", "which is not one of its rows"),
    ROWS(get_another_row_of_what_is_read, "reads component Position of entity", "not one of its rows"),
    ROWS(write_another_row, "writes component Number of entity", "not one of its rows"),
    ROWS(write_a_field_undeclared, "writes component Wind of entity"),
    ROWS(write_in_a_pool_undeclared, "writes component Burning of entity"),
    ROWS(write_a_field_in_a_pool_undeclared, "writes component Smoke of entity"),
    ROWS(write_a_pool_undeclared, "writes component Burning of entity"),
    ROWS(ref_undeclared, "reads component Mass of entity"),
    ROWS(ref_another_row, "reads component Number of entity", "not one of its rows"),
    ROWS(ref_write_undeclared, "writes component Mass of entity"),
    ROWS(ref_write_what_is_only_read, "writes component Position of entity"),
    ROWS(singleton_read_undeclared, "reads component Clock, which it does not declare"),
    ROWS(singleton_written_undeclared, "writes component Clock, which it does not declare"),
    ROWS(column_undeclared, "reads the column of component Mass", "entity"),
    ROWS(column_written_undeclared, "writes the column of component Mass", "entity"),
    ROWS(column_written_that_is_read, "writes the column of component Position", "entity"),
    ROWS(column_by_number_too_far, "reads the column"),
    ROWS(column_by_number_written_that_is_read, "writes the column of component Position"),
    ROWS(column_by_number_written_too_far, "writes the column"),
    ROWS(add_copies_what_is_undeclared, "reads component Mass of entity"),
    ROWS(add_copies_by_command, "reads component Mass of entity"),
    ROWS(clone_reads_what_is_undeclared, "component"),
    ROWS(get_of_a_plain_one, "reads component Velocity of entity"),
    ROWS(get_of_another_world, "looks up entity", "of another world: its handle space is 4, not 3"),
    ROWS(has_of_another_world, "looks up entity", "of another world"),
    ROWS(write_of_another_world, "looks up entity", "of another world"),
    ROWS(ref_of_another_world, "looks up entity", "of another world"),
    ROWS(flushes, "calls flush"),
    ROWS(clears, "calls clear"),
    ROWS(sorts_rows, "calls sort_rows"),
    ROWS(makes_a_query, "calls query"),
    ROWS(takes_a_query_down, "calls query_destroy"),
    ROWS(sets_a_hook, "calls hook"),
    ROWS(makes_commands, "calls commands"),
    ROWS(keeps_removals, "calls removals"),
    ROWS(defines, "calls component"),
    ROWS(adds_a_system, "calls system_add"),
    ROWS(removes_a_system, "calls system_remove"),
    ROWS(switches_a_system, "calls system_enable"),
    ROWS(steps, "calls step"),
    ROWS(runs_a_system, "calls system_run"),
    ROWS(records_in_a_parallel_for, "parallel for"),
    ROWS(destroys_in_a_parallel_for, "parallel for"),
    LATER(keeps_its_view, "uses a view of a system whose function has returned"),
    LATER(keeps_its_view_to_write, "uses a view of a system"),
    LATER(keeps_its_view_by_number, "uses a view of a system"),
    {"stages", .view = stages, .parts = {"wrote to a value that system stages had staged"}, .frames = 4},
    ONCE(uses_a_view_that_has_ended, keeps_its_view, "uses a view of a system"),
    ONCE(uses_a_buffer_that_has_ended, keeps_its_buffer, "records into a buffer of system keeps_its_buffer"),
    ONCE(adds_into_a_buffer_that_has_ended, keeps_its_buffer, "records into a buffer of system keeps_its_buffer"),
    ONCE(creates_into_a_buffer_that_has_ended, keeps_its_buffer, "records into a buffer of system keeps_its_buffer"),
    LATER(keeps_a_column, "uses a pointer from before the flush", "component Position", "by system keeps_a_column"),
    LATER(keeps_a_column_to_write, "uses a pointer from before the flush", "component Number"),
    LATER(keeps_a_column_by_number, "uses a pointer from before the flush", "component Number"),
    LATER(keeps_what_it_got, "uses a pointer from before the flush", "component Position, 4 bytes into",
          "of entity 1 "),
    LATER(keeps_what_it_wrote, "uses a pointer from before the flush", "component Number"),
    LATER(keeps_what_a_ref_read, "uses a pointer from before the flush", "component Position"),
    ONCE(uses_a_pointer_of_another, takes_a_pointer, "uses a pointer from before the flush",
         "by system takes_a_pointer"),
    ONCE(keeps_a_value_of_a_pool, NULL, "uses a pointer from before the flush", "component Burning"),
    ONCE(once_reads_undeclared, NULL, "reads component Mass of entity"),
    ONCE(once_writes_what_it_reads, NULL, "writes component Number of entity"),
    ONCE(once_writes_a_singleton_it_reads, NULL, "writes component Clock"),
    EXCLUSIVE(keeps_it_over_an_add, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_a_set, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_a_remove, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_a_destroy, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_many_destroyed, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_a_removal_of_all, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_it_over_the_destruction_of_all, "uses a pointer from before the flush or change",
              "component Position"),
    EXCLUSIVE(keeps_it_over_a_clear, "uses a pointer from before the flush or change", "component Position"),
    EXCLUSIVE(keeps_a_pool_value_over_an_add, "uses a pointer from before the flush or change", "component Burning"),
};

static void say_nothing(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
}

static const char *guard(const mica_world *world, mica_entity entity, void *context)
{
    (void)world, (void)context;
    return mica_same(entity, guarded) ? "it is looked after elsewhere" : NULL;
}

static mica_world *make_world(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = say_nothing;
    def.handle_space = 3;
    mica_world *world = mica_world_create(&def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 2;
    mica_flow_configure(world, &flow);
    own = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Position, {0}), MICA_WITH(Mass, {1}), MICA_WITH(Frozen),
                      MICA_WITH(Wind, {1, 2}));
    foreign = (mica_entity){own.index, own.generation + (1 << 16)};
    other = mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Position, {0}), MICA_WITH(Mass, {1}),
                        MICA_WITH(Velocity, {0}), MICA_WITH(Player));
    plain = mica_create(world, MICA_WITH(Velocity, {0}), MICA_WITH(Burning, {1}), MICA_WITH(Smoke, {1, 2}));
    passer = mica_create(world, MICA_WITH(Number, {3}), MICA_WITH(Burning, {1}));
    guarded = mica_create(world, MICA_WITH(Mass, {1}));
    mica_world_set_guard(world, guard, NULL);
    numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    runs = 0;
    kept_commands = NULL;
    kept_view = (mica_view){0};
    kept_stage = NULL;
    kept_place = NULL;
    return world;
}

/* Moves rows with every flush. */
static void pass(const mica_frame *frame)
{
    mica_destroy(frame->world, passer);
    passer = mica_create(frame->world, MICA_WITH(Number, {3}), MICA_WITH(Burning, {1}));
}

/* The program that a mistake is planted in. */
static void run_program(const mistake *planted)
{
    mica_world *world = make_world();
    if (planted->helper) {
        mica_system_def helper =
            *MICA_SYSTEM(keeps_its_view, MICA_WRITE(Number), MICA_READ(Position), MICA_WITHOUT(Player));
        helper.view = planted->helper;
        helper.name = planted->helper == keeps_its_buffer  ? "keeps_its_buffer"
                      : planted->helper == takes_a_pointer ? "takes_a_pointer"
                                                           : "keeps_its_view";
        mica_system_add(world, &helper);
    }
    mica_system_def def = {.name = planted->name,
                           .view = planted->view,
                           .once = planted->once,
                           .exclusive = planted->exclusive,
                           .parallel = MICA_PARALLEL_EVEN,
                           .location = MICA_HERE};
    const mica_term rows[] = {MICA_WRITE(Number), MICA_READ(Position), MICA_WITHOUT(Player)};
    const mica_term once[] = {MICA_READ(Number), MICA_READ(Clock), MICA_READ(Position), MICA_READ(Burning)};
    def.terms = planted->once ? once : rows;
    def.term_count = planted->once ? 4 : 3;
    def.parallel = MICA_PARALLEL_AUTO;
    mica_system_add(world, &def);
    mica_system_add(world, MICA_SYSTEM_ONCE(pass));
    for (uint32_t frame = 0; frame < planted->frames; ++frame)
        mica_step(world, 1);
    mica_world_destroy(world);
}

/* Runs it in a process of its own; fills in what it printed and returns how it ended. */
static int run_apart(const mistake *planted, char *out, size_t capacity)
{
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        signal(SIGABRT, SIG_DFL);
        run_program(planted);
        _exit(0);
    }
    close(pipes[1]);
    size_t length = 0;
    for (ssize_t got; length + 1 < capacity && (got = read(pipes[0], out + length, capacity - 1 - length)) > 0;)
        length += (size_t)got;
    out[length] = '\0';
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

START_TEST(each_planted_mistake_stops_a_checked_build_and_harms_no_other)
{
    ck_assert_uint_ge(COUNT_OF(mistakes), 50);
    for (uint32_t i = 0; i < COUNT_OF(mistakes); ++i) {
        char heard[4096];
        int status = run_apart(&mistakes[i], heard, sizeof heard);
        if (!STOPS_AT_MISTAKES) {
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %x: %s", mistakes[i].name, status,
                          heard);
            continue;
        }
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s is not caught: %s", mistakes[i].name,
                      heard);
        ck_assert_msg(strstr(heard, "checked_test.c:") && strstr(heard, "violation: "), "%s: %s", mistakes[i].name,
                      heard);
        if (mistakes[i].view != stages) {
            char system[96];
            snprintf(system, sizeof system, "system %s (added at", mistakes[i].name);
            bool is_named = strstr(heard, system) || (!mistakes[i].exclusive && strstr(heard, "the program"));
            ck_assert_msg(is_named, "%s: %s", system, heard);
        }
        for (uint32_t j = 0; j < 3 && mistakes[i].parts[j]; ++j)
            ck_assert_msg(strstr(heard, mistakes[i].parts[j]) != NULL, "%s: no \"%s\" in %s", mistakes[i].name,
                          mistakes[i].parts[j], heard);
    }
}
END_TEST

/* What is allowed passes in every build. */
static void behave(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        ck_assert_ptr_nonnull(mica_get(view->world, view->entities[i], Position));
        mica_write(view->world, view->entities[i], Number)->value += number[i].value;
        ck_assert_ptr_nonnull(mica_get(view->world, other, Mass)); /* in .uses */
        ck_assert(mica_has(view->world, plain, Velocity));
        mica_set(view->world, view->entities[i], Age, {1});
        mica_defer(view->world);
        mica_create(view->world);
        mica_flush(view->world);
    }
    mica_singleton_get(view->world, Clock);
}

START_TEST(what_is_declared_is_let_through)
{
    mica_world *world = make_world();
    mica_system_add(world, MICA_SYSTEM_WITH(behave, (MICA_USES(MICA_USE_READ(Mass), MICA_USE_READ(Clock))),
                                            MICA_WRITE(Number), MICA_READ(Position)));
    for (uint32_t frame = 0; frame < 3; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}
END_TEST

TEST_SUITE(checked, each_planted_mistake_stops_a_checked_build_and_harms_no_other, what_is_declared_is_let_through)
