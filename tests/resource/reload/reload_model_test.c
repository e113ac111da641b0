/* Random files: a world that was spawned from one and reloaded with another holds what spawning the other one gives. Once with all
 * the memory there is, once with memory that runs out at every point. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/draft.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

typedef struct Burning { float seconds; mica_entity by; } Burning;
MICA_POOL(Burning, seconds, by)
typedef struct Item { uint32_t kind; mica_entity maker; } Item;
MICA_POOL_WITH(Item, (.many = true), kind, maker)
typedef struct Hunter { mica_entity prey; float speed; } Hunter;
MICA_COMPONENT_WITH(Hunter, (.split = true), prey, speed)

static void define(mica_world *world)
{
    level_define(world);
    mica_define(world, Text);
    mica_define(world, Burning);
    mica_define(world, Item);
    mica_define(world, Hunter);
}

/* Of text the described fields are enough. */
static mica_spawn_def spawn_rules(void)
{
    static mica_resource_rule rule;
    rule = (mica_resource_rule){.component = MICA_ID(Text)};
    return (mica_spawn_def){.rules = &rule, .rule_count = 1};
}

enum { ENTITIES_MAX = 24, NAMES = 6 };

typedef struct writer {
    random_source *random;
    mica_draft *draft;
    uint32_t count;
    uint32_t component[8];
} writer;

static mica_entity any_entity(writer *writer)
{
    mica_entity entity = {random_below(writer->random, writer->count), 1};
    return random_one_in(writer->random, 3) ? mica_nil() : entity;
}

static void write_components(writer *writer, uint32_t entity)
{
    random_source *random = writer->random;
    bool wants[8];
    for (uint32_t i = 0; i < 8; ++i)
        wants[i] = random_one_in(random, 2);
    float small = (float)random_below(random, 3);
    if (wants[0])
        *(Position *)mica_draft_add(writer->draft, entity, writer->component[0]) = (Position){small, 1, 2};
    if (wants[1])
        mica_draft_add(writer->draft, entity, writer->component[1]);
    if (wants[2]) {
        *(Health *)mica_draft_add(writer->draft, entity, writer->component[2]) = (Health){(int)small, 5};
        if (random_one_in(random, 2))
            mica_draft_disable(writer->draft, writer->component[2]);
    }
    if (wants[3]) {
        Monster *monster = mica_draft_add(writer->draft, entity, writer->component[3]);
        monster->target = any_entity(writer);
        monster->path[2].y = small;
        snprintf(monster->title, sizeof monster->title, "%s", small > 0 ? "king" : "");
    }
    if (wants[4])
        *(Burning *)mica_draft_add(writer->draft, entity, writer->component[4]) = (Burning){small, any_entity(writer)};
    for (uint32_t i = random_below(random, 4); wants[5] && i > 0; --i)
        *(Item *)mica_draft_add(writer->draft, entity, writer->component[5]) =
            (Item){(uint32_t)small, any_entity(writer)};
    if (wants[6])
        *(Hunter *)mica_draft_add(writer->draft, entity, writer->component[6]) = (Hunter){any_entity(writer), small};
    if (wants[7])
        ((Text *)mica_draft_add(writer->draft, entity, writer->component[7]))->length = (uint32_t)small;
}

/* Names are distinct below one parent, from so few that two files share many of them. */
static mica_blob write_file(random_source *random)
{
    static const mica_type *const types[] = {&mica_type_of_Position, &mica_type_of_Frozen,  &mica_type_of_Health,
                                             &mica_type_of_Monster,  &mica_type_of_Burning, &mica_type_of_Item,
                                             &mica_type_of_Hunter,   &mica_type_of_Text};
    writer writer = {.random = random, .draft = mica_draft_create(NULL), .count = random_below(random, ENTITIES_MAX)};
    uint32_t taken[ENTITIES_MAX + 1] = {0};
    for (uint32_t i = 0; i < 8; ++i)
        writer.component[i] = mica_draft_component(
            writer.draft, &(mica_draft_component_def){.type = types[i], .storage = types[i]->storage});
    for (uint32_t i = 0; i < writer.count; ++i) {
        uint32_t parent = i && !random_one_in(random, 3) ? random_below(random, i) : MICA_NO_PARENT;
        uint32_t scope = parent == MICA_NO_PARENT ? ENTITIES_MAX : parent, name = random_below(random, NAMES);
        char text[8];
        snprintf(text, sizeof text, "n%u", name);
        bool is_named = !random_one_in(random, 3) && !(taken[scope] >> name & 1);
        taken[scope] |= is_named ? 1u << name : 0;
        REQUIRE(mica_draft_entity(writer.draft, parent, is_named ? text : NULL) == i);
    }
    for (uint32_t i = 0; i < writer.count; ++i)
        write_components(&writer, i);
    uint32_t clock = mica_draft_component(
        writer.draft, &(mica_draft_component_def){.type = &mica_type_of_Clock, .storage = MICA_STORAGE_SINGLETON});
    ((Clock *)mica_draft_add(writer.draft, 0, clock))->ticks = random_below(random, 5) + 1;
    mica_blob blob;
    REQUIRE_SAYING(mica_draft_finish(writer.draft, NULL, &blob) == MICA_OK, "%s", mica_draft_error(writer.draft)->text);
    mica_draft_destroy(writer.draft);
    return blob;
}

static mica_blob pack(mica_world *world, const mica_spawned *spawned)
{
    mica_blob blob;
    const mica_spawn_def spawn = spawn_rules();
    mica_save_def def = {.entities = mica_spawned_entities(spawned),
                         .entity_count = mica_spawned_count(spawned),
                         .rules = spawn.rules,
                         .rule_count = spawn.rule_count};
    static const mica_entity none;
    def.entities = def.entity_count ? def.entities : &none;
    REQUIRE(mica_pack(world, &def, &blob) == MICA_OK);
    return blob;
}

static void expect_same(mica_world *world, const mica_spawned *spawned, const mica_resource *file, uint64_t seed)
{
    reports heard;
    mica_world *fresh = open_world(&heard);
    define(fresh);
    const mica_spawn_def spawn = spawn_rules();
    mica_spawned *expected = mica_spawn_kept(fresh, file, &spawn);
    REQUIRE(expected);
    mica_blob a = pack(world, spawned), b = pack(fresh, expected);
    REQUIRE_SAYING(a.byte_count == b.byte_count && memcmp(a.bytes, b.bytes, a.byte_count) == 0, "seed %llu",
                   (unsigned long long)seed);
    REQUIRE(mica_world_get_stats(world).entity_count == mica_world_get_stats(fresh).entity_count);
    mica_blob_free(&a);
    mica_blob_free(&b);
    mica_spawned_free(expected);
    close_world(fresh, &heard);
}

START_TEST(a_reloaded_world_is_what_the_new_file_says)
{
    uint64_t rounds = setting_from_environment("MICA_RELOAD_ROUNDS", 300);
    const mica_spawn_def spawn = spawn_rules();
    for (uint64_t seed = 1; seed <= rounds; ++seed) {
        random_source random = {seed};
        reports heard;
        mica_world *world = open_world(&heard);
        define(world);
        mica_blob blob = write_file(&random);
        mica_resource *file = level_open(&blob);
        mica_spawned *spawned = mica_spawn_kept(world, file, &spawn);
        REQUIRE(spawned);
        for (uint32_t i = 0; i < 4; ++i) {
            mica_blob newer_blob = write_file(&random);
            mica_resource *newer = level_open(&newer_blob);
            mica_reload_stats stats;
            REQUIRE_SAYING(mica_reload(spawned, newer, &stats) == MICA_OK, "seed %llu", (unsigned long long)seed);
            REQUIRE(stats.kept_count == 0 && mica_spawned_resource(spawned) == newer);
            mica_resource_free(file);
            mica_blob_free(&blob);
            file = newer;
            blob = newer_blob;
            expect_same(world, spawned, file, seed);
            REQUIRE(mica_reload(spawned, file, &stats) == MICA_OK); /* nothing to do */
            REQUIRE(!stats.created_count && !stats.destroyed_count && !stats.added_count && !stats.removed_count &&
                    !stats.updated_count);
        }
        mica_spawned_free(spawned);
        mica_resource_free(file);
        mica_blob_free(&blob);
        close_world(world, &heard);
    }
}
END_TEST

static void ignore_report(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
}

/* Returns how many allocations were made to fail. */
static uint64_t reload_at_every_allocation(const mica_blob *old_blob, const mica_blob *new_blob, uint64_t seed)
{
    static faulty_allocator faulty;
    const mica_spawn_def spawn = spawn_rules();
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_resource_def with = {.allocator = faulty_allocator_interface(&faulty)};
        mica_world_def def = mica_world_def_default();
        def.allocator = with.allocator;
        def.report = ignore_report;
        mica_world *world = mica_world_create(&def);
        define(world);
        mica_resource *old = mica_resource_open(old_blob->bytes, old_blob->byte_count, &with, NULL);
        mica_resource *new = mica_resource_open(new_blob->bytes, new_blob->byte_count, &with, NULL);
        mica_spawned *spawned = mica_spawn_kept(world, old, &spawn);
        uint64_t before = mica_world_hash(world);
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_reload(spawned, new, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE_SAYING(mica_world_validate(world) == MICA_OK, "allocation %llu", (unsigned long long)k);
        if (result != MICA_OK) {
            REQUIRE_SAYING(reached && result == MICA_ERROR_MEMORY, "allocation %llu", (unsigned long long)k);
            REQUIRE_SAYING(mica_world_hash(world) == before, "seed %llu, allocation %llu", (unsigned long long)seed,
                           (unsigned long long)k);
            REQUIRE(mica_spawned_resource(spawned) == old);
            REQUIRE(mica_reload(spawned, new, NULL) == MICA_OK);
        }
        expect_same(world, spawned, new, seed);
        mica_spawned_free(spawned);
        mica_world_destroy(world);
        mica_resource_free(old);
        mica_resource_free(new);
        faulty_allocator_free(&faulty);
    }
    return k;
}

/* A file of entities without components. */
static mica_blob write_crowd(uint32_t count)
{
    mica_draft *draft = mica_draft_create(NULL);
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE(mica_draft_entity(draft, MICA_NO_PARENT, NULL) == i);
    mica_blob blob;
    REQUIRE(mica_draft_finish(draft, NULL, &blob) == MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

/* So many creations that the memory of their recording has to grow. */
START_TEST(reloading_many_new_entities_fails_cleanly_at_every_allocation)
{
    mica_blob old_blob = write_crowd(1), new_blob = write_crowd(3000);
    ck_assert_uint_gt(reload_at_every_allocation(&old_blob, &new_blob, 0), 20);
    mica_blob_free(&old_blob);
    mica_blob_free(&new_blob);
}
END_TEST

START_TEST(reloading_fails_cleanly_at_every_allocation)
{
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        random_source random = {seed};
        mica_blob old_blob = write_file(&random), new_blob = write_file(&random);
        ck_assert_uint_gt(reload_at_every_allocation(&old_blob, &new_blob, seed), 20);
        mica_blob_free(&old_blob);
        mica_blob_free(&new_blob);
    }
}
END_TEST

/* One change in many entities, so that memory runs out in the midst of just that. */
enum { CHANGE_TAG, CHANGE_OFF, CHANGE_SWITCH, CHANGE_OWNER, CHANGE_REMOVAL, CHANGE_ORDER, CHANGE_CHILDREN, CHANGES };

static mica_blob write_uniform(int change, bool is_new)
{
    enum { CHILDREN = 60 };
    mica_draft *draft = mica_draft_create(NULL);
    const mica_type *const types[] = {&mica_type_of_Position, &mica_type_of_Frozen, &mica_type_of_Health,
                                      &mica_type_of_Text};
    uint32_t part[4];
    for (uint32_t i = 0; i < 4; ++i)
        part[i] =
            mica_draft_component(draft, &(mica_draft_component_def){.type = types[i], .storage = types[i]->storage});
    mica_draft_entity(draft, MICA_NO_PARENT, "root");
    for (uint32_t i = 0; i < CHILDREN; ++i) {
        char name[16];
        snprintf(name, sizeof name, "n%u", change == CHANGE_ORDER && is_new ? CHILDREN - i : i + 1);
        if (change == CHANGE_CHILDREN && !is_new && i % 3)
            continue;
        uint32_t entity = mica_draft_entity(draft, 0, name);
        if (change == CHANGE_REMOVAL && !is_new)
            mica_draft_add(draft, entity, part[0]);
        if (change == CHANGE_TAG && is_new)
            mica_draft_add(draft, entity, part[1]);
        if (change == CHANGE_SWITCH || (change == CHANGE_OFF && is_new))
            mica_draft_add(draft, entity, part[2]);
        if ((change == CHANGE_SWITCH || change == CHANGE_OFF) && is_new)
            mica_draft_disable(draft, part[2]);
        if (change == CHANGE_OWNER)
            ((Text *)mica_draft_add(draft, entity, part[3]))->length = is_new;
    }
    mica_blob blob;
    REQUIRE(mica_draft_finish(draft, NULL, &blob) == MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

START_TEST(each_change_of_a_reload_fails_cleanly_at_every_allocation)
{
    mica_blob old_blob = write_uniform(_i, false), new_blob = write_uniform(_i, true);
    ck_assert_uint_gt(reload_at_every_allocation(&old_blob, &new_blob, 0), 20);
    mica_blob_free(&old_blob);
    mica_blob_free(&new_blob);
}
END_TEST

START_TEST(keeping_and_watching_fail_cleanly_at_every_allocation)
{
    static faulty_allocator faulty;
    const mica_spawn_def spawn = spawn_rules();
    random_source random = {1};
    mica_blob blob = write_file(&random);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_resource_def with = {.allocator = faulty_allocator_interface(&faulty)};
        mica_world_def def = mica_world_def_default();
        def.report = ignore_report;
        mica_world *world = mica_world_create(&def);
        define(world);
        mica_resource *file = mica_resource_open(blob.bytes, blob.byte_count, &with, NULL);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_spawned *spawned = mica_spawn_kept(world, file, &spawn);
        mica_watch *watch = mica_watch_create((const char *const[]){"a", "b"}, 2, &with.allocator);
        reached = faulty.failures > 0;
        REQUIRE_SAYING((!spawned || !watch) == reached, "allocation %llu", (unsigned long long)k);
        REQUIRE(spawned || mica_world_get_stats(world).entity_count == 0);
        mica_watch_destroy(watch);
        mica_spawned_free(spawned);
        mica_resource_free(file);
        mica_world_destroy(world);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 6);
    mica_blob_free(&blob);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("reload_model");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_reloaded_world_is_what_the_new_file_says);
    tcase_add_test(cases, reloading_fails_cleanly_at_every_allocation);
    tcase_add_test(cases, reloading_many_new_entities_fails_cleanly_at_every_allocation);
    tcase_add_loop_test(cases, each_change_of_a_reload_fails_cleanly_at_every_allocation, 0, CHANGES);
    tcase_add_test(cases, keeping_and_watching_fail_cleanly_at_every_allocation);
    return test_run("reload_model", cases);
}
