/* The battle of `make show` without a window, for `mica inspect`: `make inspect-demo` starts both.
 *
 *     inspected [--units N] [--frames N] [--port PORT] [--token TOKEN] [--read-only]
 */
#include "../show/battle.h"
#include "mica/flow.h"
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
/* What a program owns: the inspector shows the described field. */
typedef struct Banner { float height; char *cloth; } Banner;
MICA_ENUM(Order, ATTACK, HOLD, RETREAT)
MICA_COMPONENT(Captain, (order, Order), (motto, mica_text, .note = "shouted before each charge"),
               (courage, float, .unit = "%", .minimum = 0, .maximum = 100), rival)
MICA_COMPONENT(Camp, (x, float, .unit = "m"), (y, float, .unit = "m"), (color, uint32_t, .note = "0xRRGGBB"))
MICA_TAG(Fortified)

static char *weave(const char *text)
{
    char *cloth = text ? malloc(strlen(text) + 1) : NULL;
    return cloth ? strcpy(cloth, text) : NULL;
}

static void tear_banners(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        free(((Banner *)values)[i].cloth);
}

static bool copy_banners(void *to, const void *from, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i) {
        const Banner *banner = (const Banner *)from + i;
        ((Banner *)to)[i] = (Banner){banner->height, weave(banner->cloth)};
    }
    return true;
}

MICA_COMPONENT_WITH(Banner, (.destruct = tear_banners, .copy = copy_banners), (height, float, .unit = "m"))

/* What passes between the camps, for the view of events: every second the captains shout, cheer and send scouts. */
typedef struct Shout { mica_entity captain; mica_text words; } Shout;
typedef struct Cheer { float volume; } Cheer;
typedef struct Scouting { float radius; } Scouting;
typedef struct Report { uint32_t soldiers; } Report;
MICA_STRUCT(Shout, captain, words)
MICA_STRUCT(Cheer, (volume, float, .unit = "dB"))
MICA_STRUCT(Scouting, (radius, float, .unit = "m"))
MICA_COMPONENT(Report, soldiers)
enum { RALLY = MICA_EVENT_USER };

typedef struct signals {
    mica_stream *shouts;
    mica_requests *scouts;
} signals;

MICA_RELATION(Opposes)
MICA_RELATION(Commands)

static void shout(mica_view *view)
{
    const signals *signals = view->frame->context;
    const Captain *captain = mica_view_read(view, Captain);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_stream_push(signals->shouts, Shout, {view->entities[i], captain[i].motto});
        mica_send(view->world, view->entities[i], Cheer, {60 + captain[i].courage / 2});
        mica_request_post(signals->scouts, captain[i].order, view->entities[i], Scouting, {captain[i].courage});
        mica_event_emit(view->world, RALLY, MICA_ID(Captain), view->entities[i],
                        (mica_value){MICA_ID(Cheer), sizeof(Cheer), &(Cheer){captain[i].courage}});
    }
}

static void hear_cheer(const mica_message *message)
{
    (void)message;
}

static void hear_rally(const mica_event *event)
{
    (void)event;
}

static void scout(const mica_request_group *group)
{
    for (uint32_t i = 0; i < group->count; ++i)
        ((Report *)group->answers)[i].soldiers = (uint32_t)((const Scouting *)group->questions)[i].radius;
}

static bool add_signals(mica_world *world, signals *signals)
{
    signals->shouts = mica_stream_create(world, MICA_STREAM_WITH(Shout, (.keep_frames = 60)));
    signals->scouts = mica_requests_create(
        world, &(mica_requests_def){
                   .name = "scouts", .question = &mica_type_of_Scouting, .answer = &mica_type_of_Report, .fn = scout});
    mica_observer_add(world, &(mica_observer_def){.name = "hear_rally", .event = RALLY, .fn = hear_rally});
    return signals->shouts && signals->scouts &&
           mica_handler_add(world, MICA_HANDLER(Captain, Cheer, hear_cheer)) == MICA_OK &&
           mica_system_add(world,
                           MICA_SYSTEM_WITH(shout,
                                            (.every_frames = 60, .context = signals,
                                             MICA_USES(MICA_USE_STREAM_WRITE(signals->shouts),
                                                       MICA_USE_STREAM_WRITE(mica_requests_stream(signals->scouts)))),
                                            MICA_READ(Captain)))
               .id;
}

static bool add_camp(mica_world *world, const char *name, Camp camp, const char *motto, mica_entity *out_captain)
{
    mica_entity camp_entity = mica_create(world, MICA_WITH(Camp, {camp.x, camp.y, camp.color}));
    mica_entity captain = mica_create(world, MICA_WITH(Captain, {.courage = 80}));
    Banner *banner = mica_add(world, camp_entity, Banner);
    *banner = (Banner){.height = 12, .cloth = weave(name)};
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
    signals signals = {0};
    mica_world *world = mica_world_create(NULL);
    bool fine =
        world && battle_begin(&battle, world, arguments.units) && add_camps(world) && add_signals(world, &signals);
    mica_inspector *inspector = fine ? mica_inspect_serve(world, &arguments.inspect) : NULL;
    mica_run_def run = mica_run_def_default();
    run.frame_count = arguments.frames;
    fine = inspector && mica_run(world, &run) == MICA_OK;
    mica_inspect_stop(inspector);
    mica_world_destroy(world);
    return fine ? 0 : 1;
}
