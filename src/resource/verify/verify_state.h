/* The state of a saved world, and the handles its entities had. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_STATE_H
#define MICAP_RESOURCE_VERIFY_VERIFY_STATE_H

#include "resource/verify/resource.h"

/* False with an error. What the state says about a world is checked when it is spawned: mica_resume_begin. */
bool micap_verify_state(mica_resource *resource);

/* Writes the handle of each entity of the file to `out`. */
void micap_resource_handles(const mica_resource *resource, mica_entity *out);

#endif
