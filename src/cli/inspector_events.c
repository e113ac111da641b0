/* What happens in a world while frames arrive: components and entities that come and go, which the replica shows, and what passes through
 * the program (mica/traffic.h), which it sends while a page asks for events. */
#include "cli/inspector.h"
#include "inspect/web_client.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_MAX = 500, OBSERVED_MAX = 1024 };
#define EVENTS_KEPT_NS (UINT64_C(5) * 1000 * 1000 * 1000) /* the program sends them that long after the last question */

static happening *add_happening(source *source, const char *kind)
{
    happening *one = &source->happenings[source->happening_count % HAPPENINGS_MAX];
    free(one->value);
    *one = (happening){.number = ++source->happening_count, .frame = source->arriving, .kind = kind};
    return one;
}

static void hear(const mica_event *event)
{
    static const char *const names[] = {"added", "set", "removed", "destroyed", "enabled", "disabled"};
    source *source = event->context;
    if (source->replayed && source->replayed->target.traffic.is_ignoring)
        return;
    happening *one = add_happening(source, names[event->kind]);
    one->component = event->component;
    one->entity = event->entities[0];
    one->count = event->count;
}

static mica_observer observe_some(source *source, bool toggled)
{
    static const mica_event_kind kinds[] = {MICA_EVENT_ADD, MICA_EVENT_REMOVE, MICA_EVENT_DESTROY, MICA_EVENT_ENABLE,
                                            MICA_EVENT_DISABLE};
    mica_component components[OBSERVED_MAX];
    uint32_t listed = 0;
    for (mica_component component = 0; (component = mica_component_next(source->world, component));) {
        const mica_type *type = mica_component_type(component);
        if (type->storage != MICA_STORAGE_SINGLETON && (type->toggle || !toggled) && listed < OBSERVED_MAX)
            components[listed++] = component;
    }
    mica_observer_def def = {.name = "inspector",
                             .events = toggled ? kinds + 3 : kinds,
                             .event_count = toggled ? 2 : 3,
                             .components = components,
                             .component_count = listed,
                             .fn = hear,
                             .context = source};
    return listed ? mica_observer_add(source->world, &def) : (mica_observer){0};
}

void events_observe(source *source)
{
    uint32_t count = mica_world_get_stats(source->world).component_count;
    if (source->observed_count == count)
        return;
    source->observed_count = count;
    for (uint32_t i = 0; i < 2; ++i) {
        if (source->observers[i].id)
            mica_observer_remove(source->world, source->observers[i]);
        source->observers[i] = observe_some(source, i == 1);
    }
}

void events_clear(source *source)
{
    memset(source->observers, 0, sizeof source->observers); /* the world ends */
    source->observed_count = 0;
    source->happening_count = 0;
    source->is_sent_events = false;
    for (uint32_t i = 0; i < HAPPENINGS_MAX; ++i) {
        free(source->happenings[i].value);
        source->happenings[i].value = NULL;
    }
}

static void take_text(micap_reader *reader, char *out, size_t capacity)
{
    size_t length;
    const char *text = micap_reader_take_text(reader, &length);
    snprintf(out, capacity, "%.*s", text ? (int)(length < capacity ? length : capacity - 1) : 0, text ? text : "");
}

bool events_take(source *source, micap_reader *reader, uint64_t left_out)
{
    char component[256], value[MICAP_TRAFFIC_VALUE_MAX + 1];
    while (!reader->failed && micap_reader_left(reader)) {
        uint32_t kind = (uint32_t)micap_reader_take_up_to(reader, MICA_TRAFFIC_KINDS - 1);
        happening *one = add_happening(source, mica_traffic_kind_name((mica_traffic_kind)kind));
        take_text(reader, one->name, sizeof one->name);
        one->event = (mica_event_kind)micap_reader_take_up_to(reader, UINT32_MAX);
        take_text(reader, component, sizeof component);
        one->component = source->world && *component ? mica_component_find(source->world, component) : 0;
        one->entity.index = micap_reader_take32(reader);
        one->entity.generation = micap_reader_take32(reader);
        one->key = micap_reader_take64(reader);
        one->count = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
        take_text(reader, value, sizeof value);
        size_t bytes = strlen(value) + 1;
        one->value = bytes > 1 ? malloc(bytes) : NULL;
        if (one->value)
            memcpy(one->value, value, bytes);
    }
    if (left_out && !reader->failed)
        add_happening(source, "left out")->count = left_out < UINT32_MAX ? (uint32_t)left_out : UINT32_MAX;
    return !reader->failed;
}

bool events_receive(source *source, micap_reader *reader)
{
    source->arriving = micap_reader_take64(reader);
    uint64_t left_out = micap_reader_take_number(reader);
    return events_take(source, reader, left_out);
}

void events_ask(source *source)
{
    bool is_wanted = source->events_ns && micap_clock_ns() - source->events_ns < EVENTS_KEPT_NS;
    if (!source->client || is_wanted == source->is_sent_events)
        return;
    const char *line = is_wanted ? "0 events on" : "0 events off";
    source->is_sent_events = is_wanted;
    micap_web_client_send(source->client, line, strlen(line));
}

/* What an observer was told, or a number of the program. */
static void write_event_kind(micap_json_writer *writer, mica_event_kind kind)
{
    static const char *const names[] = {"added", "set", "removed", "destroyed", "enabled", "disabled"};
    if (kind < sizeof names / sizeof *names)
        micap_write(writer, "\"%s\"", names[kind]);
    else if (kind == MICA_EVENT_MATCH || kind == MICA_EVENT_UNMATCH)
        micap_write(writer, kind == MICA_EVENT_MATCH ? "\"match\"" : "\"unmatch\"");
    else
        micap_write(writer, "%u", kind);
}

static void write_happening(source *source, micap_json_writer *writer, const happening *one)
{
    const char *name = mica_is_alive(source->world, one->entity) ? mica_name_get(source->world, one->entity) : NULL;
    micap_write(writer, "{\"number\":%" PRIu64 ",\"frame\":%" PRIu64 ",\"kind\":\"%s\",\"component\":", one->number,
                one->frame, one->kind);
    micap_write_string(writer, one->component ? mica_component_type(one->component)->name : "");
    micap_write(writer, ",\"count\":%u,\"name\":", one->count);
    micap_write_string(writer, name ? name : "");
    micap_write(writer, ",\"entity\":");
    write_handle(writer, one->entity);
    micap_write(writer, ",\"what\":");
    micap_write_string(writer, one->name);
    if (strcmp(one->kind, "event") == 0 || strcmp(one->kind, "observer") == 0) {
        micap_write(writer, ",\"event\":");
        write_event_kind(writer, one->event);
    }
    if (strcmp(one->kind, "request") == 0)
        micap_write(writer, ",\"key\":\"%" PRIu64 "\"", one->key);
    micap_write(writer, ",\"value\":");
    micap_write_string(writer, one->value ? one->value : "");
    micap_write(writer, "}");
}

int answer_events(source *source, const micap_web_request *request, micap_json_writer *writer)
{
    uint64_t after = parameter_number(request, "after", 0), total = source->happening_count, listed = 0;
    uint64_t number = total > HAPPENINGS_MAX ? total - HAPPENINGS_MAX : 0;
    number = after > number && after <= total ? after : number;
    if (total - number > LISTED_MAX)
        number = total - LISTED_MAX;
    source->events_ns = micap_clock_ns();
    events_ask(source);
    micap_write(writer, "{\"total\":%" PRIu64 ",\"events\":[", total);
    for (; number < total; ++number) {
        micap_write(writer, "%s", listed++ ? "," : "");
        write_happening(source, writer, &source->happenings[number % HAPPENINGS_MAX]);
    }
    micap_write(writer, "]}");
    return 200;
}
