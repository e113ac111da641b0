/* Lists of values on their way between ranks. */
#ifndef MICAP_CLUSTER_LETTERS_H
#define MICAP_CLUSTER_LETTERS_H

#include "cluster/cluster_state.h"

/* The identity of an entity that sends something; 0, with a report in the name of the function, if it has none. */
uint64_t micap_letters_sender(const mica_cluster *cluster, mica_entity from, const char *function);

/* Adds what a system sends; several may do so in parallel. Sets .order and .system. False if memory is short. */
bool micap_letters_post(mica_cluster *cluster, micap_letters *letters, micap_letter letter, mica_value value);

/* Adds a letter whose bytes were appended from its offset on. False if memory is short. */
bool micap_letters_keep(mica_cluster *cluster, micap_letters *letters, micap_letter letter);

/* Adds a letter with a copy of .byte_count bytes. False if memory is short. */
bool micap_letters_keep_copy(mica_cluster *cluster, micap_letters *letters, micap_letter letter, const char *bytes);

/* A letter with its bytes, for sorting. */
typedef struct micap_sorted_letter {
    micap_letter letter;
    const char *bytes;
} micap_sorted_letter;

/* The letters in an order; NULL, with a failure of the cluster, if memory is short or there are none. Freed by the next function, with the same
 * number of letters. */
micap_sorted_letter *micap_letters_sort(mica_cluster *cluster, const micap_letters *letters,
                                        int (*compare)(const void *a, const void *b));
void micap_letters_free_sorted(mica_cluster *cluster, micap_sorted_letter *deliveries, uint32_t count);

/* Compares by a value, for functions that sort. */
static inline int micap_compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Reads the value of a letter. False if memory is short. Whether or not it is, the value has to be cleared (micap_codec_clear_value). */
bool micap_letters_read(mica_cluster *cluster, const micap_sorted_letter *delivery, const mica_type *type, char *value);

/* A buffer for one value of a type; NULL, with a failure of the cluster, if memory is short. */
char *micap_letters_value(mica_cluster *cluster, const mica_type *type);
void micap_letters_free_value(mica_cluster *cluster, const mica_type *type, char *value);

void micap_letters_empty(micap_letters *letters);
void micap_letters_free(mica_cluster *cluster, micap_letters *letters);

#endif
