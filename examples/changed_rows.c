/* Exact change tracking: with .track_changed, MICA_CHANGED visits the entities whose value was written, not whole slices.
 *
 * A system that writes a view marks all of its rows, unless it asks for the column unmarked and marks rows itself. */
#include "mica/mica.h"
#include "mica/flow.h"

#include <stdio.h>

typedef struct Health {
    int32_t current, maximum;
} Health;
MICA_COMPONENT_WITH(Health, (.track_changed = true), current, maximum)

/* Heals units that are hurt. The others do not count as changed. */
static void regenerate(mica_view *view)
{
    Health *health = mica_view_write_unmarked(view, Health);
    for (uint32_t i = 0; i < view->count; ++i)
        if (health[i].current < health[i].maximum) {
            ++health[i].current;
            mica_view_mark(view, Health, i);
        }
}

static uint32_t shown;

/* A health bar is drawn again only when it changes. */
static void draw_bars(mica_view *view)
{
    const Health *health = mica_view_read(view, Health);
    for (uint32_t i = 0; i < view->count; ++i, ++shown)
        if (shown < 4)
            printf("  %u: %d of %d\n", view->entities[i].index, health[i].current, health[i].maximum);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity units[1000];
    for (int i = 0; i < 1000; ++i)
        units[i] = mica_create(world, MICA_WITH(Health, {10, 10}));

    mica_system_add(world, MICA_SYSTEM(regenerate, MICA_WRITE(Health)));
    mica_system_add(world, MICA_SYSTEM(draw_bars, MICA_READ(Health), MICA_CHANGED(Health)));

    for (int frame = 1; frame <= 4; ++frame) {
        if (frame == 2) {
            mica_write(world, units[70], Health)->current -= 3;
            mica_set(world, units[700], Health, {9, 10});
        }
        shown = 0;
        printf("frame %d\n", frame);
        mica_step(world, 1.0 / 60);
        printf("  %u drawn\n", shown);
    }
    mica_world_destroy(world);
}
