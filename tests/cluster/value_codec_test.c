#include "cluster/value_codec.h"

#include "mica/component.h"
#include "mica/hierarchy.h"
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

static mica_entity move(micap_codec *from, micap_codec *to, mica_entity entity, uint64_t identity)
{
    micap_bytes bytes = {.memory = &memory};
    micap_codec_put_entity(from, &bytes, entity);
    micap_reader check = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count}, reader = check;
    ck_assert_ptr_null(micap_codec_check_entity(to, &check));
    ck_assert_uint_eq(micap_reader_left(&check), 0);
    mica_entity arrived = micap_codec_create_entity(to, &reader, identity);
    micap_bytes_free(&bytes);
    return arrived;
}

/* A child goes to another world before its parent, then the parent; names go with them, also one whose scope has died. */
START_TEST(parents_and_scopes_arrive_as_stand_ins_that_become_entities)
{
    reports heard, other_heard;
    mica_world *world = open_world(&heard), *other = open_world(&other_heard);
    micap_memory_init(&memory, (mica_allocator){0});
    micap_identity_map map = {.memory = &memory, .world = other};
    micap_codec from = {.memory = &memory, .world = world, .has_references = true, .scratch = {.memory = &memory}};
    micap_codec to = {.memory = &memory, .world = other, .map = &map, .scratch = {.memory = &memory}};
    mica_define(other, mica_identity), mica_define(other, mica_remote);
    ck_assert(micap_codec_update(&to));
    mica_entity parent = mica_create(world, MICA_WITH(mica_identity, {7}));
    mica_entity child = mica_create_child(world, parent, MICA_WITH(mica_identity, {8}));
    mica_entity named = mica_create(world, MICA_WITH(mica_identity, {9})), dead = mica_create(world);
    mica_name_set(world, parent, mica_nil(), "house");
    mica_name_set(world, child, parent, "door");
    mica_name_set(world, named, dead, "lost");
    mica_destroy(world, dead);
    mica_entity there = move(&from, &to, child, 8);
    ck_assert(mica_has(other, mica_parent(other, there), mica_remote));
    ck_assert(mica_is_nil(mica_find(other, "house/door")));
    mica_entity house = move(&from, &to, parent, 7);
    ck_assert(mica_same(mica_parent(other, there), house) && !mica_has(other, house, mica_remote));
    ck_assert(mica_same(mica_find(other, "house/door"), there));
    mica_entity lost = move(&from, &to, named, 9), scope = mica_name_get_scope(other, lost);
    ck_assert_str_eq(mica_name_get(other, lost), "lost");
    ck_assert(!mica_is_nil(scope) && !mica_is_alive(other, scope));
    ck_assert(micap_codec_strip_entity(&to, there));
    ck_assert(mica_is_nil(mica_parent(other, there)) && !mica_name_get(other, there));
    ck_assert(micap_codec_strip_entity(&to, house));
    micap_codec_free(&from);
    micap_codec_free(&to);
    micap_identity_map_free(&map);
    close_world(world, &heard);
    close_world(other, &other_heard);
}
END_TEST

/* Links without a map of identities, with missing names and identities, and with itself. */
START_TEST(links_of_another_rank_are_refused_or_harmless)
{
    static const struct {
        uint32_t links;
        const char *name;
        uint64_t scope, parent;
        bool has_map, is_refused;
    } cases[] = {
        {1, "name", 5, 0, true, false}, {2, "", 0, 5, true, false},      {3, "name", 5, 6, true, false},
        {1, "", 5, 0, true, true},      {2, "", 0, 0, true, true},       {2, "", 0, 5, false, true},
        {1, "name", 5, 0, false, true}, {1, "name", 0, 0, false, false}, {4, "", 0, 0, true, true},
        {1, "name", 9, 0, true, false}, {2, "", 0, 9, true, false}, /* these are the entity itself */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_define(world, mica_identity), mica_define(world, mica_remote);
        micap_codec codec = codec_of(world);
        micap_identity_map map = {.memory = &memory, .world = world};
        codec.map = cases[i].has_map ? &map : NULL;
        micap_bytes bytes = {.memory = &memory};
        micap_bytes_put_text(&bytes, cases[i].name);
        micap_bytes_put_number(&bytes, (uint64_t)cases[i].links * 256);
        if (cases[i].links & 1)
            micap_bytes_put64(&bytes, cases[i].scope);
        if (cases[i].links & 2)
            micap_bytes_put64(&bytes, cases[i].parent);
        micap_reader reader = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count}, copy = reader;
        ck_assert_int_eq(micap_codec_check_entity(&codec, &reader) != NULL, cases[i].is_refused);
        bool is_itself = cases[i].scope == 9 || cases[i].parent == 9;
        if (!cases[i].is_refused)
            ck_assert_int_eq(mica_is_nil(micap_codec_create_entity(&codec, &copy, 9)), is_itself);
        if (is_itself)
            forget_reports(&heard);
        micap_bytes_free(&bytes);
        micap_codec_free(&codec);
        micap_identity_map_free(&map);
        close_world(world, &heard);
    }
}
END_TEST

typedef struct Padded { int8_t first; int32_t second; } Padded;
typedef struct Pair { float x, y; } Pair;
typedef struct Packed { Pair at[2]; int32_t number; uint16_t small[2]; } Packed;
typedef struct Flags { bool is_on[4]; } Flags;
typedef struct Nested { Padded padded; int32_t last; } Nested;
typedef struct Hidden { int32_t shown, hidden; } Hidden;
MICA_COMPONENT(Padded, first, second)
MICA_STRUCT(Pair, x, y)
MICA_COMPONENT(Packed, (at, Pair), number, small)
MICA_COMPONENT(Flags, is_on)
MICA_COMPONENT(Nested, (padded, Padded), last)
MICA_COMPONENT(Hidden, shown)

/* Whatever is in memory that no field describes stays there. */
START_TEST(only_described_bytes_are_written)
{
    const struct {
        mica_component component;
        uint32_t byte_count;
        bool is_plain;
    } cases[] = {{MICA_ID(Padded), 5, false}, {MICA_ID(Packed), 24, true}, {MICA_ID(Flags), 4, false},
                 {MICA_ID(Nested), 9, false}, {MICA_ID(Hidden), 4, false}, {MICA_ID(Sleepy), 4, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        const mica_type *type = mica_component_type(cases[i].component);
        mica_component_define(world, type);
        micap_codec codec = codec_of(world);
        ck_assert_uint_eq(codec.kinds[0].plain_bytes, cases[i].is_plain ? type->size_bytes : 0);
        micap_bytes bytes[2] = {{.memory = &memory}, {.memory = &memory}};
        for (int k = 0; k < 2; ++k) {
            char value[64];
            memset(value, 1, sizeof value);
            for (uint32_t at = 0; at < type->size_bytes && cases[i].component == MICA_ID(Hidden); ++at)
                value[at] = (char)(at < 4 ? 1 : k);
            value[1] = (char)(cases[i].component == MICA_ID(Padded) || cases[i].component == MICA_ID(Nested) ? k : 1);
            mica_entity entity = mica_create_id(world, &(mica_value){cases[i].component, type->size_bytes, value}, 1);
            micap_codec_put_entity(&codec, &bytes[k], entity);
            ck_assert_uint_eq(bytes[k].count, 2 + 8 + 1 + cases[i].byte_count);
        }
        ck_assert_mem_eq(bytes[0].data, bytes[1].data, bytes[0].count);
        micap_bytes_free(&bytes[0]), micap_bytes_free(&bytes[1]);
        micap_codec_free(&codec);
        close_world(world, &heard);
    }
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
           parents_and_scopes_arrive_as_stand_ins_that_become_entities, links_of_another_rank_are_refused_or_harmless,
           only_described_bytes_are_written, components_that_other_processes_cannot_use_are_named)
