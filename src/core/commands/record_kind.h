/* Kinds of recorded changes: finding the kind of a change, or adding it to the recording. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_RECORD_KIND_H
#define MICAP_CORE_COMMANDS_RECORD_KIND_H

#include "base/assert.h"
#include "core/commands/command_buffer.h"

/* The type of a component that can be recorded in this world; NULL with a report. */
const micap_type *micap_check_recordable(const mica_commands *commands, mica_component component,
                                         mica_location location);

/* The kind of a change; NULL with a report. Valid until the next kind is added. */
const micap_recorded_kind *micap_kind_of(mica_commands *commands, uint32_t shape, const mica_value *values,
                                         uint32_t count, mica_location location);

/* The same if it is known; otherwise NULL. */
const micap_recorded_kind *micap_kind_find(mica_commands *commands, uint32_t shape, const mica_value *values,
                                           uint32_t count, mica_location location);

/* Adds the kind of a change that is not known; NULL with a report. */
MICAP_COLD const micap_recorded_kind *micap_kind_add(mica_commands *commands, uint32_t shape, const mica_value *values,
                                                     uint32_t count, mica_location location);

/* Describes the net change of two kinds, one after the other, of which the first is simple and the second destroys nothing: later values
 * replace earlier ones. There is room for the values of both. False if such changes need a target. */
bool micap_kind_combine(const micap_recorded_kind *first, const micap_recorded_kind *then, micap_kind_value *values,
                        micap_recorded_kind *out_kind);

/* Whether the set hook runs for a value of a kind. */
static inline bool micap_kind_sets(const micap_recorded_kind *kind, const micap_kind_value *value)
{
    micap_operation operation = micap_kind_operation(kind);
    bool is_list = operation == MICAP_OPERATION_CREATE || operation == MICAP_OPERATION_SEVERAL;
    return is_list ? value->is_set : (kind->shape & MICAP_SHAPE_IS_SET) != 0;
}

/* Whether the components of a kind are those of the values, and come with a value where those do. */
static inline bool micap_kind_has_values(const micap_recorded_kind *kind, const mica_value *values, uint32_t count)
{
    const micap_kind_value *known = micap_kind_values(kind);
    if (kind->value_count != count)
        return false;
    for (uint32_t i = 0; i < count; ++i)
        if (known[i].component != values[i].component || known[i].size_bytes != values[i].size_bytes ||
            known[i].is_set != (values[i].data != NULL))
            return false;
    return true;
}

static inline bool micap_is_kind(const micap_recorded_kind *kind, uint32_t shape, mica_location location,
                                 const char *label)
{
    return kind->shape == shape && kind->location.line == location.line && kind->location.file == location.file &&
           kind->label == label;
}

/* The kind that is likely to be used after the last one, if it has this shape and component; or any other. */
static MICAP_INLINE const micap_recorded_kind *micap_guess_kind(micap_recording *recording, uint32_t shape,
                                                                mica_component component)
{
    micap_recorded_kind *guess = &recording->kinds[recording->recent->after];
    if (guess->shape == shape && guess->value.component == component)
        recording->recent = guess;
    return guess;
}

static inline bool micap_is_kind_for(const micap_recorded_kind *kind, uint32_t shape, mica_component component,
                                     mica_location location, const char *label)
{
    return kind->value.component == component && micap_is_kind(kind, shape, location, label);
}

/* The same as the next one, if the kind was not used last. */
const micap_recorded_kind *micap_kind_for_any(mica_commands *commands, uint32_t shape, mica_component component,
                                              mica_location location);

/* The kind of a change of one component, without a value of the caller; a destruction has none. */
static MICAP_INLINE const micap_recorded_kind *micap_kind_for(mica_commands *commands, uint32_t shape,
                                                              mica_component component, mica_location location)
{
    const micap_recorded_kind *kind = commands->recording.recent;
    return MICAP_LIKELY(kind && micap_is_kind_for(kind, shape, component, location, commands->label))
               ? kind
               : micap_kind_for_any(commands, shape, component, location);
}

#endif
