/* Modules in a program of the user: loaded, replaced while it runs, refused, unloaded. The modules are those of tests/cli/modules. */
#define _DEFAULT_SOURCE 1 /* chdir, setenv */

#include "../support/faulty_allocator.h"
#include "../support/level.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/flow.h"
#include "mica/library.h"
#include "mica/module_load.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THINGS = 20000, GAME_BYTES_MAX = 1 << 22 };

/* Sanitizers keep what was freed, and checked builds keep libraries. */
#ifdef MICA_CHECKED
enum { MAY_GROW = 1 };
#else
enum { MAY_GROW = UNDER_SANITIZER };
#endif

static const char *const game[] = {"game.so"};
static faulty_allocator faulty;
static reports heard;
static uint32_t setup_count;
static char game_bytes[GAME_BYTES_MAX];

/* Reads one of the modules that were built. */
static size_t read_module(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.so", getenv("MICA_MODULES"), name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file, "%s", path);
    size_t count = fread(game_bytes, 1, sizeof game_bytes, file);
    ck_assert_uint_lt(count, sizeof game_bytes);
    fclose(file);
    return count;
}

/* Writes game.so, as a compiler does: the same file gets other bytes. */
static void write_game(size_t byte_count)
{
    FILE *file = fopen("game.so", "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(game_bytes, 1, byte_count, file), byte_count);
    ck_assert_int_eq(fclose(file), 0);
}

static void build(const char *module)
{
    write_game(read_module(module));
}

static mica_result set_up(mica_world *world, void *context)
{
    (void)context;
    ++setup_count;
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 2;
    return mica_flow_configure(world, &flow);
}

static const mica_world_def world_def = {.report = reports_collect, .report_context = &heard};
static const mica_module_def module_def = {.world = &world_def, .setup = set_up};

static mica_modules *load(const char *module)
{
    heard = (reports){0};
    setup_count = 0;
    ck_assert_int_eq(chdir(scratch("")), 0);
    build(module);
    return mica_module_load(game, 1, &module_def);
}

/* With entities, so that there is something to keep. */
static mica_modules *load_with_things(const char *module)
{
    mica_modules *modules = load(module);
    ck_assert_msg(modules, "%s", heard.list[0].text);
    mica_world *world = mica_module_world(modules);
    mica_component number = mica_component_find(world, "Number");
    for (uint32_t i = 0; i < THINGS; ++i)
        mica_create_id(world, &(mica_value){number, sizeof i, &i}, 1);
    return modules;
}

static void step(const mica_modules *modules, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_int_eq(mica_step(mica_module_world(modules), 0.01f), MICA_OK);
}

static uint64_t hash(const mica_modules *modules)
{
    return mica_world_hash(mica_module_world(modules));
}

static void unload(mica_modules *modules)
{
    expect_valid(mica_module_world(modules));
    expect_no_report(&heard);
    mica_module_unload(modules);
    expect_no_report(&heard);
}

START_TEST(a_reload_swaps_systems_and_handlers_and_migrates_layouts)
{
    mica_modules *modules = load_with_things("watched_first");
    mica_entity first = {0};
    mica_world *world = mica_module_world(modules);
    first = mica_create_id(world, &(mica_value){mica_component_find(world, "Number"), 4, &(uint32_t){0}}, 1);
    step(modules, 5); /* five frames of 1, and a message of 1000 */
    build("watched_second");
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    ck_assert_uint_eq(setup_count, 2);
    step(modules, 5); /* five frames of 100, and a message of 100 000 */
    world = mica_module_world(modules);
    struct {
        double weight;
        uint64_t value;
    } number;
    const void *found = mica_get_id(world, first, mica_component_find(world, "Number"));
    ck_assert_ptr_nonnull(found);
    memcpy(&number, found, sizeof number);
    ck_assert_double_eq(number.weight, 2.5);
    ck_assert_uint_eq(number.value, 101505);
    unload(modules);
}
END_TEST

START_TEST(an_update_reloads_only_files_that_changed)
{
    mica_modules *modules = load_with_things("watched_first");
    step(modules, 1);
    ck_assert(!mica_module_update(modules));
    build("watched_second");
    ck_assert(mica_module_update(modules));
    ck_assert(!mica_module_update(modules));
    ck_assert_uint_eq(setup_count, 2);
    ck_assert_uint_eq(mica_world_get_stats(mica_module_world(modules)).entity_count, THINGS);
    unload(modules);
}
END_TEST

typedef struct broken {
    const char *module;
    mica_result result;
    const char *fragment;
} broken;

static const broken builds[] = {
    {"unresolved", MICA_ERROR_FILE, "game.so can't be loaded: undefined symbol: absent_everywhere"},
    {"reports", MICA_ERROR_DATA, "the module is not in the mood"},
    {"fails", MICA_ERROR_LIMIT, "mica_module_main of game.so failed: "},
    {"wrong_version", MICA_ERROR_DATA, "game.so was built for Mica 0.3, and this is 0.2: build it again"},
    {"wrong_checked", MICA_ERROR_DATA, "MICA_CHECKED, and this program with"},
    {"without_info", MICA_ERROR_DATA, "game.so has no mica_module_info: write its entry point with MICA_MODULE"},
    {"without_main", MICA_ERROR_DATA, "game.so has no mica_module_main: write its entry point with MICA_MODULE"},
    {"own_mica", MICA_ERROR_DATA, "game.so brings a Mica of its own"},
    {"no_rules", MICA_ERROR_INVALID, "mica_module_rules of game.so returned NULL and "},
    {"watched_populates", MICA_ERROR_REFUSED, "a module creates entities in its entry point"},
    {"renamed", MICA_ERROR_UNKNOWN, "the world does not know component Number"},
    {"idle", MICA_ERROR_UNKNOWN, "the world does not know component Number"},
};

START_TEST(a_build_that_is_broken_leaves_the_old_one_running)
{
    mica_modules *modules = load_with_things("watched_first");
    step(modules, 20);
    uint64_t expected = hash(modules);
    unload(modules);
    modules = load_with_things("watched_first");
    for (uint32_t i = 0; i < 20; ++i) {
        step(modules, 1);
        const broken *it = &builds[i % COUNT_OF(builds)];
        uint64_t before = hash(modules);
        mica_world *world = mica_module_world(modules);
        build(it->module);
        ck_assert_msg(!mica_module_update(modules), "%s", it->module);
        expect_report(&heard, it->result, it->fragment);
        expect_no_report(&heard);
        ck_assert_uint_eq(hash(modules), before);
        ck_assert_ptr_eq(mica_module_world(modules), world);
    }
    ck_assert_uint_eq(hash(modules), expected);
    build("watched_first");
    ck_assert(mica_module_update(modules)); /* repaired */
    unload(modules);
}
END_TEST

START_TEST(what_can_not_be_loaded_at_the_start_is_reported)
{
    for (uint32_t i = 0; i < COUNT_OF(builds); ++i) {
        mica_modules *modules = load(builds[i].module);
        bool is_fine = builds[i].result == MICA_ERROR_UNKNOWN || builds[i].result == MICA_ERROR_REFUSED;
        ck_assert_msg((modules != NULL) == is_fine, "%s", builds[i].module);
        if (!is_fine)
            expect_report(&heard, builds[i].result, builds[i].fragment);
        expect_no_report(&heard);
        mica_module_unload(modules);
    }
    static const char *const missing[] = {"missing.so"}, *const folder[] = {"/"};
    ck_assert_ptr_null(mica_module_load(missing, 1, &module_def));
    expect_report(&heard, MICA_ERROR_FILE, "missing.so can't be loaded: No such file or directory");
    ck_assert_ptr_null(mica_module_load(folder, 1, &module_def));
    expect_report(&heard, MICA_ERROR_FILE, "/ can't be loaded: Is a directory");
    ck_assert_int_eq(setenv("TMPDIR", "/nowhere", 1), 0);
    ck_assert_ptr_null(mica_module_load(game, 1, &module_def));
    expect_report(&heard, MICA_ERROR_FILE, "game.so can't be loaded: a copy can't be written: /nowhere/mica_module_");
    ck_assert_int_eq(unsetenv("TMPDIR"), 0);
    expect_no_report(&heard);
}
END_TEST

START_TEST(a_file_that_is_not_complete_yet_is_refused)
{
    mica_modules *modules = load_with_things("watched_first");
    size_t byte_count = read_module("watched_second");
    uint64_t before = hash(modules);
    for (size_t i = 0; i < 48; ++i) {
        write_game(i < 32 ? byte_count * i / 32 : byte_count - 1 - (i - 32) * 8);
        ck_assert_int_eq(mica_module_reload(modules), MICA_ERROR_FILE);
        expect_report(&heard, MICA_ERROR_FILE, "the file is not a shared library, or not complete");
    }
    memset(game_bytes, 'x', byte_count);
    write_game(byte_count);
    ck_assert_int_eq(mica_module_reload(modules), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "the file is not a shared library, or not complete");
    ck_assert_uint_eq(hash(modules), before);
    build("watched_second");
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    unload(modules);
}
END_TEST

typedef struct usage {
    uint32_t mapping_count; /* of modules */
    unsigned long long kib; /* in memory */
} usage;

static usage measure(void)
{
    usage found = {0};
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r"), *status = fopen("/proc/self/status", "r");
    ck_assert(maps && status);
    while (fgets(line, sizeof line, maps))
        found.mapping_count += strstr(line, "mica_module_") != NULL;
    while (fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %llu", &found.kib);
    fclose(maps);
    fclose(status);
    return found;
}

START_TEST(a_thousand_reloads_under_load_keep_the_hash_and_the_memory)
{
    mica_modules *modules = load_with_things("watched_first");
    step(modules, 1000);
    uint64_t expected = hash(modules);
    unload(modules);
    modules = load_with_things("watched_first");
    usage early = {0};
    for (uint32_t i = 0; i < 1000; ++i) {
        step(modules, 1);
        ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
        if (i == 100)
            early = measure();
    }
    usage late = measure();
    ck_assert_uint_eq(hash(modules), expected);
    ck_assert_uint_gt(early.mapping_count, 0);
    ck_assert_msg(MAY_GROW || late.mapping_count == early.mapping_count, "%u mappings, then %u", early.mapping_count,
                  late.mapping_count);
    ck_assert_msg(MAY_GROW || late.kib < early.kib + early.kib / 4, "%llu KiB, then %llu", early.kib, late.kib);
    unload(modules);
    ck_assert(MAY_GROW || measure().mapping_count == 0);
}
END_TEST

START_TEST(functions_of_components_stay_where_the_registry_finds_them)
{
    mica_modules *modules = load_with_things("watched_owning");
    for (uint32_t i = 0; i < 20; ++i) {
        mica_world *world = mica_module_world(modules);
        mica_entity entity = mica_create(world);
        ck_assert_ptr_nonnull(mica_add_id(world, entity, mica_component_find(world, "Owner"))); /* constructs it */
        mica_destroy(world, entity);
        step(modules, 1);
        ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    }
    unload(modules);
}
END_TEST

static mica_modules *running;
static mica_result inside_result;

static void reload_inside(const mica_frame *frame)
{
    (void)frame;
    inside_result = mica_module_reload(running);
    mica_module_unload(running);
}

static void reload_in_exclusive(const mica_frame *frame)
{
    (void)frame;
    inside_result = mica_module_reload(running);
    ck_assert_int_eq(mica_module_start_run(running), MICA_ERROR_REFUSED);
}

static mica_result set_up_inside(mica_world *world, void *context)
{
    (void)context;
    mica_system_add(world, MICA_SYSTEM_ONCE(reload_inside));
    return running ? mica_module_reload(running) : MICA_OK;
}

static mica_result set_up_exclusive(mica_world *world, void *context)
{
    (void)context;
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(reload_in_exclusive, (.exclusive = true)));
    return MICA_OK;
}

START_TEST(reloads_inside_frames_systems_and_entry_points_are_refused)
{
    unload(load("watched_first"));
    mica_modules *modules = mica_module_load(game, 1, &(mica_module_def){.world = &world_def, .setup = set_up_inside});
    running = modules;
    step(modules, 1);
    ck_assert_int_eq(inside_result, MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_reload: refused inside a frame");
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_unload: refused inside a frame");
    ck_assert_int_eq(mica_module_reload(modules), MICA_ERROR_REFUSED); /* set_up_inside reloads */
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_reload: refused inside a frame, a hook or an entry point");
    expect_report(&heard, MICA_ERROR_REFUSED, "modules: setup failed: ");
    unload(modules);
    modules = mica_module_load(game, 1, &(mica_module_def){.world = &world_def, .setup = set_up_exclusive});
    running = modules;
    step(modules, 1);
    ck_assert_int_eq(inside_result, MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_reload: refused inside a frame");
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_start_run: refused inside a frame");
    mica_world *world = mica_module_world(modules);
    mica_defer(world);
    mica_create(world);
    ck_assert_int_eq(mica_module_reload(modules), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "or while changes are recorded");
    mica_flush(world);
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(mica_module_world(modules)).entity_count, 1);
    unload(modules);
}
END_TEST

START_TEST(a_component_that_is_dropped_is_an_error_or_skipped)
{
    unload(load("watched_first"));
    mica_module_def def = module_def;
    def.skip_unknown = true;
    mica_modules *modules = mica_module_load(game, 1, &def);
    mica_world *world = mica_module_world(modules);
    mica_entity entity = mica_create(world);
    mica_add_id(world, entity, mica_component_find(world, "Number"));
    build("renamed");
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    ck_assert(mica_is_alive(mica_module_world(modules), entity));
    unload(modules);
}
END_TEST

START_TEST(modules_in_place_are_not_reloaded)
{
    unload(load("watched_first"));
    mica_module_def def = module_def;
    def.in_place = true;
    mica_modules *modules = mica_module_load(game, 1, &def);
    ck_assert_ptr_nonnull(modules);
    step(modules, 2);
    ck_assert_int_eq(mica_module_reload(modules), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "mica_module_reload: the modules were loaded in place");
    unload(modules);
    static const char *const missing[] = {"missing.so"};
    ck_assert_ptr_null(mica_module_load(missing, 1, &def));
    expect_report(&heard, MICA_ERROR_FILE, "missing.so can't be loaded: ./missing.so: ");
}
END_TEST

START_TEST(rules_of_modules_are_used_by_reloads_and_by_the_program)
{
    mica_modules *modules = load("idle");
    uint32_t rule_count = 7;
    ck_assert_ptr_null(mica_module_get_rules(modules, &rule_count));
    ck_assert_uint_eq(rule_count, 0);
    unload(modules);
    unload(load("rules"));
    mica_library *library = mica_library_create(NULL);
    mica_module_def def = module_def;
    def.library = library;
    modules = mica_module_load(game, 1, &def);
    ck_assert_ptr_nonnull(mica_module_get_rules(modules, &rule_count));
    ck_assert_uint_eq(rule_count, 1);
    mica_world *world = mica_module_world(modules);
    mica_component number = mica_component_find(world, "Number");
    mica_entity entity = mica_create_id(world, &(mica_value){number, 4, &(uint32_t){5}}, 1);
    mica_create_id(world, &(mica_value){number, 4, &(uint32_t){5}}, 1);
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK); /* the rule adds one, and refuses a single entity */
    world = mica_module_world(modules);
    ck_assert_uint_eq(*(const uint32_t *)mica_get_id(world, entity, mica_component_find(world, "Number")), 6);
    mica_destroy(world, entity);
    ck_assert_int_ne(mica_module_reload(modules), MICA_OK);
    expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component Number refused");
    unload(modules);
    mica_library_destroy(library);
}
END_TEST

START_TEST(a_new_run_starts_with_what_modules_create)
{
    mica_modules *modules = load("watched_starts");
    ck_assert_ptr_nonnull(modules);
    mica_world *world = mica_module_world(modules);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    ck_assert_int_eq(mica_module_start_run(modules), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    expect_no_report(&heard);
    ck_assert_int_eq(mica_module_start_run(modules), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "mica_module_start of game.so failed: ");
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(mica_module_world(modules)).entity_count, 1);
    unload(modules);
}
END_TEST

START_TEST(what_a_module_exports_is_found_by_its_name)
{
    mica_modules *modules = load("watched_starts");
    ck_assert_ptr_nonnull(modules);
    ck_assert_str_eq(mica_module_find(modules, 0, "note_of_module"), "what a program looks up");
    ck_assert_ptr_nonnull(mica_module_find(modules, 0, "mica_module_start"));
    ck_assert_ptr_null(mica_module_find(modules, 0, "mica_module_rules"));
    ck_assert_ptr_null(mica_module_find(modules, 1, "note_of_module"));
    expect_no_report(&heard);
    unload(modules);
}
END_TEST

START_TEST(several_modules_share_a_world)
{
    unload(load("watched_first"));
    char idle[1024], counts[1024];
    snprintf(idle, sizeof idle, "%s/idle.so", getenv("MICA_MODULES"));
    snprintf(counts, sizeof counts, "%s/renamed.so", getenv("MICA_MODULES"));
    const char *const paths[] = {"game.so", idle, counts};
    mica_modules *modules = mica_module_load(paths, 3, &module_def);
    ck_assert_msg(modules, "%s", heard.list[0].text);
    mica_world *world = mica_module_world(modules);
    ck_assert(mica_component_find(world, "Number") && mica_component_find(world, "Amount"));
    build("watched_second");
    ck_assert(mica_module_update(modules));
    step(modules, 3);
    unload(modules);
    modules = mica_module_load(NULL, 0, NULL); /* a world without modules */
    ck_assert_ptr_nonnull(modules);
    ck_assert_int_eq(mica_module_reload(modules), MICA_OK);
    mica_module_unload(modules);
}
END_TEST

START_TEST(invalid_arguments_have_no_effect)
{
    const mica_world_def half = {.allocator = {.allocate = faulty_allocator_interface(&faulty).allocate}};
    ck_assert_ptr_null(mica_module_load(NULL, 1, NULL));
    ck_assert_ptr_null(mica_module_load((const char *[]){NULL}, 1, NULL));
    ck_assert_ptr_null(mica_module_load(game, 1, &(mica_module_def){.world = &half}));
    const mica_world_def odd = {.chunk_bytes_first = 3, .report = reports_collect, .report_context = &heard};
    ck_assert_ptr_null(mica_module_load(game, 1, &(mica_module_def){.world = &odd}));
    expect_report(&heard, MICA_ERROR_INVALID, "world: invalid def: chunk sizes are");
    expect_report(&heard, MICA_ERROR_MEMORY, "modules: no world: out of memory, or its def is invalid");
    ck_assert_ptr_null(mica_module_world(NULL));
    ck_assert_ptr_null(mica_module_get_rules(NULL, &(uint32_t){0}));
    ck_assert_int_eq(mica_module_reload(NULL), MICA_ERROR_INVALID);
    ck_assert(!mica_module_update(NULL));
    mica_module_unload(NULL);
}
END_TEST

START_TEST(memory_that_runs_out_leaves_the_old_modules_or_none)
{
    unload(load("rules"));
    faulty_allocator_init(&faulty);
    const mica_world_def def = {
        .allocator = faulty_allocator_interface(&faulty), .report = reports_collect, .report_context = &heard};
    mica_library *library = mica_library_create(NULL);
    const mica_module_def faulty_def = {.world = &def, .library = library};
    mica_modules *modules = NULL;
    uint64_t k = 1;
    for (; !modules; ++k) {
        faulty_allocator_fail_at(&faulty, k, k % 2);
        modules = mica_module_load(game, 1, &faulty_def);
        REQUIRE_SAYING(modules || faulty.failures, "allocation %llu", (unsigned long long)k);
        REQUIRE(modules || faulty.live_blocks == 0);
    }
    ck_assert_uint_gt(k, 10);
    faulty_allocator_fail_at(&faulty, 0, false);
    mica_world *world = mica_module_world(modules);
    mica_component number = mica_component_find(world, "Number");
    for (uint32_t i = 0; i < 10; ++i)
        mica_create_id(world, &(mica_value){number, sizeof i, &i}, 1);
    uint64_t before = hash(modules);
    forget_reports(&heard);
    mica_result result = MICA_ERROR_MEMORY;
    for (k = 1; result != MICA_OK; ++k) {
        size_t blocks = faulty.live_blocks;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        result = mica_module_reload(modules);
        faulty_allocator_fail_at(&faulty, 0, false);
        mica_world_trim(mica_module_world(modules)); /* of queries that saved it */
        REQUIRE_SAYING(result == MICA_OK || hash(modules) == before, "allocation %llu", (unsigned long long)k);
        REQUIRE(result == MICA_OK || (faulty.live_blocks == blocks && forget_reports(&heard) > 0));
    }
    ck_assert_uint_gt(k, 50);
    expect_valid(mica_module_world(modules));
    mica_module_unload(modules);
    mica_library_destroy(library);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(module_load, a_reload_swaps_systems_and_handlers_and_migrates_layouts,
           an_update_reloads_only_files_that_changed, a_build_that_is_broken_leaves_the_old_one_running,
           what_can_not_be_loaded_at_the_start_is_reported, a_file_that_is_not_complete_yet_is_refused,
           a_thousand_reloads_under_load_keep_the_hash_and_the_memory,
           functions_of_components_stay_where_the_registry_finds_them,
           reloads_inside_frames_systems_and_entry_points_are_refused,
           a_component_that_is_dropped_is_an_error_or_skipped, modules_in_place_are_not_reloaded,
           rules_of_modules_are_used_by_reloads_and_by_the_program, a_new_run_starts_with_what_modules_create,
           what_a_module_exports_is_found_by_its_name, several_modules_share_a_world, invalid_arguments_have_no_effect,
           memory_that_runs_out_leaves_the_old_modules_or_none)
