/* A module for examples/module_reload.c, which loads two builds of it. With SECOND_BUILD, plants have another layout and grow faster. */
#include "mica/flow.h"
#include "mica/module.h"

#ifdef SECOND_BUILD
typedef struct Plant { float water; double height; } Plant;
MICA_COMPONENT(Plant, (water, float, .initial = 10), height)
#else
typedef struct Plant { float height; } Plant;
MICA_COMPONENT(Plant, height)
#endif

static void grow(mica_view *view)
{
    Plant *plant = mica_view_write(view, Plant);
    for (uint32_t i = 0; i < view->count; ++i) {
#ifdef SECOND_BUILD
        plant[i].water -= view->dt;
        plant[i].height += 2 * view->dt;
#else
        plant[i].height += view->dt;
#endif
    }
}

MICA_MODULE(world)
{
    mica_define(world, Plant);
    mica_system_add(world, MICA_SYSTEM(grow, MICA_WRITE(Plant)));
    return MICA_OK;
}
