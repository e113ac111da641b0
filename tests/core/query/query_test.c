/* Queries: which entities match, said four ways that must agree; what changed; and errors that name the culprit. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

/* A world with every subset of five components, some entities each, a part of them with Health switched off. */
enum { PARTS = 5, HEALTH = 4, SETS = 1 << PARTS, PER_SET = 4, PEOPLE = SETS * PER_SET };

typedef struct people {
    mica_component parts[PARTS];
    mica_entity entities[PEOPLE];
    uint32_t sets[PEOPLE];
    bool off[PEOPLE];
} people;

static void people_create(mica_world *world, people *made)
{
    const mica_component parts[PARTS] = {MICA_ID(Position), MICA_ID(Velocity), MICA_ID(Mass), MICA_ID(Frozen),
                                         MICA_ID(Health)};
    memcpy(made->parts, parts, sizeof parts);
    for (uint32_t i = 0; i < PEOPLE; ++i) {
        mica_value values[PARTS];
        uint32_t count = 0;
        made->sets[i] = i % SETS;
        for (uint32_t part = 0; part < PARTS; ++part)
            if (made->sets[i] >> part & 1)
                values[count++] = (mica_value){parts[part], 0, NULL};
        made->entities[i] = mica_create_id(world, values, count);
        made->off[i] = made->sets[i] >> HEALTH & 1 && i / SETS % 2 == 1;
        if (made->off[i])
            mica_disable(world, made->entities[i], Health);
    }
}

/* What the header says of each access, in the plainest code. */
static bool person_matches(const people *made, uint32_t person, const mica_term *terms, uint32_t count)
{
    bool group_open = false, group_met = true;
    for (uint32_t i = 0; i < count; ++i) {
        bool has = false, on = false;
        for (uint32_t part = 0; part < PARTS; ++part)
            if (made->parts[part] == terms[i].component) {
                has = made->sets[person] >> part & 1;
                on = has && !(part == HEALTH && made->off[person]);
            }
        switch (terms[i].access) {
        case MICA_ACCESS_READ:
        case MICA_ACCESS_WRITE:
        case MICA_ACCESS_HAS:
            if (!on)
                return false;
            break;
        case MICA_ACCESS_WITHOUT:
            if (has)
                return false;
            break;
        case MICA_ACCESS_DISABLED:
            if (!has || on)
                return false;
            break;
        case MICA_ACCESS_EITHER:
            if (group_open && !group_met)
                return false;
            group_open = true;
            group_met = has;
            break;
        case MICA_ACCESS_OR: group_met = group_met || has; break;
        default: break;
        }
    }
    return group_met;
}

static void expect_agreement(mica_world *world, const people *made, const mica_term *terms, uint32_t count, int number)
{
    mica_query *query =
        mica_query_create(world, &(const mica_query_def){.terms = terms, .term_count = count, .location = MICA_HERE});
    ck_assert_msg(query != NULL, "query %d is sound", number);
    uint32_t met[PEOPLE] = {0}, loop_count = 0, expected_count = 0;
    mica_entity first = mica_nil();
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        ck_assert_msg(view.count > 0, "a view of query %d is empty", number);
        for (uint32_t i = 0; i < view.count; ++i, ++loop_count) {
            if (loop_count == 0)
                first = view.entities[i];
            for (uint32_t person = 0; person < PEOPLE; ++person)
                met[person] += mica_same(view.entities[i], made->entities[person]);
        }
    }
    for (uint32_t person = 0; person < PEOPLE; ++person) {
        bool expected = person_matches(made, person, terms, count);
        expected_count += expected;
        ck_assert_msg(met[person] == (expected ? 1u : 0u), "query %d meets person %u %u times", number, person,
                      met[person]);
        ck_assert_msg(mica_query_matches(query, made->entities[person]) == expected, "query %d matches person %u",
                      number, person);
    }
    ck_assert_msg(loop_count == expected_count, "query %d meets strangers", number);
    ck_assert_msg(mica_query_count(query) == expected_count, "query %d counts %u", number, expected_count);
    ck_assert_msg(mica_same(mica_query_first(query), first), "the first of query %d is the first of the loop", number);
    mica_query_destroy(query);
}

/* A row of the table: a list of terms and how many there are. */
#define TERMS(...)                                                                                                     \
    {(const mica_term[]){__VA_ARGS__}, (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term))}

START_TEST(loop_count_first_and_matches_agree_with_the_terms)
{
    mica_world *world = open_world(&heard);
    static people made;
    people_create(world, &made);
    const struct {
        const mica_term *terms;
        uint32_t count;
    } queries[] = {
        {NULL, 0},
        TERMS(MICA_READ(Position)),
        TERMS(MICA_WRITE(Position), MICA_READ(Velocity)),
        TERMS(MICA_HAS(Position), MICA_HAS(Frozen)),
        TERMS(MICA_READ(Position), MICA_WITHOUT(Frozen)),
        TERMS(MICA_WITHOUT(Position), MICA_WITHOUT(Velocity), MICA_WITHOUT(Mass), MICA_WITHOUT(Frozen),
              MICA_WITHOUT(Health)),
        TERMS(MICA_READ(Position), MICA_MAYBE_READ(Mass), MICA_MAYBE_WRITE(Velocity)),
        TERMS(MICA_MAYBE_READ(Mass)),
        TERMS(MICA_EITHER(Position), MICA_OR(Velocity)),
        TERMS(MICA_EITHER(Position), MICA_OR(Velocity), MICA_OR(Frozen)),
        TERMS(MICA_EITHER(Position), MICA_OR(Velocity), MICA_EITHER(Mass), MICA_OR(Frozen)),
        TERMS(MICA_EITHER(Mass)),
        TERMS(MICA_READ(Mass), MICA_EITHER(Position), MICA_OR(Velocity), MICA_WITHOUT(Frozen)),
        TERMS(MICA_READ(Health)),
        TERMS(MICA_HAS(Health)),
        TERMS(MICA_WRITE(Health), MICA_READ(Position)),
        TERMS(MICA_DISABLED(Health)),
        TERMS(MICA_DISABLED(Health), MICA_WITHOUT(Position)),
        TERMS(MICA_WITHOUT(Health)),
        TERMS(MICA_READ(Position), MICA_READ(Velocity), MICA_READ(Mass), MICA_HAS(Frozen), MICA_READ(Health)),
        TERMS(MICA_HAS(Enemy)),
        TERMS(MICA_WITHOUT(Enemy)),
    };
    for (uint32_t i = 0; i < COUNT_OF(queries); ++i)
        expect_agreement(world, &made, queries[i].terms, queries[i].count, (int)i);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_is_told_about_new_archetypes)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_WITHOUT(Frozen)));
    ck_assert_msg(mica_query_count(query) == 0, "nothing matches in an empty world");
    ck_assert_msg(mica_is_nil(mica_query_first(query)), "there is no first entity");
    mica_entity first = mica_create(world, MICA_WITH(Position));
    mica_create(world, MICA_WITH(Position), MICA_WITH(Mass));
    mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Mass));
    ck_assert_msg(mica_query_count(query) == 2, "archetypes made later are met");
    ck_assert_msg(mica_same(mica_query_first(query), first), "in the order they were made");
    mica_add(world, first, Frozen);
    ck_assert_msg(mica_query_count(query) == 1, "an entity that no longer matches is not counted");
    close_world(world, &heard);
}
END_TEST

START_TEST(queries_are_given_back)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Position), MICA_WITH(Velocity));
    mica_query_destroy(mica_query_create(world, MICA_QUERY(MICA_READ(Position))));
    uint32_t queries = mica_world_get_stats(world).query_count;
    size_t memory = mica_world_get_stats(world).memory_bytes;
    for (int i = 0; i < 1000; ++i)
        mica_query_destroy(mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_WRITE(Velocity))));
    mica_query_destroy(NULL);
    ck_assert_msg(mica_world_get_stats(world).query_count == queries, "no query is left");
    ck_assert_msg(mica_world_get_stats(world).memory_bytes <= memory + 4096, "and no memory");
    mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen));
    expect_valid(world);
    close_world(world, &heard);
}
END_TEST

typedef struct each_log {
    uint32_t calls;
    float sum;
    uint32_t without_mass;
} each_log;

static void log_each(mica_entity entity, void *const *columns, void *context)
{
    each_log *log = context;
    const Velocity *velocity = columns[0];
    Position *position = columns[1];
    const Mass *mass = columns[3];
    ck_assert_msg(!mica_is_nil(entity), "each is given its entity");
    ck_assert_msg(columns[2] == NULL, "HAS gives no column");
    log->without_mass += mass == NULL;
    position->x += velocity->x;
    log->sum += position->x;
    ++log->calls;
}

START_TEST(each_gives_the_columns_in_declared_order)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (int i = 0; i < 100; ++i) {
        mica_entity entity =
            mica_create(world, MICA_WITH(Position, {1, 0, 0}), MICA_WITH(Velocity, {2, 0, 0}), MICA_WITH(Frozen));
        if (i % 4 == 0)
            mica_set(world, entity, Mass, {1});
    }
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_READ(Velocity), MICA_WRITE(Position), MICA_HAS(Frozen), MICA_MAYBE_READ(Mass)));
    each_log log = {0};
    mica_version mark = mica_world_mark(world);
    mica_query_each(query, log_each, &log);
    ck_assert_msg(log.calls == 100 && log.sum == 300, "each of 100 was met once: %u, %g", log.calls, (double)log.sum);
    ck_assert_msg(log.without_mass == 75, "an optional one is NULL where it is not there");
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Position)));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin_since(changed, mark); mica_view_next(&view);)
        rows += view.count;
    ck_assert_msg(rows == 100, "WRITE terms count as written");
    close_world(world, &heard);
}
END_TEST

/* ---- errors ---- */

typedef struct mistake {
    const char *what;
    mica_term terms[3];
    uint32_t term_count;
    const char *says; /* the term: its component or its number */
} mistake;

START_TEST(errors_name_the_query_the_term_and_the_source_line)
{
    mica_world *world = open_world(&heard);
    const mistake mistakes[] = {
        {"component 0", {MICA_READ(Position), {.component = 0, .access = MICA_ACCESS_READ}}, 2, "term 1"},
        {"a component without a description", {MICA_READ(Position), {.component = 60000, .access = MICA_ACCESS_READ}}, 2, "term 1"},
        {"an access that does not exist", {MICA_READ(Position), {.component = MICA_ID(Velocity), .access = (mica_access)99}}, 2, "Velocity"},
        {"ADDED of what is not tracked", {MICA_ADDED(Position)}, 1, "Position"},
        {"DISABLED of what can't be toggled", {MICA_DISABLED(Position)}, 1, "Position"},
        {"OR without EITHER", {MICA_OR(Position)}, 1, "Position"},
        {"OR after another term", {MICA_READ(Mass), MICA_OR(Position)}, 2, "Position"},
        {"READ of a tag", {MICA_READ(Frozen)}, 1, "Frozen"},
        {"WRITE of a tag", {MICA_WRITE(Frozen)}, 1, "Frozen"},
        {"CHANGED of a tag", {MICA_CHANGED(Frozen)}, 1, "Frozen"},
        {"MAYBE_WRITE of a tag", {MICA_MAYBE_WRITE(Frozen)}, 1, "Frozen"},
        {"READ and WITHOUT", {MICA_READ(Mass), MICA_WITHOUT(Mass)}, 2, "(Mass): it is both asked for and excluded"},
        {"WITHOUT and HAS", {MICA_WITHOUT(Frozen), MICA_HAS(Frozen)}, 2, "(Frozen): it is both asked for and excluded"},
        {"READ and WRITE", {MICA_READ(Mass), MICA_WRITE(Mass)}, 2, "(Mass): it is given twice"},
        {"MAYBE beside READ", {MICA_READ(Mass), MICA_MAYBE_WRITE(Mass)}, 2, "(Mass): it is given twice"},
        {"EITHER beside READ", {MICA_READ(Mass), MICA_EITHER(Mass)}, 2, "(Mass): it is given twice"},
    };
    for (uint32_t i = 0; i < COUNT_OF(mistakes); ++i) {
        const mica_query_def def = {.name = "finder",
                                    .terms = mistakes[i].terms,
                                    .term_count = mistakes[i].term_count,
                                    .location = {"level.c", 123}};
        ck_assert_msg(mica_query_create(world, &def) == NULL, "%s is refused", mistakes[i].what);
        ck_assert_msg(heard.count == 1, "%s is reported once, not %u times", mistakes[i].what, heard.count);
        const heard_report *report = &heard.list[0];
        ck_assert_msg(strstr(report->text, "finder") != NULL, "%s: the query is named: %s", mistakes[i].what,
                      report->text);
        ck_assert_msg(strstr(report->text, mistakes[i].says) != NULL, "%s: the term is named: %s", mistakes[i].what,
                      report->text);
        ck_assert_msg(strcmp(report->file, "level.c") == 0 && report->line == 123, "%s: the place is carried: %s:%d",
                      mistakes[i].what, report->file, report->line);
        forget_reports(&heard);
    }
    ck_assert_msg(mica_world_get_stats(world).query_count == 0, "no query is left");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_macro_carries_the_line_it_was_written_on)
{
    mica_world *world = open_world(&heard);
    int line = __LINE__ + 1;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_ADDED(Position)));
    ck_assert_msg(query == NULL, "Position is not tracked");
    const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, "Position");
    ck_assert_msg(report->line == line, "the report points to line %d, not %d", line, report->line);
    ck_assert_msg(strstr(report->file, "query_test.c") != NULL, "in this file, not %s", report->file);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_number_of_terms_is_bounded)
{
    mica_world *world = open_world(&heard);
    static mica_term terms[MICA_TERMS_MAX + 1];
    for (uint32_t i = 0; i <= MICA_TERMS_MAX; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Term%u", i);
        const mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        terms[i] = (mica_term){.component = mica_component_define(world, &type), .access = MICA_ACCESS_WITHOUT};
    }
    mica_create(world);
    mica_query *most =
        mica_query_create(world, &(const mica_query_def){.name = "most", .terms = terms, .term_count = MICA_TERMS_MAX});
    ck_assert_msg(most != NULL && mica_query_count(most) == 1, "as many as allowed are fine");
    ck_assert_msg(
        mica_query_create(
            world, &(const mica_query_def){.name = "more", .terms = terms, .term_count = MICA_TERMS_MAX + 1}) == NULL,
        "one more is refused");
    expect_report(&heard, MICA_ERROR_LIMIT, "more");
    ck_assert_msg(mica_query_create(world, NULL) == NULL, "no def at all is refused");
    expect_report(&heard, MICA_ERROR_INVALID, "");
    ck_assert_msg(mica_query_create(world, &(const mica_query_def){.name = "termless", .term_count = 2}) == NULL,
                  "terms that are not there are refused");
    expect_report(&heard, MICA_ERROR_INVALID, "termless");
    close_world(world, &heard);
}
END_TEST

typedef bool (*disturb_fn)(mica_world *world, mica_entity entity);

static bool disturb_by_create(mica_world *world, mica_entity entity)
{
    (void)entity;
    return !mica_is_nil(mica_create(world, MICA_WITH(Number)));
}

static bool disturb_by_destroy(mica_world *world, mica_entity entity)
{
    return mica_destroy(world, entity);
}
static bool disturb_by_add(mica_world *world, mica_entity entity)
{
    return mica_add(world, entity, Mass) != NULL;
}
static bool disturb_by_remove(mica_world *world, mica_entity entity)
{
    return mica_remove(world, entity, Number);
}
static bool disturb_by_clone(mica_world *world, mica_entity entity)
{
    return !mica_is_nil(mica_clone(world, entity));
}

START_TEST(a_structural_change_during_a_loop_ends_it_with_a_report)
{
    const disturb_fn disturbances[] = {disturb_by_create, disturb_by_destroy, disturb_by_add, disturb_by_remove,
                                       disturb_by_clone};
    for (uint32_t i = 0; i < COUNT_OF(disturbances); ++i) {
        mica_world *world = open_world_of_small_chunks(&heard);
        for (uint32_t n = 0; n < 300; ++n)
            mica_create(world, MICA_WITH(Number, {n}));
        mica_query *query =
            mica_query_create(world, &(const mica_query_def){MICA_TERMS(MICA_READ(Number)), .name = "disturbed",
                                                             .location = {"level.c", 77}});
        mica_view view = mica_query_begin(query);
        ck_assert_msg(mica_view_next(&view), "the loop starts");
        ck_assert_msg(disturbances[i](world, view.entities[0]), "disturbance %u goes through", i);
        ck_assert_msg(!mica_view_next(&view), "the loop ends early after disturbance %u", i);
        const heard_report *report = expect_report(&heard, MICA_ERROR_REFUSED, "disturbed");
        ck_assert_str_eq(report->file, STOPS_AT_MISTAKES ? __FILE__ : "level.c"); /* of the call, or of the query */
        uint64_t rows = 0;
        for (mica_view again = mica_query_begin(query); mica_view_next(&again);)
            rows += again.count;
        ck_assert_msg(rows == mica_query_count(query), "the next loop is whole again");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(writes_and_toggles_during_a_loop_are_fine)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity entities[300];
    for (uint32_t i = 0; i < 300; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Health, {1, 1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number)));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows += view.count) {
        mica_write(world, entities[rows], Number)->value += 1;
        mica_disable(world, entities[rows], Health);
        mica_set(world, entities[rows], Number, {5});
    }
    ck_assert_msg(rows == 300, "the loop met every row: %u", rows);
    close_world(world, &heard);
}
END_TEST

START_TEST(toggled_rows_are_passed_over_one_by_one)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[1500];
    for (int i = 0; i < 1500; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Health, {i, 0}));
        if (i % 3 == 1 || (i >= 512 && i < 1024))
            mica_disable(world, entities[i], Health);
    }
    mica_query *on = mica_query_create(world, MICA_QUERY(MICA_READ(Health)));
    mica_query *off = mica_query_create(world, MICA_QUERY(MICA_DISABLED(Health)));
    bool seen[1500] = {false};
    for (mica_view view = mica_query_begin(on); mica_view_next(&view);) {
        const Health *health = mica_view_read(&view, Health);
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert_msg(mica_is_enabled(world, view.entities[i], Health), "only what is on is met");
            ck_assert_msg(mica_same(entities[health[i].current], view.entities[i]), "with its own value");
            seen[health[i].current] = true;
        }
    }
    uint32_t met = 0;
    for (int i = 0; i < 1500; ++i) {
        met += seen[i];
        ck_assert_msg(seen[i] == mica_is_enabled(world, entities[i], Health), "entity %d", i);
    }
    ck_assert_msg(mica_query_count(on) == met && mica_query_count(off) == 1500 - met, "on and off make the whole");
    for (int i = 0; i < 1500; ++i)
        mica_enable(world, entities[i], Health);
    ck_assert_msg(mica_query_count(on) == 1500 && mica_query_count(off) == 0, "all are on again");
    ck_assert_msg(mica_is_nil(mica_query_first(off)), "no entity is disabled");
    close_world(world, &heard);
}
END_TEST

START_TEST(optional_and_either_columns_are_null_where_absent)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Position, {1, 0, 0}), MICA_WITH(Mass, {5}));
    mica_create(world, MICA_WITH(Position, {2, 0, 0}));
    mica_create(world, MICA_WITH(Mass, {6}));
    mica_query *maybe = mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_MAYBE_WRITE(Mass)));
    for (mica_view view = mica_query_begin(maybe); mica_view_next(&view);) {
        bool has = mica_has(world, view.entities[0], Mass);
        ck_assert_msg((mica_view_read(&view, Mass) != NULL) == has, "a column to read where it is there");
        ck_assert_msg((mica_view_write(&view, Mass) != NULL) == has, "a column to write where it is there");
    }
    mica_query *either = mica_query_create(world, MICA_QUERY(MICA_EITHER(Position), MICA_OR(Mass)));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(either); mica_view_next(&view); rows += view.count) {
        ck_assert_msg((mica_view_read(&view, Position) != NULL) == mica_has(world, view.entities[0], Position),
                      "EITHER gives a column or NULL");
        ck_assert_msg((mica_view_read(&view, Mass) != NULL) == mica_has(world, view.entities[0], Mass),
                      "and so does OR");
    }
    ck_assert_msg(rows == 3, "all three have one of them");
    close_world(world, &heard);
}
END_TEST

START_TEST(matches_is_false_for_the_dead_and_for_nil)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position)));
    mica_query *all = mica_query_create(world, &(const mica_query_def){.name = "all"});
    ck_assert_msg(mica_query_matches(query, entity) && mica_query_matches(all, entity), "it matches while it lives");
    mica_destroy(world, entity);
    ck_assert_msg(!mica_query_matches(query, entity) && !mica_query_matches(all, entity), "and not when it is dead");
    ck_assert_msg(!mica_query_matches(all, mica_nil()), "nil matches nothing");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(terms_that_only_look_may_come_beside_a_column)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Age), MICA_WITH(Health));
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_READ(Age), MICA_ADDED(Age), MICA_CHANGED(Age), MICA_HAS(Age), MICA_WRITE(Health)));
    ck_assert_msg(query != NULL && mica_query_count(query) == 1, "they are no repetitions");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(query, loop_count_first_and_matches_agree_with_the_terms, a_query_is_told_about_new_archetypes,
           queries_are_given_back, each_gives_the_columns_in_declared_order,
           errors_name_the_query_the_term_and_the_source_line, the_macro_carries_the_line_it_was_written_on,
           the_number_of_terms_is_bounded, a_structural_change_during_a_loop_ends_it_with_a_report,
           writes_and_toggles_during_a_loop_are_fine, toggled_rows_are_passed_over_one_by_one,
           optional_and_either_columns_are_null_where_absent, matches_is_false_for_the_dead_and_for_nil,
           terms_that_only_look_may_come_beside_a_column)
