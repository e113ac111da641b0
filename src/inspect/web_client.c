#include "inspect/web_client.h"

#include "inspect/web.h"

#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct micap_web_client {
    micap_web_client_def def;
    struct mg_connection *connection;
};

typedef struct address {
    char host[64];
    int port;
    char token[MICAP_TOKEN_MAX + 1];
} address;

/* Takes a URL apart. */
static bool parse_url(const char *url, address *out)
{
    if (strncmp(url, "http://", 7) != 0)
        return false;
    url += 7;
    bool is_bracketed = *url == '['; /* an address of IPv6 */
    url += is_bracketed;
    size_t host_bytes = strcspn(url, is_bracketed ? "]/?" : ":/?");
    if (!host_bytes || host_bytes >= sizeof out->host || (is_bracketed && url[host_bytes] != ']'))
        return false;
    memcpy(out->host, url, host_bytes);
    out->host[host_bytes] = 0;
    url += host_bytes + is_bracketed;
    char *end = NULL;
    long port = *url == ':' ? strtol(url + 1, &end, 10) : 0;
    if (port < 1 || port > 65535)
        return false;
    const char *query = strchr(end, '?');
    out->port = (int)port;
    return query && micap_query_value(query + 1, "token", out->token, sizeof out->token) &&
           micap_token_check(out->token);
}

static int receive(struct mg_connection *connection, int bits, char *data, size_t count, void *context)
{
    const micap_web_client *client = context;
    int opcode = bits & 0xF;
    if (opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE)
        return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_PING)
        return mg_websocket_client_write(connection, MG_WEBSOCKET_OPCODE_PONG, data, count) > 0;
    return opcode != MG_WEBSOCKET_OPCODE_BINARY || client->def.received(data, count, client->def.context);
}

static void end(const struct mg_connection *connection, void *context)
{
    (void)connection;
    const micap_web_client *client = context;
    client->def.closed(client->def.context);
}

micap_web_client *micap_web_connect(const micap_web_client_def *def, char *out_error, size_t capacity)
{
    micap_web_init();
    address address;
    char path[160], text[160] = "";
    if (!parse_url(def->url, &address)) {
        snprintf(out_error, capacity,
                 "expected a URL such as http://127.0.0.1:43817/?token=..., as the program printed it");
        return NULL;
    }
    micap_web_client *client = calloc(1, sizeof *client);
    snprintf(out_error, capacity, "out of memory");
    if (!client)
        return NULL;
    client->def = *def;
    snprintf(path, sizeof path, "%s?token=%s", def->socket_path, address.token);
    client->connection =
        mg_connect_websocket_client(address.host, address.port, 0, text, sizeof text, path, NULL, receive, end, client);
    if (client->connection)
        return client;
    snprintf(out_error, capacity, "%s:%d: %.100s", address.host, address.port, text);
    free(client);
    return NULL;
}

void micap_web_disconnect(micap_web_client *client)
{
    if (!client)
        return;
    /* The server answers by closing, which the thread that receives notices at once; else it waits for two seconds. */
    mg_websocket_client_write(client->connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, "", 0);
    mg_close_connection(client->connection);
    free(client);
}

bool micap_web_client_send(micap_web_client *client, const void *text, size_t count)
{
    return mg_websocket_client_write(client->connection, MG_WEBSOCKET_OPCODE_TEXT, text, count) > 0;
}
