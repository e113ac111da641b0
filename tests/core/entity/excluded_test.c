/* Components that exclude each other: no operation leaves an entity with two of them. */
#include "core/world/world.h"
#include "support/components.h"
#include "support/damage.h"
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/batch.h"
#include "mica/snapshot.h"
#include "mica/value.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Walking { int speed; } Walking;
MICA_COMPONENT(Walking, speed)
typedef Walking Flying;
MICA_COMPONENT_WITH(Flying, (.excludes = MICA_TYPES(Walking), .toggle = true), speed)
typedef Walking Swimming;
MICA_POOL_WITH(Swimming, (.excludes = MICA_TYPES(Walking, Flying)), speed)
MICA_POOL_TAG(Buried)
typedef Walking Diving;
MICA_POOL_WITH(Diving, (.many = true, .dying = MICA_DYING_LAZILY, .excludes = MICA_TYPES(Swimming, Buried, Walking)),
               speed)
MICA_TAG_WITH(Resting, (.excludes = MICA_TYPES(Buried, Diving, Flying)))
typedef Walking Winged;
MICA_COMPONENT_WITH(Winged, (.required = MICA_TYPES(Flying)), speed)
typedef Walking Finned;
MICA_POOL_WITH(Finned, (.required = MICA_TYPES(Swimming, Position)), speed)

enum { KINDS = 8, ALONE = 6 /* those that exclude each other themselves */ };

static mica_component kind(uint32_t i)
{
    mica_type *const types[KINDS] = {&mica_type_of_Walking, &mica_type_of_Flying, &mica_type_of_Swimming,
                                     &mica_type_of_Buried,  &mica_type_of_Diving, &mica_type_of_Resting,
                                     &mica_type_of_Winged,  &mica_type_of_Finned};
    return mica_type_id(types[i]);
}

/* Which kinds exclude which: a bit each. */
enum { WALKING, FLYING, SWIMMING, BURIED, DIVING, RESTING, WINGED, FINNED };
static const uint32_t excluded[ALONE] = {
    [WALKING] = 1 << FLYING | 1 << SWIMMING | 1 << DIVING,
    [FLYING] = 1 << WALKING | 1 << SWIMMING | 1 << RESTING,
    [SWIMMING] = 1 << WALKING | 1 << FLYING | 1 << DIVING,
    [BURIED] = 1 << DIVING | 1 << RESTING,
    [DIVING] = 1 << SWIMMING | 1 << BURIED | 1 << WALKING | 1 << RESTING,
    [RESTING] = 1 << BURIED | 1 << DIVING | 1 << FLYING,
};

/* What an entity that has some kinds has once another one is added. */
static uint32_t with(uint32_t has, uint32_t added)
{
    has |= 1u << added;
    if (added == WINGED)
        has |= 1 << FLYING;
    return added == FINNED ? has | 1 << SWIMMING : has;
}

static bool is_fine(uint32_t has)
{
    for (uint32_t i = 0; i < ALONE; ++i)
        if (has >> i & 1 && has & excluded[i])
            return false;
    return true;
}

static uint32_t kinds_of(const mica_world *world, mica_entity entity)
{
    uint32_t has = 0;
    for (uint32_t i = 0; i < KINDS; ++i)
        has |= (uint32_t)mica_has_id(world, entity, kind(i)) << i;
    return has;
}

static mica_value value_of(uint32_t i)
{
    static const Walking seven = {7};
    uint32_t bytes = mica_component_type(kind(i))->size_bytes;
    return (mica_value){kind(i), bytes, bytes ? &seven : NULL};
}

/* Every way to give a kind to an entity that has another one. */
enum {
    CREATE,
    CREATE_MANY,
    BATCH,
    ADD,
    SET,
    ADD_ALL,
    INSTANCE,
    RECORDED_CREATE,
    RECORDED_ADD,
    RECORDED_SET,
    RECORDED_BOTH,
    TWO_BUFFERS,
    JSON,
    WAYS
};

/* The first operation of each way that creates. */
static bool create_both(mica_world *world, const mica_value values[2], uint32_t way, mica_entity *out)
{
    mica_batch_group group = {1, 2, values, 0};
    mica_batch *batch;
    switch (way) {
    case CREATE: *out = mica_create_id(world, values, 2); return !mica_is_nil(*out);
    case CREATE_MANY: return mica_create_many(world, 1, values, 2, out) == MICA_OK;
    case BATCH:
        if (mica_batch_begin(world, &group, 1, &batch) != MICA_OK)
            return false;
        mica_batch_entities(batch, out);
        return mica_batch_commit(batch, NULL, 0) == MICA_OK;
    default:
        mica_defer(world);
        *out = mica_create_id(world, values, 2);
        return mica_flush(world) == MICA_OK;
    }
}

static bool add_second(mica_world *world, mica_entity entity, mica_value value, uint32_t way)
{
    const mica_type *type = mica_component_type(value.component);
    char text[128];
    mica_query *query;
    mica_result result;
    switch (way) {
    case ADD: return mica_add_id(world, entity, value.component) != NULL;
    case SET: return mica_set_id(world, entity, value);
    case ADD_ALL:
        query = mica_query_create(world, MICA_QUERY(MICA_HAS(Enemy)));
        result = mica_add_all_id(query, value);
        mica_query_destroy(query);
        return result == MICA_OK;
    case INSTANCE:
        if (type->storage != MICA_STORAGE_POOL || !type->size_bytes || mica_has_id(world, entity, value.component))
            return mica_set_id(world, entity, value);
        return !mica_instance_is_nil(mica_pool_add(mica_pool_of_id(world, value.component), entity));
    case JSON:
        mica_component_define(world, type);
        snprintf(text, sizeof text, "{\"components\": {\"%s\": %s}}", type->name,
                 !type->size_bytes ? "{}"
                 : type->many      ? "[{\"speed\": 7}]"
                                   : "{\"speed\": 7}");
        return mica_entity_parse_json(world, entity, text, NULL) == MICA_OK;
    default: break;
    }
    mica_defer(world);
    if (way == RECORDED_ADD)
        mica_add_id(world, entity, value.component);
    else
        mica_set_id(world, entity, value);
    return mica_flush(world) == MICA_OK;
}

/* Both kinds in one flush, from one buffer or from two. */
static bool record_both(mica_world *world, mica_entity entity, const mica_value values[2], bool two)
{
    mica_commands *first = mica_commands_create(world), *second = two ? mica_commands_create(world) : first;
    mica_command_set_id(second, entity, values[1], MICA_HERE);
    mica_command_set_id(first, entity, values[0], MICA_HERE);
    bool done = mica_flush(world) == MICA_OK;
    mica_commands_destroy(first);
    if (two)
        mica_commands_destroy(second);
    return done;
}

/* Gives an entity two kinds, and expects what the table says. */
static void try_both(uint32_t first, uint32_t then, uint32_t way, bool snapshots)
{
    mica_value values[2] = {value_of(first), value_of(then)};
    uint32_t both = with(with(0, first), then);
    bool expected = is_fine(both), done;
    if (way == BATCH && expected && both >> DIVING & 1) /* whose rows outlive their owners: batches refuse it */
        return;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Enemy)), other = mica_create(world, MICA_WITH(Enemy));
    mica_snapshot snapshot = snapshots ? mica_snapshot_take(world) : (mica_snapshot){0};
    if (way > RECORDED_CREATE || (way > BATCH && way < RECORDED_CREATE))
        ck_assert(way == RECORDED_BOTH || way == TWO_BUFFERS || mica_set_id(world, entity, values[0]));
    uint64_t hash = mica_world_hash(world);
    if (way <= BATCH || way == RECORDED_CREATE)
        done = create_both(world, values, way, &entity);
    else if (way == RECORDED_BOTH || way == TWO_BUFFERS)
        done = record_both(world, entity, values, way == TWO_BUFFERS);
    else
        done = add_second(world, entity, values[1], way);
    ck_assert_msg(done == expected, "%s, then %s, way %u", mica_component_type(values[0].component)->name,
                  mica_component_type(values[1].component)->name, way);
    if (expected) {
        ck_assert_uint_eq(kinds_of(world, entity), both);
    } else {
        expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
        ck_assert(way == RECORDED_CREATE || mica_world_hash(world) == hash);
        ck_assert(way != RECORDED_CREATE || kinds_of(world, entity) == 0); /* it is created, without components */
    }
    ck_assert(way == ADD_ALL || kinds_of(world, other) == 0);
    if (snapshots)
        mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}

START_TEST(no_way_gives_an_entity_two_components_that_exclude_each_other)
{
    for (uint32_t first = 0; first < KINDS; ++first)
        for (uint32_t then = 0; then < KINDS; ++then)
            for (uint32_t way = 0; way < WAYS; ++way)
                if (first != then) {
                    try_both(first, then, way, false);
                    try_both(first, then, way, true);
                }
}
END_TEST

/* What is recorded for other entities is applied, and of the entity itself nothing. */
START_TEST(a_refused_recorded_change_drops_the_changes_of_its_entity_only)
{
    const uint32_t pairs[][2] = {{WALKING, FLYING}, {WALKING, SWIMMING}, {SWIMMING, WALKING}, {BURIED, RESTING}};
    for (uint32_t i = 0; i < COUNT_OF(pairs); ++i) {
        mica_world *world = open_world(&heard);
        mica_entity crowd[8];
        for (uint32_t k = 0; k < COUNT_OF(crowd); ++k)
            crowd[k] = mica_create(world, MICA_WITH(Enemy));
        mica_value first = value_of(pairs[i][0]), then = value_of(pairs[i][1]);
        mica_set_id(world, crowd[3], first);
        mica_set_id(world, crowd[5], first);
        mica_defer(world);
        for (uint32_t k = 0; k < COUNT_OF(crowd); ++k) {
            mica_set(world, crowd[k], Position, {(float)k, 0, 0});
            mica_set_id(world, crowd[k], then);
        }
        mica_remove_id(world, crowd[5], first.component); /* so that it can have the other one */
        ck_assert_int_eq(mica_flush(world), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
        for (uint32_t k = 0; k < COUNT_OF(crowd); ++k) {
            ck_assert_int_eq(mica_has(world, crowd[k], Position), k != 3);
            ck_assert_uint_eq(kinds_of(world, crowd[k]), 1u << pairs[i][k == 3 ? 0 : 1]);
        }
        close_world(world, &heard);
    }
}
END_TEST

/* What a new entity has in pools is what its creation says, so that creations of one kind are applied together. */
START_TEST(recorded_creations_of_rivals_in_pools_are_alike)
{
    mica_world *world = open_world(&heard);
    mica_define(world, Diving);
    for (uint32_t round = 0; round < 3; ++round) {
        mica_entity made[20];
        mica_defer(world);
        for (uint32_t i = 0; i < COUNT_OF(made); ++i)
            made[i] = mica_create(world, MICA_WITH(Swimming, {(int)i}), MICA_WITH(Enemy), MICA_WITH(Mass, {1}));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        for (uint32_t i = 0; i < COUNT_OF(made); ++i)
            ck_assert(mica_get(world, made[i], Swimming)->speed == (int)i && mica_has(world, made[i], Enemy));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_bulk_change_of_which_one_entity_is_refused_changes_none)
{
    const uint32_t pairs[][2] = {{WALKING, FLYING}, {WALKING, SWIMMING}, {SWIMMING, FLYING}, {SWIMMING, WINGED}};
    for (uint32_t i = 0; i < COUNT_OF(pairs); ++i) {
        mica_world *world = open_world(&heard);
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Enemy)));
        for (uint32_t k = 0; k < 4; ++k)
            mica_create(world, MICA_WITH(Enemy));
        mica_set_id(world, mica_create(world, MICA_WITH(Enemy)), value_of(pairs[i][0]));
        uint64_t hash = mica_world_hash(world);
        ck_assert_int_eq(mica_add_all_id(query, value_of(pairs[i][1])), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
        ck_assert_uint_eq(mica_world_hash(world), hash);
        mica_query_destroy(query);
        close_world(world, &heard);
    }
}
END_TEST

/* The last instance of a component with many makes room for what it excludes. */
START_TEST(instances_count_by_what_is_left)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_pool *pool = mica_pool_of(world, Diving);
    mica_pool_add(pool, entity);
    mica_pool_add(pool, entity);
    for (uint32_t left = 2; left-- > 0;) {
        mica_defer(world);
        ck_assert(mica_pool_remove(pool, mica_pool_find(pool, entity)));
        mica_set(world, entity, Walking, {1});
        ck_assert_int_eq(mica_flush(world), left ? MICA_ERROR_INVALID : MICA_OK);
        if (!left)
            break;
        expect_report(&heard, MICA_ERROR_INVALID, "Diving");
        ck_assert(mica_pool_remove(pool, mica_pool_find(pool, entity)));
    }
    ck_assert_uint_eq(kinds_of(world, entity), 1 << WALKING);
    mica_defer(world);
    mica_remove(world, entity, Walking);
    mica_add_instance(world, entity, Diving);
    mica_add_instance(world, entity, Diving);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(kinds_of(world, entity), 1 << DIVING);
    close_world(world, &heard);
}
END_TEST

/* The edge that adds Walking has the fast path until a component in a pool excludes it. */
START_TEST(a_component_that_comes_into_use_later_is_excluded_too)
{
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world), then = mica_create(world), buried = mica_create(world);
    mica_add(world, first, Walking);
    mica_add(world, buried, Buried);
    mica_add(world, then, Swimming);
    ck_assert_ptr_null(mica_add(world, then, Walking));
    expect_report(&heard, MICA_ERROR_INVALID, "component Walking can't be added to entity 2");
    ck_assert(!mica_set(world, first, Swimming, {1}));
    expect_report(&heard, MICA_ERROR_INVALID, "which has Walking");
    ck_assert_ptr_null(mica_add(world, buried, Resting));
    expect_report(&heard, MICA_ERROR_INVALID, "Buried");
    ck_assert(
        mica_is_nil(mica_create(world, MICA_WITH(Position, {0}), MICA_WITH(Walking, {1}), MICA_WITH(Flying, {1}))));
    expect_report(&heard, MICA_ERROR_INVALID, "an entity can't have");
    close_world(world, &heard);
}
END_TEST

START_TEST(copies_have_what_the_original_has)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Swimming, {1}), MICA_WITH(Resting));
    mica_entity clone = mica_clone(world, entity);
    ck_assert_uint_eq(kinds_of(world, clone), 1 << SWIMMING | 1 << RESTING);
    mica_world *copy = mica_world_clone(world);
    ck_assert(!mica_is_nil(clone) && copy);
    ck_assert_ptr_null(mica_add_id(copy, clone, MICA_ID(Walking)));
    expect_report(&heard, MICA_ERROR_INVALID, "Swimming");
    mica_world_destroy(copy);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_remove(world, entity, Swimming);
    mica_add(world, entity, Walking);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_ptr_null(mica_add(world, entity, Walking));
    expect_report(&heard, MICA_ERROR_INVALID, "Swimming");
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

/* Random changes, at once and recorded, against sets of bits. */
enum { CROWD = 24, STEPS = 4000 };

static void change_at_once(mica_world *world, random_source *source, mica_entity entity, uint32_t *has)
{
    uint32_t which = random_below(source, KINDS);
    if (random_one_in(source, 3)) {
        ck_assert_int_eq(mica_remove_id(world, entity, kind(which)), *has >> which & 1);
        *has &= ~(1u << which);
        return;
    }
    uint32_t after = *has >> which & 1 ? *has : with(*has, which);
    bool done = random_one_in(source, 2) ? mica_set_id(world, entity, value_of(which))
                                         : mica_add_id(world, entity, kind(which)) != NULL;
    ck_assert_int_eq(done, is_fine(after));
    *has = done ? after : *has;
}

static void change_recorded(mica_world *world, random_source *source, const mica_entity *crowd, uint32_t *has)
{
    uint32_t after[CROWD];
    bool all = true;
    memcpy(after, has, sizeof after);
    mica_defer(world);
    for (uint32_t i = random_below(source, 40); i-- > 0;) {
        uint32_t at = random_below(source, CROWD), which = random_below(source, KINDS);
        bool adds = random_one_in(source, 2);
        if (adds)
            mica_set_id(world, crowd[at], value_of(which));
        else
            mica_remove_id(world, crowd[at], kind(which));
        if (!adds)
            after[at] &= ~(1u << which);
        else if (!(after[at] >> which & 1))
            after[at] = with(after[at], which);
    }
    for (uint32_t i = 0; i < CROWD; ++i) {
        all &= is_fine(after[i]);
        has[i] = is_fine(after[i]) ? after[i] : has[i];
    }
    ck_assert_int_eq(mica_flush(world), all ? MICA_OK : MICA_ERROR_INVALID);
}

START_TEST(random_changes_keep_rivals_apart)
{
    random_source source = {7};
    mica_world *world = open_world(&heard);
    mica_entity crowd[CROWD];
    uint32_t has[CROWD] = {0};
    for (uint32_t i = 0; i < CROWD; ++i)
        crowd[i] = mica_create(world);
    for (uint32_t step = 0; step < STEPS; ++step) {
        uint32_t at = random_below(&source, CROWD);
        if (random_one_in(&source, 4))
            change_recorded(world, &source, crowd, has);
        else
            change_at_once(world, &source, crowd[at], &has[at]);
        for (uint32_t i = 0; i < CROWD; ++i)
            ck_assert_uint_eq(kinds_of(world, crowd[i]), has[i]);
        forget_reports(&heard);
        if (step % 64 == 0)
            expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(descriptions_that_exclude_are_told_apart)
{
    mica_world *world = open_world(&heard);
    mica_component flying = mica_define(world, Flying);
    mica_type other = mica_type_of_Flying;
    mica_type *const twice[] = {&mica_type_of_Walking, &mica_type_of_Walking, NULL};
    mica_type *const more[] = {&mica_type_of_Walking, &mica_type_of_Position, NULL};
    other.excludes = twice;
    ck_assert_uint_eq(mica_component_define(world, &other), flying);
    ck_assert_str_eq(mica_component_type(flying)->excludes[0]->name, "Walking");
    ck_assert_ptr_null(mica_component_type(flying)->excludes[1]);
    other.excludes = more;
    ck_assert_uint_eq(mica_component_define(world, &other), 0);
    expect_report(&heard, MICA_ERROR_LAYOUT, "Flying");
    other.excludes = NULL;
    ck_assert_uint_eq(mica_component_define(world, &other), 0);
    expect_report(&heard, MICA_ERROR_LAYOUT, "Flying");
    close_world(world, &heard);
}
END_TEST

START_TEST(wrong_exclusions_are_refused)
{
    static mica_type day = {.name = "Day", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type night = {.name = "Night", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type nameless = {.kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type *const to_day[] = {&day, NULL}, *const to_night[] = {&night, NULL};
    static mica_type *const to_nameless[] = {&nameless, NULL}, *const to_both[] = {&day, &night, NULL};
    mica_world *world = open_world(&heard);
    day.excludes = to_day;
    ck_assert_str_eq(mica_type_problem(&day), "it excludes itself");
    day.excludes = to_nameless;
    ck_assert_str_eq(mica_type_problem(&day), "it excludes a component without a name");
    day.excludes = to_night;
    night.excludes = to_day; /* both may say so */
    ck_assert_uint_ne(mica_component_define(world, &day), 0);
    ck_assert_uint_ne(mica_component_define(world, &night), 0);
    mica_type dusk = {.name = "Dusk", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, .required = to_both};
    mica_type dawn = {
        .name = "Dawn", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, .required = to_day, .excludes = to_day};
    ck_assert_uint_eq(mica_component_define(world, &dusk), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "exclude it, or each other");
    ck_assert_uint_eq(mica_component_define(world, &dawn), 0);
    expect_report(&heard, MICA_ERROR_INVALID, "exclude it, or each other");
    dusk.storage = MICA_STORAGE_SINGLETON;
    dusk.size_bytes = dusk.alignment = 4;
    dusk.required = NULL;
    dusk.excludes = to_day;
    ck_assert_str_eq(mica_type_problem(&dusk), "a singleton can't exclude components");
    mica_type *const to_dusk[] = {&dusk, NULL};
    dusk.excludes = NULL;
    dawn.required = NULL;
    dawn.excludes = to_dusk;
    ck_assert_str_eq(mica_type_problem(&dawn), "it excludes a singleton, which entities can't have");
    close_world(world, &heard);
}
END_TEST

/* With the k-th allocation failing while components come into use. Returns whether there was one. */
static bool use_all(uint64_t k)
{
    faulty_allocator faulty;
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&faulty);
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    mica_entity entity = mica_create(world);
    mica_component ids[ALONE];
    for (uint32_t i = 0; i < ALONE; ++i)
        ids[i] = kind(i);
    faulty_allocator_fail_at(&faulty, k, false);
    uint32_t used = 0;
    while (used < ALONE && mica_component_define(world, mica_component_type(ids[used])))
        ++used;
    bool failed = faulty.failures > 0;
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert(failed || used == ALONE);
    if (failed && used < ALONE)
        expect_report(&heard, MICA_ERROR_MEMORY, "");
    for (uint32_t first = 0; first < ALONE; ++first) {
        ck_assert(mica_set_id(world, entity, value_of(first)));
        for (uint32_t then = 0; then < ALONE; ++then)
            if (excluded[first] >> then & 1) {
                ck_assert(!mica_set_id(world, entity, value_of(then)));
                expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
            }
        ck_assert(mica_remove_id(world, entity, ids[first]));
    }
    close_world(world, &heard);
    ck_assert_uint_eq(faulty.live_bytes, 0);
    faulty_allocator_free(&faulty);
    return failed;
}

START_TEST(without_memory_nothing_is_forgotten)
{
    for (uint64_t k = 1; use_all(k);)
        ++k;
}
END_TEST

START_TEST(a_world_with_rivals_on_one_entity_is_not_valid)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Walking, {1}), MICA_WITH(Buried));
    mica_create(world, MICA_WITH(Flying, {1}), MICA_WITH(Position, {0}));
    mica_define(world, Swimming);
    const micap_component *walking = micap_component_of(&world->components, MICA_ID(Walking));
    const micap_type *flying = micap_type_of(MICA_ID(Flying));
    const char *said = "components that exclude each other are on different entities";
    const damage list[] = {DAMAGE(walking->rivals[0], MICA_ID(Buried), said),
                           DAMAGE(flying->excluded[0], mica_component_name_hash(MICA_ID(Position)), said)};
    expect_damage_named(world, &heard, list, COUNT_OF(list));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(excluded, a_world_with_rivals_on_one_entity_is_not_valid,
           no_way_gives_an_entity_two_components_that_exclude_each_other,
           a_refused_recorded_change_drops_the_changes_of_its_entity_only,
           a_bulk_change_of_which_one_entity_is_refused_changes_none, recorded_creations_of_rivals_in_pools_are_alike,
           instances_count_by_what_is_left, a_component_that_comes_into_use_later_is_excluded_too,
           copies_have_what_the_original_has, random_changes_keep_rivals_apart,
           descriptions_that_exclude_are_told_apart, wrong_exclusions_are_refused, without_memory_nothing_is_forgotten)
