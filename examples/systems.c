/* The game loop: systems declare what they read and write, and a frame runs them all. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Fuse { float seconds; } Fuse;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Fuse, seconds)

static void fall(mica_view *view)
{
    Velocity *velocity = mica_view_write(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        velocity[i].y -= 10 * view->dt;
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        position[i].y += velocity[i].y * view->dt;
    }
}

/* Structural changes inside a system are recorded and applied at the end of the phase. */
static void burn(mica_view *view)
{
    Fuse *fuse = mica_view_write(view, Fuse);
    const Position *position = mica_view_read(view, Position);
    for (uint32_t i = 0; i < view->count; ++i) {
        fuse[i].seconds -= view->dt;
        if (fuse[i].seconds > 0)
            continue;
        mica_destroy(view->world, view->entities[i]);
        for (int spark = -1; spark <= 1; ++spark)
            mica_create(view->world, MICA_WITH(Position, {position[i].x, position[i].y}),
                        MICA_WITH(Velocity, {(float)spark, 2}));
    }
}

static void count_sparks(const mica_frame *frame)
{
    printf("after %.2f seconds: %u things fly\n", frame->seconds, (unsigned)mica_query_count(frame->query));
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(fall, MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(world, MICA_SYSTEM(burn, MICA_WRITE(Fuse), MICA_READ(Position)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(count_sparks, (.phase = MICA_PHASE_END, .every_frames = 30), MICA_READ(Position)));

    mica_create(world, MICA_WITH(Position, {0, 0}), MICA_WITH(Velocity, {0, 8}), MICA_WITH(Fuse, {0.75f}));
    for (int frame = 0; frame < 91; ++frame)
        mica_step(world, 1.0f / 60);

    char graph[1024];
    mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph);
    printf("%s", graph);
    mica_world_destroy(world);
}
