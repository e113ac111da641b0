/* Several threads loop over one query at once, and each writes the views that are its own: what the views lie in, and
 * what the query keeps to find columns, is shared. Mostly for a build with the thread sanitizer. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 2 };

static reports heard;

typedef struct crew {
    mica_query *query;
    void (*write)(mica_view *view);
    atomic_uint waiting; /* all start together, so that first uses meet */
    uint32_t written[THREADS];
} crew;

typedef struct worker {
    crew *crew;
    uint32_t number;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    crew *shared = self->crew;
    atomic_fetch_add(&shared->waiting, 1);
    while (atomic_load(&shared->waiting) < THREADS)
        ;
    uint32_t views = 0, rows = 0;
    for (mica_view view = mica_query_begin(shared->query); mica_view_next(&view); ++views)
        if (views % THREADS == self->number) {
            shared->write(&view);
            rows += view.count;
        }
    shared->written[self->number] = rows;
    return NULL;
}

/* Lets all threads write their share of what the query shows, and returns how many rows that were. */
static uint32_t write_by_threads(mica_query *query, void (*write)(mica_view *view))
{
    crew shared = {.query = query, .write = write};
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (worker){&shared, i};
        ck_assert_msg(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "thread %u starts", i);
    }
    uint32_t rows = 0;
    for (uint32_t i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        rows += shared.written[i];
    }
    return rows;
}

static void age_health(mica_view *view)
{
    Health *health = mica_view_write(view, Health);
    for (uint32_t i = 0; i < view->count; ++i)
        ++health[i].current;
}

START_TEST(views_of_one_slice_are_written_by_several_threads)
{
    enum { MANY = 400 };
    mica_world *world = open_world(&heard);
    mica_entity entities[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Health, {0, 0}));
        if (i % 3 == 0)
            mica_disable(world, entities[i], Health);
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Health)));
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Health)));
    mica_version mark = mica_world_mark(world);
    ck_assert_msg(write_by_threads(query, age_health) == mica_query_count(query), "each row had its thread");
    for (uint32_t i = 0; i < MANY; ++i)
        ck_assert_msg(mica_get(world, entities[i], Health)->current == (i % 3 != 0), "entity %u", i);
    mica_view view = mica_query_begin_since(changed, mark);
    ck_assert_msg(mica_view_next(&view), "and the slice counts as changed");
    close_world(world, &heard);
}
END_TEST

static void count_up(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

START_TEST(threads_find_the_columns_of_hundreds_of_archetypes_at_once)
{
    enum { TAGS = 9, SETS = 1 << TAGS, ROUNDS = 10, LOOPS = 3 };
    mica_component tags[TAGS];
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_world *world = open_world(&heard);
        for (uint32_t i = 0; i < TAGS; ++i) {
            char name[16];
            snprintf(name, sizeof name, "Mark%u", i);
            const mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
            tags[i] = mica_component_define(world, &type);
        }
        for (uint32_t set = 0; set < SETS; ++set) {
            mica_value values[TAGS + 1] = {MICA_WITH(Number)};
            uint32_t count = 1;
            for (uint32_t i = 0; i < TAGS; ++i)
                if (set >> i & 1)
                    values[count++] = (mica_value){tags[i], 0, NULL};
            mica_create_id(world, values, count);
        }
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number)));
        for (uint32_t loop = 0; loop < LOOPS; ++loop) /* the second one lists the chunks */
            ck_assert_msg(write_by_threads(query, count_up) == SETS, "each row had its thread");
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            ck_assert_msg(mica_view_read(&view, Number)->value == LOOPS, "and was written once in each loop");
        close_world(world, &heard);
    }
}
END_TEST

static void touch_clock(mica_view *view)
{
    ck_assert_msg(mica_view_write(view, Clock) != NULL && mica_view_read(view, Number) != NULL, "both are there");
}

START_TEST(threads_may_ask_for_one_singleton_at_once)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 1000; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WRITE(Clock)));
    ck_assert_msg(write_by_threads(query, touch_clock) == 1000, "each row had its thread");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(view_threads, views_of_one_slice_are_written_by_several_threads,
           threads_find_the_columns_of_hundreds_of_archetypes_at_once, threads_may_ask_for_one_singleton_at_once)
