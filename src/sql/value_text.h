/* Fields as text. */
#ifndef MICAP_SQL_VALUE_TEXT_H
#define MICAP_SQL_VALUE_TEXT_H

#include "sql/session.h"

/* Writes an enum or flags as text; free it with sqlite3_free. Returns false if the value has no name and sets `*out_integer`. */
bool micap_sql_names_of(const mica_type *type, const void *at, char **out_text, int64_t *out_integer);
/* Returns an array as JSON; free it with sqlite3_free. NULL if memory is short. */
char *micap_sql_list(const mica_field *field, const void *at);
/* Reads an integer of 1, 2, 4 or 8 bytes. */
int64_t micap_sql_load(const void *at, uint32_t bytes, bool is_signed);

#endif
