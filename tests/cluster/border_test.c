#include "cluster/border.h"
#include "cluster/exchange.h"
#include "faulty_allocator.h"
#include "mica/flow.h"
#include "reports.h"
#include "test.h"

typedef struct Position { float x, y; } Position;
typedef struct Colour { uint8_t red, green; } Colour;
typedef struct Speed { float x, y; } Speed;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Colour, red, green)
MICA_COMPONENT(Speed, x, y)
MICA_TAG(Calm)
typedef struct Label { mica_text text; mica_list marks; } Label;
MICA_COMPONENT(Label, text, (marks, uint32_t))

enum { COLOUR = 1, SPEED = 2, CALM = 4 }; /* components */
enum { PART_PLACE = 1, PART_PRESENT = 2, PART_COLOUR = 4, PART_SPEED = 8 };

/* A cluster of one rank, which gets what another rank could send. */
typedef struct fixture {
    mica_world *world;
    mica_cluster *cluster;
    mica_entity self;
    micap_memory memory;
    micap_bytes bytes;
} fixture;

static void open(fixture *test)
{
    *test = (fixture){.world = mica_world_create(NULL)};
    test->cluster = mica_cluster_create(
        test->world,
        &(mica_cluster_def){
            .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 4, .maximum = {40, 40}},
            .reach = 4,
            .ghosts = (const mica_component[]){MICA_ID(Colour), MICA_ID(Speed), MICA_ID(Calm)},
            .ghost_count = 3});
    ck_assert_ptr_nonnull(test->cluster);
    test->self = mica_create(test->world, MICA_WITH(Position, {10, 10}));
    ck_assert(mica_cluster_step(test->cluster, 0.1f));
    micap_memory_init(&test->memory, (mica_allocator){0});
    test->bytes.memory = &test->memory;
}

static void close(fixture *test)
{
    micap_bytes_free(&test->bytes);
    mica_cluster_destroy(test->cluster);
    ck_assert_int_eq(mica_world_validate(test->world), MICA_OK);
    mica_world_destroy(test->world);
}

static void put_float(fixture *test, float value)
{
    micap_bytes_put(&test->bytes, &value, sizeof value);
}

static void put_new(fixture *test, uint64_t identity, float x, uint8_t red, uint64_t present)
{
    micap_bytes_put(&test->bytes, &(uint8_t){MICAP_RECORD_GHOST}, 1);
    micap_bytes_put64(&test->bytes, identity);
    micap_bytes_put_number(&test->bytes, present);
    put_float(test, x);
    put_float(test, 10);
    if (present & COLOUR)
        micap_bytes_put(&test->bytes, &(Colour){red, 1}, sizeof(Colour));
    if (present & SPEED)
        micap_bytes_put(&test->bytes, &(Speed){x, x}, sizeof(Speed));
}

/* A run of changes without its values. */
static void put_run(fixture *test, uint64_t skipped, uint64_t count, uint64_t parts)
{
    micap_bytes_put_number(&test->bytes, skipped);
    micap_bytes_put_number(&test->bytes, count);
    if (count)
        micap_bytes_put_number(&test->bytes, parts);
}

static void begin_changes(fixture *test, uint64_t known)
{
    micap_bytes_put(&test->bytes, &(uint8_t){MICAP_RECORD_CHANGES}, 1);
    micap_bytes_put_number(&test->bytes, known);
}

/* What is wrong with the records, as a parcel. */
static const char *check(fixture *test)
{
    micap_bytes parcel = {.memory = &test->memory};
    micap_exchange_put_header(test->cluster, &parcel);
    micap_bytes_put(&parcel, test->bytes.data, test->bytes.count);
    micap_exchange_put_end(&parcel);
    const char *problem = micap_exchange_check(test->cluster, 0, parcel.data, parcel.count);
    micap_bytes_free(&parcel);
    return problem;
}

/* Uses the records, and shows their neighbours. */
static uint32_t use(fixture *test, mica_cluster_neighbour out[8])
{
    ck_assert_ptr_null(check(test));
    micap_neighbour_table_begin(&test->cluster->table);
    micap_reader reader = {
        .begin = test->bytes.data, .at = test->bytes.data, .end = test->bytes.data + test->bytes.count};
    while (micap_reader_left(&reader))
        if (*micap_reader_take(&reader, 1) == MICAP_RECORD_GHOST)
            micap_border_receive_new(test->cluster, 0, &reader);
        else
            micap_border_receive_changes(test->cluster, 0, &reader);
    ck_assert(!reader.failed);
    test->bytes.count = 0;
    micap_exchange_neighbours(test->cluster); /* fills the table with what is here, and what was received */
    return mica_cluster_around(test->cluster, test->self, 4, out, 8);
}

static const Colour *colour_of(const fixture *test, const mica_cluster_neighbour *neighbour)
{
    return mica_cluster_read(test->cluster, neighbour, MICA_ID(Colour));
}

START_TEST(changes_of_neighbours_are_applied_and_the_others_stay)
{
    fixture test;
    mica_cluster_neighbour near[8];
    open(&test);
    put_new(&test, 71, 9, 10, COLOUR | SPEED);
    put_new(&test, 72, 11, 20, COLOUR);
    put_new(&test, 73, 11.5f, 30, CALM);
    put_new(&test, 74, 30, 40, COLOUR);
    ck_assert_uint_eq(use(&test, near), 3);
    ck_assert_uint_eq(near[0].identity, 71);
    ck_assert_uint_eq(colour_of(&test, &near[1])->red, 20);
    ck_assert_ptr_null(colour_of(&test, &near[2]));
    ck_assert_uint_eq(use(&test, near), 3); /* nothing was sent: nothing has changed */
    ck_assert_float_eq(((const Speed *)mica_cluster_read(test.cluster, &near[0], MICA_ID(Speed)))->x, 9);

    begin_changes(&test, 4);
    put_run(&test, 0, 1, 0); /* the first leaves */
    put_run(&test, 0, 1, PART_COLOUR);
    micap_bytes_put(&test.bytes, &(Colour){21, 1}, sizeof(Colour));
    put_run(&test, 1, 1, PART_PLACE | PART_PRESENT | PART_SPEED); /* the last comes near */
    put_float(&test, 8);
    put_float(&test, 10);
    micap_bytes_put_number(&test.bytes, SPEED);
    micap_bytes_put(&test.bytes, &(Speed){5, 5}, sizeof(Speed));
    put_run(&test, 0, 0, 0);
    put_new(&test, 75, 12, 50, COLOUR);
    ck_assert_uint_eq(use(&test, near), 4);
    ck_assert_uint_eq(near[0].identity, 72);
    ck_assert_uint_eq(colour_of(&test, &near[0])->red, 21);
    ck_assert_uint_eq(near[1].identity, 73);
    ck_assert_uint_eq(near[2].identity, 74);
    ck_assert_ptr_null(colour_of(&test, &near[2]));
    ck_assert_float_eq(((const Speed *)mica_cluster_read(test.cluster, &near[2], MICA_ID(Speed)))->x, 5);
    ck_assert_uint_eq(near[3].identity, 75);

    begin_changes(&test, 4); /* the list is 72, 73, 74, 75 now */
    put_run(&test, 1, 3, 0);
    put_run(&test, 0, 0, 0);
    ck_assert_uint_eq(use(&test, near), 1);
    ck_assert_uint_eq(near[0].identity, 72);
    close(&test);
}
END_TEST

START_TEST(records_that_do_not_fit_the_neighbours_are_refused)
{
    fixture test;
    mica_cluster_neighbour near[8];
    open(&test);
    begin_changes(&test, 0);
    put_run(&test, 0, 0, 0);
    ck_assert_ptr_nonnull(check(&test)); /* there is nothing to change */
    test.bytes.count = 0;
    put_new(&test, 0, 9, 1, COLOUR);
    ck_assert_ptr_nonnull(check(&test));
    test.bytes.count = 0;
    put_new(&test, 7, 9, 1, 8);
    ck_assert_ptr_nonnull(check(&test));
    test.bytes.count = 0;
    put_new(&test, 71, 9, 10, COLOUR);
    put_new(&test, 72, 11, 20, COLOUR);
    ck_assert_uint_eq(use(&test, near), 2);
    static const struct {
        uint64_t known, skipped, count, parts;
    } invalid[] = {{1, 0, 1, 0}, {3, 0, 1, 0},  {2, 2, 1, 0},          {2, 0, 3, 0},          {2, 1, 2, 0},
                   {2, 3, 0, 0}, {2, 0, 1, 32}, {2, UINT64_MAX, 1, 0}, {2, 0, UINT64_MAX, 0}, {2, 0, 1, UINT64_MAX}};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; ++i) {
        begin_changes(&test, invalid[i].known);
        put_run(&test, invalid[i].skipped, invalid[i].count, invalid[i].parts);
        put_run(&test, 0, 0, 0);
        if (invalid[i].count)
            ck_assert_msg(check(&test) != NULL, "changes %zu", i);
        test.bytes.count = 0;
    }
    for (int cut = 0; cut < 2; ++cut) { /* twice in one parcel, and without an end */
        begin_changes(&test, 2);
        put_run(&test, 0, 1, 0);
        if (!cut) {
            put_run(&test, 0, 0, 0);
            ck_assert_ptr_null(check(&test));
            begin_changes(&test, 2);
            put_run(&test, 0, 0, 0);
        }
        ck_assert_ptr_nonnull(check(&test));
        test.bytes.count = 0;
    }
    put_new(&test, 73, 12, 30, COLOUR); /* before the changes, which do not count it */
    begin_changes(&test, 2);
    put_run(&test, 0, 2, 0);
    put_run(&test, 0, 0, 0);
    ck_assert_ptr_null(check(&test));
    close(&test);
}
END_TEST

START_TEST(changed_bytes_are_refused_or_harmless)
{
    for (uint32_t i = 0, size = 1; i < 8 * size; ++i) {
        fixture test;
        mica_cluster_neighbour near[8];
        open(&test);
        put_new(&test, 71, 9, 10, COLOUR | SPEED);
        put_new(&test, 72, 11, 20, CALM);
        use(&test, near);
        put_new(&test, 73, 11, 20, COLOUR);
        begin_changes(&test, 2);
        put_run(&test, 0, 1, 0);
        put_run(&test, 0, 1, PART_PLACE);
        put_float(&test, 8);
        put_float(&test, 10);
        put_run(&test, 0, 0, 0);
        size = test.bytes.count;
        test.bytes.data[i / 8] = (char)(test.bytes.data[i / 8] ^ 1 << i % 8);
        if (!check(&test))
            use(&test, near);
        close(&test);
    }
}
END_TEST

/* ---- neighbours with text and lists */

static void open_labelled(fixture *test, reports *heard, mica_allocator allocator)
{
    *test = (fixture){.world = open_world(heard)};
    micap_memory_init(&test->memory, (mica_allocator){0});
    test->bytes.memory = &test->memory;
    test->cluster = mica_cluster_create(
        test->world,
        &(mica_cluster_def){
            .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 4, .maximum = {40, 40}},
            .reach = 4,
            .ghosts = (const mica_component[]){MICA_ID(Label)},
            .ghost_count = 1,
            .allocator = allocator});
    test->self = mica_create(test->world, MICA_WITH(Position, {10, 10}));
    Label *own = mica_add(test->world, test->self, Label);
    mica_text_set(&own->text, "an own text that does not fit in its place");
}

static void put_label(fixture *test, const char *text, uint32_t mark_count)
{
    micap_bytes_put_text(&test->bytes, text);
    micap_bytes_put_number(&test->bytes, mark_count);
    for (uint32_t i = 0; i < mark_count; ++i)
        micap_bytes_put(&test->bytes, &i, sizeof i);
}

static void put_labelled(fixture *test, uint64_t identity, bool has_label, const char *text, uint32_t mark_count)
{
    micap_bytes_put(&test->bytes, &(uint8_t){MICAP_RECORD_GHOST}, 1);
    micap_bytes_put64(&test->bytes, identity);
    micap_bytes_put_number(&test->bytes, has_label);
    put_float(test, 10);
    put_float(test, 10);
    if (has_label)
        put_label(test, text, mark_count);
}

static void expect_label(const fixture *test, const mica_cluster_neighbour *neighbour, const char *text, uint32_t count)
{
    const Label *label = mica_cluster_read(test->cluster, neighbour, MICA_ID(Label));
    ck_assert_int_eq(label != NULL, text != NULL);
    if (!label)
        return;
    ck_assert_str_eq(mica_text_get(&label->text), text);
    ck_assert_uint_eq(mica_list_count(&label->marks), count);
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_uint_eq(mica_list_items(&label->marks, uint32_t)[i], i);
}

static void send_labelled(fixture *test)
{
    put_labelled(test, 71, true, "a text of a neighbour that does not fit in its place", 9);
    put_labelled(test, 72, true, "short", 0);
    put_labelled(test, 73, false, NULL, 0);
}

/* The second changes, the third gets a label of which nothing is known, and the first leaves. */
static void send_changed_labels(fixture *test)
{
    begin_changes(test, 3);
    put_run(test, 0, 1, 0);
    put_run(test, 0, 1, 4);
    put_label(test, "a longer text, which does not fit in its place", 3);
    put_run(test, 0, 1, PART_PRESENT);
    micap_bytes_put_number(&test->bytes, 1);
    put_run(test, 0, 0, 0);
}

START_TEST(neighbours_have_text_and_lists)
{
    fixture test;
    reports heard;
    mica_cluster_neighbour near[8];
    open_labelled(&test, &heard, (mica_allocator){0});
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    send_labelled(&test);
    ck_assert_uint_eq(use(&test, near), 3);
    expect_label(&test, &near[0], "a text of a neighbour that does not fit in its place", 9);
    expect_label(&test, &near[1], "short", 0);
    expect_label(&test, &near[2], NULL, 0);
    ck_assert_uint_eq(use(&test, near), 3); /* nothing was sent: nothing has changed */
    expect_label(&test, &near[0], "a text of a neighbour that does not fit in its place", 9);
    send_changed_labels(&test);
    ck_assert_uint_eq(use(&test, near), 2);
    expect_label(&test, &near[0], "a longer text, which does not fit in its place", 3);
    expect_label(&test, &near[1], "", 0);
    for (uint32_t cut = 1; cut < 20; ++cut) {
        put_labelled(&test, 74, true, "a text that is cut off", 2);
        test.bytes.count -= cut;
        ck_assert_ptr_nonnull(check(&test));
        test.bytes.count = 0;
    }
    micap_bytes_free(&test.bytes);
    mica_cluster_destroy(test.cluster);
    close_world(test.world, &heard);
}
END_TEST

/* Lets each allocation of the cluster fail once. */
START_TEST(neighbours_with_text_that_do_not_fit_into_memory_leak_nothing)
{
    for (uint64_t k = 1, is_done = 0; !is_done; ++k) {
        fixture test;
        reports heard;
        mica_cluster_neighbour near[8];
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        open_labelled(&test, &heard, faulty_allocator_interface(&faulty));
        ck_assert(mica_cluster_step(test.cluster, 0.1f));
        faulty_allocator_fail_at(&faulty, k, true);
        for (int round = 0; round < 2 && !faulty.failures; ++round) {
            round ? send_changed_labels(&test) : send_labelled(&test);
            use(&test, near);
        }
        if (!faulty.failures)
            mica_cluster_step(test.cluster, 0.1f);
        ck_assert_int_eq(mica_cluster_result(test.cluster) != MICA_OK, faulty.failures > 0);
        is_done = !faulty.failures;
        forget_reports(&heard);
        micap_bytes_free(&test.bytes);
        mica_cluster_destroy(test.cluster);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_world(test.world, &heard);
    }
}
END_TEST

TEST_SUITE(border, neighbours_have_text_and_lists, neighbours_with_text_that_do_not_fit_into_memory_leak_nothing,
           changes_of_neighbours_are_applied_and_the_others_stay, records_that_do_not_fit_the_neighbours_are_refused,
           changed_bytes_are_refused_or_harmless)
