/* libFuzzer: any text as a query. What is accepted is written as a text that means the same query; what is refused has a place. */
#include "../support/components.h"

#include "mica/query_text.h"
#include "mica/relation.h"

#include <stdlib.h>
#include <string.h>

MICA_RELATION(Likes)
MICA_RELATION_WITH(Borders, (.symmetric = true))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mica_world *open_zoo(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity a = mica_create(world, MICA_WITH(Position), MICA_WITH(Health), MICA_WITH(Frozen));
    mica_entity b = mica_create(world, MICA_WITH(Velocity), MICA_WITH(Age), MICA_WITH(Visible));
    mica_entity c = mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity));
    mica_name_set(world, a, mica_nil(), "ann");
    mica_name_set(world, b, a, "bob");
    mica_relate(world, a, Likes, b);
    mica_relate(world, a, Likes, c);
    mica_relate(world, b, Borders, c);
    mica_relate(world, a, LeadsTo, b);
    mica_relate(world, b, LeadsTo, c);
    mica_relate(world, b, PartOf, a);
    mica_relate(world, c, PartOf, b);
    return world;
}

/* How many results there are, up to a limit: every variable that nothing ties to another one multiplies them. */
static uint32_t count_some(mica_query *query)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); count < 1000 && mica_view_next(&view);)
        count += view.count;
    return count < 1000 ? count : 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mica_world *world;
    char text[1024], written[8192], rewritten[8192];
    if (!world)
        world = open_zoo();
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    uint32_t joined = 0;
    for (size_t i = 0; i < size; ++i)
        joined += text[i] == '(' || text[i] == '$' || text[i] == '*';
    if (joined > 16) /* each may multiply what a search visits */
        return 0;
    mica_value_error error;
    mica_query *query = mica_query_text(world, text, &error);
    if (!query && (error.result == MICA_OK || error.position > strlen(text) || !error.text[0]))
        abort();
    if (!query)
        return 0;
    if (mica_query_write_text(query, written, sizeof written) >= sizeof written)
        abort();
    mica_query *again = mica_query_text(world, written, NULL);
    if (!again || count_some(again) != count_some(query))
        abort();
    mica_query_write_text(again, rewritten, sizeof rewritten);
    if (strcmp(written, rewritten) != 0)
        abort();
    mica_query_explain(query, written, sizeof written);
    mica_query_destroy(again);
    mica_query_destroy(query);
    return 0;
}
