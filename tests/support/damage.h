/* Proof that validators see what they look for: a table of single words, in a healthy world, that are given a wrong value
 * from the inside. Each must be named by mica_world_validate, and nothing once it is mended.
 *
 *     const damage list[] = {DAMAGE(pool->count, pool->count + 1, "a pool counts its rows")};
 *     expect_damage_named(world, &heard, list, COUNT_OF(list));
 */
#ifndef MICA_TESTS_SUPPORT_DAMAGE_H
#define MICA_TESTS_SUPPORT_DAMAGE_H

#include "reports.h"

typedef struct damage {
    void *at;
    size_t bytes; /* 1, 2, 4 or 8 */
    uint64_t wrong;
    const char *named; /* what the report says */
} damage;

#define DAMAGE(location, wrong_value, name) {(void *)&(location), sizeof(location), (uint64_t)(wrong_value), (name)}

#define expect_damage_named(world, heard, list, count)                                                                 \
    expect_damage_named_at((world), (heard), (list), (count), MICA_HERE)
void expect_damage_named_at(mica_world *world, reports *heard, const damage *list, uint32_t count,
                            mica_location caller);

#endif
