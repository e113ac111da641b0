#include "core/storage/split_row.h"

#include "core/storage/chunk_write.h"
#include "core/world/report.h"

const micap_leaf *micap_split_leaf(const mica_world *world, mica_component component, size_t offset,
                                   mica_location location)
{
    const micap_type *type = micap_type_of(component);
    const micap_leaf *leaf = type ? micap_type_leaf(type, (uint32_t)offset) : NULL;
    if (!leaf)
        micap_fail(world, MICA_ERROR_INVALID, location, "no field of component %s has a column at offset %zu: %s",
                   type ? type->type.name : "without an id", offset,
                   type && type->leaves ? "the field is inside an array or is not described"
                                        : "the component is not split; describe it with .split = true");
    return leaf;
}

void *micap_row_leaf(micap_row spot, const micap_leaf *leaf)
{
    return micap_finder_value(micap_chunk_find(spot.chunk, leaf->component), spot.row);
}

void micap_row_scatter(micap_row spot, const micap_type *type, const void *value)
{
    if (!value)
        value = type->initial;
    for (uint32_t i = 0; i < type->leaf_count; ++i) {
        const micap_leaf *leaf = &type->leaves[i];
        if (value)
            memcpy(micap_row_leaf(spot, leaf), (const char *)value + leaf->offset, leaf->bytes);
        else
            memset(micap_row_leaf(spot, leaf), 0, leaf->bytes);
    }
}

void micap_row_overwrite_leaves(mica_world *world, micap_row spot, const micap_type *type, const void *value)
{
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        micap_touch_value(world, spot.chunk, micap_chunk_find(spot.chunk, type->leaves[i].component)->column, spot.row);
    micap_row_scatter(spot, type, value);
}

void micap_row_gather(micap_row spot, const micap_type *type, void *out)
{
    memset(out, 0, type->type.size_bytes);
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        memcpy((char *)out + type->leaves[i].offset, micap_row_leaf(spot, &type->leaves[i]), type->leaves[i].bytes);
}
