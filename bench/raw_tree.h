/* The baseline of the hierarchy: a struct of indices beside the arrays of raw.h, and an array sorted by depth for transforms. Code
 * for exactly this purpose, without generality. */
#ifndef BENCH_RAW_TREE_H
#define BENCH_RAW_TREE_H

#include "raw.h"

#include "mica/transform.h"

typedef struct raw_link {
    uint32_t parent, first_child, last_child, next, previous; /* RAW_NONE where there is none */
} raw_link;

typedef struct raw_tree {
    raw_world world;
    raw_link *links; /* by slot */
    uint32_t link_capacity;
} raw_tree;

raw_tree raw_tree_make(void);
void raw_tree_free(raw_tree *tree);

/* Makes one the last child of another that has no parent yet. False when either is dead or memory is short. */
bool raw_tree_link(raw_tree *tree, raw_id child, raw_id parent);

/* Destroys an entity and everything below it, children first. */
bool raw_tree_destroy(raw_tree *tree, raw_id id);

/* Transforms sorted by depth, parents before children; parent[i] is below i, or i itself for a root. */
typedef struct raw_transforms {
    uint32_t count;
    uint32_t *parent;
    bool *moved;
    mica_local *local;
    mica_global_matrix *matrix;
} raw_transforms;

void raw_transforms_update(raw_transforms *transforms);

#endif
