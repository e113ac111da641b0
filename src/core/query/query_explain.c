/* What an iteration of a query visits, as text: see mica/query_text.h. */
#include "base/argument.h"
#include "core/query/pattern_explain.h"
#include "core/query/query_join.h"
#include "core/world/world.h"
#include "mica/component.h"
#include "mica/query_text.h"
#include "type/value_write.h"

#include <inttypes.h>
#include <stdio.h>

static void put_count(micap_text_output *out, uint64_t count, const char *what)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
    micap_output_text(out, text);
}

static void put_archetype(micap_text_output *out, const micap_archetype *archetype)
{
    const char *separator = ": ";
    micap_output_text(out, "\n  ");
    put_count(out, archetype->row_count, "row");
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        if (type->companion != MICAP_COMPANION_NONE)
            continue;
        micap_output_text(out, separator);
        micap_output_text(out, type->type.name);
        separator = ", ";
    }
}

static void put_archetypes(micap_text_output *out, const mica_query *query)
{
    uint64_t row_count = 0;
    for (uint32_t i = 0; i < query->match_count; ++i)
        row_count += query->archetypes[i]->row_count;
    micap_output_text(out, "visits ");
    put_count(out, row_count, "row");
    micap_output_text(out, " of ");
    put_count(out, query->match_count, "archetype");
    for (uint32_t i = 0; i < query->match_count; ++i)
        put_archetype(out, query->archetypes[i]);
}

/* Each pool once, though several terms may be about it. */
static bool is_first_of_pool(const mica_query *query, uint32_t join)
{
    for (uint32_t i = 0; i < join; ++i)
        if (query->joins[i].pool == query->joins[join].pool)
            return false;
    return true;
}

static void put_pool(micap_text_output *out, const mica_pool *pool, const char *what)
{
    micap_output_text(out, what);
    put_count(out, pool->count, "row");
    micap_output_text(out, " of pool ");
    micap_output_text(out, pool->type->type.name);
}

size_t mica_query_explain(const mica_query *query, char *text, size_t capacity)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING_ARRAY(query->world, text, capacity))
        return 0;
    micap_text_output out = micap_output_begin(text, capacity);
    if (query->pattern) {
        micap_pattern_explain(query->pattern, &out);
        return micap_output_end(&out);
    }
    const mica_pool *driver = micap_join_driver(query);
    if (driver)
        put_pool(&out, driver, "visits ");
    else
        put_archetypes(&out, query);
    for (uint32_t i = 0; i < query->join_count; ++i)
        if (query->joins[i].pool != driver && is_first_of_pool(query, i))
            put_pool(&out, query->joins[i].pool, "\nlooks up each in ");
    if (driver && query->asks_chunks)
        micap_output_text(&out, "\nlooks up each in the archetypes");
    return micap_output_end(&out);
}
