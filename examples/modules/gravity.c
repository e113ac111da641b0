/* A module for mica run: things fall and bounce. In the build tree:
 *
 *     mica compile examples/modules/level.json -o /tmp/level.mica
 *     mica run --module build/release/examples/modules/gravity.so --frames 600 --save /tmp/end.mica /tmp/level.mica
 */
#include "mica/flow.h"
#include "mica/module.h"

typedef struct Height { float value; } Height;
typedef struct Speed { float value; } Speed;
MICA_COMPONENT(Height, value)
MICA_COMPONENT(Speed, value)

static void fall(mica_view *view)
{
    Speed *speed = mica_view_write(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i)
        speed[i].value -= 9.81f * view->dt;
}

static void move(mica_view *view)
{
    Height *height = mica_view_write(view, Height);
    Speed *speed = mica_view_write(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) {
        height[i].value += speed[i].value * view->dt;
        if (height[i].value >= 0)
            continue;
        height[i].value = -height[i].value;
        speed[i].value *= -0.8f;
    }
}

MICA_MODULE(world)
{
    mica_define(world, Height);
    mica_define(world, Speed);
    mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Speed)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Height), MICA_WRITE(Speed)));
    return MICA_OK;
}
