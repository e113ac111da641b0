#include "resource/format/scalar_fields.h"

#include "mica/resource.h"

#include <string.h>

uint64_t micap_scalars_count(const mica_type *type)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < type->field_count && count <= MICA_RESOURCE_LEAVES_MAX; ++i) {
        const mica_field *field = &type->fields[i];
        /* A struct without fields counts too, or a tree of them would be walked for nothing. */
        mica_kind kind = micap_field_kind(field);
        bool is_struct = kind == MICA_KIND_STRUCT;
        uint64_t nested = is_struct || kind == MICA_KIND_LIST ? micap_scalars_count(field->type) : 0;
        count += is_struct ? field->count * (nested ? nested : 1) : 1 + nested;
    }
    return count;
}

static void append(micap_scalars *scalars, const mica_type *type, uint32_t base)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        uint32_t offset = base + field->offset;
        mica_kind kind = micap_field_kind(field);
        if (kind == MICA_KIND_STRUCT)
            for (uint32_t element = 0; element < field->count; ++element)
                append(scalars, field->type, offset + element * field->element_bytes);
        else
            scalars->list[scalars->count++] = (micap_scalar){offset, field->element_bytes, field->count, kind,
                                                             kind == MICA_KIND_LIST ? field->type : NULL};
    }
}

bool micap_scalars_make(micap_scalars *scalars, micap_memory *memory, const mica_type *type)
{
    *scalars = (micap_scalars){0};
    if (!MICAP_RESERVE(memory, scalars->list, &scalars->capacity, micap_scalars_count(type)))
        return false;
    append(scalars, type, 0);
    return true;
}

void micap_scalars_free(micap_scalars *scalars, micap_memory *memory)
{
    MICAP_RELEASE_ARRAY(memory, scalars->list, scalars->capacity);
    *scalars = (micap_scalars){0};
}

bool micap_scalars_make_kind(micap_scalars *scalars, micap_memory *memory, const mica_type *type, mica_kind kind)
{
    if (!micap_scalars_make(scalars, memory, type))
        return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < scalars->count; ++i)
        if (scalars->list[i].kind == kind)
            scalars->list[kept++] = scalars->list[i];
    scalars->count = kept;
    return true;
}

bool micap_scalars_cover(const micap_scalars *scalars, uint32_t size_bytes)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < scalars->count; ++i) {
        if (scalars->list[i].offset != at)
            return false;
        at += scalars->list[i].element_bytes * scalars->list[i].count;
    }
    return at == size_bytes;
}

void micap_scalars_copy(const micap_scalars *scalars, uint32_t size_bytes, void *to, const void *from, uint64_t count)
{
    char *target = to;
    const char *source = from;
    for (uint64_t value = 0; value < count; ++value, target += size_bytes, source += size_bytes)
        for (uint32_t i = 0; i < scalars->count; ++i) {
            const micap_scalar *scalar = &scalars->list[i];
            memcpy(target + scalar->offset, source + scalar->offset, (size_t)scalar->element_bytes * scalar->count);
        }
}

static void swap_elements(char *at, uint32_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i, at += bytes)
        for (uint32_t low = 0, high = bytes - 1; low < high; ++low, --high) {
            char kept = at[low];
            at[low] = at[high];
            at[high] = kept;
        }
}

void micap_scalars_swap(const micap_scalars *scalars, uint32_t size_bytes, void *values, uint64_t count)
{
    char *at = values;
    if (!scalars->count) /* a tag has no values at all */
        return;
    for (uint64_t value = 0; value < count; ++value, at += size_bytes)
        for (uint32_t i = 0; i < scalars->count; ++i) {
            const micap_scalar *scalar = &scalars->list[i];
            bool is_pair = scalar->kind == MICA_KIND_ENTITY; /* two numbers of four bytes */
            swap_elements(at + scalar->offset, is_pair ? 4 : scalar->element_bytes,
                          is_pair ? 2 * scalar->count : scalar->count);
        }
}
