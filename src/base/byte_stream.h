/* Writing and reading bytes, little-endian on every machine. A writer that ran out of memory and a reader that ran out of bytes stay
 * in the failed state, so that the caller checks for failure once, at the end. */
#ifndef MICAP_BASE_BYTE_STREAM_H
#define MICAP_BASE_BYTE_STREAM_H

#include "base/assert.h"
#include "base/bits.h"
#include "base/memory.h"

#include <string.h>

typedef struct micap_bytes {
    micap_memory *memory;
    char *data;
    uint32_t count;
    uint32_t capacity;
    bool failed;
} micap_bytes;

/* Appends that many bytes for the caller to fill. NULL if memory is short. */
static inline void *micap_bytes_grow(micap_bytes *bytes, size_t count)
{
    if (bytes->failed || !MICAP_RESERVE(bytes->memory, bytes->data, &bytes->capacity, (uint64_t)bytes->count + count)) {
        bytes->failed = true;
        return NULL;
    }
    void *room = bytes->data + bytes->count;
    bytes->count += (uint32_t)count;
    return room;
}

static inline void micap_bytes_put(micap_bytes *bytes, const void *from, size_t count)
{
    void *room = count ? micap_bytes_grow(bytes, count) : NULL;
    if (room)
        memcpy(room, from, count);
}

static inline uint32_t micap_little32(uint32_t value)
{
    return MICAP_IS_BIG_ENDIAN ? MICAP_SWAP_BYTES_32(value) : value;
}

static inline uint64_t micap_little64(uint64_t value)
{
    return MICAP_IS_BIG_ENDIAN ? MICAP_SWAP_BYTES_64(value) : value;
}

static inline void micap_bytes_put32(micap_bytes *bytes, uint32_t value)
{
    value = micap_little32(value);
    micap_bytes_put(bytes, &value, sizeof value);
}

static inline void micap_bytes_put64(micap_bytes *bytes, uint64_t value)
{
    value = micap_little64(value);
    micap_bytes_put(bytes, &value, sizeof value);
}

/* A number in as few bytes as it needs: seven bits in each, the lowest first; the highest bit says that more follow. */
static inline void micap_bytes_put_number(micap_bytes *bytes, uint64_t value)
{
    uint8_t digits[10];
    uint32_t count = 0;
    do
        digits[count++] = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
    while (value >>= 7);
    micap_bytes_put(bytes, digits, count);
}

/* The same for a difference, which may be negative. */
static inline void micap_bytes_put_difference(micap_bytes *bytes, uint64_t value, uint64_t from)
{
    uint64_t difference = value - from;
    micap_bytes_put_number(bytes, difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0));
}

static inline void micap_bytes_put_text(micap_bytes *bytes, const char *text)
{
    size_t count = strlen(text);
    micap_bytes_put_number(bytes, count);
    micap_bytes_put(bytes, text, count);
}

static inline void micap_bytes_free(micap_bytes *bytes)
{
    MICAP_RELEASE_ARRAY(bytes->memory, bytes->data, bytes->capacity);
    *bytes = (micap_bytes){.memory = bytes->memory};
}

typedef struct micap_reader {
    const char *begin;
    const char *at;
    const char *end;
    bool failed;
} micap_reader;

static inline size_t micap_reader_left(const micap_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* Returns the next bytes, which may be unaligned. NULL if there are fewer. */
static inline const char *micap_reader_take(micap_reader *reader, uint64_t count)
{
    if (reader->failed || count > micap_reader_left(reader)) {
        reader->failed = true;
        return NULL;
    }
    const char *bytes = reader->at;
    reader->at += count;
    return bytes;
}

static inline uint32_t micap_reader_take32(micap_reader *reader)
{
    uint32_t value = 0;
    const char *bytes = micap_reader_take(reader, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return micap_little32(value);
}

static inline uint64_t micap_reader_take64(micap_reader *reader)
{
    uint64_t value = 0;
    const char *bytes = micap_reader_take(reader, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    return micap_little64(value);
}

static inline uint64_t micap_reader_take_number(micap_reader *reader)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        const char *digit = micap_reader_take(reader, 1);
        if (!digit)
            return 0;
        value |= (uint64_t)(*digit & 0x7F) << shift;
        if (!(*digit & 0x80))
            return value;
    }
    reader->failed = true;
    return 0;
}

static inline uint64_t micap_reader_take_difference(micap_reader *reader, uint64_t from)
{
    uint64_t value = micap_reader_take_number(reader);
    return from + (value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* A number that is at most `max`, or the reader fails. */
static inline uint64_t micap_reader_take_up_to(micap_reader *reader, uint64_t max)
{
    uint64_t value = micap_reader_take_number(reader);
    if (value <= max)
        return value;
    reader->failed = true;
    return 0;
}

/* A text that is not ended by a zero byte; NULL if the reader failed. */
static inline const char *micap_reader_take_text(micap_reader *reader, size_t *out_count)
{
    *out_count = (size_t)micap_reader_take_up_to(reader, micap_reader_left(reader));
    return micap_reader_take(reader, *out_count);
}

static inline bool micap_is_same_text(const char *text, size_t count, const char *other)
{
    return strlen(other) == count && memcmp(text, other, count) == 0;
}

#endif
