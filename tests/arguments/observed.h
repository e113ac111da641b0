/* What a program sees of a world beside its hash: a call that only reads leaves it as it is. */
#ifndef ARGUMENTS_OBSERVED_H
#define ARGUMENTS_OBSERVED_H

#include "mica/world.h"

typedef struct observed {
    mica_version since;
    uint64_t structure;
    uint64_t changed; /* which entities have values that changed since then */
    mica_world_stats stats;
} observed;

/* With 0 for `since`, values are not compared: systems and hooks make no queries. */
observed observe_world(mica_world *world, mica_version since);

/* Whether something is another than it was before. */
bool is_touched(mica_world *world, const observed *before);

#endif
