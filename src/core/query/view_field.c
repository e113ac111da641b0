/* Fields of split components in views. */
#include "mica/split.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/pattern_view.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/split_row.h"
#include "core/storage/chunk_write.h"
#include "core/world/report.h"
#include "pool/pool_undo.h"

/* The index of the term that reads or writes the component. If there is none, reports it and returns the number of terms. */
static uint32_t term_of(const mica_view *view, mica_component component, bool write)
{
    const mica_query *query = view->private_.query;
    uint32_t term = 0;
    for (; term < query->term_count; ++term) {
        mica_access access = query->terms[term].access;
        if (query->terms[term].component == component &&
            (write ? micap_access_writes(access) : micap_access_reads(access)))
            break;
    }
    if (term == query->term_count)
        micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                   "%s: no term of this query %s component %s", query->name, write ? "writes" : "reads",
                   micap_type_of(component)->type.name);
    return term;
}

/* The values of a leaf, starting with the first row of the view. */
static void *column_of(const mica_view *view, uint32_t term, const micap_leaf *leaf)
{
    if (view->private_.query->pattern) {
        view = micap_pattern_inner(view, term, &term);
        if (!view || !micap_view_has_term(view, term))
            return NULL;
    }
    if (!micap_is_pooled(view->private_.query->terms[term].component))
        return micap_row_leaf((micap_row){view->private_.chunk, view->private_.row}, leaf);
    const mica_pool *pool = micap_pool_of(view->world, view->private_.query->terms[term].component);
    const micap_pool_column *lane = micap_pool_column_at(pool, leaf->offset);
    uint32_t row = micap_join_row(view, term);
    return row == MICAP_ROW_NONE ? NULL : lane->data + (size_t)row * lane->bytes;
}

const void *mica_view_read_field_id(const mica_view *view, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    const micap_leaf *leaf =
        micap_split_leaf(view->world, component, offset, micap_place_of_call(view->private_.query->location));
    uint32_t term = leaf ? term_of(view, component, false) : view->private_.query->term_count;
    return term < view->private_.query->term_count ? column_of(view, term, leaf) : NULL;
}

static void *write_field(mica_view *view, mica_component component, size_t offset, bool marks)
{
    const micap_leaf *leaf =
        micap_split_leaf(view->world, component, offset, micap_place_of_call(view->private_.query->location));
    uint32_t term = leaf ? term_of(view, component, true) : view->private_.query->term_count;
    void *column = term < view->private_.query->term_count ? column_of(view, term, leaf) : NULL;
    if (!column)
        return NULL;
    mica_version version = micap_view_version(view);
    if (view->private_.query->pattern)
        view = micap_pattern_inner(view, term, &term); /* which has the column */
    if (micap_is_pooled(component)) {
        mica_pool *pool = micap_pool_of(view->world, component);
        MICAP_ASSERT(pool, "the query has the term");
        uint32_t lane = (uint32_t)(leaf - pool->type->leaves), row = micap_join_row(view, term);
        (marks ? micap_pool_touch : micap_pool_touch_unmarked)(pool, lane, row, view->count, version);
    } else {
        (marks ? micap_touch_column : micap_touch_unmarked)(
            view->world, view->private_.chunk, micap_chunk_find(view->private_.chunk, leaf->component)->column,
            view->private_.row, view->count, version);
    }
    return column;
}

void *mica_view_write_field_id(mica_view *view, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    return write_field(view, component, offset, true);
}

void *mica_view_write_field_unmarked_id(mica_view *view, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    return write_field(view, component, offset, false);
}
