/* Fields of split components by entity. Each field has a column of its own: in chunks the column of a hidden component, in pools a
 * column of the pool. core/query/view_field.c does the same for views. */
#include "mica/split.h"

#include "base/argument.h"
#include "core/entity/pool_component.h"
#include "core/storage/split_row.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"

const void *mica_get_field_id(const mica_world *world, mica_entity entity, mica_component component, size_t offset)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const micap_leaf *leaf = micap_split_leaf(world, component, offset, (mica_location){0});
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
