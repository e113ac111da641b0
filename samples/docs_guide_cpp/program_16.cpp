#line 16 "docs/guide/cpp.md"
#include "mica/mica.hpp"

#include <cstdio>

struct Position { float x, y; };
struct Velocity { float x, y; };
MICA_COMPONENT(Position, x, y) // in the namespace of the type
MICA_COMPONENT(Velocity, x, y)
MICA_TAG(Frozen)

int main()
{
    mica::world world;
    mica_entity ship = world.create(Position{0, 0}, Velocity{1, 2});
    mica_entity statue = world.create(Position{1, 1}, Velocity{9, 9});
    world.add<Frozen>(statue);

    world.system("move", [](Position &position, const Velocity &velocity, const mica_frame &frame) {
        position.x += velocity.x * frame.dt;
        position.y += velocity.y * frame.dt;
    }, mica::without<Frozen>);

    for (int frame = 0; frame < 60; ++frame)
        world.step(1.0f / 60);

    std::printf("ship at %.1f, %.1f\n", world.read<Position>(ship)->x, world.read<Position>(ship)->y);
}
