#include "sql/value_read.h"
#include "sql/value_text.h"

#include <string.h>

void micap_sql_result_entity(sqlite3_context *context, mica_entity entity)
{
    if (mica_is_nil(entity))
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, mica_sql_from_entity(entity));
}

static void result_names(sqlite3_context *context, const mica_type *type, const void *at)
{
    char *text = NULL;
    int64_t integer;
    if (!micap_sql_names_of(type, at, &text, &integer))
        sqlite3_result_int64(context, integer);
    else if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

static void result_scalar(sqlite3_context *context, const mica_field *field, const void *at)
{
    mica_kind kind = field->type ? field->type->kind : field->kind;
    bool is_signed = kind == MICA_KIND_I8 || kind == MICA_KIND_I16 || kind == MICA_KIND_I32;
    mica_entity entity;
    float narrow;
    double real;
    switch (kind) {
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: result_names(context, field->type, at); break;
    case MICA_KIND_F32:
        memcpy(&narrow, at, sizeof narrow);
        sqlite3_result_double(context, narrow);
        break;
    case MICA_KIND_F64:
        memcpy(&real, at, sizeof real);
        sqlite3_result_double(context, real);
        break;
    case MICA_KIND_ENTITY:
        memcpy(&entity, at, sizeof entity);
        micap_sql_result_entity(context, entity);
        break;
    case MICA_KIND_ASSET:
        if (micap_sql_load(at, 8, true))
            sqlite3_result_int64(context, micap_sql_load(at, 8, true));
        else
            sqlite3_result_null(context);
        break;
    default: sqlite3_result_int64(context, micap_sql_load(at, field->element_bytes, is_signed));
    }
}

static void result_list(sqlite3_context *context, const mica_field *field, const void *at)
{
    char *text = micap_sql_list(field, at);
    if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

/* A text as it is, or a list as JSON. */
static void result_dynamic(sqlite3_context *context, const mica_field *field, const void *at)
{
    mica_field one = *field;
    one.count = 1;
    if (field->kind == MICA_KIND_TEXT)
        sqlite3_result_text(context, mica_text_get(at), (int)mica_text_length(at), SQLITE_TRANSIENT);
    else
        result_list(context, &one, at);
}

void micap_sql_result(sqlite3_context *context, const micap_sql_column *column, const void *at)
{
    if (column->form == MICAP_SQL_DYNAMIC) {
        result_dynamic(context, column->field, at);
    } else if (column->form == MICAP_SQL_SCALAR) {
        result_scalar(context, column->field, at);
    } else if (column->form == MICAP_SQL_TEXT) {
        const char *end = memchr(at, 0, column->field->count);
        sqlite3_result_text(context, at, end ? (int)(end - (const char *)at) : (int)column->field->count,
                            SQLITE_TRANSIENT);
    } else {
        result_list(context, column->field, at);
    }
}

mica_entity micap_sql_value_entity(sqlite3_value *value)
{
    int type = sqlite3_value_numeric_type(value);
    int64_t integer = sqlite3_value_int64(value);
    bool is_whole = type == SQLITE_INTEGER || (type == SQLITE_FLOAT && (double)integer == sqlite3_value_double(value));
    return is_whole ? mica_sql_to_entity(integer) : mica_nil();
}
