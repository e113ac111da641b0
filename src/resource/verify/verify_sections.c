/* The header, the section table, checksums, compression: afterwards every section is a run of bytes in native order
 * whose records lie inside it. Instances are turned later, when their types are known. */
#include "base/bits.h"
#include "resource/format/checksum.h"
#include "resource/format/compression.h"
#include "resource/verify/verify_sections.h"

#include "resource/verify/load_error.h"
#include "resource/format/byte_order.h"

#include <string.h>

static bool read_header(mica_resource *resource)
{
    micap_header *header = &resource->header;
    memcpy(header, resource->bytes, sizeof *header);
    if (resource->is_foreign)
        micap_swap_header(header);
    uint32_t section_count = header->section_count;
    header->section_count = 0; /* until there is a table */
    if (header->version_major != MICAP_VERSION_MAJOR)
        return micap_load_fail(resource, 12, "the file has version %u.%u of the format, this program knows %u",
                               header->version_major, header->version_minor, MICAP_VERSION_MAJOR);
    if (header->file_bytes != resource->byte_count)
        return micap_load_fail(resource, 16, "the file has %zu bytes and should have %llu: it was cut or appended to",
                               resource->byte_count, (unsigned long long)header->file_bytes);
    if (header->header_bytes < sizeof *header || header->header_bytes % 8 || header->section_bytes % 8 ||
        header->section_bytes < sizeof(micap_section) || section_count > MICAP_SECTIONS_MAX)
        return micap_load_fail(resource, 24, "the header or its section table has an invalid size");
    uint64_t end = header->header_bytes + (uint64_t)section_count * header->section_bytes;
    if (end > resource->byte_count)
        return micap_load_fail(resource, 28, "the section table ends after the file");
    micap_header zero_hash;
    memcpy(&zero_hash, resource->bytes, sizeof zero_hash);
    zero_hash.hash = 0;
    if (micap_checksum_of_two(&zero_hash, sizeof zero_hash, resource->bytes + sizeof zero_hash,
                              end - sizeof zero_hash) != header->hash)
        return micap_load_fail(resource, 56, "the checksum of the header and its section table does not match");
    resource->parts =
        micap_allocate_zeroed(&resource->memory, section_count * sizeof *resource->parts, MICAP_ARRAY_ALIGNMENT);
    if (!resource->parts)
        return micap_load_fail_memory(resource);
    header->section_count = section_count;
    return true;
}

static uint64_t record_offset(const mica_resource *resource, uint32_t index)
{
    return resource->header.header_bytes + (uint64_t)index * resource->header.section_bytes;
}

/* Sections follow each other without a gap except for padding, which is zero: so no two overlap, and no byte goes
 * unchecked. */
static bool place_section(mica_resource *resource, uint32_t index, uint64_t *end)
{
    micap_section *section = &resource->parts[index].record;
    uint64_t at = record_offset(resource, index), begin = micap_align_up(*end, MICAP_ALIGNMENT);
    memcpy(section, resource->bytes + at, sizeof *section);
    if (resource->is_foreign)
        micap_swap_section(section);
    if (section->offset != begin || begin > resource->byte_count ||
        section->stored_bytes > resource->byte_count - begin)
        return micap_load_fail(resource, at + 8, "section %u does not begin at %llu, or ends after the file", index,
                               (unsigned long long)begin);
    for (uint64_t i = *end; i < begin; ++i)
        if (resource->bytes[i])
            return micap_load_fail(resource, i, "the padding before section %u is not zero", index);
    if (micap_checksum(resource->bytes + begin, section->stored_bytes) != section->hash)
        return micap_load_fail(resource, begin, "the checksum of section %u does not match", index);
    *end = begin + section->stored_bytes;
    return true;
}

static bool unpack(mica_resource *resource, uint32_t index, uint64_t *unpacked_bytes)
{
    micap_part *part = &resource->parts[index];
    const micap_section *section = &part->record;
    const char *stored = resource->bytes + section->offset;
    if (!(section->flags & MICAP_SECTION_ZSTD)) {
        part->data = (char *)stored;
        return section->bytes == section->stored_bytes || micap_load_fail(resource, record_offset(resource, index) + 24,
                                                                          "the two sizes of section %u differ", index);
    }
    if (section->bytes > resource->memory_bytes_max - *unpacked_bytes)
        return micap_load_fail(resource, section->offset, "the compressed sections grow beyond the %llu bytes allowed",
                               (unsigned long long)resource->memory_bytes_max);
    *unpacked_bytes += section->bytes;
    part->unpacked = micap_allocate(&resource->memory, section->bytes, MICAP_ALIGNMENT);
    if (!part->unpacked)
        return micap_load_fail_memory(resource);
    part->data = part->unpacked;
    return micap_unpack_bytes(stored, section->stored_bytes, part->unpacked, section->bytes) ||
           micap_load_fail(resource, section->offset, "section %u can't be decompressed", index);
}

static bool read_section(mica_resource *resource, uint32_t index, uint64_t *unpacked_bytes)
{
    micap_part *part = &resource->parts[index];
    const micap_section *section = &part->record;
    uint64_t at = record_offset(resource, index);
    if (section->kind == 0 || section->kind >= MICAP_SECTION_KINDS)
        return !(section->flags & MICAP_SECTION_NEEDED) ||
               micap_load_fail(resource, at, "section %u is of the kind %u, which this program does not know and needs",
                               index, section->kind);
    micap_section_kind kind = section->kind;
    if (!unpack(resource, index, unpacked_bytes))
        return false;
    if (section->stride < micap_record_bytes(kind) || section->stride == 0 ||
        section->stride % micap_record_alignment(kind) != 0 ||
        (uint64_t)section->count * section->stride != section->bytes)
        return micap_load_fail(resource, at + 40, "section %u: %u records of %u bytes do not fill its %llu bytes",
                               index, section->count, section->stride, (unsigned long long)section->bytes);
    if (resource->is_foreign)
        micap_swap_table(kind, part->data, section->count, section->stride);
    if (kind >= MICAP_SECTION_INSTANCES && kind <= MICAP_SECTION_DISABLED)
        return true;
    if (resource->single[kind])
        return micap_load_fail(resource, at, "section %u is the second of the kind %u", index, kind);
    resource->single[kind] = part;
    return true;
}

bool micap_verify_sections(mica_resource *resource)
{
    if (!read_header(resource))
        return false;
    uint64_t end = record_offset(resource, resource->header.section_count), unpacked_bytes = 0;
    for (uint32_t i = 0; i < resource->header.section_count; ++i)
        if (!place_section(resource, i, &end))
            return false;
    if (end != resource->byte_count)
        return micap_load_fail(resource, end, "there are bytes after the last section");
    for (uint32_t i = 0; i < resource->header.section_count; ++i)
        if (!read_section(resource, i, &unpacked_bytes))
            return false;
    return true;
}
