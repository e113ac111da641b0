/* Whole entities as text and from text: see mica/value.h. Changes are recorded and applied by one flush, so that a wrong text, or memory
 * that runs out, changes nothing. */
#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/command.h"
#include "mica/component.h"
#include "mica/entity.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "mica/split.h"
#include "type/member.h"
#include "type/type.h"
#include "type/value_parse.h"
#include "type/value_write.h"

#include <stdlib.h>
#include <string.h>

/* Writes the path of an entity; false if it has none that leads back to it. */
static bool path_of(mica_entity entity, char *path, size_t capacity, const void *context)
{
    const mica_world *world = context;
    size_t begin = capacity - 1;
    path[begin] = 0;
    bool is_of_world = micap_entity_is_of_space(world->def.handle_space, entity); /* a value can contain any handle */
    for (mica_entity at = is_of_world ? entity : mica_nil(); !mica_is_nil(at); at = mica_name_get_scope(world, at)) {
        const char *name = mica_name_get(world, at);
        size_t bytes = name ? strlen(name) : 0;
        if (!bytes || bytes + 1 > begin)
            return false;
        if (path[begin])
            path[--begin] = '/';
        begin -= bytes;
        memcpy(path + begin, name, bytes);
    }
    memmove(path, path + begin, capacity - begin);
    return *path && *path != '#' && mica_same(mica_find(world, path), entity);
}

static mica_entity find_path(const char *path, const void *context)
{
    return mica_find(context, path);
}

/* An entity that is written, with room for a value. */
typedef struct writing {
    micap_text_output out;
    const mica_world *world;
    mica_entity entity;
    char *value;
} writing;

/* All instances of a component with many, in an array. */
static void write_instances(writing *work, const micap_type *type)
{
    const mica_pool *pool = mica_pool_of_id((mica_world *)work->world, type->id);
    const char *separator = "[";
    for (mica_instance at = mica_pool_find(pool, work->entity); !mica_instance_is_nil(at);
         at = mica_pool_next(pool, at)) {
        void *value = work->value;
        for (uint32_t i = 0; i < type->leaf_count; ++i)
            memcpy(work->value + type->leaves[i].offset, mica_instance_read_field_id(pool, at, type->leaves[i].offset),
                   type->leaves[i].bytes);
        if (!type->leaves)
            value = (void *)(uintptr_t)mica_instance_read_id(pool, at);
        micap_output_text(&work->out, separator);
        micap_output_value(&work->out, mica_member_of(type->id, value));
        separator = ", ";
    }
    micap_output_text(&work->out, "]");
}

static void write_component(writing *work, const micap_type *type)
{
    micap_output_string(&work->out, type->type.name, strlen(type->type.name));
    micap_output_text(&work->out, ": ");
    if (type->type.many) {
        write_instances(work, type);
    } else if (type->type.size_bytes) {
        mica_get_value_id(work->world, work->entity, type->id, work->value);
        micap_output_value(&work->out, mica_member_of(type->id, work->value));
    } else {
        micap_output_text(&work->out, "{}");
    }
}

static void write_entity(writing *work, const mica_component *components, uint32_t count)
{
    const char *name = mica_name_get(work->world, work->entity);
    micap_output_text(&work->out, "{");
    if (name) {
        micap_output_text(&work->out, "\"name\": ");
        micap_output_string(&work->out, name, strlen(name));
        micap_output_text(&work->out, ", ");
    }
    micap_output_text(&work->out, "\"components\": {");
    bool has_toggle = false;
    for (uint32_t i = 0; i < count; ++i) {
        micap_output_text(&work->out, i ? ", " : "");
        write_component(work, micap_type_of(components[i]));
        has_toggle |= micap_type_of(components[i])->type.toggle;
    }
    micap_output_text(&work->out, has_toggle ? "}, \"disabled\": [" : "}");
    const char *separator = "";
    for (uint32_t i = 0; i < count; ++i)
        if (!mica_is_enabled_id(work->world, work->entity, components[i])) {
            const char *component = micap_type_of(components[i])->type.name;
            micap_output_text(&work->out, separator);
            micap_output_string(&work->out, component, strlen(component));
            separator = ", ";
        }
    micap_output_text(&work->out, has_toggle ? "]}" : "}");
}

static int compare_names(const void *a, const void *b)
{
    const mica_component *left = a, *right = b;
    return strcmp(micap_type_of(*left)->type.name, micap_type_of(*right)->type.name);
}

/* The components of an entity in the order of their names, which is the same in every process. NULL if memory is short. */
static mica_component *list_components(const mica_world *world, mica_entity entity, uint32_t *out_count)
{
    *out_count = mica_get_components(world, entity, NULL, 0);
    mica_component *list =
        micap_allocate(&((mica_world *)world)->memory, (*out_count + 1) * sizeof *list, MICAP_ARRAY_ALIGNMENT);
    if (list)
        qsort(list, mica_get_components(world, entity, list, *out_count), sizeof *list, compare_names);
    return list;
}

static void free_components(const mica_world *world, mica_component *list, uint32_t count)
{
    micap_release(&((mica_world *)world)->memory, list, (count + 1) * sizeof *list, MICAP_ARRAY_ALIGNMENT);
}

size_t mica_entity_write_json(const mica_world *world, mica_entity entity, char *text, size_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, text, capacity))
        return 0;
    writing work = {.out = micap_output_begin(text, capacity), .world = world, .entity = entity};
    work.out.path = path_of;
    work.out.context = world;
    if (!mica_is_alive(world, entity))
        return micap_output_end(&work.out);
    uint32_t count;
    size_t bytes = 1;
    micap_memory *memory = &((mica_world *)world)->memory;
    mica_component *components = list_components(world, entity, &count);
    for (uint32_t i = 0; components && i < count; ++i) {
        uint32_t size = micap_type_of(components[i])->type.size_bytes;
        bytes = size > bytes ? size : bytes;
    }
    work.value = components ? micap_allocate_zeroed(memory, bytes, MICA_COMPONENT_ALIGNMENT_MAX) : NULL;
    if (work.value)
        write_entity(&work, components, count);
    else
        mica_world_report(world, MICA_ERROR_MEMORY, "entity_write_json: out of memory");
    micap_release(memory, work.value, bytes, MICA_COMPONENT_ALIGNMENT_MAX);
    free_components(world, components, count);
    return micap_output_end(&work.out);
}

/* A component that the text names. */
typedef struct named {
    mica_component component;
    bool is_removed;
} named;

typedef struct parsing {
    micap_parser parser;
    mica_world *world;
    mica_entity entity;
    mica_commands *commands;
    named *list;
    uint32_t count;
    uint32_t capacity;
    const char *disabled; /* where the list of components to disable is in the text; NULL: there is none */
    char name[MICAP_WORD_BYTES];
    bool has_name;
} parsing;

static bool fail_at(const parsing *work, const char *at, const char *format, const char *name)
{
    micap_value_fail(work->parser.error, (size_t)(at - work->parser.text), format, name);
    return false;
}

/* What the world refused to record: it has reported why. */
static bool refused(parsing *work, const char *at, const char *name)
{
    fail_at(work, at, "%.80s can't be changed: the world reports why", name);
    work->parser.error->result = micap_failure(work->world);
    return false;
}

static bool fail_memory(parsing *work)
{
    micap_value_fail_memory(work->parser.error);
    return false;
}

static const named *find_named(const parsing *work, mica_component component)
{
    for (uint32_t i = 0; i < work->count; ++i)
        if (work->list[i].component == component)
            return &work->list[i];
    return NULL;
}

/* Reads the value of a component that is added once. */
static bool parse_one(parsing *work, const micap_type *type, const char *at, bool is_instance)
{
    micap_parser *parser = &work->parser;
    void *value = is_instance ? mica_command_add_instance_id(work->commands, work->entity, type->id, MICA_HERE)
                              : mica_command_add_id(work->commands, work->entity, type->id, MICA_HERE);
    if (!value)
        return refused(work, at, type->type.name);
    if (type->type.size_bytes)
        return micap_parser_value(parser, mica_member_of(type->id, value));
    return micap_parser_take(parser, "true") || (micap_parser_take(parser, "{") && micap_parser_take(parser, "}")) ||
           micap_parser_expected(parser, "{} or true: a tag has no value");
}

/* The instances of a component with many replace those that are there. */
static bool parse_instances(parsing *work, const micap_type *type, const char *at)
{
    micap_parser *parser = &work->parser;
    if (mica_has_id(work->world, work->entity, type->id) &&
        !mica_command_remove_id(work->commands, work->entity, type->id, MICA_HERE))
        return refused(work, at, type->type.name);
    if (!micap_parser_take(parser, "["))
        return micap_parser_expected(parser, "an array of instances");
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        if (!parse_one(work, type, at, true))
            return false;
    }
    return true;
}

static bool remember(parsing *work, mica_component component, bool is_removed)
{
    if (!MICAP_RESERVE(&work->world->memory, work->list, &work->capacity, (uint64_t)work->count + 1))
        return fail_memory(work);
    work->list[work->count++] = (named){component, is_removed};
    return true;
}

static bool parse_component(parsing *work, const char *name, const char *at)
{
    micap_parser *parser = &work->parser;
    mica_component component = mica_component_find(work->world, name);
    const micap_type *type = micap_type_of(component);
    if (!component || type->type.storage == MICA_STORAGE_SINGLETON)
        return fail_at(work, at, component ? "%.80s is a singleton" : "there is no component \"%.80s\"", name);
    if (find_named(work, component))
        return fail_at(work, at, "%.80s is there twice", name);
    bool is_removed = micap_parser_take(parser, "null");
    if (!remember(work, component, is_removed))
        return false;
    if (is_removed)
        return !mica_has_id(work->world, work->entity, component) ||
               mica_command_remove_id(work->commands, work->entity, component, MICA_HERE) || refused(work, at, name);
    return type->type.many ? parse_instances(work, type, at) : parse_one(work, type, at, false);
}

/* The name of a member of an object and the colon after it. `i` is the number of members before it. */
static bool parse_key(parsing *work, uint32_t i, char word[MICAP_WORD_BYTES], const char **out_at)
{
    micap_parser *parser = &work->parser;
    if (i && !micap_parser_take(parser, ","))
        return micap_parser_expected(parser, ", or }");
    micap_parser_take(parser, "");
    *out_at = parser->at;
    if (*parser->at != '"')
        return micap_parser_expected(parser, "a name");
    return micap_parser_word(parser, word) && (micap_parser_take(parser, ":") || micap_parser_expected(parser, ":"));
}

static bool parse_components(parsing *work)
{
    micap_parser *parser = &work->parser;
    char name[MICAP_WORD_BYTES];
    const char *at;
    if (!micap_parser_take(parser, "{"))
        return micap_parser_expected(parser, "an object of components");
    for (uint32_t i = 0; !micap_parser_take(parser, "}"); ++i)
        if (!parse_key(work, i, name, &at) || !parse_component(work, name, at))
            return false;
    return true;
}

/* Disables a component that the entity will have. */
static bool disable(parsing *work, const char *name, const char *at)
{
    mica_component component = mica_component_find(work->world, name);
    const named *known = find_named(work, component);
    bool is_there = component && (known ? !known->is_removed : mica_has_id(work->world, work->entity, component));
    if (!is_there || !micap_type_of(component)->type.toggle)
        return fail_at(
            work, at, is_there ? "%.80s can't be disabled: it has no .toggle" : "the entity has no component \"%.80s\"",
            name);
    return mica_command_enable_id(work->commands, work->entity, component, false, MICA_HERE) || refused(work, at, name);
}

/* The list of disabled components. It is read twice: when it is found, and, with `applies`, when all components are known. */
static bool parse_disabled(parsing *work, bool applies)
{
    micap_parser *parser = &work->parser;
    if (!micap_parser_take(parser, "["))
        return micap_parser_expected(parser, "an array of names of components");
    for (uint32_t i = 0; !micap_parser_take(parser, "]"); ++i) {
        char name[MICAP_WORD_BYTES];
        if (i && !micap_parser_take(parser, ","))
            return micap_parser_expected(parser, ", or ]");
        micap_parser_take(parser, "");
        const char *at = parser->at;
        if (*at != '"')
            return micap_parser_expected(parser, "the name of a component");
        if (!micap_parser_word(parser, name) || (applies && !disable(work, name, at)))
            return false;
    }
    return true;
}

/* Enables what is disabled now, then disables what the list names. */
static bool apply_disabled(parsing *work)
{
    uint32_t count;
    mica_component *components = list_components(work->world, work->entity, &count);
    bool done = components || fail_memory(work);
    for (uint32_t i = 0; done && i < count; ++i) {
        const named *known = find_named(work, components[i]);
        bool is_disabled = !mica_is_enabled_id(work->world, work->entity, components[i]);
        if (is_disabled && !(known && known->is_removed) &&
            !mica_command_enable_id(work->commands, work->entity, components[i], true, MICA_HERE))
            done = refused(work, work->disabled, micap_type_of(components[i])->type.name);
    }
    free_components(work->world, components, count);
    work->parser.at = work->disabled;
    return done && parse_disabled(work, true);
}

static bool parse_member(parsing *work, const char *key, const char *at)
{
    micap_parser *parser = &work->parser;
    micap_parser_take(parser, "");
    if (strcmp(key, "components") == 0)
        return parse_components(work);
    if (strcmp(key, "disabled") == 0) {
        work->disabled = parser->at;
        return parse_disabled(work, false);
    }
    if (strcmp(key, "name") != 0)
        return fail_at(work, at, "expected \"name\", \"components\" or \"disabled\", found \"%.80s\"", key);
    if (*parser->at != '"')
        return micap_parser_expected(parser, "a string");
    at = parser->at;
    work->has_name = micap_parser_word(parser, work->name);
    if (!work->has_name || !*work->name)
        return work->has_name;
    mica_entity scope = mica_name_get_scope(work->world, work->entity);
    mica_entity other = mica_find_from(work->world, scope, work->name);
    if (strchr(work->name, '/'))
        return fail_at(work, at, "a name has no /: \"%.80s\"", work->name);
    return mica_is_nil(other) || mica_same(other, work->entity) ||
           fail_at(work, at, "another entity has the name \"%.80s\"", work->name);
}

static bool parse_entity(parsing *work)
{
    micap_parser *parser = &work->parser;
    char key[MICAP_WORD_BYTES];
    const char *at;
    if (!micap_parser_take(parser, "{"))
        return micap_parser_expected(parser, "an object");
    for (uint32_t i = 0; !micap_parser_take(parser, "}"); ++i)
        if (!parse_key(work, i, key, &at) || !parse_member(work, key, at))
            return false;
    micap_parser_take(parser, "");
    if (*parser->at)
        return micap_parser_expected(parser, "the end");
    return !work->disabled || apply_disabled(work);
}

/* Names the entity and flushes. If that fails, it has its old name. */
static mica_result apply(parsing *work)
{
    mica_world *world = work->world;
    mica_entity scope = mica_name_get_scope(world, work->entity);
    const char *name = mica_name_get(world, work->entity);
    char old[MICAP_WORD_BYTES] = "";
    size_t name_bytes = name ? strlen(name) + 1 : 0;
    bool is_kept = name && name_bytes <= sizeof old; /* a longer one is not put back */
    if (is_kept)
        memcpy(old, name, name_bytes);
    mica_result result = work->has_name ? mica_name_set(world, work->entity, scope, work->name) : MICA_OK;
    if (result == MICA_OK) {
        result = mica_flush(world);
        if (result != MICA_OK && work->has_name && (is_kept || !name))
            mica_name_set(world, work->entity, scope, old);
    }
    if (result != MICA_OK)
        fail_at(work, work->parser.text, "%s", "the changes can't be applied: the world reports why");
    return result;
}

mica_result mica_entity_parse_json(mica_world *world, mica_entity entity, const char *text, mica_value_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, world) || MICAP_MISSING_INTO(out_error, text))
        return MICA_ERROR_INVALID;
    mica_value_error error = {0};
    parsing work = {
        .parser = {.text = text, .at = text, .error = &error, .find = find_path, .context = world, .writes = true},
        .world = world,
        .entity = entity};
    mica_result result = micap_refuse_while_recording(world, "entity_parse_json");
    if (result != MICA_OK) {
        fail_at(&work, text, "%s", "the world records changes");
    } else if (!mica_is_alive(world, entity)) {
        result = MICA_ERROR_DEAD;
        fail_at(&work, text, "%s", "the entity is not alive");
    } else if (!(work.commands = mica_commands_create(world))) {
        result = micap_value_fail_memory(&error);
    } else {
        result = parse_entity(&work) ? apply(&work) : error.result;
    }
    error.result = result;
    if (result != MICA_OK && out_error)
        *out_error = error;
    mica_commands_destroy(work.commands);
    MICAP_RELEASE_ARRAY(&world->memory, work.list, work.capacity);
    return result;
}
