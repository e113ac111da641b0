/* A battle of two armies: the simulation of `make show`, independent of the window. */
#ifndef MICA_SHOW_BATTLE_H
#define MICA_SHOW_BATTLE_H

#include "mica/flow.h"

enum {
    BATTLE_WIDTH = 1280,
    BATTLE_HEIGHT = 576,
    BATTLE_CELL = 8, /* size of a cell of the density field */
    BATTLE_COLUMNS = BATTLE_WIDTH / BATTLE_CELL,
    BATTLE_ROWS = BATTLE_HEIGHT / BATTLE_CELL,
    BATTLE_CELLS = BATTLE_COLUMNS * BATTLE_ROWS,
    BATTLE_SYSTEMS_MAX = 8,
};

typedef struct Place { float x, y; } Place;
typedef struct Motion { float x, y; } Motion;
typedef struct Soldier { float health; int32_t army; } Soldier;
typedef struct Spark { float seconds; } Spark;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Motion, x, y)
MICA_COMPONENT(Soldier, health, army)
MICA_COMPONENT(Spark, seconds)

/* What may be changed while the battle runs. battle_begin sets the usual values. */
typedef struct Rules { float speed, strength, courage; } Rules;
MICA_SINGLETON(Rules, (speed, float, .note = "soldiers that are faster slow down"),
               (strength, float, .note = "health that a crowd of enemies takes in a second"),
               (courage, float, .note = "how much soldiers are drawn to the enemy"))

typedef struct battle {
    mica_world *world;
    mica_query *soldiers;
    mica_query *sparks;
    mica_system systems[BATTLE_SYSTEMS_MAX]; /* in the order they were added */
    uint32_t system_count;
    uint32_t size; /* soldiers of each army, as long as reinforcements come */
} battle;

/* Puts two armies into an empty world and adds the systems. False when it can't. */
bool battle_begin(battle *battle, mica_world *world, uint32_t soldiers);

/* Soldiers of an army that are alive. */
uint64_t battle_count(const battle *battle, int32_t army);

#endif
