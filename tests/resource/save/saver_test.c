/* Saving in the background: the file is the world as it was when the save began, whatever happened meanwhile. The saver has a worker
 * of its own, so that thread sanitizer has something to see. */
#define _POSIX_C_SOURCE 200809L
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"
#include "mica/pool.h"
#include "mica/hierarchy.h"
#include "mica/saver.h"
#include "mica/snapshot.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THINGS = 3000 };
static const char *path = "/tmp/mica_saver_test.mica";

static void change(mica_world *world, uint32_t tick)
{
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        Number *number = mica_view_write_at(&view, 0);
        for (uint32_t i = 0; i < view.count; ++i)
            number[i].value = tick;
    }
    mica_query_destroy(query);
    mica_entity child = mica_create(world, MICA_WITH(Number, {tick}));
    mica_set_parent(world, child, mica_find(world, "root"));
    mica_singleton_write(world, Clock)->ticks = tick;
}

static mica_world *make_world(reports *heard)
{
    mica_world *world = open_world(heard);
    for (uint32_t i = 0; i < THINGS; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {0}), MICA_WITH(Position, {1, 2, 3}));
        if (i == 0)
            mica_name_set(world, entity, mica_nil(), "root");
    }
    return world;
}

/* Every Number in the file is the tick at which it was saved, and so is the clock; so many children were added. */
static void expect_file(uint32_t children, uint32_t tick)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_define(world, Number);
    mica_define(world, Position);
    mica_define(world, Clock);
    mica_resource_error error = {0};
    mica_resource *resource = mica_resource_load(path, NULL, &error);
    ck_assert_msg(resource != NULL, "%s", error.text);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    mica_resource_free(resource);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, THINGS + children);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            REQUIRE(((const Number *)mica_view_read_at(&view, 0))[i].value == tick);
    mica_query_destroy(query);
    ck_assert_uint_eq(mica_child_count(world, mica_find(world, "root")), children);
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, tick);
    close_world(world, &heard);
}

static void expect_file_of(uint32_t tick)
{
    expect_file(tick, tick);
}

START_TEST(the_file_is_the_world_as_it_was_when_the_save_began)
{
    reports heard;
    mica_world *world = make_world(&heard);
    mica_saver *saver = mica_saver_create(world, &(mica_save_def){.compression = 3});
    uint32_t tick = 0, saved = 0;
    for (uint32_t save = 0; save < 6; ++save) {
        change(world, ++tick);
        saved = tick;
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        for (uint32_t more = 0; more < 10; ++more) /* it runs on meanwhile */
            change(world, ++tick);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        ck_assert(!mica_saver_is_busy(saver));
        expect_file_of(saved);
    }
    mica_saver_begin(saver, path);
    mica_saver_destroy(saver); /* ends what is under way */
    expect_file_of(tick);
    unlink(path);
    close_world(world, &heard);
}
END_TEST

/* Earlier, later and sibling snapshots: the tick in which each was taken is what the file must hold. */
START_TEST(the_file_is_the_world_after_a_restore_too)
{
    reports heard;
    mica_world *world = make_world(&heard);
    mica_saver *saver = mica_saver_create(world, NULL);
    mica_snapshot snapshots[4];
    for (uint32_t tick = 1; tick <= 4; ++tick) {
        change(world, tick);
        snapshots[tick - 1] = mica_snapshot_take(world);
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        expect_file_of(tick);
    }
    static const uint32_t order[] = {2, 1, 3, 0, 3, 3, 0, 0, 2};
    for (uint32_t i = 0; i < COUNT_OF(order); ++i) {
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[order[i]]), MICA_OK);
        if (i % 2) /* another line of history */
            change(world, order[i] + 2);
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        expect_file(order[i] + 1 + i % 2, i % 2 ? order[i] + 2 : order[i] + 1);
    }
    mica_saver_destroy(saver);
    unlink(path);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_fails_is_told_and_can_be_tried_again)
{
    reports heard;
    mica_world *world = make_world(&heard);
    change(world, 1);
    mica_saver *saver = mica_saver_create(world, NULL);
    ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
    ck_assert_int_eq(mica_saver_begin(saver, "/nowhere/x.mica"), MICA_OK);
    ck_assert_int_eq(mica_saver_wait(saver), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/nowhere/x.mica");
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
    ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
    expect_file_of(1);
    mica_defer(world);
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "delta");
    mica_flush(world);
    Text text = text_make("x");
    mica_create(world, MICA_FROM(Text, &text));
    text_drop(&text);
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "component Text has functions");
    mica_saver_destroy(saver);
    mica_saver_destroy(NULL);
    unlink(path);
    close_world(world, &heard);
}
END_TEST

/* An allocator in which all threads except one wait until the gate is opened. */
static struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    pthread_t owner;
    bool is_closed;
    bool is_reached;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static void *allocate_at_gate(size_t bytes, size_t alignment, void *context)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.is_closed && !pthread_equal(pthread_self(), gate.owner)) {
        gate.is_reached = true;
        pthread_cond_broadcast(&gate.opened);
        pthread_cond_wait(&gate.opened, &gate.lock);
    }
    pthread_mutex_unlock(&gate.lock);
    const mica_allocator *inner = context;
    return inner->allocate(bytes, alignment, inner->context);
}

static void release_at_gate(void *block, size_t bytes, size_t alignment, void *context)
{
    const mica_allocator *inner = context;
    inner->release(block, bytes, alignment, inner->context);
}

static void set_gate(bool is_closed)
{
    pthread_mutex_lock(&gate.lock);
    gate.owner = pthread_self();
    gate.is_closed = is_closed;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}

START_TEST(a_save_that_is_under_way_is_not_overtaken)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_allocator inner = faulty_allocator_interface(&faulty);
    const mica_save_def def = {.allocator = {allocate_at_gate, release_at_gate, &inner}};
    reports heard;
    mica_world *world = make_world(&heard);
    change(world, 1);
    mica_saver *saver = mica_saver_create(world, &def);
    set_gate(true);
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
    pthread_mutex_lock(&gate.lock);
    while (!gate.is_reached)
        pthread_cond_wait(&gate.opened, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    ck_assert(mica_saver_is_busy(saver));
    change(world, 2);
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "a save is under way");
    set_gate(false);
    ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
    expect_file_of(1);
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
    mica_saver_destroy(saver);
    expect_file_of(2);
    unlink(path);
    close_world(world, &heard);
    ck_assert_uint_eq(faulty.live_blocks, 0);
    faulty_allocator_free(&faulty);
}
END_TEST

static bool make_zero(void *values, uint32_t count, void *context)
{
    (void)context;
    memset(values, 0, count * sizeof(Number));
    return true;
}

static void drop_nothing(void *values, uint32_t count, void *context)
{
    (void)values;
    (void)count;
    (void)context;
}

static bool copy_bytes(void *to, const void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Number));
    return true;
}

static void move_bytes(void *to, void *from, uint32_t count, void *context)
{
    copy_bytes(to, from, count, context);
}

START_TEST(what_deltas_do_not_carry_is_refused_by_name)
{
    mica_type types[5];
    for (uint32_t i = 0; i < COUNT_OF(types); ++i) {
        static const char *const names[] = {"Plain", "Constructs", "Destructs", "Copies", "Moves"};
        types[i] = mica_type_of_Number;
        types[i].name = names[i];
        types[i].id_cache = 0;
    }
    types[1].construct = make_zero;
    types[2].destruct = drop_nothing;
    types[3].copy = copy_bytes;
    types[4].move = move_bytes;
    for (uint32_t i = 0; i < COUNT_OF(types); ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        ck_assert(mica_component_define(world, &types[i]));
        mica_saver *saver = mica_saver_create(world, NULL);
        bool is_carried = i < 2; /* what a construct function makes is bytes */
        ck_assert_int_eq(mica_saver_begin(saver, path), is_carried ? MICA_OK : MICA_ERROR_REFUSED);
        if (!is_carried) {
            char text[64];
            snprintf(text, sizeof text, "component %s has functions", types[i].name);
            expect_report(&heard, MICA_ERROR_REFUSED, text);
        }
        mica_saver_destroy(saver);
        close_world(world, &heard);
    }
    unlink(path);
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_ptr_null(mica_saver_create(world, &(mica_save_def){.allocator.allocate = allocate_at_gate}));
    expect_report(&heard, MICA_ERROR_MEMORY, "saver");
    close_world(world, &heard);
}
END_TEST

START_TEST(memory_that_runs_out_is_told_and_the_next_save_is_whole)
{
    faulty_allocator faulty;
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world *world = make_world(&heard);
        change(world, 1);
        mica_save_def def = {.allocator = faulty_allocator_interface(&faulty)};
        faulty_allocator_fail_at(&faulty, k, false);
        mica_saver *saver = mica_saver_create(world, &def);
        mica_result result = saver ? mica_saver_begin(saver, path) : MICA_ERROR_MEMORY;
        if (result == MICA_OK)
            result = mica_saver_wait(saver);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == MICA_OK || (result == MICA_ERROR_MEMORY && reached));
        if (saver) {
            REQUIRE(mica_saver_begin(saver, path) == MICA_OK && mica_saver_wait(saver) == MICA_OK);
            expect_file_of(1);
        }
        mica_saver_destroy(saver);
        forget_reports(&heard);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 20);
    unlink(path);
}
END_TEST

typedef struct Label { mica_text text; mica_list numbers; } Label;
MICA_COMPONENT(Label, text, (numbers, float))

START_TEST(text_and_lists_are_saved_in_the_background)
{
    static const char first[] = "a text from before the save", second[] = "a text that came while it ran";
    reports heard;
    mica_world *world = open_world(&heard), *other;
    mica_entity entity = mica_create(world, MICA_WITH(Label, {.text = mica_text_of(first)}));
    mica_saver *saver = mica_saver_create(world, NULL);
    for (uint32_t tick = 0; tick < 3; ++tick) {
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        mica_text_set(&mica_write(world, entity, Label)->text, second); /* it runs on */
        mica_list_add(&mica_write(world, entity, Label)->numbers, float, (float)tick);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        reports others;
        other = open_world(&others);
        mica_define(other, Label);
        mica_resource *resource = mica_resource_load(path, NULL, NULL);
        mica_entity copy;
        ck_assert_int_eq(mica_spawn(other, resource, &(mica_spawn_def){.out_entities = &copy, .out_capacity = 1}),
                         MICA_OK);
        const Label *label = mica_get(other, copy, Label);
        ck_assert(mica_text_is(&label->text, tick ? second : first));
        ck_assert_uint_eq(mica_list_count(&label->numbers), tick);
        mica_resource_free(resource);
        close_world(other, &others);
    }
    mica_saver_destroy(saver);
    close_world(world, &heard);
}
END_TEST

typedef struct Stamp { uint32_t number; } Stamp;
MICA_POOL_WITH(Stamp, (.many = true), number)

START_TEST(several_instances_are_saved_in_the_background)
{
    reports heard, others;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_pool *stamps = mica_pool_of(world, Stamp);
    mica_saver *saver = mica_saver_create(world, NULL);
    for (uint32_t tick = 0; tick < 6; ++tick) {
        ((Stamp *)mica_instance_write_id(stamps, mica_pool_add(stamps, entity)))->number = tick;
        if (tick % 2)
            mica_pool_remove(stamps, mica_pool_find(stamps, entity)); /* the first one */
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
    }
    mica_world *other = open_world(&others);
    mica_define(other, Stamp);
    mica_resource *resource = mica_resource_load(path, NULL, NULL);
    mica_entity copy;
    ck_assert_int_eq(mica_spawn(other, resource, &(mica_spawn_def){.out_entities = &copy, .out_capacity = 1}), MICA_OK);
    const mica_pool *copies = mica_pool_of(other, Stamp);
    mica_instance at = mica_pool_find(copies, copy);
    for (uint32_t number = 3; number < 6; ++number, at = mica_pool_next(copies, at))
        ck_assert_uint_eq(((const Stamp *)mica_instance_read_id(copies, at))->number, number);
    ck_assert(mica_instance_is_nil(at));
    mica_resource_free(resource);
    close_world(other, &others);
    mica_saver_destroy(saver);
    close_world(world, &heard);
    unlink(path);
}
END_TEST

typedef struct LabelRecipe { char characters[16]; } LabelRecipe;
MICA_STRUCT(LabelRecipe, characters)

static bool save_text(const mica_world *saved, mica_entity entity, const void *value, void *out_instance, void *context)
{
    const Text *text = value;
    memcpy(((LabelRecipe *)out_instance)->characters, text->characters, text->length);
    (void)saved;
    (void)entity;
    (void)context;
    return true;
}

static bool spawn_text(const mica_spawn_run *run, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < run->count; ++i) {
        Text *text = (Text *)run->values + i, made = text_make(((const LabelRecipe *)run->instances)[i].characters);
        text_destruct(text, 1, NULL);
        text_move(text, &made, 1, NULL);
    }
    return true;
}

START_TEST(components_with_a_rule_are_saved_in_the_background)
{
    reports heard, others;
    mica_resource_rule rule = {.component = MICA_ID(Text), .recipe = &mica_type_of_LabelRecipe, .save = save_text};
    mica_world *world = open_world(&heard);
    Text text = text_make("some text");
    mica_entity entity = mica_create(world, MICA_FROM(Text, &text));
    mica_save_def def = {.rules = &rule, .rule_count = 1};
    mica_saver *saver = mica_saver_create(world, &def); /* nothing makes a value of the recipe */
    ck_assert_int_eq(mica_saver_begin(saver, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "component Text has functions");
    mica_saver_destroy(saver);
    rule.spawn = spawn_text;
    saver = mica_saver_create(world, &def);
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(mica_saver_begin(saver, path), MICA_OK);
        ck_assert_int_eq(mica_saver_wait(saver), MICA_OK);
        mica_world *other = open_world(&others);
        mica_define(other, Text);
        mica_resource *resource = mica_resource_load(path, NULL, NULL);
        mica_spawn_def spawn = {.rules = &rule, .rule_count = 1, .out_entities = &entity, .out_capacity = 1};
        ck_assert_int_eq(mica_spawn(other, resource, &spawn), MICA_OK);
        ck_assert_mem_eq(mica_get(other, entity, Text)->characters, i ? "Some text" : "some text", 9);
        mica_resource_free(resource);
        close_world(other, &others);
        mica_write(world, entity, Text)->characters[0] = 'S';
    }
    mica_saver_destroy(saver);
    text_drop(&text);
    close_world(world, &heard);
    unlink(path);
}
END_TEST

TEST_SUITE(saver, components_with_a_rule_are_saved_in_the_background, several_instances_are_saved_in_the_background,
           text_and_lists_are_saved_in_the_background, the_file_is_the_world_as_it_was_when_the_save_began,
           the_file_is_the_world_after_a_restore_too, what_fails_is_told_and_can_be_tried_again,
           memory_that_runs_out_is_told_and_the_next_save_is_whole, a_save_that_is_under_way_is_not_overtaken,
           what_deltas_do_not_carry_is_refused_by_name)
