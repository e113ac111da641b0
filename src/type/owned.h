/* Values with text and lists: what they own is found by their description, so that components with text and lists copy and destroy
 * themselves. */
#ifndef MICAP_TYPE_OWNED_H
#define MICAP_TYPE_OWNED_H

#include "type/type.h"

/* Whether values of a type have text or lists. */
bool micap_type_owns(const mica_type *type);

/* Gives up what values own. They are uninitialized afterwards. */
void micap_owned_release(const mica_type *type, void *values, uint32_t count);

/* Makes values, which have the bytes of others, copies of these. False if memory is short: then they own nothing. */
bool micap_owned_retain(const mica_type *type, void *values, uint32_t count);

/* What is wrong with the text and lists of a value, or NULL. */
const char *micap_owned_problem(const mica_type *type, const void *value);

/* Sets the functions of a component with text or lists. */
void micap_owned_derive(mica_type *type);
/* Whether a type has these functions, and no others. */
bool micap_owned_is_derived(const mica_type *type);

#endif
