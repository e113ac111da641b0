#include "resource/verify/resource.h"

#include "base/argument.h"
#include "base/bits.h"

#include "base/hash.h"

static const char *const kind_names[MICAP_SECTION_KINDS] = {
    "unknown", "strings", "types",     "fields", "constants", "components", "groups",  "columns", "parents",
    "order",   "names",   "instances", "owners", "disabled",  "assets",     "handles", "state",   "contents",
};

uint32_t mica_resource_entity_count(const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, resource))
        return 0;
    return resource->header.entity_count;
}

uint32_t mica_resource_component_count(const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, resource))
        return 0;
    return resource->block_count;
}

mica_resource_component mica_resource_component_at(const mica_resource *resource, uint32_t index)
{
    if (MICAP_MISSING(NULL, resource))
        return (mica_resource_component){0};
    if (index >= resource->block_count)
        return (mica_resource_component){0};
    const micap_component_block *block = &resource->blocks[index];
    return (mica_resource_component){
        .name = block->name,
        .type = block->type,
        .name_hash = block->name_hash,
        .layout_hash = block->layout_hash,
        .storage = block->role == MICAP_ROLE_TAG         ? MICA_STORAGE_TAG
                   : block->role == MICAP_ROLE_SINGLETON ? MICA_STORAGE_SINGLETON
                                                         : MICA_STORAGE_CHUNK,
        .spawn_order = block->spawn_order,
        .instance_count = block->instance_count,
        .instances = block->instances,
    };
}

/* The instance of an entity, or MICAP_NONE. */
static uint32_t instance_of(const mica_resource *resource, uint32_t entity, uint32_t component)
{
    if (entity >= resource->header.entity_count || component >= resource->block_count)
        return MICAP_NONE;
    const micap_component_block *block = &resource->blocks[component];
    if (block->owners) {
        uint32_t low = 0, high = block->instance_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (block->owners[middle] < entity)
                low = middle + 1;
            else
                high = middle;
        }
        return low < block->instance_count && block->owners[low] == entity ? low : MICAP_NONE;
    }
    const micap_group_record *group = micap_group_of(resource, entity);
    for (uint32_t i = 0; i < group->column_count; ++i) {
        const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, group->first_column + i);
        if (column->component == component)
            return column->first_instance + (entity - group->first_entity);
    }
    return MICAP_NONE;
}

const void *mica_resource_value(const mica_resource *resource, uint32_t entity, uint32_t component)
{
    if (MICAP_MISSING(NULL, resource))
        return NULL;
    uint32_t instance = instance_of(resource, entity, component);
    if (instance == MICAP_NONE)
        return NULL;
    const micap_component_block *block = &resource->blocks[component];
    return block->instances ? block->instances + (size_t)instance * block->type->size_bytes : (const char *)block;
}

uint32_t mica_resource_value_count(const mica_resource *resource, uint32_t entity, uint32_t component)
{
    if (MICAP_MISSING(NULL, resource))
        return 0;
    uint32_t instance = instance_of(resource, entity, component), count = 1;
    if (instance == MICAP_NONE)
        return 0;
    const micap_component_block *block = &resource->blocks[component];
    while (block->owners && instance + count < block->instance_count && block->owners[instance + count] == entity)
        ++count;
    return count;
}

bool mica_resource_is_repeated(const mica_resource *resource, uint32_t component)
{
    if (MICAP_MISSING(NULL, resource))
        return false;
    return component < resource->block_count && resource->blocks[component].owners;
}

bool mica_resource_is_disabled(const mica_resource *resource, uint32_t entity, uint32_t component)
{
    if (MICAP_MISSING(NULL, resource))
        return false;
    uint32_t instance = instance_of(resource, entity, component);
    uint32_t low = 0, high = instance == MICAP_NONE ? 0 : resource->blocks[component].disabled_count;
    const uint32_t *disabled = high ? resource->blocks[component].disabled : NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (disabled[middle] == instance)
            return true;
        if (disabled[middle] < instance)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

const char *mica_resource_name(const mica_resource *resource, uint32_t entity)
{
    if (MICAP_MISSING(NULL, resource))
        return NULL;
    if (!resource->name_texts || entity >= resource->header.entity_count || !resource->name_texts[entity])
        return NULL;
    return micap_text(resource, resource->name_texts[entity]);
}

uint32_t mica_resource_parent(const mica_resource *resource, uint32_t entity)
{
    if (MICAP_MISSING(NULL, resource))
        return MICA_NO_PARENT;
    return entity < resource->header.entity_count ? micap_number(resource, MICAP_SECTION_PARENTS, entity)
                                                  : MICA_NO_PARENT;
}

uint32_t mica_resource_entity_in_order(const mica_resource *resource, uint32_t position)
{
    if (MICAP_MISSING(NULL, resource))
        return 0;
    return resource->positions && position < resource->header.entity_count
               ? micap_number(resource, MICAP_SECTION_ORDER, position)
               : position;
}

mica_resource_info mica_resource_get_info(const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, resource))
        return (mica_resource_info){0};
    return (mica_resource_info){
        .file_bytes = resource->header.file_bytes,
        .section_count = resource->header.section_count,
        .group_count = micap_count_of(resource, MICAP_SECTION_GROUPS),
        .version_major = resource->header.version_major,
        .version_minor = resource->header.version_minor,
        .byte_order = resource->is_foreign != MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE,
        .has_state = resource->single[MICAP_SECTION_STATE] != NULL,
    };
}

mica_resource_section mica_resource_section_at(const mica_resource *resource, uint32_t index)
{
    if (MICAP_MISSING(NULL, resource))
        return (mica_resource_section){0};
    if (index >= resource->header.section_count)
        return (mica_resource_section){0};
    const micap_section *section = &resource->parts[index].record;
    return (mica_resource_section){
        .kind = kind_names[section->kind < MICAP_SECTION_KINDS ? section->kind : 0],
        .offset = section->offset,
        .stored_bytes = section->stored_bytes,
        .bytes = section->bytes,
        .hash = section->hash,
        .count = section->count,
        .element_bytes = section->stride,
        .compressed = (section->flags & MICAP_SECTION_ZSTD) != 0,
    };
}

const micap_group_record *micap_group_of(const mica_resource *resource, uint32_t entity)
{
    uint32_t low = 0, high = micap_count_of(resource, MICAP_SECTION_GROUPS);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, middle);
        if (group->first_entity <= entity)
            low = middle;
        else
            high = middle;
    }
    return micap_record(resource, MICAP_SECTION_GROUPS, low);
}

const void *mica_resource_values_id(const mica_resource *resource, const mica_type *type, uint32_t *out_count)
{
    if (MICAP_MISSING(NULL, resource) || MICAP_MISSING(NULL, type) || MICAP_MISSING(NULL, type->name) ||
        MICAP_MISSING(NULL, out_count))
        return NULL;
    uint64_t name_hash = micap_hash_text(type->name);
    *out_count = 0;
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        const micap_component_block *block = &resource->blocks[i];
        if (block->name_hash != name_hash)
            continue;
        if (block->role == MICAP_ROLE_TAG || block->layout_hash != mica_type_layout_hash(type))
            return NULL;
        *out_count = block->instance_count;
        return block->instances;
    }
    return NULL;
}
