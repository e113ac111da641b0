#include "flow/schedule/flow_snapshot.h"

#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/system.h"

typedef struct saved_phase {
    mica_phase id;
    bool is_enabled;
    uint64_t tick;
    double seconds;
    double waited_seconds;
} saved_phase;

typedef struct saved_system {
    uint32_t id;
    bool is_enabled;
    double seconds_waited;
    mica_version last_version;
} saved_system;

typedef struct saved_flow {
    mica_time time;
    double scale;
    bool is_paused;
    bool is_let_through;
    saved_phase *phases;
    uint32_t phase_count;
    saved_system *systems;
    uint32_t system_count;
    void *listeners[MICAP_LISTENERS]; /* NULL: not in use */
} saved_flow;

void micap_flow_drop(mica_world *world, void *state, void *data)
{
    saved_flow *saved = data;
    micap_listeners_drop(state, saved->listeners);
    MICAP_RELEASE_ARRAY(&world->memory, saved->phases, saved->phase_count);
    MICAP_RELEASE_ARRAY(&world->memory, saved->systems, saved->system_count);
    micap_release(&world->memory, saved, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
}

static bool save_phases(const micap_flow *flow, saved_flow *saved)
{
    micap_memory *memory = &flow->world->memory;
    saved->phases = micap_allocate(memory, flow->phase_count * sizeof *saved->phases, MICAP_ARRAY_ALIGNMENT);
    if (!saved->phases)
        return false;
    for (; saved->phase_count < flow->phase_count; ++saved->phase_count) {
        const micap_phase *phase = flow->phases[saved->phase_count];
        saved->phases[saved->phase_count] =
            (saved_phase){phase->id, phase->is_enabled, phase->tick, phase->seconds, phase->waited_seconds};
    }
    return true;
}

static bool save_systems(const micap_flow *flow, saved_flow *saved)
{
    micap_memory *memory = &flow->world->memory;
    saved->systems = micap_allocate(memory, flow->system_count * sizeof *saved->systems, MICAP_ARRAY_ALIGNMENT);
    if (!saved->systems)
        return false;
    for (; saved->system_count < flow->system_count; ++saved->system_count) {
        const micap_system *system = flow->systems[saved->system_count];
        saved->systems[saved->system_count] =
            (saved_system){system->id, system->is_enabled, system->seconds_waited, system->last_version};
    }
    return true;
}

void *micap_flow_save(mica_world *world, void *state)
{
    const micap_flow *flow = state;
    saved_flow *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    saved->time = flow->time;
    saved->scale = flow->scale;
    saved->is_paused = flow->is_paused;
    saved->is_let_through = flow->is_let_through;
    if (save_phases(flow, saved) && save_systems(flow, saved) && micap_listeners_save(flow, saved->listeners))
        return saved;
    micap_flow_drop(world, state, saved);
    return NULL;
}

bool micap_flow_prepare(mica_world *world, void *state, const void *data)
{
    (void)world;
    return micap_listeners_prepare(state, ((const saved_flow *)data)->listeners);
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

static void load_phase(micap_phase *phase, const saved_flow *saved)
{
    clear_plans(phase);
    phase->tick = 0;
    phase->seconds = phase->waited_seconds = 0;
    for (uint32_t i = 0; saved && i < saved->phase_count; ++i) {
        const saved_phase *old = &saved->phases[i];
        if (old->id != phase->id)
            continue;
        phase->is_enabled = old->is_enabled;
        phase->tick = old->tick;
        phase->seconds = old->seconds;
        phase->waited_seconds = old->waited_seconds;
    }
}

static void load_system(micap_system *system, const saved_flow *saved)
{
    system->last_version = 0;
    system->seconds_waited = 0;
    for (uint32_t i = 0; saved && i < saved->system_count; ++i) {
        const saved_system *old = &saved->systems[i];
        if (old->id != system->id)
            continue;
        system->is_enabled = old->is_enabled;
        system->seconds_waited = old->seconds_waited;
        system->last_version = old->last_version;
    }
}

void micap_flow_load(mica_world *world, void *state, const void *data)
{
    (void)world;
    micap_flow *flow = state;
    const saved_flow *saved = data;
    flow->time = saved ? saved->time : (mica_time){0};
    flow->scale = saved ? saved->scale : 1;
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
