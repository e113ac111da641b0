/* Updates of indexes of tracked components, which read the rows that were marked: from a log, or from the versions of rows. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/disable.h"
#include "mica/flow.h"
#include "mica/index.h"

typedef struct Tracked { int32_t value; } Tracked;
MICA_COMPONENT_WITH(Tracked, (.track_changed = true), value)

START_TEST(every_marked_row_of_a_slice_is_found_whichever_it_is)
{
    enum { ROWS = 3 * MICA_SLICE_ROWS + 21 };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entities[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i)
        entities[i] = mica_create(world, MICA_WITH(Tracked, {(int32_t)i}));
    mica_index_def def = {.component = MICA_ID(Tracked), .fields = "value", .hashed = true};
    mica_index *index = mica_index_create(world, &def);
    ck_assert(mica_index_update(index) == MICA_OK);
    for (uint32_t i = 0; i < ROWS; ++i) {
        uint32_t other = (i + 7) % ROWS;
        mica_write(world, entities[i], Tracked)->value = -(int32_t)i - 1;
        mica_write(world, entities[other], Tracked)->value = (int32_t)(ROWS + i);
        ck_assert(mica_index_update(index) == MICA_OK);
        ck_assert(mica_same(mica_find_by(index, mica_key_integer(-(int32_t)i - 1)), entities[i]));
        ck_assert(mica_same(mica_find_by(index, mica_key_integer((int32_t)(ROWS + i))), entities[other]));
    }
    ck_assert_uint_eq(mica_index_entity_count(index), ROWS);
    close_world(world, &heard);
}
END_TEST

/* Every entity with the component is found by its value, and nothing else is in the index. */
static void require_current(mica_world *world, mica_index *index, const mica_entity *entities, uint32_t count)
{
    uint32_t shown = 0;
    REQUIRE(mica_index_update(index) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i) {
        const Tracked *tracked = mica_is_alive(world, entities[i]) ? mica_get(world, entities[i], Tracked) : NULL;
        if (!tracked || mica_entity_is_disabled(world, entities[i]))
            continue;
        REQUIRE(mica_same(mica_find_by(index, mica_key_integer(tracked->value)), entities[i]));
        ++shown;
    }
    REQUIRE(mica_index_entity_count(index) == shown);
}

START_TEST(marked_rows_are_found_whatever_happens_to_them_before_the_update)
{
    enum { ROWS = 6000, ROUNDS = 60 };
    static mica_entity entities[ROWS];
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 11)};
    for (uint32_t i = 0; i < ROWS; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Tracked, {(int32_t)i}));
        if (i % 3 == 0)
            mica_add(world, entities[i], Frozen);
    }
    mica_index_def def = {.component = MICA_ID(Tracked), .fields = "value", .hashed = true};
    mica_index *index = mica_index_create(world, &def), *other = mica_index_create(world, &def);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Tracked), MICA_HAS(Frozen)));
    int32_t next = ROWS;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        uint32_t writes = round % 4 == 3   ? 2000
                          : round % 4 == 2 ? 700
                                           : 20; /* more than there is room for; many; few */
        for (uint32_t i = 0; i < writes; ++i) {
            mica_entity entity = entities[random_below(&random, ROWS)];
            if (!mica_is_alive(world, entity) || !mica_has(world, entity, Tracked))
                continue;
            mica_write(world, entity, Tracked)->value = next++;
            switch (random_below(&random, 40)) {
            case 0: mica_destroy(world, entity); break;
            case 1: mica_remove(world, entity, Tracked); break;
            case 2: mica_entity_disable(world, entity); break;
            case 3: mica_add(world, entity, Enemy); break;
            default: break;
            }
        }
        for (mica_view view = mica_query_begin(query); round % 9 == 5 && mica_view_next(&view);)
            for (uint32_t i = 0; i < view.count; ++i)
                mica_view_write(&view, Tracked)[i].value = next++;
        if (round % 16 == 7)
            mica_world_trim(world);
        require_current(world, index, entities, ROWS);
        if (round % 5 == 0)
            require_current(world, other, entities, ROWS);
    }
    mica_index_destroy(index);
    require_current(world, other, entities, ROWS);
    close_world(world, &heard);
}
END_TEST

static mica_index *tracked_values;

/* Each row is written if it is found where it was. */
static void raise_some(mica_view *view)
{
    Tracked *tracked = mica_view_write_unmarked_id(view, MICA_ID(Tracked));
    for (uint32_t i = 0; i < view->count; ++i) {
        bool is_found = mica_same(mica_find_by(tracked_values, mica_key_integer(tracked[i].value)), view->entities[i]);
        if (is_found && view->entities[i].index % 17 != 3)
            continue;
        tracked[i].value += 100000;
        mica_view_mark_id(view, MICA_ID(Tracked), i);
    }
}

START_TEST(rows_that_many_workers_mark_are_found)
{
    enum { ROWS = 9000 };
    static mica_entity entities[ROWS];
    reports heard;
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 3;
    mica_flow_configure(world, &flow);
    mica_index_def def = {.component = MICA_ID(Tracked), .fields = "value", .hashed = true};
    tracked_values = mica_index_create(world, &def);
    for (uint32_t i = 0; i < ROWS; ++i)
        entities[i] = mica_create(world, MICA_WITH(Tracked, {(int32_t)i}));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(raise_some, (.parallel = MICA_PARALLEL_EVEN, MICA_USES({.index = tracked_values})),
                                     MICA_WRITE(Tracked)));
    for (uint32_t i = 0; i < 4; ++i)
        ck_assert(mica_step(world, 0.1f) == MICA_OK);
    require_current(world, tracked_values, entities, ROWS);
    for (uint32_t i = 0; i < ROWS; ++i) /* rows that were not found would have been written, too */
        REQUIRE(mica_get(world, entities[i], Tracked)->value ==
                (int32_t)i + (entities[i].index % 17 == 3 ? 400000 : 0));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(marked_rows, every_marked_row_of_a_slice_is_found_whichever_it_is,
           marked_rows_are_found_whatever_happens_to_them_before_the_update, rows_that_many_workers_mark_are_found)
