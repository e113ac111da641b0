/* The battle of `make show` without a window, for `mica inspect`: `make inspect-demo` starts both.
 *
 *     inspected [--units N] [--frames N] [--port PORT] [--token TOKEN] [--read-only]
 */
#include "../show/battle.h"
#include "mica/hierarchy.h"
#include "mica/inspect.h"
#include "mica/relation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Something to edit: a camp for each army, with a captain. */
typedef enum Order { ATTACK, HOLD, RETREAT } Order;
typedef struct Captain {
    Order order;
    mica_text motto;
    float courage;
    mica_entity rival;
} Captain;
typedef struct Camp { float x, y; uint32_t color; } Camp;
MICA_ENUM(Order, ATTACK, HOLD, RETREAT)
MICA_COMPONENT(Captain, (order, Order), (motto, mica_text, .note = "shouted before each charge"),
               (courage, float, .unit = "%", .minimum = 0, .maximum = 100), rival)
MICA_COMPONENT(Camp, (x, float, .unit = "m"), (y, float, .unit = "m"), (color, uint32_t, .note = "0xRRGGBB"))
MICA_TAG(Fortified)
MICA_RELATION(Opposes)
MICA_RELATION(Commands)

static bool add_camp(mica_world *world, const char *name, Camp camp, const char *motto, mica_entity *out_captain)
{
    mica_entity camp_entity = mica_create(world, MICA_WITH(Camp, {camp.x, camp.y, camp.color}));
    mica_entity captain = mica_create(world, MICA_WITH(Captain, {.courage = 80}));
    *out_captain = captain;
    return mica_name_set(world, camp_entity, mica_nil(), name) == MICA_OK &&
           mica_set_parent(world, captain, camp_entity) == MICA_OK &&
           mica_name_child(world, captain, "captain") == MICA_OK &&
           mica_text_set(&mica_write(world, captain, Captain)->motto, motto) == MICA_OK &&
           mica_relate(world, captain, Commands, camp_entity) != NULL;
}

static bool add_camps(mica_world *world)
{
    mica_entity red, blue;
    mica_define(world, Fortified);
    if (!add_camp(world, "red camp", (Camp){40, 288, 0xd94a3d}, "Forward, and never mind the rain", &red) ||
        !add_camp(world, "blue camp", (Camp){1240, 288, 0x3d7bd9}, "Hold the line", &blue) ||
        !mica_relate(world, red, Opposes, blue))
        return false;
    mica_write(world, red, Captain)->rival = blue;
    mica_write(world, blue, Captain)->rival = red;
    return true;
}

typedef struct arguments {
    uint32_t units;
    uint64_t frames;
    mica_inspect_def inspect;
} arguments;

static bool read_arguments(arguments *arguments, int count, char **words)
{
    for (int i = 1; i < count; ++i) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--read-only") == 0) {
            arguments->inspect.read_only = true;
            continue;
        }
        if (strcmp(words[i], "--units") == 0)
            arguments->units = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(words[i], "--frames") == 0)
            arguments->frames = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--port") == 0)
            arguments->inspect.port = (uint16_t)strtoul(value, NULL, 10);
        else if (strcmp(words[i], "--token") == 0)
            arguments->inspect.token = value;
        else
            return false;
        ++i;
    }
    return arguments->units > 0;
}

int main(int count, char **words)
{
    arguments arguments = {.units = 10000, .inspect.name = "battle"};
    if (!read_arguments(&arguments, count, words)) {
        fputs("usage: inspected [--units N] [--frames N] [--port PORT] [--token TOKEN] [--read-only]\n", stderr);
        return 2;
    }
    battle battle = {0};
    mica_world *world = mica_world_create(NULL);
    bool fine = world && battle_begin(&battle, world, arguments.units) && add_camps(world);
    mica_inspector *inspector = fine ? mica_inspect_serve(world, &arguments.inspect) : NULL;
    mica_run_def run = mica_run_def_default();
    run.frame_count = arguments.frames;
    fine = inspector && mica_run(world, &run) == MICA_OK;
    mica_inspect_stop(inspector);
    mica_world_destroy(world);
    return fine ? 0 : 1;
}
