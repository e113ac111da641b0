/* mica run: levels, modules that are right and modules that are wrong. */
#define _DEFAULT_SOURCE 1 /* popen */

#include "tool.h"

enum { THINGS = 5000 };

#ifdef WITH_CLUSTER
#    define CLUSTER_TESTS , a_cluster_has_the_same_hash_on_any_number_of_ranks_and_continues_a_save
#else
#    define CLUSTER_TESTS
#endif

static void save_level(const char *name, bool with_stranger)
{
    mica_world *world = mica_world_create(NULL);
    for (int i = 0; i < THINGS; ++i)
        mica_create(world, MICA_WITH(Number, {(uint32_t)i}));
    if (with_stranger)
        mica_create(world, MICA_WITH(Number, {7}), MICA_WITH(Frozen));
    ck_assert_int_eq(mica_save(world, scratch(name), NULL), MICA_OK);
    mica_world_destroy(world);
}

/* Modules are found in m/. */
static void prepare(void)
{
    save_level("level.mica", false);
    save_level("strange.mica", true);
    char command[512];
    snprintf(command, sizeof command, "ln -sfn '%s' '%s'", getenv("MICA_MODULES"), scratch("m"));
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(mica_write_file(scratch("text.so"), "text", 4, NULL), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("text.mica"), "text", 4, NULL), MICA_OK);
}

static const step steps[] = {
    {"help run", 0, "--module LIBRARY"},
    {"run", 2, "mica: run: expected a file; try mica help run"},
    {"run --output x level.mica", 2, "there is no option --output"},
    {"run --frames many level.mica", 2, "run: the number of frames is 0 to 1000000000, not \"many\""},
    {"run --frames=-1 level.mica", 2, "run: the number of frames is 0 to 1000000000, not \"-1\""},
    {"run --workers 0 level.mica", 2, "run: the number of workers is 1 to 256, not \"0\""},
    {"run --workers 2x level.mica", 2, "run: the number of workers is 1 to 256, not \"2x\""},
    {"run --dt 0 level.mica", 2, "run: a frame lasts more than 0 and up to 3600 seconds, not \"0\""},
    {"run --dt nan level.mica", 2, "not \"nan\""},
    {"run --expect 12 level.mica", 2, "run: a hash has 16 digits from 0 to f, not \"12\""},
    {"run missing.mica", 2, "mica: missing.mica: No such file or directory"},
    {"schema", 2, "mica: schema: expected a file or a module; try mica help schema"},
    {"schema -m missing.so", 2, "missing.so can't be loaded"},
    {"schema level.mica", 0, "{\"name\": \"value\", \"kind\": \"u32\""},
    {"schema -m m/counts.so", 0, "\"unit\": \"apples\", \"minimum\": 0, \"maximum\": 100000000, \"note\": \"grows\""},
    {"schema -m m/counts.so level.mica", 0, "\"unit\": \"apples\""},
    {"schema -m m/counts.so -m m/fails.so", 2, "mica_module_main of m/fails.so failed"},
    {"run text.mica", 2, "mica: text.mica: at byte 4: the file has 4 bytes"},
    {"run text.so", 2, "mica: run: text.so can't be loaded: ./text.so: "},
    {"dump level.mica -o flat.json", 0, ""},
    {"compile -q --schema level.mica flat.json -o flat.mica", 0, ""},
    {"run m/counts.so -n 2", 0, "2 frames in"},
    {"run m/counts.so level.mica -n 2", 0, "5000 entities"},
    {"run m/counts.so --seed 0", 2, "run: a seed is 1 to 9223372036854775807, not \"0\""},
    {"run m/counts.so --seed 99999999999999999999", 2, "run: a seed is 1 to"},
    {"run m/watched_starts.so -n 3", 0, "1 entities"},
    {"run m/watched_starts.so -n 3 -q --save started.mica", 0, ""},
    {"run m/watched_starts.so -n 3 started.mica", 0, "1 entities"},
    {"run m/watched_starts.so -n 3 level.mica", 0, "5000 entities"},
    {"run m/watched_starts.so -n 3 flat.mica", 2, "mica: run: mica_module_start of m/watched_starts.so failed: "},
    {"run -m missing.so level.mica", 2, "mica: run: missing.so can't be loaded: ./missing.so: cannot open"},
    {"run -m text.so level.mica", 2, "mica: run: text.so can't be loaded: ./text.so: "},
    {"run -m m/unresolved.so level.mica", 2, "m/unresolved.so: undefined symbol: absent_everywhere"},
    {"run -m m/without_info.so level.mica", 2, "m/without_info.so has no mica_module_info: write its entry point with"},
    {"run -m m/without_main.so level.mica", 2, "m/without_main.so has no mica_module_main: write its entry point with"},
    {"run -m m/wrong_version.so level.mica", 2, "m/wrong_version.so was built for Mica 0.3, and this is 0.2: build it"},
    {"run -m m/wrong_checked.so level.mica", 2, "MICA_CHECKED, and this program with"},
    {"run -m m/own_mica.so level.mica", 2, "m/own_mica.so brings a Mica of its own: link it with mica::module"},
    {"run -m m/fails.so level.mica", 2, "mica: run: mica_module_main of m/fails.so failed: "},
    {"run -m m/reports.so level.mica", 2, "mica: run: the module is not in the mood"},
    {"run -m m/counts.so -m m/counts.so level.mica", 2, "mica: run: "},
    {"run level.mica", 2, "the world does not know component Number"},
    {"run level.mica", 2, "mica: run: level.mica can't be spawned: "},
    {"run -m m/counts.so strange.mica", 2, "the world does not know component Frozen"},
    {"run -m m/counts.so --skip-unknown strange.mica", 0, "5001 entities"},
    {"run --skip-unknown level.mica", 0, "60 frames in"},
    {"run -m m/counts.so -n 1 -q --save counted.mica level.mica", 0, ""},
    {"run -m m/rules.so -n 0 -q --save ruled.mica level.mica", 0, ""},
    {"diff counted.mica ruled.mica", 0, ""},
    {"run -m m/rules.so -u strange.mica", 2, "the spawn function of component Number refused"},
    {"run -m m/counts.so -n 0 level.mica", 0, "0 frames in"},
    {"run -m m/counts.so -n 1500 -q level.mica", 0, ""},
    {"run -m m/counts.so level.mica", 0, "\ncount "},
    {"run -m m/counts.so level.mica level.mica", 0, "10000 entities"},
    {"run -m m/counts.so --json -n 3 level.mica", 0, "{\"name\": \"count\", \"runs\": 3, \"time_ns\": "},
    {"run -m m/counts.so --json -n 3 level.mica", 0, "\"entities\": 5000,"},
    {"run -m m/counts.so -x 0123456789abcdef --save x.mica level.mica", 1, ", not 0123456789abcdef\n"},
    {"run -m m/complains.so --save x.mica level.mica", 1, "run: frame 3: the third frame is not to my taste"},
    {"run -m m/complains.so --save x.mica level.mica", 1, "mica: run: and 2 more\n"},
    {"info x.mica", 2, "x.mica: No such file or directory"},
    {"run -m m/complains.so -n 2 level.mica", 0, "2 frames in"},
    {"run -m m/counts.so -n 1 --save /nowhere/x.mica level.mica", 2, "/nowhere/x.mica: No such file or directory"},
    {"run -m m/counts.so -n 10 --save end.mica level.mica", 0, "saved end.mica"},
    {"diff level.mica end.mica", 1, "Number: {\"value\": 0} -> {\"value\": 10}"},
};

START_TEST(a_run_does_what_its_help_says_and_tells_what_is_wrong)
{
    prepare();
    expect_steps(steps, COUNT_OF(steps));
}
END_TEST

START_TEST(any_number_of_workers_and_a_saved_half_way_give_the_same_hash)
{
    prepare();
    ck_assert_int_eq(run("run -m m/counts.so -n 20 -w 1 level.mica"), 0);
    const char *hash = strstr(output, "hash ");
    ck_assert_ptr_nonnull(hash);
    char expected[17], arguments[256];
    snprintf(expected, sizeof expected, "%s", hash + 5);
    snprintf(arguments, sizeof arguments, "run -m m/counts.so -n 20 -w 3 -q -x %s level.mica", expected);
    ck_assert_msg(run(arguments) == 0, "%s", output);
    snprintf(arguments, sizeof arguments, "run -m m/counts.so -n 19 -w 3 -q -x %s level.mica", expected);
    ck_assert_int_eq(run(arguments), 1);
    ck_assert_int_eq(run("run -m m/counts.so -n 12 --save half.mica level.mica"), 0);
    snprintf(arguments, sizeof arguments, "run -m m/counts.so -n 8 -q -x %s half.mica", expected);
    ck_assert_msg(run(arguments) == 0, "%s", output);
}
END_TEST

START_TEST(a_run_that_goes_wrong_leaves_the_old_file_and_nothing_else)
{
    prepare();
    ck_assert_int_eq(run("run -m m/counts.so -n 1 -q --save kept.mica level.mica"), 0);
    ck_assert_int_eq(run("run -m m/complains.so -q --save kept.mica level.mica"), 1);
    ck_assert_int_eq(run("run -m m/counts.so -n 1 -q --save other.mica level.mica"), 0);
    ck_assert_int_eq(run("diff kept.mica other.mica"), 0);
    char command[512];
    snprintf(command, sizeof command, "test \"$(ls '%s' | grep -c kept)\" = 1", scratch(""));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static const step replay_steps[] = {
    {"help replay", 0, "mica replay [--module LIBRARY]"},
    {"run -m m/strays.so -D all -R x.rec level.mica", 2, "run: the detail is world, slices or entities, not \"all\""},
    {"run -m m/strays.so -R /nowhere/x.rec level.mica", 2, "recording: /nowhere/x.rec: No such file or directory"},
    {"run -m m/strays.so -n 5 -R world.rec level.mica", 0, "recorded world.rec"},
    {"run -m m/strays.so -n 5 -D slices -R slices.rec level.mica", 0, "recorded slices.rec"},
    {"run -m m/strays.so -n 5 -D entities --systems -q -R all.rec level.mica", 0, ""},
    {"replay -m m/strays.so -w 1 world.rec level.mica", 0, "5 ticks as recorded\n"},
    {"replay -m m/strays.so -w 3 -q slices.rec level.mica", 0, ""},
    {"replay -m m/strays.so -w 3 all.rec level.mica", 0, "5 ticks as recorded\n"},
    {"replay -m m/strays.so all.rec", 1, "the world before the first frame differs"},
    {"replay -m m/strays.so level.mica level.mica", 2, "level.mica: at byte "},
    {"replay missing.rec level.mica", 2, "missing.rec: No such file or directory"},
    {"diff world.rec world.rec", 0, ""},
};

static const step stray_steps[] = {
    {"replay -m m/strays.so world.rec level.mica", 1, "tick 3: the world differs\n"},
    {"replay -m m/strays.so slices.rec level.mica", 1, "tick 3: Number, in {Number}, rows "},
    {"replay -m m/strays.so all.rec level.mica", 1, "tick 3: first after system stray: Number of entity "},
    {"run -m m/strays.so -n 5 -D entities --systems -q -R stray.rec level.mica", 0, ""},
    {"diff all.rec stray.rec", 1, "tick 3: first after system stray: Number of entity "},
    {"diff world.rec stray.rec", 1, "tick 3: the world differs\n"},
};

START_TEST(a_replay_names_the_first_tick_system_component_and_entity_that_differ)
{
    prepare();
    unsetenv("STRAY");
    expect_steps(replay_steps, COUNT_OF(replay_steps));
    setenv("STRAY", "1", 1);
    expect_steps(stray_steps, COUNT_OF(stray_steps));
}
END_TEST

#ifdef WITH_CLUSTER
static const step cluster_steps[] = {
    {"run --cluster m/counts.so", 2, "run: no module describes a cluster: write mica_module_cluster (mica/module.h)"},
    {"run --cluster m/swept.so m/crowded.so", 2, "run: more than one module describes a cluster"},
    {"run --cluster m/swept.so --watch", 2, "run: --cluster can't be combined with --watch, --record and --inspect"},
    {"run --cluster m/swept.so -n 10 --seed 5 -q --save half.mica", 0, ""},
    {"run --cluster m/swept.so -n 20 --seed 5 -q --save end.mica", 0, ""},
    {"run --cluster m/swept.so half.mica level.mica", 2, "half.mica is the save of a cluster: it can't be combined"},
    {"run --cluster m/swept.so -n 10 --seed 6 half.mica", 2, "seed"},
    {"run --cluster m/swept.so -n 1 --save /nowhere/x.mica", 2, "/nowhere/x.mica"},
    {"run --cluster m/swept.so -n 1 -x 0123456789abcdef", 1, ", not 0123456789abcdef\n"},
    {"info half.mica", 0, "10 entities"},
    {"check half.mica", 0, "sound"},
    {"query half.mica 'Place, Mouse'", 0, "Place {\"x\": "},
    {"sql half.mica 'select count(*) from Mouse'", 0, "10"},
    {"diff half.mica half.mica", 0, ""},
    {"diff half.mica end.mica", 1, "Place: {"},
};

/* The hash that the output ends with. */
static void read_hash(char *out_hash)
{
    const char *hash = strstr(output, "hash ");
    ck_assert_msg(hash, "%s", output);
    snprintf(out_hash, 17, "%s", hash + 5);
}

START_TEST(a_cluster_has_the_same_hash_on_any_number_of_ranks_and_continues_a_save)
{
    prepare();
    expect_steps(cluster_steps, COUNT_OF(cluster_steps));
    char hash[17], command[1024];
    ck_assert_msg(run("run --cluster m/swept.so -n 20 --seed 5") == 0, "%s", output);
    read_hash(hash);
    ck_assert_ptr_nonnull(strstr(output, " 10 entities"));
    static const char *const ranks[] = {"1", "2", "4"};
    for (uint32_t i = 0; i < COUNT_OF(ranks); ++i) {
        snprintf(command, sizeof command,
                 "cd '%s' && " MPIRUN "%s '%s' run --cluster m/swept.so -n 20 --seed 5 -q -x %s", scratch(""), ranks[i],
                 getenv("MICA_TOOL"), hash);
        ck_assert_msg(system(command) == 0, "%s", command);
        snprintf(command, sizeof command,
                 "cd '%s' && " MPIRUN "%s '%s' run --cluster m/swept.so half.mica -n 10 --seed 5 -q -x %s", scratch(""),
                 ranks[i], getenv("MICA_TOOL"), hash);
        ck_assert_msg(system(command) == 0, "%s", command);
    }
}
END_TEST
#endif

TEST_SUITE(run, a_run_does_what_its_help_says_and_tells_what_is_wrong,
           any_number_of_workers_and_a_saved_half_way_give_the_same_hash,
           a_run_that_goes_wrong_leaves_the_old_file_and_nothing_else,
           a_replay_names_the_first_tick_system_component_and_entity_that_differ CLUSTER_TESTS)
