/* The scalars of a type: its described scalars, text and lists, and fixed arrays of them, with nested structs opened up. What converts,
 * checks or copies described fields walks this list instead of the tree. */
#ifndef MICAP_RESOURCE_FORMAT_LEAVES_H
#define MICAP_RESOURCE_FORMAT_LEAVES_H

#include "base/memory.h"
#include "mica/describe.h"

/* A field whose type is described takes its kind from there; a list has the type of its elements. */
static inline mica_kind micap_field_kind(const mica_field *field)
{
    return field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind;
}

/* The layout of values, without storage and functions. */
static inline mica_type micap_plain_type(const mica_type *type, mica_storage storage)
{
    return (mica_type){.name = type->name,
                       .fields = type->fields,
                       .constants = type->constants,
                       .field_count = type->field_count,
                       .constant_count = type->constant_count,
                       .size_bytes = type->size_bytes,
                       .alignment = type->alignment,
                       .kind = type->kind,
                       .storage = storage};
}

typedef struct micap_scalar {
    uint32_t offset;
    uint32_t element_bytes;
    uint32_t count;
    mica_kind kind;
    const mica_type *element; /* of a list */
} micap_scalar;

typedef struct micap_scalars {
    micap_scalar *list;
    uint32_t count;
    uint32_t capacity;
} micap_scalars;

/* How many there are, with those of elements of lists; saturates above MICA_RESOURCE_LEAVES_MAX. */
uint64_t micap_scalars_count(const mica_type *type);

/* The type has at most MICA_RESOURCE_LEAVES_MAX. False when memory is short; free it in either case. */
bool micap_scalars_make(micap_scalars *scalars, micap_memory *memory, const mica_type *type);
void micap_scalars_free(micap_scalars *scalars, micap_memory *memory);

/* As micap_scalars_make, those of one kind only. */
bool micap_scalars_make_kind(micap_scalars *scalars, micap_memory *memory, const mica_type *type, mica_kind kind);

/* Whether the scalars cover every byte, one after the other. */
bool micap_scalars_cover(const micap_scalars *scalars, uint32_t size_bytes);

/* Copies the described bytes of `count` values; the others stay as they are. */
void micap_scalars_copy(const micap_scalars *scalars, uint32_t size_bytes, void *to, const void *from, uint64_t count);

/* Turns the byte order of `count` values that lie `size_bytes` apart. */
void micap_scalars_swap(const micap_scalars *scalars, uint32_t size_bytes, void *values, uint64_t count);

/* Calls for each element of the scalars of `count` values, which are of 8 bytes: references to entities, or to resources. */
#define MICAP_EACH_REFERENCE(scalars, size_bytes, values, value_count, reference)                                       \
    for (uint64_t value_ = 0; value_ < (value_count); ++value_)                                                        \
        for (uint32_t scalar_ = 0; scalar_ < (scalars)->count; ++scalar_)                                                     \
            for (size_t element_ = 0; element_ < (scalars)->list[scalar_].count; ++element_)                              \
                for (char *reference = (char *)(values) + value_ * (size_bytes) + (scalars)->list[scalar_].offset +       \
                                       element_ * 8;                                                 \
                     reference; reference = NULL)

#endif
