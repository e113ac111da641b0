#include "cluster/number_field.h"

#include "mica/component.h"
#include "mica/value.h"

#include <string.h>

const char *micap_number_field_find(micap_memory *memory, mica_component component, const char *path, size_t path_bytes,
                                    micap_number_field *out)
{
    const mica_type *type = mica_component_type(component);
    char text[128];
    if (!path_bytes || path_bytes >= sizeof text)
        return "the path of a field is empty or too long";
    memcpy(text, path, path_bytes);
    text[path_bytes] = 0;
    char *value = micap_allocate_zeroed(memory, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!value)
        return "out of memory";
    mica_member member = mica_member_find(mica_member_of(component, value), text, NULL);
    bool is_number = member.data && !member.count && member.kind >= MICA_KIND_I8 && member.kind <= MICA_KIND_F64;
    if (is_number)
        *out = (micap_number_field){(uint32_t)((char *)member.data - value), member.element_bytes, member.kind};
    micap_release(memory, value, type->size_bytes, MICAP_ARRAY_ALIGNMENT);
    return is_number ? NULL : "a field does not exist or is not a number";
}

#define LOAD(type)                                                                                                     \
    {                                                                                                                  \
        type number;                                                                                                   \
        memcpy(&number, at, sizeof number);                                                                            \
        return (double)number;                                                                                         \
    }

double micap_number_field_load(const micap_number_field *field, const void *at)
{
    switch (field->kind) {
    case MICA_KIND_F32: LOAD(float)
    case MICA_KIND_F64: LOAD(double)
    case MICA_KIND_I8: LOAD(int8_t)
    case MICA_KIND_U8: LOAD(uint8_t)
    case MICA_KIND_I16: LOAD(int16_t)
    case MICA_KIND_U16: LOAD(uint16_t)
    case MICA_KIND_I32: LOAD(int32_t)
    case MICA_KIND_U32: LOAD(uint32_t)
    case MICA_KIND_I64: LOAD(int64_t)
    case MICA_KIND_U64: LOAD(uint64_t)
    default: return 0;
    }
}
