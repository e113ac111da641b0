/* The first difference between two worlds, in words. */
#ifndef MICAP_SNAPSHOT_HASH_DIFF_H
#define MICAP_SNAPSHOT_HASH_DIFF_H

#include "mica/hash.h"

/* Writes the text of a difference from its other fields. */
void micap_difference_say(mica_difference *difference);

#endif
