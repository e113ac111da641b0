/* Ten thousand asteroids with two outlines: the shared data is in other resources, which are loaded once and read in place.
 * A game compiles these files at build time and maps them; here they are compiled from text when the library loads them. */
#include "mica/compile.h"
#include "mica/library.h"
#include "mica/mica.h"

#include <stdio.h>
#include <string.h>

typedef struct Corner { float x, y; } Corner;
typedef struct Outline { mica_asset shape; float scale; } Outline;
MICA_POOL_WITH(Corner, (.many = true), x, y)
MICA_COMPONENT(Outline, shape, scale)

static const char *const files[][2] = {
    {"field.mica", "{\"entities\": [{\"components\": {\"Outline\": {\"shape\": \"shapes/square.mica\", \"scale\": 1}}},"
                   "                {\"components\": {\"Outline\": {\"shape\": \"shapes/triangle.mica\", \"scale\": 2}}}]}"},
    {"shapes/square.mica", "{\"entities\": [{\"components\": {\"Corner\": "
                           "[{\"x\": 0, \"y\": 0}, {\"x\": 1, \"y\": 0}, {\"x\": 1, \"y\": 1}, {\"x\": 0, \"y\": 1}]}}]}"},
    {"shapes/triangle.mica", "{\"entities\": [{\"components\": {\"Corner\": "
                             "[{\"x\": 0, \"y\": 0}, {\"x\": 1, \"y\": 0}, {\"x\": 0, \"y\": 1}]}}]}"},
};

static mica_compiled compiled[3]; /* must stay valid while resources use them */

static mica_resource *compile_and_open(const char *path, mica_resource_error *out_error, void *schema)
{
    for (int i = 0; i < 3; ++i) {
        if (strcmp(files[i][0], path) != 0)
            continue;
        printf("opening %s\n", path);
        mica_compile_def def = {.schema = schema};
        if (mica_compile_text(path, files[i][1], strlen(files[i][1]), &def, &compiled[i]) == MICA_OK)
            return mica_resource_open(compiled[i].blob.bytes, compiled[i].blob.byte_count, NULL, out_error);
    }
    return NULL;
}

/* Shoelace formula. */
static float area_of(const mica_resource *shape)
{
    uint32_t count;
    const Corner *corners = mica_resource_values(shape, Corner, &count);
    float twice = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Corner a = corners[i], b = corners[(i + 1) % count];
        twice += a.x * b.y - a.y * b.x;
    }
    return twice / 2;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Outline);
    mica_define(world, Corner);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);

    mica_library *library = mica_library_create(&(mica_library_def){.open = compile_and_open, .open_context = schema});
    const mica_resource *field = mica_library_load(library, "field.mica", NULL);
    mica_spawn(world, field, &(mica_spawn_def){.copies = 5000});
    printf("%llu asteroids, %u resources\n", (unsigned long long)mica_world_get_stats(world).entity_count,
           mica_library_count(library));

    float area = 0;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Outline)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Outline *outline = mica_view_read(&view, Outline);
        for (uint32_t i = 0; i < view.count; ++i)
            area += outline[i].scale * outline[i].scale * area_of(mica_library_find(library, outline[i].shape));
    }
    printf("together they cover %.0f\n", area);

    mica_library_release(library, field); /* the last user of the shapes */
    printf("%u resources are left\n", mica_library_count(library));

    mica_library_destroy(library);
    for (int i = 0; i < 3; ++i)
        mica_compiled_free(&compiled[i]);
    mica_schema_destroy(schema);
    mica_world_destroy(world);
}
