/* A client: its world is a replica of the server's world, and it predicts its own ship. Before each delta the prediction is undone;
 * after the delta it is computed again with the inputs that the server has not processed yet. */
#include "game.h"

#include "mica/delta.h"
#include "mica/snapshot.h"

#include <string.h>

typedef struct client {
    ENetHost *host;
    ENetPeer *peer;
    mica_world *world;
    mica_replica *replica;
    mica_snapshot confirmed; /* the world as the last delta left it */
    mica_entity ship;        /* the very handle that it has at the server */
    input inputs[INPUTS_KEPT];
    uint32_t last_input;
    uint32_t delta_count;
    uint32_t wrong_hashes;
    uint32_t corrections;
    bool is_over;
} client;

static const Position *ship_position(const client *client)
{
    return mica_get(client->world, client->ship, Position);
}

static void guess(client *client, input input)
{
    if (!mica_is_alive(client->world, client->ship))
        return;
    Position *position = mica_write(client->world, client->ship, Position);
    *position = steer(*position, input);
}

static void guess_again(client *client)
{
    if (!mica_is_alive(client->world, client->ship))
        return;
    uint32_t acted_on = mica_get(client->world, client->ship, Ship)->last_input;
    for (uint32_t i = acted_on + 1; i <= client->last_input; ++i)
        guess(client, client->inputs[i % INPUTS_KEPT]);
}

static void follow(client *client, const ENetPacket *packet)
{
    server_message message;
    if (packet->dataLength < sizeof message)
        return;
    memcpy(&message, packet->data, sizeof message);
    const Position *guessed = ship_position(client);
    Position before = guessed ? *guessed : (Position){0};
    mica_version version = mica_replica_version(client->replica);
    if (client->confirmed.id)
        mica_snapshot_restore(client->world, client->confirmed);
    mica_snapshot_drop(client->world, client->confirmed);
    if (mica_delta_apply(client->replica, packet->data + sizeof message, packet->dataLength - sizeof message) ==
            MICA_OK &&
        mica_replica_version(client->replica) != version) {
        ++client->delta_count;
        client->wrong_hashes += mica_world_hash_content(client->world) != message.hash;
        client->is_over |= message.is_over;
    }
    client->ship = message.ship;
    client->confirmed = mica_snapshot_take(client->world);
    guess_again(client);
    const Position *now = ship_position(client);
    client->corrections += guessed && now && (now->x != before.x || now->y != before.y);
}

static void listen_for(client *client, uint32_t milliseconds)
{
    ENetEvent event;
    uint32_t end = enet_time_get() + milliseconds;
    do {
        uint32_t now = enet_time_get();
        if (enet_host_service(client->host, &event, now < end ? end - now : 0) <= 0)
            continue;
        if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            follow(client, event.packet);
            enet_packet_destroy(event.packet);
        }
    } while (enet_time_get() < end);
}

/* Every input until the server has acted on it, since each datagram may be lost. */
static void speak(client *client)
{
    client_message message = {.acknowledged = mica_replica_version(client->replica), .last_input = client->last_input};
    uint32_t acted_on =
        mica_is_alive(client->world, client->ship) ? mica_get(client->world, client->ship, Ship)->last_input : 0;
    message.input_count = client->last_input - acted_on;
    if (message.input_count > INPUTS_SENT) { /* oldest first: they are acted on in order */
        message.last_input = acted_on + INPUTS_SENT;
        message.input_count = INPUTS_SENT;
    }
    for (uint32_t i = 0; i < message.input_count; ++i)
        message.inputs[i] = client->inputs[(acted_on + 1 + i) % INPUTS_KEPT];
    ENetPacket *packet = enet_packet_create(&message, sizeof message, ENET_PACKET_FLAG_UNSEQUENCED);
    if (enet_peer_send(client->peer, 0, packet) != 0)
        enet_packet_destroy(packet);
    enet_host_flush(client->host);
}

/* Simulates a player. A client that is too far ahead of the server waits. */
static void play(client *client, uint32_t tick)
{
    uint32_t acted_on =
        mica_is_alive(client->world, client->ship) ? mica_get(client->world, client->ship, Ship)->last_input : 0;
    if (client->last_input - acted_on >= INPUTS_KEPT / 2)
        return;
    input input = {.x = (int8_t)(tick / 16 % 3) - 1, .y = (int8_t)(tick / 8 % 2), .fire = tick % 12 == 0};
    client->inputs[++client->last_input % INPUTS_KEPT] = input;
    guess(client, input);
}

int run_client(uint32_t player, uint16_t port)
{
    client client = {.host = enet_host_create(NULL, 1, 1, 0, 0), .world = mica_world_create(NULL)};
    define_game(client.world);
    client.replica = mica_replica_create(client.world, NULL);
    ENetAddress address = {.port = port};
    enet_address_set_host_ip(&address, "127.0.0.1");
    client.peer = enet_host_connect(client.host, &address, 1, 0);
    bool is_connected = false;
    for (uint32_t tries = 0; !is_connected && tries < 200; ++tries) {
        ENetEvent event;
        is_connected = enet_host_service(client.host, &event, 100) > 0 && event.type == ENET_EVENT_TYPE_CONNECT;
    }
    lose_datagrams(client.host, 10 + player);
    for (uint32_t tick = 1; is_connected && !client.is_over && tick < 10000; ++tick) {
        if (client.delta_count)
            play(&client, tick);
        speak(&client);
        listen_for(&client, TICK_MS);
    }
    int status = !client.is_over ? 3 : client.wrong_hashes || !client.delta_count ? 1 : client.corrections ? 0 : 2;
    mica_replica_destroy(client.replica);
    mica_world_destroy(client.world);
    enet_host_destroy(client.host);
    return status;
}
