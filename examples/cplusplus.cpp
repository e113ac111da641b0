// C++: the parameters of a function define its query, and a component may own memory, text and lists.
#include "mica/mica.hpp"

#include <cstdio>
#include <string>
#include <string_view>

struct Position { float x, y; };
struct Velocity { float x, y; };
struct Title { std::string text; int rank = 1; };
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Title, rank) // the text is moved with the component, but not described
MICA_POOL_TAG(Anchored)
struct Log { mica::text keeper; mica::list<Position> places; }; // the world owns both: they are hashed, saved and shown
MICA_COMPONENT(Log, keeper, places)

int main()
{
    mica::world world;
    mica_entity ship = world.create(Position{0, 0}, Velocity{1, 2}, Title{"the ship of the line Victory"});
    mica_entity rock = world.create(Position{5, 5}, Title{"a rock"});
    mica_entity buoy = world.create(Position{9, 0}, Velocity{-1, 0});
    world.add<Anchored>(buoy);

    world.system("move", [](Position &position, const Velocity &velocity, const mica_frame &frame) {
        position.x += velocity.x * frame.dt;
        position.y += velocity.y * frame.dt;
    }, mica::without<Anchored>);
    for (int frame = 0; frame < 60; ++frame)
        world.step(1.0f / 60);

    auto show = world.query([&](mica_entity entity, const Position &position, const Title *title) {
        std::printf("%s is at %.1f, %.1f%s\n", title ? title->text.c_str() : "something", position.x, position.y,
                    world.has<Anchored>(entity) ? ", anchored" : "");
    });
    show.run();

    world.write<Title>(rock)->text = "a rock with a light house";
    world.remove<Velocity>(ship); // it moves to other columns, and its title moves along
    world.remove<Anchored>(buoy);
    world.step(1);
    show.run();
    std::printf("%d things have a place\n", static_cast<int>(show.count()));

    Log *log = world.add<Log>(ship);
    log->keeper.set("the first mate of the Victory");
    log->places.push_back(*world.read<Position>(ship));
    log->places.push_back({7, 7});
    const std::string_view keeper = log->keeper;
    std::printf("%.*s notes", static_cast<int>(keeper.size()), keeper.data());
    for (const Position &place : log->places)
        std::printf(" (%.1f, %.1f)", place.x, place.y);
    std::printf("\n");
}
