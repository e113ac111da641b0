/* A tag has no value that could be given. */
#include "mica/mica.h"

MICA_TAG(Frozen)

mica_entity make(mica_world *world)
{
#ifdef MISTAKE
    return mica_create(world, MICA_WITH(Frozen, {0}));
#else
    return mica_create(world, MICA_WITH(Frozen));
#endif
}
