/* Numbers of keys as text. */
#ifndef MICAP_CORE_QUERY_KEY_TEXT_H
#define MICAP_CORE_QUERY_KEY_TEXT_H

#include "mica/key.h"

enum { MICAP_KEY_TEXT_BYTES = 48 };

/* Reads a number, inf or nan. Numbers without a point and an exponent that have 64 bits are integers. Returns where it ends; NULL if there
 * is none. */
const char *micap_number_key(const char *text, mica_key *out);

/* Writes the number of a key so that it reads back as the same. */
void micap_key_write(mica_key key, char text[MICAP_KEY_TEXT_BYTES]);

#endif
