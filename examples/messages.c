/* Messages: components define how they react to an event. The sender does not know which components react. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Update { char unused; } Update;
typedef struct Damage { float points; mica_text cause; } Damage;
MICA_STRUCT(Update, unused)
MICA_STRUCT(Damage, points, cause)

typedef struct Armour { float points; } Armour;
typedef struct Health { float points; mica_text last_cause; } Health;
typedef struct Camera { float angle; } Camera;

/* Handlers are part of the description of the component. */
static void camera_turns(const mica_message *message)
{
    Camera *camera = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        camera[i].angle += 90 * message->frame->dt;
}
static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_turns)};
MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), angle)
MICA_COMPONENT(Armour, points)
MICA_COMPONENT(Health, points, last_cause)

static void health_suffers(const mica_message *message)
{
    Health *health = message->values;
    const Damage *damage = message->data;
    for (uint32_t i = 0; i < message->count; ++i) {
        health[i].points -= damage->points;
        mica_text_copy(&health[i].last_cause, &damage->cause);
        if (health[i].points <= 0)
            mica_destroy(message->world, message->entities[i]);
    }
}

static void armour_wears(const mica_message *message)
{
    Armour *armour = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        armour[i].points *= 0.5f;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_handler_add(world, MICA_HANDLER(Armour, Damage, armour_wears));
    mica_handler_add(world, MICA_HANDLER(Health, Damage, health_suffers));
    mica_message_every_frame(world, Update, MICA_PHASE_UPDATE);

    mica_entity knight = mica_create(world, MICA_WITH(Health, {.points = 10}), MICA_WITH(Armour, {8}));
    mica_entity goblin = mica_create(world, MICA_WITH(Health, {.points = 4}));
    mica_entity camera = mica_create(world, MICA_WITH(Camera, {0}));

    mica_send(world, knight, Damage, {3, mica_text_of("an arrow")});
    mica_broadcast(world, Damage, {4, mica_text_of("the fire of a very old dragon")});
    mica_step(world, 0.5f);

    const Health *health = mica_get(world, knight, Health);
    printf("knight: health %.0f, armour %.0f, hurt by %s\n", health->points, mica_get(world, knight, Armour)->points,
           mica_text_get(&health->last_cause));
    printf("goblin: %s\n", mica_is_alive(world, goblin) ? "alive" : "dead");
    printf("camera: %.0f degrees\n", mica_get(world, camera, Camera)->angle);
    mica_world_destroy(world);
}
