/* Attributes of fields: ranges, and values that fields start with.
 *
 * A component with initial values has a construct function that the library derives: it copies `initial` of its micap_type. Such values
 * are still trivial, so what makes fresh values must ask for a construct function before it fills them with zero. */
#ifndef MICAP_TYPE_ATTRIBUTES_H
#define MICAP_TYPE_ATTRIBUTES_H

#include "mica/value.h"
#include "type/type.h"

/* What is wrong with the attributes of a field, or NULL. */
const char *micap_attributes_problem(const mica_field *field);

/* Whether there is a range. */
static inline bool micap_attributes_limit(const mica_attributes *attributes)
{
    return attributes && (attributes->minimum < attributes->maximum || attributes->minimum > attributes->maximum);
}

/* Whether a field of a type, or of a struct or list in it, has a range. */
bool micap_type_has_ranges(const mica_type *type);

enum { MICAP_RANGE_TEXT_BYTES = 176 };

/* Whether a number, the value of a member of kind `kind` from I8 to F64, is in the range of its attributes. */
bool micap_range_has(const mica_attributes *attributes, mica_kind kind, const void *number);

/* What is expected of a field: "health from 0 to 100 hp". */
void micap_range_text(const mica_attributes *attributes, const char *name, char text[MICAP_RANGE_TEXT_BYTES]);

/* Fills in the initial values of a value that is zero. False if memory is short. */
bool micap_initial_write(mica_member member);

/* Makes the initial value of a type and derives its construct function, if the description has initial values. False if memory is
 * short. */
bool micap_initial_make(micap_type *type);
void micap_initial_free(micap_type *type);
/* Whether a type has this function. */
bool micap_initial_is_derived(const mica_type *type);

#endif
