/* Prefabs in code: instances follow them field by field, also nested ones, through snapshots, files, deltas and failures. */
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/delta.h"
#include "mica/disable.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/prefab.h"
#include "mica/relation.h"
#include "mica/snapshot.h"
#include "mica/value.h"

#include "base/block_heap.h"
#include "resource/prefab/prefab.h"

#include <string.h>

typedef struct Health { float points, armor; } Health;
MICA_COMPONENT(Health, points, armor)
typedef struct Gun { mica_text label; mica_entity mount; uint32_t shots[2]; } Gun;
MICA_POOL(Gun, label, mount, shots)
typedef struct Fast { char unused; } Fast;
MICA_TAG(Fast)
MICA_RELATION(PointsAt)

typedef struct Engine { float power; } Engine;
typedef struct Fuel { float liters; } Fuel;
MICA_COMPONENT(Fuel, (liters, float, .initial = 7))
MICA_COMPONENT_WITH(Engine, (.required = MICA_TYPES(Fuel)), power)

static reports heard;
static const char long_label[] = "a label that does not lie in place";

static void define_all(mica_world *world)
{
    mica_define(world, Health);
    mica_define(world, Gun);
    mica_define(world, Fast);
    mica_define(world, PointsAt);
    REQUIRE(mica_prefab_define(world));
}

static mica_world *open_prefabs(void)
{
    mica_world *world = open_world(&heard);
    define_all(world);
    return world;
}

/* A tank with a turret, which has a gun. */
static mica_entity make_tank(mica_world *world)
{
    mica_entity tank = mica_create(world, MICA_WITH(Health, {100, 5}));
    mica_entity turret = mica_create_child(world, tank, MICA_WITH(Health, {20, 1}));
    mica_entity gun = mica_create_child(
        world, turret, MICA_WITH(Gun, {.label = mica_text_of(long_label), .mount = turret, .shots = {3, 4}}));
    REQUIRE(mica_name_set(world, tank, mica_nil(), "tank") == MICA_OK);
    REQUIRE(mica_name_child(world, turret, "turret") == MICA_OK && mica_name_child(world, gun, "gun") == MICA_OK);
    REQUIRE(mica_relate_id(world, gun, MICA_ID(PointsAt), tank));
    return tank;
}

static mica_entity make_prefab(mica_world *world)
{
    mica_entity tank = make_tank(world);
    REQUIRE(mica_prefab_create(world, tank, NULL) == MICA_OK);
    return tank;
}

static void update(mica_world *world, mica_entity prefab)
{
    ck_assert_int_eq(mica_prefab_update(world, prefab, NULL, NULL), MICA_OK);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
}

START_TEST(a_prefab_is_hidden_and_its_instances_are_whole)
{
    mica_world *world = open_prefabs();
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_READ(Health)));
    mica_entity tank = make_tank(world);
    ck_assert_uint_eq(mica_query_count(all), 2);
    ck_assert_int_eq(mica_prefab_create(world, tank, NULL), MICA_OK);
    ck_assert_uint_eq(mica_query_count(all), 0);
    mica_entity others[4], place = mica_create(world);
    mica_entity one = mica_prefab_spawn(world, tank, NULL);
    mica_prefab_spawn_def def = {.parent = place, .count = 4, .out_entities = others, .is_copy = true};
    ck_assert(mica_same(mica_prefab_spawn(world, tank, &def), others[0]));
    ck_assert_uint_eq(mica_query_count(all), 10);
    ck_assert(mica_child_count(world, place) == 4 && mica_same(mica_parent(world, others[3]), place));
    for (uint32_t i = 0; i < 2; ++i) {
        mica_entity instance = i ? others[2] : one;
        mica_entity turret = mica_prefab_part(world, instance, "turret"),
                    gun = mica_prefab_part(world, instance, "turret/gun");
        ck_assert(mica_same(mica_parent(world, gun), turret) && mica_same(mica_parent(world, turret), instance));
        ck_assert(mica_same(mica_prefab_of(world, instance), tank) && mica_prefab_relation());
        ck_assert(mica_same(mica_prefab_of(world, gun), mica_find(world, "tank/turret/gun")));
        ck_assert(mica_get(world, turret, Health)->points == 20 && mica_get(world, gun, Gun)->shots[1] == 4);
        ck_assert(mica_text_is(&mica_get(world, gun, Gun)->label, long_label));
        ck_assert(mica_same(mica_get(world, gun, Gun)->mount, turret)); /* its own */
        ck_assert(mica_is_related(world, gun, PointsAt, instance) && mica_target_count(world, gun, PointsAt) == 1);
        ck_assert_ptr_null(mica_name_get(world, instance));
        ck_assert(mica_same(mica_find_from(world, instance, "turret/gun"), gun));
        ck_assert(mica_same(mica_prefab_part(world, instance, ""), instance));
        mica_name_child(world, turret, "renamed"); /* it is still that part */
        ck_assert(mica_same(mica_prefab_part(world, instance, "turret/gun"), gun));
        ck_assert(mica_is_nil(mica_prefab_part(world, instance, "turret/none/gun")) &&
                  mica_is_nil(mica_prefab_part(world, instance, "tur")));
    }
    ck_assert(mica_is_nil(mica_prefab_of(world, place)) && mica_is_nil(mica_prefab_part(world, place, "turret")));
    mica_destroy(world, mica_prefab_part(world, one, "turret/gun"));
    ck_assert(mica_is_nil(mica_prefab_part(world, one, "turret/gun")));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(instances_follow_field_by_field_unless_overridden)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), turret = mica_find(world, "tank/turret"),
                gun = mica_find(world, "tank/turret/gun");
    mica_entity one = mica_prefab_spawn(world, tank, NULL), two = mica_prefab_spawn(world, tank, NULL);
    mica_entity copy = mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.is_copy = true});
    mica_write(world, one, Health)->points = 50;
    mica_text_set(&mica_write(world, mica_prefab_part(world, one, "turret/gun"), Gun)->label, "mine");
    mica_write(world, tank, Health)->points = 120;
    mica_write(world, tank, Health)->armor = 7;
    mica_text_set(&mica_write(world, gun, Gun)->label, "another label that does not lie in place");
    mica_write(world, gun, Gun)->shots[0] = 9;
    mica_add(world, turret, Fast);
    mica_unrelate(world, gun, PointsAt, tank);
    mica_relate_id(world, gun, MICA_ID(PointsAt), turret);
    mica_reload_stats stats;
    ck_assert_int_eq(mica_prefab_update(world, tank, NULL, &stats), MICA_OK);
    mica_entity gun_of_one = mica_prefab_part(world, one, "turret/gun"),
                gun_of_two = mica_prefab_part(world, two, "turret/gun");
    ck_assert(mica_get(world, one, Health)->points == 50 && mica_get(world, one, Health)->armor == 7);
    ck_assert(mica_get(world, two, Health)->points == 120 && mica_get(world, two, Health)->armor == 7);
    ck_assert(mica_get(world, copy, Health)->points == 100 && mica_get(world, copy, Health)->armor == 5);
    ck_assert(mica_text_is(&mica_get(world, gun_of_one, Gun)->label, "mine"));
    ck_assert(mica_text_is(&mica_get(world, gun_of_two, Gun)->label, "another label that does not lie in place"));
    ck_assert(mica_get(world, gun_of_one, Gun)->shots[0] == 9 && mica_get(world, gun_of_two, Gun)->shots[0] == 9);
    ck_assert(mica_has(world, mica_parent(world, gun_of_one), Fast) &&
              !mica_is_related(world, gun_of_one, PointsAt, one));
    ck_assert(mica_is_related(world, gun_of_two, PointsAt, mica_parent(world, gun_of_two)));
    ck_assert_uint_eq(stats.kept_count, 2);
    ck_assert_int_eq(mica_prefab_update(world, tank, NULL, &stats), MICA_OK); /* nothing is left to do */
    ck_assert_uint_eq(stats.updated_count + stats.kept_count + stats.created_count, 0);
    mica_unrelate_targets_id(world, two, mica_prefab_relation()); /* it follows no more */
    mica_write(world, tank, Health)->armor = 8;
    update(world, tank);
    ck_assert(mica_get(world, two, Health)->armor == 7 && mica_get(world, one, Health)->armor == 8);
    close_world(world, &heard);
}
END_TEST

/* Parts without names too: it is known which is which. */
START_TEST(parts_come_and_go_with_those_of_the_prefab)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), turret = mica_find(world, "tank/turret");
    mica_entity wheels[3];
    for (uint32_t i = 0; i < 3; ++i)
        wheels[i] = mica_create_child(world, tank, MICA_WITH(Health, {(float)i, 0}));
    mica_entity one = mica_prefab_spawn(world, tank, NULL);
    ck_assert_uint_eq(mica_child_count(world, one), 1); /* as it was when it was created */
    update(world, tank);
    ck_assert_uint_eq(mica_child_count(world, one), 4);
    mica_entity two = mica_prefab_spawn(world, tank, NULL);
    mica_entity second = mica_next_sibling(world, mica_next_sibling(world, mica_first_child(world, two)));
    ck_assert(mica_get(world, second, Health)->points == 1 && mica_same(mica_prefab_of(world, second), wheels[1]));
    mica_entity own = mica_create_child(world, two, MICA_WITH(Health, {9, 9}));
    mica_entity strange = mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = two});
    mica_write(world, second, Health)->armor = 77;
    mica_destroy(world, mica_last_child(world, one)); /* which the program has decided */
    mica_destroy(world, wheels[0]);
    mica_entity refused = mica_prefab_spawn(world, tank, NULL);
    ck_assert(mica_is_nil(refused));
    expect_report(&heard, MICA_ERROR_INVALID, "parts were destroyed");
    mica_write(world, wheels[1], Health)->points = 11;
    mica_name_child(world, wheels[2], "last"); /* the same part */
    mica_entity box = mica_create_child(world, turret, MICA_WITH(Health, {5, 5}));
    mica_name_child(world, box, "box");
    update(world, tank);
    ck_assert(mica_child_count(world, one) == 2 && mica_child_count(world, two) == 5 &&
              mica_child_count(world, strange) == 3);
    ck_assert(mica_is_alive(world, own) && mica_get(world, second, Health)->points == 11 &&
              mica_get(world, second, Health)->armor == 77);
    ck_assert(mica_get(world, mica_prefab_part(world, strange, "turret/box"), Health)->points == 5);
    ck_assert(!mica_is_nil(mica_prefab_part(world, two, "last")) && mica_is_nil(mica_prefab_part(world, one, "last")));
    ck_assert_int_eq(mica_set_parent(world, box, tank), MICA_OK); /* moved: a new one */
    mica_entity old_box = mica_prefab_part(world, two, "box");
    ck_assert(mica_is_nil(old_box));
    update(world, tank);
    ck_assert(!mica_is_nil(mica_prefab_part(world, two, "box")) &&
              mica_is_nil(mica_prefab_part(world, two, "turret/box")));
    mica_query *shown = mica_query_create(world, MICA_QUERY(MICA_READ(Health)));
    for (mica_view view = mica_query_begin(shown); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert(!mica_is_ancestor(world, tank, view.entities[i])); /* what was added to the prefab is hidden */
    mica_destroy(world, tank);
    ck_assert(mica_is_alive(world, one) && mica_is_nil(mica_prefab_of(world, one)));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

/* A squad has two tanks; its instances have tanks that follow those of the squad. */
START_TEST(prefabs_contain_instances_of_prefabs)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), squad = mica_create(world, MICA_WITH(Health, {1, 1}));
    mica_entity first = mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = squad});
    mica_entity second = mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = squad});
    mica_name_child(world, first, "first");
    mica_name_child(world, second, "second");
    mica_write(world, second, Health)->points = 200; /* of all second tanks */
    ck_assert_int_eq(mica_prefab_create(world, squad, NULL), MICA_OK);
    mica_entity one = mica_prefab_spawn(world, squad, NULL), two = mica_prefab_spawn(world, squad, NULL);
    ck_assert(mica_same(mica_prefab_of(world, mica_prefab_part(world, one, "first")), first));
    mica_write(world, mica_prefab_part(world, two, "first"), Health)->armor = 50;
    mica_write(world, tank, Health)->points = 120;
    mica_write(world, tank, Health)->armor = 6;
    mica_create_child(world, mica_find(world, "tank/turret"), MICA_WITH(Health, {3, 3}));
    update(world, tank);
    mica_entity squads[] = {one, two};
    for (uint32_t i = 0; i < 2; ++i) {
        const Health *of_first = mica_get(world, mica_prefab_part(world, squads[i], "first"), Health);
        const Health *of_second = mica_get(world, mica_prefab_part(world, squads[i], "second"), Health);
        ck_assert(of_first->points == 120 && of_first->armor == (i ? 50 : 6));
        ck_assert(of_second->points == 200 && of_second->armor == 6);
        ck_assert_uint_eq(mica_child_count(world, mica_prefab_part(world, squads[i], "second/turret")), 2);
    }
    ck_assert(mica_has_id(world, mica_first_child(world, mica_prefab_part(world, first, "turret")), MICA_ID(Gun)));
    close_world(world, &heard);
}
END_TEST

START_TEST(prefabs_can_not_contain_themselves)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), other = mica_create(world, MICA_WITH(Health, {1, 1}));
    ck_assert_int_eq(mica_prefab_create(world, other, NULL), MICA_OK);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = tank})));
    expect_report(&heard, MICA_ERROR_INVALID, "can't be a part of its own prefab");
    mica_entity turret = mica_find(world, "tank/turret");
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = turret})));
    expect_report(&heard, MICA_ERROR_INVALID, "can't be a part of its own prefab");
    mica_entity inner = mica_prefab_spawn(world, tank, NULL);
    ck_assert_int_eq(mica_set_parent(world, inner, turret), MICA_OK);
    mica_write(world, tank, Health)->points = 3;
    ck_assert_int_eq(mica_prefab_update(world, tank, NULL, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "it contains an instance of itself");
    ck_assert(mica_get(world, inner, Health)->points == 100);
    mica_destroy(world, inner);
    ck_assert(!mica_is_nil(mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.parent = other})));
    ck_assert(!mica_is_nil(mica_prefab_spawn(world, other, &(mica_prefab_spawn_def){.parent = turret})));
    mica_write(world, tank, Health)->points = 4;
    ck_assert_int_eq(mica_prefab_update(world, tank, NULL, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "contain instances of each other");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_no_prefab_is_refused)
{
    mica_world *world = open_prefabs();
    mica_entity plain = mica_create(world), dead = mica_create(world), tank = make_prefab(world);
    mica_destroy(world, dead);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, plain, NULL)) && mica_is_nil(mica_prefab_spawn(world, dead, NULL)));
    expect_report(&heard, MICA_ERROR_INVALID, "is no prefab");
    ck_assert_int_eq(mica_prefab_update(world, plain, NULL, NULL), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_prefab_update(world, dead, NULL, NULL), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_prefab_create(world, dead, NULL), MICA_ERROR_DEAD);
    ck_assert_int_eq(mica_prefab_create(world, tank, NULL), MICA_ERROR_EXISTS);
    mica_defer(world);
    ck_assert_int_ne(mica_prefab_create(world, plain, NULL), MICA_OK);
    ck_assert_int_ne(mica_prefab_update(world, tank, NULL, NULL), MICA_OK);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, NULL)));
    mica_flush(world);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.count = UINT32_MAX})));
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

/* All of it is data of the world. */
START_TEST(snapshots_files_and_replicas_have_prefabs)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), one = mica_prefab_spawn(world, tank, NULL);
    mica_write(world, one, Health)->points = 50;
    mica_write(world, tank, Health)->armor = 6;
    mica_destroy(world, mica_find(world, "tank/turret/gun"));
    mica_snapshot before = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    update(world, tank);
    uint64_t after = mica_world_hash(world);
    mica_prefab_spawn(world, tank, NULL);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert(mica_world_hash(world) == hash);
    update(world, tank);
    ck_assert(mica_world_hash(world) == after);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    mica_snapshot_drop(world, before);
    /* In a file, whether it continues or not, and in a replica, with its handles or others. */
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *file = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
    for (uint32_t way = 0; way < 4; ++way) {
        reports heard_there;
        mica_world *there = open_world(&heard_there);
        define_all(there);
        mica_replica *replica = way < 2 ? NULL : mica_replica_create(there, &(mica_replica_def){.mapped = way == 3});
        if (way < 2)
            ck_assert_int_eq(mica_spawn(there, file, &(mica_spawn_def){.skip_state = way == 1}), MICA_OK);
        else
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        mica_entity prefab = mica_find(there, "tank");
        mica_edges at = mica_sources_id(there, prefab, mica_prefab_relation());
        ck_assert(mica_edge_next(&at));
        mica_entity instance = at.entity;
        mica_entity gun = mica_find_from(there, instance, "turret/gun");
        ck_assert(mica_is_alive(there, gun));
        update(there, prefab);
        ck_assert(mica_get(there, instance, Health)->points == 50 && mica_get(there, instance, Health)->armor == 6);
        ck_assert(!mica_is_alive(there, gun));
        ck_assert(!mica_is_nil(mica_prefab_spawn(there, prefab, NULL)));
        ck_assert_int_eq(mica_world_validate(there), MICA_OK);
        mica_replica_destroy(replica);
        close_world(there, &heard_there);
    }
    mica_sender_destroy(sender);
    mica_resource_free(file);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

/* A prefab that comes from a file follows the file, and its instances follow it. */
START_TEST(a_prefab_of_a_file_is_one_like_others)
{
    mica_world *world = open_prefabs();
    mica_blob blobs[2];
    mica_resource *files[2];
    mica_entity tank = make_tank(world),
                list[3] = {tank, mica_find(world, "tank/turret"), mica_find(world, "tank/turret/gun")};
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(mica_pack(world, &(mica_save_def){.entities = list, .entity_count = 3}, &blobs[i]), MICA_OK);
        files[i] = mica_resource_open(blobs[i].bytes, blobs[i].byte_count, NULL, NULL);
        mica_write(world, tank, Health)->armor = 33;
    }
    mica_destroy(world, tank);
    mica_spawned *spawned = mica_spawn_kept(world, files[0], NULL);
    mica_entity prefab = mica_find(world, "tank");
    ck_assert_int_eq(mica_prefab_create(world, prefab, NULL), MICA_OK);
    mica_entity one = mica_prefab_spawn(world, prefab, NULL);
    mica_write(world, one, Health)->points = 1;
    ck_assert_int_eq(mica_reload(spawned, files[1], NULL), MICA_OK);
    update(world, prefab);
    ck_assert(mica_get(world, one, Health)->armor == 33 && mica_get(world, one, Health)->points == 1);
    mica_spawned_free(spawned);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(files[i]);
        mica_blob_free(&blobs[i]);
    }
    close_world(world, &heard);
}
END_TEST

static void destroy_it(const mica_event *event)
{
    mica_destroy(event->world, event->entities[0]);
}

START_TEST(a_hook_may_destroy_instances)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world);
    mica_hook_set(world, Gun, MICA_EVENT_ADD, destroy_it, NULL);
    mica_entity one = mica_prefab_spawn(world, tank, NULL);
    ck_assert(!mica_is_nil(one) && mica_is_nil(mica_prefab_part(world, one, "turret/gun")));
    mica_hook_set(world, Gun, MICA_EVENT_ADD, NULL, NULL);
    mica_hook_set(world, Health, MICA_EVENT_ADD, destroy_it, NULL);
    mica_prefab_spawn(world, tank, NULL);
    ck_assert_uint_eq(mica_source_count_id(world, tank, mica_prefab_relation()), 1);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

/* What happens, or nothing does; an update can be repeated. */
START_TEST(memory_may_run_out_at_every_allocation)
{
    for (uint32_t what = 0; what < 3; ++what)
        for (uint64_t k = 1;; ++k) {
            faulty_allocator faulty;
            faulty_allocator_init(&faulty);
            reports heard_here;
            mica_world *world =
                open_world_with(&heard_here, (mica_world_def){.allocator = faulty_allocator_interface(&faulty)});
            mica_define(world, PointsAt);
            mica_prefab_spawn_def def = {.values.allocator = faulty_allocator_interface(&faulty), .count = 2};
            mica_entity tank = make_tank(world), one = mica_nil();
            if (what)
                REQUIRE(mica_prefab_create(world, tank, NULL) == MICA_OK);
            if (what == 2) {
                one = mica_prefab_spawn(world, tank, NULL);
                mica_write(world, tank, Health)->armor = 40;
                mica_create_child(world, tank, MICA_WITH(Health, {8, 8}));
            }
            uint64_t hash = mica_world_hash(world);
            faulty_allocator_fail_at(&faulty, k, false);
            bool done = what == 0   ? mica_prefab_create(world, tank, &def.values) == MICA_OK
                        : what == 1 ? !mica_is_nil(mica_prefab_spawn(world, tank, &def))
                                    : mica_prefab_update(world, tank, &def.values, NULL) == MICA_OK;
            bool failed = faulty.failures != 0;
            faulty_allocator_fail_at(&faulty, 0, false);
            REQUIRE_SAYING(mica_world_validate(world) == MICA_OK && (done || failed), "%u: %u: %s", what, (unsigned)k,
                           heard_here.count ? heard_here.list[0].text : "");
            REQUIRE_SAYING(done || what == 2 || mica_world_hash(world) == hash, "%u: %u", what, (unsigned)k);
            if (what == 2) {
                REQUIRE(mica_prefab_update(world, tank, NULL, NULL) == MICA_OK);
                REQUIRE(mica_get(world, one, Health)->armor == 40);
            }
            forget_reports(&heard_here);
            close_world(world, &heard_here);
            REQUIRE(faulty.live_blocks == 0);
            faulty_allocator_free(&faulty);
            if (!failed)
                break;
        }
}
END_TEST

/* The value of a prefab is text and lists: of another heap than the world's. */
START_TEST(lists_may_run_out_of_memory)
{
    for (int64_t left = 0;; ++left) {
        mica_world *world = open_prefabs();
        mica_entity tank = make_tank(world);
        micap_heap_limit(left);
        bool created = mica_prefab_create(world, tank, NULL) == MICA_OK;
        mica_entity one = created ? mica_prefab_spawn(world, tank, NULL) : mica_nil();
        bool updated = false;
        if (!mica_is_nil(one)) {
            mica_write(world, tank, Health)->armor = 40;
            updated = mica_prefab_update(world, tank, NULL, NULL) == MICA_OK;
        }
        micap_heap_limit(INT64_MAX);
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        ck_assert(created || !mica_has_id(world, tank, MICA_ID(mica_prefab)));
        forget_reports(&heard);
        close_world(world, &heard);
        if (updated)
            break;
    }
}
END_TEST

/* A file or delta can say anything. */
START_TEST(a_prefab_whose_values_do_not_agree_is_refused)
{
    mica_world *world = open_prefabs();
    mica_entity tank = make_prefab(world), one = mica_prefab_spawn(world, tank, NULL);
    mica_write(world, tank, Health)->armor = 9;
    mica_list_remove(&mica_write(world, tank, mica_prefab)->parts, mica_entity, 2);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, NULL)));
    expect_report(&heard, MICA_ERROR_DATA, "its file and its parts do not agree");
    ck_assert_int_ne(mica_prefab_update(world, tank, NULL, NULL), MICA_OK);
    expect_report(&heard, MICA_ERROR_DATA, "its file and its parts do not agree");
    mica_list_resize(&mica_write(world, tank, mica_prefab)->bytes, uint8_t, 20);
    ck_assert(mica_is_nil(mica_prefab_spawn(world, tank, NULL)) && mica_get(world, one, Health)->armor == 5);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_a_new_component_requires_comes_along)
{
    mica_world *world = open_prefabs();
    mica_define(world, Engine);
    mica_entity tank = make_tank(world);
    ck_assert_int_eq(mica_prefab_create(world, tank, NULL), MICA_OK);
    mica_entity before = mica_prefab_spawn(world, tank, NULL);
    mica_add(world, tank, Engine)->power = 3;
    ck_assert_int_eq(mica_prefab_update(world, tank, NULL, NULL), MICA_OK);
    mica_entity after = mica_prefab_spawn(world, tank, NULL);
    ck_assert(mica_get(world, before, Engine)->power == 3 && mica_get(world, before, Fuel)->liters == 7);
    ck_assert(mica_get(world, after, Engine)->power == 3 && mica_get(world, after, Fuel)->liters == 7);
    mica_value_error error;
    mica_entity other = mica_create(world);
    ck_assert_int_eq(mica_entity_parse_json(world, other, "{\"components\": {\"Engine\": {\"power\": 2}}}", &error),
                     MICA_OK);
    ck_assert(mica_get(world, other, Engine)->power == 2 && mica_get(world, other, Fuel)->liters == 7);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(prefab_update, what_a_new_component_requires_comes_along, a_prefab_is_hidden_and_its_instances_are_whole,
           instances_follow_field_by_field_unless_overridden, parts_come_and_go_with_those_of_the_prefab,
           prefabs_contain_instances_of_prefabs, prefabs_can_not_contain_themselves, what_is_no_prefab_is_refused,
           snapshots_files_and_replicas_have_prefabs, a_prefab_of_a_file_is_one_like_others,
           a_hook_may_destroy_instances, memory_may_run_out_at_every_allocation, lists_may_run_out_of_memory,
           a_prefab_whose_values_do_not_agree_is_refused)
