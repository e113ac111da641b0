/* Worlds: side by side, cleared, counted, and fed by an allocator of the user's. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

START_TEST(worlds_live_side_by_side)
{
    reports heard_by_other;
    mica_world *world = open_world(&heard), *other = open_world(&heard_by_other);
    mica_entity here = mica_create(world, MICA_WITH(Number, {1})), there = mica_create(other, MICA_WITH(Number, {2}));
    mica_entity only_here = mica_create(world, MICA_WITH(Number, {3}));
    mica_name_set(world, here, mica_nil(), "one");
    ck_assert_msg(mica_get(world, here, Number)->value == 1 && mica_get(other, there, Number)->value == 2,
                  "each has its own");
    ck_assert_msg(!mica_is_alive(other, only_here), "what lives here does not live there");
    ck_assert_msg(mica_is_nil(mica_find(other, "one")), "nor do names");
    mica_defer(world);
    mica_add(other, there, Frozen);
    ck_assert_msg(mica_has(other, there, Frozen), "one records, the other does not");
    mica_flush(world);
    close_world(world, &heard);
    ck_assert_msg(mica_get(other, there, Number)->value == 2, "one goes, the other stays");
    close_world(other, &heard_by_other);
}
END_TEST

static void release_nothing(void *pointer, size_t bytes, size_t alignment, void *context)
{
    (void)pointer, (void)bytes, (void)alignment, (void)context;
}

START_TEST(malformed_defs_make_no_world)
{
    const struct {
        const char *what;
        uint32_t first, last;
        mica_dead_target dead_target;
        mica_allocator allocator;
        uint32_t handle_space;
    } cases[] = {
        {.what = "a first size that is no power of two", 1000, 1u << 21},
        {.what = "a last size that is no power of two", 1024, 3000000},
        {.what = "a first size above the last", 1u << 21, 1024},
        {.what = "a first size that is too small", 128, 1024},
        {.what = "a last size that is too large", 1024, 1u << 31},
        {.what = "a policy that there is not", 1024, 1024, .dead_target = MICA_DEAD_TARGET_ERROR + 1},
        {.what = "a handle space that there is not", 1024, 1024, .handle_space = 256},
        {.what = "half an allocator", 1024, 1024, .allocator = {.release = release_nothing}},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        reports said = {0};
        mica_world_def def = mica_world_def_default();
        def.report = reports_collect;
        def.report_context = &said;
        def.chunk_bytes_first = cases[i].first;
        def.chunk_bytes_last = cases[i].last;
        def.dead_target = cases[i].dead_target;
        def.allocator = cases[i].allocator;
        def.handle_space = cases[i].handle_space;
        ck_assert_msg(mica_world_create(&def) == NULL, "%s", cases[i].what);
        ck_assert_msg(said.count == 1, "%s is reported", cases[i].what);
    }
    mica_world_destroy(NULL);
}
END_TEST

START_TEST(chunks_of_any_size_work_or_are_refused)
{
    for (uint32_t bytes = 1; bytes <= 1u << 16; bytes *= 2) {
        reports said = {0};
        mica_world_def def = mica_world_def_default();
        def.report = reports_collect;
        def.report_context = &said;
        def.chunk_bytes_first = bytes;
        def.chunk_bytes_last = bytes;
        mica_world *world = mica_world_create(&def);
        ck_assert_msg(world != NULL || bytes < 1024, "chunks of %u bytes are sound", bytes);
        if (!world)
            continue;
        mica_entity entities[100];
        for (uint32_t i = 0; i < 100; ++i)
            entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Matrix), MICA_WITH(Health, {1, 1}));
        for (uint32_t i = 0; i < 100; i += 3)
            mica_destroy(world, entities[i]);
        for (uint32_t i = 0; i < 100; ++i) {
            const Number *number = mica_get(world, entities[i], Number);
            ck_assert_msg(i % 3 == 0 ? !number : number && number->value == i, "entity %u in chunks of %u", i, bytes);
        }
        ck_assert_msg(said.count == 0, "chunks of %u bytes: %s", bytes, said.list[0].text);
        expect_valid(world);
        mica_world_destroy(world);
    }
}
END_TEST

START_TEST(the_defaults_are_as_documented)
{
    mica_world_def def = mica_world_def_default();
    ck_assert_msg(def.chunk_bytes_first == 2048 && def.chunk_bytes_last == 2u << 20, "chunks from 2 KiB to 2 MiB");
    ck_assert_msg(def.dead_target == MICA_DEAD_TARGET_WARN && def.report == NULL, "warnings, on stderr");
    mica_world *world = mica_world_create(NULL);
    ck_assert_msg(world != NULL && mica_is_alive(world, mica_create(world)), "NULL means the defaults");
    mica_world *same = mica_world_create(&(mica_world_def){0});
    ck_assert_msg(same != NULL && mica_is_alive(same, mica_create(same)), "and so does zero");
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(same));
    mica_world_destroy(same);
    mica_world_destroy(world);
}
END_TEST

START_TEST(clear_keeps_everything_but_the_entities)
{
    mica_world *world = open_world(&heard);
    static mica_entity entities[1000];
    for (uint32_t i = 0; i < 1000; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Text));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_name_set(world, entities[5], mica_nil(), "five");
    ck_assert_msg(mica_world_clear(world) == MICA_OK, "the world is cleared");
    for (uint32_t i = 0; i < 1000; ++i)
        ck_assert_msg(!mica_is_alive(world, entities[i]), "number %u is dead", i);
    ck_assert_msg(mica_world_get_stats(world).entity_count == 0 && mica_query_count(query) == 0, "no entity is left");
    ck_assert_msg(texts_alive == 0 && mica_is_nil(mica_find(world, "five")), "nor what they owned");
    ck_assert_msg(mica_component_find(world, "Number") == MICA_ID(Number), "components stay");
    for (uint32_t i = 0; i < 1000; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Text));
    ck_assert_msg(mica_query_count(query) == 1000, "queries stay");
    for (uint32_t i = 0; i < 1000; ++i)
        ck_assert_msg(!mica_is_alive(world, entities[i]), "handle %u stays dead", i);
    close_world(world, &heard);
}
END_TEST

/* Two kinds, many chunks of each; kinds in the order of their first entity. */
static uint64_t hash_after_a_second_life(bool at_once)
{
    enum { COUNT = 9000 };
    static mica_entity entities[COUNT];
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT; ++i)
        entities[i] = i < COUNT / 2 ? mica_create(world, MICA_WITH(Number, {i}))
                                    : mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Frozen));
    if (at_once)
        ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    for (uint32_t i = COUNT / 2; !at_once && i-- > 0;)
        ck_assert(mica_destroy(world, entities[i]));
    for (uint32_t i = COUNT; !at_once && i-- > COUNT / 2;)
        ck_assert(mica_destroy(world, entities[i]));
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    for (uint32_t i = 0; i < COUNT + 100; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(clear_frees_handles_in_the_order_of_destroying_from_the_last_row_on)
{
    ck_assert_uint_eq(hash_after_a_second_life(true), hash_after_a_second_life(false));
}
END_TEST

START_TEST(clear_is_refused_while_recording)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_defer(world);
    ck_assert_msg(mica_world_clear(world) == MICA_ERROR_REFUSED, "not now");
    expect_report(&heard, MICA_ERROR_REFUSED, "");
    mica_flush(world);
    ck_assert_msg(mica_is_alive(world, entity), "nothing has happened");
    ck_assert_msg(mica_world_clear(world) == MICA_OK && !mica_is_alive(world, entity), "afterwards it works");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_last_error_is_taken_once)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(mica_world_take_error(world) == MICA_OK, "none at first");
    mica_destroy(world, mica_nil());
    ck_assert_msg(mica_world_take_error(world) == MICA_ERROR_DEAD, "the last one");
    ck_assert_msg(mica_world_take_error(world) == MICA_OK, "once");
    mica_entity entity = mica_create(world);
    mica_add_id(world, entity, 60000);
    mica_has(world, entity, Position);
    ck_assert_msg(mica_world_take_error(world) == MICA_ERROR_UNKNOWN, "a call that goes well does not hide it");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(stats_count_what_is_there)
{
    mica_world *world = open_world(&heard);
    mica_world_stats before = mica_world_get_stats(world);
    ck_assert_msg(before.entity_count == 0 && before.query_count == 0, "an empty world");
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Position));
    mica_create(world, MICA_WITH(Number, {1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_world_stats after = mica_world_get_stats(world);
    ck_assert_msg(after.entity_count == 2 && after.query_count == 1, "two entities, one query");
    ck_assert_msg(after.component_count == before.component_count + 2, "two components");
    ck_assert_msg(after.archetype_count == before.archetype_count + 2, "two archetypes: %u to %u",
                  before.archetype_count, after.archetype_count);
    ck_assert_msg(after.chunk_count == 2 && after.chunk_bytes > 0 && after.memory_bytes >= after.chunk_bytes,
                  "two chunks");
    mica_query_destroy(query);
    mica_destroy(world, entity);
    ck_assert_msg(mica_world_get_stats(world).entity_count == 1 && mica_world_get_stats(world).query_count == 0,
                  "one is left");
    close_world(world, &heard);
}
END_TEST

typedef struct counting { size_t bytes, calls; } counting;

static void *count_allocate(size_t bytes, size_t alignment, void *context)
{
    counting *count = context;
    ck_assert_msg(alignment && (alignment & (alignment - 1)) == 0, "an alignment is a power of two: %zu", alignment);
    size_t granule = alignment < 16 ? 16 : alignment; /* aligned_alloc wants the size to be a multiple of it */
    void *memory = aligned_alloc(granule, (bytes + granule - 1) / granule * granule);
    count->bytes += bytes;
    ++count->calls;
    return memory;
}

static void count_release(void *memory, size_t bytes, size_t alignment, void *context)
{
    counting *count = context;
    (void)alignment;
    count->bytes -= bytes;
    free(memory);
}

START_TEST(all_memory_comes_from_and_goes_back_to_the_allocator)
{
    counting count = {0};
    mica_world_def def = mica_world_def_default();
    def.allocator = (mica_allocator){count_allocate, count_release, &count};
    mica_world *world = open_world_with(&heard, def);
    for (uint32_t i = 0; i < 20000; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Matrix));
        if (i % 100 == 0) {
            char name[16];
            snprintf(name, sizeof name, "n%u", i);
            mica_name_set(world, entity, mica_nil(), name);
        }
    }
    mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_command_create(mica_commands_create(world), MICA_WITH(Number, {1}));
    ck_assert_msg(count.calls > 0, "the allocator is asked");
    ck_assert_msg(mica_world_get_stats(world).memory_bytes == count.bytes, "the statistics agree: %zu and %zu",
                  mica_world_get_stats(world).memory_bytes, count.bytes);
    close_world(world, &heard);
    ck_assert_msg(count.bytes == 0, "all goes back: %zu", count.bytes);
}
END_TEST

START_TEST(the_count_of_structure_grows_with_changes_that_move_rows_and_with_no_others)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_version structure = mica_world_structure(world);
    mica_set(world, entity, Number, {2});
    mica_write(world, entity, Number)->value = 3;
    mica_name_set(world, entity, mica_nil(), "name");
    mica_query_destroy(mica_query_create(world, MICA_QUERY(MICA_READ(Number))));
    mica_flush(world);
    ck_assert_msg(mica_world_structure(world) == structure, "values, names and queries are no structure");
    mica_set(world, entity, Position, {0});
    ck_assert_msg(mica_world_structure(world) > structure, "adding a component is");
    structure = mica_world_structure(world);
    mica_destroy(world, entity);
    ck_assert_msg(mica_world_structure(world) > structure, "so is destroying an entity");
    close_world(world, &heard);
}
END_TEST

/* The library and the headers have the same version, and a program asks for one that is checked if it is. */
START_TEST(the_name_of_create_tells_the_version_and_the_kind_of_build)
{
#define TEXT_OF(name) TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name
    char expected[100];
    snprintf(expected, sizeof expected, "mica_world_create_needs_%s_mica_%d_%d",
             STOPS_AT_MISTAKES ? "checked" : "unchecked", MICA_VERSION_MAJOR, MICA_VERSION_MINOR);
    ck_assert_str_eq(TEXT_OF(mica_private_world_create), expected);
}
END_TEST

static void look_elsewhere(const mica_event *event)
{
    ck_assert_ptr_nonnull(mica_get(event->world, event->entities[0], Number));
}

/* Also after functions of the program made other calls meanwhile. Parentheses keep a call from noting its own line. */
START_TEST(reports_of_checked_builds_have_the_line_of_the_call)
{
    mica_world *world = open_world(&heard);
    mica_entity dead = mica_create(world);
    mica_destroy(world, dead);
    int line = __LINE__ + 1;
    ck_assert(!mica_destroy(world, dead));
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "destroy");
    ck_assert_str_eq(report->file, STOPS_AT_MISTAKES ? __FILE__ : "");
    ck_assert_int_eq(report->line, STOPS_AT_MISTAKES ? line : 0);
    mica_hook_set(world, Number, MICA_EVENT_ADD, look_elsewhere, NULL);
    line = __LINE__ + 1;
    mica_create(world, MICA_WITH(Number, {1}));
    ck_assert(!(mica_destroy)(world, dead));
    ck_assert_int_eq(expect_report(&heard, MICA_ERROR_DEAD, "destroy")->line, STOPS_AT_MISTAKES ? line : 0);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(world, the_name_of_create_tells_the_version_and_the_kind_of_build,
           reports_of_checked_builds_have_the_line_of_the_call, worlds_live_side_by_side, malformed_defs_make_no_world,
           chunks_of_any_size_work_or_are_refused, the_defaults_are_as_documented,
           clear_keeps_everything_but_the_entities, clear_frees_handles_in_the_order_of_destroying_from_the_last_row_on,
           clear_is_refused_while_recording, the_last_error_is_taken_once, stats_count_what_is_there,
           all_memory_comes_from_and_goes_back_to_the_allocator,
           the_count_of_structure_grows_with_changes_that_move_rows_and_with_no_others)
