#include "flow/flow_state.h"

#include "base/byte_stream.h"
#include "base/float_bits.h"
#include "core/state/state_records.h"
#include "flow/messaging/message_handlers.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/flow_snapshot.h"
#include "flow/schedule/phase.h"
#include "flow/schedule/system.h"

bool micap_flow_is_unused(const mica_world *world, const void *state)
{
    (void)world;
    const micap_flow *flow = state;
    return flow->time.frame == 0 && !flow->is_stepping;
}

static void put_double(micap_bytes *bytes, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    micap_bytes_put64(bytes, bits);
}

/* A time in seconds: the reader fails if it is not one. */
static double take_seconds(micap_reader *reader)
{
    uint64_t bits = micap_reader_take64(reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (value >= 0 && value < 1e18)
        return value;
    reader->failed = true;
    return 0;
}

static void write_buffers(const micap_system *system, micap_bytes *bytes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->buffer_capacity; ++i)
        count += system->buffers[i] != NULL;
    micap_bytes_put_number(bytes, count);
    for (uint32_t i = 0; i < system->buffer_capacity; ++i) {
        const mica_commands *commands = system->buffers[i];
        if (!commands)
            continue;
        micap_bytes_put_number(bytes, i);
        micap_bytes_put_number(bytes, commands->taken_count);
        micap_bytes_put_number(bytes, commands->stock_count);
        micap_handle_runs runs = {.bytes = bytes};
        for (uint32_t k = 0; k < commands->stock_count; ++k)
            micap_handle_runs_put(&runs, commands->stock[k]);
        micap_handle_runs_end(&runs);
    }
}

void micap_flow_write(const mica_world *world, const void *state, micap_bytes *bytes)
{
    (void)world;
    const micap_flow *flow = state;
    put_double(bytes, flow->time.seconds);
    micap_bytes_put_number(bytes, flow->time.frame);
    micap_bytes_put_number(bytes, flow->time.step);
    put_double(bytes, flow->time.dt);
    put_double(bytes, flow->time.alpha);
    put_double(bytes, flow->asked_dt);
    put_double(bytes, flow->scale);
    micap_bytes_put64(bytes, flow->def.seed);
    micap_bytes_put_number(bytes, (uint64_t)flow->is_paused | (uint64_t)flow->is_let_through << 1);
    micap_bytes_put_number(bytes, flow->phase_count);
    for (uint32_t i = 0; i < flow->phase_count; ++i) {
        const micap_phase *phase = flow->phases[i];
        micap_bytes_put_text(bytes, phase->name);
        micap_bytes_put_number(bytes, phase->is_enabled);
        micap_bytes_put_number(bytes, phase->tick);
        put_double(bytes, phase->seconds);
        put_double(bytes, phase->waited_seconds);
    }
    micap_bytes_put_number(bytes, flow->system_count);
    for (uint32_t i = 0; i < flow->system_count; ++i) {
        const micap_system *system = flow->systems[i];
        micap_bytes_put_text(bytes, system->def.name);
        micap_bytes_put_number(bytes, system->is_enabled);
        put_double(bytes, system->seconds_waited);
        micap_bytes_put_number(bytes, system->last_version);
        write_buffers(system, bytes);
    }
    micap_listeners_write(flow, bytes);
}

static void read_time(micap_reader *reader, micap_saved_flow *saved)
{
    saved->time.seconds = take_seconds(reader);
    saved->time.frame = micap_reader_take_number(reader);
    saved->time.step = micap_reader_take_number(reader);
    saved->time.dt = (float)take_seconds(reader);
    saved->time.alpha = (float)take_seconds(reader);
    saved->asked_dt = (float)take_seconds(reader);
    saved->scale = take_seconds(reader);
    saved->seed = micap_reader_take64(reader);
    uint64_t flags = micap_reader_take_up_to(reader, 3);
    saved->is_paused = flags & 1;
    saved->is_let_through = flags >> 1;
}

static const micap_phase *find_phase(const micap_flow *flow, const char *name, size_t count)
{
    for (uint32_t i = 0; name && i < flow->phase_count; ++i)
        if (micap_is_same_text(name, count, flow->phases[i]->name))
            return flow->phases[i];
    return NULL;
}

static const micap_system *find_system(const micap_flow *flow, const char *name, size_t count)
{
    for (uint32_t i = 0; name && i < flow->system_count; ++i)
        if (micap_is_same_text(name, count, flow->systems[i]->def.name))
            return flow->systems[i];
    return NULL;
}

/* There is room for as many as the flow has; bytes that name one twice are invalid. */
static bool read_phases(micap_flow *flow, micap_reader *reader, micap_saved_flow *saved)
{
    micap_memory *memory = &flow->world->memory;
    saved->phases = micap_allocate_zeroed(memory, flow->phase_count * sizeof *saved->phases, MICAP_ARRAY_ALIGNMENT);
    if (!saved->phases)
        return false;
    saved->phase_count = flow->phase_count;
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        saved->phases[i] = (micap_saved_phase){.id = flow->phases[i]->id, .is_enabled = flow->phases[i]->is_enabled};
    uint64_t count = micap_reader_take_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        size_t name_bytes;
        const char *name = micap_reader_take_text(reader, &name_bytes);
        micap_saved_phase phase = {.is_enabled = micap_reader_take_up_to(reader, 1)};
        phase.tick = micap_reader_take_number(reader);
        phase.seconds = take_seconds(reader);
        phase.waited_seconds = take_seconds(reader);
        const micap_phase *found = find_phase(flow, name, name_bytes);
        for (uint32_t k = 0; found && k < saved->phase_count; ++k)
            if (saved->phases[k].id == found->id) {
                phase.id = found->id;
                saved->phases[k] = phase;
            }
    }
    return !reader->failed;
}

/* The handles of the buffers of a system. Those of a system that is not there are free. */
static bool read_buffers(mica_world *world, micap_reader *reader, micap_saved_system *system, bool is_known)
{
    uint64_t count = micap_reader_take_up_to(reader, micap_reader_left(reader) / 3);
    if (is_known && count) {
        system->buffers = micap_allocate_zeroed(&world->memory, count * sizeof *system->buffers, MICAP_ARRAY_ALIGNMENT);
        if (!system->buffers)
            return false;
        system->buffer_count = (uint32_t)count;
    }
    for (uint64_t i = 0; i < count; ++i) {
        micap_saved_buffer unknown = {0}, *buffer = is_known ? &system->buffers[i] : &unknown;
        buffer->index = (uint32_t)micap_reader_take_up_to(reader, 1 << 20);
        buffer->taken_count = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
        bool fine =
            micap_state_take_handles(world, reader, &buffer->handles, &buffer->count) &&
            micap_entities_claim_unused(world, buffer->handles, buffer->count, MICAP_CHUNK_NONE, MICAP_SLOT_RESERVED);
        for (uint32_t k = 0; fine && !is_known && k < buffer->count; ++k)
            micap_entity_give_unused(&world->entities, buffer->handles[k]);
        MICAP_RELEASE_ARRAY(&world->memory, unknown.handles, unknown.count);
        if (!fine)
            return false;
    }
    return !reader->failed;
}

static bool read_systems(micap_flow *flow, micap_reader *reader, micap_saved_flow *saved)
{
    mica_world *world = flow->world;
    saved->systems =
        micap_allocate_zeroed(&world->memory, flow->system_count * sizeof *saved->systems, MICAP_ARRAY_ALIGNMENT);
    if (!saved->systems)
        return false;
    saved->system_count = flow->system_count;
    for (uint32_t i = 0; i < flow->system_count; ++i)
        saved->systems[i] =
            (micap_saved_system){.id = flow->systems[i]->id, .is_enabled = flow->systems[i]->is_enabled};
    uint64_t count = micap_reader_take_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        size_t name_bytes;
        const char *name = micap_reader_take_text(reader, &name_bytes);
        const micap_system *found = find_system(flow, name, name_bytes);
        micap_saved_system unknown = {0}, *system = &unknown;
        for (uint32_t k = 0; found && k < saved->system_count; ++k)
            if (saved->systems[k].id == found->id && !saved->systems[k].buffers)
                system = &saved->systems[k];
        system->is_enabled = micap_reader_take_up_to(reader, 1);
        system->seconds_waited = take_seconds(reader);
        system->last_version = micap_reader_take_number(reader);
        if (!read_buffers(world, reader, system, system != &unknown))
            return false;
    }
    return !reader->failed;
}

void *micap_flow_read(mica_world *world, void *state, micap_reader *reader)
{
    micap_flow *flow = state;
    /* Systems that run message handlers are known by name as well. A frame creates them when it begins. */
    micap_messages *messages = micap_messages_of(world);
    micap_saved_flow *saved = messages && micap_messages_update(messages)
                                  ? micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT)
                                  : NULL;
    if (!saved)
        return NULL;
    read_time(reader, saved);
    if (!reader->failed && read_phases(flow, reader, saved) && read_systems(flow, reader, saved) &&
        micap_listeners_read(flow, reader, saved->listeners))
        return saved;
    micap_flow_drop(world, state, saved);
    return NULL;
}
