/* The server in a program: what an inspector sees and changes, and which requests are refused. */
#include "viewer.h"

#include "raw.h"

START_TEST(a_replica_follows_the_program)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    uint64_t hash_before = mica_world_hash(world);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.name = "town"});
    ck_assert_uint_eq(mica_world_hash(world), hash_before);
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    run_deltas(world, &viewer, 5);
    ck_assert_uint_eq(mica_inspect_client_count(inspector), 1);
    mica_pause(world, true); /* those on their way may be older; then nothing changes */
    run_deltas(world, &viewer, MICAP_DELTAS_IN_FLIGHT + 2);
    pthread_mutex_lock(&viewer.lock);
    ck_assert(viewer.is_paused && !viewer.is_read_only && viewer.frame > 0);
    ck_assert_uint_eq(mica_world_hash_content(viewer.world), mica_world_hash_content(world));
    ck_assert_ptr_nonnull(mica_get_id(viewer.world, anna, mica_component_find(viewer.world, "Person")));
    ck_assert_ptr_nonnull(strstr(viewer.stats, "\"name\":\"move\""));
    ck_assert_ptr_nonnull(strstr(viewer.stats, "viewer.h"));
    pthread_mutex_unlock(&viewer.lock);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* What is asked, the result, and a part of the text. */
static const struct {
    const char *request; /* %s is the handle of anna */
    mica_result result;
    const char *text;
} requests[] = {
    {"entity %s\n{\"components\": {\"Spot\": {\"x\": 7}}}", MICA_OK, ""},
    {"entity %s\n{\"components\": {\"Spot\": {\"x\": 1e6}}}", MICA_ERROR_INVALID, "1000"},
    {"entity %s\n{\"components\": {\"Spott\": {}}}", MICA_ERROR_INVALID, "Spot"},
    {"entity %s\n{\"components\": {\"Marked\": {}, \"Person\": {\"title\": \"queen\", \"scores\": [1, 2]}}}", MICA_OK,
     ""},
    {"entity %s\n{", MICA_ERROR_INVALID, ""},
    {"entity 999999999999\n{}", MICA_ERROR_DEAD, "no such entity"},
    {"entity x\n{}", MICA_ERROR_DEAD, "no such entity"},
    {"name %s\nqueen", MICA_OK, ""},
    {"name %s\na/b", MICA_ERROR_INVALID, ""},
    {"parent %s 0", MICA_OK, ""},
    {"clone %s", MICA_OK, ""},
    {"create\n{\"components\": {\"Spot\": {\"x\": 1}}}", MICA_OK, ""},
    {"create\n{\"components\": {\"Spot\": {\"x\": \"far\"}}}", MICA_ERROR_INVALID, ""},
    {"pause on", MICA_OK, ""},
    {"step", MICA_OK, ""},
    {"pause off", MICA_OK, ""},
    {"scale 0.5", MICA_OK, ""},
    {"scale fast", MICA_ERROR_INVALID, "number"},
    {"scale -1", MICA_ERROR_INVALID, ""},
    {"system off\nmove", MICA_OK, ""},
    {"system on\nmove", MICA_OK, ""},
    {"system run\nmove", MICA_OK, ""},
    {"system jump\nmove", MICA_ERROR_INVALID, "on, off or run"},
    {"system on\nmover", MICA_ERROR_UNKNOWN, "no system"},
    {"relate %s 1 on\nSpot", MICA_ERROR_UNKNOWN, "no relation"},
    {"relate %s %s on\nLikes", MICA_ERROR_REFUSED, "refuses"},
    {"relate %s 1 off\nLikes", MICA_ERROR_DEAD, "no such entity"},
    {"dance", MICA_ERROR_UNKNOWN, "no such request"},
    {"", MICA_ERROR_UNKNOWN, "no such request"},
    {"pause on off", MICA_ERROR_INVALID, "arguments"},
    {"create 1 2 3 4 5", MICA_ERROR_INVALID, "arguments"},
    {"branch soon", MICA_ERROR_INVALID, "number"},
    {"branch 999999", MICA_ERROR_UNKNOWN, "does not keep"},
    {"wrote %s soon\nSpot\nx", MICA_ERROR_INVALID, "expected"},
    {"wrote %s 1\nSpott\nx", MICA_ERROR_UNKNOWN, "no such component"},
    {"wrote %s 0\nSpot\nx", MICA_ERROR_UNKNOWN, "does not keep"},
    {"break\nSpot, Markd", MICA_ERROR_INVALID, "Marked"},
    {"timeline on", MICA_OK, ""},
    {"timeline off", MICA_OK, ""},
    {"destroy %s", MICA_OK, ""},
    {"destroy %s", MICA_ERROR_DEAD, "no such entity"},
};

START_TEST(an_inspector_changes_the_world_and_hears_what_went_wrong)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    char handle[32], text[256];
    snprintf(handle, sizeof handle, "%" PRIu64, (uint64_t)anna.generation << 32 | anna.index);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; ++i) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(text, sizeof text, requests[i].request, handle, handle);
#pragma GCC diagnostic pop
        mica_result result = ask(world, &viewer, text);
        ck_assert_msg(result == requests[i].result && strstr(viewer.reply_text, requests[i].text), "%s: %d, %s", text,
                      (int)result, viewer.reply_text);
        if (i == 0)
            ck_assert_float_eq(mica_get(world, anna, Spot)->x, 7);
        if (i == 3)
            ck_assert(mica_has(world, anna, Marked) && mica_list_count(&mica_get(world, anna, Person)->scores) == 2);
    }
    ck_assert(!mica_is_alive(world, anna) && !mica_is_paused(world));
    run_deltas(world, &viewer, 2);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}
END_TEST

static void hurry(mica_view *view)
{
    const Spot *spot = mica_view_read(view, Spot);
    for (uint32_t i = 0; i < view->count; ++i)
        mica_set(view->world, view->entities[i], Spot, {spot[i].x, spot[i].y + 1});
}

static const char *text_of(mica_world *world, viewer *viewer, const char *format, uint64_t number, mica_entity entity)
{
    char text[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, (uint64_t)entity.generation << 32 | entity.index, number);
#pragma GCC diagnostic pop
    return ask(world, viewer, text) == MICA_OK ? viewer->reply_text : "";
}

START_TEST(what_wrote_a_value_is_found_by_running_the_frame_again)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_system_add(world, MICA_SYSTEM(hurry, MICA_READ(Person), MICA_READ(Spot)));
    mica_system_enable(world, mica_system_find(world, "hurry"), false);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    mica_time_set_scale(world, 0.5);
    run_deltas(world, &viewer, 4);
    mica_entity bob = mica_create(world, MICA_WITH(Spot, {0, 0}), MICA_WITH(Pace, {8, 0}));
    mica_system_enable(world, mica_system_find(world, "hurry"), true);
    run_deltas(world, &viewer, 4);
    mica_system_enable(world, mica_system_find(world, "hurry"), false);
    mica_pause(world, true);
    run_deltas(world, &viewer, 1);
    uint64_t frame = mica_time_get(world).frame, hash = mica_world_hash_content(world);
    static const char question[] = "wrote %" PRIu64 " %" PRIu64 "\nSpot\nx";
    const char *found = NULL;
    for (uint64_t at = frame; at-- > 0 && !(found && strstr(found, "\"move\""));)
        found = text_of(world, &viewer, question, at, bob);
    ck_assert_ptr_nonnull(strstr(found, "\"kind\":\"system\",\"systems\":[{\"system\":\"move\",\"file\":"));
    ck_assert_ptr_nonnull(strstr(found, "viewer.h"));
    ck_assert_ptr_null(strstr(found, "\"program\""));
    found = text_of(world, &viewer, question, mica_time_get(world).frame, anna);
    ck_assert_str_eq(found, "[]"); /* a paused frame is none: the last one is asked about */
    uint32_t hurries = 0, edits = 0;
    for (uint64_t at = frame; at-- > 0 && (!hurries || !edits);) {
        found = text_of(world, &viewer, "wrote %" PRIu64 " %" PRIu64 "\nSpot", at, anna);
        hurries += strstr(found, "\"flush\"") && strstr(found, "\"hurry\"");
        edits += strstr(text_of(world, &viewer, question, at, bob), "\"kind\":\"program\"") != NULL;
    }
    ck_assert(hurries && edits); /* bob was created by the program */
    ck_assert_uint_eq(mica_world_hash_content(world), hash);
    ck_assert(mica_is_paused(world));
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_program_continues_from_a_past_frame)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    run_deltas(world, &viewer, 3);
    uint64_t frame = mica_time_get(world).frame;
    for (uint32_t i = 0; i < MICAP_PAST_FRAMES_MAX + 50; ++i)
        mica_step(world, 0.25f);
    mica_pause(world, true);
    mica_destroy(world, anna);
    char text[64];
    snprintf(text, sizeof text, "branch %" PRIu64, frame);
    ck_assert_int_eq(ask(world, &viewer, text), MICA_ERROR_UNKNOWN); /* too old */
    mica_pause(world, false);
    run_deltas(world, &viewer, 1);
    frame = mica_time_get(world).frame;
    run_deltas(world, &viewer, 20);
    mica_pause(world, true);
    run_deltas(world, &viewer, 1);
    snprintf(text, sizeof text, "branch %" PRIu64, frame);
    ck_assert_int_eq(ask(world, &viewer, text), MICA_OK);
    ck_assert(mica_is_paused(world));
    mica_pause(world, false);
    ck_assert_uint_le(mica_time_get(world).frame, frame + 5); /* frames of a paused world count */
    run_deltas(world, &viewer, MICAP_DELTAS_IN_FLIGHT + 2);
    mica_pause(world, true);
    run_deltas(world, &viewer, MICAP_DELTAS_IN_FLIGHT + 2);
    pthread_mutex_lock(&viewer.lock);
    ck_assert_uint_eq(mica_world_hash_content(viewer.world), mica_world_hash_content(world));
    ck_assert_ptr_nonnull(strstr(viewer.stats, "\"past\":{\"count\":"));
    pthread_mutex_unlock(&viewer.lock);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* The deltas of a world of which much changes in each frame. */
static uint32_t count_deltas(mica_world *world, viewer *viewer, uint32_t frames)
{
    uint32_t first = atomic_load_explicit(&viewer->delta_count, memory_order_acquire);
    for (uint32_t i = 0; i < frames; ++i) {
        mica_step(world, 0.25f);
        micap_sleep_ns(2000000);
    }
    return atomic_load_explicit(&viewer->delta_count, memory_order_acquire) - first;
}

START_TEST(large_changes_are_sent_now_and_then_and_at_once_while_paused)
{
    for (int every = 0; every < 2; ++every) {
        reports heard;
        mica_entity anna;
        mica_world *world = open_town(&heard, &anna);
        for (uint32_t i = 0; i < 40000; ++i) /* 330 KiB, after which 33 ms pass */
            mica_create(world, MICA_WITH(Spot, {(float)i, 0}), MICA_WITH(Pace, {1, 0}));
        mica_inspector *inspector = serve(world, (mica_inspect_def){.every_frame = every, .no_past = true});
        viewer viewer;
        open_viewer(&viewer, mica_inspect_url(inspector));
        run_deltas(world, &viewer, 2);
        uint64_t begin = micap_clock_ns();
        uint32_t count = count_deltas(world, &viewer, 150);
        /* The last deltas from before may arrive late. */
        uint64_t most = (micap_clock_ns() - begin) / 32000000 + 2 + MICAP_DELTAS_IN_FLIGHT;
        ck_assert_msg(every ? count > most : count <= most, "%u deltas instead of %u", count, (unsigned)most);
        ck_assert_int_eq(ask(world, &viewer, "pause on"), MICA_OK);
        ck_assert_uint_ge(count_deltas(world, &viewer, 100), 10); /* nothing changes any more */
        pthread_mutex_lock(&viewer.lock);
        ck_assert_uint_eq(mica_world_hash_content(viewer.world), mica_world_hash_content(world));
        pthread_mutex_unlock(&viewer.lock);
        close_viewer(&viewer);
        mica_inspect_stop(inspector);
        close_world(world, &heard);
    }
}
END_TEST

static void expect_no_past(mica_inspect_def def)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, def);
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    run_deltas(world, &viewer, 3);
    ck_assert_int_eq(ask(world, &viewer, "branch 2"), MICA_ERROR_UNKNOWN);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}

START_TEST(a_program_without_past_frames_says_so)
{
    expect_no_past((mica_inspect_def){.no_past = true});
    expect_no_past((mica_inspect_def){.past_entity_max = 1});
}
END_TEST

START_TEST(a_world_is_paused_when_a_query_becomes_true)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    ck_assert_int_eq(ask(world, &viewer, "break\nMarked, Spot"), MICA_OK);
    run_deltas(world, &viewer, 3);
    ck_assert(!mica_is_paused(world));
    mica_add(world, anna, Marked);
    ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
    ck_assert(mica_is_paused(world));
    run_deltas(world, &viewer, MICAP_DELTAS_IN_FLIGHT + 2);
    char expected[80];
    pthread_mutex_lock(&viewer.lock);
    snprintf(expected, sizeof expected, "\"break\":{\"query\":\"Marked, Spot\",\"frame\":");
    ck_assert_ptr_nonnull(strstr(viewer.stats, expected));
    pthread_mutex_unlock(&viewer.lock);
    mica_pause(world, false); /* it is still true: no second pause */
    run_deltas(world, &viewer, 2);
    ck_assert(!mica_is_paused(world));
    ck_assert_int_eq(ask(world, &viewer, "break"), MICA_OK);
    mica_remove(world, anna, Marked);
    mica_step(world, 0.25f);
    mica_add(world, anna, Marked);
    mica_step(world, 0.25f);
    ck_assert(!mica_is_paused(world));
    char *request = calloc(1, 2000);
    memset(request, 'x', 1999);
    memcpy(request, "7 break\n", 8);
    micap_web_client_send(viewer.client, request, 1999);
    free(request);
    bool is_refused = false;
    for (uint32_t i = 0; i < 5000 && !is_refused; ++i) {
        mica_step(world, 0.25f);
        micap_sleep_ns(1000000);
        pthread_mutex_lock(&viewer.lock);
        is_refused = strstr(viewer.reply_text, "too long") != NULL;
        pthread_mutex_unlock(&viewer.lock);
    }
    ck_assert(is_refused);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

START_TEST(frames_are_traced_now_and_then)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    ck_assert_int_eq(ask(world, &viewer, "timeline on"), MICA_OK);
    bool is_there = false;
    for (uint32_t i = 0; i < 5000 && !is_there; ++i) {
        mica_step(world, 0.25f);
        micap_sleep_ns(1000000);
        pthread_mutex_lock(&viewer.lock);
        is_there = strstr(viewer.timeline, "\"move\"") && strstr(viewer.timeline, "worker 0");
        pthread_mutex_unlock(&viewer.lock);
    }
    ck_assert(is_there);
    close_viewer(&viewer);
    for (uint32_t i = 0; i < 2000 && mica_inspect_client_count(inspector); ++i)
        micap_sleep_ns(1000000);
    mica_step(world, 0.25f); /* all that is there for inspectors ends */
    ck_assert_int_eq(mica_trace_start(world), MICA_OK);
    ck_assert_int_eq(mica_trace_stop(world, NULL), MICA_OK);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_read_only_program_is_not_changed)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.read_only = true});
    viewer viewer;
    open_viewer(&viewer, mica_inspect_url(inspector));
    static const char *const all[] = {"pause on",         "step",     "create",     "destroy 1",
                                      "system off\nmove", "branch 1", "break\nSpot"};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        ck_assert_int_eq(ask(world, &viewer, all[i]), MICA_ERROR_REFUSED);
        ck_assert_ptr_nonnull(strstr(viewer.reply_text, "read-only"));
    }
    ck_assert(viewer.is_read_only && !mica_is_paused(world));
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* Requests for the socket, and the status of the answer. %u is the port. */
static const struct {
    const char *path;
    const char *host;
    const char *more;
    int status;
} doors[] = {
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "", 101},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1", "", 101},
    {"/inspect?token=0123456789abcdefTEST", "localhost:%u", "Origin: http://localhost:%u\r\n", 101},
    {"/inspect", "127.0.0.1:%u", "Authorization: Bearer 0123456789abcdefTEST\r\n", 101},
    {"/inspect", "127.0.0.1:%u", "", 401},
    {"/inspect?token=", "127.0.0.1:%u", "", 401},
    {"/inspect?token=0123456789abcdefTES", "127.0.0.1:%u", "", 401},
    {"/inspect?token=0123456789abcdefTEST0", "127.0.0.1:%u", "", 401},
    {"/inspect?token=0123456789abcdefTESS", "127.0.0.1:%u", "", 401},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Authorization: Bearer x\r\n", 401},
    {"/inspect?token=0123456789abcdefTEST", "evil.example:%u", "", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:1", "", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1.evil.example:%u", "", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: http://evil.example\r\n", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: null\r\n", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: http://127.0.0.1\r\n", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: http://localhost:%u@evil.example\r\n", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: \r\n", 403},
    {"/inspect?token=0123456789abcdefTEST", "127.0.0.1:%u", "Origin: https://127.0.0.1:%u\r\n", 403},
    {"/?token=0123456789abcdefTEST", "127.0.0.1:%u", "", 404},
    {"/etc/passwd?token=0123456789abcdefTEST", "127.0.0.1:%u", "", 404},
    {"/../../../etc/passwd", "127.0.0.1:%u", "", 401},
};

START_TEST(a_request_needs_the_token_and_the_host_and_origin_of_the_server)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.client_max = 16});
    uint16_t port = port_of(inspector);
    for (size_t i = 0; i < sizeof doors / sizeof *doors; ++i) {
        char host[64], more[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(host, sizeof host, doors[i].host, port);
        snprintf(more, sizeof more, doors[i].more, port);
#pragma GCC diagnostic pop
        int file = raw_connect(port);
        raw_upgrade(file, doors[i].path, host, more);
        int status = raw_status(file);
        ck_assert_msg(status == doors[i].status, "%s, Host: %s, %s: %d", doors[i].path, host, more, status);
        close(file);
        mica_step(world, 0.25f);
    }
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* A server on all addresses is reached by each of them, and by no name that another site could give to this machine. */
START_TEST(a_server_for_the_network_takes_addresses_and_no_names)
{
    static const struct {
        const char *host; /* %u is the port */
        int status;
    } hosts[] = {
        {"192.168.7.7:%u", 404}, {"10.0.0.1", 404},        {"[fe80::1]:%u", 404},
        {"0.0.0.0:%u", 404},     {"evil.example:%u", 403}, {"1.2.3.4.evil.example:%u", 403},
        {"192.168.7.7:1", 403},  {"[evil]:%u", 403},       {"[fe80::1]x:%u", 403},
        {"abc:%u", 403},
    };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.address = "0.0.0.0"});
    unsigned port = 0;
    sscanf(mica_inspect_url(inspector), "http://0.0.0.0:%u/", &port);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; ++i) {
        char host[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(host, sizeof host, hosts[i].host, port);
#pragma GCC diagnostic pop
        int file = raw_connect((uint16_t)port);
        raw_upgrade(file, "/?token=0123456789abcdefTEST", host, "");
        int status = raw_status(file);
        ck_assert_msg(status == hosts[i].status, "Host: %s: %d", host, status);
        close(file);
    }
    mica_inspect_stop(inspector);
    mica_world_destroy(world);
}
END_TEST

START_TEST(more_clients_than_allowed_are_refused)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.client_max = 2});
    int files[4], accepted = 0;
    for (int i = 0; i < 4; ++i) {
        files[i] = raw_connect(port_of(inspector));
        raw_upgrade(files[i], "/inspect?token=0123456789abcdefTEST", "127.0.0.1", "");
        accepted += raw_status(files[i]) == 101;
    }
    ck_assert_int_eq(accepted, 2);
    for (int i = 0; i < 4; ++i)
        close(files[i]);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

/* Frames of all kinds, and bytes that are none. */
static size_t make_frame(mica_random *random, uint8_t *frame, size_t capacity)
{
    size_t length = mica_random_below(random, 200), count = 0;
    frame[count++] = (uint8_t)mica_random_next(random);
    frame[count++] =
        (uint8_t)(mica_random_below(random, 4) ? 0x80 | (length < 126 ? length : 126) : mica_random_next(random));
    if (length >= 126) {
        frame[count++] = 0;
        frame[count++] = (uint8_t)length;
    }
    for (size_t i = 0; i < length + 4 && count < capacity; ++i)
        frame[count++] = (uint8_t)mica_random_next(random);
    return count;
}

START_TEST(frames_of_any_bytes_are_harmless)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    mica_random random = mica_random_make(1, 2);
    for (uint32_t round = 0; round < 150; ++round) {
        int file = raw_connect(port_of(inspector));
        raw_upgrade(file, "/inspect?token=0123456789abcdefTEST", "127.0.0.1", "");
        uint8_t frame[512];
        for (uint32_t i = 0; i < 20; ++i)
            raw_send(file, frame, make_frame(&random, frame, sizeof frame));
        mica_step(world, 0.25f);
        close(file);
    }
    ck_assert(mica_is_alive(world, anna));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_inspect_stop(inspector);
    mica_world_destroy(world);
}
END_TEST

/* Frames that are wrong on purpose, or too large. None of them pauses the world. */
START_TEST(frames_that_lie_about_their_length_are_refused)
{
#define FRAME(text) {text, sizeof(text) - 1}
    static const struct {
        const char *bytes;
        size_t count;
    } frames[] = {
        FRAME("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0x"), /* 2^63 - 1 bytes */
        FRAME("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0x"), /* 2^64 - 1 */
        FRAME("\x81\xff\0\0\0\0\x7f\xff\xff\xff\0\0\0\0x"),         /* 2^31 - 1 */
        FRAME("\x01\x85\0\0\0\0"
              "1 pau\x80\x85\0\0\0\0"
              "se on"), /* in two parts */
        FRAME("\xf1\x8a\0\0\0\0"
              "1 pause on"), /* reserved bits */
        FRAME("\x82\x8a\0\0\0\0"
              "1 pause on"), /* binary */
        FRAME("\x81\x8c\0\0\0\0"
              "1 pause on\0x"),                /* a zero byte */
        FRAME("\x89\xfe\xff\xff\0\0\0\0ping"), /* a ping of 65535 bytes */
        FRAME("\x8a\x80\0\0\0\0\x88\x80\0\0\0\0\x81\x8a\0\0\0\0"
              "1 pause on"), /* after the end */
    };
#undef FRAME
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){.client_max = 16});
    for (size_t i = 0; i < sizeof frames / sizeof *frames; ++i) {
        int file = raw_connect(port_of(inspector));
        raw_upgrade(file, "/inspect?token=0123456789abcdefTEST", "127.0.0.1", "");
        ck_assert_int_eq(raw_status(file), 101);
        raw_send(file, frames[i].bytes, frames[i].count);
        for (int frame = 0; frame < 20; ++frame)
            mica_step(world, 0.25f), micap_sleep_ns(1000000);
        ck_assert_msg(!mica_is_paused(world), "frame %zu", i);
        close(file);
    }
    for (int i = 0; i < 5000 && mica_inspect_client_count(inspector); ++i)
        mica_step(world, 0.25f), micap_sleep_ns(1000000);
    viewer viewer; /* the server still works */
    open_viewer(&viewer, mica_inspect_url(inspector));
    run_deltas(world, &viewer, 2);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

static void *connect_often(void *context)
{
    const mica_inspector *inspector = context;
    for (uint32_t i = 0; i < 250; ++i) {
        int file = raw_connect(port_of(inspector));
        raw_upgrade(file, "/inspect?token=0123456789abcdefTEST", "127.0.0.1", "");
        if (i % 2)
            raw_status(file);
        close(file);
    }
    return NULL;
}

START_TEST(a_thousand_connects_while_the_world_runs)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    mica_inspector *inspector = serve(world, (mica_inspect_def){0});
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        pthread_create(&threads[i], NULL, connect_often, inspector);
    for (int i = 0; i < 400; ++i)
        ck_assert_int_eq(mica_step(world, 0.001f), MICA_OK);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    viewer viewer; /* the server still works */
    for (int i = 0; i < 2000 && mica_inspect_client_count(inspector) > 2; ++i)
        mica_step(world, 0.001f), micap_sleep_ns(1000000);
    open_viewer(&viewer, mica_inspect_url(inspector));
    run_deltas(world, &viewer, 2);
    close_viewer(&viewer);
    mica_inspect_stop(inspector);
    close_world(world, &heard);
}
END_TEST

START_TEST(descriptions_survive_and_damaged_ones_are_refused)
{
    reports heard;
    mica_entity anna;
    mica_world *world = open_town(&heard, &anna);
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_bytes bytes = {.memory = &memory};
    micap_types_write(world, &bytes);
    mica_random random = mica_random_make(3, 4);
    for (uint32_t round = 0; round < 3000; ++round) {
        reports other_heard;
        mica_world *other = open_world(&other_heard);
        char *copy = malloc(bytes.count);
        memcpy(copy, bytes.data, bytes.count);
        uint32_t damage = round ? 1 + mica_random_below(&random, 3) : 0;
        for (uint32_t i = 0; i < damage; ++i)
            copy[mica_random_below(&random, bytes.count)] = (char)mica_random_next(&random);
        size_t count = round % 3 == 1 ? mica_random_below(&random, bytes.count) : bytes.count;
        micap_reader reader = {.begin = copy, .at = copy, .end = copy + count};
        mica_result result = micap_types_read(other, &reader);
        ck_assert(round || (result == MICA_OK && reader.at == reader.end));
        if (!round)
            for (mica_component component = 0; (component = mica_component_next(world, component));)
                ck_assert_uint_eq(mica_component_find(other, mica_component_type(component)->name), component);
        free(copy);
        mica_world_destroy(other);
    }
    micap_bytes_free(&bytes);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_wrong_def_and_a_second_server_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static const mica_inspect_def wrong[] = {
        {.token = "short"}, {.token = "0123456789abcdef!"}, {.client_max = 17}, {.address = "localhost"}, {.address = ""},
        {.name = "a name that is much longer than anyone could ever want to read in a page"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ck_assert_ptr_null(mica_inspect_serve(world, &wrong[i]));
        ck_assert_int_eq(mica_world_take_error(world), MICA_ERROR_INVALID);
    }
    mica_inspector *inspector = mica_inspect_serve(world, &(mica_inspect_def){.quiet = true});
    ck_assert_ptr_nonnull(inspector);
    ck_assert_ptr_null(mica_inspect_serve(world, &(mica_inspect_def){.quiet = true}));
    ck_assert_int_eq(mica_world_take_error(world), MICA_ERROR_EXISTS);
    uint16_t port = port_of(inspector);
    mica_world *other = open_world(&heard);
    ck_assert_ptr_null(mica_inspect_serve(other, &(mica_inspect_def){.port = port, .quiet = true}));
    ck_assert_int_eq(mica_world_take_error(other), MICA_ERROR_FILE);
    mica_inspect_stop(inspector);
    inspector = mica_inspect_serve(other, &(mica_inspect_def){.address = "0.0.0.0", .quiet = true});
    ck_assert_ptr_nonnull(inspector);
    ck_assert_ptr_nonnull(strstr(heard.list[heard.count - 1].text, "from the network"));
    mica_inspect_stop(inspector);
    mica_inspect_stop(NULL);
    mica_world_destroy(other);
    mica_world_destroy(world);
}
END_TEST

TEST_SUITE(serve, a_replica_follows_the_program, an_inspector_changes_the_world_and_hears_what_went_wrong,
           what_wrote_a_value_is_found_by_running_the_frame_again, a_program_continues_from_a_past_frame,
           large_changes_are_sent_now_and_then_and_at_once_while_paused, a_program_without_past_frames_says_so,
           a_world_is_paused_when_a_query_becomes_true, frames_are_traced_now_and_then,
           a_read_only_program_is_not_changed, a_request_needs_the_token_and_the_host_and_origin_of_the_server,
           a_server_for_the_network_takes_addresses_and_no_names, more_clients_than_allowed_are_refused,
           frames_of_any_bytes_are_harmless, frames_that_lie_about_their_length_are_refused,
           a_thousand_connects_while_the_world_runs, descriptions_survive_and_damaged_ones_are_refused,
           a_wrong_def_and_a_second_server_are_reported)
