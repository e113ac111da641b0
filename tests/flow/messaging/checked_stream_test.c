/* Streams, observers, handlers and requests used where a system must not: a checked build stops, any other one reports. */
#define _POSIX_C_SOURCE 200809L /* for fork and pipes */
#include "mica/flow.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Note { uint32_t value; } Note;
typedef struct Thing { uint32_t value; } Thing;
MICA_STRUCT(Note, value)
MICA_COMPONENT(Thing, value)

static mica_stream *notes;
static mica_requests *requests;

static void answer(const mica_request_group *group)
{
    (void)group;
}

static void observe(const mica_event *seen)
{
    (void)seen;
}

static void handle(const mica_message *message)
{
    (void)message;
}

static void write_it(mica_world *world)
{
    (void)world;
    mica_stream_push(notes, Note, {1});
}

static void write_many(mica_world *world)
{
    (void)world;
    mica_stream_push_many(notes, Note, 10);
}

static void read_it(mica_world *world)
{
    (void)world;
    uint32_t count;
    mica_stream_read(notes, Note, &count);
}

static void post_it(mica_world *world)
{
    (void)world;
    mica_request_post(requests, 1, mica_nil(), Note, {1});
}

static void make_stream(mica_world *world)
{
    mica_stream_create(world, MICA_STREAM(Note));
}

static void end_stream(mica_world *world)
{
    (void)world;
    mica_stream_destroy(notes);
}

static void handle_now(mica_world *world)
{
    (void)world;
    mica_requests_handle(requests);
}

static void add_observer(mica_world *world)
{
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Thing, observe));
}

static void remove_observer(mica_world *world)
{
    mica_observer_remove(world, (mica_observer){1});
}

static void add_handler(mica_world *world)
{
    mica_handler_add(world, MICA_HANDLER(Thing, Note, handle));
}

static const struct mistake {
    void (*make)(mica_world *world);
    const char *said; /* in the report of a checked build */
} mistakes[] = {
    {write_it, "writes stream Note, which it does not declare"},
    {write_many, "writes stream Note, which it does not declare"},
    {read_it, "reads stream Note, which it does not declare: those that write it may not be done"},
    {post_it, "writes stream Asked, which it does not declare"},
    {make_stream, "calls stream_create"},
    {end_stream, "calls stream_destroy"},
    {handle_now, "calls requests_handle"},
    {add_observer, "calls observer_add"},
    {remove_observer, "calls observer_remove"},
    {add_handler, "calls handler_add"},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

static void sinner(const mica_frame *frame)
{
    ((const struct mistake *)frame->context)->make(frame->world);
}

static void stay_silent(const mica_report *report, void *context)
{
    (void)report;
    ++*(uint32_t *)context;
}

/* In a process of its own; returns its status, and what it printed. */
static int run_apart(const struct mistake *mistake, char *out, size_t capacity)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        uint32_t reports = 0;
        mica_world_def def = mica_world_def_default();
        def.report = stay_silent;
        def.report_context = &reports;
        mica_world *world = mica_world_create(&def);
        mica_create(world, MICA_WITH(Thing, {1}));
        notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
        mica_requests_def asked = *MICA_REQUESTS(Note, Thing, answer, NULL);
        asked.name = "Asked";
        requests = mica_requests_create(world, &asked);
        mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Thing, observe));
        mica_system_def system = *MICA_SYSTEM_ONCE(sinner);
        system.context = (void *)(uintptr_t)mistake;
        mica_system_add(world, &system);
        mica_step(world, 1);
        bool sound = mica_world_validate(world) == MICA_OK && mica_stream_count(notes) == 0;
        mica_world_destroy(world);
        _exit(sound && reports ? 0 : 1);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < capacity && (got = read(ends[0], out + used, capacity - used - 1)) > 0;)
        used += (size_t)got;
    out[used] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

START_TEST(a_checked_build_stops_at_what_others_report)
{
    for (uint32_t i = 0; i < MISTAKES; ++i) {
        char heard[2048];
        int status = run_apart(&mistakes[i], heard, sizeof heard);
        if (!STOPS_AT_MISTAKES) {
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "mistake %u: %x %s", i, status, heard);
            continue;
        }
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "mistake %u is not caught: %s", i, heard);
        ck_assert_msg(strstr(heard, "system sinner (added at") && strstr(heard, mistakes[i].said), "mistake %u: %s", i,
                      heard);
        if (i < 4)
            ck_assert_msg(strstr(heard, "checked_stream_test.c:") != NULL, "mistake %u: %s", i, heard);
    }
}
END_TEST

TEST_SUITE(checked_stream, a_checked_build_stops_at_what_others_report)
