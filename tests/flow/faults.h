/* A world on an allocator that fails, for what a test does with it: again and again, one allocation later each time, until none
 * has failed.
 *
 *     static void try_it(faults *faults)
 *     {
 *         ... what needs its memory
 *         faults_begin(faults);
 *         ... what may fail
 *         bool failed = faults_end(faults);
 *         ... what must hold either way
 *     }
 *     ck_assert_uint_ge(fail_everywhere(try_it), 10);
 */
#ifndef MICA_TESTS_FLOW_FAULTS_H
#define MICA_TESTS_FLOW_FAULTS_H

#include "faulty_allocator.h"
#include "mica/flow.h"
#include "reports.h"
#include "test.h"

typedef struct faults {
    faulty_allocator allocator;
    uint64_t at; /* the allocation that fails */
    bool failed;
    reports heard;
    mica_world *world; /* with one worker */
} faults;

static inline void faults_begin(faults *faults)
{
    faulty_allocator_fail_at(&faults->allocator, faults->at, false);
}

/* Whether one has failed since the last time; none does from now on. */
static inline bool faults_end(faults *faults)
{
    bool failed = faults->allocator.failures != 0;
    faults->failed |= failed;
    faults->allocator.failures = 0;
    faulty_allocator_fail_at(&faults->allocator, 0, false);
    return failed;
}

/* Returns how many allocations were made to fail. What was reported is forgotten; the world must be valid and must
 * not leak. */
static inline uint64_t fail_everywhere(void (*try_it)(faults *faults))
{
    static faults faults;
    for (uint64_t at = 1;; ++at) {
        faults.at = at;
        faults.failed = false;
        faulty_allocator_init(&faults.allocator);
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faults.allocator);
        faults.world = open_world_with(&faults.heard, def);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = 1;
        mica_flow_configure(faults.world, &flow);
        try_it(&faults);
        forget_reports(&faults.heard);
        close_world(faults.world, &faults.heard);
        ck_assert_uint_eq(faults.allocator.live_blocks, 0);
        faulty_allocator_free(&faults.allocator);
        if (!faults.failed)
            return at - 1;
        ck_assert_uint_lt(at, 10000);
    }
}

#endif
