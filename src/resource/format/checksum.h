/* Checksums of a file, its header and its sections: the one place that uses xxhash. */
#ifndef MICAP_RESOURCE_FORMAT_CHECKSUM_H
#define MICAP_RESOURCE_FORMAT_CHECKSUM_H

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

#endif
