#include "inspect/writers.h"

#include "inspect/json_bytes.h"
#include "mica/flow.h"
#include "mica/value.h"

#include <stdlib.h>

enum { RECORDERS_MAX = 64 };

typedef struct search {
    const micap_writers_def *def;
    micap_bytes *out;
    char *value;                        /* the last one */
    mica_system systems[RECORDERS_MAX]; /* that ran since the last flush, and may have recorded the change */
    uint32_t system_count;
    uint32_t listed;
    bool failed;
} search;

char *micap_field_text(const mica_world *world, mica_entity entity, mica_component component, const char *path)
{
    const void *value = mica_is_alive(world, entity) ? mica_get_id(world, entity, component) : NULL;
    mica_member member =
        value ? mica_member_find(mica_member_of(component, (void *)value), path, NULL) : (mica_member){0};
    size_t length = member.data ? mica_value_write(member, NULL, 0) : 4;
    char *text = malloc(length + 1);
    if (text && member.data)
        mica_value_write(member, text, length + 1);
    else if (text)
        memcpy(text, "null", 5);
    return text;
}

static void put_place(const mica_world *world, mica_system system, micap_bytes *out)
{
    mica_system_info info = {0};
    mica_system_get_info(world, system, &info);
    micap_json_put(out, "{\"system\":");
    micap_json_put_string(out, info.name);
    micap_json_put(out, ",\"file\":");
    micap_json_put_string(out, info.location.file);
    micap_json_put(out, ",\"line\":%d}", info.location.line);
}

/* Lists a change by some systems. Takes the text of the new value. */
static void put_change(search *search, const mica_world *world, const mica_system *systems, uint32_t count,
                       const char *kind, char *value)
{
    micap_json_put(search->out, "%s{\"kind\":\"%s\",\"systems\":[", search->listed++ ? "," : "", kind);
    for (uint32_t i = 0; i < count; ++i) {
        micap_json_put(search->out, "%s", i ? "," : "");
        put_place(world, systems[i], search->out);
    }
    micap_json_put(search->out, "],\"before\":");
    micap_bytes_put(search->out, search->value, strlen(search->value));
    micap_json_put(search->out, ",\"after\":");
    micap_bytes_put(search->out, value, strlen(value));
    micap_json_put(search->out, "}");
    free(search->value);
    search->value = value;
}

static void compare(search *search, const mica_world *world, const mica_system *systems, uint32_t count,
                    const char *kind)
{
    char *value = micap_field_text(world, search->def->entity, search->def->component, search->def->path);
    search->failed |= !value;
    if (value && strcmp(value, search->value) != 0)
        put_change(search, world, systems, count, kind, value);
    else
        free(value);
}

static void system_ended(mica_world *world, mica_system system, void *context)
{
    search *search = context;
    if (!system.id) {
        compare(search, world, search->systems, search->system_count, "flush");
        search->system_count = 0;
        return;
    }
    compare(search, world, &system, 1, "system");
    if (search->system_count < RECORDERS_MAX)
        search->systems[search->system_count++] = system;
}

static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

mica_result micap_writers_find(mica_world *world, const micap_writers_def *def, micap_bytes *out)
{
    search search = {.def = def, .out = out, .value = copy_text(def->before)};
    if (!search.value)
        return MICA_ERROR_MEMORY;
    micap_json_put(out, "[");
    compare(&search, world, NULL, 0, "program");
    mica_result result = mica_step_each(world, def->dt, system_ended, &search);
    char *after = copy_text(def->after);
    search.failed |= !after;
    if (after && strcmp(after, search.value) != 0)
        put_change(&search, world, NULL, 0, "program", after);
    else
        free(after);
    micap_json_put(out, "]");
    free(search.value);
    return search.failed ? MICA_ERROR_MEMORY : result;
}
