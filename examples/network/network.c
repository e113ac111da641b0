/* A server and two clients: three processes that communicate over UDP (ENet) and lose a quarter of all datagrams. The second client
 * joins while the game runs. Clients predict their own ships and correct them when the server disagrees.
 *
 * server.c sends the changes since the version that a client acknowledged (mica/delta.h) and never sends a delta again. client.c
 * applies it and compares the hash of its world with that of the server: after every delta the worlds are bit-identical. */
#define _POSIX_C_SOURCE 200809L
#include "game.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint32_t random_state;

/* Packets are lost only after the connection is established. */
static bool is_connected(const ENetHost *host)
{
    for (size_t i = 0; i < host->peerCount; ++i)
        if (host->peers[i].state == ENET_PEER_STATE_CONNECTED &&
            host->peers[i].address.host == host->receivedAddress.host &&
            host->peers[i].address.port == host->receivedAddress.port)
            return true;
    return false;
}

static int ENET_CALLBACK intercept(ENetHost *host, ENetEvent *event)
{
    (void)event;
    if (!is_connected(host))
        return 0;
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % 100 < LOSS_PERCENT;
}

void lose_datagrams(ENetHost *host, uint32_t seed)
{
    random_state = seed;
    host->intercept = intercept;
}

/* The second client starts while the game runs. */
static pid_t start_client(uint32_t player, uint16_t port)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct timespec pause = {.tv_nsec = 250 * 1000 * 1000};
    if (player == 2)
        nanosleep(&pause, NULL);
    _exit(run_client(player, port));
}

int main(void)
{
    static const char *const endings[] = {"the server's world, bit for bit, at every delta; guesses were taken back",
                                          "another world than the server's", "no guess was ever wrong",
                                          "lost the server"};
    if (enet_initialize() != 0)
        return 1;
    ENetAddress address = {.port = ENET_PORT_ANY};
    enet_address_set_host_ip(&address, "127.0.0.1");
    ENetHost *host = enet_host_create(&address, CLIENTS, 1, 0, 0);
    if (!host)
        return 1;
    pid_t clients[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; ++i)
        clients[i] = start_client(i + 1, host->address.port);
    int status = run_server(host);
    printf("server: %d ticks, %d%% of all datagrams lost, the second client joined at tick %d\n", TICKS, LOSS_PERCENT,
           JOIN_TICK);
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        int how = 0;
        waitpid(clients[i], &how, 0);
        int ending = WIFEXITED(how) && WEXITSTATUS(how) < 4 ? WEXITSTATUS(how) : 3;
        printf("client %u: %s\n", i + 1, endings[ending]);
        status |= ending;
    }
    enet_host_destroy(host);
    enet_deinitialize();
    return status;
}
