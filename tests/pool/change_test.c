/* What came, was written or moved since a mark is seen, however a component is kept and whichever call did it. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "../support/variants.h"

static reports heard;

enum { CROWD = MICA_SLICE_ROWS * 2 + 200, WITHOUT = 10 };

typedef struct crowd {
    mica_world *world;
    mica_component component;
    mica_entity entities[CROWD + WITHOUT]; /* the last ones without the component */
    mica_query *bearers;
    mica_query *others;
    Item item;
} crowd;

/* Each does something to one entity's component, and returns which. */
typedef mica_entity (*change_fn)(crowd *crowd);

static mica_value value_of(crowd *crowd)
{
    return item_value(crowd->component, &crowd->item);
}

static mica_entity create(crowd *crowd)
{
    mica_value value = value_of(crowd);
    return mica_create_id(crowd->world, &value, 1);
}

static mica_entity create_many(crowd *crowd)
{
    mica_value value = value_of(crowd);
    mica_entity entity;
    ck_assert_int_eq(mica_create_many(crowd->world, 1, &value, 1, &entity), MICA_OK);
    return entity;
}

static mica_entity create_in_batch(crowd *crowd)
{
    mica_value value = value_of(crowd);
    mica_batch_group group = {.count = 1, .column_count = 1, .columns = &value};
    mica_batch *batch;
    if (mica_batch_begin(crowd->world, &group, 1, &batch) != MICA_OK) {
        forget_reports(&heard); /* rows that outlive their owner don't come in batches */
        return create(crowd);
    }
    mica_entity entity;
    mica_batch_entities(batch, &entity);
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    return entity;
}

static mica_entity clone(crowd *crowd)
{
    return mica_clone(crowd->world, crowd->entities[3]);
}

static mica_entity add(crowd *crowd)
{
    mica_entity entity = crowd->entities[CROWD + 1];
    ck_assert_ptr_nonnull(mica_add_id(crowd->world, entity, crowd->component));
    return entity;
}

static mica_entity set(crowd *crowd)
{
    mica_entity entity = crowd->entities[CROWD + 2];
    ck_assert(mica_set_id(crowd->world, entity, value_of(crowd)));
    return entity;
}

static mica_entity overwrite(crowd *crowd)
{
    ck_assert(mica_set_id(crowd->world, crowd->entities[4], value_of(crowd)));
    return crowd->entities[4];
}

static mica_entity move_into_hole(crowd *crowd)
{
    ck_assert(mica_remove_id(crowd->world, crowd->entities[5], crowd->component));
    return crowd->entities[CROWD - 1];
}

static mica_entity move_over_the_dead(crowd *crowd)
{
    mica_destroy(crowd->world, crowd->entities[6]);
    mica_flush(crowd->world);
    return crowd->entities[CROWD - 1];
}

static mica_entity record_addition(crowd *crowd)
{
    mica_entity entity = crowd->entities[CROWD + 3];
    mica_defer(crowd->world);
    mica_add_id(crowd->world, entity, crowd->component);
    mica_flush(crowd->world);
    return entity;
}

static mica_entity record_value(crowd *crowd)
{
    mica_defer(crowd->world);
    mica_set_id(crowd->world, crowd->entities[7], value_of(crowd));
    mica_flush(crowd->world);
    return crowd->entities[7];
}

static mica_entity record_creation(crowd *crowd)
{
    mica_defer(crowd->world);
    mica_entity entity = create(crowd);
    mica_flush(crowd->world);
    return entity;
}

static mica_entity add_to_all(crowd *crowd)
{
    ck_assert_int_eq(mica_add_all_id(crowd->others, value_of(crowd)), MICA_OK);
    return crowd->entities[CROWD + 4];
}

static const struct {
    const char *name;
    change_fn make;
    bool moves; /* shows in what a row moved to */
} changes[] = {
    {"create", create, false},
    {"create many", create_many, false},
    {"batch", create_in_batch, false},
    {"clone", clone, false},
    {"add", add, false},
    {"set", set, false},
    {"overwrite", overwrite, false},
    {"fill a hole", move_into_hole, true},
    {"move over the dead", move_over_the_dead, true},
    {"recorded addition", record_addition, false},
    {"recorded value", record_value, false},
    {"recorded creation", record_creation, false},
    {"add to all", add_to_all, false},
};

static crowd open_crowd(const variant *how)
{
    crowd crowd = {.world = open_world(&heard), .component = variant_component(how, 'n'), .item = item_of(77)};
    for (uint32_t i = 0; i < CROWD + WITHOUT; ++i) {
        Item item = item_of(i);
        mica_value value = item_value(crowd.component, &item);
        crowd.entities[i] = mica_create_id(crowd.world, &value, i < CROWD);
    }
    mica_term with = {.component = crowd.component, .access = MICA_ACCESS_CHANGED},
              without = {.component = crowd.component, .access = MICA_ACCESS_WITHOUT};
    crowd.bearers = mica_query_create(crowd.world, &(mica_query_def){.terms = &with, .term_count = 1});
    crowd.others = mica_query_create(crowd.world, &(mica_query_def){.terms = &without, .term_count = 1});
    ck_assert(crowd.bearers && crowd.others);
    return crowd;
}

/* How many rows changed since the mark, and whether the entity's is among them. */
static uint32_t rows_since(const crowd *crowd, mica_version mark, mica_entity entity, bool *out_found)
{
    uint32_t rows = 0;
    *out_found = false;
    for (mica_view view = mica_query_begin_since(crowd->bearers, mark); mica_view_next(&view); rows += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            *out_found |= mica_same(view.entities[i], entity);
    return rows;
}

START_TEST(whatever_is_done_to_a_value_shows)
{
    const variant *how = &variants[_i];
    for (uint32_t i = 0; i < COUNT_OF(changes); ++i) {
        bool stays =
            how->dying == MICA_DYING_LAZILY || (how->storage == MICA_STORAGE_POOL && how->index == MICA_INDEX_DIRECT);
        if (changes[i].moves && stays)
            continue;
        crowd crowd = open_crowd(how);
        bool found;
        mica_version mark = mica_world_mark(crowd.world);
        ck_assert_uint_eq(rows_since(&crowd, mark, mica_nil(), &found), 0);
        mica_entity entity = changes[i].make(&crowd);
        uint32_t rows = rows_since(&crowd, mark, entity, &found);
        bool shows = !changes[i].moves || !how->traits; /* a value that is tracked takes along when it was written */
        ck_assert_msg(found == shows, "%s: %s", variant_name(how), changes[i].name);
        ck_assert_msg(rows <= 2 * MICA_SLICE_ROWS, "%s: %s: only where something happened", variant_name(how),
                      changes[i].name);
        rows_since(&crowd, mica_world_mark(crowd.world), entity, &found);
        ck_assert_msg(!found, "%s: %s, once", variant_name(how), changes[i].name);
        close_world(crowd.world, &heard);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("change");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, whatever_is_done_to_a_value_shows, 0, (int)variant_count);
    return test_run("change", cases);
}
