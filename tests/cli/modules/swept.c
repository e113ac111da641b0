/* A model for mica sweep and mica run --cluster, which goes wrong if a parameter says so. With CROWDED, a second module with a cluster. */
#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/module.h"
#include "mica/singleton.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum Fault { NOTHING, CRASH, HANG, REPORT, LEAVE, REFUSE } Fault;
typedef struct Settings {
    double speed;
    Fault fault;
    uint64_t fault_seed; /* 0: of every seed */
    int32_t count;
    float seed; /* named as a column of the results */
    mica_text label;
} Settings;
typedef struct Other { double speed; int32_t mice; } Other;
typedef struct Place { float x, y; } Place;
typedef struct Run { uint64_t seed; } Run;
MICA_ENUM(Fault, NOTHING, CRASH, HANG, REPORT, LEAVE, REFUSE)
MICA_SINGLETON(Settings, (speed, double, .initial = 1, .minimum = 0, .maximum = 100), (fault, Fault), fault_seed,
               (count, int32_t, .initial = 10), seed, label)
MICA_SINGLETON(Other, speed, mice)
MICA_SINGLETON(Run, seed)
MICA_COMPONENT(Place, x, y)
MICA_TAG(Mouse)

#ifndef CROWDED
static void move(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    const Settings *settings = mica_view_read(view, Settings);
    for (uint32_t i = 0; i < view->count; ++i)
        place[i].x += (float)settings->speed * view->dt;
}

static void go_wrong(const mica_frame *frame)
{
    const Settings *settings = mica_singleton_get(frame->world, Settings);
    uint64_t seed = mica_singleton_get(frame->world, Run)->seed;
    if (frame->tick != 2 || (settings->fault_seed && settings->fault_seed != seed))
        return;
    if (settings->fault == CRASH)
        abort();
    if (settings->fault == LEAVE)
        exit(7);
    while (settings->fault == HANG) {
    }
    if (settings->fault == REPORT)
        mica_world_report(frame->world, MICA_ERROR_DATA, "the third frame is not to my taste");
}

MICA_MODULE(world)
{
    mica_define(world, Settings);
    mica_define(world, Other);
    mica_define(world, Run);
    mica_define(world, Place);
    mica_define(world, Mouse);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Settings)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(go_wrong, (MICA_USES(MICA_USE_READ(Settings), MICA_USE_READ(Run)))));
    return MICA_OK;
}

mica_result mica_module_start(mica_world *world)
{
    const Settings *settings = mica_singleton_get(world, Settings);
    mica_random random = mica_random_of_world(world);
    for (int i = 0; i < settings->count; ++i)
        mica_create(world, MICA_WITH(Place, {mica_random_range(&random, 0, 50), (float)i}), MICA_WITH(Mouse));
    return settings->fault == REFUSE ? MICA_ERROR_REFUSED : MICA_OK;
}

const mica_measurement mica_module_measurements[] = {{"mice", "count: Mouse"}, {"x", "mean: Place.x, Mouse"}, {0}};
#else
MICA_MODULE(world)
{
    return mica_define(world, Place) ? MICA_OK : MICA_ERROR_INVALID;
}
#endif

mica_cluster *mica_module_cluster(mica_world *world, uint64_t seed)
{
    mica_singleton_write(world, Run)->seed = seed;
    return mica_cluster_create(
        world, &(mica_cluster_def){
                   .grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 10, .maximum = {100, 100}},
                   .reach = 1,
                   .seed = seed,
                   .time_limit_seconds = 20});
}
