/* Hand-written sides that more than one workload is compared with. */
#ifndef BENCH_BASELINES_H
#define BENCH_BASELINES_H

#include "bench.h"

measurement add_remove_raw(uint32_t n);
measurement deferred_add_remove_raw(uint32_t n);
measurement get_random_raw(uint32_t n);
measurement iter2_raw(uint32_t n);

#endif
