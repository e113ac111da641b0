/* The rows of queries through the Arrow C data interface. */
#include "arrow_reader.h"
#include "faulty_allocator.h"
#include "kitchen.h"
#include "mica/relation.h"
#include "mica/snapshot.h"
#include "reports.h"
#include "test.h"

#include <errno.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, (x, float, .unit = "m", .note = "east"), y)

typedef struct Mass { double value; } Mass;
MICA_COMPONENT(Mass, value)

typedef struct Target { mica_entity entity; } Target;
MICA_COMPONENT(Target, entity)

typedef struct Matrix { float values[4]; } Matrix;
MICA_COMPONENT(Matrix, values)

typedef struct Body {
    Vec place;
    float spin[3];
    int32_t marks[5];
    Vec corners[2];
    char name[8];
    bool fast;
} Body;
MICA_COMPONENT_WITH(Body, (.split = true), (place, Vec), spin, marks, (corners, Vec), name, fast)

MICA_TAG(Frozen)
typedef struct Burning { float left; } Burning;
MICA_POOL(Burning, left)
typedef struct Buff { int32_t amount; } Buff;
MICA_POOL_WITH(Buff, (.many = true), amount)
typedef struct Clock { uint32_t seconds; } Clock;
MICA_SINGLETON(Clock, seconds)
typedef struct Distance { float meters; } Distance;
MICA_RELATION(Distance, meters)
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

static reports heard;
static rendering shown;

static const mica_arrow_def as_copy = {.copy = true};

/* The rows of a text as text, and nothing was reported. */
static const char *rows_of(mica_world *world, const char *text, const mica_arrow_def *def)
{
    struct ArrowArrayStream stream;
    mica_query *query = mica_query_text(world, text, NULL);
    shown.count = 0;
    shown.text[0] = 0;
    ck_assert_int_eq(mica_arrow_stream(query, def, &stream), MICA_OK);
    ck_assert_int_eq(render_stream(&shown, &stream), 0);
    ck_assert_ptr_null(stream.get_last_error(&stream));
    stream.release(&stream);
    ck_assert(!stream.release);
    mica_query_destroy(query);
    return shown.text;
}

static const char *schema_of(mica_query *query)
{
    struct ArrowSchema schema;
    shown.count = 0;
    ck_assert_int_eq(mica_arrow_schema(query, NULL, &schema), MICA_OK);
    render_schema(&shown, &schema);
    schema.release(&schema);
    ck_assert(!schema.release);
    mica_query_destroy(query);
    return shown.text;
}

static void expect_rows(mica_world *world, const char *text, const char *rows)
{
    ck_assert_str_eq(rows_of(world, text, NULL), rows);
    ck_assert_str_eq(rows_of(world, text, &as_copy), rows);
}

START_TEST(every_kind_of_field_has_its_type_and_value)
{
    mica_world *world = open_world(&heard);
    mica_entity friend = mica_create(world);
    mica_create(world, MICA_WITH(Kitchen, {.mood = CALM}));
    mica_entity filled = mica_create(world, MICA_WITH(Kitchen, {.u8 = 0}));
    fill_kitchen(mica_write(world, filled, Kitchen), friend);
    ck_assert_str_eq(
        schema_of(mica_query_create(world, MICA_QUERY(MICA_READ(Kitchen)))),
        ":+s(entity:L Kitchen.flag:b Kitchen.i8:c Kitchen.u8:C Kitchen.i16:s Kitchen.u16:S Kitchen.i32:i Kitchen.u32:I "
        "Kitchen.i64:l Kitchen.u64:L Kitchen.f32:f Kitchen.f64:g Kitchen.letter:u Kitchen.title:u Kitchen.mood:i "
        "Kitchen.skills:I Kitchen.friend:L? Kitchen.model:L? Kitchen.story:u Kitchen.scores:+l(item:f) "
        "Kitchen.items:+l(item:+s(name:u price:S)) Kitchen.switches:+w:2(item:b) Kitchen.words:+w:2(item:u) "
        "Kitchen.home:+s(x:f y:f) Kitchen.corners:+w:2(item:+s(x:f y:f)))");
    expect_rows(
        world, "Kitchen",
        "{entity: 4294967298, Kitchen.flag: false, Kitchen.i8: 0, Kitchen.u8: 0, Kitchen.i16: 0, Kitchen.u16: 0, "
        "Kitchen.i32: 0, Kitchen.u32: 0, Kitchen.i64: 0, Kitchen.u64: 0, Kitchen.f32: 0, Kitchen.f64: 0, "
        "Kitchen.letter: '', Kitchen.title: '', Kitchen.mood: -1, Kitchen.skills: 0, Kitchen.friend: null, "
        "Kitchen.model: null, Kitchen.story: '', Kitchen.scores: [], Kitchen.items: [], "
        "Kitchen.switches: [false, false], Kitchen.words: ['', ''], Kitchen.home: {x: 0, y: 0}, "
        "Kitchen.corners: [{x: 0, y: 0}, {x: 0, y: 0}]}\n"
        "{entity: 4294967299, Kitchen.flag: true, Kitchen.i8: -8, Kitchen.u8: 200, Kitchen.i16: -1600, "
        "Kitchen.u16: 60000, Kitchen.i32: -320000, Kitchen.u32: 4000000000, Kitchen.i64: -9223372036854775808, "
        "Kitchen.u64: 18446744073709551615, Kitchen.f32: 0.5, Kitchen.f64: 1e+300, Kitchen.letter: 'A', "
        "Kitchen.title: 'f\xC3\xBCr\xEF\xBF\xBD!', Kitchen.mood: 7, Kitchen.skills: 3, Kitchen.friend: 4294967297, "
        "Kitchen.model: 77, Kitchen.story: 'a story of more than fourteen bytes', Kitchen.scores: [1, 2.5], "
        "Kitchen.items: [{name: 'sword', price: 0}, {name: '', price: 9}], Kitchen.switches: [false, true], "
        "Kitchen.words: ['', 'two'], Kitchen.home: {x: 1, y: 2}, Kitchen.corners: [{x: 0, y: 0}, {x: 3, y: 4}]}\n--\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(components_that_a_view_lacks_are_null)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Mass);
    mica_define(world, Target);
    mica_create(world, MICA_WITH(Position, {1, 2}), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Position, {3, 4}), MICA_WITH(Kitchen, {.u8 = 0}), MICA_WITH(Body, {.fast = false}));
    ck_assert_str_eq(schema_of(mica_query_text(world, "?Mass, ?Frozen, Position", NULL)),
                     ":+s(entity:L Mass.value:g? Frozen:b Position.x:f Position.y:f)");
    const char *rows =
        rows_of(world, "Position, ?Frozen, ?Kitchen, ?Body, ?Target", &(mica_arrow_def){true, 9, 0, {0}});
    const char *const parts[] = {
        "{entity: 4294967297, Position.x: 1, Position.y: 2, Frozen: true, Kitchen.flag: null, Kitchen.i8: null, ",
        "Kitchen.story: null, Kitchen.scores: null, Kitchen.items: null, Kitchen.switches: null, Kitchen.words: null, "
        "Kitchen.home: null, Kitchen.corners: null, Body.place: null, Body.spin: null, Body.marks: null, "
        "Body.corners: null, Body.name: null, Body.fast: null, Target.entity: null}\n{entity: 4294967298, Position.x: "
        "3",
        "Frozen: false, Kitchen.flag: false, ", "Target.entity: null}\n--\n"};
    for (uint32_t i = 0; i < 4; ++i)
        ck_assert_msg(strstr(rows, parts[i]) != NULL, "no %s in %s", parts[i], rows);
    ck_assert_msg(strstr(strstr(rows, "\n--\n") + 1, "{") == NULL, "both views are one batch");
    expect_rows(world, "Frozen | Mass", "{entity: 4294967297, Frozen: true, Mass.value: null}\n--\n");
    close_world(world, &heard);
}
END_TEST

/* The values of a column of the first batch. */
static const void *values_of(mica_world *world, const char *text, uint32_t column, const mica_arrow_def *def)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    mica_query *query = mica_query_text(world, text, NULL);
    ck_assert_int_eq(mica_arrow_stream(query, def, &stream), MICA_OK);
    ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
    const struct ArrowArray *array = batch.children[column];
    const void *values = array->n_children ? array->children[0]->buffers[1] : array->buffers[1];
    batch.release(&batch);
    stream.release(&stream);
    mica_query_destroy(query);
    return values;
}

START_TEST(columns_with_the_layout_of_arrow_are_not_copied)
{
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Position, {1, 2}), MICA_WITH(Mass, {3}), MICA_WITH(Matrix, {{0}}),
                    MICA_WITH(Target, {{0, 0}}), MICA_WITH(Body, {.fast = false}), MICA_WITH(Burning, {0}));
    const struct {
        const char *text;
        uint32_t column;
        const void *address;
    } cases[] = {
        {"Mass", 1, mica_get(world, entity, Mass)},
        {"Matrix", 1, mica_get(world, entity, Matrix)},
        {"Target", 1, mica_get(world, entity, Target)},
        {"Burning", 1, mica_get(world, entity, Burning)},
        {"Body", 1, mica_get_field(world, entity, Body, place.x)},
        {"Body", 3, mica_get_field(world, entity, Body, marks)},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const void *values = values_of(world, cases[i].text, cases[i].column, NULL);
        ck_assert_msg(values == cases[i].address, "%s is copied", cases[i].text);
        values = values_of(world, cases[i].text, cases[i].column, &as_copy);
        ck_assert_msg(values != cases[i].address, "%s is not copied", cases[i].text);
    }
    ck_assert_ptr_ne(values_of(world, "Position", 1, NULL), mica_get(world, entity, Position));
    close_world(world, &heard);
}
END_TEST

START_TEST(split_components_and_singletons_have_a_value_in_each_row)
{
    mica_world *world = open_world(&heard);
    for (int32_t i = 0; i < 2; ++i)
        mica_create(world, MICA_WITH(Body, {.place = {(float)i, 1},
                                            .spin = {1, 2, (float)i},
                                            .marks = {i, 0, 0, 0, 5},
                                            .corners = {{0, 1}, {(float)i, 3}},
                                            .name = "bob",
                                            .fast = i == 1}));
    mica_singleton_write(world, Clock)->seconds = 60;
    expect_rows(world, "Body, Clock",
                "{entity: 4294967297, Body.place: {x: 0, y: 1}, Body.spin: [1, 2, 0], Body.marks: [0, 0, 0, 0, 5], "
                "Body.corners: [{x: 0, y: 1}, {x: 0, y: 3}], Body.name: 'bob', Body.fast: false, Clock.seconds: 60}\n"
                "{entity: 4294967298, Body.place: {x: 1, y: 1}, Body.spin: [1, 2, 1], Body.marks: [1, 0, 0, 0, 5], "
                "Body.corners: [{x: 0, y: 1}, {x: 1, y: 3}], Body.name: 'bob', Body.fast: true, Clock.seconds: 60}\n"
                "--\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(terms_about_other_entities_have_columns_named_after_their_nodes)
{
    mica_world *world = open_world(&heard);
    mica_define(world, PartOf);
    mica_define(world, Frozen);
    mica_entity rome = mica_create(world, MICA_WITH(Mass, {7}));
    mica_entity paris = mica_create(world, MICA_WITH(Position, {1, 2}));
    mica_relate(world, paris, Distance, rome)->meters = 1100;
    mica_relate(world, paris, PartOf, rome);
    expect_rows(world, "Position, Distance($this, $other), Mass($other)",
                "{entity: 4294967298, $other: 4294967297, Position.x: 1, Position.y: 2, "
                "Distance($this, $other).target: 4294967297, Distance($this, $other).rank: 1, Distance($this, "
                "$other).meters: 1100, Mass($other).value: 7}\n--\n");
    expect_rows(world, "has Position, Mass(up PartOf)", "{entity: 4294967298, Mass($this up PartOf).value: 7}\n--\n");
    expect_rows(world, "Position, ?Distance($this, $x), !Frozen($x)",
                "{entity: 4294967298, $x: 4294967297, Position.x: 1, Position.y: 2, Distance($this, $x).target: "
                "4294967297, Distance($this, $x).rank: 1, Distance($this, $x).meters: 1100}\n"
                "--\n");
    ck_assert_str_eq(schema_of(mica_query_create(world, MICA_QUERY(MICA_READ(Distance, .target = mica_variable(2)),
                                                                   MICA_READ(Mass, .subject = mica_fixed(rome)),
                                                                   MICA_READ(Position, .subject = mica_each())))),
                     ":+s(entity:L $2:L? Distance($this, $2).target:L? Distance($this, $2).rank:I Distance($this, "
                     "$2).meters:f Mass(#1:1).value:g Position(*).x:f "
                     "Position(*).y:f)");
    ck_assert_str_eq(
        schema_of(mica_query_create(world, MICA_QUERY(MICA_READ(Distance, .target = mica_any())))),
        ":+s(entity:L Distance($this, _).target:L? Distance($this, _).rank:I Distance($this, _).meters:f)");
    close_world(world, &heard);
}
END_TEST

START_TEST(batches_of_a_query_about_other_entities_stay_as_they_are)
{
    mica_world *world = open_world(&heard);
    mica_entity rome = mica_create(world);
    for (uint32_t i = 0; i < 4; ++i)
        mica_relate(world, mica_create(world, MICA_WITH(Target, {rome})), Distance, rome)->meters = (float)i;
    mica_query *query = mica_query_text(world, "Target, Distance($this, $other)", NULL);
    struct ArrowArrayStream stream;
    struct ArrowArray batches[4], end;
    ck_assert_int_eq(mica_arrow_stream(query, NULL, &stream), MICA_OK);
    for (uint32_t i = 0; i < 4; ++i)
        ck_assert_int_eq(stream.get_next(&stream, &batches[i]), 0);
    ck_assert_int_eq(stream.get_next(&stream, &end), 0);
    ck_assert(!end.release);
    for (uint32_t i = 0; i < 4; ++i) {
        ck_assert_uint_eq(((const uint64_t *)batches[i].children[0]->buffers[1])[0], ((uint64_t)1 << 32) + 2 + i);
        ck_assert(((const float *)batches[i].children[5]->buffers[1])[0] == (float)i);
        batches[i].release(&batches[i]);
    }
    stream.release(&stream);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(two_terms_with_a_split_component_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_define(world, PartOf);
    mica_define(world, Body);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    mica_query *query = mica_query_text(world, "Body, Body(up PartOf)", NULL);
    ck_assert_int_eq(mica_arrow_stream(query, NULL, &stream), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "two terms read component Body");
    ck_assert_int_eq(mica_arrow_schema(query, NULL, &schema), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "two terms read component Body");
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(metadata_has_constants_units_and_notes)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Kitchen);
    mica_define(world, Position);
    struct ArrowSchema schema;
    mica_query *query = mica_query_text(world, "Kitchen, Position", NULL);
    ck_assert_int_eq(mica_arrow_schema(query, NULL, &schema), MICA_OK);
    static const char mood[] = "mica.constants\x0f\0\0\0"
                               "CALM=-1,ANGRY=7",
                      unit[] = "unit\1\0\0\0m";
    const struct ArrowSchema *moods = schema.children[14], *x = schema.children[25];
    ck_assert_str_eq(moods->name, "Kitchen.mood");
    ck_assert_str_eq(x->name, "Position.x");
    if (*(const int32_t *)(const void *)moods->metadata == 1 && moods->metadata[0] == 1) { /* little-endian */
        ck_assert_mem_eq(moods->metadata + 8, mood, sizeof mood - 1);
        ck_assert_int_eq(x->metadata[0], 2);
        ck_assert_mem_eq(x->metadata + 8, unit, sizeof unit - 1);
    }
    ck_assert_ptr_null(schema.children[0]->metadata);
    schema.release(&schema);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_enum_as_a_component_is_one_column)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Mood, {ANGRY}));
    ck_assert_str_eq(schema_of(mica_query_text(world, "?Mood", NULL)), ":+s(entity:L Mood:i?)");
    expect_rows(world, "Mood", "{entity: 4294967297, Mood: 7}\n--\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(every_instance_of_a_pool_is_a_row)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    for (int32_t i = 1; i <= 3; ++i)
        mica_add_instance(world, entity, Buff)->amount = i;
    struct ArrowArrayStream stream;
    mica_query *query = mica_query_create(world, MICA_QUERY_INSTANCES(Buff, MICA_READ(Buff)));
    shown.count = 0;
    ck_assert_int_eq(mica_arrow_stream(query, NULL, &stream), MICA_OK);
    ck_assert_int_eq(render_stream(&shown, &stream), 0);
    stream.release(&stream);
    uint32_t rows = 0;
    for (const char *at = shown.text; (at = strstr(at, "Buff.amount: ")); at += 13)
        ck_assert_int_eq(at[13], (int)('1' + rows++));
    ck_assert_uint_eq(rows, 3);
    mica_query_destroy(query);
    expect_rows(world, "Buff", "{entity: 4294967297, Buff.amount: 1}\n--\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_empty_query_has_a_schema_and_no_batch)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Position);
    expect_rows(world, "Position", "");
    ck_assert_str_eq(schema_of(mica_query_text(world, "", NULL)), ":+s(entity:L)");
    close_world(world, &heard);
}
END_TEST

START_TEST(views_are_batches_and_copies_can_be_gathered)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 1000; ++i)
        mica_create(world, MICA_WITH(Mass, {(double)i}), MICA_WITH(Target, {{i % 3, i % 3}}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Mass), MICA_READ(Target)));
    for (uint32_t rows = 0; rows <= 1200; rows += 400) {
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        int64_t total = 0, nulls = 0, least = INT64_MAX;
        uint32_t batches = 0;
        ck_assert_int_eq(mica_arrow_stream(query, &(mica_arrow_def){true, rows, 0, {0}}, &stream), MICA_OK);
        while (!stream.get_next(&stream, &batch) && batch.release) {
            for (int64_t i = 0; i < batch.length; ++i) {
                ck_assert(((const double *)batch.children[1]->buffers[1])[i] == (double)(total + i));
                ck_assert_int_eq(arrow_is_valid(batch.children[2], i), (total + i) % 3 != 0);
            }
            least = total + batch.length < 1000 && batch.length < least ? batch.length : least;
            total += batch.length;
            nulls += batch.children[2]->null_count;
            ++batches;
            batch.release(&batch);
        }
        ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
        ck_assert(!batch.release); /* still at the end */
        stream.release(&stream);
        ck_assert_int_eq(total, 1000);
        ck_assert_int_eq(nulls, 334);
        ck_assert_msg(least >= rows, "a batch has %d rows", (int)least);
        ck_assert_msg(rows ? batches <= 1000 / rows + 1 : batches > 4, "%u batches", batches);
    }
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_stream_fails_if_the_world_changes_between_batches)
{
    mica_world *world = open_world(&heard);
    mica_entity last = mica_create(world, MICA_WITH(Mass, {1}));
    mica_create(world, MICA_WITH(Mass, {2}), MICA_WITH(Frozen));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Mass)));
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    ck_assert_int_eq(mica_arrow_stream(query, &as_copy, &stream), MICA_OK);
    mica_destroy(world, last);
    last = mica_create(world, MICA_WITH(Mass, {3})); /* before the first batch everything is allowed */
    ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
    mica_destroy(world, last);
    struct ArrowArray none;
    ck_assert_int_eq(stream.get_next(&stream, &none), EINVAL);
    ck_assert(!none.release);
    ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "structure of the world changed"));
    stream.release(&stream);
    mica_query_destroy(query);
    close_world(world, &heard);
    ck_assert(((const double *)batch.children[1]->buffers[1])[0] == 3); /* a copy outlives the world */
    batch.release(&batch);
}
END_TEST

START_TEST(changes_since_a_mark_are_exported)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Mass, {1}));
    mica_entity frozen = mica_create(world, MICA_WITH(Mass, {2}), MICA_WITH(Frozen));
    mica_version mark = mica_world_mark(world);
    mica_write(world, frozen, Mass)->value = 5;
    expect_rows(world, "changed Mass, Mass",
                "{entity: 4294967297, Mass.value: 1}\n--\n{entity: 4294967298, Mass.value: 5}\n--\n");
    ck_assert_str_eq(rows_of(world, "changed Mass, Mass", &(mica_arrow_def){.since = mark}),
                     "{entity: 4294967298, Mass.value: 5}\n--\n");
    close_world(world, &heard);
}
END_TEST

START_TEST(past_ticks_are_exported_after_a_restore)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Mass, {1}));
    mica_history *history = mica_history_create(world, 8);
    for (uint64_t tick = 0; tick < 4; ++tick) {
        mica_write(world, entity, Mass)->value = (double)tick;
        ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
    }
    ck_assert_int_eq(mica_history_restore(history, 2), MICA_OK);
    expect_rows(world, "Mass", "{entity: 4294967297, Mass.value: 2}\n--\n");
    mica_history_destroy(history);
    close_world(world, &heard);
}
END_TEST

START_TEST(children_can_be_moved_and_everything_is_released_once)
{
    faulty_allocator memory;
    faulty_allocator_init(&memory);
    mica_arrow_def def = {.copy = true, .allocator = faulty_allocator_interface(&memory)};
    mica_world *world = open_world(&heard);
    mica_entity filled = mica_create(world, MICA_WITH(Kitchen, {.u8 = 0}));
    fill_kitchen(mica_write(world, filled, Kitchen), filled);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Kitchen)));
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    ck_assert_int_eq(mica_arrow_stream(query, &def, &stream), MICA_OK);
    ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
    ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
    stream.release(&stream);
    struct ArrowSchema moved_schema = *schema.children[19];
    struct ArrowArray moved = *batch.children[19];
    schema.children[19]->release = NULL;
    batch.children[19]->release = NULL;
    schema.release(&schema);
    batch.release(&batch);
    mica_query_destroy(query);
    close_world(world, &heard);
    shown.count = 0;
    render_value(&shown, &moved_schema, &moved, 0);
    ck_assert_str_eq(shown.text, "[1, 2.5]");
    moved_schema.release(&moved_schema);
    moved.release(&moved);
    ck_assert_uint_eq(memory.live_blocks, 0);
    faulty_allocator_free(&memory);
}
END_TEST

/* Everything once; returns whether all of it worked. */
static bool try_everything(mica_query *query, const mica_arrow_def *def)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    if (mica_arrow_schema(query, def, &schema) != MICA_OK) {
        expect_report(&heard, MICA_ERROR_MEMORY, "arrow: out of memory");
        return false;
    }
    schema.release(&schema);
    if (mica_arrow_stream(query, def, &stream) != MICA_OK) {
        expect_report(&heard, MICA_ERROR_MEMORY, "arrow: out of memory");
        return false;
    }
    shown.count = 0;
    int problem = render_stream(&shown, &stream);
    if (problem) {
        ck_assert_int_eq(problem, ENOMEM);
        ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "memory ran out"));
    }
    stream.release(&stream);
    return !problem;
}

START_TEST(failed_allocations_leave_no_memory)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Frozen);
    mica_define(world, Mass);
    mica_entity filled = mica_create(world, MICA_WITH(Kitchen, {.u8 = 0}), MICA_WITH(Position, {0, 0}));
    fill_kitchen(mica_write(world, filled, Kitchen), filled);
    mica_create(world, MICA_WITH(Kitchen, {.u8 = 0}), MICA_WITH(Position, {0, 0}), MICA_WITH(Body, {.fast = false}));
    mica_create(world, MICA_WITH(Position, {0, 0}));
    mica_define(world, Distance);
    mica_query *queries[] = {mica_query_text(world, "?Kitchen, Position, ?Body, ?Frozen, !Mass", NULL),
                             mica_query_text(world, "Distance($a, $b), Distance($c, $d), Position", NULL)};
    for (uint32_t i = 0; i < 4; ++i) {
        bool copy = i % 2;
        bool is_done = false;
        uint64_t k = 0;
        while (!is_done) {
            faulty_allocator memory;
            faulty_allocator_init(&memory);
            mica_arrow_def def = {copy, copy ? 9 : 0, 0, faulty_allocator_interface(&memory)};
            faulty_allocator_fail_at(&memory, ++k, false);
            forget_reports(&heard);
            is_done = try_everything(queries[i / 2], &def);
            ck_assert_msg(memory.live_blocks == 0, "allocation %u: %zu blocks stay", (unsigned)k, memory.live_blocks);
            ck_assert_int_eq(is_done, memory.failures == 0);
            faulty_allocator_free(&memory);
        }
        ck_assert_uint_gt(k, i < 2 ? 100 : 10);
    }
    mica_query_destroy(queries[0]);
    mica_query_destroy(queries[1]);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_incomplete_allocator_is_reported)
{
    mica_world *world = open_world(&heard);
    faulty_allocator memory;
    faulty_allocator_init(&memory);
    mica_arrow_def def = {.allocator = faulty_allocator_interface(&memory)};
    def.allocator.release = NULL;
    mica_query *query = mica_query_text(world, "", NULL);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ck_assert_int_eq(mica_arrow_stream(query, &def, &stream), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "def->allocator must have both functions or none");
    ck_assert_int_eq(mica_arrow_schema(query, &def, &schema), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "def->allocator must have both functions or none");
    mica_query_destroy(query);
    faulty_allocator_free(&memory);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(stream, every_kind_of_field_has_its_type_and_value, components_that_a_view_lacks_are_null,
           columns_with_the_layout_of_arrow_are_not_copied, split_components_and_singletons_have_a_value_in_each_row,
           terms_about_other_entities_have_columns_named_after_their_nodes,
           batches_of_a_query_about_other_entities_stay_as_they_are, two_terms_with_a_split_component_are_refused,
           metadata_has_constants_units_and_notes, an_enum_as_a_component_is_one_column,
           every_instance_of_a_pool_is_a_row, an_empty_query_has_a_schema_and_no_batch,
           views_are_batches_and_copies_can_be_gathered, a_stream_fails_if_the_world_changes_between_batches,
           changes_since_a_mark_are_exported, past_ticks_are_exported_after_a_restore,
           children_can_be_moved_and_everything_is_released_once, failed_allocations_leave_no_memory,
           an_incomplete_allocator_is_reported)
