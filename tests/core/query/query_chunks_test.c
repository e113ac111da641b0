/* Loops that are repeated: they show every row once, whatever happened to the chunks since the loop before. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

static reports heard;

/* Walks a query that reads Number, and a singleton in one case, and returns how many rows it shows. */
static uint64_t walk(mica_world *world, mica_query *query)
{
    uint64_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows += view.count) {
        const Number *number = mica_view_read_at(&view, 0);
        ck_assert_ptr_eq(number, mica_get(world, view.entities[0], Number));
        ck_assert_ptr_eq(mica_view_read(&view, Number), number);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_uint_eq(number[i].value, view.entities[i].index);
    }
    return rows;
}

static void change(mica_world *world, random_source *random, mica_snapshot *snapshot)
{
    static mica_entity made[300];
    uint32_t count = random_below(random, 300);
    switch (random_below(random, 6)) {
    case 0:
    case 1:
        for (uint32_t i = 0; i < count; ++i) {
            made[i] = mica_create(world);
            if (random_below(random, 2))
                mica_add(world, made[i], Frozen);
            mica_set(world, made[i], Number, {made[i].index});
        }
        break;
    case 2:
        for (uint32_t i = 0; i < 300; ++i)
            if (mica_is_alive(world, made[i]))
                mica_destroy(world, made[i]);
        break;
    case 3: mica_world_trim(world); break;
    case 4:
        mica_snapshot_drop(world, *snapshot);
        *snapshot = mica_snapshot_take(world);
        break;
    default:
        if (snapshot->id)
            ck_assert_int_eq(mica_snapshot_restore(world, *snapshot), MICA_OK);
    }
}

START_TEST(repeated_loops_show_every_row)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    random_source random = {7};
    mica_snapshot snapshot = {0};
    mica_singleton_write(world, Clock)->ticks = 1;
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_query *timed = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Clock)));
    for (uint32_t round = 0; round < 200; ++round) {
        change(world, &random, &snapshot);
        uint64_t count = mica_query_count(numbers);
        for (uint32_t loop = 0; loop < 3; ++loop) {
            ck_assert_uint_eq(walk(world, numbers), count);
            ck_assert_uint_eq(walk(world, timed), count);
            ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        }
    }
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_needs_no_memory)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (uint32_t i = 0; i < 10; ++i) {
        mica_entity entity = mica_create(world);
        mica_set(world, entity, Number, {entity.index});
    }
    faulty_allocator_fail_at(&faulty, 1, true);
    for (uint32_t loop = 0; loop < 4; ++loop)
        ck_assert_uint_eq(walk(world, numbers), 10);
    ck_assert_msg(faulty.failures > 0, "a list was to be allocated");
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_uint_eq(walk(world, numbers), 10);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(a_query_without_terms_is_repeated)
{
    mica_world *world = open_world(&heard);
    mica_query *all = mica_query_create(world, &(mica_query_def){0});
    mica_create(world);
    mica_create(world, MICA_WITH(Number, {1}));
    for (uint32_t loop = 0; loop < 3; ++loop) {
        uint32_t rows = 0;
        for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
            rows += view.count;
        ck_assert_uint_eq(rows, 2);
    }
    close_world(world, &heard);
}
END_TEST

enum { KINDS = 8, PEOPLE = 1500 };

/* Entities of eight archetypes, of which the first has more rows than a slice. */
static void populate(mica_world *world, mica_entity *entities)
{
    for (uint32_t i = 0; i < PEOPLE; ++i) {
        uint32_t kind = i < PEOPLE / 2 ? 0 : i % KINDS;
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {0, 0, 0}));
        if (kind & 1)
            mica_add(world, entities[i], Frozen);
        if (kind & 2)
            mica_add(world, entities[i], Velocity);
        if (kind & 4)
            mica_add(world, entities[i], Mass);
    }
}

/* Two loops that show the same rows, of which the first reads a list. */
static void compare(mica_query *listed, mica_query *fresh, mica_version since)
{
    mica_view a = mica_query_begin_since(listed, since), b = mica_query_begin_since(fresh, since);
    while (mica_view_next(&a)) {
        ck_assert(mica_view_next(&b));
        ck_assert_uint_eq(a.count, b.count);
        ck_assert_ptr_eq(a.entities, b.entities);
        ck_assert_ptr_eq(mica_view_read_at(&a, 0), mica_view_read_at(&b, 0));
    }
    ck_assert(!mica_view_next(&a) && !mica_view_next(&b));
}

START_TEST(repeated_loops_show_what_has_changed)
{
    static mica_entity entities[PEOPLE];
    const mica_term terms[][3] = {{MICA_READ(Number), MICA_CHANGED(Number), MICA_HAS(Number)},
                                  {MICA_READ(Number), MICA_CHANGED(Number), MICA_CHANGED(Position)},
                                  {MICA_READ(Number), MICA_CHANGED(Position), MICA_READ(Clock)}};
    for (uint32_t kind = 0; kind < COUNT_OF(terms); ++kind) {
        mica_world *world = open_world(&heard);
        random_source random = {kind + 1};
        populate(world, entities);
        mica_query_def def = {.terms = terms[kind], .term_count = 3};
        mica_query *listed = mica_query_create(world, &def);
        for (uint32_t round = 0; round < 60; ++round) {
            mica_version since = mica_world_mark(world);
            for (uint32_t i = 0; i < round % 7; ++i) {
                mica_entity entity = entities[random_below(&random, PEOPLE)];
                if (random_below(&random, 2))
                    mica_write(world, entity, Number)->value += 1;
                else
                    mica_write(world, entity, Position)->x += 1;
                if (random_below(&random, 9) == 0)
                    mica_add(world, entity, Enemy);
            }
            mica_query *fresh = mica_query_create(world, &def); /* its first loop reads no list */
            compare(listed, fresh, since);
            mica_query_destroy(fresh);
        }
        close_world(world, &heard);
    }
}
END_TEST

static void count_up(mica_entity entity, void *const *columns, void *context)
{
    (void)entity;
    (void)context;
    ((Number *)columns[0])->value += 1;
}

/* Adds one to each Number, in four ways. */
static void add_one(mica_query *query, uint32_t way)
{
    if (way == 3) {
        mica_query_each(query, count_up, NULL);
        return;
    }
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        Number *numbers = way == 0   ? mica_view_write_at(&view, 0)
                          : way == 1 ? (mica_view_write_at)(&view, 0)
                                     : mica_view_write(&view, Number);
        const Number *read = mica_view_read(&view, Number);
        ck_assert_ptr_eq(read, numbers);
        for (uint32_t i = 0; i < view.count; ++i)
            numbers[i].value += 1;
    }
}

START_TEST(writes_of_repeated_loops_are_seen_and_restored)
{
    static mica_entity entities[PEOPLE];
    const mica_term terms[][6] = {
        {MICA_WRITE(Number), MICA_READ(Position), MICA_MAYBE_WRITE(Mass), MICA_MAYBE_READ(Frozen)},
        {MICA_WRITE(Number), MICA_READ(Clock), MICA_WRITE(Position)},
        {MICA_WRITE(Number), MICA_READ(Position), MICA_MAYBE_READ(Mass), MICA_MAYBE_READ(Velocity),
         MICA_MAYBE_READ(Frozen), MICA_MAYBE_READ(Enemy)},
        {MICA_WRITE(Number), MICA_READ(Position)},
    };
    const uint32_t counts[] = {4, 3, 6, 2};
    for (uint32_t kind = 0; kind < COUNT_OF(terms); ++kind)
        for (uint32_t way = 0; way < 4; ++way) {
            mica_world *world = open_world(&heard);
            populate(world, entities);
            mica_query *query =
                mica_query_create(world, &(mica_query_def){.terms = terms[kind], .term_count = counts[kind]});
            mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Number)));
            for (uint32_t loop = 0; loop < 3; ++loop)
                add_one(query, way);
            uint64_t hash = mica_world_hash(world);
            mica_snapshot snapshot = mica_snapshot_take(world);
            for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
                continue;
            ck_assert_uint_eq(mica_query_count(changed), 0);
            add_one(query, way);
            ck_assert_uint_eq(mica_query_count(changed), PEOPLE);
            for (uint32_t i = 0; i < PEOPLE; ++i)
                ck_assert_uint_eq(mica_get(world, entities[i], Number)->value, i + 4);
            ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(world), hash);
            mica_snapshot_drop(world, snapshot);
            close_world(world, &heard);
        }
}
END_TEST

TEST_SUITE(query_chunks, repeated_loops_show_every_row, a_loop_needs_no_memory, a_query_without_terms_is_repeated,
           repeated_loops_show_what_has_changed, writes_of_repeated_loops_are_seen_and_restored)
