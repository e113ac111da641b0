/* The array in MICA_COLUMN must have the type of the component. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
typedef struct Speed { double x, y; } Speed;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Speed, x, y)

mica_result make(mica_world *world, const Place *places, const Speed *speeds)
{
    (void)speeds;
#ifdef MISTAKE
    const mica_value column = MICA_COLUMN(Place, speeds);
#else
    const mica_value column = MICA_COLUMN(Place, places);
#endif
    return mica_create_many(world, 2, &column, 1, NULL);
}
