/* Deliveries: the jobs of a system that receives messages. Each delivery is a message for one row, or a broadcast to all rows
 * of the system. The system runs block by block of rows, and within a block message by message: a component receives its
 * messages in the order they were sent, blocks are distributed among workers, and many broadcasts visit a block while it is
 * in the cache. */
#ifndef MICAP_FLOW_SCHEDULE_DELIVERY_H
#define MICAP_FLOW_SCHEDULE_DELIVERY_H

#include "flow/schedule/fusion.h"
#include "mica/system.h"

typedef struct micap_delivery {
    uint64_t block;  /* MICA_VIEW_ROWS rows that a view may show together, by rising position */
    uint32_t row;    /* of the chunk, or of the pool whose rows the system visits */
    uint32_t number; /* of the message in its round */
    micap_chunk *chunk;
    const void *handlers; /* of the mailbox, */
    const void *message;  /* and what they receive */
} micap_delivery;

typedef struct micap_delivery_list {
    const mica_pool *driver;    /* the pool whose rows the system visits in this round; NULL: rows of chunks */
    micap_delivery *deliveries; /* to one row: by block, then by number */
    uint32_t count, capacity;
    micap_delivery *scratch;
    uint32_t scratch_capacity;
    micap_delivery *broadcasts; /* by number */
    uint32_t broadcast_count, broadcast_capacity;
} micap_delivery_list;

/* Returns the block of a row: of a chunk or, without one, of a pool. */
static inline uint64_t micap_delivery_block(const micap_chunk *chunk, uint32_t row)
{
    uint64_t block = row / MICA_VIEW_ROWS;
    if (!chunk)
        return block;
    return (uint64_t)chunk->archetype->id << 32 | (uint64_t)chunk->index * (MICAP_CHUNK_ROWS_MAX / MICA_VIEW_ROWS) |
           block;
}

/* Add a message for the row of an entity, or for all rows. The first does nothing if the entity is dead or has no such
 * component. False if memory is short. */
bool micap_delivery_add(mica_world *world, micap_delivery_list *list, mica_entity target, mica_component component,
                        micap_delivery delivery);
bool micap_delivery_add_broadcast(mica_world *world, micap_delivery_list *list, micap_delivery delivery);

/* Sorts the deliveries by block; those of one block stay in order. False if memory is short. */
bool micap_delivery_sort(mica_world *world, micap_delivery_list *list);

void micap_delivery_clear(micap_delivery_list *list);
void micap_delivery_free(mica_world *world, micap_delivery_list *list);

/* Returns the index of the first delivery of a block, or of the next block that has one. */
uint32_t micap_delivery_find(const micap_delivery_list *list, uint64_t block);

/* Plans the jobs of a chain that has deliveries and no broadcasts. False if memory is short. */
bool micap_delivery_plan_jobs(mica_world *world, micap_chain *chain);

#endif
