/* Hooks that change the pool of the rows they are called for: an added row is found where it is afterwards, or was removed. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"

typedef struct Arrow { uint32_t number; } Arrow;
MICA_POOL_WITH(Arrow, (.many = true), number)
typedef struct Quiver { uint32_t number; } Quiver;
MICA_POOL(Quiver, number)
typedef struct Pair { float a, b; } Pair;
MICA_POOL_WITH(Pair, (.split = true), a, b)
typedef struct Slot { uint32_t number; } Slot;
MICA_POOL_WITH(Slot, (.index = MICA_INDEX_DIRECT), number)
MICA_POOL_TAG(Marked)

static reports heard;
static mica_entity chosen; /* the entity that the hook changes */

static uint32_t arrows_of(mica_world *world, mica_entity entity, uint32_t *numbers)
{
    uint32_t count = 0;
    mica_pool *pool = mica_pool_of(world, Arrow);
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        numbers[count++] = mica_instance_read(pool, at, Arrow)->number;
    return count;
}

static void add_arrow(mica_world *world, mica_entity entity, uint32_t number)
{
    mica_pool *pool = mica_pool_of(world, Arrow);
    mica_instance_write(pool, mica_pool_add(pool, entity), Arrow)->number = number;
}

static void take_arrows(const mica_event *event)
{
    mica_remove(event->world, chosen, Arrow);
}

START_TEST(an_instance_is_found_where_a_hook_has_moved_it)
{
    for (int own = 0; own < 2; ++own) {
        mica_world *world = open_world(&heard);
        mica_entity other = mica_create(world), entity = mica_create(world);
        uint32_t numbers[8];
        for (uint32_t i = 0; i < 3; ++i) {
            add_arrow(world, other, 10 + i);
            add_arrow(world, entity, i);
        }
        mica_pool *pool = mica_pool_of(world, Arrow);
        chosen = own ? entity : other;
        mica_hook_set(world, Arrow, MICA_EVENT_ADD, take_arrows, NULL);
        mica_instance added = mica_pool_add(pool, entity);
        mica_hook_set(world, Arrow, MICA_EVENT_ADD, NULL, NULL);
        ck_assert(mica_instance_is_nil(added) == own);
        ck_assert(mica_has(world, entity, Arrow) == !own && mica_has(world, other, Arrow) == own);
        if (!own) {
            mica_instance_write(pool, added, Arrow)->number = 77;
            ck_assert_uint_eq(arrows_of(world, entity, numbers), 4);
            ck_assert(numbers[0] == 0 && numbers[1] == 1 && numbers[2] == 2 && numbers[3] == 77);
        }
        close_world(world, &heard);
    }
}
END_TEST

static void change_clone(const mica_event *event)
{
    void *context = event->context;
    bool destroys = *(bool *)context;
    mica_hook_set(event->world, Quiver, MICA_EVENT_ADD, NULL, NULL);
    if (destroys)
        mica_destroy(event->world, event->entities[0]);
    else
        mica_remove(event->world, event->entities[0], Arrow);
}

START_TEST(a_clone_that_a_hook_takes_something_from_gets_no_more_of_it)
{
    for (int destroys = 0; destroys < 2; ++destroys) {
        mica_world *world = open_world(&heard);
        bool context = destroys;
        mica_entity entity = mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Quiver, {6}));
        for (uint32_t i = 0; i < 3; ++i)
            add_arrow(world, entity, i);
        mica_hook_set(world, Quiver, MICA_EVENT_ADD, change_clone, &context);
        mica_entity clone = mica_clone(world, entity);
        ck_assert(mica_is_alive(world, clone) == !destroys && !mica_has(world, clone, Arrow));
        ck_assert(destroys || mica_get(world, clone, Quiver)->number == 6);
        ck_assert_uint_eq(mica_pool_count(mica_pool_of(world, Arrow)), 3);
        close_world(world, &heard);
    }
}
END_TEST

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Arrow *)a)->number, right = ((const Arrow *)b)->number;
    return (left > right) - (left < right);
}

START_TEST(what_a_pool_can_not_do_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Arrow, {1}), MICA_WITH(Pair, {1, 2}), MICA_WITH(Marked));
    const mica_value twice[] = {MICA_WITH(Number), MICA_WITH(Arrow, {1}), MICA_WITH(Quiver), MICA_WITH(Arrow, {2})};
    mica_pool *arrows = mica_pool_of(world, Arrow), *pairs = mica_pool_of(world, Pair);
    uint64_t before = mica_world_hash(world);
    ck_assert(mica_is_nil(mica_create_id(world, twice, 4)));
    expect_report(&heard, MICA_ERROR_INVALID, "Arrow is given twice");
    ck_assert_ptr_null(mica_instance_read_id(pairs, mica_pool_find(pairs, entity)));
    expect_report(&heard, MICA_ERROR_INVALID, "it is split");
    ck_assert_ptr_null(mica_instance_write_id(pairs, mica_pool_find(pairs, entity)));
    expect_report(&heard, MICA_ERROR_INVALID, "it is split");
    ck_assert_ptr_null(mica_pool_read_id(pairs));
    expect_report(&heard, MICA_ERROR_INVALID, "it is split");
    ck_assert_ptr_null(mica_pool_write_id(mica_pool_of(world, Marked)));
    expect_report(&heard, MICA_ERROR_INVALID, "a tag has no values");
    ck_assert_ptr_null(mica_pool_read_field_id(arrows, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "not split into fields");
    mica_pool *unsorted[] = {mica_pool_of(world, Marked), mica_pool_of(world, Slot), arrows};
    for (uint32_t i = 0; i < COUNT_OF(unsorted); ++i) {
        ck_assert_int_eq(mica_pool_sort(unsorted[i], i < 2 ? by_number : NULL, NULL), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "can't be sorted");
    }
    ck_assert_int_eq(mica_pool_sort(NULL, by_number, NULL), MICA_ERROR_INVALID);
    ck_assert_uint_eq(mica_pool_gc(NULL, 9) + mica_pool_gc(mica_pool_of(world, Marked), 9) + mica_pool_sweep(NULL), 0);
    ck_assert(mica_instance_is_nil(mica_pool_find(NULL, entity)) &&
              mica_is_nil(mica_pool_owner(NULL, (mica_instance){1, 1})));
    mica_defer(world);
    ck_assert_int_eq(mica_pool_sort(arrows, by_number, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "pool_sort");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), before);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(hook, an_instance_is_found_where_a_hook_has_moved_it,
           a_clone_that_a_hook_takes_something_from_gets_no_more_of_it, what_a_pool_can_not_do_is_refused)
