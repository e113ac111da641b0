/* Reads and writes schemas as JSON. */
#include "base/argument.h"
#include "base/bits.h"
#include "base/closest_name.h"
#include "json/schema.h"
#include "json/compile_error.h"
#include "json/value_compile.h"
#include "json/source_file.h"
#include "json/json_writer.h"
#include "resource/format/scalar_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A type of the schema being read; nested types are found by name. */
typedef struct micap_read_type {
    struct micap_read_type *next;
    mica_type type;
} read_type;

typedef struct micap_reading {
    mica_compiler *compiler;
    micap_source_file *source;
    read_type *types;
    mica_schema *schema;
} reading;

static bool fail(reading *work, const micap_step_in *path, const char *text)
{
    return micap_json_error(work->compiler, (micap_context){.source = work->source, .path = path}, "%s", text);
}

/* Reads a non-negative integer from an object; `otherwise` if there is none. */
static bool read_number(reading *work, const micap_step_in *path, const json_t *object, const char *key,
                        uint32_t otherwise, uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    micap_step_in step = {path, key, 0};
    *out = otherwise;
    if (!value)
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > MICA_COMPONENT_BYTES_MAX)
        return fail(work, &step, "expected a whole number from 0 to 268435456");
    *out = (uint32_t)json_integer_value(value);
    return true;
}

static uint32_t bytes_of_kind(mica_kind kind)
{
    static const uint32_t bytes[] = {0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 0, 0, 0, 8, 16, 0};
    return bytes[kind];
}

static uint32_t alignment_of_kind(mica_kind kind)
{
    return kind == MICA_KIND_ENTITY ? 4 : kind == MICA_KIND_TEXT ? 8 : bytes_of_kind(kind);
}

/* The elements of a list: a type that was described before, or a kind, which gets a type of its own. */
static bool read_list(reading *work, const micap_step_in *path, const char *element, mica_field *field)
{
    const read_type *type = work->types;
    while (type && strcmp(type->type.name, element) != 0)
        type = type->next;
    mica_kind kind = micap_kind_of_name(element);
    field->type = type ? &type->type : NULL;
    mica_type *plain = !type && bytes_of_kind(kind) ? micap_json_allocate(work->compiler, sizeof *plain) : NULL;
    if (plain) {
        *plain = (mica_type){.name = micap_kind_name(kind),
                             .size_bytes = bytes_of_kind(kind),
                             .alignment = alignment_of_kind(kind),
                             .kind = kind};
        field->type = plain;
    }
    field->kind = MICA_KIND_LIST;
    field->element_bytes = sizeof(mica_list);
    return field->type ||
           fail(work, path,
                "the elements of a \"list\" have a kind, such as \"f32\", or a type that was described before");
}

static bool read_kind(reading *work, const micap_step_in *path, const json_t *json, mica_field *field,
                      uint32_t *out_alignment)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *name = json_string_value(json_object_get(json, "type"));
    const char *element = json_string_value(json_object_get(json, "list"));
    char hint[100];
    if (element && !kind && !name) {
        *out_alignment = _Alignof(mica_list);
        return read_list(work, path, element, field);
    }
    if (!kind == !name || element)
        return fail(work, path,
                    "a field has a \"kind\" (such as \"f32\") or the name of a \"type\" that was described before");
    micap_guess guess = {.wrong = name ? name : kind};
    if (name) {
        const read_type *type = work->types;
        for (; type && strcmp(type->type.name, name) != 0; type = type->next)
            micap_guess_try(&guess, type->type.name);
        field->type = type ? &type->type : NULL;
        field->kind = type ? type->type.kind : MICA_KIND_NONE;
        field->element_bytes = type ? type->type.size_bytes : 0;
        *out_alignment = type ? type->type.alignment : 1;
    } else {
        field->kind = micap_kind_of_name(kind);
        for (mica_kind other = MICA_KIND_BOOL; other < MICA_KIND_STRUCT; ++other)
            micap_guess_try(&guess, micap_kind_name(other));
        micap_guess_try(&guess, micap_kind_name(MICA_KIND_ASSET));
        micap_guess_try(&guess, micap_kind_name(MICA_KIND_TEXT));
        field->element_bytes = bytes_of_kind(field->kind);
        *out_alignment = alignment_of_kind(field->kind);
    }
    if (field->element_bytes)
        return true;
    return micap_json_error(work->compiler, (micap_context){.source = work->source, .path = path},
                            "unknown %s \"%.60s\"%s", name ? "type" : "kind", guess.wrong,
                            micap_guess_text(&guess, hint, sizeof hint));
}

/* Reads the attribute `key` of a field, a number; 0 if there is none. "inf" and "-inf" are no limit. */
static bool read_real(reading *work, const micap_step_in *path, const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    micap_step_in step = {path, key, 0};
    bool is_infinite = text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0);
    *out = is_infinite ? (*text == '-' ? -(double)INFINITY : (double)INFINITY) : json_number_value(value);
    return !value || is_infinite || json_is_number(value) ||
           fail(work, &step, "expected a number, \"inf\" or \"-inf\"");
}

/* Numbers are values of their own; others are text that is parsed for every value. */
static bool read_initial(reading *work, const json_t *value, mica_attributes *attributes)
{
    bool is_exact = !json_is_integer(value) || (json_int_t)json_number_value(value) == json_integer_value(value);
    if (!value || (json_is_number(value) && is_exact)) {
        attributes->initial = json_number_value(value);
        return true;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    attributes->initial_json = text ? micap_json_copy(work->compiler, text) : NULL;
    free(text);
    return attributes->initial_json || micap_json_error_memory(work->compiler);
}

static bool read_attributes(reading *work, const micap_step_in *path, const json_t *json, mica_field *field)
{
    static const char *const keys[] = {"unit", "note", "minimum", "maximum", "initial"};
    bool is_there = false;
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        is_there |= json_object_get(json, keys[i]) != NULL;
    if (!is_there)
        return true;
    mica_attributes *attributes = micap_json_allocate(work->compiler, sizeof *attributes);
    if (!attributes)
        return false;
    field->attributes = attributes;
    attributes->unit = json_string_value(json_object_get(json, "unit"));
    attributes->note = json_string_value(json_object_get(json, "note"));
    return read_real(work, path, json, "minimum", &attributes->minimum) &&
           read_real(work, path, json, "maximum", &attributes->maximum) &&
           read_initial(work, json_object_get(json, "initial"), attributes);
}

/* Missing offsets are computed as a C compiler does. */
static bool read_fields(reading *work, const micap_step_in *path, const json_t *json, mica_type *type)
{
    const json_t *list = json_object_get(json, "fields"), *entry;
    uint32_t end = 0, alignment_max = 1;
    size_t index;
    mica_field *fields = micap_json_allocate(work->compiler, (json_array_size(list) + 1) * sizeof *fields);
    type->fields = fields;
    bool fine = fields && (!list || json_is_array(list) || fail(work, path, "\"fields\" is an array"));
    if (!fine)
        return false;
    json_array_foreach((json_t *)list, index, entry)
    {
        micap_step_in outer = {path, "fields", 0}, step = {&outer, NULL, index};
        mica_field *field = &fields[index];
        uint32_t alignment = 1;
        field->name = json_string_value(json_object_get(entry, "name"));
        fine = fine && (field->name || fail(work, &step, "a field has a \"name\"")) &&
               read_kind(work, &step, entry, field, &alignment) && read_attributes(work, &step, entry, field) &&
               read_number(work, &step, entry, "count", 1, &field->count) &&
               read_number(work, &step, entry, "offset", (uint32_t)micap_align_up(end, alignment), &field->offset);
        if (!fine)
            return false;
        end = field->offset + field->element_bytes * field->count;
        alignment_max = alignment > alignment_max ? alignment : alignment_max;
        type->field_count = (uint32_t)index + 1;
    }
    return fine && read_number(work, path, json, "alignment", alignment_max, &type->alignment) &&
           (micap_is_power_of_two(type->alignment) || fail(work, path, "an alignment is a power of two")) &&
           read_number(work, path, json, "bytes", (uint32_t)micap_align_up(end ? end : 1, type->alignment),
                       &type->size_bytes);
}

static bool read_constants(reading *work, const micap_step_in *path, const json_t *json, mica_type *type)
{
    const json_t *list = json_object_get(json, "constants");
    const char *key;
    json_t *value;
    mica_constant *constants = micap_json_allocate(work->compiler, (json_object_size(list) + 1) * sizeof *constants);
    if (!constants)
        return false;
    json_object_foreach((json_t *)list, key, value)
    {
        micap_step_in outer = {path, "constants", 0}, step = {&outer, key, 0};
        if (!json_is_integer(value))
            return fail(work, &step, "expected the integer that the constant stands for");
        constants[type->constant_count++] = (mica_constant){key, json_integer_value(value)};
    }
    type->constants = constants;
    return read_number(work, path, json, "bytes", 4, &type->size_bytes) &&
           read_number(work, path, json, "alignment", type->size_bytes, &type->alignment);
}

/* The names of the components that one excludes. */
static bool read_excludes(reading *work, const micap_step_in *path, const json_t *json, mica_type *type)
{
    const json_t *names = json_object_get(json, "excludes");
    micap_step_in step = {path, "excludes", 0};
    size_t count = json_array_size(names);
    if (!names)
        return true;
    mica_type **list = micap_json_allocate(work->compiler, (count + 1) * sizeof *list);
    mica_type *named = list ? micap_json_allocate(work->compiler, (count + 1) * sizeof *named) : NULL;
    for (size_t i = 0; named && i < count; ++i) {
        list[i] = &named[i];
        if (!(named[i].name = json_string_value(json_array_get(names, i))))
            return fail(work, &step, "expected the names of components");
    }
    type->excludes = list;
    return named && (json_is_array(names) || fail(work, &step, "expected an array of names of components"));
}

static bool add_component(reading *work, const micap_step_in *path, const json_t *json, const mica_type *type)
{
    static const char *const names[] = {"data", "tag", "singleton"};
    const char *role = json_string_value(json_object_get(json, "component"));
    const char *name = json_string_value(json_object_get(json, "component_name"));
    json_int_t order = json_integer_value(json_object_get(json, "spawn_order"));
    mica_type component = *type;
    if (!role)
        return true;
    for (component.storage = MICA_STORAGE_CHUNK; component.storage <= MICA_STORAGE_SINGLETON; ++component.storage)
        if (strcmp(names[component.storage], role) == 0)
            break;
    component.toggle = json_is_true(json_object_get(json, "toggle"));
    if (component.storage > MICA_STORAGE_SINGLETON)
        return fail(work, path, "\"component\" is \"data\", \"tag\" or \"singleton\"");
    if (component.storage == MICA_STORAGE_TAG)
        component.size_bytes = component.alignment = 0;
    if (!read_excludes(work, path, json, &component))
        return false;
    const char *problem = mica_type_problem(&component);
    if (problem)
        return fail(work, path, problem);
    if (order < INT32_MIN || order > INT32_MAX)
        return fail(work, path, "\"spawn_order\" has 32 bits");
    mica_result result = micap_schema_add(work->schema, name ? name : type->name, &component, (int32_t)order);
    if (result == MICA_ERROR_MEMORY)
        return micap_json_error_memory(work->compiler);
    return result == MICA_OK || fail(work, path, "another component has this name");
}

static void read_one(reading *work, const micap_step_in *path, const json_t *json)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    read_type *read = micap_json_allocate(work->compiler, sizeof *read);
    if (!read)
        return;
    mica_type *type = &read->type;
    type->name = json_string_value(json_object_get(json, "name"));
    type->kind = kind ? micap_kind_of_name(kind) : MICA_KIND_STRUCT;
    bool has_constants = type->kind == MICA_KIND_ENUM || type->kind == MICA_KIND_FLAGS;
    if (!type->name || (type->kind != MICA_KIND_STRUCT && !has_constants)) {
        fail(work, path, "a type has a \"name\", and a \"kind\" that is \"struct\", \"enum\" or \"flags\"");
        return;
    }
    if (!(has_constants ? read_constants : read_fields)(work, path, json, type))
        return;
    mica_type plain = *type;
    const char *problem = mica_type_problem(&plain);
    if (problem) {
        fail(work, path, problem);
        return;
    }
    read->next = work->types;
    work->types = read;
    if (!has_constants)
        add_component(work, path, json, type);
}

mica_result mica_schema_add_file(mica_schema *schema, const char *path, mica_compile_error_fn error,
                                 void *error_context)
{
    if (MICAP_MISSING(NULL, schema) || MICAP_MISSING(NULL, path))
        return MICA_ERROR_INVALID;
    mica_compile_def def = {.error = error, .error_context = error_context};
    mica_compiler compiler = {.def = &def};
    micap_memory_init(&compiler.memory, def.allocator);
    reading work = {&compiler, micap_source_get(&compiler, path, NULL, 0, (micap_context){0}), NULL, schema};
    if (work.source && !work.source->broken) {
        const json_t *types = json_object_get(work.source->root, "types"), *type;
        size_t index;
        if (!json_is_array(types))
            fail(&work, NULL, "a schema is an object with an array of \"types\"");
        json_array_foreach((json_t *)types, index, type)
        {
            micap_step_in outer = {NULL, "types", 0}, step = {&outer, NULL, index};
            read_one(&work, &step, type);
        }
    }
    micap_sources_free(&compiler);
    micap_json_free_all(&compiler);
    return compiler.result;
}

/* Names of the types that were written. */
typedef struct micap_written {
    const mica_type **list;
    uint32_t count;
    uint32_t capacity;
} written;

/* Whether a type is that of elements which have a kind, and no description. */
static bool is_plain(const mica_type *type)
{
    return bytes_of_kind(type->kind) != 0;
}

static void write_text(micap_json_writer *writer, const char *key, const char *text)
{
    if (!text)
        return;
    micap_write(writer, ", \"%s\": ", key);
    micap_write_string(writer, text);
}

static void write_attributes(micap_json_writer *writer, const mica_attributes *attributes)
{
    write_text(writer, "unit", attributes->unit);
    if (attributes->minimum != attributes->maximum) {
        micap_write(writer, ", \"minimum\": ");
        micap_write_real(writer, attributes->minimum, false);
        micap_write(writer, ", \"maximum\": ");
        micap_write_real(writer, attributes->maximum, false);
    }
    if (attributes->initial_json)
        micap_write(writer, ", \"initial\": %s", attributes->initial_json);
    if (attributes->initial != 0) {
        micap_write(writer, ", \"initial\": ");
        micap_write_real(writer, attributes->initial, false);
    }
    write_text(writer, "note", attributes->note);
}

static void write_fields(micap_json_writer *writer, const mica_type *type)
{
    micap_write_member(writer, "fields");
    micap_write_open(writer, '[');
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        micap_write_member(writer, NULL);
        micap_write(writer, "{\"name\": ");
        micap_write_string(writer, field->name);
        const mica_type *element = field->kind == MICA_KIND_LIST ? field->type : NULL;
        micap_write(writer, ", \"%s\": ", element ? "list" : field->type ? "type" : "kind");
        micap_write_string(writer, element && is_plain(element) ? micap_kind_name(element->kind)
                                   : field->type                ? field->type->name
                                                                : micap_kind_name(field->kind));
        if (field->count != 1)
            micap_write(writer, ", \"count\": %u", field->count);
        micap_write(writer, ", \"offset\": %u", field->offset);
        if (field->attributes)
            write_attributes(writer, field->attributes);
        micap_write(writer, "}");
    }
    micap_write_close(writer, ']');
}

static void write_constants(micap_json_writer *writer, const mica_type *type)
{
    micap_write_member(writer, "constants");
    micap_write(writer, "{");
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        micap_write(writer, "%s", i ? ", " : "");
        micap_write_string(writer, type->constants[i].name);
        micap_write(writer, ": %" PRId64, type->constants[i].value);
    }
    micap_write(writer, "}");
}

static void write_excludes(micap_json_writer *writer, const mica_type *type)
{
    micap_write_member(writer, "excludes");
    micap_write(writer, "[");
    for (uint32_t i = 0; type->excludes[i]; ++i) {
        micap_write(writer, "%s", i ? ", " : "");
        micap_write_string(writer, type->excludes[i]->name);
    }
    micap_write(writer, "]");
}

static void write_type(micap_json_writer *writer, const mica_type *type, const micap_schema_entry *entry)
{
    static const char *const kinds[] = {
        [MICA_KIND_STRUCT] = "struct", [MICA_KIND_ENUM] = "enum", [MICA_KIND_FLAGS] = "flags"};
    static const char *const roles[] = {"data", "tag", "singleton"};
    micap_write_member(writer, NULL);
    micap_write_open(writer, '{');
    micap_write_member(writer, "name");
    micap_write_string(writer, type->name);
    if (entry) {
        mica_storage storage = type->storage <= MICA_STORAGE_SINGLETON ? type->storage : MICA_STORAGE_CHUNK;
        micap_write_member(writer, "component");
        micap_write_string(writer, roles[storage]);
        if (strcmp(entry->name, type->name) != 0) {
            micap_write_member(writer, "component_name");
            micap_write_string(writer, entry->name);
        }
        if (entry->spawn_order) {
            micap_write_member(writer, "spawn_order");
            micap_write(writer, "%d", entry->spawn_order);
        }
        if (type->toggle) {
            micap_write_member(writer, "toggle");
            micap_write(writer, "true");
        }
        if (type->excludes)
            write_excludes(writer, type);
    }
    if (type->kind != MICA_KIND_STRUCT) {
        micap_write_member(writer, "kind");
        micap_write_string(writer, kinds[type->kind]);
    }
    if (!entry || type->storage != MICA_STORAGE_TAG) {
        micap_write_member(writer, "bytes");
        micap_write(writer, "%u", type->size_bytes);
        micap_write_member(writer, "alignment");
        micap_write(writer, "%u", type->alignment);
        if (type->kind == MICA_KIND_STRUCT)
            write_fields(writer, type);
        else
            write_constants(writer, type);
    }
    micap_write_close(writer, '}');
}

static void write_nested(micap_json_writer *writer, written *known, const mica_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_type *nested = type->fields[i].type;
        bool is_known = false;
        for (uint32_t j = 0; nested && j < known->count; ++j)
            is_known = is_known || strcmp(known->list[j]->name, nested->name) == 0;
        if (!nested || is_known || is_plain(nested))
            continue;
        write_nested(writer, known, nested);
        if (!MICAP_RESERVE(&writer->memory, known->list, &known->capacity, (uint64_t)known->count + 1)) {
            writer->failed = true;
            return;
        }
        known->list[known->count++] = nested;
        write_type(writer, nested, NULL);
    }
}

mica_result mica_schema_write(const mica_schema *schema, mica_blob *out_text)
{
    if (MICAP_MISSING(NULL, schema) || MICAP_MISSING(NULL, out_text))
        return MICA_ERROR_INVALID;
    micap_json_writer writer;
    written known = {0};
    micap_writer_init(&writer);
    micap_write_open(&writer, '{');
    micap_write_member(&writer, "types");
    micap_write_open(&writer, '[');
    for (uint32_t i = 0; i < schema->count; ++i) {
        write_nested(&writer, &known, &schema->entries[i]->type);
        write_type(&writer, &schema->entries[i]->type, schema->entries[i]);
    }
    micap_write_close(&writer, ']');
    micap_write_close(&writer, '}');
    MICAP_RELEASE_ARRAY(&writer.memory, known.list, known.capacity);
    return micap_writer_finish(&writer, out_text);
}
