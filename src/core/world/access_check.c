#include "core/world/access_check.h"

#include "base/call_location.h"
#include "core/world/world.h"

#ifdef MICA_CHECKED

#    include <stdarg.h>
#    include <stdio.h>
#    include <stdlib.h>

void micap_violation(const mica_world *world, const char *format, ...)
{
    char what[400], text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const micap_thread_context *here = micap_thread_context_of(world);
    const micap_exclusive_run *alone = &micap_this_exclusive;
    mica_location noted = micap_noted_place();
    const char *label = here ? here->label : alone->world == world ? alone->label : NULL;
    mica_location added = here ? here->location : alone->location;
    if (label)
        snprintf(text, sizeof text, "violation: system %s (added at %s:%d) %s", label, added.file ? added.file : "?",
                 added.line, what);
    else
        snprintf(text, sizeof text, "violation: the program %s", what);
    /* Printed whatever the handler of the world does with it: it is the last that is heard. */
    fprintf(stderr, "mica: %s:%d: %s\n", noted.file ? noted.file : "?", noted.line, text);
    if (world->def.report)
        world->def.report(&(mica_report){MICA_ERROR_REFUSED, text, noted}, world->def.report_context);
    abort();
}

static const char *name_of(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type ? type->type.name : "without a description";
}

static bool is_in_view(const mica_view *view, mica_entity entity)
{
    for (uint32_t i = 0; view && i < view->count; ++i)
        if (mica_same(view->entities[i], entity))
            return true;
    return false;
}

void micap_check_handle(const mica_world *world, mica_entity entity)
{
    uint32_t space = world->def.handle_space;
    if (!mica_is_nil(entity) && !micap_entity_is_of_space(space, entity))
        micap_violation(world, "looks up entity %u (generation %u) of another world: its handle space is %u, not %u",
                        entity.index, entity.generation, entity.generation >> MICAP_SPACE_SHIFT, space);
}

void micap_check_change(const mica_world *world, mica_entity entity, mica_location location)
{
    bool is_in_system = world && (micap_thread_context_of(world) || micap_this_exclusive.world == world);
    const char *reason = is_in_system && world->guard ? world->guard(world, entity, world->guard_context) : NULL;
    if (!reason)
        return;
    if (location.file)
        micap_note_again(location);
    micap_violation(world, "changes entity %u (generation %u): %s", entity.index, entity.generation, reason);
}

void micap_check_access(const mica_world *world, mica_entity entity, mica_component component, bool write)
{
    micap_check_handle(world, entity);
    if (write && !mica_is_nil(entity))
        micap_check_change(world, entity, (mica_location){0});
    const micap_thread_context *here = micap_thread_context_of(world);
    const micap_type *type = micap_type_of(component);
    if (!here || !here->allows ||
        (type && !type->type.size_bytes)) /* tags are part of the structure, which does not change inside a system */
        return;
    const char *verb = write ? "writes" : "reads", *use = write ? "MICA_USE_WRITE" : "MICA_USE_READ";
    switch (here->allows(here, component, write)) {
    case MICAP_ALLOWED: return;
    case MICAP_ALLOWED_IN_ROWS:
        if (mica_is_nil(entity) || is_in_view(here->view, entity))
            return;
        micap_violation(world,
                        "%s component %s of entity %u (generation %u), which is not one of its rows: add "
                        "%s(%s) to its .uses",
                        verb, name_of(component), entity.index, entity.generation, use, name_of(component));
    case MICAP_NOT_ALLOWED: break;
    }
    if (mica_is_nil(entity))
        micap_violation(world, "%s component %s, which it does not declare: add %s(%s) to its .uses", verb,
                        name_of(component), use, name_of(component));
    micap_violation(world,
                    "%s component %s of entity %u (generation %u), which it does not declare: add %s(%s) to its .uses",
                    verb, name_of(component), entity.index, entity.generation, use, name_of(component));
}

/* Rows of a write follow each other, and so do those of a view: the ends tell. */
static void check_ends(const mica_world *world, mica_component component, const mica_entity *entities, uint32_t count)
{
    micap_check_access(world, entities[0], component, true);
    micap_check_access(world, entities[count - 1], component, true);
}

/* Systems declare the component that a hidden one belongs to. */
static mica_component declared_component(const micap_archetype *archetype, mica_component component)
{
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        if (type->enabled == component || type->added == component || type->changed == component)
            return type->id;
        for (uint32_t leaf = 0; leaf < type->leaf_count; ++leaf)
            if (type->leaves[leaf].component == component)
                return type->id;
    }
    return component;
}

void micap_check_write(const mica_world *world, const micap_chunk *chunk, uint32_t column, uint32_t row, uint32_t count)
{
    if (micap_thread_context_of(world) && count)
        check_ends(world, declared_component(chunk->archetype, chunk->archetype->columns[column].component),
                   micap_chunk_entities(chunk) + row, count);
}

void micap_check_pool_write(const mica_world *world, mica_component component, const mica_entity *owners,
                            uint32_t count)
{
    if (micap_thread_context_of(world))
        check_ends(world, component, owners, count);
}

void micap_check_view(const mica_view *view)
{
    const micap_thread_context *here = view->world ? micap_thread_context_of(view->world) : NULL;
    if (view->frame) {
        if (!here || here->view != view)
            micap_violation(view->world, "uses a view of a system whose function has returned");
    } else if (view->world && view->count && view->private_.structure != view->world->structure &&
               view->private_.structure != UINT64_MAX) {
        micap_violation(view->world, "uses a view from before the last change of structure");
    }
}

void micap_check_column(const mica_view *view, mica_component component, bool write)
{
    if (!micap_thread_context_of(view->world))
        return;
    mica_entity first = view->count ? view->entities[0] : mica_nil();
    micap_violation(view->world,
                    "%s the column of component %s, but none of its terms %s it, in a view that begins with "
                    "entity %u (generation %u)",
                    write ? "writes" : "reads", name_of(component), write ? "writes" : "reads", first.index,
                    first.generation);
}

void micap_check_door(const mica_world *world, const char *what)
{
    if (micap_thread_context_of(world))
        micap_violation(world, "calls %s, which only an exclusive system may do", what);
}

void micap_check_stream(const mica_world *world, const char *name, bool write, mica_location location)
{
    micap_note_again(location);
    micap_violation(world,
                    write ? "writes stream %s, which it does not declare: its readers would not wait for it"
                          : "reads stream %s, which it does not declare: those that write it may not be done",
                    name);
}

void micap_check_buffer(const mica_commands *commands)
{
    const micap_thread_context *here = micap_thread_context_of(commands->world);
    if (commands->is_of_system && (!here || here->commands != commands))
        micap_violation(commands->world, "records into a buffer of system %s outside of the work it was given for",
                        commands->label ? commands->label : "?");
}

static void check_stage(const mica_world *world, const mica_commands *commands, const micap_stage *stage)
{
    if (!micap_stage_is_clean(stage))
        micap_violation(world, "wrote to a value that system %s had staged, after the flush that applied it",
                        commands->label ? commands->label : "?");
}

void micap_check_stages(const mica_world *world)
{
    for (const mica_commands *commands = world->parked_commands; commands; commands = commands->parked) {
        check_stage(world, commands, &commands->recording.stage);
        check_stage(world, commands, &commands->applied.stage);
    }
}

#else

typedef int micap_nothing_to_check; /* a file must have something in it */

#endif
