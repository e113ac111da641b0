/* Streams: one system writes events, other systems read them in the same frame and always in the same order. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Position { float x; } Position;
typedef struct Velocity { float x; } Velocity;
MICA_COMPONENT(Position, x)
MICA_COMPONENT(Velocity, x)

typedef struct Bounce { mica_entity entity; float at; } Bounce;
MICA_STRUCT(Bounce, entity, at)

typedef struct Score { uint32_t bounces; } Score;
MICA_SINGLETON(Score, bounces)

static mica_stream *bounces;

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    Velocity *velocity = mica_view_write(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        if (position[i].x >= 0 && position[i].x <= 10)
            continue;
        velocity[i].x = -velocity[i].x;
        mica_stream_push(bounces, Bounce, {view->entities[i], position[i].x});
    }
}

static void keep_score(const mica_frame *frame)
{
    Score *score = mica_singleton_write(frame->world, Score);
    uint32_t count;
    while (mica_stream_read(bounces, Bounce, &count))
        score->bounces += count;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    bounces = mica_stream_create(world, MICA_STREAM_WITH(Bounce, (.application = true)));
    mica_system_add(world, MICA_SYSTEM_WITH(move, (MICA_USES(MICA_USE_STREAM_WRITE(bounces))), MICA_WRITE(Position),
                                            MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM_WITH(keep_score, (MICA_USES(MICA_USE_STREAM_READ(bounces))), MICA_WRITE(Score)));

    for (int i = 1; i <= 3; ++i)
        mica_create(world, MICA_WITH(Position, {5}), MICA_WITH(Velocity, {(float)i}));
    for (int frame = 0; frame < 10; ++frame) {
        mica_step(world, 1);
        uint32_t count;
        for (const Bounce *seen; (seen = mica_stream_read(bounces, Bounce, &count));)
            for (uint32_t i = 0; i < count; ++i)
                printf("frame %d: entity %u bounced at %.0f\n", frame, seen[i].entity.index, seen[i].at);
    }
    printf("%u bounces\n", mica_singleton_get(world, Score)->bounces);
    mica_world_destroy(world);
}
