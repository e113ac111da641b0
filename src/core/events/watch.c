#include "core/events/watch.h"

#include "core/events/hooks.h"

static micap_watch **list_of(mica_world *world, mica_event_kind kind, mica_component component)
{
    return component ? &micap_component_of(&world->components, component)->watches[kind] : &world->destroy_watches;
}

static void update_hooks(mica_world *world, mica_component component)
{
    if (micap_is_pooled(component))
        micap_pools_update_hooks(world, component);
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        micap_archetype_update_hooks(world, world->archetypes.by_id[i]);
}

void micap_watch_add(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch)
{
    MICAP_ASSERT(!world->hook_depth || !micap_component_of(&world->components, component)->archetype_count,
                 "lists of watches stay as they are while they are walked");
    micap_watch **link = list_of(world, kind, component);
    while (*link)
        link = &(*link)->next;
    watch->next = NULL;
    *link = watch;
    update_hooks(world, component);
}

void micap_watch_remove(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch)
{
    micap_watch **link = list_of(world, kind, component);
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    update_hooks(world, component);
}
