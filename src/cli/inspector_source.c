/* A program or a file that is looked at. */
#include "base/byte_stream.h"
#include "cli/inspector.h"
#include "inspect/protocol.h"
#include "inspect/type_codec.h"
#include "inspect/web_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECONNECT_SECONDS = 1, ALIVE_SECONDS = 3, PENDING_MAX = MICAP_DELTAS_IN_FLIGHT / 2 };

static void hear_report(const mica_report *report, void *context)
{
    source *source = context;
    snprintf(source->problem, sizeof source->problem, "%s", report->text);
}

static void forget_world(source *source)
{
    source_close_database(source);
    watches_clear(source);
    events_clear(source);
    history_clear(source);
    mica_replica_destroy(source->replica);
    if (source->is_program)
        mica_world_destroy(source->world);
    source->replica = NULL;
    source->world = NULL;
    while (source->pending_count)
        free(source->pending[--source->pending_count].bytes);
}

/* A program that was started again has nothing in common with the one before it. */
static bool begin_world(source *source, micap_reader *reader)
{
    size_t length;
    uint64_t version = micap_reader_take_number(reader);
    bool is_read_only = micap_reader_take_number(reader) != 0;
    const char *name = micap_reader_take_text(reader, &length);
    if (reader->failed || version != MICAP_PROTOCOL_VERSION) {
        snprintf(source->problem, sizeof source->problem, "the program speaks another version of the protocol");
        return false;
    }
    mica_world_def def = mica_world_def_default();
    def.report = hear_report;
    def.report_context = source;
    forget_world(source);
    source->is_read_only = is_read_only;
    snprintf(source->name, sizeof source->name, "%.*s", (int)(length < 63 ? length : 63), name);
    source->world = mica_world_create(&def);
    source->replica = source->world ? mica_replica_create(source->world, NULL) : NULL;
    return source->replica != NULL;
}

static bool apply_delta(source *source, micap_reader reader)
{
    uint64_t frame = micap_reader_take64(&reader), bits = micap_reader_take64(&reader),
             version = micap_reader_take64(&reader);
    source->is_paused = micap_reader_take_number(&reader) != 0;
    source->arriving = frame;
    if (reader.failed || !source->replica ||
        mica_delta_apply(source->replica, reader.at, micap_reader_left(&reader)) != MICA_OK)
        return false;
    double seconds;
    memcpy(&seconds, &bits, sizeof seconds);
    history_push(source, frame, seconds);
    events_observe(source);
    watches_sample(source, frame);
    char text[64];
    int length = snprintf(text, sizeof text, "0 ack %" PRIu64, version);
    if (source->client)
        micap_web_client_send(source->client, text, (size_t)length);
    return true;
}

static bool keep_bytes(char **copy, size_t *copy_bytes, const char *bytes, size_t count)
{
    char *fresh = malloc(count + 1);
    if (!fresh)
        return false;
    memcpy(fresh, bytes, count);
    fresh[count] = 0;
    free(*copy);
    *copy = fresh;
    *copy_bytes = count;
    return true;
}

static bool keep_delta(source *source, const char *bytes, size_t count)
{
    uint32_t at = source->pending_count;
    if (at == MICAP_DELTAS_IN_FLIGHT)
        return false;
    source->pending[at].bytes = NULL;
    if (!keep_bytes(&source->pending[at].bytes, &source->pending[at].count, bytes, count))
        return false;
    ++source->pending_count;
    return true;
}

static bool take_reply(source *source, micap_reader *reader)
{
    size_t length;
    uint64_t number = micap_reader_take_number(reader);
    if (!number) /* no request waits for it */
        return true;
    source->reply = number;
    source->reply_result = (mica_result)micap_reader_take_up_to(reader, MICA_ERROR_FILE);
    const char *text = micap_reader_take_text(reader, &length);
    if (!reader->failed)
        snprintf(source->reply_text, sizeof source->reply_text, "%.*s",
                 (int)(length < REPLY_BYTES_MAX ? length : REPLY_BYTES_MAX - 1), text);
    pthread_cond_broadcast(&source->changed);
    return !reader->failed;
}

void source_apply_pending(source *source)
{
    for (uint32_t i = 0; i < source->pending_count; ++i) {
        char *bytes = source->pending[i].bytes;
        apply_delta(source, (micap_reader){.begin = bytes, .at = bytes, .end = bytes + source->pending[i].count});
        free(bytes);
    }
    source->pending_count = 0;
}

/* Whether frames can be added to the history, and the one that is shown stays. */
static bool has_room_for_pending(const source *source)
{
    bool is_full = source->moment_count + PENDING_MAX > MOMENTS_MAX || source->moment_bytes > HISTORY_BYTES_MAX;
    return !is_full || source->shown >= PENDING_MAX;
}

/* A delta that arrives while a past frame is shown. The history continues: several at a time, since the world must be restored twice for them. If the frame that is
 * shown would be dropped, they wait. They are acknowledged when they are applied, so the program soon sends no further ones. */
static bool receive_in_past(source *source, micap_reader reader)
{
    if (!keep_delta(source, reader.at, micap_reader_left(&reader)))
        return false;
    uint64_t shown = source->moment_dropped + source->shown;
    if (source->pending_count < PENDING_MAX || !has_room_for_pending(source) ||
        history_show(source, source->moment_count - 1) != MICA_OK)
        return true;
    source->held_moment = shown + 1;
    source_apply_pending(source);
    source->held_moment = 0;
    if (shown - source->moment_dropped + 1 < source->moment_count) /* else the program went back */
        history_show(source, (uint32_t)(shown - source->moment_dropped));
    return true;
}

static bool receive_locked(source *source, const char *bytes, size_t count)
{
    micap_reader reader = {.begin = bytes, .at = bytes + 1, .end = bytes + count};
    ++source->change;
    switch (*bytes) {
    case MICAP_MESSAGE_HELLO: return begin_world(source, &reader);
    case MICAP_MESSAGE_TYPES: return source->world && micap_types_read(source->world, &reader) == MICA_OK;
    case MICAP_MESSAGE_DELTA: return source->is_past ? receive_in_past(source, reader) : apply_delta(source, reader);
    case MICAP_MESSAGE_EVENTS: return events_receive(source, &reader);
    case MICAP_MESSAGE_STATS: return keep_bytes(&source->stats, &source->stats_bytes, bytes + 1, count - 1);
    case MICAP_MESSAGE_TIMELINE: return keep_bytes(&source->timeline, &source->timeline_bytes, bytes + 1, count - 1);
    case MICAP_MESSAGE_REPLY: return take_reply(source, &reader);
    default: return false;
    }
}

static bool receive(const char *bytes, size_t count, void *context)
{
    source *source = context;
    pthread_mutex_lock(&source->lock);
    bool fine = count && receive_locked(source, bytes, count);
    pthread_mutex_unlock(&source->lock);
    return fine;
}

static void end(void *context)
{
    source *source = context;
    pthread_mutex_lock(&source->lock);
    source->is_connected = false;
    ++source->change;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
}

void source_wait(source *source, int seconds)
{
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += seconds;
    pthread_cond_timedwait(&source->changed, &source->lock, &until);
}

/* Connects, again and again, until the source is closed. What the program sent last stays. */
static void *keep_connected(void *context)
{
    source *source = context;
    pthread_mutex_lock(&source->lock);
    while (!source->is_stopping) {
        char error[160];
        micap_web_client_def def = {.url = source->origin,
                                    .socket_path = MICAP_INSPECT_SOCKET,
                                    .received = receive,
                                    .closed = end,
                                    .context = source};
        struct micap_web_client *client = micap_web_connect(&def, error, sizeof error); /* messages wait for the lock */
        source->client = client;
        source->is_connected = client != NULL;
        if (!client && !source->world)
            snprintf(source->problem, sizeof source->problem, "%s", error);
        else if (client)
            *source->problem = 0;
        time_t alive = 0;
        while (source->is_connected && !source->is_stopping) {
            if (time(NULL) - alive >= ALIVE_SECONDS) {
                alive = time(NULL);
                micap_web_client_send(client, "0 alive", 7);
            }
            events_ask(source);
            source_wait(source, 1);
        }
        source->client = NULL;
        source->is_connected = false;
        pthread_mutex_unlock(&source->lock);
        micap_web_disconnect(client);
        pthread_mutex_lock(&source->lock);
        if (!source->is_stopping)
            source_wait(source, RECONNECT_SECONDS);
    }
    pthread_mutex_unlock(&source->lock);
    return NULL;
}

mica_result source_request(source *source, const char *line, const char *body, char *out_text, size_t capacity)
{
    static _Atomic uint64_t numbers;
    *out_text = 0;
    if (source->replayed)
        return recording_request(source, line, body, out_text, capacity);
    if (!source->is_connected) {
        snprintf(out_text, capacity, "%s",
                 source->is_program ? "the program is not connected" : "a file can't be changed");
        return MICA_ERROR_REFUSED;
    }
    size_t bytes = strlen(line) + strlen(body) + 40;
    char *text = malloc(bytes);
    if (!text)
        return MICA_ERROR_MEMORY;
    uint64_t number = ++numbers;
    int length = snprintf(text, bytes, "%" PRIu64 " %s\n%s", number, line, body);
    bool sent = micap_web_client_send(source->client, text, (size_t)length);
    free(text);
    time_t begin = time(NULL);
    while (sent && source->is_connected && source->reply != number && time(NULL) - begin < REQUEST_SECONDS_MAX)
        source_wait(source, 1);
    if (source->reply != number) {
        snprintf(out_text, capacity, "the program does not answer: it runs no frames");
        return MICA_ERROR_REFUSED;
    }
    snprintf(out_text, capacity, "%s", source->reply_text);
    return source->reply_result;
}

static bool open_file(source *source, const options *options, const char *path)
{
    struct options one = *options;
    one.inputs[0] = path;
    one.input_count = 1;
    const char *slash = strrchr(path, '/');
    snprintf(source->name, sizeof source->name, "%s", slash ? slash + 1 : path);
    if (!file_world_open(&source->file, &one))
        return false;
    source->world = source->file.world;
    source->file.is_quiet = true;
    history_push(source, 0, 0);
    return true;
}

bool source_open(source *source, const options *options, const char *origin)
{
    source->origin = origin;
    source->is_program = strncmp(origin, "http://", 7) == 0;
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->changed, NULL);
    const char *host = source->is_program ? origin + strlen("http://") : "";
    snprintf(source->name, sizeof source->name, "%.*s", (int)strcspn(host, "/?"), host); /* until it tells its own */
    if (!source->is_program && is_recording_file(origin)) {
        if (strcmp(origin, options->inputs[0]) != 0)
            return complain("inspect: %s: a recording comes first, and then the levels that it began with", origin) ==
                   EXIT_FINE;
        const char *slash = strrchr(origin, '/');
        snprintf(source->name, sizeof source->name, "%s", slash ? slash + 1 : origin);
        return recording_open(source, options);
    }
    if (!source->is_program)
        return open_file(source, options, origin);
    source->has_thread = pthread_create(&source->thread, NULL, keep_connected, source) == 0;
    return source->has_thread || (complain("inspect: no thread can be started"), false);
}

void source_close(source *source)
{
    if (source->has_thread) {
        pthread_mutex_lock(&source->lock);
        source->is_stopping = true;
        pthread_cond_broadcast(&source->changed);
        pthread_mutex_unlock(&source->lock);
        pthread_join(source->thread, NULL);
    }
    forget_world(source);
    recording_close(source);
    if (!source->is_program)
        file_world_close(&source->file);
    free(source->stats);
    free(source->timeline);
    free(source->watches);
}
