/* Transform propagation: from local transforms to world matrices, parents before children.
 *
 * An update first looks at rows: slices that were written or moved since the last update are compared, row by row, with the
 * local transforms that nodes remember (transform_order.h). Nodes whose local transform differs have moved. Then it goes down
 * level by level: nodes that have moved get their matrices, written straight into their rows, and mark their children, which
 * are consecutive bytes. A level is a loop over independent nodes, which can be divided anywhere. */
#ifndef MICAP_HIERARCHY_TRANSFORM_PROPAGATION_H
#define MICAP_HIERARCHY_TRANSFORM_PROPAGATION_H

#include "hierarchy/transform_order.h"

/* A slice of rows that may have changed. */
typedef struct micap_transform_slice {
    micap_chunk *chunk;
    uint32_t row;
    uint32_t count;
    uint16_t local_column;
    uint16_t matrix_column;
    bool has_moved; /* rows were added or moved since the last update */
} micap_transform_slice;

typedef struct micap_transforms {
    mica_query *query;
    mica_version seen; /* stamps up to this version are processed */
    micap_transform_nodes nodes;
    micap_transform_nodes spare; /* the memory of the previous nodes, for the next sort */
    bool is_new;                 /* matrices and stamps of nodes are unknown */
    /* In one update. */
    micap_transform_slice *slices; /* to compare */
    uint32_t slice_count;
    uint32_t slice_capacity;
    uint64_t row_count;
    atomic_bool has_new; /* rows whose entities have no node */
    mica_entity relinked[MICAP_RELINKED_MAX];
} micap_transforms;

void micap_transforms_free(micap_hierarchy *hierarchy);

/* Sorts the nodes after a snapshot was restored in which stamps up to `seen` were processed. Rows with newer stamps count as
 * moved. If memory is short, all rows count as moved. */
void micap_transforms_restore(micap_hierarchy *hierarchy, mica_version seen);

/* Frees memory that only the next sort needs. */
void micap_transforms_trim(micap_hierarchy *hierarchy);

#endif
