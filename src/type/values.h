/* The life of values: made, copied, moved and destroyed as their description says. */
#ifndef MICAP_TYPE_VALUES_H
#define MICAP_TYPE_VALUES_H

#include "base/assert.h"
#include "type/type.h"

#include <string.h>

/* The value functions with their defaults. All work on `count` values that lie one after the other. */
bool micap_values_construct(const micap_type *type, void *values, uint32_t count);
void micap_values_destruct(const micap_type *type, void *values, uint32_t count);
bool micap_values_copy(const micap_type *type, void *to, const void *from, uint32_t count);
void micap_values_move(const micap_type *type, void *to, void *from, uint32_t count);

/* Copies a value of 8 to 16 bytes as two words, which may overlap. */
static inline void micap_copy_two_words(void *to, const void *from, uint64_t bytes)
{
    uint64_t head, tail;
    memcpy(&head, from, 8);
    memcpy(&tail, (const char *)from + bytes - 8, 8);
    memcpy(to, &head, 8);
    memcpy((char *)to + bytes - 8, &tail, 8);
}

/* Copies a trivial value: in line if it has a common size, and otherwise by memcpy. */
static inline void micap_copy_trivial(void *to, const void *from, uint64_t bytes)
{
    if (MICAP_LIKELY(bytes - 8 <= 8))
        micap_copy_two_words(to, from, bytes);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

/* A value of up to 7 bytes as two words of 4 bytes that overlap, or as up to three bytes, some of them twice. */
static inline void micap_copy_short(char *to, const char *from, uint64_t bytes)
{
    if (bytes >= 4) {
        uint32_t head, tail;
        memcpy(&head, from, 4);
        memcpy(&tail, from + bytes - 4, 4);
        memcpy(to, &head, 4);
        memcpy(to + bytes - 4, &tail, 4);
    } else if (bytes) {
        char head = from[0], middle = from[bytes / 2], tail = from[bytes - 1];
        to[0] = head;
        to[bytes / 2] = middle;
        to[bytes - 1] = tail;
    }
}

typedef struct micap_word_pair {
    uint64_t low, high;
} micap_word_pair;

/* The same as micap_copy_trivial without a call, for loops over columns: the mere possibility of a call makes the compiler save the
 * state of the loop on the stack, which costs more than the copies of a common row. */
static inline void micap_copy_inline(void *to, const void *from, uint64_t bytes)
{
    char *target = to;
    const char *source = from;
    if (MICAP_LIKELY(bytes - 8 <= 8)) {
        micap_copy_two_words(to, from, bytes);
    } else if (bytes > 16) {
        micap_word_pair last;
        memcpy(&last, source + bytes - sizeof last, sizeof last);
        for (uint64_t at = 0; at < bytes - sizeof last; at += sizeof last) {
            micap_word_pair next;
            memcpy(&next, source + at, sizeof next);
            memcpy(target + at, &next, sizeof next);
        }
        memcpy(target + bytes - sizeof last, &last, sizeof last);
    } else {
        micap_copy_short(target, source, bytes);
    }
}

/* Copies a value to another place, and a third value over it. Without a call. */
static inline void micap_copy_and_replace(char *to, char *value, const char *by, uint64_t bytes)
{
    if (MICAP_LIKELY(bytes - 8 <= 8)) {
        micap_copy_two_words(to, value, bytes);
        micap_copy_two_words(value, by, bytes);
    } else if (bytes > 16) {
        micap_word_pair tail, by_tail;
        memcpy(&tail, value + bytes - sizeof tail, sizeof tail);
        memcpy(&by_tail, by + bytes - sizeof tail, sizeof tail);
        for (uint64_t at = 0; at < bytes - sizeof tail; at += sizeof tail) {
            micap_word_pair next, by_next;
            memcpy(&next, value + at, sizeof next);
            memcpy(&by_next, by + at, sizeof next);
            memcpy(to + at, &next, sizeof next);
            memcpy(value + at, &by_next, sizeof next);
        }
        memcpy(to + bytes - sizeof tail, &tail, sizeof tail);
        memcpy(value + bytes - sizeof tail, &by_tail, sizeof tail);
    } else {
        micap_copy_short(to, value, bytes);
        micap_copy_short(value, by, bytes);
    }
}

static inline bool micap_is_words(uint64_t bytes)
{
    return bytes % 4 == 0 && bytes - 4 <= 12;
}

/* Copies a value of one to four words of 4 bytes that the caller has just written, word by word: the stores are still on their way to
 * memory, and a load that is wider than the store it needs waits for them (a store-forwarding stall). */
static inline void micap_copy_words(void *to, const void *from, uint64_t bytes)
{
    typedef uint32_t MICAP_ALIASED(1) word;
    const volatile word *source = from; /* volatile: not joined to wider loads */
    word *target = to;
    target[0] = source[0];
    if (bytes == 4)
        return;
    target[1] = source[1];
    if (MICAP_LIKELY(bytes == 12)) {
        target[2] = source[2];
    } else if (bytes == 16) {
        target[2] = source[2];
        target[3] = source[3];
    }
}

/* The same for a trivial value of any size. */
static inline void micap_copy_fresh(void *to, const void *from, uint64_t bytes)
{
    if (MICAP_LIKELY(bytes == 12))
        micap_copy_words(to, from, 12);
    else if (micap_is_words(bytes))
        micap_copy_words(to, from, bytes);
    else
        micap_copy_inline(to, from, bytes);
}

/* Exchanges two trivial values. */
static inline void micap_swap_trivial(char *a, char *b, uint64_t bytes)
{
    for (; bytes >= 8; bytes -= 8, a += 8, b += 8) {
        uint64_t left, right;
        memcpy(&left, a, 8);
        memcpy(&right, b, 8);
        memcpy(a, &right, 8);
        memcpy(b, &left, 8);
    }
    if (bytes >= 4) {
        uint32_t left, right;
        memcpy(&left, a, 4);
        memcpy(&right, b, 4);
        memcpy(a, &right, 4);
        memcpy(b, &left, 4);
        bytes -= 4, a += 4, b += 4;
    }
    for (; bytes; --bytes, ++a, ++b) {
        char left = *a;
        *a = *b;
        *b = left;
    }
}

/* Fills a trivial value with zero, in line. */
static inline void micap_zero_trivial(void *to, uint64_t bytes)
{
    typedef uint64_t MICAP_ALIASED(1) word;
    char *target = to;
    if (bytes >= 8) {
        for (uint64_t at = 0; at < bytes - 8; at += 8)
            *(volatile word *)(target + at) = 0; /* volatile: not a call to memset */
        memset(target + bytes - 8, 0, 8);
    } else if (MICAP_LIKELY(bytes == 4)) {
        memset(target, 0, 4);
    } else {
        for (uint64_t at = 0; at < bytes; ++at)
            ((volatile char *)target)[at] = 0;
    }
}

#endif
