#include "lua/column_layout.h"

#include <stdio.h>

typedef struct output {
    char *text;
    size_t capacity;
    size_t length;
    uint32_t gap_count;
    bool is_valid;
} output;

static const char *kind_in_c(mica_kind kind)
{
    switch (kind) {
    case MICA_KIND_BOOL: return "bool";
    case MICA_KIND_I8: return "int8_t";
    case MICA_KIND_U8: return "uint8_t";
    case MICA_KIND_I16: return "int16_t";
    case MICA_KIND_U16: return "uint16_t";
    case MICA_KIND_I32: return "int32_t";
    case MICA_KIND_U32: return "uint32_t";
    case MICA_KIND_F32: return "float";
    case MICA_KIND_F64: return "double";
    default: return NULL;
    }
}

static void append(output *out, const char *first, const char *second, const char *third)
{
    size_t left = out->capacity - out->length;
    int length = snprintf(out->text + out->length, left, "%s%s%s", first, second, third);
    out->is_valid = out->is_valid && length >= 0 && (size_t)length < left;
    out->length += out->is_valid ? (size_t)length : 0;
}

static void append_gap(output *out, uint32_t bytes)
{
    char gap[64];
    snprintf(gap, sizeof gap, "uint8_t gap_%u_[%u];", out->gap_count++, bytes);
    append(out, gap, "", "");
}

/* Gaps are written out: fields may be left out of the description, and the order of fields is theirs. */
static void append_struct(output *out, const mica_type *type)
{
    uint32_t end = 0;
    append(out, "struct __attribute__((packed)) {", "", "");
    for (uint32_t i = 0; i < type->field_count && out->is_valid; ++i) {
        const mica_field *field = &type->fields[i];
        const char *kind = kind_in_c(field->kind);
        out->is_valid = field->count == 1 && field->offset >= end && (kind || field->kind == MICA_KIND_STRUCT);
        if (out->is_valid && field->offset > end)
            append_gap(out, field->offset - end);
        if (out->is_valid && kind)
            append(out, kind, " ", "");
        else if (out->is_valid)
            append_struct(out, field->type);
        append(out, field->name, ";", "");
        end = field->offset + field->element_bytes;
    }
    if (out->is_valid && type->size_bytes > end)
        append_gap(out, type->size_bytes - end);
    append(out, "}", "", "");
}

bool micap_lua_describe_column(const mica_type *type, bool is_writable, char *text, size_t capacity)
{
    output out = {.text = text, .capacity = capacity, .is_valid = type->field_count > 0};
    append(&out, is_writable ? "" : "const ", "", "");
    append_struct(&out, type);
    append(&out, " *", "", "");
    return out.is_valid;
}
