#include "cli/cli.h"
#include "mica/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct option {
    const char *name;
    char letter;
    enum { WITHOUT, WITH, PERHAPS } value;
} option;

static const option known[] = {
    {"output", 'o', WITH},   {"schema", 's', WITH},    {"byte-order", 'b', WITH}, {"compress", 'c', PERHAPS},
    {"depfile", 'd', WITH},  {"force", 'f', WITHOUT},  {"quiet", 'q', WITHOUT},   {"json", 'j', WITHOUT},
    {"module", 'm', WITH},   {"frames", 'n', WITH},    {"dt", 't', WITH},         {"workers", 'w', WITH},
    {"save", 'S', WITH},     {"expect", 'x', WITH},    {"skip-unknown", 'u', WITHOUT},
    {"root", 'r', WITH},     {"record", 'R', WITH},    {"detail", 'D', WITH},     {"systems", 'y', WITHOUT},
    {"csv", 'C', WITHOUT},   {"plan", 'p', WITHOUT},   {"watch", 'W', WITHOUT},
    {"inspect", 'i', WITHOUT}, {"port", 'P', WITH}, {"token", 'k', WITH},
    {"arrow", 'A', WITH},
    {"cluster", 'M', WITHOUT}, {"seed", 'e', WITH}, {"vary", 'v', WITH}, {"seeds", 'E', WITH}, {"measure", 'a', WITH},
    {"every", 'N', WITH}, {"out", 'o', WITH}, {"processes", 'J', WITH}, {"time-limit", 'T', WITH}, {"retry", 'Y', WITHOUT},
    {"help", 'h', WITHOUT},
};

static bool is_allowed(const options *options, char letter)
{
    const command *command = commands;
    while (strcmp(command->name, options->command) != 0)
        ++command;
    return letter == 'h' || strchr(command->allowed, letter);
}

/* Finds the option of an argument, and the value in it ("--compress=3", "-c3"), or NULL. */
static const option *find_option(const char *argument, const char **out_value)
{
    bool is_long = argument[1] == '-';
    for (uint32_t i = 0; i < sizeof known / sizeof *known; ++i) {
        size_t length = strlen(known[i].name);
        if (is_long && strncmp(argument + 2, known[i].name, length) == 0 &&
            (argument[2 + length] == 0 || argument[2 + length] == '=')) {
            *out_value = argument[2 + length] ? argument + 3 + length : NULL;
            return &known[i];
        }
        if (!is_long && argument[1] == known[i].letter) {
            *out_value = argument[2] ? argument + 2 : NULL;
            return &known[i];
        }
    }
    return NULL;
}

/* Reads an integer from `least` to `most`. Returns false with a message that names `what` it is. */
static bool read_count(const options *options, const char *what, const char *value, uint32_t least, uint32_t most,
                       uint32_t *out)
{
    char *after;
    long long count = strtoll(value, &after, 10);
    *out = (uint32_t)count;
    return (after != value && !*after && count >= least && count <= most) ||
           (complain("%s: the number of %s is %u to %u, not \"%s\"", options->command, what, least, most, value),
            false);
}

static bool add_text(const options *options, const char *what, const char *value, const char **texts, uint32_t *count)
{
    if (*count == OPTION_TEXTS_MAX)
        return complain("%s: too many %s", options->command, what), false;
    texts[(*count)++] = value;
    return true;
}

/* Reads seconds: more than 0, up to `most`. */
static bool read_seconds(const options *options, const char *what, const char *value, float most, float *out)
{
    char *after;
    *out = strtof(value, &after);
    return (after != value && !*after && *out > 0 && *out <= most) ||
           (complain("%s: %s more than 0 and up to %g seconds, not \"%s\"", options->command, what, (double)most,
                     value),
            false);
}

/* The options of mica sweep. */
static bool set_for_sweep(options *options, char letter, const char *value)
{
    switch (letter) {
    case 'v': return add_text(options, "parameters", value, options->varied, &options->varied_count);
    case 'a': return add_text(options, "measurements", value, options->measured, &options->measured_count);
    case 'E': options->seeds = value; return true;
    case 'N': return read_count(options, "frames between samples", value, 1, 1000000000, &options->sample_frames);
    case 'J': return read_count(options, "processes", value, 1, PROCESSES_MAX, &options->process_count);
    case 'Y': options->retry = true; return true;
    default: return read_seconds(options, "a run lasts", value, 1e7f, &options->time_limit);
    }
}

static bool read_seed(options *options, const char *value)
{
    char *after;
    errno = 0;
    long long seed = strtoll(value, &after, 10);
    options->seed = (uint64_t)seed;
    return (after != value && !*after && !errno && seed >= 1) ||
           (complain("%s: a seed is 1 to 9223372036854775807, not \"%s\"", options->command, value), false);
}

/* The options of mica run. */
static bool set_for_run(options *options, char letter, const char *value)
{
    switch (letter) {
    case 'M': options->cluster = true; return true;
    case 'e': return read_seed(options, value);
    case 'S': options->save = value; return true;
    case 'R': options->record = value; return true;
    case 'y': options->systems = true; return true;
    case 'D':
        options->detail = strcmp(value, "entities") == 0 ? MICA_RECORDING_ENTITIES
                          : strcmp(value, "slices") == 0 ? MICA_RECORDING_SLICES
                                                         : MICA_RECORDING_WORLD;
        return options->detail || strcmp(value, "world") == 0 ||
               (complain("%s: the detail is world, slices or entities, not \"%s\"", options->command, value), false);
    case 'u': options->skip_unknown = true; return true;
    case 'W': options->watch = true; return true;
    case 'n': return read_count(options, "frames", value, 0, 1000000000, &options->frame_count);
    case 'w': return read_count(options, "workers", value, 1, MICA_WORKERS_MAX, &options->worker_count);
    case 'm': return add_text(options, "modules", value, options->modules, &options->module_count);
    case 't': return read_seconds(options, "a frame lasts", value, 3600, &options->dt);
    case 'x':
        options->expected_hash = value;
        return (strlen(value) == 16 && strspn(value, "0123456789abcdef") == 16) ||
               (complain("%s: a hash has 16 digits from 0 to f, not \"%s\"", options->command, value), false);
    default: return set_for_sweep(options, letter, value);
    }
}

static bool set(options *options, char letter, const char *value)
{
    switch (letter) {
    case 'o': options->output = value; return true;
    case 'd': options->depfile = value; return true;
    case 'r': options->root = value; return true;
    case 'f': options->force = true; return true;
    case 'q': options->quiet = true; return true;
    case 'j': options->json = true; return true;
    case 'C': options->csv = true; return true;
    case 'p': options->plan = true; return true;
    case 'h': options->help = true; return true;
    case 'i': options->inspect = true; return true;
    case 'P': return read_count(options, "port", value, 1, 65535, &options->port);
    case 'k': options->token = value; return true;
    case 'A': options->arrow = value; return true;
    case 's': return add_text(options, "schemas", value, options->schemas, &options->schema_count);
    case 'b':
        options->byte_order = strcmp(value, "little") == 0 ? MICA_BYTE_ORDER_LITTLE
                              : strcmp(value, "big") == 0  ? MICA_BYTE_ORDER_BIG
                                                           : MICA_BYTE_ORDER_NATIVE;
        return options->byte_order ||
               (complain("%s: the byte order is little or big, not \"%s\"", options->command, value), false);
    default: return set_for_run(options, letter, value);
    case 'c': {
        char *after;
        long level = strtol(value, &after, 10);
        options->compression = (int)level;
        return (level >= 1 && level <= 19 && !*after) ||
               (complain("%s: a level of compression is 1 to 19, not \"%s\"", options->command, value), false);
    }
    }
}

static bool take_option(options *options, char **arguments, int count, int *at)
{
    const char *value = NULL, *argument = arguments[*at];
    const option *option = find_option(argument, &value);
    if (!option || !is_allowed(options, option->letter))
        return complain("%s: there is no option %s; try mica help %s", options->command, argument, options->command),
               false;
    if (option->value == WITHOUT && value)
        return complain("%s: --%s takes no value", options->command, option->name), false;
    if (option->value == WITH && !value) {
        if (*at + 1 >= count)
            return complain("%s: --%s needs a value", options->command, option->name), false;
        value = arguments[++*at];
    }
    return set(options, option->letter, value ? value : "9"); /* the level of --compress; other options ignore it */
}

bool options_parse(options *options, int argument_count, char **arguments)
{
    bool only_files = false;
    for (int i = 0; i < argument_count; ++i) {
        const char *argument = arguments[i];
        if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && argument[0] == '-' && argument[1]) {
            if (!take_option(options, arguments, argument_count, &i))
                return false;
        } else if (is_module_path(argument) && is_allowed(options, 'm') && strcmp(options->command, "schema") != 0) {
            if (!add_text(options, "modules", argument, options->modules, &options->module_count))
                return false;
        } else if (options->input_count == INPUTS_MAX) {
            return complain("%s: too many files", options->command), false;
        } else {
            options->inputs[options->input_count++] = argument;
        }
    }
    return true;
}
