#include "inspect/breakpoint.h"

#include "mica/flow.h"
#include "mica/query_text.h"

#include <stdio.h>
#include <string.h>

void micap_breakpoint_clear(micap_breakpoint *breakpoint)
{
    mica_query_destroy(breakpoint->query);
    *breakpoint = (micap_breakpoint){0};
}

mica_result micap_breakpoint_set(micap_breakpoint *breakpoint, mica_world *world, const char *text,
                                 mica_value_error *out_error)
{
    *out_error = (mica_value_error){0};
    if (strlen(text) >= MICAP_BREAKPOINT_TEXT_MAX) {
        snprintf(out_error->text, sizeof out_error->text, "the query is too long");
        return MICA_ERROR_LIMIT;
    }
    mica_query *query = *text ? mica_query_text(world, text, out_error) : NULL;
    if (*text && !query)
        return MICA_ERROR_INVALID;
    micap_breakpoint_clear(breakpoint);
    breakpoint->query = query;
    snprintf(breakpoint->text, sizeof breakpoint->text, "%s", text);
    breakpoint->was_true = query && mica_query_count(query) != 0;
    return MICA_OK;
}

bool micap_breakpoint_check(micap_breakpoint *breakpoint, mica_world *world)
{
    if (!breakpoint->query)
        return false;
    bool is_true = mica_query_count(breakpoint->query) != 0, hits = is_true && !breakpoint->was_true;
    breakpoint->was_true = is_true;
    if (!hits)
        return false;
    mica_pause(world, true);
    breakpoint->frame = mica_time_get(world).frame;
    return true;
}
