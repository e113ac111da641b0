#include "sql/value_write.h"
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

static void store_integer(void *at, uint32_t bytes, int64_t value)
{
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    memcpy(at,
           bytes == 1   ? (void *)&one
           : bytes == 2 ? (void *)&two
           : bytes == 4 ? (void *)&four
                        : (void *)&value,
           bytes);
}

/* Reads an integer, or a real number with an integer value. */
static bool whole_number(sqlite3_value *value, int64_t *out)
{
    double real = sqlite3_value_double(value);
    *out = sqlite3_value_int64(value);
    int type = sqlite3_value_type(value);
    /* SQLite converts larger reals to the largest integer, which is 2^63 as a real. */
    return type == SQLITE_INTEGER || (type == SQLITE_FLOAT && (double)*out == real && real < 9223372036854775808.0);
}

/* Stores an integer from `least` to `most`. */
static bool store_whole(const micap_sql_column *column, sqlite3_value *value, void *at, int64_t least, int64_t most,
                        char **out_problem)
{
    int64_t number;
    if (!whole_number(value, &number))
        return refuse(column, out_problem, "takes a whole number");
    if (number < least || number > most) {
        *out_problem = sqlite3_mprintf("%s takes %lld to %lld, not %lld", column->name, (long long)least,
                                       (long long)most, (long long)number);
        return false;
    }
    store_integer(at, column->field->element_bytes, number);
    return true;
}

static bool store_real(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB)
        return refuse(column, out_problem, "takes a number");
    double real = type == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
    float narrow = (float)real;
    if (column->field->kind == MICA_KIND_F64) {
        memcpy(at, &real, sizeof real);
        return true;
    }
    if (isinf(narrow) && !isinf(real))
        return refuse(column, out_problem, "is a float, and the number is too large for it");
    memcpy(at, &narrow, sizeof narrow);
    return true;
}

static bool constant_named(const mica_type *type, const char *name, size_t length, int64_t *out_value)
{
    for (uint32_t i = 0; i < type->constant_count; ++i)
        if (strlen(type->constants[i].name) == length && memcmp(type->constants[i].name, name, length) == 0) {
            *out_value = type->constants[i].value;
            return true;
        }
    return false;
}

/* Reads a name; for flags, names separated by '|'. */
static bool names_value(const micap_sql_column *column, const char *text, int64_t *out_value, char **out_problem)
{
    const mica_type *type = column->field->type;
    *out_value = 0;
    bool is_flags = type->kind == MICA_KIND_FLAGS;
    if (is_flags && !text[strspn(text, " ")])
        return true;
    for (const char *at = text;; ++at) {
        int64_t value;
        size_t length = is_flags ? strcspn(at, "|") : strlen(at), end = length;
        const char *next = at + length;
        while (is_flags && length && *at == ' ')
            ++at, --length, --end;
        while (is_flags && end && at[end - 1] == ' ')
            --end;
        if (!constant_named(type, at, end, &value)) {
            *out_problem = sqlite3_mprintf("%s: %s has no \"%.*s\"", column->name, type->name, (int)end, at);
            return false;
        }
        *out_value |= value;
        at = next;
        if (!*at)
            return true;
    }
}

static bool store_named(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    const mica_type *type = column->field->type;
    int64_t number;
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        uint32_t bits = 8 * type->size_bytes;
        return store_whole(column, value, at, bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)),
                           bits == 64 ? INT64_MAX : ((int64_t)1 << bits) - 1, out_problem);
    }
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text || !names_value(column, text, &number, out_problem))
        return false;
    store_integer(at, type->size_bytes, number);
    return true;
}

/* Handles are not checked: a reference may outlive its entity. */
static bool store_handle(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    int64_t number = sqlite3_value_int64(value);
    if (sqlite3_value_type(value) != SQLITE_INTEGER && sqlite3_value_type(value) != SQLITE_NULL)
        return refuse(column, out_problem, "takes a handle, which is an integer, or NULL");
    mica_entity entity = mica_sql_to_entity(number);
    if (column->field->kind == MICA_KIND_ENTITY)
        memcpy(at, &entity, sizeof entity);
    else
        memcpy(at, &number, sizeof number);
    return true;
}

static bool store_text(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    const char *text = (const char *)sqlite3_value_text(value);
    size_t length = (size_t)sqlite3_value_bytes(value);
    if (sqlite3_value_type(value) != SQLITE_TEXT || !text)
        return refuse(column, out_problem, "takes text");
    if (length >= column->field->count || memchr(text, 0, length)) {
        *out_problem = sqlite3_mprintf("%s takes text of up to %u bytes, none of them zero", column->name,
                                       column->field->count - 1);
        return false;
    }
    memset(at, 0, column->field->count);
    memcpy(at, text, length);
    return true;
}

/* Returns true if the text equals the current array: UPDATE FROM passes all columns, also read-only ones. */
static bool is_the_same(const micap_sql_column *column, sqlite3_value *value, const char *at)
{
    const char *text = (const char *)sqlite3_value_text(value), *end = memchr(at, 0, column->field->count);
    if (!text)
        return false;
    if (column->form == MICAP_SQL_TEXT) {
        size_t length = end ? (size_t)(end - at) : column->field->count;
        return (size_t)sqlite3_value_bytes(value) == length && memcmp(text, at, length) == 0;
    }
    char *list = micap_sql_list(column->field, at);
    bool is_same = list && strcmp(list, text) == 0;
    sqlite3_free(list);
    return is_same;
}

/* Text, or a list as JSON, as mica/value.h reads it. */
static bool store_dynamic(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    const char *text = (const char *)sqlite3_value_text(value);
    size_t length = (size_t)sqlite3_value_bytes(value);
    bool is_list = column->field->kind == MICA_KIND_LIST;
    if (sqlite3_value_type(value) != SQLITE_TEXT || !text)
        return refuse(column, out_problem, is_list ? "takes a JSON array" : "takes text");
    if (!is_list)
        return mica_text_set_bytes(at, text, length) == MICA_OK || refuse(column, out_problem, "is too long a text");
    mica_value_error error;
    mica_member member = {.data = at,
                          .name = column->name,
                          .type = column->field->type,
                          .kind = MICA_KIND_LIST,
                          .element_bytes = column->field->element_bytes,
                          .attributes = column->field->attributes};
    if (mica_value_parse(member, text, &error) == MICA_OK)
        return true;
    *out_problem = sqlite3_mprintf("%s: %s (byte %u)", column->name, error.text, error.position);
    return false;
}

/* Stores a value of any kind, without a check of its range. */
static bool store_any(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    const mica_field *field = column->field;
    uint32_t bits = 8 * field->element_bytes;
    if (column->form == MICAP_SQL_DYNAMIC)
        return store_dynamic(column, value, at, out_problem);
    if (column->form != MICAP_SQL_SCALAR && is_the_same(column, value, at))
        return true;
    if (column->form == MICAP_SQL_LIST)
        return refuse(column, out_problem, "is a long array, which SQL can't write");
    if (column->form == MICAP_SQL_TEXT)
        return store_text(column, value, at, out_problem);
    if (field->type) /* an enum or flags: structs have a column per field */
        return store_named(column, value, at, out_problem);
    switch (field->kind) {
    case MICA_KIND_F32:
    case MICA_KIND_F64: return store_real(column, value, at, out_problem);
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET: return store_handle(column, value, at, out_problem);
    case MICA_KIND_BOOL: return store_whole(column, value, at, 0, 1, out_problem);
    case MICA_KIND_I8:
    case MICA_KIND_I16:
    case MICA_KIND_I32:
        return store_whole(column, value, at, -((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1, out_problem);
    case MICA_KIND_I64:
    case MICA_KIND_U64: return store_whole(column, value, at, INT64_MIN, INT64_MAX, out_problem);
    default: return store_whole(column, value, at, 0, ((int64_t)1 << bits) - 1, out_problem);
    }
}

/* The value is a copy, which is not used if it is outside its range. */
bool micap_sql_store(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem)
{
    const mica_field *field = column->field;
    mica_value_error error;
    if (!store_any(column, value, at, out_problem))
        return false;
    if (!field->attributes || column->form != MICAP_SQL_SCALAR)
        return true;
    mica_member member = {.data = at,
                          .name = column->name,
                          .type = field->type,
                          .kind = field->kind,
                          .element_bytes = field->element_bytes,
                          .attributes = field->attributes};
    if (mica_value_check(member, &error) == MICA_OK)
        return true;
    *out_problem = sqlite3_mprintf("%s: %s", column->name, error.text);
    return false;
}
