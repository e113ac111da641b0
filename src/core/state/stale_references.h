/* Entities in values that are not alive: a file stores them as nil, and a world that continues still has them. */
#ifndef MICAP_CORE_STATE_STALE_REFERENCES_H
#define MICAP_CORE_STATE_STALE_REFERENCES_H

#include "core/state/state_records.h"

void micap_stale_references_write(const mica_world *world, micap_bytes *bytes);

/* What does not fit the world is left out. */
void micap_stale_references_load(mica_world *world, micap_reader reader);

/* Names in the scope of an entity that is not the parent, or not alive: files store the scope as the parent, or not at all. Loading
 * detaches those that a file has linked to their scope. False if memory is short. */
void micap_scoped_names_write(const mica_world *world, micap_bytes *bytes);
bool micap_scoped_names_load(mica_world *world, micap_reader reader);

#endif
