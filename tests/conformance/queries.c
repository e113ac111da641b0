/* Which entities, and what of them: every kind of term and loop. */
#include "conformance.h"
#include "parts.h"

static uint64_t hash_rows(mica_query *query)
{
    uint64_t hash = HASH_BASIS;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            hash = hash_more(hash, view.entities[i].index, 4);
    return hash;
}

static int by_x(const void *a, const void *b, void *context)
{
    (void)context;
    const Place *left = a, *right = b;
    return left->x < right->x ? -1 : left->x > right->x;
}

static void sum_up(mica_entity entity, void *const *columns, void *context)
{
    const Place *location = columns[0];
    *(float *)context += location->x * (float)entity.index;
}

static void populate(mica_world *world)
{
    mica_random random = mica_random_make(2, 2);
    for (uint32_t i = 0; i < 3000; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {mica_random_range(&random, 0, 100), (float)i}));
        if (i % 2)
            mica_set(world, made, Speed, {1, 1});
        if (i % 3)
            mica_set(world, made, Count, {i});
        if (i % 5 == 0)
            mica_add(world, made, Asleep);
        if (i % 7 == 0)
            mica_set(world, made, Heat, {(float)i});
        if (i % 9 == 0)
            mica_disable(world, made, Count);
        if (i % 4 == 0)
            mica_set(world, made, Body, {{(float)i, 0, 0}, 1});
    }
}

static void check_terms(mica_world *world)
{
    static const mica_access accesses[] = {MICA_ACCESS_READ,      MICA_ACCESS_HAS,   MICA_ACCESS_WITHOUT,
                                           MICA_ACCESS_CHANGED,   MICA_ACCESS_ADDED, MICA_ACCESS_DISABLED,
                                           MICA_ACCESS_MAYBE_READ};
    for (uint32_t i = 0; i < COUNT_OF(accesses); ++i) {
        mica_term terms[] = {{.component = MICA_ID(Place), .access = MICA_ACCESS_READ},
                             {.component = MICA_ID(Count), .access = accesses[i]}};
        mica_query *query = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2});
        uint64_t count = mica_query_count(query);
        print_hash("terms", i, hash_more(hash_rows(query), count, 8));
        mica_query_destroy(query);
    }
    mica_query *either = mica_query_create(world, MICA_QUERY(MICA_READ(Place), MICA_EITHER(Speed), MICA_OR(Heat),
                                                             MICA_MAYBE_WRITE(Count), MICA_WITHOUT(Asleep)));
    print_hash("either", 0, hash_rows(either));
    mica_query_destroy(either);
    mica_query *optional =
        mica_query_create(world, MICA_QUERY(MICA_READ(Place), MICA_MAYBE_READ(Asleep), MICA_MAYBE_READ(Count)));
    uint64_t hash = HASH_BASIS;
    for (mica_view view = mica_query_begin(optional); mica_view_next(&view);) {
        EXPECT(mica_view_has(&view, Asleep) == mica_view_has_at(&view, 1));
        const uint8_t *enabled = mica_view_enabled(&view, Count);
        for (uint32_t i = 0; i < view.count; ++i)
            hash = hash_more(hash, mica_view_has(&view, Asleep) + 2u * (enabled ? enabled[i] : 2u), 4);
    }
    print_hash("optional", 0, hash);
    mica_query_destroy(optional);
}

static void check_loops(mica_world *world)
{
    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Place), MICA_READ(Speed)));
    mica_version mark = mica_world_mark(world), structure = mica_world_structure(world);
    for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
        Place *location = mica_view_write(&view, Place);
        EXPECT(location == mica_view_write_at(&view, 0));
        const Speed *speed = mica_view_read_at(&view, 1);
        for (uint32_t i = 0; i < view.count; ++i)
            location[i].x += speed[i].x;
    }
    EXPECT(mica_world_structure(world) == structure);
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Place)));
    uint64_t count = 0;
    for (mica_view view = mica_query_begin_since(changed, mark); mica_view_next(&view);)
        count += view.count;
    EXPECT(count == mica_query_count(moving));
    mica_entity first = mica_query_first(moving);
    EXPECT(mica_query_matches(moving, first) && !mica_query_matches(moving, mica_nil()));

    char text[200], again[200];
    mica_term terms[8];
    mica_value_error error;
    EXPECT(mica_query_write_text(moving, text, sizeof text) < sizeof text);
    mica_query *written = mica_query_text(world, text, &error);
    EXPECT(written && mica_query_count(written) == mica_query_count(moving));
    EXPECT(mica_query_terms(written, terms, 8) == mica_query_terms(moving, NULL, 0));
    EXPECT(mica_query_explain(moving, text, sizeof text) == mica_query_explain(written, again, sizeof again));
    EXPECT(!mica_query_text(world, "Place, Plase", &error) && error.position == 7);

    float sum = 0;
    mica_query_each(moving, sum_up, &sum);
    print_hash("each", 0, (uint64_t)sum);
    mica_query *sorted =
        mica_query_create(world, MICA_QUERY_SORTED(Place, by_x, NULL, MICA_READ(Place), MICA_WITHOUT(Asleep)));
    print_hash("sorted", 0, hash_rows(sorted));
    EXPECT(mica_query_sort_rows(moving, MICA_ID(Place), by_x, NULL) == MICA_OK);
    print_hash("sorted_rows", 0, hash_rows(moving));

    mica_query *bodies = mica_query_create(world, MICA_QUERY(MICA_WRITE(Body)));
    for (mica_view view = mica_query_begin(bodies); mica_view_next(&view);) {
        float *x = mica_view_write_field(&view, Body, at.x);
        const float *mass = mica_view_read_field(&view, Body, mass);
        for (uint32_t i = 0; i < view.count; ++i)
            x[i] += mass[i] / 3;
    }
    print_hash("loops", 0, mica_world_hash(world));
}

typedef struct Tally {
    uint32_t value;
} Tally;
MICA_COMPONENT_WITH(Tally, (.track_changed = true), value)
typedef struct Grid {
    float x, y;
} Grid;
MICA_POOL_WITH(Grid, (.split = true, .track_changed = true), x, y)

static void check_marks(void)
{
    mica_world *world = open_world();
    for (uint32_t i = 0; i < 2000; ++i)
        mica_create(world, MICA_WITH(Tally, {i}), MICA_WITH(Grid, {0, (float)i}));
    mica_query *writer = mica_query_create(world, MICA_QUERY(MICA_WRITE(Tally), MICA_WRITE(Grid)));
    mica_query *changed =
        mica_query_create(world, MICA_QUERY(MICA_READ(Tally), MICA_CHANGED(Tally), MICA_CHANGED(Grid)));
    EXPECT(mica_query_count(changed) == 2000);
    mica_version mark = mica_world_mark(world);
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);) {
        Tally *tally = mica_view_write_unmarked(&view, Tally);
        float *x = mica_view_write_field_unmarked(&view, Grid, x);
        for (uint32_t i = 0; i < view.count; ++i) {
            if (tally[i].value % 7 == 0)
                mica_view_mark(&view, Tally, i);
            if (tally[i].value % 11 == 0)
                mica_view_mark(&view, Grid, i);
            x[i] += (float)tally[i].value;
        }
    }
    uint64_t hash = HASH_BASIS;
    for (mica_view view = mica_query_begin_since(changed, mark); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            hash = hash_more(hash, mica_view_read(&view, Tally)[i].value, 4);
    uint64_t expected = HASH_BASIS;
    for (uint32_t value = 0; value < 2000; value += 77)
        expected = hash_more(expected, value, 4);
    EXPECT(hash == expected);
    close_world(world, 0);
}

void check_queries(void)
{
    check_marks();
    mica_world *world = open_world();
    populate(world);
    check_terms(world);
    check_loops(world);
    close_world(world, 0);
}
