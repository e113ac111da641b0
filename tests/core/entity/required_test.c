/* Required components: whatever adds a component brings along what it requires. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/batch.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Layer { int depth; } Layer;
MICA_POOL_WITH(Layer, (.index = MICA_INDEX_HASH, .dying = MICA_DYING_LAZILY), depth)
MICA_TAG_WITH(Drawn, (.required = MICA_TYPES(Layer)))
typedef struct Sprite { int image; } Sprite;
MICA_COMPONENT_WITH(Sprite, (.required = MICA_TYPES(Position, Drawn, Text)), image)
typedef Sprite Icon;
MICA_POOL_WITH(Icon, (.many = true, .required = MICA_TYPES(Sprite)), image)
typedef Sprite Badge;
MICA_POOL_WITH(Badge, (.required = MICA_TYPES(Frozen)), image)

static void record_all(mica_world *world, mica_entity entity, void *value, mica_component component)
{
    mica_defer(world);
    ck_assert(mica_set_id(world, entity, (mica_value){component, sizeof(Sprite), value}));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
}

/* Every way to get a component with the value 7. */
enum { CREATE, CREATE_MANY, BATCH, ADD, SET, ADD_ALL, RECORDED_CREATE, RECORDED_ADD, RECORDED_SET, WAYS };

static mica_entity make(mica_world *world, mica_component component, uint32_t way)
{
    Sprite sprite = {7};
    mica_value value = {component, sizeof sprite, &sprite};
    mica_entity entity = mica_nil();
    mica_batch_group group = {1, 1, &value, 0};
    mica_batch *batch;
    if (way == CREATE)
        return mica_create_id(world, &value, 1);
    if (way == CREATE_MANY) {
        ck_assert_int_eq(mica_create_many(world, 1, &value, 1, &entity), MICA_OK);
        return entity;
    }
    if (way == BATCH) {
        ck_assert_int_eq(mica_batch_begin(world, &group, 1, &batch), MICA_OK);
        mica_batch_entities(batch, &entity);
        ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
        return entity;
    }
    if (way == RECORDED_CREATE) {
        mica_defer(world);
        entity = mica_create_id(world, &value, 1);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        return entity;
    }
    entity = mica_create(world, MICA_WITH(Enemy));
    if (way == ADD) {
        *(Sprite *)mica_add_id(world, entity, component) = sprite;
    } else if (way == SET) {
        ck_assert(mica_set_id(world, entity, value));
    } else if (way == ADD_ALL) {
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Enemy)));
        ck_assert_int_eq(mica_add_all_id(query, value), MICA_OK);
        mica_query_destroy(query);
    } else if (way == RECORDED_ADD) {
        mica_defer(world);
        *(Sprite *)mica_add_id(world, entity, component) = sprite;
        ck_assert_int_eq(mica_flush(world), MICA_OK);
    } else {
        record_all(world, entity, &sprite, component);
    }
    mica_remove(world, entity, Enemy);
    return entity;
}

static uint32_t added[3];

static void count(const mica_event *event)
{
    added[(uintptr_t)event->context] += event->count;
}

static void expect_complete(mica_world *world, mica_entity entity)
{
    ck_assert_int_eq(mica_get(world, entity, Sprite)->image % 7, 0);
    ck_assert_float_eq(mica_get(world, entity, Position)->x, 0);
    ck_assert(mica_has(world, entity, Drawn));
    ck_assert_int_eq(mica_get(world, entity, Layer)->depth, 0);
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "");
}

START_TEST(every_way_to_add_a_component_brings_along_what_it_requires)
{
    memset(added, 0, sizeof added);
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Position, MICA_EVENT_ADD, count, (void *)0);
    mica_hook_set(world, Layer, MICA_EVENT_ADD, count, (void *)1);
    mica_hook_set(world, Drawn, MICA_EVENT_ADD, count, (void *)2);
    for (uint32_t way = 0; way < WAYS; ++way) {
        expect_complete(world, make(world, MICA_ID(Sprite), way));
        if (way != BATCH)
            continue;
        for (uint32_t i = 0; i < 3; ++i)
            ck_assert_uint_eq(added[i], way + 1);
    }
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_uint_eq(added[i], WAYS);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_in_a_pool_brings_along_what_it_requires)
{
    mica_world *world = open_world(&heard);
    for (uint32_t way = 0; way < WAYS; ++way) {
        mica_entity entity = make(world, MICA_ID(Icon), way);
        ck_assert_int_eq(mica_get(world, entity, Icon)->image, 7);
        expect_complete(world, entity);
        mica_entity marked = make(world, MICA_ID(Badge), way);
        ck_assert(mica_get(world, marked, Badge)->image == 7 && mica_has(world, marked, Frozen));
    }
    mica_pool *pool = mica_pool_of(world, Icon);
    mica_entity entity = mica_create(world);
    ck_assert(!mica_instance_is_nil(mica_pool_add(pool, entity)));
    expect_complete(world, entity);
    mica_remove(world, entity, Position);
    ck_assert(!mica_instance_is_nil(mica_pool_add(pool, entity))); /* one more: the component was there */
    ck_assert(!mica_has(world, entity, Position));
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_there_or_given_keeps_its_value)
{
    mica_world *world = open_world(&heard);
    mica_entity given = mica_create(world, MICA_WITH(Sprite, {1}), MICA_WITH(Position, {2, 3, 4}));
    ck_assert_float_eq(mica_get(world, given, Position)->y, 3);
    mica_entity before = mica_create(world, MICA_WITH(Position, {5, 6, 7}), MICA_WITH(Layer, {8}));
    mica_add(world, before, Sprite);
    ck_assert_float_eq(mica_get(world, before, Position)->x, 5);
    ck_assert_int_eq(mica_get(world, before, Layer)->depth, 8);
    ck_assert(mica_has(world, before, Drawn));
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    mica_entity recorded = mica_create(world);
    mica_command_set(first, recorded, Position, {9, 0, 0});
    mica_command_set(second, recorded, Sprite, {1});
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_float_eq(mica_get(world, recorded, Position)->x, 9);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_requirement_counts_when_the_component_is_added_only)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Sprite, {1}));
    ck_assert(mica_remove(world, entity, Position));
    mica_set(world, entity, Sprite, {2}); /* it is there already */
    ck_assert(!mica_has(world, entity, Position));
    mica_entity clone = mica_clone(world, entity);
    ck_assert(mica_has(world, clone, Sprite) && !mica_has(world, clone, Position));
    mica_defer(world);
    mica_entity recorded = mica_clone(world, entity);
    mica_entity complete = mica_create(world, MICA_WITH(Sprite, {3}));
    mica_set(world, entity, Sprite, {4});
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(!mica_has(world, recorded, Position) && mica_has(world, complete, Position));
    ck_assert(!mica_has(world, entity, Position));
    mica_remove(world, entity, Sprite);
    mica_add(world, entity, Sprite);
    ck_assert(mica_has(world, entity, Position));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_copy_that_lacks_what_it_requires_leaves_creations_complete)
{
    for (uint32_t is_recorded = 0; is_recorded < 2; ++is_recorded) {
        mica_world *world = mica_world_create(NULL);
        mica_entity original = mica_create(world, MICA_WITH(Sprite, {7}));
        ck_assert(mica_remove(world, original, Position) && mica_remove(world, original, Drawn));
        ck_assert(mica_remove(world, original, Text) && mica_remove(world, original, Layer));
        if (is_recorded)
            mica_defer(world);
        mica_entity copy = mica_clone(world, original);
        ck_assert_int_eq(is_recorded ? mica_flush(world) : MICA_OK, MICA_OK);
        ck_assert(mica_has(world, copy, Sprite) && !mica_has(world, copy, Position));
        const mica_value sizes[] = {{.component = MICA_ID(Sprite)}, {MICA_ID(Sprite), sizeof(Sprite), &(Sprite){7}}};
        for (uint32_t i = 0; i < COUNT_OF(sizes); ++i)
            ck_assert(mica_has(world, mica_create_id(world, &sizes[i], 1), Position));
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        mica_world_destroy(world);
    }
}
END_TEST

START_TEST(a_recording_knows_what_comes_along)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_defer(world);
    ck_assert(mica_remove(world, entity, Position));
    ck_assert(!mica_remove(world, entity, Position));
    mica_add(world, entity, Sprite);
    ck_assert(mica_remove(world, entity, Drawn)); /* which came along */
    ck_assert_float_eq(mica_add(world, entity, Position)->x, 0);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(!mica_has(world, entity, Drawn) && mica_has(world, entity, Layer));
    ck_assert_float_eq(mica_get(world, entity, Position)->x, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(equal_descriptions_are_one_component_and_others_are_not)
{
    mica_world *world = open_world(&heard);
    mica_type *const few[] = {&mica_type_of_Position, &mica_type_of_Drawn, NULL};
    mica_type *const same[] = {&mica_type_of_Text, &mica_type_of_Drawn, &mica_type_of_Position, NULL};
    mica_type other = mica_type_of_Sprite;
    other.required = same;
    mica_component sprite = mica_define(world, Sprite);
    ck_assert_uint_eq(mica_component_define(world, &other), sprite);
    const mica_type *known = mica_component_type(sprite);
    ck_assert_str_eq(known->required[0]->name, "Position");
    ck_assert_str_eq(known->required[1]->name, "Layer"); /* which Drawn requires */
    ck_assert_str_eq(known->required[2]->name, "Drawn");
    ck_assert_ptr_null(known->required[4]);
    other.required = few;
    ck_assert_uint_eq(mica_component_define(world, &other), 0);
    expect_report(&heard, MICA_ERROR_LAYOUT, "Sprite");
    close_world(world, &heard);
}
END_TEST

START_TEST(circles_and_singletons_are_refused)
{
    static mica_type first = {.name = "First", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type second = {.name = "Second", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type *const to_second[] = {&second, NULL}, *const to_first[] = {&first, NULL};
    first.required = to_second;
    second.required = to_first;
    mica_world *world = open_world(&heard);
    ck_assert_uint_eq(mica_component_define(world, &first), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "require each other");
    first.storage = MICA_STORAGE_SINGLETON;
    first.size_bytes = first.alignment = 4;
    ck_assert_str_eq(mica_type_problem(&first), "a singleton can't require components");
    ck_assert_str_eq(mica_type_problem(&second), "it requires a singleton, which entities can't have");
    static mica_type nameless = {.kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type *const to_nameless[] = {&nameless, NULL};
    second.required = to_nameless;
    ck_assert_uint_eq(mica_component_define(world, &second), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "no name");
    close_world(world, &heard);
}
END_TEST

/* Another component of the name is in the world, so that what requires this one can't be used. */
START_TEST(a_component_is_refused_if_what_it_requires_is)
{
    mica_world *world = open_world(&heard);
    mica_type other = mica_type_of_Drawn;
    other.required = NULL;
    ck_assert_uint_ne(mica_component_define(world, &other), 0);
    ck_assert(mica_is_nil(mica_create(world, MICA_WITH(Sprite, {1}))));
    expect_report(&heard, MICA_ERROR_LAYOUT, "Drawn");
    mica_entity entity = mica_create(world);
    ck_assert_ptr_null(mica_add(world, entity, Sprite));
    expect_report(&heard, MICA_ERROR_LAYOUT, "Drawn");
    mica_defer(world);
    mica_add(world, entity, Sprite);
    ck_assert_int_ne(mica_flush(world), MICA_OK);
    forget_reports(&heard);
    ck_assert(!mica_has(world, entity, Sprite));
    close_world(world, &heard);
}
END_TEST

typedef struct Spin { float angle, speed; } Spin;
MICA_COMPONENT_WITH(Spin, (.split = true, .required = MICA_TYPES(Position)), angle, speed)

START_TEST(a_split_component_brings_along_what_it_requires)
{
    mica_world *world = open_world(&heard);
    mica_entity set = mica_create(world), extended = mica_create(world);
    Spin spin;
    ck_assert(mica_set(world, set, Spin, {1, 2}));
    ck_assert(mica_get_value_id(world, set, MICA_ID(Spin), &spin));
    ck_assert(spin.angle == 1 && spin.speed == 2 && mica_has(world, set, Position));
    mica_add_id(world, extended, MICA_ID(Spin));
    ck_assert(mica_get_value_id(world, extended, MICA_ID(Spin), &spin));
    ck_assert(spin.angle == 0 && spin.speed == 0 && mica_has(world, extended, Position));
    close_world(world, &heard);
}
END_TEST

/* Requires so much that the list of it needs memory of its own. */
enum { COMPANIONS = 30 };

static mica_component define_demanding(mica_world *world)
{
    static char names[COMPANIONS][16];
    static mica_type companions[COMPANIONS], *required[COMPANIONS + 1];
    for (uint32_t i = 0; i < COMPANIONS; ++i) {
        snprintf(names[i], sizeof names[i], "Companion%u", i);
        companions[i] = (mica_type){.name = names[i], .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        required[i] = &companions[i];
    }
    const mica_type type = {
        .name = "Demanding", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, .required = required};
    return mica_component_define(world, &type);
}

/* Gives the component to an entity. Returns whether it was done. */
static bool try_to_make(mica_world *world, mica_component component, uint32_t way, mica_entity *entity)
{
    const mica_value value = {component, 0, NULL};
    if (way == CREATE_MANY) {
        mica_entity pair[2] = {{0}};
        bool done = mica_create_many(world, 2, &value, 1, pair) == MICA_OK;
        *entity = pair[0];
        return done;
    }
    if (way == ADD)
        return mica_add_id(world, *entity, component) != NULL;
    *entity = mica_create_id(world, &value, 1);
    return !mica_is_nil(*entity);
}

/* With the k-th allocation failing. Returns whether there was one. */
static bool make_demanding(uint32_t way, uint64_t k)
{
    faulty_allocator faulty;
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&faulty);
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_component component = define_demanding(world);
    mica_entity entity = way == ADD ? mica_create(world) : mica_nil();
    if (way == RECORDED_CREATE)
        mica_defer(world);
    faulty_allocator_fail_at(&faulty, k, false);
    bool done = try_to_make(world, component, way, &entity);
    bool failed = faulty.failures > 0;
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_msg(done || failed, "way %u, allocation %u", way, (unsigned)k);
    if (!done)
        expect_report(&heard, MICA_ERROR_MEMORY, "");
    ck_assert(done || try_to_make(world, component, way, &entity));
    if (way == RECORDED_CREATE)
        ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, way == CREATE_MANY ? 2 : 1);
    ck_assert(mica_has_id(world, entity, component));
    ck_assert(mica_has_id(world, entity, mica_component_find(world, "Companion29")));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
    ck_assert_uint_eq(faulty.live_bytes, 0);
    faulty_allocator_free(&faulty);
    return failed;
}

START_TEST(without_memory_for_what_is_required_nothing_is_made)
{
    const uint32_t ways[] = {CREATE, CREATE_MANY, ADD, RECORDED_CREATE};
    for (uint32_t i = 0; i < COUNT_OF(ways); ++i)
        for (uint64_t k = 1; make_demanding(ways[i], k);)
            ++k;
}
END_TEST

TEST_SUITE(required, every_way_to_add_a_component_brings_along_what_it_requires,
           a_component_in_a_pool_brings_along_what_it_requires, what_is_there_or_given_keeps_its_value,
           a_requirement_counts_when_the_component_is_added_only,
           a_copy_that_lacks_what_it_requires_leaves_creations_complete, a_recording_knows_what_comes_along,
           equal_descriptions_are_one_component_and_others_are_not, circles_and_singletons_are_refused,
           a_component_is_refused_if_what_it_requires_is, a_split_component_brings_along_what_it_requires,
           without_memory_for_what_is_required_nothing_is_made)
