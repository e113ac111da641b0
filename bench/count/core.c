/* The core paths whose instructions are counted: a fixed number of operations on a small world, the same every time.
 * They are done inside a function called `measured`, everything else outside of it, so that callgrind with
 * --toggle-collect=measured counts the path and nothing but the path.
 *
 *     core --list        prints the workloads, one per line: the name, and how many operations it does
 *     core WORKLOAD      does it, and prints the same line
 */
#include "mica/flow.h"
#include "mica/mica.h"
#include "mica/relation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 10000, SMALL_WORLD = 100 };

typedef struct Position { float x, y, z; } Position;
typedef struct Velocity { float x, y, z; } Velocity;
typedef struct Mass { float value; } Mass;
typedef struct Load { float value; } Load;

/* What a workload works on; made before the counting begins. */
typedef struct stage {
    mica_world *world;
    mica_query *query;
    mica_commands *commands;
    mica_entity entities[OPERATIONS];
    mica_ref refs[OPERATIONS];
    Position positions[OPERATIONS];
    Velocity velocities[OPERATIONS];
    uint64_t result; /* so that nothing is computed in vain */
} stage;

typedef struct counted {
    const char *name;
    void (*prepare)(stage *stage);
    void (*run)(stage *stage); /* OPERATIONS operations, and nothing else of weight */
} counted;

MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)
MICA_COMPONENT(Mass, value)
MICA_POOL(Load, value)
MICA_RELATION(Visits)
MICA_RELATION_WITH(PartOf, (.exclusive = true, .on_target = MICA_TARGET_DESTROY))
MICA_TAG(Tag0)
MICA_TAG(Tag1)
MICA_TAG(Tag2)
MICA_TAG(Tag3)
MICA_TAG(Tag4)
MICA_TAG(Tag5)
MICA_TAG(Tag6)

static void prepare_entities(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 1, 1}));
}

/* One entity that stays, so that the archetype is there and only the path itself is counted. */
static void prepare_archetype(stage *stage)
{
    mica_create(stage->world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 1, 1}));
}

static void prepare_entities_and_heavy_archetype(stage *stage)
{
    prepare_entities(stage);
    mica_create(stage->world, MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Mass));
}

static void prepare_heavy_entities(stage *stage)
{
    prepare_archetype(stage);
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Mass));
}

static void prepare_loads(stage *stage)
{
    prepare_entities(stage);
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_set(stage->world, stage->entities[i], Load, {1});
}

/* What was there once has left its room. */
static void prepare_room_for_loads(stage *stage)
{
    prepare_loads(stage);
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_remove(stage->world, stage->entities[i], Load);
}

static void prepare_sweep(stage *stage)
{
    prepare_entities(stage);
    stage->query = mica_query_create(stage->world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity)));
}

/* A hundred archetypes of one entity each: subsets of seven tags. */
static void prepare_small_archetypes(stage *stage)
{
    const mica_component tags[] = {MICA_ID(Tag0), MICA_ID(Tag1), MICA_ID(Tag2), MICA_ID(Tag3),
                                   MICA_ID(Tag4), MICA_ID(Tag5), MICA_ID(Tag6)};
    for (uint32_t set = 0; set < 100; ++set) {
        mica_value values[8] = {MICA_WITH(Position)};
        uint32_t count = 1;
        for (uint32_t tag = 0; tag < 7; ++tag)
            if (set >> tag & 1)
                values[count++] = (mica_value){tags[tag], 0, NULL};
        mica_create_id(stage->world, values, count);
    }
    stage->query = mica_query_create(stage->world, MICA_QUERY(MICA_READ(Position)));
}

/* The same, and nothing has changed since. */
static void prepare_unchanged(stage *stage)
{
    prepare_small_archetypes(stage);
    mica_query_destroy(stage->query);
    stage->query = mica_query_create(stage->world, MICA_QUERY(MICA_READ(Position), MICA_CHANGED(Position)));
}

static void push(mica_view *view)
{
    Position *position = mica_view_write_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += 1;
}

/* One system over the same archetypes. */
static void prepare_system(stage *stage)
{
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    prepare_small_archetypes(stage);
    mica_flow_configure(stage->world, &def);
    mica_system_add(stage->world, MICA_SYSTEM(push, MICA_WRITE(Position)));
    mica_step(stage->world, 1);
}

static void record_additions(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_command_set(stage->commands, stage->entities[i], Mass, {1});
}

static void prepare_recording(stage *stage)
{
    prepare_entities_and_heavy_archetype(stage);
    stage->commands = mica_commands_create(stage->world);
}

static void prepare_flush(stage *stage)
{
    prepare_recording(stage);
    record_additions(stage);
}

static void run_create(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 1, 1}));
}

static void run_create_bulk(stage *stage)
{
    const mica_value columns[] = {MICA_COLUMN(Position, stage->positions), MICA_COLUMN(Velocity, stage->velocities)};
    mica_create_many(stage->world, OPERATIONS, columns, 2, stage->entities);
}

static void run_destroy(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += mica_destroy(stage->world, stage->entities[i]);
}

static void run_get(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += (uint64_t)mica_get(stage->world, stage->entities[i], Velocity)->x;
}

static void run_write(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_write(stage->world, stage->entities[i], Velocity)->x = 2;
}

static void prepare_refs(stage *stage)
{
    prepare_entities(stage);
    for (uint32_t i = 0; i < OPERATIONS; ++i) {
        stage->refs[i] = mica_ref_of(stage->entities[i], Velocity);
        mica_ref_read(stage->world, &stage->refs[i], Velocity);
    }
}

static void run_ref(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += (uint64_t)mica_ref_read(stage->world, &stage->refs[i], Velocity)->x;
}

/* Something moved elsewhere in the world. */
static void prepare_refs_and_change(stage *stage)
{
    prepare_refs(stage);
    mica_create(stage->world);
}

static void run_has(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += mica_has(stage->world, stage->entities[i], Velocity);
}

static void run_add(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_add(stage->world, stage->entities[i], Mass)->value = 1;
}

static void run_remove(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += mica_remove(stage->world, stage->entities[i], Mass);
}

static void run_pool_add(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        mica_add(stage->world, stage->entities[i], Load)->value = 1;
}

static void run_pool_remove(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += mica_remove(stage->world, stage->entities[i], Load);
}

static void run_pool_get(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += (uint64_t)mica_get(stage->world, stage->entities[i], Load)->value;
}

/* Overwrites; adding by set is counted with flush. */
static void run_set(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; ++i)
        stage->result += mica_set(stage->world, stage->entities[i], Velocity, {3, 2, 1});
}

static void run_query_iterate(stage *stage)
{
    for (mica_view view = mica_query_begin(stage->query); mica_view_next(&view);) {
        Position *position = mica_view_write(&view, Position);
        const Velocity *velocity = mica_view_read(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i)
            position[i].x += velocity[i].x;
    }
}

static void run_view_next(stage *stage)
{
    for (uint32_t loop = 0; loop < OPERATIONS / 100; ++loop)
        for (mica_view view = mica_query_begin(stage->query); mica_view_next(&view);)
            stage->result += view.count;
}

static void run_unchanged(stage *stage)
{
    mica_version since = mica_world_mark(stage->world);
    for (uint32_t loop = 0; loop < OPERATIONS / 100; ++loop)
        for (mica_view view = mica_query_begin_since(stage->query, since); mica_view_next(&view);)
            stage->result += view.count;
}

static void run_system(stage *stage)
{
    for (uint32_t frame = 0; frame < OPERATIONS / 100; ++frame)
        stage->result += mica_step(stage->world, 1) == MICA_OK;
}

static void run_flush(stage *stage)
{
    stage->result += mica_flush(stage->world) == MICA_OK;
}

static void run_small_worlds(stage *stage)
{
    for (uint32_t i = 0; i < OPERATIONS; i += SMALL_WORLD) {
        mica_world *world = mica_world_create(NULL);
        for (uint32_t entity = 0; entity < SMALL_WORLD; ++entity)
            mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 1, 1}));
        stage->result += mica_world_get_stats(world).entity_count;
        mica_world_destroy(world);
    }
}

/* Edges: the first entities are targets, each of many sources. */
enum { EDGE_TARGETS = 100 };

static mica_entity edge_target(const stage *stage, uint32_t i)
{
    return stage->entities[i * 7 % EDGE_TARGETS];
}

static void run_relate(stage *stage)
{
    for (uint32_t i = EDGE_TARGETS; i < OPERATIONS; ++i)
        stage->result += mica_relate(stage->world, stage->entities[i], Visits, edge_target(stage, i)) != NULL;
}

static void run_unrelate(stage *stage)
{
    for (uint32_t i = EDGE_TARGETS; i < OPERATIONS; ++i)
        stage->result += mica_unrelate(stage->world, stage->entities[i], Visits, edge_target(stage, i));
}

static void prepare_edges(stage *stage)
{
    prepare_entities(stage);
    run_relate(stage);
}

static void prepare_room_for_edges(stage *stage)
{
    prepare_edges(stage);
    run_unrelate(stage);
}

/* Four targets of each source of some. */
static void prepare_few_edges(stage *stage)
{
    prepare_entities(stage);
    for (uint32_t i = EDGE_TARGETS; i < EDGE_TARGETS + OPERATIONS / 4; ++i)
        for (uint32_t k = 0; k < 4; ++k)
            mica_relate(stage->world, stage->entities[i], Visits, stage->entities[(i * 7 + k) % EDGE_TARGETS]);
}

static void run_edge_targets(stage *stage)
{
    for (uint32_t i = EDGE_TARGETS; i < EDGE_TARGETS + OPERATIONS / 4; ++i)
        for (mica_edges at = mica_targets(stage->world, stage->entities[i], Visits); mica_edge_next(&at);)
            stage->result += at.entity.index;
}

static void run_edge_sources(stage *stage)
{
    for (uint32_t i = 0; i < EDGE_TARGETS; ++i)
        for (mica_edges at = mica_sources(stage->world, stage->entities[i], Visits); mica_edge_next(&at);)
            stage->result += at.entity.index;
}

/* Each target takes its sources with it. */
static void prepare_parts(stage *stage)
{
    for (uint32_t i = 0; i < EDGE_TARGETS; ++i)
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position, {1, 2, 3}));
    for (uint32_t i = EDGE_TARGETS; i < OPERATIONS; ++i) {
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 1, 1}));
        mica_relate(stage->world, stage->entities[i], PartOf, stage->entities[i % EDGE_TARGETS]);
    }
}

static void run_destroy_targets(stage *stage)
{
    for (uint32_t i = 0; i < EDGE_TARGETS; ++i)
        stage->result += mica_destroy(stage->world, stage->entities[i]);
}

static const counted workloads[] = {
    {"create", prepare_archetype, run_create},
    {"create_bulk", prepare_archetype, run_create_bulk},
    {"destroy", prepare_entities, run_destroy},
    {"get", prepare_entities, run_get},
    {"ref", prepare_refs, run_ref},
    {"ref_after_change", prepare_refs_and_change, run_ref},
    {"write", prepare_entities, run_write},
    {"has", prepare_entities, run_has},
    {"add", prepare_entities_and_heavy_archetype, run_add},
    {"remove", prepare_heavy_entities, run_remove},
    {"pool_add", prepare_room_for_loads, run_pool_add},
    {"pool_remove", prepare_loads, run_pool_remove},
    {"pool_get", prepare_loads, run_pool_get},
    {"set", prepare_entities, run_set},
    {"relate", prepare_room_for_edges, run_relate},
    {"unrelate", prepare_edges, run_unrelate},
    {"destroy_targets", prepare_parts, run_destroy_targets},
    {"edge_targets", prepare_few_edges, run_edge_targets},
    {"edge_sources", prepare_few_edges, run_edge_sources},
    {"query_iterate", prepare_sweep, run_query_iterate},
    {"view_next", prepare_small_archetypes, run_view_next},
    {"view_unchanged", prepare_unchanged, run_unchanged},
    {"system_view", prepare_system, run_system},
    {"command_record", prepare_recording, record_additions},
    {"flush", prepare_flush, run_flush},
    {"small_worlds", prepare_archetype, run_small_worlds},
    {0},
};

/* Neither inlined nor cloned under another name: what it runs is known only at run time. */
void measured(void (*run)(stage *stage), stage *stage);

__attribute__((noinline)) void measured(void (*run)(stage *stage), stage *stage)
{
    run(stage);
    __asm__ volatile("" ::: "memory"); /* or the call would become a jump, and the function would never return */
}

static int run_workload(const counted *workload)
{
    stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL || (stage->world = mica_world_create(NULL)) == NULL) {
        fprintf(stderr, "core: out of memory\n");
        free(stage);
        return EXIT_FAILURE;
    }
    workload->prepare(stage);
    measured(workload->run, stage);
    int status = mica_world_take_error(stage->world) == MICA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
    printf("%s %d\n", workload->name, OPERATIONS);
    mica_world_destroy(stage->world);
    free(stage);
    return status;
}

int main(int argument_count, char **arguments)
{
    bool list = argument_count == 2 && strcmp(arguments[1], "--list") == 0;
    for (const counted *workload = workloads; workload->name != NULL; ++workload) {
        if (list)
            printf("%s %d\n", workload->name, OPERATIONS);
        else if (argument_count == 2 && strcmp(arguments[1], workload->name) == 0)
            return run_workload(workload);
    }
    if (list)
        return EXIT_SUCCESS;
    fprintf(stderr, "usage: core --list | WORKLOAD\n");
    return EXIT_FAILURE;
}
