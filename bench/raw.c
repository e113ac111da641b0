#define _DEFAULT_SOURCE /* for madvise, which strict C17 hides */
#include "raw.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

raw_world raw_world_make(void)
{
    return (raw_world){.first_free = RAW_NONE};
}

void raw_world_free(raw_world *world)
{
    free(world->slots);
    free(world->position);
    free(world->velocity);
    free(world->owner);
    free(world->mass_row);
    free(world->mass);
    free(world->mass_owner);
    *world = raw_world_make();
}

void *raw_allocate_large(size_t bytes)
{
    size_t rounded = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *memory = aligned_alloc(HUGE_PAGE_BYTES, rounded);
    if (memory)
        madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}

/* Takes the address of the array's pointer, whatever it points to. False, and all as before, when memory is short. */
static bool resize(const raw_world *world, void *address_of_array, uint32_t before, uint32_t capacity,
                   size_t element_bytes)
{
    void *array;
    memcpy(&array, address_of_array, sizeof array);
    if (world->on_huge_pages && capacity * element_bytes >= HUGE_PAGE_BYTES) {
        void *larger = raw_allocate_large(capacity * element_bytes);
        if (larger == NULL)
            return false;
        if (before)
            memcpy(larger, array, before * element_bytes);
        free(array);
        array = larger;
    } else {
        array = realloc(array, capacity * element_bytes);
    }
    if (array == NULL)
        return false;
    memcpy(address_of_array, &array, sizeof array);
    return true;
}

static uint32_t doubled(uint32_t capacity, uint32_t needed)
{
    uint32_t larger = capacity == 0 ? 64 : capacity;
    while (larger < needed)
        larger *= 2;
    return larger;
}

static bool grow_rows(raw_world *world, uint32_t needed)
{
    uint32_t capacity = doubled(world->capacity, needed);
    if (!resize(world, &world->position, world->capacity, capacity, sizeof(Position)) ||
        !resize(world, &world->velocity, world->capacity, capacity, sizeof(Velocity)) ||
        !resize(world, &world->owner, world->capacity, capacity, sizeof(raw_id)))
        return false;
    world->capacity = capacity;
    return true;
}

static bool grow_slots(raw_world *world, uint32_t needed)
{
    uint32_t capacity = doubled(world->slot_capacity, needed);
    if (!resize(world, &world->slots, world->slot_capacity, capacity, sizeof(raw_slot)))
        return false;
    world->slot_capacity = capacity;
    return true;
}

static inline bool room_for_rows(raw_world *world, uint32_t more)
{
    uint32_t needed = world->count + more;
    return needed <= world->capacity || grow_rows(world, needed);
}

static inline bool room_for_slots(raw_world *world, uint32_t more)
{
    uint32_t needed = world->slot_count + more;
    return needed <= world->slot_capacity || grow_slots(world, needed);
}

static inline bool room_for_one(raw_world *world)
{
    return room_for_rows(world, 1) && (world->first_free != RAW_NONE || room_for_slots(world, 1));
}

/* There is room for one more slot. */
static inline raw_id take_slot(raw_world *world, uint32_t row)
{
    uint32_t index = world->first_free;
    if (index != RAW_NONE) {
        world->first_free = world->slots[index].row;
    } else {
        index = world->slot_count++;
        world->slots[index].generation = 1;
    }
    world->slots[index].row = row;
    return (raw_id){index, world->slots[index].generation};
}

uint32_t raw_create(raw_world *world)
{
    if (!room_for_one(world))
        return RAW_NONE;
    uint32_t row = world->count++;
    world->owner[row] = take_slot(world, row);
    return row;
}

uint32_t raw_create_position(raw_world *world, float x, float y, float z)
{
    if (!room_for_one(world))
        return RAW_NONE;
    uint32_t row = world->count++;
    raw_id id = take_slot(world, row);
    world->owner[row] = id;
    world->position[row] = (Position){x, y, z};
    if (world->on_add != NULL)
        world->on_add(world, id, world->on_add_context);
    return row;
}

bool raw_create_many(raw_world *world, uint32_t count, const Position *position, const Velocity *velocity, raw_id *out)
{
    if (!room_for_rows(world, count))
        return false;
    memcpy(world->position + world->count, position, count * sizeof *position);
    memcpy(world->velocity + world->count, velocity, count * sizeof *velocity);
    uint32_t made = 0;
    for (; made < count && world->first_free != RAW_NONE; ++made) {
        uint32_t row = world->count++;
        world->owner[row] = out[made] = take_slot(world, row);
    }
    if (!room_for_slots(world, count - made))
        return false;
    for (; made < count; ++made) {
        uint32_t row = world->count++;
        uint32_t index = world->slot_count++;
        world->slots[index] = (raw_slot){.generation = 1, .row = row};
        world->owner[row] = out[made] = (raw_id){index, 1};
    }
    return true;
}

bool raw_is_alive(const raw_world *world, raw_id id)
{
    return id.index < world->slot_count && world->slots[id.index].generation == id.generation;
}

Position *raw_get_position(const raw_world *world, raw_id id)
{
    return raw_is_alive(world, id) ? &world->position[world->slots[id.index].row] : NULL;
}

bool raw_has_mass(const raw_world *world, raw_id id)
{
    return raw_is_alive(world, id) && id.index < world->mass_row_capacity && world->mass_row[id.index] != RAW_NONE;
}

static void drop_mass_at(raw_world *world, uint32_t row)
{
    uint32_t last = --world->mass_count;
    world->mass_row[world->mass_owner[row]] = RAW_NONE;
    if (row == last)
        return;
    world->mass[row] = world->mass[last];
    world->mass_owner[row] = world->mass_owner[last];
    world->mass_row[world->mass_owner[row]] = row;
}

static void free_slot(raw_world *world, uint32_t index)
{
    raw_slot *slot = &world->slots[index];
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    slot->row = world->first_free;
    world->first_free = index;
}

bool raw_destroy(raw_world *world, raw_id id)
{
    if (!raw_is_alive(world, id))
        return false;
    if (raw_has_mass(world, id))
        drop_mass_at(world, world->mass_row[id.index]);
    uint32_t row = world->slots[id.index].row;
    uint32_t last = --world->count;
    if (row != last) {
        world->position[row] = world->position[last];
        world->velocity[row] = world->velocity[last];
        world->owner[row] = world->owner[last];
        world->slots[world->owner[row].index].row = row;
    }
    free_slot(world, id.index);
    return true;
}

void raw_world_clear(raw_world *world)
{
    for (uint32_t i = world->count; i-- > 0;)
        free_slot(world, world->owner[i].index);
    for (uint32_t i = 0; i < world->mass_row_capacity; ++i)
        world->mass_row[i] = RAW_NONE;
    world->count = 0;
    world->mass_count = 0;
}

static bool grow_mass_index(raw_world *world)
{
    uint32_t capacity = world->slot_capacity;
    if (!resize(world, &world->mass_row, world->mass_row_capacity, capacity, sizeof(uint32_t)))
        return false;
    for (uint32_t i = world->mass_row_capacity; i < capacity; ++i)
        world->mass_row[i] = RAW_NONE;
    world->mass_row_capacity = capacity;
    return true;
}

static bool grow_mass(raw_world *world)
{
    uint32_t capacity = doubled(world->mass_capacity, world->mass_count + 1);
    if (!resize(world, &world->mass, world->mass_capacity, capacity, sizeof(Mass)) ||
        !resize(world, &world->mass_owner, world->mass_capacity, capacity, sizeof(uint32_t)))
        return false;
    world->mass_capacity = capacity;
    return true;
}

static inline bool room_for_mass(raw_world *world, uint32_t index)
{
    return (index < world->mass_row_capacity || grow_mass_index(world)) &&
           (world->mass_count < world->mass_capacity || grow_mass(world));
}

Mass *raw_add_mass(raw_world *world, raw_id id)
{
    if (!raw_is_alive(world, id) || !room_for_mass(world, id.index))
        return NULL;
    uint32_t row = world->mass_row[id.index];
    if (row != RAW_NONE)
        return &world->mass[row];
    row = world->mass_count++;
    world->mass_row[id.index] = row;
    world->mass_owner[row] = id.index;
    world->mass[row] = (Mass){0};
    return &world->mass[row];
}

bool raw_remove_mass(raw_world *world, raw_id id)
{
    if (!raw_has_mass(world, id))
        return false;
    drop_mass_at(world, world->mass_row[id.index]);
    return true;
}

static bool queue_push(raw_queue *queue, raw_change change)
{
    if (queue->count == queue->capacity) {
        uint32_t capacity = doubled(queue->capacity, queue->count + 1);
        if (!resize(&(raw_world){0}, &queue->changes, queue->capacity, capacity, sizeof(raw_change)))
            return false;
        queue->capacity = capacity;
    }
    queue->changes[queue->count++] = change;
    return true;
}

bool raw_queue_add_mass(raw_queue *queue, raw_id id, Mass mass)
{
    return queue_push(queue, (raw_change){.id = id, .mass = mass});
}

bool raw_queue_remove_mass(raw_queue *queue, raw_id id)
{
    return queue_push(queue, (raw_change){.id = id, .remove = true});
}

bool raw_queue_apply(raw_queue *queue, raw_world *world)
{
    for (uint32_t i = 0; i < queue->count; ++i) {
        const raw_change *change = &queue->changes[i];
        if (change->remove) {
            raw_remove_mass(world, change->id);
        } else if (raw_is_alive(world, change->id)) {
            Mass *mass = raw_add_mass(world, change->id);
            if (mass == NULL)
                return false;
            *mass = change->mass;
        }
    }
    queue->count = 0;
    return true;
}
