/* A scene graph: queries about the hierarchy compute the places of children from the top down with a cascade, and find materials that are
 * inherited. mica/transform.h does this for transforms by itself; this shows how it is done for anything. */
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/query_text.h"

#include <stdio.h>

typedef struct Offset {
    float x, y;
} Offset; /* from its parent */
MICA_COMPONENT(Offset, x, y)
typedef struct Place {
    float x, y;
} Place; /* in the scene */
MICA_COMPONENT(Place, x, y)
typedef struct Material {
    int color;
} Material; /* of a part and of all its parts that have none */
MICA_COMPONENT(Material, color)

static mica_entity create_part(mica_world *world, const char *name, mica_entity whole, float x, float y)
{
    mica_entity part = mica_create(world, MICA_WITH(Offset, {x, y}), MICA_WITH(Place));
    mica_name_set(world, part, mica_nil(), name);
    if (!mica_is_nil(whole))
        mica_set_parent(world, part, whole);
    return part;
}

/* Every part comes after its parent, so that one pass is enough. The term with .cascade is optional: a root has no ancestor. */
static void place_all(mica_query *query)
{
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        Place *places = mica_view_write_at(&view, 0);
        const Offset *offsets = mica_view_read(&view, Offset);
        const Place *above = mica_view_read_at(&view, 2); /* one value for all rows, or NULL */
        for (uint32_t i = 0; i < view.count; ++i)
            places[i] = (Place){offsets[i].x + (above ? above->x : 0), offsets[i].y + (above ? above->y : 0)};
    }
}

static void show(mica_world *world, mica_query *query)
{
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Place *places = mica_view_read(&view, Place);
        const Material *material = mica_view_read(&view, Material);
        for (uint32_t i = 0; i < view.count; ++i)
            printf("%-8s at %2.0f %2.0f, color %d\n", mica_name_get(world, view.entities[i]), (double)places[i].x,
                   (double)places[i].y, material ? material->color : 0);
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity wheel =
        create_part(world, "wheel", mica_nil(), 1, 0); /* before the car: the order of creation does not matter */
    mica_entity car = create_part(world, "car", mica_nil(), 10, 5);
    mica_set_parent(world, wheel, car);
    create_part(world, "hub", wheel, 0, 2);
    mica_entity roof = create_part(world, "roof", car, 0, 3);
    create_part(world, "lamp", roof, 1, 1);
    mica_set(world, car, Material, {7});
    mica_set(world, roof, Material, {3});

    mica_query *placing =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Place), MICA_READ(Offset),
                                            MICA_MAYBE_READ(Place, .cascade = MICA_ID(mica_child_of))));
    mica_query *shown = mica_query_text(world, "Place, ?Material(self up mica_child_of)", NULL);
    place_all(placing);
    show(world, shown);

    printf("the car drives on\n");
    mica_write(world, car, Offset)->x += 20;
    place_all(placing);
    show(world, shown);

    mica_destroy(world, roof); /* and the lamp, its child */
    mica_query *parts = mica_query_text(world, "mica_child_of($this, _)", NULL);
    printf("without its roof the car has %d parts\n", (int)mica_query_count(parts));
    mica_world_destroy(world);
    return 0;
}
