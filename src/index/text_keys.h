/* The texts of an index of a text field. Different texts have different words, and words sort as the texts do, so that everything else in an index of
 * one field works with words (core/query/field_source.h). An update notes the texts of the rows that it is about to compare, gives words to
 * those that are new, between the words of their neighbours, and then compares. If there is no room between neighbours, all words are
 * given again, and so are those of the tracked values. Texts that are in no entity any more are freed then. */
#ifndef MICAP_INDEX_TEXT_KEYS_H
#define MICAP_INDEX_TEXT_KEYS_H

#include "index/tracked_values.h"

typedef struct micap_text_entry {
    uint64_t word; /* 0: it has none yet */
    uint64_t hash;
    uint32_t serial; /* of the update that noted it last */
    uint32_t length;
    char text[]; /* ends with a zero byte */
} micap_text_entry;

typedef struct micap_text_keys {
    micap_text_entry **sorted; /* those with a word */
    uint32_t count;
    uint32_t capacity;
    micap_text_entry **fresh; /* those without */
    uint32_t fresh_count;
    uint32_t fresh_capacity;
    micap_text_entry **slots; /* all, by hash, with linear probing */
    uint32_t slot_count;      /* a power of two, or 0 */
    uint32_t serial;
} micap_text_keys;

/* An update begins to note texts. */
void micap_text_keys_begin(micap_text_keys *keys);

/* Notes a text; false if memory is short. */
bool micap_text_keys_note(micap_memory *memory, micap_text_keys *keys, const char *text, uint32_t length);

/* Gives words to all texts that were noted. `out_is_changed`: tracked words are others now. False if memory is short: then nothing is
 * changed, and texts without a word get one later. */
bool micap_text_keys_place(micap_memory *memory, micap_text_keys *keys, micap_tracked *tracked, bool *out_is_changed);

/* The word of a text; 0 if it has none. */
uint64_t micap_text_keys_word(const micap_text_keys *keys, const char *text, uint32_t length);

/* The word of a key, or with rounding that of the next text in this direction. */
micap_key_fit micap_text_keys_fit(const micap_text_keys *keys, mica_key key, micap_rounding rounding,
                                  uint64_t *out_word);

/* The text of a word that a text has. */
const char *micap_text_keys_text(const micap_text_keys *keys, uint64_t word);

void micap_text_keys_free(micap_memory *memory, micap_text_keys *keys);

/* The first broken invariant, or NULL. */
const char *micap_text_keys_check(const micap_text_keys *keys);

#endif
