#include "index/key_table.h"

#include "index/large_array.h"

#include <string.h>

/* Fibonacci hashing: the high bits of a product depend on all bits of the key. mica_private_find_by has the same for narrow tables. */
static uint32_t home_of(const micap_key_table *table, uint64_t key)
{
    uint64_t mixed = table->is_narrow ? (uint32_t)key : key ^ key >> 32;
    return (uint32_t)(mixed * 0x9e3779b97f4a7c15u >> table->shift);
}

/* What is in a slot. The key of a narrow one is the low half. */
static micap_key_entry entry_at(const micap_key_table *table, uint32_t slot)
{
    if (!table->is_narrow)
        return table->wide[slot];
    const mica_private_slot *narrow = &table->narrow[slot];
    return (micap_key_entry){narrow->key, (uint64_t)narrow->index << 32 | narrow->generation};
}

static void put(micap_key_table *table, uint32_t slot, micap_key_entry entry)
{
    mica_entity entity = micap_entity_from_id(entry.id);
    if (table->is_narrow)
        table->narrow[slot] = (mica_private_slot){(uint32_t)entry.key, entity.index, entity.generation};
    else
        table->wide[slot] = entry;
}

/* The slot of a value, or the empty one where it would be. */
static uint32_t slot_of(const micap_key_table *table, uint64_t key)
{
    uint64_t wanted = table->is_narrow ? (uint32_t)key : key;
    for (uint32_t slot = home_of(table, key);; slot = (slot + 1) & table->mask) {
        micap_key_entry entry = entry_at(table, slot);
        if (!entry.id || entry.key == wanted)
            return slot;
    }
}

static size_t slot_bytes(const micap_key_table *table)
{
    size_t bytes = table->is_narrow ? sizeof *table->narrow : sizeof *table->wide;
    return ((size_t)table->mask + 1) * bytes;
}

uint64_t micap_key_table_find(const micap_key_table *table, uint64_t key)
{
    return table->mask ? entry_at(table, slot_of(table, key)).id : 0;
}

bool micap_key_table_reserve(micap_memory *memory, micap_key_table *table, uint32_t count)
{
    if (table->mask && count <= (table->mask + 1) / 2)
        return true;
    uint64_t slots = micap_power_of_two_at_least((uint64_t)count * 2 < 16 ? 16 : (uint64_t)count * 2);
    micap_key_table grown = {.is_narrow = table->is_narrow,
                             .mask = (uint32_t)slots - 1,
                             .shift = 64 - micap_log2(slots),
                             .count = table->count};
    void *fresh = slots <= UINT32_MAX / 2 ? micap_large_allocate(memory, slot_bytes(&grown)) : NULL;
    if (!fresh)
        return false;
    memset(fresh, 0, slot_bytes(&grown));
    if (grown.is_narrow)
        grown.narrow = fresh;
    else
        grown.wide = fresh;
    for (uint32_t i = 0; table->mask && i <= table->mask; ++i) {
        micap_key_entry entry = entry_at(table, i);
        if (entry.id)
            put(&grown, slot_of(&grown, entry.key), entry);
    }
    micap_key_table_free(memory, table);
    *table = grown;
    return true;
}

void micap_key_table_set(micap_key_table *table, uint64_t key, uint64_t id)
{
    uint32_t slot = slot_of(table, key);
    table->count += !entry_at(table, slot).id;
    put(table, slot, (micap_key_entry){key, id});
}

void micap_key_table_remove(micap_key_table *table, uint64_t key)
{
    uint32_t hole = slot_of(table, key);
    --table->count;
    for (uint32_t at = (hole + 1) & table->mask; entry_at(table, at).id; at = (at + 1) & table->mask) {
        micap_key_entry entry = entry_at(table, at);
        uint32_t home = home_of(table, entry.key);
        if (((at - home) & table->mask) < ((at - hole) & table->mask))
            continue; /* it must not be before its home */
        put(table, hole, entry);
        hole = at;
    }
    put(table, hole, (micap_key_entry){0});
}

void micap_key_table_clear(micap_key_table *table)
{
    if (table->mask)
        memset(table->is_narrow ? (void *)table->narrow : (void *)table->wide, 0, slot_bytes(table));
    table->count = 0;
}

void micap_key_table_free(micap_memory *memory, micap_key_table *table)
{
    if (table->mask)
        micap_large_release(memory, table->is_narrow ? (void *)table->narrow : (void *)table->wide, slot_bytes(table));
    *table = (micap_key_table){.is_narrow = table->is_narrow};
}
