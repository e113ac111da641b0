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
        micap_socket_send(inspector->sockets[i], true, text.bytes, text.byte_count);
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

int run_inspect(const options *options)
{
    if (options->input_count > SOURCES_MAX)
        return complain("inspect: at most %d programs and files at a time", SOURCES_MAX);
    inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector)
        return complain("out of memory");
    pthread_mutex_init(&inspector->lock, NULL);
    int status = EXIT_FINE;
    /* All inputs belong to a recording, as for mica replay. */
    uint32_t count = is_recording_file(options->inputs[0]) ? 1 : options->input_count;
    for (uint32_t i = 0; status == EXIT_FINE && i < count; ++i)
        status = source_open(&inspector->sources[inspector->source_count++], options, options->inputs[i]) ? EXIT_FINE
                                                                                                          : EXIT_BAD;
    if (status == EXIT_FINE)
        status = serve(inspector, options);
    for (uint32_t i = 0; i < inspector->source_count; ++i)
        source_close(&inspector->sources[i]);
    pthread_mutex_destroy(&inspector->lock);
    free(inspector);
    return status;
}
