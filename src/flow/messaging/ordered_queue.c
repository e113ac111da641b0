#include "flow/messaging/ordered_queue.h"

#include "base/bits.h"

#include <string.h>

enum { BLOCK_BYTES_FIRST = 4 << 10, BLOCK_BYTES_LAST = 256 << 10 };

void micap_queue_init(micap_queue *queue, micap_memory *memory, uint32_t alignment)
{
    *queue = (micap_queue){.memory = memory};
    queue->alignment = alignment > MICAP_ARRAY_ALIGNMENT ? alignment : MICAP_ARRAY_ALIGNMENT;
}

static void release_block(micap_queue *queue, micap_queue_block *block)
{
    micap_release(queue->memory, block, block->bytes, MICAP_CACHE_LINE);
}

static void close_run(micap_writer *writer)
{
    if (writer->run)
        writer->block->used = (size_t)(writer->at - (char *)writer->block);
    writer->run = NULL;
    writer->at = writer->limit = NULL;
    writer->lane = MICAP_LANE_NONE;
}

static void spare_block(micap_queue *queue, micap_queue_block *block)
{
    micap_writer *writer = &queue->writers[block->writer];
    block->used = sizeof *block;
    if (writer->block == block)
        return;
    block->next = writer->spare;
    writer->spare = block;
}

static void drop_run(micap_queue *queue, micap_run *run)
{
    micap_queue_block *block = run->block;
    if (--block->run_count == 0)
        spare_block(queue, block);
}

void micap_queue_drop(micap_queue *queue, uint64_t location)
{
    for (uint32_t i = 0; i < queue->writer_count; ++i)
        close_run(&queue->writers[i]);
    while (queue->first && micap_run_end(queue->first) <= location) {
        micap_run *run = queue->first;
        queue->first = run->next;
        drop_run(queue, run);
    }
    if (!queue->first)
        queue->last = NULL;
}

void micap_queue_trim(micap_queue *queue)
{
    for (uint32_t i = 0; i < queue->writer_count; ++i) {
        micap_writer *writer = &queue->writers[i];
        close_run(writer);
        while (writer->spare) {
            micap_queue_block *block = writer->spare;
            writer->spare = block->next;
            release_block(queue, block);
        }
        if (writer->block && !writer->block->run_count) {
            release_block(queue, writer->block);
            writer->block = NULL;
        }
    }
}

void micap_queue_free(micap_queue *queue)
{
    micap_queue_commit(queue);
    micap_queue_drop(queue, UINT64_MAX);
    micap_queue_trim(queue);
    micap_release(queue->memory, queue->writers, queue->writer_count * sizeof *queue->writers, MICAP_CACHE_LINE);
    MICAP_RELEASE_ARRAY(queue->memory, queue->lanes, queue->lane_capacity);
    *queue = (micap_queue){.memory = queue->memory, .alignment = queue->alignment};
}

bool micap_queue_prepare(micap_queue *queue, uint32_t worker_count, uint32_t lane_count)
{
    if (worker_count > queue->writer_count) {
        micap_writer *writers = micap_allocate_zeroed(queue->memory, worker_count * sizeof *writers, MICAP_CACHE_LINE);
        if (!writers)
            return false;
        if (queue->writer_count)
            memcpy(writers, queue->writers, queue->writer_count * sizeof *writers);
        micap_release(queue->memory, queue->writers, queue->writer_count * sizeof *writers, MICAP_CACHE_LINE);
        for (uint32_t i = queue->writer_count; i < worker_count; ++i)
            writers[i] = (micap_writer){.lane = MICAP_LANE_NONE, .lane_low = UINT32_MAX, .index = i};
        queue->writers = writers;
        queue->writer_count = worker_count;
    }
    uint32_t known = queue->lane_capacity;
    if (!MICAP_RESERVE(queue->memory, queue->lanes, &queue->lane_capacity, lane_count))
        return false;
    if (queue->lane_capacity > known)
        memset(queue->lanes + known, 0, (queue->lane_capacity - known) * sizeof *queue->lanes);
    for (uint32_t i = 0; i < queue->writer_count; ++i)
        close_run(&queue->writers[i]);
    return true;
}

/* The first spare block that is large enough, or a new one, twice as large as the last. */
static micap_queue_block *take_block(micap_queue *queue, micap_writer *writer, size_t needed)
{
    for (micap_queue_block **link = &writer->spare; *link; link = &(*link)->next)
        if ((*link)->bytes >= needed) {
            micap_queue_block *block = *link;
            *link = block->next;
            return block;
        }
    size_t bytes = writer->block ? writer->block->bytes * 2 : BLOCK_BYTES_FIRST;
    bytes = bytes < BLOCK_BYTES_LAST ? bytes : BLOCK_BYTES_LAST;
    bytes = bytes < needed ? micap_power_of_two_at_least(needed) : bytes;
    micap_queue_block *block = micap_allocate(queue->memory, bytes, MICAP_CACHE_LINE);
    if (block)
        *block = (micap_queue_block){.bytes = bytes, .used = sizeof *block, .writer = writer->index};
    return block;
}

bool micap_queue_spare(micap_queue *queue, size_t bytes)
{
    micap_writer *writer = &queue->writers[0];
    micap_queue_block *block = take_block(queue, writer, sizeof *block + bytes);
    if (!block)
        return false;
    block->used = sizeof *block;
    block->next = writer->spare;
    writer->spare = block;
    return true;
}

void micap_queue_close(micap_queue *queue)
{
    for (uint32_t i = 0; i < queue->writer_count; ++i)
        close_run(&queue->writers[i]);
}

void micap_queue_clear(micap_queue *queue)
{
    micap_queue_commit(queue);
    micap_queue_drop(queue, UINT64_MAX);
}

/* Where in a block a run's records would begin. */
static size_t run_begin(const micap_queue *queue, const micap_queue_block *block)
{
    uintptr_t header = (uintptr_t)block + micap_align_up(block->used, MICAP_ARRAY_ALIGNMENT);
    return micap_align_up(header + sizeof(micap_run), queue->alignment) - (uintptr_t)block;
}

static bool open_block(micap_queue *queue, micap_writer *writer, size_t bytes)
{
    micap_queue_block *old = writer->block;
    if (old && run_begin(queue, old) + bytes <= old->bytes)
        return true;
    size_t needed = sizeof(micap_queue_block) + sizeof(micap_run) + queue->alignment + bytes;
    micap_queue_block *block = take_block(queue, writer, needed);
    if (!block)
        return false;
    writer->block = block;
    if (old && !old->run_count)
        spare_block(queue, old);
    return true;
}

static void link_run(micap_run **first, micap_run **last, micap_run *run)
{
    if (*last)
        (*last)->next = run;
    else
        *first = run;
    *last = run;
}

static void enter_lane(micap_queue *queue, micap_writer *writer, uint32_t lane, micap_run *run)
{
    MICAP_ASSERT(lane < queue->lane_capacity, "lanes are counted before the phase begins");
    link_run(&queue->lanes[lane].first, &queue->lanes[lane].last, run);
    writer->lane_low = lane < writer->lane_low ? lane : writer->lane_low;
    writer->lane_end = lane + 1 > writer->lane_end ? lane + 1 : writer->lane_end;
}

void *micap_queue_append_slowly(micap_queue *queue, uint32_t worker, uint32_t lane, size_t bytes)
{
    micap_writer *writer = &queue->writers[worker];
    close_run(writer);
    if (!open_block(queue, writer, bytes))
        return NULL;
    micap_queue_block *block = writer->block;
    char *begin = (char *)block + run_begin(queue, block);
    micap_run *run = (micap_run *)(void *)(begin - sizeof *run);
    *run = (micap_run){.block = block, .begin = begin, .end = begin + bytes};
    ++block->run_count;
    writer->run = run;
    writer->lane = lane;
    writer->at = run->end;
    writer->limit = (char *)block + block->bytes;
    if (lane != MICAP_LANE_NONE) {
        enter_lane(queue, writer, lane, run);
    } else {
        run->location = queue->end;
        run->frame = queue->frame;
        link_run(&queue->first, &queue->last, run);
        queue->end += bytes;
    }
    return begin;
}

void micap_queue_commit(micap_queue *queue)
{
    uint32_t low = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < queue->writer_count; ++i) {
        micap_writer *writer = &queue->writers[i];
        close_run(writer);
        low = writer->lane_low < low ? writer->lane_low : low;
        end = writer->lane_end > end ? writer->lane_end : end;
        writer->lane_low = UINT32_MAX;
        writer->lane_end = 0;
    }
    for (uint32_t lane = low; lane < end; ++lane) {
        for (micap_run *run = queue->lanes[lane].first; run; run = run->next) {
            run->location = queue->end;
            run->frame = queue->frame;
            queue->end = micap_run_end(run);
        }
        if (!queue->lanes[lane].first)
            continue;
        link_run(&queue->first, &queue->last, queue->lanes[lane].first);
        queue->last = queue->lanes[lane].last;
        queue->lanes[lane] = (struct micap_lane_runs){0};
    }
}

bool micap_queue_is_sound(const micap_queue *queue)
{
    uint64_t location = queue->first ? queue->first->location : queue->end;
    const micap_run *last = NULL;
    for (const micap_run *run = queue->first; run; run = run->next) {
        if (run->location != location || run->end < run->begin || !run->block->run_count)
            return false;
        location = micap_run_end(run);
        last = run;
    }
    return location == queue->end && last == queue->last && queue->begin <= queue->end;
}
