/* Reports: how the core complains. Every failure goes through micap_fail. */
#ifndef MICAP_CORE_WORLD_REPORT_H
#define MICAP_CORE_WORLD_REPORT_H

#include "base/assert.h"
#include "mica/handle.h"
#include "mica/world.h"

/* Notes the error and reports it; returns the result for the caller to pass on. The text is built with printf. */
mica_result micap_fail(const mica_world *world, mica_result result, mica_location location, const char *format, ...)
    MICAP_FORMAT(4, 5);
mica_result micap_fail_memory(const mica_world *world, const char *what);
/* Why an entity can't be used: "is not alive", or that its handle is one of another world. */
const char *micap_dead_text(const mica_world *world, mica_entity entity);
mica_result micap_fail_dead(const mica_world *world, mica_entity entity, const char *what);

/* Hands a report to the handler of the def, or prints it. */
void micap_report_to(const mica_world_def *def, const mica_report *report);

/* MICA_OK, or a report that the operation is refused inside a system, where other threads use the world. */
mica_result micap_refuse_inside(const mica_world *world, const char *what);

/* MICA_OK, or a report that the operation can't be recorded. */
mica_result micap_refuse_while_recording(const mica_world *world, const char *what);

#endif
