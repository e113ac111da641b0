/* A connection to the socket of a server of web.h. */
#ifndef MICAP_INSPECT_WEB_CLIENT_H
#define MICAP_INSPECT_WEB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct micap_web_client micap_web_client;

typedef struct micap_web_client_def {
    const char *url; /* http://host:port/?token=... */
    const char *socket_path;
    /* Called by a thread of the connection. received returns false to disconnect. */
    bool (*received)(const char *bytes, size_t count, void *context);
    void (*closed)(void *context);
    void *context;
} micap_web_client_def;

/* Returns NULL and a text on failure. */
micap_web_client *micap_web_connect(const micap_web_client_def *def, char *out_error, size_t capacity);
/* Waits for the thread of the connection. NULL is a no-op. */
void micap_web_disconnect(micap_web_client *client);
/* Sends a message of text; false if the server has disconnected. Threads: any. */
bool micap_web_client_send(micap_web_client *client, const void *text, size_t count);

#endif
