/* The tool: one command per file. */
#ifndef MICAP_CLI_CLI_H
#define MICAP_CLI_CLI_H

#include "mica/compile.h"
#include "mica/library.h"
#include "mica/record.h"

enum {
    EXIT_FINE = 0,
    EXIT_DIFFERENT =
        1, /* mica diff: the files differ; mica replay: the run does; mica run: a frame reported errors, or another hash came out */
    EXIT_BAD = 2, /* wrong usage, or bad input */
    INPUTS_MAX = 4096,
};

/* The command line, taken apart. What a command does not know, it refuses. */
typedef struct options {
    const char *command;
    const char *inputs[INPUTS_MAX];
    uint32_t input_count;
    const char *schemas[64];
    uint32_t schema_count;
    const char *output;
    const char *depfile;
    const char *root; /* NULL: the folder of the file */
    mica_byte_order byte_order;
    int compression;
    bool json;
    bool csv;
    bool force;
    bool quiet;
    bool help;
    const char *modules[64];
    uint32_t module_count;
    const char *save;
    const char *record;
    mica_record_detail detail;
    bool systems;
    const char *expected_hash;
    uint32_t frame_count;
    float dt;
    uint32_t worker_count; /* 0: as many as there are cores */
    bool skip_unknown;
} options;

typedef struct command {
    const char *name;
    const char *summary;
    const char *help;
    const char *allowed; /* letters of options, as in options.c */
    uint32_t inputs_min;
    uint32_t inputs_max;
    int (*run)(const options *options);
} command;

extern const command commands[];

int run_compile(const options *options);
int run_info(const options *options);
int run_dump(const options *options);
int run_check(const options *options);
int run_diff(const options *options);
int run_schema(const options *options);
int run_run(const options *options);
int run_replay(const options *options);
int run_sql(const options *options);

/* What mica diff does with two recordings. */
int diff_recordings(const options *options);

/* False with a message when the command line makes no sense. */
bool options_parse(options *options, int argument_count, char **arguments);

/* Says what is wrong, as "mica: ...". Returns EXIT_BAD. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Loads a resource of any byte order; NULL with a message. */
mica_resource *load_or_complain(const char *path);

/* A library for what a file refers to, of the root that was given or else the file's folder; NULL with a message. */
mica_library *library_beside(const options *options, const char *path);

/* Writes bytes to a file, or to standard output for NULL. Returns the exit code. */
int write_output(const char *path, const void *bytes, size_t byte_count);

/* Writes what a writer has gathered to standard output, and frees it. Returns the exit code. */
struct micap_writer;
int write_gathered(struct micap_writer *writer);

bool ends_with(const char *text, const char *end);

/* Adds the components of a file, whatever it is. False with a message. */
bool schema_add_any(mica_schema *schema, const char *path);

/* Loads a shared library, once and for all, and lets it define and add what it has. False with a message. */
bool module_load(const char *path, mica_world *world);

/* The rules of all modules that were loaded, asked for once. False with a message. */
bool module_rules(mica_world *world, const mica_library *library, const mica_resource_rule **out_rules,
                  uint32_t *out_count);

#endif
