/* Values as bytes that are the same on every machine: described fields, little-endian; a text as its length and its bytes, a list as its
 * length and its elements. Fields that are not described are zero when they are read.
 *
 * Files and deltas store values like memory, with zero for text and lists. What these contain comes beside, in the same form:
 * the contents of a value are its text and lists, in order. Uses public functions of text and lists only, so that a library of its own can
 * have a second copy of this file. */
#ifndef MICAP_TYPE_VALUE_BYTES_H
#define MICAP_TYPE_VALUE_BYTES_H

#include "base/byte_stream.h"
#include "mica/describe.h"

void micap_value_put(micap_bytes *bytes, const mica_type *type, const char *value);

/* Fills a zeroed value; the reader fails if there are too few bytes, a bool is neither 0 nor 1, or memory is short. The value may own
 * something in any case. */
void micap_value_take(micap_reader *reader, const mica_type *type, char *value);

/* Replaces an entity before it is written. False ends the writing. */
typedef bool (*micap_entity_fn)(mica_entity *entity, void *context);

/* Writes the contents of a value, with the entities in it replaced if there is a function. False if that says so. */
bool micap_contents_put(micap_bytes *bytes, const mica_type *type, const char *value, micap_entity_fn fn,
                        void *context);

/* The same for a value whose text and lists are empty, which need not exist. */
void micap_contents_put_empty(micap_bytes *bytes, const mica_type *type);

/* Fills in the contents of a value that has none yet. Returns MICA_ERROR_DATA for invalid bytes, MICA_ERROR_LIMIT if they take more than
 * `*room` bytes, which is lowered by what they take, and MICA_ERROR_MEMORY. The value may own something in any case. */
mica_result micap_contents_take(micap_reader *reader, const mica_type *type, char *value, uint64_t *room);

/* An element of a list as a field, so that there is one way to treat both. */
mica_field micap_element_field(const mica_type *type);

/* Whether two texts, or two lists with elements of this type, have the same contents. */
bool micap_content_is_same(const void *a, const void *b, mica_kind kind, const mica_type *element);

/* Whether values of a type have text or lists. */
bool micap_contents_exist(const mica_type *type);

/* Makes the text and lists of values empty, and frees them. */
void micap_contents_clear(const mica_type *type, void *values, uint32_t count);

/* Sets the text and lists of a value to zero, without freeing them: for bytes of a value that stays where it is. */
void micap_contents_omit(const mica_type *type, char *value);
/* Whether they are zero. */
bool micap_contents_are_omitted(const mica_type *type, const char *value);

/* Whether a component starts with something else than zero because its description says so. */
bool micap_type_has_initial(const mica_type *type);

/* Whether values of a component are more than their described fields, text and lists: it has functions that destroy, copy or move them, or
 * no described fields at all. Files and deltas need a rule for it. */
bool micap_type_needs_rule(const mica_type *type);

/* What is reported if there is none. */
#define MICAP_NO_RULE "component %.80s has functions or no described fields, and no rule: add one, or set .skip_without_rule"

/* Attributes with their text in one block of memory. */
size_t micap_attributes_bytes(const mica_attributes *attributes);
mica_attributes *micap_attributes_copy(void *memory, const mica_attributes *attributes);

/* Called for a field in an element of a list. False ends the visit. */
typedef bool (*micap_content_fn)(void *at, void *context);

/* Visits the fields of a kind, which has a size of its own, in all elements of the lists of a value, in order. Lists that are shared are
 * copied before they are visited if the function writes. False if it says so, or memory is short. */
bool micap_contents_visit(const mica_type *type, void *value, mica_kind kind, bool writes, micap_content_fn fn,
                          void *context);

/* Whether such fields exist. */
bool micap_contents_have(const mica_type *type, mica_kind kind);

#endif
