#include "core/commands/record_kind.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/world/report.h"
#include "core/world/world.h"

const micap_type *micap_check_recordable(const mica_commands *commands, mica_component component,
                                         mica_location location)
{
    const micap_type *type = micap_type_of(component);
    if (!type || type->type.storage == MICA_STORAGE_SINGLETON || type->companion != MICAP_COMPANION_NONE) {
        micap_fail(commands->world, type ? MICA_ERROR_INVALID : MICA_ERROR_UNKNOWN, location,
                   "command: component %s is not one that an entity can have",
                   type ? type->type.name : "without an id");
        return NULL;
    }
    if (!micap_component_find(&commands->world->components, component) &&
        micap_component_namesake(commands->world, type)) {
        micap_fail(commands->world, MICA_ERROR_LAYOUT, location,
                   "command: this world has another component with the name %s", type->type.name);
        return NULL;
    }
    return type;
}

/* Describes the component of a value; false with a report. */
static bool describe_value(mica_commands *commands, const micap_recorded_kind *kind, micap_kind_value *place,
                           const mica_value *value)
{
    const micap_type *type = micap_check_recordable(commands, value->component, kind->location);
    micap_operation operation = micap_kind_operation(kind);
    if (!type || (operation != MICAP_OPERATION_REMOVE_INSTANCE &&
                  !micap_value_fits(commands->world, type, value, kind->location)))
        return false;
    bool adds = operation == MICAP_OPERATION_CREATE || operation == MICAP_OPERATION_VALUE ||
                operation == MICAP_OPERATION_INSTANCE;
    if (adds && !micap_takes_values(commands->world, type, kind->location))
        return false;
    *place = (micap_kind_value){.type = type,
                                .component = value->component,
                                .size_bytes = value->size_bytes,
                                .operation = operation == MICAP_OPERATION_CREATE ? MICAP_OPERATION_VALUE : operation,
                                .is_set = value->data != NULL};
    return true;
}

/* Places the staged values of a kind one after the other. */
static void place_values(micap_recorded_kind *kind, micap_kind_value *values)
{
    micap_operation operation = micap_kind_operation(kind);
    kind->stride = sizeof(micap_recorded);
    kind->alignment = _Alignof(micap_recorded);
    kind->is_simple = operation != MICAP_OPERATION_NONE && operation != MICAP_OPERATION_INSTANCE;
    kind->is_trivial = kind->copies_as_bytes = true;
    for (uint32_t i = 0; i < kind->value_count; ++i) {
        const micap_type *type = values[i].type;
        MICAP_ASSERT(type, "values have a type");
        bool is_made =
            type->initial && values[i].operation == MICAP_OPERATION_VALUE && !micap_kind_sets(kind, &values[i]);
        kind->is_simple &= !type->type.move && !is_made && !type->leaves && !type->type.many;
        kind->is_trivial &= type->trivial;
        kind->copies_as_bytes &= !type->type.construct && !type->type.copy;
        kind->has_pools |= micap_is_pooled(values[i].component);
        kind->has_required |=
            operation != MICAP_OPERATION_CREATE && type->required_count && !(kind->shape & MICAP_SHAPE_EXACT) &&
            (values[i].operation == MICAP_OPERATION_VALUE || values[i].operation == MICAP_OPERATION_INSTANCE);
        values[i].offset = values[i].bytes = 0;
        if (!type->type.size_bytes || values[i].operation == MICAP_OPERATION_NONE ||
            values[i].operation == MICAP_OPERATION_REMOVE || values[i].operation == MICAP_OPERATION_REMOVE_INSTANCE)
            continue;
        values[i].bytes = type->type.size_bytes;
        values[i].offset = (uint32_t)micap_align_up(kind->stride, type->type.alignment);
        kind->stride = values[i].offset + values[i].bytes;
        kind->alignment = kind->alignment > type->type.alignment ? kind->alignment : type->type.alignment;
    }
    kind->stride = (uint32_t)micap_align_up(kind->stride, kind->alignment);
    kind->room_bytes = kind->alignment <= _Alignof(micap_recorded) ? kind->stride : UINT32_MAX;
}

/* The value for a component among those of a list, or the place after them. */
static micap_kind_value *find_value(micap_kind_value *values, uint32_t count, mica_component component)
{
    const micap_kind_value *end = values + count;
    while (values < end && values->component != component)
        ++values;
    return values;
}

bool micap_kind_combine(const micap_recorded_kind *first, const micap_recorded_kind *then, micap_kind_value *values,
                        micap_recorded_kind *out_kind)
{
    bool is_mark = then->shape == MICAP_SHAPE_MARK;
    if (!(then->is_simple || is_mark) || !first->is_trivial || !then->is_trivial ||
        micap_kind_operation(then) == MICAP_OPERATION_CREATE || first->shape == MICAP_OPERATION_DESTROY ||
        first->has_required || then->has_required)
        return false; /* what comes along depends on the order of the changes */
    *out_kind = *first;
    if (micap_kind_operation(first) != MICAP_OPERATION_CREATE)
        out_kind->shape = MICAP_OPERATION_SEVERAL;
    out_kind->values = values;
    for (uint32_t i = 0; i < first->value_count; ++i) {
        values[i] = micap_kind_values(first)[i];
        values[i].is_set = micap_kind_sets(first, &values[i]);
    }
    for (uint32_t i = 0; i < then->value_count; ++i) {
        const micap_kind_value *later = &micap_kind_values(then)[i];
        micap_kind_value *value = find_value(values, out_kind->value_count, later->component);
        if (is_mark) {
            value->is_set = true;
            continue;
        }
        bool is_known = value < values + out_kind->value_count;
        if (is_known && later->type->type.toggle) /* what is added anew is switched on */
            return false;
        out_kind->value_count += !is_known;
        *value = *later;
        value->is_set = micap_kind_sets(then, later);
    }
    place_values(out_kind, values);
    return true;
}

static bool is_given_twice(const mica_commands *commands, const mica_value *values, uint32_t count,
                           mica_location location)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (values[i].component == values[j].component) {
                micap_fail(commands->world, MICA_ERROR_INVALID, location, "create: a component is given twice");
                return true;
            }
    return false;
}

/* Describes a kind; false with a report. */
static bool describe_kind(mica_commands *commands, micap_recorded_kind *kind, const mica_value *values, uint32_t count)
{
    kind->value_count = count;
    if (count > 1) {
        kind->values = micap_stage_allocate(&commands->world->memory, &commands->recording.kind_stage,
                                            count * sizeof *kind->values, _Alignof(micap_kind_value));
        if (!kind->values) {
            micap_fail_memory(commands->world, "command");
            return false;
        }
    }
    micap_kind_value *places = kind->values ? kind->values : &kind->value;
    for (uint32_t i = 0; i < count; ++i)
        if (!describe_value(commands, kind, &places[i], &values[i]))
            return false;
    place_values(kind, places);
    if (kind->values)
        kind->value.component = kind->values[0].component; /* for guess_kind */
    bool is_words =
        kind->shape == MICAP_SHAPE_SET && micap_is_words(kind->value.bytes) && kind->value.bytes == values->size_bytes;
    bool is_fast = kind->is_simple && kind->copies_as_bytes && (is_words || kind->shape == MICAP_OPERATION_CREATE);
    kind->fast_shape = is_fast ? kind->shape : 0;
    return true;
}

/* Where the last kind is noted that creates, or does not. */
static inline micap_recorded_kind **recent_of(micap_recording *recording, uint32_t shape)
{
    return (shape & 0xFF) == MICAP_OPERATION_CREATE ? &recording->created : &recording->recent;
}

/* Notes that a kind is used. */
static const micap_recorded_kind *use_kind(micap_recording *recording, micap_recorded_kind *kind)
{
    micap_recorded_kind **recent = recent_of(recording, kind->shape);
    if (*recent)
        (*recent)->after = kind->number;
    return *recent = kind;
}

/* Makes room for another kind; those that are there move. False with a report. */
static bool grow_kinds(mica_commands *commands)
{
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *recent = recording->recent, *created = recording->created;
    uint32_t recent_number = recent ? recent->number : 0, created_number = created ? created->number : 0;
    if (!MICAP_RESERVE(&commands->world->memory, recording->kinds, &recording->kind_capacity,
                       (uint64_t)recording->kind_count + 1)) {
        micap_fail_memory(commands->world, "command");
        return false;
    }
    recording->recent = recent ? &recording->kinds[recent_number] : NULL;
    recording->created = created ? &recording->kinds[created_number] : NULL;
    return true;
}

/* Makes the lists of kinds. False with a report. */
static bool begin_lists(mica_commands *commands)
{
    micap_recording *recording = &commands->recording;
    size_t bytes = MICAP_KIND_LISTS * sizeof *recording->kind_lists;
    recording->kind_lists =
        micap_stage_allocate(&commands->world->memory, &recording->kind_stage, bytes, _Alignof(uint32_t));
    if (!recording->kind_lists) {
        micap_fail_memory(commands->world, "command");
        return false;
    }
    memset(recording->kind_lists, 0, bytes);
    return true;
}

static inline uint32_t key_of(uint32_t shape, const mica_value *values, uint32_t count, mica_location location)
{
    uint32_t key = shape * 5 + shape / 256 + (uint32_t)location.line + count;
    for (uint32_t i = 0; i < count; ++i)
        key = key * 7 + values[i].component;
    return key ^ key / MICAP_KIND_LISTS;
}

MICAP_COLD const micap_recorded_kind *micap_kind_add(mica_commands *commands, uint32_t shape, const mica_value *values,
                                                     uint32_t count, mica_location location)
{
    micap_recording *recording = &commands->recording;
    uint32_t key = key_of(shape, values, count, location);
    micap_recorded_kind kind = {.shape = shape, .location = location, .label = commands->label, .key = key};
    if (is_given_twice(commands, values, count, location))
        return NULL;
    if (commands->refusing) { /* which was reported; several threads may be here, so that nothing is written */
        for (uint32_t i = 0; i < count; ++i)
            micap_check_recordable(commands, values[i].component, location);
        return NULL;
    }
    if (!describe_kind(commands, &kind, values, count))
        return NULL;
    if (recording->kind_count == recording->kind_capacity && !grow_kinds(commands))
        return NULL;
    if (!recording->kind_count) {
        recording->lowest = recording->highest_pending = 0;
        recording->span = UINT32_MAX;
    }
    if (!recording->kind_lists && !begin_lists(commands))
        return NULL;
    uint32_t *list = &recording->kind_lists[key % MICAP_KIND_LISTS];
    kind.number = kind.after = recording->kind_count;
    kind.next = *list;
    recording->kinds[recording->kind_count++] = kind;
    *list = recording->kind_count;
    return use_kind(recording, &recording->kinds[kind.number]);
}

/* Kinds are known from earlier flushes, unless the world uses another component since: then it may be one with the name of one of
 * theirs. The buffer that refuses everything has none, and is shared by threads. */
static void begin_kinds(mica_commands *commands)
{
    micap_recording *recording = &commands->recording;
    if (recording->components_used == commands->world->components.used || commands->refusing)
        return;
    if (recording->kind_count)
        micap_recording_drop_kinds(recording);
    recording->components_used = commands->world->components.used;
}

MICAP_NOINLINE const micap_recorded_kind *
micap_kind_of(mica_commands *commands, uint32_t shape, const mica_value *values, uint32_t count, mica_location location)
{
    const micap_recorded_kind *kind = micap_kind_find(commands, shape, values, count, location);
    return kind ? kind : micap_kind_add(commands, shape, values, count, location);
}

const micap_recorded_kind *micap_kind_find(mica_commands *commands, uint32_t shape, const mica_value *values,
                                           uint32_t count, mica_location location)
{
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *recent = *recent_of(recording, shape);
    if (recent && micap_is_kind(recent, shape, location, commands->label) &&
        micap_kind_has_values(recent, values, count))
        return recent;
    if (!recording->recent && !recording->created)
        begin_kinds(commands);
    if (!recording->kind_lists)
        return NULL;
    uint32_t key = key_of(shape, values, count, location);
    for (uint32_t at = recording->kind_lists[key % MICAP_KIND_LISTS]; at; at = recording->kinds[at - 1].next) {
        micap_recorded_kind *kind = &recording->kinds[at - 1];
        if (kind->key == key && micap_is_kind(kind, shape, location, commands->label) &&
            micap_kind_has_values(kind, values, count))
            return use_kind(recording, kind);
    }
    return NULL;
}

const micap_recorded_kind *micap_kind_for_any(mica_commands *commands, uint32_t shape, mica_component component,
                                              mica_location location)
{
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *kind = recording->recent ? micap_guess_kind(recording, shape, component) : NULL;
    if (kind && micap_is_kind_for(kind, shape, component, location, commands->label))
        return kind;
    mica_value value = {.component = component};
    return micap_kind_of(commands, shape, &value, shape != MICAP_OPERATION_DESTROY, location);
}
