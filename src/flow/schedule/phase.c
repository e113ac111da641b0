#include "flow/schedule/phase.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/system.h"

static const struct {
    const char *name;
    mica_phase id;
} built_in[MICAP_BUILT_IN_PHASES] = {{"start", MICA_PHASE_START}, {"begin", MICA_PHASE_BEGIN},
                                     {"fixed", MICA_PHASE_FIXED}, {"update", MICA_PHASE_UPDATE},
                                     {"end", MICA_PHASE_END},     {"(messages)", MICAP_PHASE_MESSAGES}};

/* Creates a phase that is in no list yet, and reserves room for it. Returns NULL if memory is short. */
static micap_phase *create_phase(micap_flow *flow, const char *name, mica_phase id, double fixed_seconds)
{
    mica_world *world = flow->world;
    if (!MICAP_RESERVE(&world->memory, flow->phases, &flow->phase_capacity, (uint64_t)flow->phase_count + 1))
        return NULL;
    micap_phase *phase = micap_allocate_zeroed(&world->memory, sizeof *phase, MICAP_ARRAY_ALIGNMENT);
    if (!phase)
        return NULL;
    phase->id = id;
    phase->fixed_seconds = fixed_seconds;
    phase->is_enabled = true;
    if ((phase->name = micap_flow_copy_text(world, name)))
        return phase;
    micap_phase_free(flow, phase);
    return NULL;
}

bool micap_phases_add_built_in(micap_flow *flow)
{
    for (uint32_t i = 0; i < MICAP_BUILT_IN_PHASES; ++i) {
        double fixed_seconds = built_in[i].id == MICA_PHASE_FIXED ? flow->def.fixed_seconds : 0;
        micap_phase *phase = create_phase(flow, built_in[i].name, built_in[i].id, fixed_seconds);
        if (!phase)
            return false;
        flow->phases[flow->phase_count++] = phase;
    }
    flow->next_phase = MICAP_BUILT_IN_PHASES;
    return true;
}

micap_phase *micap_phase_find_id(const micap_flow *flow, mica_phase phase)
{
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i)
        if (flow->phases[i]->id == phase)
            return flow->phases[i];
    return NULL;
}

void micap_phase_free(micap_flow *flow, micap_phase *phase)
{
    micap_dependency_graph_free(flow, phase);
    micap_flow_free_text(flow->world, phase->name);
    micap_release(&flow->world->memory, phase, sizeof *phase, MICAP_ARRAY_ALIGNMENT);
}

static mica_result check(micap_flow *flow, const mica_phase_def *def)
{
    mica_world *world = flow->world;
    mica_location location = def ? def->location : (mica_location){0};
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, location, "phase_add: refused inside a frame");
    if (!def || !def->name)
        return micap_fail(world, MICA_ERROR_INVALID, location, "phase_add: the phase needs a name");
    if (!(def->fixed_seconds >= 0) || def->fixed_seconds > 1e9)
        return micap_fail(world, MICA_ERROR_INVALID, location, "phase %s: fixed_seconds must be from 0 to 1e9",
                          def->name);
    if (mica_phase_find(world, def->name) != MICA_PHASE_NONE)
        return micap_fail(world, MICA_ERROR_EXISTS, location, "phase %s: another phase has this name", def->name);
    if (!micap_phase_find_id(flow, def->beside))
        return micap_fail(world, MICA_ERROR_UNKNOWN, location, "phase %s: the phase in .beside does not exist",
                          def->name);
    return MICA_OK;
}

mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_PHASE_NONE;
    micap_flow *flow = micap_flow_of(world);
    if (!flow || check(flow, def) != MICA_OK)
        return MICA_PHASE_NONE;
    micap_phase *phase = create_phase(flow, def->name, micap_id_in_space(world, flow->next_phase), def->fixed_seconds);
    if (!phase) {
        micap_fail_memory(world, "phase");
        return MICA_PHASE_NONE;
    }
    ++flow->next_phase;
    uint32_t index = 0;
    while (flow->phases[index]->id != def->beside)
        ++index;
    index += !def->before;
    memmove(flow->phases + index + 1, flow->phases + index, (flow->phase_count - index) * sizeof *flow->phases);
    flow->phases[index] = phase;
    ++flow->phase_count;
    return phase->id;
}

bool mica_phase_remove(mica_world *world, mica_phase phase)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_flow *flow = micap_flow_get(world);
    micap_phase *found = micap_phase_find_id(flow, phase);
    if (!found || phase < MICAP_BUILT_IN_PHASES)
        return false;
    if (flow->is_stepping) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "phase_remove: %s: refused inside a frame",
                   found->name);
        return false;
    }
    for (uint32_t i = 0; i < flow->system_count; ++i)
        flow->systems[i]->is_removed |= flow->systems[i]->def.phase == phase;
    micap_systems_free_removed(flow);
    flow->is_stale = true;
    uint32_t index = 0;
    while (flow->phases[index] != found)
        ++index;
    --flow->phase_count;
    memmove(flow->phases + index, flow->phases + index + 1, (flow->phase_count - index) * sizeof *flow->phases);
    micap_phase_free(flow, found);
    return true;
}

bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_phase *found = micap_phase_find_id(micap_flow_of(world), phase);
    if (!found || phase == MICAP_PHASE_MESSAGES)
        return false;
    found->is_enabled = enabled;
    return true;
}

mica_phase mica_phase_find(const mica_world *world, const char *name)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, name))
        return MICA_PHASE_NONE;
    const micap_flow *flow = micap_flow_get(world);
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i)
        if (strcmp(flow->phases[i]->name, name) == 0)
            return flow->phases[i]->id;
    for (uint32_t i = 0; !flow && i < MICAP_BUILT_IN_PHASES; ++i)
        if (strcmp(built_in[i].name, name) == 0)
            return built_in[i].id;
    return MICA_PHASE_NONE;
}
