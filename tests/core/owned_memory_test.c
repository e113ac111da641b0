/* What text and lists cost in memory: of a million entities, and over millions of changes. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/test_length.h"

#include "base/block_heap.h"

#include <string.h>

typedef struct Sixteen { uint64_t values[2]; } Sixteen;
MICA_COMPONENT(Sixteen, values)
typedef struct Eight { uint64_t value; } Eight;
MICA_COMPONENT(Eight, value)
typedef struct Label { mica_text name; } Label;
MICA_COMPONENT(Label, name)
typedef struct Marks { mica_list values; } Marks;
MICA_COMPONENT(Marks, (values, float))

enum {
    ENTITIES = 1000000,
    SPARE_BYTES = ENTITIES / 2, /* spans that are not full */
    CHURNED = 20000,
    ROUNDS = UNDER_SANITIZER ? 20 : 400,
};

static reports heard;

/* All memory of a world and of text and lists. */
static size_t memory_of(const mica_world *world)
{
    return mica_world_get_stats(world).memory_bytes + micap_heap_bytes();
}

static size_t bytes_of_world(mica_component component, void (*fill)(void *value))
{
    size_t before = micap_heap_bytes();
    mica_world *world = open_world(&heard);
    mica_value values[] = {{component, 0, NULL}};
    mica_entity *entities = malloc(ENTITIES * sizeof *entities);
    REQUIRE(entities && mica_create_many(world, ENTITIES, values, 1, entities) == MICA_OK);
    for (uint32_t i = 0; fill && i < ENTITIES; ++i)
        fill(mica_write_id(world, entities[i], component));
    size_t bytes = memory_of(world) - before;
    free(entities);
    close_world(world, &heard);
    micap_heap_trim();
    return bytes;
}

static void fill_label(void *value)
{
    REQUIRE(mica_text_set(&((Label *)value)->name, "ten  bytes") == MICA_OK);
}

static void fill_marks(void *value)
{
    mica_list *list = &((Marks *)value)->values;
    for (uint32_t i = 0; i < 8; ++i)
        *(float *)mica_list_append(list, float) = (float)i;
}

START_TEST(a_short_name_is_sixteen_bytes_and_eight_floats_are_forty_eight)
{
    if (UNDER_SANITIZER) /* blocks are malloc's then */
        return;
    size_t sixteen = bytes_of_world(MICA_ID(Sixteen), NULL), eight = bytes_of_world(MICA_ID(Eight), NULL);
    size_t named = bytes_of_world(MICA_ID(Label), fill_label);
    size_t marked = bytes_of_world(MICA_ID(Marks), fill_marks);
    ck_assert_uint_eq(named, sixteen);
    ck_assert_msg(marked - eight <= (size_t)40 * ENTITIES + SPARE_BYTES, "eight floats add %.2f bytes to the list",
                  (double)(marked - eight) / ENTITIES);
}
END_TEST

/* Appends, removes, sets and clears, as chance wants: the contents of an entity grow and shrink. */
static void churn(mica_world *world, const mica_entity *entities, random_source *random)
{
    static const char *const names[] = {
        "short", "a name that is longer than fits in place",
        "a name that is much longer than that, and does not fit into the same block either"};
    for (uint32_t i = 0; i < CHURNED; ++i) {
        mica_entity entity = entities[random_below(random, CHURNED)];
        mica_list *marks = &mica_write(world, entity, Marks)->values;
        uint32_t count = mica_list_count(marks);
        if (count > 20)
            mica_list_clear(marks, float);
        else if (count && random_one_in(random, 3))
            mica_list_remove(marks, float, 0);
        else
            *(float *)mica_list_append(marks, float) = (float)i;
        REQUIRE(mica_text_set(&mica_write(world, entity, Label)->name, names[random_below(random, COUNT_OF(names))]) ==
                MICA_OK);
    }
}

START_TEST(memory_stays_flat_while_text_and_lists_come_and_go_and_trim_returns_it)
{
    size_t before = micap_heap_bytes(), most = 0;
    random_source random = {11};
    mica_world *world = open_world(&heard);
    mica_value values[] = {{MICA_ID(Label), 0, NULL}, {MICA_ID(Marks), 0, NULL}};
    mica_entity *entities = malloc(CHURNED * sizeof *entities);
    REQUIRE(entities && mica_create_many(world, CHURNED, values, 2, entities) == MICA_OK);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        churn(world, entities, &random);
        if (round < ROUNDS / 4)
            most = memory_of(world) > most ? memory_of(world) : most;
        ck_assert_msg(round < ROUNDS / 4 || memory_of(world) <= most + most / 20, "round %u: %zu bytes, before %zu",
                      round, memory_of(world), most);
    }
    mica_destroy_many(world, entities, CHURNED);
    mica_world_trim(world);
    ck_assert_uint_le(micap_heap_bytes(), before);
    ck_assert_uint_lt(memory_of(world), most / 4 + before);
    free(entities);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(owned_memory, a_short_name_is_sixteen_bytes_and_eight_floats_are_forty_eight,
           memory_stays_flat_while_text_and_lists_come_and_go_and_trim_returns_it)
