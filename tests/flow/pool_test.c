/* Systems over pools: walked in pieces by several workers, with the same outcome as by one. */
#include "mica/flow.h"
#include "support/reports.h"
#include "support/test.h"

enum { CROWD = 30000, FRAMES = 20 };

typedef struct Place { float x; } Place;
typedef struct Speed { float x; } Speed;
typedef struct Wear { uint32_t turns; } Wear;
typedef struct Body { float x, push; } Body;
typedef struct Seen { uint32_t count; } Seen;

MICA_COMPONENT(Place, x)
MICA_POOL(Speed, x)
MICA_POOL_WITH(Wear, (.index = MICA_INDEX_HASH), turns)
MICA_POOL_WITH(Body, (.split = true), x, push)
MICA_POOL_WITH(Seen, (.index = MICA_INDEX_DIRECT, .dying = MICA_DYING_LAZILY), count)
MICA_POOL_TAG(Hot)

static reports heard;

static void move(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    const Speed *speed = mica_view_read(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i)
        location[i].x += speed[i].x * view->dt;
}

/* What is worn out goes, and its entity with it every third time. */
static void wear(mica_view *view)
{
    Wear *wear = mica_view_write(view, Wear);
    for (uint32_t i = 0; i < view->count; ++i)
        if (++wear[i].turns > 12 && view->entities[i].index % 3 == 0)
            mica_destroy(view->world, view->entities[i]);
        else if (wear[i].turns > 12)
            mica_remove(view->world, view->entities[i], Wear);
}

static void cool(mica_view *view)
{
    Place *location = mica_view_write(view, Place);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((location[i].x *= 0.5f) < 1)
            mica_remove(view->world, view->entities[i], Hot);
}

static void push(mica_view *view)
{
    float *x = mica_view_write_field(view, Body, x);
    const float *by = mica_view_read_field(view, Body, push);
    for (uint32_t i = 0; i < view->count; ++i)
        x[i] += by[i];
}

static void look(mica_view *view)
{
    Seen *seen = mica_view_write(view, Seen);
    for (uint32_t i = 0; i < view->count; ++i)
        ++seen[i].count;
}

static void populate(mica_world *world)
{
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Place, {(float)i}), MICA_WITH(Speed, {(float)(i % 7)}));
        if (i % 3 == 0)
            mica_set(world, entity, Wear, {i % 9});
        if (i % 5 == 0)
            mica_add(world, entity, Hot);
        if (i % 2 == 0)
            mica_set(world, entity, Body, {(float)i, 1});
        if (i % 4 != 0)
            mica_add(world, entity, Seen);
    }
}

static void play(uint32_t worker_count, uint64_t *hashes)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = worker_count;
    ck_assert(mica_flow_configure(world, &def) == MICA_OK);
    populate(world);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Speed)));
    mica_system_add(world, MICA_SYSTEM(wear, MICA_WRITE(Wear)));
    mica_system_add(world, MICA_SYSTEM(cool, MICA_WRITE(Place), MICA_HAS(Hot)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(push, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 100), MICA_WRITE(Body)));
    mica_system_add(world, MICA_SYSTEM(look, MICA_WRITE(Seen), MICA_WITHOUT(Wear)));
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        ck_assert(mica_step(world, 1.0f / 64) == MICA_OK);
        hashes[frame] = mica_world_hash(world);
    }
    ck_assert(mica_world_validate(world) == MICA_OK);
    close_world(world, &heard);
}

START_TEST(systems_over_pools_have_the_same_outcome_for_any_number_of_workers)
{
    static const uint32_t worker_counts[] = {2, 3, 4, 7, 16};
    uint64_t alone[FRAMES], together[FRAMES];
    play(1, alone);
    ck_assert_msg(alone[0] != alone[FRAMES - 1], "something happens");
    for (uint32_t i = 0; i < sizeof worker_counts / sizeof *worker_counts; ++i) {
        play(worker_counts[i], together);
        for (uint32_t frame = 0; frame < FRAMES; ++frame)
            ck_assert_msg(together[frame] == alone[frame], "frame %u with %u workers", frame, worker_counts[i]);
    }
}
END_TEST

/* One by one, and each once: what the pieces show is what a loop over the query shows. */
START_TEST(every_row_of_a_pool_is_shown_once_per_frame)
{
    mica_world *world = open_world(&heard);
    populate(world);
    mica_system_add(world, MICA_SYSTEM(look, MICA_WRITE(Seen)));
    ck_assert(mica_step(world, 0) == MICA_OK);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Seen)));
    uint64_t shown = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); shown += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert(mica_view_read(&view, Seen)[i].count == 1);
    ck_assert_msg(shown == CROWD - CROWD / 4, "all of them");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(pool, systems_over_pools_have_the_same_outcome_for_any_number_of_workers,
           every_row_of_a_pool_is_shown_once_per_frame)
