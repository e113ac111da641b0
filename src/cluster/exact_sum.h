/* The sum of any finite doubles without rounding: a fixed-point number that is wide enough for all of them, in words of 32 bits that are kept
 * in 64, so that many can be added before carries are passed on (U. Kulisch: Computer arithmetic and validity, 2008). Sums of sums are
 * sums, in any order, so the result does not depend on which rank added what. */
#ifndef MICAP_CLUSTER_EXACT_SUM_H
#define MICAP_CLUSTER_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { MICAP_SUM_WORDS = 68 }; /* 2^-1074 to 2^1024, and 64 bits for carries */

typedef struct micap_exact_sum {
    uint64_t words[MICAP_SUM_WORDS]; /* two's complement; the lowest first, in units of 2^-1088 */
    uint32_t pending;                /* additions since carries were passed on */
} micap_exact_sum;

/* Adds a finite number. */
void micap_exact_sum_add(micap_exact_sum *sum, double value);

/* Passes carries on: each word has 32 bits afterwards, except the last. Before words of several sums are added. */
void micap_exact_sum_settle(micap_exact_sum *sum);

/* The nearest double; ties to even. */
double micap_exact_sum_value(const micap_exact_sum *sum);

#endif
