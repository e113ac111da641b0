/* The server is authoritative. For each client it stores only the version that the client acknowledged last. */
#include "game.h"

#include "mica/delta.h"

#include <stdio.h>
#include <string.h>

typedef struct client {
    ENetPeer *peer;
    mica_entity ship;
    mica_version acknowledged;
    client_message newest;
} client;

typedef struct server {
    ENetHost *host;
    mica_world *world;
    mica_sender *sender;
    client clients[CLIENTS];
    uint32_t client_count;
} server;

static void drift(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        position[i].y += velocity[i].y * view->dt;
    }
}

static void burn_out(mica_view *view)
{
    Shot *shot = mica_view_write(view, Shot);
    for (uint32_t i = 0; i < view->count; ++i)
        if (--shot[i].ticks_left == 0)
            mica_destroy(view->world, view->entities[i]);
}

static void welcome(server *server, ENetPeer *peer)
{
    if (server->client_count == CLIENTS)
        return;
    client *client = &server->clients[server->client_count++];
    client->peer = peer;
    client->ship = mica_create(server->world, MICA_WITH(Position, {0, 0}), MICA_WITH(Ship, {server->client_count, 0}));
    peer->data = client;
}

/* Only newer news counts: datagrams may come in any order. */
static void hear(client *client, const ENetPacket *packet)
{
    client_message message;
    if (!client || packet->dataLength != sizeof message)
        return;
    memcpy(&message, packet->data, sizeof message);
    if (message.input_count > INPUTS_SENT || message.input_count > message.last_input)
        return;
    if (message.acknowledged > client->acknowledged)
        client->acknowledged = message.acknowledged;
    if (message.last_input > client->newest.last_input)
        client->newest = message;
}

static void listen_for(server *server, uint32_t milliseconds)
{
    ENetEvent event;
    uint32_t end = enet_time_get() + milliseconds;
    do {
        uint32_t now = enet_time_get();
        if (enet_host_service(server->host, &event, now < end ? end - now : 0) <= 0)
            continue;
        if (event.type == ENET_EVENT_TYPE_CONNECT)
            welcome(server, event.peer);
        if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            hear(event.peer->data, event.packet);
            enet_packet_destroy(event.packet);
        }
    } while (enet_time_get() < end);
}

/* Acts on what players want, in their order, a few at a time. */
static void act(server *server)
{
    for (uint32_t i = 0; i < server->client_count; ++i) {
        client *client = &server->clients[i];
        const client_message *newest = &client->newest;
        for (uint32_t done = 0; done < 3; ++done) {
            uint32_t next = mica_get(server->world, client->ship, Ship)->last_input + 1;
            uint32_t first = newest->last_input - newest->input_count + 1;
            if (next < first || next > newest->last_input)
                break;
            input wanted = newest->inputs[next - first];
            Position *position = mica_write(server->world, client->ship, Position);
            *position = steer(*position, wanted);
            mica_write(server->world, client->ship, Ship)->last_input = next;
            if (wanted.fire) {
                Position from = *position;
                mica_create(server->world, MICA_WITH(Position, {from.x, from.y}), MICA_WITH(Velocity, {8, 0}),
                            MICA_WITH(Shot, {20}));
            }
        }
    }
}

/* What no client can know in advance. */
static void blow(server *server)
{
    for (uint32_t i = 0; i < server->client_count; ++i)
        mica_write(server->world, server->clients[i].ship, Position)->x += 5;
}

static void tell(server *server, bool is_over)
{
    server_message message = {.hash = mica_world_hash_content(server->world), .is_over = is_over};
    for (uint32_t i = 0; i < server->client_count; ++i) {
        client *client = &server->clients[i];
        mica_delta delta;
        if (mica_delta_encode(server->sender, client->acknowledged, &delta) != MICA_OK)
            return;
        message.ship = client->ship;
        ENetPacket *packet = enet_packet_create(NULL, sizeof message + delta.byte_count,
                                                ENET_PACKET_FLAG_UNSEQUENCED | ENET_PACKET_FLAG_UNRELIABLE_FRAGMENT);
        memcpy(packet->data, &message, sizeof message);
        memcpy(packet->data + sizeof message, delta.bytes, delta.byte_count);
        if (enet_peer_send(client->peer, 0, packet) != 0)
            enet_packet_destroy(packet);
    }
    enet_host_flush(server->host);
}

static bool all_have(const server *server, mica_version version)
{
    for (uint32_t i = 0; i < server->client_count; ++i)
        if (server->clients[i].acknowledged < version)
            return false;
    return server->client_count == CLIENTS;
}

/* Not for ever. */
static void wait_for(server *server, uint32_t client_count)
{
    for (uint32_t tries = 0; server->client_count < client_count && tries < 10000; ++tries)
        listen_for(server, TICK_MS);
}

int run_server(ENetHost *host)
{
    server server = {.host = host, .world = mica_world_create(NULL)};
    define_game(server.world);
    mica_system_add(server.world, MICA_SYSTEM(drift, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(server.world, MICA_SYSTEM(burn_out, MICA_WRITE(Shot)));
    for (uint32_t i = 0; i < ASTEROIDS; ++i)
        mica_create(server.world, MICA_WITH(Position, {(float)i, 0}), MICA_WITH(Velocity, {0, (float)(i % 7)}));
    server.sender = mica_sender_create(server.world, NULL);
    wait_for(&server, 1);
    lose_datagrams(host, 1);
    for (uint32_t tick = 1; tick <= TICKS; ++tick) {
        if (tick == JOIN_TICK)
            wait_for(&server, CLIENTS); /* so that the story is always the same */
        listen_for(&server, TICK_MS);
        act(&server);
        if (tick % 60 == 0)
            blow(&server);
        mica_step(server.world, 1.0f / 60);
        tell(&server, false);
    }
    mica_version last = mica_world_mark(server.world);
    for (uint32_t i = 0; i < 1000 && !all_have(&server, last); ++i) {
        listen_for(&server, TICK_MS);
        tell(&server, false);
    }
    bool is_fine = all_have(&server, last);
    for (uint32_t i = 0; i < 40; ++i) {
        tell(&server, true);
        listen_for(&server, 1);
    }
    mica_sender_destroy(server.sender);
    mica_world_destroy(server.world);
    return is_fine ? 0 : 1;
}
