/* What passes through a world, as a tool sees it. */
#include "flow/faults.h"
#include "mica/snapshot.h"
#include "mica/value.h"

#include <stdio.h>
#include <string.h>

typedef struct Hit { mica_entity target; int32_t points; } Hit;
typedef struct Word { mica_text text; } Word;
typedef struct Health { int32_t points; } Health;
typedef struct Sum { int32_t a, b; } Sum;
typedef struct Result { int32_t total; } Result;
MICA_STRUCT(Hit, target, points)
MICA_STRUCT(Word, text)
MICA_STRUCT(Sum, a, b)
MICA_COMPONENT(Health, points)
MICA_COMPONENT(Result, total)

enum { ALARM = MICA_EVENT_USER };

static char diary[2048];
static mica_stream *hits;
static mica_requests *sums;
static mica_entity hero;

/* "stream hits 2 {...}": kind, name, number and the first value. */
static void show(const mica_traffic *traffic, void *context)
{
    char value[256] = "";
    ck_assert_ptr_eq(context, diary);
    ck_assert_ptr_nonnull(traffic->world);
    if (traffic->values)
        mica_value_write(mica_member_of_type(traffic->type, (void *)traffic->values), value, sizeof value);
    size_t length = strlen(diary);
    snprintf(diary + length, sizeof diary - length, "%s%s %s %u%s%s", length ? "; " : "",
             mica_traffic_kind_name(traffic->kind), traffic->name, traffic->count, *value ? " " : "", value);
}

static void expect(const char *text)
{
    ck_assert_str_eq(diary, text);
    *diary = 0;
}

static void suffer(const mica_message *message)
{
    (void)message;
}

static void hear(const mica_event *event)
{
    (void)event;
}

static void add_up(const mica_request_group *group)
{
    for (uint32_t i = 0; i < group->count; ++i)
        ((Result *)group->answers)[i].total = ((const Sum *)group->questions)[i].a;
}

static void act(const mica_frame *frame)
{
    mica_stream_push(hits, Hit, {hero, 3});
    mica_stream_push(hits, Hit, {hero, 4});
    mica_send(frame->world, hero, Word, {mica_text_of("ouch")});
    mica_request_post(sums, 7, hero, Sum, {20, 1});
    mica_event_emit(frame->world, ALARM, MICA_ID(Health), hero, MICA_VALUE_(Sum, {5, 6}));
}

static void add_parts(mica_world *world)
{
    hits =
        mica_stream_create(world, &(mica_stream_def){.name = "hits", .type = &mica_type_of_Hit, .application = true});
    sums = mica_requests_create(world, MICA_REQUESTS(Sum, Result, add_up, NULL));
    mica_handler_add(world, MICA_HANDLER(Health, Word, suffer));
    mica_observer_add(world, &(mica_observer_def){.name = "alarm", .event = ALARM, .fn = hear});
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Result, hear, MICA_HAS(Health)));
    mica_observer_add(world, MICA_MONITOR(hear, MICA_READ(Health), MICA_WITHOUT(Result)));
    hero = mica_create(world, MICA_WITH(Health, {10}));
}

START_TEST(all_that_passes_in_a_frame_is_told)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_parts(world);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(act, (MICA_USES(MICA_USE_STREAM_WRITE(hits),
                                                                 MICA_USE_STREAM_WRITE(mica_requests_stream(sums))))));
    char hit[64], expected[512];
    snprintf(hit, sizeof hit, "{\"target\": \"#%u:%u\", \"points\": 3}", hero.index, hero.generation);
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_OK);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    snprintf(expected, sizeof expected,
             "stream hits 2 %s; request Sum 1 {\"a\": 20, \"b\": 1}; observer hear 1; observer hear 1; "
             "event  1 {\"a\": 5, \"b\": 6}; observer alarm 1; message Word 1 {\"text\": \"ouch\"}",
             hit);
    expect(expected);
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_traffic_watch(world, NULL, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect("");
    close_world(world, &heard);
}
END_TEST

START_TEST(what_happens_between_frames_is_told_too)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_parts(world);
    mica_stream_push(hits, Hit, {mica_nil(), 1}); /* before anyone watches */
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_OK);
    mica_send(world, hero, Word, {mica_text_of("hello")});
    expect("message Word 1 {\"text\": \"hello\"}");
    mica_broadcast(world, Sum, {1, 2}); /* no component has a handler for it */
    expect("message Sum 1 {\"a\": 1, \"b\": 2}");
    mica_event_emit(world, ALARM, 0, mica_nil(), (mica_value){.size_bytes = 4, .data = &(int32_t){7}});
    expect("event  1; observer alarm 0");
    mica_stream_push(hits, Hit, {mica_nil(), 2});
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect("stream hits 1 {\"target\": null, \"points\": 2}");
    mica_request_post(sums, 1, hero, Sum, {2, 3});
    ck_assert_int_eq(mica_requests_handle(sums), MICA_OK);
    expect("request Sum 1 {\"a\": 2, \"b\": 3}; observer hear 1; observer hear 1");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_restored_stream_is_not_told_again)
{
    reports heard;
    mica_world *world = open_world(&heard);
    add_parts(world);
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_OK);
    mica_stream_push(hits, Hit, {mica_nil(), 2});
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    mica_snapshot snapshot = mica_snapshot_take(world);
    uint32_t count;
    while (mica_stream_read(hits, Hit, &count))
        ;
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    *diary = 0;
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect("");
    mica_stream_push(hits, Hit, {mica_nil(), 3});
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect("stream hits 1 {\"target\": null, \"points\": 3}");
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

static void watch_inside(const mica_frame *frame)
{
    ck_assert_int_eq(mica_traffic_watch(frame->world, show, diary), MICA_ERROR_REFUSED);
}

START_TEST(a_second_watch_and_one_inside_a_frame_are_refused)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_OK);
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "traffic_watch");
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(watch_inside, (.exclusive = true)));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "traffic_watch");
    close_world(world, &heard);
}
END_TEST

static void try_to_watch(faults *faults)
{
    faults_begin(faults);
    mica_observer observer = mica_observer_add(faults->world, &(mica_observer_def){.event = ALARM, .fn = hear});
    mica_result result = mica_traffic_watch(faults->world, show, diary);
    if (!faults_end(faults))
        ck_assert(observer.id && result == MICA_OK);
    mica_event_emit(faults->world, ALARM, 0, mica_nil(), (mica_value){0});
    if (result == MICA_OK && observer.id)
        ck_assert_str_eq(diary, "event  1; observer observer 0");
    *diary = 0;
}

START_TEST(observers_need_memory_for_their_names)
{
    ck_assert_uint_ge(fail_everywhere(try_to_watch), 3);
}
END_TEST

START_TEST(a_watch_needs_memory_in_a_world_without_systems)
{
    static faulty_allocator allocator;
    reports heard;
    faulty_allocator_init(&allocator);
    mica_world *world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&allocator)});
    faulty_allocator_fail_at(&allocator, 1, false);
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_ERROR_MEMORY);
    expect_report(&heard, MICA_ERROR_MEMORY, "flow");
    ck_assert_int_eq(mica_traffic_watch(world, show, diary), MICA_OK);
    close_world(world, &heard);
    faulty_allocator_free(&allocator);
}
END_TEST

TEST_SUITE(traffic, a_watch_needs_memory_in_a_world_without_systems, all_that_passes_in_a_frame_is_told,
           what_happens_between_frames_is_told_too, a_restored_stream_is_not_told_again,
           a_second_watch_and_one_inside_a_frame_are_refused, observers_need_memory_for_their_names)
