/* The server of HTTP and WebSockets. Only this file and web_client.c know civetweb. Checks every request before anyone sees it: the token, the Host and the
 * Origin. Handlers are called by threads of the server. */
#ifndef MICAP_INSPECT_WEB_H
#define MICAP_INSPECT_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MICAP_TOKEN_MIN = 16,
    MICAP_TOKEN_MAX = 64,
    MICAP_WEB_BODY_MAX = 1 << 20,    /* of a request */
    MICAP_WEB_MESSAGE_MAX = 1 << 20, /* from a client of a socket */
    MICAP_WEB_TIMEOUT_MS = 8000,     /* a peer that takes nothing, or does not end its request, is disconnected */
    MICAP_WEB_SILENCE_MS =
        5000, /* a socket that is silent for so long is pinged, and disconnected after the sixth time */
};

typedef struct micap_web micap_web;
typedef struct micap_socket micap_socket;

typedef struct micap_web_request {
    const char *method;
    const char *path;  /* without the query */
    const char *query; /* "" if there is none */
    const char *body;  /* ends with a zero byte */
    size_t body_bytes;
} micap_web_request;

/* What a handler answers. The body is freed with free unless it is constant. */
typedef struct micap_web_reply {
    int status;
    const char *type; /* NULL: application/json */
    char *body;
    size_t body_bytes;
    const char *constant; /* instead of body */
    const char *headers;  /* further lines, each with \r\n; NULL: none */
} micap_web_reply;

typedef struct micap_web_def {
    const char *address;
    uint16_t port;
    const char *token;
    uint32_t socket_max;
    const char *socket_path; /* such as "/live" */
    /* Any function may be NULL. */
    void (*answer)(const micap_web_request *request, micap_web_reply *reply, void *context);
    /* A client connected; false refuses it. */
    bool (*opened)(micap_socket *socket, void *context);
    /* Returns false to disconnect. */
    bool (*received)(micap_socket *socket, const char *bytes, size_t count, void *context);
    void (*closed)(micap_socket *socket, void *context);
    void *context;
} micap_web_def;

/* Starts a server. Returns NULL and a text on failure. */
micap_web *micap_web_start(const micap_web_def *def, char *out_error, size_t capacity);
/* Disconnects everyone and waits for all threads. NULL is a no-op. */
void micap_web_stop(micap_web *web);
uint16_t micap_web_port(const micap_web *web);

/* Sends a message. Blocks until it is sent; false if the peer has disconnected or takes nothing. One thread per socket. */
bool micap_socket_send(micap_socket *socket, bool is_text, const void *bytes, size_t count);
void micap_socket_set_data(micap_socket *socket, void *data);
void *micap_socket_data(const micap_socket *socket);

/* Fills a token with random letters and digits. False if the system has no random numbers. */
bool micap_token_make(char token[MICAP_TOKEN_MAX + 1]);
/* Whether a token has an acceptable length and characters. */
bool micap_token_check(const char *token);
/* Compares in a time that depends on nothing but the length of `expected`. */
bool micap_token_same(const char *expected, const char *given, size_t given_bytes);
/* Finds a value of a query (a=1&b=2), decoded, cut to the capacity. False if it is not there or too long. */
bool micap_query_value(const char *query, const char *name, char *out, size_t capacity);

/* Initializes civetweb, once. */
void micap_web_init(void);

#endif
