#define _DEFAULT_SOURCE 1 /* mkdtemp */
#include "../support/level.h"
#include "../support/require.h"

#include "mica/mica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    REQUIRE(system(command) == 0);
}

const char *scratch(const char *name)
{
    static char paths[16][128];
    static unsigned next;
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/mica_test_XXXXXX");
        REQUIRE(mkdtemp(folder));
        atexit(remove_folder);
    }
    char *path = paths[next++ % 16];
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

void level_define(mica_world *world)
{
    mica_define(world, Position);
    mica_define(world, Velocity);
    mica_define(world, Number);
    mica_define(world, Frozen);
    mica_define(world, Visible);
    mica_define(world, Health);
    mica_define(world, Padded);
    mica_define(world, Monster);
    mica_define(world, Matrix);
    mica_define(world, Clock);
    mica_define(world, Shape);
}

static mica_entity named(mica_world *world, mica_entity entity, mica_entity scope, const char *name)
{
    REQUIRE(mica_name_set(world, entity, scope, name) == MICA_OK);
    return entity;
}

void level_create(mica_world *world)
{
    mica_entity station = named(world, mica_create(world, MICA_WITH(Position, {1, 2, 3})), mica_nil(), "station");
    mica_create(world, MICA_WITH(Position, {9, 9, 9})); /* with station's components, but after its children */
    mica_entity door = mica_create(world, MICA_WITH(Position, {4, 5, 6}), MICA_WITH(Frozen), MICA_WITH(Visible));
    named(world, door, station, "door");
    mica_entity orc = mica_create(world, MICA_WITH(Monster, {.home = {1, 2, 3},
                                                             .path = {{4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {-1, -2, -3}},
                                                             .mood = MOOD_ANGRY,
                                                             .skills = SKILL_SWIM | SKILL_SING,
                                                             .target = door,
                                                             .friends = {{0, 0}, station},
                                                             .title = "gr\xC3\xBC\xC3\x9F",
                                                             .wealth = 1e300}));
    mica_set(world, orc, Health, {5, 10});
    named(world, orc, mica_nil(), "orc");
    mica_disable(world, orc, Health);
    mica_disable(world, door, Visible);
    named(world, mica_create(world, MICA_WITH(Number, {7}), MICA_WITH(Padded, {1, 2, 3, 4})), door, "handle");
    for (uint32_t i = 0; i < 5; ++i)
        mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}), MICA_WITH(Velocity, {0, (float)i, 0}));
    mica_create(world);
    mica_create(world, MICA_WITH(Matrix, {{1, 2, 3}}), MICA_WITH(Health, {1, 1}));
    *mica_singleton_write(world, Clock) = (Clock){12.5, 99};
}

mica_blob level_blob(const mica_save_def *def)
{
    mica_world *world = mica_world_create(NULL);
    mica_blob blob;
    mica_save_def level = def ? *def : (mica_save_def){0};
    level.skip_state = true; /* a level, not a saved game */
    level_create(world);
    REQUIRE(mica_pack(world, &level, &blob) == MICA_OK);
    mica_world_destroy(world);
    return blob;
}

mica_resource *level_open(const mica_blob *blob)
{
    mica_resource_error error;
    mica_resource *resource = mica_resource_open(blob->bytes, blob->byte_count, NULL, &error);
    REQUIRE_SAYING(resource, "%s at %llu", error.text, (unsigned long long)error.offset);
    return resource;
}

void level_expect(const mica_world *world, mica_entity scope)
{
    mica_entity station = mica_find_from(world, scope, "station"), orc = mica_find_from(world, scope, "orc");
    mica_entity door = mica_find_from(world, scope, "station/door");
    mica_entity handle = mica_find_from(world, scope, "station/door/handle");
    REQUIRE(mica_get(world, station, Position)->z == 3 && mica_get(world, door, Position)->x == 4);
    REQUIRE(mica_has(world, door, Frozen) && !mica_has(world, station, Frozen));
    REQUIRE(mica_has(world, door, Visible) && !mica_is_enabled(world, door, Visible));
    REQUIRE(mica_get(world, handle, Number)->value == 7);
    const Padded *padded = mica_get(world, handle, Padded);
    REQUIRE(padded->small == 1 && padded->large == 2 && padded->tail == 3 && padded->hidden == 0);
    const Monster *monster = mica_get(world, orc, Monster);
    REQUIRE(monster && monster->home.y == 2 && monster->path[3].z == -3 && monster->mood == MOOD_ANGRY);
    REQUIRE(monster->skills == (SKILL_SWIM | SKILL_SING) && monster->wealth == 1e300);
    REQUIRE(strcmp(monster->title, "gr\xC3\xBC\xC3\x9F") == 0);
    REQUIRE(mica_same(monster->target, door) && mica_is_nil(monster->friends[0]) &&
            mica_same(monster->friends[1], station));
    REQUIRE(mica_get(world, orc, Health)->maximum == 10 && !mica_is_enabled(world, orc, Health));
}
