/* From a world to the leaves of its hash tree. */
#include "snapshot/hash_tree.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "core/storage/rows.h"
#include "mica/entity.h"

#include <stdio.h>
#include <stdlib.h>

mica_hash_tree *micap_hash_tree_create(mica_allocator allocator)
{
    micap_memory memory;
    micap_memory_init(&memory, allocator);
    mica_hash_tree *tree = micap_allocate_zeroed(&memory, sizeof *tree, MICAP_ARRAY_ALIGNMENT);
    if (tree)
        micap_memory_init(&tree->memory, allocator);
    return tree;
}

void mica_hash_tree_free(mica_hash_tree *tree)
{
    if (!tree)
        return;
    MICAP_RELEASE_ARRAY(&tree->memory, tree->leaves, tree->capacity);
    MICAP_RELEASE_ARRAY(&tree->memory, tree->names, tree->name_capacity);
    micap_memory last = {.allocator = tree->memory.allocator};
    atomic_init(&last.bytes, sizeof *tree);
    micap_release(&last, tree, sizeof *tree, MICAP_ARRAY_ALIGNMENT);
}

const char *micap_hash_tree_name(const mica_hash_tree *tree, uint64_t hash)
{
    for (uint32_t i = 0; i < tree->name_count; ++i)
        if (tree->names[i].hash == hash)
            return tree->names[i].text;
    return NULL;
}

bool micap_hash_tree_add_name(mica_hash_tree *tree, uint64_t hash, const char *text)
{
    if (micap_hash_tree_name(tree, hash))
        return true;
    if (!MICAP_RESERVE(&tree->memory, tree->names, &tree->name_capacity, (uint64_t)tree->name_count + 1))
        return false;
    micap_hash_name *name = &tree->names[tree->name_count++];
    name->hash = hash;
    snprintf(name->text, sizeof name->text, "%s", text);
    return true;
}

/* A tree under construction. Failing once, for lack of memory, is failing for good. */
typedef struct micap_hashing {
    const mica_world *world;
    const micap_hash_filter *filter;
    mica_hash_tree *tree;
    bool failed;
} hashing;

static bool is_wanted(const hashing *work, uint64_t table, uint32_t row, uint32_t row_count)
{
    const micap_hash_filter *filter = work->filter;
    return !filter->one_table ||
           (filter->table == table && row < filter->row + filter->row_count && filter->row < row + row_count);
}

static void add_name(hashing *work, uint64_t hash, const char *text)
{
    if (!micap_hash_tree_add_name(work->tree, hash, text))
        work->failed = true;
}

static void add_leaf(hashing *work, const mica_hash_leaf *location, const micap_hasher *hasher)
{
    mica_hash_tree *tree = work->tree;
    if (!MICAP_RESERVE(&tree->memory, tree->leaves, &tree->capacity, (uint64_t)tree->count + 1)) {
        work->failed = true;
        return;
    }
    tree->leaves[tree->count] = *location;
    tree->leaves[tree->count++].hash = micap_hasher_finish(hasher);
}

/* Versions count marks, which programs place as they like. */
static bool is_hashed(const micap_type *type)
{
    return !micap_holds_versions(type->companion);
}

/* Order of first use must not show: names are added up, and listed as they come. */
static uint64_t name_archetype(hashing *work, const micap_archetype *archetype)
{
    uint64_t sum = 1;
    char text[96] = "{";
    size_t length = 1;
    for (uint32_t i = 0; i < archetype->component_count; ++i) {
        const micap_type *type = micap_type_of(archetype->components[i]);
        if (!is_hashed(type))
            continue;
        sum += micap_hash_mix(type->name_hash);
        add_name(work, type->name_hash, type->type.name);
        if (!type->companion && length < sizeof text)
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%s", length > 1 ? ", " : "", type->type.name);
    }
    if (length + 1 < sizeof text)
        memcpy(text + length, "}", 2);
    else
        memcpy(text + sizeof text - 5, "...}", 5);
    uint64_t table = micap_hash_mix(sum);
    add_name(work, table, text);
    return table;
}

/* Rows of a table from here on, wherever chunks end. */
typedef struct micap_rows_left {
    const micap_archetype *archetype;
    uint32_t chunk;
    uint32_t row; /* of the chunk */
    uint32_t count;
} rows_left;

/* The next of them that lie in one chunk. */
static const micap_chunk *take_run(rows_left *left, uint32_t *out_row, uint32_t *out_count)
{
    const micap_chunk *chunk = left->archetype->chunks[left->chunk];
    uint32_t room = chunk->count - left->row;
    *out_row = left->row;
    *out_count = room < left->count ? room : left->count;
    left->row += *out_count;
    left->count -= *out_count;
    if (left->row == chunk->count) {
        left->row = 0;
        ++left->chunk;
    }
    return chunk;
}

static void hash_rows(hashing *work, mica_hash_leaf location, const rows_left *rows)
{
    const micap_archetype *archetype = rows->archetype;
    micap_hasher hasher;
    uint32_t row, count;
    micap_hasher_init(&hasher);
    for (rows_left left = *rows; left.count;) {
        const mica_entity *entities = micap_chunk_entities(take_run(&left, &row, &count)) + row;
        for (uint32_t i = 0; i < count; ++i)
            micap_hash_entity(&hasher, entities[i]);
    }
    add_leaf(work, &location, &hasher);
    for (uint32_t i = 0; i < archetype->column_count; ++i) {
        const micap_type *type = archetype->columns[i].type;
        if (!is_hashed(type))
            continue;
        micap_hasher_init(&hasher);
        for (rows_left left = *rows; left.count;) {
            const micap_chunk *chunk = take_run(&left, &row, &count);
            micap_hash_values(&hasher, type, micap_chunk_value(chunk, i, row), count);
        }
        location.component = type->name_hash;
        add_leaf(work, &location, &hasher);
    }
}

/* Leaves are cut by the number of the row, not where chunks end: worlds with other sizes of chunks have the same. */
static void hash_archetype(hashing *work, const micap_archetype *archetype)
{
    uint32_t total = (uint32_t)archetype->row_count, step = work->filter->leaf_rows, row, count;
    mica_hash_leaf location = {.table = name_archetype(work, archetype)};
    rows_left left = {.archetype = archetype};
    for (; location.row < total; location.row += step) {
        left.count = location.row_count = total - location.row < step ? total - location.row : step;
        location.entity = micap_chunk_entities(archetype->chunks[left.chunk])[left.row];
        if (is_wanted(work, location.table, location.row, location.row_count))
            hash_rows(work, location, &left);
        while (left.count)
            take_run(&left, &row, &count);
    }
}

typedef struct micap_pool_hashing {
    mica_hash_leaf location;
    micap_hasher owners, values;
} pool_hashing;

static void end_pool_leaf(hashing *work, const mica_pool *pool, pool_hashing *leaf)
{
    mica_hash_leaf *location = &leaf->location;
    if (location->row_count && is_wanted(work, location->table, location->row, location->row_count)) {
        location->component = 0;
        add_leaf(work, location, &leaf->owners);
        location->component = pool->type->name_hash;
        add_leaf(work, location, &leaf->values);
    }
    location->row += location->row_count;
    location->row_count = 0;
}

/* Rows of destroyed entities are not hashed. */
static void hash_pool(hashing *work, const mica_pool *pool)
{
    char text[96];
    snprintf(text, sizeof text, "pool %s", pool->type->type.name);
    pool_hashing leaf = {.location = {.table = micap_hash_text(text)}};
    add_name(work, leaf.location.table, text);
    add_name(work, pool->type->name_hash, pool->type->type.name);
    uint32_t limit = micap_pool_limit(pool);
    for (uint32_t row = micap_pool_next_used(pool, 0); row < limit; row = micap_pool_next_used(pool, row + 1)) {
        mica_entity owner = micap_pool_living_owner(work->world, pool, row);
        if (mica_is_nil(owner))
            continue;
        if (leaf.location.row_count++ == 0) {
            leaf.location.entity = owner;
            micap_hasher_init(&leaf.owners);
            micap_hasher_init(&leaf.values);
        }
        micap_hash_entity(&leaf.owners, owner);
        micap_hash_pool_value(&leaf.values, pool, row);
        if (leaf.location.row_count == work->filter->leaf_rows)
            end_pool_leaf(work, pool, &leaf);
    }
    end_pool_leaf(work, pool, &leaf);
}

static void hash_word(hashing *work, const char *what, uint64_t hash)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, hash, 8);
    mica_hash_leaf location = {.component = micap_hash_text(what)};
    add_name(work, location.component, what);
    if (hash)
        add_leaf(work, &location, &hasher);
}

static void hash_singletons(hashing *work)
{
    const micap_components *components = &work->world->components;
    for (mica_component id = 0; (id = micap_component_after(components, id)) != 0;) {
        const micap_component *component = micap_component_of(components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hash_values(&hasher, component->type, component->singleton, 1);
        add_leaf(work, &(mica_hash_leaf){.component = component->type->name_hash}, &hasher);
        add_name(work, component->type->name_hash, component->type->type.name);
    }
}

int micap_hash_leaf_compare(const mica_hash_leaf *a, const mica_hash_leaf *b)
{
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->component < b->component ? -1 : a->component > b->component;
}

static int compare_for_sorting(const void *a, const void *b)
{
    return micap_hash_leaf_compare(a, b);
}

static void sort_leaves(mica_hash_tree *tree)
{
    if (tree->count)
        qsort(tree->leaves, tree->count, sizeof *tree->leaves, compare_for_sorting);
}

mica_hash_tree *micap_hash_tree_of_world(const mica_world *world, const micap_hash_filter *filter)
{
    hashing work = {.world = world, .filter = filter, .tree = micap_hash_tree_create(world->memory.allocator)};
    if (!work.tree)
        return micap_fail_memory(world, "hash tree"), NULL;
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        if (world->archetypes.by_id[i]->row_count)
            hash_archetype(&work, world->archetypes.by_id[i]);
    for (uint32_t i = 0; i < world->pools.count; ++i)
        hash_pool(&work, world->pools.all[i]);
    if (!filter->one_table) {
        hash_singletons(&work);
        hash_word(&work, "names", micap_hash_names(world));
        hash_word(&work, "links, time and messages", micap_modules_hash(world, true));
    }
    if (work.failed) {
        mica_hash_tree_free(work.tree);
        return micap_fail_memory(world, "hash tree"), NULL;
    }
    sort_leaves(work.tree);
    return work.tree;
}

mica_hash_tree *mica_hash_tree_take(const mica_world *world, uint32_t leaf_rows)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (leaf_rows != MICA_HASH_ROWS && leaf_rows != MICA_HASH_SLICES) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "hash tree: leaves have %d rows or 1, not %u",
                   MICA_HASH_SLICES, leaf_rows);
        return NULL;
    }
    return micap_hash_tree_of_world(world, &(micap_hash_filter){.leaf_rows = leaf_rows});
}

mica_hash_tree *mica_hash_tree_from_leaves(const mica_hash_leaf *leaves, uint32_t count)
{
    if (MICAP_MISSING_ARRAY(NULL, leaves, count))
        return NULL;
    mica_hash_tree *tree = micap_hash_tree_create((mica_allocator){0});
    bool fine = tree && MICAP_RESERVE(&tree->memory, tree->leaves, &tree->capacity, count);
    if (fine && count) {
        memcpy(tree->leaves, leaves, count * sizeof *leaves);
        tree->count = count;
        sort_leaves(tree);
    }
    for (uint32_t i = 1; fine && i < count; ++i)
        fine = micap_hash_leaf_compare(&tree->leaves[i - 1], &tree->leaves[i]) != 0;
    if (!fine)
        mica_hash_tree_free(tree);
    return fine ? tree : NULL;
}

uint64_t mica_hash_tree_root(const mica_hash_tree *tree)
{
    if (MICAP_MISSING(NULL, tree))
        return 0;
    uint64_t root = tree->count;
    for (uint32_t i = 0; i < tree->count; ++i) {
        const mica_hash_leaf *leaf = &tree->leaves[i];
        root = micap_hash_mix(root ^ leaf->hash) + micap_hash_mix(leaf->table ^ leaf->component) + leaf->row;
    }
    return root;
}

const mica_hash_leaf *mica_hash_tree_leaves(const mica_hash_tree *tree, uint32_t *out_count)
{
    if (MICAP_MISSING(NULL, tree) || MICAP_MISSING(NULL, out_count))
        return NULL;
    *out_count = tree->count;
    return tree->leaves;
}
