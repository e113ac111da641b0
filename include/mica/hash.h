/* Mica, hash: find out where two worlds differ.
 *
 *     mica_difference difference;
 *     if (mica_hash_diff(server, client, &difference))
 *         puts(difference.text);     "Position.x of entity 700 (generation 1), in {Position, Velocity}, row 188"
 *
 * A hash tree covers the world, its archetypes and pools, their slices, and the columns of each slice. Trees can be compared
 * without the worlds, which may be in other processes: send the root every tick, and the leaves if roots differ. mica/recording.h
 * stores the trees of a whole run in a file.
 */
#ifndef MICA_HASH_H
#define MICA_HASH_H

#include "mica/handle.h"
#include "mica/view.h"
#include "mica/world.h"

MICA_BEGIN

enum {
    MICA_HASH_SLICES = MICA_SLICE_ROWS, /* a leaf is a column of a slice */
    MICA_HASH_ROWS = 1,                 /* a leaf is one value of one entity */
};

/* A leaf: a column of some rows, or something that exists once per world. */
typedef struct mica_hash_leaf {
    uint64_t table; /* hash of the component names of an archetype, or of the name of a pool component; 0: the world */
    uint64_t component; /* hash of the component name; 0: the entities and their order */
    uint32_t row;       /* first row, counted from the start of the archetype or pool */
    uint32_t row_count;
    mica_entity entity; /* of the first row; nil for leaves of the world */
    uint64_t hash;
} mica_hash_leaf;

typedef struct mica_hash_tree mica_hash_tree;

/* Computes the hash tree of a world with leaves of MICA_HASH_SLICES or MICA_HASH_ROWS rows. Returns NULL with a report if memory runs
 * out. The tree can outlive the world, but not the world's allocator. Threads: reader. */
MICA_API mica_hash_tree *mica_hash_tree_take(const mica_world *world, uint32_t leaf_rows);

/* Creates a tree from leaves, for example from another process. The leaves are copied. Component names are those known to this
 * process. Returns NULL if memory runs out, or two leaves have the same position. Threads: any. */
MICA_API mica_hash_tree *mica_hash_tree_from_leaves(const mica_hash_leaf *leaves, uint32_t count);

/* Frees a tree. NULL is a no-op. Threads: any, if no thread uses it. */
MICA_API void mica_hash_tree_free(mica_hash_tree *tree);

/* Returns the hash over all leaves. It differs from mica_world_hash. Threads: any. */
MICA_API uint64_t mica_hash_tree_root(const mica_hash_tree *tree);

/* Returns the leaves, sorted by table, row and component, and their number. Valid as long as the tree. Threads: any. */
MICA_API const mica_hash_leaf *mica_hash_tree_leaves(const mica_hash_tree *tree, uint32_t *out_count);

/* The first difference. Unknown parts are empty, nil or 0. */
typedef struct mica_difference {
    uint64_t tick; /* of a recording */
    char system[64];
    char component[64];
    char field[64];
    char table[96]; /* "{Position, Velocity}", or "pool Burning" */
    mica_entity entity;
    uint32_t row; /* first differing row */
    uint32_t row_count;
    char text[512]; /* a description of all of it */
} mica_difference;

/* Returns whether two trees differ, and the first difference. Both must have leaves of the same size. `out` may be NULL.
 * Threads: any. */
MICA_API bool mica_hash_tree_diff(const mica_hash_tree *a, const mica_hash_tree *b, mica_difference *out);

/* Returns whether two worlds differ in what mica_world_hash covers, and the first component, entity and field that differ. `out` may
 * be NULL. If memory runs out, which is reported, it returns true without details. Threads: reader of both. */
MICA_API bool mica_hash_diff(const mica_world *a, const mica_world *b, mica_difference *out);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_hash_tree_take(world, ...) mica_hash_tree_take(MICA_AT_(world), __VA_ARGS__)
#    define mica_hash_tree_from_leaves(...) MICA_AT_(mica_hash_tree_from_leaves(__VA_ARGS__))
#    define mica_hash_tree_free(tree) mica_hash_tree_free(MICA_AT_(tree))
#    define mica_hash_tree_root(tree) mica_hash_tree_root(MICA_AT_(tree))
#    define mica_hash_tree_leaves(tree, ...) mica_hash_tree_leaves(MICA_AT_(tree), __VA_ARGS__)
#    define mica_hash_tree_diff(a, ...) mica_hash_tree_diff(MICA_AT_(a), __VA_ARGS__)
#    define mica_hash_diff(a, ...) mica_hash_diff(MICA_AT_(a), __VA_ARGS__)
#endif
#endif
