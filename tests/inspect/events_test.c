/* What passes through a program, as inspectors see it. */
#include "viewer.h"

#include "raw.h"

typedef struct Hit { mica_entity target; mica_text cause; } Hit;
MICA_STRUCT(Hit, target, cause)

/* Whether the last list of events that arrived has a text. */
static bool has_heard(viewer *viewer, const char *text)
{
    pthread_mutex_lock(&viewer->lock);
    bool is_there = strstr(viewer->events, text) != NULL;
    pthread_mutex_unlock(&viewer->lock);
    return is_there;
}

static uint64_t count_left_out(viewer *viewer)
{
    pthread_mutex_lock(&viewer->lock);
    uint64_t count = viewer->left_out;
    pthread_mutex_unlock(&viewer->lock);
    return count;
}

/* Runs frames until a list of events has a text, or until a number of frames has passed. */
static bool hears(mica_world *world, viewer *viewer, const char *text, uint32_t frames)
{
    for (uint32_t i = 0; i < frames && !has_heard(viewer, text); ++i) {
        mica_step(world, 0.25f);
        micap_sleep_ns(1000000);
    }
    return has_heard(viewer, text);
}

static void hear_hit(const mica_event *event)
{
    (void)event;
}

static void ignore(const mica_traffic *traffic, void *context)
{
    (void)traffic, (void)context;
}

START_TEST(what_passes_through_the_world_is_listed_on_request)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_stream *hits = mica_stream_create(world, MICA_STREAM(Hit));
    mica_observer_add(world, &(mica_observer_def){.name = "ouch", .event = MICA_EVENT_USER, .fn = hear_hit});
    mica_inspector *inspector = serve(world, (mica_inspect_def){.read_only = true});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    mica_event_emit(world, MICA_EVENT_USER, MICA_ID(Spot), anna, (mica_value){0});
    run_deltas(world, &viewer, 2);
    ck_assert_str_eq(viewer.events, ""); /* it was not asked for */
    micap_web_client_send(viewer.client, "0 events on", 11);
    char expected[600], words[500];
    memset(words, 'o', sizeof words);
    words[sizeof words - 1] = 0;
    for (uint32_t i = 0; i < 2000 && !has_heard(&viewer, "ouch"); ++i) { /* the request takes a while */
        mica_event_emit(world, MICA_EVENT_USER, MICA_ID(Spot), anna, (mica_value){0});
        mica_step(world, 0.25f);
        micap_sleep_ns(1000000);
    }
    snprintf(expected, sizeof expected, "event  64 Spot #%u 0 1 ; observer ouch 64 Spot #%u 0 1 ; ", anna.index,
             anna.index);
    ck_assert(hears(world, &viewer, expected, 1000));
    mica_stream_push(hits, Hit, {anna, mica_text_of("rain")});
    ck_assert(hears(world, &viewer, "\"cause\": \"rain\"}; ", 1000));
    mica_stream_push(hits, Hit, {anna, mica_text_of(words)}); /* its text is cut */
    ck_assert(hears(world, &viewer, "ooo; ", 1000));
    for (uint32_t i = 0; i < 100; ++i)
        mica_event_emit(world, MICA_EVENT_USER, 0, mica_nil(), (mica_value){0});
    mica_stream_push(hits, Hit, {anna, mica_text_of("snow")}); /* is not crowded out by the others */
    ck_assert(hears(world, &viewer, "snow", 1000));
    ck_assert_uint_eq(count_left_out(&viewer), 2 * (100 - MICAP_TRAFFIC_SAME_MAX));
    micap_web_client_send(viewer.client, "0 events off", 12);
    run_deltas(world, &viewer, 20);
    ck_assert_int_eq(mica_traffic_watch(world, ignore, NULL), MICA_OK); /* the inspector has none any more */
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_program_that_watches_its_traffic_itself_lists_none)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    ck_assert_int_eq(mica_traffic_watch(world, ignore, NULL), MICA_OK);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    micap_web_client_send(viewer.client, "0 events on", 11);
    ck_assert_int_eq(ask(world, &viewer, "pause off"), MICA_OK);
    run_deltas(world, &viewer, 2);
    expect_report(&heard, MICA_ERROR_EXISTS, "traffic_watch");
    ck_assert_str_eq(viewer.events, "");
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* It asks for events and then reads nothing: neither the frames of the program nor its memory may depend on that. */
START_TEST(a_client_that_reads_nothing_is_disconnected_and_holds_nothing_up)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    mica_observer_add(world, &(mica_observer_def){.name = "ouch", .event = MICA_EVENT_USER, .fn = hear_hit});
    int file = raw_connect(port_of(inspector));
    raw_upgrade(file, "/inspect?token=0123456789abcdefTEST", "127.0.0.1", "");
    static const char frame[] = "\x81\x8b\0\0\0\0"
                                "0 events on";
    raw_send(file, frame, sizeof frame - 1);
    uint64_t begin = micap_clock_ns(), slowest = 0;
    bool was_there = false, is_there = true;
    while (is_there && micap_clock_ns() - begin < UINT64_C(100) * 1000000000) {
        uint64_t at = micap_clock_ns();
        for (uint32_t i = 0; i < 200; ++i)
            mica_event_emit(world, MICA_EVENT_USER, MICA_ID(Spot), anna, (mica_value){0});
        ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
        slowest = micap_clock_ns() - at > slowest ? micap_clock_ns() - at : slowest;
        micap_sleep_ns(1000000);
        was_there |= mica_inspect_client_count(inspector) == 1;
        is_there = !was_there || mica_inspect_client_count(inspector);
    }
    ck_assert(was_there && !is_there);
    ck_assert_uint_lt(slowest, UINT64_C(5) * 1000000000); /* the machine may be busy; waiting would take 8 seconds */
    close(file);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(events, a_client_that_reads_nothing_is_disconnected_and_holds_nothing_up,
           what_passes_through_the_world_is_listed_on_request, a_program_that_watches_its_traffic_itself_lists_none)
