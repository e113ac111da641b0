/* Observers: several functions react to the same event, each for the entities that match its filter. Events of the program are recorded
 * like changes, and can propagate from a child to its parents. */
#include "mica/flow.h"
#include "mica/hierarchy.h"

#include <stdio.h>

typedef struct Burning { float heat; } Burning;
MICA_COMPONENT(Burning, heat)
MICA_TAG(Torch)
MICA_TAG(Shield)

enum { ALARM = MICA_EVENT_USER, HIT };

static void light_up(const mica_event *seen)
{
    for (uint32_t i = 0; i < seen->count; ++i)
        printf("torch %u gives light\n", seen->entities[i].index);
}

static void smell(const mica_event *seen)
{
    const Burning *burning = seen->values;
    for (uint32_t i = 0; i < seen->count; ++i)
        printf("entity %u burns at %.0f degrees\n", seen->entities[i].index, burning[i].heat);
}

static void mourn(const mica_event *seen)
{
    printf("%u gone\n", seen->count);
}

static void ring(const mica_event *seen)
{
    printf("alarm %d\n", *(const int *)seen->data);
}

static void count(const mica_event *seen)
{
    *(int *)seen->context += seen->kind == MICA_EVENT_ADD ? (int)seen->count : -(int)seen->count;
}

/* Told for what was hit, then for what that is a part of: a shield keeps it from the rest. */
static void take_hit(const mica_event *seen)
{
    printf("entity %u feels a hit on %u\n", seen->entities[0].index, seen->target.index);
    if (mica_has(seen->world, seen->entities[0], Shield))
        mica_event_stop(seen);
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, smell));
    mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, light_up, MICA_HAS(Torch)));
    mica_observer_add(world, MICA_OBSERVER_DESTROY(mourn));
    mica_observer_add(world, &(mica_observer_def){.event = ALARM, .fn = ring});
    int components = 0; /* one observer of several events and components */
    mica_observer_add(world, &(mica_observer_def){.events = (mica_event_kind[]){MICA_EVENT_ADD, MICA_EVENT_REMOVE},
                                                  .event_count = 2,
                                                  .components = (mica_component[]){MICA_ID(Burning), MICA_ID(Torch)},
                                                  .component_count = 2,
                                                  .fn = count,
                                                  .context = &components});

    mica_entity torch = mica_create(world, MICA_WITH(Torch));
    mica_entity barrel = mica_create(world);
    mica_set(world, torch, Burning, {600});
    mica_set(world, barrel, Burning, {300});
    int level = 2;
    mica_event_emit(world, ALARM, 0, barrel, (mica_value){.size_bytes = sizeof level, .data = &level});

    mica_defer(world); /* changed and destroyed in one flush: only the destruction counts */
    mica_remove(world, barrel, Burning);
    mica_destroy(world, barrel);
    mica_flush(world);
    printf("%d components are left\n", components);

    mica_observer_def late =
        *MICA_OBSERVER(MICA_EVENT_ADD, Burning, smell); /* added late, it is told what burns already */
    late.existing = true;
    mica_observer_add(world, &late);

    mica_observer_add(world, &(mica_observer_def){.event = HIT, .fn = take_hit});
    mica_entity knight = mica_create(world), arm = mica_create_child(world, knight);
    mica_entity finger = mica_create_child(world, arm);
    mica_event_propagate(world, HIT, 0, finger, (mica_value){0});
    mica_defer(world); /* recorded: delivered by the flush, after the changes */
    mica_event_propagate(world, HIT, 0, finger, (mica_value){0});
    mica_add(world, arm, Shield);
    mica_flush(world);
    mica_world_destroy(world);
}
