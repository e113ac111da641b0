/* The component table: afterwards each block has its type, its instances and its lists. Then, when entities are known
 * to be sound, the values themselves. */
#include "base/hash.h"
#include "resource/verify/verify_components.h"

#include "resource/verify/load_error.h"
#include "resource/verify/verify_types.h"
#include "resource/verify/verify_assets.h"
#include "type/value_bytes.h"

#include <stdlib.h>
#include <string.h>

static micap_part *take_part(mica_resource *resource, uint32_t index, micap_section_kind kind, uint32_t count)
{
    if (index >= resource->header.section_count)
        return NULL;
    micap_part *part = &resource->parts[index];
    if (part->record.kind != (uint32_t)kind || part->used || (count != MICAP_NONE && part->record.count != count))
        return NULL;
    part->used = true;
    return part;
}

static bool read_identity(mica_resource *resource, micap_component_block *block, const micap_component_record *record,
                          uint32_t index)
{
    uint64_t at = micap_offset_of(resource, MICAP_SECTION_COMPONENTS, index);
    if (!micap_is_text(resource, record->name) || !*micap_text(resource, record->name))
        return micap_load_fail(resource, at + 16, "component %u has no name", index);
    block->name = micap_text(resource, record->name);
    block->name_hash = record->name_hash;
    block->layout_hash = record->layout_hash;
    block->role = record->role;
    block->spawn_order = (int32_t)record->spawn_order;
    block->instance_count = record->instance_count;
    if (micap_hash_text(block->name) != block->name_hash)
        return micap_load_fail(resource, at, "component %.60s: the hash of its name does not match", block->name);
    if (record->role > MICAP_ROLE_SINGLETON)
        return micap_load_fail(resource, at + 24, "component %.60s has the unknown role %u", block->name, record->role);
    if (record->role == MICAP_ROLE_TAG ? record->type != MICAP_NONE : record->type >= resource->type_count)
        return micap_load_fail(resource, at + 20, "component %.60s has type %u, which does not exist", block->name,
                               record->type);
    if (record->role == MICAP_ROLE_TAG) {
        mica_type *tag = &resource->types[resource->type_count + index];
        *tag = (mica_type){.name = block->name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        block->type = tag;
    } else {
        block->type = &resource->types[record->type];
    }
    if (block->type->kind != MICA_KIND_STRUCT || mica_type_layout_hash(block->type) != block->layout_hash)
        return micap_load_fail(resource, at + 8, "component %.60s: the hash of its layout does not match", block->name);
    return true;
}

static bool read_instances(mica_resource *resource, micap_component_block *block, const micap_component_record *record,
                           uint64_t at)
{
    if (block->role == MICAP_ROLE_TAG)
        return record->instances == MICAP_NONE ||
               micap_load_fail(resource, at + 36, "component %.60s is a tag and has instances", block->name);
    if (block->role == MICAP_ROLE_SINGLETON && block->instance_count != 1)
        return micap_load_fail(resource, at + 32, "component %.60s is a singleton and has %u instances", block->name,
                               block->instance_count);
    const micap_part *part = take_part(resource, record->instances, MICAP_SECTION_INSTANCES, block->instance_count);
    if (!part || part->record.stride != block->type->size_bytes)
        return micap_load_fail(resource, at + 36, "component %.60s has no section with %u instances of %u bytes",
                               block->name, block->instance_count, block->type->size_bytes);
    block->instances = part->data;
    return true;
}

static bool read_lists(mica_resource *resource, micap_component_block *block, const micap_component_record *record,
                       uint64_t at)
{
    if (block->role == MICAP_ROLE_SINGLETON && (record->owners != MICAP_NONE || record->disabled != MICAP_NONE))
        return micap_load_fail(resource, at + 40, "component %.60s is a singleton and has owners or enabled states",
                               block->name);
    if (record->owners != MICAP_NONE) {
        const micap_part *part = take_part(resource, record->owners, MICAP_SECTION_OWNERS, block->instance_count);
        if (!part || part->record.stride != sizeof(uint32_t))
            return micap_load_fail(resource, at + 40, "component %.60s has no section with its owners", block->name);
        block->owners = (const uint32_t *)(const void *)part->data;
        for (uint32_t i = 0; i < block->instance_count; ++i)
            if (block->owners[i] >= resource->header.entity_count || (i && block->owners[i] < block->owners[i - 1]))
                return micap_load_fail(resource, part->record.offset,
                                       "component %.60s: owner %u is not an entity, or out of order", block->name, i);
    }
    if (record->disabled != MICAP_NONE) {
        const micap_part *part = take_part(resource, record->disabled, MICAP_SECTION_DISABLED, MICAP_NONE);
        if (!part || part->record.stride != sizeof(uint32_t))
            return micap_load_fail(resource, at + 44, "component %.60s has no section with its enabled states",
                                   block->name);
        block->disabled = (const uint32_t *)(const void *)part->data;
        block->disabled_count = part->record.count;
        for (uint32_t i = 0; i < block->disabled_count; ++i)
            if (block->disabled[i] >= block->instance_count || (i && block->disabled[i] <= block->disabled[i - 1]))
                return micap_load_fail(resource, part->record.offset,
                                       "component %.60s: switch %u is not an instance, or out of order", block->name,
                                       i);
    }
    return true;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

static bool check_unique(mica_resource *resource)
{
    size_t bytes = resource->block_count * sizeof(uint64_t);
    uint64_t *hashes = micap_allocate(&resource->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!hashes)
        return micap_load_fail_memory(resource);
    bool unique = true;
    for (uint32_t i = 0; i < resource->block_count; ++i)
        hashes[i] = resource->blocks[i].name_hash;
    qsort(hashes, resource->block_count, sizeof *hashes, compare_hashes);
    for (uint32_t i = 1; i < resource->block_count; ++i)
        unique = unique && hashes[i] != hashes[i - 1];
    micap_release(&resource->memory, hashes, bytes, MICAP_ARRAY_ALIGNMENT);
    return unique || micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_COMPONENTS, 0),
                                     "two components have the same name");
}

bool micap_verify_components(mica_resource *resource)
{
    uint32_t count = micap_count_of(resource, MICAP_SECTION_COMPONENTS);
    resource->blocks =
        micap_allocate_zeroed(&resource->memory, count * sizeof *resource->blocks, MICAP_ARRAY_ALIGNMENT);
    if (!resource->blocks)
        return micap_load_fail_memory(resource);
    resource->block_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        const micap_component_record *record = micap_record(resource, MICAP_SECTION_COMPONENTS, i);
        uint64_t at = micap_offset_of(resource, MICAP_SECTION_COMPONENTS, i);
        micap_component_block *block = &resource->blocks[i];
        if (!read_identity(resource, block, record, i) || !read_instances(resource, block, record, at) ||
            !read_lists(resource, block, record, at))
            return false;
        if (i && block->spawn_order < block[-1].spawn_order)
            return micap_load_fail(resource, at + 28, "component %.60s comes after one with a higher spawn order",
                                   block->name);
    }
    return check_unique(resource);
}

/* A bool that is neither 0 nor 1 is undefined behaviour for its readers. */
static bool check_bools(mica_resource *resource, const micap_component_block *block, const micap_scalars *scalars)
{
    uint32_t size_bytes = block->type->size_bytes;
    for (uint64_t i = 0; scalars->count && i < block->instance_count; ++i)
        for (uint32_t scalar = 0; scalar < scalars->count; ++scalar)
            for (uint32_t element = 0; element < scalars->list[scalar].count; ++element)
                if ((unsigned char)block->instances[i * size_bytes + scalars->list[scalar].offset + element] > 1)
                    return micap_load_fail(resource, 0, "component %.60s, instance %llu: a bool is neither 0 nor 1",
                                           block->name, (unsigned long long)i);
    return true;
}

/* A component whose values are checked. */
typedef struct checked_block {
    mica_resource *resource;
    const micap_component_block *block;
} checked_block;

static bool check_reference(void *at, void *context)
{
    const checked_block *checked = context;
    mica_entity entity;
    memcpy(&entity, at, sizeof entity);
    uint32_t count = checked->resource->header.entity_count;
    return (entity.generation <= 1 && (entity.generation ? entity.index < count : !entity.index)) ||
           micap_load_fail(checked->resource, 0, "component %.60s: a reference to entity %u, which does not exist",
                           checked->block->name, entity.index);
}

static bool check_asset(void *at, void *context)
{
    const checked_block *checked = context;
    mica_asset asset;
    memcpy(&asset, at, sizeof asset);
    return !asset.path_hash || micap_asset_find(checked->resource, asset.path_hash) ||
           micap_load_fail(checked->resource, 0, "component %.60s refers to a resource that the file does not name",
                           checked->block->name);
}

/* Checks all fields of a kind, also those in lists. */
static bool check_fields(checked_block checked, const micap_scalars *scalars, mica_kind kind, micap_content_fn check)
{
    const micap_component_block *block = checked.block;
    uint32_t size_bytes = block->type->size_bytes;
    if (scalars->count)
        MICAP_EACH_REFERENCE(scalars, size_bytes, block->instances, block->instance_count, reference)
        {
            if (!check(reference, &checked))
                return false;
        }
    bool is_in_lists = micap_contents_have(block->type, kind);
    for (size_t i = 0; is_in_lists && i < block->instance_count; ++i)
        if (!micap_contents_visit(block->type, block->instances + i * size_bytes, kind, false, check, &checked))
            return false;
    return true;
}

static bool check_values(mica_resource *resource, micap_component_block *block)
{
    micap_memory *memory = &resource->memory;
    micap_scalars bools = {0}, assets = {0};
    bool fine = micap_scalars_make_kind(&block->references, memory, block->type, MICA_KIND_ENTITY) &&
                micap_scalars_make_kind(&bools, memory, block->type, MICA_KIND_BOOL) &&
                micap_scalars_make_kind(&assets, memory, block->type, MICA_KIND_ASSET);
    if (!fine)
        micap_load_fail_memory(resource);
    else if (block->role != MICAP_ROLE_TAG)
        fine = check_bools(resource, block, &bools) &&
               check_fields((checked_block){resource, block}, &block->references, MICA_KIND_ENTITY, check_reference) &&
               check_fields((checked_block){resource, block}, &assets, MICA_KIND_ASSET, check_asset);
    micap_scalars_free(&bools, memory);
    micap_scalars_free(&assets, memory);
    return fine;
}

static bool turn_values(mica_resource *resource, const micap_component_block *block)
{
    micap_scalars scalars;
    bool fine = micap_scalars_make(&scalars, &resource->memory, block->type);
    if (fine)
        micap_scalars_swap(&scalars, block->type->size_bytes, block->instances, block->instance_count);
    micap_scalars_free(&scalars, &resource->memory);
    return fine || micap_load_fail_memory(resource);
}

/* The text and lists of all components, as far as they are read. */
typedef struct content_reader {
    const micap_part *part; /* NULL: none */
    micap_reader reader;
    uint64_t room;
} content_reader;

static content_reader begin_contents(const mica_resource *resource)
{
    const micap_part *part = resource->single[MICAP_SECTION_CONTENTS];
    const char *begin = part ? part->data : NULL, *end = part ? part->data + part->record.bytes : NULL;
    return (content_reader){part, {.begin = begin, .at = begin, .end = end}, resource->memory_bytes_max};
}

static bool fail_contents(mica_resource *resource, const content_reader *contents, mica_result result,
                          const micap_component_block *block)
{
    const micap_part *part = contents->part;
    uint64_t at = part ? part->record.offset : 0;
    if (part && !part->unpacked)
        at += (uint64_t)(contents->reader.at - contents->reader.begin);
    if (result == MICA_ERROR_MEMORY)
        return micap_load_fail_memory(resource);
    return result == MICA_ERROR_LIMIT
               ? micap_load_fail(resource, at,
                                 "component %.60s: its text and lists take more than the %llu bytes allowed",
                                 block->name, (unsigned long long)resource->memory_bytes_max)
               : micap_load_fail(resource, at, "component %.60s: its text and lists are damaged, or end too early",
                                 block->name);
}

/* Makes a copy of instances, with their text and lists in it. */
static bool read_contents(mica_resource *resource, micap_component_block *block, content_reader *contents)
{
    size_t size_bytes = block->type->size_bytes, bytes = block->instance_count * size_bytes;
    if (bytes > contents->room)
        return fail_contents(resource, contents, MICA_ERROR_LIMIT, block);
    for (size_t i = 0; i < block->instance_count; ++i)
        if (!micap_contents_are_omitted(block->type, block->instances + i * size_bytes))
            return micap_load_fail(resource, 0, "component %.60s, instance %zu: its text and lists are not zero",
                                   block->name, i);
    char *copy = micap_allocate(&resource->memory, bytes, MICAP_ALIGNMENT);
    if (!copy)
        return micap_load_fail_memory(resource);
    contents->room -= bytes;
    if (bytes)
        memcpy(copy, block->instances, bytes);
    block->instances = copy;
    block->has_contents = true;
    block->refers = micap_contents_have(block->type, MICA_KIND_ENTITY);
    for (size_t i = 0; i < block->instance_count; ++i) {
        mica_result result =
            micap_contents_take(&contents->reader, block->type, copy + i * size_bytes, &contents->room);
        if (result != MICA_OK)
            return fail_contents(resource, contents, result, block);
    }
    return true;
}

bool micap_verify_values(mica_resource *resource)
{
    content_reader contents = begin_contents(resource);
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        micap_component_block *block = &resource->blocks[i];
        if ((resource->is_foreign && !turn_values(resource, block)) ||
            (micap_contents_exist(block->type) && !read_contents(resource, block, &contents)) ||
            !check_values(resource, block))
            return false;
    }
    return !micap_reader_left(&contents.reader) ||
           micap_load_fail(resource, contents.part->record.offset, "there are text or lists of no component");
}
