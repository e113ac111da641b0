/* A query over edges, next to nested loops over arrays: ships that are docked to a planet whose ruler they are at war with. One operation is
 * one ship. */
#include "bench.h"
#include "raw_edges.h"

#include "mica/mica.h"
#include "mica/relation.h"

#include <stdlib.h>

MICA_TAG(Freighter)
MICA_TAG(Harbour)
MICA_RELATION_WITH(DockedTo, (.exclusive = true))
MICA_RELATION_WITH(RuledBy, (.exclusive = true))
MICA_RELATION(AtWarWith)

enum { PLANETS = 1000, FACTIONS = 20, ENEMIES = 2, ROUNDS = 8, PLANET = 1, RULER };

/* Spreads numbers over 16 bits. */
static uint32_t spread(uint32_t number)
{
    number *= 0x9e3779b1u;
    return (number ^ number >> 15) * 0x85ebca6bu >> 16;
}

/* Three of four ships are docked. */
static bool is_docked(uint32_t ship)
{
    return spread(ship) % 4 != 3;
}

static uint32_t planet_of(uint32_t ship)
{
    return spread(ship + 1) % PLANETS;
}

static uint32_t ruler_of(uint32_t planet)
{
    return spread(planet + 2) % FACTIONS;
}

static uint32_t enemy_of(uint32_t ship, uint32_t enemy)
{
    return (spread(ship + 3) + enemy * 9) % FACTIONS;
}

/* Entities are created in the same order on both sides: factions, planets, ships. */
static void relate_all(mica_world *world, const mica_entity *ships, const mica_entity *planets,
                       const mica_entity *factions, uint32_t n)
{
    for (uint32_t i = 0; i < PLANETS; ++i)
        mica_relate(world, planets[i], RuledBy, factions[ruler_of(i)]);
    for (uint32_t i = 0; i < n; ++i) {
        if (is_docked(i))
            mica_relate(world, ships[i], DockedTo, planets[planet_of(i)]);
        for (uint32_t k = 0; k < ENEMIES; ++k)
            require(mica_relate(world, ships[i], AtWarWith, factions[enemy_of(i, k)]) != NULL, "mica_relate failed");
    }
}

static mica_query *create_query(mica_world *world)
{
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_HAS(Freighter), MICA_HAS(DockedTo, .target = mica_variable(PLANET)),
                          MICA_HAS(Harbour, .subject = mica_variable(PLANET)),
                          MICA_HAS(RuledBy, .subject = mica_variable(PLANET), .target = mica_variable(RULER)),
                          MICA_HAS(AtWarWith, .target = mica_variable(RULER))));
    require(query != NULL, "mica_query_create failed");
    return query;
}

static measurement join_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ships = allocate_or_exit(n * sizeof *ships), planets[PLANETS], factions[FACTIONS];
    for (uint32_t i = 0; i < FACTIONS; ++i)
        factions[i] = mica_create(world);
    for (uint32_t i = 0; i < PLANETS; ++i)
        planets[i] = mica_create(world, MICA_WITH(Harbour));
    for (uint32_t i = 0; i < n; ++i)
        ships[i] = mica_create(world, MICA_WITH(Freighter));
    relate_all(world, ships, planets, factions, n);
    mica_query *query = create_query(world);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
            uint32_t ruler = mica_view_variable(&view, RULER).index - factions[0].index + 1;
            for (uint32_t i = 0; i < view.count; ++i)
                result.checksum += (uint64_t)(view.entities[i].index - factions[0].index) * ruler;
        }
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    free(ships);
    mica_world_destroy(world);
    return result;
}

typedef struct raw_sky {
    raw_edges docked; /* the entities of this table are those of all */
    raw_edges ruled;
    raw_edges at_war;
    uint8_t *kinds; /* by slot */
    raw_id *ships;
} raw_sky;

enum { KIND_FACTION, KIND_PLANET, KIND_SHIP };

static raw_id create_raw(raw_sky *sky, uint8_t kind)
{
    raw_edges *tables[] = {&sky->docked, &sky->ruled, &sky->at_war};
    uint32_t row = RAW_NONE;
    for (uint32_t i = 0; i < 3; ++i) {
        row = raw_create(&tables[i]->world);
        require(row != RAW_NONE, "raw_create failed");
    }
    raw_id id = sky->docked.world.owner[row];
    sky->kinds[id.index] = kind;
    return id;
}

static raw_sky open_raw(uint32_t n)
{
    raw_sky sky = {.docked = raw_edges_make(), .ruled = raw_edges_make(), .at_war = raw_edges_make()};
    sky.kinds = allocate_or_exit(n + PLANETS + FACTIONS + 1);
    sky.ships = allocate_or_exit(n * sizeof *sky.ships);
    raw_id planets[PLANETS], factions[FACTIONS];
    for (uint32_t i = 0; i < FACTIONS; ++i)
        factions[i] = create_raw(&sky, KIND_FACTION);
    for (uint32_t i = 0; i < PLANETS; ++i)
        planets[i] = create_raw(&sky, KIND_PLANET);
    for (uint32_t i = 0; i < n; ++i)
        sky.ships[i] = create_raw(&sky, KIND_SHIP);
    for (uint32_t i = 0; i < PLANETS; ++i)
        raw_relate(&sky.ruled, planets[i], factions[ruler_of(i)]);
    for (uint32_t i = 0; i < n; ++i) {
        if (is_docked(i))
            raw_relate(&sky.docked, sky.ships[i], planets[planet_of(i)]);
        for (uint32_t k = 0; k < ENEMIES; ++k)
            require(raw_relate(&sky.at_war, sky.ships[i], factions[enemy_of(i, k)]), "raw_relate failed");
    }
    return sky;
}

static void close_raw(raw_sky *sky)
{
    free(sky->kinds);
    free(sky->ships);
    raw_edges_free(&sky->docked);
    raw_edges_free(&sky->ruled);
    raw_edges_free(&sky->at_war);
}

/* Whether a slot is the one of a living entity of a kind. */
static bool is_alive_as(const raw_sky *sky, raw_id id, uint8_t kind)
{
    return sky->docked.world.slots[id.index].generation == id.generation && sky->kinds[id.index] == kind;
}

static uint64_t join_by_hand(const raw_sky *sky, uint32_t n)
{
    uint64_t sum = 0;
    uint32_t first = sky->ships[0].index - PLANETS - FACTIONS;
    for (uint32_t i = 0; i < n; ++i) {
        raw_id ship = sky->ships[i];
        for (uint32_t dock = sky->docked.ends[ship.index].first_target; dock != RAW_NONE;
             dock = sky->docked.edges[dock].next_target) {
            raw_id planet = sky->docked.edges[dock].target;
            if (!is_alive_as(sky, planet, KIND_PLANET))
                continue;
            for (uint32_t rule = sky->ruled.ends[planet.index].first_target; rule != RAW_NONE;
                 rule = sky->ruled.edges[rule].next_target) {
                raw_id ruler = sky->ruled.edges[rule].target;
                uint32_t war = sky->at_war.ends[ship.index].first_target;
                while (war != RAW_NONE && (sky->at_war.edges[war].target.index != ruler.index ||
                                           sky->at_war.edges[war].target.generation != ruler.generation))
                    war = sky->at_war.edges[war].next_target;
                if (war != RAW_NONE)
                    sum += (uint64_t)(ship.index - first) * (ruler.index - first + 1);
            }
        }
    }
    return sum;
}

static measurement join_raw(uint32_t n)
{
    raw_sky sky = open_raw(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        result.checksum += join_by_hand(&sky, n);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_raw(&sky);
    return result;
}

const workload relation_join_workloads[] = {
    {"relation_join", 100000, join_mica, join_raw, 2.0, UNIT_RATIO},
    {NULL, 0, NULL, NULL, 0, UNIT_RATIO},
};
