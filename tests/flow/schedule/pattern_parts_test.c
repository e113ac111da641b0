/* Systems with queries about several entities run as jobs that share out what the first step of the plan visits. The rows of all jobs, one
 * after the other, are those of a loop; jobs, what is written and what is recorded do not depend on the number of workers. */
#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/relation.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct Fuel {
    uint32_t amount;
} Fuel;
MICA_COMPONENT(Fuel, amount)
typedef struct Shield {
    uint32_t power;
} Shield;
MICA_POOL(Shield, power)
typedef struct Seen {
    mica_entity ship, planet;
    uint32_t job;
} Seen;
MICA_COMPONENT(Seen, ship, planet, job)
MICA_TAG(Ship)
MICA_TAG(Planet)
typedef struct Toll {
    uint32_t price;
} Toll;
MICA_RELATION_WITH(DockedTo, (.exclusive = true))
MICA_RELATION(Visits)
MICA_RELATION(Toll, price)
MICA_RELATION_WITH(Borders, (.symmetric = true))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

enum { SHIPS = 12000, PLANETS = 300, PLANET = 1, OTHER = 2 };

static reports heard;
static mica_entity ships[SHIPS], planets[PLANETS];

static mica_world *open_space(uint32_t workers)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    for (uint32_t i = 0; i < PLANETS; ++i) {
        planets[i] = mica_create(world, MICA_WITH(Planet), MICA_WITH(Number, {i}));
        if (i)
            mica_relate(world, planets[i], Borders, planets[i / 2]);
        if (i)
            mica_relate(world, planets[i], PartOf, planets[i / 3]);
        if (i % 50)
            mica_relate(world, planets[i], LeadsTo, planets[i - 1]);
    }
    for (uint32_t i = 0; i < SHIPS; ++i) {
        ships[i] = mica_create(world, MICA_WITH(Ship), MICA_WITH(Number, {i}), MICA_WITH(Fuel, {i}),
                               MICA_WITH(Health, {(int32_t)i, 10}));
        if (i % 5 == 0)
            mica_add(world, ships[i], Frozen);
        if (i % 3)
            mica_relate(world, ships[i], DockedTo, planets[i * 7 % PLANETS]);
        if (i % 2)
            mica_set(world, ships[i], Shield, {i});
        if (i % 7 == 0)
            mica_disable(world, ships[i], Health);
        mica_relate(world, ships[i], Visits, planets[i * 11 % PLANETS]);
        mica_relate(world, ships[i], Visits, planets[(i + 1) * 13 % PLANETS]);
        mica_relate_with(world, ships[i], Toll, planets[i % 2], {.price = i});
    }
    return world;
}

static bool shows_planet;

/* Writes down what the views of a job show, in entities that are created at the end of the phase in the order of jobs. */
static void note(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity planet = shows_planet ? mica_view_variable(view, PLANET) : mica_nil();
        mica_create(view->world, MICA_WITH(Seen, {view->entities[i], planet, (uint32_t)(view->slice >> 32)}));
    }
}

typedef struct one_case {
    const char *name;
    mica_term terms[4];
    uint32_t term_count;
    bool has_variable;
    bool is_divided;
} one_case;

#define MICA_CASE(name_, variable_, divided_, ...)                                                                     \
    {                                                                                                                  \
        .name = (name_), .terms = {__VA_ARGS__}, .term_count = COUNT_OF(((const mica_term[]){__VA_ARGS__})),                \
        .has_variable = (variable_), .is_divided = (divided_)                                                          \
    }

static mica_query *query_of(mica_world *world, const one_case *at)
{
    mica_query *query = mica_query_create(world, &(mica_query_def){.terms = at->terms, .term_count = at->term_count});
    ck_assert_msg(query != NULL, "%s", at->name);
    return query;
}

/* The system has run once: what it noted is what a loop shows. */
static void expect_rows_of_loop(mica_world *world, const one_case *at)
{
    mica_query *query = query_of(world, at), *seen = mica_query_create(world, MICA_QUERY(MICA_READ(Seen)));
    uint64_t count = mica_query_count(query), done = 0, jobs = 0;
    ck_assert_msg(count == mica_query_count(seen), "%s: %u rows", at->name, (unsigned)mica_query_count(seen));
    ck_assert_msg(count > 0, "%s", at->name);
    Seen *all = malloc(count * sizeof *all);
    for (mica_view view = mica_query_begin(seen); mica_view_next(&view); done += view.count)
        memcpy(all + done, mica_view_read(&view, Seen), view.count * sizeof *all);
    uint64_t row = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++row) {
            ck_assert_msg(mica_same(all[row].ship, view.entities[i]), "%s: row %u", at->name, (unsigned)row);
            ck_assert_msg(!at->has_variable || mica_same(all[row].planet, mica_view_variable(&view, PLANET)),
                          "%s: row %u", at->name, (unsigned)row);
            jobs += !row || all[row].job != all[row - 1].job;
        }
    ck_assert_msg((jobs > 1) == at->is_divided, "%s: %u jobs", at->name, (unsigned)jobs);
    free(all);
    mica_query_destroy(seen);
    mica_query_destroy(query);
}

static uint64_t run_case(const one_case *at, uint32_t workers)
{
    mica_world *world = open_space(workers);
    shows_planet = at->has_variable;
    mica_system_def def = {.name = "note", .view = note, .terms = at->terms, .term_count = at->term_count};
    ck_assert(mica_system_add(world, &def).id);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    expect_rows_of_loop(world, at);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(jobs_show_the_rows_of_a_loop_for_any_number_of_workers)
{
    mica_world *world = open_space(1); /* handles of the fixed entities are the same in each world */
    close_world(world, &heard);
    const one_case cases[] = {
        MICA_CASE("rows of chunks", true, true, MICA_HAS(Ship), MICA_HAS(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("rows that pass a filter", true, true, MICA_HAS(Health),
                  MICA_HAS(DockedTo, .target = mica_variable(PLANET)),
                  MICA_WITHOUT(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("rows of a pool", true, true, MICA_HAS(Shield), MICA_HAS(Frozen),
                  MICA_HAS(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("chunks joined with a pool", true, true, MICA_HAS(Frozen), MICA_MAYBE_READ(Shield),
                  MICA_HAS(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("all edges", true, true, MICA_HAS(DockedTo, .target = mica_variable(PLANET))),
        MICA_CASE("planets, then their ships", true, true, MICA_HAS(Ship),
                  MICA_HAS(Visits, .target = mica_variable(PLANET)), MICA_HAS(Planet, .subject = mica_variable(PLANET)),
                  MICA_HAS(Number, .subject = mica_variable(PLANET), .field = "value", .compare = MICA_LESS,
                           .key = mica_key_integer(200))),
        MICA_CASE("few planets, then their ships", true, false, MICA_HAS(Ship),
                  MICA_HAS(Visits, .target = mica_variable(PLANET)),
                  MICA_HAS(PartOf, .subject = mica_variable(PLANET), .target = mica_fixed(planets[0]))),
        MICA_CASE("ships of one planet", false, true, MICA_HAS(Ship), MICA_HAS(Toll, .target = mica_fixed(planets[1]))),
        MICA_CASE("edges with fields", false, true, MICA_READ(Toll, .target = mica_fixed(planets[0]))),
        MICA_CASE("edges in both directions", true, false, MICA_HAS(Planet),
                  MICA_HAS(Borders, .target = mica_variable(PLANET))),
        MICA_CASE("what is reached", true, true, MICA_HAS(Planet), MICA_HAS(LeadsTo, .target = mica_variable(PLANET))),
        MICA_CASE("after ancestors", false, false, MICA_HAS(Planet), MICA_READ(Number, .cascade = MICA_ID(PartOf))),
        MICA_CASE("a value that is compared", true, true,
                  MICA_HAS(Number, .field = "value", .compare = MICA_AT_LEAST, .key = mica_key_integer(100)),
                  MICA_HAS(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("an edge that may be missing", false, true, MICA_HAS(Ship), MICA_HAS(Visits),
                  MICA_MAYBE_READ(DockedTo, .target = mica_variable(PLANET))),
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        uint64_t expected = run_case(&cases[i], 1);
        ck_assert_msg(run_case(&cases[i], 2) == expected, "%s", cases[i].name);
        ck_assert_msg(run_case(&cases[i], 5) == expected, "%s", cases[i].name);
    }
}
END_TEST

static void burn(mica_view *view)
{
    const Number *planet = mica_view_read_at(view, 2);
    mica_random random = mica_random_of(view);
    Fuel *fuel = mica_view_write(view, Fuel);
    for (uint32_t i = 0; i < view->count; ++i)
        fuel[i].amount = fuel[i].amount * 31 + (planet ? planet->value : 0) + mica_random_below(&random, 4);
}

/* Several ticks of a system that writes components of this entity; a snapshot in between sees the writes of all jobs. */
static uint64_t burn_for_a_while(mica_component edge, uint32_t workers, bool with_snapshot)
{
    mica_world *world = open_space(workers);
    mica_term terms[] = {MICA_WRITE(Fuel),
                         {.component = edge, .access = MICA_ACCESS_HAS, .target = mica_variable(PLANET)},
                         MICA_READ(Number, .subject = mica_variable(PLANET))};
    mica_system_def def = {.name = "burn", .view = burn, .terms = terms, .term_count = 3};
    ck_assert(mica_system_add(world, &def).id);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    mica_snapshot snapshot = {0};
    if (with_snapshot)
        snapshot = mica_snapshot_take(world);
    uint64_t before = mica_world_hash(world), after[2];
    for (uint32_t i = 0; i < (with_snapshot ? 2u : 1u); ++i) {
        for (uint32_t k = 0; k < 3; ++k)
            ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
        after[i] = mica_world_hash(world);
        if (!with_snapshot)
            continue;
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), before);
    }
    if (with_snapshot)
        ck_assert_uint_eq(after[0], after[1]);
    close_world(world, &heard);
    return after[0];
}

START_TEST(what_jobs_write_does_not_depend_on_the_number_of_workers)
{
    const mica_component edges[] = {MICA_ID(DockedTo), MICA_ID(Visits)};
    for (uint32_t i = 0; i < COUNT_OF(edges); ++i) {
        uint64_t expected = burn_for_a_while(edges[i], 1, false);
        ck_assert_uint_eq(burn_for_a_while(edges[i], 2, true), expected);
        ck_assert_uint_eq(burn_for_a_while(edges[i], 5, false), expected);
    }
}
END_TEST

static uint32_t owners[SHIPS];
static atomic_uint job_count, shared_count;

/* Which job shows an entity; those that several show are counted. */
static void own(mica_view *view)
{
    uint32_t job = 1 + (uint32_t)(view->slice >> 32);
    const Number *number = mica_view_read_at(view, 0);
    if (!(uint32_t)view->slice)
        atomic_fetch_add(&job_count, 1);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t *owner = &owners[number[i].value];
        if (*owner && *owner != job)
            atomic_fetch_add(&shared_count, 1);
        *owner = job;
    }
    mica_view_write(view, Fuel);
}

static void expect_apart(mica_world *world, const one_case *at)
{
    memset(owners, 0, sizeof owners);
    atomic_store(&job_count, 0);
    atomic_store(&shared_count, 0);
    mica_system_def def = {.name = "own", .view = own, .terms = at->terms, .term_count = at->term_count};
    mica_system system = mica_system_add(world, &def);
    ck_assert(system.id);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    ck_assert(mica_system_remove(world, system));
    ck_assert_msg(atomic_load(&shared_count) == 0, "%s", at->name);
    ck_assert_msg((atomic_load(&job_count) > 1) == at->is_divided, "%s: %u jobs", at->name, atomic_load(&job_count));
}

START_TEST(no_two_jobs_show_an_entity_whose_components_they_write)
{
    mica_world *world = open_space(3);
    const one_case cases[] = {
        MICA_CASE("its planet is one of few", true, true, MICA_READ(Number), MICA_WRITE(Fuel),
                  MICA_HAS(DockedTo, .target = mica_variable(PLANET)),
                  MICA_HAS(PartOf, .subject = mica_variable(PLANET), .target = mica_variable(OTHER))),
        MICA_CASE("the loop starts at the ships, which costs little more", true, true, MICA_READ(Number),
                  MICA_WRITE(Fuel), MICA_HAS(Visits, .target = mica_variable(PLANET))),
        MICA_CASE("few planets with any number of ships", true, false, MICA_READ(Number), MICA_WRITE(Fuel),
                  MICA_HAS(Visits, .target = mica_variable(PLANET)),
                  MICA_HAS(PartOf, .subject = mica_variable(PLANET), .target = mica_fixed(planets[0]))),
        MICA_CASE("ships of one planet", true, true, MICA_READ(Number), MICA_WRITE(Fuel),
                  MICA_HAS(Toll, .target = mica_fixed(planets[0]))),
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        expect_apart(world, &cases[i]);
    close_world(world, &heard);
}
END_TEST

static void start(mica_view *view)
{
    atomic_fetch_add(&job_count, !(uint32_t)view->slice);
}

START_TEST(programs_choose_how_many_rows_a_job_has)
{
    mica_world *world = open_space(2);
    mica_term terms[] = {MICA_HAS(Planet), MICA_HAS(PartOf, .target = mica_variable(PLANET))};
    mica_system_def def = {.name = "start", .view = start, .terms = terms, .term_count = 2};
    const struct {
        mica_parallel parallel;
        uint32_t rows, jobs;
    } cases[] = {{MICA_PARALLEL_EVERY, 100, 3}, {MICA_PARALLEL_EVERY, 1, 60}, {MICA_PARALLEL_NONE, 0, 1}};
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        def.parallel = cases[i].parallel;
        def.parallel_rows = cases[i].rows;
        atomic_store(&job_count, 0);
        mica_system system = mica_system_add(world, &def);
        ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
        ck_assert(mica_system_remove(world, system));
        ck_assert_uint_eq(atomic_load(&job_count), cases[i].jobs);
    }
    close_world(world, &heard);
}
END_TEST

typedef struct Sum {
    double fuel;
    uint32_t rows;
} Sum;

static void add_fuel(mica_view *view, void *data, void *context)
{
    Sum *sum = data;
    (void)context;
    const Fuel *fuel = mica_view_read(view, Fuel);
    for (uint32_t i = 0; i < view->count; ++i)
        sum->fuel = sum->fuel * 0.75 + 1 / (1.0 + fuel[i].amount);
    sum->rows += view->count;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    ((Sum *)sum)->fuel = ((Sum *)sum)->fuel * 0.5 + ((const Sum *)later)->fuel;
    ((Sum *)sum)->rows += ((const Sum *)later)->rows;
}

START_TEST(reductions_of_joins_do_not_depend_on_the_number_of_workers)
{
    Sum zero = {0}, expected = {0};
    mica_reduction reduction = {.zero = &zero, .bytes = sizeof zero, .view = add_fuel, .combine = add_sums};
    for (uint32_t workers = 1; workers < 6; workers += 2) {
        mica_world *world = open_space(workers);
        mica_query *query =
            mica_query_create(world, MICA_QUERY(MICA_READ(Fuel), MICA_HAS(Visits, .target = mica_variable(PLANET))));
        Sum sum = {0};
        ck_assert_int_eq(mica_reduce_query(query, &reduction, &sum), MICA_OK);
        ck_assert_uint_eq(sum.rows, 2 * SHIPS);
        ck_assert_uint_eq(sum.rows, mica_query_count(query));
        ck_assert(workers == 1 || (sum.fuel == expected.fuel && sum.rows == expected.rows));
        expected = sum;
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(pattern_parts, jobs_show_the_rows_of_a_loop_for_any_number_of_workers,
           what_jobs_write_does_not_depend_on_the_number_of_workers,
           no_two_jobs_show_an_entity_whose_components_they_write, programs_choose_how_many_rows_a_job_has,
           reductions_of_joins_do_not_depend_on_the_number_of_workers)
