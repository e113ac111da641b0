// mica/mica.hpp: types that own memory live and die in step, and parameters of functions ask for what they say.
#include "mica/mica.hpp"
#include "mica/snapshot.h"
#include "mica/hierarchy.h"
#include "mica/value.h"
#include "support/test.h"

#include <atomic>
#include <stdexcept>
#include <string>

namespace {

// Counts its living instances, and refuses the copy it is told to refuse.
struct Owner {
    static inline int living, copies_left;
    std::string text;
    Owner() { ++living; }
    explicit Owner(const char *value) : text(value) { ++living; }
    Owner(const Owner &other) : text(other.text)
    {
        if (copies_left-- == 0)
            throw std::runtime_error("no copy");
        ++living;
    }
    Owner(Owner &&other) noexcept : text(std::move(other.text)) { ++living; }
    Owner &operator=(const Owner &) = default;
    ~Owner() { --living; }
};
struct Point { float x, y; };
struct Box { Point corners[2]; int color = 7; };
struct Speed { float value; };
struct MoveOnly { std::unique_ptr<int> value; };
struct Clock { int ticks; };
struct Shield { int strength; };
struct Vigour { int current; };

struct Road { float meters; };
MICA_RELATION(Road, meters)
MICA_RELATION(Admires)
MICA_RELATION_WITH(LiesIn, (type.exclusive = true, type.acyclic = true))
MICA_STRUCT(Point, x, y)
MICA_COMPONENT(Box, corners, color)
MICA_OPAQUE(Owner, (void()))
MICA_POOL(Speed, value)
MICA_OPAQUE(MoveOnly, (void()))
MICA_SINGLETON(Clock, ticks)
MICA_TAG(Frozen)
MICA_COMPONENT_WITH(Shield, (type.toggle = true, type.track_added = true), strength)
MICA_COMPONENT_WITH(Vigour, (type.track_changed = true), current)
MICA_POOL_TAG(Marked)
struct Turret { int range; };
MICA_COMPONENT_WITH(Turret, (type.required = mica::types<Shield, Speed, Marked>()), range)
struct Vault { std::string content; };
MICA_OPAQUE(Vault, (type.storage = MICA_STORAGE_POOL))
struct Archive { std::string content; };
MICA_OPAQUE(Archive, (type.storage = MICA_STORAGE_SINGLETON))
struct Sunk { int depth; };
MICA_COMPONENT_WITH(Sunk, (type.excludes = mica::types<Shield, Speed>()), depth)
struct Person {
    mica::text name;
    mica::list<float> scores;
    mica::list<Point> corners;
    mica::list<mica::text> titles;
    mica::list<mica_entity> friends;
};
MICA_COMPONENT(Person, name, scores, corners, titles, friends)
struct Gauge { float level; double rate; int other; };
MICA_COMPONENT(Gauge, (level, attributes.unit = "m", attributes.maximum = 10, attributes.initial = 4),
               (rate, attributes.minimum = -1, attributes.maximum = 1), other)
struct Buff {
    int kind;
};
MICA_POOL_WITH(Buff, (type.many = true), kind)

void stay_silent(const mica_report *, void *) {}

mica_world_def silent()
{
    mica_world_def def = mica_world_def_default();
    def.report = stay_silent;
    return def;
}

START_TEST(required_components_come_along)
{
    mica::world world;
    mica_entity entity = world.create(Turret{5});
    ck_assert(world.has<Shield>(entity) && world.has<Speed>(entity) && world.has<Marked>(entity));
    ck_assert_int_eq(world.read<Turret>(entity)->range, 5);
    mica_entity other = world.create(Shield{3});
    ck_assert(world.set(other, Turret{4}));
    ck_assert(world.read<Shield>(other)->strength == 3 && world.has<Marked>(other));
}
END_TEST

START_TEST(components_exclude_each_other)
{
    const mica_world_def def = silent();
    mica::world world(&def);
    mica_entity entity = world.create(Sunk{5});
    ck_assert(!world.set(entity, Shield{3}) && !world.set(entity, Speed{1}) && !world.set(entity, Turret{1}));
    ck_assert(world.remove<Sunk>(entity) && world.set(entity, Turret{1}));
    ck_assert(!world.set(entity, Sunk{1}));
    ck_assert_int_eq(mica_world_validate(world.get()), MICA_OK);
}
END_TEST

START_TEST(opaque_pools_and_singletons_own_what_they_hold)
{
    mica::world world;
    const std::string lengthy(100, 'x');
    mica_entity entity = world.create(Vault{lengthy});
    ck_assert_str_eq(world.read<Vault>(mica_clone(world, entity))->content.c_str(), lengthy.c_str());
    world.write_the<Archive>()->content = lengthy;
    ck_assert_str_eq(world.read_the<Archive>()->content.c_str(), lengthy.c_str());
}
END_TEST

START_TEST(values_that_own_memory_live_as_long_as_their_entities)
{
    Owner::living = 0;
    Owner::copies_left = 1000;
    {
        mica::world world;
        const std::string lengthy(100, 'x'); // beyond what a string keeps in itself
        mica_entity entities[50];
        for (mica_entity &entity : entities)
            entity = world.create(Owner(lengthy.c_str()));
        ck_assert_int_eq(Owner::living, 50);
        for (int i = 0; i < 50; i += 2)
            ck_assert(world.set(entities[i], Box{})); // moves the row
        world.destroy(entities[0]);
        ck_assert_int_eq(Owner::living, 49);
        for (int i = 1; i < 50; ++i)
            ck_assert_str_eq(world.read<Owner>(entities[i])->text.c_str(), lengthy.c_str());
        ck_assert(world.remove<Owner>(entities[1]));
        ck_assert_int_eq(Owner::living, 48);
    }
    ck_assert_int_eq(Owner::living, 0);
}
END_TEST

START_TEST(a_constructor_that_throws_leaves_the_world_as_it_was)
{
    Owner::living = 0;
    mica_world_def def = silent();
    mica::world world(&def);
    uint64_t before = world.hash();
    Owner original("a");
    Owner::copies_left = 0;
    ck_assert(mica_is_nil(world.create(original)));
    ck_assert_int_eq(Owner::living, 1);
    ck_assert_uint_eq(world.hash(), before);
    ck_assert(mica_world_validate(world) == MICA_OK);
}
END_TEST

START_TEST(a_type_that_only_moves_is_added_and_never_copied)
{
    mica_world_def def = silent();
    mica::world world(&def);
    mica_entity entity = world.create();
    *world.add<MoveOnly>(entity) = MoveOnly{std::make_unique<int>(42)};
    ck_assert(mica_is_nil(mica_clone(world, entity)));
    ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
    world.add<Frozen>(entity);
    ck_assert_int_eq(*world.read<MoveOnly>(entity)->value, 42);
}
END_TEST

START_TEST(members_start_with_the_values_their_type_gives_them)
{
    mica::world world;
    ck_assert_int_eq(world.add<Box>(world.create())->color, 7);
    ck_assert_int_eq(world.read_the<Clock>()->ticks, 0);
    world.write_the<Clock>()->ticks = 3;
    ck_assert_int_eq(world.read_the<Clock>()->ticks, 3);
}
END_TEST

START_TEST(fields_of_described_types_are_described_with_them)
{
    const mica_type &box = mica_type_for(mica::type_tag<Box>{});
    ck_assert_uint_eq(box.field_count, 2);
    ck_assert_uint_eq(box.fields[0].count, 2);
    ck_assert_ptr_eq(box.fields[0].type, &mica_type_for(mica::type_tag<Point>{}));
    ck_assert_uint_eq(box.fields[1].offset, sizeof(Point) * 2);

    mica::world one, other;
    one.create(Box{{{1, 2}, {3, 4}}, 5});
    other.create(Box{{{1, 2}, {3, 5}}, 5});
    ck_assert(one.hash() != other.hash());
}
END_TEST

START_TEST(traits_are_assignments)
{
    mica::world world;
    mica_entity entity = world.create(Shield{3});
    ck_assert(mica_enable_id(world, entity, mica::id<Shield>(), false));
    int seen = 0;
    world.each([&](const Shield &) { ++seen; });
    ck_assert_int_eq(seen, 0);
    ck_assert(mica_type_for(mica::type_tag<Shield>{}).track_added);
}
END_TEST

START_TEST(a_tracked_parameter_marks_what_it_writes)
{
    mica::world world;
    for (int i = 0; i < 100; ++i)
        world.create(Vigour{i});
    int seen = 0;
    auto hurt = world.query([&](const Vigour &vigour) { seen += vigour.current; }, mica::changed<Vigour>);
    auto weaken = world.query([](mica::tracked<Vigour> vigour) {
        if ((*vigour).current == 30 || vigour->current == 60)
            vigour.write().current = 1000;
    });
    hurt.run();
    ck_assert_int_eq(seen, 4950);
    weaken.run();
    seen = 0;
    hurt.run();
    ck_assert_int_eq(seen, 2000);
    world.query([](Vigour &) {}).run();
    ck_assert_uint_eq(hurt.count(), 100);
}
END_TEST

START_TEST(text_and_lists_are_views_and_spans)
{
    mica::world world;
    mica_entity entity = world.create(), twin;
    Person *person = world.add<Person>(entity);
    ck_assert(person->name.empty() && person->scores.empty());
    ck_assert(person->name.set("Ada") && person->name.append(std::string(40, '!')));
    std::string_view name = person->name;
    ck_assert(name.size() == 43 && person->name == std::string("Ada") + std::string(40, '!') && person->name != "Ada");
    ck_assert(std::string_view(person->name.c_str()) == name && person->name.size() == 43);
    ck_assert(person->scores.push_back(1) && person->scores.push_back(3));
    *person->scores.insert(1) = 2;
    float sum = 0;
    for (float score : person->scores)
        sum = sum * 10 + score;
    ck_assert_float_eq(sum, 123);
    ck_assert(person->scores.resize(5) && person->scores.size() == 5 && person->scores[4] == 0);
    ck_assert(person->scores.remove(0, 2) && person->scores[0] == 3 && !person->scores.remove(9));
    ck_assert(person->corners.append(2) && person->corners.size() == 2);
    person->corners.write()[1].y = 4;
    ck_assert(person->titles.append()->set("countess") && person->friends.push_back(entity));

    twin = mica_clone(world.get(), entity);
    Person *other = world.write<Person>(twin);
    other->corners.write()[1].y = 5;
    ck_assert(other->titles.write()[0].set("other"));
    const float three[] = {7, 8, 9};
    ck_assert(other->scores.assign(three, 3) && other->scores[2] == 9);
    person = world.write<Person>(entity);
    ck_assert_msg(person->corners[1].y == 4 && person->titles[0] == "countess", "a list that is shared is copied before a write");
    ck_assert(person->scores.size() == 3 && person->scores.copy(other->scores) && person->scores[0] == 7);
    char text[400];
    mica_value_write(mica_member_of(mica::id<Person>(), other), text, sizeof text);
    ck_assert_msg(std::string_view(text).find("\"scores\": [7, 8, 9], \"corners\": [{\"x\": 0, \"y\": 0}, {\"x\": 0, \"y\": 5}], "
                                              "\"titles\": [\"other\"]") != std::string_view::npos, "%s", text);
    ck_assert(mica_value_parse(mica_member_of(mica::id<Person>(), other), "{\"name\": \"x\", \"scores\": []}", nullptr) == MICA_OK);
    ck_assert(other->name == "x" && other->scores.empty());
    other->titles.clear();
    other->name.clear();
    ck_assert(other->titles.empty() && other->name.empty());
    ck_assert(mica_world_validate(world.get()) == MICA_OK);
}
END_TEST

START_TEST(attributes_are_assignments)
{
    mica::world world;
    mica_entity entity = world.create();
    const mica_type *type = mica_component_type(mica::id<Gauge>());
    const mica_attributes *level = type->fields[0].attributes, *rate = type->fields[1].attributes;
    ck_assert(level && rate && !type->fields[2].attributes);
    ck_assert_str_eq(level->unit, "m");
    ck_assert(level->maximum == 10 && level->initial == 4 && rate->minimum == -1 && !rate->unit);
    world.add<Gauge>(entity);
    ck_assert(world.read<Gauge>(entity)->level == 4);
    mica_value_error error;
    ck_assert(mica_value_parse(mica_member_of(mica::id<Gauge>(), world.write<Gauge>(entity)), "{\"level\": 11}", &error) ==
              MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "expected level from 0 to 10 m, found 11");
}
END_TEST

START_TEST(parameters_say_what_is_asked_for)
{
    mica::world world;
    mica_entity plain = world.create(Point{1, 0}), fast = world.create(Point{2, 0}, Speed{10});
    mica_entity cold = world.create(Point{4, 0}, Speed{20});
    world.add<Frozen>(cold);
    world.add<Marked>(fast);
    world.add_instance<Buff>(fast)->kind = 1;
    world.add_instance<Buff>(fast)->kind = 2;
    ck_assert(world.read<Buff>(fast)->kind == 1 && mica_pool_count(mica_pool_of_id(world, mica::id<Buff>())) == 2);

    float sum = 0;
    world.each([&](const Point &point) { sum += point.x; });
    ck_assert_float_eq(sum, 7);
    sum = 0;
    world.each([&](const Point &point, const Speed *speed) { sum += point.x + (speed ? speed->value : 100); });
    ck_assert_float_eq(sum, 7 + 100 + 10 + 20);
    world.each([](Point &point, const Speed &speed) { point.y = speed.value; }, mica::without<Frozen>);
    ck_assert_float_eq(world.read<Point>(fast)->y, 10);
    ck_assert_float_eq(world.read<Point>(cold)->y, 0);
    mica_entity found = mica_nil();
    int frozen = 0, marked = 0;
    world.each([&](const Point &, const Frozen *is_frozen, Marked *is_marked) { /* tags: only whether they are there */
        frozen += is_frozen != nullptr;
        marked += is_marked != nullptr;
    });
    ck_assert(frozen == 1 && marked == 1);
    world.each([&](mica_entity entity) { found = entity; }, mica::with<Marked>);
    ck_assert(mica_same(found, fast));
    ck_assert_uint_eq(world.query([](const Point &) {}, mica::with<Frozen>).count(), 1);
    ck_assert(!world.has<Speed>(plain));
    auto [point, speed] = world.read_several<Point, Speed>(plain);
    ck_assert(point == world.read<Point>(plain) && point != nullptr && speed == nullptr);
}
END_TEST

START_TEST(what_is_written_counts_as_changed_and_what_is_read_does_not)
{
    mica::world world;
    world.create(Point{1, 0});
    mica_term changed = {};
    changed.component = mica::id<Point>();
    changed.access = MICA_ACCESS_CHANGED;
    mica_query_def def = {};
    def.terms = &changed;
    def.term_count = 1;
    mica_query *query = mica_query_create(world, &def);
    auto is_changed = [&] {
        mica_view view = mica_query_begin(query);
        return mica_view_next(&view);
    };
    ck_assert(is_changed());
    world.each([](const Point &) {});
    ck_assert(!is_changed());
    world.each([](Point &) {});
    ck_assert(is_changed());
    mica_query_destroy(query);
}
END_TEST

START_TEST(relations_are_ranges_of_entities)
{
    mica::world world;
    mica_entity a = world.create(), b = world.create(), c = world.create();
    world.relate<Road>(a, b)->meters = 5;
    ck_assert(world.relate(a, c, Road{6}) && world.relate<Admires>(c, a) && world.relate<LiesIn>(a, b));
    float sum = 0;
    for (mica_entity target : world.targets<Road>(a))
        sum = sum * 10 + world.read_edge<Road>(a, target)->meters;
    ck_assert_float_eq(sum, 56);
    for (mica_entity source : world.sources<Road>(c))
        ck_assert(mica_same(source, a));
    for (mica_entity source : world.sources<Road>(a)) {
        (void)source;
        ck_abort();
    }
    world.write_edge<Road>(a, b)->meters = 8;
    ck_assert(world.relate<LiesIn>(a, c) && mica_same(world.target<LiesIn>(a), c));
    ck_assert(world.is_related<Admires>(c, a) && world.unrelate<Admires>(c, a) && !world.is_related<Admires>(c, a));
}
END_TEST

START_TEST(observers_are_functions_and_are_told_what_is_there)
{
    std::string told; /* outlives the world, which tells monitors when it ends */
    mica_world_def quiet = silent();
    mica::world world(&quiet);
    mica_entity first = world.create(Shield{1}), second = world.create(Shield{2}, Speed{3});
    auto note = [&told](const mica_event &event) {
        for (uint32_t i = 0; i < event.count; ++i)
            told += (event.kind == MICA_EVENT_UNMATCH ? "-" : "+") + std::to_string(event.entities[i].index) + " ";
    };
    std::string one = std::to_string(first.index), two = std::to_string(second.index);
    ck_assert(world.observe<Shield>(MICA_EVENT_ADD, note).id != 0);
    ck_assert(told.empty());
    mica_observer_def def = {};
    def.event = MICA_EVENT_ADD;
    def.component = mica::id<Shield>();
    def.existing = true;
    mica_observer added = world.observe(def, note, mica::with<Speed>);
    ck_assert(told == "+" + two + " ");
    ck_assert(mica_observer_remove(world, added));
    told.clear();
    ck_assert(world.monitor(true, note, mica::with<Shield>, mica::without<Frozen>).id != 0);
    ck_assert(told == "+" + one + " +" + two + " ");
    told.clear();
    mica_add_id(world, first, mica::id<Frozen>());
    ck_assert(told == "-" + one + " ");
    ck_assert(world.monitor(true, note, mica::without<Frozen>).id == 0); /* no term requires a component */
}
END_TEST

START_TEST(events_have_data_and_propagate)
{
    enum { ALARM = MICA_EVENT_USER };
    mica::world world;
    mica_entity root = world.create(), child = world.create();
    mica_set_parent(world, child, root);
    int sum = 0, calls = 0;
    mica_observer_def def = {};
    def.event = ALARM;
    world.observe(def, [&](const mica_event &event) {
        ck_assert(mica_same(event.target, child));
        sum += event.data ? *static_cast<const int *>(event.data) : 100;
        if (++calls == 7)
            mica_event_stop(&event);
    });
    ck_assert(world.emit(ALARM, child) && sum == 100);
    ck_assert(world.emit(ALARM, child, 5) && sum == 105);
    ck_assert(world.propagate(ALARM, child, 7) && sum == 119);
    ck_assert(world.propagate(ALARM, child) && sum == 319);
    ck_assert(world.propagate(ALARM, child, 1) && sum == 320); /* stopped */
}
END_TEST

START_TEST(recorded_events_own_the_text_of_their_data)
{
    mica::world world;
    std::string heard;
    mica_observer_def def = {};
    def.event = MICA_EVENT_USER;
    world.observe(def, [&](const mica_event &event) { heard = static_cast<const Person *>(event.data)->name.view(); });
    {
        Person person = {};
        ck_assert(person.name.set("a person with a long name"));
        mica_defer(world);
        ck_assert(world.emit(MICA_EVENT_USER, mica_nil(), person));
        person.name.clear();
    }
    ck_assert(mica_flush(world) == MICA_OK && heard == "a person with a long name");
}
END_TEST

START_TEST(systems_call_their_function_over_all_workers)
{
    mica::world world;
    for (int i = 0; i < 10000; ++i)
        world.create(Point{static_cast<float>(i), 0}, Speed{1});
    std::atomic<int> calls{0};
    mica_system_def def = {};
    def.parallel = MICA_PARALLEL_EVEN;
    ck_assert(world.system(def, "move", [&](Point &point, const Speed &speed, const mica_frame &frame) {
        point.y += speed.value * frame.dt;
        calls.fetch_add(1, std::memory_order_relaxed);
    }).id);
    ck_assert(world.step(0.5f) == MICA_OK);
    ck_assert(world.step(0.5f) == MICA_OK);
    ck_assert_int_eq(calls.load(), 20000);
    world.each([](const Point &point) { ck_assert_float_eq(point.y, 1); });
    mica_entity hidden = world.create(Box{});
    ck_assert(world.disable(hidden) && world.is_disabled(hidden));
    world.each([](const Box &) { ck_abort(); });
    ck_assert(world.enable(hidden) && !world.is_disabled(hidden));
    mica_run_def run = mica_run_def_default();
    run.frames_per_second = 0;
    run.frame_count = 3;
    ck_assert(world.run(run) == MICA_OK);
    ck_assert_int_eq(calls.load(), 50000);
    ck_assert(world.system("stop", [&](Point &, const mica_frame &) { world.stop(); }).id);
    ck_assert(world.run() == MICA_OK);
    ck_assert_int_eq(calls.load(), 60000);
}
END_TEST

START_TEST(indexes_find_by_value_and_position)
{
    mica::world world;
    for (int i = 0; i < 100; ++i)
        world.create(Point{static_cast<float>(i % 10), static_cast<float>(i / 10)}, Speed{static_cast<float>(i)});
    mica::index speeds = world.index<Speed>("value");
    mica_index_def def = {};
    def.cell_size = 2;
    def.maximum[0] = def.maximum[1] = 10;
    mica::index grid = world.index<Point>("x, y", def);
    ck_assert(speeds && grid && speeds.update() == MICA_OK && grid.update() == MICA_OK);
    ck_assert(grid.size() == 100 && !mica_is_nil(speeds.find(7.0f)) && mica_is_nil(speeds.find(-7)));
    int count = 0;
    float last = -1;
    speeds.range(10u, 19u, [&](mica_entity entity) {
        float value = world.read<Speed>(entity)->value;
        ck_assert(value > last);
        last = value;
        ++count;
    });
    ck_assert_int_eq(count, 10);
    ck_assert_uint_eq(grid.within({5, 5, 0}, 1).size(), 5);
    mica_entity entity = speeds.find(55.0);
    world.write<Point>(entity)->x = 50;
    ck_assert(grid.refresh(entity) == MICA_OK && grid.within({5, 5, 0}, 1).size() == 4);
    mica::index columns = world.index<Point>("x");
    ck_assert(columns.update() == MICA_OK);
    count = 0;
    columns.partitions([&](mica_partition &part) {
        ck_assert(part.count == (part.key.as.real == 5 ? 9u : part.key.as.real == 50 ? 1u : 10u));
        for (uint32_t i = 0; i < part.count; ++i)
            ck_assert(mica_member_next(&part) && world.read<Point>(part.entity)->x == part.key.as.real);
        ++count;
    });
    ck_assert_int_eq(count, 11);
    ck_assert(!world.index<Point>("z") && mica::index::key_of(entity).kind == MICA_KIND_ENTITY);
    ck_assert_str_eq(mica::index::key_of("anna").as.text, "anna");
}
END_TEST

START_TEST(grids_show_neighbours)
{
    mica::world world;
    mica_entity first = mica_nil();
    for (int i = 0; i < 16; ++i) {
        mica_entity entity = world.create(Point{static_cast<float>(i % 4), static_cast<float>(i / 4)});
        first = i ? first : entity;
    }
    mica_index_def def = {};
    def.cell_size = 2;
    def.maximum[0] = def.maximum[1] = 4;
    mica::index grid = world.index<Point>("x, y", def);
    ck_assert(grid.update() == MICA_OK);
    ck_assert_uint_eq(grid.around(first, 1).size(), 2);
    auto nearest = grid.nearest({0, 0, 0}, 3);
    ck_assert(nearest.size() == 3 && mica_same(nearest[0].entity, first) && nearest[2].distance_squared == 1);
    ck_assert_uint_eq(grid.nearest({0, 0, 0}, 99).size(), 16);
    std::atomic<uint32_t> pairs = 0, sides = 0;
    auto count_pairs = [&](mica_entity, const mica_neighbour *, uint32_t count) { pairs += count; };
    ck_assert(grid.each_near(1, count_pairs, true) == MICA_OK);
    ck_assert(grid.each_near(1, [&](mica_entity, const mica_neighbour *, uint32_t count) { sides += count; }) == MICA_OK);
    ck_assert(pairs == 24 && sides == 48);
}
END_TEST

START_TEST(queries_join_entities_along_edges)
{
    enum { TOWN = 1, LAND };
    mica::world world;
    mica_entity lands[2], towns[3], people[6];
    for (int i = 0; i < 2; ++i)
        lands[i] = world.create(Box{});
    for (int i = 0; i < 3; ++i) {
        towns[i] = world.create(Shield{i}, Vigour{0});
        world.relate<LiesIn>(towns[i], lands[i / 2]);
    }
    for (int i = 0; i < 6; ++i) {
        people[i] = world.create(Point{0, 0});
        world.relate<LiesIn>(people[i], towns[i % 3]);
    }
    uint32_t count = 0;
    auto visit = world.query(
        [&](mica_entity person, Point &point, mica::about<TOWN, const Shield> shield, mica::about<TOWN, Vigour> vigour,
            mica::bound<LAND> land) {
            point.x = static_cast<float>(shield->strength + 1);
            vigour->current += 1;
            ck_assert(world.is_related<LiesIn>(person, towns[(*shield).strength]));
            ck_assert(mica_same(land, lands[shield->strength / 2]));
            ++count;
        },
        mica::edge<LiesIn, 0, TOWN>, mica::edge<LiesIn, TOWN, LAND>, mica::with_of<LAND, Box>,
        mica::without_of<TOWN, Frozen>);
    visit.run();
    ck_assert_uint_eq(count, 6);
    for (int i = 0; i < 6; ++i)
        ck_assert(world.read<Point>(people[i])->x == static_cast<float>(i % 3 + 1));
    for (mica_entity town : towns)
        ck_assert_int_eq(world.read<Vigour>(town)->current, 2);
    world.add<Frozen>(towns[0]);
    visit.run();
    ck_assert_uint_eq(count, 10);
    ck_assert_int_eq(mica_set_parent(world, people[0], towns[2]), MICA_OK); /* the hierarchy is a relation too */
    count = 0;
    world.each([&](mica_entity person, mica::about<TOWN, const Shield> shield) {
        ck_assert(mica_same(person, people[0]) && shield->strength == 2);
        ++count;
    }, mica::edge<mica_child_of, 0, TOWN>);
    ck_assert(count == 1 && mica_same(world.target<mica_child_of>(people[0]), towns[2]));
}
END_TEST

START_TEST(parameters_are_singletons_and_fields_of_edges)
{
    mica::world world;
    world.write_the<Clock>()->ticks = 5;
    mica_entity hub = world.create();
    for (int i = 0; i < 100; ++i) {
        mica_entity town = world.create(Point{0, 0});
        world.relate(town, hub, Road{static_cast<float>(i)});
    }
    int sum = 0;
    world.each([&](Point &point, const Clock &clock) {
        point.x = static_cast<float>(clock.ticks);
        sum += clock.ticks;
    });
    ck_assert_int_eq(sum, 500);
    float meters = 0;
    world.each([&](mica_entity town, mica::along<const Road, 0, 1> road, mica::bound<1> end) {
        ck_assert(world.read_edge<Road>(town, end)->meters == (*road).meters);
        meters += road->meters;
    });
    world.each([](mica::along<Road, 0, 1> road) { road->meters += 1; });
    ck_assert(world.read_edge<Road>(*world.sources<Road>(hub).begin(), hub)->meters == 1);
    ck_assert(meters == 4950);
}
END_TEST

START_TEST(entities_are_copied_hidden_and_written_as_text)
{
    mica::world world;
    mica_entity parent = world.create(Point{1, 2}), child = world.create(Point{3, 4});
    ck_assert(mica_set_parent(world, child, parent) == MICA_OK);
    mica_entity copy = world.clone(parent), tree = world.clone_tree(parent);
    ck_assert(mica_child_count(world, copy) == 0 && mica_child_count(world, tree) == 1);
    ck_assert(world.read<Point>(copy)->y == 2);
    ck_assert(world.disable_tree(parent) == 2 && world.is_disabled(child));
    ck_assert(world.enable_tree(parent) == 2 && !world.is_disabled(child));
    std::string text = world.to_json(copy);
    ck_assert_str_eq(text.c_str(), "{\"components\": {\"Point\": {\"x\": 1, \"y\": 2}}}");
    mica_entity other = world.create();
    ck_assert(world.from_json(other, text.c_str()) == MICA_OK && world.to_json(other) == text);
    mica_value_error error = {};
    ck_assert(world.from_json(other, "{\"components\": 5}", &error) != MICA_OK && error.position > 0);
    world.destroy(other);
    ck_assert(world.to_json(other).empty());
}
END_TEST

} // namespace

TEST_SUITE(cpp_wrapper, entities_are_copied_hidden_and_written_as_text, grids_show_neighbours, queries_join_entities_along_edges, parameters_are_singletons_and_fields_of_edges, indexes_find_by_value_and_position, required_components_come_along, components_exclude_each_other, opaque_pools_and_singletons_own_what_they_hold, values_that_own_memory_live_as_long_as_their_entities,
           a_constructor_that_throws_leaves_the_world_as_it_was, a_type_that_only_moves_is_added_and_never_copied,
           members_start_with_the_values_their_type_gives_them, fields_of_described_types_are_described_with_them,
           traits_are_assignments, a_tracked_parameter_marks_what_it_writes, text_and_lists_are_views_and_spans, attributes_are_assignments, parameters_say_what_is_asked_for, relations_are_ranges_of_entities, what_is_written_counts_as_changed_and_what_is_read_does_not,
           observers_are_functions_and_are_told_what_is_there, events_have_data_and_propagate,
           recorded_events_own_the_text_of_their_data,
           systems_call_their_function_over_all_workers)
