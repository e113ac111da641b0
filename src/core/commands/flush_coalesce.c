/* The first step of a flush: one list of steps, in order of buffer and of first touch. Several changes of an entity, in one
 * buffer or in several, become one change of a combined kind, for which the batch tier is; or, if they are not all simple, a
 * target, into which they are merged. Later ones have the last word. The recordings are only read. */
#include "core/commands/flush_coalesce.h"

#include "base/assert.h"
#include "base/bits.h"
#include "core/commands/record_kind.h"
#include "core/world/world.h"

/* Lists a staged value that is to be dropped. */
static bool drop_value(mica_world *world, const micap_type *type, void *value)
{
    micap_flush *flush = &world->flush;
    if (!value || type->trivial)
        return true;
    if (!MICAP_RESERVE(&world->memory, flush->dropped, &flush->dropped_capacity, (uint64_t)flush->dropped_count + 1))
        return false;
    flush->dropped[flush->dropped_count++] = (micap_dropped){type, value};
    return true;
}

bool micap_flush_drop_values(mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; command; command = command->next)
        if (!drop_value(world, command->type, command->value))
            return false;
    return true;
}

/* Lists the staged values of a change that is not made. */
static bool drop_change(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (!drop_value(world, values[i].type, micap_recorded_value(change, &values[i])))
            return false;
    return true;
}

bool micap_flush_drop_dead(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind)
{
    return drop_change(world, change, kind) &&
           micap_flush_set_aside(world, change->entity, kind->location, kind->label);
}

bool micap_flush_set_aside(mica_world *world, mica_entity entity, mica_location location, const char *label)
{
    micap_flush *flush = &world->flush;
    if (!MICAP_RESERVE(&world->memory, flush->dead, &flush->dead_capacity, (uint64_t)flush->dead_count + 1))
        return false;
    flush->dead[flush->dead_count++] = (micap_dead){entity, location, label};
    return true;
}

static MICAP_INLINE bool append_command(mica_world *world, micap_target *into, const micap_command *command)
{
    micap_command *copy = micap_flush_allocate(world, sizeof *copy);
    if (!copy)
        return false;
    *copy = *command;
    *(into->last ? &into->last->next : &into->first) = copy;
    into->last = copy;
    into->has_toggles |= command->toggle != MICAP_TOGGLE_KEEP;
    return true;
}

static void unlink_command(micap_target *target, const micap_command *command)
{
    micap_command *before = NULL;
    for (micap_command *at = target->first; at != command; at = at->next)
        before = at;
    if (before)
        before->next = command->next;
    else
        target->first = command->next;
    if (target->last == command)
        target->last = before;
}

/* What is left of two toggles. One for a component which the earlier command removes finds nothing, and one that the earlier
 * command adds is there for it. What is added anew is switched on. */
static void merge_toggle(micap_target *target, micap_command *into, const micap_command *later)
{
    target->has_toggles = true;
    if (later->toggle != MICAP_TOGGLE_KEEP) {
        if (into->operation == MICAP_OPERATION_REMOVE)
            return;
        into->toggle = later->toggle;
        into->toggle_first = false;
    } else if (later->operation == MICAP_OPERATION_VALUE && into->operation == MICAP_OPERATION_REMOVE) {
        into->toggle = MICAP_TOGGLE_ON;
        into->toggle_first = false;
    } else if (later->operation == MICAP_OPERATION_VALUE && into->operation == MICAP_OPERATION_NONE) {
        into->toggle_first = into->toggle != MICAP_TOGGLE_KEEP;
    } else if (later->operation == MICAP_OPERATION_REMOVE) {
        into->toggle = MICAP_TOGGLE_KEEP;
    }
}

/* Replaces the value of the earlier command with that of the later one. */
static bool replace(mica_world *world, micap_command *earlier, const micap_command *later)
{
    if (!drop_value(world, earlier->type, earlier->value))
        return false;
    earlier->operation = later->operation;
    earlier->value = later->value;
    earlier->is_set = later->is_set;
    earlier->is_default = false;
    return true;
}

/* A removal of all instances makes what was recorded before it void. */
static bool drop_many(mica_world *world, micap_target *into, const micap_type *type)
{
    for (micap_command *command = into->first, *next; command; command = next) {
        next = command->next;
        if (command->type != type)
            continue;
        if (!drop_value(world, command->type, command->value))
            return false;
        unlink_command(into, command);
    }
    return true;
}

/* What is recorded for many instances is done one after the other. A value for the first instance takes the place of another,
 * unless an instance was removed in between. A switch right after a removal finds nothing, and an instance is removed once. */
static bool merge_many(mica_world *world, micap_target *into, const micap_command *later)
{
    if (later->operation == MICAP_OPERATION_REMOVE)
        return drop_many(world, into, later->type) && append_command(world, into, later);
    micap_operation last = MICAP_OPERATION_NONE;
    micap_command *value = NULL;
    bool was_removed = false;
    for (micap_command *command = into->first; command; command = command->next) {
        if (command->type != later->type)
            continue;
        last = (micap_operation)command->operation;
        if (last == MICAP_OPERATION_VALUE && !value)
            value = command;
        else if (last == MICAP_OPERATION_REMOVE_INSTANCE)
            value = NULL;
        was_removed |=
            last == MICAP_OPERATION_REMOVE || (last == MICAP_OPERATION_REMOVE_INSTANCE && command->nth == later->nth);
    }
    if (later->operation == MICAP_OPERATION_VALUE && value)
        return replace(world, value, later);
    bool finds_nothing = (later->operation == MICAP_OPERATION_NONE && last == MICAP_OPERATION_REMOVE) ||
                         (later->operation == MICAP_OPERATION_REMOVE_INSTANCE && was_removed);
    return finds_nothing || append_command(world, into, later);
}

/* The last operation of a target on a component; NONE if there is only a toggle, or nothing. */
static micap_operation last_operation(const micap_target *target, const micap_type *type)
{
    micap_operation last = MICAP_OPERATION_NONE;
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->type == type && command->operation != MICAP_OPERATION_NONE)
            last = (micap_operation)command->operation;
    return last;
}

/* Merges a component that comes along with another one: after a removal it has its default value, and otherwise it is added if nothing
 * else adds it. */
static bool merge_required(mica_world *world, micap_target *into, const micap_type *type)
{
    micap_operation last = last_operation(into, type);
    bool is_removed = last == MICAP_OPERATION_REMOVE;
    if (last != MICAP_OPERATION_NONE && !is_removed)
        return true;
    into->brings = true;
    micap_command *earlier = type->type.many ? NULL : into->first;
    while (earlier && earlier->type != type)
        earlier = earlier->next;
    micap_command later = {.type = type, .operation = MICAP_OPERATION_VALUE};
    if (earlier)
        merge_toggle(into, earlier, &later);
    later.operation = is_removed ? MICAP_OPERATION_VALUE : MICAP_OPERATION_REQUIRED;
    later.is_default = is_removed;
    if (!earlier)
        return append_command(world, into, &later);
    earlier->operation = later.operation;
    earlier->is_default = is_removed;
    return true;
}

/* The later command replaces the earlier one for its component; there is one. */
static MICAP_NOINLINE bool merge_command(mica_world *world, micap_target *into, const micap_command *later,
                                         bool is_mark)
{
    micap_command *earlier = into->first;
    while (earlier && (earlier->type != later->type || (is_mark && earlier->operation != MICAP_OPERATION_VALUE)))
        earlier = earlier->next;
    MICAP_ASSERT(earlier, "a change is merged with an earlier one of its component, and a mark with a value");
    if (is_mark) {
        earlier->is_set = true;
        return true;
    }
    if (later->type->type.many)
        return merge_many(world, into, later);
    merge_toggle(into, earlier, later);
    return later->operation == MICAP_OPERATION_NONE || replace(world, earlier, later);
}

static bool merge_death(mica_world *world, micap_target *into, const micap_recorded_kind *kind)
{
    if (!micap_flush_drop_values(world, into))
        return false;
    into->first = into->last = NULL;
    into->destroyed = true;
    into->kind = kind;
    return true;
}

static inline bool has_command(const micap_target *target, const micap_type *type)
{
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->type == type)
            return true;
    return false;
}

/* Merges what comes along with a component, unless the entity has it already: as the changes before say, or as it is. */
static bool merge_all_required(mica_world *world, micap_target *into, const micap_type *type)
{
    micap_operation last = last_operation(into, type);
    if (last == MICAP_OPERATION_NONE ? mica_has_id(world, into->entity, type->id) : last != MICAP_OPERATION_REMOVE)
        return true;
    for (uint32_t i = 0; i < type->required_count; ++i)
        if (!merge_required(world, into, micap_type_of(type->required[i])))
            return false;
    return true;
}

static bool merge_change(mica_world *world, micap_target *into, micap_recorded *change, const micap_recorded_kind *kind)
{
    micap_operation operation = micap_kind_operation(kind);
    const micap_kind_value *values = micap_kind_values(kind);
    if (operation == MICAP_OPERATION_DESTROY)
        return merge_death(world, into, kind);
    into->created |= operation == MICAP_OPERATION_CREATE;
    for (uint32_t i = 0; i < kind->value_count; ++i) {
        micap_command command = {.value = micap_recorded_value(change, &values[i]),
                                 .type = values[i].type,
                                 .nth = values[i].size_bytes,
                                 .operation = values[i].operation,
                                 .toggle = (uint8_t)(kind->shape / MICAP_SHAPE_TOGGLE),
                                 .is_set = micap_kind_sets(kind, &values[i])};
        if (MICAP_UNLIKELY(kind->has_required) && !merge_all_required(world, into, values[i].type))
            return false;
        bool is_only = !has_command(into, values[i].type);
        if (!(is_only ? append_command(world, into, &command)
                      : merge_command(world, into, &command, kind->shape == MICAP_SHAPE_MARK)))
            return false;
    }
    return true;
}

/* The next change of an entity, or NULL. */
static inline micap_recorded *after(const micap_recorded *change, const micap_recorded *first)
{
    return change->next == first ? NULL : change->next;
}

/* Changes for an entity that an earlier buffer destroys. */
static bool drop_changes(mica_world *world, micap_target *into, const micap_recording *recording, micap_recorded *first)
{
    const micap_recorded_kind *reported = &recording->kinds[first->kind];
    for (micap_recorded *change = first; change;) {
        const micap_recorded_kind *kind = &recording->kinds[change->kind];
        into->created |= micap_kind_operation(kind) == MICAP_OPERATION_CREATE;
        if (micap_kind_operation(kind) == MICAP_OPERATION_DESTROY)
            reported = kind;
        if (!drop_change(world, change, kind))
            return false;
        change = after(change, first);
    }
    return micap_flush_set_aside(world, into->entity, reported->location, reported->label);
}

/* Merges all changes that a recording has for an entity. */
static bool merge_changes(mica_world *world, micap_target *into, const micap_recording *recording,
                          micap_recorded *first)
{
    if (into->destroyed)
        return drop_changes(world, into, recording, first);
    for (micap_recorded *change = first; change;) {
        if (!merge_change(world, into, change, &recording->kinds[change->kind]))
            return false;
        change = after(change, first);
    }
    return true;
}

static micap_target *begin_target(mica_world *world, mica_entity entity, const micap_recorded_kind *kind)
{
    micap_target *target = micap_flush_allocate(world, sizeof *target);
    if (target)
        *target = (micap_target){.entity = entity, .kind = kind};
    return target;
}

micap_target *micap_flush_make_target(mica_world *world, micap_recorded *change, const micap_recorded_kind *kind)
{
    micap_target *target = begin_target(world, change->entity, kind);
    return target && merge_change(world, target, change, kind) ? target : NULL;
}

/* The target of a step that has one entity: made from its change if need be. */
static micap_target *target_of(mica_world *world, micap_gathered *step)
{
    if (!step->kind)
        return step->target;
    micap_target *target = micap_flush_make_target(world, step->changes, step->kind);
    if (target)
        *step = (micap_gathered){.target = target, .count = 1};
    return target;
}

static mica_entity entity_of(const micap_gathered *step)
{
    return step->kind ? step->changes->entity : step->target->entity;
}

static uint32_t slot_of(const micap_flush *flush, mica_entity entity)
{
    for (uint32_t attempt = 0;; ++attempt) {
        uint32_t slot = micap_probe(entity.index, attempt) & flush->table_mask;
        if (!flush->table[slot] || mica_same(entity_of(&flush->gathered[flush->table[slot] - 1]), entity))
            return slot;
    }
}

static bool reserve_table(mica_world *world, uint64_t entity_count)
{
    micap_flush *flush = &world->flush;
    flush->table_mask = (uint32_t)micap_power_of_two_at_least(entity_count * 2 + 2) - 1;
    if (!MICAP_RESERVE(&world->memory, flush->table, &flush->table_capacity, (uint64_t)flush->table_mask + 1))
        return false;
    memset(flush->table, 0, (flush->table_mask + (size_t)1) * sizeof *flush->table);
    return true;
}

/* The context is a bool: whether there was no error so far. */
static void doom(mica_world *world, const mica_entity *entities, uint32_t count, void *context)
{
    micap_flush *flush = &world->flush;
    bool *fine = context;
    for (uint32_t i = 0; *fine && i < count; ++i) {
        uint32_t position = flush->table[slot_of(flush, entities[i])];
        if (!position)
            continue;
        micap_target *target = target_of(world, &flush->gathered[position - 1]);
        *fine = target && (target->destroyed || merge_death(world, target, target->kind));
        if (*fine)
            flush->has_doomed = target->doomed = true;
    }
}

static bool is_death(const micap_gathered *step)
{
    return step->kind ? micap_kind_operation(step->kind) == MICAP_OPERATION_DESTROY
                      : step->target->destroyed && !step->target->doomed;
}

bool micap_flush_doom_dependents(mica_world *world)
{
    micap_flush *flush = &world->flush;
    bool fine = true;
    for (uint32_t i = 0; world->has_dependents && flush->has_table && fine && i < flush->gathered_count; ++i)
        if (is_death(&flush->gathered[i]) &&
            micap_is_attached(&world->attachments, entity_of(&flush->gathered[i]).index))
            micap_modules_each_dependent(world, entity_of(&flush->gathered[i]), doom, &fine);
    return fine;
}

/* Where the changes of a segment end. */
static const char *end_of(const micap_recording *recording, uint32_t segment)
{
    return segment + 1 == recording->segment_count ? recording->end : recording->segments[segment].end;
}

/* Whether other entities may die with one that dies. */
static bool has_attached_deaths(const mica_world *world, const micap_recording *recording)
{
    const micap_recorded_kind *kinds = recording->kinds;
    for (uint32_t i = 0; i < recording->segment_count; ++i) {
        const char *at = recording->segments[i].first, *end = end_of(recording, i);
        for (const micap_recorded *change; at < end; at += kinds[change->kind].stride) {
            change = (const micap_recorded *)(const void *)at;
            if (micap_kind_operation(&kinds[change->kind]) == MICAP_OPERATION_DESTROY &&
                micap_is_attached(&world->attachments, change->entity.index))
                return true;
        }
    }
    return false;
}

/* Whether an entity may have to be found among what is gathered: several buffers may change it, or it may die with another
 * one. Buffers of a system that worked on rows in pieces change rising indices. */
static bool needs_table(const mica_world *world, uint64_t *out_entity_count)
{
    uint32_t buffers = 0;
    uint64_t next = 0;
    bool rises = true, has_notes = false, dies = false, dies_with_others = false, has_foreign = false;
    *out_entity_count = 0;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        const micap_recording *recording = &commands->applied;
        has_notes |= recording->first_note != NULL;
        if (!recording->change_count)
            continue;
        ++buffers;
        *out_entity_count += recording->change_count;
        if (recording->has_deaths) {
            dies = true;
            dies_with_others |= world->has_dependents && has_attached_deaths(world, recording);
        }
        has_foreign |= recording->has_foreign;
        if (!micap_recording_has_range(recording))
            continue;
        rises &= recording->lowest >= next;
        next = (uint64_t)recording->lowest + recording->span + 1;
    }
    return (buffers > 1 && (!rises || has_foreign)) || dies_with_others || (dies && has_notes);
}

static MICAP_INLINE bool push(mica_world *world, micap_gathered step)
{
    micap_flush *flush = &world->flush;
    if (!MICAP_RESERVE(&world->memory, flush->gathered, &flush->gathered_capacity, (uint64_t)flush->gathered_count + 1))
        return false;
    flush->gathered[flush->gathered_count++] = step;
    return true;
}

/* The kind of changes of two kinds, one after the other. NULL if they need a target, or if memory runs out. */
static const micap_recorded_kind *kind_of_both(mica_world *world, const micap_recorded_kind *first,
                                               const micap_recorded_kind *then)
{
    static const micap_recorded_kind none = {.is_simple = false};
    if (micap_kind_operation(then) == MICAP_OPERATION_DESTROY)
        return micap_kind_operation(first) == MICAP_OPERATION_CREATE || first->shape == MICAP_OPERATION_DESTROY ||
                       !first->is_trivial
                   ? NULL
                   : then;
    void **found = micap_flush_find(world, first, then);
    if (found && !*found) {
        micap_recorded_kind *kind = micap_flush_allocate(world, sizeof *kind);
        uint32_t count = first->value_count + then->value_count;
        micap_kind_value *values = kind ? micap_flush_allocate(world, count * sizeof *values) : NULL;
        if (!values)
            return NULL;
        *found = micap_kind_combine(first, then, values, kind) ? kind : memcpy(kind, &none, sizeof none);
    }
    const micap_recorded_kind *kind = found ? *found : NULL;
    return kind && kind->is_simple ? kind : NULL;
}

/* Copies the values of a change into the one that it is merged into. */
static inline void copy_values(micap_recorded *into, const micap_recorded_kind *into_kind, micap_recorded *change,
                               const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    uint32_t count = kind->stride == sizeof *change ? 0 : kind->value_count; /* mostly there is one value, or none */
    for (uint32_t i = 0; i < count; ++i) {
        const micap_kind_value *place = into_kind->values;
        if (!values[i].offset)
            continue;
        while (place->component != values[i].component)
            ++place;
        if (place->offset)
            micap_copy_trivial((char *)into + place->offset, (char *)change + values[i].offset, values[i].bytes);
    }
}

/* Merges changes into a step, as one change of a combined kind. False if they need a target, or if memory runs out; then the step is
 * as it was. */
static bool combine(mica_world *world, micap_gathered *step, const micap_recording *recording, micap_recorded *change,
                    const micap_recorded *first)
{
    const micap_recorded_kind *kind = step->kind, *kinds = recording->kinds;
    micap_recorded *last = change;
    for (micap_recorded *at = change; at; last = at, at = after(at, first)) {
        kind = kind_of_both(world, kind, &kinds[at->kind]);
        if (!kind)
            return false;
    }
    if (kind->shape == MICAP_OPERATION_DESTROY) {
        *step = (micap_gathered){.kind = kind, .changes = last, .count = 1};
        return true;
    }
    micap_recorded *merged = micap_stage_allocate(&world->memory, &world->flush.stage, kind->stride, kind->alignment);
    if (!merged)
        return false;
    *merged = (micap_recorded){.entity = first->entity};
    copy_values(merged, kind, step->changes, step->kind);
    for (; change; change = after(change, first))
        copy_values(merged, kind, change, &kinds[change->kind]);
    *step = (micap_gathered){.kind = kind, .changes = merged, .count = 1};
    return true;
}

/* Adds an entity that may be there already, because another buffer changes it too, or that has more than one simple change. */
static bool add_entity(mica_world *world, const micap_recording *recording, micap_recorded *first)
{
    micap_flush *flush = &world->flush;
    const micap_recorded_kind *kind = &recording->kinds[first->kind];
    uint32_t *slot = flush->has_table ? &flush->table[slot_of(flush, first->entity)] : NULL;
    if (slot && *slot) {
        micap_gathered *step = &flush->gathered[*slot - 1];
        if (step->kind && combine(world, step, recording, first, first))
            return true;
        micap_target *target = target_of(world, step);
        return target && merge_changes(world, target, recording, first);
    }
    micap_gathered step = {.kind = kind, .changes = first, .count = 1};
    if (!kind->is_simple || (first->next && !combine(world, &step, recording, first->next, first))) {
        micap_target *target = begin_target(world, first->entity, kind);
        if (!target || !merge_changes(world, target, recording, first))
            return false;
        step = (micap_gathered){.target = target, .count = 1};
    }
    if (!push(world, step))
        return false;
    if (slot)
        *slot = flush->gathered_count;
    return true;
}

/* Gathers a segment of a log. Changes of one simple kind that are the only ones of their entities become one step. */
static bool gather_segment(mica_world *world, const micap_recording *recording, char *at, const char *end)
{
    bool has_table = world->flush.has_table;
    while (at < end) {
        micap_recorded *first = (micap_recorded *)(void *)at;
        const micap_recorded_kind *kind = &recording->kinds[first->kind];
        uint32_t stride = kind->stride, count = 1;
        at += stride;
        if (first->state != MICAP_RECORDED_FIRST)
            continue;
        if (has_table || !kind->is_simple || first->next) {
            if (!add_entity(world, recording, first))
                return false;
            continue;
        }
        for (; at < end; at += stride, ++count) {
            const micap_recorded *next = (const micap_recorded *)(void *)at;
            if (next->kind != first->kind || next->state != MICAP_RECORDED_FIRST || next->next)
                break;
        }
        if (!push(world, (micap_gathered){.kind = kind, .changes = first, .count = count}))
            return false;
    }
    return true;
}

/* If there are notes and deaths, there is a table: see needs_table. */
bool micap_flush_destroys(const mica_world *world, mica_entity entity)
{
    const micap_flush *flush = &world->flush;
    uint32_t at = flush->has_table ? flush->table[slot_of(flush, entity)] : 0;
    if (!at)
        return false;
    const micap_gathered *step = &flush->gathered[at - 1];
    return step->kind ? micap_kind_operation(step->kind) == MICAP_OPERATION_DESTROY : step->target->destroyed;
}

bool micap_flush_coalesce(mica_world *world)
{
    micap_flush *flush = &world->flush;
    flush->gathered_count = flush->dropped_count = flush->dead_count = flush->group_count = 0;
    flush->made_count = 0;
    flush->has_doomed = false;
    flush->has_table = needs_table(world, &flush->entity_count);
    if (flush->has_table && !reserve_table(world, flush->entity_count))
        return false;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        const micap_recording *recording = &commands->applied;
        for (uint32_t i = 0; i < recording->segment_count; ++i)
            if (!gather_segment(world, recording, recording->segments[i].first, end_of(recording, i)))
                return false;
    }
    return true;
}
