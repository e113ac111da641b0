#include "sql/value_text.h"

#include "base/assert.h"
#include "base/number_text.h"
#include "base/utf8.h"

#include <string.h>

int64_t micap_sql_load(const void *at, uint32_t bytes, bool is_signed)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1: memcpy(&one, at, 1); return is_signed ? (int8_t)one : one;
    case 2: memcpy(&two, at, 2); return is_signed ? (int16_t)two : two;
    case 4: memcpy(&four, at, 4); return is_signed ? (int32_t)four : (int64_t)four;
    default: memcpy(&eight, at, 8); return (int64_t)eight;
    }
}

static uint64_t mask_of(const mica_type *type)
{
    return UINT64_MAX >> (64 - 8 * type->size_bytes);
}

/* Returns false unless every bit that is set has a name. */
static bool flags_of(const mica_type *type, uint64_t bits, char **out_text)
{
    uint64_t left = bits, mask = mask_of(type);
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (uint32_t i = 0; i < type->constant_count; ++i) {
        uint64_t constant = (uint64_t)type->constants[i].value & mask;
        if (!constant || (bits & constant) != constant || !(left & constant))
            continue;
        sqlite3_str_appendf(text, "%s%s", left == bits ? "" : "|", type->constants[i].name);
        left &= ~constant;
    }
    bool is_empty = sqlite3_str_length(text) == 0;
    *out_text = sqlite3_str_finish(text);
    if (is_empty && !left)
        *out_text = sqlite3_mprintf("");
    if (!left)
        return true;
    sqlite3_free(*out_text);
    *out_text = NULL;
    return false;
}

bool micap_sql_names_of(const mica_type *type, const void *at, char **out_text, int64_t *out_integer)
{
    bool is_flags = type->kind == MICA_KIND_FLAGS;
    uint64_t mask = mask_of(type);
    *out_integer = micap_sql_load(at, type->size_bytes, !is_flags);
    uint64_t bits = (uint64_t)*out_integer & mask;
    if (is_flags)
        return flags_of(type, bits, out_text);
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (((uint64_t)type->constants[i].value & mask) == bits) {
            *out_text = sqlite3_mprintf("%s", type->constants[i].name);
            return true;
        }
    return false;
}

static void append_fields(sqlite3_str *text, const mica_type *type, const char *at);

static void append_quoted(sqlite3_str *text, const char *from, size_t length)
{
    sqlite3_str_appendchar(text, 1, '"');
    for (const char *end = from + length; from < end; ++from) {
        uint32_t bytes = micap_character_bytes((const unsigned char *)from, (uint64_t)(end - from));
        if (!bytes)
            sqlite3_str_appendall(text, "\xEF\xBF\xBD"); /* U+FFFD, the replacement character */
        else if (*from == '"' || *from == '\\')
            sqlite3_str_appendf(text, "\\%c", *from);
        else if ((unsigned char)*from < 0x20)
            sqlite3_str_appendf(text, "\\u%04x", (unsigned)(unsigned char)*from);
        else
            sqlite3_str_append(text, from, (int)bytes);
        from += bytes ? bytes - 1 : 0;
    }
    sqlite3_str_appendchar(text, 1, '"');
}

static void append_named(sqlite3_str *text, const mica_type *type, const char *at)
{
    char *names = NULL;
    int64_t integer;
    if (!micap_sql_names_of(type, at, &names, &integer))
        sqlite3_str_appendf(text, "%lld", (long long)integer);
    else if (names)
        append_quoted(text, names, strlen(names));
    sqlite3_free(names);
}

/* JSON has neither infinities nor NaN. A real number has a point or an exponent: json_type tells it from an integer. */
static void append_real(sqlite3_str *text, double value, bool is_f32)
{
    char number[MICAP_NUMBER_TEXT_BYTES] = "";
    bool is_finite = value - value == 0;
    if (is_finite)
        micap_number_text(value, is_f32, number);
    bool is_whole = is_finite && !strpbrk(number, ".e");
    sqlite3_str_appendall(text, is_finite ? number : value > 0 ? "9e999" : value < 0 ? "-9e999" : "null");
    sqlite3_str_appendall(text, is_whole ? ".0" : "");
}

static void append_element(sqlite3_str *text, const mica_field *field, const char *at);

static void append_list(sqlite3_str *text, const mica_type *element, const mica_list *list)
{
    MICAP_ASSERT(element, "a list says what its elements are");
    bool is_described = element->field_count || element->constant_count;
    mica_field field = {
        .type = is_described ? element : NULL, .element_bytes = element->size_bytes, .count = 1, .kind = element->kind};
    const char *items = mica_list_items_type(list, element);
    sqlite3_str_appendchar(text, 1, '[');
    for (uint32_t i = 0; i < mica_list_count(list); ++i) {
        sqlite3_str_appendall(text, i ? "," : "");
        append_element(text, &field, items + (size_t)i * element->size_bytes);
    }
    sqlite3_str_appendchar(text, 1, ']');
}

static void append_element(sqlite3_str *text, const mica_field *field, const char *at)
{
    mica_kind kind = field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind;
    bool is_signed = kind == MICA_KIND_I8 || kind == MICA_KIND_I16 || kind == MICA_KIND_I32;
    float narrow;
    double real;
    switch (kind) {
    case MICA_KIND_TEXT:
        append_quoted(text, mica_text_get((const void *)at), mica_text_length((const void *)at));
        break;
    case MICA_KIND_LIST: append_list(text, field->type, (const void *)at); break;
    case MICA_KIND_STRUCT: append_fields(text, field->type, at); break;
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: append_named(text, field->type, at); break;
    case MICA_KIND_BOOL: sqlite3_str_appendf(text, "%s", *at ? "true" : "false"); break;
    case MICA_KIND_F32:
        memcpy(&narrow, at, sizeof narrow);
        append_real(text, narrow, true);
        break;
    case MICA_KIND_F64:
        memcpy(&real, at, sizeof real);
        append_real(text, real, false);
        break;
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET: {
        mica_entity entity;
        int64_t integer = micap_sql_load(at, 8, true);
        memcpy(&entity, at, sizeof entity);
        if (kind == MICA_KIND_ENTITY)
            integer = mica_is_nil(entity) ? 0 : mica_sql_from_entity(entity);
        if (integer)
            sqlite3_str_appendf(text, "%lld", (long long)integer);
        else
            sqlite3_str_appendall(text, "null");
        break;
    }
    default: sqlite3_str_appendf(text, "%lld", (long long)micap_sql_load(at, field->element_bytes, is_signed));
    }
}

static void append_field(sqlite3_str *text, const mica_field *field, const char *at)
{
    if (!field->type && field->kind == MICA_KIND_CHAR && field->count > 1) {
        const char *end = memchr(at, 0, field->count);
        append_quoted(text, at, end ? (size_t)(end - at) : field->count);
        return;
    }
    if (field->count > 1)
        sqlite3_str_appendchar(text, 1, '[');
    for (uint32_t i = 0; i < field->count; ++i) {
        if (i)
            sqlite3_str_appendchar(text, 1, ',');
        append_element(text, field, at + (size_t)i * field->element_bytes);
    }
    if (field->count > 1)
        sqlite3_str_appendchar(text, 1, ']');
}

static void append_fields(sqlite3_str *text, const mica_type *type, const char *at)
{
    MICAP_ASSERT(type, "a field that is a struct says which");
    sqlite3_str_appendchar(text, 1, '{');
    for (uint32_t i = 0; i < type->field_count; ++i) {
        if (i)
            sqlite3_str_appendchar(text, 1, ',');
        append_quoted(text, type->fields[i].name, strlen(type->fields[i].name));
        sqlite3_str_appendchar(text, 1, ':');
        append_field(text, &type->fields[i], at + type->fields[i].offset);
    }
    sqlite3_str_appendchar(text, 1, '}');
}

char *micap_sql_list(const mica_field *field, const void *at)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    append_field(text, field, at);
    return sqlite3_str_finish(text);
}
