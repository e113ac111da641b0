/* Values that are noted while frames arrive, what wrote a value, and plots. */
#include "cli/inspector.h"
#include "inspect/writers.h"
#include "os/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 20000, BACK_MS_MAX = 300, FRAMES_TRIED_MAX = 12 };

/* The number in some bytes; NaN if they are not a number. */
static double number_of(mica_kind kind, uint32_t bytes, const void *data)
{
    uint64_t bits = 0;
    float single;
    double real;
    switch (kind) {
    case MICA_KIND_F32: memcpy(&single, data, sizeof single); return (double)single;
    case MICA_KIND_F64: memcpy(&real, data, sizeof real); return real;
    case MICA_KIND_BOOL:
    case MICA_KIND_U8: return (double)*(const uint8_t *)data;
    case MICA_KIND_I8: return (double)*(const int8_t *)data;
    case MICA_KIND_I16: return (double)*(const int16_t *)data;
    case MICA_KIND_U16: return (double)*(const uint16_t *)data;
    case MICA_KIND_I32: return (double)*(const int32_t *)data;
    case MICA_KIND_U32: return (double)*(const uint32_t *)data;
    case MICA_KIND_I64: return (double)*(const int64_t *)data;
    case MICA_KIND_U64: return (double)*(const uint64_t *)data;
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS:
        if (bytes == 4)
            return (double)*(const int32_t *)data;
        memcpy(&bits, data, bytes < 8 ? bytes : 8); /* little-endian machines have small values first */
        return (double)bits;
    default: return (double)NAN;
    }
}

static double field_number(const mica_world *world, mica_entity entity, mica_component component, const char *path)
{
    const void *value = mica_is_alive(world, entity) ? mica_get_id(world, entity, component) : NULL;
    mica_member member =
        value ? mica_member_find(mica_member_of(component, (void *)value), path, NULL) : (mica_member){0};
    return member.data && !member.count ? number_of(member.kind, member.element_bytes, member.data) : (double)NAN;
}

static double watch_value(const source *source, const watch *watch)
{
    return watch->query ? (double)mica_query_count(watch->query)
                        : field_number(source->world, watch->entity, watch->component, watch->path);
}

static void note(watch *watch, uint64_t frame, double value)
{
    while (watch->count && watch->frames[(watch->first + watch->count - 1) % MOMENTS_MAX] >= frame)
        --watch->count; /* a frame of a paused world, or the program went back */
    if (watch->count == MOMENTS_MAX) {
        watch->first = (watch->first + 1) % MOMENTS_MAX;
        --watch->count;
    }
    uint32_t at = (watch->first + watch->count++) % MOMENTS_MAX;
    watch->frames[at] = frame;
    watch->values[at] = value;
}

void watches_sample(source *source, uint64_t frame)
{
    for (uint32_t i = 0; i < source->watch_count; ++i)
        note(&source->watches[i], frame, watch_value(source, &source->watches[i]));
}

void watches_clear(source *source)
{
    for (uint32_t i = 0; i < source->watch_count; ++i)
        mica_query_destroy(source->watches[i].query);
    source->watch_count = 0;
}

/* Looks at past frames, as many as can be restored in some time, the newest first. */
static void look_back(source *source, watch *watch)
{
    uint64_t until = micap_clock_ns() + (uint64_t)BACK_MS_MAX * 1000000;
    uint32_t position = source->moment_count, first;
    double *values = malloc(sizeof *values * MOMENTS_MAX);
    while (values && position && micap_clock_ns() < until) {
        if (mica_snapshot_restore(source->world, history_at(source, position - 1)->snapshot) != MICA_OK)
            break;
        values[--position] = watch_value(source, watch);
    }
    for (first = position; values && first < source->moment_count; ++first)
        note(watch, history_at(source, first)->frame, values[first]);
    free(values);
    history_show_again(source);
}

static int add_watch(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    static uint32_t ids;
    char name[256];
    if (!source->watches)
        source->watches = calloc(WATCHES_MAX, sizeof *source->watches);
    if (!source->watches || source->watch_count == WATCHES_MAX)
        return write_error(writer, 409, "there are too many watches: remove one");
    watch *watch = &source->watches[source->watch_count];
    memset(watch, 0, sizeof *watch);
    if (micap_query_value(request->query, "component", name, sizeof name)) {
        watch->component = mica_component_find(source->world, name);
        micap_query_value(request->query, "field", watch->path, sizeof watch->path);
        if (!watch->component || !parameter_entity(request, "entity", &watch->entity))
            return write_error(writer, 404, "there is no such component");
        const char *entity = mica_name_get(source->world, watch->entity);
        if (entity)
            snprintf(watch->label, sizeof watch->label, "%.60s %.100s.%.100s", entity, name, watch->path);
        else
            snprintf(watch->label, sizeof watch->label, "#%u %.100s.%.100s", watch->entity.index, name, watch->path);
    } else {
        watch->query = query_of(source, request, writer);
        if (!watch->query)
            return 400;
        micap_query_value(request->query, "query", watch->label, sizeof watch->label);
        if (!*watch->label)
            snprintf(watch->label, sizeof watch->label, "entities");
    }
    watch->id = ++ids;
    ++source->watch_count;
    look_back(source, watch);
    micap_write(writer, "{\"id\":%u}", watch->id);
    return 200;
}

static int remove_watch(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t id = parameter_number(request, "id", 0);
    for (uint32_t i = 0; i < source->watch_count; ++i)
        if (source->watches[i].id == id) {
            mica_query_destroy(source->watches[i].query);
            memmove(&source->watches[i], &source->watches[i + 1],
                    (source->watch_count - i - 1) * sizeof *source->watches);
            --source->watch_count;
            micap_write(writer, "{}");
            return 200;
        }
    return write_error(writer, 404, "there is no such watch");
}

int answer_watch(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char what[16];
    micap_query_value(request->query, "do", what, sizeof what);
    return strcmp(what, "add") == 0      ? add_watch(source, request, writer)
           : strcmp(what, "remove") == 0 ? remove_watch(source, request, writer)
                                         : write_error(writer, 400, "expected ?do=add or ?do=remove");
}

int answer_watches(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t points = parameter_number(request, "points", 600);
    micap_write(writer, "{\"watches\":[");
    for (uint32_t i = 0; i < source->watch_count; ++i) {
        const watch *watch = &source->watches[i];
        uint32_t step = (uint32_t)(watch->count / (points ? points : 1)) + 1;
        micap_write(writer, "%s{\"id\":%u,\"query\":%s,\"label\":", i ? "," : "", watch->id,
                    watch->query ? "true" : "false");
        micap_write_string(writer, watch->label);
        micap_write(writer, ",\"frames\":[");
        for (uint32_t at = 0; at < watch->count; at += step)
            micap_write(writer, "%s%" PRIu64, at ? "," : "", watch->frames[(watch->first + at) % MOMENTS_MAX]);
        micap_write(writer, "],\"values\":[");
        for (uint32_t at = 0; at < watch->count; at += step) {
            double value = watch->values[(watch->first + at) % MOMENTS_MAX];
            micap_write(writer, "%s", at ? "," : "");
            if (isfinite(value))
                micap_write_real(writer, value, false);
            else
                micap_write(writer, "null");
        }
        micap_write(writer, "]}");
    }
    micap_write(writer, "]}");
    return 200;
}

int answer_timeline(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    (void)request;
    micap_write_text(writer, source->timeline ? source->timeline : "null",
                     source->timeline ? source->timeline_bytes : 4);
    return 200;
}

/* The program continues from a past frame; the page shows the present. */
int answer_branch(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char line[64], text[400];
    uint32_t position;
    uint64_t frame = parameter_number(request, "frame", UINT64_MAX);
    if (source->replayed)
        return recording_branch(source, request, writer);
    if (!history_find(source, frame, &position))
        return write_error(writer, 404, "the frame is older than the history");
    snprintf(line, sizeof line, "branch %" PRIu64, history_at(source, position)->frame);
    if (history_show(source, source->moment_count - 1) == MICA_OK)
        source_apply_pending(source);
    mica_result result = source_request(source, line, "", text, sizeof text);
    if (result != MICA_OK)
        return write_error(writer, 409, *text ? text : mica_result_text(result));
    micap_write(writer, "{}");
    return 200;
}

/* What changed a field in a frame, or in the frames since the moment before it, which the program did not send. */
static int wrote_in_recording(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char component[256], field[256];
    micap_writers_def def = {.path = field};
    micap_query_value(request->query, "component", component, sizeof component);
    micap_query_value(request->query, "field", field, sizeof field);
    def.component = mica_component_find(source->world, component);
    if (!def.component || !parameter_entity(request, "entity", &def.entity))
        return write_error(writer, 404, "there is no such entity or component");
    return recording_wrote(source, def, parameter_number(request, "frame", 0), writer);
}

int answer_wrote(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char component[256], field[256], line[96], body[520];
    if (source->replayed)
        return wrote_in_recording(source, request, writer);
    char *text = malloc(REPLY_BYTES_MAX);
    mica_entity entity;
    uint32_t position;
    uint64_t frame = parameter_number(request, "frame", 0);
    micap_query_value(request->query, "component", component, sizeof component);
    micap_query_value(request->query, "field", field, sizeof field);
    bool fine = text && parameter_entity(request, "entity", &entity) && history_find(source, frame, &position);
    if (!fine)
        return free(text), write_error(writer, 404, "there is no such entity or frame");
    uint64_t since = position ? history_at(source, position - 1)->frame : 0;
    mica_result result = MICA_ERROR_UNKNOWN;
    snprintf(body, sizeof body, "%s\n%s", component, field);
    snprintf(text, REPLY_BYTES_MAX, "the program does not keep this frame");
    for (uint32_t tried = 0; frame > since && tried < FRAMES_TRIED_MAX; --frame, ++tried) {
        snprintf(line, sizeof line, "wrote %" PRIu64 " %" PRIu64, (uint64_t)entity.generation << 32 | entity.index,
                 frame);
        result = source_request(source, line, body, text, REPLY_BYTES_MAX);
        if (result != MICA_OK || strcmp(text, "[]") != 0)
            break;
    }
    if (result == MICA_OK) {
        micap_write(writer, "{\"frame\":%" PRIu64 ",\"changes\":", frame);
        micap_write_text(writer, text, strlen(text));
        micap_write(writer, "}");
    } else {
        write_error(writer, 409, text);
    }
    free(text);
    return result == MICA_OK ? 200 : 409;
}

/* A field of a component, "Place.x". */
typedef struct axis {
    mica_component component; /* 0: none */
    char path[256];
} axis;

static axis axis_of(const source *source, const micap_web_request *request, const char *name)
{
    axis axis = {0};
    char text[512], *dot;
    if (!micap_query_value(request->query, name, text, sizeof text))
        return axis;
    for (dot = strchr(text, '.'); dot && !axis.component; dot = strchr(dot + 1, '.')) { /* names may have dots */
        *dot = 0;
        axis.component = mica_component_find(source->world, text);
        *dot = '.';
        snprintf(axis.path, sizeof axis.path, "%s", dot + 1);
    }
    return axis;
}

static void write_number(micap_json_writer *writer, double value)
{
    if (isfinite(value))
        micap_write_real(writer, value, true);
    else
        micap_write(writer, "null");
}

/* [x, y, color, handle, ...] of the entities of a query, evenly chosen if there are too many. */
int answer_scatter(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    axis axes[3] = {axis_of(source, request, "x"), axis_of(source, request, "y"), axis_of(source, request, "color")};
    if (!axes[0].component || !axes[1].component)
        return write_error(writer, 400, "expected ?x= and ?y= with fields such as Place.x");
    mica_query *query = query_of(source, request, writer);
    if (!query)
        return 400;
    uint64_t total = mica_query_count(query), step = total / POINTS_MAX + 1, at = 0, listed = 0;
    micap_write(writer, "{\"total\":%" PRIu64 ",\"step\":%" PRIu64 ",\"points\":[", total, step);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++at) {
            if (at % step)
                continue;
            double x = field_number(source->world, view.entities[i], axes[0].component, axes[0].path);
            double y = field_number(source->world, view.entities[i], axes[1].component, axes[1].path);
            if (!isfinite(x) || !isfinite(y))
                continue;
            micap_write(writer, "%s", listed++ ? "," : "");
            write_number(writer, x);
            micap_write(writer, ",");
            write_number(writer, y);
            micap_write(writer, ",");
            write_number(writer, axes[2].component
                                     ? field_number(source->world, view.entities[i], axes[2].component, axes[2].path)
                                     : (double)NAN);
            micap_write(writer, ",");
            write_handle(writer, view.entities[i]);
        }
    micap_write(writer, "]}");
    mica_query_destroy(query);
    return 200;
}
