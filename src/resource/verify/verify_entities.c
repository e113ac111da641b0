/* Groups, parents, order and names: afterwards every entity is in one group, and every instance has one owner. */
#include "resource/verify/verify_entities.h"

#include "resource/verify/load_error.h"
#include "resource/verify/verify_types.h"

#include <string.h>

static bool check_column(mica_resource *resource, const micap_group_record *group, uint32_t index, uint32_t *totals)
{
    const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, index);
    uint64_t at = micap_offset_of(resource, MICAP_SECTION_COLUMNS, index);
    if (column->component >= resource->block_count)
        return micap_load_fail(resource, at, "a group has component %u, which does not exist", column->component);
    const micap_component_block *block = &resource->blocks[column->component];
    if (block->role == MICAP_ROLE_SINGLETON || block->owners)
        return micap_load_fail(resource, at, "component %.60s is not a column of a group", block->name);
    if (index > group->first_column) {
        const micap_column_record *before = micap_record(resource, MICAP_SECTION_COLUMNS, index - 1);
        if (column->component <= before->component)
            return micap_load_fail(resource, at, "the columns of a group are out of order");
    }
    uint32_t *total = &totals[column->component];
    if (column->first_instance != *total || group->entity_count > block->instance_count - *total)
        return micap_load_fail(resource, at + 4, "component %.60s: instances %u to %u do not follow the ones before",
                               block->name, column->first_instance, column->first_instance + group->entity_count);
    *total += group->entity_count;
    return true;
}

static bool check_group(mica_resource *resource, uint32_t index, uint32_t *next_entity, uint32_t *next_column,
                        uint32_t *totals)
{
    const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, index);
    uint64_t at = micap_offset_of(resource, MICAP_SECTION_GROUPS, index);
    if (group->first_entity != *next_entity || group->entity_count == 0 ||
        group->entity_count > resource->header.entity_count - *next_entity)
        return micap_load_fail(resource, at, "group %u does not contain the next entities", index);
    if (group->first_column != *next_column ||
        group->column_count > micap_count_of(resource, MICAP_SECTION_COLUMNS) - *next_column)
        return micap_load_fail(resource, at + 8, "group %u does not have the next columns", index);
    for (uint32_t i = 0; i < group->column_count; ++i)
        if (!check_column(resource, group, *next_column + i, totals))
            return false;
    *next_entity += group->entity_count;
    *next_column += group->column_count;
    return true;
}

static bool check_groups(mica_resource *resource, uint32_t *totals)
{
    uint32_t next_entity = 0, next_column = 0;
    for (uint32_t i = 0; i < micap_count_of(resource, MICAP_SECTION_GROUPS); ++i)
        if (!check_group(resource, i, &next_entity, &next_column, totals))
            return false;
    if (next_entity != resource->header.entity_count || next_column != micap_count_of(resource, MICAP_SECTION_COLUMNS))
        return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_GROUPS, 0),
                               "the groups hold %u entities of %u", next_entity, resource->header.entity_count);
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        const micap_component_block *block = &resource->blocks[i];
        if (block->role != MICAP_ROLE_SINGLETON && !block->owners && totals[i] != block->instance_count)
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_COMPONENTS, i) + 32,
                                   "component %.60s has %u instances, and groups have %u of them", block->name,
                                   block->instance_count, totals[i]);
    }
    return true;
}

static bool check_order(mica_resource *resource)
{
    uint32_t count = resource->header.entity_count;
    const micap_part *order = resource->single[MICAP_SECTION_ORDER];
    if (!order)
        return true;
    if (order->record.count != count || order->record.stride != sizeof(uint32_t))
        return micap_load_fail(resource, order->record.offset, "the order has %u entries for %u entities",
                               order->record.count, count);
    resource->positions = micap_allocate(&resource->memory, count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    if (!resource->positions)
        return micap_load_fail_memory(resource);
    memset(resource->positions, 0xFF, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t entity = micap_number(resource, MICAP_SECTION_ORDER, i);
        if (entity >= count || resource->positions[entity] != MICAP_NONE)
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_ORDER, i),
                                   "the order contains entity %u, which does not exist or is there twice", entity);
        resource->positions[entity] = i;
    }
    return true;
}

static uint32_t position_of(const mica_resource *resource, uint32_t entity)
{
    return resource->positions ? resource->positions[entity] : entity;
}

enum { BLOCK = 16 };

/* Whether none of a block of entities has a parent. */
static bool are_roots(const uint32_t *parents)
{
    uint32_t all = MICAP_NONE;
    for (int k = 0; k < BLOCK; ++k)
        all &= parents[k];
    return all == MICAP_NONE;
}

/* A parent stands before its children in the order: so there is no cycle. That each entity has four bytes here keeps a
 * small file from claiming billions of them. */
static bool check_parents(mica_resource *resource)
{
    uint32_t count = resource->header.entity_count;
    const micap_part *parents = resource->single[MICAP_SECTION_PARENTS];
    if ((parents ? parents->record.count : 0) != count || (parents && parents->record.stride != sizeof(uint32_t)))
        return micap_load_fail(resource, parents ? parents->record.offset : 32, "there are %u parents for %u entities",
                               parents ? parents->record.count : 0, count);
    const uint32_t *numbers = count ? micap_record(resource, MICAP_SECTION_PARENTS, 0) : NULL;
    uint32_t child_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t parent = numbers[i];
        if (parent == MICAP_NONE) { /* mostly, so are those after it */
            while (count - i > BLOCK && are_roots(numbers + i + 1))
                i += BLOCK;
            continue;
        }
        if (parent >= count || position_of(resource, parent) >= position_of(resource, i))
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_PARENTS, i),
                                   "the parent of entity %u is %u, which is not before it", i, parent);
        ++child_count;
    }
    resource->child_count += child_count;
    return true;
}

/* Names are sorted by parent, then by text: two of a scope would stand side by side. */
static bool check_names(mica_resource *resource)
{
    uint32_t count = resource->header.entity_count, name_count = micap_count_of(resource, MICAP_SECTION_NAMES);
    if (!name_count)
        return true;
    resource->name_texts = micap_allocate_zeroed(&resource->memory, count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    if (!resource->name_texts)
        return micap_load_fail_memory(resource);
    uint32_t parent_before = 0;
    for (uint32_t i = 0; i < name_count; ++i) {
        const micap_name_record *name = micap_record(resource, MICAP_SECTION_NAMES, i);
        uint64_t at = micap_offset_of(resource, MICAP_SECTION_NAMES, i);
        if (name->entity >= count || resource->name_texts[name->entity])
            return micap_load_fail(resource, at,
                                   "name %u belongs to entity %u, which does not exist or has another name", i,
                                   name->entity);
        if (!micap_is_text(resource, name->text) || !*micap_text(resource, name->text) ||
            strchr(micap_text(resource, name->text), '/'))
            return micap_load_fail(resource, at + 4, "name %u is empty or contains a '/'", i);
        resource->name_texts[name->entity] = name->text;
        uint32_t parent = micap_number(resource, MICAP_SECTION_PARENTS, name->entity);
        const micap_name_record *before = i ? micap_record(resource, MICAP_SECTION_NAMES, i - 1) : NULL;
        if (before &&
            (parent < parent_before || (parent == parent_before && strcmp(micap_text(resource, before->text),
                                                                          micap_text(resource, name->text)) >= 0)))
            return micap_load_fail(resource, at, "name %u, \"%.60s\", is out of order or there twice", i,
                                   micap_text(resource, name->text));
        parent_before = parent;
    }
    return true;
}

bool micap_verify_entities(mica_resource *resource)
{
    size_t bytes = resource->block_count * sizeof(uint32_t);
    uint32_t *totals = micap_allocate_zeroed(&resource->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!totals)
        return micap_load_fail_memory(resource);
    bool fine = check_groups(resource, totals);
    micap_release(&resource->memory, totals, bytes, MICAP_ARRAY_ALIGNMENT);
    /* In this order: check_parents bounds the number of entities by the size of the file before check_order and
     * check_names allocate by it, but needs the positions. The groups don't: hence the look at the sizes first. */
    const micap_part *parents = resource->single[MICAP_SECTION_PARENTS];
    if (fine && (parents ? parents->record.count : 0) != resource->header.entity_count)
        return check_parents(resource);
    return fine && check_order(resource) && check_parents(resource) && check_names(resource);
}
