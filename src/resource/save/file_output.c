/* From sections to bytes: turned for the target, compressed, laid out, and written with their checksums, which stand before them
 * in the file: so the head comes last. */
#include "base/assert.h"
#include "base/bits.h"
#include "resource/save/file_output.h"
#include "resource/format/checksum.h"
#include "resource/format/compression.h"
#include "resource/format/byte_order.h"

#include <string.h>

/* How much is filled and checksummed while it is in the cache, and how much is written per call: a call takes microseconds, however
 * small the write. Writes begin at multiples of their size, so that the file lies in large pages of the cache of the system. */
enum { BATCH_BYTES = 1 << 15, BUFFER_BYTES = 1 << 20 };

static struct micap_output_section *add_section(micap_output *output, mica_draft *draft, micap_section record)
{
    if (!MICAP_RESERVE(&draft->memory, output->sections, &output->capacity, (uint64_t)output->count + 1))
        return micap_draft_refuse_memory(draft), NULL;
    record.stored_bytes = record.bytes = (uint64_t)record.count * record.stride;
    output->sections[output->count] = (struct micap_output_section){.record = record};
    return &output->sections[output->count++];
}

void *micap_output_add(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count,
                       uint32_t stride)
{
    struct micap_output_section *section =
        add_section(output, draft, (micap_section){.kind = kind, .count = count, .stride = stride});
    if (!section)
        return NULL;
    section->allocated = section->record.bytes;
    section->data = micap_allocate_zeroed(&draft->memory, section->allocated, MICAP_ALIGNMENT);
    if (!section->data)
        micap_draft_refuse_memory(draft);
    return section->data;
}

bool micap_output_add_source(micap_output *output, micap_instance_source *source)
{
    struct micap_output_section *section = add_section(output, source->draft,
                                                       (micap_section){.kind = MICAP_SECTION_INSTANCES,
                                                                       .count = source->part->count,
                                                                       .stride = source->part->type->size_bytes});
    if (section)
        section->source = source;
    return section != NULL;
}

bool micap_output_add_nones(micap_output *output, mica_draft *draft, micap_section_kind kind, uint32_t count)
{
    return add_section(output, draft, (micap_section){.kind = kind, .count = count, .stride = sizeof(uint32_t)});
}

void micap_output_free(micap_output *output, mica_draft *draft)
{
    for (uint32_t i = 0; i < output->count; ++i)
        micap_release(&draft->memory, output->sections[i].data, output->sections[i].allocated, MICAP_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&draft->memory, output->sections, output->capacity);
}

/* The stored bytes from `done` on; a source gives its instances one after the other. */
static bool fill(const struct micap_output_section *section, uint64_t done, char *out, size_t bytes)
{
    if (section->data)
        memcpy(out, section->data + done, bytes);
    else if (section->source)
        return micap_instance_source_fill(section->source, out, (uint32_t)(bytes / section->record.stride));
    else
        memset(out, 0xFF, bytes);
    return true;
}

static void turn(micap_output *output)
{
    for (uint32_t i = 0; i < output->count; ++i) {
        struct micap_output_section *section = &output->sections[i];
        if (section->source)
            section->source->is_foreign = true;
        else if (section->data)
            micap_swap_table(section->record.kind, section->data, section->record.count, section->record.stride);
    }
}

/* A section that does not become smaller stays as it is. */
static bool compress(struct micap_output_section *section, mica_draft *draft, int level)
{
    micap_memory *memory = &draft->memory;
    size_t bytes = section->record.bytes, capacity = micap_packed_bytes_max(bytes);
    char *plain = section->data ? section->data : micap_allocate(memory, bytes, MICAP_ALIGNMENT);
    char *packed = micap_allocate(memory, capacity, MICAP_ALIGNMENT);
    bool fine = (plain && packed) || micap_draft_refuse_memory(draft);
    fine = fine && (section->data || fill(section, 0, plain, bytes));
    size_t packed_bytes = fine ? micap_pack_bytes(plain, bytes, level, packed, capacity) : 0;
    bool is_smaller = packed_bytes && packed_bytes < bytes;
    micap_release(memory, is_smaller ? NULL : packed, capacity, MICAP_ALIGNMENT);
    if (is_smaller) {
        micap_release(memory, plain, bytes, MICAP_ALIGNMENT);
        section->data = packed;
        section->allocated = capacity;
        section->record.stored_bytes = packed_bytes;
        section->record.flags |= MICAP_SECTION_ZSTD;
    } else if (plain) {
        section->data = plain;
        section->allocated = bytes;
    }
    return fine;
}

static size_t head_bytes(const micap_output *output)
{
    return sizeof(micap_header) + output->count * sizeof(micap_section);
}

bool micap_output_lay_out(micap_output *output, mica_draft *draft, const mica_draft_finish_def *def)
{
    output->is_foreign = def->byte_order == (MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_LITTLE : MICA_BYTE_ORDER_BIG);
    if (output->is_foreign)
        turn(output);
    for (uint32_t i = 0; def->compression && i < output->count; ++i)
        if (!compress(&output->sections[i], draft, def->compression))
            return false;
    uint16_t minor = MICAP_VERSION_MINOR;
    uint64_t end = head_bytes(output);
    for (uint32_t i = 0; i < output->count; ++i) {
        micap_section *section = &output->sections[i].record;
        section->offset = micap_align_up(end, MICAP_ALIGNMENT);
        end = section->offset + section->stored_bytes;
        if (section->kind == MICAP_SECTION_STATE || section->kind == MICAP_SECTION_CONTENTS)
            minor = MICAP_VERSION_MINOR_STATE;
        else if (section->kind == MICAP_SECTION_ASSETS && minor < MICAP_VERSION_MINOR_ASSETS)
            minor = MICAP_VERSION_MINOR_ASSETS;
    }
    output->header = (micap_header){.mark = MICAP_MARK,
                                    .version_major = MICAP_VERSION_MAJOR,
                                    .version_minor = minor,
                                    .file_bytes = end,
                                    .header_bytes = sizeof(micap_header),
                                    .section_count = output->count,
                                    .section_bytes = sizeof(micap_section),
                                    .entity_count = draft->entity_count};
    memcpy(output->header.magic, MICAP_MAGIC, sizeof output->header.magic);
    return true;
}

/* Room for the head, and for any record: these are filled in as a whole. */
size_t micap_output_buffer_bytes(const micap_output *output)
{
    uint64_t file_bytes = output->header.file_bytes;
    size_t most = head_bytes(output) > BATCH_BYTES ? head_bytes(output) : BATCH_BYTES;
    for (uint32_t i = 0; i < output->count; ++i)
        if (output->sections[i].record.stride > most)
            most = output->sections[i].record.stride;
    return file_bytes < BUFFER_BYTES + most ? file_bytes : BUFFER_BYTES + most;
}

/* Writes the first bytes of the buffer. */
static bool empty(micap_sink *sink, size_t bytes)
{
    sink->problem = micap_replacement_write(sink->file, sink->offset, sink->buffer, bytes);
    sink->offset += bytes;
    sink->filled -= bytes;
    memmove(sink->buffer, sink->buffer + bytes, sink->filled);
    return sink->problem == 0;
}

/* Room for so many bytes, to be filled in; NULL when the file has a problem. */
static char *take(micap_sink *sink, size_t bytes)
{
    size_t whole = sink->filled / BUFFER_BYTES * BUFFER_BYTES; /* there is room for the rest and for any record */
    if (sink->filled + bytes > sink->capacity && !empty(sink, whole))
        return NULL;
    sink->filled += bytes;
    return sink->buffer + sink->filled - bytes;
}

static bool write_section(struct micap_output_section *section, micap_sink *sink)
{
    micap_section *record = &section->record;
    uint64_t unit = section->data ? 1 : record->stride;
    size_t batch = unit < BATCH_BYTES ? BATCH_BYTES / unit * unit : unit;
    size_t padding = record->offset - (sink->offset + sink->filled);
    char *at = take(sink, padding);
    if (at)
        memset(at, 0, padding);
    micap_checksummer checksum;
    micap_checksum_begin(&checksum);
    for (uint64_t done = 0, bytes; at && done < record->stored_bytes; done += bytes) {
        uint64_t left = record->stored_bytes - done;
        bytes = left < batch ? left : batch;
        at = take(sink, bytes);
        if (!at || !fill(section, done, at, bytes))
            return false;
        micap_checksum_add(&checksum, at, bytes);
    }
    record->hash = micap_checksum_end(&checksum);
    return at != NULL;
}

static void write_head(const micap_output *output, char *head)
{
    micap_header header = output->header;
    for (uint32_t i = 0; i < output->count; ++i) {
        micap_section record = output->sections[i].record;
        if (output->is_foreign)
            micap_swap_section(&record);
        memcpy(head + sizeof header + i * sizeof record, &record, sizeof record);
    }
    if (output->is_foreign)
        micap_swap_header(&header);
    memcpy(head, &header, sizeof header);
    uint64_t hash = micap_checksum(head, head_bytes(output));
    header.hash = output->is_foreign ? MICAP_SWAP_BYTES_64(hash) : hash;
    memcpy(head, &header, sizeof header);
}

bool micap_output_write(micap_output *output, micap_sink *sink)
{
    sink->filled = head_bytes(output); /* which fits, and is filled in at the end */
    memset(sink->buffer, 0, sink->filled);
    for (uint32_t i = 0; i < output->count; ++i)
        if (!write_section(&output->sections[i], sink))
            return false;
    bool has_head = sink->offset == 0; /* what is in the buffer, that is */
    if (!has_head && !empty(sink, sink->filled))
        return false;
    write_head(output, sink->buffer);
    if (!has_head) {
        sink->offset = 0;
        sink->filled = head_bytes(output);
    }
    return !sink->file || empty(sink, sink->filled);
}

void mica_blob_free(mica_blob *blob)
{
    if (!blob)
        return;
    if (blob->bytes)
        blob->private_allocator.release(blob->bytes, blob->byte_count, MICAP_ALIGNMENT,
                                        blob->private_allocator.context);
    *blob = (mica_blob){0};
}
