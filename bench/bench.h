/* The frame of the benchmark: every workload is done twice, by Mica and by hand-written arrays (raw.h), on the same
 * data with the same checks, and leaves a checksum by which the runner sees that both did the same work. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct measurement {
    double per_operation; /* nanoseconds, or bytes for the memory workload */
    uint64_t checksum;
} measurement;

/* Sets up a fresh world of n entities, measures one thing, takes everything down. */
typedef measurement (*measure_fn)(uint32_t n);

typedef enum unit {
    UNIT_RATIO, /* the target bounds mica / raw */
    UNIT_BYTES, /* the target bounds Mica's own bytes per entity */
} unit;

typedef struct workload {
    const char *name;
    uint32_t n;
    measure_fn mica;
    measure_fn raw;
    double target;
    unit unit;
} workload;

/* One table per file of workloads; a row without a name ends it. */
extern const workload create_workloads[];
extern const workload iterate_workloads[];
extern const workload access_workloads[];
extern const workload structure_workloads[];
extern const workload query_workloads[];
extern const workload pool_workloads[];
extern const workload shape_workloads[];
extern const workload pool_join_workloads[];
extern const workload mixed_frame_workloads[];
extern const workload hierarchy_workloads[];
extern const workload memory_workloads[];
extern const workload flow_workloads[];
extern const workload communication_workloads[];
extern const workload resource_workloads[];
extern const workload delta_workloads[];
extern const workload snapshot_workloads[];
extern const workload dynamic_workloads[];
extern const workload index_workloads[];
extern const workload relation_workloads[];
extern const workload relation_join_workloads[];

/* Nanoseconds of processor time that this thread has used; everything that is measured runs in it. */
double now_ns(void);

/* Returns a malloc'ed permutation of 0..n-1, the same in every run and on every machine. */
uint32_t *shuffled(uint32_t n);

/* As malloc, but ends the program when memory is short: a benchmark has no use for half a measurement. */
void *allocate_or_exit(size_t bytes);

/* Ends the program with a message. */
_Noreturn void end_with(const char *message);

/* Does so unless the condition holds; never compiled out. */
static inline void require(int condition, const char *message)
{
    if (!condition)
        end_with(message);
}

#endif
