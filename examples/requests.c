/* Requests: walkers request paths one by one, and all requests for one map are answered together. */
#include "mica/flow.h"

#include <stdio.h>

enum { MAPS = 2 };

typedef struct Walker { int32_t map, at, goal; } Walker;
typedef struct Path { int32_t steps; } Path;
MICA_COMPONENT(Walker, map, at, goal)
MICA_COMPONENT(Path, steps)

typedef struct PathWanted { int32_t from, to; } PathWanted;
MICA_STRUCT(PathWanted, from, to)

static mica_requests *paths;

static void ask_for_paths(mica_view *view)
{
    const Walker *walker = mica_view_read(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i)
        mica_request_post(paths, (uint64_t)walker[i].map, view->entities[i], PathWanted,
                          {walker[i].at, walker[i].goal});
}

static void find_paths(const mica_request_group *group)
{
    const PathWanted *wanted = group->questions;
    Path *path = group->answers;
    printf("map %u: %u questions\n", (unsigned)group->key, group->count);
    for (uint32_t i = 0; i < group->count; ++i)
        path[i].steps = wanted[i].to > wanted[i].from ? wanted[i].to - wanted[i].from : wanted[i].from - wanted[i].to;
}

static void walk(mica_view *view)
{
    Walker *walker = mica_view_write(view, Walker);
    Path *path = mica_view_write(view, Path);
    for (uint32_t i = 0; i < view->count; ++i)
        if (path[i].steps > 0) {
            walker[i].at += walker[i].goal > walker[i].at ? 1 : -1;
            --path[i].steps;
        }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_requests_def def = *MICA_REQUESTS(PathWanted, Path, find_paths, NULL);
    def.in_order = true; /* the handler prints */
    paths = mica_requests_create(world, &def);
    mica_system_add(world,
                    MICA_SYSTEM_WITH(ask_for_paths, (MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(paths)))),
                                     MICA_READ(Walker), MICA_WITHOUT(Path)));
    mica_system_add(world, MICA_SYSTEM(walk, MICA_WRITE(Walker), MICA_WRITE(Path)));

    mica_entity walkers[5];
    for (int i = 0; i < 5; ++i)
        walkers[i] = mica_create(world, MICA_WITH(Walker, {i % MAPS, 10 * i, 25}));
    for (int frame = 0; frame < 10; ++frame)
        mica_step(world, 1);
    for (int i = 0; i < 5; ++i)
        printf("walker %d: at %d, %d steps to go\n", i, mica_get(world, walkers[i], Walker)->at,
               mica_get(world, walkers[i], Path)->steps);
    mica_world_destroy(world);
}
