/* The leaves of a type: its described scalars, and fixed arrays of them, with nested structs opened up. What converts,
 * checks or copies described fields walks this list instead of the tree. */
#ifndef MICAP_RESOURCE_FORMAT_LEAVES_H
#define MICAP_RESOURCE_FORMAT_LEAVES_H

#include "base/memory.h"
#include "mica/describe.h"

/* A field whose type is described takes its kind from there. */
static inline mica_kind micap_field_kind(const mica_field *field)
{
    return field->type ? field->type->kind : field->kind;
}

/* How values lie, without what a program makes of them: where they are kept, who makes and moves them. */
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

typedef struct micap_leaf {
    uint32_t offset;
    uint32_t element_bytes;
    uint32_t count;
    mica_kind kind;
} micap_leaf;

typedef struct micap_leaves {
    micap_leaf *list;
    uint32_t count;
    uint32_t capacity;
} micap_leaves;

/* How many there are; saturates above MICA_RESOURCE_LEAVES_MAX. */
uint64_t micap_leaves_count(const mica_type *type);

/* The type has at most MICA_RESOURCE_LEAVES_MAX. False when memory is short; free it in either case. */
bool micap_leaves_make(micap_leaves *leaves, micap_memory *memory, const mica_type *type);
void micap_leaves_free(micap_leaves *leaves, micap_memory *memory);

/* As micap_leaves_make, those of one kind only. */
bool micap_leaves_make_kind(micap_leaves *leaves, micap_memory *memory, const mica_type *type, mica_kind kind);

/* Whether the leaves cover every byte, one after the other. */
bool micap_leaves_cover(const micap_leaves *leaves, uint32_t size_bytes);

/* Copies the described bytes of `count` values; the others stay as they are. */
void micap_leaves_copy(const micap_leaves *leaves, uint32_t size_bytes, void *to, const void *from, uint64_t count);

/* Turns the byte order of `count` values that lie `size_bytes` apart. */
void micap_leaves_swap(const micap_leaves *leaves, uint32_t size_bytes, void *values, uint64_t count);

/* Calls for each element of the leaves of `count` values, which are of 8 bytes: references to entities, or to resources. */
#define MICAP_EACH_REFERENCE(leaves, size_bytes, values, value_count, reference)                                       \
    for (uint64_t value_ = 0; value_ < (value_count); ++value_)                                                        \
        for (uint32_t leaf_ = 0; leaf_ < (leaves)->count; ++leaf_)                                                     \
            for (size_t element_ = 0; element_ < (leaves)->list[leaf_].count; ++element_)                              \
                for (char *reference = (char *)(values) + value_ * (size_bytes) + (leaves)->list[leaf_].offset +       \
                                       element_ * 8;                                                 \
                     reference; reference = NULL)

#endif
