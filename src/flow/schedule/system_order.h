/* The order of the systems of a phase: the order they were added in, except where before and after ask for another. */
#ifndef MICAP_FLOW_SCHEDULE_SYSTEM_ORDER_H
#define MICAP_FLOW_SCHEDULE_SYSTEM_ORDER_H

#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

/* Pairs of indices in a list of systems: the first runs before the second. */
typedef struct micap_order_constraints {
    struct micap_order_pair {
        uint32_t from, to;
    } * pairs; /* by rising `from` */
    uint32_t count;
    uint32_t capacity;
    uint32_t *firsts; /* by `from`: its first pair; and one more */
    uint32_t first_capacity;
} micap_order_constraints;

/* Adds the constraints between these systems of one phase. False if memory is short. */
bool micap_order_constraints_collect(micap_flow *flow, micap_system *const *systems, uint32_t count,
                                     micap_order_constraints *out);
void micap_order_constraints_free(mica_world *world, micap_order_constraints *constraints);

/* Fills in the order that satisfies the constraints and otherwise keeps the order of the list. Returns how many systems were
 * placed: fewer than all if the constraints form a cycle. `waiting`, of `count` numbers, is UINT32_MAX for placed systems. */
uint32_t micap_order_sort(const micap_order_constraints *constraints, uint32_t count, uint32_t *waiting,
                          uint32_t *out_order);

/* Whether before and after of these systems, in the order they were added, contradict each other or the order of phases.
 * Reports the names along the cycle. Also true if memory is short. */
bool micap_order_has_cycle(micap_flow *flow, micap_system *const *systems, uint32_t count);

/* The same for a system that was just put after the last one of the flow, where all was well without it. Looks at the others only if some
 * of them must run before it and some after it. */
bool micap_order_fails(micap_flow *flow, micap_system *added);

#endif
