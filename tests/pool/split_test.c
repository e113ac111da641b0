/* Split layout: each field, and each x, y and z of a vector, in an array of its own, in chunks and in pools. And what a
 * description of a split or pooled component may not say. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Body {
    Vec3 position;
    float masses[3];
    uint64_t cells[6]; /* kept whole */
    char title[8];     /* kept whole */
    Mood mood;
    mica_entity target;
    uint16_t hidden; /* not described: not kept */
} Body;

MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), masses, cells, title, (mood, Mood), target)

typedef Body PooledBody;
MICA_POOL_WITH(PooledBody, (.split = true), (position, Vec3), masses, cells, title, (mood, Mood), target)

typedef struct NobodyHas { float a, b; } NobodyHas;
MICA_POOL_WITH(NobodyHas, (.split = true), a, b)
MICA_POOL_TAG(Marked)

static Body body_of(uint32_t number)
{
    Body body;
    memset(&body, 0, sizeof body);
    body.position = (Vec3){(float)number, (float)number + 1, (float)number + 2};
    for (uint32_t i = 0; i < 6; ++i)
        body.cells[i] = (uint64_t)number << i;
    for (uint32_t i = 0; i < 3; ++i)
        body.masses[i] = (float)(number * i);
    snprintf(body.title, sizeof body.title, "n%u", number % 100000);
    body.mood = number % 2 ? MOOD_ANGRY : MOOD_CALM;
    body.target = (mica_entity){number, 1};
    return body;
}

static mica_component body_component(int which)
{
    return which ? MICA_ID(PooledBody) : MICA_ID(Body);
}

static void expect_body(mica_world *world, mica_entity entity, mica_component component, uint32_t number)
{
    Body wanted = body_of(number), got;
    REQUIRE(mica_get_value_id(world, entity, component, &got));
    REQUIRE(memcmp(&wanted, &got, sizeof got) == 0);
    const float *y = mica_get_field_id(world, entity, component, offsetof(Body, position.y));
    const uint64_t *cells = mica_get_field_id(world, entity, component, offsetof(Body, cells));
    const char *title = mica_get_field_id(world, entity, component, offsetof(Body, title));
    REQUIRE(*y == wanted.position.y && cells[5] == wanted.cells[5] && strcmp(title, wanted.title) == 0);
}

START_TEST(every_field_has_a_column_of_its_own)
{
    enum { COUNT = 700 };
    mica_world *world = open_world(&heard);
    mica_component component = body_component(_i);
    for (uint32_t i = 0; i < COUNT; ++i) {
        Body body = body_of(i);
        body.hidden = 9;
        mica_value value = {component, sizeof body, &body};
        expect_body(world, mica_create_id(world, &value, 1), component, i);
    }
    mica_query *query = mica_query_create(
        world,
        &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_WRITE}, .term_count = 1});
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); rows += view.count) {
        float *x = mica_view_write_field_id(&view, component, offsetof(Body, position.x));
        const float *z = mica_view_read_field_id(&view, component, offsetof(Body, position.z));
        const float *last = mica_view_read_field_id(&view, component, offsetof(Body, masses[2]));
        const uint64_t *cells = mica_view_read_field_id(&view, component, offsetof(Body, cells));
        const char *titles = mica_view_read_field_id(&view, component, offsetof(Body, title));
        const mica_entity *targets = mica_view_read_field_id(&view, component, offsetof(Body, target));
        ck_assert(x && z && last && cells && titles && targets);
        for (uint32_t i = 0; i < view.count; ++i) {
            uint32_t number = targets[i].index;
            Body wanted = body_of(number);
            REQUIRE(x[i] == wanted.position.x && z[i] == wanted.position.z && last[i] == wanted.masses[2]);
            REQUIRE(cells[i * 6 + 3] == wanted.cells[3] && strcmp(titles + (size_t)i * 8, wanted.title) == 0);
            x[i] += 1;
        }
    }
    ck_assert_uint_eq(rows, COUNT);
    close_world(world, &heard);
}
END_TEST

START_TEST(writing_one_field_stamps_that_field_alone_and_counts_as_change)
{
    mica_world *world = open_world(&heard);
    mica_component component = body_component(_i);
    Body body = body_of(3);
    mica_value value = {component, sizeof body, &body};
    mica_entity entity = mica_create_id(world, &value, 1);
    mica_query *changed = mica_query_create(
        world, &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_CHANGED},
                                 .term_count = 1});
    mica_view first = mica_query_begin(changed);
    ck_assert(mica_view_next(&first));
    mica_view second = mica_query_begin(changed);
    ck_assert(!mica_view_next(&second));
    static const size_t fields[] = {offsetof(Body, position.x), offsetof(Body, position.z), offsetof(Body, cells),
                                    offsetof(Body, masses),     offsetof(Body, target),     offsetof(Body, position.y)};
    float *y = NULL;
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        y = mica_write_field_id(world, entity, component, fields[i]);
        mica_view third = mica_query_begin(changed);
        ck_assert_msg(mica_view_next(&third), "the write of field %u counts", i);
        mica_view fourth = mica_query_begin(changed);
        ck_assert(!mica_view_next(&fourth));
    }
    *y = 50;
    Body got;
    ck_assert(mica_get_value_id(world, entity, component, &got) && got.position.y == 50);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_split_component_lives_through_moves_clones_and_recording)
{
    mica_world *world = open_world(&heard);
    mica_component component = body_component(_i);
    Body body = body_of(3);
    mica_value value = {component, sizeof body, &body};
    mica_entity entities[60];
    for (uint32_t i = 0; i < 60; ++i) {
        body = body_of(i);
        entities[i] = mica_create_id(world, &value, 1);
    }
    for (uint32_t i = 0; i < 60; i += 2)
        mica_add(world, entities[i], Frozen);
    for (uint32_t i = 0; i < 60; i += 3)
        mica_set(world, entities[i], Number, {i});
    expect_body(world, mica_clone(world, entities[7]), component, 7);
    mica_defer(world);
    body = body_of(500);
    ck_assert(mica_set_id(world, entities[5], value));
    Body *staged = mica_add_id(world, entities[6], component);
    ck_assert_msg(staged && staged->target.index == 6, "the staged value is whole, and starts as what is there");
    *staged = body_of(600);
    mica_destroy(world, entities[0]);
    mica_remove_id(world, entities[1], component);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 2; i < 60; ++i)
        expect_body(world, entities[i], component, i == 5 ? 500 : i == 6 ? 600 : i);
    ck_assert(!mica_has_id(world, entities[1], component));
    ck_assert(!mica_get_field_id(world, entities[1], component, 0));
    ck_assert(!mica_get_value_id(world, entities[0], component, &body));
    ck_assert(mica_add_id(world, entities[1], component));
    ck_assert(mica_get_value_id(world, entities[1], component, &body) && body.cells[2] == 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(there_is_no_whole_value_to_point_to)
{
    mica_world *world = open_world(&heard);
    mica_component component = body_component(_i);
    Body body = body_of(3);
    mica_value value = {component, sizeof body, &body};
    mica_entity entity = mica_create_id(world, &value, 1);
    ck_assert(!mica_get_id(world, entity, component) && !mica_write_id(world, entity, component));
    expect_report(&heard, MICA_ERROR_INVALID, "mica_get_field");
    expect_report(&heard, MICA_ERROR_INVALID, "mica_get_field");
    ck_assert(!mica_get_field_id(world, entity, component, offsetof(Body, cells) + 8));
    expect_report(&heard, MICA_ERROR_INVALID, "inside an array");
    ck_assert(!mica_get_field_id(world, entity, component, offsetof(Body, hidden)));
    expect_report(&heard, MICA_ERROR_INVALID, "not described");
    ck_assert(!mica_get_field_id(world, entity, MICA_ID(Number), 0));
    expect_report(&heard, MICA_ERROR_INVALID, ".split = true");
    ck_assert(!mica_get_field_id(world, entity, 60000, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "without an id");
    ck_assert(!mica_get_value_id(world, entity, 60000, &body));
    ck_assert_msg(!mica_get_field_id(world, entity, MICA_ID(NobodyHas), 0), "a pool that is not there yet");
    mica_add(world, entity, Frozen);
    mica_add(world, entity, Marked);
    ck_assert_msg(mica_get_value_id(world, entity, MICA_ID(Frozen), NULL), "a tag has nothing to copy");
    ck_assert_msg(mica_get_value_id(world, entity, MICA_ID(Marked), NULL), "in a pool neither");
    mica_pool *pool = mica_pool_of(world, PooledBody);
    ck_assert(!mica_pool_read_id(pool));
    expect_report(&heard, MICA_ERROR_INVALID, "use the arrays of its fields");
    ck_assert(!mica_pool_read_field_id(pool, offsetof(Body, hidden)));
    expect_report(&heard, MICA_ERROR_INVALID, "no field has an array at that offset");
    mica_add(world, entity, PooledBody);
    ck_assert(!mica_instance_write_id(pool, mica_pool_find(pool, entity)));
    expect_report(&heard, MICA_ERROR_INVALID, "use the arrays of its fields");
    mica_query *query = mica_query_create(
        world,
        &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_READ}, .term_count = 1});
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_next(&view));
    ck_assert(!mica_view_read_id(&view, component) && !mica_view_read_at(&view, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "mica_view_read_field");
    expect_report(&heard, MICA_ERROR_INVALID, "mica_view_read_field");
    ck_assert(!mica_view_write_field_id(&view, component, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query writes");
    ck_assert(!mica_view_read_field_id(&view, MICA_ID(NobodyHas), 0));
    expect_report(&heard, MICA_ERROR_INVALID, "no term of this query reads");
    ck_assert(!mica_view_read_field_id(&view, component, offsetof(Body, hidden)));
    expect_report(&heard, MICA_ERROR_INVALID, "not described");
    ck_assert(!mica_view_write_field_id(&view, component, offsetof(Body, hidden)));
    expect_report(&heard, MICA_ERROR_INVALID, "not described");
    close_world(world, &heard);
}
END_TEST

static bool make_nothing(void *values, uint32_t count, void *context)
{
    (void)values;
    (void)context;
    return count > 0;
}

START_TEST(invalid_descriptions_are_rejected)
{
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
#define PLAIN .fields = &field, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT
#define TAG .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_POOL
    static const struct {
        mica_type type;
        const char *says;
    } bad[] = {
        {{PLAIN, .index = MICA_INDEX_HASH}, "for pools"},
        {{PLAIN, .dying = MICA_DYING_LAZILY}, "for pools"},
        {{PLAIN, .many = true}, "for pools"},
        {{PLAIN, .storage = MICA_STORAGE_SINGLETON, .split = true}, "chunks and pools"},
        {{PLAIN, .storage = MICA_STORAGE_POOL, .index = MICA_INDEX_DIRECT, .many = true}, "one instance per entity"},
        {{PLAIN, .storage = MICA_STORAGE_POOL, .index = (mica_pool_index)9}, "unknown"},
        {{PLAIN, .storage = MICA_STORAGE_POOL, .dying = (mica_dying)9}, "unknown"},
        {{PLAIN, .storage = (mica_storage)9}, "storage is unknown"},
        {{PLAIN, .split = true, .construct = make_nothing}, "can't be split"},
        {{PLAIN, .storage = MICA_STORAGE_POOL, .split = true, .construct = make_nothing}, "can't be split"},
        {{.size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT, .split = true}, "no field to split"},
        {{TAG, .toggle = true}, "pool tag has no traits"},
        {{TAG, .many = true}, "pool tag has no traits"},
        {{TAG, .dying = MICA_DYING_LAZILY}, "pool tag has no traits"},
        {{TAG, .index = MICA_INDEX_HASH}, "pool tag has no traits"},
        {{TAG, .split = true}, "pool tag has no traits"},
        {{TAG, .construct = make_nothing}, "pool tag has no traits"},
    };
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        mica_type type = bad[i].type;
        type.name = "Odd";
        ck_assert_msg(!mica_component_define(world, &type), "case %u", i);
        const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, bad[i].says);
        ck_assert(strstr(report->text, "Odd"));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(two_ways_to_keep_one_name_are_two_components)
{
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    mica_type type = {.name = "Wavering", PLAIN};
    mica_world *world = open_world(&heard);
    mica_component chunk = mica_component_define(world, &type);
    ck_assert(chunk);
    type.storage = MICA_STORAGE_POOL;
    ck_assert_msg(!mica_component_define(world, &type), "one world keeps it one way");
    expect_report(&heard, MICA_ERROR_LAYOUT, "Wavering");
    reports other_heard;
    mica_world *other = open_world(&other_heard);
    mica_component pool = mica_component_define(other, &type);
    ck_assert_msg(pool && pool != chunk, "another world may keep it the other way");
    ck_assert_uint_eq(mica_component_layout_hash(pool), mica_component_layout_hash(chunk));
    ck_assert_uint_eq(mica_component_name_hash(pool), mica_component_name_hash(chunk));
    close_world(other, &other_heard);
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("split");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, every_field_has_a_column_of_its_own, 0, 2);
    tcase_add_loop_test(cases, writing_one_field_stamps_that_field_alone_and_counts_as_change, 0, 2);
    tcase_add_loop_test(cases, a_split_component_lives_through_moves_clones_and_recording, 0, 2);
    tcase_add_loop_test(cases, there_is_no_whole_value_to_point_to, 0, 2);
    tcase_add_test(cases, invalid_descriptions_are_rejected);
    tcase_add_test(cases, two_ways_to_keep_one_name_are_two_components);
    return test_run("split", cases);
}
