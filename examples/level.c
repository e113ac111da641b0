/* A level from JSON to a running world. A game does the first half at build time: mica compile level.json */
#include "mica/compile.h"
#include "mica/mica.h"
#include "mica/resource.h"

#include <stdio.h>
#include <string.h>

typedef struct Position { float x, y; } Position;
typedef struct Health { int current, maximum; } Health;
typedef struct Lock { mica_entity key; bool is_open; } Lock;

MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Health, current, maximum)
MICA_COMPONENT(Lock, key, is_open)
MICA_TAG(Guarded)

static const char text[] =
    "{\"entities\": ["
    "  {\"name\": \"station\", \"components\": {\"Position\": {\"x\": 1, \"y\": 2}, \"Guarded\": {}},"
    "   \"children\": [{\"name\": \"door\", \"components\": {\"Lock\": {\"key\": \"../../orc/key\"}}}]},"
    "  {\"name\": \"orc\", \"components\": {\"Position\": [5, 5], \"Health\": {\"current\": 8, \"maximum\": 10}},"
    "   \"children\": [{\"name\": \"key\"}]}"
    "]}";

static mica_blob compile(const mica_world *world)
{
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    mica_compile_def def = {.schema = schema};
    mica_compiled compiled;
    mica_compile_text("level.json", text, strlen(text), &def, &compiled); /* errors go to stderr */
    mica_blob blob = compiled.blob;
    compiled.blob = (mica_blob){0}; /* the resource owns it now */
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    return blob;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Position);
    mica_define(world, Health);
    mica_define(world, Lock);
    mica_define(world, Guarded);

    mica_blob blob = compile(world);
    mica_resource *level = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    printf("the level has %u entities\n", mica_resource_entity_count(level));

    mica_spawn(world, level, NULL);
    mica_entity door = mica_find(world, "station/door");
    mica_entity key = mica_get(world, door, Lock)->key;
    printf("the key to the door is %s's\n", mica_name_get(world, mica_name_get_scope(world, key)));

    mica_write(world, mica_find(world, "orc"), Health)->current = 1;
    mica_world_clear(world); /* restart the level */
    mica_spawn(world, level, NULL);
    printf("the orc is back with %d\n", mica_get(world, mica_find(world, "orc"), Health)->current);

    mica_spawn(world, level, &(mica_spawn_def){.copies = 1000, .names = MICA_SPAWN_NAMES_NONE});
    printf("a thousand more make %llu entities\n", (unsigned long long)mica_world_get_stats(world).entity_count);

    mica_blob saved;
    mica_pack(world, NULL, &saved);
    mica_resource *game = mica_resource_open(saved.bytes, saved.byte_count, NULL, NULL);
    printf("saved, and read back: %u entities\n", mica_resource_entity_count(game));

    mica_resource_free(game);
    mica_resource_free(level);
    mica_blob_free(&saved);
    mica_blob_free(&blob);
    mica_world_destroy(world);
}
