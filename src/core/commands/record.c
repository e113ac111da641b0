/* Runs in the thread of its buffer: it reads the world, and writes only the buffer and the records of its own handles.
 *
 * A change is recorded in three steps: find its kind, find the changes to the same entity that are recorded already, append
 * it. set and create have a fast path for the kind that was used last. */
#include "core/commands/record.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/commands/record_kind.h"
#include "core/commands/record_outcome.h"
#include "core/commands/record_wider.h"
#include "core/entity/required.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "mica/split.h"

enum { SEGMENT_BYTES_FIRST = 512, SEGMENT_BYTES_MAX = 1 << 16 };

static void *stage(mica_commands *commands, size_t bytes, size_t alignment)
{
    return micap_stage_allocate(&commands->world->memory, &commands->recording.stage, bytes, alignment);
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
    const micap_recording *recording = &commands->recording;
    if (MICAP_LIKELY((size_t)(recording->limit - recording->end) >= kind->room_bytes))
        return recording->end;
    char *at = begin_segment(commands, kind);
    if (!at)
        micap_fail_memory(commands->world, "command");
    return at;
}

/* Makes a change exist, the first one of an entity. */
static MICAP_INLINE micap_recorded *commit(micap_recording *recording, char *at, const micap_recorded_kind *kind,
                                           uint32_t bytes, mica_entity entity)
{
    micap_recorded *change = (micap_recorded *)(void *)at;
    change->entity = entity;
    change->kind = kind->number;
    change->state = MICAP_RECORDED_FIRST;
    change->next = NULL;
    recording->last = change;
    recording->end = at + bytes;
    ++recording->change_count;
    return change;
}

/* Notes that an entity is changed that exists. */
static MICAP_INLINE void widen_range(micap_recording *recording, uint32_t index)
{
    if (MICAP_LIKELY(index > recording->lowest && micap_recording_has_range(recording))) {
        uint32_t span = index - recording->lowest;
        recording->span = span > recording->span ? span : recording->span;
        return;
    }
    recording->span = micap_recording_has_range(recording) ? recording->span + (recording->lowest - index) : 0;
    recording->lowest = index;
}

static void note_pending(micap_recording *recording, uint32_t index)
{
    if (index > recording->highest_pending)
        recording->highest_pending = index;
}

/* The fast path: whether the next change fits in where the last one ended, and is the first one of its entity, which exists and
 * whose index is above or below all others. */
static MICAP_INLINE bool is_first(const mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity,
                                  uint64_t *out_record)
{
    const micap_recording *recording = &commands->recording;
    *out_record = micap_record_of(&commands->world->entities, entity);
    return MICAP_LIKELY(entity.index - recording->lowest > recording->span &&
                        micap_record_chunk(*out_record) > MICAP_CHUNK_PENDING &&
                        (uintptr_t)recording->end + kind->room_bytes <= (uintptr_t)recording->limit);
}

/* Appends such a change. Returns where it is. */
static MICAP_INLINE char *append_first(micap_recording *recording, const micap_recorded_kind *kind, mica_entity entity)
{
    char *at = recording->end;
    commit(recording, at, kind, kind->room_bytes, entity);
    if (MICAP_LIKELY(entity.index > recording->lowest)) {
        recording->span = entity.index - recording->lowest;
    } else {
        recording->span += recording->lowest - entity.index;
        recording->lowest = entity.index;
    }
    return at;
}

/* The same for an entity whose index lies between others, if the table has all changes so far and the first place for the entity is
 * free: then this is its first change, too. Returns NULL if that is not so. */
static MICAP_NOINLINE char *append_to_table(mica_commands *commands, const micap_recorded_kind *kind,
                                            mica_entity entity)
{
    micap_recording *recording = &commands->recording;
    char *at = recording->end;
    uint32_t mask = recording->table_capacity - 1;
    micap_recorded **slot = &recording->table[micap_probe(entity.index, 0) & mask];
    uint64_t record = micap_record_of(&commands->world->entities, entity);
    if (*slot || (recording->table_count + 1) * 2 > recording->table_capacity ||
        (uintptr_t)at + kind->room_bytes > (uintptr_t)recording->limit || !micap_recording_has_range(recording) ||
        entity.index - recording->lowest > recording->span || micap_record_chunk(record) <= MICAP_CHUNK_PENDING)
        return NULL;
    *slot = commit(recording, at, kind, kind->room_bytes, entity);
    recording->tabled_slot = slot;
    ++recording->table_count;
    recording->tabled.at = recording->end;
    return at;
}

static inline char *append_between(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity)
{
    const micap_recording *recording = &commands->recording;
    return recording->table && recording->tabled.at == recording->end ? append_to_table(commands, kind, entity) : NULL;
}

/* Where a change of an entity goes, and its last change so far. NULL with a report if it is dead as far as this buffer knows, or
 * if memory runs out. */
static char *begin_change(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity,
                          const char *what, micap_recorded **out_known)
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

/* An entity whose creation another buffer recorded counts as one that exists too: it may exist when it is changed again. */
static void end_change(mica_commands *commands, char *at, const micap_recorded_kind *kind, mica_entity entity,
                       micap_recorded *known)
{
    micap_recording *recording = &commands->recording;
    if (known && known == recording->last &&
        recording->tabled.at == at) /* the entity is the last one in the table, too */
        recording->slot = recording->tabled_slot;
    micap_recorded *change = commit(recording, at, kind, kind->stride, entity);
    if (recording->slot) { /* of the table, in which all others are */
        recording->tabled_slot = recording->slot;
        *recording->slot = change;
        recording->table_count += !known;
        recording->tabled = (micap_log_cursor){recording->segment_count - 1, recording->end};
        recording->slot = NULL;
    }
    if (known) {
        change->state = MICAP_RECORDED_LATER;
        change->next = micap_recorded_first(known);
        known->next = change;
        return;
    }
    if (micap_record_chunk(micap_record_of(&commands->world->entities, entity)) == MICAP_CHUNK_PENDING) {
        note_pending(recording, entity.index);
        recording->has_foreign = true;
    }
    widen_range(recording, entity.index);
}

/* Fills a raw staged value with a copy, or with the default. */
static inline bool fill_value(const mica_commands *commands, const micap_type *type, void *value, const void *from)
{
    if (MICAP_LIKELY(type->trivial)) {
        if (from)
            micap_copy_fresh(value, from, type->type.size_bytes);
        else if (type->initial)
            memcpy(value, type->initial, type->type.size_bytes);
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

/* Creates an entity with the values of a kind and no others; nil if there is no kind. */
static mica_entity create_given(mica_commands *commands, const micap_recorded_kind *kind, const mica_value *values)
{
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
    commit(&commands->recording, at, kind, kind->stride, entity);
    note_pending(&commands->recording, entity.index);
    ++commands->recording.created_count;
    return entity;
}

/* A kind that is not known yet. */
static mica_entity create_new(mica_commands *commands, const mica_value *values, uint32_t count, mica_location location)
{
    if (MICAP_LIKELY(!micap_values_lack_required(values, count)))
        return create_given(commands, micap_kind_add(commands, MICAP_OPERATION_CREATE, values, count, location),
                            values);
    micap_complete complete;
    if (!micap_values_complete(commands->world, values, count, &complete))
        return mica_nil();
    mica_entity entity = mica_command_create_id(commands, complete.values, complete.count, location);
    micap_complete_free(commands->world, &complete);
    return entity;
}

mica_entity micap_command_create_exactly(mica_commands *commands, const mica_value *values, uint32_t count)
{
    uint32_t shape = MICAP_OPERATION_CREATE | MICAP_SHAPE_EXACT;
    return create_given(commands, micap_kind_of(commands, shape, values, count, (mica_location){0}), values);
}

/* Whether a handle can be taken without looking for more. */
static MICAP_INLINE bool is_stocked(const mica_commands *commands)
{
    return commands->owned ? micap_entity_is_ready(&commands->world->entities) : commands->stock_count != 0;
}

/* Takes a handle in the common case. */
static MICAP_INLINE mica_entity take_ready(mica_commands *commands)
{
    mica_entity entity;
    if (commands->owned) {
        micap_entities *entities = &commands->world->entities;
        uint64_t *record;
        micap_touch_next_record(entities);
        entity = micap_entity_take_ready(entities, &record);
        *record = micap_record_pack(entity.generation, MICAP_CHUNK_PENDING, 0);
        return entity;
    }
    entity = commands->stock[--commands->stock_count];
    ++commands->taken_count;
    micap_entity_give_out(&commands->world->entities, entity);
    return entity;
}

/* Copies the values of a creation, if its kind is this one and simple; otherwise returns false. */
static MICAP_INLINE bool copy_values(const micap_recorded_kind *kind, char *at, const mica_value *values,
                                     uint32_t count)
{
    const micap_kind_value *place = micap_kind_values(kind);
    for (; count; --count, ++place, ++values) {
        if (MICAP_UNLIKELY(place->component != values->component || place->size_bytes != values->size_bytes ||
                           place->is_set != (values->data != NULL)))
            return false;
        if (MICAP_LIKELY(place->is_set))
            micap_copy_fresh(at + place->offset, values->data, place->bytes);
        else if (place->offset)
            micap_zero_trivial(at + place->offset, place->bytes);
    }
    return true;
}

/* The fast path: whether a kind is that of a creation for which there is a handle and room. Then its values are copied. */
static MICAP_INLINE bool copy_created(const mica_commands *commands, const micap_recorded_kind *kind,
                                      const mica_value *values, uint32_t count, mica_location location)
{
    const micap_recording *recording = &commands->recording;
    return MICAP_LIKELY(is_stocked(commands) && kind->value_count == count &&
                        kind->fast_shape == MICAP_OPERATION_CREATE && kind->location.line == location.line &&
                        kind->location.file == location.file && kind->label == commands->label &&
                        (uintptr_t)recording->end + kind->room_bytes <= (uintptr_t)recording->limit &&
                        copy_values(kind, recording->end, values, count));
}

/* Appends such a creation. */
static MICAP_INLINE mica_entity append_created(mica_commands *commands, const micap_recorded_kind *kind)
{
    micap_recording *recording = &commands->recording;
    mica_entity entity = take_ready(commands);
    commit(recording, recording->end, kind, kind->room_bytes, entity);
    note_pending(recording, entity.index);
    ++recording->created_count;
    return entity;
}

/* A kind that does not follow the last one as it did before is looked up. A known one lacks no required components. */
static MICAP_NOINLINE mica_entity create_other(mica_commands *commands, const mica_value *values, uint32_t count,
                                               mica_location location)
{
    const micap_recorded_kind *kind = micap_kind_find(commands, MICAP_OPERATION_CREATE, values, count, location);
    if (!kind)
        return create_new(commands, values, count, location);
    return copy_created(commands, kind, values, count, location) ? append_created(commands, kind)
                                                                 : create_given(commands, kind, values);
}

mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands) || MICAP_MISSING_ARRAY(commands->world, values, count))
        return mica_nil();
    micap_check_buffer(commands);
    micap_recording *recording = &commands->recording;
    if (MICAP_UNLIKELY(!recording->created))
        return create_other(commands, values, count, location);
    micap_recorded_kind *kind = &recording->kinds[recording->created->after]; /* a loop repeats what followed it */
    if (MICAP_UNLIKELY(!copy_created(commands, kind, values, count, location)))
        return create_other(commands, values, count, location);
    recording->created = kind;
    return append_created(commands, kind);
}

/* A kind that was not used last, an entity that was changed before, or no room. */
static MICAP_NOINLINE bool destroy_other(mica_commands *commands, mica_entity entity, mica_location location)
{
    if (MICAP_MISSING_IN("mica_command_destroy_id", commands))
        return false;
    const micap_recorded_kind *kind = micap_kind_for(commands, MICAP_OPERATION_DESTROY, 0, location);
    if (!commands->refusing)
        commands->recording.has_deaths = true;
    if (kind && append_between(commands, kind, entity))
        return true;
    micap_recorded *known;
    char *at = kind ? begin_change(commands, kind, entity, "destroy", &known) : NULL;
    if (at)
        end_change(commands, at, kind, entity, known);
    return at != NULL;
}

bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location)
{
    if (MICAP_UNLIKELY(!commands))
        return destroy_other(commands, entity, location);
    micap_check_buffer(commands);
    micap_check_change(commands->world, entity, location);
    const micap_recorded_kind *kind = commands->recording.recent;
    uint64_t record;
    if (MICAP_UNLIKELY(!kind || !micap_is_kind(kind, MICAP_OPERATION_DESTROY, location, commands->label) ||
                       !is_first(commands, kind, entity, &record)))
        return destroy_other(commands, entity, location);
    append_first(&commands->recording, kind, entity);
    commands->recording.has_deaths = true;
    return true;
}

/* The same if some of many instances are removed. */
static bool fill_kept(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                      const micap_type *type, void *value)
{
    const mica_pool *pool = micap_pool_of(commands->world, type->id);
    uint32_t row = micap_outcome_first_row(commands, known, entity, pool);
    if (row == MICAP_ROW_NONE)
        return fill_value(commands, type, value, known->instance);
    if (!fill_value(commands, type, value, pool->values ? micap_pool_value(pool, row) : NULL))
        return false;
    if (!pool->values)
        micap_pool_read_value(pool, row, value);
    return true;
}

/* Fills a staged value with the one that is there as far as this buffer knows, or with the default: in the world, unless it is
 * removed, and then the first instance that was recorded since. */
static bool fill_present(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                         const micap_type *type, void *value)
{
    if (known->lost)
        return fill_kept(commands, known, entity, type, value);
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

/* The value of an addition that was appended: zero. */
static inline void *added_value(char *at, const micap_recorded_kind *kind)
{
    if (!kind->value.offset)
        return &micap_tag_value;
    micap_zero_trivial(at + kind->value.offset, kind->value.bytes);
    return at + kind->value.offset;
}

static MICAP_NOINLINE void *add_any(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity)
{
    bool is_plain = kind->is_simple && kind->copies_as_bytes &&
                    commands->recording.tabled.at == commands->recording.end &&
                    !mica_has_id(commands->world, entity, kind->value.component);
    char *at = is_plain ? append_between(commands, kind, entity) : NULL;
    if (at)
        return added_value(at, kind);
    at = micap_is_last_created(&commands->recording, entity) ? micap_command_widen(commands, &kind, entity, false)
                                                             : NULL;
    if (at && kind->value.bytes)
        return micap_zero_trivial(at, kind->value.bytes), at;
    if (at)
        return &micap_tag_value;
    micap_recorded *last;
    at = begin_change(commands, kind, entity, "add", &last);
    if (!at)
        return NULL;
    micap_outcome known = micap_outcome_of(commands, last, kind->value.component);
    if (known.has_value)
        return known.value ? known.value : &micap_tag_value;
    char *value = kind->value.offset ? at + kind->value.offset : NULL;
    if (value && !fill_present(commands, &known, entity, kind->value.type, value))
        return NULL;
    end_change(commands, at, kind, entity, last);
    return value ? value : &micap_tag_value;
}

/* Whether an entity that exists has a component. */
static MICAP_INLINE bool has_now(const mica_world *world, mica_entity entity, uint64_t record, mica_component component)
{
    if (!micap_is_pooled(component))
        return micap_archetype_has(world->chunks.by_number[micap_record_chunk(record)]->archetype, component);
    const mica_pool *pool = micap_pool_of(world, component);
    return pool && micap_pooled_is_in(world, pool, entity);
}

void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    micap_check_buffer(commands);
    micap_check_change(commands->world, entity, location);
    const micap_recorded_kind *kind = micap_kind_for(commands, MICAP_SHAPE_ADD, component, location);
    if (MICAP_UNLIKELY(!kind))
        return NULL;
    uint64_t record;
    if (MICAP_UNLIKELY(!is_first(commands, kind, entity, &record) || !kind->is_simple || !kind->copies_as_bytes ||
                       has_now(commands->world, entity, record, component)))
        return add_any(commands, kind, entity);
    return added_value(append_first(&commands->recording, kind, entity), kind);
}

/* A value is staged already: replaces it, and notes that it was set. */
static bool set_again(mica_commands *commands, mica_entity entity, const micap_recorded_kind *kind,
                      const micap_outcome *known, const mica_value *value)
{
    mica_location location = kind->location;
    if (known->value && !replace_value(commands, kind->value.type, known->value, value->data))
        return false;
    if (known->is_set)
        return true;
    micap_recorded *last;
    kind = micap_kind_for(commands, MICAP_SHAPE_MARK, value->component, location);
    char *at = kind ? begin_change(commands, kind, entity, "set", &last) : NULL;
    if (at)
        end_change(commands, at, kind, entity, last);
    return at != NULL;
}

static MICAP_NOINLINE bool set_any(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity,
                                   mica_value value)
{
    micap_recorded *last;
    bool copies = kind->is_simple && kind->copies_as_bytes && (value.data || !kind->value.bytes);
    char *at = copies ? append_between(commands, kind, entity) : NULL;
    if (at) {
        micap_copy_fresh(at + kind->value.offset, value.data, kind->value.bytes);
        return true;
    }
    if (value.data && kind->value.bytes && micap_is_last_created(&commands->recording, entity)) {
        at = micap_command_widen(commands, &kind, entity, true);
        if (at) {
            micap_copy_fresh(at, value.data, kind->value.bytes);
            return true;
        }
    }
    at = begin_change(commands, kind, entity, "set", &last);
    if (!at)
        return false;
    if (last) {
        micap_outcome known = micap_outcome_of(commands, last, value.component);
        if (known.has_value)
            return set_again(commands, entity, kind, &known, &value);
    }
    if (kind->value.offset && !fill_value(commands, kind->value.type, at + kind->value.offset, value.data))
        return false;
    end_change(commands, at, kind, entity, last);
    return true;
}

/* Sets a value of one to four words, as the kind says. Calls at the end only, so that nothing is kept on the stack. */
static MICAP_INLINE bool set_words(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity,
                                   mica_value value)
{
    uint64_t record;
    if (MICAP_UNLIKELY(!value.data || !is_first(commands, kind, entity, &record)))
        return set_any(commands, kind, entity, value);
    char *at = append_first(&commands->recording, kind, entity);
    return micap_copy_words(at + sizeof(micap_recorded), value.data, value.size_bytes), true;
}

/* The same for other sizes, and for tags. With these in line, a set of words takes 10 instructions more. */
static MICAP_INLINE bool set_bytes(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity,
                                   mica_value value)
{
    uint64_t record;
    uint32_t bytes = kind->value.bytes;
    if (MICAP_UNLIKELY((!value.data && bytes) || !is_first(commands, kind, entity, &record)))
        return set_any(commands, kind, entity, value);
    char *at = append_first(&commands->recording, kind, entity);
    return micap_copy_inline(at + sizeof(micap_recorded), value.data, bytes), true;
}

/* A kind that was not used last, or for which set has no fast path. */
static MICAP_NOINLINE bool set_other(mica_commands *commands, mica_entity entity, mica_value value,
                                     mica_location location)
{
    if (MICAP_MISSING_IN("mica_command_set_id", commands))
        return false;
    micap_recording *recording = &commands->recording;
    const micap_recorded_kind *kind =
        recording->recent ? micap_guess_kind(recording, MICAP_SHAPE_SET, value.component) : NULL;
    if (!kind || !micap_is_kind(kind, MICAP_SHAPE_SET, location, commands->label) ||
        !micap_kind_has_values(kind, &value, 1))
        kind = micap_kind_of(commands, MICAP_SHAPE_SET, &value, 1, location);
    if (!kind)
        return false;
    if (kind->fast_shape)
        return set_words(commands, kind, entity, value);
    return kind->is_simple && kind->copies_as_bytes ? set_bytes(commands, kind, entity, value)
                                                    : set_any(commands, kind, entity, value);
}

bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value, mica_location location)
{
    if (MICAP_UNLIKELY(!commands))
        return set_other(commands, entity, value, location);
    micap_check_buffer(commands);
    micap_check_change(commands->world, entity, location);
    const micap_recorded_kind *kind = commands->recording.recent;
    if (MICAP_LIKELY(kind && kind->value.component == value.component && kind->value.size_bytes == value.size_bytes &&
                     kind->fast_shape == MICAP_SHAPE_SET && kind->location.line == location.line &&
                     kind->location.file == location.file && kind->label == commands->label))
        return set_words(commands, kind, entity, value);
    return set_other(commands, entity, value, location);
}

/* Where an instance goes that is recorded, and its kind. */
static char *begin_instance(mica_commands *commands, mica_entity entity, mica_component component, uint32_t shape,
                            mica_location location, const micap_recorded_kind **out_kind, micap_recorded **out_last)
{
    const char *what = shape & MICAP_SHAPE_EXACT ? "clone" : "add_instance";
    *out_kind = micap_kind_for(commands, MICAP_OPERATION_INSTANCE | shape, component, location);
    return *out_kind ? begin_change(commands, *out_kind, entity, what, out_last) : NULL;
}

void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    micap_check_change(commands->world, entity, location);
    const micap_type *type = micap_check_recordable(commands, component, location);
    if (type && !type->type.many) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s is not for many instances: describe it with MICA_POOL_WITH and .many = true",
                   type->type.name);
        return NULL;
    }
    const micap_recorded_kind *kind;
    micap_recorded *last;
    char *at = type ? begin_instance(commands, entity, component, 0, location, &kind, &last) : NULL;
    if (!at || !fill_value(commands, type, at + kind->value.offset, NULL))
        return NULL;
    end_change(commands, at, kind, entity, last);
    return at + kind->value.offset;
}

bool micap_command_copy_instance(mica_commands *commands, mica_entity entity, const mica_pool *pool, uint32_t row)
{
    const micap_recorded_kind *kind;
    micap_recorded *last;
    char *at = begin_instance(commands, entity, pool->type->id, MICAP_SHAPE_EXACT, (mica_location){0}, &kind, &last);
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

bool micap_command_remove_instance(mica_commands *commands, const mica_pool *pool, uint32_t row)
{
    mica_entity entity = pool->owners[row];
    mica_component component = pool->type->id;
    if (!pool->next)
        return mica_command_remove_id(commands, entity, component, (mica_location){0});
    mica_value nth = {.component = component};
    for (uint32_t at = micap_pool_row(pool, entity); at != row && at != MICAP_ROW_NONE; at = pool->next[at])
        ++nth.size_bytes;
    const micap_recorded_kind *kind =
        micap_kind_of(commands, MICAP_OPERATION_REMOVE_INSTANCE, &nth, 1, (mica_location){0});
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "pool_remove", &last) : NULL;
    if (!at)
        return false;
    micap_outcome known = micap_outcome_of(commands, last, component);
    if (known.is_removed || micap_outcome_removes(&commands->recording, &known, component, nth.size_bytes))
        return false;
    end_change(commands, at, kind, entity, last);
    return true;
}

static MICAP_NOINLINE bool remove_any(mica_commands *commands, const micap_recorded_kind *kind, mica_entity entity)
{
    if (append_between(commands, kind, entity))
        return mica_has_id(commands->world, entity, kind->value.component);
    micap_recorded *last;
    char *at = begin_change(commands, kind, entity, "remove", &last);
    if (!at)
        return false;
    micap_outcome known = micap_outcome_of(commands, last, kind->value.component);
    if (known.last == MICAP_OPERATION_REMOVE)
        return false;
    bool there = micap_outcome_has(commands, &known, entity, kind->value.component);
    end_change(commands, at, kind, entity, last);
    return there;
}

bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    micap_check_change(commands->world, entity, location);
    const micap_recorded_kind *kind = micap_kind_for(commands, MICAP_OPERATION_REMOVE, component, location);
    if (MICAP_UNLIKELY(!kind))
        return false;
    uint64_t record;
    if (MICAP_UNLIKELY(!is_first(commands, kind, entity, &record)))
        return remove_any(commands, kind, entity);
    append_first(&commands->recording, kind, entity);
    return has_now(commands->world, entity, record, component);
}

bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component, bool enabled,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    micap_check_change(commands->world, entity, location);
    uint32_t toggle = enabled ? MICAP_TOGGLE_ON : MICAP_TOGGLE_OFF;
    const micap_recorded_kind *kind = micap_kind_for(commands, MICAP_SHAPE_TOGGLE * toggle, component, location);
    if (kind && !kind->value.type->type.toggle) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s can't be toggled: describe it with .toggle = true", kind->value.type->type.name);
        return false;
    }
    micap_recorded *last;
    char *at = kind ? begin_change(commands, kind, entity, "enable", &last) : NULL;
    if (!at)
        return false;
    micap_outcome known = micap_outcome_of(commands, last, component);
    if (!micap_outcome_has(commands, &known, entity, component))
        return false;
    if (known.toggled)
        known.toggled->kind = kind->number;
    else
        end_change(commands, at, kind, entity, last);
    return true;
}
