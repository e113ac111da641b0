/* Rollback: a networked game continues before all inputs have arrived. When a late input arrives, the game returns to the
 * tick of the input and simulates the following ticks again. Two players start and stop their ships; inputs of the other
 * player arrive three ticks late. In the end both machines have the same world. */
#include "mica/flow.h"
#include "mica/snapshot.h"

#include <stdio.h>

enum { TICKS = 12, DELAY = 3, PLAYERS = 2 };

typedef struct Ship { int32_t player; float x, speed; } Ship;
typedef struct Bullet { float x; uint32_t ticks_left; } Bullet;
MICA_COMPONENT(Ship, player, x, speed)
MICA_COMPONENT(Bullet, x, ticks_left)

typedef struct Input { float speed[PLAYERS]; } Input;
MICA_SINGLETON(Input, speed)

static void steer(mica_view *view)
{
    Ship *ship = mica_view_write(view, Ship);
    const Input *input = mica_singleton_get(view->world, Input);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (ship[i].speed == 0 && input->speed[ship[i].player] != 0) /* a ship that starts fires a shot */
            mica_create(view->world, MICA_WITH(Bullet, {ship[i].x, 4}));
        ship[i].speed = input->speed[ship[i].player];
        ship[i].x += ship[i].speed;
    }
}

static void fly(mica_view *view)
{
    Bullet *bullet = mica_view_write(view, Bullet);
    for (uint32_t i = 0; i < view->count; ++i) {
        bullet[i].x += 5;
        if (--bullet[i].ticks_left == 0)
            mica_destroy(view->world, view->entities[i]);
    }
}

typedef struct Machine {
    mica_world *world;
    mica_history *history;
    Input known[TICKS]; /* received or predicted inputs */
    uint32_t rollbacks;
} Machine;

static void start(Machine *machine)
{
    machine->world = mica_world_create(NULL);
    mica_system_add(machine->world, MICA_SYSTEM_WITH(steer, (MICA_USES(MICA_USE_READ(Input))), MICA_WRITE(Ship)));
    mica_system_add(machine->world, MICA_SYSTEM(fly, MICA_WRITE(Bullet)));
    for (int32_t player = 0; player < PLAYERS; ++player)
        mica_create(machine->world, MICA_WITH(Ship, {player, 0, 0}));
    machine->history = mica_history_create(machine->world, DELAY + 1);
    machine->rollbacks = 0;
    for (uint32_t tick = 0; tick < TICKS; ++tick)
        machine->known[tick] = (Input){0};
}

static void play(Machine *machine, uint32_t tick)
{
    mica_history_take(machine->history, tick);
    *mica_singleton_write(machine->world, Input) = machine->known[tick];
    mica_step(machine->world, 1.0f / 60);
}

/* Receives the input of a player for a tick. Until the next input arrives, it is assumed to stay the same. */
static void hear(Machine *machine, int32_t player, uint32_t tick, float speed, uint32_t now)
{
    bool guessed = machine->known[tick].speed[player] == speed;
    for (uint32_t i = tick; i < TICKS; ++i)
        machine->known[i].speed[player] = speed;
    if (guessed || !mica_history_has(machine->history, tick))
        return;
    mica_history_restore(machine->history, tick);
    ++machine->rollbacks;
    *mica_singleton_write(machine->world, Input) = machine->known[tick];
    mica_step(machine->world, 1.0f / 60);
    for (uint32_t again = tick + 1; again < now; ++again)
        play(machine, again);
}

int main(void)
{
    static const float orders[PLAYERS][TICKS] = {{1, 1, 1, 0, 0, 2, 2, 2, 2, 0, 0, 0},
                                                 {0, 3, 3, 3, 3, 3, 0, 0, 1, 1, 1, 1}};
    Machine machines[PLAYERS];
    for (int32_t i = 0; i < PLAYERS; ++i)
        start(&machines[i]);
    for (uint32_t tick = 0; tick < TICKS + DELAY; ++tick)
        for (int32_t i = 0; i < PLAYERS; ++i) {
            if (tick >= DELAY)
                hear(&machines[i], 1 - i, tick - DELAY, orders[1 - i][tick - DELAY], tick < TICKS ? tick : TICKS);
            if (tick >= TICKS)
                continue;
            hear(&machines[i], i, tick, orders[i][tick], tick);
            play(&machines[i], tick);
        }
    for (int32_t i = 0; i < PLAYERS; ++i) {
        mica_query *ships = mica_query_create(machines[i].world, &(mica_query_def){MICA_TERMS(MICA_READ(Ship))});
        printf("machine %d, %u rollbacks:", i, machines[i].rollbacks);
        for (mica_view view = mica_query_begin(ships); mica_view_next(&view);)
            for (uint32_t k = 0; k < view.count; ++k)
                printf(" ship %d at %.0f", mica_view_read(&view, Ship)[k].player, mica_view_read(&view, Ship)[k].x);
        printf("\n");
    }
    bool same = mica_world_hash(machines[0].world) == mica_world_hash(machines[1].world);
    printf("the worlds are %s\n", same ? "the same" : "different");
    for (int32_t i = 0; i < PLAYERS; ++i)
        mica_world_destroy(machines[i].world);
}
