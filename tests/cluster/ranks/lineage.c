/* Creatures with parents and names in the scope of others, anywhere in the world: they jump, change their parents and names, are born and die,
 * and their descendants die with them. Families are born whose members refer to each other in many ways. What they see of their links is kept.
 * Some have luggage in memory of the program. */
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/relation.h"
#include "models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Place { float x, y; } Place;
typedef struct Creature { uint64_t number, seen; mica_entity elder; } Creature;
typedef struct Bond { mica_entity to; mica_list others; } Bond;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Creature, number, seen, elder)
MICA_COMPONENT(Bond, to, (others, mica_entity))
MICA_RELATION(Guards)
MICA_RELATION_WITH(Follows, (.exclusive = true))
/* Memory of the program. */
typedef struct Luggage { uint64_t *things; uint32_t count; } Luggage;
typedef struct LuggageRecipe { mica_list things; } LuggageRecipe;
MICA_STRUCT(LuggageRecipe, (things, uint64_t))

static void destroy_luggage(void *value)
{
    free(((Luggage *)value)->things);
}

MICA_OPAQUE(Luggage, (.destroy_one = destroy_luggage))

enum { SIZE = 24 };

static mica_cluster *the_cluster;
static bool names_elders; /* in the scopes of others than parents, which can't be saved */

static bool save_luggage(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                         void *context)
{
    const Luggage *luggage = value;
    LuggageRecipe *recipe = out_instance;
    (void)world, (void)entity, (void)context;
    for (uint32_t i = 0; i < luggage->count; ++i)
        *mica_list_append(&recipe->things, uint64_t) = luggage->things[i];
    return true;
}

static bool spawn_luggage(const mica_spawn_run *run, void *context)
{
    const LuggageRecipe *recipes = run->instances;
    Luggage *luggage = run->values;
    (void)context;
    for (uint32_t i = 0; i < run->count; ++i) {
        luggage[i].count = mica_list_count(&recipes[i].things);
        luggage[i].things = calloc(luggage[i].count + 1, sizeof *luggage[i].things);
        if (luggage[i].count)
            memcpy(luggage[i].things, mica_list_items(&recipes[i].things, uint64_t),
                   luggage[i].count * sizeof(uint64_t));
    }
    return true;
}

/* Some get luggage, and those that have it collect things. */
static void collect(mica_view *view)
{
    Creature *creature = mica_view_write(view, Creature);
    Luggage *luggage = mica_view_write(view, Luggage);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (!luggage && creature[i].seen % 8 == 0)
            mica_add(view->world, view->entities[i], Luggage);
        if (!luggage || luggage[i].count == 5)
            continue;
        luggage[i].things = realloc(luggage[i].things, (luggage[i].count + 1) * sizeof *luggage[i].things);
        luggage[i].things[luggage[i].count++] = creature[i].seen;
        for (uint32_t k = 0; k < luggage[i].count; ++k)
            creature[i].seen = mix(creature[i].seen, luggage[i].things[k]);
    }
}

/* What is known of links on any rank: identities of the parent and of the scope, and the own name. */
static void look(mica_view *view)
{
    Creature *creature = mica_view_write(view, Creature);
    const Bond *bonds = mica_view_read(view, Bond);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i], parent = mica_parent(view->world, self);
        const char *name = mica_name_get(view->world, self);
        uint64_t seen = mica_is_nil(parent) ? 1 : mica_cluster_identity(the_cluster, parent);
        mica_entity scope = mica_name_get_scope(view->world, self);
        bool is_named = name && mica_is_alive(view->world, scope);
        seen = mix(seen, is_named ? mica_cluster_identity(the_cluster, scope) : 2);
        for (; name && *name; ++name)
            seen = mix(seen, (unsigned char)*name);
        const Bond *bond = bonds ? &bonds[i] : NULL;
        seen =
            mix(seen, bond && mica_is_alive(view->world, bond->to) ? mica_cluster_identity(the_cluster, bond->to) : 3);
        for (mica_edges at = mica_targets(view->world, self, Guards); mica_edge_next(&at);)
            seen = mix(seen, mica_cluster_identity(the_cluster, at.entity));
        creature[i].seen = mix(creature[i].seen, seen);
    }
}

/* Elders are older than those that have them, so there are no circles. */
static void relink(mica_world *world, mica_entity self, const Creature *creature, uint64_t chance)
{
    bool has_elder = mica_is_alive(world, creature->elder);
    if (chance % 23 == 0 && has_elder)
        mica_relate(world, self, Follows, creature->elder);
    if (chance % 5 == 0)
        mica_set_parent(world, self, has_elder ? creature->elder : mica_nil());
    else if (chance % 5 == 1)
        mica_set_parent(world, self, mica_nil());
    char name[40];
    snprintf(name, sizeof name, "%llu of %llx", (unsigned long long)(chance >> 8 & 15),
             (unsigned long long)mica_cluster_identity(the_cluster, self));
    if (chance % 7 == 0 && names_elders)
        mica_name_set(world, self, has_elder ? creature->elder : mica_nil(), name);
    else if (chance % 7 == 0 && chance % 5 > 1) /* not with a new parent, in whose scope the name would not be */
        mica_name_child(world, self, name);
    else if (chance % 7 == 1)
        mica_name_set(world, self, mica_nil(), NULL);
}

static void change_links(mica_view *view)
{
    const Creature *creature = mica_view_read(view, Creature);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_cluster_random(the_cluster, view->entities[i], 2);
        relink(view->world, view->entities[i], &creature[i], mica_random_next(&random));
    }
}

static mica_entity bear(mica_world *world, float x, uint64_t number)
{
    return mica_create(world, MICA_WITH(Place, {x, 3}), MICA_WITH(Creature, {.number = number}));
}

static void bond(mica_world *world, mica_entity from, mica_entity to, mica_entity other)
{
    Bond own = {.to = to};
    *mica_list_append(&own.others, mica_entity) = other;
    mica_set_id(world, from, (mica_value)MICA_FROM(Bond, &own));
    mica_list_clear(&own.others, mica_entity);
}

/* Some families are the same wherever they are born; of some, several members are equal, in pairs and in rings. */
static void found_family(mica_world *world, mica_entity self, uint64_t chance)
{
    float x = (float)(chance >> 8 & 7) * 3;
    mica_entity first = bear(world, x, 1), second = bear(world, chance & 1 ? x : SIZE - x, 1), third = mica_nil();
    switch (chance >> 16 & 7) {
    case 0: bond(world, self, first, second); break;
    case 1: bond(world, first, second, second); break;
    case 2: bond(world, first, second, self); break;
    case 3: bond(world, first, second, first), bond(world, second, first, second); break;
    case 4:
        mica_set_parent(world, first, second);
        mica_relate(world, self, Guards, first);
        break;
    case 5:
        third = bear(world, x, 1);
        bond(world, first, second, third), bond(world, second, third, first), bond(world, third, first, second);
        break;
    case 6:
        mica_relate(world, self, Guards, second);
        mica_relate(world, second, Guards, first);
        break;
    default: mica_set_parent(world, first, self), mica_set_parent(world, second, self);
    }
}

/* Comes last: what it destroys is not linked any more in this step. */
static void live(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        mica_random random = mica_cluster_random(the_cluster, self, 1);
        uint64_t chance = mica_random_next(&random);
        if (mica_random_below(&random, 4) == 0)
            place[i].x = mica_random_range(&random, 0, SIZE);
        place[i].y += mica_random_range(&random, -2, 2);
        if (mica_random_below(&random, 40) == 0) {
            char name[40];
            mica_entity child = mica_create_child(view->world, self, MICA_WITH(Place, {place[i].y, place[i].x}),
                                                  MICA_WITH(Creature, {.number = chance, .elder = self}));
            snprintf(name, sizeof name, "child %llx", (unsigned long long)chance);
            mica_name_set(view->world, child, self, name);
        } else if (mica_random_below(&random, 12) == 0) {
            mica_destroy(view->world, self);
        } else if (mica_random_below(&random, 20) == 0) {
            found_family(view->world, self, mica_random_next(&random));
        }
    }
}

/* Those that follow the same one are on one rank. */
static uint64_t key_of(const mica_world *world, mica_entity entity, void *context)
{
    mica_entity leader = mica_target(world, entity, Follows);
    const mica_identity *identity = mica_is_alive(world, leader) ? mica_get(world, leader, mica_identity) : NULL;
    (void)context;
    return identity ? identity->value : mix(mica_get(world, entity, Creature)->number, 1);
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    mica_entity creatures[4096];
    names_elders = settings->scopes;
    mica_resource_rule rule = {.component = MICA_ID(Luggage),
                               .recipe = &mica_type_of_LuggageRecipe,
                               .save = save_luggage,
                               .spawn = spawn_luggage};
    uint32_t count = settings->agents < 4096 ? settings->agents : 4096;
    the_cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .key = settings->keys ? key_of : NULL,
                   .grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 2, .maximum = {SIZE, SIZE}},
                   .links = true,
                   .rules = &rule,
                   .rule_count = 1,
                   .balance_steps = settings->balance,
                   .seed = settings->seed});
    mica_define(world, Creature), mica_define(world, Bond), mica_define(world, Guards), mica_define(world, Luggage);
    mica_define(world, Follows);
    mica_system_add(world, MICA_SYSTEM_WITH(look, (MICA_USES(MICA_USE_READ(Guards))), MICA_WRITE(Creature),
                                            MICA_MAYBE_READ(Bond), MICA_HAS(mica_identity)));
    mica_system_add(world,
                    MICA_SYSTEM(collect, MICA_WRITE(Creature), MICA_MAYBE_WRITE(Luggage), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(change_links, MICA_READ(Creature), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM_WITH(live, (.phase = MICA_PHASE_END), MICA_WRITE(Place), MICA_HAS(Creature),
                                            MICA_HAS(mica_identity)));
    mica_random random = mica_random_make(settings->seed, 5);
    for (uint32_t i = 0; i < count && !settings->resume; ++i) {
        Place place = {mica_random_range(&random, 0, SIZE), mica_random_range(&random, 0, SIZE)};
        mica_entity elder = i ? creatures[mica_random_below(&random, i)] : mica_nil();
        creatures[i] = mica_create(world, MICA_FROM(Place, &place), MICA_WITH(Creature, {.number = i, .elder = elder}));
        if (i % 3 == 0)
            mica_set_parent(world, creatures[i], elder);
        if (i % 4 && i > 8)
            mica_relate(world, creatures[i], Follows, creatures[i % 9]);
    }
    return the_cluster;
}

static uint64_t content(mica_world *world)
{
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Creature)));
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            sum += mica_view_read(&view, Creature)[i].seen;
    mica_query_destroy(query);
    return sum;
}

const model lineage_model = {.name = "lineage", .create = create, .content = content};
