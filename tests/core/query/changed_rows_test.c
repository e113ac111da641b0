/* Components that are tracked (.track_changed): CHANGED shows the entities that were written, and no others. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"
#include "mica/split.h"

typedef struct Vigour {
    int32_t current, maximum;
} Vigour;
MICA_COMPONENT_WITH(Vigour, (.track_changed = true), current, maximum)
typedef struct Body {
    float mass, speed;
} Body;
MICA_COMPONENT_WITH(Body, (.split = true, .track_changed = true), mass, speed)
typedef struct Shield {
    int32_t strength;
} Shield;
MICA_COMPONENT_WITH(Shield, (.toggle = true, .track_added = true, .track_changed = true), strength)
typedef struct Poison {
    int32_t strength;
} Poison;
MICA_POOL_WITH(Poison, (.track_changed = true), strength)
typedef struct Light {
    float red, green;
} Light;
MICA_POOL_WITH(Light, (.split = true, .index = MICA_INDEX_DIRECT, .track_changed = true), red, green)
typedef struct Burn {
    int32_t seconds;
} Burn;
MICA_POOL_WITH(Burn, (.index = MICA_INDEX_HASH, .many = true, .toggle = true, .track_changed = true), seconds)

static reports heard;

enum { MANY = MICA_SLICE_ROWS * 5 + 100, WANTED = 1300 };
static mica_entity entities[MANY];

static mica_world *open_crowd(void)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < MANY; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Vigour, {(int32_t)i, 10}), MICA_WITH(Body), MICA_WITH(Shield),
                                  MICA_WITH(Poison), MICA_WITH(Light), MICA_WITH(Number, {i}));
        mica_set(world, entities[i], Burn, {1});
    }
    return world;
}

/* A query that shows what changed since a mark. */
static mica_query *changed_query(mica_world *world, mica_component component)
{
    mica_term term = {.component = component, .access = MICA_ACCESS_CHANGED};
    return mica_query_create(world, &(mica_query_def){.terms = &term, .term_count = 1, .location = MICA_HERE});
}

/* Expects that exactly these entities changed, in loops, counts and tests of single entities. */
static void expect_changed(mica_query *query, mica_version since, const mica_entity *wanted, uint32_t count,
                           const char *what)
{
    uint32_t shown = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++shown) {
            bool is_wanted = false;
            for (uint32_t k = 0; k < count; ++k)
                is_wanted |= mica_same(view.entities[i], wanted[k]);
            ck_assert_msg(is_wanted, "%s: entity %u is shown", what, view.entities[i].index);
        }
    ck_assert_msg(shown == count, "%s: %u of %u are shown", what, shown, count);
}

static void by_write(mica_world *world, mica_entity entity, mica_component component)
{
    ck_assert(mica_write_id(world, entity, component));
}
static void by_inline_write(mica_world *world, mica_entity entity, mica_component component)
{
    (void)component;
    mica_write(world, entity, Vigour)->current = 3;
    mica_write(world, entity, Vigour)->current = 4; /* its slice has the stamp of now */
}
static void by_set(mica_world *world, mica_entity entity, mica_component component)
{
    mica_set_id(world, entity, (mica_value){component, 0, NULL});
}
static void by_add(mica_world *world, mica_entity entity, mica_component component)
{
    mica_add_id(world, entity, component);
}
static void by_recorded_set(mica_world *world, mica_entity entity, mica_component component)
{
    mica_defer(world);
    mica_set_id(world, entity, (mica_value){component, 0, NULL});
    mica_flush(world);
}
static void by_recorded_readd(mica_world *world, mica_entity entity, mica_component component)
{
    mica_defer(world);
    mica_remove_id(world, entity, component);
    mica_add_id(world, entity, component);
    mica_flush(world);
}
static void by_readd(mica_world *world, mica_entity entity, mica_component component)
{
    mica_remove_id(world, entity, component);
    mica_add_id(world, entity, component);
}
static void by_ref(mica_world *world, mica_entity entity, mica_component component)
{
    mica_ref ref = mica_ref_of_id(entity, component);
    ck_assert(mica_ref_write_id(world, &ref));
}
static void by_field(mica_world *world, mica_entity entity, mica_component component)
{
    ck_assert(mica_write_field_id(world, entity, component, 4));
}

START_TEST(writing_a_value_marks_its_entity_only)
{
    enum { WHOLE = 1, SPLIT = 2, INLINE = 4 };
    const struct {
        const char *name;
        void (*change)(mica_world *, mica_entity, mica_component);
        uint32_t fits;
    } ways[] = {
        {"write", by_write, WHOLE},
        {"inline write", by_inline_write, INLINE},
        {"set", by_set, WHOLE | SPLIT},
        {"recorded set", by_recorded_set, WHOLE | SPLIT},
        {"ref", by_ref, WHOLE},
        {"field", by_field, SPLIT},
        {"add", by_add, WHOLE},
        {"removed and added", by_readd, WHOLE | SPLIT},
        {"recorded again", by_recorded_readd, WHOLE | SPLIT},
    };
    const struct {
        mica_component id;
        uint32_t kind;
    } components[] = {{MICA_ID(Vigour), WHOLE | INLINE}, {MICA_ID(Body), SPLIT},  {MICA_ID(Shield), WHOLE},
                      {MICA_ID(Poison), WHOLE},          {MICA_ID(Light), SPLIT}, {MICA_ID(Burn), WHOLE}};
    mica_world *world = open_crowd();
    for (uint32_t k = 0; k < COUNT_OF(components); ++k) {
        mica_query *query = changed_query(world, components[k].id);
        for (uint32_t i = 0; i < COUNT_OF(ways); ++i) {
            mica_version mark = mica_world_mark(world);
            if (!(ways[i].fits & components[k].kind))
                continue;
            expect_changed(query, mark, NULL, 0, "nothing yet");
            ways[i].change(world, entities[WANTED + i], components[k].id);
            ways[i].change(world, entities[WANTED + 2 * MICA_SLICE_ROWS], components[k].id);
            mica_entity wanted[] = {entities[WANTED + i], entities[WANTED + 2 * MICA_SLICE_ROWS]};
            expect_changed(query, mark, wanted, 2, ways[i].name);
        }
    }
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_entity_that_moves_keeps_when_it_was_written)
{
    mica_world *world = open_crowd();
    mica_component components[] = {MICA_ID(Vigour), MICA_ID(Body), MICA_ID(Poison), MICA_ID(Light), MICA_ID(Burn)};
    mica_query *queries[COUNT_OF(components)];
    for (uint32_t i = 0; i < COUNT_OF(components); ++i)
        queries[i] = changed_query(world, components[i]);
    mica_version mark = mica_world_mark(world);
    for (uint32_t i = 0; i < COUNT_OF(components); ++i)
        mica_set_id(world, entities[WANTED], (mica_value){components[i], 0, NULL});
    mica_version later = mica_world_mark(world);
    mica_add(world, entities[WANTED], Position);  /* a row of another archetype, */
    mica_remove(world, entities[WANTED], Number); /* and another one */
    for (uint32_t i = 0; i < 900; ++i)
        mica_destroy(world, entities[i]); /* the last rows fill the holes */
    mica_entity filled[3000];
    for (uint32_t i = 0; i < COUNT_OF(filled); ++i) /* the chunk grows */
        filled[i] = mica_create(world, MICA_WITH(Position), MICA_WITH(Body), MICA_WITH(Vigour), MICA_WITH(Shield),
                                MICA_WITH(Poison), MICA_WITH(Light));
    mica_destroy_many(world, filled, COUNT_OF(filled));
    for (uint32_t i = 0; i < COUNT_OF(components); ++i) {
        expect_changed(queries[i], mark, &entities[WANTED], 1, "since before the write");
        expect_changed(queries[i], later, NULL, 0, "since after it");
        ck_assert(!mica_query_matches(queries[i], mica_nil()));
    }
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Number *)a)->value, right = ((const Number *)b)->value;
    return left < right ? 1 : left > right ? -1 : 0; /* the last first */
}

START_TEST(sorting_rows_moves_stamps_along_and_a_copy_counts_as_written)
{
    mica_world *world = open_crowd();
    mica_query *query = changed_query(world, MICA_ID(Vigour));
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_version mark = mica_world_mark(world);
    mica_write(world, entities[WANTED], Vigour)->current = 1;
    ck_assert_int_eq(mica_query_sort_rows(numbers, MICA_ID(Number), by_number, NULL), MICA_OK);
    expect_changed(query, mark, &entities[WANTED], 1, "after sorting");
    mark = mica_world_mark(world);
    mica_entity copy = mica_clone(world, entities[5]);
    expect_changed(query, mark, &copy, 1, "a copy");
    mica_query *sorted = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number),
                                                                    MICA_CHANGED(Vigour), MICA_CHANGED(Shield)));
    mica_write(world, entities[WANTED], Shield)->strength = 1;
    expect_changed(sorted, mark, &copy, 1, "what both terms ask for");
    mica_write(world, entities[WANTED], Vigour)->current = 2;
    expect_changed(sorted, mark, (mica_entity[]){copy, entities[WANTED]}, 2, "and now of two");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_view_marks_all_its_rows_or_those_that_the_program_marks)
{
    mica_world *world = open_crowd();
    mica_query *writer =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Vigour), MICA_WRITE(Body), MICA_MAYBE_WRITE(Poison),
                                            MICA_WRITE(Light), MICA_WRITE(Number)));
    mica_query *health = changed_query(world, MICA_ID(Vigour)), *body = changed_query(world, MICA_ID(Body)),
               *poison = changed_query(world, MICA_ID(Poison)), *light = changed_query(world, MICA_ID(Light));
    mica_version mark = mica_world_mark(world);
    mica_entity marked[64];
    uint32_t marked_count = 0, rows = 0;
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);) {
        Vigour *values = mica_view_write_unmarked(&view, Vigour);
        float *speeds = mica_view_write_field_unmarked(&view, Body, speed),
              *reds = mica_view_write_field_unmarked(&view, Light, red);
        Poison *poisons = mica_view_write_unmarked(&view, Poison);
        ck_assert(values && speeds && reds && poisons && mica_view_write_unmarked(&view, Number));
        for (uint32_t i = 0; i < view.count; ++i, ++rows) {
            if (rows % 97 != 5)
                continue;
            values[i].current = 77;
            speeds[i] = reds[i] = 77;
            poisons[i].strength = 77;
            mica_view_mark(&view, Vigour, i);
            mica_view_mark(&view, Body, i);
            mica_view_mark(&view, Poison, i);
            mica_view_mark(&view, Light, i);
            marked[marked_count++] = view.entities[i];
        }
    }
    mica_query *all[] = {health, body, poison, light};
    for (uint32_t i = 0; i < COUNT_OF(all); ++i)
        expect_changed(all[i], mark, marked, marked_count, "marked rows");
    mark = mica_world_mark(world);
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);) {
        ck_assert(mica_view_write(&view, Vigour) && mica_view_write_field(&view, Light, green));
        ck_assert(mica_view_write(&view, Poison) && mica_view_write_field(&view, Body, mass));
    }
    for (uint32_t i = 0; i < COUNT_OF(all); ++i)
        expect_changed(all[i], mark, entities, MANY, "all rows");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(invalid_marks_are_reported)
{
    mica_world *world = open_crowd();
    mica_entity bare = mica_create(world, MICA_WITH(Number, {7}));
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_WRITE(Number), MICA_MAYBE_WRITE(Vigour), MICA_READ(Shield), MICA_MAYBE_WRITE(Poison)));
    mica_query *health = changed_query(world, MICA_ID(Vigour));
    mica_query *optional =
        mica_query_create(world, MICA_QUERY(MICA_WRITE(Number), MICA_MAYBE_WRITE(Vigour), MICA_MAYBE_WRITE(Poison)));
    mica_version mark = mica_world_mark(world);
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view));
    mica_view_mark(&view, Vigour, view.count);
    expect_report(&heard, MICA_ERROR_INVALID, "does not have so many rows");
    mica_view_mark(&view, Shield, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "no term of the query writes it");
    mica_view_mark(&view, Number, 0);
    expect_report(&heard, MICA_ERROR_INVALID, ".track_changed = true");
    mica_view_mark_id(&view, 0, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "no term");
    ck_assert(!mica_view_write_unmarked(&view, Shield));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query writes");
    for (view = mica_query_begin(optional); mica_view_next(&view);)
        if (mica_same(view.entities[0], bare)) { /* which has neither */
            mica_view_mark(&view, Vigour, 0);
            mica_view_mark(&view, Poison, 0);
            ck_assert(!mica_view_write_unmarked(&view, Vigour) && !mica_view_write_unmarked(&view, Poison));
        }
    expect_changed(health, mark, NULL, 0, "nothing was marked");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_restore_brings_back_what_counted_as_changed)
{
    mica_world *world = open_crowd();
    mica_component components[] = {MICA_ID(Vigour), MICA_ID(Body), MICA_ID(Poison), MICA_ID(Light), MICA_ID(Burn)};
    mica_query *queries[COUNT_OF(components)];
    mica_version mark = mica_world_mark(world);
    for (uint32_t i = 0; i < COUNT_OF(components); ++i) {
        queries[i] = changed_query(world, components[i]);
        mica_set_id(world, entities[WANTED], (mica_value){components[i], 0, NULL});
    }
    mica_snapshot snapshot = mica_snapshot_take(world);
    ck_assert(snapshot.id);
    mica_query *writer = mica_query_create(world, MICA_QUERY(MICA_WRITE(Vigour), MICA_WRITE(Poison)));
    for (uint32_t i = 0; i < 40; ++i)
        for (uint32_t k = 0; k < COUNT_OF(components); ++k)
            mica_set_id(world, entities[i * 60], (mica_value){components[k], 0, NULL});
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);) {
        ck_assert(mica_view_write_unmarked(&view, Vigour) && mica_view_write_unmarked(&view, Poison));
        mica_view_mark(&view, Vigour, view.count - 1);
        mica_view_mark(&view, Poison, view.count - 1);
    }
    mica_destroy(world, entities[2]);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    for (uint32_t i = 0; i < COUNT_OF(components); ++i)
        expect_changed(queries[i], mark, &entities[WANTED], 1, "restored");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_first_loop_shows_everything_and_views_are_runs_of_rows)
{
    mica_world *world = open_crowd();
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Vigour)));
    uint32_t rows = 0, views = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++views)
        rows += view.count;
    ck_assert_msg(rows == MANY && views < 4, "%u rows in %u views", rows, views);
    for (uint32_t i = 500; i < 530; ++i) /* over the border of two slices */
        mica_write(world, entities[i], Vigour)->current = 1;
    mica_write(world, entities[540], Vigour)->current = 1;
    ck_assert(mica_query_count(query) == 31);
    ck_assert(mica_query_matches(query, entities[540]) && !mica_query_matches(query, entities[541]));
    ck_assert(mica_same(mica_query_first(query), entities[500]));
    rows = views = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); ++views) {
        ck_assert_uint_eq(mica_view_read(&view, Number)[0].value, views ? 540 : 500);
        rows += view.count;
    }
    ck_assert_msg(rows == 31 && views == 2, "%u rows in %u views", rows, views);
    ck_assert(mica_query_count(query) == 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(only_components_with_data_can_be_tracked)
{
    mica_world *world = open_world(&heard);
    mica_type tag = {
        .name = "TrackedTag", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, .track_changed = true};
    mica_type singleton = {.name = "TrackedClock",
                           .kind = MICA_KIND_STRUCT,
                           .storage = MICA_STORAGE_SINGLETON,
                           .size_bytes = 4,
                           .alignment = 4,
                           .track_changed = true};
    mica_type pool_tag = {
        .name = "TrackedPoolTag", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_POOL, .track_changed = true};
    ck_assert(!mica_component_define(world, &tag));
    expect_report(&heard, MICA_ERROR_INVALID, "track_changed is for components with data");
    ck_assert(!mica_component_define(world, &singleton));
    expect_report(&heard, MICA_ERROR_INVALID, "track_changed is for components with data");
    ck_assert(!mica_component_define(world, &pool_tag));
    expect_report(&heard, MICA_ERROR_INVALID, "a pool tag has no traits");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(changed_rows, writing_a_value_marks_its_entity_only, an_entity_that_moves_keeps_when_it_was_written,
           sorting_rows_moves_stamps_along_and_a_copy_counts_as_written,
           a_view_marks_all_its_rows_or_those_that_the_program_marks, invalid_marks_are_reported,
           a_restore_brings_back_what_counted_as_changed, the_first_loop_shows_everything_and_views_are_runs_of_rows,
           only_components_with_data_can_be_tracked)
