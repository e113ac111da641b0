#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/events/removals.h"
#include "core/world/report.h"
#include "core/events/watch.h"
#include "core/storage/rows.h"
#include "mica/hook.h"

mica_result mica_hook_set_id(mica_world *world, mica_component component, mica_event_kind kind, mica_event_fn fn,
                             void *context)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result refused = micap_refuse_inside(world, "hook");
    if (refused != MICA_OK)
        return refused;
    if (kind > MICA_EVENT_DESTROY || (kind == MICA_EVENT_DESTROY) != (component == 0))
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                          "hook: the event must be ADD, SET or REMOVE with a component, or DESTROY with component 0");
    micap_hook *hook = &world->destroy_hook;
    if (component) {
        if (!micap_type_for_entities(world, component))
            return micap_failure(world);
        hook = &micap_component_of(&world->components, component)->hooks[kind];
    }
    *hook = (micap_hook){fn, context};
    if (micap_is_pooled(component))
        micap_pools_update_hooks(world, component);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        micap_archetype_update_hooks(world, world->archetypes.by_id[i]);
    return MICA_OK;
}

/* Calls a hook and watches. What one of them does to the recording depth does not reach the next one. */
static MICAP_INLINE void call(mica_world *world, const micap_hook *hook, micap_watch *watches, mica_event *event)
{
    uint32_t depth = micap_callback_begin(world);
    if (hook->fn) {
        event->context = hook->context;
        hook->fn(event);
    }
    for (micap_watch *watch = watches; watch; watch = watch->next) {
        world->recording_depth = depth + 1;
        watch->seen(watch, event);
    }
    micap_callback_end(world, depth);
}

static MICAP_INLINE void call_component(mica_world *world, mica_event_kind kind, const micap_component *component,
                                        const mica_entity *entities, void *values, uint32_t count)
{
    if (MICAP_UNLIKELY(kind == MICA_EVENT_REMOVE && component->removals))
        micap_removals_note(world, component->removals, entities, count);
    mica_event event = {.world = world,
                        .kind = kind,
                        .component = component->type->id,
                        .count = count,
                        .entities = entities,
                        .values = values};
    call(world, &component->hooks[kind], component->watches[kind], &event);
}

void micap_hooks_call(mica_world *world, mica_event_kind kind, const micap_component *component,
                      const mica_entity *entities, void *values, uint32_t count)
{
    call_component(world, kind, component, entities, values, count);
}

void micap_hooks_run(mica_world *world, mica_event_kind kind, mica_component component, micap_row spot, uint32_t count)
{
    micap_preserve_rows(world, spot.chunk, spot.row, count); /* the hook may write to the values */
    call_component(world, kind, micap_component_of(&world->components, component),
                   micap_chunk_entities(spot.chunk) + spot.row,
                   micap_finder_value(micap_chunk_find(spot.chunk, component), spot.row), count);
}

uint32_t micap_run_of(const mica_world *world, const mica_entity *entities, uint32_t count)
{
    micap_row first = micap_locate(world, entities[0]);
    uint32_t run = 1;
    for (; run < count; ++run) {
        micap_row next = micap_locate(world, entities[run]);
        if (next.chunk != first.chunk || next.row != first.row + run)
            break;
    }
    return run;
}

void micap_hooks_run_many(mica_world *world, mica_event_kind kind, mica_component component,
                          const mica_entity *entities, uint32_t count)
{
    const micap_component *used = micap_component_of(&world->components, component);
    if (!(micap_component_awaits(used) & 1 << kind))
        return;
    for (uint32_t begin = 0, run; begin < count; begin += run) {
        run = micap_run_of(world, entities + begin, count - begin);
        micap_hooks_run(world, kind, component, micap_locate(world, entities[begin]), run);
    }
}

void micap_hooks_added(mica_world *world, const micap_archetype *from, micap_row spot, uint32_t count)
{
    const micap_archetype *to = spot.chunk->archetype;
    for (uint32_t i = 0; (i = micap_next_hooked(to, MICA_EVENT_ADD, i)) < to->component_count; ++i)
        if (!from || !micap_archetype_has(from, to->components[i]))
            micap_hooks_run(world, MICA_EVENT_ADD, to->components[i], spot, count);
}

void micap_hooks_removing(mica_world *world, const micap_archetype *to, micap_row spot, uint32_t count)
{
    const micap_archetype *from = spot.chunk->archetype;
    if (!to && (world->destroy_hook.fn || world->destroy_watches)) {
        mica_event event = {.world = world, .kind = MICA_EVENT_DESTROY, .count = count};
        event.entities = micap_chunk_entities(spot.chunk) + spot.row;
        call(world, &world->destroy_hook, world->destroy_watches, &event);
    }
    for (uint32_t i = 0; (i = micap_next_hooked(from, MICA_EVENT_REMOVE, i)) < from->component_count; ++i)
        if (!to || !micap_archetype_has(to, from->components[i]))
            micap_hooks_run(world, MICA_EVENT_REMOVE, from->components[i], spot, count);
    if (!to && world->sees_deaths)
        micap_modules_destroying(world, micap_chunk_entities(spot.chunk) + spot.row, count);
}
