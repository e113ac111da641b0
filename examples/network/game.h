/* What server and clients agree on: components, messages and the rules of moving. */
#ifndef EXAMPLE_NETWORK_GAME_H
#define EXAMPLE_NETWORK_GAME_H

#include "mica/flow.h"

#include <enet/enet.h>

enum {
    CLIENTS = 2,
    TICKS = 240,
    TICK_MS = 3,
    JOIN_TICK = 80, /* of the second client */
    ASTEROIDS = 300,
    LOSS_PERCENT = 25,
    INPUTS_SENT = 16, /* the newest ones, again and again until the server has them */
    INPUTS_KEPT = 256,
};

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Ship { uint32_t player; uint32_t last_input; } Ship; /* the last one that the server has acted on */
typedef struct Shot { uint32_t ticks_left; } Shot;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Ship, player, last_input)
MICA_COMPONENT(Shot, ticks_left)

static inline void define_game(mica_world *world)
{
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Ship);
    mica_define(world, Shot);
}

/* What a player wants in one tick; numbered from 1 on. */
typedef struct input {
    int8_t x, y;
    uint8_t fire;
} input;

typedef struct client_message {
    uint64_t acknowledged;
    uint32_t last_input;
    uint32_t input_count; /* inputs [last_input - input_count + 1, last_input] */
    input inputs[INPUTS_SENT];
} client_message;

/* A delta follows. */
typedef struct server_message {
    uint64_t hash; /* of the server's world: handles, rows and values are to be the same here */
    mica_entity ship;
    uint32_t is_over;
} server_message;

/* A ship moves when its input is acted on, there and in the client's guess. */
static inline Position steer(Position position, input input)
{
    return (Position){position.x + 0.25f * (float)input.x, position.y + 0.25f * (float)input.y};
}

/* The lossy line: drops a share of all datagrams that come in, once it is switched on. */
void lose_datagrams(ENetHost *host, uint32_t seed);

int run_server(ENetHost *host);
int run_client(uint32_t player, uint16_t port);

#endif
