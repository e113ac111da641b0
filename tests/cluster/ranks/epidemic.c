/* Persons on a network of contacts that does not follow their positions: they move, infect those they know by messages, die, and are born.
 * Relations and entities in components refer to persons of other ranks; dependents die with the one they depend on. */
#include "mica/relation.h"
#include "models.h"

typedef struct Place { float x, y; } Place;
typedef struct Person { uint32_t state, days, doses, known; } Person;
typedef struct Family { mica_entity mother; mica_list others; } Family;
typedef struct Knows { uint32_t strength; } Knows;
typedef struct Exposure { uint32_t dose; } Exposure;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT(Person, state, days, doses, known)
MICA_COMPONENT(Family, mother, (others, mica_entity))
MICA_RELATION(Knows, strength)
MICA_RELATION_WITH(DependsOn, (.exclusive = true, .on_target = MICA_TARGET_DESTROY))
MICA_STRUCT(Exposure, dose)

enum { SIZE = 30, SUSCEPTIBLE = 0, INFECTED = 1, RECOVERED = 2 };

static mica_cluster *the_cluster;

static void take_exposure(const mica_message *message)
{
    Person *persons = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        persons[i].doses = persons[i].doses * 7 + ((const Exposure *)message->data)->dose; /* the order matters */
}

/* What a person sees of its references, then which others it infects. */
static void spread(mica_view *view)
{
    Person *person = mica_view_write(view, Person);
    const Family *family = mica_view_read(view, Family);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        person[i].known = mica_target_count(view->world, self, Knows);
        person[i].known = person[i].known * 2 + !mica_is_nil(mica_target(view->world, self, DependsOn));
        person[i].known = person[i].known * 2 + (family && mica_is_alive(view->world, family[i].mother));
        mica_random random = mica_cluster_random(the_cluster, self, 1);
        for (mica_edges at = mica_targets(view->world, self, Knows); mica_edge_next(&at);) {
            uint32_t strength = ((const Knows *)at.fields)->strength;
            person[i].known = person[i].known * 31 + (uint32_t)mica_cluster_identity(the_cluster, at.entity);
            if (person[i].state == INFECTED && mica_random_below(&random, 8) < strength)
                mica_cluster_send(the_cluster, self, mica_cluster_identity(the_cluster, at.entity),
                                  (mica_value)MICA_WITH(Exposure, {1 + strength}));
        }
    }
}

static void live(mica_view *view)
{
    Person *person = mica_view_write(view, Person);
    Place *place = mica_view_write(view, Place);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        mica_random random = mica_cluster_random(the_cluster, self, 2);
        place[i].x += mica_random_range(&random, -2, 2);
        place[i].y += mica_random_range(&random, -2, 2);
        if (person[i].state == SUSCEPTIBLE && person[i].doses)
            person[i].state = INFECTED;
        else if (person[i].state == INFECTED && ++person[i].days > 6)
            person[i].state = RECOVERED;
        if (person[i].state == INFECTED && mica_random_below(&random, 12) == 0)
            mica_destroy(view->world, self);
        else if (mica_random_below(&random, 30) == 0)
            mica_create(view->world, MICA_WITH(Place, {place[i].x, place[i].y}), MICA_WITH(Person, {0}),
                        MICA_WITH(Family, {.mother = self}));
    }
}

static void create_persons(mica_world *world, const settings *settings)
{
    mica_entity persons[4096];
    uint32_t count = settings->agents < 4096 ? settings->agents : 4096;
    mica_random random = mica_random_make(settings->seed, 3);
    for (uint32_t i = 0; i < count; ++i) {
        Place place = {mica_random_range(&random, 0, SIZE), mica_random_range(&random, 0, SIZE)};
        persons[i] = mica_create(world, MICA_FROM(Place, &place), MICA_WITH(Person, {.state = i % 20 == 0}));
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < 4; ++k) {
            uint32_t other = mica_random_below(&random, count);
            if (other != i)
                mica_relate(world, persons[i], Knows, persons[other])->strength = k;
        }
        if (i % 5 == 4)
            mica_relate(world, persons[i], DependsOn, persons[i - 1 - mica_random_below(&random, 4)]);
        if (i % 3 == 0) {
            mica_set(world, persons[i], Family, {.mother = persons[count - 1 - i]});
            mica_list *others = &mica_write(world, persons[i], Family)->others;
            *mica_list_append(others, mica_entity) = persons[mica_random_below(&random, count)];
            *mica_list_append(others, mica_entity) = persons[mica_random_below(&random, count)];
        }
    }
}

static mica_cluster *create(mica_world *world, const settings *settings)
{
    the_cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 2, .maximum = {SIZE, SIZE}},
                   .messages = (const mica_component[]){MICA_ID(Exposure)},
                   .message_count = 1,
                   .balance_steps = settings->balance,
                   .seed = settings->seed});
    mica_define(world, Knows), mica_define(world, DependsOn), mica_define(world, Family);
    mica_handler_add(world, MICA_HANDLER(Person, Exposure, take_exposure));
    mica_system_add(world, MICA_SYSTEM_WITH(spread, (MICA_USES(MICA_USE_READ(Knows), MICA_USE_READ(DependsOn))),
                                            MICA_WRITE(Person), MICA_MAYBE_READ(Family), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(live, MICA_WRITE(Person), MICA_WRITE(Place), MICA_HAS(mica_identity)));
    if (!settings->resume)
        create_persons(world, settings);
    return the_cluster;
}

/* Stand-ins for persons of other ranks are not counted. */
static uint64_t content(mica_world *world)
{
    (void)world;
    mica_summary all;
    mica_cluster_reduce(the_cluster, &(mica_cluster_reduction){.component = MICA_ID(mica_identity)}, &all, NULL);
    return mica_cluster_rank(the_cluster) ? 0 : all.count; /* it is added up over all ranks */
}

const model epidemic_model = {.name = "epidemic", .create = create, .content = content};
