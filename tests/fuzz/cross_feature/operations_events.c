/* Hooks, observers and lists of removals. The body of a hook or observer runs for the entities of its event. */
#include "program.h"

/* Events that propagate end at some entities. */
static void on_event(const mica_event *event)
{
    if (event->kind >= MICA_EVENT_USER && event->count && event->entities[0].index % 4 == 1)
        mica_event_stop(event);
    run_body(event->context, BODY_HOOK, event->entities, event->count);
}

static void hook_set(program *program, scene *scene)
{
    mica_component component = sample_id(take_kind(program, scene));
    mica_event_kind kind = (mica_event_kind)take_below(program, MICA_EVENT_DESTROY + 1);
    bool clears = take_one_in(program, 6);
    reaction *reaction = clears ? NULL : take_reaction(program, scene);
    mica_hook_set_id(scene->world, kind == MICA_EVENT_DESTROY ? 0 : component, kind, reaction ? on_event : NULL,
                     reaction);
}

static void observer_add(program *program, scene *scene)
{
    mica_observer *slot = &scene->observers[take_below(program, OBSERVERS)];
    mica_event_kind event = take_below(program, MICA_EVENT_DISABLE + 2);
    event = event > MICA_EVENT_DISABLE ? (mica_event_kind)MICA_EVENT_USER : event;
    sample_kind kind = take_kind(program, scene);
    mica_term filter = {.component = sample_id(take_kind(program, scene))};
    filter.access = take_one_in(program, 2) ? MICA_ACCESS_HAS : MICA_ACCESS_WITHOUT;
    mica_observer_def def = {.terms = &filter, .fn = on_event, .location = MICA_HERE};
    def.event = event;
    def.component = event == MICA_EVENT_DESTROY || event == MICA_EVENT_USER ? 0 : sample_id(kind);
    def.term_count = take_below(program, 2);
    def.existing = event == MICA_EVENT_ADD && take_one_in(program, 2);
    def.context = take_reaction(program, scene);
    if (slot->id)
        mica_observer_remove(scene->world, *slot);
    *slot = (mica_observer){0};
    if (def.context)
        *slot = mica_observer_add(scene->world, &def);
}

/* An observer of any events of any components. */
static void observer_add_lists(program *program, scene *scene)
{
    mica_observer *slot = &scene->observers[take_below(program, OBSERVERS)];
    mica_event_kind events[3];
    mica_component components[3];
    mica_observer_def def = {.events = events, .components = components, .fn = on_event, .location = MICA_HERE};
    def.event_count = 1 + take_below(program, 3);
    def.component_count = take_below(program, 4);
    for (uint32_t i = 0; i < 3; ++i) {
        mica_event_kind event = take_below(program, MICA_EVENT_DISABLE + 2);
        events[i] = event > MICA_EVENT_DISABLE ? (mica_event_kind)MICA_EVENT_USER : event;
        components[i] = sample_id(take_kind(program, scene));
        def.existing |= i < def.event_count && event == MICA_EVENT_ADD;
    }
    def.context = take_reaction(program, scene);
    if (slot->id)
        mica_observer_remove(scene->world, *slot);
    *slot = (mica_observer){0};
    if (def.context)
        *slot = mica_observer_add(scene->world, &def);
}

static void observer_remove(program *program, scene *scene)
{
    mica_observer *slot = &scene->observers[take_below(program, OBSERVERS)];
    if (mica_observer_remove(scene->world, *slot))
        *slot = (mica_observer){0};
}

static void observe_emit(program *program, scene *scene)
{
    mica_event_emit(scene->world, MICA_EVENT_USER, 0, take_entity(program, scene), (mica_value){0});
}

static void event_propagate(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    mica_component component = take_one_in(program, 2) ? sample_id(take_kind(program, scene)) : 0;
    uint32_t energy = take_below(program, 4);
    mica_value data = MICA_WITH(FuzzPing, FUZZ_PING(energy, entity));
    mica_event_propagate(scene->world, MICA_EVENT_USER, component, entity, data);
}

static void monitor_add(program *program, scene *scene)
{
    static const mica_access accesses[] = {MICA_ACCESS_HAS,     MICA_ACCESS_HAS, MICA_ACCESS_WITHOUT,
                                           MICA_ACCESS_EITHER,  MICA_ACCESS_OR,  MICA_ACCESS_MAYBE_READ,
                                           MICA_ACCESS_DISABLED};
    match_set *monitor = &scene->monitors[take_below(program, MONITORS)];
    mica_term terms[3];
    uint32_t count = 1 + take_below(program, 3);
    for (uint32_t i = 0; i < count; ++i) {
        mica_component component = sample_id(take_kind(program, scene));
        terms[i] = (mica_term){.component = component, .access = accesses[i ? take_below(program, 7) : 0]};
    }
    match_set_close(monitor, scene->world);
    match_set_open(monitor, scene->world, terms, count);
}

static void removals_read(program *program, scene *scene)
{
    mica_entity entities[8];
    if (!scene->removals)
        scene->removals = mica_removals_create_id(scene->world, sample_id(take_kind(program, scene)));
    if (!scene->removals)
        return;
    mica_removals_read(scene->removals, entities, take_below(program, 9));
    mica_removals_missed(scene->removals);
}

static void removals_destroy(program *program, scene *scene)
{
    if (program->depth > 0)
        return;
    mica_removals_destroy(scene->removals);
    scene->removals = NULL;
}

const operation event_operations[] = {
    {"hook_set", hook_set, 0},
    {"observer_add", observer_add, IN_BODY},
    {"observer_add_lists", observer_add_lists, IN_BODY},
    {"observer_remove", observer_remove, IN_BODY},
    {"observe_emit", observe_emit, IN_BODY | AS_INPUT},
    {"event_propagate", event_propagate, IN_BODY | AS_INPUT},
    {"monitor_add", monitor_add, 0},
    {"removals_read", removals_read, IN_BODY},
    {"removals_destroy", removals_destroy, 0},
};
OPERATIONS(event)
