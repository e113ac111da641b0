#include "flow/schedule/flow_snapshot.h"

#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/system.h"

static void drop_buffers(mica_world *world, const micap_saved_system *saved)
{
    for (uint32_t i = 0; i < saved->buffer_count; ++i)
        MICAP_RELEASE_ARRAY(&world->memory, saved->buffers[i].handles, saved->buffers[i].count);
    MICAP_RELEASE_ARRAY(&world->memory, saved->buffers, saved->buffer_count);
}

void micap_flow_drop(mica_world *world, void *state, void *data)
{
    micap_saved_flow *saved = data;
    micap_listeners_drop(state, saved->listeners);
    MICAP_RELEASE_ARRAY(&world->memory, saved->phases, saved->phase_count);
    for (uint32_t i = 0; i < saved->system_count; ++i)
        drop_buffers(world, &saved->systems[i]);
    MICAP_RELEASE_ARRAY(&world->memory, saved->systems, saved->system_count);
    micap_release(&world->memory, saved, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
}

static bool save_phases(const micap_flow *flow, micap_saved_flow *saved)
{
    micap_memory *memory = &flow->world->memory;
    saved->phases = micap_allocate(memory, flow->phase_count * sizeof *saved->phases, MICAP_ARRAY_ALIGNMENT);
    if (!saved->phases)
        return false;
    for (; saved->phase_count < flow->phase_count; ++saved->phase_count) {
        const micap_phase *phase = flow->phases[saved->phase_count];
        saved->phases[saved->phase_count] =
            (micap_saved_phase){phase->id, phase->is_enabled, phase->tick, phase->seconds, phase->waited_seconds};
    }
    return true;
}

static bool save_systems(const micap_flow *flow, micap_saved_flow *saved)
{
    micap_memory *memory = &flow->world->memory;
    saved->systems = micap_allocate(memory, flow->system_count * sizeof *saved->systems, MICAP_ARRAY_ALIGNMENT);
    if (!saved->systems)
        return false;
    for (; saved->system_count < flow->system_count; ++saved->system_count) {
        const micap_system *system = flow->systems[saved->system_count];
        saved->systems[saved->system_count] = (micap_saved_system){.id = system->id,
                                                                   .is_enabled = system->is_enabled,
                                                                   .seconds_waited = system->seconds_waited,
                                                                   .last_version = system->last_version};
    }
    return true;
}

void *micap_flow_save(mica_world *world, void *state)
{
    const micap_flow *flow = state;
    micap_saved_flow *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    saved->time = flow->time;
    saved->asked_dt = flow->asked_dt;
    saved->seed = flow->def.seed;
    saved->scale = flow->scale;
    saved->is_paused = flow->is_paused;
    saved->is_let_through = flow->is_let_through;
    if (save_phases(flow, saved) && save_systems(flow, saved) && micap_listeners_save(flow, saved->listeners))
        return saved;
    micap_flow_drop(world, state, saved);
    return NULL;
}

/* Makes sure that a system has a command buffer, with room for handles. */
static bool prepare_buffer(mica_world *world, micap_system *system, const micap_saved_buffer *saved)
{
    uint32_t before = system->buffer_capacity;
    if (!MICAP_RESERVE(&world->memory, system->buffers, &system->buffer_capacity, (uint64_t)saved->index + 1))
        return false;
    for (uint32_t i = before; i < system->buffer_capacity; ++i)
        system->buffers[i] = NULL;
    mica_commands **commands = &system->buffers[saved->index];
    if (!*commands && !(*commands = micap_system_buffer_create(world)))
        return false;
    if (!(*commands)->is_parked)
        micap_commands_park(*commands);
    return MICAP_RESERVE(&world->memory, (*commands)->stock, &(*commands)->stock_capacity, saved->count);
}

bool micap_flow_prepare(mica_world *world, void *state, const void *data)
{
    micap_flow *flow = state;
    const micap_saved_flow *saved = data;
    for (uint32_t i = 0; i < saved->system_count; ++i)
        for (uint32_t k = 0; k < saved->systems[i].buffer_count; ++k)
            if (!prepare_buffer(world, micap_system_find_number(flow, saved->systems[i].id),
                                &saved->systems[i].buffers[k]))
                return false;
    return micap_listeners_prepare(state, saved->listeners);
}

/* The jobs were planned for other rows. */
static void clear_plans(micap_phase *phase)
{
    for (uint32_t i = 0; i < phase->segment_count; ++i) {
        phase->segments[i].structure = 0;
        for (uint32_t k = 0; k < phase->segments[i].chain_count; ++k)
            phase->segments[i].chains[k].archetype_count = 0;
    }
}

static void load_phase(micap_phase *phase, const micap_saved_flow *saved)
{
    clear_plans(phase);
    phase->tick = 0;
    phase->seconds = phase->waited_seconds = 0;
    for (uint32_t i = 0; saved && i < saved->phase_count; ++i) {
        const micap_saved_phase *old = &saved->phases[i];
        if (old->id != phase->id)
            continue;
        phase->is_enabled = old->is_enabled;
        phase->tick = old->tick;
        phase->seconds = old->seconds;
        phase->waited_seconds = old->waited_seconds;
    }
}

static void load_system(micap_system *system, const micap_saved_flow *saved)
{
    system->last_version = 0;
    system->seconds_waited = 0;
    for (uint32_t i = 0; saved && i < saved->system_count; ++i) {
        const micap_saved_system *old = &saved->systems[i];
        if (old->id != system->id)
            continue;
        system->is_enabled = old->is_enabled;
        system->seconds_waited = old->seconds_waited;
        system->last_version = old->last_version;
        for (uint32_t k = 0; k < old->buffer_count; ++k) /* there is room: see micap_flow_prepare */
            micap_commands_set_stock(system->buffers[old->buffers[k].index], old->buffers[k].handles,
                                     old->buffers[k].count, old->buffers[k].taken_count);
    }
}

void micap_flow_load(mica_world *world, void *state, const void *data)
{
    (void)world;
    micap_flow *flow = state;
    const micap_saved_flow *saved = data;
    flow->time = saved ? saved->time : (mica_time){0};
    flow->scale = saved ? saved->scale : 1;
    flow->asked_dt = saved ? saved->asked_dt : 0;
    flow->def.seed = saved ? saved->seed : flow->def.seed;
    flow->is_paused = saved && saved->is_paused;
    flow->is_let_through = saved && saved->is_let_through;
    flow->gates_stale = true;
    flow->partition_structure = 0;
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        load_phase(flow->phases[i], saved);
    for (uint32_t i = 0; i < flow->system_count; ++i)
        load_system(flow->systems[i], saved);
    micap_listeners_load(flow, saved ? saved->listeners : NULL);
}

bool micap_flow_clone(mica_world *to, const void *state)
{
    if (!micap_phase_find_id(state, MICA_PHASE_START)->tick)
        return true;
    const micap_flow *flow = micap_flow_of(to);
    if (!flow)
        return false;
    micap_phase_find_id(flow, MICA_PHASE_START)->tick = 1;
    return true;
}
