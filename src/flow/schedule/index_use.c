#include "flow/schedule/index_use.h"

#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

void micap_index_uses_update(const micap_system *system, mica_version seen)
{
    for (uint32_t i = 0; i < system->def.use_count; ++i)
        if (system->def.uses[i].index)
            micap_index_head_of(system->def.uses[i].index)->update(system->def.uses[i].index, seen);
}

bool micap_system_uses_index(const micap_system *system, const struct mica_index *index)
{
    for (uint32_t i = 0; i < system->def.use_count; ++i)
        if (system->def.uses[i].index == index)
            return true;
    return false;
}

uint32_t micap_index_user_count(const mica_world *world, const struct mica_index *index)
{
    const micap_flow *flow = micap_flow_get(world);
    uint32_t count = 0;
    for (uint32_t i = 0; flow && i < flow->system_count; ++i)
        count += micap_system_uses_index(flow->systems[i], index);
    return count;
}
