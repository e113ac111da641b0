/* Hashes. The text hash is FNV-1a, 64 bits: it identifies components in files, so it is part of the format. The hasher
 * hashes a stream of bytes, in pieces of any size, with the same result on every machine. Neither is secure against attackers. */
#ifndef MICAP_BASE_HASH_H
#define MICAP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t micap_hash_text(const char *text);

/* Spreads every bit of the input over the whole output (the finalizer of MurmurHash3). */
static inline uint64_t micap_hash_mix(uint64_t value)
{
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdull;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53ull;
    return value ^ value >> 33;
}

/* Four lanes of 8 bytes keep four multiplications in flight. */
typedef struct micap_hasher {
    uint64_t lanes[4];
    uint64_t length_bytes;
    uint8_t pending[32];
} micap_hasher;

void micap_hasher_init(micap_hasher *hasher);
void micap_hasher_bytes(micap_hasher *hasher, const void *bytes, size_t count);
/* The value as `bytes` little-endian bytes, whatever the machine's order. */
void micap_hasher_integer(micap_hasher *hasher, uint64_t value, uint32_t bytes);
uint64_t micap_hasher_finish(const micap_hasher *hasher);

#endif
