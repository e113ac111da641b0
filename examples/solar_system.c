/* A tree of transforms: the moon orbits the earth, which orbits the sun. Only entities that move are computed. */
#include "mica/mica.h"
#include "mica/transform.h"

#include <math.h>
#include <stdio.h>

typedef struct Orbit { float turns_per_frame, angle; } Orbit;
MICA_COMPONENT(Orbit, turns_per_frame, angle)

/* A body orbits its parent: an empty entity rotates and carries its children. */
static mica_entity add_body(mica_world *world, mica_entity around, const char *name, float distance, float frames)
{
    mica_entity arm = mica_create_child(world, around, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)),
                                        MICA_WITH(mica_global_matrix), MICA_WITH(Orbit, {1 / frames, 0}));
    mica_entity body = mica_create_child(world, arm, MICA_WITH(mica_local, MICA_LOCAL_AT(distance, 0, 0)),
                                         MICA_WITH(mica_global_matrix));
    mica_name_child(world, arm, name);
    mica_name_child(world, body, "body");
    return body;
}

static void turn(mica_query *orbits)
{
    for (mica_view view = mica_query_begin(orbits); mica_view_next(&view);) {
        mica_local *local = mica_view_write(&view, mica_local);
        Orbit *orbit = mica_view_write(&view, Orbit);
        for (uint32_t i = 0; i < view.count; ++i) {
            orbit[i].angle += orbit[i].turns_per_frame * 6.2831853f;
            local[i].rotation[2] = sinf(orbit[i].angle / 2);
            local[i].rotation[3] = cosf(orbit[i].angle / 2);
        }
    }
}

static void print_place(mica_world *world, mica_entity entity)
{
    char path[128];
    mica_path_get(world, entity, path, sizeof path);
    const mica_global_matrix *matrix = mica_get(world, entity, mica_global_matrix);
    printf("%-38s depth %u at %7.2f, %7.2f\n", path, (unsigned)mica_depth(world, entity), matrix->x[3], matrix->y[3]);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_query *orbits = mica_query_create(world, MICA_QUERY(MICA_WRITE(mica_local), MICA_WRITE(Orbit)));

    mica_entity sun =
        mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(100, 0, 0)), MICA_WITH(mica_global_matrix));
    mica_name_child(world, sun, "sun");
    mica_entity earth = add_body(world, sun, "earth", 15, 360);
    mica_entity moon = add_body(world, earth, "moon", 2, 30);
    add_body(world, sun, "mars", 22.5f, 720);

    for (int frame = 0; frame < 90; ++frame) {
        turn(orbits);
        mica_transform_update(world);
    }
    for (mica_entity at = sun; !mica_is_nil(at); at = mica_tree_next(world, sun, at))
        print_place(world, at);

    printf("the moon is found: %s\n", mica_same(mica_find(world, "sun/earth/body/moon/body"), moon) ? "yes" : "no");
    mica_destroy(world, earth);
    printf("without the earth there is %s moon\n", mica_is_alive(world, moon) ? "a" : "no");
    mica_world_destroy(world);
}
