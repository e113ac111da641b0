#include "sql/value_write.h"
#include "sql/column.h"
#include "sql/value_read.h"
#include "sql/value_text.h"

#include "mica/value.h"

#include <math.h>
#include <string.h>

static bool refuse(const micap_sql_column *column, char **out_problem, const char *what)
{
    *out_problem = sqlite3_mprintf("%s %s", column->name, what);
    return false;
}

/* The field that a column is about, with the name of the column. */
static mica_member member_of(const micap_sql_column *column, void *at)
{
    const mica_field *field = column->field;
    bool is_list = field->kind == MICA_KIND_LIST;
    return (mica_member){.data = at,
                         .name = column->name,
                         .type = field->type,
                         .kind = field->type && !is_list ? field->type->kind : field->kind,
                         .element_bytes = field->element_bytes,
                         .count = column->form == MICAP_SQL_TEXT ? field->count : 0,
                         .attributes = field->attributes};
}

/* A value of SQL as one of mica/value.h. SQL has neither truth values nor unsigned integers nor NaN, and whole numbers may be reals. */
static mica_scalar scalar_of(mica_kind kind, sqlite3_value *value)
{
    double real = sqlite3_value_double(value);
    int64_t integer = sqlite3_value_int64(value);
    int type = sqlite3_value_type(value);
    bool is_real = kind == MICA_KIND_F32 || kind == MICA_KIND_F64;
    /* SQLite converts larger reals to the largest integer, which is 2^63 as a real. */
    bool is_whole =
        type == SQLITE_INTEGER || (type == SQLITE_FLOAT && (double)integer == real && real < 9223372036854775808.0);
    if (type == SQLITE_TEXT)
        return (mica_scalar){.kind = MICA_KIND_TEXT,
                             .text = (const char *)sqlite3_value_text(value),
                             .text_bytes = (size_t)sqlite3_value_bytes(value)};
    if (type == SQLITE_NULL)
        return is_real ? (mica_scalar){.kind = MICA_KIND_F64, .real = (double)NAN}
                       : (mica_scalar){.kind = MICA_KIND_NONE};
    if (!is_whole || (is_real && type == SQLITE_FLOAT))
        return (mica_scalar){.kind = MICA_KIND_F64, .real = real};
    if (kind == MICA_KIND_BOOL && (integer == 0 || integer == 1))
        return (mica_scalar){.kind = MICA_KIND_BOOL, .integer = integer};
    return (mica_scalar){.kind = kind == MICA_KIND_U64 ? MICA_KIND_U64 : MICA_KIND_I64, .integer = integer};
}

static bool assign(const micap_sql_column *column, mica_member member, mica_scalar scalar, char **out_problem)
{
    mica_value_error error;
    if (mica_value_assign(member, scalar, &error) == MICA_OK)
        return true;
    *out_problem = sqlite3_mprintf("%s: %s", column->name, error.text);
    return false;
}

/* Names of flags, separated by '|'. */
static bool store_flags(const micap_sql_column *column, mica_member member, mica_scalar names, char **out_problem)
{
    unsigned char one[8], all[8] = {0}, *to = member.data;
    const char *at = names.text, *last = at + names.text_bytes;
    bool is_none = strspn(at, " ") >= names.text_bytes;
    member.data = one;
    while (!is_none) {
        const char *bar = memchr(at, '|', (size_t)(last - at)), *next = bar ? bar : last, *end = next;
        while (at < end && *at == ' ')
            ++at;
        while (at < end && end[-1] == ' ')
            --end;
        mica_scalar name = {.kind = MICA_KIND_TEXT, .text = at, .text_bytes = (size_t)(end - at)};
        if (!assign(column, member, name, out_problem))
            return false;
        for (uint32_t i = 0; i < member.element_bytes; ++i)
            all[i] |= one[i];
        is_none = !bar;
        at = next + 1;
    }
    memcpy(to, all, member.element_bytes);
    return true;
}

/* A handle as SQL has it. It is not checked: a reference may outlive its entity. */
static bool store_handle(mica_kind kind, int64_t number, void *at)
{
    mica_entity entity = mica_sql_to_entity(number);
    if (kind == MICA_KIND_ENTITY)
        memcpy(at, &entity, sizeof entity);
    else
        memcpy(at, &number, sizeof number);
    return true;
}

/* Returns true if the text equals the current array or list: UPDATE FROM passes all columns, also read-only ones and lists with what JSON has
 * no notation for. */
static bool is_the_same(const micap_sql_column *column, sqlite3_value *value, const char *at)
{
    const char *text = (const char *)sqlite3_value_text(value), *end = memchr(at, 0, column->field->count);
    if (!text)
        return false;
    if (column->form == MICAP_SQL_TEXT) {
        size_t length = end ? (size_t)(end - at) : column->field->count;
        return (size_t)sqlite3_value_bytes(value) == length && memcmp(text, at, length) == 0;
    }
    mica_field field = *column->field;
    field.count = column->form == MICAP_SQL_DYNAMIC ? 1 : field.count;
    char *list = micap_sql_list(&field, at);
    bool is_same = list && strcmp(list, text) == 0;
    sqlite3_free(list);
    return is_same;
}

static bool parse_list(const micap_sql_column *column, mica_member member, mica_scalar json, char **out_problem)
{
    mica_value_error error;
    if (json.kind != MICA_KIND_TEXT)
        return refuse(column, out_problem, "takes a JSON array");
    if (mica_value_parse(member, json.text, &error) == MICA_OK)
        return true;
    *out_problem = sqlite3_mprintf("%s: %s (byte %u)", column->name, error.text, error.position);
    return false;
}

bool micap_sql_store(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    bool is_array = column->form == MICAP_SQL_TEXT || column->form == MICAP_SQL_LIST || micap_sql_is_list(column);
    if (is_array && is_the_same(column, value, at))
        return true;
    if (column->form == MICAP_SQL_LIST)
        return refuse(column, out_problem, "is a long array, which SQL can't write");
    if (sqlite3_value_type(value) == SQLITE_BLOB)
        return refuse(column, out_problem, "takes no blob");
    mica_member member = member_of(column, at);
    mica_scalar scalar = scalar_of(member.kind, value);
    bool is_text = scalar.kind == MICA_KIND_TEXT;
    bool is_handle = member.kind == MICA_KIND_ENTITY || member.kind == MICA_KIND_ASSET;
    if (is_text && !scalar.text) /* memory is short */
        return false;
    if (is_text && member.count && memchr(scalar.text, 0, scalar.text_bytes))
        return refuse(column, out_problem, "takes text without zero bytes");
    if (member.kind == MICA_KIND_LIST)
        return parse_list(column, member, scalar, out_problem);
    if (member.kind == MICA_KIND_FLAGS && is_text)
        return store_flags(column, member, scalar, out_problem);
    if (is_handle && sqlite3_value_type(value) == SQLITE_INTEGER)
        return store_handle(member.kind, scalar.integer, at);
    return assign(column, member, scalar, out_problem);
}
