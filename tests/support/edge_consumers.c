#include "support/edge_consumers.h"

#include "support/require.h"
#include "support/sample.h"

#include "mica/partition.h"
#include "mica/query_text.h"

#include <stdio.h>

typedef struct EdgeTrust { uint32_t degree; } EdgeTrust;
MICA_RELATION(EdgeTrust, degree)
MICA_RELATION_WITH(EdgeOwner, (.exclusive = true, .acyclic = true, .ordered = true))

void define_edges(mica_world *world)
{
    REQUIRE(mica_define(world, EdgeTrust) && mica_define(world, EdgeOwner));
}

void relate_some(mica_world *world, random_source *random, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = count ? random_below(random, 30) : 0; i; --i) {
        mica_entity source = entities[random_below(random, count)], target = entities[random_below(random, count)];
        if (!mica_is_alive(world, source) || !mica_is_alive(world, target) || mica_same(source, target))
            continue;
        uint32_t way = random_below(random, 6);
        mica_entity trusted = mica_target(world, source, EdgeTrust);
        if (way == 0 && !mica_is_nil(trusted))
            mica_unrelate(world, source, EdgeTrust, trusted);
        else if (way == 1)
            mica_unrelate_targets_id(world, source, MICA_ID(EdgeOwner));
        else if (way < 4)
            mica_relate_with(world, source, EdgeTrust, target, {random_below(random, 100)});
        else if (source.index > target.index) /* no circle */
            mica_relate(world, source, EdgeOwner, target);
    }
}

/* The order of sources among each other is that of storage: only edges of one source have an order of their own. */
digest observe_edges(void *state, mica_world *world)
{
    (void)state;
    digest all = {20};
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(EdgeTrust)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            digest one = {21};
            add_entity(&one, view.entities[i]);
            for (mica_edges at = mica_targets(world, view.entities[i], EdgeTrust); mica_edge_next(&at);) {
                add_entity(&one, at.entity);
                add_number(&one, ((const EdgeTrust *)at.fields)->degree);
            }
            for (mica_edges at = mica_sources(world, view.entities[i], EdgeOwner); mica_edge_next(&at);)
                add_entity(&one, at.entity);
            all.value += one.value;
        }
    mica_query_destroy(query);
    return all;
}

digest observe_partitions(void *state, mica_world *world)
{
    (void)state;
    digest digest = {22};
    for (mica_partition part = mica_partitions_by_target_id(world, MICA_ID(EdgeOwner)); mica_partition_next(&part);) {
        add_entity(&digest, part.key.as.entity);
        while (mica_member_next(&part))
            add_entity(&digest, part.entity);
    }
    return digest;
}

/* %s is the name of a sample in chunks. */
static void *open_text(mica_world *world, const char *format)
{
    char text[256];
    mica_value_error error;
    snprintf(text, sizeof text, format, samples[SAMPLE_SMALL].type->name);
    mica_query *query = mica_query_text(world, text, &error);
    REQUIRE_SAYING(query, "%s: %s", text, error.text);
    return query;
}

void *open_query_along_edges(mica_world *world)
{
    return open_text(world, "EdgeTrust($this, $other), has %s($other)");
}

void *open_query_of_ancestors(mica_world *world)
{
    return open_text(world, "%s(self up EdgeOwner)");
}

void *open_query_with_condition(mica_world *world)
{
    return open_text(world, "%s.number < 1000000000");
}
