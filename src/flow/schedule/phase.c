/* Phases: the list of them in the order they run. */
#include "core/world/report.h"
#include "flow/schedule/flow.h"

micap_phase *micap_flow_phase(const micap_flow *flow, mica_phase phase)
{
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i)
        if (flow->phases[i]->id == phase)
            return flow->phases[i];
    return NULL;
}

void micap_phase_free(micap_flow *flow, micap_phase *phase)
{
    micap_graph_free(flow, phase);
    micap_text_free(flow->world, phase->name);
    micap_release(&flow->world->memory, phase, sizeof *phase, MICAP_ARRAY_ALIGNMENT);
}

static mica_result check(micap_flow *flow, const mica_phase_def *def)
{
    mica_world *world = flow->world;
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, def ? def->location : (mica_location){0},
                          "phase: it can't be added inside a frame");
    if (!def || !def->name || !(def->fixed_seconds >= 0) || def->fixed_seconds > 1e9)
        return micap_fail(world, MICA_ERROR_INVALID, def ? def->location : (mica_location){0},
                          "phase: it needs a name, and a fixed step that makes sense");
    if (mica_phase_find(world, def->name) != MICA_PHASE_NONE)
        return micap_fail(world, MICA_ERROR_EXISTS, def->location, "phase %s: there is another with this name",
                          def->name);
    if (!micap_flow_phase(flow, def->beside))
        return micap_fail(world, MICA_ERROR_UNKNOWN, def->location, "phase %s: there is no phase to put it beside",
                          def->name);
    return MICA_OK;
}

mica_phase mica_phase_add(mica_world *world, const mica_phase_def *def)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow || check(flow, def) != MICA_OK)
        return MICA_PHASE_NONE;
    micap_phase *phase = NULL;
    if (MICAP_RESERVE(&world->memory, flow->phases, &flow->phase_capacity, (uint64_t)flow->phase_count + 1))
        phase = micap_allocate_zeroed(&world->memory, sizeof *phase, MICAP_ARRAY_ALIGNMENT);
    if (!phase || !(phase->name = micap_text_copy(world, def->name))) {
        if (phase)
            micap_phase_free(flow, phase);
        micap_fail_memory(world, "phase");
        return MICA_PHASE_NONE;
    }
    phase->id = flow->next_phase++;
    phase->fixed_seconds = def->fixed_seconds;
    phase->is_enabled = true;
    uint32_t location = 0;
    while (flow->phases[location]->id != def->beside)
        ++location;
    location += !def->before;
    memmove(flow->phases + location + 1, flow->phases + location,
            (flow->phase_count - location) * sizeof *flow->phases);
    flow->phases[location] = phase;
    ++flow->phase_count;
    return phase->id;
}

bool mica_phase_remove(mica_world *world, mica_phase phase)
{
    micap_flow *flow = micap_flow_get(world);
    micap_phase *found = micap_flow_phase(flow, phase);
    if (!found || phase < MICAP_BUILT_IN_PHASES)
        return false;
    if (flow->is_stepping) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "phase %s: it can't be removed inside a frame",
                   found->name);
        return false;
    }
    for (uint32_t i = 0; i < flow->system_count; ++i)
        flow->systems[i]->is_removed |= flow->systems[i]->def.phase == phase;
    micap_flow_forget_removed(flow);
    flow->is_stale = true;
    uint32_t location = 0;
    while (flow->phases[location] != found)
        ++location;
    --flow->phase_count;
    memmove(flow->phases + location, flow->phases + location + 1,
            (flow->phase_count - location) * sizeof *flow->phases);
    micap_phase_free(flow, found);
    return true;
}

bool mica_phase_enable(mica_world *world, mica_phase phase, bool enabled)
{
    micap_phase *found = micap_flow_phase(micap_flow_of(world), phase);
    if (!found || phase == MICAP_PHASE_MESSAGES)
        return false;
    found->is_enabled = enabled;
    return true;
}

mica_phase mica_phase_find(const mica_world *world, const char *name)
{
    static const char *const built_in[MICAP_BUILT_IN_PHASES] = {"update", "begin", "fixed", "end", "(messages)"};
    const micap_flow *flow = micap_flow_get(world);
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i)
        if (strcmp(flow->phases[i]->name, name) == 0)
            return flow->phases[i]->id;
    for (uint32_t i = 0; !flow && i < MICAP_BUILT_IN_PHASES; ++i)
        if (strcmp(built_in[i], name) == 0)
            return i;
    return MICA_PHASE_NONE;
}
