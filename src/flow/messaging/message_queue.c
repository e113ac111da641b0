#include "flow/messaging/message_queue.h"

#include "base/bits.h"
#include "core/world/report.h"
#include "flow/schedule/system.h"

#include <string.h>

bool micap_message_queue_add(micap_queue *queue, mica_world *world, const micap_queued_message *message,
                             const void *data)
{
    const micap_running_job *job = micap_running_job_of(world);
    if (job && job->sequence == MICAP_SEQUENCE_NONE) {
        micap_fail(world, MICA_ERROR_REFUSED, message->location,
                   "system %s: messages can't be sent inside a parallel for, because they would have no order",
                   job->system->def.name);
        return false;
    }
    size_t head = micap_align_up(sizeof *message, MICAP_MESSAGE_ALIGNMENT);
    size_t bytes = head + micap_align_up(message->data_bytes, MICAP_MESSAGE_ALIGNMENT);
    char *room = micap_queue_append(queue, job ? job->worker : 0, job ? job->sequence : MICAP_SEQUENCE_NONE, bytes);
    if (!room) {
        micap_fail_memory(world, "message");
        return false;
    }
    micap_queued_message *copy = (micap_queued_message *)(void *)room;
    *copy = *message;
    copy->bytes = (uint32_t)bytes;
    if (message->data_bytes)
        memcpy(room + head, data, message->data_bytes);
    return true;
}

const micap_queued_message *micap_message_queue_next(micap_queue *queue, micap_queue_span **span,
                                                     const micap_queued_message *before)
{
    const char *at = before ? (const char *)before + before->bytes : NULL;
    if (!*span) {
        *span = queue->first;
        at = *span ? (*span)->begin : NULL;
    }
    while (*span && at == (*span)->end) {
        *span = (*span)->next;
        at = *span ? (*span)->begin : NULL;
    }
    return (const micap_queued_message *)(const void *)at;
}
