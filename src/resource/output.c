/* From sections to bytes: turned for the target, compressed, checksummed, laid out. */
#include "base/bits.h"
#include "base/hash.h"
#include "resource/draft.h"
#include "resource/packing.h"
#include "resource/swap.h"

#include <string.h>

void *micap_output_add(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count,
                       uint32_t stride)
{
    size_t bytes = (size_t)count * stride;
    char *data = NULL;
    if (MICAP_RESERVE(&draft->memory, output->sections, &output->capacity, (uint64_t)output->count + 1))
        data = micap_allocate_zeroed(&draft->memory, bytes, MICAP_ALIGNMENT);
    if (!data) {
        micap_draft_refuse_memory(draft);
        return NULL;
    }
    micap_section record = {.kind = kind, .stored_bytes = bytes, .bytes = bytes, .count = count, .stride = stride};
    output->sections[output->count++] = (struct micap_output_section){record, data, bytes};
    return data;
}

void micap_output_free(micap_output *output, mica_draft *draft)
{
    for (uint32_t i = 0; i < output->count; ++i)
        micap_release(&draft->memory, output->sections[i].data, output->sections[i].allocated, MICAP_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&draft->memory, output->sections, output->capacity);
}

/* Instances are told apart by the component that names their section, and its type by the draft's part. */
static bool swap_instances(micap_output *output, mica_draft *draft, const micap_component_record *record)
{
    const micap_draft_part *part = draft->parts;
    if (record->instances == MICAP_NONE)
        return true;
    while (micap_hash_text(part->name) != record->name_hash)
        ++part;
    micap_leaves leaves;
    bool fine = micap_leaves_make(&leaves, &draft->memory, part->type);
    if (fine)
        micap_leaves_swap(&leaves, part->type->size_bytes, output->sections[record->instances].data,
                          record->instance_count);
    micap_leaves_free(&leaves, &draft->memory);
    return fine || micap_draft_refuse_memory(draft);
}

static bool swap_all(micap_output *output, mica_draft *draft)
{
    for (uint32_t i = 0; i < output->count; ++i) {
        const micap_section *section = &output->sections[i].record;
        const micap_component_record *records = (const void *)output->sections[i].data;
        for (uint32_t at = 0; section->kind == MICAP_SECTION_COMPONENTS && at < section->count; ++at)
            if (!swap_instances(output, draft, &records[at]))
                return false;
    }
    for (uint32_t i = 0; i < output->count; ++i) {
        const micap_section *section = &output->sections[i].record;
        micap_swap_table(section->kind, output->sections[i].data, section->count, section->stride);
    }
    return true;
}

/* A section that does not become smaller stays as it is. */
static bool compress(struct micap_output_section *section, mica_draft *draft, int level)
{
    size_t capacity = micap_packed_bytes_max(section->record.bytes);
    char *packed = micap_allocate(&draft->memory, capacity, MICAP_ALIGNMENT);
    if (!packed)
        return micap_draft_refuse_memory(draft);
    size_t bytes = micap_pack_bytes(section->data, section->record.bytes, level, packed, capacity);
    if (bytes == 0 || bytes >= section->record.bytes) {
        micap_release(&draft->memory, packed, capacity, MICAP_ALIGNMENT);
        return true;
    }
    micap_release(&draft->memory, section->data, section->allocated, MICAP_ALIGNMENT);
    section->data = packed;
    section->allocated = capacity;
    section->record.stored_bytes = bytes;
    section->record.flags |= MICAP_SECTION_ZSTD;
    return true;
}

static uint64_t lay_out(micap_output *output)
{
    uint64_t end = sizeof(micap_header) + output->count * sizeof(micap_section);
    for (uint32_t i = 0; i < output->count; ++i) {
        micap_section *section = &output->sections[i].record;
        section->offset = micap_align_up(end, MICAP_ALIGNMENT);
        section->hash = micap_checksum(output->sections[i].data, section->stored_bytes);
        end = section->offset + section->stored_bytes;
    }
    return end;
}

static void write_bytes(const micap_output *output, micap_header header, bool is_foreign, char *bytes)
{
    memset(bytes, 0, header.file_bytes);
    char *table = bytes + sizeof header;
    for (uint32_t i = 0; i < output->count; ++i, table += sizeof(micap_section)) {
        micap_section record = output->sections[i].record;
        memcpy(bytes + record.offset, output->sections[i].data, record.stored_bytes);
        if (is_foreign)
            micap_swap_section(&record);
        memcpy(table, &record, sizeof record);
    }
    if (is_foreign)
        micap_swap_header(&header);
    memcpy(bytes, &header, sizeof header);
    uint64_t hash = micap_checksum(bytes, (size_t)(table - bytes));
    header.hash = is_foreign ? __builtin_bswap64(hash) : hash;
    memcpy(bytes, &header, sizeof header);
}

bool micap_output_finish(micap_output *output, mica_draft *draft, int compression, bool is_foreign, mica_blob *out)
{
    if (is_foreign && !swap_all(output, draft))
        return false;
    for (uint32_t i = 0; compression && i < output->count; ++i)
        if (!compress(&output->sections[i], draft, compression))
            return false;
    bool has_assets = false;
    for (uint32_t i = 0; i < output->count; ++i)
        has_assets |= output->sections[i].record.kind == MICAP_SECTION_ASSETS;
    micap_header header = {.mark = MICAP_MARK,
                           .version_major = MICAP_VERSION_MAJOR,
                           .version_minor = has_assets ? MICAP_VERSION_MINOR_ASSETS : MICAP_VERSION_MINOR,
                           .header_bytes = sizeof header,
                           .section_count = output->count,
                           .section_bytes = sizeof(micap_section),
                           .entity_count = draft->entity_count};
    memcpy(header.magic, MICAP_MAGIC, sizeof header.magic);
    header.file_bytes = lay_out(output);
    mica_allocator allocator = draft->memory.allocator;
    char *bytes = allocator.allocate(header.file_bytes, MICAP_ALIGNMENT, allocator.context);
    if (!bytes)
        return micap_draft_refuse_memory(draft);
    write_bytes(output, header, is_foreign, bytes);
    *out = (mica_blob){bytes, header.file_bytes, allocator};
    return true;
}

void mica_blob_free(mica_blob *blob)
{
    if (blob->bytes)
        blob->private_allocator.release(blob->bytes, blob->byte_count, MICAP_ALIGNMENT,
                                        blob->private_allocator.context);
    *blob = (mica_blob){0};
}
