/* A small town with an inspector in its program, and a client that looks at it. */
#ifndef MICA_TESTS_INSPECT_VIEWER_H
#define MICA_TESTS_INSPECT_VIEWER_H

#include "mica/inspect.h"
#include "inspect/past.h"
#include "inspect/protocol.h"
#include "inspect/traffic_log.h"
#include "inspect/type_codec.h"
#include "inspect/web.h"
#include "inspect/web_client.h"
#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/relation.h"
#include "os/clock.h"
#include "support/reports.h"
#include "support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef enum Mood { CALM, ANGRY } Mood;
typedef struct Spot { float x, y; } Spot;
typedef struct Pace { float x, y; } Pace;
typedef struct Person { Mood mood; mica_text title; mica_list scores; mica_entity friend_; } Person;
typedef struct Load { uint32_t count; } Load;
typedef struct Likes { float much; } Likes;
MICA_ENUM(Mood, CALM, ANGRY)
MICA_COMPONENT(Spot, (x, float, .unit = "m", .minimum = -1000, .maximum = 1000), y)
MICA_COMPONENT_WITH(Pace, (.toggle = true), x, y)
MICA_COMPONENT(Person, (mood, Mood), title, (scores, float), friend_)
MICA_POOL_WITH(Load, (.many = true), count)
MICA_RELATION(Likes, much)
MICA_TAG(Marked)

/* Threads of civetweb call localtime, which writes the time zone, without a lock. Nothing else is suppressed. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:localtime\nrace:tzset_internal\n";
}

static const char token[] = "0123456789abcdefTEST";

/* An inspector: a replica in a world of its own. */
typedef struct viewer {
    mica_world *world;
    mica_replica *replica;
    micap_web_client *client;
    pthread_mutex_t lock;
    uint64_t frame;
    bool is_paused;
    bool is_read_only;
    mica_result reply;
    uint64_t reply_number;
    char reply_text[2048];
    char timeline[65536];
    char stats[65536];
    char events[4096]; /* "stream hits 1 {...}; ..." */
    uint64_t left_out;
    atomic_bool is_closed;
    atomic_uint delta_count;
} viewer;

MICA_UNUSED_ static void view_delta(viewer *viewer, micap_reader *reader)
{
    viewer->frame = micap_reader_take64(reader);
    micap_reader_take64(reader);
    uint64_t version = micap_reader_take64(reader);
    viewer->is_paused = micap_reader_take_number(reader);
    ck_assert(!reader->failed);
    ck_assert_int_eq(mica_delta_apply(viewer->replica, reader->at, micap_reader_left(reader)), MICA_OK);
    char text[64];
    int length = snprintf(text, sizeof text, "0 ack %" PRIu64, version);
    micap_web_client_send(viewer->client, text, (size_t)length);
    atomic_fetch_add_explicit(&viewer->delta_count, 1, memory_order_release);
}

MICA_UNUSED_ static void view_events(viewer *viewer, micap_reader *reader)
{
    size_t name_bytes, component_bytes, value_bytes;
    micap_reader_take64(reader);
    viewer->left_out += micap_reader_take_number(reader);
    while (micap_reader_left(reader)) {
        mica_traffic_kind kind = (mica_traffic_kind)micap_reader_take_number(reader);
        const char *name = micap_reader_take_text(reader, &name_bytes);
        uint64_t event = micap_reader_take_number(reader);
        const char *component = micap_reader_take_text(reader, &component_bytes);
        uint32_t index = micap_reader_take32(reader);
        micap_reader_take32(reader);
        uint64_t key = micap_reader_take64(reader), count = micap_reader_take_number(reader);
        const char *value = micap_reader_take_text(reader, &value_bytes);
        ck_assert(!reader->failed);
        size_t length = strlen(viewer->events);
        snprintf(viewer->events + length, sizeof viewer->events - length,
                 "%s %.*s %" PRIu64 " %.*s #%u %" PRIu64 " %" PRIu64 " %.*s; ", mica_traffic_kind_name(kind),
                 (int)name_bytes, name, event, (int)component_bytes, component, index, key, count, (int)value_bytes,
                 value);
    }
}

MICA_UNUSED_ static bool view(const char *bytes, size_t count, void *context)
{
    viewer *viewer = context;
    micap_reader reader = {.begin = bytes, .at = bytes + 1, .end = bytes + count};
    size_t length;
    pthread_mutex_lock(&viewer->lock);
    switch (bytes[0]) {
    case MICAP_MESSAGE_HELLO:
        ck_assert_uint_eq(micap_reader_take_number(&reader), MICAP_PROTOCOL_VERSION);
        viewer->is_read_only = micap_reader_take_number(&reader);
        break;
    case MICAP_MESSAGE_TYPES: ck_assert_int_eq(micap_types_read(viewer->world, &reader), MICA_OK); break;
    case MICAP_MESSAGE_DELTA: view_delta(viewer, &reader); break;
    case MICAP_MESSAGE_TIMELINE:
        snprintf(viewer->timeline, sizeof viewer->timeline, "%.*s", (int)count - 1, bytes + 1);
        break;
    case MICAP_MESSAGE_STATS: snprintf(viewer->stats, sizeof viewer->stats, "%.*s", (int)count - 1, bytes + 1); break;
    case MICAP_MESSAGE_REPLY: {
        viewer->reply_number = micap_reader_take_number(&reader);
        viewer->reply = (mica_result)micap_reader_take_number(&reader);
        const char *text = micap_reader_take_text(&reader, &length);
        snprintf(viewer->reply_text, sizeof viewer->reply_text, "%.*s", (int)length, text);
        break;
    }
    case MICAP_MESSAGE_EVENTS: view_events(viewer, &reader); break;
    default: ck_abort_msg("unknown message");
    }
    pthread_mutex_unlock(&viewer->lock);
    return true;
}

MICA_UNUSED_ static void view_end(void *context)
{
    viewer *viewer = context;
    atomic_store_explicit(&viewer->is_closed, true, memory_order_release);
}

MICA_UNUSED_ static void open_viewer(viewer *viewer, const char *url)
{
    char error[160];
    memset(viewer, 0, sizeof *viewer);
    pthread_mutex_init(&viewer->lock, NULL);
    viewer->world = mica_world_create(NULL);
    viewer->replica = mica_replica_create(viewer->world, NULL);
    micap_web_client_def def = {
        .url = url, .socket_path = MICAP_INSPECT_SOCKET, .received = view, .closed = view_end, .context = viewer};
    pthread_mutex_lock(&viewer->lock); /* the client is set before the first message is handled */
    viewer->client = micap_web_connect(&def, error, sizeof error);
    pthread_mutex_unlock(&viewer->lock);
    ck_assert_msg(viewer->client, "%s", error);
}

MICA_UNUSED_ static void close_viewer(viewer *viewer)
{
    micap_web_disconnect(viewer->client);
    mica_replica_destroy(viewer->replica);
    ck_assert_int_eq(mica_world_validate(viewer->world), MICA_OK);
    mica_world_destroy(viewer->world);
    pthread_mutex_destroy(&viewer->lock);
}

/* Runs frames until a number of deltas has arrived: at least as many, as those of earlier frames may arrive now. */
MICA_UNUSED_ static void run_deltas(mica_world *world, viewer *viewer, uint32_t count)
{
    uint32_t first = atomic_load_explicit(&viewer->delta_count, memory_order_acquire);
    for (uint32_t i = 0; i < 5000; ++i) {
        ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
        micap_sleep_ns(1000000);
        if (i + 1 >= count && atomic_load_explicit(&viewer->delta_count, memory_order_acquire) >= first + count)
            return;
    }
    ck_abort_msg("no deltas arrive");
}

/* Sends a request and runs frames until its reply is there. */
MICA_UNUSED_ static mica_result ask(mica_world *world, viewer *viewer, const char *request)
{
    static uint64_t number;
    char text[512];
    int length = snprintf(text, sizeof text, "%" PRIu64 " %s", ++number, request);
    ck_assert(micap_web_client_send(viewer->client, text, (size_t)length));
    for (uint32_t i = 0; i < 5000; ++i) {
        ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
        micap_sleep_ns(1000000);
        pthread_mutex_lock(&viewer->lock);
        bool is_done = viewer->reply_number == number;
        mica_result result = viewer->reply;
        pthread_mutex_unlock(&viewer->lock);
        if (is_done)
            return result;
    }
    ck_abort_msg("no reply to %s", request);
}

MICA_UNUSED_ static void move(mica_view *view)
{
    Spot *spot = mica_view_write(view, Spot);
    const Pace *pace = mica_view_read(view, Pace);
    for (uint32_t i = 0; i < view->count; ++i)
        spot[i].x += pace[i].x * view->dt;
}

MICA_UNUSED_ static mica_world *open_town(reports *heard, mica_entity *out_anna)
{
    mica_world *world = open_world(heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 2;
    mica_flow_configure(world, &flow);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Spot), MICA_READ(Pace)));
    for (uint32_t i = 0; i < 2000; ++i)
        mica_create(world, MICA_WITH(Spot, {(float)i, 0}), MICA_WITH(Pace, {1, 0}));
    mica_entity town = mica_create(world), anna = mica_create(world, MICA_WITH(Spot, {3, 4}));
    mica_name_set(world, town, mica_nil(), "town");
    mica_set_parent(world, anna, town);
    mica_name_child(world, anna, "anna");
    Person *person = mica_add(world, anna, Person);
    ck_assert_int_eq(mica_text_set(&person->title, "the one with the long, long name"), MICA_OK);
    mica_add_instance_id(world, anna, MICA_ID(Load));
    mica_add_instance_id(world, anna, MICA_ID(Load));
    mica_relate(world, anna, Likes, town)->much = 2;
    mica_define(world, Marked);
    *out_anna = anna;
    return world;
}

MICA_UNUSED_ static uint16_t port_of(const mica_inspector *inspector)
{
    unsigned port = 0;
    sscanf(mica_inspect_url(inspector), "http://127.0.0.1:%u/", &port);
    return (uint16_t)port;
}

MICA_UNUSED_ static mica_inspector *serve(mica_world *world, mica_inspect_def def)
{
    def.token = token;
    def.quiet = true;
    mica_inspector *inspector = mica_inspect_serve(world, &def);
    ck_assert_ptr_nonnull(inspector);
    return inspector;
}

#endif
