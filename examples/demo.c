/* A fleet from JSON to a running world and back to its start: demo [objects] [frames]
 * Squads of ships move until their fuel is used up. A ship is a prefab with two turrets. Ships without fuel burn for a while
 * (a pool component that is added and removed) and are then destroyed with their turrets.
 * The output is the same on every machine and for any number of workers. Times are printed to standard error. */
#include "mica/compile.h"
#include "mica/flow.h"
#include "mica/mica.h"
#include "mica/resource.h"
#include "mica/transform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Drift { float x, y, z; } Drift;
typedef struct Fuel { uint32_t frames; } Fuel;
typedef struct Turret { mica_entity ship; float heat; } Turret;
typedef struct Burning { uint32_t frames; } Burning;

MICA_COMPONENT(Drift, x, y, z)
MICA_COMPONENT(Fuel, frames)
MICA_COMPONENT(Turret, ship, heat)
MICA_POOL(Burning, frames)

static void drift(mica_view *view)
{
    mica_local *local = mica_view_write(view, mica_local);
    const Drift *speed = mica_view_read(view, Drift);
    for (uint32_t i = 0; i < view->count; ++i) {
        local[i].position[0] += speed[i].x * view->dt;
        local[i].position[1] += speed[i].y * view->dt;
        local[i].position[2] += speed[i].z * view->dt;
    }
}

static void consume(mica_view *view)
{
    Fuel *fuel = mica_view_write(view, Fuel);
    for (uint32_t i = 0; i < view->count; ++i)
        if (fuel[i].frames && --fuel[i].frames == 0)
            mica_set(view->world, view->entities[i], Burning, {30});
}

static void burn(mica_view *view)
{
    Burning *burning = mica_view_write(view, Burning);
    for (uint32_t i = 0; i < view->count; ++i)
        if (--burning[i].frames == 0)
            mica_destroy(view->world, view->entities[i]);
}

/* Turrets are warm while their ship has fuel. The ship is found by the reference in the level. */
static void warm(mica_view *view)
{
    Turret *turret = mica_view_write(view, Turret);
    for (uint32_t i = 0; i < view->count; ++i) {
        const Fuel *fuel = mica_get(view->world, turret[i].ship, Fuel);
        turret[i].heat += ((fuel && fuel->frames ? 100.0f : 0) - turret[i].heat) / 16;
    }
}

static mica_world *make_world(uint32_t worker_count)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_configure(world, &(mica_flow_def){.worker_count = worker_count});
    mica_define(world, mica_local);
    mica_define(world, mica_global_matrix);
    mica_define(world, Drift);
    mica_define(world, Fuel);
    mica_define(world, Turret);
    mica_system_add(world, MICA_SYSTEM(drift, MICA_WRITE(mica_local), MICA_READ(Drift)));
    mica_system_add(world, MICA_SYSTEM(consume, MICA_WRITE(Fuel)));
    mica_system_add(world, MICA_SYSTEM(burn, MICA_WRITE(Burning)));
    mica_system_add(world, MICA_SYSTEM_WITH(warm, (MICA_USES(MICA_USE_READ(Fuel))), MICA_WRITE(Turret)));
    mica_transform_add_system(world, MICA_PHASE_END);
    return world;
}

/* The level as text: squads of three ships, each an instance of the prefab; a squad has ten objects. */
static char *write_level(uint32_t squad_count)
{
    size_t room = 64 + (size_t)squad_count * 1024, used;
    char *text = malloc(room);
    used = (size_t)snprintf(text, room, "{\"entities\": [");
    for (uint32_t i = 0; i < squad_count; ++i) {
        used +=
            (size_t)snprintf(text + used, room - used,
                             "%s{\"name\": \"squad%u\", \"components\": {\"mica_local\": {\"position\": [%u, %u, 0], "
                             "\"rotation\": [0, 0, 0, 1], \"scale\": [1, 1, 1]}, \"mica_world_matrix\": {}}, "
                             "\"children\": [",
                             i ? ", " : "", i, i % 100 * 10, i / 100 * 10);
        for (uint32_t k = 0; k < 3; ++k)
            used +=
                (size_t)snprintf(text + used, room - used,
                                 "%s{\"name\": \"ship%u\", \"prefab\": \"ship.json\", \"components\": {\"mica_local\": "
                                 "{\"position\": [0, %u, 0]}, \"Drift\": {\"y\": %u}, \"Fuel\": {\"frames\": %u}}}",
                                 k ? ", " : "", k, k * 3, i % 7, 50 + (i * 37 + k * 11) % 500);
        used += (size_t)snprintf(text + used, room - used, "]}");
    }
    snprintf(text + used, room - used, "]}");
    return text;
}

static double seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Prints the time since the last call. */
static void took(const char *what)
{
    static double before;
    double now = seconds_now();
    if (what)
        fprintf(stderr, "%-28s %9.3f ms\n", what, (now - before) * 1e3);
    before = seconds_now();
}

static mica_blob compile(uint32_t squad_count)
{
    mica_world *world = make_world(1);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    char *text = write_level(squad_count);
    took(NULL);
    mica_compiled compiled;
    mica_compile_text(DEMO_LEVELS "/fleet.json", text, strlen(text), &(mica_compile_def){.schema = schema}, &compiled);
    took("compile the level");
    mica_blob blob = compiled.blob;
    compiled.blob = (mica_blob){0}; /* the resource owns it now */
    mica_compiled_free(&compiled);
    free(text);
    mica_schema_destroy(schema);
    mica_world_destroy(world);
    return blob;
}

/* Spawns, simulates, restarts and simulates again. Returns the final hash of the world. */
static uint64_t play(const mica_resource *level, uint32_t frame_count, uint32_t worker_count, bool tell)
{
    mica_world *world = make_world(worker_count);
    took(NULL);
    for (uint32_t turn = 0; turn < 2; ++turn) {
        mica_world_clear(world);
        if (mica_spawn(world, level, NULL) != MICA_OK)
            break;
        took(!tell ? NULL : turn ? "clear and respawn" : "spawn");
        for (uint32_t frame = 0; frame < frame_count; ++frame)
            mica_step(world, 1.0f / 64);
        took(!tell ? NULL : turn ? "simulate again" : "simulate");
        if (tell)
            printf("%s: %" PRIu64 " objects are left, %" PRIu32 " burn\n", turn ? "second run" : "first run",
                   mica_world_get_stats(world).entity_count, mica_pool_count(mica_pool_of(world, Burning)));
    }
    uint64_t hash = mica_world_hash(world);
    if (mica_world_validate(world) != MICA_OK || mica_world_take_error(world) != MICA_OK)
        hash = 0;
    mica_world_destroy(world);
    return hash;
}

int main(int argc, char **argv)
{
    uint32_t object_count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    uint32_t frame_count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 600;
    mica_blob blob = compile(object_count / 10);
    mica_resource *level = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    took("verify it");
    if (!level)
        return EXIT_FAILURE;
    printf("a fleet of %u objects from JSON, %u frames\n", mica_resource_entity_count(level), frame_count);
    uint64_t hash = play(level, frame_count, 0, true);
    uint64_t alone = play(level, frame_count, 1, false);
    printf("world hash %016" PRIx64 ", %s with one worker\n", hash, hash == alone ? "the same" : "DIFFERENT");
    mica_resource_free(level);
    mica_blob_free(&blob);
    return hash && hash == alone ? EXIT_SUCCESS : EXIT_FAILURE;
}
