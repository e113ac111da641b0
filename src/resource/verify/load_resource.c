/* Loads files: maps or copies the bytes, and verifies them step by step. */
#include "base/argument.h"
#include "base/bits.h"
#include "resource/verify/load_error.h"
#include "resource/verify/verify_assets.h"
#include "resource/verify/verify_components.h"
#include "resource/verify/verify_entities.h"
#include "resource/verify/verify_sections.h"
#include "resource/verify/verify_state.h"
#include "resource/verify/verify_types.h"
#include "type/value_bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint64_t memory_bytes_max_default = (uint64_t)4 << 30;

static void free_tables(mica_resource *resource)
{
    micap_memory *memory = &resource->memory;
    uint32_t entity_count = resource->header.entity_count;
    for (uint32_t i = 0; resource->blocks && i < resource->block_count; ++i) {
        micap_component_block *block = &resource->blocks[i];
        micap_scalars_free(&block->references, memory);
        if (!block->has_contents)
            continue;
        micap_contents_clear(block->type, block->instances, block->instance_count);
        micap_release(memory, block->instances, (size_t)block->instance_count * block->type->size_bytes,
                      MICAP_ALIGNMENT);
    }
    for (uint32_t i = 0; resource->parts && i < resource->header.section_count; ++i)
        if (resource->parts[i].unpacked)
            micap_release(memory, resource->parts[i].unpacked, resource->parts[i].record.bytes, MICAP_ALIGNMENT);
    micap_release(memory, resource->blocks, resource->block_count * sizeof *resource->blocks, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->parts, resource->header.section_count * sizeof *resource->parts,
                  MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->types, resource->type_capacity * sizeof *resource->types, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->fields, resource->field_count * sizeof *resource->fields, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->constants, resource->constant_count * sizeof *resource->constants,
                  MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->positions, entity_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, resource->name_texts, entity_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
}

void mica_resource_free(mica_resource *resource)
{
    if (!resource)
        return;
    free_tables(resource);
    micap_memory memory = {.allocator = resource->memory.allocator};
    atomic_init(&memory.bytes, sizeof *resource);
    micap_release(&resource->memory, resource->copy, resource->byte_count, MICAP_ALIGNMENT);
    micap_file_unmap(&resource->mapping);
    micap_release(&memory, resource, sizeof *resource, MICAP_ARRAY_ALIGNMENT);
}

static mica_resource *create(const mica_resource_def *def, mica_resource_error *out_error)
{
    static const mica_resource_def defaults = {0};
    def = def ? def : &defaults;
    micap_memory memory;
    mica_resource *resource = NULL;
    if (micap_memory_init(&memory, def->allocator))
        resource = micap_allocate_zeroed(&memory, sizeof *resource, MICAP_ARRAY_ALIGNMENT);
    if (!resource) {
        *out_error = (mica_resource_error){.result = MICA_ERROR_MEMORY, .text = "out of memory"};
        return NULL;
    }
    micap_memory_init(&resource->memory, def->allocator);
    resource->memory_bytes_max = def->memory_bytes_max ? def->memory_bytes_max : memory_bytes_max_default;
    resource->is_foreign = def->any_byte_order; /* until the file says: whether that would be fine */
    return resource;
}

static bool read_mark(mica_resource *resource)
{
    bool takes_foreign = resource->is_foreign;
    uint32_t mark;
    if (resource->byte_count < sizeof(micap_header))
        return micap_load_fail(resource, resource->byte_count, "the file has %zu bytes, the header alone has %zu",
                               resource->byte_count, sizeof(micap_header));
    if (memcmp(resource->bytes, MICAP_MAGIC, 8) != 0)
        return micap_load_fail(resource, 0,
                               "this is not a Mica resource: it does not begin with \"MICA\\r\\n\\x1a\\n\"");
    memcpy(&mark, resource->bytes + 8, sizeof mark);
    resource->is_foreign = mark == MICAP_MARK_FOREIGN;
    if (mark != MICAP_MARK && mark != MICAP_MARK_FOREIGN)
        return micap_load_fail(resource, 8, "the byte order mark is damaged");
    if (resource->is_foreign && !takes_foreign)
        return micap_load_fail(resource, 8, "the file was compiled for %s-endian machines; compile it for this one",
                               MICAP_IS_BIG_ENDIAN ? "little" : "big");
    return true;
}

/* Bytes are copied for two reasons: sections must be aligned, and the byte order of a foreign file is converted in place. */
static bool copy_if_needed(mica_resource *resource)
{
    if (!resource->is_foreign && (uintptr_t)resource->bytes % MICAP_ALIGNMENT == 0)
        return true;
    if (resource->byte_count > resource->memory_bytes_max)
        return micap_load_fail(resource, 0, "converting the file takes %zu bytes, and %llu are allowed",
                               resource->byte_count, (unsigned long long)resource->memory_bytes_max);
    resource->copy = micap_allocate(&resource->memory, resource->byte_count, MICAP_ALIGNMENT);
    if (!resource->copy)
        return micap_load_fail_memory(resource);
    memcpy(resource->copy, resource->bytes, resource->byte_count);
    resource->bytes = resource->copy;
    return true;
}

static bool is_flat(const mica_resource *resource)
{
    if (micap_count_of(resource, MICAP_SECTION_GROUPS) != 1 || resource->child_count)
        return false;
    const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, 0);
    bool flat = group->column_count == resource->block_count;
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        const micap_component_block *block = &resource->blocks[i];
        flat &= block->role != MICAP_ROLE_SINGLETON && !block->owners && !block->disabled_count &&
                !block->references.count && !block->has_contents;
    }
    return flat;
}

static mica_resource *verify(mica_resource *resource, mica_resource_error *out_error)
{
    bool fine = read_mark(resource) && copy_if_needed(resource) && micap_verify_sections(resource) &&
                micap_verify_types(resource) && micap_verify_assets(resource) && micap_verify_components(resource) &&
                micap_verify_entities(resource) && micap_verify_values(resource) && micap_verify_state(resource);
    *out_error = resource->error;
    resource->is_flat = fine && is_flat(resource);
    if (fine)
        return resource;
    mica_resource_free(resource);
    return NULL;
}

mica_resource *mica_resource_open(const void *bytes, size_t byte_count, const mica_resource_def *def,
                                  mica_resource_error *out_error)
{
    if (byte_count && MICAP_MISSING_INTO(out_error, bytes))
        return NULL;
    mica_resource_error unheard;
    out_error = out_error ? out_error : &unheard;
    mica_resource *resource = create(def, out_error);
    if (!resource)
        return NULL;
    resource->bytes = bytes;
    resource->byte_count = byte_count;
    return verify(resource, out_error);
}

mica_resource *mica_resource_load(const char *path, const mica_resource_def *def, mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path))
        return NULL;
    mica_resource_error unheard;
    out_error = out_error ? out_error : &unheard;
    mica_resource *resource = create(def, out_error);
    if (!resource)
        return NULL;
    int problem = micap_file_map(path, &resource->mapping);
    if (problem) {
        *out_error = (mica_resource_error){.result = MICA_ERROR_FILE};
        snprintf(out_error->text, sizeof out_error->text, "%.150s: %s", path, strerror(problem));
        mica_resource_free(resource);
        return NULL;
    }
    resource->bytes = resource->mapping.bytes;
    resource->byte_count = resource->mapping.byte_count;
    return verify(resource, out_error);
}

mica_result mica_write_file(const char *path, const void *bytes, size_t byte_count, mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path) || (byte_count && MICAP_MISSING_INTO(out_error, bytes)))
        return MICA_ERROR_INVALID;
    int problem = micap_file_replace(path, bytes, byte_count);
    if (problem && out_error) {
        *out_error = (mica_resource_error){.result = MICA_ERROR_FILE};
        snprintf(out_error->text, sizeof out_error->text, "%.150s: %s", path, strerror(problem));
    }
    return problem ? MICA_ERROR_FILE : MICA_OK;
}
