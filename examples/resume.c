/* Quit and continue: a saved world is loaded into a new one and continues exactly, as if the program had never ended. */
#include "mica/flow.h"
#include "mica/random.h"
#include "mica/resource.h"

#include <stdio.h>

typedef struct Walker { float x, y; } Walker;
MICA_COMPONENT(Walker, x, y)

static void walk(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Walker *walker = mica_view_write(view, Walker);
    for (uint32_t i = 0; i < view->count; ++i) {
        walker[i].x += mica_random_range(&random, -1, 1);
        walker[i].y += mica_random_range(&random, -1, 1);
        if (mica_random_below(&random, 50) == 0)
            mica_create(view->world, MICA_WITH(Walker, {walker[i].x, walker[i].y}));
    }
}

/* What a program sets up each time it starts. */
static mica_world *set_up(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Walker);
    mica_system_add(world, MICA_SYSTEM_WITH(walk, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Walker)));
    return world;
}

static void run(mica_world *world, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; ++i)
        mica_step(world, 1.0f / 60);
}

int main(void)
{
    const char *path = "resume.tmp.mica";
    mica_world *first = set_up();
    mica_create(first, MICA_WITH(Walker, {0, 0}));
    run(first, 100);
    mica_result saved = mica_save(first, path, NULL);

    mica_world *second = set_up(); /* in another process, on another day */
    mica_resource_error error = {0};
    mica_resource *file = mica_resource_load(path, NULL, &error);
    if (saved != MICA_OK || !file || mica_spawn(second, file, NULL) != MICA_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    mica_resource_free(file);
    remove(path);
    printf("loaded at frame %llu: %s\n", (unsigned long long)mica_time_get(second).frame,
           mica_world_hash(first) == mica_world_hash(second) ? "the same world" : "another world");
    run(first, 100);
    run(second, 100);
    printf("100 frames later, %llu walkers: %s\n", (unsigned long long)mica_world_get_stats(second).entity_count,
           mica_world_hash(first) == mica_world_hash(second) ? "still the same" : "they have parted");
    mica_world_destroy(second);
    mica_world_destroy(first);
    return 0;
}
