/* Ranges of values of an index of one field. */
#ifndef MICAP_INDEX_KEY_SEARCH_H
#define MICAP_INDEX_KEY_SEARCH_H

#include "index/world_index.h"

/* The words of a range; false if no value is in it, with a report if a key has the wrong kind. `function` is the public function. */
bool micap_key_range(const mica_index *index, mica_key low, mica_key high, const char *function, uint64_t *out_low,
                     uint64_t *out_high);

/* The key of a value that the index has. */
mica_key micap_index_key_of(const mica_index *index, uint64_t word);

/* Of a field that one of the indexes from `first` on has: see each_between of micap_module_ops. The index is made current first; in a
 * system it must be in the .uses, and the system must not write the component. */
bool micap_key_each_between(mica_index *first, const micap_field_range *range, micap_found_fn fn, void *context);

#endif
