/* Strings and descriptions of types: afterwards the file's types are mica_types like any other. */
#include "resource/verify/verify_types.h"

#include "resource/verify/load_error.h"
#include "base/utf8.h"

#include <string.h>

static bool check_strings(mica_resource *resource)
{
    const micap_part *part = resource->single[MICAP_SECTION_STRINGS];
    if (!part || part->record.stride != 1 || part->record.count == 0 || part->data[0] != 0 ||
        part->data[part->record.count - 1] != 0)
        return micap_load_fail(resource, part ? part->record.offset : 0,
                               "the strings are missing, or don't begin and end with a zero byte");
    const unsigned char *text = (const unsigned char *)part->data;
    for (uint32_t i = 0, bytes; i < part->record.count; i += bytes) {
        bytes = micap_character_bytes(text + i, part->record.count - i);
        if (!bytes)
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_STRINGS, i),
                                   "the strings are not valid UTF-8");
    }
    return true;
}

bool micap_is_text(const mica_resource *resource, uint32_t offset)
{
    const micap_part *part = resource->single[MICAP_SECTION_STRINGS];
    return offset < part->record.count && ((unsigned char)part->data[offset] & 0xC0) != 0x80;
}

static bool is_identifier(const mica_resource *resource, uint32_t offset)
{
    return micap_is_text(resource, offset) && *micap_text(resource, offset) &&
           strlen(micap_text(resource, offset)) <= MICA_RESOURCE_NAME_BYTES_MAX;
}

static bool allocate_types(mica_resource *resource)
{
    uint32_t component_count = micap_count_of(resource, MICAP_SECTION_COMPONENTS);
    uint32_t type_count = micap_count_of(resource, MICAP_SECTION_TYPES);
    if (type_count > MICAP_TYPES_MAX || component_count > MICA_COMPONENTS_MAX)
        return micap_load_fail(resource, 0, "the file has %u types and %u components, more than the limit", type_count,
                               component_count);
    resource->type_count = type_count;
    resource->type_capacity = type_count + component_count;
    resource->field_count = micap_count_of(resource, MICAP_SECTION_FIELDS);
    resource->constant_count = micap_count_of(resource, MICAP_SECTION_CONSTANTS);
    resource->types = micap_allocate_zeroed(&resource->memory, resource->type_capacity * sizeof *resource->types,
                                            MICAP_ARRAY_ALIGNMENT);
    resource->fields = micap_allocate_zeroed(&resource->memory, resource->field_count * sizeof *resource->fields,
                                             MICAP_ARRAY_ALIGNMENT);
    resource->constants = micap_allocate_zeroed(
        &resource->memory, resource->constant_count * sizeof *resource->constants, MICAP_ARRAY_ALIGNMENT);
    return (resource->types && resource->fields && resource->constants) || micap_load_fail_memory(resource);
}

static bool read_field(mica_resource *resource, uint32_t index, uint32_t type)
{
    const micap_field_record *record = micap_record(resource, MICAP_SECTION_FIELDS, index);
    mica_field *field = &resource->fields[index];
    uint64_t at = micap_offset_of(resource, MICAP_SECTION_FIELDS, index);
    bool is_list = record->kind == MICA_KIND_LIST;
    bool has_type = is_list || record->kind == MICA_KIND_STRUCT || record->kind == MICA_KIND_ENUM ||
                    record->kind == MICA_KIND_FLAGS;
    if (!is_identifier(resource, record->name))
        return micap_load_fail(resource, at, "field %u has no name, or one that is too long", index);
    if (record->kind == MICA_KIND_NONE || record->kind > MICA_KIND_LIST)
        return micap_load_fail(resource, at + 4, "field %u is of the unknown kind %u", index, record->kind);
    if (has_type ? record->type >= type : record->type != MICAP_NONE)
        return micap_load_fail(resource, at + 20, "field %u names type %u, which is not before its own", index,
                               record->type);
    *field = (mica_field){.name = micap_text(resource, record->name),
                          .type = has_type ? &resource->types[record->type] : NULL,
                          .offset = record->offset,
                          .element_bytes = record->element_bytes,
                          .count = record->count,
                          .kind = (mica_kind)record->kind};
    if (has_type && !is_list && field->type->kind != field->kind)
        return micap_load_fail(resource, at + 4, "field %u and its type differ in kind", index);
    return true;
}

/* Whether a type is that of elements of lists, and not described. Its size is compared when a struct has such a list. */
static bool is_plain(const mica_type *type)
{
    bool has_parts = type->field_count || type->constant_count || type->kind == MICA_KIND_STRUCT ||
                     type->kind == MICA_KIND_ENUM || type->kind == MICA_KIND_FLAGS;
    return !has_parts && type->kind != MICA_KIND_NONE && (uint32_t)type->kind < MICA_KIND_LIST;
}

/* Nested types come before those that use them, so there is no cycle; limits on fields and scalars keep what walks the
 * tree from growing without bounds, for which overlapping fields must be ruled out. */
static bool check_type(mica_resource *resource, const mica_type *type, uint64_t at)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < type->field_count; ++i)
        bytes += (uint64_t)type->fields[i].element_bytes * type->fields[i].count;
    if (type->field_count > MICA_RESOURCE_FIELDS_MAX || micap_scalars_count(type) > MICA_RESOURCE_LEAVES_MAX)
        return micap_load_fail(resource, at, "type %.60s has too many fields", type->name);
    if (bytes > type->size_bytes)
        return micap_load_fail(resource, at, "the fields of type %.60s have more bytes than it has itself", type->name);
    const char *problem = is_plain(type) ? NULL : mica_type_problem(type);
    return !problem || micap_load_fail(resource, at, "type %.60s: %s", type->name, problem);
}

static bool read_type(mica_resource *resource, uint32_t index, uint32_t *first_field, uint32_t *first_constant)
{
    const micap_type_record *record = micap_record(resource, MICAP_SECTION_TYPES, index);
    uint64_t at = micap_offset_of(resource, MICAP_SECTION_TYPES, index);
    if (!is_identifier(resource, record->name))
        return micap_load_fail(resource, at, "type %u has no name, or one that is too long", index);
    if (record->field_count > resource->field_count - *first_field ||
        record->constant_count > resource->constant_count - *first_constant)
        return micap_load_fail(resource, at + 16, "type %u has more fields or constants than there are", index);
    for (uint32_t i = 0; i < record->field_count; ++i)
        if (!read_field(resource, *first_field + i, index))
            return false;
    for (uint32_t i = *first_constant; i < *first_constant + record->constant_count; ++i) {
        const micap_constant_record *constant = micap_record(resource, MICAP_SECTION_CONSTANTS, i);
        if (!is_identifier(resource, constant->name))
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_CONSTANTS, i),
                                   "constant %u has no name, or one that is too long", i);
        resource->constants[i] = (mica_constant){micap_text(resource, constant->name), (int64_t)constant->value};
    }
    mica_type *type = &resource->types[index];
    *type = (mica_type){.name = micap_text(resource, record->name),
                        .fields = resource->fields + *first_field,
                        .constants = resource->constants + *first_constant,
                        .field_count = record->field_count,
                        .constant_count = record->constant_count,
                        .size_bytes = record->size_bytes,
                        .alignment = record->alignment,
                        .kind = (mica_kind)record->kind};
    *first_field += record->field_count;
    *first_constant += record->constant_count;
    return check_type(resource, type, at);
}

bool micap_verify_types(mica_resource *resource)
{
    uint32_t first_field = 0, first_constant = 0;
    if (!check_strings(resource) || !allocate_types(resource))
        return false;
    for (uint32_t i = 0; i < resource->type_count; ++i)
        if (!read_type(resource, i, &first_field, &first_constant))
            return false;
    if (first_field != resource->field_count || first_constant != resource->constant_count)
        return micap_load_fail(resource, 0, "there are fields or constants that belong to no type");
    return true;
}
