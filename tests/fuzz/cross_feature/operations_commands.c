/* Recorded changes: several buffers, flushed in any order with everything else. */
#include "program.h"

static mica_commands **take_slot(program *program, scene *scene)
{
    return &scene->buffers[take_below(program, BUFFERS)];
}

/* The buffer, made when it is not there. */
static mica_commands *take_buffer(program *program, scene *scene)
{
    mica_commands **slot = take_slot(program, scene);
    if (!*slot)
        *slot = mica_commands_create(scene->world);
    ++scene->recorded_count;
    return *slot;
}

static void defer(program *program, scene *scene)
{
    if (program->depth > 0)
        program->defers_in_bodies = true;
    ++scene->defer_depth;
    mica_defer(scene->world);
}

static void flush(program *program, scene *scene)
{
    (void)program;
    if (scene->defer_depth > 0)
        --scene->defer_depth;
    if (mica_flush(scene->world) == MICA_OK && scene->defer_depth == 0)
        scene->recorded_count = 0;
}

static void buffer_create(program *program, scene *scene)
{
    mica_commands **slot = take_slot(program, scene);
    if (!*slot)
        *slot = mica_commands_create(scene->world);
    if (*slot)
        mica_commands_set_label(*slot, "fuzz");
}

/* Refused inside a hook: the buffer stays then. */
static void buffer_destroy(program *program, scene *scene)
{
    mica_commands **slot = take_slot(program, scene);
    if (program->body == BODY_BATCH)
        return;
    mica_commands_destroy(*slot);
    if (program->body != BODY_HOOK)
        *slot = NULL;
}

static void record_create(program *program, scene *scene)
{
    drawn_values drawn;
    mica_commands *buffer = take_buffer(program, scene);
    if (!buffer || is_full(scene))
        return;
    take_values(program, scene, &drawn);
    remember(scene, mica_command_create_id(buffer, drawn.values, drawn.count, MICA_HERE));
    give_values_back(&drawn);
}

static void record_destroy(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    if (buffer)
        mica_command_destroy_id(buffer, take_entity(program, scene), MICA_HERE);
}

static void record_destroy_with(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    if (buffer)
        mica_command_destroy_with_id(buffer, take_entity(program, scene),
                                     take_one_in(program, 2) ? MICA_ORPHANS_STAY : MICA_ORPHANS_DIE, MICA_HERE);
}

static void record_add(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    void *staged = buffer ? mica_command_add_id(buffer, entity, sample_id(kind), MICA_HERE) : NULL;
    if (staged && samples[kind].has_data)
        samples[kind].assign(staged, take(program));
}

static void record_add_instance(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind_that(program, scene, is_many);
    if (!buffer || kind == SAMPLE_COUNT)
        return;
    void *staged = mica_command_add_instance_id(buffer, entity, sample_id(kind), MICA_HERE);
    if (staged)
        samples[kind].assign(staged, take(program));
}

static void record_set(program *program, scene *scene)
{
    sample_room room;
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    sample_kind kind = take_kind(program, scene);
    if (!buffer)
        return;
    mica_command_set_id(buffer, entity, sample_value_begin(kind, take(program), &room), MICA_HERE);
    sample_value_end(kind, &room);
}

static void record_remove(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    if (buffer)
        mica_command_remove_id(buffer, entity, sample_id(take_kind(program, scene)), MICA_HERE);
}

static void record_toggle(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    mica_component component = sample_id(take_kind(program, scene));
    if (buffer)
        mica_command_enable_id(buffer, entity, component, take_one_in(program, 2), MICA_HERE);
}

static void record_parent(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity child = take_entity(program, scene);
    mica_entity parent = take_entity(program, scene);
    if (!buffer)
        return;
    if (take_one_in(program, 3))
        mica_command_place_id(buffer, child, parent, take_one_in(program, 2), MICA_HERE);
    else
        mica_command_set_parent_id(buffer, child, parent, MICA_HERE);
}

static void record_event(program *program, scene *scene)
{
    mica_commands *buffer = take_buffer(program, scene);
    mica_entity entity = take_entity(program, scene);
    uint32_t number = take(program);
    FuzzPing ping = FUZZ_PING(number, entity);
    mica_value data = {.size_bytes = sizeof number, .data = &number};
    if (number & 1)
        data = (mica_value){MICA_ID(FuzzPing), sizeof ping, &ping};
    if (!buffer)
        return;
    if (take_one_in(program, 2))
        mica_command_propagate(buffer, MICA_EVENT_USER, 0, entity, data);
    else
        mica_command_emit(buffer, MICA_EVENT_USER, 0, entity, data);
}

const operation command_operations[] = {
    {"defer", defer, IN_BODY | AS_INPUT},
    {"flush", flush, IN_BODY | AS_INPUT},
    {"buffer_create", buffer_create, IN_BODY},
    {"buffer_destroy", buffer_destroy, IN_BODY},
    {"record_create", record_create, IN_BODY},
    {"record_destroy", record_destroy, IN_BODY},
    {"record_destroy_with", record_destroy_with, IN_BODY},
    {"record_add", record_add, IN_BODY},
    {"record_add_instance", record_add_instance, IN_BODY},
    {"record_set", record_set, IN_BODY},
    {"record_remove", record_remove, IN_BODY},
    {"record_toggle", record_toggle, IN_BODY},
    {"record_parent", record_parent, IN_BODY},
    {"record_event", record_event, IN_BODY},
};
OPERATIONS(command)
