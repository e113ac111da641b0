/* Neighbours that all want the same are moved together by a flush. The world must look as if they had moved one by one. */
#include "support/components.h"
#include "support/random.h"
#include "support/test.h"

#include <string.h>

enum { BUFFERS = 3, ENTITIES = 700, ROUNDS = 60, SEEDS = 30, KINDS = 10, POOL_KINDS = 6 };

typedef struct Load { uint32_t value; } Load;
MICA_POOL(Load, value)
MICA_POOL_TAG(Marked)

/* Two worlds with the same history: one changes at once, the other records and flushes. */
typedef struct twins {
    mica_world *at_once;
    mica_world *recorded;
    mica_entity entities[ENTITIES]; /* the same handles in both */
    uint32_t list[ENTITIES];        /* the entities that a round changes, each once */
    uint32_t count;
    bool listed[ENTITIES];
    mica_commands *buffers[BUFFERS]; /* of the one that records */
} twins;

static twins pair;

static void open_twins(random_source *random)
{
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = 512u << random_below(random, 4);
    def.chunk_bytes_last = def.chunk_bytes_first << random_below(random, 4);
    pair.at_once = mica_world_create(&def);
    pair.recorded = mica_world_create(&def);
    for (uint32_t i = 0; i < BUFFERS; ++i)
        pair.buffers[i] = mica_commands_create(pair.recorded);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        const Number number = {i};
        const mica_value values[] = {MICA_FROM(Number, &number), MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity)};
        pair.entities[i] = mica_create_id(pair.at_once, values, COUNT_OF(values));
        ck_assert(mica_same(pair.entities[i], mica_create_id(pair.recorded, values, COUNT_OF(values))));
    }
}

/* Pieces of rising and of falling indices, and single ones. */
static void choose_list(random_source *random)
{
    uint32_t pieces = 1 + random_below(random, 6);
    pair.count = 0;
    memset(pair.listed, 0, sizeof pair.listed);
    if (random_one_in(random, 2)) { /* all of them rising, with gaps or without: these are recorded as batches */
        uint32_t gap = 1 + random_below(random, 3), end = random_below(random, ENTITIES);
        for (uint32_t at = random_below(random, ENTITIES / 4); at < end; at += 1 + random_below(random, gap))
            pair.list[pair.count++] = at;
        return;
    }
    for (uint32_t piece = 0; piece < pieces; ++piece) {
        uint32_t length = random_one_in(random, 3) ? 1 : 1 + random_below(random, ENTITIES);
        uint32_t at = random_below(random, ENTITIES);
        bool falling = random_one_in(random, 2);
        for (; length > 0 && at < ENTITIES; --length, at = falling ? at - 1 : at + 1) {
            if (!pair.listed[at])
                pair.list[pair.count++] = at;
            pair.listed[at] = true;
        }
    }
}

static void change(mica_world *world, uint32_t kind, uint32_t index)
{
    mica_entity entity = pair.entities[index];
    switch (kind) {
    case 0: mica_set(world, entity, Mass, {(float)index}); break;
    case 1: mica_remove(world, entity, Mass); break;
    case 2: mica_add(world, entity, Frozen); break;
    case 3: mica_remove(world, entity, Frozen); break;
    case 4: mica_remove(world, entity, Position); break;
    case 5: mica_set(world, entity, Position, {(float)index, 0, 1}); break;
    case 6: mica_set(world, entity, Load, {index}); break;
    case 7: mica_remove(world, entity, Load); break;
    case 8: mica_add(world, entity, Marked); break;
    default: mica_remove(world, entity, Marked); break;
    }
}

static void record(mica_commands *commands, uint32_t kind, uint32_t index)
{
    mica_entity entity = pair.entities[index];
    switch (kind) {
    case 0: mica_command_set(commands, entity, Mass, {(float)index}); break;
    case 1: mica_command_remove(commands, entity, Mass); break;
    case 2: mica_command_add(commands, entity, Frozen); break;
    case 3: mica_command_remove(commands, entity, Frozen); break;
    case 4: mica_command_remove(commands, entity, Position); break;
    case 5: mica_command_set(commands, entity, Position, {(float)index, 0, 1}); break;
    case 6: mica_command_set(commands, entity, Load, {index}); break;
    case 7: mica_command_remove(commands, entity, Load); break;
    case 8: mica_command_add(commands, entity, Marked); break;
    default: mica_command_remove(commands, entity, Marked); break;
    }
}

/* Records into the world's own buffer, or in parts into several buffers. Returns whether it did. */
static bool record_list(random_source *random, uint32_t kind)
{
    bool is_shared = random_one_in(random, 3);
    mica_defer(pair.recorded);
    for (uint32_t i = 0; i < pair.count; ++i)
        if (is_shared)
            record(pair.buffers[i * BUFFERS / pair.count], kind, pair.list[i]);
        else
            change(pair.recorded, kind, pair.list[i]);
    return is_shared;
}

START_TEST(a_flush_of_neighbours_ends_like_single_changes)
{
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        random_source random = {seed};
        open_twins(&random);
        for (uint32_t round = 0; round < ROUNDS; ++round) {
            uint32_t kind = random_below(&random, KINDS);
            choose_list(&random);
            mica_version mark = mica_world_mark(pair.at_once);
            ck_assert(mica_world_mark(pair.recorded) == mark);
            bool is_shared = record_list(&random, kind);
            /* Rows of pools come in the order of groups: against single targets, not single changes. */
            if (kind >= POOL_KINDS)
                mica_defer(pair.at_once);
            for (uint32_t i = 0; i < pair.count; ++i)
                change(pair.at_once, kind, pair.list[i]);
            if (pair.count && random_one_in(&random, 3)) { /* something that goes back to one of them */
                uint32_t again = pair.list[random_below(&random, pair.count)];
                change(pair.at_once, kind, again);
                if (is_shared)
                    record(pair.buffers[BUFFERS - 1], kind, again);
                else
                    change(pair.recorded, kind, again);
            }
            if (kind >= POOL_KINDS && pair.count) /* in vain, but it is no strip any more */
                change(pair.at_once, kind, pair.list[pair.count - 1]);
            if (kind >= POOL_KINDS)
                ck_assert_int_eq(mica_flush(pair.at_once), MICA_OK);
            ck_assert_int_eq(mica_flush(pair.recorded), MICA_OK);
            ck_assert_int_eq(mica_world_validate(pair.recorded), MICA_OK);
            if (mica_world_hash(pair.at_once) != mica_world_hash(pair.recorded))
                ck_abort_msg("seed %llu, round %u, kind %u", (unsigned long long)seed, round, kind);
        }
        mica_world_destroy(pair.at_once);
        mica_world_destroy(pair.recorded);
    }
}
END_TEST

static uint64_t changed_rows(mica_query *query, mica_version since)
{
    uint64_t rows = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
        rows += view.count;
    return rows;
}

START_TEST(a_flush_of_neighbours_stamps_what_single_changes_stamp)
{
    random_source random = {7};
    open_twins(&random);
    mica_query *once = mica_query_create(pair.at_once, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Number)));
    mica_query *later = mica_query_create(pair.recorded, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Number)));
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        choose_list(&random);
        mica_version mark = mica_world_mark(pair.at_once);
        mica_world_mark(pair.recorded);
        mica_defer(pair.recorded);
        for (uint32_t i = 0; i < pair.count; ++i) {
            change(pair.at_once, round % 2, pair.list[i]);
            change(pair.recorded, round % 2, pair.list[i]);
        }
        mica_flush(pair.recorded);
        ck_assert_uint_eq(changed_rows(once, mark), changed_rows(later, mark));
    }
    mica_world_destroy(pair.at_once);
    mica_world_destroy(pair.recorded);
}
END_TEST

/* What a small world should have: of each entity whether it lives, and its two numbers, 0 where there is none. */
enum { FEW = 9, CHOICES = 5, PLACES_OF_CALLS = 3 };
typedef struct expectation {
    bool lives[FEW];
    uint32_t number[FEW];
    float mass[FEW];
} expectation;

typedef struct deed {
    bool removes, is_mass;
    mica_location location;
    const char *label;
} deed;

static void record_deed(mica_commands *commands, const deed *deed, mica_entity entity, uint32_t value)
{
    mica_component component = deed->is_mass ? MICA_ID(Mass) : MICA_ID(Number);
    const float mass = (float)value;
    mica_commands_set_label(commands, deed->label);
    if (deed->removes)
        mica_command_remove_id(commands, entity, component, deed->location);
    else
        mica_command_set_id(commands, entity, (mica_value){component, 4, deed->is_mass ? (const void *)&mass : &value},
                            deed->location);
}

static void expect_deed(expectation *expected, const deed *deed, uint32_t at, uint32_t value)
{
    value = deed->removes ? 0 : value;
    if (deed->is_mass)
        expected->mass[at] = (float)value;
    else
        expected->number[at] = value;
}

static void ignore_report(const mica_report *report, void *context)
{
    (void)report, (void)context;
}

/* The same for some entities, and then something that differs in one way or in several: another change, from another place, under
 * another label, for an entity that comes before the others, is one of them, is only recorded, or dead. */
static void differ(const deed *first, const deed *then, uint32_t choice, uint32_t crowd)
{
    static const uint32_t chosen[CHOICES] = {5, 0, 3, 8, 7};
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.report = ignore_report;
    mica_world *world = mica_world_create(&def);
    mica_commands *early = mica_commands_create(world), *commands = mica_commands_create(world);
    mica_entity entities[FEW], more[64];
    expectation expected = {0};
    for (uint32_t i = 0; i < FEW - 1; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {i + 1}));
        expected.lives[i] = true;
        expected.number[i] = i + 1;
    }
    mica_create_many(world, 64, NULL, 0, more);
    entities[8] = mica_command_create(early);
    expected.lives[8] = true;
    for (uint32_t i = 1; i < 4; ++i) {
        record_deed(commands, first, entities[i], 100 + i);
        expect_deed(&expected, first, i, 100 + i);
    }
    for (uint32_t i = 0; i < crowd; ++i)
        record_deed(commands, first, more[i], 7);
    if (choice == 4) { /* dead before it is recorded or after */
        if (then->removes)
            mica_destroy(world, entities[7]);
        expected.lives[7] = false;
    } else {
        expect_deed(&expected, then, chosen[choice], 200);
    }
    record_deed(commands, then, entities[chosen[choice]], 200);
    if (choice == 4 && !then->removes)
        mica_destroy(world, entities[7]);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < FEW; ++i) {
        const Number *number = mica_get(world, entities[i], Number);
        const Mass *mass = mica_get(world, entities[i], Mass);
        ck_assert(mica_is_alive(world, entities[i]) == expected.lives[i]);
        ck_assert_uint_eq(number ? number->value : 0, expected.lives[i] ? expected.number[i] : 0);
        ck_assert_float_eq(mass ? mass->value : 0, expected.lives[i] ? expected.mass[i] : 0);
    }
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}

START_TEST(a_different_change_after_equal_changes_is_applied)
{
    const mica_location places[PLACES_OF_CALLS] = {{"a.c", 1}, {"a.c", 2}, {"b.c", 1}};
    for (uint32_t i = 0; i < 2 * 4 * PLACES_OF_CALLS * 2 * CHOICES; ++i) {
        uint32_t kind = i / 2 % 4, location = i / 8 % PLACES_OF_CALLS, label = i / 24 % 2, choice = i / 48;
        const deed first = {.removes = i % 2, .location = places[0], .label = "one"};
        const deed then = {kind % 2, kind / 2, places[location], label ? "other" : first.label};
        differ(&first, &then, choice, 0);
        differ(&first, &then, choice, 29); /* with those before, a block is full */
    }
}
END_TEST

TEST_SUITE(apply_batch, a_different_change_after_equal_changes_is_applied,
           a_flush_of_neighbours_ends_like_single_changes, a_flush_of_neighbours_stamps_what_single_changes_stamp)
