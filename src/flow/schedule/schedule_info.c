/* Lists of phases, systems, accesses and dependencies for inspectors and tools. */
#include "mica/schedule.h"

#include "base/argument.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/system.h"

mica_phase mica_phase_next(mica_world *world, mica_phase phase)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_PHASE_NONE;
    const micap_flow *flow = micap_flow_of(world);
    bool is_found = phase == MICA_PHASE_NONE;
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i) {
        if (is_found)
            return flow->phases[i]->id;
        is_found = flow->phases[i]->id == phase;
    }
    return MICA_PHASE_NONE;
}

/* Returns the flow with a current graph, or NULL with a report. During a frame the graph does not change. */
static micap_flow *flow_with_graph(mica_world *world)
{
    micap_flow *flow = micap_flow_of(world);
    return flow && (flow->is_stepping || micap_dependency_graph_update(flow) == MICA_OK) ? flow : NULL;
}

bool mica_phase_get_info(mica_world *world, mica_phase phase, mica_phase_info *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return false;
    const micap_phase *found = micap_phase_find_id(flow_with_graph(world), phase);
    if (!found)
        return false;
    *out = (mica_phase_info){.name = found->name,
                             .fixed_seconds = found->fixed_seconds,
                             .run_count = found->tick,
                             .system_count = found->system_count,
                             .enabled = found->is_enabled};
    return true;
}

mica_system mica_system_next(mica_world *world, mica_system system)
{
    const mica_system none = {0};
    if (MICAP_MISSING(NULL, world))
        return none;
    const micap_flow *flow = flow_with_graph(world);
    bool is_found = !system.id;
    for (uint32_t i = 0; flow && i < flow->phase_count; ++i) {
        const micap_phase *phase = flow->phases[i];
        for (uint32_t j = 0; j < phase->system_count; ++j) {
            if (is_found && !phase->order[j]->is_removed)
                return phase->order[j]->frame.system;
            is_found |= phase->order[j]->frame.system.id == system.id;
        }
    }
    return none;
}

bool mica_system_get_info(const mica_world *world, mica_system system, mica_system_info *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return false;
    const micap_system *found = micap_system_find_id(micap_flow_get(world), system);
    if (!found)
        return false;
    *out = (mica_system_info){.name = found->def.name,
                              .phase = found->def.phase,
                              .location = found->def.location,
                              .enabled = found->is_enabled,
                              .exclusive = found->def.exclusive,
                              .flush_first = found->def.flush_first,
                              .one_thread = found->is_single,
                              .has_handlers = found->kind != MICAP_SYSTEM_OF_USER};
    return true;
}

uint32_t mica_system_get_accesses(const mica_world *world, mica_system system, mica_system_access *out,
                                  uint32_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, out, capacity))
        return 0;
    const micap_system *found = micap_system_find_id(micap_flow_get(world), system);
    mica_system_access accesses[MICAP_ACCESSES_MAX];
    uint32_t count = found ? micap_system_accesses(found, accesses) : 0;
    for (uint32_t i = 0; i < count && i < capacity; ++i)
        out[i] = accesses[i];
    return count;
}

uint32_t mica_system_get_dependencies(mica_world *world, mica_system system, mica_system_dependency *out,
                                      uint32_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, out, capacity))
        return 0;
    const micap_flow *flow = flow_with_graph(world);
    const micap_system *found = micap_system_find_id(flow, system);
    const micap_phase *phase = found ? micap_phase_find_id(flow, found->def.phase) : NULL;
    if (!phase || found->order >= phase->system_count || phase->order[found->order] != found)
        return 0; /* unknown, or added in this frame */
    uint32_t first = phase->first_dependency[found->order], end = phase->first_dependency[found->order + 1];
    for (uint32_t i = first; i < end && i - first < capacity; ++i) {
        const micap_dependency *dependency = &phase->dependencies[i];
        out[i - first] = (mica_system_dependency){.on = phase->order[dependency->from]->frame.system,
                                                  .component = dependency->component,
                                                  .stream = dependency->stream};
    }
    return end - first;
}
