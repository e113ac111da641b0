/* mica: the command line. */
#include "cli/cli.h"
#include "json/json_writer.h"
#ifdef MICA_WITH_CLUSTER
#    include "mica/cluster.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef MICA_VERSION
#    define MICA_VERSION "?"
#endif

_Static_assert(MICA_VERSION_MAJOR == PROJECT_MAJOR && MICA_VERSION_MINOR == PROJECT_MINOR,
               "mica/base.h and CMakeLists.txt say different versions");

const command commands[] = {
    {"compile", "compile JSON to a resource",
     "mica compile [-o OUT] [--schema FILE]... [options] LEVEL.json...\n\n"
     "Compiles levels and prefabs. OUT is LEVEL.mica next to the input by default. On an error nothing is written, and all\n"
     "errors are listed.\n\n"
     "  -o, --output FILE      write to this file (with one input)\n"
     "  -s, --schema FILE      the known components: a schema (.json) or any resource (.mica). Default: schema.json next to\n"
     "                         the level. A program writes its schema with mica_schema_write\n"
     "  -r, --root FOLDER      the folder from which the program loads resources: levels refer to files below it. Default: the\n"
     "                         folder of the level\n"
     "  -b, --byte-order ORDER little or big, for the machine that will map the file. Default: this machine\n"
     "  -c, --compress[=LEVEL] compress for distribution (zstd, 1 to 19); a mapped file is not compressed\n"
     "  -d, --depfile FILE     write dependencies for make and ninja, and do nothing if none is newer than OUT\n"
     "  -f, --force            compile even if nothing is newer\n"
     "  -q, --quiet            print only errors\n"
     "  -j, --json             errors and results as JSON on standard output\n\n"
     "  mica compile --schema game.json level.json          writes level.mica\n",
     "osrbcdfqj", 1, INPUTS_MAX, run_compile},
    {"info", "describe a resource",
     "mica info [--json] FILE\n\n"
     "Shows the header, the components with their counts and sizes, the resources it refers to, and the sections.\n\n"
     "  -j, --json             as JSON\n",
     "j", 1, 1, run_info},
    {"dump", "write a resource as JSON",
     "mica dump [-o OUT] FILE\n\n"
     "Writes JSON that compiles to the same bytes again:\n\n"
     "  mica dump level.mica -o copy.json && mica compile --schema level.mica copy.json -o copy.mica\n",
     "o", 1, 1, run_dump},
    {"check", "verify files",
     "mica check [--root FOLDER] [--json] FILE...\n\n"
     "Verifies everything that a program relies on, also in the resources that a file refers to. Exit code 2 if a file is\n"
     "invalid or a resource is missing.\n\n"
     "  -r, --root FOLDER      the folder from which the program loads resources. Default: the folder of each file\n"
     "  -j, --json             as JSON\n",
     "rjq", 1, INPUTS_MAX, run_check},
    {"diff", "compare two resources or recordings",
     "mica diff [--json] A B\n\n"
     "Compares entities by path, and their components by name and value. For recordings, names the first tick, system,\n"
     "component and rows that differ. Exit code 0 if equal, 1 if not.\n\n"
     "  -j, --json             as JSON\n",
     "jq", 2, 2, run_diff},
    {"schema", "write the components of files as JSON",
     "mica schema [-o OUT] [--module LIBRARY]... FILE...\n\n"
     "Merges the components of modules, resources (.mica) and schemas (.json) into one schema. Units, ranges, initial values and notes of\n"
     "fields come from modules and schemas: resources do not have them.\n\n"
     "  -m, --module LIBRARY   the components that this library defines; files may be left out\n",
     "mo", 0, INPUTS_MAX, run_schema},
    {"run", "spawn a level and run systems",
     "mica run [options] [--module] LIBRARY... [LEVEL.mica...]\n\n"
     "Loads systems from shared libraries (see include/mica/module.h), spawns the levels, lets the modules create what a new\n"
     "run starts with, runs frames, and prints the time of each system and the hash of the world, which is the same for any\n"
     "number of workers.\n\n"
     "  -m, --module LIBRARY   load this library, in the order given, before the levels. A file with the suffix .so needs no\n"
     "                         --module\n"
     "  -n, --frames COUNT     number of frames. Default: 60\n"
     "  -t, --dt SECONDS       length of a frame. Default: 1/60\n"
     "  -w, --workers COUNT    number of threads. Default: the number of cores\n"
     "  -r, --root FOLDER      the folder of the resources that levels refer to. Default: the folder of the first level\n"
     "  -S, --save FILE        save the world at the end\n"
     "  -e, --seed NUMBER      of random numbers, 1 to 2^63 - 1. Default: those of Mica\n"
     "  -x, --expect HASH      exit code 1, and nothing saved, if the final hash of the world is another\n"
     "  -u, --skip-unknown     skip components that no module defines; without it they are an error\n"
     "  -R, --record FILE      record the run, for mica replay\n"
     "  -D, --detail DETAIL    how precisely a recording locates a difference: world (the tick), slices (component and rows)\n"
     "                         or entities\n"
     "  -y, --systems          and the system: systems run one by one, and the world is hashed after each\n"
     "  -M, --cluster          on all processes of mpirun, with the same result for any number of them: the module describes the\n"
     "                         cluster (mica_module_cluster). A level can be the save of a cluster, and --save writes one\n"
#ifdef MICA_WITH_INSPECT
     "  -i, --inspect          print an address for mica inspect, and run frames in real time; frames of a pause do not count\n"
#endif
     "  -W, --watch            reload modules when their files change, after the frame; frames take real time\n"
     "  -q, --quiet            print only errors\n"
     "  -j, --json             as JSON\n\n"
     "A reload continues the world with the new systems; fields of components are kept by name. If a module can't be loaded, the old\n"
     "ones continue, with a message.\n\n"
     "A report of the world ends the run: with exit code 2 before the first frame, and 1 after the frame that reported it.\n"
     "Nothing is saved then.\n\n"
     "  mica run --module ./libgame.so --frames 600 --save end.mica level.mica\n"
     "  mpirun -n 4 mica run --cluster ./libflock.so --frames 600 --save end.mica\n",
#ifdef MICA_WITH_INSPECT
     "mntwrSxuRDyWqjeMi",
#else
     "mntwrSxuRDyWqjeM",
#endif
     0, INPUTS_MAX, run_run},
    {"replay", "run a recording again and compare",
     "mica replay [--module LIBRARY]... [options] RECORDING LEVEL.mica...\n\n"
     "Sets up the world as mica run does, runs the frames of the recording with their input, and compares the hash of each. Exit\n"
     "code 0 if all are equal. If not, exit code 1, and the first tick, system, component, rows and entity that differ are\n"
     "printed, as far as the recording has them.\n\n"
     "  -m, --module LIBRARY   load this library, in the order given\n"
     "  -w, --workers COUNT    number of threads. Default: the number of cores\n"
     "  -r, --root FOLDER      the folder of the resources that levels refer to. Default: the folder of the first level\n"
     "  -u, --skip-unknown     skip components that no module defines; without it they are an error\n"
     "  -q, --quiet            print only errors and differences\n\n"
     "  mica run --module ./libgame.so --record run.micarec --detail slices level.mica\n"
     "  mica replay --module ./libgame.so run.micarec level.mica\n",
     "mwruq", 1, INPUTS_MAX, run_replay},
    {"query", "list the entities of a resource that match",
#ifdef MICA_WITH_ARROW
     "mica query [--json | --plan | --arrow OUT] FILE TEXT\n\n"
#else
     "mica query [--json | --plan] FILE TEXT\n\n"
#endif
     "Lists the entities that match the terms of TEXT, with the components that it reads: see include/mica/query_text.h.\n\n"
     "  -j, --json             each entity with all its components, as an object on a line\n"
     "  -p, --plan             what the query visits, instead of what it finds\n"
#ifdef MICA_WITH_ARROW
     "  -A, --arrow OUT        the entities and these components as columns of an Arrow IPC file, - for standard output\n"
#endif
     "\n"
     "  mica query level.mica \"Position, Velocity, !Frozen\"\n",
     "jpA", 2, 2, run_query},
#ifdef MICA_WITH_SQL
    {"sweep", "run a model with many parameters and seeds",
     "mica sweep [options] LIBRARY... [LEVEL.mica...] --out RESULTS.db\n\n"
     "Runs a model (a module for mica run) once for each combination of parameters and seeds, in processes of their own, and\n"
     "writes measurements to a SQLite database: table runs has a row per run, table samples one per run and sample. Started by\n"
     "mpirun, the ranks share the runs, and rank 0 writes. The rows do not depend on the number of processes. Another call\n"
     "continues where the last one ended, and adds runs for new values and seeds.\n\n"
     "  -v, --vary PARAMETER=VALUES\n"
     "                         a field of a singleton: Settings.speed, or speed if no other singleton has such a field. VALUES\n"
     "                         is FIRST:LAST, FIRST:LAST:STEP or VALUE,VALUE,... May be repeated: all combinations are run\n"
     "  -E, --seeds SEEDS      COUNT (1 to COUNT) or FIRST:LAST. Default: 1\n"
     "  -a, --measure COLUMN=MEASUREMENT\n"
     "                         in addition to those of the module (mica_module_measurements); COLUMN= may be left out:\n"
     "                         \"count: Rabbit, !Dead\", \"sum: Energy.value\" (also mean, minimum, maximum) or\n"
     "                         \"value: Settings.speed\"\n"
     "  -N, --every FRAMES     write a sample every so many frames. Default: measurements only at the end\n"
     "  -o, --out FILE         the database\n"
     "  -n, --frames COUNT     number of frames of a run. Default: 60\n"
     "  -t, --dt SECONDS       length of a frame. Default: 1/60\n"
     "  -J, --processes COUNT  of this computer. Default: the number of cores; under mpirun 1 per rank\n"
     "  -T, --time-limit SECONDS\n"
     "                         end runs that take longer; their row says so\n"
     "  -Y, --retry            run again what failed in an earlier call\n"
     "  -m, --module LIBRARY, -r, --root FOLDER, -u, --skip-unknown\n"
     "                         as for mica run\n"
     "  -q, --quiet            print only errors\n\n"
     "Exit code 1 if runs failed: column message of table runs has the reasons.\n\n"
     "  mica sweep ./libforest.so --vary speed=1:5 --seeds 100 --frames 1000 --every 100 --out results.db\n"
     "  mpirun -n 64 mica sweep ./libforest.so --vary speed=1:5 --seeds 1000 --out results.db\n"
     "  sqlite3 results.db 'select speed, avg(rabbits) from runs group by speed'\n",
     "vEaNontJTYmruq", 0, INPUTS_MAX, run_sweep},
#endif
#ifdef MICA_WITH_INSPECT
    {"inspect", "look into running programs, recordings, saves and levels",
     "mica inspect [options] URL|FILE...\n"
     "mica inspect --module LIBRARY... [options] RECORDING LEVEL.mica...\n\n"
     "Prints the address of a web page that shows entities, systems and memory, and past frames. A URL is what a program printed\n"
     "that calls mica_inspect_serve, or mica run --inspect: it can be paused and changed, too. When it ends, what it sent last\n"
     "stays, and when it is started again with the same port and token, mica inspect connects again. Ends with Ctrl-C.\n\n"
     "A recording runs again, with the modules that made it and the levels it began with, as mica replay does.\n\n"
     "  -m, --module LIBRARY   a module that made the recording\n"
     "  -w, --workers COUNT    number of threads of a recording. Default: the number of cores\n"
     "  -u, --skip-unknown     skip components that no module defines; without it they are an error\n"
     "  -P, --port PORT        of the page. Default: a free one\n"
     "  -k, --token TOKEN      of the page, 16 to 64 letters and digits. Default: a random one\n"
     "  -r, --root FOLDER      the folder of the resources that files refer to. Default: the folder of each file\n\n"
     "  mica inspect 'http://127.0.0.1:43817/?token=...'\n"
     "  mica inspect 'http://127.0.0.1:43817-43820/?token=...'    a program per port, as for the ranks of a cluster\n"
     "  mica inspect before.mica after.mica\n"
     "  mica inspect --module ./libgame.so run.micarec level.mica\n",
     "Pkrmwu", 1, 16, run_inspect},
#endif
#ifdef MICA_WITH_SQL
    {"sql", "query or change a resource with SQL",
     "mica sql [-o OUT] [--json | --csv] FILE [STATEMENTS]\n\n"
     "Each component of the file is a table with a row per entity. The tables entities, components and fields describe the\n"
     "file: see include/mica/sql.h. Without STATEMENTS, statements are read from standard input.\n\n"
     "  -o, --output FILE      save the result to this file. Without it no file is written, and the tables are read-only.\n"
     "                         Nothing is saved if a statement fails\n"
     "  -j, --json             each row as an object on a line; blobs are hexadecimal strings\n"
     "  -C, --csv              comma-separated values, names first\n"
     "  -r, --root FOLDER      the folder of the resources that the file refers to, for saving. Default: its folder\n"
     "  -b, --byte-order ORDER little or big, and\n"
     "  -c, --compress[=LEVEL] as for mica compile\n\n"
     "  mica sql level.mica \"select name, x, y from Position join entities using (entity)\"\n"
     "  mica sql level.mica \"update Health set current = maximum\" -o healed.mica\n",
     "ojCrbc", 1, 2, run_sql},
#endif
    {0},
};

int complain(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "mica: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    return EXIT_BAD;
}

bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool is_module_path(const char *path)
{
    return ends_with(path, ".so") || ends_with(path, ".dylib") || ends_with(path, ".dll");
}

bool is_cluster_save(const char *path)
{
    char begin[sizeof "mica cluster save"] = "";
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(begin, 1, sizeof begin - 1, file) : 0;
    if (file)
        fclose(file);
    return count == sizeof begin - 1 && !strcmp(begin, "mica cluster save");
}

mica_resource *load_any(const char *path, mica_resource_error *out_error)
{
    mica_resource_def def = {.any_byte_order = true};
    if (!is_cluster_save(path))
        return mica_resource_load(path, &def, out_error);
#ifdef MICA_WITH_CLUSTER
    static mica_blob blobs[INPUTS_MAX]; /* resources refer to them until the tool ends */
    static uint32_t blob_count;
    if (blob_count < INPUTS_MAX && mica_cluster_join(path, &blobs[blob_count], out_error) == MICA_OK) {
        mica_blob *blob = &blobs[blob_count++];
        return mica_resource_open(blob->bytes, blob->byte_count, &def, out_error);
    }
#else
    *out_error = (mica_resource_error){.result = MICA_ERROR_DATA,
                                       .text = "it is the save of a cluster, and the tool was built without Open MPI"};
#endif
    return NULL;
}

mica_resource *load_or_complain(const char *path)
{
    mica_resource_error error;
    mica_resource *resource = load_any(path, &error);
    if (resource)
        return resource;
    if (error.result == MICA_ERROR_FILE)
        complain("%s", error.text);
    else
        complain("%s: at byte %llu: %s", path, (unsigned long long)error.offset, error.text);
    return NULL;
}

mica_library *library_beside(const options *options, const char *path)
{
    char folder[4096] = "";
    const char *slash = strrchr(path, '/');
    if (slash && snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path) >= (int)sizeof folder)
        return complain("%s: the path is too long", path), NULL;
    mica_library_def def = {.resource.any_byte_order = true, .root = options->root ? options->root : folder};
    mica_library *library = mica_library_create(&def);
    if (!library)
        complain("out of memory");
    return library;
}

int write_output(const char *path, const void *bytes, size_t byte_count)
{
    mica_resource_error error;
    if (path)
        return mica_write_file(path, bytes, byte_count, &error) == MICA_OK ? EXIT_FINE : complain("%s", error.text);
    return fwrite(bytes, 1, byte_count, stdout) == byte_count && fflush(stdout) == 0
               ? EXIT_FINE
               : complain("standard output can't be written");
}

int write_gathered(struct micap_json_writer *writer)
{
    mica_blob text;
    if (micap_writer_finish(writer, &text) != MICA_OK)
        return complain("out of memory");
    int status = write_output(NULL, text.bytes, text.byte_count);
    mica_blob_free(&text);
    return status;
}

static int print_help(FILE *to)
{
    fprintf(to, "mica compiles, inspects, compares and runs resources: levels, prefabs and save games.\n\n"
                "  mica COMMAND [options] FILE...\n\n");
    for (const command *command = commands; command->name; ++command)
        fprintf(to, "  %-10s %s\n", command->name, command->summary);
    fprintf(to, "\n  mica help COMMAND      options and examples of a command\n"
                "  mica --version\n\n"
                "Exit codes: 0 fine, 1 files differ (diff) or a run went wrong (run), 2 wrong usage or bad input.\n");
    return to == stdout ? EXIT_FINE : EXIT_BAD;
}

static const command *find_command(const char *name)
{
    const command *command = commands;
    while (command->name && strcmp(command->name, name) != 0)
        ++command;
    return command->name ? command : NULL;
}

int main(int argument_count, char **arguments)
{
    static options options = {.frame_count = 60, .dt = 1.0f / 60};
    const char *first = argument_count > 1 ? arguments[1] : NULL;
    if (!first)
        return print_help(stderr);
    if (strcmp(first, "--version") == 0)
        return printf("mica %s\n", MICA_VERSION) > 0 ? EXIT_FINE : EXIT_BAD;
    bool wants_help = strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
    if (wants_help && argument_count < 3)
        return print_help(stdout);
    const command *command = find_command(wants_help ? arguments[2] : first);
    if (!command)
        return complain("there is no command \"%s\"; try mica help", wants_help ? arguments[2] : first);
    options.command = command->name;
    if (!wants_help && !options_parse(&options, argument_count - 2, arguments + 2))
        return EXIT_BAD;
    if (wants_help || options.help)
        return fputs(command->help, stdout) >= 0 ? EXIT_FINE : EXIT_BAD;
    if (options.input_count < command->inputs_min || options.input_count > command->inputs_max)
        return complain("%s: expected %s; try mica help %s", command->name,
                        command->inputs_max == 1   ? "one file"
                        : command->inputs_min == 2 ? "two files"
                        : command->inputs_max == 2 ? "a file and perhaps statements"
                                                   : "a file",
                        command->name);
    return command->run(&options);
}
