/* From a world to bytes and back: what is saved is what is spawned. */
#include "support/level.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/hierarchy.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static mica_world *open_level_world(void)
{
    mica_world *world = open_world(&heard);
    level_define(world);
    return world;
}

/* The level, packed as the def says, spawned into a fresh world. */
static void expect_round_trip(const mica_save_def *save)
{
    mica_blob blob = level_blob(save);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    level_expect(world, mica_nil());
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 12);
    ck_assert(mica_singleton_get(world, Clock)->seconds == 12.5 && mica_singleton_get(world, Clock)->ticks == 99);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}

typedef struct Sprite { int image; } Sprite;
MICA_COMPONENT_WITH(Sprite, (.required = MICA_TYPES(Position, Frozen)), image)
typedef Sprite Icon;
MICA_POOL_WITH(Icon, (.dying = MICA_DYING_LAZILY, .required = MICA_TYPES(Mass)), image)

/* A file may have less than is required now: an old level, or one where it was removed. */
START_TEST(a_spawn_while_the_world_records_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    for (uint32_t i = 0; i < 3; ++i) { /* from the second on, it is one creation of many */
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
        mica_defer(world);
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_ERROR_REFUSED);
        ck_assert_uint_gt(forget_reports(&heard), 0);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 2 + i);
    }
    ck_assert(mica_is_alive(world, entity));
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

START_TEST(required_components_come_along_unless_the_world_continues)
{
    mica_world *saved = open_world(&heard);
    mica_entity entity = mica_create(saved, MICA_WITH(Sprite, {5}), MICA_WITH(Icon, {6}));
    mica_remove(saved, entity, Position);
    mica_remove(saved, entity, Mass);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    for (uint32_t continues = 0; continues < 2; ++continues) {
        mica_world *world = open_world(&heard);
        mica_define(world, Sprite);
        mica_define(world, Icon);
        mica_entity spawned;
        mica_spawn_def def = {.skip_state = !continues, .out_entities = &spawned, .out_capacity = 1};
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
        ck_assert_int_eq(mica_get(world, spawned, Sprite)->image, 5);
        ck_assert_int_eq(mica_get(world, spawned, Icon)->image, 6);
        ck_assert_int_eq(mica_has(world, spawned, Position), !continues);
        ck_assert_int_eq(mica_has(world, spawned, Mass), !continues);
        ck_assert_int_eq(mica_world_hash(world) == mica_world_hash(saved), continues);
        close_world(world, &heard);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(saved, &heard);
}
END_TEST

/* The world that loads says that these exclude each other; the one that saved did not. */
static void define_rivals(mica_world *world, uint32_t storage, bool exclude)
{
    static mica_type walking = {.name = "Walking", .kind = MICA_KIND_STRUCT, .size_bytes = 4, .alignment = 4};
    static mica_type *const to_walking[] = {&walking, NULL};
    static const mica_field fields[] = {{"speed", NULL, 0, 4, 1, MICA_KIND_I32, NULL}};
    mica_type swimming = {.name = "Swimming",
                          .kind = MICA_KIND_STRUCT,
                          .size_bytes = 4,
                          .alignment = 4,
                          .fields = fields,
                          .field_count = 1,
                          .storage = storage ? MICA_STORAGE_POOL : MICA_STORAGE_CHUNK,
                          .dying = storage == 2 ? MICA_DYING_LAZILY : MICA_DYING_AT_ONCE,
                          .many = storage == 3,
                          .excludes = exclude ? to_walking : NULL};
    walking.fields = fields;
    walking.field_count = 1;
    ck_assert(mica_component_define(world, &walking) && mica_component_define(world, &swimming));
}

/* In a file and in a prefab; with the state of the world and without. */
START_TEST(a_file_with_components_that_exclude_each_other_is_refused)
{
    for (uint32_t i = 0; i < 8; ++i) {
        mica_world *saved = open_world(&heard), *world = open_world(&heard);
        define_rivals(saved, i % 4, false);
        define_rivals(world, i % 4, true);
        mica_entity entity = mica_create(saved);
        mica_add_id(saved, entity, mica_component_find(saved, "Walking"));
        mica_blob blob, other;
        ck_assert_int_eq(mica_pack(saved, NULL, &other), MICA_OK);
        mica_add_id(saved, entity, mica_component_find(saved, "Swimming"));
        ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
        mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
        mica_spawn_def def = {.skip_state = i >= 4};
        mica_result expected = i ? MICA_ERROR_INVALID : MICA_ERROR_DATA; /* the state lists archetypes */
        ck_assert_int_eq(mica_spawn(world, resource, &def), expected);
        expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
        forget_reports(&heard);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
        mica_resource_free(resource);
        resource = mica_resource_open(other.bytes, other.byte_count, NULL, NULL);
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
        mica_resource_free(resource);
        mica_blob_free(&blob);
        mica_blob_free(&other);
        close_world(world, &heard);
        close_world(saved, &heard);
    }
}
END_TEST

typedef struct Leash { mica_entity holder; } Leash;
MICA_COMPONENT(Leash, holder)
typedef struct Dog { int age; } Dog;
MICA_COMPONENT_WITH(Dog, (.required = MICA_TYPES(Leash)), age)

/* The file has the references of one entity; the other one gets its component because it is required. */
START_TEST(references_are_those_of_the_entities_that_have_them_in_the_file)
{
    mica_world *saved = open_world(&heard);
    mica_entity holder = mica_create(saved);
    mica_create(saved, MICA_WITH(Leash, {holder}));
    mica_remove(saved, mica_create(saved, MICA_WITH(Dog, {7})), Leash);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_world *world = open_world(&heard);
    mica_create(world);
    mica_define(world, Dog);
    mica_entity spawned[3];
    mica_spawn_def def = {.skip_state = true, .out_entities = spawned, .out_capacity = 3};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    uint32_t held = 0, free = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        const Leash *leash = mica_get(world, spawned[i], Leash);
        held += leash && mica_is_alive(world, leash->holder) && !mica_has(world, leash->holder, Leash);
        free += leash && mica_is_nil(leash->holder) && mica_get(world, spawned[i], Dog)->age == 7;
    }
    ck_assert(held == 1 && free == 1);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

typedef struct Postcard { int number; } Postcard;
MICA_POOL_WITH(Postcard, (.many = true), number)
typedef struct Mailbox { int size; } Mailbox;
MICA_COMPONENT_WITH(Mailbox, (.required = MICA_TYPES(Postcard)), size)
typedef struct House { int rooms; } House;
MICA_POOL_WITH(House, (.required = MICA_TYPES(Mailbox), .dying = MICA_DYING_LAZILY), rooms)

/* A component that brings along an instance does not add one to those of the file. */
START_TEST(an_entity_has_the_instances_of_the_file)
{
    mica_world *saved = open_world(&heard);
    mica_entity houses[2] = {mica_create(saved), mica_create(saved)};
    for (uint32_t i = 0; i < 2; ++i)
        mica_set(saved, houses[i], House, {4});
    mica_write(saved, houses[0], Postcard)->number = 1;
    mica_pool *letters = mica_pool_of(saved, Postcard);
    for (int number = 2; number < 4; ++number)
        *(Postcard *)mica_instance_write_id(letters, mica_pool_add(letters, houses[0])) = (Postcard){number};
    mica_remove(saved, houses[1], Postcard);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_world *world = open_world(&heard);
    mica_create(world);
    mica_define(world, House);
    mica_entity spawned[2];
    mica_spawn_def def = {.skip_state = true, .out_entities = spawned, .out_capacity = 2};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    letters = mica_pool_of(world, Postcard);
    uint32_t counts[2] = {0}, sums[2] = {0};
    for (uint32_t i = 0; i < 2; ++i)
        for (mica_instance letter = mica_pool_find(letters, spawned[i]); !mica_instance_is_nil(letter);
             letter = mica_pool_next(letters, letter)) {
            ++counts[i];
            sums[i] += (uint32_t)((const Postcard *)mica_instance_read_id(letters, letter))->number;
        }
    ck_assert_uint_eq(counts[0] * counts[1], 3);
    ck_assert_uint_eq(sums[0] + sums[1], 1 + 2 + 3);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

START_TEST(what_is_saved_is_spawned)
{
    expect_round_trip(NULL);
}
END_TEST

/* The same name, another layout: what a spawn remembers of one world must not be used for the other. */
START_TEST(worlds_that_define_a_component_differently_spawn_in_turn)
{
    static const mica_field wide[] = {{.name = "value", .element_bytes = 8, .count = 1, .kind = MICA_KIND_I64}};
    static const mica_field narrow[] = {{.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_I32}};
    const mica_type types[] = {
        {.name = "Counter", .fields = narrow, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT},
        {.name = "Counter", .fields = wide, .field_count = 1, .size_bytes = 8, .alignment = 8, .kind = MICA_KIND_STRUCT}};
    mica_world *worlds[2];
    mica_component ids[2];
    for (uint32_t i = 0; i < 2; ++i) {
        worlds[i] = open_world(&heard);
        ids[i] = mica_component_define(worlds[i], &types[i]);
    }
    int32_t value = -7;
    mica_create_id(worlds[0], &(mica_value){ids[0], sizeof value, &value}, 1);
    mica_blob blob;
    ck_assert(mica_pack(worlds[0], NULL, &blob) == MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    for (uint32_t round = 0; round < 3; ++round)
        for (uint32_t i = 0; i < 2; ++i) {
            mica_entity entity;
            ck_assert(mica_spawn(worlds[i], resource, &(mica_spawn_def){.out_entities = &entity, .out_capacity = 1}) ==
                      MICA_OK);
            const void *found = mica_get_id(worlds[i], entity, ids[i]);
            ck_assert_ptr_nonnull(found);
            ck_assert(i == 0 ? *(const int32_t *)found == -7 : *(const int64_t *)found == -7);
        }
    mica_resource_free(resource);
    mica_blob_free(&blob);
    for (uint32_t i = 0; i < 2; ++i)
        close_world(worlds[i], &heard);
}
END_TEST

START_TEST(compressed_sections_spawn_the_same)
{
    expect_round_trip(&(mica_save_def){.compression = 3});
    mica_blob plain = level_blob(NULL), packed = level_blob(&(mica_save_def){.compression = 19});
    ck_assert_uint_lt(packed.byte_count, plain.byte_count);
    mica_blob_free(&plain);
    mica_blob_free(&packed);
}
END_TEST

START_TEST(saving_twice_gives_the_same_bytes)
{
    mica_blob first = level_blob(NULL), second = level_blob(NULL);
    ck_assert_uint_eq(first.byte_count, second.byte_count);
    ck_assert_mem_eq(first.bytes, second.bytes, first.byte_count);
    mica_blob_free(&first);
    mica_blob_free(&second);
}
END_TEST

START_TEST(one_resource_is_spawned_many_times)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    for (int i = 0; i < 20; ++i) {
        mica_entity scope = mica_create(world);
        ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.scope = scope}), MICA_OK);
        level_expect(world, scope);
    }
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 20 * 13);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_name_that_is_taken_is_an_error_or_left_out)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    mica_entity mine = mica_create(world);
    mica_name_set(world, mine, mica_nil(), "orc");
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "orc");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.names = MICA_SPAWN_NAMES_FREE}), MICA_OK);
    ck_assert(mica_same(mica_find(world, "orc"), mine));
    ck_assert(!mica_is_nil(mica_find(world, "station/door")));
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.names = MICA_SPAWN_NAMES_NONE}), MICA_OK);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(an_unknown_component_is_refused_or_skipped)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_world(&heard);
    mica_define(world, Position);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "does not know component");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.skip_unknown = true}), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 12);
    ck_assert(mica_get(world, mica_find(world, "station/door"), Position)->x == 4);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(handles_come_out_in_the_order_of_the_file)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    mica_entity entities[12];
    ck_assert_uint_eq(mica_resource_entity_count(resource), 12);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.out_entities = entities, .out_capacity = 12}),
                     MICA_OK);
    for (uint32_t i = 0; i < 12; ++i) {
        const char *name = mica_resource_name(resource, i), *given = mica_name_get(world, entities[i]);
        ck_assert(mica_is_alive(world, entities[i]));
        ck_assert_msg(name ? given && strcmp(name, given) == 0 : !given, "entity %u has its name", i);
    }
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* A prefab that got another child must not write past the end of an array that was large enough before. */
START_TEST(handles_that_find_no_room_are_refused_before_anything_is_spawned)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    uint64_t hash = mica_world_hash(world);
    static const struct {
        uint32_t copies, capacity;
    } cases[] = {{1, 0}, {1, 11}, {2, 23}, {2, 12}, {UINT32_MAX, 12}};
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        mica_entity entities[24] = {{77, 77}};
        mica_spawn_def def = {.copies = cases[i].copies, .out_entities = entities, .out_capacity = cases[i].capacity};
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_LIMIT);
        expect_report(&heard, MICA_ERROR_LIMIT, "spawn: ");
        ck_assert_ptr_null(mica_spawn_kept(world, resource, &def));
        expect_report(&heard, MICA_ERROR_LIMIT, "spawn_kept: ");
        ck_assert_uint_eq(entities[0].index, 77);
        ck_assert_uint_eq(mica_world_hash(world), hash);
    }
    mica_entity enough[12];
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.out_entities = enough, .out_capacity = 12}),
                     MICA_OK);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_spawn_that_fails_uses_no_singleton)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    mica_name_set(world, mica_create(world), mica_nil(), "station");
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "station");
    ck_assert(!mica_singleton_is_used(world, MICA_ID(Clock)));
    ck_assert_uint_eq(mica_world_hash(world), hash);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(component_i_of_entity_j_is_found_directly)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    mica_entity entities[12];
    mica_spawn(world, resource, &(mica_spawn_def){.out_entities = entities, .out_capacity = 12});
    uint32_t found = 0;
    for (uint32_t c = 0; c < mica_resource_component_count(resource); ++c) {
        mica_resource_component component = mica_resource_component_at(resource, c);
        mica_component id = mica_component_find(world, component.name);
        for (uint32_t e = 0; component.storage != MICA_STORAGE_SINGLETON && e < 12; ++e) {
            bool there = mica_resource_value(resource, e, c) != NULL;
            ck_assert_int_eq(there, mica_has_id(world, entities[e], id));
            ck_assert_int_eq(there && mica_resource_is_disabled(resource, e, c),
                             there && !mica_is_enabled_id(world, entities[e], id));
            found += there;
        }
    }
    ck_assert_uint_eq(found, 21);
    ck_assert_ptr_null(mica_resource_value(resource, 12, 0));
    ck_assert_ptr_null(mica_resource_component_at(resource, 99).name);
    ck_assert(!mica_resource_value_count(resource, 0, 99) && !mica_resource_is_repeated(resource, 99) &&
              !mica_resource_is_disabled(resource, 0, 99) && !mica_resource_name(resource, 12));
    ck_assert_uint_eq(mica_resource_parent(resource, 12), MICA_NO_PARENT);
    ck_assert_uint_eq(mica_resource_entity_in_order(resource, 12), 12);
    ck_assert_ptr_null(mica_resource_section_at(resource, mica_resource_get_info(resource).section_count).kind);
    ck_assert_uint_eq(mica_resource_asset_at(resource, 0).path_hash, 0);
    uint32_t count = 7;
    mica_type other = mica_type_of_Position;
    other.field_count = 2;
    ck_assert_msg(!mica_resource_values_id(resource, &other, &count) && !count, "another layout");
    ck_assert_msg(!mica_resource_values_id(resource, &mica_type_of_Frozen, &count) && !count, "a tag has none");
    ck_assert(mica_resource_values_id(resource, &mica_type_of_Position, &count) && count == 8);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(some_entities_are_saved_and_references_to_others_are_nil)
{
    mica_world *world = open_level_world();
    level_create(world);
    mica_entity some[] = {
        mica_find(world, "orc"), mica_find(world, "station/door"), mica_find(world, "orc"), {12345, 1}};
    mica_blob blob;
    ck_assert_int_eq(
        mica_pack(world, &(mica_save_def){.entities = some, .entity_count = 4, .skip_singletons = true}, &blob),
        MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    ck_assert_uint_eq(mica_resource_entity_count(resource), 2);
    world = open_level_world();
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    const Monster *monster = mica_get(world, mica_find(world, "orc"), Monster);
    ck_assert(mica_same(monster->target, mica_find(world, "door")));
    ck_assert(mica_is_nil(monster->friends[1]));
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(an_empty_world_is_saved_and_spawned)
{
    mica_world *world = open_world(&heard);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *resource = level_open(&blob);
    ck_assert_uint_eq(mica_resource_entity_count(resource), 0);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

static mica_result note_links(mica_world *world, const mica_spawn_links *links, void *context)
{
    char *log = context;
    for (uint32_t i = 0; i < links->count; ++i) {
        uint32_t at = links->order ? links->order[i] : i;
        const char *name = mica_name_get(world, links->entities[at]);
        if (!name)
            continue;
        uint32_t parent = links->parents[at];
        sprintf(log + strlen(log), "%s<%s ", name,
                parent == MICA_NO_PARENT ? "" : mica_name_get(world, links->entities[parent]));
    }
    return MICA_OK;
}

static mica_result refuse_links(mica_world *world, const mica_spawn_links *links, void *context)
{
    (void)links;
    (void)context;
    return mica_world_report(world, MICA_ERROR_REFUSED, "no links today");
}

START_TEST(parents_are_passed_to_the_link_function)
{
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_level_world();
    char log[256] = "";
    mica_spawn_def def = {.link = note_links, .link_context = log};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    ck_assert_str_eq(log, "station< door<station handle<door orc< ");
    mica_world_clear(world);
    def.link = refuse_links;
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "no links");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(children_are_linked_and_keep_their_order)
{
    mica_world *world = open_level_world();
    mica_entity root = mica_create(world, MICA_WITH(Position)), children[40];
    for (uint32_t i = 0; i < 40; ++i) {
        children[i] = i % 3 ? mica_create(world, MICA_WITH(Number, {i}))
                            : mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Frozen));
        ck_assert_int_eq(mica_set_parent(world, children[i], root), MICA_OK);
    }
    ck_assert_int_eq(mica_place_before(world, children[39], children[0]), MICA_OK);
    mica_blob blob, again;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    world = open_level_world();
    mica_entity above = mica_create(world);
    mica_spawn_def def = {.parent = above, .copies = 3};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    ck_assert_uint_eq(mica_child_count(world, above), 3);
    for (mica_entity at = mica_first_child(world, above); !mica_is_nil(at); at = mica_next_sibling(world, at)) {
        uint32_t expected = 39, count = 0;
        for (mica_entity child = mica_first_child(world, at); !mica_is_nil(child);
             child = mica_next_sibling(world, child)) {
            ck_assert_uint_eq(mica_get(world, child, Number)->value, expected);
            expected = (expected + 1) % 40;
            ++count;
        }
        ck_assert_uint_eq(count, 40);
    }
    mica_world_clear(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_singletons = true}, &again), MICA_OK);
    mica_blob_free(&blob);
    mica_resource_free(resource);
    resource = level_open(&again);
    for (uint32_t i = 1; i < 41; ++i)
        ck_assert_uint_eq(
            *(const uint32_t *)mica_resource_value(resource, mica_resource_entity_in_order(resource, i), 1),
            (i + 38) % 40);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&again);
}
END_TEST

START_TEST(many_copies_are_spawned_at_once)
{
    enum { COPIES = 300, EACH = 12 };
    static mica_entity entities[COPIES * EACH];
    mica_blob blob = level_blob(NULL);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_world_of_small_chunks(&heard);
    level_define(world);
    mica_spawn_def def = {
        .copies = COPIES, .names = MICA_SPAWN_NAMES_FREE, .out_entities = entities, .out_capacity = COPIES * EACH};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, COPIES * EACH);
    level_expect(world, mica_nil());
    for (uint32_t copy = 0; copy < COPIES; ++copy)
        for (uint32_t i = 0; i < EACH; ++i) {
            mica_entity first = entities[i], same = entities[copy * EACH + i];
            mica_component here[16], there[16];
            ck_assert_uint_eq(mica_get_components(world, same, here, 16), mica_get_components(world, first, there, 16));
            const Position *position = mica_get(world, same, Position), *expected = mica_get(world, first, Position);
            ck_assert(position ? memcmp(position, expected, sizeof *position) == 0 : !expected);
            const Monster *monster = mica_get(world, same, Monster);
            if (!monster)
                continue;
            const Monster *other = mica_get(world, first, Monster);
            ck_assert_msg(mica_same(monster->friends[1], entities[copy * EACH + 1]), "references stay in their copy");
            ck_assert(copy == 0 || !mica_same(monster->target, other->target));
            ck_assert(!mica_is_enabled(world, same, Health));
        }
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

static mica_entity parent_by_number(const mica_world *world, mica_entity entity, void *context)
{
    const mica_entity *parents = context;
    return parents[mica_get(world, entity, Number)->value];
}

START_TEST(a_program_can_choose_parents_but_not_in_a_cycle)
{
    mica_world *world = open_level_world();
    mica_entity entities[3], parents[3] = {{0, 0}};
    for (uint32_t i = 0; i < 3; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}));
    parents[0] = entities[2];
    parents[1] = entities[1]; /* an entity cannot be its own parent */
    const mica_save_def def = {.parent = parent_by_number, .parent_context = parents, .skip_singletons = true};
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &def, &blob), MICA_OK);
    mica_resource *resource = level_open(&blob);
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t number = ((const Number *)mica_resource_value(resource, i, 0))->value;
        uint32_t parent = mica_resource_parent(resource, i);
        ck_assert_int_eq(parent != MICA_NO_PARENT, number == 0);
        if (!number)
            ck_assert_uint_eq(((const Number *)mica_resource_value(resource, parent, 0))->value, 2);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
    parents[2] = entities[0];
    ck_assert_int_eq(mica_pack(world, &def, &blob), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "go round in a circle");
    close_world(world, &heard);
}
END_TEST

START_TEST(more_entities_than_there_can_be_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_create_many(world, 2, NULL, 0, NULL);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *resource = level_open(&blob);
    const mica_spawn_def def = {.copies = 1u << 31};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "spawn: more than 2^32 entities");
    ck_assert_ptr_null(mica_spawn_kept(world, resource, &def));
    expect_report(&heard, MICA_ERROR_LIMIT, "spawn_kept: more than 2^32 entities");
    /* So many copies of few, that a file with more has too many. */
    mica_spawned *kept = mica_spawn_kept(world, resource, &(mica_spawn_def){.copies = 1u << 18});
    mica_world *larger = open_world(&heard);
    mica_create_many(larger, 1u << 14, NULL, 0, NULL);
    mica_blob many;
    ck_assert_int_eq(mica_pack(larger, NULL, &many), MICA_OK);
    mica_resource *newer = level_open(&many);
    ck_assert_int_eq(mica_reload(kept, newer, NULL), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "reload: more than 2^32 entities");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 2 + (2u << 18));
    close_world(larger, &heard);
    mica_resource_free(newer);
    mica_blob_free(&many);
    mica_spawned_free(kept);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* What a program does in hooks while it is being spawned. */
static void kill_frozen(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_destroy(event->world, event->entities[i]);
}

static void take_health(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_remove(event->world, event->entities[i], Health);
}

typedef struct Ghost { uint32_t value; } Ghost;
MICA_POOL_WITH(Ghost, (.dying = MICA_DYING_AT_FLUSH), value)

START_TEST(hooks_may_kill_and_take_away_what_is_still_to_be_completed)
{
    mica_world *world = open_level_world();
    mica_entity root = mica_create(world, MICA_WITH(Number, {0})), dying, child, below;
    dying = mica_create_child(world, root, MICA_WITH(Frozen), MICA_WITH(Ghost, {1}));
    below = mica_create_child(world, dying, MICA_WITH(Number, {2}));
    child = mica_create_child(world, root, MICA_WITH(Health, {1, 1}), MICA_WITH(Ghost, {2}));
    mica_disable(world, child, Health);
    (void)below;
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    world = open_level_world();
    mica_define(world, Ghost);
    mica_hook_set(world, Frozen, MICA_EVENT_ADD, kill_frozen, NULL);
    mica_hook_set(world, Health, MICA_EVENT_ADD, take_health, NULL);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 3);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Ghost)));
    mica_entity ghost = mica_query_first(query);
    ck_assert_uint_eq(mica_query_count(query), 1);
    ck_assert(mica_get(world, ghost, Ghost)->value == 2 && !mica_has(world, ghost, Health));
    ck_assert_msg(mica_get(world, mica_parent(world, ghost), Number)->value == 0, "its parent lives");
    ck_assert_uint_eq(mica_child_count(world, mica_parent(world, ghost)), 1);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_file_is_saved_loaded_and_replaced)
{
    const char *path = scratch("level.mica");
    mica_world *world = open_level_world();
    ck_assert_int_eq(mica_save(world, path, NULL), MICA_OK);
    mica_resource *old = mica_resource_load(path, NULL, NULL);
    level_create(world);
    ck_assert_int_eq(mica_save(world, path, NULL), MICA_OK);
    mica_resource *resource = mica_resource_load(path, NULL, NULL);
    ck_assert_uint_eq(mica_resource_entity_count(old), 0);
    ck_assert_uint_eq(mica_resource_entity_count(resource), 12);
    ck_assert_int_eq(mica_save(world, "/nowhere/at/all.mica", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/nowhere/at/all.mica");
    ck_assert_int_eq(mica_write_file("/nowhere/at/all.mica", "", 0, NULL), MICA_ERROR_FILE);
    mica_resource_free(old);
    mica_resource_free(resource);
    remove(path);
    mica_resource_error error;
    ck_assert_ptr_null(mica_resource_load(path, NULL, &error));
    ck_assert_int_eq(error.result, MICA_ERROR_FILE);
    ck_assert_msg(strstr(error.text, path) != NULL, "the message names the file: %s", error.text);
    close_world(world, &heard);
}
END_TEST

START_TEST(bytes_that_are_not_aligned_are_copied)
{
    mica_blob blob = level_blob(NULL);
    char *shifted = malloc(blob.byte_count + 65);
    for (uint32_t shift = 0; shift < 65; shift += 13) {
        memcpy(shifted + shift, blob.bytes, blob.byte_count);
        mica_resource *resource = mica_resource_open(shifted + shift, blob.byte_count, NULL, NULL);
        ck_assert_ptr_nonnull(resource);
        mica_resource_free(resource);
    }
    free(shifted);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(spawn, a_spawn_while_the_world_records_is_refused, required_components_come_along_unless_the_world_continues,
           a_file_with_components_that_exclude_each_other_is_refused,
           references_are_those_of_the_entities_that_have_them_in_the_file, an_entity_has_the_instances_of_the_file,
           worlds_that_define_a_component_differently_spawn_in_turn, what_is_saved_is_spawned,
           compressed_sections_spawn_the_same, saving_twice_gives_the_same_bytes, one_resource_is_spawned_many_times,
           a_name_that_is_taken_is_an_error_or_left_out, an_unknown_component_is_refused_or_skipped,
           handles_come_out_in_the_order_of_the_file, handles_that_find_no_room_are_refused_before_anything_is_spawned,
           a_spawn_that_fails_uses_no_singleton, component_i_of_entity_j_is_found_directly,
           some_entities_are_saved_and_references_to_others_are_nil, an_empty_world_is_saved_and_spawned,
           parents_are_passed_to_the_link_function, children_are_linked_and_keep_their_order,
           many_copies_are_spawned_at_once, a_file_is_saved_loaded_and_replaced, bytes_that_are_not_aligned_are_copied,
           a_program_can_choose_parents_but_not_in_a_cycle, more_entities_than_there_can_be_are_refused,
           hooks_may_kill_and_take_away_what_is_still_to_be_completed)
