/* What mica_get returns is to look at. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
MICA_COMPONENT(Place, x, y)

void push(mica_world *world, mica_entity entity)
{
#ifdef MISTAKE
    mica_get(world, entity, Place)->x = 1;
#else
    mica_write(world, entity, Place)->x = 1;
#endif
}
