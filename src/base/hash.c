#include "base/hash.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

static const uint64_t lane_prime = 0x9e3779b185ebca87ull;

uint64_t micap_hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *text; ++text)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
    return hash;
}

static uint64_t load_little_endian(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return MICAP_IS_BIG_ENDIAN ? MICAP_SWAP_BYTES_64(value) : value;
}

/* The lanes stay in registers: bytes may lie anywhere, so the compiler would store what it can't prove to be elsewhere. */
static void eat_stripes(micap_hasher *hasher, const uint8_t *from, size_t count)
{
    uint64_t lanes[4];
    memcpy(lanes, hasher->lanes, sizeof lanes);
    for (; count > 0; --count, from += sizeof lanes)
#pragma GCC unroll 4
        for (size_t lane = 0; lane < 4; ++lane) {
            uint64_t mixed = (lanes[lane] ^ load_little_endian(from + 8 * lane)) * lane_prime;
            lanes[lane] = mixed ^ mixed >> 29;
        }
    memcpy(hasher->lanes, lanes, sizeof lanes);
}

void micap_hasher_init(micap_hasher *hasher)
{
    memset(hasher, 0, sizeof *hasher);
    for (uint64_t lane = 0; lane < 4; ++lane)
        hasher->lanes[lane] = (lane + 1) * 0xd6e8feb86659fd93ull;
}

void micap_hasher_bytes(micap_hasher *hasher, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    size_t used = hasher->length_bytes % sizeof hasher->pending;
    hasher->length_bytes += count;
    if (used) {
        size_t room = sizeof hasher->pending - used;
        size_t taken = count < room ? count : room;
        memcpy(hasher->pending + used, from, taken);
        if (taken < room)
            return;
        eat_stripes(hasher, hasher->pending, 1);
        from += taken;
        count -= taken;
    }
    size_t stripes = count / sizeof hasher->pending, rest = count % sizeof hasher->pending;
    eat_stripes(hasher, from, stripes);
    if (rest)
        memcpy(hasher->pending, from + count - rest, rest);
}

void micap_hasher_integer(micap_hasher *hasher, uint64_t value, uint32_t bytes)
{
    uint8_t little[8];
    for (uint32_t i = 0; i < bytes; ++i)
        little[i] = (uint8_t)(value >> 8 * i);
    micap_hasher_bytes(hasher, little, bytes);
}

uint64_t micap_hasher_finish(const micap_hasher *hasher)
{
    micap_hasher last = *hasher;
    size_t used = last.length_bytes % sizeof last.pending;
    memset(last.pending + used, 0, sizeof last.pending - used);
    eat_stripes(&last, last.pending, 1);
    uint64_t hash = last.length_bytes;
    for (int lane = 0; lane < 4; ++lane)
        hash = micap_hash_mix(hash ^ last.lanes[lane]) + (uint64_t)lane;
    return hash;
}
