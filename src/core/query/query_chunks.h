/* The list of chunks that loops over whole chunks show. A query that is used again while its archetypes keep their chunks reads this list from
 * front to back, and finds its columns there; following pointers from archetype to chunk to column costs as much as the loop itself where
 * archetypes are small. The list is created when a second loop begins with the same chunks. */
#ifndef MICAP_CORE_QUERY_QUERY_CHUNKS_H
#define MICAP_CORE_QUERY_QUERY_CHUNKS_H

#include "core/query/query.h"

/* Returns whether the list is valid; creates it if it should be. Any number of threads may call this at once. */
bool micap_query_chunks_ready(mica_query *query);
void micap_query_chunks_free(mica_query *query);

/* Whether a list that is valid has the chunks of all archetypes that match. */
bool micap_query_chunks_are_right(const mica_query *query);

/* The entry at a position below the count. */
static inline const micap_listed_chunk *micap_listed_chunk_at(const micap_chunk_list *list, uint32_t position)
{
    return (const micap_listed_chunk *)(const void *)(list->entries + (size_t)position * list->entry_bytes);
}

/* The entry of a chunk of a match. */
static inline const micap_listed_chunk *micap_listed_chunk_of(const micap_chunk_list *list, uint32_t match,
                                                              const micap_chunk *chunk)
{
    return micap_listed_chunk_at(list, list->firsts[match] + chunk->index);
}

/* The entry after one; after the last there are two more, which are empty. */
static inline const micap_listed_chunk *micap_listed_chunk_after(const micap_listed_chunk *entry, uint32_t entry_bytes)
{
    return (const micap_listed_chunk *)(const void *)((const char *)entry + entry_bytes);
}

#endif
