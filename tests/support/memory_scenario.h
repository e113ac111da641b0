/* One public call on a prepared world, run with the first allocation failing, then the second, and so on until the call needs no
 * more. After each failure the error is known, the invariants hold and the world is as it was; the same call then succeeds and
 * ends where a call that never failed ends. */
#ifndef MICA_TESTS_SUPPORT_MEMORY_SCENARIO_H
#define MICA_TESTS_SUPPORT_MEMORY_SCENARIO_H

#include "memory_fixture.h"

typedef struct scenario {
    const char *name;
    void (*prepare)(fixture *fixture); /* may be NULL */
    bool (*act)(fixture *fixture);     /* the one call; whether it succeeded */
    void (*finish)(fixture *fixture);  /* brings to light what was only recorded; may be NULL */
} scenario;

/* With one failure at each point, and with everything failing from there on. */
void scenario_fail_everywhere(const scenario *scenario);

#endif
