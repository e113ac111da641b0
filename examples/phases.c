/* Phases and time: a simulation with fixed steps and frames of any length; rates, conditions, pause. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Height { float now, before; } Height;
typedef struct Speed { float value; } Speed;
MICA_COMPONENT(Height, now, before)
MICA_COMPONENT(Speed, value)

typedef struct Input { bool is_menu_open; } Input;
MICA_SINGLETON(Input, is_menu_open)

/* Runs in fixed steps of a tenth of a second, so that the ball bounces identically on every machine. */
static void simulate(mica_view *view)
{
    Height *height = mica_view_write(view, Height);
    Speed *speed = mica_view_write(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) {
        height[i].before = height[i].now;
        speed[i].value -= 10 * view->dt;
        height[i].now += speed[i].value * view->dt;
        if (height[i].now < 0) {
            height[i].now = 0;
            speed[i].value = -speed[i].value;
        }
    }
}

/* Interpolates between the last two steps, so that motion is smooth in frames that are shorter than a step. */
static void show(const mica_frame *frame)
{
    for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
        const Height *height = mica_view_read(&view, Height);
        for (uint32_t i = 0; i < view.count; ++i)
            printf("%.2f s: ball at %.2f\n", frame->seconds,
                   height[i].before + (height[i].now - height[i].before) * frame->alpha);
    }
}

static void show_menu(const mica_frame *frame)
{
    printf("%.2f s: the menu is open\n", frame->seconds);
}

static bool is_menu_open(const mica_frame *frame)
{
    return mica_singleton_get(frame->world, Input)->is_menu_open;
}

static void autosave(const mica_frame *frame)
{
    printf("%.2f s: saved, %.2f s after the last time\n", frame->seconds, frame->dt);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_configure(world, &(mica_flow_def){.fixed_seconds = 0.1});

    mica_phase after_all = mica_phase_add(world, MICA_PHASE_AFTER("housekeeping", MICA_PHASE_END));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(simulate, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Height), MICA_WRITE(Speed)));
    mica_system_add(world, MICA_SYSTEM_WITH(show, (.phase = MICA_PHASE_END), MICA_READ(Height)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(show_menu, (.condition = is_menu_open, .while_paused = true), MICA_READ(Input)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(autosave, (.phase = after_all, .every_seconds = 0.2)));

    mica_create(world, MICA_WITH(Height, {1, 1}), MICA_WITH(Speed, {0}));
    for (int frame = 0; frame < 12; ++frame) {
        if (frame == 6 || frame == 8) { /* two frames of a menu, in which the world is paused */
            mica_singleton_write(world, Input)->is_menu_open = frame == 6;
            mica_pause(world, frame == 6);
        }
        mica_step(world, 0.0625f);
    }
    mica_world_destroy(world);
}
