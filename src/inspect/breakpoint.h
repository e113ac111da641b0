/* Pauses a world when a query finds something that it did not find before. */
#ifndef MICAP_INSPECT_BREAKPOINT_H
#define MICAP_INSPECT_BREAKPOINT_H

#include "mica/query.h"
#include "mica/value.h"

enum { MICAP_BREAKPOINT_TEXT_MAX = 1024 };

/* Zero is none. */
typedef struct micap_breakpoint {
    mica_query *query;
    char text[MICAP_BREAKPOINT_TEXT_MAX];
    bool was_true;
    uint64_t frame; /* in which it paused the world; 0: not yet */
} micap_breakpoint;

/* Replaces the query; an empty text removes it. On error the old one stays. */
mica_result micap_breakpoint_set(micap_breakpoint *breakpoint, mica_world *world, const char *text,
                                 mica_value_error *out_error);
void micap_breakpoint_clear(micap_breakpoint *breakpoint);
/* Looks at the world after a frame. Returns whether it was paused. */
bool micap_breakpoint_check(micap_breakpoint *breakpoint, mica_world *world);

#endif
