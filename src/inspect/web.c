#include "inspect/web.h"

#include "os/clock.h"

#include <civetweb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRA_THREADS = 6, AUTHORITY_MAX = 128, STOP_POLL_NS = 5 * 1000 * 1000 };

struct micap_web {
    micap_web_def def;
    struct mg_context *server;
    _Atomic uint16_t port; /* known after the threads of the server have begun */
    char token[MICAP_TOKEN_MAX + 1];
    char address[64];
    atomic_uint socket_count;
    atomic_bool is_stopped;
};

struct micap_socket {
    micap_web *web;
    struct mg_connection *connection;
    void *data;
    bool is_open; /* the owner was told about it */
};

static void init_library(void)
{
    mg_init_library(MG_FEATURES_WEBSOCKET | MG_FEATURES_IPV6);
}

void micap_web_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_library);
}

bool micap_token_make(char token[MICAP_TOKEN_MAX + 1])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    unsigned char bytes[32];
    FILE *file = fopen("/dev/urandom", "rb");
    bool fine = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
    if (file)
        fclose(file);
    for (size_t i = 0; fine && i < sizeof bytes; ++i)
        token[i] = digits[bytes[i] & 31];
    token[fine ? sizeof bytes : 0] = 0;
    return fine;
}

bool micap_token_check(const char *token)
{
    size_t length = strspn(token, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return !token[length] && length >= MICAP_TOKEN_MIN && length <= MICAP_TOKEN_MAX;
}

bool micap_token_same(const char *expected, const char *given, size_t given_bytes)
{
    size_t length = strlen(expected);
    unsigned different = given_bytes != length;
    for (size_t i = 0; i < length; ++i)
        different |= (unsigned)(unsigned char)expected[i] ^ (unsigned)(unsigned char)(i < given_bytes ? given[i] : 0);
    return !different;
}

bool micap_query_value(const char *query, const char *name, char *out, size_t capacity)
{
    *out = 0;
    return query && mg_get_var(query, strlen(query), name, out, capacity) >= 0;
}

/* Whether a server listens on all addresses of the machine, and a host is an address: no name that a page of another site could point at it. */
static bool is_any_address(const micap_web *web, const char *host)
{
    bool is_everywhere = strcmp(web->address, "0.0.0.0") == 0 || strcmp(web->address, "::") == 0;
    return is_everywhere && (host[strspn(host, "0123456789.")] == 0 ||
                             (strchr(host, ':') && host[strspn(host, "0123456789abcdefABCDEF.:")] == 0));
}

/* Whether a name and port, as in a Host header, are those of this server. Names that a page of another site could point at this
 * machine are not accepted, which prevents DNS rebinding. */
static bool is_own_authority(const micap_web *web, const char *authority, bool needs_port)
{
    char host[AUTHORITY_MAX];
    size_t length = strlen(authority);
    if (length >= sizeof host)
        return false;
    memcpy(host, authority, length + 1);
    char *colon = strrchr(host, ':');
    if (colon && !strchr(colon, ']')) {
        char port[8];
        snprintf(port, sizeof port, "%u", micap_web_port(web));
        if (strcmp(colon + 1, port) != 0)
            return false;
        *colon = 0;
    } else if (needs_port) {
        return false;
    }
    char *name = host, *bracket = *host == '[' ? strchr(host, ']') : NULL;
    if (bracket && !bracket[1]) { /* an address of IPv6 */
        *bracket = 0;
        ++name;
    }
    return strcmp(name, "127.0.0.1") == 0 || strcmp(name, "localhost") == 0 || strcmp(name, web->address) == 0 ||
           is_any_address(web, name);
}

static bool has_token(const micap_web *web, const struct mg_connection *connection)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    const char *header = mg_get_header(connection, "Authorization");
    char token[MICAP_TOKEN_MAX + 2] = "";
    if (header && strncmp(header, "Bearer ", 7) == 0)
        return micap_token_same(web->token, header + 7, strlen(header + 7));
    micap_query_value(info->query_string, "token", token, sizeof token);
    return micap_token_same(web->token, token, strlen(token));
}

/* Returns why a request is refused: a status and a text; 0 if it is not. */
static int refusal(const micap_web *web, const struct mg_connection *connection, const char **out_text)
{
    const char *host = mg_get_header(connection, "Host"), *origin = mg_get_header(connection, "Origin");
    *out_text = "the Host header does not name this server";
    if (!host || !is_own_authority(web, host, false))
        return 403;
    *out_text = "requests of other sites are refused";
    if (origin && (strncmp(origin, "http://", 7) != 0 ||
                   !is_own_authority(web, origin + 7, true))) /* without a port it is another server of this machine */
        return 403;
    *out_text = "the token is missing or wrong: open the address that the program printed";
    return has_token(web, connection) ? 0 : 401;
}

static const char *status_text(int status)
{
    return status == 200   ? "OK"
           : status == 400 ? "Bad Request"
           : status == 401 ? "Unauthorized"
           : status == 403 ? "Forbidden"
           : status == 404 ? "Not Found"
           : status == 409 ? "Conflict"
           : status == 413 ? "Content Too Large"
           : status == 503 ? "Service Unavailable"
                           : "Error";
}

static void send_reply(struct mg_connection *connection, const micap_web_reply *reply)
{
    const char *body = reply->constant ? reply->constant : reply->body;
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\n%s\r\n",
              reply->status, status_text(reply->status), reply->type ? reply->type : "application/json",
              body ? reply->body_bytes : 0, reply->headers ? reply->headers : "");
    if (body && reply->body_bytes)
        mg_write(connection, body, reply->body_bytes);
}

static int send_error(struct mg_connection *connection, int status, const char *text)
{
    char body[256];
    int length = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", text);
    send_reply(connection, &(micap_web_reply){.status = status, .constant = body, .body_bytes = (size_t)length});
    return status;
}

/* Reads a body of known length; free it. NULL with an answer on failure. */
static char *read_body(struct mg_connection *connection, size_t *out_count)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    long long length = info->content_length;
    bool is_post = strcmp(info->request_method, "POST") == 0;
    if (length < 0)
        length = 0;
    if (length > MICAP_WEB_BODY_MAX || (is_post && info->content_length < 0)) {
        send_error(connection, length ? 413 : 400, length ? "the body is too long" : "Content-Length is missing");
        return NULL;
    }
    char *body = malloc((size_t)length + 1);
    if (!body) {
        send_error(connection, 503, "out of memory");
        return NULL;
    }
    size_t count = 0;
    for (int n; count < (size_t)length; count += (size_t)n)
        if ((n = mg_read(connection, body + count, (size_t)length - count)) <= 0)
            break;
    if (count < (size_t)length) {
        send_error(connection, 400, "the body is incomplete");
        free(body);
        return NULL;
    }
    body[count] = 0;
    *out_count = count;
    return body;
}

static int begin_request(struct mg_connection *connection)
{
    micap_web *web = mg_get_user_data(mg_get_context(connection));
    const struct mg_request_info *info = mg_get_request_info(connection);
    const char *text;
    int status = refusal(web, connection, &text);
    if (status)
        return send_error(connection, status, text);
    if (strcmp(info->local_uri, web->def.socket_path) == 0)
        return 0; /* a WebSocket: the handlers below */
    if (strcmp(info->request_method, "GET") != 0 && strcmp(info->request_method, "POST") != 0)
        return send_error(connection, 400, "only GET and POST are known");
    if (!web->def.answer)
        return send_error(connection, 404, "this server is for mica inspect: give it this address");
    micap_web_request request = {
        .method = info->request_method, .path = info->local_uri, .query = info->query_string ? info->query_string : ""};
    char *body = read_body(connection, &request.body_bytes);
    if (!body)
        return 400;
    request.body = body;
    micap_web_reply reply = {.status = 404};
    web->def.answer(&request, &reply, web->def.context);
    send_reply(connection, &reply);
    free(reply.body);
    free(body);
    return reply.status;
}

/* Returns 0 to accept. The request was checked by begin_request; civetweb calls this for sockets only. */
static int socket_connect(const struct mg_connection *connection, void *context)
{
    micap_web *web = context;
    const char *text;
    if (refusal(web, connection, &text))
        return 1;
    if (atomic_fetch_add_explicit(&web->socket_count, 1, memory_order_acq_rel) >= web->def.socket_max) {
        atomic_fetch_sub_explicit(&web->socket_count, 1, memory_order_acq_rel);
        return 1;
    }
    micap_socket *socket = calloc(1, sizeof *socket);
    if (!socket) {
        atomic_fetch_sub_explicit(&web->socket_count, 1, memory_order_acq_rel);
        return 1;
    }
    socket->web = web;
    mg_set_user_connection_data(connection, socket);
    return 0;
}

static void socket_ready(struct mg_connection *connection, void *context)
{
    micap_web *web = context;
    micap_socket *socket = mg_get_user_connection_data(connection);
    socket->connection = connection;
    socket->is_open = !web->def.opened || web->def.opened(socket, web->def.context);
}

static int socket_data(struct mg_connection *connection, int bits, char *data, size_t count, void *context)
{
    micap_web *web = context;
    micap_socket *socket = mg_get_user_connection_data(connection);
    int opcode = bits & 0xF;
    if (!socket->is_open || opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE)
        return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_PING || opcode == MG_WEBSOCKET_OPCODE_PONG)
        return 1;
    bool is_whole = bits & 0x80 && !(bits & 0x70);
    if (!is_whole || opcode != MG_WEBSOCKET_OPCODE_TEXT || count > MICAP_WEB_MESSAGE_MAX)
        return 0;
    return !web->def.received || web->def.received(socket, data, count, web->def.context);
}

static void socket_close(const struct mg_connection *connection, void *context)
{
    micap_web *web = context;
    micap_socket *socket = mg_get_user_connection_data(connection);
    if (!socket)
        return;
    if (socket->is_open && web->def.closed)
        web->def.closed(socket, web->def.context);
    mg_set_user_connection_data(connection, NULL);
    free(socket);
    atomic_fetch_sub_explicit(&web->socket_count, 1, memory_order_acq_rel);
}

static int log_nothing(const struct mg_connection *connection, const char *text)
{
    (void)connection, (void)text;
    return 1;
}

static bool start_server(micap_web *web, char *out_error, size_t capacity)
{
    char where[96], threads[16], timeout[16], silence[16];
    snprintf(where, sizeof where, strchr(web->address, ':') ? "[%s]:%u" : "%s:%u", web->address, web->def.port);
    snprintf(threads, sizeof threads, "%u", web->def.socket_max + EXTRA_THREADS);
    snprintf(timeout, sizeof timeout, "%d", MICAP_WEB_TIMEOUT_MS);
    snprintf(silence, sizeof silence, "%d", MICAP_WEB_SILENCE_MS);
    const char *options[] = {"listening_ports",
                             where,
                             "num_threads",
                             threads,
                             "request_timeout_ms",
                             timeout,
                             "websocket_timeout_ms",
                             silence,
                             "enable_websocket_ping_pong", /* else a silent socket stays open */
                             "yes",
                             "tcp_nodelay",
                             "1",
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             "2000",
                             "enable_directory_listing",
                             "no",
                             "linger_timeout_ms",
                             "0",
                             NULL};
    struct mg_callbacks callbacks = {
        .begin_request = begin_request, .log_message = log_nothing, .log_access = log_nothing};
    struct mg_server_port port = {0};
    web->server = mg_start(&callbacks, web, options);
    if (!web->server) {
        snprintf(out_error, capacity, "%s can't be listened on", where);
        return false;
    }
    mg_get_server_ports(web->server, 1, &port);
    atomic_store_explicit(&web->port, (uint16_t)port.port, memory_order_release);
    mg_set_websocket_handler(web->server, web->def.socket_path, socket_connect, socket_ready, socket_data, socket_close,
                             web);
    return true;
}

micap_web *micap_web_start(const micap_web_def *def, char *out_error, size_t capacity)
{
    micap_web_init();
    micap_web *web = calloc(1, sizeof *web);
    snprintf(out_error, capacity, "out of memory");
    if (!web)
        return NULL;
    web->def = *def;
    snprintf(web->token, sizeof web->token, "%s", def->token);
    snprintf(web->address, sizeof web->address, "%s", def->address);
    if (!start_server(web, out_error, capacity)) {
        free(web);
        return NULL;
    }
    return web;
}

/* The thread that accepts connections notices the end of the server only after the next one, or after two seconds. */
static void *connect_until_stopped(void *context)
{
    micap_web *web = context;
    char error[160];
    while (!atomic_load_explicit(&web->is_stopped, memory_order_acquire)) {
        micap_sleep_ns(STOP_POLL_NS);
        mg_close_connection(mg_connect_client(web->address, micap_web_port(web), 0, error, sizeof error));
    }
    return NULL;
}

void micap_web_stop(micap_web *web)
{
    if (!web)
        return;
    pthread_t thread;
    bool has_thread = pthread_create(&thread, NULL, connect_until_stopped, web) == 0;
    mg_stop(web->server);
    atomic_store_explicit(&web->is_stopped, true, memory_order_release);
    if (has_thread)
        pthread_join(thread, NULL);
    free(web);
}

uint16_t micap_web_port(const micap_web *web)
{
    return atomic_load_explicit(&web->port, memory_order_acquire);
}

bool micap_socket_send(micap_socket *socket, bool is_text, const void *bytes, size_t count)
{
    int opcode = is_text ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY;
    return mg_websocket_write(socket->connection, opcode, bytes, count) > 0;
}

void micap_socket_set_data(micap_socket *socket, void *data)
{
    socket->data = data;
}

void *micap_socket_data(const micap_socket *socket)
{
    return socket->data;
}
