/* An epidemic on a network of contacts, on one process or on many: cluster_epidemic, or mpirun -n 4 cluster_epidemic. The last line is the
 * same. Persons live in the cells of a map, which says which process has them; those they know live anywhere. Arguments: number of
 * persons, number of days; then --save FILE saves every 20 days, --resume FILE continues a save, on any number of processes, and
 * --picture FILE draws which process has which persons. */
#include "cluster/picture.h"
#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/message.h"
#include "mica/relation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Home { float x, y; } Home;
typedef struct Health { int32_t days_ill; int32_t susceptible, ill, immune; } Health; /* one of the last three is 1 */
typedef struct Cough { int32_t count; } Cough;
MICA_COMPONENT(Home, x, y)
MICA_COMPONENT(Health, days_ill, susceptible, ill, immune)
MICA_STRUCT(Cough, count)
MICA_RELATION(Knows)

enum { SIZE = 100, CONTACTS = 8, DAYS_ILL = 10 };

static mica_cluster *cluster;

/* The ill cough at those they know. at.entity is a person of this process, or a stand-in for one of another. */
static void meet(mica_view *view)
{
    const Health *health = mica_view_read(view, Health);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        mica_random random = mica_cluster_random(cluster, self, 0);
        for (mica_edges at = mica_targets(view->world, self, Knows); health[i].ill && mica_edge_next(&at);)
            if (mica_random_below(&random, 30) == 0)
                mica_cluster_send(cluster, self, mica_cluster_identity(cluster, at.entity),
                                  (mica_value)MICA_WITH(Cough, {1}));
    }
}

static void recover(mica_view *view)
{
    Health *health = mica_view_write(view, Health);
    for (uint32_t i = 0; i < view->count; ++i)
        if (health[i].ill && ++health[i].days_ill > DAYS_ILL)
            health[i] = (Health){.immune = 1};
}

/* Delivered at the end of the day, wherever the person lives. */
static void take_cough(const mica_message *message)
{
    Health *health = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        if (health[i].susceptible)
            health[i] = (Health){.ill = 1};
}

/* Some move to another place, and so perhaps to another process. They stay known to the same persons. */
static void relocate(mica_view *view)
{
    Home *home = mica_view_write(view, Home);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_cluster_random(cluster, view->entities[i], 1);
        if (mica_random_below(&random, 50) == 0)
            home[i] = (Home){mica_random_range(&random, 0, SIZE), mica_random_range(&random, 0, SIZE)};
    }
}

/* Each process creates all persons and keeps its own. */
static void create_persons(mica_world *world, uint32_t count)
{
    mica_entity *persons = malloc(count * sizeof *persons);
    mica_random random = mica_random_make(1, 0);
    for (uint32_t i = 0; persons && i < count; ++i) {
        float x = mica_random_range(&random, 0, SIZE), y = mica_random_range(&random, 0, SIZE);
        bool is_ill = i % 100 == 0;
        persons[i] = mica_create(world, MICA_WITH(Home, {x, y}), MICA_WITH(Health, {0, !is_ill, is_ill, 0}));
    }
    for (uint32_t i = 0; persons && i < count * CONTACTS; ++i) {
        uint32_t other = mica_random_below(&random, count);
        if (other != i / CONTACTS)
            mica_relate(world, persons[i / CONTACTS], Knows, persons[other]);
    }
    free(persons);
}

static int count_of(const char *field)
{
    mica_summary summary;
    mica_cluster_reduce(cluster, &(mica_cluster_reduction){.component = MICA_ID(Health), .field = field}, &summary,
                        NULL);
    return (int)summary.sum;
}

static void run(uint64_t day_count, const char *path)
{
    while (mica_cluster_tick(cluster) < day_count && mica_cluster_step(cluster, 1)) {
        uint64_t day = mica_cluster_tick(cluster);
        if (day % 20)
            continue;
        int susceptible = count_of("susceptible"), ill = count_of("ill"), immune = count_of("immune");
        if (mica_cluster_rank(cluster) == 0)
            printf("day %3" PRIu64 ": %4d susceptible, %4d ill, %4d immune\n", day, susceptible, ill, immune);
        if (path)
            mica_cluster_save(cluster, path);
    }
}

int main(int argument_count, char **arguments)
{
    int person_count = argument_count > 1 ? atoi(arguments[1]) : 2000;
    int day_count = argument_count > 2 ? atoi(arguments[2]) : 100;
    const char *resume = option(argument_count, arguments, "--resume");
    mica_world *world = mica_world_create(NULL);
    cluster = mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Home), .fields = "x, y", .cell_size = 5, .maximum = {SIZE, SIZE}},
                   .messages = (const mica_component[]){MICA_ID(Cough)},
                   .message_count = 1,
                   .balance_steps = 20,
               });
    mica_define(world, Knows);
    mica_handler_add(world, MICA_HANDLER(Health, Cough, take_cough));
    mica_system_add(
        world, MICA_SYSTEM_WITH(meet, (MICA_USES(MICA_USE_READ(Knows))), MICA_READ(Health), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(recover, MICA_WRITE(Health)));
    mica_system_add(world, MICA_SYSTEM(relocate, MICA_WRITE(Home), MICA_HAS(mica_identity)));
    if (resume)
        mica_cluster_load(cluster, resume);
    else
        create_persons(world, (uint32_t)person_count);
    run((uint64_t)day_count, option(argument_count, arguments, "--save"));
    uint64_t hash = mica_cluster_hash(cluster);
    bool is_drawn = picture_write(cluster, world, MICA_ID(Home), SIZE, option(argument_count, arguments, "--picture"));
    bool is_complete = is_drawn && mica_cluster_result(cluster) == MICA_OK;
    if (mica_cluster_rank(cluster) == 0)
        printf("%d persons, hash %016" PRIx64 "\n", person_count, hash);
    mica_cluster_destroy(cluster);
    mica_world_destroy(world);
    return is_complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
