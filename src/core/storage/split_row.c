#include "core/storage/split_row.h"

#include "core/storage/touch.h"

void *micap_row_leaf(micap_row spot, const micap_leaf *leaf)
{
    return micap_finder_value(micap_chunk_find(spot.chunk, leaf->component), spot.row);
}

void micap_row_scatter(micap_row spot, const micap_type *type, const void *value)
{
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
