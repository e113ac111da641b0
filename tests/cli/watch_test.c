/* mica run --watch: modules that are replaced while they run. */
#define _DEFAULT_SOURCE 1 /* popen */

#include "tool.h"

#include <sys/resource.h>

enum { THINGS = 2000 };

static void shell(const char *text)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && %s", scratch(""), text);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* game.so is the module that runs, next_N.so what it becomes after tick N. */
static void prepare(const char *module)
{
    mica_world *world = mica_world_create(NULL);
    for (int i = 0; i < THINGS; ++i)
        mica_create(world, MICA_WITH(Number, {0}));
    ck_assert_int_eq(mica_save(world, scratch("level.mica"), NULL), MICA_OK);
    mica_world_destroy(world);
    char command[1024];
    snprintf(command, sizeof command, "rm -f *.so && ln -sfn '%s' m && cp m/%s.so game.so", getenv("MICA_MODULES"),
             module);
    shell(command);
}

static const char *found_hash(void)
{
    static char hash[17];
    const char *found = strstr(output, "hash ");
    ck_assert_ptr_nonnull(found);
    snprintf(hash, sizeof hash, "%s", found + 5);
    return hash;
}

START_TEST(a_changed_module_continues_with_new_systems_handlers_and_layout)
{
    prepare("watched_first");
    shell("cp m/watched_second.so next_4.so");
    ck_assert_int_eq(run("run --watch -m game.so --dt 0.001 -n 10 --save end.mica level.mica"), 0);
    ck_assert_msg(strstr(output, "reloaded 1 times\n"), "%s", output);
    /* Five frames of 1 and a message of 1000, then five frames of 100 and a message of 100 000. */
    ck_assert_int_eq(run("dump end.mica"), 0);
    ck_assert_msg(strstr(output, "\"weight\": 2.5"), "%.2000s", output);
    ck_assert_msg(strstr(output, "\"value\": 101505"), "%.2000s", output);
}
END_TEST

START_TEST(a_module_that_can_not_be_loaded_leaves_the_old_one_running)
{
    prepare("watched_first");
    ck_assert_int_eq(run("run -m game.so --dt 0.001 -n 12 level.mica"), 0);
    char expected[17], arguments[256];
    snprintf(expected, sizeof expected, "%s", found_hash());
    shell("cp m/unresolved.so next_1.so && cp m/reports.so next_3.so && cp m/fails.so next_5.so && echo text > "
          "next_7.so && "
          "cp m/wrong_version.so next_8.so && cp m/without_info.so next_9.so && cp m/watched_populates.so next_10.so");
    snprintf(arguments, sizeof arguments, "run --watch -m game.so --dt 0.001 -n 12 -x %s level.mica", expected);
    int status = run(arguments);
    ck_assert_msg(status == 0, "%s", output);
    static const char *const fragments[] = {
        "undefined symbol: absent_everywhere",
        "frame 2: the modules were not reloaded, the old ones continue",
        "the module is not in the mood",
        "frame 4: the modules were not reloaded",
        "mica_module_main of game.so failed: ",
        "frame 6: the modules were not reloaded",
        "frame 8: the modules were not reloaded",
        "was built for Mica 0.3",
        "game.so has no mica_module_info",
        "frame 10: the modules were not reloaded",
        "a module creates entities in its entry point",
        "frame 11: the modules were not reloaded",
        "reloaded 0 times\n",
    };
    for (uint32_t i = 0; i < COUNT_OF(fragments); ++i)
        ck_assert_msg(strstr(output, fragments[i]), "expected \"%s\", found\n%.2000s", fragments[i], output);
}
END_TEST

START_TEST(a_module_is_repaired_while_the_program_runs)
{
    prepare("watched_first");
    shell("echo text > next_2.so && cp m/watched_first.so next_5.so");
    ck_assert_int_eq(run("run --watch -m game.so --dt 0.001 -n 9 level.mica"), 0);
    ck_assert_msg(strstr(output, "reloaded 1 times\n"), "%s", output);
}
END_TEST

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss;
}

/* Whether the memory of the tool may grow: sanitizers keep what was freed and find leaks by themselves, and checked builds keep libraries
 * for the file names in them. */
static bool may_grow(void)
{
#ifdef MICA_CHECKED
    return true;
#else
    return system("nm \"$MICA_TOOL\" 2>/dev/null | grep -q '__[at]san_init'") == 0;
#endif
}

START_TEST(a_thousand_reloads_use_constant_memory_and_the_hash_continues)
{
    prepare("watched_touches");
    ck_assert_int_eq(run("run --watch -m game.so -w 2 -t 0.00001 -n 50 level.mica"), 0);
    ck_assert_msg(strstr(output, "reloaded 50 times\n"), "%s", output);
    long few = peak_kib();
    ck_assert_int_eq(run("run -m game.so -w 2 -t 0.00001 -n 1000 level.mica"), 0);
    char expected[17], arguments[256];
    snprintf(expected, sizeof expected, "%s", found_hash());
    snprintf(arguments, sizeof arguments, "run --watch -m game.so -w 2 -t 0.00001 -n 1000 -x %s level.mica", expected);
    int status = run(arguments);
    ck_assert_msg(status == 0, "%s", output);
    ck_assert_msg(strstr(output, "reloaded 1000 times\n"), "%s", output);
    long many = peak_kib();
    ck_assert_msg(many < few + few / 4 || may_grow(), "%ld KiB after 50 reloads, %ld after 1000", few, many);
}
END_TEST

START_TEST(functions_of_components_stay_where_the_registry_finds_them)
{
    prepare("watched_owning");
    ck_assert_int_eq(run("run -m game.so -t 0.00001 -n 20 level.mica"), 0);
    char expected[17], arguments[256];
    snprintf(expected, sizeof expected, "%s", found_hash());
    snprintf(arguments, sizeof arguments, "run --watch -m game.so -t 0.00001 -n 20 -x %s level.mica", expected);
    ck_assert_msg(run(arguments) == 0, "%s", output);
    ck_assert_msg(strstr(output, "reloaded 20 times\n"), "%s", output);
}
END_TEST

START_TEST(a_recording_can_not_contain_reloads)
{
    static const step steps[] = {
        {"run --watch --record x.rec -m game.so level.mica", 2, "a recording can't contain reloads: use --watch or --record"},
        {"replay --watch x.rec level.mica", 2, "there is no option --watch"},
    };
    prepare("watched_first");
    expect_steps(steps, COUNT_OF(steps));
}
END_TEST

TEST_SUITE(watch, a_changed_module_continues_with_new_systems_handlers_and_layout,
           a_module_that_can_not_be_loaded_leaves_the_old_one_running, a_module_is_repaired_while_the_program_runs,
           a_thousand_reloads_use_constant_memory_and_the_hash_continues,
           functions_of_components_stay_where_the_registry_finds_them, a_recording_can_not_contain_reloads)
