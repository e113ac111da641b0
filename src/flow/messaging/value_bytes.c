#include "flow/messaging/value_bytes.h"

/* Copies a number; in the other direction it is the same. An entity has two. */
static void copy_number(char *to, const char *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; ++i)
        to[i] = from[MICAP_IS_BIG_ENDIAN ? bytes - 1 - i : i];
}

static void copy_element(char *to, const char *from, const mica_field *field)
{
    uint32_t number_bytes = field->kind == MICA_KIND_ENTITY ? field->element_bytes / 2 : field->element_bytes;
    for (uint32_t at = 0; at < field->element_bytes; at += number_bytes)
        copy_number(to + at, from + at, number_bytes);
}

void micap_value_put(micap_bytes *bytes, const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count; ++at) {
            const char *element = value + field->offset + (size_t)at * field->element_bytes;
            if (field->kind == MICA_KIND_STRUCT) {
                micap_value_put(bytes, field->type, element);
                continue;
            }
            char *room = micap_bytes_grow(bytes, field->element_bytes);
            if (room)
                copy_element(room, element, field);
        }
    }
}

void micap_value_take(micap_reader *reader, const mica_type *type, char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count; ++at) {
            char *element = value + field->offset + (size_t)at * field->element_bytes;
            if (field->kind == MICA_KIND_STRUCT) {
                micap_value_take(reader, field->type, element);
                continue;
            }
            const char *from = micap_reader_take(reader, field->element_bytes);
            if (!from)
                return;
            reader->failed |= field->kind == MICA_KIND_BOOL && (uint8_t)*from > 1;
            copy_element(element, from, field);
        }
    }
}
