/* UTF-8: whether bytes are valid characters. */
#ifndef MICAP_BASE_UTF8_H
#define MICAP_BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the length of the character in bytes, or 0 if it is invalid: overlong, a surrogate, or above U+10FFFF (RFC 3629). */
static inline uint32_t micap_character_bytes(const unsigned char *at, uint64_t left)
{
    unsigned char first = at[0];
    uint32_t bytes = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (bytes == 0 || bytes > left)
        return 0;
    for (uint32_t i = 1; i < bytes; ++i)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) || (first == 0xF0 && at[1] < 0x90) ||
        (first == 0xF4 && at[1] > 0x8F))
        return 0;
    return bytes;
}

static inline bool micap_is_utf8(const char *text)
{
    uint64_t left = strlen(text);
    for (const unsigned char *at = (const unsigned char *)text; left;) {
        uint32_t bytes = micap_character_bytes(at, left);
        if (!bytes)
            return false;
        at += bytes;
        left -= bytes;
    }
    return true;
}

#endif
