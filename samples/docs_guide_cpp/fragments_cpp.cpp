#include "mica/mica.hpp"
#include <cstdio>

static int samples_reports;
static void samples_report(const mica_report *report, void *)
{
    ++samples_reports;
    std::fprintf(stderr, "%s:%d: reported: %s\n", report->location.file ? report->location.file : "?", report->location.line, report->text);
}
static mica_world_def samples_def()
{
    mica_world_def def = mica_world_def_default();
    def.report = samples_report;
    return def;
}
static const mica_world_def samples_world_def = samples_def();
static mica::world world(&samples_world_def);
struct Position { float x, y; };
struct Velocity { float x, y; };
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_TAG(Frozen)
MICA_POOL_TAG(Selected)

#line 105 "docs/guide/cpp.md"
#include <string>
#line 106 "docs/guide/cpp.md"

struct Title { std::string text; int rank = 1; };
#line 108 "docs/guide/cpp.md"
MICA_COMPONENT(Title, rank)
#line 131 "docs/guide/cpp.md"
struct Health { int current, maximum; };
#line 132 "docs/guide/cpp.md"
MICA_COMPONENT_WITH(Health, (type.toggle = true, type.track_added = true), current, maximum)
int main()
{
{
#line 65 "docs/guide/cpp.md"
world.each([](Position &position) { position.y = 0; }, mica::without<Frozen>); // runs once
#line 66 "docs/guide/cpp.md"

// a query that runs several times
auto moving = world.query([](mica_entity entity, Position &position, const Velocity *velocity) {
    if (velocity)
        position.x += velocity->x;
    else
        std::printf("%u stands still\n", entity.index);
});
#line 74 "docs/guide/cpp.md"
moving.run();
{
#line 80 "docs/guide/cpp.md"
mica_entity rock = world.create(Position{5, 5});
#line 81 "docs/guide/cpp.md"
world.set(rock, Velocity{1, 0});
#line 82 "docs/guide/cpp.md"
world.write<Position>(rock)->x += 1;
#line 83 "docs/guide/cpp.md"
const Position *position = world.read<Position>(rock); // nullptr if the entity does not have it
#line 84 "docs/guide/cpp.md"
world.add<Selected>(rock);
#line 85 "docs/guide/cpp.md"
world.remove<Velocity>(rock);
#line 86 "docs/guide/cpp.md"
world.destroy(rock);
{
#line 93 "docs/guide/cpp.md"
mica_entity door = world.create(Position{1, 0});
#line 94 "docs/guide/cpp.md"
mica_name_set(world, door, mica_nil(), "door");
#line 95 "docs/guide/cpp.md"
mica_entity found = mica_find(world, "door");
{
#line 109 "docs/guide/cpp.md"

mica_entity victory = world.create(Title{"a ship of the line with a long name", 3});
#line 111 "docs/guide/cpp.md"
world.write<Title>(victory)->text += ", first rate";
{
#line 119 "docs/guide/cpp.md"
mica_system_def def = {};
#line 120 "docs/guide/cpp.md"
def.phase = MICA_PHASE_FIXED;
#line 121 "docs/guide/cpp.md"
world.system(def, "fall", [](Velocity &velocity, const mica_frame &frame) { velocity.y -= 10 * frame.dt; });
{
#line 133 "docs/guide/cpp.md"

mica_entity orc = world.create(Health{3, 10});
#line 135 "docs/guide/cpp.md"
mica_enable_id(world, orc, mica::id<Health>(), false);
}}}}}}
    return samples_reports != 0;
}
