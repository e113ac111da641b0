#include "flow/messaging/traffic.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/stream.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/listener.h"

const char *mica_traffic_kind_name(mica_traffic_kind kind)
{
    static const char *const names[MICA_TRAFFIC_KINDS] = {"stream", "message", "request", "event", "observer"};
    if (MICAP_INVALID(NULL, (uint32_t)kind >= MICA_TRAFFIC_KINDS, kind, "must be a kind of traffic"))
        return NULL;
    return names[kind];
}

void micap_traffic_tell(mica_world *world, const mica_traffic *traffic)
{
    MICAP_ASSERT(world->traffic, "several are told at once in frames only, where the function can't remove itself");
    micap_world_hold(world);
    world->traffic->fn(traffic, world->traffic->context);
    micap_world_let_go(world);
}

/* Questions of requests are told when they are handled. */
static void tell_stream(mica_stream *stream)
{
    const micap_queue *queue = &stream->queue;
    uint64_t from = stream->told > queue->begin ? stream->told : queue->begin;
    for (const micap_queue_span *span = queue->first; stream->type && span; span = span->next) {
        if (micap_queue_span_end(span) <= from)
            continue;
        uint64_t skip = span->position < from ? from - span->position : 0;
        const char *values = span->begin + skip;
        mica_traffic traffic = {.world = stream->world,
                                .kind = MICA_TRAFFIC_STREAM,
                                .name = stream->name,
                                .count = (uint32_t)((size_t)(span->end - values) / stream->message_bytes),
                                .type = &stream->type->type,
                                .values = values,
                                .value_bytes = stream->message_bytes};
        if (traffic.count)
            micap_traffic_tell(stream->world, &traffic);
    }
    stream->told = queue->end;
}

void micap_traffic_tell_streams(micap_streams *streams)
{
    for (mica_stream *stream = streams->first; stream; stream = stream->next)
        if (stream->told != stream->queue.end)
            tell_stream(stream);
}

void micap_traffic_tell_message(mica_world *world, const micap_queued_message *message)
{
    const mica_type *type = &micap_type_of(message->component)->type;
    mica_traffic traffic = {.world = world,
                            .kind = MICA_TRAFFIC_MESSAGE,
                            .name = type->name,
                            .entity = message->entity,
                            .count = 1,
                            .type = type,
                            .values = micap_message_data(message),
                            .value_bytes = message->data_bytes};
    micap_traffic_tell(world, &traffic);
}

void micap_traffic_tell_observer(const char *name, const mica_event *event)
{
    mica_traffic traffic = {.world = event->world,
                            .kind = MICA_TRAFFIC_OBSERVER,
                            .name = name,
                            .event = event->kind,
                            .component = event->component,
                            .entity = event->count ? event->entities[0] : mica_nil(),
                            .count = event->count};
    micap_traffic_tell(event->world, &traffic);
}

/* What is in streams now was there before. */
static void skip_streams(mica_world *world)
{
    micap_streams *streams = micap_listener_state(world, MICAP_LISTENER_STREAMS);
    for (mica_stream *stream = streams ? streams->first : NULL; stream; stream = stream->next)
        stream->told = stream->queue.end;
}

mica_result mica_traffic_watch(mica_world *world, mica_traffic_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "traffic_watch: refused inside a frame");
    if (fn && world->traffic)
        return micap_fail(world, MICA_ERROR_EXISTS, (mica_location){0},
                          "traffic_watch: the world already has a function; remove it first");
    skip_streams(world);
    flow->traffic = (micap_traffic_watch){fn, context};
    world->traffic = fn ? &flow->traffic : NULL;
    return MICA_OK;
}
