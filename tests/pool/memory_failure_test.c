/* Memory runs out at every point of every call that touches pools, for components that own memory, split ones and tags. */
#include "../support/components.h"
#include "../support/memory_scenario.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

#include <stdio.h>

/* How the components of a run are kept. Owners take their memory from the allocator that fails. */
typedef struct way {
    mica_pool_index index;
    mica_dying dying;
    bool many, split, tag;
} way;

static const way ways[] = {
    {MICA_INDEX_MAP, MICA_DYING_AT_ONCE, false, false, false},
    {MICA_INDEX_MAP, MICA_DYING_LAZILY, false, false, false},
    {MICA_INDEX_HASH, MICA_DYING_AT_FLUSH, false, false, false},
    {MICA_INDEX_DIRECT, MICA_DYING_AT_ONCE, false, false, false},
    {MICA_INDEX_DIRECT, MICA_DYING_LAZILY, false, false, false},
    {MICA_INDEX_MAP, MICA_DYING_LAZILY, true, false, false},
    {MICA_INDEX_HASH, MICA_DYING_AT_ONCE, true, false, false},
    {MICA_INDEX_HASH, MICA_DYING_LAZILY, false, true, false},
    {MICA_INDEX_MAP, MICA_DYING_AT_FLUSH, true, true, false},
    {.tag = true},
};

static const way *now;
static mica_component a, b; /* two of that kind */

static mica_component component_of(char letter)
{
    char name[64];
    snprintf(name, sizeof name, "Short %c %d %d %d %d %d", letter, (int)now->index, (int)now->dying, now->many,
             now->split, now->tag);
    if (now->split) {
        variant how = {MICA_STORAGE_POOL, now->index, now->dying, true, now->many, false};
        return variant_component(&how, letter);
    }
    mica_type type = now->tag ? (mica_type){.kind = MICA_KIND_STRUCT} : *samples[SAMPLE_OWNER].type;
    type.name = name;
    type.id_cache = 0;
    type.storage = MICA_STORAGE_POOL;
    type.index = now->index;
    type.dying = now->dying;
    type.many = now->many;
    return mica_type_intern(&type);
}

/* A value for a call, made from one of the fixture's where it owns something. */
static mica_value value_of(const fixture *fixture, mica_component component)
{
    static Item item;
    if (now->tag)
        return (mica_value){component, 0, NULL};
    item = item_of(77);
    mica_value value = now->split ? item_value(component, &item) : fixture->values[SAMPLE_OWNER];
    value.component = component;
    return value;
}

static void give(fixture *fixture, uint32_t at, mica_component component)
{
    REQUIRE(mica_set_id(fixture->world, fixture->population[at], value_of(fixture, component)));
}

/* Every third entity has a, every fourth b; and of many instances, some. */
static void prepare_some(fixture *fixture)
{
    for (uint32_t i = 0; i < POPULATION; ++i) {
        if (i % 3 == 0)
            give(fixture, i, a);
        if (i % 4 == 0)
            give(fixture, i, b);
        for (uint32_t k = 0; now->many && k < i % 5; ++k)
            REQUIRE(!mica_instance_is_nil(mica_pool_add(mica_pool_of_id(fixture->world, a), fixture->population[i])));
    }
}

/* Entity indices that are reused while rows of the destroyed entities still exist. */
static void prepare_dead(fixture *fixture)
{
    prepare_some(fixture);
    for (uint32_t i = 0; i < 20; ++i)
        REQUIRE(mica_destroy(fixture->world, fixture->population[i]));
    for (uint32_t i = 0; i < 10; ++i)
        fixture->population[i] = mica_create(fixture->world);
}

static void prepare_query_of(fixture *fixture, mica_component component, bool instances)
{
    mica_term terms[] = {{.component = component, .access = MICA_ACCESS_HAS}};
    fixture->query = mica_query_create(
        fixture->world, &(mica_query_def){.terms = terms, .term_count = 1, .instances_of = instances ? component : 0});
    REQUIRE(fixture->query);
}

static void prepare_query(fixture *fixture)
{
    prepare_some(fixture);
    prepare_query_of(fixture, a, now->many);
}

static void prepare_query_over_dead(fixture *fixture)
{
    prepare_dead(fixture);
    prepare_query_of(fixture, sample_id(SAMPLE_SMALL), false);
}

static int compare_bytes(const void *left, const void *right, void *context)
{
    (void)context;
    uint32_t l = *(const uint32_t *)left % 7, r = *(const uint32_t *)right % 7;
    return (l > r) - (l < r);
}

static void prepare_sorted(fixture *fixture)
{
    prepare_some(fixture);
    mica_term terms[] = {
        {.component = now->tag || now->split ? sample_id(SAMPLE_SMALL) : a, .access = MICA_ACCESS_READ},
        {.component = a, .access = MICA_ACCESS_HAS}};
    uint32_t count = now->tag || now->split ? 2 : 1;
    fixture->query = mica_query_create(fixture->world, &(mica_query_def){.terms = terms,
                                                                         .term_count = count,
                                                                         .order_by = terms[0].component,
                                                                         .compare = compare_bytes});
    REQUIRE(fixture->query);
}

static void prepare_commands(fixture *fixture)
{
    prepare_dead(fixture);
    fixture->commands = mica_commands_create(fixture->world);
}

static void prepare_defer(fixture *fixture)
{
    prepare_some(fixture);
    mica_defer(fixture->world);
}

/* Something of everything, by the world and by two buffers. */
static void prepare_recorded(fixture *fixture)
{
    mica_commands *buffers[2];
    prepare_dead(fixture);
    for (uint32_t i = 0; i < 2; ++i)
        buffers[i] = mica_commands_create(fixture->world);
    mica_defer(fixture->world);
    for (uint32_t i = 0; i < POPULATION; ++i) {
        mica_entity entity = fixture->population[i];
        mica_commands *commands = buffers[i % 2];
        if (!mica_is_alive(fixture->world, entity))
            continue;
        REQUIRE(mica_command_set_id(commands, entity, value_of(fixture, a), MICA_HERE));
        REQUIRE(mica_command_add_id(buffers[1], entity, b, MICA_HERE));
        if (now->many)
            REQUIRE(mica_command_add_instance_id(commands, entity, a, MICA_HERE));
        if (i % 3 == 0)
            mica_command_remove_id(buffers[1], entity, a, MICA_HERE);
        if (i % 7 == 0)
            REQUIRE(mica_command_destroy(buffers[1], entity));
    }
    for (uint32_t i = 0; i < 30; ++i) {
        mica_value values[] = {value_of(fixture, a), {b, 0, NULL}};
        REQUIRE(!mica_is_nil(mica_create_id(fixture->world, values, 2)));
    }
}

static bool use(fixture *fixture)
{
    return mica_pool_of_id(fixture->world, a) != NULL;
}

static bool add(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->population[1], a) != NULL;
}

static bool set_new(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[1], value_of(fixture, a));
}

static bool overwrite(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[3], value_of(fixture, a));
}

static bool take(fixture *fixture)
{
    return mica_remove_id(fixture->world, fixture->population[24], a);
}

static bool create(fixture *fixture)
{
    mica_value values[] = {value_of(fixture, a), fixture->values[SAMPLE_OWNER], {b, 0, NULL}};
    return !mica_is_nil(mica_create_id(fixture->world, values, 3));
}

static bool create_many(fixture *fixture)
{
    mica_value values[] = {{a, 0, NULL}, {sample_id(SAMPLE_OWNER), 0, NULL}, {b, 0, NULL}};
    return mica_create_many(fixture->world, 50, values, 3, NULL) == MICA_OK;
}

static bool create_batch(fixture *fixture)
{
    mica_value values[] = {{a, 0, NULL}, {sample_id(SAMPLE_OWNER), 0, NULL}, {b, 0, NULL}};
    if (mica_component_type(a)->dying || mica_component_type(b)->dying) /* which a batch does not take */
        return create_many(fixture);
    const mica_batch_group groups[] = {{20, 3, values, 0}, {30, 3, values, 7}, {5, 1, values, 0}};
    mica_batch *batch;
    return mica_batch_begin(fixture->world, groups, 3, &batch) == MICA_OK &&
           mica_batch_commit(batch, NULL, 0) == MICA_OK;
}

static bool clone_one(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->population[24]));
}

static bool pool_add(fixture *fixture)
{
    mica_pool *pool = mica_pool_of_id(fixture->world, a);
    return now->tag || !mica_instance_is_nil(mica_pool_add(pool, fixture->population[now->many ? 24 : 1]));
}

static bool sort(fixture *fixture)
{
    mica_pool *pool = mica_pool_of_id(fixture->world, a);
    return now->tag || now->index == MICA_INDEX_DIRECT || mica_pool_sort(pool, compare_bytes, NULL) == MICA_OK;
}

static bool group(fixture *fixture)
{
    mica_component both[] = {a, b};
    return now->tag || now->many || now->index == MICA_INDEX_DIRECT ||
           mica_group_id(fixture->world, both, 2) == MICA_OK;
}

static bool create_query(fixture *fixture)
{
    mica_term terms[] = {{.component = a, .access = MICA_ACCESS_HAS},
                         {.component = b, .access = MICA_ACCESS_WITHOUT},
                         {.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ}};
    return mica_query_create(fixture->world, &(mica_query_def){.terms = terms, .term_count = 3}) != NULL;
}

static bool walk(fixture *fixture)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(fixture->query); mica_view_next(&view);)
        count += view.count;
    return count > 0;
}

static bool add_to_all(fixture *fixture)
{
    return mica_add_all_id(fixture->query, value_of(fixture, b)) == MICA_OK;
}

static bool remove_from_all(fixture *fixture)
{
    return mica_remove_all_id(fixture->query, b) == MICA_OK;
}

/* Rows that can't be remembered for the flush go at once: the others then lie in another order. */
static bool destroy_all(fixture *fixture)
{
    return now->dying == MICA_DYING_AT_FLUSH || mica_destroy_all(fixture->query) == MICA_OK;
}

static bool destroy(fixture *fixture)
{
    return mica_destroy(fixture->world, fixture->population[24]);
}

static bool listen(fixture *fixture)
{
    return mica_removals_create_id(fixture->world, a) != NULL;
}

static bool record_set(fixture *fixture)
{
    return mica_command_set_id(fixture->commands, fixture->population[24], value_of(fixture, a), MICA_HERE);
}

static bool record_add(fixture *fixture)
{
    return mica_command_add_id(fixture->commands, fixture->population[24], a, MICA_HERE) != NULL;
}

static bool record_create(fixture *fixture)
{
    mica_value values[] = {value_of(fixture, a), {b, 0, NULL}};
    return !mica_is_nil(mica_command_create_id(fixture->commands, values, 2, MICA_HERE));
}

static bool record_instance(fixture *fixture)
{
    return !now->many || mica_command_add_instance_id(fixture->commands, fixture->population[1], a, MICA_HERE) != NULL;
}

static bool flush(fixture *fixture)
{
    return mica_flush(fixture->world) == MICA_OK;
}

static bool clear(fixture *fixture)
{
    return mica_world_clear(fixture->world) == MICA_OK;
}

static bool trim(fixture *fixture)
{
    mica_world_trim(fixture->world);
    return true;
}

static void finish_flush(fixture *fixture)
{
    REQUIRE(mica_flush(fixture->world) == MICA_OK);
}

static const scenario scenarios[] = {
    {"the first use of a pool", NULL, use, NULL},
    {"add, first of all", NULL, add, NULL},
    {"add", prepare_some, add, NULL},
    {"add over a row of the dead", prepare_dead, add, NULL},
    {"set what is new", prepare_some, set_new, NULL},
    {"set over a row of the dead", prepare_dead, set_new, NULL},
    {"set what is there", prepare_some, overwrite, NULL},
    {"remove", prepare_some, take, NULL},
    {"create, first of all", NULL, create, NULL},
    {"create", prepare_some, create, NULL},
    {"create over a row of the dead", prepare_dead, create, NULL},
    {"create_many", prepare_some, create_many, NULL},
    {"create_many over rows of the dead", prepare_dead, create_many, NULL},
    {"a batch", prepare_some, create_batch, NULL},
    {"clone", prepare_some, clone_one, NULL},
    {"clone over a row of the dead", prepare_dead, clone_one, NULL},
    {"clone while the world records", prepare_defer, clone_one, finish_flush},
    {"pool_add", prepare_some, pool_add, NULL},
    {"pool_sort", prepare_some, sort, NULL},
    {"group", prepare_some, group, NULL},
    {"query_create", NULL, create_query, NULL},
    {"a loop", prepare_query, walk, NULL},
    {"a sorted loop", prepare_sorted, walk, NULL},
    {"query_add", prepare_query, add_to_all, NULL},
    {"query_add over rows of the dead", prepare_query_over_dead, add_to_all, NULL},
    {"query_remove", prepare_query, remove_from_all, NULL},
    {"query_destroy_entities", prepare_query, destroy_all, finish_flush},
    {"destroy", prepare_some, destroy, finish_flush},
    {"removals_create", NULL, listen, NULL},
    {"command_set", prepare_commands, record_set, finish_flush},
    {"command_add", prepare_commands, record_add, finish_flush},
    {"command_create", prepare_commands, record_create, finish_flush},
    {"command_add_instance", prepare_commands, record_instance, finish_flush},
    {"flush of several buffers", prepare_recorded, flush, NULL},
    {"clear", prepare_dead, clear, NULL},
    {"trim", prepare_dead, trim, NULL},
};

START_TEST(a_call_that_runs_out_of_memory_leaves_pools_as_they_were)
{
    now = &ways[_i / (int)COUNT_OF(scenarios)];
    a = component_of('a');
    b = component_of('b');
    scenario_fail_everywhere(&scenarios[_i % (int)COUNT_OF(scenarios)]);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory_failure");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, a_call_that_runs_out_of_memory_leaves_pools_as_they_were, 0,
                        (int)(COUNT_OF(ways) * COUNT_OF(scenarios)));
    return test_run("memory_failure", cases);
}
