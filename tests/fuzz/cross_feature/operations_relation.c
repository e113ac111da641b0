/* Edges between entities, of relations with all traits. */
#include "program.h"

static mica_component take_relation(program *program)
{
    switch (take_below(program, 6)) {
    case 0: return MICA_ID(FuzzLikes);
    case 1: return MICA_ID(FuzzDocked);
    case 2: return MICA_ID(FuzzBorders);
    case 3: return MICA_ID(FuzzBelow);
    case 4: return MICA_ID(FuzzRemembers);
    default: return MICA_ID(FuzzGuards);
    }
}

static void relate(program *program, scene *scene)
{
    mica_entity source = take_entity(program, scene), target = take_entity(program, scene);
    mica_relate_id(scene->world, source, take_relation(program), target);
}

static void relate_with(program *program, scene *scene)
{
    mica_entity source = take_entity(program, scene), target = take_entity(program, scene);
    mica_relate_with(scene->world, source, FuzzLikes, target, {.amount = take(program)});
}

static void relate_many(program *program, scene *scene)
{
    mica_entity sources[3], targets[3];
    for (uint32_t i = 0; i < 3; ++i) {
        sources[i] = take_entity(program, scene);
        targets[i] = take_entity(program, scene);
    }
    mica_relate_many_id(scene->world, take_relation(program), sources, targets, 1 + take_below(program, 3));
}

static void unrelate(program *program, scene *scene)
{
    mica_entity source = take_entity(program, scene);
    mica_component relation = take_relation(program);
    mica_entity target = mica_target_id(scene->world, source, relation);
    mica_unrelate_id(scene->world, source, relation, take_one_in(program, 4) ? take_entity(program, scene) : target);
}

static void unrelate_all(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    if (take_one_in(program, 2))
        mica_unrelate_targets_id(scene->world, entity, take_relation(program));
    else
        mica_unrelate_sources_id(scene->world, entity, take_relation(program));
}

static void write_edge(program *program, scene *scene)
{
    mica_entity source = take_entity(program, scene);
    FuzzLikes *likes = mica_edge_write(scene->world, source, FuzzLikes, mica_target(scene->world, source, FuzzLikes));
    if (likes)
        likes->amount = take(program);
}

static void place_source(program *program, scene *scene)
{
    mica_entity source = take_entity(program, scene), target = mica_target(scene->world, source, FuzzDocked);
    mica_place_source(scene->world, source, FuzzDocked, target,
                      take_one_in(program, 2) ? mica_nil() : take_entity(program, scene));
}

static void walk_edges(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    mica_component relation = take_relation(program);
    uint32_t targets = 0, sources = 0;
    for (mica_edges at = mica_targets_id(scene->world, entity, relation); mica_edge_next(&at); ++targets)
        EXPECT(program, mica_edge_get_id(scene->world, entity, relation, at.entity), "an edge is not found");
    for (mica_edges at = mica_sources_id(scene->world, entity, relation); mica_edge_next(&at); ++sources)
        EXPECT(program, mica_is_related_id(scene->world, at.entity, relation, entity), "an edge is not found");
    EXPECT(program, targets == mica_target_count_id(scene->world, entity, relation), "targets are counted wrong");
    EXPECT(program, sources == mica_source_count_id(scene->world, entity, relation), "sources are counted wrong");
}

static void walk_partitions(program *program, scene *scene)
{
    mica_component relation = take_relation(program);
    uint32_t last = 0;
    for (mica_partition part = mica_partitions_by_target_id(scene->world, relation); mica_partition_next(&part);) {
        mica_entity target = part.key.as.entity;
        EXPECT(program, target.index > last || !last, "targets are not in order");
        EXPECT(program, mica_is_alive(scene->world, target), "a partition has a dead target");
        EXPECT(program, part.count == mica_source_count_id(scene->world, target, relation),
               "members are counted wrong");
        EXPECT(program, mica_member_next(&part) && mica_is_related_id(scene->world, part.entity, relation, target),
               "a member is not related to its target");
        last = target.index;
    }
}

const operation relation_operations[] = {
    {"relate", relate, IN_BODY | AS_INPUT},
    {"relate_with", relate_with, IN_BODY | AS_INPUT},
    {"relate_many", relate_many, IN_BODY | AS_INPUT},
    {"unrelate", unrelate, IN_BODY | AS_INPUT},
    {"unrelate_all", unrelate_all, IN_BODY | AS_INPUT},
    {"write_edge", write_edge, IN_BODY | AS_INPUT},
    {"place_source", place_source, IN_BODY | AS_INPUT},
    {"walk_edges", walk_edges, IN_BODY | READS},
    {"walk_partitions", walk_partitions, IN_BODY | READS},
};
OPERATIONS(relation)
