/* Queries about several entities: ships docked to a planet that is ruled by a faction they are at war with. The same query in C and as
 * text, with a variable that is bound before the loop, in a system, and with its plan. */
#include "mica/flow.h"
#include "mica/mica.h"
#include "mica/query_text.h"
#include "mica/relation.h"

#include <stdio.h>

typedef struct Ship {
    int guns;
} Ship;
MICA_COMPONENT(Ship, guns)
typedef struct Planet {
    int population;
} Planet;
MICA_COMPONENT(Planet, population)
MICA_TAG(Damaged)

MICA_RELATION_WITH(DockedTo, (.exclusive = true))
MICA_RELATION_WITH(RuledBy, (.exclusive = true))
MICA_RELATION_WITH(MemberOf, (.exclusive = true))
MICA_RELATION_WITH(AtWar, (.symmetric = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

enum { PLANET = 1, RULER, OWN };

static mica_entity create_named(mica_world *world, const char *name)
{
    mica_entity entity = mica_create(world);
    mica_name_set(world, entity, mica_nil(), name);
    return entity;
}

static mica_entity create_ship(mica_world *world, const char *name, int guns, mica_entity faction, mica_entity planet)
{
    mica_entity ship = create_named(world, name);
    mica_set(world, ship, Ship, {guns});
    mica_relate(world, ship, MemberOf, faction);
    mica_relate(world, ship, DockedTo, planet);
    return ship;
}

static mica_entity create_planet(mica_world *world, const char *name, int population, mica_entity ruler)
{
    mica_entity planet = create_named(world, name);
    mica_set(world, planet, Planet, {population});
    mica_relate(world, planet, RuledBy, ruler);
    return planet;
}

static void print(mica_world *world, const char *title, mica_query *query, mica_view view)
{
    printf("%s:\n", title);
    for (uint32_t planet = mica_query_variable(query, "planet"); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            printf("  %s at %s\n", mica_name_get(world, view.entities[i]),
                   mica_name_get(world, mica_view_variable(&view, planet ? planet : PLANET)));
}

/* Shells the planet; runs for each ship that is at war with its host. */
static void shell(mica_view *view)
{
    const Ship *ship = mica_view_read(view, Ship);
    Planet *planet = mica_view_write(view, Planet); /* one planet for all ships of the view */
    for (uint32_t i = 0; i < view->count; ++i)
        planet->population -= ship[i].guns;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity red = create_named(world, "red"), blue = create_named(world, "blue"),
                grey = create_named(world, "grey");
    mica_relate(world, red, AtWar, blue);
    mica_entity mars = create_planet(world, "mars", 1000, red), neptune = create_planet(world, "neptune", 500, blue);
    mica_entity pluto = create_planet(world, "pluto", 20, grey);
    mica_entity ares = create_ship(world, "ares", 12, red, neptune);
    create_ship(world, "nereid", 7, blue, mars);
    create_ship(world, "triton", 5, blue, neptune);
    create_ship(world, "charon", 3, grey, mars);
    mica_add(world, create_ship(world, "phobos", 9, red, neptune), Damaged);
    mica_relate(world, create_named(world, "turret"), PartOf, ares);
    (void)pluto;

    mica_query *guests = mica_query_create(
        world, MICA_QUERY(MICA_READ(Ship), MICA_WITHOUT(Damaged), MICA_HAS(DockedTo, .target = mica_variable(PLANET)),
                          MICA_READ(Planet, .subject = mica_variable(PLANET)),
                          MICA_HAS(RuledBy, .subject = mica_variable(PLANET), .target = mica_variable(RULER)),
                          MICA_HAS(MemberOf, .target = mica_variable(OWN)),
                          MICA_HAS(AtWar, .subject = mica_variable(OWN), .target = mica_variable(RULER))));
    print(world, "at war with their host", guests, mica_query_begin(guests));

    mica_view bound = mica_query_begin(guests);
    mica_view_bind(&bound, PLANET, mars);
    print(world, "of these, at mars", guests, bound);

    mica_value_error error;
    mica_query *text =
        mica_query_text(world,
                        "Ship, !Damaged, DockedTo($this, $planet), Planet($planet), RuledBy($planet, $ruler), "
                        "MemberOf($this, $own), AtWar($own, $ruler)",
                        &error);
    print(world, "the same as text", text, mica_query_begin(text));
    char plan[1000];
    mica_query_explain(text, plan, sizeof plan);
    printf("its plan:\n%s\n", plan);

    mica_query *parts = mica_query_text(world, "Ship(up PartOf)", &error);
    printf("a part of a ship: %s\n", mica_name_get(world, mica_query_first(parts)));
    if (!mica_query_text(world, "Ship, DockedTo($this, pluton)", &error))
        printf("at %u: %s\n", error.position, error.text);

    mica_system_add(world,
                    MICA_SYSTEM(shell, MICA_READ(Ship), MICA_HAS(DockedTo, .target = mica_variable(PLANET)),
                                MICA_WRITE(Planet, .subject = mica_variable(PLANET)),
                                MICA_HAS(RuledBy, .subject = mica_variable(PLANET), .target = mica_variable(RULER)),
                                MICA_HAS(MemberOf, .target = mica_variable(OWN)),
                                MICA_HAS(AtWar, .subject = mica_variable(OWN), .target = mica_variable(RULER))));
    mica_step(world, 1.0f);
    printf("mars %d, neptune %d\n", mica_get(world, mars, Planet)->population,
           mica_get(world, neptune, Planet)->population);
    mica_world_destroy(world);
    return 0;
}
