/* Checksums and compression: the one place that knows xxhash and zstd. */
#ifndef MICAP_RESOURCE_FORMAT_COMPRESSION_H
#define MICAP_RESOURCE_FORMAT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* XXH3 with 64 bits and seed 0; of two runs of bytes as if they were one. */
uint64_t micap_checksum(const void *bytes, size_t byte_count);
uint64_t micap_checksum_of_two(const void *first, size_t first_count, const void *second, size_t second_count);

/* The same of bytes that come one after the other. */
typedef struct micap_checksummer {
    _Alignas(64) unsigned char state[640];
} micap_checksummer;

void micap_checksum_begin(micap_checksummer *checksummer);
void micap_checksum_add(micap_checksummer *checksummer, const void *bytes, size_t byte_count);
uint64_t micap_checksum_end(const micap_checksummer *checksummer);

size_t micap_packed_bytes_max(size_t byte_count);
/* Returns the size, or 0 when it can't. The same bytes and level give the same result. */
size_t micap_pack_bytes(const void *bytes, size_t byte_count, int level, void *out, size_t capacity);
/* True when the frame holds exactly that many bytes. */
bool micap_unpack_bytes(const void *packed, size_t packed_count, void *out, size_t byte_count);

#endif
