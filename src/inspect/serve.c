/* The server in a program: see mica/inspect.h. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/argument.h"
#include "inspect/edit.h"
#include "inspect/protocol.h"
#include "inspect/session.h"
#include "inspect/stats_text.h"
#include "inspect/type_codec.h"
#include "inspect/web.h"
#include "mica/delta.h"
#include "mica/flow.h"
#include "mica/inspect.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CLIENTS_DEFAULT = 4,
    CLIENTS_MAX = 16,
    STATS_FRAMES = 120,
    STATS_INTERVAL_NS = 250 * 1000 * 1000,
    TRACE_INTERVAL_NS = 400 * 1000 * 1000,
    DELTA_BYTES_SMALL = 256 << 10,             /* such deltas are sent after each frame */
    DELTA_INTERVAL_NS_MAX = 100 * 1000 * 1000, /* between larger ones */
    DELTA_NS_PER_KIB = 100 * 1000,             /* 10 MiB per second */
};

struct mica_inspector {
    mica_world *world;
    micap_edit_target target;
    bool keeps_past;
    bool is_tracing;
    bool is_watching;  /* what passes through the world is listed */
    uint64_t trace_ns; /* when a frame was traced */
    mica_sender *sender;
    micap_web *web;
    micap_memory memory;
    micap_bytes head; /* of the message that is being written */
    bool read_only;
    bool sends_every_frame; /* large deltas, too */
    bool is_hurried;        /* a request was answered: its effect is not held back */
    bool has_stats;         /* they were enabled here */
    bool was_connected;
    char name[64];
    char url[160];
    pthread_mutex_t lock; /* of the list, and of the sessions in it against being freed */
    micap_session *sessions;
    atomic_uint session_count;
};

/* Begins a message. */
static micap_bytes *begin(mica_inspector *inspector, char kind)
{
    inspector->head.count = 0;
    inspector->head.failed = false;
    micap_bytes_put(&inspector->head, &kind, 1);
    return &inspector->head;
}

static void send_hello(mica_inspector *inspector, micap_session *session)
{
    micap_bytes *head = begin(inspector, MICAP_MESSAGE_HELLO);
    micap_bytes_put_number(head, MICAP_PROTOCOL_VERSION);
    micap_bytes_put_number(head, inspector->read_only);
    micap_bytes_put_text(head, inspector->name);
    micap_session_send(session, head, NULL, 0);
    session->has_hello = true;
}

static void send_types(mica_inspector *inspector, micap_session *session)
{
    uint32_t count = mica_world_get_stats(inspector->world).component_count;
    if (session->type_count == count)
        return;
    micap_bytes *head = begin(inspector, MICAP_MESSAGE_TYPES);
    micap_types_write(inspector->world, head);
    micap_session_send(session, head, NULL, 0);
    session->type_count = count;
}

/* Whether the thread of a connection still copies the last delta from the buffer of the sender. */
static bool is_sender_in_use(const mica_inspector *inspector)
{
    bool is_in_use = false;
    for (micap_session *session = inspector->sessions; session; session = session->next)
        is_in_use |= micap_session_is_borrowing(session);
    return is_in_use;
}

/* How long the next delta is held back. Encoding a large one costs the program little, but sending, receiving and applying it takes the memory and the caches of
 * the machine from the program. A change that comes again in the next frame is sent once. */
static uint64_t rest_after(const mica_inspector *inspector, size_t bytes)
{
    uint64_t rest = (uint64_t)bytes / 1024 * DELTA_NS_PER_KIB;
    if (bytes <= DELTA_BYTES_SMALL || inspector->sends_every_frame)
        return 0;
    return rest < DELTA_INTERVAL_NS_MAX ? rest : DELTA_INTERVAL_NS_MAX;
}

/* Whether it is time for the next delta. While the world is paused there is nothing to hold back. */
static bool is_due(const mica_inspector *inspector, const micap_session *session)
{
    return inspector->is_hurried || mica_is_paused(inspector->world) || !session->delta_ns ||
           micap_clock_ns() >= session->delta_ns;
}

/* Deltas are encoded as fast as the client acknowledges them, so a slow client gets fewer, and larger ones. */
static void send_delta(mica_inspector *inspector, micap_session *session)
{
    mica_delta delta;
    if (mica_delta_encode(inspector->sender, session->sent, &delta) != MICA_OK)
        return; /* the world has reported why */
    mica_time time = mica_time_get(inspector->world);
    uint64_t seconds;
    memcpy(&seconds, &time.seconds, sizeof seconds);
    micap_bytes *head = begin(inspector, MICAP_MESSAGE_DELTA);
    micap_bytes_put64(head, time.frame);
    micap_bytes_put64(head, seconds);
    micap_bytes_put64(head, delta.version);
    micap_bytes_put_number(head, mica_is_paused(inspector->world));
    if (inspector->sessions->next) /* the next one needs the buffer of the sender */
        micap_session_send(session, head, delta.bytes, delta.byte_count);
    else
        micap_session_lend(session, head, delta.bytes, delta.byte_count);
    session->sent = delta.version;
    ++session->in_flight;
    uint64_t rest = rest_after(inspector, delta.byte_count);
    session->delta_ns = rest ? micap_clock_ns() + rest : 0;
}

static void send_stats(mica_inspector *inspector, micap_session *session)
{
    uint64_t now = micap_clock_ns();
    if (session->stats_ns && now - session->stats_ns < STATS_INTERVAL_NS)
        return;
    session->stats_ns = now;
    micap_bytes *head = begin(inspector, MICAP_MESSAGE_STATS);
    micap_stats_write(&inspector->target, head);
    micap_session_send(session, head, NULL, 0);
}

static void acknowledge(micap_session *session, const char *version)
{
    uint64_t number = strtoull(version, NULL, 10);
    if (session->in_flight && number > session->acknowledged && number <= session->sent) {
        --session->in_flight;
        session->acknowledged = number;
    }
}

static void reply(mica_inspector *inspector, micap_session *session, uint64_t number, mica_result result,
                  const char *text)
{
    micap_bytes *head = begin(inspector, MICAP_MESSAGE_REPLY);
    micap_bytes_put_number(head, number);
    micap_bytes_put_number(head, (uint64_t)result);
    micap_bytes_put_text(head, text);
    micap_session_send(session, head, NULL, 0);
}

/* Requests of a connection that change nothing in the world. */
static bool run_own_request(micap_session *session, const char *line)
{
    if (strncmp(line, "ack ", 4) == 0)
        acknowledge(session, line + 4);
    else if (strcmp(line, "events on") == 0 || strcmp(line, "events off") == 0)
        session->wants_events = strcmp(line, "events on") == 0;
    else
        return strcmp(line, "alive") == 0;
    return true;
}

/* "12 entity 4294967297\n{...}": the number comes back in the reply. */
static void run_request(mica_inspector *inspector, micap_session *session, char *request)
{
    char *body = strchr(request, '\n'), *line,
         text[MICAP_EDIT_TEXT_MAX] = "changes are not allowed: the program is read-only";
    uint64_t number = strtoull(request, &line, 10);
    if (body)
        *body++ = 0;
    line += *line == ' ';
    if (run_own_request(session, line))
        return;
    micap_bytes *answer = &inspector->target.answer;
    answer->count = 0;
    mica_result result =
        inspector->read_only ? MICA_ERROR_REFUSED : micap_edit_run(&inspector->target, line, body ? body : "", text);
    inspector->is_hurried = true;
    reply(inspector, session, number, result, answer->count && !answer->failed ? answer->data : text);
}

static void run_requests(mica_inspector *inspector, micap_session *session)
{
    for (micap_packet *packet = micap_session_take(session), *next; packet; packet = next) {
        next = packet->next;
        if (strlen(packet->bytes) == packet->count) /* a zero byte inside is no text */
            run_request(inspector, session, packet->bytes);
        free(packet);
    }
}

static void keep_stats(mica_inspector *inspector, bool needed)
{
    mica_frame_stats stats;
    if (needed && !inspector->has_stats && !mica_stats_get_frame(inspector->world, 0, &stats))
        inspector->has_stats = mica_stats_enable(inspector->world, STATS_FRAMES) == MICA_OK;
    if (!needed && inspector->has_stats) {
        mica_stats_enable(inspector->world, 0);
        inspector->has_stats = false;
    }
}

/* Sends the trace of the frame that has ended to all. */
static void send_timeline(mica_inspector *inspector)
{
    char *text = NULL;
    size_t count = 0;
    FILE *file = open_memstream(&text, &count);
    mica_result result = file ? mica_trace_stop_to(inspector->world, file) : mica_trace_stop(inspector->world, NULL);
    inspector->is_tracing = false;
    bool is_written = file && fclose(file) == 0 && result == MICA_OK;
    for (micap_session *session = inspector->sessions; is_written && session; session = session->next)
        if (micap_session_is_idle(session))
            micap_session_send(session, begin(inspector, MICAP_MESSAGE_TIMELINE), text, count);
    free(text);
}

/* Traces one frame now and then. */
static void trace(mica_inspector *inspector)
{
    uint64_t now = micap_clock_ns();
    if (inspector->is_tracing)
        send_timeline(inspector);
    if (!inspector->target.has_timeline || now - inspector->trace_ns < TRACE_INTERVAL_NS)
        return;
    inspector->trace_ns = now;
    inspector->is_tracing = mica_trace_start(inspector->world) == MICA_OK;
    inspector->target.has_timeline = inspector->is_tracing; /* the program may have a trace of its own */
}

/* Sends what passed through the world in the frame that has ended, to those that want to know. */
static void send_events(mica_inspector *inspector)
{
    micap_traffic_log *log = &inspector->target.traffic;
    bool is_wanted = false;
    for (micap_session *session = inspector->sessions; session; session = session->next) {
        is_wanted |= session->wants_events;
        if (!session->wants_events || (!log->count && !log->left_out) || log->bytes.failed ||
            micap_session_is_slow(session))
            continue;
        micap_bytes *head = begin(inspector, MICAP_MESSAGE_EVENTS);
        micap_bytes_put64(head, mica_time_get(inspector->world).frame);
        micap_bytes_put_number(head, log->left_out);
        micap_session_send(session, head, log->bytes.data, log->bytes.count);
    }
    micap_traffic_log_clear(log);
    if (is_wanted == inspector->is_watching)
        return;
    mica_result result = mica_traffic_watch(inspector->world, is_wanted ? micap_traffic_log_add : NULL, log);
    inspector->is_watching = is_wanted && result == MICA_OK;
    for (micap_session *session = inspector->sessions; result != MICA_OK && session; session = session->next)
        session->wants_events = false; /* the program watches itself */
}

/* What is there only while an inspector is connected. */
static void forget(mica_inspector *inspector)
{
    keep_stats(inspector, false);
    micap_past_forget(&inspector->target.past, inspector->world);
    micap_breakpoint_clear(&inspector->target.breakpoint);
    inspector->target.has_timeline = false;
    if (inspector->is_tracing)
        mica_trace_stop(inspector->world, NULL);
    inspector->is_tracing = false;
    if (inspector->is_watching)
        mica_traffic_watch(inspector->world, NULL, NULL);
    inspector->is_watching = false;
    micap_traffic_log_clear(&inspector->target.traffic);
}

static void after_frame(mica_world *world, void *context)
{
    mica_inspector *inspector = context;
    bool is_connected = atomic_load_explicit(&inspector->session_count, memory_order_acquire);
    if (!is_connected && inspector->was_connected)
        forget(inspector);
    inspector->was_connected = is_connected;
    if (!is_connected)
        return;
    keep_stats(inspector, true);
    inspector->is_hurried = false;
    pthread_mutex_lock(&inspector->lock);
    trace(inspector);
    send_events(inspector);
    if (micap_breakpoint_check(&inspector->target.breakpoint, world))
        for (micap_session *session = inspector->sessions; session; session = session->next)
            session->stats_ns = 0; /* they say why it is paused */
    for (micap_session *session = inspector->sessions; session; session = session->next)
        run_requests(inspector, session);
    if (inspector->keeps_past)
        micap_past_keep(&inspector->target.past, world);
    for (micap_session *session = inspector->sessions; session; session = session->next) {
        if (!session->has_hello)
            send_hello(inspector, session);
        if (!is_due(inspector, session) || session->in_flight >= MICAP_DELTAS_IN_FLIGHT ||
            !micap_session_is_idle(session) || is_sender_in_use(inspector))
            continue;
        send_types(inspector, session);
        send_delta(inspector, session);
        send_stats(inspector, session);
    }
    pthread_mutex_unlock(&inspector->lock);
}

static bool open_session(micap_socket *socket, void *context)
{
    mica_inspector *inspector = context;
    micap_session *session = micap_session_create(socket);
    if (!session)
        return false;
    micap_socket_set_data(socket, session);
    pthread_mutex_lock(&inspector->lock);
    session->next = inspector->sessions;
    inspector->sessions = session;
    pthread_mutex_unlock(&inspector->lock);
    atomic_fetch_add_explicit(&inspector->session_count, 1, memory_order_release);
    return true;
}

static bool receive(micap_socket *socket, const char *bytes, size_t count, void *context)
{
    (void)context;
    return micap_session_receive(micap_socket_data(socket), bytes, count);
}

static void close_session(micap_socket *socket, void *context)
{
    mica_inspector *inspector = context;
    micap_session *session = micap_socket_data(socket);
    pthread_mutex_lock(&inspector->lock);
    for (micap_session **at = &inspector->sessions; *at; at = &(*at)->next)
        if (*at == session) {
            *at = session->next;
            break;
        }
    pthread_mutex_unlock(&inspector->lock);
    atomic_fetch_sub_explicit(&inspector->session_count, 1, memory_order_release);
    micap_session_destroy(session);
}

/* Returns what is wrong with a def, or NULL. */
static const char *problem_of(const mica_inspect_def *def)
{
    if (def->token && !micap_token_check(def->token))
        return "inspect_serve: the token must have 16 to 64 letters and digits";
    if (def->client_max > CLIENTS_MAX)
        return "inspect_serve: client_max must be at most 16";
    if (def->name && strlen(def->name) >= 64)
        return "inspect_serve: the name must have less than 64 bytes";
    if (def->address && (!*def->address || strlen(def->address) >= 46 ||
                         def->address[strspn(def->address, "0123456789abcdefABCDEF.:")]))
        return "inspect_serve: the address must be an IP address";
    return NULL;
}

static bool start_web(mica_inspector *inspector, const mica_inspect_def *def)
{
    char token[MICAP_TOKEN_MAX + 1], error[160], text[256];
    const char *address = def->address ? def->address : "127.0.0.1";
    if (def->token)
        snprintf(token, sizeof token, "%s", def->token);
    else if (!micap_token_make(token))
        return mica_world_report(inspector->world, MICA_ERROR_FILE, "inspect_serve: no random numbers for a token"),
               false;
    micap_web_def web = {.address = address,
                         .port = def->port,
                         .token = token,
                         .socket_max = def->client_max ? def->client_max : CLIENTS_DEFAULT,
                         .socket_path = MICAP_INSPECT_SOCKET,
                         .opened = open_session,
                         .received = receive,
                         .closed = close_session,
                         .context = inspector};
    inspector->web = micap_web_start(&web, error, sizeof error);
    if (!inspector->web) {
        snprintf(text, sizeof text, "inspect_serve: %s", error);
        mica_world_report(inspector->world, MICA_ERROR_FILE, text);
        return false;
    }
    snprintf(inspector->url, sizeof inspector->url,
             strchr(address, ':') ? "http://[%s]:%u/?token=%s" : "http://%s:%u/?token=%s", address,
             micap_web_port(inspector->web), token);
    if (def->address && strcmp(def->address, "127.0.0.1") != 0) {
        snprintf(text, sizeof text, "inspect_serve: warning: the world can be inspected from the network, at %s",
                 address);
        mica_world_report(inspector->world, MICA_OK, text);
    }
    return true;
}

mica_inspector *mica_inspect_serve(mica_world *world, const mica_inspect_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const mica_inspect_def defaults = {0};
    def = def ? def : &defaults;
    const char *problem = problem_of(def);
    if (problem)
        return mica_world_report(world, MICA_ERROR_INVALID, problem), NULL;
    mica_inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector)
        return mica_world_report(world, MICA_ERROR_MEMORY, "inspect_serve: out of memory"), NULL;
    inspector->world = inspector->target.world = world;
    inspector->keeps_past = !def->read_only && !def->no_past;
    inspector->target.past.entity_max = def->past_entity_max ? def->past_entity_max : MICAP_PAST_ENTITIES;
    inspector->read_only = def->read_only;
    inspector->sends_every_frame = def->every_frame;
    snprintf(inspector->name, sizeof inspector->name, "%s", def->name ? def->name : "mica");
    micap_memory_init(&inspector->memory, (mica_allocator){0});
    inspector->head.memory = inspector->target.answer.memory = &inspector->memory;
    inspector->target.traffic.bytes.memory = &inspector->memory;
    pthread_mutex_init(&inspector->lock, NULL);
    bool is_set = mica_after_frame(world, after_frame, inspector) == MICA_OK;
    inspector->sender =
        is_set ? mica_sender_create(world, &(mica_sender_def){.skip_without_rule = true, .fields_without_rule = true})
               : NULL;
    if (inspector->sender && start_web(inspector, def)) {
        if (!def->quiet)
            printf("inspect this program: mica inspect '%s'\n", inspector->url), fflush(stdout);
        return inspector;
    }
    if (is_set)
        mica_after_frame(world, NULL, NULL);
    mica_sender_destroy(inspector->sender);
    pthread_mutex_destroy(&inspector->lock);
    free(inspector);
    return NULL;
}

void mica_inspect_stop(mica_inspector *inspector)
{
    if (!inspector)
        return;
    mica_after_frame(inspector->world, NULL, NULL);
    micap_web_stop(inspector->web); /* closes all sessions */
    forget(inspector);
    mica_sender_destroy(inspector->sender);
    micap_bytes_free(&inspector->head);
    micap_bytes_free(&inspector->target.answer);
    micap_bytes_free(&inspector->target.traffic.bytes);
    pthread_mutex_destroy(&inspector->lock);
    free(inspector);
}

const char *mica_inspect_url(const mica_inspector *inspector)
{
    return MICAP_MISSING(NULL, inspector) ? NULL : inspector->url;
}

uint32_t mica_inspect_client_count(const mica_inspector *inspector)
{
    return MICAP_MISSING(NULL, inspector) ? 0 : atomic_load_explicit(&inspector->session_count, memory_order_acquire);
}
