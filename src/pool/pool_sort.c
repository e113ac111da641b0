/* Sorting rows: a stable merge sort of row numbers, then the rows follow, cycle by cycle. */
#include "pool/pool_sort.h"
#include "pool/pool_rows.h"

typedef struct micap_pool_sorting {
    const mica_pool *pool;
    mica_compare_fn compare;
    void *context;
    char *left; /* room for values of a split component to be put together */
    char *right;
} sorting;

static int compare_rows(const sorting *how, uint32_t a, uint32_t b)
{
    const mica_pool *pool = how->pool;
    if (!pool->type->leaves)
        return how->compare(micap_pool_value(pool, a), micap_pool_value(pool, b), how->context);
    micap_pool_read_value(pool, a, how->left);
    micap_pool_read_value(pool, b, how->right);
    return how->compare(how->left, how->right, how->context);
}

/* Bottom up, from `rows` to `other` and back; returns where the result is. */
static uint32_t *merge_sort(const sorting *how, uint32_t *rows, uint32_t *other, uint32_t count)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * width) {
            uint64_t middle = begin + width < count ? begin + width : count;
            uint64_t end = begin + 2 * width < count ? begin + 2 * width : count;
            uint64_t left = begin, right = middle;
            for (uint64_t at = begin; at < end; ++at) {
                bool take_left = left < middle && (right == end || compare_rows(how, rows[left], rows[right]) <= 0);
                other[at] = rows[take_left ? left++ : right++];
            }
        }
        uint32_t *swapped = rows;
        rows = other;
        other = swapped;
    }
    return rows;
}

/* Brings row order[i] to begin + i, in the pool and, when they are shared rows, in all pools of its group. */
static void apply(mica_pool *pool, uint32_t *order, uint32_t begin, uint32_t count, bool shared, mica_version version)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = i;
        while (order[at] !=
               begin + i) { /* follows the cycle: the row that belongs here is brought, the other moves on */
            uint32_t source = order[at] - begin;
            order[at] = begin + at;
            for (uint32_t k = 0; k < (shared ? pool->group->pool_count : 1); ++k)
                micap_pool_swap_rows(shared ? pool->group->pools[k] : pool, begin + at, begin + source, version);
            at = source;
        }
        order[at] = begin + at;
    }
}

static void sort_range(sorting *how, mica_pool *pool, uint32_t *rows, uint32_t begin, uint32_t end, bool shared,
                       mica_version version)
{
    uint32_t count = end - begin;
    for (uint32_t i = 0; i < count; ++i)
        rows[i] = begin + i;
    uint32_t *order = merge_sort(how, rows, rows + pool->row_limit, count);
    apply(pool, order, begin, count, shared, version);
}

bool micap_pool_sort_rows(mica_pool *pool, mica_compare_fn compare, void *context, mica_version version)
{
    size_t rows_bytes = 2 * (size_t)pool->row_limit * sizeof(uint32_t);
    size_t values_bytes = pool->type->leaves ? 2 * (size_t)pool->value_bytes : 0;
    uint32_t alignment = pool->type->type.alignment;
    uint32_t *rows = micap_allocate(pool->memory, rows_bytes, MICAP_ARRAY_ALIGNMENT);
    char *values = values_bytes ? micap_allocate(pool->memory, values_bytes, alignment) : NULL;
    bool fine = rows && (values || !values_bytes);
    if (fine) {
        sorting how = {pool, compare, context, values, values ? values + pool->value_bytes : NULL};
        uint32_t shared = pool->group ? pool->group->count : 0;
        ++pool->stamp; /* instances are invalid even if no row moved, so that mistakes do not depend on data */
        for (uint32_t i = 0; pool->group && i < pool->group->pool_count; ++i)
            ++pool->group->pools[i]->stamp;
        sort_range(&how, pool, rows, 0, shared, true, version);
        sort_range(&how, pool, rows, shared, pool->row_limit, false, version);
    }
    micap_release(pool->memory, values, values_bytes, alignment);
    micap_release(pool->memory, rows, rows_bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}
