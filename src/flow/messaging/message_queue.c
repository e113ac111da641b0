#include "flow/messaging/message_queue.h"

#include "base/bits.h"
#include "core/world/report.h"

#include <string.h>

bool micap_letter_keep(micap_queue *queue, mica_world *world, const micap_letter *letter, const void *data)
{
    const micap_task *task = micap_task_here(world);
    if (task && task->lane == MICAP_LANE_NONE) {
        micap_fail(world, MICA_ERROR_REFUSED, letter->location,
                   "system %s sends a message inside a parallel for, where nothing has an order",
                   micap_system_label(task->system));
        return false;
    }
    size_t head = micap_align_up(sizeof *letter, MICAP_LETTER_ALIGNMENT);
    size_t bytes = head + micap_align_up(letter->data_bytes, MICAP_LETTER_ALIGNMENT);
    char *room = micap_queue_append(queue, task ? task->worker : 0, task ? task->lane : MICAP_LANE_NONE, bytes);
    if (!room) {
        micap_fail_memory(world, "message");
        return false;
    }
    micap_letter *copy = (micap_letter *)(void *)room;
    *copy = *letter;
    copy->bytes = (uint32_t)bytes;
    if (letter->data_bytes)
        memcpy(room + head, data, letter->data_bytes);
    return true;
}

const micap_letter *micap_letter_next(micap_queue *queue, micap_run **run, const micap_letter *before)
{
    const char *at = before ? (const char *)before + before->bytes : NULL;
    if (!*run) {
        *run = queue->first;
        at = *run ? (*run)->begin : NULL;
    }
    while (*run && at == (*run)->end) {
        *run = (*run)->next;
        at = *run ? (*run)->begin : NULL;
    }
    return (const micap_letter *)(const void *)at;
}
