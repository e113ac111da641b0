/* Modules of a world: told of every death, part of hash, validation and trim, freed with the world. */
#include "base/hash.h"
#include "core/world/module.h"
#include "core/storage/component_set.h"
#include "core/storage/rows.h"
#include "core/world/world.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>

MICA_TAG(Marked)

typedef struct journal {
    uint32_t dying;
    uint64_t sum; /* of the values of the dying, which are still there */
    uint32_t alive;
    uint32_t trims;
    uint32_t frees;
    uint64_t observable; /* 0: nothing to hash */
    bool broken;
    mica_entity follower; /* dies with the next that dies */
} journal;

static void on_free(mica_world *world, void *state)
{
    (void)world;
    ++((journal *)state)->frees;
}

static void on_destroying(mica_world *world, void *state, const mica_entity *entities, uint32_t count)
{
    journal *seen = state;
    for (uint32_t i = 0; i < count; ++i) {
        const Number *number = mica_get(world, entities[i], Number);
        seen->sum += number ? number->value : 0;
        seen->alive += mica_is_alive(world, entities[i]);
    }
    seen->dying += count;
    mica_entity follower = seen->follower;
    seen->follower = mica_nil();
    if (!mica_is_nil(follower))
        mica_destroy(world, follower);
}

static void on_hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    if (((const journal *)state)->observable)
        micap_hasher_integer(hasher, ((const journal *)state)->observable, 8);
}

static bool on_validate(mica_world *world, void *state)
{
    (void)world;
    return !((journal *)state)->broken;
}

static void on_trim(mica_world *world, void *state)
{
    (void)world;
    ++((journal *)state)->trims;
}

static const micap_module_ops all_ops = {
    .free = on_free, .destroying = on_destroying, .hash = on_hash, .validate = on_validate, .trim = on_trim};
static const micap_module_ops no_ops = {0};

static void die_by_destroy(mica_world *world, mica_entity entity)
{
    ck_assert(mica_destroy(world, entity));
}

static void die_by_destroy_many(mica_world *world, mica_entity entity)
{
    ck_assert_uint_eq(mica_destroy_many(world, &entity, 1), 1);
}

static void die_by_query(mica_world *world, mica_entity entity)
{
    mica_set(world, entity, Number, {5});
    mica_add(world, entity, Marked);
    mica_query *marked = mica_query_create(world, MICA_QUERY(MICA_HAS(Marked)));
    ck_assert_int_eq(mica_destroy_all(marked), MICA_OK);
    mica_query_destroy(marked);
}

static void die_by_clear(mica_world *world, mica_entity entity)
{
    (void)entity;
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
}

static void die_by_flush(mica_world *world, mica_entity entity)
{
    mica_defer(world);
    mica_destroy(world, entity);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
}

static void die_by_commands(mica_world *world, mica_entity entity)
{
    mica_commands *commands = mica_commands_create(world);
    mica_command_destroy(commands, entity);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_commands_destroy(commands);
}

START_TEST(a_module_hears_of_every_death_before_the_row_goes)
{
    static void (*const deaths[])(mica_world *, mica_entity) = {die_by_destroy, die_by_destroy_many, die_by_query,
                                                                die_by_clear,   die_by_flush,        die_by_commands};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        journal seen = {0};
        mica_entity entity = mica_create(world, MICA_WITH(Number, {5}));
        micap_module_set(world, MICAP_MODULE_HIERARCHY, &all_ops, &seen);
        micap_modules_see_every_death(world);
        deaths[i](world, entity);
        ck_assert_uint_eq(seen.dying, 1);
        ck_assert_uint_eq(seen.alive, 1);
        ck_assert_uint_eq(seen.sum, 5);
        ck_assert(!mica_is_alive(world, entity));
        close_world(world, &heard);
        ck_assert_uint_eq(seen.frees, 1);
    }
}
END_TEST

START_TEST(a_module_hears_of_the_death_of_what_it_attached_something_to)
{
    static void (*const deaths[])(mica_world *, mica_entity) = {die_by_destroy, die_by_destroy_many, die_by_query,
                                                                die_by_clear,   die_by_flush,        die_by_commands};
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        journal seen = {0};
        mica_entity entity = mica_create(world, MICA_WITH(Number, {5}));
        micap_module_set(world, MICAP_MODULE_HIERARCHY, &all_ops, &seen);
        ck_assert(micap_attachments_reserve(world, entity.index));
        micap_attach(&world->attachments, entity.index);
        deaths[i](world, entity);
        ck_assert_uint_eq(seen.dying, 1);
        mica_entity next = mica_create(world, MICA_WITH(Number, {6}));
        ck_assert(!micap_is_attached(&world->attachments, next.index));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(what_a_module_destroys_meanwhile_dies_too)
{
    reports heard;
    mica_world *world = open_world(&heard);
    journal seen = {0};
    micap_module_set(world, MICAP_MODULE_HIERARCHY, &all_ops, &seen);
    micap_modules_see_every_death(world);
    mica_entity parent = mica_create(world), child = mica_create(world, MICA_WITH(Number, {7}));
    seen.follower = child;
    mica_destroy(world, parent);
    ck_assert(!mica_is_alive(world, child));
    ck_assert_uint_eq(seen.dying, 2);
    ck_assert_uint_eq(seen.sum, 7);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_end_of_the_world_is_a_death_too)
{
    reports heard;
    mica_world *world = open_world(&heard);
    journal seen = {0};
    micap_module_set(world, MICAP_MODULE_FLOW, &all_ops, &seen);
    micap_module_set(world, MICAP_MODULE_SNAPSHOT, &no_ops, &seen);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_create(world, MICA_WITH(Number, {2}));
    close_world(world, &heard);
    ck_assert_uint_eq(seen.dying, 2);
    ck_assert_uint_eq(seen.frees, 1);
}
END_TEST

START_TEST(hash_validation_and_trim_ask_modules)
{
    reports heard;
    mica_world *world = open_world(&heard);
    uint64_t bare = mica_world_hash(world);
    journal seen = {0}, other = {0};
    micap_module_set(world, MICAP_MODULE_FLOW, &all_ops, &seen);
    micap_module_set(world, MICAP_MODULE_REPLICATION, &all_ops, &other);
    ck_assert_ptr_eq(micap_module_state(world, MICAP_MODULE_FLOW), &seen);
    ck_assert_ptr_null(micap_module_state(world, MICAP_MODULE_SNAPSHOT));
    ck_assert_msg(mica_world_hash(world) == bare, "a module with nothing to show changes nothing");
    seen.observable = 1;
    uint64_t first = mica_world_hash(world);
    seen.observable = 0;
    other.observable = 1;
    ck_assert(first != bare && mica_world_hash(world) != bare && mica_world_hash(world) != first);
    mica_world_trim(world);
    ck_assert_uint_eq(seen.trims, 1);
    seen.broken = true;
    ck_assert_int_eq(mica_world_validate(world), MICA_ERROR_INVALID);
    seen.broken = false;
    close_world(world, &heard);
}
END_TEST

/* What a replica takes from an entity may be gone there already. */
START_TEST(a_set_forgets_what_it_has_and_nothing_else)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Health, {1, 2}), MICA_WITH(Age));
    const micap_archetype *archetype = micap_locate(world, entity).chunk->archetype;
    micap_set set;
    ck_assert(micap_set_init(&set, world, archetype, 0));
    ck_assert_uint_eq(set.count, 5); /* with a switch and the time of an addition */
    micap_set_erase(&set, micap_type_of(MICA_ID(Position)));
    micap_set_erase(&set, micap_type_of(MICA_ID(Visible)));
    ck_assert_uint_eq(set.count, 5);
    micap_set_erase(&set, micap_type_of(MICA_ID(Health)));
    micap_set_erase(&set, micap_type_of(MICA_ID(Health)));
    ck_assert_uint_eq(set.count, 3);
    ck_assert(micap_set_insert(&set, micap_type_of(MICA_ID(Health))));
    ck_assert(!micap_set_insert(&set, micap_type_of(MICA_ID(Health))));
    ck_assert_msg(!memcmp(set.ids, archetype->components, sizeof *set.ids * 5), "all is as it was");
    micap_set_free(&set);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_name_stays_in_the_scope_it_is_put_into_again)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity scope = mica_create(world), named = mica_create(world), other = mica_create(world);
    mica_name_set(world, named, scope, "wheel");
    mica_name_set(world, other, mica_nil(), "wheel");
    ck_assert_int_eq(micap_name_rescope(world, named, scope, MICA_HERE), MICA_OK);
    ck_assert(mica_same(mica_find_from(world, scope, "wheel"), named));
    ck_assert_int_eq(micap_name_rescope(world, named, mica_nil(), MICA_HERE), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "wheel");
    ck_assert(mica_same(mica_find_from(world, scope, "wheel"), named));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(module, a_set_forgets_what_it_has_and_nothing_else, a_name_stays_in_the_scope_it_is_put_into_again,
           a_module_hears_of_every_death_before_the_row_goes,
           a_module_hears_of_the_death_of_what_it_attached_something_to, what_a_module_destroys_meanwhile_dies_too,
           the_end_of_the_world_is_a_death_too, hash_validation_and_trim_ask_modules)
