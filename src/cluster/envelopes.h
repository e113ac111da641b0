/* Lists of values on their way between ranks: a value with its sender, its order and what it is for is an envelope. */
#ifndef MICAP_CLUSTER_ENVELOPES_H
#define MICAP_CLUSTER_ENVELOPES_H

#include "cluster/cluster_state.h"

/* The identity of an entity that sends something; 0, with a report in the name of the function, if it has none. */
uint64_t micap_envelopes_sender(const mica_cluster *cluster, mica_entity from, const char *function);

/* Whether a value has the size of its type, or none. */
bool micap_envelopes_fits(const mica_value *value);

/* Adds what a system sends; several may do so in parallel. Sets .order and .system. False if memory is short. */
bool micap_envelopes_post(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope, mica_value value);

/* Adds an envelope whose bytes were appended from its offset on. False if memory is short. */
bool micap_envelopes_keep(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope);

/* Adds an envelope with a copy of .byte_count bytes. False if memory is short. */
bool micap_envelopes_keep_copy(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope,
                               const char *bytes);

/* An envelope with its bytes, for sorting. */
typedef struct micap_sorted_envelope {
    micap_envelope envelope;
    const char *bytes;
} micap_sorted_envelope;

/* The envelopes in an order; NULL, with a failure of the cluster, if memory is short or there are none. Freed by the next function, with the same
 * number of envelopes. */
micap_sorted_envelope *micap_envelopes_sort(mica_cluster *cluster, const micap_envelopes *envelopes,
                                            int (*compare)(const void *a, const void *b));
void micap_envelopes_free_sorted(mica_cluster *cluster, micap_sorted_envelope *deliveries, uint32_t count);

/* Compares by a value, for functions that sort. */
static inline int micap_compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Reads the value of an envelope. False if memory is short. Whether or not it is, the value has to be cleared (micap_codec_clear_value). */
bool micap_envelopes_read(mica_cluster *cluster, const micap_sorted_envelope *delivery, const mica_type *type,
                          char *value);

/* A buffer for one value of a type; NULL, with a failure of the cluster, if memory is short. */
char *micap_envelopes_value(mica_cluster *cluster, const mica_type *type);
void micap_envelopes_free_value(mica_cluster *cluster, const mica_type *type, char *value);

void micap_envelopes_empty(micap_envelopes *envelopes);
void micap_envelopes_free(mica_cluster *cluster, micap_envelopes *envelopes);

#endif
