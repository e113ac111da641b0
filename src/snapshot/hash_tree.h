/* Hash trees, stored flat: sorted leaves, and the texts of hashed names. */
#ifndef MICAP_SNAPSHOT_HASH_TREE_H
#define MICAP_SNAPSHOT_HASH_TREE_H

#include "base/memory.h"
#include "mica/hash.h"

/* The text of a hash: the name of a component, or a description of an archetype or pool. */
typedef struct micap_hash_name {
    uint64_t hash;
    char text[96];
} micap_hash_name;

struct mica_hash_tree {
    micap_memory memory;
    mica_hash_leaf *leaves; /* by table, row, component; no two have the same place */
    uint32_t count;
    uint32_t capacity;
    micap_hash_name *names;
    uint32_t name_count;
    uint32_t name_capacity;
};

/* Which leaves of a world are wanted. */
typedef struct micap_hash_filter {
    uint32_t leaf_rows;
    bool one_table; /* and of it only the rows: */
    uint64_t table;
    uint32_t row;
    uint32_t row_count;
} micap_hash_filter;

/* An empty tree; NULL when memory is short. */
mica_hash_tree *micap_hash_tree_create(mica_allocator allocator);
/* NULL with a report when memory is short. */
mica_hash_tree *micap_hash_tree_of_world(const mica_world *world, const micap_hash_filter *filter);

/* Negative when the place of `a` comes before that of `b`, 0 when it is the same. */
int micap_hash_leaf_compare(const mica_hash_leaf *a, const mica_hash_leaf *b);

bool micap_hash_tree_add_name(mica_hash_tree *tree, uint64_t hash, const char *text);
/* NULL if the tree has no text for it. */
const char *micap_hash_tree_name(const mica_hash_tree *tree, uint64_t hash);

#endif
