/* Values by their description: what goes over a wire is fields, never padding, and never what was not described. */
#ifndef MICAP_REPLICATION_DELTA_FIELDS_H
#define MICAP_REPLICATION_DELTA_FIELDS_H

#include "mica/describe.h"

/* The described fields of a value and nothing else, from one value to another. */
void micap_delta_copy_fields(const mica_type *type, char *to, const char *from);
/* Whether any field is of a kind, and whether every bool is 0 or 1. */
bool micap_delta_has_kind(const mica_type *type, mica_kind kind);
bool micap_delta_bools_hold(const mica_type *type, const char *value);

/* Calls a function for each described entity of a value, except in lists; what it returns does not matter. */
void micap_delta_visit_entities(const mica_type *type, char *value, bool (*fn)(void *at, void *context), void *context);

/* Converts values, or handles, from one byte order to the other. */
void micap_delta_swap_values(const mica_type *type, char *values, uint32_t count);
void micap_delta_swap_handles(char *handles, uint32_t count);

#endif
