/* Every change that may invalidate pointers is noticed: an open loop ends with a report, for every function and every path inside it.
 * A call that changes nothing does not end the loop. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/snapshot.h"

static reports heard;

MICA_POOL_TAG(Selected)

typedef struct Burning {
    float seconds_left;
} Burning;
MICA_POOL(Burning, seconds_left)

typedef struct Scent {
    uint32_t value;
} Scent;
MICA_POOL_WITH(Scent, (.many = true), value)

typedef struct Debt {
    uint32_t value;
} Debt;
MICA_POOL_WITH(Debt, (.dying = MICA_DYING_LAZILY), value)

enum { LOOPED = 12, SUBJECTS = 8 };

typedef struct town {
    mica_world *world;
    mica_query *subjects;
    mica_entity
        entities[SUBJECTS]; /* with a Velocity, a Text and rows in all pools; the last two without any of them */
    mica_snapshot snapshot;
} town;

static void create_empty(town *town)
{
    mica_create(town->world);
}
static void create_like_others(town *town)
{
    mica_create(town->world, MICA_WITH(Velocity), MICA_WITH(Number));
}
static void create_owning(town *town)
{
    mica_create(town->world, MICA_WITH(Velocity), MICA_WITH(Text));
}
static void create_pooled(town *town)
{
    mica_create(town->world, MICA_WITH(Velocity), MICA_WITH(Burning));
}
static void clone(town *town)
{
    mica_clone(town->world, town->entities[0]);
}
static void create_many(town *town)
{
    mica_create_many(town->world, 3, (mica_value[]){MICA_COLUMN(Mass, NULL)}, 1, NULL);
}
static mica_batch *begin_batch(town *town)
{
    mica_batch *batch;
    static mica_value columns[1]; /* must stay valid until the batch ends */
    columns[0] = (mica_value)MICA_COLUMN(Mass, NULL);
    mica_batch_group group = {.count = 3, .column_count = 1, .columns = columns};
    ck_assert_int_eq(mica_batch_begin(town->world, &group, 1, &batch), MICA_OK);
    return batch;
}
static void commit_batch(town *town)
{
    mica_batch_commit(begin_batch(town), NULL, 0);
}
static void destroy(town *town)
{
    mica_destroy(town->world, town->entities[0]);
}
static void destroy_plain(town *town)
{
    mica_destroy(town->world, town->entities[SUBJECTS - 1]);
}
static void destroy_many(town *town)
{
    mica_destroy_many(town->world, town->entities, 3);
}
static void destroy_query(town *town)
{
    mica_destroy_all(town->subjects);
}
static void clear(town *town)
{
    mica_world_clear(town->world);
}
static void add(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Mass);
}
static void add_to_owner(town *town)
{
    mica_add(town->world, town->entities[0], Mass);
}
static void add_owning(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Text);
}
static void add_tag(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Frozen);
}
static void set(town *town)
{
    mica_set(town->world, town->entities[SUBJECTS - 1], Mass, {1});
}
static void take(town *town)
{
    mica_remove(town->world, town->entities[SUBJECTS - 1], Velocity);
}
static void take_from_owner(town *town)
{
    mica_remove(town->world, town->entities[0], Velocity);
}
static void take_owning(town *town)
{
    mica_remove(town->world, town->entities[0], Text);
}
static void add_by_query(town *town)
{
    mica_add_all(town->subjects, Mass, {1});
}
static void take_by_query(town *town)
{
    mica_remove_all(town->subjects, Velocity);
}
static void add_pooled_by_query(town *town)
{
    mica_add_all(town->subjects, Burning, {1});
}
static void take_pooled_by_query(town *town)
{
    mica_remove_all(town->subjects, Burning);
}
static void add_pool_tag(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Selected);
}
static void take_pool_tag(town *town)
{
    mica_remove(town->world, town->entities[0], Selected);
}
static void add_pooled(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Burning);
}
static void set_pooled(town *town)
{
    mica_set(town->world, town->entities[SUBJECTS - 1], Burning, {2});
}
static void take_pooled(town *town)
{
    mica_remove(town->world, town->entities[0], Burning);
}
static void add_debt(town *town)
{
    mica_add(town->world, town->entities[SUBJECTS - 1], Debt);
}
static void add_instance(town *town)
{
    mica_pool_add(mica_pool_of(town->world, Scent), town->entities[0]);
}
static void take_instance(town *town)
{
    mica_pool *pool = mica_pool_of(town->world, Scent);
    mica_pool_remove(pool, mica_pool_find(pool, town->entities[0]));
}
static void grow_pool(town *town)
{
    mica_value columns[] = {MICA_COLUMN(Burning, NULL)};
    mica_create_many(town->world, 3000, columns, 1, NULL);
}
static int falling(const void *a, const void *b, void *context)
{
    (void)context;
    return *(const uint32_t *)a < *(const uint32_t *)b ? 1 : -1;
}
static void sort_rows(town *town)
{
    mica_query_sort_rows(town->subjects, MICA_ID(Velocity), falling, NULL);
}
static void sort_pool(town *town)
{
    mica_pool_sort(mica_pool_of(town->world, Burning), falling, NULL);
}
static void group(town *town)
{
    mica_group(town->world, Burning, Debt);
}
static void record(town *town)
{
    mica_defer(town->world);
    mica_add(town->world, town->entities[SUBJECTS - 1], Mass);
    mica_flush(town->world);
}
static void record_pooled(town *town)
{
    mica_defer(town->world);
    mica_remove(town->world, town->entities[0], Burning);
    mica_flush(town->world);
}
/* The world is the same afterwards, but pointers from in between are invalid. */
static void come_and_go(town *town)
{
    add(town);
    mica_remove(town->world, town->entities[SUBJECTS - 1], Mass);
}
static void tag_and_untag(town *town)
{
    add_pool_tag(town);
    mica_remove(town->world, town->entities[SUBJECTS - 1], Selected);
}
static void burn_and_quench(town *town)
{
    add_pooled(town);
    mica_remove(town->world, town->entities[SUBJECTS - 1], Burning);
}
static void live_and_die(town *town)
{
    mica_destroy(town->world, mica_create(town->world, MICA_WITH(Velocity), MICA_WITH(Number)));
}
static void restore(town *town)
{
    mica_snapshot_restore(town->world, town->snapshot);
}

typedef struct change {
    const char *name;
    void (*make)(town *town);
} change;
#define CHANGE(name) {#name, name}

static const change changes[] = {
    CHANGE(create_empty),
    CHANGE(create_like_others),
    CHANGE(create_owning),
    CHANGE(create_pooled),
    CHANGE(clone),
    CHANGE(create_many),
    CHANGE(commit_batch),
    CHANGE(destroy),
    CHANGE(destroy_plain),
    CHANGE(destroy_many),
    CHANGE(destroy_query),
    CHANGE(clear),
    CHANGE(add),
    CHANGE(add_to_owner),
    CHANGE(add_owning),
    CHANGE(add_tag),
    CHANGE(set),
    CHANGE(take),
    CHANGE(take_from_owner),
    CHANGE(take_owning),
    CHANGE(add_by_query),
    CHANGE(take_by_query),
    CHANGE(add_pooled_by_query),
    CHANGE(take_pooled_by_query),
    CHANGE(add_pool_tag),
    CHANGE(take_pool_tag),
    CHANGE(add_pooled),
    CHANGE(set_pooled),
    CHANGE(take_pooled),
    CHANGE(add_debt),
    CHANGE(add_instance),
    CHANGE(take_instance),
    CHANGE(grow_pool),
    CHANGE(sort_rows),
    CHANGE(sort_pool),
    CHANGE(group),
    CHANGE(record),
    CHANGE(record_pooled),
    CHANGE(come_and_go),
    CHANGE(tag_and_untag),
    CHANGE(burn_and_quench),
    CHANGE(live_and_die),
};

/* Everything is done once before, to others, so that no edge, chunk, page or pool is new when it counts. */
static town open_town(bool keeps)
{
    town town = {.world = open_world(&heard)};
    mica_world *world = town.world;
    for (uint32_t i = 0; i < LOOPED; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position));
    for (uint32_t i = 0; i < SUBJECTS; ++i) {
        town.entities[i] = mica_create(world, MICA_WITH(Velocity, {(float)i, 0, 0}));
        if (i >= SUBJECTS - 2)
            continue;
        mica_add(world, town.entities[i], Text);
        mica_add(world, town.entities[i], Selected);
        mica_set(world, town.entities[i], Burning, {(float)(SUBJECTS - i)});
        mica_set(world, town.entities[i], Debt, {i});
        mica_add(world, town.entities[i], Scent);
        mica_pool_add(mica_pool_of(world, Scent), town.entities[i]);
    }
    mica_entity other = town.entities[SUBJECTS - 2];
    mica_add(world, other, Mass);
    mica_remove(world, other, Velocity);
    mica_add(world, other, Velocity);
    mica_add(world, other, Frozen);
    mica_remove(world, other, Mass);
    mica_create(world, MICA_WITH(Velocity), MICA_WITH(Number));
    mica_destroy(world, mica_create(world, MICA_WITH(Velocity), MICA_WITH(Number)));
    town.subjects = mica_query_create(world, MICA_QUERY(MICA_READ(Velocity)));
    if (keeps)
        town.snapshot = mica_snapshot_take(world);
    return town;
}

/* Whether a loop continues after what is done inside it. */
static bool loop_continues(town *town, void (*make)(struct town *town))
{
    mica_query *query = mica_query_create(town->world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Velocity)));
    mica_query *others = mica_query_create(town->world, MICA_QUERY(MICA_READ(Position)));
    mica_view view = mica_query_begin(query), other = mica_query_begin(others);
    ck_assert(mica_view_next(&view) && mica_view_next(&other));
    make(town);
    bool more = mica_view_next(&view), ended = heard.count > heard.taken;
    ck_assert_msg(!more, "all rows came at once");
    if (ended)
        expect_report(&heard, MICA_ERROR_REFUSED, "structure");
    return !ended;
}

START_TEST(a_loop_under_way_ends_at_every_change_of_structure)
{
    for (uint32_t kept = 0; kept < 2; ++kept) {
        town town = open_town(kept);
        ck_assert_msg(!loop_continues(&town, changes[_i].make), "%s is noticed", changes[_i].name);
        close_world(town.world, &heard);
    }
}
END_TEST

START_TEST(a_loop_under_way_ends_when_a_snapshot_comes_back)
{
    town town = open_town(true);
    ck_assert(!loop_continues(&town, restore));
    close_world(town.world, &heard);
}
END_TEST

static mica_batch *open_batch;

static void take_back_batch(town *town)
{
    (void)town;
    mica_batch_cancel(open_batch);
}

static void trim_grown_pool(town *town)
{
    mica_world_trim(town->world);
}

START_TEST(a_loop_under_way_ends_when_things_are_taken_back)
{
    town town = open_town(false);
    grow_pool(&town);
    mica_query *fires = mica_query_create(town.world, MICA_QUERY(MICA_READ(Burning)));
    mica_remove_all(fires, Burning);
    mica_query_destroy(fires);
    ck_assert_msg(!loop_continues(&town, trim_grown_pool), "rows of pools lie elsewhere");
    open_batch = begin_batch(&town);
    ck_assert(!loop_continues(&town, take_back_batch));
    close_world(town.world, &heard);
}
END_TEST

static void change_nothing(town *town)
{
    mica_entity entity = town->entities[0], plain = town->entities[SUBJECTS - 1];
    mica_add(town->world, entity, Burning);
    mica_add(town->world, entity, Velocity);
    mica_add(town->world, entity, Selected);
    mica_set(town->world, entity, Velocity, {1, 2, 3});
    mica_set(town->world, entity, Burning, {5});
    mica_write(town->world, entity, Debt)->value = 6;
    ck_assert(!mica_remove(town->world, plain, Burning) && !mica_remove(town->world, plain, Selected) &&
              !mica_remove(town->world, plain, Mass));
}

START_TEST(an_open_loop_continues_if_nothing_moved)
{
    town town = open_town(false);
    ck_assert(loop_continues(&town, change_nothing));
    close_world(town.world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("structure");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, a_loop_under_way_ends_at_every_change_of_structure, 0, (int)COUNT_OF(changes));
    tcase_add_test(cases, a_loop_under_way_ends_when_a_snapshot_comes_back);
    tcase_add_test(cases, a_loop_under_way_ends_when_things_are_taken_back);
    tcase_add_test(cases, an_open_loop_continues_if_nothing_moved);
    return test_run("structure", cases);
}
