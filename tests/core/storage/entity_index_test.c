/* Handles from the inside: those that another world gave out, blocks that buffers took ahead of the owner, and what is left when there are
 * no indices any more. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "core/storage/rows.h"
#include "core/world/world.h"
#include "mica/hash.h"
#include "mica/snapshot.h"

#include <string.h>

enum {
    LIVING_MAX = 4000,
    BUFFERS = 3,
    SNAPSHOTS = 3,
    CLAIMS_MAX = 12,
    NEXT = 3 * MICAP_ID_BLOCK, /* reaches into holes */
    PAGES = 6,
    CROWD = 2 * MICAP_PAGE_RECORDS - 100
};

static reports heard;

/* The handles that live, in any order. */
typedef struct living {
    uint32_t count;
    mica_entity list[LIVING_MAX];
} living;

typedef struct play {
    mica_world *world;
    random_source random;
    mica_commands *buffers[BUFFERS];
    living now;
    uint32_t crowd; /* that lives beside them and fills pages */
    struct {
        mica_snapshot handle;
        uint64_t hash;
        living then;
        uint32_t crowd;
        mica_entity next[NEXT]; /* the first handles after it */
    } kept[SNAPSHOTS];
} play;

static void expect_new(const living *living, mica_entity entity)
{
    REQUIRE(!mica_is_nil(entity));
    for (uint32_t i = 0; i < living->count; ++i)
        REQUIRE_SAYING(living->list[i].index != entity.index, "slot %u is given out twice", entity.index);
}

static void note(play *play, mica_entity entity)
{
    expect_new(&play->now, entity);
    REQUIRE(mica_is_alive(play->world, entity));
    play->now.list[play->now.count++] = entity;
}

static void create_some(play *play)
{
    mica_entity made[40];
    uint32_t count = random_below(&play->random, 40);
    if (random_one_in(&play->random, 2))
        REQUIRE(mica_create_many(play->world, count, NULL, 0, made) == MICA_OK);
    else
        for (uint32_t i = 0; i < count; ++i)
            made[i] = mica_create(play->world, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < count; ++i)
        note(play, made[i]);
}

static void destroy_some(play *play)
{
    for (uint32_t i = random_below(&play->random, 60); play->now.count && i-- > 0;) {
        mica_entity *dead = &play->now.list[random_below(&play->random, play->now.count)];
        REQUIRE(mica_destroy(play->world, *dead));
        *dead = play->now.list[--play->now.count];
    }
}

/* Buffers use up their stock and take blocks, more of one than of another, so that there are holes. */
static void record_some(play *play)
{
    mica_entity made[200];
    uint32_t count = random_below(&play->random, 200), at = random_below(&play->random, BUFFERS);
    for (uint32_t i = 0; i < count; ++i)
        made[i] = mica_command_create_id(play->buffers[at], NULL, 0, MICA_HERE);
    REQUIRE(mica_flush(play->world) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i)
        note(play, made[i]);
}

/* Now and then, and all at once. */
static void destroy_all(play *play)
{
    if (!random_one_in(&play->random, 3))
        return;
    mica_world_clear(play->world);
    play->now.count = play->crowd = 0;
}

/* An index that is likely to be a special case: a hole, a fresh index, one after the last, a destroyed entity, or any. */
static uint32_t any_index(play *play)
{
    const micap_entities *entities = &play->world->entities;
    uint32_t page = entities->first_page;
    switch (random_below(&play->random, 5)) {
    case 0:
        if (entities->hole_count)
            return entities->holes[random_below(&play->random, entities->hole_count)] +
                   random_below(&play->random, MICAP_ID_BLOCK);
        return 1;
    case 1: return (uint32_t)entities->fresh_next + random_below(&play->random, 3);
    case 2: return (uint32_t)entities->high_water + random_below(&play->random, 2 * MICAP_PAGE_RECORDS);
    case 3:
        page = page && entities->pages[page - 1].next && random_one_in(&play->random, 2)
                   ? entities->pages[page - 1].next
                   : page;
        return page ? (page - 1) << MICAP_PAGE_SHIFT | entities->pages[page - 1].first_free : 1;
    default: return 1 + random_below(&play->random, PAGES * MICAP_PAGE_RECORDS);
    }
}

/* Handles that are free here, by rising index, as another world may have given them out. */
static uint32_t choose_handles(play *play, mica_entity *out)
{
    uint32_t count = 0;
    micap_entities_free_spare(play->world);
    for (uint32_t i = 1 + random_below(&play->random, CLAIMS_MAX); i-- > 0;) {
        uint32_t index = any_index(play), at = count;
        if (index >= PAGES * MICAP_PAGE_RECORDS || !micap_entities_reserve_at(play->world, index))
            continue;
        uint64_t record = *micap_record_at(&play->world->entities, index);
        while (at && out[at - 1].index > index)
            --at;
        if (micap_record_chunk(record) != MICAP_CHUNK_NONE || micap_record_is_reserved(record) ||
            (at && out[at - 1].index == index))
            continue;
        memmove(out + at + 1, out + at, (count++ - at) * sizeof *out);
        out[at] = (mica_entity){index, micap_record_generation(record) + 1 + random_below(&play->random, 3)};
    }
    return count;
}

static void claim_some(play *play)
{
    mica_entity claimed[CLAIMS_MAX];
    mica_world *world = play->world;
    micap_archetype *nothing = world->archetypes.by_id[0];
    uint32_t count = choose_handles(play, claimed);
    REQUIRE(micap_rows_reserve(world, nothing, count));
    micap_entities_claim(world, claimed, count);
    for (uint32_t i = 0; i < count; ++i)
        micap_rows_commit(world, micap_rows_next(nothing), claimed[i]);
    ++world->structure;
    for (uint32_t i = 0; i < count; ++i)
        note(play, claimed[i]);
}

static void keep_or_go_back(play *play)
{
    uint32_t at = random_below(&play->random, SNAPSHOTS);
    if (!mica_snapshot_bytes(play->world, play->kept[at].handle) && random_one_in(&play->random, 2)) {
        mica_snapshot_drop(play->world, play->kept[at].handle);
        play->kept[at].handle = mica_snapshot_take(play->world);
        play->kept[at].hash = mica_world_hash(play->world);
        play->kept[at].then = play->now;
        play->kept[at].crowd = play->crowd;
        for (uint32_t i = 0; i < NEXT; ++i)
            play->kept[at].next[i] = mica_create(play->world);
        REQUIRE(mica_snapshot_restore(play->world, play->kept[at].handle) == MICA_OK);
    } else if (mica_snapshot_restore(play->world, play->kept[at].handle) == MICA_OK) {
        for (uint32_t i = 0; i < NEXT; ++i)
            REQUIRE(mica_same(mica_create(play->world), play->kept[at].next[i]));
        REQUIRE(mica_snapshot_restore(play->world, play->kept[at].handle) == MICA_OK);
        REQUIRE(mica_world_hash(play->world) == play->kept[at].hash);
        play->now = play->kept[at].then;
        play->crowd = play->kept[at].crowd;
    }
    forget_reports(&heard); /* there may have been none to go back to */
}

/* A copy knows the same handles, and gives out none of them. */
static void copy_world(play *play)
{
    mica_world *copy = mica_world_clone(play->world);
    REQUIRE(copy && mica_world_validate(copy) == MICA_OK);
    REQUIRE(mica_world_hash(copy) == mica_world_hash(play->world));
    for (uint32_t i = 0; i < 300; ++i)
        expect_new(&play->now, mica_create(copy));
    mica_world_destroy(copy);
}

static void expect_all_alive(const play *play)
{
    REQUIRE_SAYING(mica_world_validate(play->world) == MICA_OK, "%s", heard.list[0].text);
    REQUIRE(micap_entity_count(play->world) == play->now.count + play->crowd);
    for (uint32_t i = 0; i < play->now.count; ++i)
        REQUIRE(mica_is_alive(play->world, play->now.list[i]));
}

START_TEST(handles_are_never_returned_twice)
{
    static void (*const steps[])(play *) = {create_some,  destroy_some,    record_some,     claim_some, claim_some,
                                            destroy_some, keep_or_go_back, keep_or_go_back, destroy_all};
    static play play;
    for (uint32_t round = 0; round < 12; ++round) {
        memset(&play, 0, sizeof play);
        play.random.state = (uint64_t)round * 77 + 1;
        play.world = open_world(&heard);
        for (uint32_t i = 0; i < BUFFERS; ++i)
            play.buffers[i] = mica_commands_create(play.world);
        play.crowd = round % 2 ? CROWD : 0;
        REQUIRE(mica_create_many(play.world, play.crowd, NULL, 0, NULL) == MICA_OK);
        for (uint32_t step = 0; step < 60; ++step) {
            if (play.now.count < LIVING_MAX - 300)
                steps[random_below(&play.random, sizeof steps / sizeof *steps)](&play);
            else
                destroy_some(&play);
            expect_all_alive(&play);
            if (step % 20 == 19)
                copy_world(&play);
        }
        close_world(play.world, &heard);
    }
}
END_TEST

/* Whether one of them is destroyed or all are cleared away at once. */
START_TEST(a_slot_whose_generations_are_used_up_is_given_out_no_more)
{
    for (int clears = 0; clears < 2; ++clears) {
        mica_world *world = open_world(&heard);
        const mica_entity old = {50, MICAP_GENERATION_MAX};
        micap_archetype *nothing = world->archetypes.by_id[0];
        ck_assert(micap_rows_reserve(world, nothing, 1));
        micap_entities_claim(world, &old, 1);
        micap_rows_commit(world, micap_rows_next(nothing), old);
        ++world->structure;
        ck_assert(clears ? mica_world_clear(world) == MICA_OK : mica_destroy(world, old));
        ck_assert(!mica_is_alive(world, old));
        for (uint32_t i = 0; i < 200; ++i)
            ck_assert_uint_ne(mica_create(world).index, old.index);
        close_world(world, &heard);
    }
}
END_TEST

/* The last of all indices is claimed, so that no index is after it. */
START_TEST(without_indices_nothing_is_created_until_something_dies)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    static mica_entity made[MICAP_PAGE_RECORDS];
    const mica_entity last = {UINT32_MAX, 7};
    ck_assert(micap_entities_reserve_at(world, last.index));
    micap_entities_claim(world, &last, 1);
    micap_entity_retire(&world->entities, last.index);
    uint32_t count = 0;
    while (!mica_is_nil(made[count] = mica_create(world)))
        ++count;
    expect_report(&heard, MICA_ERROR_MEMORY, "create");
    ck_assert_uint_eq(count, MICAP_PAGE_RECORDS - 1); /* the first page without nil */
    ck_assert_msg(mica_create_many(world, 2, NULL, 0, NULL) == MICA_ERROR_MEMORY, "nor in bulk");
    expect_report(&heard, MICA_ERROR_MEMORY, "create_many");
    ck_assert_msg(mica_is_nil(mica_command_create_id(commands, NULL, 0, MICA_HERE)), "nor recorded");
    expect_report(&heard, MICA_ERROR_MEMORY, "create");
    uint32_t ahead;
    ck_assert_msg(!micap_entity_peek(world, &world->entities, &ahead), "there is none to look at either");
    ck_assert_uint_eq(micap_entity_count(world), count);
    ck_assert(mica_destroy(world, made[5]));
    mica_entity next = mica_create(world);
    ck_assert_uint_eq(next.index, made[5].index);
    ck_assert_uint_eq(next.generation, made[5].generation + 1);
    expect_no_report(&heard);
    mica_world_destroy(world); /* unchecked: that would look at four billion slots */
}
END_TEST

static void expect_number(const mica_world *world, mica_entity entity, uint32_t value)
{
    const Number *number = mica_get(world, entity, Number);
    REQUIRE(number && number->value == value && number == mica_get_id(world, entity, MICA_ID(Number)));
    REQUIRE(mica_has(world, entity, Number) && !mica_has(world, entity, Mass) && !mica_get(world, entity, Mass));
    const mica_entity others[] = {{entity.index, entity.generation + 1},
                                  {entity.index, entity.generation - 1},
                                  {entity.index, entity.generation + (1U << 24)},
                                  {entity.index, entity.generation | 1U << 31}};
    for (uint32_t i = 0; i < COUNT_OF(others); ++i)
        REQUIRE(!mica_get(world, others[i], Number) && !mica_has(world, others[i], Number));
}

/* A buffer that overflows takes pages beside the array while threads look up; the owner moves them into it. */
START_TEST(records_of_buffers_that_overflow_are_found_before_and_after_they_move)
{
    enum { MANY = 20 * MICAP_PAGE_RECORDS };
    static mica_entity made[MANY];
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        made[i] = mica_command_create(commands, MICA_WITH(Number, {i}));
        REQUIRE(!mica_is_nil(made[i]));
    }
    ck_assert_uint_ge(made[MANY - 1].index, world->lookup.record_count);
    ck_assert(mica_is_alive(world, made[MANY - 1]));
    ck_assert_ptr_null(mica_get(world, made[MANY - 1], Number));
    ck_assert(!mica_has(world, made[MANY - 1], Number));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_create(world);
    for (uint32_t i = 0; i < MANY; ++i)
        expect_number(world, made[i], i);
    ck_assert_uint_lt(made[MANY - 1].index, world->lookup.record_count);
    close_world(world, &heard);
}
END_TEST

/* The handle of another world can have any index. */
START_TEST(a_record_far_after_the_others_is_not_in_the_array)
{
    mica_world *world = open_world(&heard);
    const mica_entity list[] = {{5000, 3}, {1U << 30, 2}};
    mica_entity first = mica_create(world, MICA_WITH(Number, {7}));
    for (uint32_t i = 0; i < COUNT_OF(list); ++i) {
        ck_assert(micap_entities_reserve_at(world, list[i].index));
        micap_entities_claim(world, &list[i], 1);
        micap_archetype *archetype = micap_locate(world, first).chunk->archetype;
        ck_assert(micap_rows_reserve(world, archetype, 1));
        micap_rows_commit(world, micap_rows_next(archetype), list[i]);
        ++world->structure;
        mica_write(world, list[i], Number)->value = i;
    }
    ck_assert_uint_gt(world->lookup.record_count, list[0].index);
    ck_assert_uint_lt(world->lookup.record_count, list[1].index);
    const void *found[COUNT_OF(list)];
    ck_assert_uint_eq(mica_get_many_id(world, list, COUNT_OF(list), MICA_ID(Number), found), COUNT_OF(list));
    mica_ref ref = mica_ref_of(list[1], Number);
    for (uint32_t i = 0; i < COUNT_OF(list); ++i) {
        expect_number(world, list[i], i);
        ck_assert_ptr_eq(found[i], mica_get(world, list[i], Number));
    }
    ck_assert_ptr_eq(mica_ref_read(world, &ref, Number), found[1]);
    ++world->structure;
    ck_assert_ptr_eq(mica_ref_read(world, &ref, Number), found[1]);
    ck_assert_int_eq(mica_create_many(world, 3 * MICAP_PAGE_RECORDS, NULL, 0, NULL), MICA_OK);
    ck_assert_msg(world->lookup.record_count < list[1].index, "also if others follow it");
    ck_assert_msg(mica_destroy(world, list[1]) && mica_destroy(world, list[0]), "they are ordinary entities");
    ck_assert_msg(!mica_get(world, list[1], Number) && !mica_has(world, list[1], Number), "which die");
    expect_number(world, first, 7);
    expect_no_report(&heard);
    mica_world_destroy(world); /* unchecked: that would look at a billion slots */
}
END_TEST

static void claim_number(mica_world *world, mica_entity entity, uint32_t value)
{
    mica_entity any = mica_create(world, MICA_WITH(Number, {0}));
    micap_archetype *archetype = micap_locate(world, any).chunk->archetype;
    ck_assert(micap_entities_reserve_at(world, entity.index) && micap_rows_reserve(world, archetype, 1));
    micap_entities_claim(world, &entity, 1);
    micap_rows_commit(world, micap_rows_next(archetype), entity);
    ++world->structure;
    mica_write(world, entity, Number)->value = value;
}

/* A page before the last one that did not exist when the snapshot was taken. */
START_TEST(slots_of_a_page_that_came_after_a_snapshot_are_unused_when_it_is_restored)
{
    mica_world *world = open_world(&heard);
    const mica_entity far = {20 * MICAP_PAGE_RECORDS, 2}, between = {7 * MICAP_PAGE_RECORDS + 3, 4};
    claim_number(world, far, 1);
    mica_snapshot snapshot = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 3; ++round) {
        uint64_t hash = mica_world_hash(world);
        claim_number(world, between, 5);
        expect_number(world, between, 5);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(*micap_record_at(&world->entities, between.index), 0);
        ck_assert(!mica_is_alive(world, between));
        ck_assert_uint_eq(mica_world_hash(world), hash);
        expect_number(world, far, 1);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(entity_index, a_record_far_after_the_others_is_not_in_the_array,
           records_of_buffers_that_overflow_are_found_before_and_after_they_move,
           slots_of_a_page_that_came_after_a_snapshot_are_unused_when_it_is_restored,
           a_slot_whose_generations_are_used_up_is_given_out_no_more, handles_are_never_returned_twice,
           without_indices_nothing_is_created_until_something_dies)
