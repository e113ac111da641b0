/* Random worlds and random queries over pools of every kind: a loop shows exactly the entities that match, each of them once, with
 * the values that a look-up finds, whatever the order of rows and the driver. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/snapshot.h"

typedef struct Mapped { uint32_t value; } Mapped;
typedef struct Other { uint32_t value, more[4]; } Other;
typedef struct Spot { uint32_t value; } Spot;
typedef struct Hashed { uint32_t value; } Hashed;
typedef struct Toggled { uint32_t value; } Toggled;
typedef struct Several { uint32_t value; } Several;
typedef struct Lasting { uint32_t value; } Lasting;
MICA_POOL(Mapped, value)
MICA_POOL(Other, value, more)
MICA_POOL_WITH(Spot, (.index = MICA_INDEX_DIRECT), value)
MICA_POOL_WITH(Hashed, (.index = MICA_INDEX_HASH), value)
MICA_POOL_WITH(Toggled, (.toggle = true, .track_added = true), value)
MICA_POOL_WITH(Several, (.many = true), value)
MICA_POOL_WITH(Lasting, (.dying = MICA_DYING_LAZILY), value)
MICA_POOL_TAG(Marked)

enum { ENTITIES = 2200, KINDS = 10, TERMS = 4, ROUNDS = 40, LOOPS = 3 };

typedef struct crowd {
    mica_world *world;
    random_source random;
    mica_component kinds[KINDS];
    mica_entity entities[ENTITIES];
    bool expected[ENTITIES];
    bool seen[ENTITIES];
} crowd;

static reports heard;

static void list_kinds(crowd *crowd)
{
    const mica_component kinds[KINDS] = {MICA_ID(Mapped),  MICA_ID(Other),   MICA_ID(Spot),    MICA_ID(Hashed),
                                         MICA_ID(Toggled), MICA_ID(Several), MICA_ID(Lasting), MICA_ID(Marked),
                                         MICA_ID(Number),  MICA_ID(Frozen)};
    memcpy(crowd->kinds, kinds, sizeof kinds);
}

static uint32_t bytes_of(uint32_t kind)
{
    return kind == 1 ? sizeof(Other) : kind == 7 || kind == 9 ? 0 : sizeof(uint32_t);
}

/* Half of the lists are the same few ones, as those of a program are. */
static mica_entity create_one(crowd *crowd, uint32_t number)
{
    static const uint32_t common[] = {0x003, 0x107, 0x087, 0x101};
    uint32_t mask = random_one_in(&crowd->random, 2) ? common[number % 4] : random_below(&crowd->random, 1 << KINDS);
    Other data = {number, {1, 2, 3, 4}};
    mica_value values[KINDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < KINDS; ++i)
        if (mask >> i & 1)
            values[count++] = (mica_value){crowd->kinds[i], bytes_of(i), bytes_of(i) && i % 3 ? &data : NULL};
    return mica_create_id(crowd->world, values, count);
}

static void change_one(crowd *crowd, uint32_t at)
{
    mica_entity entity = crowd->entities[at];
    uint32_t kind = random_below(&crowd->random, KINDS);
    mica_component component = crowd->kinds[kind];
    Other data = {at, {0}};
    switch (random_below(&crowd->random, 6)) {
    case 0:
        mica_destroy(crowd->world, entity);
        crowd->entities[at] = create_one(crowd, at);
        break;
    case 1: mica_remove_id(crowd->world, entity, component); break;
    case 2: mica_add_id(crowd->world, entity, component); break;
    case 3: mica_write_id(crowd->world, entity, component); break;
    case 4:
        if (mica_has(crowd->world, entity, Toggled))
            mica_enable_id(crowd->world, entity, MICA_ID(Toggled), random_one_in(&crowd->random, 2));
        break;
    default: mica_set_id(crowd->world, entity, (mica_value){component, bytes_of(kind), bytes_of(kind) ? &data : NULL});
    }
}

/* Most changes are near each other, so that some slices stay as they were. */
static void change_some(crowd *crowd, uint32_t count)
{
    uint32_t base = random_below(&crowd->random, ENTITIES - 50);
    bool everywhere = random_one_in(&crowd->random, 3);
    for (uint32_t i = 0; i < count; ++i)
        change_one(crowd,
                   everywhere ? random_below(&crowd->random, ENTITIES) : base + random_below(&crowd->random, 50));
}

static mica_access random_access(crowd *crowd, uint32_t kind)
{
    static const mica_access usual[] = {MICA_ACCESS_READ,       MICA_ACCESS_READ,    MICA_ACCESS_WRITE,
                                        MICA_ACCESS_HAS,        MICA_ACCESS_WITHOUT, MICA_ACCESS_MAYBE_READ,
                                        MICA_ACCESS_MAYBE_WRITE};
    mica_access access = usual[random_below(&crowd->random, 7)];
    if (kind == 4 && random_one_in(&crowd->random, 2))
        access = random_one_in(&crowd->random, 2) ? MICA_ACCESS_ADDED : MICA_ACCESS_DISABLED;
    else if (bytes_of(kind) && random_one_in(&crowd->random, 5))
        access = MICA_ACCESS_CHANGED;
    return !bytes_of(kind) && access != MICA_ACCESS_WITHOUT && access != MICA_ACCESS_MAYBE_READ ? MICA_ACCESS_HAS
                                                                                                : access;
}

static uint32_t random_terms(crowd *crowd, mica_term *terms)
{
    uint32_t used = 0, count = 0, wanted = 1 + random_below(&crowd->random, TERMS);
    bool simple =
        random_one_in(&crowd->random, 3); /* the fast path: what is demanded, in pools with a map or direct index */
    while (count < wanted) {
        uint32_t kind = random_below(&crowd->random, simple ? 3 : KINDS);
        if (simple && random_one_in(&crowd->random, 5))
            kind = 8;
        if (used >> kind & 1) {
            wanted -= random_one_in(&crowd->random, 3);
            continue;
        }
        used |= 1u << kind;
        mica_access access = simple ? (mica_access)random_below(&crowd->random, 3) : random_access(crowd, kind);
        terms[count++] = (mica_term){.component = crowd->kinds[kind], .access = access};
        if (access == MICA_ACCESS_CHANGED && kind < 8 && count < TERMS && random_one_in(&crowd->random, 2))
            terms[count++] = (mica_term){.component = crowd->kinds[kind], .access = MICA_ACCESS_READ};
    }
    return count;
}

static void check_view(crowd *crowd, mica_view *view, const mica_term *terms, uint32_t term_count)
{
    const char *columns[TERMS] = {0};
    uint32_t bytes[TERMS] = {0};
    for (uint32_t t = 0; t < term_count; ++t) {
        bool writes = terms[t].access == MICA_ACCESS_WRITE || terms[t].access == MICA_ACCESS_MAYBE_WRITE;
        for (uint32_t k = 0; k < KINDS; ++k)
            bytes[t] = crowd->kinds[k] == terms[t].component ? bytes_of(k) : bytes[t];
        if (writes || terms[t].access == MICA_ACCESS_READ || terms[t].access == MICA_ACCESS_MAYBE_READ)
            columns[t] = writes ? mica_view_write_at(view, t) : mica_view_read_at(view, t);
        else
            bytes[t] = 0;
    }
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t at = UINT32_MAX;
        for (uint32_t k = 0; k < ENTITIES && at == UINT32_MAX; ++k)
            at = mica_same(crowd->entities[k], view->entities[i]) ? k : at;
        REQUIRE(at != UINT32_MAX && crowd->expected[at] && !crowd->seen[at]);
        crowd->seen[at] = true;
        for (uint32_t t = 0; t < term_count; ++t)
            REQUIRE(mica_view_has_at(view, t) == mica_has_id(crowd->world, view->entities[i], terms[t].component));
        for (uint32_t t = 0; t < term_count; ++t)
            REQUIRE(!bytes[t] || mica_get_id(crowd->world, view->entities[i], terms[t].component) ==
                                     (columns[t] ? columns[t] + (size_t)i * bytes[t] : NULL));
    }
}

static void check_loop(crowd *crowd, mica_query *query, const mica_term *terms, uint32_t term_count)
{
    uint32_t expected = 0, seen = 0;
    for (uint32_t i = 0; i < ENTITIES; ++i)
        expected += crowd->expected[i] = mica_query_matches(query, crowd->entities[i]);
    memset(crowd->seen, 0, sizeof crowd->seen);
    ck_assert_uint_eq(mica_query_count(query), expected);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); seen += view.count)
        check_view(crowd, &view, terms, term_count);
    ck_assert_uint_eq(seen, expected);
}

static void open_crowd(crowd *crowd, uint64_t seed)
{
    *crowd = (struct crowd){.world = open_world(&heard), .random = {seed}};
    list_kinds(crowd);
    if (seed % 3 == 1)
        ck_assert_int_eq(mica_group(crowd->world, Mapped, Other, Hashed), MICA_OK);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        crowd->entities[i] = create_one(crowd, i);
}

static void run_queries(crowd *crowd)
{
    mica_term terms[TERMS + 1];
    uint32_t term_count = random_terms(crowd, terms);
    mica_query *query = mica_query_create(crowd->world, &(mica_query_def){.terms = terms, .term_count = term_count});
    ck_assert_ptr_nonnull(query);
    for (uint32_t loop = 0; loop < LOOPS; ++loop) {
        check_loop(crowd, query, terms, term_count);
        change_some(crowd, random_below(&crowd->random, 60));
    }
    mica_query_destroy(query);
    ck_assert_int_eq(mica_world_validate(crowd->world), MICA_OK);
}

/* Every third world has a group. */
START_TEST(loops_show_what_matches_with_the_values_that_look_ups_find)
{
    static crowd crowd;
    open_crowd(&crowd, (uint64_t)_i);
    for (uint32_t round = 0; round < (UNDER_SANITIZER ? ROUNDS / 8 : ROUNDS); ++round)
        run_queries(&crowd);
    mica_world_destroy(crowd.world);
}
END_TEST

START_TEST(a_snapshot_brings_back_the_rows_that_came_went_and_were_written)
{
    static crowd crowd;
    static mica_entity entities[ENTITIES];
    open_crowd(&crowd, (uint64_t)_i);
    for (uint32_t round = 0; round < (UNDER_SANITIZER ? ROUNDS / 8 : ROUNDS); ++round) {
        mica_snapshot before = mica_snapshot_take(crowd.world);
        uint64_t hash = mica_world_hash(crowd.world);
        memcpy(entities, crowd.entities, sizeof entities);
        run_queries(&crowd);
        if (random_one_in(&crowd.random, 2)) {
            ck_assert_int_eq(mica_snapshot_restore(crowd.world, before), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(crowd.world), hash);
            ck_assert_int_eq(mica_world_validate(crowd.world), MICA_OK);
            memcpy(crowd.entities, entities, sizeof entities);
        }
        mica_snapshot_drop(crowd.world, before);
    }
    mica_world_destroy(crowd.world);
}
END_TEST

enum { CROWD = 1300 };

/* Entities with a Mapped each. They get an Other block by block from the last to the first one: blocks of 1 to 5 entities keep their order. */
static mica_world *open_blocks(bool has_long_blocks)
{
    mica_world *world = open_world(&heard);
    static mica_entity entities[CROWD];
    for (uint32_t i = 0; i < CROWD; ++i)
        entities[i] = mica_create(world, MICA_WITH(Mapped, {i}), MICA_WITH(Number, {i}));
    for (uint32_t end = CROWD, begin; end; end = begin) {
        uint32_t count = has_long_blocks && end / 100 % 2 ? 1 + end % 5 : 1;
        begin = end > count ? end - count : 0;
        for (uint32_t i = begin; i < end; ++i)
            if (i % 7)
                mica_set(world, entities[i], Other, {.value = i});
    }
    return world;
}

static mica_query *open_query(mica_world *world, bool with_chunks)
{
    return with_chunks ? mica_query_create(world, MICA_QUERY(MICA_WRITE(Mapped), MICA_READ(Other), MICA_WRITE(Number)))
                       : mica_query_create(world, MICA_QUERY(MICA_WRITE(Mapped), MICA_READ(Other)));
}

START_TEST(views_are_as_long_as_rows_follow_each_other)
{
    mica_world *world = open_blocks(true);
    mica_query *query = open_query(world, _i);
    const Mapped *mapped = NULL;
    const Other *other = NULL;
    uint32_t rows = 0, views = 0, long_views = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++views) {
        const Mapped *values = mica_view_read_at(&view, 0);
        const Other *others = mica_view_read_at(&view, 1);
        ck_assert(values != mapped || others != other);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_uint_eq(values[i].value, others[i].value);
        rows += view.count;
        long_views += view.count > 1;
        mapped = values + view.count;
        other = others + view.count;
    }
    ck_assert_uint_eq(rows, CROWD - (CROWD + 6) / 7);
    ck_assert_uint_gt(long_views, 20);
    ck_assert_uint_gt(views, rows / 2);
    mica_world_destroy(world);
}
END_TEST

START_TEST(writes_to_views_of_one_row_are_stamped_and_a_snapshot_takes_them_back)
{
    mica_world *world = open_blocks(false);
    mica_query *query = open_query(world, _i);
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Mapped), MICA_CHANGED(Mapped)));
    mica_query *untouched = mica_query_create(world, MICA_QUERY(MICA_READ(Other), MICA_CHANGED(Other)));
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 2; ++round) {
        mica_version since = mica_world_mark(world);
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
            Mapped *mapped = round ? mica_view_write(&view, Mapped) : mica_view_write_at(&view, 0);
            ck_assert_ptr_eq(mica_view_read(&view, Other), mica_view_read_at(&view, 1));
            mapped->value += 3;
        }
        uint32_t rows = 0;
        for (mica_view view = mica_query_begin_since(changed, since); mica_view_next(&view);)
            rows += view.count;
        ck_assert_uint_eq(rows, CROWD);
        mica_view view = mica_query_begin_since(untouched, since);
        ck_assert(!mica_view_next(&view));
    }
    ck_assert_uint_ne(mica_world_hash(world), hash);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    mica_snapshot_drop(world, before);
    mica_world_destroy(world);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("join_run");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, loops_show_what_matches_with_the_values_that_look_ups_find, 0, 12);
    tcase_add_loop_test(cases, a_snapshot_brings_back_the_rows_that_came_went_and_were_written, 0, 6);
    tcase_add_loop_test(cases, views_are_as_long_as_rows_follow_each_other, 0, 2);
    tcase_add_loop_test(cases, writes_to_views_of_one_row_are_stamped_and_a_snapshot_takes_them_back, 0, 2);
    return test_run("join_run", cases);
}
