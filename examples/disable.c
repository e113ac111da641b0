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

static mica_entity create_wave(mica_world *world, mica_entity template, int wave)
{
    mica_entity camp = mica_create(world);
    for (int i = 0; i < 3; ++i) {
        mica_entity soldier = mica_clone(world, template);
        mica_remove(world, soldier, Template);
        mica_set(world, soldier, Enemy, {wave, (float)(10 + 10 * i)});
        mica_set_parent(world, soldier, camp);
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

    mica_entity template = mica_create(world, MICA_WITH(Enemy, {0, 0}));
    mica_add(world, template, Template);
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
