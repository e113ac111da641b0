/* What mica_write returns is of the component's type. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
typedef struct Speed { double x, y; } Speed;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Speed, x, y)

void push(mica_world *world, mica_entity entity)
{
#ifdef MISTAKE
    Place *location = mica_write(world, entity, Speed);
#else
    Place *location = mica_write(world, entity, Place);
#endif
    location->x = 1;
}
