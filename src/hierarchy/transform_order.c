#include "hierarchy/transform_order.h"

#include "base/bits.h"
#include "core/query/query.h"

enum { TAKES_PART = INT32_MAX }; /* in by_index, until the node is known */

void micap_transform_nodes_free(mica_world *world, micap_transform_nodes *nodes)
{
    micap_release(&world->memory, nodes->memory, nodes->memory_bytes, MICAP_CACHE_LINE);
    *nodes = (micap_transform_nodes){0};
}

/* Takes a block with enough room: the spare one, or a new one that is somewhat larger, for a tree that grows. */
static bool take_memory(mica_world *world, micap_transform_nodes *spare, micap_transform_nodes *nodes)
{
    if (spare->memory_bytes < nodes->bytes) {
        size_t bytes = micap_align_up(nodes->bytes + nodes->bytes / 4, MICAP_CACHE_LINE);
        void *memory = micap_allocate(&world->memory, bytes, MICAP_CACHE_LINE);
        if (!memory)
            return false;
        micap_transform_nodes_free(world, spare);
        spare->memory = memory;
        spare->memory_bytes = bytes;
    }
    nodes->memory = spare->memory;
    nodes->memory_bytes = spare->memory_bytes;
    *spare = (micap_transform_nodes){0};
    return true;
}

/* Returns the next array of the block, or only counts its bytes while there is no block. */
static void *cut(micap_transform_nodes *nodes, size_t bytes)
{
    void *array = nodes->memory ? (char *)nodes->memory + nodes->bytes : NULL;
    nodes->bytes += micap_align_up(bytes, MICAP_CACHE_LINE);
    return array;
}

static void lay_out(micap_transform_nodes *nodes)
{
    size_t count = nodes->capacity;
    nodes->bytes = 0;
    nodes->entities = cut(nodes, count * sizeof *nodes->entities);
    nodes->matrices = cut(nodes, count * sizeof *nodes->matrices);
    nodes->stamps = cut(nodes, count * sizeof *nodes->stamps);
    nodes->locals = cut(nodes, count * sizeof *nodes->locals);
    nodes->parents = cut(nodes, count * sizeof *nodes->parents);
    nodes->child_begins = cut(nodes, ((size_t)nodes->sorted_count + 1) * sizeof *nodes->child_begins);
    nodes->level_begins = cut(nodes, ((size_t)nodes->sorted_count + 2) * sizeof *nodes->level_begins);
    nodes->moved = cut(nodes, count);
    nodes->by_index = cut(nodes, nodes->index_count * sizeof *nodes->by_index);
}

/* Calls the function for every chunk of the rows that take part. */
typedef void (*chunk_fn)(const micap_chunk *chunk, void *context);

static void each_chunk(const mica_query *query, chunk_fn fn, void *context)
{
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        for (uint32_t i = 0; archetype->row_count && i <= archetype->tail; ++i)
            fn(archetype->chunks[i], context);
    }
}

static void measure_chunk(const micap_chunk *chunk, void *context)
{
    micap_transform_nodes *nodes = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    nodes->count += chunk->count;
    for (uint32_t row = 0; row < chunk->count; ++row)
        if (entities[row].index >= nodes->index_count)
            nodes->index_count = entities[row].index + 1;
}

static void enlist_chunk(const micap_chunk *chunk, void *context)
{
    micap_transform_nodes *nodes = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count; ++row)
        nodes->by_index[entities[row].index] = TAKES_PART;
}

static bool takes_part(const micap_transform_nodes *nodes, uint32_t index)
{
    return index < nodes->index_count && nodes->by_index[index];
}

typedef struct builder {
    const micap_hierarchy *hierarchy;
    micap_transform_nodes *nodes;
    uint32_t next; /* node */
} builder;

static void add_node(builder *builder, mica_entity entity, uint32_t parent)
{
    uint32_t node = builder->next++;
    builder->nodes->entities[node] = entity;
    builder->nodes->parents[node] = parent;
    builder->nodes->by_index[entity.index] = node + 1;
}

/* Adds the entities without an ancestor that takes part, in the order of their rows. */
static void add_roots(const micap_chunk *chunk, void *context)
{
    builder *builder = context;
    const mica_entity *entities = micap_chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count; ++row) {
        uint32_t above = micap_link_of(builder->hierarchy, entities[row])->parent;
        while (above && !takes_part(builder->nodes, above))
            above = micap_link_at(builder->hierarchy, above)->parent;
        if (!above)
            add_node(builder, entities[row], MICAP_NODE_NONE);
    }
}

/* Adds the nearest descendants that take part: children, and below children that do not take part, theirs. */
static void add_children(builder *builder, uint32_t node)
{
    const micap_hierarchy *hierarchy = builder->hierarchy;
    mica_entity entity = builder->nodes->entities[node];
    uint32_t at = micap_link_of(hierarchy, entity)->first_child;
    while (at) {
        bool found = takes_part(builder->nodes, at);
        if (found)
            add_node(builder, micap_link_entity(hierarchy, at), node);
        at = found ? micap_link_next_beside(hierarchy, entity.index, at) : micap_link_next(hierarchy, entity.index, at);
    }
}

static void add_all(builder *builder, const mica_query *query)
{
    micap_transform_nodes *nodes = builder->nodes;
    each_chunk(query, add_roots, builder);
    uint32_t node = 0;
    while (node < builder->next) {
        nodes->level_begins[nodes->level_count++] = node;
        for (uint32_t end = builder->next; node < end; ++node) {
            nodes->child_begins[node] = builder->next;
            add_children(builder, node);
        }
    }
    nodes->level_begins[nodes->level_count] = nodes->child_begins[nodes->count] = node;
    MICAP_ASSERT(node == nodes->count, "every node is below a root");
}

/* Copies what the old nodes know. A new node has moved, and so has one with another parent. */
static void carry_over(micap_transform_nodes *nodes, const micap_transform_nodes *old)
{
    for (uint32_t node = 0; node < nodes->count; ++node) {
        uint32_t was = micap_transform_node_of(old, nodes->entities[node]);
        if (was == MICAP_NODE_NONE) {
            memset(&nodes->locals[node], 0xFF, sizeof nodes->locals[node]); /* unlike any valid value */
            nodes->moved[node] = MICAP_NODE_MOVED;
            continue;
        }
        nodes->locals[node] = old->locals[was];
        uint32_t parent = nodes->parents[node], old_parent = old->parents[was];
        mica_entity above = parent == MICAP_NODE_NONE ? mica_nil() : nodes->entities[parent];
        mica_entity old_above = old_parent == MICAP_NODE_NONE ? mica_nil() : old->entities[old_parent];
        nodes->moved[node] = mica_same(above, old_above) ? old->moved[was] : MICAP_NODE_MOVED;
    }
}

bool micap_transform_order_rebuild(const micap_hierarchy *hierarchy, const mica_query *query,
                                   micap_transform_nodes *nodes, micap_transform_nodes *spare)
{
    micap_transform_nodes fresh = {0};
    each_chunk(query, measure_chunk, &fresh);
    fresh.sorted_count = fresh.living_count = fresh.count;
    fresh.capacity = fresh.count + fresh.count / 4 + 64; /* room for appended nodes, and for their indices */
    fresh.index_count += fresh.index_count / 4 + 64;
    lay_out(&fresh);
    if (!take_memory(hierarchy->world, spare, &fresh))
        return false;
    lay_out(&fresh);
    memset(fresh.moved, 0, micap_align_up(fresh.capacity, MICAP_CACHE_LINE));
    memset(fresh.by_index, 0, fresh.index_count * sizeof *fresh.by_index);
    each_chunk(query, enlist_chunk, &fresh);
    builder builder = {.hierarchy = hierarchy, .nodes = &fresh};
    add_all(&builder, query);
    carry_over(&fresh, nodes);
    *spare = *nodes;
    *nodes = fresh;
    return true;
}
