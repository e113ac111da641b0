// Options of systems, queries, observers and indexes in C++: each does what its field of a def struct does.
#include "mica/mica.hpp"
#include "support/test.h"

#include <string>

namespace {

struct Point { float x, y; };
struct Speed { float value; };
struct Shield { int strength; };
struct Place { Point at; int owner; };
struct Body { float mass; int kind; };
MICA_STRUCT(Point, x, y)
MICA_COMPONENT(Speed, value)
MICA_COMPONENT_WITH(Shield, (type.toggle = true), strength)
MICA_COMPONENT(Place, at, owner)
MICA_COMPONENT_WITH(Body, (type.split = true), mass, kind)
MICA_TAG(Frozen)
MICA_RELATION(Admires)
struct Road { float meters; };
MICA_RELATION(Road, meters)

struct Hit { static constexpr int event = MICA_EVENT_USER; int points; };
struct Noise { static constexpr int event = MICA_EVENT_USER + 1; };

void stay_silent(const mica_report *, void *) {}

mica_world_def silent()
{
    mica_world_def def = mica_world_def_default();
    def.report = stay_silent;
    return def;
}

START_TEST(options_order_systems)
{
    mica::world world;
    std::string order;
    world.system("c", [&order](const mica_frame &) { order += 'c'; }, mica::once, mica::exclusive, mica::after("a", "b"));
    world.system("b", [&order](const mica_frame &) { order += 'b'; }, mica::exclusive, mica::before("c"), mica::after("a"));
    world.system("a", [&order](const mica_frame &) { order += 'a'; }, mica::exclusive);
    world.system("early", [&order](const mica_frame &) { order += 'e'; }, mica::exclusive, mica::in_phase(MICA_PHASE_BEGIN));
    world.system("second", [&order](const mica_frame &) { order += '2'; }, mica::exclusive, mica::after("c"),
                 mica::every_frames(2));
    world.system("slow", [&order](const mica_frame &) { order += 's'; }, mica::exclusive, mica::after("second"),
                 mica::every_seconds(2.5));
    world.system("never", [&order](const mica_frame &) { order += 'n'; }, mica::exclusive, mica::starts_disabled);
    world.system("late", [&order](const mica_frame &) { order += 'l'; }, mica::exclusive, mica::after("slow"),
                 mica::when([](const mica_frame *frame) { return frame->tick >= 2; }));
    for (int frame = 0; frame < 3; ++frame) {
        world.step(1);
        order += ' ';
    }
    ck_assert_str_eq(order.c_str(), "eabc2 eabc eabc2sl ");
}
END_TEST

START_TEST(a_system_declares_what_it_accesses)
{
    mica_world_def def = silent();
    mica::world world(&def);
    mica_entity target = world.create(Speed{3});
    mica_entity point = world.create(Point{0, 0});
    world.system("copy", [&](Point &at) { at.x = world.read<Speed>(target)->value; }, mica::reads<Speed>,
                 mica::parallel(MICA_PARALLEL_NONE));
    world.system("raise", [&](const Point &) { world.write<Speed>(target)->value += 1; }, mica::writes<Speed>, mica::after("copy"),
                 mica::priority(3));
    world.step(1);
    ck_assert_float_eq(world.read<Point>(point)->x, 3);
    ck_assert_float_eq(world.read<Speed>(target)->value, 4);
    std::string graph(mica_graph_write(world, MICA_GRAPH_TEXT, nullptr, 0), ' ');
    mica_graph_write(world, MICA_GRAPH_TEXT, graph.data(), graph.size() + 1);
    ck_assert_msg(graph.find("raise  waits for copy") != std::string::npos, "%s", graph.c_str());
}
END_TEST

START_TEST(a_def_is_what_options_begin_with)
{
    mica::world world;
    mica_system_def def = {};
    const char *name = "first";
    def.after[0] = name;
    const mica_use use = {mica::id<Shield>(), nullptr, false, nullptr};
    def.uses = &use;
    def.use_count = 1;
    std::string order;
    world.system(def, "third", [&order](const mica_frame &) { order += '3'; }, mica::exclusive, mica::after("second"), mica::reads<Speed>);
    world.system("second", [&order](const mica_frame &) { order += '2'; }, mica::exclusive);
    world.system("first", [&order](const mica_frame &) { order += '1'; }, mica::exclusive);
    world.step(1);
    ck_assert_int_eq(order.back(), '3');
    ck_assert_uint_eq(order.size(), 3);
}
END_TEST

START_TEST(systems_see_what_was_recorded_before_and_hidden_entities)
{
    mica::world world;
    mica_entity hidden = world.create(Speed{1});
    world.disable(hidden);
    int seen = 0, hidden_seen = 0, paused = 0;
    world.system("create", [&world](const mica_frame &) { world.create(Point{1, 1}); }, mica::once);
    world.system("look", [&seen](const Point &) { ++seen; }, mica::flush_first, mica::parallel(MICA_PARALLEL_EVERY, 64));
    world.system("hidden", [&hidden_seen](const Speed &) { ++hidden_seen; }, mica::with_hidden);
    world.system("paused", [&paused](const mica_frame &) { ++paused; }, mica::once, mica::while_paused);
    world.step(1);
    ck_assert_int_eq(seen, 1);
    ck_assert_int_eq(hidden_seen, 1);
    ck_assert_int_eq(paused, 1);
    int found = 0;
    world.each([&found](const Speed &) { ++found; });
    ck_assert_int_eq(found, 0);
    world.each([&found](const Speed &) { ++found; }, mica::with_hidden);
    ck_assert_int_eq(found, 1);
}
END_TEST

START_TEST(rows_are_sorted)
{
    mica::world world;
    for (float value : {3.0f, 1.0f, 2.0f})
        world.create(Speed{value});
    world.add<Frozen>(world.create(Speed{0}));
    std::string order;
    const float sign = -1;
    auto falling = mica::sorted_by<Speed>([sign](const Speed &a, const Speed &b) { return sign * a.value < sign * b.value; });
    auto query = world.query([&order](const Speed &speed) { order += std::to_string(static_cast<int>(speed.value)); }, falling);
    query.run();
    ck_assert_str_eq(order.c_str(), "3210");
    order.clear();
    world.system("list", [&order](const Speed &speed) { order += std::to_string(static_cast<int>(speed.value)); },
                 mica::sorted_by<Speed>([](const Speed &a, const Speed &b) { return a.value < b.value; }));
    world.step(1);
    ck_assert_str_eq(order.c_str(), "0123");
}
END_TEST

START_TEST(observers_take_entities_values_and_targets)
{
    mica::world world;
    mica_entity old = world.create(Shield{1});
    std::string told;
    int sum = 0;
    ck_assert(world.on_add<Shield>([&](mica_entity entity, Shield &shield) { sum += ++shield.strength + (entity.index == old.index); },
                                   mica::existing).id);
    ck_assert_int_eq(sum, 3);
    world.on_set<Shield>([&](mica_entity, const Shield &shield) { told += 's' + std::to_string(shield.strength); });
    world.on_remove<Shield>([&](mica_entity) { told += 'r'; }, mica::without<Frozen>);
    world.on_enable<Shield>([&](const mica_event &event) { told += event.kind == MICA_EVENT_ENABLE ? 'e' : '?'; });
    world.on_disable<Shield>([&](mica_entity) { told += 'd'; });
    world.on_destroy([&](mica_entity) { told += 'x'; });
    world.on_match([&](mica_entity) { told += 'm'; }, mica::with<Shield>, mica::with<Frozen>);
    world.on_unmatch([&](mica_entity) { told += 'u'; }, mica::with<Shield>, mica::with<Frozen>);
    world.set(old, Shield{7});
    mica_enable_id(world, old, mica::id<Shield>(), false);
    mica_enable_id(world, old, mica::id<Shield>(), true);
    world.add<Frozen>(old);
    world.remove<Frozen>(old);
    world.remove<Shield>(old);
    world.destroy(old);
    ck_assert_str_eq(told.c_str(), "s7demurx");

    mica_entity anna = world.create(), bert = world.create();
    mica_entity source = mica_nil(), target = mica_nil();
    world.on_add<Admires>([&](mica_entity from, mica_entity to) { source = from, target = to; });
    world.relate<Admires>(anna, bert);
    ck_assert(mica_same(source, anna) && mica_same(target, bert));
    float meters = 0;
    world.on_set<Road>([&](mica_entity, const Road &road) { meters += road.meters; });
    world.relate(anna, bert, Road{5});
    world.relate(anna, old = world.create(), Road{6});
    ck_assert_float_eq(meters, 11);
}
END_TEST

START_TEST(observers_of_values_that_are_not_there_are_refused)
{
    const mica_world_def def = silent();
    mica::world world(&def);
    ck_assert(!world.on_add<Body>([](mica_entity, Body &) {}).id);
    ck_assert(world.on_add<Body>([](mica_entity) {}).id);
    ck_assert(!world.on_match([](mica_entity) {}).id); // nothing to match
}
END_TEST

START_TEST(user_events_have_types)
{
    mica::world world;
    mica_entity parent = world.create(Shield{1}), child = world.create(Shield{2});
    mica_set_parent(world, child, parent);
    std::string told;
    world.on<Hit>([&](mica_entity at, const Hit &hit) {
        told += std::to_string(hit.points) + (mica_same(at, child) ? 'c' : 'p');
    });
    world.on<Hit>([&](const Hit &hit) { told += hit.points > 4 ? '!' : '.'; }, mica::with<Frozen>);
    world.on<Noise>([&](const mica_event &event) { told += event.count == 0 ? '0' : 'n'; });
    ck_assert(world.emit(child, Hit{5}));
    ck_assert(world.propagate(child, Hit{3}));
    world.add<Frozen>(parent);
    ck_assert(world.emit(parent, Hit{6}));
    ck_assert(world.emit(parent, Noise{}));
    world.emit(static_cast<mica_event_kind>(Hit::event), child); // without data, which only whole events show
    ck_assert_str_eq(told.c_str(), "5c3c3p6p!n");
}
END_TEST

START_TEST(indexes_and_grids_are_of_members)
{
    mica_world_def def = silent();
    mica::world world(&def);
    mica::index by_owner = world.index<&Place::owner>(mica::hashed, mica::unique);
    mica::index grid = world.grid<&Point::x, &Point::y>(2, {0, 0}, {10, 10}, mica::torus);
    mica::index places = world.grid<Place>("at.x, at.y", 2, {0, 0}, {10, 10});
    ck_assert(by_owner && grid && places);
    mica_entity near = world.create(Point{0.5f, 5}), across = world.create(Point{9.5f, 5}), place = world.create(Place{{1, 1}, 7});
    (void)across;
    grid.update();
    by_owner.update();
    places.update();
    ck_assert_uint_eq(grid.within(mica::point(0, 5), 1).size(), 2); // the bounds are the same place
    ck_assert_uint_eq(places.within(mica::point(1, 1), 1).size(), 1);
    ck_assert_uint_eq(mica_grid_within(places, mica::point(1, 1), 1, nullptr, 0), 1); // functions of C take it, too
    ck_assert(mica_same(by_owner.find(7), place));
    world.create(Place{{1, 1}, 7});
    ck_assert_int_eq(by_owner.update(), MICA_ERROR_EXISTS);
    int neighbours = 0;
    world.system("count", [&](const mica_frame &) {
        grid.each_near(1.5, [&](mica_entity entity, const mica_neighbour *, uint32_t count) {
            neighbours += mica_same(entity, near) ? static_cast<int>(count) : 0;
        });
    }, mica::once, mica::uses(grid));
    world.step(1);
    ck_assert_int_eq(neighbours, 1);
    ck_assert(!world.grid<Place>("at.z, at.y", 2, {0, 0}, {10, 10}));
}
END_TEST

} // namespace

TEST_SUITE(cpp_options, options_order_systems, a_system_declares_what_it_accesses, a_def_is_what_options_begin_with,
           systems_see_what_was_recorded_before_and_hidden_entities, rows_are_sorted, observers_take_entities_values_and_targets,
           observers_of_values_that_are_not_there_are_refused, user_events_have_types, indexes_and_grids_are_of_members)
