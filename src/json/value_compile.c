#include "json/value_compile.h"
#include "json/asset_reference.h"
#include "json/compile_error.h"
#include "json/entity_reference.h"

#include "mica/list.h"
#include "mica/value.h"
#include "resource/format/scalar_fields.h"
#include "type/value_bytes.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"none",   "bool", "char",  "i8",    "u8",   "i16", "u16",
                                         "i32",    "u32",  "i64",   "u64",   "f32",  "f64", "entity",
                                         "struct", "enum", "flags", "asset", "text", "list"};

const char *micap_kind_name(mica_kind kind)
{
    return kind <= MICA_KIND_LIST ? kind_names[kind] : "?";
}

mica_kind micap_kind_of_name(const char *name)
{
    for (mica_kind kind = MICA_KIND_BOOL; kind <= MICA_KIND_LIST; ++kind)
        if (strcmp(kind_names[kind], name) == 0)
            return kind;
    return MICA_KIND_NONE;
}

/* The parameters that are the same for nested values. */
typedef struct micap_value_work {
    mica_compiler *compiler;
    micap_value_of owner;
    const micap_json_location *location;
    micap_source_file *source;
} value_work;

static micap_context at(const value_work *work, const micap_step_in *path)
{
    return (micap_context){work->location, work->source, path};
}

static bool mismatch(const value_work *work, const micap_step_in *path, const char *expected, const json_t *found)
{
    static const char *const names[] = {"an object",     "an array", "a string", "an integer",
                                        "a real number", "true",     "false",    "null"};
    return micap_json_error(work->compiler, at(work, path), "expected %s, found %s", expected,
                            names[json_typeof(found)]);
}

static void store(void *to, uint64_t value, uint32_t bytes)
{
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    memcpy(to,
           bytes == 1   ? (void *)&one
           : bytes == 2 ? (void *)&two
           : bytes == 4 ? (void *)&four
                        : (void *)&value,
           bytes);
}

static bool is_signed(mica_kind kind)
{
    return kind == MICA_KIND_I8 || kind == MICA_KIND_I16 || kind == MICA_KIND_I32 || kind == MICA_KIND_I64;
}

/* Reads a number from a string, for values that JSON integers can't represent. */
static bool parse_integer(const char *text, bool is_signed_, uint64_t *out)
{
    char *after;
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9' || (*text == '-' && !is_signed_))
        return false;
    errno = 0;
    *out = is_signed_ ? (uint64_t)strtoll(text, &after, 0) : strtoull(text, &after, 0);
    return errno == 0 && *after == 0;
}

static bool compile_integer(const value_work *work, const micap_step_in *path, const json_t *json, mica_kind kind,
                            uint32_t bytes, void *to)
{
    uint64_t bits;
    char expected[80];
    int64_t least = is_signed(kind) ? -(int64_t)((uint64_t)1 << (8 * bytes - 1) >> 1) * 2 : 0;
    uint64_t most = bytes == 8 ? (is_signed(kind) ? INT64_MAX : UINT64_MAX)
                               : ((uint64_t)1 << (8 * bytes - (is_signed(kind) ? 1 : 0))) - 1;
    snprintf(expected, sizeof expected, "an integer from %" PRId64 " to %" PRIu64, least, most);
    if (json_is_string(json)) {
        if (!parse_integer(json_string_value(json), is_signed(kind), &bits))
            return micap_json_error(work->compiler, at(work, path), "expected %s, found \"%.40s\"", expected,
                                    json_string_value(json));
    } else if (json_is_integer(json)) {
        bits = (uint64_t)json_integer_value(json);
        if (!is_signed(kind) && json_integer_value(json) < 0)
            return micap_json_error(work->compiler, at(work, path), "expected %s, found %" PRId64, expected,
                                    (int64_t)bits);
    } else {
        return mismatch(work, path, expected, json);
    }
    bool fits = is_signed(kind) ? (int64_t)bits >= least && ((int64_t)bits < 0 || bits <= most) : bits <= most;
    if (!fits)
        return micap_json_error(work->compiler, at(work, path), "expected %s, found %" PRId64, expected, (int64_t)bits);
    store(to, bits, bytes);
    return true;
}

static bool compile_real(const value_work *work, const micap_step_in *path, const json_t *json, mica_kind kind,
                         void *to)
{
    double value;
    const char *text = json_string_value(json);
    if (json_is_number(json))
        value = json_number_value(json);
    else if (text && strcmp(text, "nan") == 0)
        value = (double)NAN;
    else if (text && strcmp(text, "inf") == 0)
        value = (double)INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        value = -(double)INFINITY;
    else
        return mismatch(work, path, "a number, \"nan\", \"inf\" or \"-inf\"", json);
    float narrow = (float)value;
    if (kind == MICA_KIND_F32 && isinf(narrow) && !isinf(value))
        return micap_json_error(work->compiler, at(work, path), "expected a number that fits into an f32, found %g",
                                value);
    if (kind == MICA_KIND_F32)
        memcpy(to, &narrow, sizeof narrow);
    else
        memcpy(to, &value, sizeof value);
    return true;
}

static const mica_constant *find_constant(const mica_type *type, const char *name, micap_guess *guess)
{
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        if (strcmp(type->constants[i].name, name) == 0)
            return &type->constants[i];
        micap_guess_try(guess, type->constants[i].name);
    }
    return NULL;
}

static bool compile_constant(const value_work *work, const micap_step_in *path, const char *name, const mica_type *type,
                             uint64_t *out_bits)
{
    char hint[100];
    micap_guess guess = {.wrong = name};
    const mica_constant *constant = find_constant(type, name, &guess);
    if (!constant)
        return micap_json_error(work->compiler, at(work, path), "%.60s has no constant \"%.60s\"%s", type->name, name,
                                micap_guess_text(&guess, hint, sizeof hint));
    *out_bits |= (uint64_t)constant->value;
    return true;
}

static bool compile_enum(const value_work *work, const micap_step_in *path, const json_t *json, const mica_type *type,
                         void *to)
{
    uint64_t bits = 0;
    bool is_flags = type->kind == MICA_KIND_FLAGS;
    if (json_is_string(json)) {
        if (!compile_constant(work, path, json_string_value(json), type, &bits))
            return false;
    } else if (is_flags && json_is_array(json)) {
        const json_t *name;
        size_t index;
        json_array_foreach((json_t *)json, index, name)
        {
            micap_step_in step = {path, NULL, index};
            if (!json_is_string(name))
                return mismatch(work, &step, "the name of a constant", name);
            if (!compile_constant(work, &step, json_string_value(name), type, &bits))
                return false;
        }
    } else if (json_is_integer(json)) {
        int64_t value = json_integer_value(json);
        int64_t least = -(int64_t)((uint64_t)1 << (8 * type->size_bytes - 1) >> 1) * 2;
        if (type->size_bytes < 8 && (value < least || value >= (int64_t)1 << 8 * type->size_bytes))
            return micap_json_error(work->compiler, at(work, path),
                                    "%" PRId64 " does not fit into the %u bytes of %.60s", value, type->size_bytes,
                                    type->name);
        bits = (uint64_t)value;
    } else {
        return mismatch(
            work, path,
            is_flags ? "an array of names of constants, or an integer" : "the name of a constant, or an integer", json);
    }
    store(to, bits, type->size_bytes);
    return true;
}

static bool compile_reference(const value_work *work, const micap_step_in *path, const json_t *json, void *to)
{
    mica_entity entity = mica_nil();
    if (!json_is_null(json)) {
        if (!json_is_string(json))
            return mismatch(work, path, "the path of an entity, or null", json);
        const micap_node *node = micap_reference_find(work->compiler, work->owner.node, work->owner.layer,
                                                      json_string_value(json), at(work, path));
        if (!node)
            return false;
        entity = (mica_entity){node->index, 1};
    }
    memcpy(to, &entity, sizeof entity);
    return true;
}

static bool compile_asset(const value_work *work, const micap_step_in *path, const json_t *json, void *to)
{
    mica_asset asset;
    if (json_is_null(json)) {
        memset(to, 0, sizeof asset);
        return true;
    }
    if (!json_is_string(json))
        return mismatch(work, path, "the path of a resource, or null", json);
    if (!micap_asset_compile(work->compiler, json_string_value(json), at(work, path), &asset))
        return false;
    memcpy(to, &asset, sizeof asset);
    return true;
}

static bool compile_struct(const value_work *work, const micap_step_in *path, const json_t *json, const mica_type *type,
                           char *to);

static bool compile_element(const value_work *work, const micap_step_in *path, const json_t *json,
                            const mica_field *field, char *to);

/* The result of a function that sets text or lists. */
static bool is_set(const value_work *work, const micap_step_in *path, mica_result result)
{
    return result == MICA_OK ||
           micap_json_error(work->compiler, at(work, path),
                            result == MICA_ERROR_LIMIT ? "it is longer than text or a list can be" : "out of memory");
}

/* Text is a string, or an array of bytes if it is not UTF-8. */
static bool compile_any_text(const value_work *work, const micap_step_in *path, const json_t *json, mica_text *to)
{
    static const mica_field byte = {.name = "byte", .kind = MICA_KIND_CHAR, .element_bytes = 1, .count = 1};
    size_t length = json_is_string(json) ? json_string_length(json) : json_array_size(json);
    if (!json_is_string(json) && !json_is_array(json))
        return mismatch(work, path, "a string, or an array of bytes", json);
    if (length > MICA_TEXT_BYTES_MAX)
        return is_set(work, path, MICA_ERROR_LIMIT);
    if (json_is_string(json))
        return is_set(work, path, mica_text_set_bytes(to, json_string_value(json), length));
    mica_text_clear(to);
    const json_t *element;
    size_t index;
    json_array_foreach((json_t *)json, index, element)
    {
        char character = 0;
        micap_step_in step = {path, NULL, index};
        if (!compile_element(work, &step, element, &byte, &character) ||
            !is_set(work, path, mica_text_append_bytes(to, &character, 1)))
            return false;
    }
    return true;
}

/* An array replaces all elements. */
static bool compile_list(const value_work *work, const micap_step_in *path, const json_t *json, const mica_field *field,
                         mica_list *to)
{
    const mica_type *type = field->type;
    if (!json_is_array(json))
        return mismatch(work, path, "an array", json);
    size_t count = json_array_size(json);
    mica_list_clear_type(to, type);
    if (count > MICA_LIST_COUNT_MAX || count > MICA_LIST_BYTES_MAX / type->size_bytes)
        return is_set(work, path, MICA_ERROR_LIMIT);
    if (!is_set(work, path, mica_list_resize_type(to, type, (uint32_t)count)))
        return false;
    mica_field element = micap_element_field(type);
    element.attributes = field->attributes;
    element.name = field->name;
    char *items = mica_list_write_type(to, type);
    bool fine = true;
    for (size_t i = 0; i < count; ++i) {
        micap_step_in step = {path, NULL, i};
        fine = compile_element(work, &step, json_array_get(json, i), &element, items + i * type->size_bytes) && fine;
    }
    return fine;
}

/* A value without a check of its range. */
static bool compile_any(const value_work *work, const micap_step_in *path, const json_t *json, const mica_field *field,
                        char *to)
{
    mica_kind kind = micap_field_kind(field);
    switch (kind) {
    case MICA_KIND_BOOL:
        if (!json_is_boolean(json))
            return mismatch(work, path, "true or false", json);
        *to = (char)json_is_true(json);
        return true;
    case MICA_KIND_CHAR:
        if (json_is_string(json) && json_string_length(json) == 1) {
            *to = *json_string_value(json);
            return true;
        }
        if (!json_is_integer(json))
            return mismatch(work, path, "a string of one byte, or an integer", json);
        return compile_integer(work, path, json, MICA_KIND_U8, 1, to);
    case MICA_KIND_F32:
    case MICA_KIND_F64: return compile_real(work, path, json, kind, to);
    case MICA_KIND_ENTITY: return compile_reference(work, path, json, to);
    case MICA_KIND_ASSET: return compile_asset(work, path, json, to);
    case MICA_KIND_STRUCT: return compile_struct(work, path, json, field->type, to);
    case MICA_KIND_TEXT: return compile_any_text(work, path, json, (mica_text *)(void *)to);
    case MICA_KIND_LIST: return compile_list(work, path, json, field, (mica_list *)(void *)to);
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: return compile_enum(work, path, json, field->type, to);
    default: return compile_integer(work, path, json, kind, field->element_bytes, to);
    }
}

static bool compile_element(const value_work *work, const micap_step_in *path, const json_t *json,
                            const mica_field *field, char *to)
{
    mica_value_error error;
    mica_kind kind = micap_field_kind(field);
    if (!compile_any(work, path, json, field, to))
        return false;
    if (!field->attributes || kind < MICA_KIND_I8 || kind > MICA_KIND_F64)
        return true;
    mica_member member = {.data = to,
                          .name = field->name,
                          .kind = kind,
                          .element_bytes = field->element_bytes,
                          .attributes = field->attributes};
    return mica_value_check(member, &error) == MICA_OK ||
           micap_json_error(work->compiler, at(work, path), "%s", error.text);
}

static bool compile_text(const value_work *work, const micap_step_in *path, const json_t *json, const mica_field *field,
                         char *to)
{
    /* Readers expect a zero byte at the end. */
    if (json_string_length(json) >= field->count)
        return micap_json_error(work->compiler, at(work, path), "expected a text of at most %u bytes, found %zu",
                                field->count - 1, json_string_length(json));
    memset(to, 0, field->count);
    memcpy(to, json_string_value(json), json_string_length(json));
    return true;
}

/* An array replaces all elements; missing ones are zero. */
static bool compile_field(const value_work *work, const micap_step_in *path, const json_t *json,
                          const mica_field *field, char *to)
{
    if (field->count == 1)
        return compile_element(work, path, json, field, to);
    if (json_is_string(json) && micap_field_kind(field) == MICA_KIND_CHAR)
        return compile_text(work, path, json, field, to);
    char expected[80];
    snprintf(expected, sizeof expected, "%s of at most %u elements",
             micap_field_kind(field) == MICA_KIND_CHAR ? "a string, or an array" : "an array", field->count);
    if (!json_is_array(json))
        return mismatch(work, path, expected, json);
    if (json_array_size(json) > field->count)
        return micap_json_error(work->compiler, at(work, path), "expected %s, found %zu", expected,
                                json_array_size(json));
    mica_field at_start = *field;
    at_start.offset = 0;
    micap_contents_clear(&(mica_type){.fields = &at_start, .field_count = 1}, to, 1);
    memset(to, 0, (size_t)field->element_bytes * field->count);
    bool fine = true;
    const json_t *element;
    size_t index;
    json_array_foreach((json_t *)json, index, element)
    {
        micap_step_in step = {path, NULL, index};
        fine = compile_element(work, &step, element, field, to + index * field->element_bytes) && fine;
    }
    return fine;
}

static const mica_field *find_field(const mica_type *type, const char *name, micap_guess *guess)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
        micap_guess_try(guess, type->fields[i].name);
    }
    return NULL;
}

static bool compile_positions(const value_work *work, const micap_step_in *path, const json_t *json,
                              const mica_type *type, char *to)
{
    if (json_array_size(json) != type->field_count)
        return micap_json_error(work->compiler, at(work, path),
                                "expected an object, or an array of the %u fields of %.60s", type->field_count,
                                type->name);
    bool fine = true;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        micap_step_in step = {path, NULL, i};
        fine =
            compile_field(work, &step, json_array_get(json, i), &type->fields[i], to + type->fields[i].offset) && fine;
    }
    return fine;
}

static bool compile_struct(const value_work *work, const micap_step_in *path, const json_t *json, const mica_type *type,
                           char *to)
{
    if (json_is_array(json))
        return compile_positions(work, path, json, type, to);
    if (!json_is_object(json))
        return mismatch(work, path, "an object of fields", json);
    bool fine = true;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        char hint[100];
        micap_step_in step = {path, key, 0};
        micap_guess guess = {.wrong = key};
        const mica_field *field = find_field(type, key, &guess);
        if (field)
            fine = compile_field(work, &step, value, field, to + field->offset) && fine;
        else
            fine = micap_json_error(work->compiler, at(work, &step), "%.60s has no field \"%.60s\"%s", type->name, key,
                                    micap_guess_text(&guess, hint, sizeof hint));
    }
    return fine;
}

bool micap_value_compile(mica_compiler *compiler, micap_value_of owner, const json_t *json, const mica_type *type,
                         void *instance, micap_context context)
{
    value_work work = {compiler, owner, context.location, context.source};
    return compile_struct(&work, context.path, json, type, instance);
}
