/* Views of tracked components (.track_changed) that are written without marking all of their rows as changed. */
#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/pattern_view.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/storage/chunk_write.h"
#include "core/storage/pool_lookup.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "pool/pool_undo.h"

/* The term that writes a component; the number of terms if there is none. */
static uint32_t writing_term(const mica_view *view, mica_component component)
{
    const mica_query *query = view->private_.query;
    uint32_t term = 0;
    while (term < query->term_count &&
           (query->terms[term].component != component || !micap_access_writes(query->terms[term].access)))
        ++term;
    return term;
}

static bool is_tracked(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type && type->type.track_changed;
}

void *mica_view_write_unmarked_id(mica_view *view, mica_component component)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    uint32_t term = writing_term(view, component);
    void *values = term < view->private_.query->term_count ? view->private_.columns[term] : NULL;
    if (!values || !is_tracked(component))
        return mica_view_write_id(view, component); /* which reports what is wrong */
    micap_check_view(view);
    mica_version version = micap_view_version(view);
    const mica_view *outer = view;
    uint32_t outer_term = term;
    if (view->private_.query->pattern && !(view = micap_pattern_inner(outer, term, &term)))
        return NULL; /* another loop has taken its place */
    if (micap_is_pooled(component))
        micap_pool_touch_unmarked(micap_pool_of(view->world, component), 0, micap_join_row(view, term), view->count,
                                  version);
    else
        micap_touch_unmarked(view->world, view->private_.chunk,
                             micap_chunk_find(view->private_.chunk, component)->column, view->private_.row, view->count,
                             version);
    return micap_lend_column(outer, outer_term, values);
}

static MICAP_COLD void report_mark(const mica_view *view, mica_component component, const char *problem)
{
    const micap_type *type = micap_type_of(component);
    micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(view->private_.query->location),
               "%s: a row of component %s can't be marked: %s", view->private_.query->name,
               type ? type->type.name : "?", problem);
}

void mica_view_mark_id(mica_view *view, mica_component component, uint32_t row)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return;
    micap_check_view(view);
    uint32_t term = writing_term(view, component);
    if (term == view->private_.query->term_count) {
        report_mark(view, component, "no term of the query writes it");
        return;
    }
    if (!is_tracked(component)) {
        report_mark(view, component, "it is not tracked; describe it with .track_changed = true");
        return;
    }
    if (row >= view->count) {
        report_mark(view, component, "the view does not have so many rows");
        return;
    }
    mica_version version = micap_view_version(view);
    if (view->private_.query->pattern) {
        view = micap_pattern_inner(view, term, &term);
        if (!view)
            return;
        row = row < view->count ? row : 0; /* of other entities there is one value for all rows */
    }
    if (micap_is_pooled(component)) {
        uint32_t first = micap_join_row(view, term);
        if (first != MICAP_ROW_NONE)
            micap_pool_mark(micap_pool_of(view->world, component), first + row, 1, version);
        return;
    }
    const micap_chunk *chunk = view->private_.chunk;
    uint32_t changed = micap_archetype_column(chunk->archetype, micap_type_of(component)->changed);
    if (changed != MICAP_COLUMN_NONE)
        micap_mark_rows(view->world, chunk, changed, view->private_.row + row, 1, version);
}
