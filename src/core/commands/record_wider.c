#include "core/commands/record_wider.h"

#include "base/bits.h"
#include "core/world/world.h"

enum { VALUES_MAX = 32 }; /* of a creation that is widened */

static inline const micap_kind_value *last_value(const micap_recorded_kind *kind)
{
    return micap_kind_values(kind) + (kind->value_count - 1);
}

/* Whether a kind that creates is the wider one of another that was looked up last, and is so by this component. */
static inline bool is_wider_by(const micap_recorded_kind *wider, const micap_recorded_kind *change, bool is_set)
{
    const micap_kind_value *last = last_value(wider);
    return last->component == change->value.component && last->size_bytes == change->value.size_bytes &&
           last->is_set == is_set;
}

/* Lists the values of a wider creation as a caller would give them. False if the component is there already, or if there are too many. */
static bool list_values(const micap_recorded_kind *created, const micap_recorded_kind *change, bool is_set,
                        mica_value *out)
{
    const micap_kind_value *values = micap_kind_values(created);
    uint32_t count = created->value_count;
    if (count == VALUES_MAX)
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        if (values[i].component == change->value.component)
            return false;
        out[i] = (mica_value){values[i].component, values[i].size_bytes, values[i].is_set ? values : NULL};
    }
    out[count] = (mica_value){change->value.component, change->value.size_bytes, is_set ? values : NULL};
    return true;
}

/* Looks the wider kind up. What the next creation is likely to be does not change by that. NULL if there is none. */
static MICAP_NOINLINE const micap_recorded_kind *find_wider(mica_commands *commands, uint32_t created_number,
                                                            const micap_recorded_kind *change, bool is_set)
{
    micap_recording *recording = &commands->recording;
    mica_value values[VALUES_MAX];
    const micap_recorded_kind *created = &recording->kinds[created_number];
    if (!recording->created || created->label != commands->label || !list_values(created, change, is_set, values))
        return NULL;
    uint32_t recent = recording->created->number, after = recording->created->after;
    const micap_recorded_kind *wider = /* other kinds may move */
        micap_kind_of(commands, MICAP_OPERATION_CREATE, values, created->value_count + 1, created->location);
    recording->created = &recording->kinds[recent];
    recording->created->after = after;
    if (wider)
        recording->kinds[created_number].wider = wider->number;
    return wider;
}

char *micap_command_widen(mica_commands *commands, const micap_recorded_kind **in_out_change, mica_entity entity,
                          bool is_set)
{
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *change = *in_out_change;
    uint32_t number = change->number;
    micap_recorded *last = recording->last;
    const micap_recorded_kind *created = &recording->kinds[last->kind];
    char *end = (char *)last + created->stride;
    MICAP_ASSERT(micap_is_last_created(recording, entity), "the caller asks first");
    if (last->state != MICAP_RECORDED_FIRST || last->next || !change->is_simple || !change->copies_as_bytes ||
        change->has_required || end != recording->end ||
        (char *)last <
            recording->segments[recording->segment_count - 1].first || /* another was begun, for nothing yet */
        micap_record_chunk(micap_record_of(&commands->world->entities, entity)) != MICAP_CHUNK_PENDING)
        return NULL;
    const micap_recorded_kind *wider = &recording->kinds[created->wider];
    if (!created->wider || !is_wider_by(wider, change, is_set))
        wider = find_wider(commands, created->number, change, is_set);
    *in_out_change = &recording->kinds[number];
    if (!wider || wider->fast_shape != MICAP_OPERATION_CREATE ||
        (size_t)(recording->limit - (char *)last) < wider->room_bytes)
        return NULL;
    last->kind = wider->number;
    recording->end = (char *)last + wider->stride;
    if (recording->tabled.at == end)
        recording->tabled.at = recording->end;
    return (char *)last + last_value(wider)->offset;
}
