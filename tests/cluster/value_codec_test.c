#include "cluster/value_codec.h"

#include "mica/component.h"
#include "mica/name.h"
#include "mica/relation.h"
#include "mica/value.h"
#include "random.h"
#include "reports.h"
#include "test.h"

#include <string.h>

typedef struct Inner { bool is_on; mica_text note; } Inner;
typedef struct Everything { int8_t small; double real; Inner inner[2]; mica_list names; mica_list inners; char title[5]; } Everything;
typedef struct Half { float x, y; } Half;
typedef struct Coin { int64_t value; mica_text side; } Coin;
MICA_STRUCT(Inner, is_on, note)
MICA_COMPONENT(Everything, small, real, (inner, Inner), (names, mica_text), (inners, Inner), title)
MICA_COMPONENT_WITH(Half, (.split = true), x, y)
MICA_POOL_WITH(Coin, (.many = true), value, side)
typedef struct Sleepy { int hours; } Sleepy;
MICA_COMPONENT_WITH(Sleepy, (.toggle = true), hours)
MICA_TAG(Plain)

static micap_memory memory;

static void define_all(mica_world *world)
{
    mica_define(world, Everything), mica_define(world, Half), mica_define(world, Coin), mica_define(world, Sleepy);
    mica_define(world, Plain), mica_define(world, mica_identity);
}

static micap_codec codec_of(mica_world *world)
{
    if (!memory.allocator.allocate)
        micap_memory_init(&memory, (mica_allocator){0});
    micap_codec codec = {.memory = &memory, .world = world, .scratch = {.memory = &memory}};
    ck_assert(micap_codec_update(&codec));
    ck_assert_str_eq(codec.problem, "");
    return codec;
}

static mica_entity create_one(mica_world *world)
{
    mica_entity entity = mica_create(world, MICA_WITH(mica_identity, {77}), MICA_WITH(Half, {1.5f, 2}),
                                     MICA_WITH(Plain), MICA_WITH(Sleepy, {8}));
    Everything *all = mica_add(world, entity, Everything);
    all->small = -3;
    all->real = 0.1;
    memcpy(all->title, "title", 5);
    all->inner[1].is_on = true;
    mica_text_set(&all->inner[0].note, "a text that does not fit in place");
    mica_text_set(mica_list_append(&all->names, mica_text), "short");
    mica_text_set(mica_list_append(&all->names, mica_text), "another text that does not fit in place");
    mica_text_set(&mica_list_append(&all->inners, Inner)->note, "inside of a list");
    for (int i = 0; i < 3; ++i) {
        Coin *coin = mica_add_instance_id(world, entity, MICA_ID(Coin));
        coin->value = i * 100;
        mica_text_set(&coin->side, i ? "heads" : "tails of a very long coin");
    }
    mica_disable(world, entity, Sleepy);
    ck_assert_int_eq(mica_name_set(world, entity, mica_nil(), "the one"), MICA_OK);
    return entity;
}

static void expect_same_text(mica_world *a, mica_entity first, mica_world *b, mica_entity second)
{
    char here[4096], there[4096];
    ck_assert_uint_lt(mica_entity_write_json(a, first, here, sizeof here), sizeof here);
    ck_assert_uint_lt(mica_entity_write_json(b, second, there, sizeof there), sizeof there);
    ck_assert_str_eq(here, there);
}

START_TEST(an_entity_with_everything_is_the_same_in_another_world)
{
    reports heard, other_heard;
    mica_world *world = open_world(&heard), *other = open_world(&other_heard);
    define_all(world), define_all(other);
    mica_entity entity = create_one(world);
    micap_codec codec = codec_of(world), other_codec = codec_of(other);
    micap_bytes bytes = {.memory = &memory}, again = {.memory = &memory};
    micap_codec_put_entity(&codec, &bytes, entity);
    micap_reader reader = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count}, copy = reader;
    ck_assert_ptr_null(micap_codec_check_entity(&other_codec, &reader));
    ck_assert_uint_eq(micap_reader_left(&reader), 0);
    mica_entity arrived = micap_codec_create_entity(&other_codec, &copy, 77);
    ck_assert(!mica_is_nil(arrived));
    expect_same_text(world, entity, other, arrived);
    micap_codec_put_entity(&other_codec, &again, arrived);
    ck_assert_uint_eq(again.count, bytes.count);
    ck_assert_mem_eq(again.data, bytes.data, bytes.count);
    micap_bytes_free(&bytes), micap_bytes_free(&again);
    micap_codec_free(&codec), micap_codec_free(&other_codec);
    ck_assert_uint_eq(atomic_load(&memory.bytes), 0);
    close_world(world, &heard);
    close_world(other, &other_heard);
}
END_TEST

/* Every byte of an entity is replaced by others, and the end is cut off everywhere. */
START_TEST(bytes_of_another_rank_are_refused_or_harmless)
{
    reports heard;
    mica_world *world = open_world(&heard);
    define_all(world);
    mica_entity entity = create_one(world);
    micap_codec codec = codec_of(world);
    micap_bytes bytes = {.memory = &memory};
    micap_codec_put_entity(&codec, &bytes, entity);
    mica_destroy(world, entity);
    char *spoiled = malloc(bytes.count);
    uint32_t refused = 0, tries = 0;
    for (uint32_t at = 0; at < bytes.count; ++at)
        for (int kind = 0; kind < 4; ++kind) {
            const char values[] = {(char)(bytes.data[at] ^ 1), (char)0xFF, (char)(bytes.data[at] + 1), 0};
            uint32_t count = kind < 3 ? bytes.count : at;
            memcpy(spoiled, bytes.data, bytes.count);
            spoiled[at] = values[kind];
            micap_reader reader = {.begin = spoiled, .at = spoiled, .end = spoiled + count}, copy = reader;
            ++tries;
            if (micap_codec_check_entity(&codec, &reader)) {
                ++refused;
                continue;
            }
            mica_destroy(world, micap_codec_create_entity(&codec, &copy, 5));
        }
    ck_assert_uint_gt(refused, tries / 4);
    forget_reports(&heard); /* a world may refuse a name */
    free(spoiled);
    micap_bytes_free(&bytes);
    micap_codec_free(&codec);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
}
END_TEST

typedef struct Owner { mica_entity of; } Owner;
MICA_COMPONENT(Owner, of)
typedef struct Likes { int32_t much; } Likes;
MICA_RELATION(Likes, much)
MICA_RELATION_WITH(Above, (.acyclic = true))
static void destroy_nothing(void *value)
{
    (void)value;
}
typedef struct File { int number; } File;
MICA_COMPONENT_WITH(File, (.destroy_one = destroy_nothing), number)

/* Two entities that refer to each other go to another world one after the other: the second exists as a stand-in until it arrives. */
START_TEST(references_arrive_as_stand_ins_that_become_entities)
{
    reports heard, other_heard;
    mica_world *world = open_world(&heard), *other = open_world(&other_heard);
    micap_memory_init(&memory, (mica_allocator){0});
    micap_identity_map map = {.memory = &memory, .world = other};
    micap_codec from = {.memory = &memory, .world = world, .scratch = {.memory = &memory}};
    micap_codec to = {.memory = &memory, .world = other, .map = &map, .scratch = {.memory = &memory}};
    mica_define(other, Owner), mica_define(other, Likes), mica_define(other, mica_identity),
        mica_define(other, mica_remote);
    ck_assert(micap_codec_update(&to));
    ck_assert(to.has_references);
    mica_entity a = mica_create(world, MICA_WITH(mica_identity, {7})),
                b = mica_create(world, MICA_WITH(mica_identity, {8}));
    mica_entity c = mica_create(world, MICA_WITH(mica_identity, {9}));
    mica_set(world, b, Owner, {a});
    mica_relate(world, a, Likes, c)->much = 5;
    mica_relate(world, a, Likes, b)->much = 3;
    micap_bytes bytes = {.memory = &memory};
    mica_entity both[2], ends[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        bytes.count = 0;
        micap_codec_put_entity(&from, &bytes, ends[i]);
        micap_reader check = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count}, reader = check;
        ck_assert_ptr_null(micap_codec_check_entity(&to, &check));
        both[i] = micap_codec_create_entity(&to, &reader, 7 + (uint64_t)i);
        ck_assert(mica_same(both[i], micap_identity_map_find(&map, 7 + (uint64_t)i)));
        ck_assert_int_eq(mica_has(other, micap_identity_map_find(&map, 8), mica_remote), i == 0);
    }
    ck_assert_uint_eq(map.created_count, 2);
    ck_assert(mica_same(mica_get(other, both[1], Owner)->of, both[0]));
    ck_assert_int_eq(mica_edge_get(other, both[0], Likes, both[1])->much, 3);
    ck_assert(mica_same(mica_target(other, both[0], Likes), micap_identity_map_find(&map, 9))); /* in the same order */
    ck_assert(micap_codec_strip_entity(&to, both[0]));
    ck_assert(mica_has(other, both[0], mica_remote) && !mica_has(other, both[0], Likes));
    ck_assert(mica_same(mica_get(other, both[1], Owner)->of, both[0]));
    mica_destroy(world, a);
    bytes.count = 0;
    micap_codec_put_entity(&from, &bytes, b);
    micap_reader reader = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count};
    ck_assert(mica_is_nil(mica_get(other, micap_codec_create_entity(&to, &reader, 20), Owner)->of)); /* it has died */
    micap_bytes_free(&bytes);
    micap_codec_free(&from);
    micap_codec_free(&to);
    micap_identity_map_free(&map);
    close_world(world, &heard);
    close_world(other, &other_heard);
}
END_TEST

START_TEST(components_that_other_processes_cannot_use_are_named)
{
    ck_assert_ptr_null(micap_codec_problem(MICA_ID(Owner)));
    ck_assert_ptr_null(micap_codec_problem(MICA_ID(Likes)));
    ck_assert_ptr_nonnull(strstr(micap_codec_problem(MICA_ID(Above)), "acyclic"));
    ck_assert_ptr_nonnull(strstr(micap_codec_problem(MICA_ID(File)), "functions"));
    ck_assert_ptr_nonnull(micap_codec_problem(0));
    ck_assert_ptr_null(micap_codec_problem(MICA_ID(Everything)));
}
END_TEST

TEST_SUITE(value_codec, an_entity_with_everything_is_the_same_in_another_world,
           bytes_of_another_rank_are_refused_or_harmless, references_arrive_as_stand_ins_that_become_entities,
           components_that_other_processes_cannot_use_are_named)
