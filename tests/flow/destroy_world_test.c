/* A world that is in use when the program destroys it stays, with a report; and a world that is not in use doesn't. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/flow.h"

typedef struct Poke { int points; } Poke;
MICA_STRUCT(Poke, points)

static reports heard;

static void destroy(mica_world *world)
{
    mica_world_destroy(world);
    expect_report(&heard, MICA_ERROR_REFUSED, "world_destroy");
}

static void on_view(mica_view *view)
{
    destroy(view->world);
}

static void on_frame(const mica_frame *frame)
{
    destroy(frame->world);
}

static bool on_condition(const mica_frame *frame)
{
    destroy(frame->world);
    return true;
}

static void on_event(const mica_event *event)
{
    destroy(event->world);
}

static void on_message(const mica_message *message)
{
    destroy(message->world);
}

static void on_requests(const mica_request_group *group)
{
    destroy(group->world);
}

static void after_frame(mica_world *world, void *context)
{
    (void)context;
    destroy(world);
}

static double no_time(void *context)
{
    (void)context;
    return 0;
}

static void no_wait(double seconds, void *context)
{
    (void)seconds, (void)context;
}

START_TEST(a_world_in_use_is_not_destroyed)
{
    mica_world *world = open_world(&heard);
    mica_flow_configure(world, &(mica_flow_def){.worker_count = 1});
    mica_hook_set(world, Health, MICA_EVENT_ADD, on_event, NULL);
    mica_hook_set(world, Health, MICA_EVENT_REMOVE, on_event, NULL);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Health, on_event));
    mica_observer_add(world, MICA_MONITOR(on_event, MICA_READ(Health)));
    mica_observer_add(world, &(mica_observer_def){.event = MICA_EVENT_USER, .fn = on_event});
    mica_handler_add(world, MICA_HANDLER(Health, Poke, on_message));
    mica_requests *requests = mica_requests_create(world, MICA_REQUESTS(Poke, Health, on_requests, NULL));
    mica_entity entity = mica_create(world, MICA_WITH(Health));
    mica_request_post(requests, 1, entity, Poke, {1});
    ck_assert_int_eq(mica_requests_handle(requests), MICA_OK);
    mica_send(world, entity, Poke, {1});
    mica_event_emit(world, MICA_EVENT_USER, 0, entity, (mica_value){0});
    mica_system view = mica_system_add(world, MICA_SYSTEM(on_view, MICA_READ(Health)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(on_frame, (.condition = on_condition)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(on_frame, (.name = "exclusive", .exclusive = true)));
    ck_assert_int_eq(mica_after_frame(world, after_frame, NULL), MICA_OK);
    ck_assert_int_eq(mica_system_run(world, view, 0.1f), MICA_OK);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    mica_run_def run = mica_run_def_default();
    run.frame_count = 2;
    run.clock = &(mica_clock){.now = no_time, .wait = no_wait};
    ck_assert_int_eq(mica_run(world, &run), MICA_OK);
    ck_assert(mica_is_alive(world, entity));
    mica_destroy(world, entity);
    mica_defer(world);
    mica_create(world, MICA_WITH(Health));
    close_world(world, &heard); /* a program may end while it records */
}
END_TEST

TEST_SUITE(destroy_world, a_world_in_use_is_not_destroyed)
