/* A loaded resource: the mapped file, and small tables of what is where. Everything in it was verified when it was loaded:
 * bounds, counts, indices and values need not be checked again.
 *
 *     load_resource.c    maps a file and runs the steps        verify_components.c   components, instances and their values
 *     verify_sections.c  header, bounds and checksums          verify_entities.c     groups, parents, order, names
 *     verify_state.c     the state of a saved world
 *     verify_types.c     strings and descriptions of types     verify_assets.c       paths of other resources
 *     resource.c         the public functions that read it     load_error.c          why a file is not accepted */
#ifndef MICAP_RESOURCE_VERIFY_RESOURCE_H
#define MICAP_RESOURCE_VERIFY_RESOURCE_H

#include "base/memory.h"
#include "mica/resource.h"
#include "os/file.h"
#include "resource/format/file_format.h"
#include "resource/format/scalar_fields.h"

/* A section with its bytes, in native order and not compressed. */
typedef struct micap_part {
    micap_section record;
    char *data;
    char *unpacked; /* owned, when it was compressed */
    bool used;      /* some component has it */
} micap_part;

/* What the file holds of one component. */
typedef struct micap_component_block {
    const char *name;
    const mica_type *type;
    uint64_t name_hash;
    uint64_t layout_hash;
    uint32_t role;
    int32_t spawn_order;
    uint32_t instance_count;
    char *instances;
    bool has_contents;      /* text or lists: then the instances are a copy, which is the resource's */
    bool refers;            /* lists have entity fields */
    const uint32_t *owners; /* NULL: as the groups say, one instance per entity */
    const uint32_t *disabled;
    uint32_t disabled_count;
    micap_scalars references; /* entity fields */
    /* What the last spawn found, so that the next one need not search: the component of this name, and a type of it with the same layout.
     * Ids and types of components are never used again for others. Threads that spawn at once may write the same here. */
    _Atomic(mica_component) component;
    _Atomic(const mica_type *) matching;
    /* The component, if the instances are its values without conversion, rules or exceptions; in the upper half, a world that has it. */
    _Atomic(uint64_t) column;
} micap_component_block;

struct mica_resource {
    micap_memory memory;
    micap_mapping mapping;
    char *copy; /* owned, when the bytes could not be used where they were */
    const char *bytes;
    size_t byte_count;
    uint64_t memory_bytes_max;
    bool is_foreign; /* of the other byte order */
    micap_header header;

    micap_part *parts;
    micap_part *single[MICAP_SECTION_KINDS]; /* by kind, for those that come once; NULL where there is none */
    mica_type *types;
    mica_field *fields;
    mica_constant *constants;
    uint32_t type_count; /* of the file; after them, one per component for tags */
    uint32_t type_capacity;
    uint32_t field_count;
    uint32_t constant_count;
    micap_component_block *blocks;
    uint32_t block_count;
    uint32_t child_count; /* entities that have a parent */
    bool is_flat;         /* entities with the same components, in columns without references, and nothing else */
    uint32_t *positions;  /* of the entities in `order`; NULL without one */
    uint32_t *name_texts; /* string by entity, 0 for none; NULL when nothing has a name */
    mica_resource_error error;
};

/* How many records a section has that comes once; none when it is not there. */
static inline uint32_t micap_count_of(const mica_resource *resource, micap_section_kind kind)
{
    return resource->single[kind] ? resource->single[kind]->record.count : 0;
}

/* Record i of such a section. Uses a stride, because later versions may append fields to records. */
static inline const void *micap_record(const mica_resource *resource, micap_section_kind kind, uint32_t i)
{
    const micap_part *part = resource->single[kind];
    return part->data + (size_t)i * part->record.stride;
}

static inline uint32_t micap_number(const mica_resource *resource, micap_section_kind kind, uint32_t i)
{
    return *(const uint32_t *)micap_record(resource, kind, i);
}

/* Where record i is in the file, for messages. */
static inline uint64_t micap_offset_of(const mica_resource *resource, micap_section_kind kind, uint32_t i)
{
    const micap_part *part = resource->single[kind];
    return part ? part->record.offset + (part->unpacked ? 0 : (uint64_t)i * part->record.stride) : 0;
}

static inline const char *micap_text(const mica_resource *resource, uint32_t offset)
{
    return resource->single[MICAP_SECTION_STRINGS]->data + offset;
}

/* The group an entity belongs to. */
const micap_group_record *micap_group_of(const mica_resource *resource, uint32_t entity);

#endif
