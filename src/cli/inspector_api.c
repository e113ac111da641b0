/* Which request is answered by which function: docs/inspect_api.yaml describes them. */
#include "cli/inspector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t parameter_number(const micap_web_request *request, const char *name, uint64_t otherwise)
{
    char text[32], *end;
    if (!micap_query_value(request->query, name, text, sizeof text) || !*text)
        return otherwise;
    uint64_t number = strtoull(text, &end, 10);
    return *end ? otherwise : number;
}

bool parameter_entity(const micap_web_request *request, const char *name, mica_entity *out)
{
    uint64_t number = parameter_number(request, name, 0);
    *out = (mica_entity){(uint32_t)number, (uint32_t)(number >> 32)};
    return number != 0;
}

int write_error(micap_json_writer *writer, int status, const char *text)
{
    micap_write(writer, "{\"error\":");
    micap_write_string(writer, text);
    micap_write(writer, "}");
    return status;
}

void write_status(source *source, micap_json_writer *writer)
{
    const moment *last = source->moment_count ? history_at(source, source->moment_count - 1) : NULL;
    const moment *shown = last && source->is_past ? history_at(source, source->shown) : last;
    micap_write(writer, "{\"name\":");
    micap_write_string(writer, source->name);
    micap_write(writer, ",\"program\":%s,\"connected\":%s,\"paused\":%s,\"read_only\":%s,\"live\":%s,\"ready\":%s",
                source->is_program ? "true" : "false", source->is_connected ? "true" : "false",
                source->is_paused ? "true" : "false",
                source->is_read_only || !(source->is_program || source->replayed) ? "true" : "false",
                source->is_past ? "false" : "true", source->world ? "true" : "false");
    micap_write(writer, ",\"change\":%" PRIu64 ",\"frame\":%" PRIu64 ",\"seconds\":%.9g,\"entities\":%" PRIu64,
                source->change, shown ? shown->frame : 0, shown ? shown->seconds : 0, shown ? shown->entity_count : 0);
    micap_write(writer, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"moments\":%u,\"problem\":",
                last ? history_at(source, 0)->frame : 0, last ? last->frame : 0, source->moment_count);
    micap_write_string(writer, source->problem);
    const replayed *replayed = source->replayed;
    micap_write(writer, ",\"recording\":%s,\"ticks\":%u,\"branched\":%s}", replayed ? "true" : "false",
                replayed ? replayed->run.tick_count : 0, replayed && replayed->is_branched ? "true" : "false");
}

static int answer_status(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)request;
    write_status(source, writer);
    return 200;
}

static int answer_stats(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)request;
    micap_write_text(writer, source->stats ? source->stats : "null", source->stats ? source->stats_bytes : 4);
    return 200;
}

static int answer_control(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char line[256], text[400];
    if (!micap_query_value(request->query, "do", line, sizeof line) || !*line || strchr(line, '\n'))
        return write_error(writer, 400, "expected ?do= with a request");
    if (source->is_past)
        return write_error(writer, 409, "a past frame is shown: go back to the present first");
    mica_result result = source_request(source, line, request->body, text, sizeof text);
    if (result != MICA_OK)
        return write_error(writer, 409, *text ? text : mica_result_text(result));
    micap_write(writer, "{\"text\":");
    micap_write_string(writer, text);
    micap_write(writer, "}");
    return 200;
}

static const struct {
    const char *path;
    bool is_post;
    bool needs_world;
    int (*answer)(source *source, const micap_web_request *request, micap_json_writer *writer);
} routes[] = {
    {"/api/status", false, false, answer_status},
    {"/api/stats", false, false, answer_stats},
    {"/api/components", false, true, answer_components},
    {"/api/entities", false, true, answer_entities},
    {"/api/tree", false, true, answer_tree},
    {"/api/entity", false, true, answer_entity},
    {"/api/query", false, true, answer_query},
    {"/api/sql", true, true, answer_sql},
    {"/api/memory", false, true, answer_memory},
    {"/api/history", false, true, answer_history},
    {"/api/show", true, true, answer_show},
    {"/api/diff", false, true, answer_diff},
    {"/api/changes", false, true, answer_changes},
    {"/api/branch", true, true, answer_branch},
    {"/api/wrote", false, true, answer_wrote},
    {"/api/timeline", false, false, answer_timeline},
    {"/api/scatter", false, true, answer_scatter},
    {"/api/watches", false, true, answer_watches},
    {"/api/watch", true, true, answer_watch},
    {"/api/events", false, true, answer_events},
    {"/api/control", true, false, answer_control},
};

static int write_sources(inspector *inspector, micap_json_writer *writer)
{
    micap_write(writer, "[");
    for (uint32_t i = 0; i < inspector->source_count; ++i) {
        micap_write(writer, "%s", i ? "," : "");
        pthread_mutex_lock(&inspector->sources[i].lock);
        write_status(&inspector->sources[i], writer);
        pthread_mutex_unlock(&inspector->sources[i].lock);
    }
    micap_write(writer, "]");
    return 200;
}

static int answer_route(inspector *inspector, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t number = parameter_number(request, "source", 0);
    if (strcmp(request->path, "/api/sources") == 0)
        return write_sources(inspector, writer);
    if (number >= inspector->source_count)
        return write_error(writer, 404, "there is no such source");
    source *source = &inspector->sources[number];
    for (size_t i = 0; i < sizeof routes / sizeof *routes; ++i) {
        if (strcmp(request->path, routes[i].path) != 0)
            continue;
        if (routes[i].is_post != (strcmp(request->method, "POST") == 0))
            return write_error(writer, 400, routes[i].is_post ? "expected POST" : "expected GET");
        pthread_mutex_lock(&source->lock);
        int status = !source->world && routes[i].needs_world
                         ? write_error(writer, 409, "the program has not sent anything yet")
                         : routes[i].answer(source, request, writer);
        pthread_mutex_unlock(&source->lock);
        return status;
    }
    return write_error(writer, 404, "there is no such address");
}

void answer_request(const micap_web_request *request, micap_web_reply *reply, void *context)
{
    if (strcmp(request->path, "/") == 0) {
        *reply = (micap_web_reply){.status = 200,
                                   .type = "text/html; charset=utf-8",
                                   .constant = (const char *)inspector_page,
                                   .body_bytes = inspector_page_bytes};
        return;
    }
    micap_json_writer writer;
    mica_blob text;
    micap_writer_init(&writer);
    int status = answer_route(context, request, &writer);
    if (micap_writer_finish(&writer, &text) != MICA_OK) {
        *reply = (micap_web_reply){.status = 503, .constant = "{\"error\":\"out of memory\"}", .body_bytes = 25};
        return;
    }
    /* The server frees the body. */
    char *copy = malloc(text.byte_count + 1);
    if (copy)
        memcpy(copy, text.bytes, text.byte_count);
    *reply = (micap_web_reply){.status = copy ? status : 503, .body = copy, .body_bytes = copy ? text.byte_count : 0};
    mica_blob_free(&text);
}
