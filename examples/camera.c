/* Components with an update function: a camera follows its target. The functions are called component by component over
 * arrays; components without a handler are not visited. */
#include "mica/flow.h"
#include "mica/transform.h"

#include <stdio.h>

typedef struct Update { char unused; } Update;
typedef struct Shake { float strength; } Shake;
MICA_STRUCT(Update, unused)
MICA_STRUCT(Shake, strength)

typedef struct Camera {
    float field_of_view;
    float trembling;
    mica_ref target; /* follows the component when it moves; NULL after its removal */
} Camera;
typedef struct Walker { float speed; } Walker;

static void camera_update(const mica_message *message)
{
    Camera *camera = message->values;
    for (uint32_t i = 0; i < message->count; ++i) {
        camera[i].trembling *= 0.5f;
        const mica_local *target = mica_ref_read(message->world, &camera[i].target, mica_local);
        if (target)
            camera[i].field_of_view = 90 - target->position[0];
    }
}

static void camera_shake(const mica_message *message)
{
    Camera *camera = message->values;
    const Shake *shake = message->data;
    for (uint32_t i = 0; i < message->count; ++i)
        camera[i].trembling += shake->strength;
}

/* Handlers are part of the description: every entity with a camera has them. The reference is moved along, not described. */
static const mica_handler camera_handlers[] = {MICA_HANDLED(Shake, camera_shake)};
MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), field_of_view, trembling)
MICA_COMPONENT(Walker, speed)

static void walk(mica_view *view)
{
    mica_local *local = mica_view_write(view, mica_local);
    const Walker *walker = mica_view_read(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i)
        local[i].position[0] += walker[i].speed * view->dt;
}

static void show(mica_world *world, mica_entity camera, const char *when)
{
    const mica_global_matrix *location;
    const Camera *lens;
    mica_get_several(world, camera, MICA_INTO(mica_global_matrix, &location), MICA_INTO(Camera, &lens));
    printf("%s: the camera is at %.1f, %.1f, sees %.1f degrees, trembles %.2f\n", when, location->x[3], location->y[3],
           lens->field_of_view, lens->trembling);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(walk, MICA_WRITE(mica_local), MICA_READ(Walker)));
    /* A handler declares access to other entities, as a system does. */
    mica_handler_add(world, MICA_HANDLER_WITH(Camera, Update, camera_update, (MICA_USES(MICA_USE_READ(mica_local)))));
    mica_message_every_frame(world, Update, MICA_PHASE_END);
    mica_transform_add_system(world, MICA_PHASE_END);

    mica_entity hero = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)), MICA_WITH(mica_global_matrix),
                                   MICA_WITH(Walker, {2}));
    mica_entity camera = mica_create_child(world, hero, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 3, 0)),
                                           MICA_WITH(mica_global_matrix), MICA_WITH(Camera, {.field_of_view = 90}));
    mica_write(world, camera, Camera)->target = mica_ref_of(hero, mica_local);

    mica_step(world, 1);
    show(world, camera, "walking");

    mica_broadcast(world, Shake, {1}); /* to every component that has a handler for it */
    mica_step(world, 1);
    show(world, camera, "an explosion");

    /* The hero's row moves to another archetype; the camera's reference follows it. */
    mica_remove(world, hero, Walker);
    mica_step(world, 1);
    show(world, camera, "standing still");

    mica_destroy_with(world, hero, MICA_ORPHANS_STAY);
    mica_step(world, 1);
    show(world, camera, "alone");
    mica_world_destroy(world);
}
