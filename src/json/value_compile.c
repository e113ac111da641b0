#include "json/value_compile.h"
#include "base/closest_name.h"
#include "json/asset_reference.h"
#include "json/compile_error.h"
#include "json/entity_reference.h"

#include "mica/list.h"
#include "mica/value.h"
#include "type/value_bytes.h"

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

static mica_scalar scalar_of(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_INTEGER: return (mica_scalar){.kind = MICA_KIND_I64, .integer = json_integer_value(json)};
    case JSON_REAL: return (mica_scalar){.kind = MICA_KIND_F64, .real = json_real_value(json)};
    case JSON_STRING:
        return (mica_scalar){
            .kind = MICA_KIND_TEXT, .text = json_string_value(json), .text_bytes = json_string_length(json)};
    case JSON_TRUE:
    case JSON_FALSE: return (mica_scalar){.kind = MICA_KIND_BOOL, .integer = json_is_true(json)};
    case JSON_NULL: return (mica_scalar){.kind = MICA_KIND_NONE};
    default: return (mica_scalar){.kind = json_is_array(json) ? MICA_KIND_LIST : MICA_KIND_STRUCT};
    }
}

/* Reports an error that has a name in it, with a suggestion if one of the right names is close. */
static bool fail_name(const value_work *work, const micap_step_in *path, micap_guess *guess, const char *text)
{
    char hint[100];
    return micap_json_error(work->compiler, at(work, path), "%s%s", text, micap_guess_text(guess, hint, sizeof hint));
}

static bool fail_constant(const value_work *work, const micap_step_in *path, const json_t *json, const mica_type *type,
                          const char *text)
{
    micap_guess guess = {.wrong = json_string_value(json)};
    for (uint32_t i = 0; i < type->constant_count; ++i)
        micap_guess_try(&guess, type->constants[i].name);
    return fail_name(work, path, &guess, text);
}

/* Whatever is one value in JSON; what fits it, and what is said if it does not, is the same as in mica_value_parse. */
static bool compile_scalar(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    mica_value_error error;
    if (mica_value_assign(member, scalar_of(json), &error) == MICA_OK)
        return true;
    bool is_name = json_is_string(json) && (member.kind == MICA_KIND_ENUM || member.kind == MICA_KIND_FLAGS);
    return is_name ? fail_constant(work, path, json, member.type, error.text)
                   : micap_json_error(work->compiler, at(work, path), "%s", error.text);
}

/* An array of the names of flags. */
static bool compile_flags(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    unsigned char all[8] = {0}, one[8];
    mica_member flag = member;
    const json_t *name;
    size_t index;
    flag.data = one;
    json_array_foreach((json_t *)json, index, name)
    {
        micap_step_in step = {path, NULL, index};
        if (!json_is_string(name))
            return mismatch(work, &step, "the name of a constant", name);
        if (!compile_scalar(work, &step, name, flag))
            return false;
        for (uint32_t i = 0; i < member.element_bytes; ++i)
            all[i] |= one[i];
    }
    memcpy(member.data, all, member.element_bytes);
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

static bool compile_member(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member);

/* The elements of an array or a list, which are as many as there are in JSON, or more. */
static bool compile_elements(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    bool fine = true;
    const json_t *value;
    size_t index;
    json_array_foreach((json_t *)json, index, value)
    {
        micap_step_in step = {path, NULL, index};
        mica_member element = mica_member_at(member, (uint32_t)index);
        element.name = member.name; /* for errors */
        fine = compile_member(work, &step, value, element) && fine;
    }
    return fine;
}

/* The result of a function that sets text or lists. */
static bool is_set(const value_work *work, const micap_step_in *path, mica_result result)
{
    return result == MICA_OK ||
           micap_json_error(work->compiler, at(work, path),
                            result == MICA_ERROR_LIMIT ? "it is longer than text or a list can be" : "out of memory");
}

/* The bytes of a text that is not UTF-8. */
static bool compile_bytes(const value_work *work, const micap_step_in *path, const json_t *json, mica_text *to)
{
    mica_text_clear(to);
    const json_t *element;
    size_t index;
    json_array_foreach((json_t *)json, index, element)
    {
        char character = 0;
        micap_step_in step = {path, NULL, index};
        mica_member byte = {.data = &character, .kind = MICA_KIND_CHAR, .element_bytes = 1};
        if (!compile_scalar(work, &step, element, byte) ||
            !is_set(work, path, mica_text_append_bytes(to, &character, 1)))
            return false;
    }
    return true;
}

/* An array replaces all elements. */
static bool compile_list(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    size_t count = json_array_size(json);
    mica_list_clear_type(member.data, member.type);
    if (count > MICA_LIST_COUNT_MAX || count > MICA_LIST_BYTES_MAX / member.type->size_bytes)
        return is_set(work, path, MICA_ERROR_LIMIT);
    return is_set(work, path, mica_list_resize_type(member.data, member.type, (uint32_t)count)) &&
           compile_elements(work, path, json, member);
}

/* An array replaces all elements; missing ones are zero. */
static bool compile_array(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    bool is_text = member.kind == MICA_KIND_CHAR;
    if (!json_is_array(json))
        return compile_scalar(work, path, json, member);
    if (json_array_size(json) > member.count)
        return micap_json_error(work->compiler, at(work, path), "expected %s of at most %u elements, found %zu",
                                is_text ? "a string, or an array" : "an array", member.count, json_array_size(json));
    mica_field field = {
        .type = member.type, .kind = member.kind, .element_bytes = member.element_bytes, .count = member.count};
    micap_contents_clear(&(mica_type){.fields = &field, .field_count = 1}, member.data, 1);
    memset(member.data, 0, (size_t)member.element_bytes * member.count);
    return compile_elements(work, path, json, member);
}

static bool compile_positions(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    const mica_type *type = member.type;
    if (json_array_size(json) != type->field_count)
        return micap_json_error(work->compiler, at(work, path),
                                "expected an object, or an array of the %u fields of %.60s", type->field_count,
                                type->name);
    bool fine = true;
    for (uint32_t i = 0; i < type->field_count; ++i) {
        micap_step_in step = {path, NULL, i};
        fine = compile_member(work, &step, json_array_get(json, i), mica_member_at(member, i)) && fine;
    }
    return fine;
}

static bool fail_field(const value_work *work, const micap_step_in *path, const mica_type *type)
{
    char text[160];
    micap_guess guess = {.wrong = path->key};
    for (uint32_t i = 0; i < type->field_count; ++i)
        micap_guess_try(&guess, type->fields[i].name);
    snprintf(text, sizeof text, "%.60s has no field \"%.60s\"", type->name, path->key);
    return fail_name(work, path, &guess, text);
}

/* Returns the position of a field; the number of fields if there is none with that name. Fields are mostly in the order of the type:
 * `guess` is tried first. */
static uint32_t find_field(const mica_type *type, const char *name, uint32_t guess)
{
    if (guess < type->field_count && strcmp(type->fields[guess].name, name) == 0)
        return guess;
    uint32_t i = 0;
    while (i < type->field_count && strcmp(type->fields[i].name, name) != 0)
        ++i;
    return i;
}

static bool compile_struct(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    if (json_is_array(json))
        return compile_positions(work, path, json, member);
    if (!json_is_object(json))
        return mismatch(work, path, "an object of fields", json);
    bool fine = true;
    const char *key;
    json_t *value;
    uint32_t field = 0;
    json_object_foreach((json_t *)json, key, value)
    {
        micap_step_in step = {path, key, 0};
        field = find_field(member.type, key, field);
        fine = (field < member.type->field_count ? compile_member(work, &step, value, mica_member_at(member, field))
                                                 : fail_field(work, &step, member.type)) &&
               fine;
        ++field;
    }
    return fine;
}

static bool compile_member(const value_work *work, const micap_step_in *path, const json_t *json, mica_member member)
{
    bool is_array = json_is_array(json);
    if (member.count)
        return compile_array(work, path, json, member);
    switch (member.kind) {
    case MICA_KIND_ENTITY: return compile_reference(work, path, json, member.data);
    case MICA_KIND_ASSET: return compile_asset(work, path, json, member.data);
    case MICA_KIND_STRUCT: return compile_struct(work, path, json, member);
    case MICA_KIND_TEXT:
        return is_array ? compile_bytes(work, path, json, member.data) : compile_scalar(work, path, json, member);
    case MICA_KIND_LIST:
        return is_array ? compile_list(work, path, json, member) : compile_scalar(work, path, json, member);
    case MICA_KIND_FLAGS:
        return is_array ? compile_flags(work, path, json, member) : compile_scalar(work, path, json, member);
    default: return compile_scalar(work, path, json, member);
    }
}

bool micap_value_is_edge(const mica_type *type)
{
    return type->field_count && type->fields[0].kind == MICA_KIND_ENTITY && type->fields[0].count == 1 &&
           strcmp(type->fields[0].name, "target") == 0;
}

bool micap_value_compile(mica_compiler *compiler, micap_value_of owner, const json_t *json, const mica_type *type,
                         void *instance, micap_context context)
{
    value_work work = {compiler, owner, context.location, context.source};
    mica_member whole = {.data = instance,
                         .name = type->name,
                         .type = type,
                         .kind = MICA_KIND_STRUCT,
                         .element_bytes = type->size_bytes};
    if (owner.layer && owner.layer->member && strcmp(owner.layer->member, "relations") == 0 && json_is_string(json))
        return compile_member(&work, context.path, json, mica_member_at(whole, 0));
    return compile_struct(&work, context.path, json, whole);
}
