/* Functions of a description alone: validation, layout hash, leaves, deep copy. */
#ifndef MICAP_TYPE_DESCRIBE_H
#define MICAP_TYPE_DESCRIBE_H

#include "type/type.h"

extern const char micap_problem_no_memory[];
extern const char micap_problem_too_big[];

/* Returns what is wrong with a description, or NULL. */
const char *micap_describe_problem(const mica_type *type);

/* The hash of the layout: size, fields, their kinds, names and places. */
uint64_t micap_describe_layout_hash(const mica_type *type);

/* Whether some bytes belong to no described field. */
bool micap_describe_has_padding(const mica_type *type);

/* Lists the leaves of a split description, in the order of the fields; returns how many there are, which may be more than
 * `capacity`. Structs are taken apart, and arrays of up to MICAP_LEAF_ARRAY_MAX numbers: x, y and z of a vector. Text and
 * longer arrays stay whole. */
uint32_t micap_describe_leaves(const mica_type *type, micap_leaf *leaves, uint32_t capacity);

/* A deep copy. False if memory is short; the caller then frees the incomplete copy. */
bool micap_describe_copy(mica_type *copy, const mica_type *type);
void micap_describe_free(mica_type *copy);

#endif
