#include "cluster/manifest.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

static const char title[] = "mica cluster save 1\n";

enum { LINE_BYTES_MAX = 160, PARTS_MAX = 1 << 24 };

bool micap_manifest_reserve(micap_manifest *manifest, uint32_t part_count)
{
    return MICAP_RESERVE(manifest->memory, manifest->parts, &manifest->part_capacity, part_count);
}

void micap_manifest_free(micap_manifest *manifest)
{
    MICAP_RELEASE_ARRAY(manifest->memory, manifest->parts, manifest->part_capacity);
    *manifest = (micap_manifest){.memory = manifest->memory};
}

uint64_t micap_manifest_checksum(const void *bytes, size_t byte_count)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes, byte_count);
    return micap_hasher_finish(&hasher);
}

void micap_manifest_put(const micap_manifest *manifest, micap_bytes *out)
{
    char line[LINE_BYTES_MAX];
    micap_bytes_put(out, title, strlen(title));
    snprintf(line, sizeof line, "generation %" PRIu64 "\ntick %" PRIu64 "\nseed %" PRIu64 "\nparts %" PRIu32 "\n",
             manifest->generation, manifest->tick, manifest->seed, manifest->part_count);
    micap_bytes_put(out, line, strlen(line));
    for (uint32_t i = 0; i < manifest->part_count; ++i) {
        const micap_manifest_part *part = &manifest->parts[i];
        snprintf(line, sizeof line, "part %" PRIu32 " bytes %" PRIu64 " checksum %016" PRIx64 " entities %" PRIu64 "\n",
                 i, part->byte_count, part->checksum, part->entity_count);
        micap_bytes_put(out, line, strlen(line));
    }
    if (out->failed)
        return;
    snprintf(line, sizeof line, "end %016" PRIx64 "\n", micap_manifest_checksum(out->data, out->count));
    micap_bytes_put(out, line, strlen(line));
}

/* The rest of a text. */
typedef struct text_reader {
    const char *at, *end;
} text_reader;

/* Takes the next line without its end. False if there is none, or a longer one than a manifest has. */
static bool take_line(text_reader *reader, char out_line[LINE_BYTES_MAX])
{
    const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if (!end || end - reader->at >= LINE_BYTES_MAX)
        return false;
    memcpy(out_line, reader->at, (size_t)(end - reader->at));
    out_line[end - reader->at] = 0;
    reader->at = end + 1;
    return true;
}

/* Takes a line with a name and a number. */
static bool take_number(text_reader *reader, const char *name, uint64_t *out)
{
    char line[LINE_BYTES_MAX], found[16];
    return take_line(reader, line) && sscanf(line, "%15s %" SCNu64, found, out) == 2 && !strcmp(found, name);
}

static bool take_part(text_reader *reader, uint32_t number, micap_manifest_part *out)
{
    char line[LINE_BYTES_MAX];
    uint32_t found = 0;
    return take_line(reader, line) &&
           sscanf(line, "part %" SCNu32 " bytes %" SCNu64 " checksum %" SCNx64 " entities %" SCNu64, &found,
                  &out->byte_count, &out->checksum, &out->entity_count) == 4 &&
           found == number;
}

const char *micap_manifest_parse(micap_manifest *manifest, const char *bytes, size_t byte_count)
{
    static const char malformed[] = "it is malformed or cut off";
    text_reader reader = {bytes, bytes + byte_count};
    char line[LINE_BYTES_MAX];
    uint64_t part_count = 0, checksum = 0;
    if (byte_count < strlen(title) || memcmp(bytes, title, strlen(title)) != 0)
        return "it is not the save of a cluster";
    reader.at += strlen(title);
    if (!take_number(&reader, "generation", &manifest->generation) || !take_number(&reader, "tick", &manifest->tick) ||
        !take_number(&reader, "seed", &manifest->seed) || !take_number(&reader, "parts", &part_count) || !part_count ||
        part_count > PARTS_MAX || part_count > byte_count)
        return malformed;
    if (!micap_manifest_reserve(manifest, (uint32_t)part_count))
        return "memory is short";
    for (; manifest->part_count < part_count; ++manifest->part_count)
        if (!take_part(&reader, manifest->part_count, &manifest->parts[manifest->part_count]))
            return malformed;
    size_t counted = (size_t)(reader.at - bytes);
    if (!take_line(&reader, line) || sscanf(line, "end %" SCNx64, &checksum) != 1 || reader.at != reader.end)
        return malformed;
    return checksum == micap_manifest_checksum(bytes, counted) ? NULL : "its checksum is wrong";
}

const char *micap_manifest_load(micap_manifest *manifest, const char *path)
{
    micap_mapping mapping;
    if (micap_file_map(path, &mapping))
        return "it can't be read";
    const char *problem = mapping.byte_count ? micap_manifest_parse(manifest, mapping.bytes, mapping.byte_count)
                                             : "it is not the save of a cluster";
    micap_file_unmap(&mapping);
    return problem;
}

bool micap_manifest_part_path(const char *path, uint64_t generation, uint32_t part,
                              char out_path[MICAP_MANIFEST_PATH_BYTES])
{
    int count = snprintf(out_path, MICAP_MANIFEST_PATH_BYTES, "%s.%" PRIu64 ".%" PRIu32, path, generation, part);
    return count < MICAP_MANIFEST_PATH_BYTES;
}

/* NULL, or what is wrong. */
static const char *open_part(micap_part_file *file, const micap_manifest_part *part, const char *path,
                             mica_resource_error *out_error)
{
    if (micap_file_map(path, &file->mapping))
        return "its file can't be read";
    if (file->mapping.byte_count != part->byte_count)
        return file->mapping.byte_count < part->byte_count ? "its file is truncated" : "its file is too long";
    if (!part->byte_count || micap_manifest_checksum(file->mapping.bytes, part->byte_count) != part->checksum)
        return "its checksum is wrong";
    file->resource = mica_resource_open(file->mapping.bytes, file->mapping.byte_count,
                                        &(mica_resource_def){.any_byte_order = true}, out_error);
    return file->resource ? NULL : out_error->text;
}

bool micap_part_file_open(micap_part_file *file, const micap_manifest *manifest, const char *path, uint32_t part,
                          char out_text[MICAP_MANIFEST_TEXT_BYTES])
{
    char part_path[MICAP_MANIFEST_PATH_BYTES];
    mica_resource_error error = {0};
    *file = (micap_part_file){0};
    const char *problem = micap_manifest_part_path(path, manifest->generation, part, part_path)
                              ? open_part(file, &manifest->parts[part], part_path, &error)
                              : "the path is too long";
    if (problem)
        snprintf(out_text, MICAP_MANIFEST_TEXT_BYTES, "part %" PRIu32 " of the save, %.200s, is rejected: %s", part,
                 part_path, problem);
    return !problem;
}

void micap_part_file_close(micap_part_file *file)
{
    mica_resource_free(file->resource);
    if (file->mapping.bytes)
        micap_file_unmap(&file->mapping);
    *file = (micap_part_file){0};
}
