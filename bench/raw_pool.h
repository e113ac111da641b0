/* A sparse set by hand: packed values of one size with an index by slot, swap-remove. The size is a constant where the functions are
 * called, so the compiler makes each copy a few moves. */
#ifndef BENCH_RAW_POOL_H
#define BENCH_RAW_POOL_H

#include "bench.h"
#include "raw.h"

#include <stdlib.h>

typedef struct raw_pool {
    uint32_t *row; /* by slot: RAW_NONE without a value */
    uint32_t row_capacity;
    uint32_t count;
    uint32_t capacity;
    char *values;
    uint32_t *owner;
} raw_pool;

static inline void raw_pool_free(raw_pool *pool)
{
    free(pool->row);
    free(pool->values);
    free(pool->owner);
    *pool = (raw_pool){0};
}

static void *resized(void *array, size_t bytes)
{
    array = realloc(array, bytes);
    require(array != NULL, "out of memory");
    return array;
}

static inline void raw_pool_reserve(raw_pool *pool, uint32_t index, size_t bytes)
{
    if (index >= pool->row_capacity) {
        uint32_t capacity = pool->row_capacity ? pool->row_capacity : 64;
        while (capacity <= index)
            capacity *= 2;
        pool->row = resized(pool->row, capacity * sizeof *pool->row);
        memset(pool->row + pool->row_capacity, 0xFF, (capacity - pool->row_capacity) * sizeof *pool->row);
        pool->row_capacity = capacity;
    }
    if (pool->count == pool->capacity) {
        pool->capacity = pool->capacity ? pool->capacity * 2 : 64;
        pool->values = resized(pool->values, pool->capacity * bytes);
        pool->owner = resized(pool->owner, pool->capacity * sizeof *pool->owner);
    }
}

static inline void *raw_pool_get(const raw_pool *pool, uint32_t index, size_t bytes)
{
    if (index >= pool->row_capacity || pool->row[index] == RAW_NONE)
        return NULL;
    return pool->values + pool->row[index] * bytes;
}

/* Returns a place for the value, to be filled in, or the value that is there. */
static inline void *raw_pool_add(raw_pool *pool, uint32_t index, size_t bytes)
{
    raw_pool_reserve(pool, index, bytes);
    if (pool->row[index] == RAW_NONE) {
        pool->row[index] = pool->count;
        pool->owner[pool->count++] = index;
    }
    return pool->values + pool->row[index] * bytes;
}

static inline bool raw_pool_remove(raw_pool *pool, uint32_t index, size_t bytes)
{
    if (index >= pool->row_capacity || pool->row[index] == RAW_NONE)
        return false;
    uint32_t row = pool->row[index], last = --pool->count;
    pool->row[index] = RAW_NONE;
    if (row == last)
        return true;
    memcpy(pool->values + row * bytes, pool->values + last * bytes, bytes);
    pool->owner[row] = pool->owner[last];
    pool->row[pool->owner[row]] = row;
    return true;
}

#endif
