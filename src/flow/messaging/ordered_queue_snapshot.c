/* A copy of what is in a queue, and bringing it back. */
#include "flow/messaging/ordered_queue.h"

#include "base/bits.h"

#include <string.h>

typedef struct saved_run {
    uint64_t frame;
    size_t bytes;
} saved_run;

struct micap_saved_queue {
    size_t bytes; /* of all this */
    uint64_t first_place;
    uint64_t begin;
    uint64_t frame;
    uint32_t run_count;
    saved_run runs[]; /* what is in them follows */
};

micap_saved_queue *micap_queue_save(const micap_queue *queue)
{
    size_t data_bytes = 0;
    uint32_t count = 0;
    for (const micap_run *run = queue->first; run; run = run->next, ++count)
        data_bytes += (size_t)(run->end - run->begin);
    size_t bytes = sizeof(micap_saved_queue) + count * sizeof(saved_run) + data_bytes;
    micap_saved_queue *saved = micap_allocate(queue->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!saved)
        return NULL;
    *saved = (micap_saved_queue){.bytes = bytes,
                                 .first_place = queue->first ? queue->first->location : queue->end,
                                 .begin = queue->begin,
                                 .frame = queue->frame};
    char *data = (char *)&saved->runs[count];
    for (const micap_run *run = queue->first; run; run = run->next) {
        size_t run_bytes = (size_t)(run->end - run->begin);
        saved->runs[saved->run_count++] = (saved_run){run->frame, run_bytes};
        memcpy(data, run->begin, run_bytes);
        data += run_bytes;
    }
    return saved;
}

void micap_queue_drop_saved(const micap_queue *queue, micap_saved_queue *saved)
{
    if (saved)
        micap_release(queue->memory, saved, saved->bytes, MICAP_ARRAY_ALIGNMENT);
}

/* One spare block has room for everything. */
bool micap_queue_prepare_load(micap_queue *queue, const micap_saved_queue *saved)
{
    size_t needed = 0;
    for (uint32_t i = 0; i < saved->run_count; ++i)
        needed += sizeof(micap_run) + 2 * (size_t)queue->alignment + saved->runs[i].bytes;
    return !needed || micap_queue_spare(queue, needed);
}

void micap_queue_load(micap_queue *queue, const micap_saved_queue *saved)
{
    micap_queue_clear(queue);
    if (!saved) {
        queue->begin = queue->end;
        return;
    }
    queue->end = saved->first_place;
    const char *data = (const char *)&saved->runs[saved->run_count];
    for (uint32_t i = 0; i < saved->run_count; ++i) {
        queue->frame = saved->runs[i].frame;
        void *room = micap_queue_append_slowly(queue, 0, MICAP_LANE_NONE, saved->runs[i].bytes);
        MICAP_ASSERT(room, "there is room for what was saved");
        memcpy(room, data, saved->runs[i].bytes);
        data += saved->runs[i].bytes;
    }
    micap_queue_close(queue);
    queue->frame = saved->frame;
    queue->begin = saved->begin;
}
