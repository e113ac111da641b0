#include "flow/schedule/listener.h"

#include "base/byte_stream.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"

static void set(micap_flow *flow, micap_listener_id id, micap_listener listener)
{
    flow->listeners[id] = listener;
    flow->has_probe = flow->is_one_by_one = false;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i) {
        const micap_listener_ops *ops = flow->listeners[i].ops;
        flow->has_probe |= ops && ops->job_ended;
        flow->is_one_by_one |= ops && ops->system_ended;
    }
}

static void free_listener(mica_world *world, const micap_listener *listener)
{
    listener->ops->free(world, listener->state);
    if (listener->state_bytes)
        micap_release(&world->memory, listener->state, listener->state_bytes, MICAP_ARRAY_ALIGNMENT);
}

void *micap_listener_require(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, size_t state_bytes,
                             const char *label)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return NULL;
    if (flow->listeners[id].state)
        return flow->listeners[id].state;
    void *state = micap_allocate_zeroed(&world->memory, state_bytes, MICAP_ARRAY_ALIGNMENT);
    micap_listener fresh = {ops, state, state_bytes};
    if (!state || (ops->init && !ops->init(world, state))) {
        if (state)
            free_listener(world, &fresh);
        micap_fail_memory(world, label);
        return NULL;
    }
    set(flow, id, fresh);
    return state;
}

bool micap_listener_set(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, void *state)
{
    micap_flow *flow = micap_flow_of(world);
    if (flow)
        set(flow, id, (micap_listener){.ops = ops, .state = state});
    return flow != NULL;
}

void *micap_listener_state(const mica_world *world, micap_listener_id id)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow ? flow->listeners[id].state : NULL;
}

/* Loops over the listeners that have a function. */
#define EACH_LISTENER(flow, listener, function)                                                                        \
    for (const micap_listener *listener = (flow)->listeners; listener != (flow)->listeners + MICAP_LISTENERS;          \
         ++listener)                                                                                                   \
        if (listener->ops && listener->ops->function)

void micap_listeners_frame_begin(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, frame_begin)
    listener->ops->frame_begin(flow->world, listener->state);
}

bool micap_listeners_phase_begin(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, phase_begin)
    if (!listener->ops->phase_begin(flow->world, listener->state))
        return false;
    return true;
}

void micap_listeners_phase_end(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, phase_end)
    listener->ops->phase_end(flow->world, listener->state);
}

mica_result micap_listeners_flushed(const micap_flow *flow)
{
    mica_result first = MICA_OK;
    EACH_LISTENER(flow, listener, flushed)
    {
        mica_result result = listener->ops->flushed(flow->world, listener->state);
        first = first == MICA_OK ? result : first;
    }
    return first;
}

void micap_listeners_frame_end(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, frame_end)
    listener->ops->frame_end(flow->world, listener->state);
}

void micap_listeners_job_ended(const micap_flow *flow, const micap_job_report *report)
{
    EACH_LISTENER(flow, listener, job_ended)
    listener->ops->job_ended(flow->world, listener->state, report);
}

void micap_listeners_system_ended(const micap_flow *flow, const struct micap_system *system)
{
    EACH_LISTENER(flow, listener, system_ended)
    listener->ops->system_ended(flow->world, listener->state, system);
}

void micap_listeners_system_removed(const micap_flow *flow, const struct micap_system *system)
{
    EACH_LISTENER(flow, listener, system_removed)
    listener->ops->system_removed(flow->world, listener->state, system);
}

void micap_listeners_hash(const micap_flow *flow, micap_hasher *hasher)
{
    EACH_LISTENER(flow, listener, hash)
    listener->ops->hash(flow->world, listener->state, hasher);
}

bool micap_listeners_validate(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, validate)
    if (!listener->ops->validate(flow->world, listener->state))
        return false;
    return true;
}

void micap_listeners_trim(const micap_flow *flow)
{
    EACH_LISTENER(flow, listener, trim)
    listener->ops->trim(flow->world, listener->state);
}

/* Last first: requests are made of streams. */
void micap_listeners_free(micap_flow *flow)
{
    for (uint32_t i = MICAP_LISTENERS; i-- > 0;)
        if (flow->listeners[i].ops)
            free_listener(flow->world, &flow->listeners[i]);
}

bool micap_listeners_save(const micap_flow *flow, void *saved[MICAP_LISTENERS])
{
    EACH_LISTENER(flow, listener, save)
    if (!(saved[listener - flow->listeners] = listener->ops->save(flow->world, listener->state)))
        return false;
    return true;
}

void micap_listeners_drop(const micap_flow *flow, void *const saved[MICAP_LISTENERS])
{
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (saved[i])
            flow->listeners[i].ops->drop(flow->world, flow->listeners[i].state, saved[i]);
}

bool micap_listeners_prepare(const micap_flow *flow, void *const saved[MICAP_LISTENERS])
{
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (saved[i] && !flow->listeners[i].ops->prepare(flow->world, flow->listeners[i].state, saved[i]))
            return false;
    return true;
}

void micap_listeners_load(const micap_flow *flow, void *const *saved)
{
    EACH_LISTENER(flow, listener, load)
    listener->ops->load(flow->world, listener->state, saved ? saved[listener - flow->listeners] : NULL);
}

void micap_listeners_write(const micap_flow *flow, micap_bytes *bytes)
{
    EACH_LISTENER(flow, listener, write)
    {
        micap_bytes_put32(bytes, (uint32_t)(listener - flow->listeners));
        micap_bytes_put32(bytes, 0);
        uint32_t begin = bytes->count;
        listener->ops->write(flow->world, listener->state, bytes);
        uint32_t count = micap_little32(bytes->count - begin);
        if (!bytes->failed)
            memcpy(bytes->data + begin - sizeof count, &count, sizeof count);
    }
}

bool micap_listeners_read(const micap_flow *flow, micap_reader *reader, void *saved[MICAP_LISTENERS])
{
    while (micap_reader_left(reader)) {
        uint32_t id = micap_reader_take32(reader), count = micap_reader_take32(reader);
        const char *begin = micap_reader_take(reader, count);
        if (!begin)
            return false;
        const micap_listener *listener = id < MICAP_LISTENERS ? &flow->listeners[id] : NULL;
        micap_reader content = {begin, begin, begin + count, false};
        if (!listener || !listener->ops || !listener->ops->read || saved[id])
            continue;
        if (!(saved[id] = listener->ops->read(flow->world, listener->state, &content)))
            return false;
    }
    return !reader->failed;
}
