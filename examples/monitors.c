/* Monitors: keep something outside of the world in step with a query. */
#include "mica/disable.h"
#include "mica/flow.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, x, y)
MICA_TAG(Enemy)
MICA_TAG(Cloaked)

/* The radar shows enemies that are somewhere and not cloaked. */
static void update_radar(const mica_event *seen)
{
    for (uint32_t i = 0; i < seen->count; ++i)
        printf("%s blip %u\n", seen->kind == MICA_EVENT_MATCH ? "show" : "hide", seen->entities[i].index);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_observer_add(world, MICA_MONITOR(update_radar, MICA_READ(Position), MICA_HAS(Enemy), MICA_WITHOUT(Cloaked)));

    mica_entity scout = mica_create(world, MICA_WITH(Enemy));
    mica_entity cruiser = mica_create(world, MICA_WITH(Enemy), MICA_WITH(Position, {4, 2}));
    mica_set(world, scout, Position, {1, 1});
    mica_set(world, scout, Position, {2, 1}); /* it matches already */
    mica_add(world, cruiser, Cloaked);
    mica_entity_disable(world, scout);
    mica_entity_enable(world, scout);

    mica_defer(world); /* one flush: only the result counts */
    mica_remove(world, cruiser, Cloaked);
    mica_remove(world, scout, Position);
    mica_set(world, scout, Position, {3, 3});
    mica_entity decoy = mica_create(world, MICA_WITH(Enemy), MICA_WITH(Position, {0, 0}));
    mica_destroy(world, decoy);
    mica_flush(world);

    mica_destroy(world, scout);
    mica_world_destroy(world);
}
