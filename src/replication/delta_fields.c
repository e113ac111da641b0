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
