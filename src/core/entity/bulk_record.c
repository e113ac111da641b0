#include "core/entity/bulk_record.h"

#include "core/entity/create_rows.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/component.h"

#include <string.h>

static const mica_location no_place;

/* Where the log of a buffer ends now. */
static micap_log_cursor end_of_log(const micap_recording *recording)
{
    return recording->segment_count ? (micap_log_cursor){recording->segment_count - 1, recording->end}
                                    : (micap_log_cursor){0};
}

/* Takes back the creations after a place in the log, where nothing else is. The handles are given out in the same order again. */
static void forget_creations(mica_commands *commands, micap_log_cursor cursor, const mica_entity *handles,
                             uint32_t count)
{
    micap_recording *recording = &commands->recording;
    for (micap_recorded *change; (change = micap_recording_step(recording, &cursor));) {
        micap_recorded_drop_values(recording, change);
        change->state = MICAP_RECORDED_VOID;
        --recording->change_count;
        --recording->created_count;
    }
    while (count > 0)
        micap_commands_return_handle(commands, handles[--count]);
}

/* Makes room for the handles of creations that are taken back. */
static bool reserve_stock(mica_commands *commands, uint32_t count)
{
    return commands->owned || commands->refusing ||
           MICAP_RESERVE(&commands->world->memory, commands->stock, &commands->stock_capacity,
                         (uint64_t)MICAP_ID_BLOCK + commands->stock_count + count);
}

/* The values of one entity among those of all. */
static void pick_values(mica_value *values, const mica_value *columns, uint32_t column_count, uint32_t row)
{
    for (uint32_t i = 0; i < column_count; ++i) {
        const mica_type *type = columns[i].data ? mica_component_type(columns[i].component) : NULL;
        values[i] = columns[i];
        if (type && !micap_is_for_all(&columns[i]))
            values[i].data = (const char *)columns[i].data + (size_t)row * type->size_bytes;
    }
}

mica_result micap_record_create_many(mica_world *world, uint32_t count, const mica_value *columns,
                                     uint32_t column_count, mica_entity *out_entities)
{
    mica_commands *commands = micap_recorder(world);
    size_t bytes = (column_count + (size_t)1) * sizeof(mica_value) + count * sizeof(mica_entity);
    mica_value *values =
        reserve_stock(commands, count) ? micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!values)
        return micap_fail_memory(world, "create_many");
    mica_entity *handles = (mica_entity *)(void *)(values + column_count);
    micap_log_cursor before = end_of_log(&commands->recording);
    uint32_t created = 0;
    for (; created < count; ++created) {
        pick_values(values, columns, column_count, created);
        handles[created] = mica_command_create_id(commands, values, column_count, no_place);
        if (mica_is_nil(handles[created]))
            break;
    }
    mica_result result = created == count ? MICA_OK : micap_failure(world);
    if (result != MICA_OK)
        forget_creations(commands, before, handles, created);
    else if (out_entities)
        memcpy(out_entities, handles, count * sizeof *handles);
    micap_release(&world->memory, values, bytes, MICAP_ARRAY_ALIGNMENT);
    return result;
}

/* Whether an entity gets another change in this buffer. */
static bool is_left(mica_world *world, mica_commands *commands, mica_entity entity)
{
    return !micap_recording_destroys(world, &commands->recording, entity);
}

/* Whether a component can be changed, if no entity is there whose change would report it. */
static bool is_of_entities(const mica_world *world, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    if (type && type->storage != MICA_STORAGE_SINGLETON)
        return true;
    micap_fail(world, MICA_ERROR_INVALID, no_place, "component %s is not one that an entity can have",
               type ? type->name : "?");
    return false;
}

mica_result micap_record_add_all(mica_world *world, const mica_entity *entities, uint32_t count, mica_value value)
{
    mica_commands *commands = micap_recorder(world);
    bool done = is_of_entities(world, value.component) &&
                (!value.data || micap_expect_copyable(world, micap_type_of(value.component), "add_all"));
    for (uint32_t i = 0; done && i < count; ++i)
        if (is_left(world, commands, entities[i]))
            done = value.data ? mica_command_set_id(commands, entities[i], value, no_place)
                              : mica_command_add_id(commands, entities[i], value.component, no_place) != NULL;
    return done ? MICA_OK : micap_failure(world);
}

/* Whether the last change of a component of an entity in this buffer removes it. */
static bool is_removed(mica_world *world, mica_commands *commands, mica_entity entity, mica_component component)
{
    micap_recording *recording = &commands->recording;
    micap_recorded *last = micap_recording_find(world, recording, entity);
    bool removed = false;
    for (micap_recorded *change = last ? micap_recorded_first(last) : NULL; change;
         change = change == last ? NULL : change->next) {
        const micap_recorded_kind *kind = &recording->kinds[change->kind];
        if (kind->value.component == component)
            removed = micap_kind_operation(kind) == MICAP_OPERATION_REMOVE;
    }
    return removed;
}

mica_result micap_record_remove_all(mica_world *world, const mica_entity *entities, uint32_t count,
                                    mica_component component)
{
    mica_commands *commands = micap_recorder(world);
    bool done = is_of_entities(world, component);
    for (uint32_t i = 0; done && i < count; ++i)
        if (is_left(world, commands, entities[i]))
            done = mica_command_remove_id(commands, entities[i], component, no_place) ||
                   is_removed(world, commands, entities[i], component);
    return done ? MICA_OK : micap_failure(world);
}

mica_result micap_record_destroy_all(mica_world *world, const mica_entity *entities, uint32_t count)
{
    mica_commands *commands = micap_recorder(world);
    bool done = true;
    for (uint32_t i = 0; done && i < count; ++i)
        if (is_left(world, commands, entities[i]))
            done = mica_destroy(world, entities[i]);
    return done ? MICA_OK : micap_failure(world);
}
