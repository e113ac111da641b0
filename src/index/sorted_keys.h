/* The entries of an index of one field, sorted by value and then by handle, in blocks: a directory with the first entry of each block, and
 * up to MICAP_KEY_BLOCK entries in each. A search reads the directory and one block, and an insertion moves the entries of one block.
 * With a table (hashed), the first entity of each value is found without a search. */
#ifndef MICAP_INDEX_SORTED_KEYS_H
#define MICAP_INDEX_SORTED_KEYS_H

#include "index/key_table.h"
#include "index/tracked_values.h"

enum { MICAP_KEY_BLOCK = 64 };

typedef struct micap_key_block {
    uint32_t count; /* never 0 */
    micap_key_entry entries[MICAP_KEY_BLOCK];
} micap_key_block;

typedef struct micap_sorted_keys {
    micap_key_entry *firsts; /* of each block */
    micap_key_block **blocks;
    uint32_t block_count;
    uint32_t first_capacity;
    uint32_t block_capacity;
    uint32_t count;       /* of entries */
    uint32_t equal_count; /* of entries with the value of the entry before */
    uint64_t equal_key;   /* the value of the last one of them that was added */
    bool is_hashed;
    micap_key_table table;
} micap_sorted_keys;

/* Where an entry is, or would be; block_count and 0 at the end. */
typedef struct micap_key_place {
    uint32_t block;
    uint32_t position;
} micap_key_place;

/* The first entry that is not before a key, or before (key, id). */
micap_key_place micap_sorted_keys_find_key(const micap_sorted_keys *keys, uint64_t key);
micap_key_place micap_sorted_keys_find(const micap_sorted_keys *keys, uint64_t key, uint64_t id);

static inline const micap_key_entry *micap_sorted_keys_at(const micap_sorted_keys *keys, micap_key_place place)
{
    return place.block < keys->block_count ? &keys->blocks[place.block]->entries[place.position] : NULL;
}

/* Moves to the next entry, from one that exists. */
static inline micap_key_place micap_sorted_keys_next(const micap_sorted_keys *keys, micap_key_place place)
{
    if (++place.position == keys->blocks[place.block]->count)
        place = (micap_key_place){place.block + 1, 0};
    return place;
}

/* The first entry with another key than the one at a place, which exists. */
micap_key_place micap_sorted_keys_after(const micap_sorted_keys *keys, micap_key_place place);

/* How many entries are from one place to another, which is not before it. */
uint32_t micap_sorted_keys_between(const micap_sorted_keys *keys, micap_key_place begin, micap_key_place end);

/* Adds an entry that does not exist; false if memory is short. */
bool micap_sorted_keys_insert(micap_memory *memory, micap_sorted_keys *keys, uint64_t key, uint64_t id);
/* Removes an entry that exists. */
void micap_sorted_keys_remove(micap_memory *memory, micap_sorted_keys *keys, uint64_t key, uint64_t id);
/* Replaces all entries; false if memory is short, and then there are none. */
bool micap_sorted_keys_rebuild(micap_memory *memory, micap_sorted_keys *keys, const micap_tracked *tracked);
void micap_sorted_keys_clear(micap_memory *memory, micap_sorted_keys *keys);
/* Releases memory that is not needed. */
void micap_sorted_keys_free(micap_memory *memory, micap_sorted_keys *keys);

/* The first broken invariant, or NULL. */
const char *micap_sorted_keys_check(const micap_sorted_keys *keys);

#endif
