/* A component without a description. */
#include "mica/mica.h"

typedef struct Undescribed { float x; } Undescribed;
#ifndef MISTAKE
MICA_COMPONENT(Undescribed, x)
#endif

float look(mica_world *world, mica_entity entity)
{
    return mica_get(world, entity, Undescribed)->x;
}
