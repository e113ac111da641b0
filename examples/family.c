/* Relations: a family tree. Edges lead from entity to entity, can have fields, and are followed in both directions. */
#include "mica/mica.h"
#include "mica/relation.h"

#include <stdio.h>

typedef struct MarriedTo {
    int32_t since;
} MarriedTo;

MICA_RELATION(Likes)
MICA_RELATION_WITH(ChildOf, (.acyclic = true, .transitive = true))
MICA_RELATION_WITH(MarriedTo, (.symmetric = true, .exclusive = true), since)

static void print_report(const mica_report *report, void *context)
{
    (void)context;
    printf("refused: %s\n", report->text);
}

static const char *name(const mica_world *world, mica_entity entity)
{
    return mica_name_get(world, entity);
}

static mica_entity person(mica_world *world, const char *called)
{
    mica_entity entity = mica_create(world);
    mica_name_set(world, entity, mica_nil(), called);
    return entity;
}

static mica_entity child(mica_world *world, const char *called, mica_entity mother, mica_entity father)
{
    mica_entity entity = person(world, called);
    mica_relate(world, entity, ChildOf, mother);
    mica_relate(world, entity, ChildOf, father);
    return entity;
}

static void on_parting(const mica_event *event)
{
    printf("%s and %s part\n", name(event->world, event->entities[0]), name(event->world, event->target));
}

int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = print_report;
    mica_world *world = mica_world_create(&def);
    mica_entity anna = person(world, "Anna"), ben = person(world, "Ben");
    mica_entity cleo = child(world, "Cleo", anna, ben), dan = child(world, "Dan", anna, ben);

    printf("children of %s:", name(world, anna));
    for (mica_edges at = mica_sources(world, anna, ChildOf); mica_edge_next(&at);)
        printf(" %s", name(world, at.entity));
    printf("\nparents of %s:", name(world, cleo));
    for (mica_edges at = mica_targets(world, cleo, ChildOf); mica_edge_next(&at);)
        printf(" %s", name(world, at.entity));

    /* Symmetric: one edge, which both see. Exclusive: at most one. */
    mica_relate_with(world, anna, MarriedTo, ben, {.since = 1974});
    printf("\n%s is married to %s since %d\n", name(world, ben), name(world, mica_target(world, ben, MarriedTo)),
           mica_edge_get(world, ben, MarriedTo, anna)->since);
    mica_hook_set(world, MarriedTo, MICA_EVENT_REMOVE, on_parting, NULL);
    mica_entity eva = person(world, "Eva");
    mica_relate(world, ben, MarriedTo, eva)->since = 1999;
    printf("%s is married: %s\n", name(world, anna), mica_target_count(world, anna, MarriedTo) ? "yes" : "no");

    /* Transitive: what follows from other edges is computed. Acyclic: an edge that would close a circle is refused. */
    mica_entity fay = child(world, "Fay", cleo, ben);
    printf("%s descends from %s: %s\n", name(world, fay), name(world, anna),
           mica_is_related(world, fay, ChildOf, anna) ? "yes" : "no");
    mica_relate(world, anna, ChildOf, fay);

    /* The edges of an entity go with it. */
    mica_relate(world, eva, Likes, dan);
    mica_relate(world, eva, Likes, fay);
    mica_destroy(world, dan);
    printf("%s likes %u, %s has %u child\n", name(world, eva), mica_target_count(world, eva, Likes), name(world, anna),
           mica_source_count(world, anna, ChildOf));
    mica_world_destroy(world);
    return 0;
}
