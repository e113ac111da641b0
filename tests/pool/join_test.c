/* Queries over pools and chunks: which term drives the loop, the ranges of rows, what counts as changed, and what is rejected. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

static reports heard;

typedef struct Rare {
    uint32_t value;
} Rare;
typedef struct Common {
    uint32_t value;
} Common;
MICA_POOL(Rare, value)
MICA_POOL(Common, value)

typedef struct Buff {
    uint32_t value;
} Buff;
MICA_POOL_WITH(Buff, (.many = true), value)

typedef struct Timed {
    uint32_t value;
} Timed;
MICA_POOL_WITH(Timed, (.toggle = true, .track_added = true), value)

enum { ENTITIES = 3000 };

static mica_entity entities[ENTITIES];

/* All have Number and Common; every hundredth has Rare, added from the last to the first. */
static mica_world *open_crowd(void)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Common, {i}));
    for (uint32_t i = ENTITIES; i-- > 0;)
        if (i % 100 == 0)
            mica_set(world, entities[i], Rare, {i});
    return world;
}

/* Rows are visited in the order of the pool that drives the loop; that of the rare component is reversed. */
static void expect_driven_by_rare(mica_world *world, const mica_query_def *def, bool wanted)
{
    mica_query *query = mica_query_create(world, def);
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++count) {
            uint32_t expected = wanted ? ENTITIES - 100 - count * 100 : count * 100;
            ck_assert_uint_eq(mica_get(world, view.entities[i], Number)->value, expected);
        }
    ck_assert_uint_eq(count, ENTITIES / 100);
    mica_query_destroy(query);
}

START_TEST(the_smallest_set_drives_the_loop)
{
    mica_world *world = open_crowd();
    expect_driven_by_rare(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Rare)), true);
    expect_driven_by_rare(world, MICA_QUERY(MICA_READ(Common), MICA_READ(Rare)), true);
    expect_driven_by_rare(world, MICA_QUERY(MICA_READ(Common), MICA_READ(Number), MICA_HAS(Rare)), true);
    /* A tag that only these have makes an archetype as small: then chunks drive, where columns are read. */
    for (uint32_t i = 0; i < ENTITIES; i += 100)
        mica_add(world, entities[i], Frozen);
    expect_driven_by_rare(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Common), MICA_HAS(Frozen)), false);
    /* The driver is chosen when a loop begins: now the pool is the smaller one. */
    for (uint32_t i = 0; i < 10; ++i)
        mica_remove(world, entities[i * 100], Rare);
    mica_query *fewer = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Rare), MICA_HAS(Frozen)));
    mica_view view = mica_query_begin(fewer);
    ck_assert(mica_view_next(&view) && mica_same(view.entities[0], mica_pool_owners(mica_pool_of(world, Rare))[0]));
    ck_assert_uint_eq(mica_query_count(fewer), ENTITIES / 100 - 10);
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_that_follow_each_other_in_everything_come_as_one_view)
{
    mica_world *world = open_crowd();
    mica_query *both = mica_query_create(world, MICA_QUERY(MICA_WRITE(Common), MICA_READ(Number)));
    uint32_t views = 0, rows = 0;
    for (mica_view view = mica_query_begin(both); mica_view_next(&view); ++views, rows += view.count) {
        Common *common = mica_view_write(&view, Common);
        const Number *numbers = mica_view_read(&view, Number);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_uint_eq(common[i].value++, numbers[i].value);
    }
    ck_assert_uint_eq(rows, ENTITIES);
    ck_assert_uint_le(views, mica_world_get_stats(world).chunk_count);
    mica_query *alone = mica_query_create(world, MICA_QUERY(MICA_READ(Common)));
    mica_view view = mica_query_begin(alone);
    ck_assert(mica_view_next(&view) && view.count == ENTITIES && !mica_view_next(&view));
    close_world(world, &heard);
}
END_TEST

static uint32_t changed_rows(mica_query *query)
{
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        rows += view.count;
    return rows;
}

/* Long runs are followed pool by pool, a piece at a time: breaks lie in the first piece, in later ones and at their ends. */
START_TEST(runs_end_where_any_pool_breaks_the_order)
{
    static const uint32_t breaks[] = {1, 2, 127, 128, 129, 130, 300, 641, 1500, 2998};
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Common, {i}), MICA_WITH(Rare, {i}));
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Rare), MICA_WRITE(Common)));
    uint32_t whole = 0, broken = 0, shown = 0;
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        ++whole;
    for (uint32_t i = 0; i < sizeof breaks / sizeof *breaks;
         ++i) { /* to the end of the pool, the last one in its place */
        mica_remove(world, entities[breaks[i]], Common);
        mica_set(world, entities[breaks[i]], Common, {breaks[i]});
    }
    for (mica_view view = mica_query_begin(all); mica_view_next(&view); ++broken, shown += view.count) {
        const Number *number = mica_view_read(&view, Number);
        const Rare *rare = mica_view_read(&view, Rare);
        const Common *common = mica_view_write(&view, Common);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert(number[i].value == rare[i].value && number[i].value == common[i].value);
    }
    ck_assert_uint_eq(shown, ENTITIES);
    ck_assert_uint_gt(broken, whole + 10);
    ck_assert_uint_lt(broken, whole + 40);
    close_world(world, &heard);
}
END_TEST

START_TEST(changed_means_written_added_or_moved_since_the_last_loop)
{
    mica_world *world = open_crowd();
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Common), MICA_CHANGED(Common)));
    mica_query *writer = mica_query_create(world, MICA_QUERY(MICA_WRITE(Common)));
    ck_assert_uint_eq(changed_rows(changed), ENTITIES);
    ck_assert_uint_eq(changed_rows(changed), 0);
    mica_get(world, entities[5], Common);
    ck_assert_msg(changed_rows(changed) == 0, "looking is no change");
    mica_write(world, entities[5], Common)->value = 1;
    ck_assert_msg(mica_query_matches(changed, entities[5]) && !mica_query_matches(changed, entities[2000]),
                  "its slice, and no other");
    ck_assert_uint_eq(changed_rows(changed), MICA_SLICE_ROWS);
    mica_set(world, entities[ENTITIES - 1], Common, {7});
    ck_assert_uint_eq(changed_rows(changed), ENTITIES % MICA_SLICE_ROWS);
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);)
        mica_view_write(&view, Common);
    ck_assert_uint_eq(changed_rows(changed), ENTITIES);
    mica_pool_write(mica_pool_of(world, Common), Common);
    ck_assert_uint_eq(changed_rows(changed), ENTITIES);
    mica_remove(world, entities[0], Common);
    ck_assert_msg(changed_rows(changed) == MICA_SLICE_ROWS, "a row came to where it was");
    mica_defer(world);
    mica_set(world, entities[1000], Common, {9});
    mica_flush(world);
    ck_assert_uint_eq(changed_rows(changed), MICA_SLICE_ROWS);
    close_world(world, &heard);
}
END_TEST

START_TEST(added_and_disabled_look_at_each_row)
{
    mica_world *world = open_crowd();
    mica_query *added = mica_query_create(world, MICA_QUERY(MICA_READ(Timed), MICA_ADDED(Timed)));
    mica_query *off = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_DISABLED(Timed)));
    mica_query *maybe = mica_query_create(world, MICA_QUERY(MICA_MAYBE_READ(Timed), MICA_READ(Number)));
    for (uint32_t i = 0; i < 100; ++i)
        mica_set(world, entities[i], Timed, {i});
    ck_assert_uint_eq(changed_rows(added), 100);
    ck_assert_uint_eq(changed_rows(added), 0);
    mica_set(world, entities[3], Timed, {9});
    ck_assert_msg(changed_rows(added) == 0, "overwriting is not adding");
    mica_set(world, entities[200], Timed, {9});
    ck_assert(mica_same(mica_query_first(added), entities[200]));
    ck_assert_uint_eq(changed_rows(added), 1);
    mica_disable(world, entities[7], Timed);
    mica_disable(world, entities[200], Timed);
    ck_assert_uint_eq(mica_query_count(off), 2);
    uint32_t with = 0;
    for (mica_view view = mica_query_begin(maybe); mica_view_next(&view);)
        with += mica_view_read(&view, Timed) ? view.count : 0;
    ck_assert_msg(with == 101, "MAYBE shows it switched on or off");
    close_world(world, &heard);
}
END_TEST

static void count_each(mica_entity entity, void *const *columns, void *context)
{
    const Common *common = columns[1];
    ck_assert(!mica_is_nil(entity) && common && ((const Number *)columns[2])->value == common->value && !columns[3]);
    ((const Clock *)columns[0])->ticks == 3 ? ++*(uint32_t *)context : 0;
}

/* What is asked of chunk components row by row is asked too when a pool leads. */
START_TEST(filters_of_chunks_hold_when_a_pool_leads)
{
    mica_world *world = open_crowd();
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_set(world, entities[i], Health, {(int32_t)i, 0});
        mica_set(world, entities[i], Age, {i});
    }
    mica_query *healthy = mica_query_create(world, MICA_QUERY(MICA_READ(Health), MICA_READ(Rare)));
    mica_query *grown = mica_query_create(world, MICA_QUERY(MICA_READ(Rare), MICA_ADDED(Age)));
    ck_assert_uint_eq(mica_query_count(healthy), ENTITIES / 100);
    mica_version before = mica_world_mark(world);
    for (uint32_t i = 0; i < ENTITIES; i += 200)
        mica_disable(world, entities[i], Health);
    mica_remove(world, entities[700], Age);
    mica_add(world, entities[700], Age);
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(healthy); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++count)
            ck_assert(mica_view_read(&view, Rare)[i].value % 200 == 100 &&
                      mica_view_read(&view, Health)[i].current % 200 == 100);
    ck_assert_uint_eq(count, ENTITIES / 200);
    mica_view view = mica_query_begin_since(grown, before);
    ck_assert(mica_view_next(&view) && view.count == 1 && mica_same(view.entities[0], entities[700]));
    ck_assert(!mica_view_next(&view));
    close_world(world, &heard);
}
END_TEST

START_TEST(each_gives_columns_of_pools_chunks_and_singletons)
{
    mica_world *world = open_crowd();
    mica_singleton_write(world, Clock)->ticks = 3;
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_READ(Clock), MICA_READ(Common), MICA_READ(Number), MICA_WITHOUT(Rare)));
    uint32_t count = 0;
    mica_query_each(query, count_each, &count);
    ck_assert_uint_eq(count, ENTITIES - ENTITIES / 100);
    ck_assert_uint_eq(mica_query_count(query), count);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_structural_change_ends_a_loop_over_pools_with_a_report)
{
    mica_world *world = open_crowd();
    mica_query *queries[] = {mica_query_create(world, MICA_QUERY(MICA_READ(Rare))),
                             mica_query_create(world, MICA_QUERY(MICA_READ(Rare), MICA_READ(Number)))};
    for (uint32_t i = 0; i < 2; ++i) {
        mica_view view = mica_query_begin(queries[i]);
        ck_assert(mica_view_next(&view));
        mica_remove(world, entities[100 * i], Rare);
        ck_assert(!mica_view_next(&view));
        expect_report(&heard, MICA_ERROR_REFUSED, "structure");
    }
    close_world(world, &heard);
}
END_TEST

static int compare_values(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

START_TEST(invalid_queries_are_rejected)
{
    mica_world *world = open_crowd();
    const mica_query_def *bad[] = {
        MICA_QUERY_INSTANCES(Rare, MICA_READ(Rare)),
        MICA_QUERY_INSTANCES(Buff, MICA_READ(Rare)),
        MICA_QUERY_INSTANCES(Buff, MICA_MAYBE_READ(Buff), MICA_READ(Rare)),
        &(const mica_query_def){MICA_TERMS(MICA_READ(Buff)), .instances_of = MICA_ID(Buff), .order_by = MICA_ID(Buff),
                                .compare = compare_values},
    };
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert(!mica_query_create(world, bad[i]));
        expect_report(&heard, MICA_ERROR_INVALID, ".instances_of is ");
    }
    ck_assert(!mica_query_create(world, MICA_QUERY(MICA_ADDED(Rare))));
    expect_report(&heard, MICA_ERROR_INVALID, ".track_added = true");
    ck_assert(!mica_query_create(world, MICA_QUERY(MICA_DISABLED(Rare))));
    expect_report(&heard, MICA_ERROR_INVALID, ".toggle = true");
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Rare), MICA_READ(Number)));
    ck_assert_int_eq(mica_query_sort_rows(query, MICA_ID(Rare), compare_values, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "mica_pool_sort");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_made_before_its_pool_is_used_sees_it_later)
{
    mica_world *world = open_world(&heard);
    mica_query *rare = mica_query_create(world, MICA_QUERY(MICA_READ(Rare)));
    mica_query *without = mica_query_create(world, MICA_QUERY(MICA_WITHOUT(Rare)));
    mica_entity entity = mica_create(world);
    ck_assert_uint_eq(mica_query_count(rare), 0);
    ck_assert_uint_eq(mica_query_count(without), 1);
    mica_set(world, entity, Rare, {1});
    ck_assert_uint_eq(mica_query_count(rare), 1);
    ck_assert_uint_eq(mica_query_count(without), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(equal_histories_hash_alike_and_values_count)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    uint64_t hashes[3];
    for (uint32_t run = 0; run < 3; ++run) {
        mica_world *world = open_world(&heard);
        mica_component component = variant_component(how, 'a');
        for (uint32_t i = 0; i < 50; ++i) {
            Item item = item_of(i + (run == 2 && i == 30));
            mica_value value = item_value(component, &item);
            entities[i] = mica_create_id(world, &value, 1);
        }
        for (uint32_t i = 0; i < 50; i += 4)
            mica_destroy(world, entities[i]);
        uint64_t before = mica_world_hash(world);
        if (how->traits) {
            mica_enable_id(world, entities[9], component, false);
            ck_assert_msg(mica_world_hash(world) != before, "a switch counts");
        }
        mica_entity extra = mica_create(world);
        uint64_t without = mica_world_hash(world);
        ck_assert(mica_add_id(world, extra, component));
        ck_assert_msg(mica_world_hash(world) != without, "the hash depends on which entities have it");
        hashes[run] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_ne(hashes[0], hashes[2]);
}
END_TEST

/* A chunk of entities that have nothing else is as large as chunks get, and pools are larger. */
START_TEST(rows_of_full_chunks_and_of_a_large_pool_come_once_each)
{
    enum { MANY = 150000 };
    static Rare values[MANY];
    for (uint32_t i = 0; i < MANY; ++i)
        values[i].value = i;
    mica_world *world = open_world(&heard);
    const mica_value columns[] = {{MICA_ID(Frozen), 0, NULL}, {MICA_ID(Rare), sizeof(Rare), values}};
    ck_assert_int_eq(mica_create_many(world, MANY, columns, 2, NULL), MICA_OK);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Rare), MICA_HAS(Frozen)));
    uint32_t next = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Rare *rare = mica_view_read(&view, Rare);
        for (uint32_t i = 0; i < view.count; ++i, ++next)
            REQUIRE(rare[i].value == next && (next % 100 || mica_get(world, view.entities[i], Rare)->value == next));
    }
    ck_assert_uint_eq(next, MANY);
    mica_world_destroy(world); /* unchecked, which takes a while */
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("join");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, the_smallest_set_drives_the_loop);
    tcase_add_test(cases, rows_that_follow_each_other_in_everything_come_as_one_view);
    tcase_add_test(cases, runs_end_where_any_pool_breaks_the_order);
    tcase_add_test(cases, changed_means_written_added_or_moved_since_the_last_loop);
    tcase_add_test(cases, added_and_disabled_look_at_each_row);
    tcase_add_test(cases, filters_of_chunks_hold_when_a_pool_leads);
    tcase_add_test(cases, each_gives_columns_of_pools_chunks_and_singletons);
    tcase_add_test(cases, a_structural_change_ends_a_loop_over_pools_with_a_report);
    tcase_add_test(cases, invalid_queries_are_rejected);
    tcase_add_test(cases, rows_of_full_chunks_and_of_a_large_pool_come_once_each);
    tcase_add_test(cases, a_query_made_before_its_pool_is_used_sees_it_later);
    tcase_add_loop_test(cases, equal_histories_hash_alike_and_values_count, 0, (int)variant_count - VARIANTS_CHUNK);
    return test_run("join", cases);
}
