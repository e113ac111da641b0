/* Prepares a spawn or a reload before the world changes: finds the components of the world, and how values are converted. */
#ifndef MICAP_RESOURCE_SPAWN_SPAWN_PREPARE_H
#define MICAP_RESOURCE_SPAWN_SPAWN_PREPARE_H

#include "base/assert.h"
#include "resource/spawn/spawn.h"

#include <stdarg.h>

/* How instances become values, without what creating entities takes. False with a report; free it in either case. */
bool micap_spawn_prepare_entries(micap_spawning *work);

/* Everything that can fail before there are entities. False with a report; free it in either case. */
bool micap_spawn_prepare(micap_spawning *work);
void micap_spawn_free(micap_spawning *work);

/* Reports a formatted text; returns the result. */
mica_result micap_report_text(const mica_world *world, mica_result result, const char *format, va_list arguments);

/* Reports through the world and stores the result. Return false. */
bool micap_spawn_fail(micap_spawning *work, mica_result result, const char *format, ...) MICAP_FORMAT(3, 4);
bool micap_spawn_fail_memory(micap_spawning *work);

#endif
