/* libFuzzer: any text as a level. What compiles must load, and dump to a text that compiles to the same bytes. */
#include "../support/level.h"

#include "mica/compile.h"
#include "mica/mica.h"

#include <stdlib.h>
#include <string.h>

static void ignore(const mica_compile_error *error, void *context)
{
    (void)error;
    (void)context;
}

static mica_schema *make_schema(void)
{
    mica_world *world = mica_world_create(NULL);
    level_define(world);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    mica_world_destroy(world);
    return schema;
}

static void expect_identity(const mica_compile_def *def, const mica_blob *blob)
{
    mica_resource *resource = mica_resource_open(blob->bytes, blob->byte_count, NULL, NULL);
    mica_blob text;
    mica_compiled again;
    if (!resource || mica_dump(resource, &text) != MICA_OK ||
        mica_compile_text("dump", text.bytes, text.byte_count, def, &again) != MICA_OK ||
        again.blob.byte_count != blob->byte_count || memcmp(again.blob.bytes, blob->bytes, blob->byte_count) != 0)
        abort();
    mica_compiled_free(&again);
    mica_blob_free(&text);
    mica_resource_free(resource);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mica_schema *schema;
    if (!schema)
        schema = make_schema();
    mica_compile_def def = {.schema = schema, .error = ignore, .entity_count_max = 10000};
    mica_compiled compiled;
    /* Prefabs are looked for beside a file that is nowhere. */
    if (mica_compile_text("/nonexistent/a", (const char *)data, size, &def, &compiled) == MICA_OK)
        expect_identity(&def, &compiled.blob);
    mica_compiled_free(&compiled);
    return 0;
}
