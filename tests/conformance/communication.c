/* Streams, messages, requests and observers. */
#include "conformance.h"
#include "parts.h"

typedef struct Blow { mica_entity target; float force; mica_text words; } Blow;
typedef struct Damage { uint32_t points; mica_text cause; } Damage;
typedef struct Ask { uint32_t number; mica_text words; } Ask;
typedef struct Answer { uint32_t square; mica_text words; mica_list numbers; } Answer;
MICA_STRUCT(Blow, target, force, words)
MICA_STRUCT(Damage, points, cause)
MICA_STRUCT(Ask, number, words)
MICA_COMPONENT(Answer, square, words, (numbers, uint16_t))

enum { ALARM = MICA_EVENT_USER };

static mica_stream *blows;
static mica_requests *squares;
static uint64_t observed;
static const char *const words[2] = {"ouch", "words that are longer than their place"};

static void strike(mica_view *view)
{
    const Count *count = mica_view_read(view, Count);
    for (uint32_t i = 0; i < view->count; ++i) {
        const char *text = words[count[i].value % 2];
        mica_stream_push(blows, Blow, {view->entities[i], (float)count[i].value / 7, mica_text_of(text)});
        mica_request_post(squares, count[i].value % 3, view->entities[i], Ask, {count[i].value, mica_text_of(text)});
        if (count[i].value % 50 == 0)
            mica_send(view->world, view->entities[i], Damage, {2, mica_text_of(text)});
        mica_value alarm = MICA_WITH(Damage, {3, mica_text_of(text)});
        if (count[i].value % 70 == 0)
            mica_event_emit(view->world, ALARM, 0, view->entities[i], alarm);
    }
    mica_stream_push_many(blows, Blow, 1)->force = (float)view->count;
}

static void suffer(const mica_frame *frame)
{
    Total *total = mica_singleton_write(frame->world, Total);
    uint32_t count;
    for (const Blow *blow; (blow = mica_stream_read(blows, Blow, &count));)
        for (uint32_t i = 0; i < count; ++i)
            total->sum = total->sum * 0.999 + (double)blow[i].force;
}

static void answer(const mica_request_group *group)
{
    const Ask *ask = group->questions;
    Answer *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        answers[i].square = ask[i].number * ask[i].number;
        mica_text_copy(&answers[i].words, &ask[i].words);
        mica_list_add(&answers[i].numbers, uint16_t, (uint16_t)ask[i].number, 7);
        group->answered[i] = ask[i].number % 11 != 0;
    }
}

static void count_damage(const mica_message *message)
{
    Count *count = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        count[i].value +=
            ((const Damage *)message->data)->points + mica_text_length(&((const Damage *)message->data)->cause) / 16;
}

static void every_frame(const mica_message *message)
{
    Place *location = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        location[i].x += message->frame->dt;
}

static void observe(const mica_event *seen)
{
    observed = hash_more(observed, seen->kind, 4);
    observed = hash_more(observed, seen->component == MICA_ID(Answer), 1);
    if (seen->kind == ALARM)
        observed = hash_more(observed, mica_text_length(&((const Damage *)seen->data)->cause), 4);
    for (uint32_t i = 0; i < seen->count; ++i)
        observed = hash_more(observed, seen->entities[i].index, 4);
}

static void count_traffic(const mica_traffic *traffic, void *context)
{
    ((uint64_t *)context)[mica_traffic_kind_name(traffic->kind) ? traffic->kind : MICA_TRAFFIC_KINDS] += traffic->count;
}

static mica_observer prepare(mica_world *world)
{
    blows = mica_stream_create(world, MICA_STREAM_WITH(Blow, (.application = true)));
    squares = mica_requests_create(world, MICA_REQUESTS(Ask, Answer, answer, NULL));
    mica_handler_add(world, MICA_HANDLER(Count, Damage, count_damage));
    mica_handler_add(world, MICA_HANDLER(Place, Ask, every_frame));
    EXPECT(mica_message_every_frame(world, Ask, MICA_PHASE_UPDATE) == MICA_OK);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Answer, observe, MICA_HAS(Place)));
    mica_observer_add(world, MICA_OBSERVER_DESTROY(observe));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = observe, .location = MICA_HERE});
    mica_observer_add(world, MICA_MONITOR(observe, MICA_READ(Count), MICA_WITHOUT(Answer)));
    mica_system_add(world, MICA_SYSTEM_WITH(strike,
                                            (MICA_USES(MICA_USE_STREAM_WRITE(blows),
                                                       MICA_USE_STREAM_WRITE(mica_requests_stream(squares)))),
                                            MICA_READ(Count)));
    mica_system_add(
        world, MICA_SYSTEM_ONCE_WITH(suffer, (MICA_TERMS(MICA_WRITE(Total)), MICA_USES(MICA_USE_STREAM_READ(blows)))));
    static const mica_event_kind events[] = {ALARM, MICA_EVENT_ADD, MICA_EVENT_REMOVE};
    const mica_component components[] = {MICA_ID(Answer), MICA_ID(Place)};
    return mica_observer_add(
        world, &(mica_observer_def){
                   .events = events, .event_count = 3, .components = components, .component_count = 2, .fn = observe});
}

static void end(mica_world *world, mica_observer observer)
{
    mica_requests_def streamed = *MICA_REQUESTS(Ask, Answer, answer, NULL);
    streamed.name = "streamed";
    streamed.as_stream = streamed.application = true;
    mica_requests *more = mica_requests_create(world, &streamed);
    mica_request_post(more, 1, mica_nil(), Ask, {12, mica_text_of(words[1])});
    EXPECT(mica_requests_handle(more) == MICA_OK);
    uint32_t count = 0;
    const Answer *answers = mica_stream_read(mica_requests_answers(more), Answer, &count);
    EXPECT(count == 1 && answers && answers->square == 144 && mica_text_is(&answers->words, words[1]));
    mica_requests_destroy(more);
    EXPECT(mica_observer_remove(world, observer));
    EXPECT(mica_handler_remove(world, MICA_ID(Count), MICA_ID(Damage), count_damage));
    mica_stream *unused = mica_stream_create(world, &(mica_stream_def){.name = "unused", .type = &mica_type_of_Blow});
    mica_stream_destroy(unused);
}

void check_communication(uint32_t worker_count)
{
    mica_world *world = open_world();
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = worker_count;
    EXPECT(mica_flow_configure(world, &def) == MICA_OK);
    mica_observer observer = prepare(world);
    uint64_t passed[MICA_TRAFFIC_KINDS + 1] = {0};
    EXPECT(mica_traffic_watch(world, count_traffic, passed) == MICA_OK);
    observed = HASH_BASIS;
    for (uint32_t i = 0; i < 2500; ++i)
        mica_create(world, MICA_WITH(Count, {i}), MICA_WITH(Place, {0, 0}));
    for (uint32_t tick = 0; tick < 5; ++tick) {
        EXPECT(mica_step(world, 0.1f) == MICA_OK);
        EXPECT(mica_stream_component(blows) == MICA_ID(Blow));
        uint64_t unread = mica_stream_count(blows), read = 0;
        uint32_t count;
        while (mica_stream_read(blows, Blow, &count))
            read += count;
        EXPECT(read == unread && mica_stream_dropped(blows) == 0);
        mica_broadcast(world, Damage, {tick, mica_text_of(words[tick % 2])});
        print_hash("communication", tick, mica_world_hash(world));
        mica_destroy(world, mica_query_first(mica_query_create(world, MICA_QUERY(MICA_READ(Answer)))));
    }
    print_hash("observed", 0, observed);
    EXPECT(passed[MICA_TRAFFIC_STREAM] && passed[MICA_TRAFFIC_MESSAGE] && passed[MICA_TRAFFIC_REQUEST]);
    EXPECT(passed[MICA_TRAFFIC_OBSERVER] && !passed[MICA_TRAFFIC_KINDS]);
    EXPECT(mica_traffic_watch(world, NULL, NULL) == MICA_OK);
    end(world, observer);
    close_world(world, 0);
}
