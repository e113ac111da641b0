#include "arrow/arrow_field.h"

#include <stdio.h>

mica_field micap_arrow_value(const char *name, const mica_type *type)
{
    return (mica_field){.name = name, .type = type, .element_bytes = type->size_bytes, .count = 1, .kind = type->kind};
}

micap_arrow_layout micap_arrow_layout_of(const mica_field *field)
{
    if (field->kind == MICA_KIND_CHAR || field->kind == MICA_KIND_TEXT)
        return field->kind == MICA_KIND_CHAR || field->count == 1 ? MICAP_ARROW_TEXT : MICAP_ARROW_ARRAY;
    if (field->count > 1)
        return MICAP_ARROW_ARRAY;
    switch (field->kind) {
    case MICA_KIND_BOOL: return MICAP_ARROW_BITS;
    case MICA_KIND_ENTITY:
    case MICA_KIND_ASSET: return MICAP_ARROW_HANDLE;
    case MICA_KIND_LIST: return MICAP_ARROW_LIST;
    case MICA_KIND_STRUCT: return MICAP_ARROW_STRUCT;
    default: return MICAP_ARROW_NUMBER;
    }
}

uint32_t micap_arrow_child_count(const mica_field *field)
{
    switch (micap_arrow_layout_of(field)) {
    case MICAP_ARROW_STRUCT: return field->type->field_count;
    case MICAP_ARROW_LIST:
    case MICAP_ARROW_ARRAY: return 1;
    default: return 0;
    }
}

mica_field micap_arrow_child(const mica_field *field, uint32_t index)
{
    micap_arrow_layout layout = micap_arrow_layout_of(field);
    if (layout == MICAP_ARROW_STRUCT)
        return field->type->fields[index];
    if (layout == MICAP_ARROW_LIST)
        return micap_arrow_value("item", field->type);
    mica_field element = *field;
    element.name = "item";
    element.offset = 0;
    element.count = 1;
    element.attributes = NULL;
    return element;
}

/* The format of an integer with so many bytes. */
static char integer_format(uint32_t bytes, bool is_signed)
{
    const char *formats = is_signed ? "csil" : "CSIL";
    return formats[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

static char number_format(const mica_field *field)
{
    switch (field->kind) {
    case MICA_KIND_F32: return 'f';
    case MICA_KIND_F64: return 'g';
    case MICA_KIND_I8:
    case MICA_KIND_I16:
    case MICA_KIND_I32:
    case MICA_KIND_I64:
    case MICA_KIND_ENUM: return integer_format(field->element_bytes, true);
    default: return integer_format(field->element_bytes, false);
    }
}

void micap_arrow_format(const mica_field *field, char *out)
{
    static const char *const formats[] = {
        [MICAP_ARROW_BITS] = "b", [MICAP_ARROW_TEXT] = "u", [MICAP_ARROW_LIST] = "+l", [MICAP_ARROW_STRUCT] = "+s"};
    micap_arrow_layout layout = micap_arrow_layout_of(field);
    if (layout == MICAP_ARROW_ARRAY)
        snprintf(out, MICAP_ARROW_FORMAT_BYTES, "+w:%u", field->count);
    else if (layout == MICAP_ARROW_NUMBER || layout == MICAP_ARROW_HANDLE)
        snprintf(out, MICAP_ARROW_FORMAT_BYTES, "%c", number_format(field));
    else
        snprintf(out, MICAP_ARROW_FORMAT_BYTES, "%s", formats[layout]);
}
