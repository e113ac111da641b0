#include "observed.h"

#include "mica/component.h"
#include "mica/query.h"

static uint64_t changed_since(mica_world *world, mica_version since)
{
    uint64_t sum = 0;
    for (mica_component id = 0; (id = mica_component_next(world, id)) != 0;) {
        const mica_type *type = mica_component_type(id);
        if (type->storage == MICA_STORAGE_SINGLETON || !type->size_bytes || type->relation)
            continue;
        mica_term term = {.component = id, .access = MICA_ACCESS_CHANGED};
        mica_query *query = mica_query_create(world, &(mica_query_def){.terms = &term, .term_count = 1});
        for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
            for (uint32_t i = 0; i < view.count; ++i)
                sum = (sum + view.entities[i].index + id) * 0x9e3779b97f4a7c15u;
        mica_query_destroy(query);
    }
    return sum;
}

observed observe_world(mica_world *world, mica_version since)
{
    return (observed){since, mica_world_structure(world), since ? changed_since(world, since) : 0,
                      mica_world_get_stats(world)};
}

bool is_touched(mica_world *world, const observed *before)
{
    observed now = observe_world(world, before->since);
    return now.structure != before->structure || now.changed != before->changed ||
           now.stats.entity_count != before->stats.entity_count ||
           now.stats.component_count != before->stats.component_count ||
           now.stats.archetype_count != before->stats.archetype_count ||
           now.stats.query_count != before->stats.query_count || now.stats.name_count != before->stats.name_count;
}
