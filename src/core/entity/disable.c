/* Disabled entities have a tag that hides them: see skips in core/query/query.c. */
#include "mica/disable.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"

mica_component mica_disabled_id(void)
{
    return MICA_ID(mica_disabled);
}

bool mica_entity_disable(mica_world *world, mica_entity entity)
{
    return mica_add_id(world, entity, MICA_ID(mica_disabled)) != NULL;
}

bool mica_entity_enable(mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    if (mica_remove_id(world, entity, MICA_ID(mica_disabled)))
        return true;
    return mica_is_alive(world, entity) && !mica_entity_is_disabled(world, entity);
}

bool mica_entity_is_disabled(const mica_world *world, mica_entity entity)
{
    return mica_has_id(world, entity, MICA_ID(mica_disabled));
}
