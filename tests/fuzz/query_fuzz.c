/* libFuzzer: any text as a query. What is accepted is written as a text that means the same query; what is refused has a place. */
#include "../support/components.h"

#include "mica/query_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mica_world *open_zoo(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Position), MICA_WITH(Health), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Velocity), MICA_WITH(Age), MICA_WITH(Visible));
    mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity));
    return world;
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
    mica_value_error error;
    mica_query *query = mica_query_text(world, text, &error);
    if (!query && (error.result == MICA_OK || error.position > strlen(text) || !error.text[0]))
        abort();
    if (!query)
        return 0;
    if (mica_query_write_text(query, written, sizeof written) >= sizeof written)
        abort();
    mica_query *again = mica_query_text(world, written, NULL);
    if (!again || mica_query_count(again) != mica_query_count(query))
        abort();
    mica_query_write_text(again, rewritten, sizeof rewritten);
    if (strcmp(written, rewritten) != 0)
        abort();
    mica_query_explain(query, written, sizeof written);
    mica_query_destroy(again);
    mica_query_destroy(query);
    return 0;
}
