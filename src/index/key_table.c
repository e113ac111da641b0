#include "index/key_table.h"

#include "base/bits.h"

#include <string.h>

static uint32_t slot_of(const micap_key_table *table, uint64_t key)
{
    uint32_t slot = micap_key_slot(table, key);
    while (table->slots[slot].id && table->slots[slot].key != key)
        slot = (slot + 1) & table->mask;
    return slot;
}

bool micap_key_table_reserve(micap_memory *memory, micap_key_table *table, uint32_t count)
{
    if (table->mask && count <= (table->mask + 1) / 2)
        return true;
    uint64_t slots = micap_power_of_two_at_least((uint64_t)count * 2 < 16 ? 16 : (uint64_t)count * 2);
    micap_key_table grown = {.mask = (uint32_t)slots - 1, .shift = 64 - micap_log2(slots), .count = table->count};
    if (slots <= UINT32_MAX / 2)
        grown.slots = micap_allocate_zeroed(memory, slots * sizeof *grown.slots, MICAP_ARRAY_ALIGNMENT);
    if (!grown.slots)
        return false;
    for (uint32_t i = 0; table->mask && i <= table->mask; ++i)
        if (table->slots[i].id)
            grown.slots[slot_of(&grown, table->slots[i].key)] = table->slots[i];
    micap_key_table_free(memory, table);
    *table = grown;
    return true;
}

void micap_key_table_set(micap_key_table *table, uint64_t key, uint64_t id)
{
    micap_key_entry *slot = &table->slots[slot_of(table, key)];
    table->count += !slot->id;
    *slot = (micap_key_entry){key, id};
}

void micap_key_table_remove(micap_key_table *table, uint64_t key)
{
    uint32_t hole = slot_of(table, key);
    --table->count;
    for (uint32_t at = (hole + 1) & table->mask; table->slots[at].id; at = (at + 1) & table->mask) {
        uint32_t home = micap_key_slot(table, table->slots[at].key);
        if (((at - home) & table->mask) < ((at - hole) & table->mask))
            continue; /* it must not be before its home */
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole] = (micap_key_entry){0};
}

void micap_key_table_clear(micap_key_table *table)
{
    if (table->mask)
        memset(table->slots, 0, ((size_t)table->mask + 1) * sizeof *table->slots);
    table->count = 0;
}

void micap_key_table_free(micap_memory *memory, micap_key_table *table)
{
    if (table->mask)
        micap_release(memory, table->slots, ((size_t)table->mask + 1) * sizeof *table->slots, MICAP_ARRAY_ALIGNMENT);
    *table = (micap_key_table){0};
}
