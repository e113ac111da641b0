/* Hot reload: a level is edited while the game runs. The world follows the file and keeps the changes of the game. */
#include "mica/compile.h"
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

typedef struct Position { float x, y; } Position;
typedef struct Health { int current, maximum; } Health;

MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Health, current, maximum)
MICA_TAG(Guarded)

static const char path[] = "hot_reload_level.json";

static const char first[] =
    "{\"entities\": ["
    "  {\"name\": \"camp\", \"components\": {\"Position\": [1, 2], \"Guarded\": {}}, \"children\": ["
    "    {\"name\": \"orc\", \"components\": {\"Health\": {\"current\": 10, \"maximum\": 10}}},"
    "    {\"name\": \"tent\", \"components\": {\"Position\": [3, 3]}}]}"
    "]}";

/* The designer moves the camp, removes its guard, makes the orc stronger and replaces the tent by a fire. */
static const char second[] =
    "{\"entities\": ["
    "  {\"name\": \"camp\", \"components\": {\"Position\": [5, 2]}, \"children\": ["
    "    {\"name\": \"fire\", \"components\": {\"Position\": [4, 4]}},"
    "    {\"name\": \"orc\", \"components\": {\"Health\": {\"current\": 20, \"maximum\": 20}}}]}"
    "]}";

static void edit(const char *text)
{
    mica_write_file(path, text, strlen(text), NULL);
}

static mica_compiled compile(const mica_world *world)
{
    mica_schema *schema = mica_schema_create();
    mica_compiled compiled;
    mica_schema_add_world(schema, world);
    mica_compile_file(path, &(mica_compile_def){.schema = schema}, &compiled); /* errors go to stderr */
    mica_schema_destroy(schema);
    return compiled;
}

static void show(const mica_world *world)
{
    mica_entity camp = mica_find(world, "camp");
    const Position *position = mica_get(world, camp, Position);
    const Health *health = mica_get(world, mica_find(world, "camp/orc"), Health);
    printf("camp at (%g, %g)%s, orc %d/%d, children:", position->x, position->y,
           mica_has(world, camp, Guarded) ? ", guarded" : "", health->current, health->maximum);
    for (mica_entity child = mica_first_child(world, camp); !mica_is_nil(child);
         child = mica_next_sibling(world, child))
        printf(" %s", mica_name_get(world, child));
    printf("\n");
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Position);
    mica_define(world, Health);
    mica_define(world, Guarded);

    edit(first);
    mica_compiled compiled = compile(world);
    mica_resource *level = mica_resource_open(compiled.blob.bytes, compiled.blob.byte_count, NULL, NULL);
    mica_spawned *spawned = mica_spawn_kept(world, level, NULL);
    mica_watch *watch = mica_watch_create((const char *const *)compiled.dependencies, compiled.dependency_count, NULL);

    mica_entity orc = mica_find(world, "camp/orc");
    mica_write(world, orc, Health)->current = 7; /* changed by the game */
    show(world);
    printf("changed: %s\n", mica_watch_changed(watch) ? "yes" : "no");

    edit(second);
    if (mica_watch_changed(watch)) {
        mica_compiled newer = compile(world);
        mica_resource *newer_level = mica_resource_open(newer.blob.bytes, newer.blob.byte_count, NULL, NULL);
        mica_reload_stats stats;
        if (newer_level && mica_reload(spawned, newer_level, &stats) == MICA_OK) {
            printf("reloaded: %u created, %u destroyed, %u removed, %u updated, %u field kept\n", stats.created_count,
                   stats.destroyed_count, stats.removed_count, stats.updated_count, stats.kept_count);
            mica_resource_free(level);
            mica_compiled_free(&compiled);
            level = newer_level;
            compiled = newer;
        }
    }
    show(world);
    printf("the orc is still the same entity: %s\n", mica_is_alive(world, orc) ? "yes" : "no");

    mica_watch_destroy(watch);
    mica_spawned_free(spawned);
    mica_resource_free(level);
    mica_compiled_free(&compiled);
    mica_world_destroy(world);
    remove(path);
}
