#include "replication/delta_fields.h"

#include <string.h>

void micap_delta_copy_fields(const mica_type *type, char *to, const char *from)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        if (field->kind != MICA_KIND_STRUCT) {
            memcpy(to + field->offset, from + field->offset, (size_t)field->element_bytes * field->count);
            continue;
        }
        for (uint32_t at = 0; at < field->count; ++at) {
            size_t offset = field->offset + (size_t)at * field->element_bytes;
            micap_delta_copy_fields(field->type, to + offset, from + offset);
        }
    }
}

bool micap_delta_has_kind(const mica_type *type, mica_kind kind)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (type->fields[i].kind == kind ||
            (type->fields[i].kind == MICA_KIND_STRUCT && micap_delta_has_kind(type->fields[i].type, kind)))
            return true;
    return false;
}

bool micap_delta_bools_hold(const mica_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count; ++at) {
            const char *element = value + field->offset + (size_t)at * field->element_bytes;
            if (field->kind == MICA_KIND_BOOL && (unsigned char)*element > 1)
                return false;
            if (field->kind == MICA_KIND_STRUCT && !micap_delta_bools_hold(field->type, element))
                return false;
        }
    }
    return true;
}

void micap_delta_visit_entities(const mica_type *type, char *value, bool (*fn)(void *at, void *context), void *context)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t at = 0; at < field->count; ++at) {
            char *element = value + field->offset + (size_t)at * field->element_bytes;
            if (field->kind == MICA_KIND_STRUCT)
                micap_delta_visit_entities(field->type, element, fn, context);
            else if (field->kind == MICA_KIND_ENTITY)
                fn(element, context);
        }
    }
}

/* Numbers of 1, 2, 4 or 8 bytes. */
static void swap_numbers(char *numbers, uint32_t bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i, numbers += bytes)
        for (uint32_t low = 0, high = bytes - 1; low < high; ++low, --high) {
            char held = numbers[low];
            numbers[low] = numbers[high];
            numbers[high] = held;
        }
}

void micap_delta_swap_handles(char *handles, uint32_t count)
{
    swap_numbers(handles, 4, (uint64_t)count * 2);
}

/* Text and lists are zero in a delta. */
void micap_delta_swap_values(const mica_type *type, char *values, uint32_t count)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        for (uint32_t row = 0; row < count; ++row) {
            char *value = values + (size_t)row * type->size_bytes + field->offset;
            if (field->kind == MICA_KIND_STRUCT)
                micap_delta_swap_values(field->type, value, field->count);
            else if (field->kind == MICA_KIND_ENTITY)
                micap_delta_swap_handles(value, field->count);
            else if (field->kind != MICA_KIND_TEXT && field->kind != MICA_KIND_LIST)
                swap_numbers(value, field->element_bytes, field->count);
        }
    }
}
