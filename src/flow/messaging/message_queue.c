#include "flow/messaging/message_queue.h"

#include "base/bits.h"
#include "core/world/report.h"
#include "flow/schedule/system.h"
#include "type/owned.h"

#include <string.h>

static micap_queued_message *message_at(char *at)
{
    return (micap_queued_message *)(void *)at;
}

static bool owns(const micap_queued_message *message)
{
    return micap_type_of(message->component)->owns;
}

static void *content_of(micap_queued_message *message)
{
    return (char *)message + micap_align_up(sizeof *message, MICAP_MESSAGE_ALIGNMENT);
}

static void release_messages(const micap_queue_life *life, char *begin, char *end)
{
    (void)life;
    for (char *at = begin; at < end; at += message_at(at)->bytes)
        if (owns(message_at(at)))
            micap_owned_release(&micap_type_of(message_at(at)->component)->type, content_of(message_at(at)), 1);
}

static bool retain_messages(const micap_queue_life *life, char *begin, char *end)
{
    for (char *at = begin; at < end; at += message_at(at)->bytes)
        if (owns(message_at(at)) &&
            !micap_owned_retain(&micap_type_of(message_at(at)->component)->type, content_of(message_at(at)), 1)) {
            release_messages(life, begin, at);
            return false;
        }
    return true;
}

void micap_message_queue_init(micap_queue *queue, micap_memory *memory)
{
    micap_queue_init(queue, memory, MICAP_MESSAGE_ALIGNMENT);
    queue->life = (micap_queue_life){.retain = retain_messages, .release = release_messages};
}

bool micap_message_queue_add(micap_queue *queue, mica_world *world, const micap_queued_message *message,
                             const micap_type *type, const void *data)
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
    if (MICAP_LIKELY(!type->owns))
        return true;
    atomic_store_explicit(&queue->owns, true, memory_order_relaxed);
    if (micap_queue_own(queue, job ? job->worker : 0, room, bytes))
        return true;
    micap_fail_memory(world, "message");
    return false;
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
