/* The packed table: rows and owners side by side, growth, holes, memory, and every way from an entity to its row. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Burning {
    float seconds_left;
} Burning;
MICA_POOL(Burning, seconds_left)

typedef struct Huge {
    uint32_t first;
    unsigned char bytes[(1 << 20) - 8];
    uint32_t last;
} Huge;
MICA_POOL(Huge, first, last)

typedef struct Aligned {
    _Alignas(256) uint64_t words[32];
} Aligned;
MICA_POOL(Aligned, words)

MICA_POOL_TAG(Selected)

static mica_component component_of(int index)
{
    return variant_component(&variants[VARIANTS_CHUNK + index], 'a');
}

static bool is_direct(const mica_component component)
{
    return mica_component_type(component)->index == MICA_INDEX_DIRECT;
}

/* Every row that the arrays show belongs to its owner, is packed (except with a direct index) and has its number. */
static void expect_rows(mica_world *world, mica_component component, uint32_t count)
{
    mica_pool *pool = mica_pool_of_id(world, component);
    const mica_entity *owners = mica_pool_owners(pool);
    uint32_t living = 0;
    for (uint32_t row = 0; row < mica_pool_row_count(pool); ++row) {
        if (mica_is_nil(owners[row])) {
            REQUIRE(is_direct(component));
            continue;
        }
        if (!mica_is_alive(world, owners[row])) {
            REQUIRE(mica_component_type(component)->dying != MICA_DYING_AT_ONCE);
            continue;
        }
        ++living;
        mica_instance found = mica_pool_find(pool, owners[row]);
        REQUIRE(!mica_instance_is_nil(found) && mica_same(mica_pool_owner(pool, found), owners[row]));
        uint32_t number = item_number(world, owners[row], component);
        if (mica_component_type(component)->split) {
            const uint32_t *numbers = mica_pool_read_field_id(pool, offsetof(Item, number));
            const double *squares = mica_pool_read_field_id(pool, offsetof(Item, square));
            REQUIRE(numbers[row] == number && squares[row] == (double)number * number);
        } else {
            const Item *items = mica_pool_read_id(pool);
            REQUIRE(item_holds(&items[row], number));
            REQUIRE(mica_get_id(world, owners[row], component) == &items[row]);
        }
    }
    REQUIRE_SAYING(living == count, "%u of %u", living, count);
    REQUIRE(mica_pool_count(pool) == count);
}

START_TEST(owners_and_fields_lie_side_by_side_through_growth_and_holes)
{
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    static mica_entity entities[3000];
    static bool has[3000];
    random_source random = {(uint64_t)_i};
    uint32_t count = 0;
    memset(has, 0, sizeof has);
    for (uint32_t i = 0; i < 3000; ++i) {
        entities[i] = mica_create(world);
        if (i % 3 == 0)
            continue;
        Item item = item_of(i);
        REQUIRE(mica_set_id(world, entities[i], item_value(component, &item)));
        has[i] = true;
        ++count;
    }
    expect_rows(world, component, count);
    for (uint32_t step = 0; step < 2500; ++step) {
        uint32_t at = random_below(&random, 3000);
        Item item = item_of(at);
        if (has[at])
            REQUIRE(mica_remove_id(world, entities[at], component));
        else
            REQUIRE(mica_set_id(world, entities[at], item_value(component, &item)));
        has[at] = !has[at];
        count += has[at] ? 1 : UINT32_MAX;
    }
    expect_rows(world, component, count);
    for (uint32_t i = 0; i < 3000; ++i)
        REQUIRE(item_number(world, entities[i], component) == (has[i] ? i : UINT32_MAX));
    close_world(world, &heard);
}
END_TEST

START_TEST(any_row_of_three_can_go_and_the_others_are_found)
{
    for (uint32_t gone = 0; gone < 3; ++gone)
        for (int by_death = 0; by_death < 2; ++by_death) {
            mica_world *world = open_world(&heard);
            mica_component component = component_of(_i);
            mica_entity entities[3];
            for (uint32_t i = 0; i < 3; ++i) {
                Item item = item_of(10 + i);
                mica_value value = item_value(component, &item);
                entities[i] = mica_create_id(world, &value, 1);
            }
            if (by_death)
                ck_assert(mica_destroy(world, entities[gone]));
            else
                ck_assert(mica_remove_id(world, entities[gone], component));
            for (uint32_t i = 0; i < 3; ++i)
                ck_assert_uint_eq(item_number(world, entities[i], component), i == gone ? UINT32_MAX : 10 + i);
            expect_rows(world, component, 2);
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(stale_nil_and_forged_handles_find_nothing)
{
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    mica_pool *pool = mica_pool_of_id(world, component);
    Item item = item_of(1);
    mica_value value = item_value(component, &item);
    mica_entity living = mica_create_id(world, &value, 1), dead = mica_create_id(world, &value, 1);
    mica_destroy(world, dead);
    const mica_entity bad[] = {dead,
                               {0, 0},
                               {0, 1},
                               {living.index, living.generation + 1},
                               {living.index, 0},
                               {living.index + 1000000, 1},
                               {UINT32_MAX, UINT32_MAX}};
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert(mica_instance_is_nil(mica_pool_find(pool, bad[i])));
        ck_assert_uint_eq(item_number(world, bad[i], component), UINT32_MAX);
        ck_assert(!mica_write_id(world, bad[i], component) || mica_component_type(component)->split);
        ck_assert(!mica_is_enabled_id(world, bad[i], component));
        ck_assert(!mica_set_id(world, bad[i], value));
        ck_assert(!mica_add_id(world, bad[i], component));
        ck_assert(!mica_remove_id(world, bad[i], component));
        ck_assert(mica_instance_is_nil(mica_pool_add(pool, bad[i])));
        ck_assert_uint_eq(forget_reports(&heard), 4);
    }
    ck_assert_uint_eq(item_number(world, living, component), 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_new_entity_in_the_slot_of_a_dead_one_never_shows_its_values)
{
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    Item item = item_of(5);
    mica_value value = item_value(component, &item), fresh = {component, 0, NULL};
    mica_query *query = mica_query_create(
        world,
        &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_READ}, .term_count = 1});
    for (uint32_t round = 0; round < 8; ++round) {
        mica_entity old = mica_create_id(world, &value, 1);
        if (mica_component_type(component)->toggle)
            ck_assert(mica_enable_id(world, old, component, false));
        ck_assert(mica_destroy(world, old));
        mica_entity young = mica_create(world);
        ck_assert_msg(young.index == old.index, "the slot is used again");
        ck_assert_uint_eq(item_number(world, young, component), UINT32_MAX);
        ck_assert_uint_eq(mica_query_count(query), 0);
        ck_assert_uint_eq(mica_get_components(world, young, NULL, 0), 0);
        if (round % 4 == 0)
            ck_assert(mica_add_id(world, young, component));
        else if (round % 4 == 1)
            ck_assert(mica_set_id(world, young, fresh));
        else if (round % 4 == 2)
            ck_assert(!mica_instance_is_nil(mica_pool_add(mica_pool_of_id(world, component), young)));
        if (round % 4 == 3) {
            ck_assert(mica_destroy(world, young));
            young = mica_create_id(world, &fresh, 1);
        }
        ck_assert_uint_eq(item_number(world, young, component), 0);
        ck_assert(mica_is_enabled_id(world, young, component));
        ck_assert_uint_eq(mica_query_count(query), 1);
        ck_assert_uint_eq(mica_pool_count(mica_pool_of_id(world, component)), 1);
        expect_valid(world);
        ck_assert(mica_destroy(world, young));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(trim_gives_memory_back_and_nothing_is_lost)
{
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    static mica_entity entities[20000];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        Item item = item_of(i);
        mica_value value = item_value(component, &item);
        entities[i] = mica_create_id(world, &value, 1);
    }
    mica_pool *pool = mica_pool_of_id(world, component);
    size_t full = mica_pool_get_stats(pool).memory_bytes;
    for (uint32_t i = 100; i < COUNT_OF(entities); ++i)
        mica_destroy(world, entities[i]);
    ck_assert(mica_world_trim(world) > 0);
    ck_assert_uint_lt(mica_pool_get_stats(pool).memory_bytes, full / 20);
    expect_rows(world, component, 100);
    for (uint32_t i = 0; i < 100; ++i)
        mica_destroy(world, entities[i]);
    mica_world_trim(world);
    bool is_direct = mica_component_type(component)->index == MICA_INDEX_DIRECT; /* no index could keep any */
    ck_assert_uint_le(mica_pool_get_stats(pool).memory_bytes, is_direct ? 0 : 199);
    expect_rows(world, component, 0);
    ck_assert(!mica_pool_owners(pool));
    if (mica_component_type(component)->split) /* nothing points to what was given back */
        ck_assert(!mica_pool_read_field_id(pool, 0) && !mica_pool_write_field_id(pool, 0));
    else
        ck_assert(!mica_pool_read_id(pool) && !mica_pool_write_id(pool));
    Item item = item_of(7);
    mica_entity again = mica_create_id(world, &(mica_value){component, sizeof item, &item}, 1);
    ck_assert_uint_eq(item_number(world, again, component), 7);
    expect_rows(world, component, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_value_in_the_pool_itself_can_be_given_while_it_grows)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    if (how->split)
        return;
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    Item item = item_of(77);
    mica_value value = item_value(component, &item);
    mica_entity source = mica_create_id(world, &value, 1);
    for (uint32_t i = 0; i < 300; ++i) {
        mica_value own = {component, sizeof(Item), mica_get_id(world, source, component)};
        mica_entity made;
        if (i % 3 == 0) {
            made = mica_create_id(world, &own, 1);
        } else if (i % 3 == 1) {
            made = mica_create(world);
            own.data = mica_get_id(world, source, component);
            ck_assert(mica_set_id(world, made, own));
        } else {
            made = mica_clone(world, source);
        }
        ck_assert_uint_eq(item_number(world, made, component), 77);
    }
    const Item *rows = mica_pool_read_id(mica_pool_of_id(world, component));
    uint32_t count = how->index == MICA_INDEX_DIRECT ? 0 : mica_pool_count(mica_pool_of_id(world, component));
    static mica_entity many[1000];
    if (count) { /* a whole column of it */
        mica_value column = {component, sizeof(Item), rows};
        ck_assert_int_eq(mica_create_many(world, count, &column, 1, many), MICA_OK);
    }
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_uint_eq(item_number(world, many[i], component), 77);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_value_in_the_last_row_survives_the_eviction_of_a_dead_row)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    if (how->split)
        return;
    mica_world *world = open_world(&heard);
    mica_component component = component_of(_i);
    for (uint32_t way = 0; way < 3; ++way) {
        mica_entity entities[3];
        for (uint32_t i = 0; i < 3; ++i) {
            Item item = item_of(20 + i);
            mica_value value = item_value(component, &item);
            entities[i] = mica_create_id(world, &value, 1);
        }
        mica_destroy(world, entities[way]);
        mica_value last = {component, sizeof(Item), mica_get_id(world, entities[way == 2 ? 1 : 2], component)};
        mica_entity young = way == 1 ? mica_create_id(world, &last, 1) : mica_create(world);
        ck_assert_uint_eq(young.index, entities[way].index);
        last.data = mica_get_id(world, entities[way == 2 ? 1 : 2], component);
        if (way != 1)
            ck_assert(mica_set_id(world, young, last));
        ck_assert_uint_eq(item_number(world, young, component), way == 2 ? 21 : 22);
        expect_valid(world);
        mica_world_clear(world);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(values_of_a_megabyte_and_of_odd_alignment_are_kept)
{
    mica_world *world = open_world(&heard);
    static Huge huge;
    mica_entity entities[5];
    for (uint32_t i = 0; i < 5; ++i) {
        huge.first = i;
        huge.last = ~i;
        memset(huge.bytes, (int)i, sizeof huge.bytes);
        entities[i] = mica_create(world, MICA_FROM(Huge, &huge), MICA_WITH(Aligned, {{i}}));
    }
    ck_assert(mica_remove(world, entities[1], Huge));
    ck_assert(mica_remove(world, entities[0], Aligned));
    mica_world_trim(world);
    for (uint32_t i = 0; i < 5; ++i) {
        const Huge *value = mica_get(world, entities[i], Huge);
        ck_assert((value == NULL) == (i == 1));
        ck_assert(!value || (value->first == i && value->last == ~i && value->bytes[1 << 19] == i));
        const Aligned *aligned = mica_get(world, entities[i], Aligned);
        ck_assert((aligned == NULL) == (i == 0));
        ck_assert(!aligned || ((uintptr_t)aligned % 256 == 0 && aligned->words[0] == i));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_rare_component_in_a_huge_world_costs_what_its_index_costs)
{
    enum { WORLD = 1000000 };
    mica_world *world = open_world(&heard);
    static mica_entity entities[WORLD];
    ck_assert_int_eq(mica_create_many(world, WORLD, NULL, 0, entities), MICA_OK);
    size_t bytes[3];
    for (uint32_t index = 0; index < 3; ++index) {
        variant how = {.storage = MICA_STORAGE_POOL, .index = index};
        mica_component component = variant_component(&how, 'r');
        for (uint32_t i = 1; i <= 10; ++i) {
            Item item = item_of(i);
            ck_assert(mica_set_id(world, entities[i * 99000], item_value(component, &item)));
        }
        for (uint32_t i = 1; i <= 10; ++i)
            ck_assert_uint_eq(item_number(world, entities[i * 99000], component), i);
        bytes[index] = mica_pool_get_stats(mica_pool_of_id(world, component)).memory_bytes;
    }
    ck_assert_uint_lt(bytes[MICA_INDEX_HASH], 4096);
    ck_assert_uint_lt(bytes[MICA_INDEX_MAP], 11 * 33000);
    ck_assert_uint_gt(bytes[MICA_INDEX_DIRECT], WORLD * sizeof(Item) / 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_of_a_direct_index_are_entity_indices)
{
    mica_world *world = open_world(&heard);
    variant how = {.storage = MICA_STORAGE_POOL, .index = MICA_INDEX_DIRECT};
    mica_component component = variant_component(&how, 'a');
    mica_pool *pool = mica_pool_of_id(world, component);
    mica_entity entities[100];
    for (uint32_t i = 0; i < 100; ++i)
        entities[i] = mica_create(world);
    for (uint32_t i = 90; i < 100; i += 3) {
        Item item = item_of(i);
        ck_assert(mica_set_id(world, entities[i], item_value(component, &item)));
    }
    const Item *items = mica_pool_read_id(pool);
    for (uint32_t i = 90; i < 100; i += 3)
        ck_assert_uint_eq(items[entities[i].index].number, i);
    uint32_t free_count = 0;
    for (uint32_t row = 0; row < mica_pool_row_count(pool); ++row)
        free_count += mica_is_nil(mica_pool_owners(pool)[row]);
    ck_assert_uint_eq(free_count, mica_pool_row_count(pool) - 4);
    ck_assert_int_eq(mica_pool_sort(pool, NULL, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "not direct");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_pool_never_changes_an_archetype)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    const Number *where = mica_get(world, entity, Number);
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    mica_world_seal(world, true);
    ck_assert(mica_add(world, entity, Burning) && mica_add(world, entity, Selected));
    /* A checked build lends another address. */
    ck_assert(STOPS_AT_MISTAKES || mica_get(world, entity, Number) == where);
    ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, archetypes);
    mica_defer(world);
    mica_remove(world, entity, Burning);
    mica_set(world, entity, Aligned, {{3}});
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    if (!STOPS_AT_MISTAKES) /* where every address ends with the flush */
        /* A checked build lends another address. */
        ck_assert(STOPS_AT_MISTAKES || mica_get(world, entity, Number) == where);
    ck_assert(!mica_has(world, entity, Burning) && mica_get(world, entity, Aligned)->words[0] == 3);
    close_world(world, &heard);
}
END_TEST

START_TEST(more_pools_than_bits_in_a_mask_work_alike)
{
    enum { POOLS = 150 };
    mica_world *world = open_world(&heard);
    mica_component components[POOLS];
    mica_entity entities[POOLS + 1];
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    for (uint32_t i = 0; i < POOLS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Crowd%u", i);
        mica_type type = {.name = name, .fields = &field, .field_count = 1, .size_bytes = 4, .alignment = 4};
        type.kind = MICA_KIND_STRUCT;
        type.storage = MICA_STORAGE_POOL;
        type.dying = (mica_dying)(i % 3);
        components[i] = mica_component_define(world, &type);
        ck_assert(components[i]);
    }
    for (uint32_t e = 0; e <= POOLS; ++e) {
        entities[e] = mica_create(world);
        for (uint32_t i = 0; i < POOLS; ++i)
            if (e == POOLS || i % (e + 1) == 0)
                ck_assert(mica_set_id(world, entities[e], (mica_value){components[i], 4, &e}));
    }
    for (uint32_t e = 0; e <= POOLS; e += 2)
        ck_assert(mica_destroy(world, entities[e]));
    mica_component list[POOLS];
    for (uint32_t e = 0; e <= POOLS; ++e) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i < POOLS; ++i) {
            const uint32_t *value = mica_get_id(world, entities[e], components[i]);
            bool has = e % 2 && i % (e + 1) == 0;
            ck_assert(has ? value && *value == e : !value);
            expected += has;
        }
        ck_assert_uint_eq(mica_get_components(world, entities[e], list, POOLS), expected);
    }
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < POOLS; ++i)
        mica_pool_sweep(mica_pool_of_id(world, components[i]));
    close_world(world, &heard);
}
END_TEST

START_TEST(reading_what_a_pool_does_not_have_is_null_with_a_report)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Burning, {1}), MICA_WITH(Selected), MICA_WITH(Number, {1}));
    ck_assert(!mica_pool_of(world, Number));
    expect_report(&heard, MICA_ERROR_INVALID, "describe it with MICA_POOL");
    ck_assert(!mica_pool_of_id(world, 0));
    ck_assert_uint_eq(forget_reports(&heard), 1);
    mica_pool *burning = mica_pool_of(world, Burning), *selected = mica_pool_of(world, Selected);
    ck_assert(!mica_pool_read_field_id(burning, 0));
    expect_report(&heard, MICA_ERROR_INVALID, "not split");
    ck_assert(!mica_pool_write_id(selected) && !mica_pool_owners(selected));
    expect_report(&heard, MICA_ERROR_INVALID, "a tag has no values");
    ck_assert(mica_instance_is_nil(mica_pool_find(selected, entity)));
    ck_assert(mica_instance_is_nil(mica_pool_add(selected, entity)));
    expect_report(&heard, MICA_ERROR_EXISTS, "a tag has no instances");
    mica_instance none = {0, 0};
    ck_assert(!mica_instance_read(burning, none, Burning) && !mica_instance_write(burning, none, Burning));
    ck_assert(!mica_instance_read_field_id(burning, none, 0) && !mica_pool_remove(burning, none));
    ck_assert(mica_is_nil(mica_pool_owner(burning, none)));
    ck_assert(mica_instance_is_nil(mica_pool_next(burning, none)));
    /* No pool at all: it could not be made, which was reported. */
    ck_assert(!mica_pool_row_count(NULL) && !mica_pool_count(NULL) && !mica_pool_owners(NULL) &&
              !mica_pool_read_id(NULL) && !mica_pool_write_id(NULL) && !mica_pool_read_field_id(NULL, 0) &&
              !mica_pool_write_field_id(NULL, 0) && !mica_pool_gc(NULL, 9) && !mica_pool_sweep(NULL) &&
              mica_instance_is_nil(mica_pool_find(NULL, entity)) && mica_instance_is_nil(mica_pool_add(NULL, entity)));
    ck_assert_int_eq(mica_pool_sort(NULL, NULL, NULL), MICA_ERROR_INVALID);
    ck_assert_uint_eq(mica_pool_get_stats(NULL).row_count, 0);
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("pool");
    int pools = (int)variant_count - VARIANTS_CHUNK;
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, owners_and_fields_lie_side_by_side_through_growth_and_holes, 0, pools);
    tcase_add_loop_test(cases, any_row_of_three_can_go_and_the_others_are_found, 0, pools);
    tcase_add_loop_test(cases, stale_nil_and_forged_handles_find_nothing, 0, pools);
    tcase_add_loop_test(cases, a_new_entity_in_the_slot_of_a_dead_one_never_shows_its_values, 0, pools);
    tcase_add_loop_test(cases, trim_gives_memory_back_and_nothing_is_lost, 0, pools);
    tcase_add_loop_test(cases, a_value_in_the_pool_itself_can_be_given_while_it_grows, 0, pools);
    tcase_add_loop_test(cases, a_value_in_the_last_row_survives_the_eviction_of_a_dead_row, 0, pools);
    tcase_add_test(cases, values_of_a_megabyte_and_of_odd_alignment_are_kept);
    tcase_add_test(cases, a_rare_component_in_a_huge_world_costs_what_its_index_costs);
    tcase_add_test(cases, rows_of_a_direct_index_are_entity_indices);
    tcase_add_test(cases, a_pool_never_changes_an_archetype);
    tcase_add_test(cases, more_pools_than_bits_in_a_mask_work_alike);
    tcase_add_test(cases, reading_what_a_pool_does_not_have_is_null_with_a_report);
    return test_run("pool", cases);
}
