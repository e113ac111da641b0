#include "index/sorted_keys.h"

#include "base/assert.h"

#include <string.h>

enum { FILL = MICAP_KEY_BLOCK * 3 / 4, FEW = MICAP_KEY_BLOCK / 4, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static bool is_before(const micap_key_entry *entry, uint64_t key, uint64_t id)
{
    return entry->key < key || (entry->key == key && entry->id < id);
}

/* How many of the sorted entries are before (key, id). Without branches: which half it is can't be predicted. */
static uint32_t lower_bound(const micap_key_entry *entries, uint32_t count, uint64_t key, uint64_t id)
{
    const micap_key_entry *base = entries;
    while (count > 1) {
        uint32_t half = count / 2;
        base += is_before(&base[half - 1], key, id) ? half : 0;
        count -= half;
    }
    return (uint32_t)(base - entries) + (count && is_before(base, key, id));
}

/* The same for a key alone. */
static inline uint32_t lower_bound_of_key(const micap_key_entry *entries, uint32_t count, uint64_t key)
{
    const micap_key_entry *base = entries;
    while (count > 1) {
        uint32_t half = count / 2;
        base += base[half - 1].key < key ? half : 0;
        count -= half;
    }
    return (uint32_t)(base - entries) + (count && base->key < key);
}

micap_key_place micap_sorted_keys_find_key(const micap_sorted_keys *keys, uint64_t key)
{
    uint32_t after = lower_bound_of_key(keys->firsts, keys->block_count, key);
    if (!after)
        return (micap_key_place){0, 0};
    const micap_key_block *block = keys->blocks[after - 1];
    for (uint32_t i = 0; i < MICAP_KEY_BLOCK;
         i += MICAP_CACHE_LINE / sizeof(micap_key_entry)) /* together, not one after the other */
        MICAP_PREFETCH(&block->entries[i]);
    uint32_t position = lower_bound_of_key(block->entries, block->count, key);
    return position < block->count ? (micap_key_place){after - 1, position} : (micap_key_place){after, 0};
}

micap_key_place micap_sorted_keys_find(const micap_sorted_keys *keys, uint64_t key, uint64_t id)
{
    uint32_t after = lower_bound(keys->firsts, keys->block_count, key, id);
    if (!after)
        return (micap_key_place){0, 0};
    const micap_key_block *block = keys->blocks[after - 1];
    uint32_t position = lower_bound(block->entries, block->count, key, id);
    return position < block->count ? (micap_key_place){after - 1, position} : (micap_key_place){after, 0};
}

/* Most keys have few entries, which are in one block. */
micap_key_place micap_sorted_keys_after(const micap_sorted_keys *keys, micap_key_place place)
{
    const micap_key_block *block = keys->blocks[place.block];
    uint64_t key = block->entries[place.position].key;
    if (block->entries[block->count - 1].key == key)
        return key < UINT64_MAX ? micap_sorted_keys_find_key(keys, key + 1) : (micap_key_place){keys->block_count, 0};
    while (block->entries[place.position].key == key)
        ++place.position;
    return place;
}

uint32_t micap_sorted_keys_between(const micap_sorted_keys *keys, micap_key_place begin, micap_key_place end)
{
    uint32_t count = end.position - begin.position;
    for (uint32_t i = begin.block; i < end.block; ++i)
        count += keys->blocks[i]->count;
    return count;
}

static micap_key_block *insert_block(micap_memory *memory, micap_sorted_keys *keys, uint32_t at)
{
    uint64_t needed = (uint64_t)keys->block_count + 1;
    if (!MICAP_RESERVE(memory, keys->firsts, &keys->first_capacity, needed) ||
        !MICAP_RESERVE(memory, keys->blocks, &keys->block_capacity, needed))
        return NULL;
    micap_key_block *block = micap_allocate(memory, sizeof *block, MICAP_ARRAY_ALIGNMENT);
    if (!block)
        return NULL;
    uint32_t moved = keys->block_count - at;
    memmove(keys->firsts + at + 1, keys->firsts + at, moved * sizeof *keys->firsts);
    memmove(keys->blocks + at + 1, keys->blocks + at, moved * sizeof *keys->blocks);
    block->count = 0;
    keys->blocks[at] = block;
    ++keys->block_count;
    return block;
}

static void remove_block(micap_memory *memory, micap_sorted_keys *keys, uint32_t at)
{
    micap_release(memory, keys->blocks[at], sizeof *keys->blocks[at], MICAP_ARRAY_ALIGNMENT);
    uint32_t moved = --keys->block_count - at;
    memmove(keys->firsts + at, keys->firsts + at + 1, moved * sizeof *keys->firsts);
    memmove(keys->blocks + at, keys->blocks + at + 1, moved * sizeof *keys->blocks);
}

/* The block that an entry goes into, with room, and the position in it. NULL if memory is short. */
static micap_key_block *open_block(micap_memory *memory, micap_sorted_keys *keys, uint64_t key, uint64_t id,
                                   uint32_t *out_block, uint32_t *out_position)
{
    uint32_t after = lower_bound(keys->firsts, keys->block_count, key, id), at = after ? after - 1 : 0;
    micap_key_block *block = keys->block_count ? keys->blocks[at] : insert_block(memory, keys, 0);
    if (!block)
        return NULL;
    if (block->count == MICAP_KEY_BLOCK) {
        micap_key_block *upper = insert_block(memory, keys, at + 1);
        if (!upper)
            return NULL;
        upper->count = MICAP_KEY_BLOCK / 2;
        block->count = MICAP_KEY_BLOCK - upper->count;
        memcpy(upper->entries, block->entries + block->count, upper->count * sizeof *upper->entries);
        keys->firsts[at + 1] = upper->entries[0];
        if (is_before(&upper->entries[0], key, id)) {
            block = upper;
            ++at;
        }
    }
    *out_block = at;
    *out_position = lower_bound(block->entries, block->count, key, id);
    return block;
}

/* The entry before a place; NULL at the beginning. */
static const micap_key_entry *entry_before(const micap_sorted_keys *keys, uint32_t block, uint32_t position)
{
    MICAP_ASSERT_HOT(!position || keys->blocks[block], "a place after an entry is in a block");
    if (position)
        return &keys->blocks[block]->entries[position - 1];
    return block ? &keys->blocks[block - 1]->entries[keys->blocks[block - 1]->count - 1] : NULL;
}

/* Whether an entry of the same value is next to this place. */
static bool is_value_near(const micap_sorted_keys *keys, uint64_t key, uint32_t block, uint32_t position)
{
    const micap_key_entry *before = entry_before(keys, block, position);
    if (before && before->key == key)
        return true;
    micap_key_place place = {block, position};
    if (block < keys->block_count && position == keys->blocks[block]->count)
        place = (micap_key_place){block + 1, 0};
    const micap_key_entry *after = micap_sorted_keys_at(keys, place);
    return after && after->key == key;
}

bool micap_sorted_keys_insert(micap_memory *memory, micap_sorted_keys *keys, uint64_t key, uint64_t id)
{
    uint32_t at, position;
    if (keys->is_hashed && !micap_key_table_reserve(memory, &keys->table, keys->table.count + 1))
        return false;
    micap_key_block *block = open_block(memory, keys, key, id, &at, &position);
    if (!block)
        return false;
    if (is_value_near(keys, key, at, position)) {
        ++keys->equal_count;
        keys->equal_key = key;
    }
    memmove(block->entries + position + 1, block->entries + position,
            (block->count - position) * sizeof *block->entries);
    block->entries[position] = (micap_key_entry){key, id};
    ++block->count;
    keys->firsts[at] = block->entries[0];
    ++keys->count;
    if (keys->is_hashed) {
        uint64_t first = micap_key_table_find(&keys->table, key);
        if (!first || id < first)
            micap_key_table_set(&keys->table, key, id);
    }
    return true;
}

/* Merges a block that has become small with the next one, if both fit. */
static void merge(micap_memory *memory, micap_sorted_keys *keys, uint32_t at)
{
    micap_key_block *block = keys->blocks[at];
    if (block->count > FEW || at + 1 == keys->block_count || block->count + keys->blocks[at + 1]->count > FILL)
        return;
    const micap_key_block *next = keys->blocks[at + 1];
    memcpy(block->entries + block->count, next->entries, next->count * sizeof *next->entries);
    block->count += next->count;
    remove_block(memory, keys, at + 1);
}

void micap_sorted_keys_remove(micap_memory *memory, micap_sorted_keys *keys, uint64_t key, uint64_t id)
{
    micap_key_place place = micap_sorted_keys_find(keys, key, id);
    micap_key_block *block = keys->blocks[place.block];
    --block->count;
    memmove(block->entries + place.position, block->entries + place.position + 1,
            (block->count - place.position) * sizeof *block->entries);
    --keys->count;
    if (block->count) {
        keys->firsts[place.block] = block->entries[0];
        merge(memory, keys, place.block);
    } else {
        remove_block(memory, keys, place.block);
    }
    const micap_key_entry *first = micap_sorted_keys_at(keys, micap_sorted_keys_find_key(keys, key));
    bool remains = first && first->key == key;
    keys->equal_count -= remains;
    if (!keys->is_hashed)
        return;
    if (remains)
        micap_key_table_set(&keys->table, key, first->id);
    else
        micap_key_table_remove(&keys->table, key);
}

void micap_sorted_keys_clear(micap_memory *memory, micap_sorted_keys *keys)
{
    for (uint32_t i = 0; i < keys->block_count; ++i)
        micap_release(memory, keys->blocks[i], sizeof *keys->blocks[i], MICAP_ARRAY_ALIGNMENT);
    keys->block_count = keys->count = keys->equal_count = 0;
    micap_key_table_clear(&keys->table);
}

void micap_sorted_keys_free(micap_memory *memory, micap_sorted_keys *keys)
{
    micap_sorted_keys_clear(memory, keys);
    MICAP_RELEASE_ARRAY(memory, keys->firsts, keys->first_capacity);
    MICAP_RELEASE_ARRAY(memory, keys->blocks, keys->block_capacity);
    micap_key_table_free(memory, &keys->table);
    *keys = (micap_sorted_keys){.is_hashed = keys->is_hashed};
}

/* Sorts by one digit of the key. The order of equal digits stays. Returns false, and moves nothing, if all have the same digit. */
static bool sort_by_digit(const micap_key_entry *from, micap_key_entry *to, uint32_t count, uint32_t shift)
{
    uint32_t starts[DIGITS] = {0};
    for (uint32_t i = 0; i < count; ++i)
        ++starts[from[i].key >> shift & (DIGITS - 1)];
    if (starts[from[0].key >> shift & (DIGITS - 1)] == count)
        return false;
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < DIGITS; ++digit) {
        uint32_t size = starts[digit];
        starts[digit] = sum;
        sum += size;
    }
    for (uint32_t i = 0; i < count; ++i)
        to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* Sorts entries in the order of ids by key. Returns which of the two arrays has them. */
static micap_key_entry *sort(micap_key_entry *entries, micap_key_entry *other, uint32_t count)
{
    for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS)
        if (sort_by_digit(entries, other, count, shift)) {
            micap_key_entry *sorted = other;
            other = entries;
            entries = sorted;
        }
    return entries;
}

static void gather(const micap_tracked *tracked, micap_key_entry *out)
{
    for (uint32_t page = 0; page < tracked->page_count; ++page)
        for (uint32_t slot = 0; tracked->pages[page] && slot < MICAP_TRACKED_PAGE; ++slot)
            if (tracked->pages[page]->generations[slot])
                *out++ = (micap_key_entry){tracked->pages[page]->words[slot],
                                           micap_entity_to_id((mica_entity){page * MICAP_TRACKED_PAGE + slot,
                                                                            tracked->pages[page]->generations[slot]})};
}

static bool fill_blocks(micap_memory *memory, micap_sorted_keys *keys, const micap_key_entry *entries, uint32_t count)
{
    for (uint32_t begin = 0; begin < count; begin += FILL) {
        micap_key_block *block = insert_block(memory, keys, keys->block_count);
        if (!block)
            return false;
        block->count = count - begin < FILL ? count - begin : FILL;
        memcpy(block->entries, entries + begin, block->count * sizeof *entries);
        keys->firsts[keys->block_count - 1] = block->entries[0];
    }
    for (uint32_t i = 1; i < count; ++i)
        if (entries[i].key == entries[i - 1].key) {
            ++keys->equal_count;
            keys->equal_key = entries[i].key;
        }
    keys->count = count;
    if (!keys->is_hashed)
        return true;
    if (!micap_key_table_reserve(memory, &keys->table, count - keys->equal_count))
        return false;
    for (uint32_t i = 0; i < count; ++i)
        if (!i || entries[i].key != entries[i - 1].key)
            micap_key_table_set(&keys->table, entries[i].key, entries[i].id);
    return true;
}

bool micap_sorted_keys_rebuild(micap_memory *memory, micap_sorted_keys *keys, const micap_tracked *tracked)
{
    micap_sorted_keys_clear(memory, keys);
    if (!tracked->count)
        return true;
    size_t bytes = (size_t)tracked->count * 2 * sizeof(micap_key_entry);
    micap_key_entry *entries = micap_allocate(memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!entries)
        return false;
    gather(tracked, entries);
    bool done = fill_blocks(memory, keys, sort(entries, entries + tracked->count, tracked->count), tracked->count);
    if (!done)
        micap_sorted_keys_clear(memory, keys);
    micap_release(memory, entries, bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

const char *micap_sorted_keys_check(const micap_sorted_keys *keys)
{
    const micap_key_entry *last = NULL;
    uint32_t count = 0, equal_count = 0;
    for (uint32_t i = 0; i < keys->block_count; ++i) {
        const micap_key_block *block = keys->blocks[i];
        if (!block->count || block->count > MICAP_KEY_BLOCK ||
            memcmp(&keys->firsts[i], block->entries, sizeof *keys->firsts) != 0)
            return "a block of an index is empty, too full, or not the one in the directory";
        for (uint32_t k = 0; k < block->count; ++k) {
            const micap_key_entry *entry = &block->entries[k];
            bool is_equal = last && last->key == entry->key;
            if (last && !is_before(last, entry->key, entry->id))
                return "the entries of an index are not sorted";
            if (keys->is_hashed && !is_equal && micap_key_table_find(&keys->table, entry->key) != entry->id)
                return "the table of an index has another entity for a value";
            equal_count += is_equal;
            last = entry;
            ++count;
        }
    }
    if (count != keys->count || equal_count != keys->equal_count ||
        (keys->is_hashed && keys->table.count != count - equal_count))
        return "the counts of an index are wrong";
    return NULL;
}
