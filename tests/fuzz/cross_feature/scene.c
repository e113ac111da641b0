/* The worlds of a program, and what was made for them. */
#include "program.h"

#include "mica/prefab.h"
#include "mica/sql.h"
#include "mica/transform.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

static const sample_kind few_kinds[] = {SAMPLE_SMALL, SAMPLE_SWITCHED, SAMPLE_POOL, SAMPLE_POOL_HASH, SAMPLE_TAG};

/* What deltas carry and a saver can save. */
static const sample_kind carried_kinds[] = {
    SAMPLE_BYTE,
    SAMPLE_SMALL,
    SAMPLE_PADDED,
    SAMPLE_WIDE,
    SAMPLE_SWITCHED,
    SAMPLE_DATED,
    SAMPLE_SPLIT,
    SAMPLE_SWITCHED_SPLIT,
    SAMPLE_POOL,
    SAMPLE_POOL_HASH,
    SAMPLE_POOL_DIRECT,
    SAMPLE_POOL_SPLIT,
    SAMPLE_POOL_DIRECT_SPLIT,
    SAMPLE_POOL_MANY,
    SAMPLE_SEEDED,
    SAMPLE_POOL_TAG,
    SAMPLE_TAG,
    SAMPLE_SWITCHED_TAG,
    SAMPLE_DATED_TAG,
    SAMPLE_TEXT,
    SAMPLE_POOL_TEXT,
    SAMPLE_HIDING_TAG,
};

const mica_resource_rule *scene_rules(uint32_t *out_count)
{
    static mica_resource_rule rules[2];
    rules[0] = (mica_resource_rule){.component = sample_id(SAMPLE_POOL_MANY)};
    rules[1] = (mica_resource_rule){.component = sample_id(SAMPLE_SEEDED)};
    *out_count = 2;
    return rules;
}

const mica_resource_rule *file_rules(uint32_t *out_count)
{
    static mica_resource_rule rules[SAMPLE_COUNT];
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        rules[kind] = (mica_resource_rule){.component = sample_id(kind)};
    *out_count = SAMPLE_COUNT;
    return rules;
}

static const sample_kind *all_kinds(void)
{
    static sample_kind kinds[SAMPLE_COUNT];
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        kinds[kind] = kind;
    return kinds;
}

static void choose_kinds(scene *scene)
{
    switch (scene->config & CONFIG_KINDS) {
    case 0:
        scene->kinds = few_kinds;
        scene->kind_count = sizeof few_kinds / sizeof *few_kinds;
        break;
    case 1:
    case 3:
        scene->kinds = all_kinds();
        scene->kind_count = SAMPLE_COUNT;
        break;
    default:
        scene->kinds = carried_kinds;
        scene->kind_count = sizeof carried_kinds / sizeof *carried_kinds;
        break;
    }
}

void scene_define(scene *scene)
{
    for (uint32_t i = 0; i < scene->kind_count; ++i)
        mica_component_define(scene->world, samples[scene->kinds[i]].type);
    mica_define(scene->world, SampleClock);
    mica_define(scene->world, FuzzDusk);
    mica_define(scene->world, FuzzDawn);
    mica_define(scene->world, FuzzDay);
    mica_define(scene->world, FuzzLikes);
    mica_define(scene->world, FuzzDocked);
    mica_define(scene->world, FuzzBorders);
    mica_define(scene->world, FuzzBelow);
    mica_define(scene->world, FuzzRemembers);
    mica_define(scene->world, FuzzGuards);
    mica_define(scene->world, FuzzUnder);
    mica_define(scene->world, mica_local);
    mica_define(scene->world, mica_global_matrix);
    mica_prefab_define(scene->world);
}

static void forget(program *program, scene *scene, uint8_t config)
{
    uint32_t number = scene->number;
    uint32_t serial = scene->sender_serial;
    memset(scene, 0, sizeof *scene);
    scene->program = program;
    scene->number = number;
    scene->sender_serial = serial;
    scene->config = config;
    choose_kinds(scene);
}

static void configure_workers(program *program, scene *scene)
{
    bool many = ((scene->config & CONFIG_WORKERS) != 0) != program->swaps_workers;
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = many ? 3 : 1;
    mica_flow_configure(scene->world, &def);
}

/* An entity for each of the first components, and one with all of them. */
static void populate(scene *scene)
{
    enum { FIRST = 5 };
    mica_value values[FIRST];
    for (uint32_t i = 0; i < FIRST; ++i) {
        values[i] = (mica_value){sample_id(scene->kinds[i]), 0, NULL};
        remember(scene, mica_create_id(scene->world, &values[i], 1));
    }
    remember(scene, mica_create_id(scene->world, values, FIRST));
}

void scene_open(program *program, scene *scene, uint8_t config)
{
    forget(program, scene, config);
    mica_world_def def = mica_world_def_default();
    def.report = program_note_report;
    if (config & CONFIG_ALLOCATOR) {
        scene->has_allocator = true;
        faulty_allocator_init(&scene->allocator);
        def.allocator = faulty_allocator_interface(&scene->allocator);
    }
    if (config & CONFIG_SMALL_CHUNKS)
        def.chunk_bytes_first = def.chunk_bytes_last = 1024;
    def.check_ranges = config & CONFIG_SMALL_CHUNKS;
    def.handle_space = program_handle_space(program);
    def.dead_target = (mica_dead_target)(((config >> CONFIG_DEAD_TARGET_SHIFT) & 3) % 3);
    scene->world = mica_world_create(&def);
    configure_workers(program, scene);
    scene_take_input(scene);
    if (!(config & CONFIG_EMPTY))
        populate(scene);
}

void scene_open_with(program *program, scene *scene, mica_world *world)
{
    forget(program, scene, scene->config & (uint8_t)~CONFIG_ALLOCATOR);
    scene->world = world;
    configure_workers(program, scene);
    scene_take_input(scene);
}

void scene_close_loops(scene *scene, const kept_query *query)
{
    for (uint32_t i = 0; i < LOOPS; ++i)
        if (!query || scene->loops[i].query == query)
            scene->loops[i].query = NULL;
}

static void let_go_of(program *program, const scene *scene)
{
    for (uint32_t i = 0; i < program->scene_count; ++i)
        if (program->scenes[i].followed == scene)
            program->scenes[i].followed = NULL;
}

void scene_close(program *program, scene *scene)
{
    let_go_of(program, scene);
    faulty_allocator_fail_at(&scene->allocator, 0, false);
    scene->is_closing = true; /* hooks run while the world is destroyed */
    sqlite3_finalize(scene->statement);
    scene->statement = NULL;
    EXPECT(program, sqlite3_close(scene->database) == SQLITE_OK, "a connection that is not used can't be closed");
    scene->database = NULL;
    mica_saver_destroy(scene->saver);
    mica_sender_destroy(scene->sender);
    mica_replica_destroy(scene->replica);
    if (scene->is_recording)
        mica_recording_end(scene->world);
    mica_spawned_free(scene->spawned);
    scene->spawned = NULL;
    mica_world_destroy(scene->world);
    for (uint32_t i = 0; i < MONITORS; ++i)
        match_set_close(&scene->monitors[i], NULL);
    mica_resource_free(scene->resource);
    mica_resource_free(scene->resource_of_spawned);
    mica_blob_free(&scene->blob);
    mica_blob_free(&scene->blob_of_spawned);
    scene->resource = NULL; /* hooks of other worlds may look for it */
    unlink(scratch_path("save"));
    if (scene->has_allocator) {
        EXPECT(program, scene->allocator.live_blocks == 0, "memory of the world's allocator is left after the world");
        faulty_allocator_free(&scene->allocator);
    }
}
