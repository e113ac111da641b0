/* What before and after ask for, and the order that gives it. */
#ifndef MICAP_FLOW_SCHEDULE_SYSTEM_ORDER_H
#define MICAP_FLOW_SCHEDULE_SYSTEM_ORDER_H

#include "flow/schedule/flow.h"

/* Pairs of places in a list of systems: the first runs before the second. */
typedef struct micap_asked {
    struct micap_pair {
        uint32_t from, to;
    } * pairs;
    uint32_t count;
    uint32_t capacity;
} micap_asked;

/* Adds what these systems of one phase ask of each other; false when memory is short. */
bool micap_asked_collect(mica_world *world, micap_system *const *systems, uint32_t count, micap_asked *out);
void micap_asked_free(mica_world *world, micap_asked *asked);

/* Fills in the order: as they stand, as far as the pairs allow. Returns how many were placed, fewer than all when the pairs
 * make a loop; `waiting`, of `count` numbers, is UINT32_MAX for those that were. */
uint32_t micap_order_sort(const micap_asked *asked, uint32_t count, uint32_t *waiting, uint32_t *out_order);

#endif
