/* What changed a field of an entity in one frame: the frame runs again, system by system. */
#ifndef MICAP_INSPECT_WRITERS_H
#define MICAP_INSPECT_WRITERS_H

#include "base/byte_stream.h"
#include "mica/entity.h"

typedef struct micap_writers_def {
    mica_entity entity;
    mica_component component;
    const char *path; /* of the field; "": the whole component */
    float dt;
    const char *before; /* the text of the value after the frame before; what changed it since then is not a system */
    const char *after;  /* the same after the frame, as it was when the frame ran first */
} micap_writers_def;

/* Returns the text of a field, "null" if the entity or the component is not there; free it. NULL if memory is short. */
char *micap_field_text(const mica_world *world, mica_entity entity, mica_component component, const char *path);

/* Runs a frame and appends a list of changes as JSON: the system with its source line, or the systems before a flush, or neither if it was
 * no system; the values before and after it. The world must be as it was before the frame, and not paused. */
mica_result micap_writers_find(mica_world *world, const micap_writers_def *def, micap_bytes *out);

#endif
