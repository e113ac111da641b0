/* One number, string, truth value or null for a described value. Text, JSON and other formats read their own notation and leave to these
 * functions what fits a field: see mica/value.h. */
#ifndef MICAP_TYPE_VALUE_ASSIGN_H
#define MICAP_TYPE_VALUE_ASSIGN_H

#include "mica/value.h"
#include "type/attributes.h"

/* Why a scalar does not fit. */
typedef struct micap_misfit {
    char text[MICAP_RANGE_TEXT_BYTES];
    bool is_sentence; /* otherwise `text` is what was expected */
} micap_misfit;

enum { MICAP_SCALAR_BYTES_MAX = 8 };

/* Converts a scalar to the bytes of a member that is no array, text, list or struct. `name` is that of the innermost field, or NULL.
 * Returns false and says why if it does not fit. */
bool micap_scalar_convert(mica_member member, const char *name, mica_scalar scalar,
                          unsigned char bytes[MICAP_SCALAR_BYTES_MAX], micap_misfit *misfit);

#endif
