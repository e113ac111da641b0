#include "base/argument.h"
#include "base/assert.h"
#include "base/call_location.h"
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

bool mica_is_observed_id(const mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_component *used = micap_component_find(&world->components, component);
    return used && (micap_is_awaited(used, MICA_EVENT_ADD) || micap_is_awaited(used, MICA_EVENT_SET));
}

/* Calls a hook and watches. What one of them does to the recording depth does not reach the next one. */
static MICAP_INLINE void call(mica_world *world, const micap_hook *hook, micap_watch *watches, mica_event *event,
                              uint32_t depth)
{
    mica_location location = micap_noted_place();
    if (hook->fn) {
        world->recording_depth = depth + 1;
        event->context = hook->context;
        hook->fn(event);
    }
    for (micap_watch *watch = watches; watch; watch = watch->next) {
        world->recording_depth = depth + 1;
        watch->seen(watch, event);
    }
    micap_note_again(location);
}

/* Calls what awaits an event of a component. The event lacks the kind. */
static MICAP_INLINE void call_component(mica_world *world, mica_event_kind kind, const micap_component *component,
                                        mica_event *event, uint32_t depth)
{
    if (kind == MICA_EVENT_REMOVE && MICAP_UNLIKELY(component->removals != NULL))
        micap_removals_note(world, component->removals, event->entities, event->count);
    event->kind = kind;
    call(world, &component->hooks[kind], component->watches[kind], event, depth);
}

static MICAP_INLINE mica_event event_of(mica_world *world, const mica_entity *entities, uint32_t count)
{
    return (mica_event){.world = world, .count = count, .entities = entities};
}

void micap_hooks_call(mica_world *world, mica_event_kind kind, const micap_component *component,
                      const mica_entity *entities, void *values, uint32_t count)
{
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, entities, count);
    event.component = component->type->id;
    event.values = values;
    if (MICAP_UNLIKELY(component->type->type.relation)) /* whose edges are told one by one */
        memcpy(&event.target, (const char *)values + component->type->type.fields[0].offset, sizeof event.target);
    call_component(world, kind, component, &event, depth);
    micap_callback_end(world, depth);
}

void micap_hooks_run(mica_world *world, mica_event_kind kind, mica_component component, micap_row spot, uint32_t count)
{
    micap_preserve_rows(world, spot.chunk, spot.row, count); /* the hook may write to the values */
    micap_hooks_call(world, kind, micap_component_of(&world->components, component),
                     micap_chunk_entities(spot.chunk) + spot.row,
                     micap_finder_value(micap_chunk_find(spot.chunk, component), spot.row), count);
}

/* Whether the set hook of a component runs for an entity that was created from these values. */
static inline bool is_given(const mica_value *values, uint32_t count, mica_component component)
{
    for (; count; --count, ++values)
        if (values->component == component)
            return values->data != NULL;
    return false;
}

/* Which components of rows an event is for. */
typedef struct micap_hook_filter {
    const micap_archetype *other; /* those that this one lacks; NULL: all, */
    const mica_value *values;     /* and of those that are set, those with a value */
    uint32_t value_count;
} hook_filter;

/* Calls what awaits an event of a component of rows, if it passes the filter. */
static MICAP_INLINE void call_filtered(mica_world *world, mica_event_kind kind, micap_row spot, hook_filter filter,
                                       uint32_t position, mica_event *event, uint32_t depth)
{
    mica_component component = spot.chunk->archetype->components[position];
    if (kind == MICA_EVENT_SET ? !is_given(filter.values, filter.value_count, component)
                               : filter.other && micap_archetype_has(filter.other, component))
        return;
    event->component = component;
    event->values = micap_finder_value(micap_chunk_find(spot.chunk, component), spot.row);
    call_component(world, kind, world->components.by_id[component], event, depth);
}

/* The components that share the last bit. */
static MICAP_COLD void call_rest(mica_world *world, mica_event_kind kind, micap_row spot, hook_filter filter,
                                 mica_event *event, uint32_t depth)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    for (uint32_t i = 63; i < archetype->component_count; ++i)
        call_filtered(world, kind, spot, filter, i, event, depth);
}

/* The same for all components of rows, by ascending id. */
static MICAP_INLINE void call_list(mica_world *world, mica_event_kind kind, micap_row spot, hook_filter filter,
                                   mica_event *event, uint32_t depth)
{
    uint64_t bits = spot.chunk->archetype->hooked[kind];
    for (; bits << 1; bits &= bits - 1)
        call_filtered(world, kind, spot, filter, (uint32_t)MICAP_TRAILING_ZEROS(bits), event, depth);
    if (MICAP_UNLIKELY(bits != 0))
        call_rest(world, kind, spot, filter, event, depth);
}

/* The same for one kind of event. */
static MICAP_INLINE void run_all(mica_world *world, mica_event_kind kind, micap_row spot, uint32_t count,
                                 hook_filter filter)
{
    if (!spot.chunk->archetype->hooked[kind])
        return;
    micap_preserve_rows(world, spot.chunk, spot.row, count); /* a hook may write to the values */
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, micap_chunk_entities(spot.chunk) + spot.row, count);
    call_list(world, kind, spot, filter, &event, depth);
    micap_callback_end(world, depth);
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
    run_all(world, MICA_EVENT_ADD, spot, count, (hook_filter){.other = from});
}

void micap_hooks_given(mica_world *world, micap_row spot, uint32_t count, const mica_value *values,
                       uint32_t value_count)
{
    run_all(world, MICA_EVENT_SET, spot, count, (hook_filter){.values = values, .value_count = value_count});
}

void micap_hooks_added_given(mica_world *world, micap_row spot, const mica_value *values, uint32_t value_count)
{
    micap_preserve_row(world, spot.chunk, spot.row);
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, micap_chunk_entities(spot.chunk) + spot.row, 1);
    hook_filter filter = {.values = values, .value_count = value_count};
    call_list(world, MICA_EVENT_ADD, spot, filter, &event, depth);
    call_list(world, MICA_EVENT_SET, spot, filter, &event, depth);
    micap_callback_end(world, depth);
}

/* Calls what awaits an event of a listed component of a row. */
static MICAP_INLINE void call_hooked(mica_world *world, mica_event_kind kind, micap_row spot,
                                     const micap_hooked *hooked, mica_event *event, uint32_t depth)
{
    const micap_column_data *column = (const void *)((const char *)spot.chunk + hooked->column_offset);
    event->values = hooked->column_offset ? column->values + spot.row * column->bytes : NULL;
    event->component = hooked->component->type->id;
    call_component(world, kind, hooked->component, event, depth);
}

void micap_hooks_run_list(mica_world *world, mica_event_kind kind, micap_row spot, const micap_hooked *hooked,
                          uint32_t count)
{
    micap_preserve_row(world, spot.chunk, spot.row);
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, micap_chunk_entities(spot.chunk) + spot.row, 1);
    for (; count; --count, ++hooked)
        call_hooked(world, kind, spot, hooked, &event, depth);
    micap_callback_end(world, depth);
}

void micap_hooks_run_lists(mica_world *world, micap_row spot, const micap_hooked *hooked, uint32_t added_count,
                           uint32_t set_count)
{
    micap_preserve_row(world, spot.chunk, spot.row);
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, micap_chunk_entities(spot.chunk) + spot.row, 1);
    for (; added_count; --added_count, ++hooked)
        call_hooked(world, MICA_EVENT_ADD, spot, hooked, &event, depth);
    for (; set_count; --set_count, ++hooked)
        call_hooked(world, MICA_EVENT_SET, spot, hooked, &event, depth);
    micap_callback_end(world, depth);
}

static MICAP_NOINLINE void call_destroy_hook(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t depth = micap_callback_begin(world);
    mica_event event = event_of(world, entities, count);
    event.kind = MICA_EVENT_DESTROY;
    call(world, &world->destroy_hook, world->destroy_watches, &event, depth);
    micap_callback_end(world, depth);
}

void micap_hooks_removing(mica_world *world, const micap_archetype *to, micap_row spot, uint32_t count)
{
    if (!to && MICAP_UNLIKELY(world->destroy_hook.fn || world->destroy_watches))
        call_destroy_hook(world, micap_chunk_entities(spot.chunk) + spot.row, count);
    run_all(world, MICA_EVENT_REMOVE, spot, count, (hook_filter){.other = to});
    if (!to && world->sees_deaths)
        micap_modules_destroying(world, micap_chunk_entities(spot.chunk) + spot.row, count);
}
