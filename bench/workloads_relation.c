/* Edges between entities that come, go and are walked, next to lists in hand-written arrays. One operation is one edge. */
#include "bench.h"
#include "raw_edges.h"

#include "mica/mica.h"
#include "mica/relation.h"

#include <stdlib.h>

MICA_RELATION(Visits)

enum { TARGETS = 1000, TARGETS_OF_SOURCE = 8, ROUNDS = 4 };

/* The target of an edge: neighbours in the order of sources have different ones. */
static uint32_t target_of(uint32_t source, uint32_t edge)
{
    return (source * 7 + edge * 131) % TARGETS;
}

typedef struct mica_scene {
    mica_world *world;
    mica_entity *sources;
    mica_entity targets[TARGETS];
    uint32_t source_count;
} mica_scene;

static mica_scene open_mica(uint32_t source_count)
{
    mica_scene scene = {.world = mica_world_create(NULL), .source_count = source_count};
    scene.sources = allocate_or_exit(source_count * sizeof *scene.sources);
    for (uint32_t i = 0; i < TARGETS; ++i)
        scene.targets[i] = mica_create(scene.world);
    for (uint32_t i = 0; i < source_count; ++i)
        scene.sources[i] = mica_create(scene.world);
    return scene;
}

static void close_mica(mica_scene *scene)
{
    free(scene->sources);
    mica_world_destroy(scene->world);
}

typedef struct raw_scene {
    raw_edges table;
    raw_id *sources;
    raw_id targets[TARGETS];
    uint32_t source_count;
} raw_scene;

static raw_scene open_raw(uint32_t source_count)
{
    raw_scene scene = {.table = raw_edges_make(), .source_count = source_count};
    scene.sources = allocate_or_exit(source_count * sizeof *scene.sources);
    for (uint32_t i = 0; i < TARGETS + source_count; ++i) {
        uint32_t row = raw_create(&scene.table.world);
        require(row != RAW_NONE, "raw_create failed");
        *(i < TARGETS ? &scene.targets[i] : &scene.sources[i - TARGETS]) = scene.table.world.owner[row];
    }
    return scene;
}

static void close_raw(raw_scene *scene)
{
    free(scene->sources);
    raw_edges_free(&scene->table);
}

/* The fastest round counts: the first one grows the arrays. */
static measurement relate_mica(uint32_t n)
{
    mica_scene scene = open_mica(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < n; ++i)
            mica_relate(scene.world, scene.sources[i], Visits, scene.targets[target_of(i, 0)]);
        for (uint32_t i = 0; i < n; ++i)
            result.checksum += mica_unrelate(scene.world, scene.sources[i], Visits, scene.targets[target_of(i, 0)]);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_mica(&scene);
    return result;
}

static measurement relate_raw(uint32_t n)
{
    raw_scene scene = open_raw(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < n; ++i)
            raw_relate(&scene.table, scene.sources[i], scene.targets[target_of(i, 0)]);
        for (uint32_t i = 0; i < n; ++i)
            result.checksum += raw_unrelate(&scene.table, scene.sources[i], scene.targets[target_of(i, 0)]);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_raw(&scene);
    return result;
}

static mica_scene relate_all_mica(uint32_t edges)
{
    mica_scene scene = open_mica(edges / TARGETS_OF_SOURCE);
    for (uint32_t i = 0; i < scene.source_count; ++i)
        for (uint32_t k = 0; k < TARGETS_OF_SOURCE; ++k)
            require(mica_relate(scene.world, scene.sources[i], Visits, scene.targets[target_of(i, k)]) != NULL,
                    "mica_relate failed");
    return scene;
}

static raw_scene relate_all_raw(uint32_t edges)
{
    raw_scene scene = open_raw(edges / TARGETS_OF_SOURCE);
    for (uint32_t i = 0; i < scene.source_count; ++i)
        for (uint32_t k = 0; k < TARGETS_OF_SOURCE; ++k)
            require(raw_relate(&scene.table, scene.sources[i], scene.targets[target_of(i, k)]), "raw_relate failed");
    return scene;
}

static measurement targets_mica(uint32_t n)
{
    mica_scene scene = relate_all_mica(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < scene.source_count; ++i)
            for (mica_edges at = mica_targets(scene.world, scene.sources[i], Visits); mica_edge_next(&at);)
                result.checksum += (at.entity.index - scene.targets[0].index) * (uint64_t)(i + 1);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_mica(&scene);
    return result;
}

static measurement targets_raw(uint32_t n)
{
    raw_scene scene = relate_all_raw(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < scene.source_count; ++i) {
            if (!raw_is_alive(&scene.table.world, scene.sources[i]))
                continue;
            uint32_t row = scene.table.ends[scene.sources[i].index].first_target;
            for (; row != RAW_NONE; row = scene.table.edges[row].next_target)
                result.checksum += (scene.table.edges[row].target.index - scene.targets[0].index) * (uint64_t)(i + 1);
        }
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_raw(&scene);
    return result;
}

static measurement sources_mica(uint32_t n)
{
    mica_scene scene = relate_all_mica(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < TARGETS; ++i)
            for (mica_edges at = mica_sources(scene.world, scene.targets[i], Visits); mica_edge_next(&at);)
                result.checksum += (at.entity.index - scene.sources[0].index) * (uint64_t)(i + 1);
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_mica(&scene);
    return result;
}

static measurement sources_raw(uint32_t n)
{
    raw_scene scene = relate_all_raw(n);
    measurement result = {1e30, 0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        for (uint32_t i = 0; i < TARGETS; ++i) {
            if (!raw_is_alive(&scene.table.world, scene.targets[i]))
                continue;
            uint32_t row = scene.table.ends[scene.targets[i].index].first_source;
            for (; row != RAW_NONE; row = scene.table.edges[row].next_source)
                result.checksum += (scene.table.edges[row].source.index - scene.sources[0].index) * (uint64_t)(i + 1);
        }
        double time = (now_ns() - start) / n;
        result.per_operation = time < result.per_operation ? time : result.per_operation;
    }
    close_raw(&scene);
    return result;
}

const workload relation_workloads[] = {
    {"relate_unrelate_100k", 100000, relate_mica, relate_raw, 1.5, UNIT_RATIO},
    {"relation_targets", 1000000, targets_mica, targets_raw, 1.5, UNIT_RATIO},
    {"relation_sources", 1000000, sources_mica, sources_raw, 1.5, UNIT_RATIO},
    {NULL, 0, NULL, NULL, 0, UNIT_RATIO},
};
