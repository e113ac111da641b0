/* An entity that is created and gets more components at once: its creation, the last change in the log, becomes one with these components. */
#ifndef MICAP_CORE_COMMANDS_RECORD_WIDER_H
#define MICAP_CORE_COMMANDS_RECORD_WIDER_H

#include "core/commands/record_kind.h"

/* Whether the last change is a creation of this entity that may be widened. */
static inline bool micap_is_last_created(const micap_recording *recording, mica_entity entity)
{
    const micap_recorded *last = recording->last;
    return last && mica_same(last->entity, entity) && recording->kinds[last->kind].fast_shape == MICAP_OPERATION_CREATE;
}

/* If so: adds the component of a change, an addition or a value that was set, to the last creation. Returns where its value goes, which is after the
 * others; NULL if the change must be recorded by itself. The kinds of the recording, with that of the change, may move. */
char *micap_command_widen(mica_commands *commands, const micap_recorded_kind **in_out_change, mica_entity entity,
                          bool is_set);

#endif
