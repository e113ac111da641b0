#include "mica/flow.h"
#include <stdio.h>

static int samples_reports;
static void samples_report(const mica_report *report, void *context)
{
    (void)context;
    ++samples_reports;
    fprintf(stderr, "%s:%d: reported: %s\n", report->location.file ? report->location.file : "?", report->location.line, report->text);
}
static mica_world *world;
#include "mica/hierarchy.h"
#include "mica/pool.h"
typedef struct Position { float x, y, z; } Position;
typedef struct Velocity { float x, y, z; } Velocity;
MICA_COMPONENT(Position, x, y, z)
MICA_COMPONENT(Velocity, x, y, z)
static mica_entity ship, enemy;
static void before_samples(void)
{
    ship = mica_create(world, MICA_WITH(Position, {0, 0, 0}));
    enemy = mica_create(world, MICA_WITH(Position, {9, 0, 0}));
}

#line 61 "docs/guide/concepts.md"
typedef struct Vec3 { float x, y, z; } Vec3;
#line 62 "docs/guide/concepts.md"
MICA_STRUCT(Vec3, x, y, z)
#line 63 "docs/guide/concepts.md"

typedef enum Mood { CALM, ANGRY } Mood;
#line 65 "docs/guide/concepts.md"
MICA_ENUM(Mood, CALM, ANGRY)
#line 66 "docs/guide/concepts.md"

typedef struct Monster {
    Vec3 home;
    Mood mood;
    mica_entity target;
    char title[16];
    void *sprite;
} Monster;
#line 74 "docs/guide/concepts.md"
MICA_COMPONENT(Monster, (home, Vec3), (mood, Mood), target, title)
#line 93 "docs/guide/concepts.md"
typedef struct Health { int current, maximum; } Health;
#line 94 "docs/guide/concepts.md"
MICA_COMPONENT_WITH(Health, (.toggle = true, .track_added = true), current, maximum)
#line 95 "docs/guide/concepts.md"
MICA_TAG(Frozen)
#line 96 "docs/guide/concepts.md"
typedef struct Clock { double seconds; } Clock;
#line 97 "docs/guide/concepts.md"
MICA_SINGLETON(Clock, seconds)
#line 126 "docs/guide/concepts.md"
typedef struct Burning { float seconds; } Burning;
#line 127 "docs/guide/concepts.md"
MICA_POOL(Burning, seconds)
#line 146 "docs/guide/concepts.md"
typedef struct Buff { int kind; float amount; } Buff;
#line 147 "docs/guide/concepts.md"
MICA_POOL_WITH(Buff, (.many = true), kind, amount)
int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = samples_report;
    world = mica_world_create(&def);
before_samples();
{
#line 25 "docs/guide/concepts.md"
mica_entity rock = mica_create(world, MICA_WITH(Position, {5, 5, 0}));
#line 26 "docs/guide/concepts.md"
mica_set(world, rock, Velocity, {1, 0, 0});          /* adds or overwrites it */
#line 27 "docs/guide/concepts.md"
mica_write(world, rock, Position)->x += 1;           /* for writing */
#line 28 "docs/guide/concepts.md"
float x = mica_get(world, rock, Position)->x;        /* for reading; NULL if it is absent */
#line 29 "docs/guide/concepts.md"
mica_remove(world, rock, Velocity);
#line 30 "docs/guide/concepts.md"
mica_destroy(world, rock);
#line 31 "docs/guide/concepts.md"
bool is_alive = mica_is_alive(world, rock);          /* false */
{
#line 40 "docs/guide/concepts.md"
mica_ref target = mica_ref_of(enemy, Position);
#line 41 "docs/guide/concepts.md"
mica_create(world, MICA_WITH(Velocity, {0, 0, 0})); /* something changes */
#line 42 "docs/guide/concepts.md"
const Position *there = mica_ref_read(world, &target, Position); /* NULL if it no longer exists */
{
#line 49 "docs/guide/concepts.md"
mica_entity turret = mica_create_child(world, ship, MICA_WITH(Position, {0, 1, 0}));
#line 50 "docs/guide/concepts.md"
mica_name_set(world, ship, mica_nil(), "ship");
#line 51 "docs/guide/concepts.md"
mica_name_child(world, turret, "turret");
#line 52 "docs/guide/concepts.md"
mica_entity found = mica_find(world, "ship/turret");
{
#line 98 "docs/guide/concepts.md"

mica_set(world, ship, Health, {5, 10});
#line 100 "docs/guide/concepts.md"
mica_disable(world, ship, Health);       /* queries skip it; the value is kept */
#line 101 "docs/guide/concepts.md"
mica_enable(world, ship, Health);
#line 102 "docs/guide/concepts.md"
mica_add(world, ship, Frozen);
#line 103 "docs/guide/concepts.md"
mica_singleton_write(world, Clock)->seconds += 1;
{
#line 128 "docs/guide/concepts.md"

mica_set(world, enemy, Burning, {3}); /* the row of the enemy in its archetype does not move */
{
#line 148 "docs/guide/concepts.md"

mica_pool *buffs = mica_pool_of(world, Buff);
#line 150 "docs/guide/concepts.md"
for (int kind = 0; kind < 3; ++kind)
    *mica_instance_write(buffs, mica_pool_add(buffs, ship), Buff) = (Buff){kind, 1};
#line 152 "docs/guide/concepts.md"
float sum = 0;
#line 153 "docs/guide/concepts.md"
mica_instance buff = mica_pool_find(buffs, ship);
#line 154 "docs/guide/concepts.md"
for (; !mica_instance_is_nil(buff); buff = mica_pool_next(buffs, buff))
    sum += mica_instance_read(buffs, buff, Buff)->amount;
{
#line 164 "docs/guide/concepts.md"
mica_world_def def = mica_world_def_default();
#line 165 "docs/guide/concepts.md"
def.dead_target = MICA_DEAD_TARGET_IGNORE; /* for recorded changes of entities that were destroyed meanwhile */
#line 166 "docs/guide/concepts.md"
mica_world *other = mica_world_create(&def);
#line 167 "docs/guide/concepts.md"
mica_world_destroy(other);
{
#line 179 "docs/guide/concepts.md"
mica_query *frozen = mica_query_create(world, MICA_QUERY(MICA_HAS(Frozen)));
#line 180 "docs/guide/concepts.md"
mica_defer(world);
#line 181 "docs/guide/concepts.md"
for (mica_view view = mica_query_begin(frozen); mica_view_next(&view);)
    for (uint32_t i = 0; i < view.count; ++i)
        mica_remove(world, view.entities[i], Frozen);
#line 184 "docs/guide/concepts.md"
mica_flush(world);
{
#line 196 "docs/guide/concepts.md"
mica_version before = mica_world_mark(world);
#line 197 "docs/guide/concepts.md"
mica_write(world, ship, Position)->x += 1;
#line 198 "docs/guide/concepts.md"
mica_query *moved = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_CHANGED(Position)));
#line 199 "docs/guide/concepts.md"
for (mica_view view = mica_query_begin_since(moved, before); mica_view_next(&view);)
    printf("%u rows to look at\n", view.count);
}}}}}}}}}
    mica_world_destroy(world);
    return samples_reports != 0;
}
