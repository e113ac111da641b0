/* Disabled entities: a wave of enemies waits, hidden from all systems, until its time comes. */
#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/hierarchy.h"

#include <stdio.h>

typedef struct Enemy { int wave; float distance; } Enemy;
MICA_COMPONENT(Enemy, wave, distance)

/* A tag of your own can hide entities too: templates are only there to be cloned. */
MICA_TAG_WITH(Template, (.hides = true))

static void march(mica_view *view)
{
    Enemy *enemy = mica_view_write(view, Enemy);
    for (uint32_t i = 0; i < view->count; ++i)
        enemy[i].distance -= 10 * view->dt;
}

static void retreat(mica_view *view)
{
    const Enemy *enemy = mica_view_read(view, Enemy);
    for (uint32_t i = 0; i < view->count; ++i)
        if (enemy[i].distance <= 0)
            mica_entity_disable(view->world, view->entities[i]); /* recorded, like any change in a system */
}

/* A copy of the camp with all its soldiers. */
static mica_entity create_wave(mica_world *world, mica_entity template, int wave)
{
    mica_entity camp = mica_clone_tree(world, template);
    for (mica_entity at = camp; !mica_is_nil(at); at = mica_tree_next(world, camp, at)) {
        mica_remove(world, at, Template);
        if (mica_has(world, at, Enemy))
            mica_write(world, at, Enemy)->wave = wave;
    }
    return camp;
}

static void show(mica_world *world, const char *when)
{
    mica_query *active = mica_query_create(world, MICA_QUERY(MICA_READ(Enemy)));
    mica_query *waiting = mica_query_create(world, MICA_QUERY(MICA_READ(Enemy), MICA_HAS(mica_disabled)));
    printf("%s: %u active, %u disabled\n", when, (unsigned)mica_query_count(active),
           (unsigned)mica_query_count(waiting));
    mica_query_destroy(active);
    mica_query_destroy(waiting);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(march, MICA_WRITE(Enemy)));
    mica_system_add(world, MICA_SYSTEM(retreat, MICA_READ(Enemy)));

    mica_entity template = mica_create(world, MICA_WITH(Template));
    for (int i = 1; i <= 3; ++i)
        mica_create_child(world, template, MICA_WITH(Enemy, {0, (float)(10 * i)}), MICA_WITH(Template));
    create_wave(world, template, 1);
    mica_entity second = create_wave(world, template, 2);
    mica_tree_disable(world, second); /* the camp and its soldiers */
    show(world, "start");

    mica_step(world, 1);
    mica_step(world, 1);
    show(world, "after two seconds");

    mica_tree_enable(world, second);
    show(world, "second wave");
    mica_step(world, 3);
    show(world, "end");
    mica_world_destroy(world);
}
