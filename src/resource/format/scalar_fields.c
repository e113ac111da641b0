#include "resource/format/scalar_fields.h"

#include "mica/resource.h"

#include <string.h>

uint64_t micap_leaves_count(const mica_type *type)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < type->field_count && count <= MICA_RESOURCE_LEAVES_MAX; ++i) {
        const mica_field *field = &type->fields[i];
        /* A struct without fields counts too, or a tree of them would be walked for nothing. */
        bool is_struct = micap_field_kind(field) == MICA_KIND_STRUCT;
        uint64_t nested = is_struct ? micap_leaves_count(field->type) : 1;
        count += is_struct ? field->count * (nested ? nested : 1) : 1;
    }
    return count;
}

static void append(micap_leaves *leaves, const mica_type *type, uint32_t base)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const mica_field *field = &type->fields[i];
        uint32_t offset = base + field->offset;
        mica_kind kind = micap_field_kind(field);
        if (kind == MICA_KIND_STRUCT)
            for (uint32_t element = 0; element < field->count; ++element)
                append(leaves, field->type, offset + element * field->element_bytes);
        else
            leaves->list[leaves->count++] = (micap_leaf){offset, field->element_bytes, field->count, kind};
    }
}

bool micap_leaves_make(micap_leaves *leaves, micap_memory *memory, const mica_type *type)
{
    *leaves = (micap_leaves){0};
    if (!MICAP_RESERVE(memory, leaves->list, &leaves->capacity, micap_leaves_count(type)))
        return false;
    append(leaves, type, 0);
    return true;
}

void micap_leaves_free(micap_leaves *leaves, micap_memory *memory)
{
    MICAP_RELEASE_ARRAY(memory, leaves->list, leaves->capacity);
    *leaves = (micap_leaves){0};
}

bool micap_leaves_make_kind(micap_leaves *leaves, micap_memory *memory, const mica_type *type, mica_kind kind)
{
    if (!micap_leaves_make(leaves, memory, type))
        return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < leaves->count; ++i)
        if (leaves->list[i].kind == kind)
            leaves->list[kept++] = leaves->list[i];
    leaves->count = kept;
    return true;
}

bool micap_leaves_cover(const micap_leaves *leaves, uint32_t size_bytes)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < leaves->count; ++i) {
        if (leaves->list[i].offset != at)
            return false;
        at += leaves->list[i].element_bytes * leaves->list[i].count;
    }
    return at == size_bytes;
}

void micap_leaves_copy(const micap_leaves *leaves, uint32_t size_bytes, void *to, const void *from, uint64_t count)
{
    char *target = to;
    const char *source = from;
    for (uint64_t value = 0; value < count; ++value, target += size_bytes, source += size_bytes)
        for (uint32_t i = 0; i < leaves->count; ++i) {
            const micap_leaf *leaf = &leaves->list[i];
            memcpy(target + leaf->offset, source + leaf->offset, (size_t)leaf->element_bytes * leaf->count);
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

void micap_leaves_swap(const micap_leaves *leaves, uint32_t size_bytes, void *values, uint64_t count)
{
    char *at = values;
    if (!leaves->count) /* a tag has no values at all */
        return;
    for (uint64_t value = 0; value < count; ++value, at += size_bytes)
        for (uint32_t i = 0; i < leaves->count; ++i) {
            const micap_leaf *leaf = &leaves->list[i];
            bool is_pair = leaf->kind == MICA_KIND_ENTITY; /* two numbers of four bytes */
            swap_elements(at + leaf->offset, is_pair ? 4 : leaf->element_bytes,
                          is_pair ? 2 * leaf->count : leaf->count);
        }
}
