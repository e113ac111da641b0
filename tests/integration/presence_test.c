/* Optional terms and groups: a view says whether its entities have a component, and where it is enabled, in loops and in systems. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/flow.h"

#include <string.h>

static reports heard;

MICA_POOL_TAG(Wanted)
typedef struct Extent {
    float width, height;
} Extent;
MICA_COMPONENT_WITH(Extent, (.split = true), width, height)
typedef struct Stretch {
    float width, height;
} Stretch;
MICA_POOL_WITH(Stretch, (.split = true), width, height)
typedef struct Guarded {
    uint32_t value;
} Guarded;
MICA_POOL_WITH(Guarded, (.toggle = true), value)

enum { ENTITIES = 2000, KINDS = 7 };

/* What the entity with this number has. */
static bool should_have(uint32_t number, uint32_t kind)
{
    static const uint32_t divisors[KINDS] = {2, 3, 5, 7, 11, 13, 17};
    return number % divisors[kind] == 0;
}

static void list_kinds(mica_component *out)
{
    const mica_component kinds[KINDS] = {MICA_ID(Frozen),  MICA_ID(Wanted), MICA_ID(Visible), MICA_ID(Extent),
                                         MICA_ID(Stretch), MICA_ID(Mass),   MICA_ID(Guarded)};
    memcpy(out, kinds, sizeof kinds);
}

static void populate(mica_world *world)
{
    mica_component kinds[KINDS];
    list_kinds(kinds);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        for (uint32_t k = 0; k < KINDS; ++k)
            if (should_have(i, k))
                mica_add_id(world, entity, kinds[k]);
        if (i % 4 == 0 && mica_has(world, entity, Visible))
            mica_disable(world, entity, Visible);
        if (i % 2 == 0 && mica_has(world, entity, Guarded))
            mica_disable(world, entity, Guarded);
    }
}

/* The terms of all kinds after Number, as optional ones or as groups of two. */
static void fill_terms(mica_term *terms, bool groups)
{
    mica_component kinds[KINDS];
    list_kinds(kinds);
    terms[0] = (mica_term){.component = MICA_ID(Number), .access = MICA_ACCESS_READ};
    for (uint32_t k = 0; k < KINDS; ++k)
        terms[1 + k] = (mica_term){.component = kinds[k],
                                   .access = !groups      ? MICA_ACCESS_MAYBE_READ
                                             : k % 2 == 0 ? MICA_ACCESS_EITHER
                                                          : MICA_ACCESS_OR};
}

static bool should_match(uint32_t number, bool groups)
{
    for (uint32_t k = 0; groups && k < KINDS; k += 2)
        if (!should_have(number, k) && !(k + 1 < KINDS && should_have(number, k + 1)))
            return false;
    return true;
}

static uint32_t should_match_count(bool groups)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ENTITIES; ++i)
        count += should_match(i, groups);
    return count;
}

static _Atomic uint32_t met; /* rows */

static void check_view(mica_view *view)
{
    mica_component kinds[KINDS];
    list_kinds(kinds);
    const Number *number = mica_view_read_at(view, 0);
    const uint8_t *visible = mica_view_enabled(view, Visible), *guarded = mica_view_enabled(view, Guarded);
    ck_assert(mica_view_has(view, Number) && mica_view_has_at(view, 0));
    ck_assert(mica_view_has(view, Frozen) == (mica_view_read(view, Frozen) != NULL));
    ck_assert((visible != NULL) == mica_view_has(view, Visible) && (guarded != NULL) == mica_view_has(view, Guarded));
    for (uint32_t i = 0; i < view->count; ++i) {
        for (uint32_t k = 0; k < KINDS; ++k) {
            ck_assert(mica_view_has_id(view, kinds[k]) == should_have(number[i].value, k));
            ck_assert(mica_view_has_at(view, 1 + k) == should_have(number[i].value, k));
        }
        ck_assert(!visible || visible[i] == (number[i].value % 4 != 0));
        ck_assert(!guarded || guarded[i] == (number[i].value % 2 != 0));
    }
    met += view->count;
}

/* Split components have no column to hand out. */
static void check_pointers(uint32_t number, void *const *columns)
{
    for (uint32_t k = 0; k < KINDS; ++k)
        ck_assert((columns[1 + k] != NULL) == (should_have(number, k) && k != 3 && k != 4));
}

static void check_each(mica_entity entity, void *const *columns, void *context)
{
    (void)entity, (void)context;
    check_pointers(((const Number *)columns[0])->value, columns);
    ++met;
}

static void check_columns(uint32_t count, void *const *columns)
{
    for (uint32_t i = 0; i < count; ++i)
        check_pointers(((const Number *)columns[0])[i].value, columns);
    met += count;
}

START_TEST(loops_show_which_optional_components_are_there)
{
    for (int small = 0; small < 2; ++small) {
        mica_world *world = small ? open_world_of_small_chunks(&heard) : open_world(&heard);
        populate(world);
        for (int groups = 0; groups < 2; ++groups) {
            mica_term terms[1 + KINDS];
            fill_terms(terms, groups);
            mica_query *query =
                mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = COUNT_OF(terms)});
            for (int loop = 0; loop < 3; ++loop) { /* a loop that is repeated reads a list of chunks */
                met = 0;
                for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
                    check_view(&view);
                ck_assert_uint_eq(met, should_match_count(groups));
            }
            met = 0;
            mica_query_each(query, check_each, NULL);
            ck_assert_uint_eq(met, should_match_count(groups));
        }
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_list_of_chunks_and_a_chunk_loop_show_tags)
{
    mica_world *world = open_world(&heard);
    populate(world);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_MAYBE_READ(Frozen)));
    for (int loop = 0; loop < 3; ++loop) {
        uint32_t rows = 0;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows += view.count)
            ck_assert(mica_view_has(&view, Frozen) == (mica_view_read(&view, Number)->value % 2 == 0));
        ck_assert_uint_eq(rows, ENTITIES);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(systems_show_which_optional_components_are_there)
{
    for (uint32_t workers = 0; workers < 4; workers += 3)
        for (int groups = 0; groups < 2; ++groups) {
            mica_world *world = open_world(&heard);
            mica_flow_def flow = mica_flow_def_default();
            flow.worker_count = workers;
            ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
            populate(world);
            mica_term terms[1 + KINDS];
            fill_terms(terms, groups);
            mica_system_def defs[3] = {{.view = check_view}, {.each = check_each}, {.columns = check_columns}};
            static const char *const names[3] = {"views", "each", "columns"};
            for (uint32_t i = 0; i < 3; ++i) {
                defs[i].name = names[i];
                defs[i].terms = terms;
                defs[i].term_count = COUNT_OF(terms);
                defs[i].parallel = MICA_PARALLEL_EVEN;
                ck_assert(mica_system_add(world, &defs[i]).id);
            }
            met = 0;
            for (int step = 0; step < 2; ++step)
                ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            ck_assert_uint_eq(met, 2 * 3 * should_match_count(groups));
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(components_that_are_not_asked_for_are_reported)
{
    mica_world *world = open_world(&heard);
    populate(world);
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Visible), MICA_WITHOUT(Frozen), MICA_MAYBE_READ(Mass)));
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view));
    ck_assert(mica_view_has(&view, Visible) && !mica_view_has(&view, Frozen));
    ck_assert(!mica_view_has(&view, Enemy));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query is about component Enemy");
    ck_assert(!mica_view_has_at(&view, 4));
    expect_report(&heard, MICA_ERROR_INVALID, "there is no term 4, but 4 terms");
    ck_assert_ptr_null(mica_view_enabled(&view, Mass));
    expect_report(&heard, MICA_ERROR_INVALID, "component Mass can't be toggled");
    ck_assert_ptr_null(mica_view_enabled(&view, Visible));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query reads component Visible");
    ck_assert_ptr_null(mica_view_enabled_id(&view, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query reads component ?");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(presence, loops_show_which_optional_components_are_there, a_list_of_chunks_and_a_chunk_loop_show_tags,
           systems_show_which_optional_components_are_there, components_that_are_not_asked_for_are_reported)
