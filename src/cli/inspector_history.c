/* Past frames of a source. Each is a snapshot of its world, which costs what changed until the next one. */
#include "cli/inspector.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_MAX = 500, COMPONENTS_MAX = 256, CHANGES_MAX = 60, CHANGES_MS_MAX = 800 };

moment *history_at(source *source, uint32_t position)
{
    return &source->moments[(source->moment_first + position) % MOMENTS_MAX];
}

static void drop_oldest(source *source)
{
    moment *oldest = history_at(source, 0);
    mica_snapshot_drop(source->world, oldest->snapshot);
    source->moment_bytes -= oldest->bytes;
    source->moment_first = (source->moment_first + 1) % MOMENTS_MAX;
    --source->moment_count;
    ++source->moment_dropped;
}

void history_push(source *source, uint64_t frame, double seconds)
{
    if (source->is_program)
        history_cut(source, seconds); /* time goes back when the program continues from a past frame */
    moment *last = source->moment_count ? history_at(source, source->moment_count - 1) : NULL;
    if (last && last->seconds == seconds &&
        source->is_program) { /* paused, perhaps edited: the present must be the newest moment */
        mica_snapshot_drop(source->world, last->snapshot);
        --source->moment_count;
        frame = last->frame;
    } else if (last) {
        last->bytes = mica_snapshot_bytes(source->world, last->snapshot);
        source->moment_bytes += last->bytes;
    }
    while (source->moment_count == MOMENTS_MAX ||
           (source->moment_bytes > HISTORY_BYTES_MAX && source->moment_count > 2 &&
            source->held_moment != source->moment_dropped + 1))
        drop_oldest(source);
    moment fresh = {.frame = frame,
                    .seconds = seconds,
                    .entity_count = mica_world_get_stats(source->world).entity_count,
                    .snapshot = mica_snapshot_take(source->world)};
    if (fresh.snapshot.id)
        *history_at(source, source->moment_count++) = fresh;
}

void history_clear(source *source)
{
    while (source->moment_count)
        drop_oldest(source);
    source->is_past = false;
}

bool history_find_kept(const source *source, uint64_t frame, uint32_t *out_position)
{
    uint32_t low = 0, high = source->moment_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (source->moments[(source->moment_first + middle) % MOMENTS_MAX].frame <= frame)
            low = middle + 1;
        else
            high = middle;
    }
    *out_position = low ? low - 1 : 0;
    return low != 0;
}

bool history_find(source *source, uint64_t frame, uint32_t *out_position)
{
    return source->replayed ? recording_find(source, frame, out_position)
                            : history_find_kept(source, frame, out_position);
}

mica_result history_show(source *source, uint32_t position)
{
    mica_result result = mica_snapshot_restore(source->world, history_at(source, position)->snapshot);
    if (result != MICA_OK)
        return result;
    source->shown = position;
    source->is_past = position + 1 != source->moment_count;
    ++source->change;
    return MICA_OK;
}

void history_show_again(source *source)
{
    if (source->moment_count)
        history_show(source, source->is_past ? source->shown : source->moment_count - 1);
}

void history_cut(source *source, double seconds)
{
    while (source->moment_count && history_at(source, source->moment_count - 1)->seconds > seconds) {
        moment *last = history_at(source, --source->moment_count);
        mica_snapshot_drop(source->world, last->snapshot);
        source->moment_bytes -= last->bytes;
        last->bytes = 0;
    }
}

int answer_history(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t points = parameter_number(request, "points", 600);
    uint64_t step = source->moment_count / (points ? points : 1) + 1;
    micap_write(writer, "{\"count\":%u,\"bytes\":%zu,\"shown\":", source->moment_count, source->moment_bytes);
    if (source->is_past)
        micap_write(writer, "%" PRIu64, history_at(source, source->shown)->frame);
    else
        micap_write(writer, "null");
    micap_write(writer, ",\"frames\":[");
    for (uint32_t i = 0; i < source->moment_count; i += (uint32_t)step)
        micap_write(writer, "%s%" PRIu64, i ? "," : "", history_at(source, i)->frame);
    micap_write(writer, "],\"entities\":[");
    for (uint32_t i = 0; i < source->moment_count; i += (uint32_t)step)
        micap_write(writer, "%s%" PRIu64, i ? "," : "", history_at(source, i)->entity_count);
    micap_write(writer, "]}");
    return 200;
}

/* Moves a position by the number in `by`: in a recording ticks, otherwise frames that are kept. */
static void move_by(source *source, const micap_web_request *request, uint32_t *position)
{
    char text[32];
    long by = micap_query_value(request->query, "by", text, sizeof text) ? strtol(text, NULL, 10) : 0;
    if (by && source->replayed) {
        uint64_t frame = history_at(source, *position)->frame;
        history_find(source, by < 0 && (uint64_t)-by > frame ? 0 : frame + (uint64_t)by, position);
    } else if (by < 0) {
        *position -= *position < (uint64_t)-by ? *position : (uint32_t)-by;
    } else if (by > 0) {
        uint32_t left = source->moment_count - 1 - *position;
        *position += left < (uint64_t)by ? left : (uint32_t)by;
    }
}

int answer_show(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t begin = micap_clock_ns(), frame = parameter_number(request, "frame", UINT64_MAX);
    uint32_t position = source->moment_count - 1;
    if (!source->moment_count)
        return write_error(writer, 409, "there is no history");
    if (frame != UINT64_MAX && !history_find(source, frame, &position))
        return write_error(writer, 404, "the frame is older than the history");
    move_by(source, request, &position);
    if (history_show(source, position) != MICA_OK)
        return write_error(writer, 503, "the frame can't be restored: memory is short");
    if (!source->is_past)
        source_apply_pending(source);
    pthread_cond_broadcast(&source->changed); /* a recording continues */
    micap_write(writer,
                "{\"frame\":%" PRIu64 ",\"live\":%s,\"ms\":%.3f,\"status\":", history_at(source, position)->frame,
                source->is_past ? "false" : "true", (double)(micap_clock_ns() - begin) / 1e6);
    write_status(source, writer);
    micap_write(writer, "}");
    return 200;
}

/* A comparison of two worlds of which one is a clone of the other at another time. */
typedef struct comparison {
    mica_world *before;
    mica_world *after;
    micap_json_writer *writer;
    uint32_t listed;
    uint64_t created, destroyed, changed;
} comparison;

static char *text_of(mica_component component, const void *value)
{
    mica_member member = mica_member_of(component, (void *)value);
    size_t length = mica_value_write(member, NULL, 0);
    char *text = malloc(length + 1);
    if (text)
        mica_value_write(member, text, length + 1);
    return text;
}

static void begin_difference(comparison *all, mica_entity entity, const char *kind)
{
    mica_world *world = mica_is_alive(all->after, entity) ? all->after : all->before;
    micap_write(all->writer, "%s{\"entity\":", all->listed++ ? "," : "");
    write_handle(all->writer, entity);
    micap_write(all->writer, ",\"name\":");
    micap_write_string(all->writer, mica_name_get(world, entity) ? mica_name_get(world, entity) : "");
    micap_write(all->writer, ",\"kind\":\"%s\"", kind);
}

/* Ends an object with two values. */
static void write_values(micap_json_writer *writer, const char *before, const char *after)
{
    micap_write(writer, ",\"before\":");
    micap_write_text(writer, before, strlen(before));
    micap_write(writer, ",\"after\":");
    micap_write_text(writer, after, strlen(after));
    micap_write(writer, "}");
}

static void write_change(comparison *all, mica_entity entity, mica_component component, const char *before,
                         const char *after)
{
    begin_difference(all, entity, !before ? "added" : !after ? "removed" : "changed");
    micap_write(all->writer, ",\"component\":");
    micap_write_string(all->writer, mica_component_type(component)->name);
    write_values(all->writer, before && *before ? before : "null", after && *after ? after : "null");
}

/* Returns whether a component of an entity differs. */
static bool compare_component(comparison *all, mica_entity entity, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    bool had = mica_has_id(all->before, entity, component), has = mica_has_id(all->after, entity, component);
    const void *before = had ? mica_get_id(all->before, entity, component) : NULL;
    const void *after = has ? mica_get_id(all->after, entity, component) : NULL;
    if (had == has && (!before || !after || memcmp(before, after, type->size_bytes) == 0))
        return false;
    char *old = before ? text_of(component, before) : NULL, *new = after ? text_of(component, after) : NULL;
    bool differs = had != has || !old || !new || strcmp(old, new) != 0;
    if (differs && all->listed < DIFFERENCES_MAX)
        write_change(all, entity, component, had ? (old ? old : "") : NULL, has ? (new ? new : "") : NULL);
    free(old);
    free(new);
    return differs;
}

static bool contains(const mica_component *list, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (list[i] == component)
            return true;
    return false;
}

static void compare_entity(comparison *all, mica_entity entity)
{
    mica_component has[COMPONENTS_MAX], had[COMPONENTS_MAX];
    uint32_t has_count = mica_get_components(all->after, entity, has, COMPONENTS_MAX);
    uint32_t had_count = mica_get_components(all->before, entity, had, COMPONENTS_MAX);
    has_count = has_count < COMPONENTS_MAX ? has_count : COMPONENTS_MAX;
    had_count = had_count < COMPONENTS_MAX ? had_count : COMPONENTS_MAX;
    bool differs = false;
    for (uint32_t i = 0; i < has_count; ++i)
        differs |= compare_component(all, entity, has[i]);
    for (uint32_t i = 0; i < had_count; ++i)
        if (!contains(has, has_count, had[i]))
            differs |= compare_component(all, entity, had[i]);
    all->changed += differs;
}

/* Goes over the entities of one world: those that the other one does not have, and in the second pass those that both have. */
static void compare_entities(comparison *all, mica_world *world, mica_world *other, bool is_after)
{
    mica_query *query = mica_query_create(world, &(mica_query_def){.with_hidden = true});
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            bool is_in_both = mica_is_alive(other, view.entities[i]);
            if (is_in_both && is_after)
                compare_entity(all, view.entities[i]);
            else if (!is_in_both && (is_after ? ++all->created : ++all->destroyed) && all->listed < DIFFERENCES_MAX) {
                begin_difference(all, view.entities[i], is_after ? "created" : "destroyed");
                micap_write(all->writer, "}");
            }
        }
    mica_query_destroy(query);
}

int answer_diff(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint32_t from, to;
    uint64_t first = parameter_number(request, "from", 0), last = parameter_number(request, "to", UINT64_MAX);
    if (!history_find(source, first, &from) || !history_find(source, last, &to) || !history_find(source, first, &from))
        return write_error(writer, 404, "the frame is older than the history");
    mica_snapshot_restore(source->world, history_at(source, from)->snapshot);
    mica_world *before = mica_world_clone(source->world);
    mica_result result =
        before ? mica_snapshot_restore(source->world, history_at(source, to)->snapshot) : MICA_ERROR_MEMORY;
    comparison all = {.before = before, .after = source->world, .writer = writer};
    if (result == MICA_OK) {
        micap_write(writer, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"differences\":[",
                    history_at(source, from)->frame, history_at(source, to)->frame);
        compare_entities(&all, source->world, before, true);
        compare_entities(&all, before, source->world, false);
        micap_write(writer, "],\"created\":%" PRIu64 ",\"destroyed\":%" PRIu64 ",\"changed\":%" PRIu64 "}", all.created,
                    all.destroyed, all.changed);
    }
    mica_world_destroy(before);
    history_show_again(source);
    return result == MICA_OK ? 200 : write_error(writer, 503, "memory is short");
}

/* The values of a field of an entity in the frames up to the one that is shown in which it changed, the newest first. Going back costs more with each frame, so it ends
 * after some time; "first" is the oldest frame that was looked at. */
int answer_changes(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    char name[256], path[256], *last = NULL;
    mica_entity entity;
    uint32_t listed = 0, position;
    uint64_t frame = 0, last_frame = 0;
    if (source->moment_count) /* from what is shown backwards */
        frame = history_at(source, source->is_past ? source->shown : source->moment_count - 1)->frame;
    micap_query_value(request->query, "component", name, sizeof name);
    micap_query_value(request->query, "field", path, sizeof path);
    mica_component component = mica_component_find(source->world, name);
    if (!component || !parameter_entity(request, "entity", &entity))
        return write_error(writer, 404, "there is no such component");
    micap_write(writer, "{\"changes\":[");
    uint64_t until = micap_clock_ns() + (uint64_t)CHANGES_MS_MAX * 1000000;
    for (bool is_there = true; is_there && listed < CHANGES_MAX && micap_clock_ns() < until;) {
        if (!history_find(source, frame, &position) ||
            mica_snapshot_restore(source->world, history_at(source, position)->snapshot) != MICA_OK)
            break;
        const void *value = mica_get_id(source->world, entity, component);
        mica_member member =
            value ? mica_member_find(mica_member_of(component, (void *)value), path, NULL) : (mica_member){0};
        size_t length = member.data ? mica_value_write(member, NULL, 0) : 4;
        char *text = malloc(length + 1);
        if (!text)
            break;
        snprintf(text, length + 1, "null");
        if (member.data)
            mica_value_write(member, text, length + 1);
        if (last && strcmp(last, text) != 0) {
            micap_write(writer, "%s{\"frame\":%" PRIu64, listed++ ? "," : "", last_frame);
            write_values(writer, text, last);
        }
        free(last);
        last = text;
        last_frame = history_at(source, position)->frame;
        is_there = position != 0;
        if (is_there) /* each tick of a recording, also those that are not kept */
            frame = source->replayed ? last_frame - 1 : history_at(source, position - 1)->frame;
    }
    free(last);
    micap_write(writer, "],\"first\":%" PRIu64 "}", last_frame);
    history_show_again(source);
    return 200;
}
