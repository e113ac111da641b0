/* Resources: spawning against copying the same bytes into fresh memory, verifying against copying, compiling against
 * nothing but parsing. */
#include "bench.h"

#ifndef BENCH_RESOURCE
const workload resource_workloads[] = {{0}};
#else

#    include "components.h"
#    include "kernel.h"
#    include "population.h"

#    include "mica/compile.h"
#    include "os/pages.h"

#    include <jansson.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>

enum { ROW_BYTES = sizeof(Position) + sizeof(Velocity) + sizeof(Mass) + sizeof(Data) };

/* What both sides start from: made once per size, and touched. */
typedef struct level {
    mica_blob blob;
    mica_resource *resource;
    uint32_t n;
} level;

static void fill_world(mica_world *world, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_create(world, MICA_FROM(Position, &position), MICA_FROM(Velocity, &velocity),
                    MICA_WITH(Mass, {mass_of(i)}), MICA_WITH(Data, {1}));
    }
}

static const level *level_of(uint32_t n)
{
    static level levels[4];
    level *level = levels;
    while (level->n && level->n != n)
        ++level;
    if (level->n)
        return level;
    mica_world *world = mica_world_create(NULL);
    fill_world(world, n);
    require(mica_pack(world, NULL, &level->blob) == MICA_OK, "the level can't be packed");
    mica_world_destroy(world);
    level->resource = mica_resource_open(level->blob.bytes, level->blob.byte_count, NULL, NULL);
    require(level->resource != NULL, "the level can't be opened");
    level->n = n;
    return level;
}

static mica_world *level_world(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Mass);
    mica_define(world, Data);
    return world;
}

static double spawn_timed(mica_world *world, const level *level)
{
    double start = now_ns();
    require(mica_spawn(world, level->resource, NULL) == MICA_OK, "the level can't be spawned");
    return (now_ns() - start) / level->n;
}

static measurement spawn_mica(uint32_t n)
{
    const level *level = level_of(n);
    mica_world *world = level_world();
    double time = spawn_timed(world, level);
    return finish_mica(world, time);
}

static measurement respawn_mica(uint32_t n)
{
    const level *level = level_of(n);
    mica_world *world = level_world();
    spawn_timed(world, level);
    double start = now_ns();
    mica_world_clear(world);
    double cleared = (now_ns() - start) / n;
    return finish_mica(world, cleared + spawn_timed(world, level));
}

/* Sums as finish_mica does, over columns that lie one after the other. */
static measurement finish_copy(char *memory, size_t bytes, uint32_t n, double time)
{
    const Position *position = (const Position *)(void *)memory;
    const Velocity *velocity = (const Velocity *)(void *)(position + n);
    uint64_t sum = sum_of_motion(position, velocity, n);
    micap_pages_release(memory, bytes);
    return (measurement){time, sum};
}

static void copy_columns(char *to, const level *level)
{
    static const char *const names[] = {"Position", "Velocity", "Mass", "Data"};
    for (uint32_t i = 0; i < 4; ++i)
        for (uint32_t c = 0; c < mica_resource_component_count(level->resource); ++c) {
            mica_resource_component component = mica_resource_component_at(level->resource, c);
            if (strcmp(component.name, names[i]) != 0)
                continue;
            memcpy(to, component.instances, (size_t)level->n * component.type->size_bytes);
            to += (size_t)level->n * component.type->size_bytes;
        }
}

static measurement copy_raw(uint32_t n, int warm)
{
    const level *level = level_of(n);
    size_t bytes = ((size_t)n * ROW_BYTES + MICAP_HUGE_PAGE_BYTES - 1) / MICAP_HUGE_PAGE_BYTES * MICAP_HUGE_PAGE_BYTES;
    double start = now_ns();
    char *memory = micap_pages_allocate(bytes, MICAP_HUGE_PAGE_BYTES);
    require(memory != NULL, "out of memory");
    if (warm) {
        copy_columns(memory, level);
        start = now_ns();
    }
    copy_columns(memory, level);
    return finish_copy(memory, bytes, n, (now_ns() - start) / n);
}

static measurement spawn_raw(uint32_t n)
{
    return copy_raw(n, false);
}

static measurement respawn_raw(uint32_t n)
{
    return copy_raw(n, true);
}

/* A crowd from a prefab of one entity, against creating it one by one. */
static measurement spawn_prefab_mica(uint32_t n)
{
    static mica_resource *prefab;
    static mica_blob blob;
    if (!prefab) {
        mica_world *world = mica_world_create(NULL);
        Position position = position_of(0);
        Velocity velocity = velocity_of(0);
        mica_create(world, MICA_FROM(Position, &position), MICA_FROM(Velocity, &velocity));
        require(mica_pack(world, NULL, &blob) == MICA_OK, "the prefab can't be packed");
        mica_world_destroy(world);
        prefab = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    }
    mica_world *world = level_world();
    double start = now_ns();
    require(mica_spawn(world, prefab, &(mica_spawn_def){.copies = n}) == MICA_OK, "the prefab can't be spawned");
    double time = (now_ns() - start) / n;
    return finish_mica(world, time);
}

static measurement spawn_prefab_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    const Position position = position_of(0);
    const Velocity velocity = velocity_of(0);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(&world);
        world.position[row] = position;
        world.velocity[row] = velocity;
    }
    double time = (now_ns() - start) / n;
    return finish_raw(&world, time);
}

/* Per byte of the file: the inverse is GB/s. */
static measurement verify_mica(uint32_t n)
{
    const level *level = level_of(n);
    double start = now_ns();
    mica_resource *resource = mica_resource_open(level->blob.bytes, level->blob.byte_count, NULL, NULL);
    double time = (now_ns() - start) / (double)level->blob.byte_count;
    uint64_t count = mica_resource_entity_count(resource);
    mica_resource_free(resource);
    return (measurement){time, count};
}

static measurement verify_raw(uint32_t n)
{
    const level *level = level_of(n);
    char *copy = allocate_or_exit(level->blob.byte_count);
    memset(copy, 1, level->blob.byte_count);
    double start = now_ns();
    memcpy(copy, level->blob.bytes, level->blob.byte_count);
    double time = (now_ns() - start) / (double)level->blob.byte_count;
    uint32_t count;
    memcpy(&count, copy + 36, sizeof count);
    free(copy);
    return (measurement){time, count};
}

static const mica_blob *text_of(uint32_t n)
{
    static mica_blob text;
    if (!text.bytes)
        require(mica_dump(level_of(n)->resource, &text) == MICA_OK, "the level can't be dumped");
    return &text;
}

/* Per byte of JSON: 1000 times the inverse is MB/s. */
static measurement compile_mica(uint32_t n)
{
    const mica_blob *text = text_of(n);
    mica_schema *schema = mica_schema_create();
    mica_compiled compiled;
    mica_schema_add_resource(schema, level_of(n)->resource);
    double start = now_ns();
    mica_compile_def def = {.schema = schema};
    require(mica_compile_text("level", text->bytes, text->byte_count, &def, &compiled) == MICA_OK, "it compiles");
    double time = (now_ns() - start) / (double)text->byte_count;
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    return (measurement){time, n};
}

static measurement compile_raw(uint32_t n)
{
    const mica_blob *text = text_of(n);
    double start = now_ns();
    json_t *json = json_loadb(text->bytes, text->byte_count, JSON_REJECT_DUPLICATES, NULL);
    double time = (now_ns() - start) / (double)text->byte_count;
    uint64_t count = json_array_size(json_object_get(json, "entities"));
    json_decref(json);
    return (measurement){time, count};
}

/* A save of a whole world against writing its columns with fwrite, without syncing; processor time, not the disk's. */
static const char save_path[] = "/tmp/mica_bench_save";

static measurement save_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    fill_world(world, n);
    double start = now_ns();
    require(mica_save(world, save_path, NULL) == MICA_OK, "the world can't be saved");
    double time = (now_ns() - start) / n;
    remove(save_path);
    return finish_mica(world, time);
}

static void write_columns(const char *columns, uint32_t n)
{
    FILE *file = fopen(save_path, "wb");
    require(file && fwrite(columns, ROW_BYTES, n, file) == n && fclose(file) == 0, "the columns can't be written");
}

static measurement save_raw(uint32_t n)
{
    size_t bytes = ((size_t)n * ROW_BYTES + MICAP_HUGE_PAGE_BYTES - 1) / MICAP_HUGE_PAGE_BYTES * MICAP_HUGE_PAGE_BYTES;
    char *columns = micap_pages_allocate(bytes, MICAP_HUGE_PAGE_BYTES);
    require(columns != NULL, "out of memory");
    copy_columns(columns, level_of(n));
    double start = now_ns();
    write_columns(columns, n);
    double time = (now_ns() - start) / n;
    remove(save_path);
    return finish_copy(columns, bytes, n, time);
}

/* Loading it again, verified, into a world, against reading the columns with fread into fresh memory. */
static measurement load_mica(uint32_t n)
{
    const level *level = level_of(n);
    require(mica_write_file(save_path, level->blob.bytes, level->blob.byte_count, NULL) == MICA_OK, "no file");
    mica_world *world = level_world();
    double start = now_ns();
    mica_resource *resource = mica_resource_load(save_path, NULL, NULL);
    require(resource && mica_spawn(world, resource, NULL) == MICA_OK, "the save can't be loaded");
    mica_resource_free(resource);
    double time = (now_ns() - start) / n;
    remove(save_path);
    return finish_mica(world, time);
}

static measurement load_raw(uint32_t n)
{
    size_t bytes = (size_t)n * ROW_BYTES;
    char *columns = allocate_or_exit(bytes);
    copy_columns(columns, level_of(n));
    write_columns(columns, n);
    free(columns);
    double start = now_ns();
    bytes = (bytes + MICAP_HUGE_PAGE_BYTES - 1) / MICAP_HUGE_PAGE_BYTES * MICAP_HUGE_PAGE_BYTES;
    columns = micap_pages_allocate(bytes, MICAP_HUGE_PAGE_BYTES);
    FILE *file = fopen(save_path, "rb");
    require(columns && file && fread(columns, ROW_BYTES, n, file) == n && fclose(file) == 0,
            "the columns can't be read");
    double time = (now_ns() - start) / n;
    remove(save_path);
    return finish_copy(columns, bytes, n, time);
}

const workload resource_workloads[] = {
    {"spawn_10k", 10000, spawn_mica, spawn_raw, 2.0, UNIT_RATIO},
    {"spawn_1M", 1000000, spawn_mica, spawn_raw, 2.0, UNIT_RATIO},
    {"respawn_10k", 10000, respawn_mica, respawn_raw, 3.0, UNIT_RATIO},
    {"spawn_prefab_100k", 100000, spawn_prefab_mica, spawn_prefab_raw, 1.0, UNIT_RATIO},
    {"verify_1M", 1000000, verify_mica, verify_raw, 1.0, UNIT_RATIO},
    {"save_1M", 1000000, save_mica, save_raw, 1.4, UNIT_RATIO},
    {"load_1M", 1000000, load_mica, load_raw, 1.5, UNIT_RATIO},
    {"compile_10k", 10000, compile_mica, compile_raw, 2.0, UNIT_RATIO},
    {0},
};
#endif
