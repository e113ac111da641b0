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

/* Values of 4 or of 8 to 16 bytes are small: they are copied in line, as two halves that may overlap. A call to memcpy
 * costs more than everything else of a row move, and that it might come makes the compiler keep all it knows on the stack:
 * loops over columns therefore have a version for archetypes of small components, without a call in it. */
static inline bool micap_is_small(uint64_t bytes)
{
    return bytes == 4 || (bytes >= 8 && bytes <= 16);
}

static inline void micap_copy_small(void *to, const void *from, uint64_t bytes)
{
    if (MICAP_LIKELY(bytes >= 8)) {
        uint64_t head, tail;
        memcpy(&head, from, 8);
        memcpy(&tail, (const char *)from + bytes - 8, 8);
        memcpy(to, &head, 8);
        memcpy((char *)to + bytes - 8, &tail, 8);
    } else {
        memcpy(to, from, 4);
    }
}

/* Copies a value that the caller has just written, word by word: the stores are still on their way, and a load that is
 * wider than the store it needs would have to wait for memory (a store-forwarding stall). */
static inline void micap_copy_few_words(void *to, const void *from, uint64_t bytes)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) word;
    const volatile word *source = from; /* volatile: or the compiler makes wide loads of it again */
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

/* The same for any size. */
static inline void micap_copy_bytes(void *to, const void *from, uint32_t bytes)
{
    if (micap_is_small(bytes))
        micap_copy_small(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static inline void micap_copy_fresh_bytes(void *to, const void *from, uint32_t bytes)
{
    if (micap_is_few_words(bytes))
        micap_copy_few_words(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif
