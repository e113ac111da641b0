/* One server takes over from another: it follows by deltas, and continues exactly when the first one ends. */
#include "mica/delta.h"
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

/* What each server sets up. */
static mica_world *set_up(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_define(world, Walker);
    mica_system_add(world, MICA_SYSTEM_WITH(walk, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Walker)));
    return world;
}

/* A new world that continues where the replica is. */
static mica_world *take_over(mica_world *followed, const mica_replica *replica)
{
    mica_world *world = set_up();
    mica_save_def def = {0};
    mica_blob blob;
    def.state = mica_replica_state(replica, &def.state_bytes);
    if (mica_pack(followed, &def, &blob) != MICA_OK)
        return world;
    mica_resource *file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_spawn(world, file, NULL);
    mica_resource_free(file);
    mica_blob_free(&blob);
    return world;
}

static void compare(const char *when, mica_world *first, mica_world *second)
{
    printf("%s, frame %llu, %llu walkers: %s\n", when, (unsigned long long)mica_time_get(second).frame,
           (unsigned long long)mica_world_get_stats(second).entity_count,
           mica_world_hash(first) == mica_world_hash(second) ? "the same world" : "another world");
}

int main(void)
{
    mica_world *first = set_up(), *followed = mica_world_create(NULL);
    mica_define(followed, Walker); /* it only follows: no systems */
    mica_sender *sender = mica_sender_create(first, &(mica_sender_def){.with_state = true});
    mica_replica *replica = mica_replica_create(followed, NULL);
    mica_create(first, MICA_WITH(Walker, {0, 0}));
    for (uint32_t frame = 0; frame < 100; ++frame) {
        mica_delta delta;
        mica_step(first, 1.0f / 60);
        mica_delta_encode(sender, mica_replica_version(replica), &delta);
        mica_delta_apply(replica, delta.bytes, delta.byte_count);
    }
    mica_world *second = take_over(followed, replica);
    compare("taken over", first, second);
    for (uint32_t frame = 0; frame < 100; ++frame) {
        mica_step(first, 1.0f / 60);
        mica_step(second, 1.0f / 60);
    }
    compare("later", first, second);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    mica_world_destroy(second);
    mica_world_destroy(followed);
    mica_world_destroy(first);
    return 0;
}
