/* Runs in the thread of its buffer: it reads the world, and writes only the buffer and the records of its own handles.
 *
 * Three paths, instructions per recorded set: appending to the batch 97, a new target for a higher index 152, everything
 * else 417. */
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

static void *stage(mica_commands *commands, size_t bytes, size_t alignment)
{
    return micap_stage_allocate(&commands->world->memory, &commands->recording.stage, bytes, alignment);
}

/* Makes room for a target with this index, also in the table if there is one or the index is not above the last one. */
static inline bool reserve_target(mica_commands *commands, uint32_t index)
{
    micap_recording *recording = &commands->recording;
    if (!micap_recording_expand(commands->world, recording))
        return false;
    uint32_t count = recording->target_count;
    bool needs_table = recording->has_table || (count && index <= recording->targets[count - 1]->entity.index);
    if (needs_table && !(recording->has_table && (count + 1) * 2 <= recording->table_capacity) &&
        !micap_recording_grow_table(commands->world, recording))
        return false;
    return count < recording->target_capacity || MICAP_RESERVE(&commands->world->memory, recording->targets,
                                                               &recording->target_capacity, (uint64_t)count + 1);
}

/* Sets the fields one by one: those that the flush sets need not be cleared. */
static inline void start_target(micap_target *target, mica_entity entity, mica_location location, const char *label)
{
    target->entity = entity;
    target->first = target->last = NULL;
    target->location = location;
    target->label = label;
    target->created = target->destroyed = target->merged = false;
}

/* Adds a target for an entity that has none. NULL if memory runs out. */
static micap_target *add_target(mica_commands *commands, mica_entity entity, mica_location location)
{
    micap_recording *recording = &commands->recording;
    micap_recorded *recorded = NULL;
    if (commands->refusing) /* which was reported */
        return NULL;
    if (reserve_target(commands, entity.index))
        recorded = stage(commands, sizeof *recorded, _Alignof(micap_recorded));
    if (!recorded) {
        micap_fail_memory(commands->world, "command");
        return NULL;
    }
    start_target(&recorded->target, entity, location, commands->label);
    if (recording->has_table)
        recording->table[micap_recording_slot(recording, entity.index)] = recording->target_count + 1;
    recording->targets[recording->target_count++] = &recorded->target;
    return &recorded->target;
}

/* The target of a change to an entity, which must be alive as far as this buffer knows. */
static micap_target *living_target(mica_commands *commands, mica_entity entity, mica_location location,
                                   const char *what)
{
    if (!micap_recording_expand(commands->world, &commands->recording)) {
        micap_fail_memory(commands->world, "command");
        return NULL;
    }
    micap_target *known = micap_recording_find(&commands->recording, entity);
    uint64_t record = micap_record_of(&commands->world->entities, entity);
    if (MICAP_UNLIKELY((known && known->destroyed) || micap_record_chunk(record) == MICAP_CHUNK_NONE)) {
        micap_commands_report_dead(commands, entity, location, what);
        return NULL;
    }
    return known ? known : add_target(commands, entity, location);
}

/* The command into which a further one of that kind goes: the one of its component. Those of a component with many
 * instances are done one after the other: a value goes into the value, and a removal into the removal, that is still in
 * force, and a switch into the last command if that is one. */
static micap_command *find_command(const micap_target *target, const micap_type *type, micap_operation operation)
{
    micap_command *found = NULL;
    for (micap_command *command = target->first; command; command = command->next) {
        if (command->type != type)
            continue;
        if (!type->type.many)
            return command;
        if (command->operation == operation)
            found = command;
        else if (command->operation == MICAP_OPERATION_REMOVE || operation == MICAP_OPERATION_NONE)
            found = NULL;
    }
    return found;
}

/* Adds a command to a target. NULL if memory runs out. */
static micap_command *add_command(mica_commands *commands, micap_target *target, const micap_type *type)
{
    micap_command *command = target->first ? stage(commands, sizeof *command, _Alignof(micap_command))
                                           : &((micap_recorded *)(void *)target)->command;
    if (!command) {
        micap_fail_memory(commands->world, "command");
        return NULL;
    }
    *command = (micap_command){.type = type};
    if (target->last)
        target->last->next = command;
    else
        target->first = command;
    target->last = command;
    return command;
}

static micap_command *command_of(mica_commands *commands, micap_target *target, const micap_type *type,
                                 micap_operation operation)
{
    micap_command *command = find_command(target, type, operation);
    return command ? command : add_command(commands, target, type);
}

static MICAP_COLD const micap_type *check_type(mica_commands *commands, mica_component component,
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
    if (!commands->refusing)
        commands->checked_type = type;
    return type;
}

/* The type of a component that can be recorded in this world. The last one is cached. */
static inline const micap_type *type_to_record(mica_commands *commands, mica_component component,
                                               mica_location location)
{
    const micap_type *checked = commands->checked_type;
    return MICAP_LIKELY(checked && checked->id == component) ? checked : check_type(commands, component, location);
}

/* Gives the command a staged value: a copy of `from`, or the default. On error the command is unchanged. */
static bool stage_value(mica_commands *commands, micap_command *command, const void *from, bool is_set)
{
    const micap_type *type = command->type;
    if (type->type.size_bytes) {
        void *value = stage(commands, type->type.size_bytes, type->type.alignment);
        if (value && from && !type->type.copy)
            micap_copy_fresh(value, from, type->type.size_bytes);
        else if (!value || !(from ? micap_values_copy(type, value, from, 1) : micap_values_construct(type, value, 1))) {
            micap_fail_memory(commands->world, type->type.name);
            return false;
        }
        if (command->operation == MICAP_OPERATION_VALUE) { /* pointers to the value it has stay good */
            micap_values_destruct(type, command->value, 1);
            micap_values_move(type, command->value, value, 1);
        } else {
            command->value = value;
        }
    }
    if (command->operation == MICAP_OPERATION_REMOVE)
        command->toggle = MICAP_TOGGLE_ON; /* what is added anew is switched on */
    else if (command->operation == MICAP_OPERATION_NONE)
        command->toggle_first = command->toggle != MICAP_TOGGLE_KEEP;
    command->is_set |= is_set;
    command->operation = MICAP_OPERATION_VALUE;
    return true;
}

static bool record_value(mica_commands *commands, micap_target *target, const mica_value *value, mica_location location)
{
    const micap_type *type = type_to_record(commands, value->component, location);
    if (!type || !micap_value_fits(commands->world, type, value, location))
        return false;
    micap_command *command = command_of(commands, target, type, MICAP_OPERATION_VALUE);
    return command && stage_value(commands, command, value->data, value->data != NULL);
}

/* Discards the newest target, whose creation failed. */
static void drop_last_target(micap_recording *recording)
{
    const micap_target *target = recording->targets[recording->target_count - 1];
    for (micap_command *command = target->first; command; command = command->next)
        micap_command_drop_value(command);
    if (!recording->has_table) {
        --recording->target_count;
        return;
    }
    uint32_t *slot = &recording->table[micap_recording_slot(recording, target->entity.index)];
    *slot = 0; /* the newest ends its probe sequence, unless it took the place of an older handle to the same slot */
    --recording->target_count;
    for (uint32_t i = 0; i < recording->target_count; ++i)
        if (recording->targets[i]->entity.index == target->entity.index)
            *slot = i + 1;
}

void micap_command_forget_create(mica_commands *commands, mica_entity entity)
{
    MICAP_ASSERT(mica_same(commands->recording.targets[commands->recording.target_count - 1]->entity, entity),
                 "it was the last to be recorded");
    drop_last_target(&commands->recording);
    micap_commands_return_handle(commands, entity);
}

mica_entity mica_command_create_id(mica_commands *commands, const mica_value *values, uint32_t count,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands) || MICAP_MISSING_ARRAY(commands->world, values, count))
        return mica_nil();
    micap_check_buffer(commands);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (values[i].component == values[j].component) {
                micap_fail(commands->world, MICA_ERROR_INVALID, location, "create: a component is given twice");
                return mica_nil();
            }
    if (commands->refusing)
        return mica_nil();
    mica_entity entity = micap_commands_take_handle(commands);
    if (mica_is_nil(entity)) {
        micap_fail_memory(commands->world, "create");
        return entity;
    }
    micap_target *target = add_target(commands, entity, location);
    if (!target) {
        micap_commands_return_handle(commands, entity);
        return mica_nil();
    }
    target->created = true;
    for (uint32_t i = 0; i < count; ++i)
        if (!record_value(commands, target, &values[i], location)) {
            micap_command_forget_create(commands, entity);
            return mica_nil();
        }
    return entity;
}

bool mica_command_destroy_id(mica_commands *commands, mica_entity entity, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    micap_target *target = living_target(commands, entity, location, "destroy");
    if (!target)
        return false;
    for (micap_command *command = target->first; command; command = command->next)
        micap_command_drop_value(command);
    target->first = target->last = NULL;
    target->destroyed = true;
    target->location = location;
    return true;
}

/* The fast path for targets: the first command of an entity with a higher index than all recorded ones, for the component that was
 * recorded last. The value follows the command. NULL if the general path must record it. */
static MICAP_INLINE micap_recorded *record_next(mica_commands *commands, mica_entity entity, mica_component component,
                                                mica_location location, size_t value_bytes)
{
    micap_recording *recording = &commands->recording;
    const micap_type *type = commands->checked_type;
    uint32_t count = recording->target_count;
    if (!type || type->id != component || !count || count == recording->target_capacity ||
        (recording->has_table | (recording->batch.type != NULL)) ||
        entity.index <= recording->targets[count - 1]->entity.index ||
        micap_record_chunk(micap_record_of(&commands->world->entities, entity)) == MICAP_CHUNK_NONE)
        return NULL;
    micap_recorded *recorded = stage(commands, sizeof *recorded + value_bytes, _Alignof(max_align_t));
    if (!recorded)
        return NULL;
    recorded->command = (micap_command){.type = type, .value = recorded + 1};
    start_target(&recorded->target, entity, location, commands->label);
    recorded->target.first = recorded->target.last = &recorded->command;
    recording->targets[recording->target_count++] = &recorded->target;
    return recorded;
}

/* Appends a change to a batch that has room. Returns where its value goes, or NULL if the entity does not fit. */
static MICAP_INLINE char *append_to_batch(mica_commands *commands, mica_entity entity)
{
    micap_recorded_batch *batch = &commands->recording.batch;
    micap_batch_block *block = batch->last;
    if (entity.index <= batch->last_index ||
        micap_record_chunk(micap_record_of(&commands->world->entities, entity)) <= MICAP_CHUNK_PENDING)
        return NULL;
    uint32_t at = block->count++;
    block->entities[at] = entity;
    batch->last_index = entity.index;
    ++commands->recording.target_count;
    return block->values + (size_t)at * batch->bytes;
}

/* The fast path for batches: the change continues the batch. NULL if it does not. */
static MICAP_INLINE char *record_in_batch(mica_commands *commands, mica_entity entity, mica_component component,
                                          micap_operation operation, mica_location location)
{
    const micap_recorded_batch *batch = &commands->recording.batch;
    if (!batch->type || batch->type->id != component || batch->operation != operation ||
        batch->location.file != location.file || batch->location.line != location.line ||
        batch->label != commands->label || batch->last->count == batch->last->capacity)
        return NULL;
    return append_to_batch(commands, entity);
}

/* Stages a copy of the value that is there as far as this buffer knows, or the default: in the world, unless it is removed,
 * and then the first instance that was recorded since. */
static bool stage_present(mica_commands *commands, const micap_target *target, micap_command *command)
{
    const micap_type *type = command->type;
    const void *present = NULL;
    bool in_world = mica_has_id(commands->world, target->entity, type->id);
    for (const micap_command *other = target->first; other; other = other->next) {
        if (other->type != type)
            continue;
        if (other->operation == MICAP_OPERATION_REMOVE) {
            in_world = false;
            present = NULL;
        } else if (other->operation == MICAP_OPERATION_INSTANCE && !in_world && !present) {
            present = other->value;
        }
    }
    if (in_world && !type->leaves)
        present = mica_get_id(commands->world, target->entity, type->id);
    if (!stage_value(commands, command, present, false))
        return false;
    if (in_world && type->leaves) /* there is no whole value to copy: it is put together in place */
        mica_get_value_id(commands->world, target->entity, type->id, command->value);
    return true;
}

void *mica_command_add_id(mica_commands *commands, mica_entity entity, mica_component component, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    micap_check_buffer(commands);
    const micap_type *type = type_to_record(commands, component, location);
    micap_target *target = type ? living_target(commands, entity, location, "add") : NULL;
    micap_command *command = target ? command_of(commands, target, type, MICAP_OPERATION_VALUE) : NULL;
    if (!command || (command->operation != MICAP_OPERATION_VALUE && !stage_present(commands, target, command)))
        return NULL;
    return type->type.size_bytes ? command->value : &micap_tag_value;
}

static __attribute__((noinline)) bool set_any(mica_commands *commands, mica_entity entity, mica_value value,
                                              mica_location location)
{
    const micap_type *type = type_to_record(commands, value.component, location);
    if (!type || !micap_value_fits(commands->world, type, &value, location))
        return false;
    char *staged = NULL;
    if (value.data && micap_batch_extend(commands, type, MICAP_OPERATION_VALUE, location))
        staged = append_to_batch(commands, entity);
    if (staged)
        return micap_copy_words(staged, value.data, type->type.size_bytes), true;
    micap_target *target = living_target(commands, entity, location, "set");
    if (!target)
        return false;
    micap_command *command = command_of(commands, target, type, MICAP_OPERATION_VALUE);
    return command && stage_value(commands, command, value.data, true);
}

/* Called last, so that the batch keeps nothing on the stack. */
static __attribute__((noinline)) bool set_outside_batch(mica_commands *commands, mica_entity entity, mica_value value,
                                                        mica_location location)
{
    if (MICAP_MISSING_IN("mica_command_set_id", commands))
        return false;
    const micap_type *type = commands->checked_type;
    micap_recorded *recorded = NULL;
    if (type && value.data && micap_fits_batch(type) && type->type.size_bytes == value.size_bytes)
        recorded = record_next(commands, entity, value.component, location, value.size_bytes);
    if (!recorded)
        return set_any(commands, entity, value, location);
    recorded->command.operation = MICAP_OPERATION_VALUE;
    recorded->command.is_set = true;
    return micap_copy_words(recorded->command.value, value.data, value.size_bytes), true;
}

bool mica_command_set_id(mica_commands *commands, mica_entity entity, mica_value value, mica_location location)
{
    if (MICAP_UNLIKELY(!commands))
        return set_outside_batch(commands, entity, value, location);
    micap_check_buffer(commands);
    char *staged = NULL;
    if (MICAP_LIKELY(value.data && commands->recording.batch.bytes == value.size_bytes))
        staged = record_in_batch(commands, entity, value.component, MICAP_OPERATION_VALUE, location);
    if (MICAP_UNLIKELY(!staged))
        return set_outside_batch(commands, entity, value, location);
    return micap_copy_words(staged, value.data, value.size_bytes), true;
}

void *mica_command_add_instance_id(mica_commands *commands, mica_entity entity, mica_component component,
                                   mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return NULL;
    const micap_type *type = type_to_record(commands, component, location);
    if (type && !type->type.many) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s is not for many instances: describe it with MICA_POOL_WITH and .many = true",
                   type->type.name);
        return NULL;
    }
    micap_target *target = type ? living_target(commands, entity, location, "add_instance") : NULL;
    micap_command *command = target ? add_command(commands, target, type) : NULL;
    if (!command || !stage_value(commands, command, NULL, false))
        return NULL;
    command->operation = MICAP_OPERATION_INSTANCE;
    return command->value;
}

bool micap_command_copy_instance(mica_commands *commands, mica_entity entity, const mica_pool *pool, uint32_t row)
{
    mica_location nowhere = {0};
    micap_target *target = living_target(commands, entity, nowhere, "clone");
    micap_command *command = target ? add_command(commands, target, pool->type) : NULL;
    if (!command || !stage_value(commands, command, pool->values ? micap_pool_value(pool, row) : NULL, false))
        return false;
    if (!pool->values)
        micap_pool_read_value(pool, row, command->value);
    command->operation = MICAP_OPERATION_INSTANCE;
    return true;
}

/* A removal discards what was recorded for many instances before it. */
static void drop_others(micap_target *target, const micap_command *removal)
{
    for (micap_command *command = target->first, *next; command; command = next) {
        next = command->next;
        if (command->type != removal->type || command == removal)
            continue;
        micap_command_drop_value(command);
        micap_target_unlink(target, command);
    }
}

/* Whether the entity has the component after the changes recorded in this buffer. */
static bool will_have(const mica_commands *commands, const micap_target *target, mica_component component)
{
    micap_operation last = MICAP_OPERATION_NONE;
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->type->id == component && command->operation != MICAP_OPERATION_NONE)
            last = (micap_operation)command->operation;
    return last == MICAP_OPERATION_NONE ? mica_has_id(commands->world, target->entity, component)
                                        : last != MICAP_OPERATION_REMOVE;
}

static __attribute__((noinline)) bool remove_any(mica_commands *commands, mica_entity entity, mica_component component,
                                                 mica_location location)
{
    const micap_type *type = type_to_record(commands, component, location);
    if (!type)
        return false;
    if (micap_batch_extend(commands, type, MICAP_OPERATION_REMOVE, location) && append_to_batch(commands, entity))
        return mica_has_id(commands->world, entity, component);
    micap_target *target = living_target(commands, entity, location, "remove");
    if (!target)
        return false;
    bool there = will_have(commands, target, component);
    micap_command *command = command_of(commands, target, type, MICAP_OPERATION_REMOVE);
    if (!command)
        return false;
    micap_command_drop_value(command);
    drop_others(target, command);
    command->operation = MICAP_OPERATION_REMOVE;
    command->toggle = MICAP_TOGGLE_KEEP;
    command->is_set = false;
    return there;
}

bool mica_command_remove_id(mica_commands *commands, mica_entity entity, mica_component component,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    if (MICAP_LIKELY(record_in_batch(commands, entity, component, MICAP_OPERATION_REMOVE, location) != NULL))
        return mica_has_id(commands->world, entity, component);
    micap_recorded *recorded = record_next(commands, entity, component, location, 0);
    if (!recorded)
        return remove_any(commands, entity, component, location);
    recorded->command.operation = MICAP_OPERATION_REMOVE;
    recorded->command.value = NULL;
    return mica_has_id(commands->world, entity, component);
}

bool mica_command_enable_id(mica_commands *commands, mica_entity entity, mica_component component, bool enabled,
                            mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_check_buffer(commands);
    const micap_type *type = type_to_record(commands, component, location);
    if (type && !type->type.toggle) {
        micap_fail(commands->world, MICA_ERROR_INVALID, location,
                   "component %s can't be toggled: describe it with .toggle = true", type->type.name);
        return false;
    }
    micap_target *target = type ? living_target(commands, entity, location, "enable") : NULL;
    if (!target || !will_have(commands, target, component))
        return false; /* a target without commands is nothing to the flush */
    micap_command *command = command_of(commands, target, type, MICAP_OPERATION_NONE);
    if (!command)
        return false;
    command->toggle = enabled ? MICAP_TOGGLE_ON : MICAP_TOGGLE_OFF;
    command->toggle_first = false;
    return true;
}
