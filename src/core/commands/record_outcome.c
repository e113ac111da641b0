#include "core/commands/record_outcome.h"

#include "core/commands/record_kind.h"
#include "core/storage/pool_lookup.h"

bool micap_outcome_removes(const micap_recording *recording, const micap_outcome *known, mica_component component,
                           uint32_t nth)
{
    for (const micap_recorded *change = known->lost; change; change = change == known->end ? NULL : change->next) {
        const micap_recorded_kind *kind = &recording->kinds[change->kind];
        if (kind->shape == MICAP_OPERATION_REMOVE_INSTANCE && kind->value.component == component &&
            kind->value.size_bytes == nth)
            return true;
    }
    return false;
}

/* An instance is removed. If it is the first one, a value that is staged for it is not in force any more. */
static void learn_loss(const micap_recording *recording, micap_recorded *change, const micap_kind_value *value,
                       micap_outcome *out)
{
    if (!out->lost)
        out->lost = change;
    out->end = change;
    if (value->size_bytes != out->first)
        return;
    while (micap_outcome_removes(recording, out, value->component, out->first))
        ++out->first;
    if (out->has_value)
        out->last = out->instance ? MICAP_OPERATION_INSTANCE : MICAP_OPERATION_NONE;
    out->has_value = out->is_set = false;
    out->value = NULL;
}

static void learn(const micap_recording *recording, micap_recorded *change, const micap_kind_value *value,
                  micap_outcome *out)
{
    const micap_recorded_kind *kind = &recording->kinds[change->kind];
    micap_operation operation = micap_kind_operation(kind);
    out->toggled = NULL;
    switch (operation) {
    case MICAP_OPERATION_NONE:
        out->is_set |= kind->shape == MICAP_SHAPE_MARK;
        out->toggled = kind->shape >= MICAP_SHAPE_TOGGLE ? change : NULL;
        return;
    case MICAP_OPERATION_REMOVE: *out = (micap_outcome){.is_removed = true}; break;
    case MICAP_OPERATION_REMOVE_INSTANCE: learn_loss(recording, change, value, out); return;
    case MICAP_OPERATION_INSTANCE:
        if (!out->instance && !out->is_brought)
            out->instance = micap_recorded_value(change, value);
        break;
    case MICAP_OPERATION_CREATE:
    case MICAP_OPERATION_VALUE:
    case MICAP_OPERATION_DESTROY:
    case MICAP_OPERATION_SEVERAL:
    case MICAP_OPERATION_REQUIRED:
        out->has_value = true;
        out->value = micap_recorded_value(change, value);
        out->is_set = micap_kind_sets(kind, value);
        operation = MICAP_OPERATION_VALUE;
        break;
    }
    out->last = operation;
}

uint32_t micap_outcome_first_row(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                                 const mica_pool *pool)
{
    uint32_t row = micap_pool_row(pool, entity), nth = 0;
    for (; row != MICAP_ROW_NONE && micap_outcome_removes(&commands->recording, known, pool->type->id, nth); ++nth)
        row = pool->next[row];
    return row;
}

bool micap_outcome_has(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                       mica_component component)
{
    if (known->last != MICAP_OPERATION_NONE)
        return known->last != MICAP_OPERATION_REMOVE;
    if (known->lost)
        return micap_outcome_first_row(commands, known, entity, micap_pool_of(commands->world, component)) !=
               MICAP_ROW_NONE;
    return mica_has_id(commands->world, entity, component);
}

/* What the changes of an entity up to the last one say, without those from `end` on. */
static micap_outcome outcome_until(const mica_commands *commands, micap_recorded *last, const micap_recorded *end,
                                   mica_component component)
{
    const micap_recording *recording = &commands->recording;
    micap_outcome result = {0};
    for (micap_recorded *change = last ? micap_recorded_first(last) : NULL; change != end; change = change->next) {
        const micap_recorded_kind *kind = &recording->kinds[change->kind];
        const micap_kind_value *values = micap_kind_values(kind);
        for (uint32_t i = 0; i < kind->value_count; ++i) {
            if (values[i].component == component)
                learn(recording, change, &values[i], &result);
            if (!kind->has_required || !micap_type_requires(values[i].type, component))
                continue;
            micap_outcome bringer = outcome_until(commands, last, change, values[i].component);
            if (!micap_outcome_has(commands, &bringer, change->entity, values[i].component) &&
                !micap_outcome_has(commands, &result, change->entity, component)) {
                result.last = MICAP_OPERATION_VALUE; /* it comes along, with a value that the flush makes */
                result.is_brought = true;
            }
        }
        if (change == last)
            break;
    }
    if (!end)
        result.end = last;
    return result;
}

micap_outcome micap_outcome_of(const mica_commands *commands, micap_recorded *last, mica_component component)
{
    return outcome_until(commands, last, NULL, component);
}
