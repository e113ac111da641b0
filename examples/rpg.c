/* A role-playing game: the components of a creature define its behaviour. There is no inheritance, and a tag switches a
 * behaviour on and off while the game runs. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Body { float x, height; } Body;
typedef struct Health { int32_t points; } Health;
typedef struct Mind { mica_entity enemy; } Mind;
typedef struct Sword { int32_t damage; } Sword;
typedef struct Bow { int32_t damage, arrows; } Bow;
MICA_COMPONENT(Body, x, height)
MICA_COMPONENT(Health, points)
MICA_COMPONENT(Mind, enemy)
MICA_COMPONENT(Sword, damage)
MICA_COMPONENT(Bow, damage, arrows)
MICA_POOL_TAG(Flying) /* one bit per entity: removing it moves no row */

typedef struct Hit { int32_t damage; } Hit;
MICA_STRUCT(Hit, damage)

static void fall(mica_view *view)
{
    Body *body = mica_view_write(view, Body);
    for (uint32_t i = 0; i < view->count; ++i)
        body[i].height = body[i].height > 1 ? body[i].height - 1 : 0;
}

/* Computes the steps to the enemy. Returns false if the enemy is dead; a stale handle never becomes valid again. */
static bool sees_enemy(const mica_view *view, const Body *body, const Mind *mind, float *out_way)
{
    const Body *other = mica_get(view->world, mind->enemy, Body);
    *out_way = other ? other->x - body->x : 0;
    return other != NULL;
}

static void approach(mica_view *view)
{
    Body *body = mica_view_write(view, Body);
    const Mind *mind = mica_view_read(view, Mind);
    for (uint32_t i = 0; i < view->count; ++i) {
        float way;
        if (sees_enemy(view, &body[i], &mind[i], &way))
            body[i].x += way > 1 ? 1 : way < -1 ? -1 : 0;
    }
}

static void strike(mica_view *view)
{
    const Body *body = mica_view_read(view, Body);
    const Mind *mind = mica_view_read(view, Mind);
    const Sword *sword = mica_view_read(view, Sword);
    for (uint32_t i = 0; i < view->count; ++i) {
        float way;
        if (sees_enemy(view, &body[i], &mind[i], &way) && way >= -1 && way <= 1 && body[i].height <= 0)
            mica_send(view->world, mind[i].enemy, Hit, {sword[i].damage});
    }
}

static void shoot(mica_view *view)
{
    const Mind *mind = mica_view_read(view, Mind);
    Bow *bow = mica_view_write(view, Bow);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_send(view->world, mind[i].enemy, Hit, {bow[i].damage});
        if (--bow[i].arrows == 0) /* without arrows it is no archer */
            mica_remove(view->world, view->entities[i], Bow);
    }
}

static void suffer(const mica_message *message)
{
    Health *health = message->values;
    const Hit *hit = message->data;
    for (uint32_t i = 0; i < message->count; ++i)
        if ((health[i].points -= hit->damage) <= 0)
            mica_destroy(message->world, message->entities[i]);
}

static void tell(mica_world *world, const char *when, const char *const *names, uint32_t count)
{
    printf("%s\n", when);
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity creature = mica_find(world, names[i]);
        const Body *body = mica_get(world, creature, Body);
        if (body)
            printf("  %-8s at %g, %g high, health %d%s%s\n", names[i], body->x, body->height,
                   mica_get(world, creature, Health)->points, mica_has(world, creature, Sword) ? ", sword" : "",
                   mica_has(world, creature, Bow) ? ", bow" : "");
        else
            printf("  %-8s is dead\n", names[i]);
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Body), MICA_WITHOUT(Flying)));
    mica_system_add(world, MICA_SYSTEM_WITH(approach, (.parallel = MICA_PARALLEL_NONE, MICA_USES(MICA_USE_WRITE(Body))),
                                            MICA_WRITE(Body), MICA_READ(Mind), MICA_HAS(Sword)));
    mica_system_add(world, MICA_SYSTEM_WITH(strike, (MICA_USES(MICA_USE_READ(Body))), MICA_READ(Body), MICA_READ(Mind),
                                            MICA_READ(Sword)));
    mica_system_add(world, MICA_SYSTEM(shoot, MICA_READ(Mind), MICA_WRITE(Bow)));
    mica_handler_add(world, MICA_HANDLER(Health, Hit, suffer));

    static const char *const names[] = {"hero", "skeleton", "harpy"};
    mica_entity hero = mica_create(world, MICA_WITH(Body, {0, 0}), MICA_WITH(Health, {20}), MICA_WITH(Sword, {3}));
    mica_entity skeleton = mica_create(world, MICA_WITH(Body, {4, 0}), MICA_WITH(Health, {6}), MICA_WITH(Mind, {hero}),
                                       MICA_WITH(Bow, {1, 3}));
    mica_entity harpy = mica_create(world, MICA_WITH(Body, {6, 3}), MICA_WITH(Health, {5}), MICA_WITH(Mind, {hero}),
                                    MICA_WITH(Sword, {2}), MICA_WITH(Flying));
    mica_set(world, hero, Mind, {skeleton});
    mica_entity creatures[] = {hero, skeleton, harpy};
    for (int i = 0; i < 3; ++i)
        mica_name_set(world, creatures[i], mica_nil(), names[i]);

    tell(world, "dawn", names, 3);
    for (int turn = 0; turn < 3; ++turn)
        mica_step(world, 1);
    tell(world, "noon: the hero is there, the arrows are spent, the harpy circles above", names, 3);

    mica_set(world, skeleton, Sword, {1}); /* from now on it fights with a sword */
    mica_remove(world, harpy, Flying);     /* its wings are tired */
    for (int turn = 0; turn < 3; ++turn)
        mica_step(world, 1);
    tell(world, "evening: swords on all sides", names, 3);

    mica_set(world, hero, Mind, {harpy});
    for (int turn = 0; turn < 3; ++turn)
        mica_step(world, 1);
    tell(world, "night", names, 3);
    mica_world_destroy(world);
}
