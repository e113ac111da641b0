#include "cluster/cell_table.h"

#include "base/hash.h"

#include <string.h>

bool micap_cell_table_init(micap_cell_table *table, micap_memory *memory, const micap_cell_space *space, double reach,
                           uint32_t rank, uint32_t rank_count)
{
    *table =
        (micap_cell_table){.memory = memory, .space = space, .reach = reach, .rank = rank, .rank_count = rank_count};
    table->first_keys = micap_allocate_zeroed(memory, rank_count * sizeof *table->first_keys, MICAP_ARRAY_ALIGNMENT);
    return table->first_keys != NULL;
}

void micap_cell_table_free(micap_cell_table *table)
{
    if (!table->memory)
        return;
    MICAP_RELEASE_ARRAY(table->memory, table->first_keys, table->rank_count);
    MICAP_RELEASE_ARRAY(table->memory, table->cells, table->cell_capacity);
    MICAP_RELEASE_ARRAY(table->memory, table->slots, table->slot_capacity);
    MICAP_RELEASE_ARRAY(table->memory, table->needed, table->needed_capacity);
}

void micap_cell_table_clear(micap_cell_table *table)
{
    table->cell_count = table->needed_count = 0;
    if (table->slots)
        memset(table->slots, 0, table->slot_capacity * sizeof *table->slots);
}

uint32_t micap_cell_table_owner(const micap_cell_table *table, uint64_t key)
{
    uint32_t begin = 0, end = table->rank_count; /* the last rank whose first key is at most this one */
    while (end - begin > 1) {
        uint32_t middle = begin + (end - begin) / 2;
        if (table->first_keys[middle] <= key)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}

static uint32_t slot_of(const micap_cell_table *table, uint64_t number)
{
    uint32_t mask = table->slot_capacity - 1, side_by_side = 3;
    uint32_t at = (((uint32_t)micap_hash_mix(number >> 2) & ~side_by_side) | ((uint32_t)number & side_by_side)) & mask;
    while (table->slots[at].cell && table->slots[at].number != number)
        at = (at + 1) & mask;
    return at;
}

uint32_t micap_cell_table_find(const micap_cell_table *table, uint64_t number)
{
    return table->slots ? table->slots[slot_of(table, number)].cell - 1 : MICAP_NO_CELL;
}

/* At most half of the slots are used. */
static bool grow_slots(micap_cell_table *table)
{
    if ((uint64_t)table->cell_count * 2 + 2 <= table->slot_capacity)
        return true;
    uint32_t capacity = table->slot_capacity ? table->slot_capacity * 2 : 1024;
    micap_cell_slot *slots =
        micap_allocate_zeroed(table->memory, (size_t)capacity * sizeof *slots, MICAP_ARRAY_ALIGNMENT);
    if (!slots)
        return false;
    MICAP_RELEASE_ARRAY(table->memory, table->slots, table->slot_capacity);
    table->slots = slots;
    table->slot_capacity = capacity;
    for (uint32_t i = 0; i < table->cell_count; ++i)
        slots[slot_of(table, table->cells[i].number)] = (micap_cell_slot){table->cells[i].number, i + 1};
    return true;
}

/* Lists the other ranks that own a cell within reach, each once. */
static bool list_needed(micap_cell_table *table, micap_table_cell *cell)
{
    const micap_cell_space *space = table->space;
    cell->needed_first = table->needed_count;
    if (!space || table->rank_count == 1)
        return true;
    micap_cell_span spans[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
        spans[axis] = micap_cell_span_around(space, axis, cell->cell.at[axis], table->reach);
    micap_cell at;
    for (int32_t z = 0; z < spans[2].count; ++z)
        for (int32_t y = 0; y < spans[1].count; ++y)
            for (int32_t x = 0; x < spans[0].count; ++x) {
                at.at[0] = micap_cell_span_at(space, 0, spans[0], x);
                at.at[1] = micap_cell_span_at(space, 1, spans[1], y);
                at.at[2] = micap_cell_span_at(space, 2, spans[2], z);
                uint32_t owner = micap_cell_table_owner(table, micap_cell_key(space, at));
                bool is_known = owner == table->rank;
                for (uint32_t i = cell->needed_first; i < table->needed_count && !is_known; ++i)
                    is_known = table->needed[i] == owner;
                if (is_known)
                    continue;
                if (!MICAP_RESERVE(table->memory, table->needed, &table->needed_capacity,
                                   (uint64_t)table->needed_count + 1))
                    return false;
                table->needed[table->needed_count++] = owner;
            }
    cell->needed_count = table->needed_count - cell->needed_first;
    return true;
}

uint32_t micap_cell_table_require(micap_cell_table *table, uint64_t number, micap_cell cell)
{
    uint32_t found = micap_cell_table_find(table, number);
    if (found != MICAP_NO_CELL)
        return found;
    if (!grow_slots(table) ||
        !MICAP_RESERVE(table->memory, table->cells, &table->cell_capacity, (uint64_t)table->cell_count + 1))
        return MICAP_NO_CELL;
    micap_table_cell *added = &table->cells[table->cell_count];
    *added = (micap_table_cell){.number = number, .cell = cell};
    added->key = table->space ? micap_cell_key(table->space, cell) : number;
    added->owner = micap_cell_table_owner(table, added->key);
    if (!list_needed(table, added))
        return MICAP_NO_CELL;
    table->slots[slot_of(table, number)] = (micap_cell_slot){number, table->cell_count + 1};
    return table->cell_count++;
}
