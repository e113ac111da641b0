/* Destroying many entities leaves the world as destroying one after the other does: the same rows in the same order, in chunks and in
 * pools, and the same handles next. */
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Burning {
    float seconds_left;
} Burning;
MICA_POOL(Burning, seconds_left)

typedef struct Wet {
    float depth;
    uint64_t since;
} Wet;
MICA_POOL_WITH(Wet, (.index = MICA_INDEX_HASH), depth, since)

typedef struct Seat {
    uint32_t number;
} Seat;
MICA_POOL_WITH(Seat, (.index = MICA_INDEX_DIRECT), number)

typedef struct Left {
    uint32_t value;
} Left;
typedef struct Right {
    uint8_t values[12];
} Right;
MICA_POOL(Left, value)
MICA_POOL_WITH(Right, (.index = MICA_INDEX_HASH), values)

typedef struct Slow {
    uint32_t value;
} Slow;
MICA_POOL_WITH(Slow, (.dying = MICA_DYING_LAZILY), value)

MICA_POOL_TAG(Chosen)

enum { ENTITIES = 1500, ROUNDS = 8, HOOKED = 1, NAMED = 2, LINKED = 4, SAVED = 8, CIRCUMSTANCES = 16 };

typedef struct twin {
    mica_world *world;
    mica_entity entities[ENTITIES];
    uint64_t heard;
} twin;

static void listen(const mica_event *event)
{
    uint64_t *hash = event->context;
    for (uint32_t i = 0; i < event->count; ++i)
        *hash = *hash * 0x9e3779b97f4a7c15u + event->entities[i].index;
}

typedef struct drawing {
    uint32_t archetypes; /* how many are used in turn */
    bool in_order;       /* entities of an archetype were created one after the other */
    uint32_t pools;      /* one in so many is in a pool; 0: none is */
} drawing;

static void give_pools(twin *twin, mica_entity entity, uint32_t value)
{
    mica_world *world = twin->world;
    if (value & 1)
        mica_set(world, entity, Burning, {(float)value});
    if (value & 2)
        mica_set(world, entity, Wet, {(float)value, value});
    if (value & 4)
        mica_set(world, entity, Seat, {value});
    if (value & 8)
        mica_set(world, entity, Left, {value});
    if (value & 16)
        mica_set(world, entity, Right, {{(uint8_t)value}});
    if (value & 32)
        mica_add(world, entity, Chosen);
    if ((value & 0x1C0) == 0x1C0)
        mica_set(world, entity, Slow, {value});
}

static void populate(twin *twin, uint32_t circumstance, drawing drawing, random_source random)
{
    mica_world *world = twin->world = open_world_of_small_chunks(&heard);
    mica_group(world, Left, Right);
    if (circumstance & HOOKED)
        mica_hook_set(world, Position, MICA_EVENT_REMOVE, listen, &twin->heard);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        uint32_t kind = drawing.in_order ? i * drawing.archetypes / ENTITIES : i % drawing.archetypes;
        mica_entity entity = mica_create(world);
        twin->entities[i] = entity;
        if (kind % 2)
            mica_set(world, entity, Position, {(float)i, 0, 0});
        if (kind % 3)
            mica_set(world, entity, Number, {i});
        if (kind / 6 % 2)
            mica_add(world, entity, Frozen);
        if (kind / 6 % 3 == 2)
            mica_add(world, entity, Text);
        if (kind / 12 % 2)
            mica_set(world, entity, Color, {(uint8_t)i, 0, 0});
        if (drawing.pools && random_one_in(&random, drawing.pools))
            give_pools(twin, entity, random_u32(&random));
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        if (circumstance & NAMED && random_one_in(&random, 4))
            mica_name_set(world, entity, mica_nil(), name);
        if (circumstance & LINKED && i && random_one_in(&random, 4))
            mica_set_parent(world, entity, twin->entities[random_below(&random, i)]);
    }
}

static uint32_t draw_list(uint32_t round, random_source *random, const twin *twin, mica_entity *out)
{
    uint32_t begin = random_below(random, ENTITIES), count = 1 + random_below(random, ENTITIES - begin);
    for (uint32_t i = 0; i < count; ++i) {
        switch (round % 4) {
        case 0: out[i] = twin->entities[begin + i]; break;                      /* in order */
        case 1: out[i] = twin->entities[begin + count - 1 - i]; break;          /* backwards */
        case 2: out[i] = twin->entities[random_below(random, ENTITIES)]; break; /* some twice */
        default:
            out[i] = twin->entities[begin + (i ^ (random_one_in(random, 8) && (i ^ 1) < count))]; /* nearly in order */
        }
        if (random_one_in(random, 64))
            out[i] = mica_nil();
    }
    return count;
}

static uint32_t destroy_one_by_one(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t before = mica_world_get_stats(world).entity_count;
    for (uint32_t i = 0; i < count; ++i)
        if (mica_is_alive(world, entities[i]))
            mica_destroy(world, entities[i]);
    return before - mica_world_get_stats(world).entity_count;
}

/* What a query shows, in its order. */
static uint64_t hash_of_loop(mica_world *world, mica_component component)
{
    uint64_t hash = 0;
    mica_term term = {.component = component, .access = MICA_ACCESS_HAS};
    mica_query *query = mica_query_create(world, &(mica_query_def){.terms = &term, .term_count = component != 0});
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            hash = (hash + view.entities[i].index) * 0x9e3779b97f4a7c15u + view.entities[i].generation;
    mica_query_destroy(query);
    return hash;
}

static void compare(const twin *many, const twin *single)
{
    const mica_component components[] = {0,
                                         MICA_ID(Burning),
                                         MICA_ID(Wet),
                                         MICA_ID(Seat),
                                         MICA_ID(Left),
                                         MICA_ID(Right),
                                         MICA_ID(Chosen),
                                         MICA_ID(Slow)};
    ck_assert_msg(mica_world_hash(many->world) == mica_world_hash(single->world), "the worlds have the same content");
    for (uint32_t i = 0; i < COUNT_OF(components); ++i)
        ck_assert_msg(hash_of_loop(many->world, components[i]) == hash_of_loop(single->world, components[i]),
                      "the rows of component %u are in the same order", i);
    ck_assert_uint_eq(many->heard, single->heard);
    ck_assert_int_eq(mica_world_validate(many->world), MICA_OK);
}

static void play(uint32_t circumstance, drawing drawing, uint32_t round)
{
    static twin many, single;
    static mica_entity list[ENTITIES];
    random_source random = {circumstance * 1000 + round};
    many.heard = single.heard = 0;
    populate(&many, circumstance, drawing, random);
    populate(&single, circumstance, drawing, random);
    mica_snapshot snapshot = {0};
    uint64_t before = mica_world_hash(many.world);
    if (circumstance & SAVED)
        snapshot = mica_snapshot_take(many.world);
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t count = draw_list(round + i, &random, &many, list);
        ck_assert_uint_eq(mica_destroy_many(many.world, list, count), destroy_one_by_one(single.world, list, count));
        compare(&many, &single);
        for (uint32_t k = 0; k < count / 2; ++k)
            ck_assert_msg(mica_same(mica_create(many.world), mica_create(single.world)),
                          "handles come in the same order");
        compare(&many, &single);
    }
    if (circumstance & SAVED) {
        ck_assert_int_eq(mica_snapshot_restore(many.world, snapshot), MICA_OK);
        ck_assert_msg(mica_world_hash(many.world) == before, "a snapshot brings everything back");
        ck_assert_int_eq(mica_world_validate(many.world), MICA_OK);
    }
    close_world(many.world, &heard);
    close_world(single.world, &heard);
}

START_TEST(destroying_many_is_the_same_as_one_by_one)
{
    static const drawing drawings[] = {
        {1, true, 0}, {6, true, 0}, {24, true, 2}, {6, false, 0}, {24, false, 0}, {24, false, 3}, {1, true, 1}, {1, true, 4},
    };
    uint32_t rounds = UNDER_SANITIZER ? ROUNDS / 2 : ROUNDS;
    for (uint32_t round = 0; round < rounds; ++round)
        for (uint32_t i = 0; i < COUNT_OF(drawings); ++i)
            play((uint32_t)_i, drawings[i], round);
}
END_TEST

/* A flush destroys entities whose rows do not follow each other together, too. */
START_TEST(recorded_destroys_in_any_order_are_the_same_as_one_by_one)
{
    static const drawing drawings[] = {{6, false, 0}, {6, true, 0}, {1, true, 1}};
    static twin many, single;
    static mica_entity list[ENTITIES];
    for (uint32_t i = 0; i < COUNT_OF(drawings) * 2; ++i) {
        random_source random = {i};
        many.heard = single.heard = 0;
        populate(&many, 0, drawings[i / 2], random);
        populate(&single, 0, drawings[i / 2], random);
        uint64_t before = mica_world_hash(many.world);
        mica_snapshot snapshot = i % 2 ? mica_snapshot_take(many.world) : (mica_snapshot){0};
        for (uint32_t round = 0; round < 4; ++round) {
            uint32_t count = draw_list(round, &random, &many, list);
            mica_defer(many.world);
            mica_destroy_many(many.world, list, count);
            ck_assert_int_eq(mica_flush(many.world), MICA_OK);
            destroy_one_by_one(single.world, list, count);
            compare(&many, &single);
        }
        if (i % 2) {
            ck_assert_int_eq(mica_snapshot_restore(many.world, snapshot), MICA_OK);
            ck_assert_msg(mica_world_hash(many.world) == before, "a snapshot brings everything back");
        }
        close_world(many.world, &heard);
        close_world(single.world, &heard);
    }
}
END_TEST

/* Rows that lie one after the other leave a pool together; what follows them in the list lies elsewhere. */
START_TEST(components_of_a_list_leave_their_pools)
{
    mica_world *world = open_world(&heard);
    mica_group(world, Left, Right);
    mica_entity entities[64];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        entities[i] = mica_create(world, MICA_WITH(Burning, {(float)i}), MICA_WITH(Wet, {(float)i, i}),
                                  MICA_WITH(Left, {i}), MICA_WITH(Right, {{(uint8_t)i}}));
        if (i % 3 == 2)
            mica_set(world, entities[i], Number, {(int)i});
        if (i % 2)
            mica_add(world, entities[i], Chosen);
    }
    mica_query *unnumbered = mica_query_create(world, MICA_QUERY(MICA_HAS(Burning), MICA_WITHOUT(Number)));
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_HAS(Left)));
    ck_assert_int_eq(mica_remove_all(unnumbered, Burning), MICA_OK);
    ck_assert_int_eq(mica_remove_all(all, Right), MICA_OK);
    ck_assert_int_eq(mica_remove_all(all, Wet), MICA_OK);
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        const Burning *burning = mica_get(world, entities[i], Burning);
        ck_assert(i % 3 == 2 ? burning && burning->seconds_left == (float)i : !burning);
        ck_assert(!mica_has(world, entities[i], Wet) && !mica_has(world, entities[i], Right));
        ck_assert_uint_eq(mica_get(world, entities[i], Left)->value, i);
    }
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_query_destroy(unnumbered);
    mica_query_destroy(all);
    close_world(world, &heard);
}
END_TEST

MICA_POOL_TAG(Marked)

/* The entities of a tag are visited by their indices; another tag says which of them. */
START_TEST(entities_with_two_tags_are_those_with_both)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[300];
    uint32_t both = 0, seen = 0;
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        entities[i] = mica_create(world);
        if (i % 100 < 60)
            mica_add(world, entities[i], Chosen);
        if (i / 10 % 3)
            mica_add(world, entities[i], Marked);
        both += i % 100 < 60 && i / 10 % 3;
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Chosen), MICA_HAS(Marked)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); seen += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert(mica_has(world, view.entities[i], Chosen) && mica_has(world, view.entities[i], Marked));
    ck_assert_uint_eq(seen, both);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(slots_that_are_used_up_retire)
{
    mica_world_def def = mica_world_def_default();
    def.handle_space = 3; /* its handles have fewer generations */
    mica_world *world = mica_world_create(&def);
    mica_entity old[4] = {0}, pair[4];
    uint32_t lives = 0;
    for (bool is_reused = true; is_reused && lives < 1 << 17; ++lives) {
        for (uint32_t i = 0; i < COUNT_OF(pair); ++i)
            pair[i] = mica_create(world);
        is_reused = !lives;
        for (uint32_t i = 0; i < COUNT_OF(pair); ++i)
            is_reused = is_reused || pair[0].index == old[i].index;
        ck_assert_uint_eq(mica_destroy_many(world, pair, COUNT_OF(pair)), COUNT_OF(pair));
        memcpy(old, pair, sizeof old);
    }
    ck_assert_uint_gt(lives, 1000);
    ck_assert_uint_lt(lives, 1 << 17);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("core");
    tcase_add_test(cases, components_of_a_list_leave_their_pools);
    tcase_add_test(cases, entities_with_two_tags_are_those_with_both);
    tcase_add_test(cases, slots_that_are_used_up_retire);
    tcase_add_test(cases, recorded_destroys_in_any_order_are_the_same_as_one_by_one);
    tcase_set_timeout(cases, 600);
    tcase_add_loop_test(cases, destroying_many_is_the_same_as_one_by_one, 0, CIRCUMSTANCES);
    return test_run("destroy_list", cases);
}
