/* A cluster for the calls of the argument test: of one rank, with a world of its own, since not all components of the other can be shared. */
#include "fixture.h"

mica_cluster_def *valid_cluster_def(void)
{
    static mica_cluster_def def;
    static mica_component ghosts[1], messages[1];
    ghosts[0] = MICA_ID(Velocity);
    messages[0] = MICA_ID(Damage);
    def = (mica_cluster_def){
        .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {10, 10}},
        .reach = 2,
        .ghosts = ghosts,
        .ghost_count = 1,
        .messages = messages,
        .message_count = 1};
    return &def;
}

static mica_cluster *the_cluster;
static mica_stream *the_stream;
static mica_entity the_entity;

static void on_group(const mica_cluster_group *group)
{
    (void)group;
}

mica_cluster *valid_cluster(void)
{
    if (the_cluster)
        return the_cluster;
    mica_world *world = mica_world_create(valid_world_def());
    REQUIRE(world);
    the_entity = mica_create(world, MICA_WITH(Position, {.x = 1, .y = 1}), MICA_WITH(Velocity, {.x = 1}));
    mica_create(world, MICA_WITH(Position, {.x = 2, .y = 1}), MICA_WITH(Velocity, {.x = 2}));
    the_stream = mica_stream_create(world, MICA_STREAM(Damage));
    mica_cluster_def def = *valid_cluster_def();
    def.streams = &the_stream;
    def.stream_count = 1;
    def.requests = &(mica_cluster_request){.question = MICA_ID(Damage), .fn = on_group};
    def.request_count = 1;
    the_cluster = mica_cluster_create(world, &def);
    REQUIRE(the_cluster && mica_cluster_step(the_cluster, 0.1f));
    return the_cluster;
}

/* One rank, with a message to itself. */
mica_ranks *valid_ranks(void)
{
    static mica_ranks *ranks;
    if (!ranks)
        ranks = mica_ranks_open();
    REQUIRE(ranks && mica_ranks_send(ranks, 0, "hello", 5) == MICA_OK);
    return ranks;
}

mica_lua *valid_lua(void)
{
    static mica_lua *lua;
    if (!lua)
        lua = mica_lua_create(valid_world(), NULL);
    REQUIRE(lua);
    return lua;
}

const char *valid_script_path(void)
{
    static const char path[] = "/tmp/mica_arguments_script.lua";
    FILE *file = fopen(path, "w");
    REQUIRE(file && fputs("local answer = 42", file) >= 0 && fclose(file) == 0);
    return path;
}

const char *loaded_script(void)
{
    REQUIRE(mica_lua_load_text(valid_lua(), "loaded", "", NULL) == MICA_OK);
    return "loaded";
}

mica_entity valid_clustered(void)
{
    valid_cluster();
    return the_entity;
}

mica_stream *shared_stream(void)
{
    valid_cluster();
    return the_stream;
}

mica_cluster *cluster_that_traces(void)
{
    mica_cluster_trace_stop(valid_cluster(), NULL);
    REQUIRE(mica_cluster_trace_start(valid_cluster()) == MICA_OK);
    return valid_cluster();
}

uint64_t valid_identity(void)
{
    mica_cluster_neighbour *neighbour = valid_cluster_neighbour();
    return neighbour->identity;
}

mica_cluster_neighbour *valid_cluster_neighbour(void)
{
    static mica_cluster_neighbour neighbour;
    REQUIRE(mica_cluster_around(valid_cluster(), the_entity, 2, &neighbour, 1) == 1);
    return &neighbour;
}

mica_cluster_reduction *valid_cluster_reduction(void)
{
    static mica_cluster_reduction reduction;
    reduction = (mica_cluster_reduction){.component = MICA_ID(Velocity), .field = "x"};
    return &reduction;
}

const char *on_guard(const mica_world *world, mica_entity entity, void *context)
{
    (void)world, (void)entity, (void)context;
    return NULL;
}

void on_combine(void *to, const void *from, void *context)
{
    (void)to, (void)from, (void)context;
}

/* One that has not made a step, in an unused world. */
mica_cluster *unused_cluster(void)
{
    static mica_world *world;
    static mica_cluster *cluster;
    mica_cluster_destroy(cluster);
    mica_world_destroy(world);
    world = mica_world_create(valid_world_def());
    cluster = mica_cluster_create(world, valid_cluster_def());
    REQUIRE(cluster);
    return cluster;
}

const char *cluster_save_path(void)
{
    static bool is_saved;
    const char *path = scratch("cluster.mica");
    if (!is_saved)
        REQUIRE(mica_cluster_save(valid_cluster(), path) == MICA_OK);
    is_saved = true;
    return path;
}
