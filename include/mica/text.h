/* Mica, text: text of any length as a field of a component.
 *
 *     typedef struct Person { mica_text name; float age; } Person;
 *     MICA_COMPONENT(Person, name, age)
 *
 *     mica_entity anna = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("Anna"), .age = 30}));
 *     mica_text_append(&mica_write(world, anna, Person)->name, " of the northern islands");
 *     puts(mica_text_get(&mica_get(world, anna, Person)->name));
 *
 * A text that is a described field of a component, or of a struct or list inside one, belongs to the world: it is copied, destroyed,
 * hashed and kept by snapshots with the component, and the program frees nothing. Up to MICA_TEXT_IN_PLACE bytes lie in the value itself,
 * longer text in a block that copies share until one of them is written.
 *
 * A loop over a column of texts is fastest if it compares the column with NULL first: then the compiler omits that test for each text.
 *
 * A text is any bytes, mostly UTF-8. All zero is the empty text. A text that is no field of a component, for example a local variable, is
 * freed with mica_text_clear, unless it comes from mica_text_of. Assigning a struct does not copy its text: both would be the same text.
 * Use mica_text_copy, or mica_set for a whole component.
 */
#ifndef MICA_TEXT_H
#define MICA_TEXT_H

#include "mica/base.h"

#include <string.h>

MICA_BEGIN

enum {
    MICA_TEXT_IN_PLACE = 14,
    MICA_TEXT_BYTES_MAX = (1 << 26) - 2,
};

/* Text of any length. */
typedef struct mica_text {
    union {
        char bytes[16]; /* in place: the text and zero; the last byte is its length */
        uint64_t words
            [2]; /* else: a pointer to the text, and its length in four bytes; the last byte is one of the following */
    } private_;
} mica_text;

enum {
    MICA_PRIVATE_TEXT_BORROWED = 0xFE, /* points to memory of the program: see mica_text_of */
    MICA_PRIVATE_TEXT_BLOCK = 0xFF,
};

/* Returns the text, which ends with a zero byte; "" for NULL. Valid until the text is written, moved or destroyed. Threads: reader. */
static inline const char *mica_text_get(const mica_text *text)
{
    if (MICA_EXPECT_(!text, 0)) {
        const char *none = "";
        MICA_ASM_("" : "+r"(none)); /* else clang has it in a register for each text of a loop */
        return none;
    }
    uint32_t length = (unsigned char)text->private_.bytes[15];
    /* Compared in a register: a comparison with memory is no single instruction with its jump, and a loop over texts takes up to twice as
     * long. */
    MICA_ASM_("" : "+r"(length));
    const char *bytes = text->private_.bytes;
    if (MICA_EXPECT_(length > MICA_TEXT_IN_PLACE, 0))
        memcpy(&bytes, text->private_.bytes, sizeof bytes);
    return bytes;
}

/* Returns the length in bytes; 0 for NULL. Threads: reader. */
static inline uint32_t mica_text_length(const mica_text *text)
{
    uint32_t length = text ? (unsigned char)text->private_.bytes[15] : 0;
    if (length > MICA_TEXT_IN_PLACE)
        memcpy(&length, text->private_.bytes + 8, sizeof length);
    return length;
}

/* Returns a text for a new component, or for mica_set; the world copies it. Do not free it or write to it. Longer text refers to
 * `characters`, which must stay valid until the copy is made. NULL is the empty text. Threads: any. */
MICA_API mica_text mica_text_of(const char *characters);

/* Sets the text to characters that end with a zero byte, or to `length` bytes, which may be a part of the text itself. Returns
 * MICA_ERROR_MEMORY or MICA_ERROR_LIMIT if there is no room; the text is unchanged then. Threads: one per text. */
MICA_API mica_result mica_text_set(mica_text *text, const char *characters);
MICA_API mica_result mica_text_set_bytes(mica_text *text, const char *bytes, size_t length);

/* Appends characters that end with a zero byte, or `length` bytes. Returns what mica_text_set returns. Threads: one per text. */
MICA_API mica_result mica_text_append(mica_text *text, const char *characters);
MICA_API mica_result mica_text_append_bytes(mica_text *text, const char *bytes, size_t length);

/* Makes `text` a copy of another, which costs the same for any length. Returns what mica_text_set returns. Threads: one per text. */
MICA_API mica_result mica_text_copy(mica_text *text, const mica_text *from);

/* Makes the text empty, and frees what it has. NULL is a no-op. Threads: one per text. */
MICA_API void mica_text_clear(mica_text *text);

/* Compares two texts byte by byte, as strcmp does: less than, equal to or greater than 0. NULL is the empty text. Threads: reader. */
MICA_API int mica_text_compare(const mica_text *a, const mica_text *b);

/* Returns whether the text is equal to characters that end with a zero byte. NULL is the empty text. Threads: reader. */
MICA_API bool mica_text_is(const mica_text *text, const char *characters);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_text_set(...) MICA_AT_(mica_text_set(__VA_ARGS__))
#    define mica_text_set_bytes(...) MICA_AT_(mica_text_set_bytes(__VA_ARGS__))
#    define mica_text_append(...) MICA_AT_(mica_text_append(__VA_ARGS__))
#    define mica_text_append_bytes(...) MICA_AT_(mica_text_append_bytes(__VA_ARGS__))
#    define mica_text_copy(...) MICA_AT_(mica_text_copy(__VA_ARGS__))
#    define mica_text_clear(...) MICA_AT_(mica_text_clear(__VA_ARGS__))
#endif

#endif
