/* Edges between entities. */
#include "mica/partition.h"

#include "conformance.h"
#include "parts.h"

typedef struct Road {
    float meters;
} Road;
MICA_RELATION(Road, meters)
MICA_RELATION_WITH(Below, (.exclusive = true, .acyclic = true, .transitive = true, .ordered = true,
                           .on_target = MICA_TARGET_DESTROY))

/* Towns that a road leads to from where a road leads to from this one. */
static void ask_about_roads(mica_world *world, const mica_entity *towns)
{
    mica_value_error error;
    mica_query *query = mica_query_text(world, "has Road($this, $next), Road($next, $last)", &error);
    EXPECT(query && mica_query_variable(query, "last") == 2 && strcmp(mica_query_variable_name(query, 1), "next") == 0);
    uint64_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++count)
        EXPECT(mica_is_related(world, view.entities[0], Road, mica_view_variable(&view, 1)));
    EXPECT(count == mica_query_count(query) && count > 4);
    mica_query_limit(query, 1000);
    EXPECT(mica_query_count(query) == count);
    mica_view bound = mica_query_begin(query);
    EXPECT(mica_view_bind(&bound, 1, towns[1]));
    while (mica_view_next(&bound))
        EXPECT(mica_same(mica_view_variable(&bound, 1), towns[1]));
    mica_query_destroy(query);
}

static void check_edges(void)
{
    mica_world *world = open_world();
    mica_entity towns[5];
    for (uint32_t i = 0; i < 5; ++i)
        towns[i] = mica_create(world, MICA_WITH(Place, {(float)i, 1}));
    EXPECT(mica_relate_many(world, Road, towns, towns + 1, 4) == 4);
    EXPECT(mica_relate_with(world, towns[4], Road, towns[0], {.meters = 7}));
    mica_relate(world, towns[4], Road, towns[1])->meters = 8;
    mica_edge_write(world, towns[4], Road, towns[1])->meters += 1;
    EXPECT(mica_edge_get(world, towns[4], Road, towns[1])->meters == 9);
    EXPECT(mica_is_related(world, towns[0], Road, towns[1]) && !mica_is_related(world, towns[1], Road, towns[0]));
    EXPECT(mica_same(mica_target(world, towns[4], Road), towns[0]));
    uint32_t target_count = 0;
    for (mica_partition part = mica_partitions_by_target_id(world, MICA_ID(Road)); mica_partition_next(&part);)
        target_count += part.count;
    EXPECT(target_count == 6);
    EXPECT(mica_target_count(world, towns[4], Road) == 2 && mica_source_count(world, towns[1], Road) == 2);
    float sum = 0;
    for (mica_edges at = mica_targets(world, towns[4], Road); mica_edge_next(&at);)
        sum = sum * 10 + ((const Road *)at.fields)->meters;
    for (mica_edges at = mica_sources(world, towns[1], Road); mica_edge_next(&at);)
        sum = sum * 10 + mica_get(world, at.entity, Place)->x;
    EXPECT(sum == 7904);
    print_hash("edges", 0, mica_world_hash(world));
    ask_about_roads(world, towns);
    EXPECT(mica_unrelate(world, towns[4], Road, towns[0]) && mica_unrelate_sources(world, towns[1], Road) == 2);
    EXPECT(mica_unrelate_targets(world, towns[1], Road) == 1);
    struct mica_edge_of_Road loaded[2] = {{{1}, towns[0], 2}, {{2}, towns[0], 1}};
    EXPECT(mica_load_edges_id(world, MICA_ID(Road), towns + 1, loaded, 2) == MICA_OK);
    mica_edges first = mica_sources(world, towns[0], Road);
    EXPECT(mica_edge_next(&first) && mica_same(first.entity, towns[2]));
    print_hash("edges", 1, mica_world_hash(world));
    close_world(world, 0);
}

static void check_tree(void)
{
    mica_world *world = open_world();
    mica_entity nodes[4];
    for (uint32_t i = 0; i < 4; ++i)
        nodes[i] = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    EXPECT(mica_command_relate_id(commands, nodes[1], MICA_ID(Below), nodes[0], MICA_HERE));
    EXPECT(mica_command_relate_id(commands, nodes[2], MICA_ID(Below), nodes[0], MICA_HERE));
    EXPECT(mica_command_relate_id(commands, nodes[3], MICA_ID(Below), nodes[2], MICA_HERE));
    EXPECT(mica_flush(world) == MICA_OK && mica_is_related(world, nodes[3], Below, nodes[0]));
    EXPECT(!mica_relate(world, nodes[0], Below, nodes[3])); /* a circle: reported */
    EXPECT(mica_place_source(world, nodes[2], Below, nodes[0], nodes[1]) == MICA_OK);
    print_hash("below", 0, mica_world_hash(world));
    EXPECT(mica_command_unrelate_id(commands, nodes[1], MICA_ID(Below), nodes[0], MICA_HERE));
    EXPECT(mica_flush(world) == MICA_OK && mica_destroy(world, nodes[0]) && !mica_is_alive(world, nodes[3]));
    print_hash("below", 1, mica_world_hash(world));
    mica_commands_destroy(commands);
    close_world(world, 1);
}

void check_relations(void)
{
    check_edges();
    check_tree();
}
