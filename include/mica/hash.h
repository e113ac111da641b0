/* Mica, hash: where two worlds differ, and not only that they do.
 *
 *     mica_difference difference;
 *     if (mica_hash_diff(server, client, &difference))
 *         puts(difference.text);     "Position.x of entity 700 (generation 1), in {Position, Velocity}, row 188"
 *
 * A tree of hashes: the world, its archetypes and pools, their slices, the columns of each. Two trees are compared without the
 * worlds, which may be in other processes or long gone: send the root every tick, the leaves when roots differ.
 * mica/record.h keeps trees of a whole run in a file.
 */
#ifndef MICA_HASH_H
#define MICA_HASH_H

#include "mica/handle.h"
#include "mica/view.h"
#include "mica/world.h"

MICA_BEGIN

enum {
    MICA_HASH_SLICES = MICA_SLICE_ROWS, /* a leaf is a column of a slice */
    MICA_HASH_ROWS = 1,                 /* a leaf is a value of an entity: to name it */
};

/* A column of some rows, or what there is one of in a world. */
typedef struct mica_hash_leaf {
    uint64_t
        table; /* hash of the names of an archetype's components; of the name of a component in a pool; 0: the world */
    uint64_t component; /* hash of its name; 0: which entities there are, and in which order */
    uint32_t row;       /* the first one, counted from the beginning of the archetype or pool */
    uint32_t row_count;
    mica_entity entity; /* of the first row; nil in the world's own leaves */
    uint64_t hash;
} mica_hash_leaf;

typedef struct mica_hash_tree mica_hash_tree;

/* Hashes a world, with leaves of that many rows at most: MICA_HASH_SLICES or MICA_HASH_ROWS. Returns NULL with a report
 * when memory is short. It lives on without the world, but not without the world's allocator. Threads: reader. */
MICA_API mica_hash_tree *mica_hash_tree_take(const mica_world *world, uint32_t leaf_rows);

/* A tree of leaves from elsewhere, which are copied: from another process, say. The names of its components are those that
 * this process knows. Returns NULL when memory is short, or two leaves have the same place. Threads: any. */
MICA_API mica_hash_tree *mica_hash_tree_from_leaves(const mica_hash_leaf *leaves, uint32_t count);

/* Gives a tree back; NULL is fine. Threads: any, when nobody uses it. */
MICA_API void mica_hash_tree_free(mica_hash_tree *tree);

/* Returns the hash of all leaves: equal when all are. Another one than mica_world_hash. Threads: any. */
MICA_API uint64_t mica_hash_tree_root(const mica_hash_tree *tree);

/* Returns the leaves, by table, row and component, and how many they are. They live as long as the tree. Threads: any. */
MICA_API const mica_hash_leaf *mica_hash_tree_leaves(const mica_hash_tree *tree, uint32_t *out_count);

/* What differs first, as far as it is known: texts are empty, the entity nil and the rest 0 where it is not. */
typedef struct mica_difference {
    uint64_t tick; /* of a recording */
    char system[64];
    char component[64];
    char field[64];
    char table[96]; /* "{Position, Velocity}", or "pool Burning" */
    mica_entity entity;
    uint32_t row; /* first of the rows that differ */
    uint32_t row_count;
    char text[512]; /* all of it in words */
} mica_difference;

/* Returns whether two trees differ, and says where first. Leaves of the same size must be compared. `out` may be NULL.
 * Threads: any. */
MICA_API bool mica_hash_tree_diff(const mica_hash_tree *a, const mica_hash_tree *b, mica_difference *out);

/* Returns whether two worlds differ in what mica_world_hash sees, and names the first component, entity and field that do. `out`
 * may be NULL. When memory is short, which is reported, it says that they differ without saying where. Threads: reader of
 * both. */
MICA_API bool mica_hash_diff(const mica_world *a, const mica_world *b, mica_difference *out);

MICA_END
#endif
