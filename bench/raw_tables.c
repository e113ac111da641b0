#include "raw_tables.h"

#include "bench.h"

#include <stdlib.h>

void raw_tables_free(raw_tables *tables)
{
    for (uint32_t i = 0; i < tables->table_count; ++i) {
        for (uint32_t k = 0; k < tables->column_count; ++k)
            free(tables->tables[i].column[k]);
        free(tables->tables[i].owner);
    }
    free(tables->slots);
}

static void *grown(void *array, size_t bytes)
{
    array = realloc(array, bytes);
    require(array != NULL, "out of memory");
    return array;
}

/* Appends a row that is not filled in. */
static uint32_t append_row(raw_tables *tables, uint32_t number, uint32_t slot)
{
    raw_table *table = &tables->tables[number];
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->owner = grown(table->owner, table->capacity * sizeof *table->owner);
        for (uint32_t left = table->mask; left; left &= left - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            table->column[k] = grown(table->column[k], table->capacity * tables->floats[k] * sizeof(float));
        }
    }
    table->owner[table->count] = slot;
    tables->slots[slot].table = number;
    tables->slots[slot].row = table->count;
    return table->count++;
}

static void drop_row(raw_tables *tables, raw_table *table, uint32_t row)
{
    uint32_t last = --table->count;
    if (row == last)
        return;
    for (uint32_t left = table->mask; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left), floats = tables->floats[k];
        memcpy(table->column[k] + row * floats, table->column[k] + last * floats, floats * sizeof(float));
    }
    table->owner[row] = table->owner[last];
    tables->slots[table->owner[row]].row = row;
}

static bool is_alive(const raw_tables *tables, raw_id id)
{
    return id.index < tables->slot_count && tables->slots[id.index].generation == id.generation;
}

raw_id raw_tables_create(raw_tables *tables, uint32_t number)
{
    uint32_t slot = tables->first_free;
    if (slot != RAW_NONE) {
        tables->first_free = tables->slots[slot].row;
    } else {
        if (tables->slot_count == tables->slot_capacity) {
            tables->slot_capacity = tables->slot_capacity ? tables->slot_capacity * 2 : 64;
            tables->slots = grown(tables->slots, tables->slot_capacity * sizeof *tables->slots);
        }
        slot = tables->slot_count++;
        tables->slots[slot].generation = 1;
    }
    uint32_t row = append_row(tables, number, slot);
    raw_table *table = &tables->tables[number];
    for (uint32_t left = table->mask; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left), floats = tables->floats[k];
        memset(table->column[k] + row * floats, 0, floats * sizeof(float));
    }
    return (raw_id){slot, tables->slots[slot].generation};
}

bool raw_tables_destroy(raw_tables *tables, raw_id id)
{
    if (!is_alive(tables, id))
        return false;
    raw_place *slot = &tables->slots[id.index];
    drop_row(tables, &tables->tables[slot->table], slot->row);
    ++slot->generation;
    slot->row = tables->first_free;
    tables->first_free = id.index;
    return true;
}

bool raw_tables_move(raw_tables *tables, raw_id id, uint32_t number)
{
    if (!is_alive(tables, id))
        return false;
    raw_place from = tables->slots[id.index];
    raw_table *source = &tables->tables[from.table], *target = &tables->tables[number];
    if (source == target)
        return true;
    uint32_t row = append_row(tables, number, id.index);
    for (uint32_t left = target->mask; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left), floats = tables->floats[k];
        float *to = target->column[k] + row * floats;
        if (source->mask >> k & 1)
            memcpy(to, source->column[k] + from.row * floats, floats * sizeof(float));
        else
            memset(to, 0, floats * sizeof(float));
    }
    drop_row(tables, source, from.row);
    return true;
}

float *raw_tables_get(const raw_tables *tables, raw_id id, uint32_t column)
{
    raw_place slot = tables->slots[id.index];
    return tables->tables[slot.table].column[column] + slot.row * tables->floats[column];
}
