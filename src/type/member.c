#include "type/member.h"

#include "base/argument.h"
#include "type/owned.h"
#include "type/type.h"

#include <stdarg.h>
#include <string.h>

mica_member mica_member_of_type(const mica_type *type, void *value)
{
    if (!type || !value || !type->size_bytes)
        return (mica_member){0};
    return (mica_member){
        .data = value, .name = type->name, .type = type, .kind = type->kind, .element_bytes = type->size_bytes};
}

mica_member mica_member_of(mica_component component, void *value)
{
    const micap_type *type = micap_type_of(component);
    return mica_member_of_type(type ? &type->type : NULL, value);
}

mica_member micap_member_of_field(const mica_field *field, void *base)
{
    return (mica_member){.data = base ? (char *)base + field->offset : NULL,
                         .name = field->name,
                         .type = field->type,
                         .kind = field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind,
                         .element_bytes = field->element_bytes,
                         .count = field->count > 1 ? field->count : 0,
                         .attributes = field->attributes};
}

mica_member micap_member_of_element(const mica_type *element, void *at)
{
    bool has_type = element->field_count || element->constant_count || element->kind == MICA_KIND_STRUCT ||
                    element->kind == MICA_KIND_ENUM || element->kind == MICA_KIND_FLAGS;
    return (mica_member){
        .data = at, .type = has_type ? element : NULL, .kind = element->kind, .element_bytes = element->size_bytes};
}

const mica_type *micap_member_owner(mica_member member, mica_field *field, mica_type *type)
{
    *field = (mica_field){.type = member.type,
                          .element_bytes = member.element_bytes,
                          .count = member.count ? member.count : 1,
                          .kind = member.kind};
    *type = (mica_type){
        .fields = field, .field_count = 1, .size_bytes = field->element_bytes * field->count, .kind = MICA_KIND_STRUCT};
    return micap_type_owns(type) ? type : NULL;
}

uint32_t mica_member_count(mica_member member)
{
    if (!member.data)
        return 0;
    if (member.count)
        return member.count;
    if (member.kind == MICA_KIND_LIST)
        return mica_list_count(member.data);
    return member.kind == MICA_KIND_STRUCT && member.type ? member.type->field_count : 0;
}

mica_member mica_member_at(mica_member member, uint32_t position)
{
    if (position >= mica_member_count(member))
        return (mica_member){0};
    const mica_list *list = micap_member_list(member);
    if (!member.count) {
        bool is_shared = list && micap_heap_block_is_shared(micap_heap_block_of(list->private_.items));
        mica_member part = list ? micap_member_of_element(member.type, (char *)list->private_.items +
                                                                           (size_t)position * member.type->size_bytes)
                                : micap_member_of_field(&member.type->fields[position], member.data);
        part.is_read_only = member.is_read_only || is_shared;
        part.attributes = list ? member.attributes : part.attributes;
        return part;
    }
    member.data = (char *)member.data + (size_t)position * member.element_bytes;
    member.name = NULL;
    member.count = 0;
    return member;
}

const mica_field *micap_field_find(const mica_type *type, const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (strlen(type->fields[i].name) == bytes && memcmp(type->fields[i].name, name, bytes) == 0)
            return &type->fields[i];
    return NULL;
}

mica_result micap_value_fail(mica_value_error *error, size_t position, const char *format, ...)
{
    if (!error)
        return MICA_ERROR_INVALID;
    *error = (mica_value_error){.result = MICA_ERROR_INVALID, .position = (uint32_t)position};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return MICA_ERROR_INVALID;
}

mica_result micap_value_fail_memory(mica_value_error *error)
{
    micap_value_fail(error, 0, "out of memory");
    if (error)
        error->result = MICA_ERROR_MEMORY;
    return MICA_ERROR_MEMORY;
}

/* A step of a path: an element in brackets. Moves `at` to its end. */
static mica_member step_to_element(mica_member member, const char *path, const char **at, bool writes,
                                   mica_value_error *error)
{
    uint32_t count = member.kind == MICA_KIND_STRUCT && !member.count ? 0 : mica_member_count(member);
    bool is_array = member.count || member.kind == MICA_KIND_LIST;
    const char *digits = *at + 1;
    uint64_t position = 0;
    while (*digits >= '0' && *digits <= '9' && position < UINT32_MAX)
        position = position * 10 + (uint64_t)(*digits++ - '0');
    if (digits == *at + 1 || *digits != ']') {
        micap_value_fail(error, (size_t)(digits - path), "expected the position of an element and ]");
        return (mica_member){0};
    }
    if (!is_array || position >= count) {
        micap_value_fail(error, (size_t)(*at - path), is_array ? "there are only %u elements" : "this is not an array",
                         count);
        return (mica_member){0};
    }
    mica_list *list = writes ? micap_member_list(member) : NULL;
    if (list && !mica_list_write_type(list, member.type)) {
        micap_value_fail_memory(error);
        return (mica_member){0};
    }
    *at = digits + 1;
    return mica_member_at(member, (uint32_t)position);
}

/* A step of a path: a field. Moves `at` to its end. */
static mica_member step_to_field(mica_member member, const char *path, const char **at, mica_value_error *error)
{
    size_t bytes = strcspn(*at, ".[");
    bool is_struct = member.kind == MICA_KIND_STRUCT && !member.count;
    const mica_field *field = is_struct ? micap_field_find(member.type, *at, bytes) : NULL;
    if (!field) {
        size_t position = (size_t)(*at - path);
        int shown = bytes < 60 ? (int)bytes : 60;
        if (is_struct)
            micap_value_fail(error, position, "%.60s has no field \"%.*s\"", member.type->name, shown, *at);
        else
            micap_value_fail(error, position, "this is not a struct, and has no field \"%.*s\"", shown, *at);
        return (mica_member){0};
    }
    *at += bytes;
    mica_member part = micap_member_of_field(field, member.data);
    part.is_read_only = member.is_read_only;
    return part;
}

static mica_member find(mica_member member, const char *path, bool writes, mica_value_error *out_error)
{
    if (!member.data) {
        micap_value_fail(out_error, 0, "there is no value");
        return member;
    }
    for (const char *at = path; *at && member.data;) {
        if (*at == '[')
            member = step_to_element(member, path, &at, writes, out_error);
        else
            member = step_to_field(member, path, &at, out_error);
        if (member.data && *at && *at != '.' && *at != '[') {
            micap_value_fail(out_error, (size_t)(at - path), "expected . or [");
            return (mica_member){0};
        }
        if (member.data && *at == '.' && !*++at) {
            micap_value_fail(out_error, (size_t)(at - path), "expected the name of a field");
            return (mica_member){0};
        }
    }
    return member;
}

mica_member mica_member_find(mica_member member, const char *path, mica_value_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path))
        return (mica_member){0};
    return find(member, path, false, out_error);
}

mica_member mica_member_write(mica_member member, const char *path, mica_value_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path))
        return (mica_member){0};
    if (member.is_read_only) {
        micap_value_fail(out_error, 0, "the value is in a list that other values share");
        return (mica_member){0};
    }
    return find(member, path, true, out_error);
}

uint64_t micap_load_bits(const void *from, uint32_t bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1: return *(const uint8_t *)from;
    case 2: memcpy(&two, from, sizeof two); return two;
    case 4: memcpy(&four, from, sizeof four); return four;
    default: memcpy(&eight, from, sizeof eight); return eight;
    }
}

void micap_store_bits(void *to, uint64_t bits, uint32_t bytes)
{
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    switch (bytes) {
    case 1: *(uint8_t *)to = (uint8_t)bits; break;
    case 2: memcpy(to, &two, sizeof two); break;
    case 4: memcpy(to, &four, sizeof four); break;
    default: memcpy(to, &bits, sizeof bits);
    }
}
