/* Components whose fields lie in columns of their own. In chunks a leaf is a hidden component, in a pool a lane. */
#include "mica/split.h"

#include "base/argument.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/entity/pool_component.h"
#include "core/storage/split_row.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/touch.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"

static const mica_location no_place = {0};

/* The leaf at an offset; NULL with a report. */
static const micap_leaf *find_leaf(const mica_world *world, mica_component component, size_t offset,
                                   mica_location location)
{
    const micap_type *type = micap_type_of(component);
    const micap_leaf *leaf = type ? micap_type_leaf(type, (uint32_t)offset) : NULL;
    if (!leaf)
        micap_fail(world, MICA_ERROR_INVALID, location, "no field of component %s has a column at offset %zu: %s",
                   type ? type->type.name : "without an id", offset,
                   type && type->leaves ? "it is inside an array that is kept whole, or not described"
                                        : "it is not split, describe it with .split = true");
    return leaf;
}

const void *mica_get_field_id(const mica_world *world, mica_entity entity, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const micap_leaf *leaf = find_leaf(world, component, offset, no_place);
    if (!leaf)
        return NULL;
    if (!micap_is_pooled(component))
        return micap_row_leaf(micap_locate(world, entity), leaf);
    const mica_pool *pool = micap_pool_of(world, component);
    uint32_t row = pool ? micap_pooled_row(world, pool, entity) : MICAP_ROW_NONE;
    const micap_pool_column *lane = pool ? micap_pool_column_at(pool, offset) : NULL;
    return row == MICAP_ROW_NONE ? NULL : lane->data + (size_t)row * lane->bytes;
}

void *mica_write_field_id(mica_world *world, mica_entity entity, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    void *value = (void *)mica_get_field_id(world, entity, component, offset);
    if (!value)
        return NULL;
    if (micap_is_pooled(component)) {
        mica_pool *pool = micap_pool_of(world, component);
        uint32_t lane = (uint32_t)(micap_pool_column_at(pool, offset) - pool->lanes) - 1;
        micap_pool_touch(pool, lane, micap_pool_row(pool, entity), 1, micap_version(world));
    } else {
        micap_row spot = micap_locate(world, entity);
        mica_component leaf = micap_type_leaf(micap_type_of(component), (uint32_t)offset)->component;
        micap_touch_value(world, spot.chunk, micap_chunk_find(spot.chunk, leaf)->column, spot.row);
    }
    return value;
}

bool mica_get_value_id(const mica_world *world, mica_entity entity, mica_component component, void *out_value)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_type *type = micap_type_of(component);
    if (!type || MICAP_MISSING_ARRAY(world, out_value, type->type.size_bytes) || !mica_has_id(world, entity, component))
        return false;
    if (micap_is_pooled(component)) {
        const mica_pool *pool = micap_pool_of(world, component);
        MICAP_ASSERT(pool, "the entity has the component");
        if (pool->kind != MICAP_POOL_TAG)
            micap_pool_read_value(pool, micap_pool_row(pool, entity), out_value);
    } else if (type->leaves) {
        micap_row_gather(micap_locate(world, entity), type, out_value);
    } else if (type->type.size_bytes) {
        memcpy(out_value, mica_get_id(world, entity, component), type->type.size_bytes);
    }
    return true;
}

/* The term that reads, or writes, the component; the number of terms when none does. */
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
        micap_fail(view->world, MICA_ERROR_INVALID, query->location, "%s: it does not %s component %s", query->name,
                   write ? "write" : "read", micap_type_of(component)->type.name);
    return term;
}

/* The column of a leaf from the view's first row on; and for whom to stamp it. */
static void *column_of(const mica_view *view, uint32_t term, const micap_leaf *leaf)
{
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
    const micap_leaf *leaf = find_leaf(view->world, component, offset, view->private_.query->location);
    uint32_t term = leaf ? term_of(view, component, false) : view->private_.query->term_count;
    return term < view->private_.query->term_count ? column_of(view, term, leaf) : NULL;
}

void *mica_view_write_field_id(mica_view *view, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    const micap_leaf *leaf = find_leaf(view->world, component, offset, view->private_.query->location);
    uint32_t term = leaf ? term_of(view, component, true) : view->private_.query->term_count;
    void *column = term < view->private_.query->term_count ? column_of(view, term, leaf) : NULL;
    if (!column)
        return NULL;
    mica_version version = micap_view_version(view);
    if (micap_is_pooled(component)) {
        mica_pool *pool = micap_pool_of(view->world, component);
        MICAP_ASSERT(pool, "the query has the term");
        micap_pool_touch(pool, (uint32_t)(leaf - pool->type->leaves), micap_join_row(view, term), view->count, version);
    } else {
        micap_touch_column(view->world, view->private_.chunk,
                           micap_chunk_find(view->private_.chunk, leaf->component)->column, view->private_.row,
                           view->count, version);
    }
    return column;
}
