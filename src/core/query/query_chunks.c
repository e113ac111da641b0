#include "core/query/query_chunks.h"

#include "base/assert.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

static uint32_t count_chunks(const mica_query *query)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < query->match_count; ++i)
        count += query->archetypes[i]->chunk_count;
    return count;
}

/* From this many chunks on, loops ask the cache for the next ones; fewer stay in it. */
enum { LONG_LIST = 128 };

static void fill_entry(const mica_query *query, micap_listed_chunk *entry)
{
    const micap_column_data *data = micap_chunk_columns(entry->chunk);
    const uint16_t *columns = query->term_count ? query->columns + (size_t)entry->match * query->term_count : NULL;
    mica_version *stamps = micap_chunk_stamps(entry->chunk, 0);
    bool is_one_slice = entry->chunk->capacity <= MICA_SLICE_ROWS;
    entry->stamps = stamps;
    entry->changed =
        query->changing && is_one_slice ? 1 + micap_archetype_column(entry->chunk->archetype, query->changing) : 0;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        uint32_t column = MICAP_LOAD(&columns[i], MICAP_RELAXED); /* another thread may look them up too */
        bool has_values = column < MICAP_COLUMN_UNKNOWN;
        bool has_stamp = has_values && is_one_slice && (query->written >> i & 1);
        entry->columns[i] = has_values ? data[column].values : column == MICAP_COLUMN_TAG ? &micap_tag_value : NULL;
        if (i < query->ready_count)
            entry->columns[query->term_count + i] = has_stamp ? (char *)(void *)&stamps[1 + column] : NULL;
    }
}

/* False if memory is short: the list stays invalid. */
static bool fill(mica_query *query, micap_chunk_list *list)
{
    uint32_t chunk_count = count_chunks(query);
    list->count = 0;
    list->entry_bytes =
        (uint32_t)(sizeof(micap_listed_chunk) + (query->term_count + query->ready_count) * sizeof(char *));
    if (!MICAP_RESERVE(&query->world->memory, list->entries, &list->capacity,
                       ((uint64_t)chunk_count + 2) * list->entry_bytes) ||
        !MICAP_RESERVE(&query->world->memory, list->firsts, &list->first_capacity, query->match_count))
        return false;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        list->firsts[match] = list->count;
        if (query->term_count)
            micap_query_columns(query, match);
        for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
            micap_listed_chunk *entry = (void *)(list->entries + (size_t)list->count++ * list->entry_bytes);
            entry->chunk = archetype->chunks[i];
            entry->match = match;
            fill_entry(query, entry);
        }
    }
    char *end = list->entries + (size_t)list->count * list->entry_bytes;
    memset(end, 0, (size_t)2 * list->entry_bytes);
    list->end = end;
    list->is_long = list->count >= LONG_LIST;
    return true;
}

bool micap_query_chunks_ready(mica_query *query)
{
    micap_chunk_list *list = &query->chunk_list;
    uint64_t epoch = query->world->chunks.epoch;
    if (MICAP_LIKELY(atomic_load_explicit(&list->epoch, memory_order_acquire) == epoch))
        return true;
    if (atomic_exchange_explicit(&list->seen_epoch, epoch, memory_order_relaxed) != epoch ||
        atomic_exchange_explicit(&list->is_locked, true, memory_order_acquire))
        return false;
    bool is_valid = atomic_load_explicit(&list->epoch, memory_order_relaxed) == epoch || fill(query, list);
    if (is_valid)
        atomic_store_explicit(&list->epoch, epoch, memory_order_release);
    atomic_store_explicit(&list->is_locked, false, memory_order_release);
    return is_valid;
}

bool micap_query_chunks_are_right(const mica_query *query)
{
    const micap_chunk_list *list = &query->chunk_list;
    if (atomic_load_explicit(&list->epoch, memory_order_acquire) != query->world->chunks.epoch)
        return true;
    uint32_t position = 0;
    for (uint32_t match = 0; match < query->match_count; ++match)
        for (uint32_t i = 0; i < query->archetypes[match]->chunk_count; ++i, ++position)
            if (position >= list->count || micap_listed_chunk_at(list, position)->match != match ||
                micap_listed_chunk_at(list, position)->chunk != query->archetypes[match]->chunks[i])
                return false;
    return position == list->count;
}

void micap_query_chunks_free(mica_query *query)
{
    MICAP_RELEASE_ARRAY(&query->world->memory, query->chunk_list.entries, query->chunk_list.capacity);
    MICAP_RELEASE_ARRAY(&query->world->memory, query->chunk_list.firsts, query->chunk_list.first_capacity);
}
