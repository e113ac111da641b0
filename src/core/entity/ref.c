#include "mica/ref.h"

#include "base/argument.h"
#include "core/world/access_check.h"
#include "core/world/world.h"

/* No entity has this one: a row of a pool may move while the record of its owner stays. */
static const uint64_t no_record = UINT64_MAX;

const void *mica_ref_read_id(const mica_world *world, mica_ref *ref)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, ref))
        return NULL;
    micap_check_access(world, ref->entity, ref->component, false);
    if (MICAP_LIKELY(ref->private_structure == world->structure))
        return ref->private_value;
    void *value = (void *)mica_get_id(world, ref->entity, ref->component);
    uint64_t record = micap_is_pooled(ref->component) ? 0 : micap_record_of(&world->entities, ref->entity);
    ref->private_value = value;
    ref->private_structure = value ? world->structure : 0; /* what is missing is looked up every time */
    ref->private_record = record ? record : no_record;
    ref->private_epoch = world->lookup.chunk_epoch;
    return value;
}

void *mica_ref_write_id(mica_world *world, mica_ref *ref)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, ref))
        return NULL;
    return mica_write_id(world, ref->entity, ref->component);
}
