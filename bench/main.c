/* mica_bench: every workload by Mica and by hand, in turn, in one process; the best of several runs of each.
 *
 *     mica_bench [--runs N] [--only NAME]... [--side mica|raw] [--csv FILE] [--list]
 *
 * A run goes through all workloads before the next one begins, so that a busy moment of the machine spoils one run of
 * many workloads and not all runs of one. Prints a table and writes a comma-separated file, build/bench.csv unless told
 * otherwise. Fails when the two sides don't agree on what they computed, not when a target is missed: times depend on
 * the machine. */
#include "bench.h"

#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    int runs;
    bool list;
    bool run_mica;
    bool run_raw;
    const char *csv;
    int argument_count;
    char **arguments;
} options;

typedef struct outcome {
    const workload *workload;
    measurement mica;
    measurement raw;
    bool agree;
} outcome;

enum { WORKLOADS_MAX = 128, SHORTEST_TURN_NS = 30000000 };

static const workload *const tables[] = {
    create_workloads,    iterate_workloads,       access_workloads,  structure_workloads, pool_workloads,
    pool_join_workloads, mixed_frame_workloads,   shape_workloads,   query_workloads,     hierarchy_workloads,
    snapshot_workloads,  delta_workloads,         dynamic_workloads, flow_workloads,      memory_workloads,
    resource_workloads,  communication_workloads, index_workloads,   relation_workloads,  relation_join_workloads};

static options parse(int argument_count, char **arguments)
{
    options options = {.runs = 9,
                       .run_mica = true,
                       .run_raw = true,
                       .csv = "build/bench.csv",
                       .argument_count = argument_count,
                       .arguments = arguments};
    for (int i = 1; i < argument_count; ++i) {
        const char *value = i + 1 < argument_count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--list") == 0) {
            options.list = true;
            continue;
        }
        if (strcmp(arguments[i], "--runs") == 0) {
            options.runs = atoi(value);
        } else if (strcmp(arguments[i], "--csv") == 0) {
            options.csv = value;
        } else if (strcmp(arguments[i], "--side") == 0) {
            options.run_mica = strcmp(value, "raw") != 0;
            options.run_raw = strcmp(value, "mica") != 0;
        } else {
            require(strcmp(arguments[i], "--only") == 0,
                    "usage: mica_bench [--runs N] [--only NAME]... [--side mica|raw] [--csv FILE] [--list]");
        }
        ++i;
    }
    require(options.runs >= 1, "--runs takes a number from 1");
    return options;
}

static bool is_selected(const options *options, const char *name)
{
    bool filtered = false;
    for (int i = 1; i + 1 < options->argument_count; ++i) {
        if (strcmp(options->arguments[i], "--only") != 0)
            continue;
        filtered = true;
        if (strcmp(options->arguments[i + 1], name) == 0)
            return true;
    }
    return !filtered;
}

/* Fills the outcomes with the selected workloads, nothing measured yet, and returns how many there are. */
static uint32_t select_workloads(const options *options, outcome *out)
{
    uint32_t count = 0;
    for (size_t table = 0; table < sizeof tables / sizeof *tables; ++table)
        for (const workload *workload = tables[table]; workload->name != NULL; ++workload) {
            if (!is_selected(options, workload->name))
                continue;
            require(count < WORKLOADS_MAX, "more than WORKLOADS_MAX workloads");
            out[count++] = (outcome){workload, {INFINITY, 0}, {INFINITY, 0}, true};
        }
    return count;
}

/* Short workloads are measured several times in their turn, each time in a fresh world. */
static void take_turn(measure_fn measure, uint32_t n, measurement *best)
{
    double start = now_ns();
    do {
        measurement result = measure(n);
        best->per_operation = fmin(best->per_operation, result.per_operation);
        best->checksum = result.checksum;
    } while (now_ns() - start < SHORTEST_TURN_NS);
}

/* The sides take turns at going first, so that neither always finds the caches as the other left them. */
static void run_once(outcome *outcome, const options *options, int run)
{
    const workload *workload = outcome->workload;
    if (options->run_raw && run % 2 == 0)
        take_turn(workload->raw, workload->n, &outcome->raw);
    if (options->run_mica)
        take_turn(workload->mica, workload->n, &outcome->mica);
    if (options->run_raw && run % 2 != 0)
        take_turn(workload->raw, workload->n, &outcome->raw);
    if (options->run_mica && options->run_raw && outcome->mica.checksum != outcome->raw.checksum)
        outcome->agree = false;
}

static double ratio_of(const outcome *outcome)
{
    return outcome->mica.per_operation / outcome->raw.per_operation;
}

static bool is_met(const outcome *outcome)
{
    const workload *workload = outcome->workload;
    return (workload->unit == UNIT_BYTES ? outcome->mica.per_operation : ratio_of(outcome)) <= workload->target;
}

static void print_table(const outcome *outcomes, uint32_t count, const options *options)
{
    uint32_t missed = 0;
    printf("%-25s %8s %11s %11s %7s %7s\n", "workload", "n", "mica ns/op", "raw ns/op", "ratio", "target");
    for (uint32_t i = 0; i < count; ++i) {
        const outcome *outcome = &outcomes[i];
        const workload *workload = outcome->workload;
        const char *verdict = !outcome->agree ? "DIFFERENT RESULTS" : is_met(outcome) ? "ok" : "miss";
        missed += !is_met(outcome);
        printf("%-25s %8u %11.3f %11.3f %7.2f %6.2f%c %s\n", workload->name, workload->n, outcome->mica.per_operation,
               outcome->raw.per_operation, ratio_of(outcome), workload->target,
               workload->unit == UNIT_BYTES ? 'B' : ' ', verdict);
    }
    printf("best of %d runs; memory is in resident bytes per entity; %u of %u targets missed\n", options->runs, missed,
           count);
}

static void write_csv(const outcome *outcomes, uint32_t count, const char *path)
{
    FILE *csv = fopen(path, "w");
    require(csv != NULL, "cannot write the csv file");
    fprintf(csv, "workload,n,mica_ns,raw_ns,ratio\n");
    for (uint32_t i = 0; i < count; ++i)
        fprintf(csv, "%s,%u,%.4f,%.4f,%.4f\n", outcomes[i].workload->name, outcomes[i].workload->n,
                outcomes[i].mica.per_operation, outcomes[i].raw.per_operation, ratio_of(&outcomes[i]));
    require(fclose(csv) == 0, "cannot write the csv file");
}

int main(int argument_count, char **arguments)
{
    options options = parse(argument_count, arguments);
    outcome outcomes[WORKLOADS_MAX];
    uint32_t count = select_workloads(&options, outcomes);
    require(count > 0, "no workload has that name; --list shows them all");
    if (options.list) {
        for (uint32_t i = 0; i < count; ++i)
            printf("%s\n", outcomes[i].workload->name);
        return EXIT_SUCCESS;
    }
    /* By default glibc raises this with every large block that is freed, and raw's arrays would then come from memory
     * that an earlier workload had touched. Pinned at the value every process starts with, each run begins as fresh
     * as a new process would. */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    for (int run = 0; run < options.runs; ++run)
        for (uint32_t i = 0; i < count; ++i)
            run_once(&outcomes[i], &options, run);

    print_table(outcomes, count, &options);
    if (options.run_mica && options.run_raw)
        write_csv(outcomes, count, options.csv);
    bool agree = true;
    for (uint32_t i = 0; i < count; ++i)
        agree = agree && outcomes[i].agree;
    return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}
