/* A world with modules and levels, as run, replay, sweep and inspect need it, and its cluster if it has one. Calls of the cluster are in model_cluster.c. */
#ifndef MICAP_CLI_MODEL_H
#define MICAP_CLI_MODEL_H

#include "cli/cli.h"
#include "mica/module_load.h"

#include <stdatomic.h>

enum { REPORTS_SHOWN = 10 };

typedef struct model {
    const options *options;
    uint32_t first_level;  /* the position of the first level among the inputs */
    uint32_t stats_frames; /* whose statistics are kept; 0: none */
    mica_report_fn report; /* gets the reports of the world; NULL: they are counted and printed */
    void *report_context;
    uint64_t seed; /* of random numbers; 0: the default */
    bool is_quiet; /* nothing is printed */
    mica_world *world;
    mica_library *library; /* resources that levels refer to */
    mica_modules *modules; /* of the world, which is theirs */
    struct mica_cluster *cluster;
    bool is_resumed; /* a level continues a run */
    uint64_t frame;  /* starts at 1; 0 before the first */
    _Atomic uint32_t report_count;
    char first_report[256]; /* what went wrong first */
} model;

/* Notes what went wrong, and prints it unless the model is quiet. Returns EXIT_BAD. */
int model_complain(model *model, const char *format, ...) MICAP_FORMAT(2, 3);

/* Loads the modules into a new world. Returns EXIT_FINE, or EXIT_BAD with a message. Close the model in either case. */
int model_load(model *model);

/* Spawns the levels, or loads the save of a cluster. Collective, with the same status on all ranks, as the next. */
int model_spawn(model *model);

/* Starts a new run (mica_module_start), unless a level continues one. */
int model_start(model *model);

/* Runs one frame. Returns EXIT_FINE, or EXIT_DIFFERENT with a message or a report. */
int model_step(model *model);

/* Whether there were reports, with a message about those that were not printed. */
bool model_has_reports(model *model);

/* The hash of the world or of the cluster. Collective. */
uint64_t model_hash(model *model);

void model_close(model *model);

/* ---- model_cluster.c. Without Open MPI, opening fails with a message. */

/* Whether a module describes a cluster. */
bool model_has_cluster(const model *model);
int model_cluster_open(model *model);
int model_cluster_load(model *model, const char *path);
int model_cluster_step(model *model);
/* Lets the current or next step fail on all ranks. Any thread. */
void model_cluster_stop(model *model);
/* The worst status of all ranks, so that all continue or none. Without a cluster, the status. Collective. */
int model_cluster_agree(model *model, int status);
int model_cluster_save(model *model, const char *path);
uint64_t model_cluster_hash(model *model);
uint64_t model_cluster_entity_count(model *model);
uint32_t model_cluster_rank(const model *model); /* 0 without a cluster */
void model_cluster_close(model *model);

#endif
