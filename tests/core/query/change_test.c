/* What changed and what was added since a mark: by slice and column, and by entity. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

static reports heard;

enum { MANY = MICA_SLICE_ROWS * 8 };
static mica_entity entities[MANY];

static mica_world *open_crowd(void)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position), MICA_WITH(Velocity));
    return world;
}

typedef struct sighting {
    uint32_t rows;
    bool has_wanted;
} sighting;

/* How many rows a loop since the mark shows, and whether the wanted entity is among them. */
static sighting rows_since(mica_query *query, mica_version since, mica_entity wanted)
{
    sighting seen = {0, false};
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);) {
        ck_assert_msg(view.count > 0, "a view is never empty");
        for (uint32_t i = 0; i < view.count; ++i, ++seen.rows)
            seen.has_wanted |= mica_same(view.entities[i], wanted);
    }
    return seen;
}

static void change_by_write(mica_world *world, mica_entity entity)
{
    mica_write(world, entity, Position)->x = 5;
}
static void change_by_set(mica_world *world, mica_entity entity)
{
    mica_set(world, entity, Position, {5, 5, 5});
}

static void change_by_ref(mica_world *world, mica_entity entity)
{
    mica_ref ref = mica_ref_of(entity, Position);
    mica_ref_write(world, &ref, Position)->x = 5;
}

static void change_by_recorded_set(mica_world *world, mica_entity entity)
{
    mica_defer(world);
    mica_set(world, entity, Position, {5, 5, 5});
    mica_flush(world);
}

START_TEST(writing_a_value_marks_its_slice_and_column_only)
{
    void (*const changes[])(mica_world *, mica_entity) = {change_by_write, change_by_set, change_by_ref,
                                                          change_by_recorded_set};
    mica_world *world = open_crowd();
    mica_query *position = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    mica_query *velocity = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Velocity)));
    mica_query *number = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Position)));
    for (uint32_t i = 0; i < COUNT_OF(changes); ++i) {
        mica_version mark = mica_world_mark(world);
        mica_entity wanted = entities[1000 + i * 517];
        ck_assert_msg(rows_since(position, mark, wanted).rows == 0, "nothing is newer than a fresh mark");
        changes[i](world, wanted);
        sighting seen = rows_since(position, mark, wanted);
        ck_assert_msg(seen.has_wanted, "change %u shows", i);
        ck_assert_msg(seen.rows <= MICA_SLICE_ROWS, "change %u shows one slice, not %u rows", i, seen.rows);
        ck_assert_msg(rows_since(velocity, mark, wanted).rows == 0, "change %u leaves other columns alone", i);
        ck_assert_msg(rows_since(number, mark, wanted).rows == seen.rows, "READ terms may be beside it");
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(reading_marks_nothing)
{
    mica_world *world = open_crowd();
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    mica_query *reader = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_version mark = mica_world_mark(world);
    const void *found[4];
    mica_ref ref = mica_ref_of(entities[5], Position);
    for (mica_view view = mica_query_begin(reader); mica_view_next(&view);)
        ck_assert_msg(mica_view_read(&view, Position) && mica_view_read(&view, Velocity), "the columns are there");
    ck_assert_msg(mica_get(world, entities[3], Position) && mica_ref_read(world, &ref, Position), "so are the values");
    mica_get_many(world, entities, 4, Position, found);
    mica_query_count(reader);
    mica_query_first(reader);
    mica_query_matches(reader, entities[9]);
    mica_world_hash(world);
    ck_assert_msg(rows_since(changed, mark, mica_nil()).rows == 0, "looking is not changing");
    close_world(world, &heard);
}
END_TEST

START_TEST(writing_a_view_marks_its_own_rows)
{
    mica_world *world = open_crowd();
    mica_query *writer = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_WRITE(Velocity)));
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    mica_query *other = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Velocity)));
    mica_version mark = mica_world_mark(world);
    uint32_t first_rows = 0;
    mica_entity wanted = mica_nil();
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);)
        if (first_rows == 0) {
            mica_view_write(&view, Position)[0].x = 1;
            first_rows = view.count;
            wanted = view.entities[0];
        }
    sighting seen = rows_since(changed, mark, wanted);
    ck_assert_msg(seen.has_wanted && seen.rows == first_rows, "the rows of the one view show: %u of %u", seen.rows,
                  first_rows);
    ck_assert_msg(rows_since(other, mark, wanted).rows == 0, "a column that was not taken for writing does not");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_structural_change_marks_the_slice)
{
    mica_world *world = open_crowd();
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Velocity)));
    mica_version mark = mica_world_mark(world);
    mica_entity fresh = mica_create(world, MICA_WITH(Number), MICA_WITH(Position), MICA_WITH(Velocity));
    sighting seen = rows_since(changed, mark, fresh);
    ck_assert_msg(seen.has_wanted && seen.rows <= MICA_SLICE_ROWS, "a created entity shows, with its slice");

    mark = mica_world_mark(world);
    mica_destroy(world, entities[0]);
    seen = rows_since(changed, mark, fresh);
    ck_assert_msg(seen.has_wanted, "the row that filled the hole shows");
    ck_assert_msg(seen.rows <= 2 * MICA_SLICE_ROWS, "with no more than the slices it left and entered");

    mark = mica_world_mark(world);
    mica_add(world, entities[700], Mass);
    ck_assert_msg(rows_since(changed, mark, entities[700]).has_wanted,
                  "an entity that moved to another archetype shows");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_shows_what_changed_since_the_last_one_began)
{
    mica_world *world = open_crowd();
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    uint32_t rows[4] = {0};
    for (uint32_t loop = 0; loop < 4; ++loop) {
        if (loop == 2)
            mica_write(world, entities[600], Position)->x = 1;
        for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
            rows[loop] += view.count;
    }
    ck_assert_msg(rows[0] == MANY, "the first loop shows all that ever changed");
    ck_assert_msg(rows[1] == 0, "the second nothing");
    ck_assert_msg(rows[2] > 0 && rows[2] <= MICA_SLICE_ROWS, "the third the written slice");
    ck_assert_msg(rows[3] == 0, "the fourth nothing again");
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_written_while_a_loop_runs_shows_in_the_next)
{
    mica_world *world = open_crowd();
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
        mica_write(world, entities[0], Position)->x += 1;
    bool shown = false;
    for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            shown |= mica_same(view.entities[i], entities[0]);
    ck_assert_msg(shown, "no change is ever missed");
    close_world(world, &heard);
}
END_TEST

START_TEST(two_changed_terms_need_both_to_have_changed)
{
    mica_world *world = open_crowd();
    mica_query *both = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position), MICA_CHANGED(Velocity)));
    mica_version mark = mica_world_mark(world);
    mica_write(world, entities[600], Position)->x = 1;
    mica_write(world, entities[3000], Position)->x = 1;
    mica_write(world, entities[3000], Velocity)->x = 1;
    sighting seen = rows_since(both, mark, entities[3000]);
    ck_assert_msg(seen.has_wanted && seen.rows <= MICA_SLICE_ROWS, "only the slice where both were written shows");
    close_world(world, &heard);
}
END_TEST

static uint32_t added_since(mica_world *world, mica_query *query, mica_version since, mica_entity *out)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++count)
            *out = view.entities[i];
    (void)world;
    return count;
}

START_TEST(added_shows_exactly_the_entities_that_got_it)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = i % 2 ? mica_create(world, MICA_WITH(Number, {i}))
                            : mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Age));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_ADDED(Age)));
    mica_entity seen = mica_nil();
    mica_version mark = mica_world_mark(world);
    ck_assert_msg(added_since(world, query, 0, &seen) == MANY / 2, "since ever: all that have it");
    ck_assert_msg(added_since(world, query, mark, &seen) == 0, "since now: none");

    mica_add(world, entities[7], Age);
    ck_assert_msg(added_since(world, query, mark, &seen) == 1 && mica_same(seen, entities[7]), "add adds");
    mark = mica_world_mark(world);
    mica_set(world, entities[9], Age, {5});
    ck_assert_msg(added_since(world, query, mark, &seen) == 1 && mica_same(seen, entities[9]), "set adds");
    mark = mica_world_mark(world);
    mica_entity fresh = mica_create(world, MICA_WITH(Age));
    ck_assert_msg(added_since(world, query, mark, &seen) == 1 && mica_same(seen, fresh), "create adds");

    mark = mica_world_mark(world);
    mica_set(world, entities[9], Age, {6});
    mica_write(world, entities[0], Age)->frames = 3;
    mica_add(world, entities[2], Mass);
    mica_destroy(world, entities[4]);
    ck_assert_msg(added_since(world, query, mark, &seen) == 0, "overwriting, moving and filling holes add nothing");

    mica_remove(world, entities[6], Age);
    mica_add(world, entities[6], Age);
    ck_assert_msg(added_since(world, query, mark, &seen) == 1 && mica_same(seen, entities[6]), "adding again adds");
    close_world(world, &heard);
}
END_TEST

START_TEST(added_shows_since_the_last_loop)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_ADDED(Age)));
    uint32_t rows[4] = {0};
    for (uint32_t loop = 0; loop < 4; ++loop) {
        for (uint32_t i = 0; i < loop; ++i)
            mica_create(world, MICA_WITH(Number, {loop}), MICA_WITH(Age));
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows[loop] += view.count)
            ck_assert_msg(mica_view_read(&view, Number)->value == loop, "only this round's are shown");
        ck_assert_msg(rows[loop] == loop, "round %u shows %u", loop, rows[loop]);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(change, writing_a_value_marks_its_slice_and_column_only, reading_marks_nothing,
           writing_a_view_marks_its_own_rows, a_structural_change_marks_the_slice,
           a_loop_shows_what_changed_since_the_last_one_began, what_is_written_while_a_loop_runs_shows_in_the_next,
           two_changed_terms_need_both_to_have_changed, added_shows_exactly_the_entities_that_got_it,
           added_shows_since_the_last_loop)
