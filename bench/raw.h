/* The baseline: what a competent C programmer writes by hand when there is no library. Entities with a position and a
 * velocity in dense arrays that double with realloc, an index of ids checked by generation, swap-remove; and the
 * optional mass as a packed array of its own with an index by id. Nothing is generic, and every function checks what
 * Mica checks.
 *
 * It is a module of the program like any other: its functions are called, its arrays are used in place. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "data.h"

#include <stdbool.h>
#include <stddef.h>

/* All zero is nil: generations start at 1. */
typedef struct raw_id {
    uint32_t index;
    uint32_t generation;
} raw_id;

typedef struct raw_slot {
    uint32_t generation;
    uint32_t row; /* of a free slot: the next free one */
} raw_slot;

typedef struct raw_world raw_world;
typedef void (*raw_on_add_fn)(raw_world *world, raw_id id, void *context);

#define RAW_NONE UINT32_MAX

struct raw_world {
    raw_slot *slots;
    uint32_t slot_count;
    uint32_t slot_capacity;
    uint32_t first_free;

    uint32_t count;
    uint32_t capacity;
    Position *position;
    Velocity *velocity;
    raw_id *owner;

    uint32_t *mass_row; /* by slot, as many as mass_row_capacity: RAW_NONE without mass */
    uint32_t mass_row_capacity;
    uint32_t mass_count;
    uint32_t mass_capacity;
    Mass *mass;
    uint32_t *mass_owner;

    bool on_huge_pages; /* large arrays, as Mica asks for them */
    raw_on_add_fn on_add;
    void *on_add_context;
};

/* Memory for a large array on huge pages, which Mica asks for too; NULL when memory is short. free releases it. */
void *raw_allocate_large(size_t bytes);

raw_world raw_world_make(void);
void raw_world_free(raw_world *world);

/* Kills everything and keeps the memory; slots come back in rising order. */
void raw_world_clear(raw_world *world);

/* Appends a row to be filled in, whose id is in owner, and returns it; RAW_NONE when memory is short. */
uint32_t raw_create(raw_world *world);

/* Appends a row with this position, its velocity untouched, calls on_add, and returns the row. */
uint32_t raw_create_position(raw_world *world, float x, float y, float z);

bool raw_create_many(raw_world *world, uint32_t count, const Position *position, const Velocity *velocity, raw_id *out);
bool raw_destroy(raw_world *world, raw_id id);

bool raw_is_alive(const raw_world *world, raw_id id);
Position *raw_get_position(const raw_world *world, raw_id id);
bool raw_has_mass(const raw_world *world, raw_id id);
Mass *raw_add_mass(raw_world *world, raw_id id);
bool raw_remove_mass(raw_world *world, raw_id id);

/* Changes of mass that are recorded now and made later. */
typedef struct raw_change {
    raw_id id;
    bool remove;
    Mass mass;
} raw_change;

typedef struct raw_queue {
    raw_change *changes;
    uint32_t count;
    uint32_t capacity;
} raw_queue;

bool raw_queue_add_mass(raw_queue *queue, raw_id id, Mass mass);
bool raw_queue_remove_mass(raw_queue *queue, raw_id id);

/* Makes the changes in order, passing over the dead, and empties the queue. */
bool raw_queue_apply(raw_queue *queue, raw_world *world);

#endif
