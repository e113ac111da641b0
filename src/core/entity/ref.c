#include "mica/ref.h"

#include "base/argument.h"
#include "core/world/access_check.h"
#include "core/world/world.h"

const void *mica_ref_read_id(const mica_world *world, mica_ref *ref)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, ref))
        return NULL;
    micap_check_access(world, ref->entity, ref->component, false);
    if (!ref->private_value || ref->private_structure != world->structure) {
        ref->private_value = (void *)mica_get_id(world, ref->entity, ref->component);
        ref->private_structure = world->structure;
    }
    return ref->private_value;
}

void *mica_ref_write_id(mica_world *world, mica_ref *ref)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, ref))
        return NULL;
    return mica_write_id(world, ref->entity, ref->component);
}
