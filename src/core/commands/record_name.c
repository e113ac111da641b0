/* Naming an entity: at once, or inside a system as a note that the flush applies. */
#include "base/argument.h"
#include "core/commands/module_notes.h"
#include "core/world/report.h"
#include "core/world/world.h"

static const mica_location no_place;

typedef struct name_note {
    micap_note note;
    mica_entity entity;
    mica_entity scope;
    micap_taken_name old; /* once it is applied */
    char text[];          /* empty: the name is removed */
} name_note;

static mica_result apply_note(mica_world *world, micap_note *note)
{
    name_note *name = (name_note *)(void *)note;
    if (!mica_is_alive(world, name->entity))
        return micap_note_set_aside(world, note, name->entity);
    if (name->text[0] && !mica_is_nil(name->scope) && !mica_is_alive(world, name->scope))
        return micap_note_set_aside(world, note, name->scope);
    return micap_name_exchange(world, name->entity, name->scope, name->text, &name->old);
}

static void undo_note(mica_world *world, micap_note *note)
{
    name_note *name = (name_note *)(void *)note;
    micap_name_give_back(world, name->entity, &name->old);
}

static void finish_note(mica_world *world, micap_note *note)
{
    micap_name_release(world, &((name_note *)(void *)note)->old);
}

static const micap_note_ops note_ops = {.apply = apply_note, .undo = undo_note, .finish = finish_note};

static mica_result record(mica_commands *commands, mica_entity entity, mica_entity scope, const char *name)
{
    mica_world *world = commands->world;
    size_t bytes = strlen(name) + 1;
    if (!micap_commands_expect_living(commands, entity, no_place, "name") ||
        (*name && !mica_is_nil(scope) && !micap_commands_expect_living(commands, scope, no_place, "name: scope")))
        return MICA_ERROR_DEAD;
    mica_result result = micap_name_check(world, entity, scope, name);
    if (result != MICA_OK)
        return result;
    name_note *note = (name_note *)(void *)micap_commands_note(commands, &note_ops, sizeof *note + bytes, no_place);
    if (!note)
        return micap_failure(world);
    note->entity = entity;
    note->scope = scope;
    memcpy(note->text, name, bytes);
    return MICA_OK;
}

mica_result mica_name_set(mica_world *world, mica_entity entity, mica_entity scope, const char *name)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (micap_thread_context_of(world))
        return record(micap_recorder(world), entity, scope, name ? name : "");
    if (!mica_is_alive(world, entity))
        return micap_fail_dead(world, entity, "name");
    if (name && *name && !mica_is_nil(scope) && !mica_is_alive(world, scope))
        return micap_fail_dead(world, scope, "name: scope");
    micap_taken_name old;
    mica_result result = micap_name_check(world, entity, scope, name);
    if (result == MICA_OK)
        result = micap_name_exchange(world, entity, scope, name, &old);
    if (result == MICA_OK)
        micap_name_release(world, &old);
    return result;
}
