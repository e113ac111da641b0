/* mica inspect: look into programs, recordings, saves and levels with a web page. */
#include "cli/inspector.h"
#include "os/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUSH_INTERVAL_NS = 50 * 1000 * 1000 };

static volatile sig_atomic_t is_ending;

static void end(int number)
{
    (void)number;
    is_ending = 1;
}

static bool open_socket(micap_socket *socket, void *context)
{
    inspector *inspector = context;
    pthread_mutex_lock(&inspector->lock);
    bool fits = inspector->socket_count < sizeof inspector->sockets / sizeof *inspector->sockets;
    if (fits)
        inspector->sockets[inspector->socket_count++] = socket;
    pthread_mutex_unlock(&inspector->lock);
    return fits;
}

static void close_socket(micap_socket *socket, void *context)
{
    inspector *inspector = context;
    pthread_mutex_lock(&inspector->lock);
    for (uint32_t i = 0; i < inspector->socket_count; ++i)
        if (inspector->sockets[i] == socket)
            inspector->sockets[i--] = inspector->sockets[--inspector->socket_count];
    pthread_mutex_unlock(&inspector->lock);
}

/* Tells all pages what has changed; they ask for what they show. */
static void push_status(inspector *inspector, uint32_t number)
{
    source *source = &inspector->sources[number];
    micap_json_writer writer;
    mica_blob text;
    micap_writer_init(&writer);
    micap_write(&writer, "{\"source\":%u,\"status\":", number);
    pthread_mutex_lock(&source->lock);
    write_status(source, &writer);
    pthread_mutex_unlock(&source->lock);
    micap_write(&writer, "}");
    if (micap_writer_finish(&writer, &text) != MICA_OK)
        return;
    pthread_mutex_lock(&inspector->lock);
    for (uint32_t i = 0; i < inspector->socket_count; ++i)
        if (!micap_socket_send(inspector->sockets[i], true, text.bytes,
                               text.byte_count)) /* the others wait for it once */
            inspector->sockets[i--] = inspector->sockets[--inspector->socket_count];
    pthread_mutex_unlock(&inspector->lock);
    mica_blob_free(&text);
}

static void push_changes(inspector *inspector)
{
    uint64_t seen[SOURCES_MAX];
    memset(seen, 0xFF, sizeof seen);
    while (!is_ending) {
        micap_sleep_ns(PUSH_INTERVAL_NS);
        for (uint32_t i = 0; i < inspector->source_count; ++i) {
            source *source = &inspector->sources[i];
            pthread_mutex_lock(&source->lock);
            uint64_t change = source->change;
            pthread_mutex_unlock(&source->lock);
            if (change == seen[i])
                continue;
            seen[i] = change;
            push_status(inspector, i);
        }
    }
}

static int serve(inspector *inspector, const options *options)
{
    char token[MICAP_TOKEN_MAX + 1], error[160];
    if (options->token && !micap_token_check(options->token))
        return complain("inspect: a token has 16 to 64 letters and digits");
    if (options->token)
        snprintf(token, sizeof token, "%s", options->token);
    else if (!micap_token_make(token))
        return complain("inspect: no random numbers for a token");
    micap_web_def def = {.address = "127.0.0.1",
                         .port = (uint16_t)options->port,
                         .token = token,
                         .socket_max = 16,
                         .socket_path = "/live",
                         .answer = answer_request,
                         .opened = open_socket,
                         .closed = close_socket,
                         .context = inspector};
    micap_web *web = micap_web_start(&def, error, sizeof error);
    if (!web)
        return complain("inspect: %s", error);
    printf("open http://127.0.0.1:%u/?token=%s\n", micap_web_port(web), token);
    fflush(stdout);
    signal(SIGINT, end);
    signal(SIGTERM, end);
    push_changes(inspector);
    micap_web_stop(web);
    return EXIT_FINE;
}

/* The ports of "http://host:43817-43820/?token=...", and where they begin and end in it. A single port, or anything else, is no range. */
typedef struct port_range {
    size_t begin, end;
    long first, last;
} port_range;

static bool find_ports(const char *input, port_range *out)
{
    const char *host = strncmp(input, "http://", 7) == 0 ? input + 7 : NULL;
    const char *after = host ? host + strcspn(host, "/?") : NULL, *colon = after;
    while (colon && colon > host && *colon != ':')
        --colon;
    if (!colon || *colon != ':')
        return false;
    char *dash, *end;
    long first = strtol(colon + 1, &dash, 10), last = *dash == '-' ? strtol(dash + 1, &end, 10) : 0;
    if (*dash != '-' || end != after)
        return false;
    *out = (port_range){(size_t)(colon + 1 - input), (size_t)(after - input), first, last};
    return true;
}

/* Adds an input, or, for a range of ports, a program for each: the ranks of a cluster. */
static int add_origins(inspector *inspector, const char *input)
{
    port_range range = {0};
    bool is_range = find_ports(input, &range);
    if (is_range && (range.first < 1 || range.last > 65535 || range.last < range.first))
        return complain("inspect: %s: expected ports from 1 to 65535, the lower one first", input);
    for (long port = range.first; port <= range.last; ++port) {
        if (inspector->origin_count == SOURCES_MAX)
            return complain("inspect: at most %d programs and files at a time", SOURCES_MAX);
        size_t capacity = strlen(input) + 8;
        char *origin = malloc(capacity);
        if (!origin)
            return complain("out of memory");
        if (is_range)
            snprintf(origin, capacity, "%.*s%ld%s", (int)range.begin, input, port, input + range.end);
        else
            snprintf(origin, capacity, "%s", input);
        inspector->origins[inspector->origin_count++] = origin;
    }
    return EXIT_FINE;
}

int run_inspect(const options *options)
{
    inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector)
        return complain("out of memory");
    pthread_mutex_init(&inspector->lock, NULL);
    int status = EXIT_FINE;
    /* All inputs belong to a recording, as for mica replay. */
    uint32_t count = is_recording_file(options->inputs[0]) ? 1 : options->input_count;
    for (uint32_t i = 0; status == EXIT_FINE && i < count; ++i)
        status = add_origins(inspector, options->inputs[i]);
    for (uint32_t i = 0; status == EXIT_FINE && i < inspector->origin_count; ++i)
        status = source_open(&inspector->sources[inspector->source_count++], options, inspector->origins[i]) ? EXIT_FINE
                                                                                                             : EXIT_BAD;
    if (status == EXIT_FINE)
        status = serve(inspector, options);
    for (uint32_t i = 0; i < inspector->source_count; ++i)
        source_close(&inspector->sources[i]);
    while (inspector->origin_count)
        free(inspector->origins[--inspector->origin_count]);
    pthread_mutex_destroy(&inspector->lock);
    free(inspector);
    return status;
}
