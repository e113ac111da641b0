/* The command line tool. Each file with the suffix _command, and inspect.c and run_replay.c, implements commands;
 * inspector.h lists the files of mica inspect. */
#ifndef MICAP_CLI_CLI_H
#define MICAP_CLI_CLI_H

#include "base/assert.h"
#include "mica/compile.h"
#include "mica/library.h"
#include "mica/recording.h"

enum {
    EXIT_FINE = 0,
    EXIT_DIFFERENT =
        1,        /* diff: the files differ; replay: the run differs; run: a frame reported errors, or another hash */
    EXIT_BAD = 2, /* wrong usage or bad input */
    INPUTS_MAX = 4096,
    OPTION_TEXTS_MAX = 64, /* values of an option that can be repeated */
    PROCESSES_MAX = 1024,
};

/* The parsed command line. */
typedef struct options {
    const char *command;
    const char *inputs[INPUTS_MAX];
    uint32_t input_count;
    const char *schemas[OPTION_TEXTS_MAX];
    uint32_t schema_count;
    const char *output;
    const char *depfile;
    const char *root; /* NULL: the folder of the file */
    mica_byte_order byte_order;
    int compression;
    bool json;
    bool csv;
    bool plan;
    bool force;
    bool quiet;
    bool help;
    const char *modules[OPTION_TEXTS_MAX];
    uint32_t module_count;
    const char *save;
    const char *record;
    mica_recording_detail detail;
    bool systems;
    const char *expected_hash;
    uint32_t frame_count;
    float dt;
    uint32_t worker_count; /* 0: the number of cores */
    bool skip_unknown;
    bool inspect;      /* run: mica inspect can connect */
    uint32_t port;     /* 0: a free one */
    const char *token; /* NULL: a random one */
    bool watch;
    const char *arrow;                    /* query: an Arrow file instead of text */
    bool cluster;                         /* run: on the ranks of an MPI job */
    uint64_t seed;                        /* run: of random numbers; 0: the default */
    const char *varied[OPTION_TEXTS_MAX]; /* sweep: parameters and their values */
    uint32_t varied_count;
    const char *seeds;
    const char *measured[OPTION_TEXTS_MAX];
    uint32_t measured_count;
    uint32_t sample_frames; /* 0: only at the end */
    uint32_t process_count; /* 0: the number of cores, or one per rank */
    float time_limit;       /* of a run, in seconds; 0: none */
    bool retry;             /* runs that failed */
} options;

typedef struct command {
    const char *name;
    const char *summary;
    const char *help;
    const char *allowed; /* letters of the options it accepts, see options.c */
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
int run_query(const options *options);
int run_inspect(const options *options);
int run_sweep(const options *options);

/* Compares two recordings, for mica diff. */
int diff_recordings(const options *options);

/* Parses the command line. Returns false with a message if it is invalid. */
bool options_parse(options *options, int argument_count, char **arguments);

/* Prints an error message to stderr, as "mica: ...". Returns EXIT_BAD. */
int complain(const char *format, ...) MICAP_FORMAT(1, 2);

/* Whether a file begins like the save of a cluster. */
bool is_cluster_save(const char *path);

/* Whether a path is that of a shared library, by its name. */
bool is_module_path(const char *path);

/* Loads a resource of any byte order, or all parts of the save of a cluster as one. Returns NULL with an error on failure. */
mica_resource *load_any(const char *path, mica_resource_error *out_error);

/* The same, with a message on failure. */
mica_resource *load_or_complain(const char *path);

/* Creates a library for the resources that a file refers to. Its root is --root, or the folder of the file. Returns NULL with a
 * message on failure. */
mica_library *library_beside(const options *options, const char *path);

/* Writes bytes to a file, or to standard output for NULL. Returns the exit code. */
int write_output(const char *path, const void *bytes, size_t byte_count);

/* Writes the text of a writer to standard output and frees the writer. Returns the exit code. */
struct micap_json_writer;
int write_gathered(struct micap_json_writer *writer);

bool ends_with(const char *text, const char *end);

/* Adds the components of a schema or a resource. Returns false with a message on failure. */
bool schema_add_any(mica_schema *schema, const char *path);

#endif
