#include "flow/schedule/delivery.h"

#include "core/entity/pool_component.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "flow/schedule/job_plan.h"
#include "flow/schedule/system.h"

enum { JOBS_MAX = 64 };

static bool append(mica_world *world, micap_delivery **list, uint32_t *count, uint32_t *capacity,
                   const micap_delivery *delivery)
{
    if (!MICAP_RESERVE(&world->memory, *list, capacity, (uint64_t)*count + 1))
        return false;
    (*list)[(*count)++] = *delivery;
    return true;
}

bool micap_delivery_add(mica_world *world, micap_delivery_list *list, mica_entity target, mica_component component,
                        micap_delivery delivery)
{
    micap_row spot = micap_locate(world, target);
    if (!micap_is_row(spot) || !mica_has_id(world, target, component))
        return true;
    delivery.chunk = list->driver ? NULL : spot.chunk;
    delivery.row = list->driver ? micap_pooled_row(world, list->driver, target) : spot.row;
    delivery.block = micap_delivery_block(delivery.chunk, delivery.row);
    return append(world, &list->deliveries, &list->count, &list->capacity, &delivery);
}

bool micap_delivery_add_broadcast(mica_world *world, micap_delivery_list *list, micap_delivery delivery)
{
    return append(world, &list->broadcasts, &list->broadcast_count, &list->broadcast_capacity, &delivery);
}

static void merge(const micap_delivery *from, micap_delivery *to, uint32_t begin, uint32_t middle, uint32_t end)
{
    for (uint32_t left = begin, right = middle, at = begin; at < end; ++at) {
        bool is_left = right == end || (left < middle && from[left].block <= from[right].block);
        to[at] = is_left ? from[left++] : from[right++];
    }
}

bool micap_delivery_sort(mica_world *world, micap_delivery_list *list)
{
    uint32_t count = list->count, sorted = 1;
    while (sorted < count && list->deliveries[sorted - 1].block <= list->deliveries[sorted].block)
        ++sorted;
    if (sorted >= count) /* often they are in order already */
        return true;
    if (!MICAP_RESERVE(&world->memory, list->scratch, &list->scratch_capacity, count))
        return false;
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = count - begin < width ? count : begin + width;
            uint32_t end = count - middle < width ? count : middle + width;
            merge(list->deliveries, list->scratch, begin, middle, end);
        }
        micap_delivery *deliveries = list->deliveries;
        uint32_t capacity = list->capacity;
        list->deliveries = list->scratch;
        list->capacity = list->scratch_capacity;
        list->scratch = deliveries;
        list->scratch_capacity = capacity;
    }
    return true;
}

void micap_delivery_clear(micap_delivery_list *list)
{
    list->count = list->broadcast_count = 0;
}

void micap_delivery_free(mica_world *world, micap_delivery_list *list)
{
    MICAP_RELEASE_ARRAY(&world->memory, list->deliveries, list->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, list->scratch, list->scratch_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, list->broadcasts, list->broadcast_capacity);
}

uint32_t micap_delivery_find(const micap_delivery_list *list, uint64_t block)
{
    uint32_t low = 0, end = list->count;
    while (low != end) {
        uint32_t middle = low + (end - low) / 2;
        if (list->deliveries[middle].block < block)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* Jobs of equally many deliveries. A block is never divided, because one worker must run its rows. */
bool micap_delivery_plan_jobs(mica_world *world, micap_chain *chain)
{
    const micap_delivery_list *list = chain->systems[0]->deliveries;
    uint32_t count = list->count, least = (count + JOBS_MAX - 1) / JOBS_MAX;
    chain->has_own_partitions = true;
    chain->row_count = count;
    for (uint32_t at = 0, next; at < count; at = next) {
        next = count - at < least ? count : at + least;
        while (next < count && list->deliveries[next].block == list->deliveries[next - 1].block)
            ++next;
        micap_job_start start = {.row = at, .buffer_index = chain->job_count}, end = {.row = next};
        if (!micap_job_plan_add(world, chain, start, end))
            return false;
    }
    return true;
}
