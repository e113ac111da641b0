/* What text and lists cost in memory: of a million entities, and over millions of changes. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/test_length.h"

#include "base/block_heap.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Sixteen { uint64_t values[2]; } Sixteen;
MICA_COMPONENT(Sixteen, values)
typedef struct Eight { uint64_t value; } Eight;
MICA_COMPONENT(Eight, value)
typedef struct Label { mica_text name; } Label;
MICA_COMPONENT(Label, name)
typedef struct Marks { mica_list values; } Marks;
MICA_COMPONENT(Marks, (values, float))
typedef struct Alias { mica_text name; } Alias;
MICA_POOL(Alias, name)

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

/* 0 where the system does not tell. */
static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0, resident = 0;
    if (file && fscanf(file, "%zu %zu", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Of entities that are made one at a time, with a position and maybe another component. */
static void fill_world(mica_world *world, uint32_t count, mica_component component, void (*fill)(void *value))
{
    Position position = {1, 2, 3};
    mica_value values[] = {{MICA_ID(Position), sizeof position, &position}, {component, 0, NULL}};
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity = mica_create_id(world, values, component ? 2 : 1);
        if (component)
            fill(mica_write_id(world, entity, component));
    }
    mica_world_trim(world);
}

/* What a million entities add to a process, as the system counts it. In a process of its own, which has its code in memory already. */
static size_t grown_bytes(mica_component component, void (*fill)(void *value))
{
    int channel[2];
    REQUIRE(pipe(channel) == 0);
    pid_t child = fork();
    if (child == 0) {
        mica_world *world = mica_world_create(NULL);
        fill_world(world, 1000, component, fill);
        size_t before = resident_bytes();
        fill_world(world, ENTITIES, component, fill);
        size_t grown = resident_bytes() - before;
        _exit(write(channel[1], &grown, sizeof grown) != sizeof grown);
    }
    close(channel[1]);
    size_t grown = 0;
    REQUIRE(child > 0 && read(channel[0], &grown, sizeof grown) == sizeof grown);
    close(channel[0]);
    REQUIRE(waitpid(child, NULL, 0) == child);
    return grown;
}

/* Besides the values: a stamp for each slice, and 128 KiB for headers of chunks and spans, and for pages that are not full. */
static void expect_at_most(size_t with, size_t without, size_t bytes)
{
    size_t fixed = ENTITIES / MICA_SLICE_ROWS * sizeof(mica_version) + (128 << 10);
    ck_assert_msg(with <= without + bytes * ENTITIES + fixed, "%.2f bytes for each entity, not %zu",
                  ((double)with - (double)without) / ENTITIES, bytes);
}

START_TEST(the_process_grows_by_no_more_than_that_after_a_trim)
{
    if (UNDER_SANITIZER || STOPS_AT_MISTAKES) /* checked builds map memory twice */
        return;
    size_t without = grown_bytes(0, NULL);
    expect_at_most(grown_bytes(MICA_ID(Label), fill_label), without, 16);
    expect_at_most(grown_bytes(MICA_ID(Marks), fill_marks), without, 48);
}
END_TEST

enum { KEPT = 200000, KEPT_BYTES = 64 }; /* the pool is huge pages of its own */

static const char *kept_name(char text[KEPT_BYTES], uint32_t number)
{
    snprintf(text, KEPT_BYTES, number % 3 ? "%u" : "a name that is longer than fits in place, %u", number);
    return text;
}

static void expect_kept(mica_world *world, const mica_entity *entities, uint32_t count)
{
    char name[KEPT_BYTES];
    for (uint32_t i = 0; i < count; ++i) {
        const Label *label = mica_get(world, entities[i], Label);
        const Alias *alias = mica_get(world, entities[i], Alias);
        REQUIRE(label && mica_text_is(&label->name, kept_name(name, i)));
        REQUIRE(i % 2 ? !alias : mica_text_is(&alias->name, name));
    }
}

static void create_kept(mica_world *world, mica_entity *entities, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; ++i) {
        char name[KEPT_BYTES];
        mica_text text = mica_text_of(kept_name(name, i));
        entities[i] = i % 2 ? mica_create(world, MICA_WITH(Label, {text}))
                            : mica_create(world, MICA_WITH(Label, {text}), MICA_WITH(Alias, {text}));
    }
}

START_TEST(a_trim_takes_no_memory_that_is_in_use)
{
    static mica_entity entities[KEPT];
    mica_world *world = open_world(&heard);
    create_kept(world, entities, 0, KEPT);
    mica_destroy_many(world, entities + KEPT / 2, KEPT / 2);
    mica_world_trim(world);
    expect_kept(world, entities, KEPT / 2);
    expect_valid(world);
    create_kept(world, entities, KEPT / 2, KEPT);
    expect_kept(world, entities, KEPT);
    uint64_t hash = mica_world_hash(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_destroy_many(world, entities + KEPT / 3, KEPT / 3);
    mica_world_trim(world);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    expect_kept(world, entities, KEPT);
    close_world(world, &heard);
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
           the_process_grows_by_no_more_than_that_after_a_trim, a_trim_takes_no_memory_that_is_in_use,
           memory_stays_flat_while_text_and_lists_come_and_go_and_trim_returns_it)
