/* Values by their description: what goes over a wire is fields, never padding, and never what was not described. */
#ifndef MICAP_REPLICATION_DELTA_FIELDS_H
#define MICAP_REPLICATION_DELTA_FIELDS_H

#include "mica/describe.h"

/* The described fields of a value and nothing else, from one value to another. */
void micap_delta_copy_fields(const mica_type *type, char *to, const char *from);
/* Whether any field is of a kind, and whether every bool is 0 or 1. */
bool micap_delta_has_kind(const mica_type *type, mica_kind kind);
bool micap_delta_bools_hold(const mica_type *type, const char *value);

#endif
