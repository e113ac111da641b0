/* Ranges of fields, for values that the program writes in C: mica_world_def.check_ranges.
 *
 * A watch sees what is set, at the call or at the flush. Everything else that is written leaves a stamp: the flow compares what systems
 * stamped. Nothing here is called unless the option is on. */
#ifndef MICAP_CORE_STORAGE_RANGE_CHECK_H
#define MICAP_CORE_STORAGE_RANGE_CHECK_H

#include "core/storage/component.h"
#include "mica/value.h"

/* A value that is outside the range of a field. */
typedef struct micap_range_fault {
    mica_component component;
    mica_entity entity;   /* nil: a singleton */
    mica_version version; /* of the newest change of the slice that it is in */
    mica_value_error error;
} micap_range_fault;

/* Begins to compare what is set, if the component has ranges and the world compares. */
void micap_ranges_watch(mica_world *world, micap_component *component);

/* Finds the first value in a slice that changed since a mark that is outside its range; singletons are always compared. Returns true if
 * there is none. */
bool micap_ranges_hold(mica_world *world, mica_version since, micap_range_fault *out_fault);

/* Reports a fault after these words, such as "set". Returns MICA_ERROR_INVALID. */
mica_result micap_range_fail(const mica_world *world, const char *what, const micap_range_fault *fault);

#endif
