/* A tag has no value that could be taken. */
#include "mica/mica.h"

MICA_TAG(Frozen)

bool look(mica_world *world, mica_entity entity)
{
#ifdef MISTAKE
    Frozen value = *mica_get(world, entity, Frozen);
    (void)value;
#endif
    return mica_has(world, entity, Frozen);
}
