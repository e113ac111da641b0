/* Optional tags and groups: one loop over all soldiers, which asks each view whether they are poisoned, and what they are armed with. */
#include "mica/mica.h"

#include <stdio.h>

typedef struct Soldier { int number, health; } Soldier;
typedef struct Sword { int damage; } Sword;
typedef struct Bow { int damage; } Bow;
MICA_COMPONENT(Soldier, number, health)
MICA_COMPONENT(Sword, damage)
MICA_POOL(Bow, damage)
MICA_TAG(Poisoned)
MICA_TAG_WITH(Alert, (.toggle = true))

static void create(mica_world *world, int number)
{
    mica_entity soldier = mica_create(world, MICA_WITH(Soldier, {number, 10}), MICA_WITH(Alert));
    if (number % 2)
        mica_set(world, soldier, Sword, {5});
    if (number % 3 == 0)
        mica_set(world, soldier, Bow, {3});
    if (number % 4 == 0)
        mica_add(world, soldier, Poisoned);
    if (number > 4)
        mica_disable(world, soldier, Alert);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    for (int i = 1; i <= 8; ++i)
        create(world, i);

    mica_query *soldiers =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Soldier), MICA_MAYBE_READ(Poisoned), MICA_MAYBE_READ(Alert)));
    for (mica_view view = mica_query_begin(soldiers); mica_view_next(&view);) {
        Soldier *soldier = mica_view_write(&view, Soldier);
        bool poisoned = mica_view_has(&view, Poisoned);         /* the same for all entities of a view */
        const uint8_t *alert = mica_view_enabled(&view, Alert); /* by entity */
        for (uint32_t i = 0; i < view.count; ++i) {
            soldier[i].health -= poisoned;
            printf("%d: health %d%s\n", soldier[i].number, soldier[i].health, alert[i] ? ", alert" : "");
        }
    }

    mica_query *armed = mica_query_create(world, MICA_QUERY(MICA_READ(Soldier), MICA_EITHER(Sword), MICA_OR(Bow)));
    for (mica_view view = mica_query_begin(armed); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            printf("%d:%s%s\n", mica_view_read(&view, Soldier)[i].number, mica_view_has(&view, Sword) ? " sword" : "",
                   mica_view_has(&view, Bow) ? " bow" : "");
    mica_world_destroy(world);
}
