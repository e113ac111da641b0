/* Required components: whatever has a sprite has a position and is drawn, without saying so wherever sprites are made. */
#include "mica/mica.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Layer { int depth; } Layer;
MICA_COMPONENT(Position, x, y)
MICA_POOL(Layer, depth) /* in any storage */
MICA_TAG_WITH(Drawn, (.required = MICA_TYPES(Layer)))

typedef struct Sprite { int image; } Sprite;
MICA_COMPONENT_WITH(Sprite, (.required = MICA_TYPES(Position, Drawn)), image)

static void show(mica_world *world, const char *what, mica_entity entity)
{
    const Position *position = mica_get(world, entity, Position);
    printf("%s:%s%s%s", what, mica_has(world, entity, Sprite) ? " sprite" : "",
           mica_has(world, entity, Drawn) ? " drawn" : "", mica_has(world, entity, Layer) ? " layer" : "");
    if (position)
        printf(" at %g, %g", (double)position->x, (double)position->y);
    printf("\n");
}

static void announce(const mica_event *event)
{
    (void)event;
    printf("a position is added\n");
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_hook_set(world, Position, MICA_EVENT_ADD, announce, NULL);

    mica_entity tree = mica_create(world, MICA_WITH(Sprite, {1}));
    show(world, "tree", tree);
    mica_entity bird = mica_create(world, MICA_WITH(Sprite, {2}), MICA_WITH(Position, {3, 4}));
    show(world, "bird", bird); /* what is given stays */

    mica_entity ghost = mica_create(world);
    mica_add(world, ghost, Sprite);
    show(world, "ghost", ghost);
    mica_remove(world, ghost, Position); /* required when it is added, not for ever */
    show(world, "without a place", ghost);
    show(world, "copy", mica_clone(world, ghost)); /* a copy is a copy */

    mica_defer(world); /* recorded changes bring the same along */
    mica_entity cloud = mica_create(world);
    mica_set(world, cloud, Position, {5, 6});
    mica_set(world, cloud, Sprite, {3});
    mica_flush(world);
    show(world, "cloud", cloud);
    mica_world_destroy(world);
}
