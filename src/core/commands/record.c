/* Runs in the thread of its buffer: it reads the world, and writes only the buffer and the records of its own handles.
 *
 * A change is recorded in three steps: find its kind, find the changes to the same entity that are recorded already, append
 * it. set and create have a fast path for the kind that was used last. */
#include "core/commands/record.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "pool/pool_rows.h"
#include "mica/split.h"

enum { SEGMENT_BYTES_FIRST = 512, SEGMENT_BYTES_MAX = 1 << 16 };

static void *stage(mica_commands *commands, size_t bytes, size_t alignment)
{
    return micap_stage_allocate(&commands->world->memory, &commands->recording.stage, bytes, alignment);
}

static const micap_type *check_type(const mica_commands *commands, mica_component component, mica_location location)
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

/* Whether the components of a kind are those of the values, and come with a value where those do. */
static inline bool has_values(const micap_recorded_kind *kind, const mica_value *values, uint32_t count)
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

static inline bool is_kind(const micap_recorded_kind *kind, uint32_t shape, mica_location location, const char *label)
{
    return kind->shape == shape && kind->location.line == location.line && kind->location.file == location.file &&
           kind->label == label;
}

/* Places a staged value behind those that the kind has. */
static bool place_value(mica_commands *commands, micap_recorded_kind *kind, micap_kind_value *place,
                        const mica_value *value)
{
    const micap_type *type = check_type(commands, value->component, kind->location);
    micap_operation operation = micap_kind_operation(kind);
    if (!type || !micap_value_fits(commands->world, type, value, kind->location))
        return false;
    *place = (micap_kind_value){type, value->component, value->size_bytes, 0, 0, value->data != NULL};
    kind->is_simple &= type->trivial && !type->leaves && !type->type.many;
    if (!type->type.size_bytes || operation == MICAP_OPERATION_NONE || operation == MICAP_OPERATION_REMOVE)
        return true;
    place->bytes = type->type.size_bytes;
    place->offset = (uint32_t)micap_align_up(kind->stride, type->type.alignment);
    kind->stride = place->offset + place->bytes;
    kind->alignment = kind->alignment > type->type.alignment ? kind->alignment : type->type.alignment;
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
    micap_operation operation = micap_kind_operation(kind);
    kind->stride = sizeof(micap_recorded);
    kind->alignment = _Alignof(micap_recorded);
    kind->is_simple = operation != MICAP_OPERATION_NONE && operation != MICAP_OPERATION_INSTANCE;
    kind->value_count = count;
    if (count > 1) {
        kind->values = stage(commands, count * sizeof *kind->values, _Alignof(micap_kind_value));
        if (!kind->values) {
            micap_fail_memory(commands->world, "command");
            return false;
        }
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!place_value(commands, kind, kind->values ? &kind->values[i] : &kind->value, &values[i]))
            return false;
    kind->stride = (uint32_t)micap_align_up(kind->stride, kind->alignment);
    const micap_type *type = kind->value.type;
    bool is_fast = kind->is_simple && type && micap_is_words(type->type.size_bytes) && kind->alignment <= 8;
    kind->fast_bytes = is_fast ? kind->value.bytes : UINT32_MAX;
    return true;
}

static MICAP_COLD micap_recorded_kind *add_kind(mica_commands *commands, uint32_t shape, const mica_value *values,
                                              uint32_t count, mica_location location, uint32_t *place)
{
    micap_recording *recording = &commands->recording;
    micap_recorded_kind kind = {.shape = shape, .location = location, .label = commands->label};
    if (is_given_twice(commands, values, count, location))
        return NULL;
    if (commands->refusing) { /* which was reported; several threads may be here, so that nothing is written */
        for (uint32_t i = 0; i < count; ++i)
            check_type(commands, values[i].component, location);
        return NULL;
    }
    if (!describe_kind(commands, &kind, values, count))
        return NULL;
    if (!MICAP_RESERVE(&commands->world->memory, recording->kinds, &recording->kind_capacity,
                       (uint64_t)recording->kind_count + 1)) {
        micap_fail_memory(commands->world, "command");
        return NULL;
    }
    if (!recording->kind_count)
        recording->highest = recording->lowest = recording->highest_pending = UINT32_MAX;
    recording->kinds[recording->kind_count++] = kind;
    *place = recording->kind_count;
    return recording->recent = &recording->kinds[recording->kind_count - 1];
}

/* The kind of a change; NULL with a report. Valid until the next kind is added. */
static const micap_recorded_kind *kind_of(mica_commands *commands, uint32_t shape, const mica_value *values,
                                        uint32_t count, mica_location location)
{
    micap_recording *recording = &commands->recording;
    micap_recorded_kind *recent = recording->recent;
    if (recent && is_kind(recent, shape, location, commands->label) && has_values(recent, values, count))
        return recent;
    uint32_t key = shape * 5 + shape / 256 + (uint32_t)location.line + (count ? values[0].component * 7 + count : 0);
    uint32_t *place = &recording->cache[(key ^ key / MICAP_KIND_CACHE) % MICAP_KIND_CACHE];
    if (*place) {
        micap_recorded_kind *kind = &recording->kinds[*place - 1];
        if (is_kind(kind, shape, location, commands->label) && has_values(kind, values, count))
            return recording->recent = kind;
    }
    return add_kind(commands, shape, values, count, location, place);
}

/* The same for a change of one component, without a value of the caller. */
static const micap_recorded_kind *kind_for(mica_commands *commands, uint32_t shape, mica_component component,
                                         mica_location location)
{
    mica_value value = {.component = component};
    return kind_of(commands, shape, &value, 1, location);
}

/* Begins another segment, which has room for a change of this kind. */
static MICAP_COLD char *begin_segment(mica_commands *commands, const micap_recorded_kind *kind)
{
    micap_recording *recording = &commands->recording;
    micap_memory *memory = &commands->world->memory;
    uint32_t count = recording->segment_count;
    char *first = (char *)micap_align_up((uintptr_t)recording->end, kind->alignment), *limit = recording->limit;
    if (!MICAP_RESERVE(memory, recording->segments, &recording->segment_capacity, (uint64_t)count + 1))
        return NULL;
    if (!first || first + kind->stride > limit) {
        size_t bytes = SEGMENT_BYTES_FIRST << (count < 7 ? count : 7);
        if (bytes < kind->stride)
            bytes = kind->stride;
        first = stage(commands, bytes, kind->alignment);
        if (!first)
            return NULL;
        limit = first + bytes;
    }
    if (count)
        recording->segments[count - 1].end = recording->end;
    recording->segments[recording->segment_count++] = (micap_log_segment){.first = first};
    recording->end = first;
    recording->limit = limit;
    return first;
}

/* Where the next change goes. NULL with a report if memory runs out. It does not exist until it is committed. */
static inline char *room_for(mica_commands *commands, const micap_recorded_kind *kind)
{
    micap_recording *recording = &commands->recording;
    char *end = recording->end;
    if (MICAP_LIKELY(end && (size_t)(recording->limit - end) >= kind->stride) &&
        MICAP_LIKELY(!((uintptr_t)end & (kind->alignment - 1))))
        return end;
    end = begin_segment(commands, kind);
    if (!end)
        micap_fail_memory(commands->world, "command");
    return end;
}

/* Makes a change exist: the next one of an entity, whose last one is `known`, or its first one. */
static inline micap_recorded *commit(micap_recording *recording, char *at, const micap_recorded_kind *kind,
                                   mica_entity entity, micap_recorded *known)
{
    micap_recorded *change = (micap_recorded *)(void *)at;
    change->entity = entity;
    change->kind = (uint32_t)(kind - recording->kinds);
    change->state = known ? MICAP_RECORDED_LATER : MICAP_RECORDED_FIRST;
    change->next = NULL;
    if (known) {
        change->next = micap_recorded_first(known);
        known->next = change;
    }
    recording->last = change;
    recording->end = at + kind->stride;
    ++recording->change_count;
    return change;
}

static uint32_t higher(uint32_t highest, uint32_t index)
{
    return highest == UINT32_MAX || index > highest ? index : highest;
}

/* Notes that an entity has a first change. One whose creation another buffer recorded counts as one that exists too: it
 * may exist when it is changed again. */
static void note_first(mica_commands *commands, mica_entity entity)
{
    micap_recording *recording = &commands->recording;
    if (micap_record_chunk(micap_record_of(&commands->world->entities, entity)) == MICAP_CHUNK_PENDING) {
        recording->highest_pending = higher(recording->highest_pending, entity.index);
        recording->has_foreign = true;
    }
    recording->highest = higher(recording->highest, entity.index);
    if (entity.index < recording->lowest)
        recording->lowest = entity.index;
}

/* Where a change of an entity goes, and its last change so far. NULL with a report if it is dead as far as this buffer knows, or
 * if memory runs out. */
static char *begin_change(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity, const char *what,
                          micap_recorded **out_known)
{
    micap_recording *recording = &commands->recording;
    uint64_t record = micap_record_of(&commands->world->entities, entity);
    micap_recorded *known = NULL;
    if (MICAP_LIKELY(micap_record_chunk(record) != MICAP_CHUNK_NONE))
        known = micap_recording_find(commands->world, recording, entity);
    if (MICAP_UNLIKELY(micap_record_chunk(record) == MICAP_CHUNK_NONE ||
                       (known && micap_kind_operation(&recording->kinds[known->kind]) == MICAP_OPERATION_DESTROY))) {
        micap_commands_report_dead(commands, entity, kind->location, what);
        return NULL;
    }
    *out_known = known;
    return room_for(commands, kind);
}

static micap_recorded *end_change(mica_commands *commands, char *at, const micap_recorded_kind *kind, mica_entity entity,
                                micap_recorded *known)
{
    if (!known)
        note_first(commands, entity);
    return commit(&commands->recording, at, kind, entity, known);
}

/* What the changes of an entity in this buffer say of a component. */
typedef struct knowledge {
    micap_operation last;  /* the last operation, of creations VALUE; NONE: nothing is recorded */
    bool is_removed;       /* by some change, whatever came after it */
    bool has_value;        /* a value is staged that is still in force, */
    bool is_set;           /* by set, */
    void *value;           /* here; NULL for a tag */
    const void *instance;  /* the first instance since the last removal */
    micap_recorded *toggled; /* the last change, if it is a toggle */
} knowledge;

static void learn(const micap_recording *recording, micap_recorded *change, const micap_kind_value *value, knowledge *out)
{
    const micap_recorded_kind *kind = &recording->kinds[change->kind];
    micap_operation operation = micap_kind_operation(kind);
    out->toggled = NULL;
    switch (operation) {
    case MICAP_OPERATION_NONE:
        out->is_set |= kind->shape == MICAP_SHAPE_MARK;
        out->toggled = kind->shape >= MICAP_SHAPE_TOGGLE ? change : NULL;
        return;
    case MICAP_OPERATION_REMOVE: *out = (knowledge){.is_removed = true}; break;
    case MICAP_OPERATION_INSTANCE:
        if (!out->instance)
            out->instance = micap_recorded_value(change, value);
        break;
    case MICAP_OPERATION_CREATE:
    case MICAP_OPERATION_VALUE:
    case MICAP_OPERATION_DESTROY:
        out->has_value = true;
        out->value = micap_recorded_value(change, value);
        out->is_set = operation == MICAP_OPERATION_CREATE ? value->is_set : kind->shape == MICAP_SHAPE_SET;
        operation = MICAP_OPERATION_VALUE;
        break;
    }
    out->last = operation;
}

static knowledge know(const micap_recording *recording, micap_recorded *last, mica_component component)
{
    knowledge result = {0};
    for (micap_recorded *change = last ? micap_recorded_first(last) : NULL; change; change = change->next) {
        const micap_recorded_kind *kind = &recording->kinds[change->kind];
        const micap_kind_value *values = micap_kind_values(kind);
        for (uint32_t i = 0; i < kind->value_count; ++i)
            if (values[i].component == component)
                learn(recording, change, &values[i], &result);
        if (change == last)
            break;
    }
    return result;
}

static bool will_have(const mica_commands *commands, const knowledge *known, mica_entity entity,
                      mica_component component)
{
    return known->last == MICAP_OPERATION_NONE ? mica_has_id(commands->world, entity, component)
                                               : known->last != MICAP_OPERATION_REMOVE;
}

/* Fills a raw staged value with a copy, or with the default. */
static inline bool fill_value(const mica_commands *commands, const micap_type *type, void *value, const void *from)
{
    if (MICAP_LIKELY(type->trivial)) {
        if (from)
            micap_copy_fresh(value, from, type->type.size_bytes);
        else
            micap_zero_trivial(value, type->type.size_bytes);
        return true;
    }
    bool done = from && !type->type.copy ? (memcpy(value, from, type->type.size_bytes), true)
                : from                   ? micap_values_copy(type, value, from, 1)
                                         : micap_values_construct(type, value, 1);
    if (!done)
        micap_fail_memory(commands->world, type->type.name);
    return done;
}

/* Replaces a staged value, so that pointers to it stay good. */
static bool replace_value(mica_commands *commands, const micap_type *type, void *value, const void *from)
{
    void *fresh = type->trivial ? value : stage(commands, type->type.size_bytes, type->type.alignment);
    if (!fresh) {
        micap_fail_memory(commands->world, type->type.name);
        return false;
    }
    if (!fill_value(commands, type, fresh, from))
        return false;
    if (fresh != value) {
        micap_values_destruct(type, value, 1);
        micap_values_move(type, value, fresh, 1);
    }
    return true;
}

/* Takes back all changes of an entity that this recording creates. */
void micap_command_forget_create(mica_commands *commands, mica_entity entity)
{
    micap_recording *recording = &commands->recording;
    micap_recorded *last = recording->last;
    MICAP_ASSERT(mica_same(last->entity, entity), "it was the last to be recorded");
    for (micap_recorded *change = micap_recorded_first(last);; change = change->next) {
        micap_recorded_drop_values(recording, change);
        change->state = MICAP_RECORDED_VOID;
        --recording->change_count;
        if (change == last)
            break;
    }
    --recording->created_count;
    micap_commands_return_handle(commands, entity);
}

/* Fills the staged values of a creation. If it fails they are raw again. */
static bool fill_values(const mica_commands *commands, char *at, const micap_recorded_kind *kind,
                        const mica_value *values)
{
    const micap_kind_value *places = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i) {
        if (!places[i].offset || fill_value(commands, places[i].type, at + places[i].offset, values[i].data))
            continue;
        while (i-- > 0)
            if (places[i].offset)
                micap_values_destruct(places[i].type, at + places[i].offset, 1);
        return false;
    }
    return true;
}

mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands) || MICAP_MISSING_ARRAY(commands->world, values, count))
        return mica_nil();
    micap_check_buffer(commands);
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *kind = kind_of(commands, MICAP_OPERATION_CREATE, values, count, location);
    if (!kind)
        return mica_nil();
    mica_entity entity = micap_commands_take_handle(commands);
    if (mica_is_nil(entity)) {
        micap_fail_memory(commands->world, "create");
        return entity;
    }
    char *at = room_for(commands, kind);
    if (!at || !fill_values(commands, at, kind, values)) {
        micap_commands_return_handle(commands, entity);
        return mica_nil();
    }
    commit(recording, at, kind, entity, NULL);
    recording->highest_pending = higher(recording->highest_pending, entity.index);
    ++recording->created_count;
    return entity;
}

bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    const micap_recorded_kind *kind = kind_of(commands, MICAP_OPERATION_DESTROY, NULL, 0, location);
    micap_recorded *known;
    char *at = kind ? begin_change(commands, kind, entity, "destroy", &known) : NULL;
    if (at)
        end_change(commands, at, kind, entity, known);
    return at != NULL;
}

/* Fills a staged value with the one that is there as far as this buffer knows, or with the default: in the world, unless it is
 * removed, and then the first instance that was recorded since. */
static bool fill_present(const mica_commands *commands, const knowledge *known, mica_entity entity,
                         const micap_type *type, void *value)
{
    bool in_world = !known->is_removed && mica_has_id(commands->world, entity, type->id);
    const void *present = in_world && !type->leaves ? mica_get_id(commands->world, entity, type->id) : NULL;
    if (!in_world)
        present = known->instance;
    if (!fill_value(commands, type, value, present))
        return false;
    if (in_world && type->leaves) /* there is no whole value to copy: it is put together in place */
        mica_get_value_id(commands->world, entity, type->id, value);
    return true;
}

void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    micap_check_buffer(commands);
    const micap_recorded_kind *kind = kind_for(commands, MICAP_SHAPE_ADD, component, location);
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "add", &last) : NULL;
    if (!at)
        return NULL;
    knowledge known = know(&commands->recording, last, component);
    if (known.has_value)
        return known.value ? known.value : &micap_tag_value;
    char *value = kind->value.offset ? at + kind->value.offset : NULL;
    if (value && !fill_present(commands, &known, entity, kind->value.type, value))
        return NULL;
    end_change(commands, at, kind, entity, last);
    return value ? value : &micap_tag_value;
}

/* A value is staged already: replaces it, and notes that it was set. */
static bool set_again(mica_commands *commands, mica_entity entity, const micap_recorded_kind *kind, const knowledge *known,
                      const mica_value *value)
{
    mica_location location = kind->location;
    if (known->value && !replace_value(commands, kind->value.type, known->value, value->data))
        return false;
    if (known->is_set)
        return true;
    micap_recorded *last;
    kind = kind_for(commands, MICAP_SHAPE_MARK, value->component, location);
    char *at = kind ? begin_change(commands, kind, entity, "set", &last) : NULL;
    if (at)
        end_change(commands, at, kind, entity, last);
    return at != NULL;
}

static __attribute__((noinline)) bool set_any(mica_commands *commands, mica_entity entity, mica_value value,
                                              mica_location location)
{
    if (MICAP_MISSING_IN("mica_command_set_id", commands))
        return false;
    const micap_recorded_kind *kind = kind_of(commands, MICAP_SHAPE_SET, &value, 1, location);
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "set", &last) : NULL;
    if (!at)
        return false;
    if (last) {
        knowledge known = know(&commands->recording, last, value.component);
        if (known.has_value)
            return set_again(commands, entity, kind, &known, &value);
    }
    if (kind->value.offset && !fill_value(commands, kind->value.type, at + kind->value.offset, value.data))
        return false;
    end_change(commands, at, kind, entity, last);
    return true;
}

/* The fast path: the kind that was used last, and an entity with a higher index than all others. Calls at the end only, so that
 * nothing is kept on the stack. */
bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value, mica_location location)
{
    if (MICAP_UNLIKELY(!commands))
        return set_any(commands, entity, value, location);
    micap_check_buffer(commands);
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *kind = recording->recent;
    if (MICAP_UNLIKELY(!kind || !value.data || kind->fast_bytes != value.size_bytes ||
                       kind->value.component != value.component ||
                       !is_kind(kind, MICAP_SHAPE_SET, location, commands->label) ||
                       entity.index <= recording->highest ||
                       (size_t)(recording->limit - recording->end) < kind->stride ||
                       micap_record_chunk(micap_record_of(&commands->world->entities, entity)) <= MICAP_CHUNK_PENDING))
        return set_any(commands, entity, value, location);
    char *at = recording->end;
    recording->highest = entity.index;
    commit(recording, at, kind, entity, NULL);
    return micap_copy_words(at + sizeof(micap_recorded), value.data, value.size_bytes), true;
}

/* Where an instance goes that is recorded, and its kind. */
static char *begin_instance(mica_commands *commands, mica_entity entity, mica_component component,
                            mica_location location, const char *what, const micap_recorded_kind **out_kind,
                            micap_recorded **out_last)
{
    *out_kind = kind_for(commands, MICAP_OPERATION_INSTANCE, component, location);
    return *out_kind ? begin_change(commands, *out_kind, entity, what, out_last) : NULL;
}

void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    const micap_type *type = check_type(commands, component, location);
    if (type && !type->type.many) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s is not for many instances: describe it with MICA_POOL_WITH and .many = true",
                   type->type.name);
        return NULL;
    }
    const micap_recorded_kind *kind;
    micap_recorded *last;
    char *at = type ? begin_instance(commands, entity, component, location, "add_instance", &kind, &last) : NULL;
    if (!at || !fill_value(commands, type, at + kind->value.offset, NULL))
        return NULL;
    end_change(commands, at, kind, entity, last);
    return at + kind->value.offset;
}

bool micap_command_copy_instance(mica_commands *commands, mica_entity entity, const mica_pool *pool, uint32_t row)
{
    const micap_recorded_kind *kind;
    micap_recorded *last;
    char *at = begin_instance(commands, entity, pool->type->id, (mica_location){0}, "clone", &kind, &last);
    if (!at)
        return false;
    char *value = at + kind->value.offset;
    if (!fill_value(commands, pool->type, value, pool->values ? micap_pool_value(pool, row) : NULL))
        return false;
    if (!pool->values)
        micap_pool_read_value(pool, row, value);
    end_change(commands, at, kind, entity, last);
    return true;
}

bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    const micap_recorded_kind *kind = kind_for(commands, MICAP_OPERATION_REMOVE, component, location);
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "remove", &last) : NULL;
    if (!at)
        return false;
    knowledge known = know(&commands->recording, last, component);
    if (known.last == MICAP_OPERATION_REMOVE)
        return false;
    end_change(commands, at, kind, entity, last);
    return will_have(commands, &known, entity, component);
}

bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component, bool enabled,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    uint32_t toggle = enabled ? MICAP_TOGGLE_ON : MICAP_TOGGLE_OFF;
    const micap_recorded_kind *kind = kind_for(commands, MICAP_SHAPE_TOGGLE * toggle, component, location);
    if (kind && !kind->value.type->type.toggle) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s can't be toggled: describe it with .toggle = true", kind->value.type->type.name);
        return false;
    }
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "enable", &last) : NULL;
    if (!at)
        return false;
    knowledge known = know(&commands->recording, last, component);
    if (!will_have(commands, &known, entity, component))
        return false;
    if (known.toggled)
        known.toggled->kind = (uint32_t)(kind - commands->recording.kinds);
    else
        end_change(commands, at, kind, entity, last);
    return true;
}
