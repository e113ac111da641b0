/* The file that lists the parts of a save: text, with a checksum at its end. The parts are beside it, in the files
 * <manifest>.<generation>.<rank>. A new save has new parts, so that the old one is complete until its manifest is replaced. */
#ifndef MICAP_CLUSTER_MANIFEST_H
#define MICAP_CLUSTER_MANIFEST_H

#include "base/byte_stream.h"
#include "mica/resource.h"
#include "os/file.h"

enum { MICAP_MANIFEST_PATH_BYTES = 4096, MICAP_MANIFEST_TEXT_BYTES = 600 };

typedef struct micap_manifest_part {
    uint64_t byte_count;
    uint64_t checksum;
    uint64_t entity_count; /* shared entities */
} micap_manifest_part;

typedef struct micap_manifest {
    micap_memory *memory;
    uint64_t generation;
    uint64_t tick;
    uint64_t seed;
    micap_manifest_part *parts;
    uint32_t part_count, part_capacity;
} micap_manifest;

/* A part that was opened and verified. */
typedef struct micap_part_file {
    micap_mapping mapping;
    mica_resource *resource;
} micap_part_file;

/* False if memory is short. */
bool micap_manifest_reserve(micap_manifest *manifest, uint32_t part_count);
void micap_manifest_free(micap_manifest *manifest);

void micap_manifest_put(const micap_manifest *manifest, micap_bytes *out);

/* Reads a manifest, from bytes or from a file. NULL, or what is wrong; the caller frees it in either case. */
const char *micap_manifest_parse(micap_manifest *manifest, const char *bytes, size_t byte_count);
const char *micap_manifest_load(micap_manifest *manifest, const char *path);

/* Writes the path of a part. False if it is too long. */
bool micap_manifest_part_path(const char *path, uint64_t generation, uint32_t part,
                              char out_path[MICAP_MANIFEST_PATH_BYTES]);

uint64_t micap_manifest_checksum(const void *bytes, size_t byte_count);

/* Opens a part and compares it with the manifest. False with a text that names it. Close it in either case. */
bool micap_part_file_open(micap_part_file *file, const micap_manifest *manifest, const char *path, uint32_t part,
                          char out_text[MICAP_MANIFEST_TEXT_BYTES]);
void micap_part_file_close(micap_part_file *file);

#endif
