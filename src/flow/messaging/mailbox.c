#include "flow/messaging/mailbox.h"

#include "base/assert.h"
#include "core/query/query_join.h"
#include "core/world/report.h"
#include "flow/messaging/traffic.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/phase_run.h"
#include "flow/schedule/system.h"

#include <stdio.h>

mica_term micap_mailbox_term(const micap_mailbox *mailbox)
{
    bool has_data = micap_type_of(mailbox->component)->type.size_bytes != 0;
    return (mica_term){.component = mailbox->component, .access = has_data ? MICA_ACCESS_WRITE : MICA_ACCESS_HAS};
}

/* The function of the system of a mailbox. */
static void run_handlers(mica_view *view)
{
    const micap_running_job *job = micap_running_job_of(view->world);
    MICAP_ASSERT(job, "a system runs in a job");
    const micap_delivery *delivery = job->delivery;
    micap_handler_list_call_view(delivery->handlers, view, micap_message_data(delivery->message));
}

static uint32_t uses_of(const micap_mailbox *mailbox, mica_use *out)
{
    const micap_messages *messages = mailbox->messages;
    uint32_t count = 0;
    for (uint32_t id = 0; id < messages->kind_limit; ++id)
        for (uint32_t i = 0; messages->kinds[id] && i < messages->kinds[id]->list_count; ++i)
            if (messages->kinds[id]->lists[i]->mailbox == mailbox)
                count = micap_handler_list_uses(messages->kinds[id]->lists[i], out, count);
    return count;
}

mica_result micap_mailbox_update(micap_mailbox *mailbox)
{
    mica_world *world = mailbox->messages->world;
    char name[96];
    snprintf(name, sizeof name, "%.64s.messages", micap_type_of(mailbox->component)->type.name);
    mica_use uses[MICAP_USES_MAX + 1];
    mica_term term = micap_mailbox_term(mailbox);
    mica_system_def def = {.name = name,
                           .view = run_handlers,
                           .terms = &term,
                           .term_count = 1,
                           .uses = uses,
                           .use_count = uses_of(mailbox, uses),
                           .phase = MICAP_PHASE_MESSAGES};
    if (mailbox->system.id)
        return micap_system_replace(world, mailbox->system, &def);
    mailbox->system = micap_system_add(world, &def, MICAP_SYSTEM_OF_MAILBOX, &mailbox->deliveries);
    return mailbox->system.id ? MICA_OK : micap_failure(world);
}

micap_mailbox *micap_mailbox_require(micap_messages *messages, mica_component component)
{
    mica_world *world = messages->world;
    for (uint32_t i = 0; i < messages->mailbox_count; ++i)
        if (messages->mailboxes[i]->component == component)
            return messages->mailboxes[i];
    micap_mailbox *mailbox = NULL;
    if (MICAP_RESERVE(&world->memory, messages->mailboxes, &messages->mailbox_capacity,
                      (uint64_t)messages->mailbox_count + 1))
        mailbox = micap_allocate_zeroed(&world->memory, sizeof *mailbox, MICAP_ARRAY_ALIGNMENT);
    if (!mailbox) {
        micap_fail_memory(world, "handler");
        return NULL;
    }
    mailbox->component = component;
    mailbox->messages = messages;
    mailbox->order = messages->next_order++;
    mailbox->has_values = micap_type_of(component)->type.size_bytes && !micap_type_of(component)->leaves;
    if (micap_mailbox_update(mailbox) != MICA_OK) {
        micap_mailbox_free(mailbox);
        return NULL;
    }
    messages->mailboxes[messages->mailbox_count++] = mailbox;
    return mailbox;
}

void micap_mailbox_free(micap_mailbox *mailbox)
{
    mica_world *world = mailbox->messages->world;
    micap_delivery_free(world, &mailbox->deliveries);
    micap_release(&world->memory, mailbox, sizeof *mailbox, MICAP_ARRAY_ALIGNMENT);
}

void micap_mailbox_remove(micap_mailbox *mailbox)
{
    micap_messages *messages = mailbox->messages;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < messages->mailbox_count; ++i)
        if (messages->mailboxes[i] != mailbox)
            messages->mailboxes[kept++] = messages->mailboxes[i];
    messages->mailbox_count = kept;
    micap_system_remove(messages->world, mailbox->system);
    micap_mailbox_free(mailbox);
}

/* Adds a message to each mailbox that has handlers for it. False if memory is short. */
static bool add_message(micap_messages *messages, const micap_queued_message *message, uint32_t number)
{
    mica_world *world = messages->world;
    const micap_message_kind *kind = micap_message_kind_of(messages, message->component);
    for (uint32_t i = 0; kind && i < kind->list_count; ++i) {
        micap_mailbox *mailbox = kind->lists[i]->mailbox;
        if (!mica_is_nil(message->entity) && micap_handler_list_skips(kind->lists[i], world, message->entity))
            continue;
        micap_delivery delivery = {.number = number, .handlers = kind->lists[i], .message = message};
        bool done = mica_is_nil(message->entity) ? micap_delivery_add_broadcast(world, &mailbox->deliveries, delivery)
                                                 : micap_delivery_add(world, &mailbox->deliveries, message->entity,
                                                                      mailbox->component, delivery);
        if (!done)
            return false;
    }
    return true;
}

static void empty_mailboxes(micap_messages *messages)
{
    for (uint32_t i = 0; i < messages->mailbox_count; ++i)
        micap_delivery_clear(&messages->mailboxes[i]->deliveries);
}

/* Adds all messages that wait to mailboxes. The systems of mailboxes that have messages become active. False if memory is
 * short. */
static bool fill_mailboxes(micap_messages *messages, micap_segment *segment)
{
    mica_world *world = messages->world;
    for (uint32_t i = 0; i < segment->system_count; ++i) {
        const micap_system *system = segment->systems[i];
        mica_view walk = {.world = world, .private_.query = system->query};
        if (system->query->join_count)
            micap_join_begin(&walk, system->query);
        system->deliveries->driver = walk.private_.driver;
    }
    uint32_t number = 0;
    micap_queue_span *span = NULL;
    for (const micap_queued_message *message = NULL;
         (message = micap_message_queue_next(&messages->queue, &span, message));) {
        if (MICAP_UNLIKELY(world->traffic))
            micap_traffic_tell_message(world, message);
        if (!add_message(messages, message, number++))
            return false;
    }
    segment->has_inactive = false;
    for (uint32_t i = 0; i < segment->system_count; ++i) {
        micap_system *system = segment->systems[i];
        if (!micap_delivery_sort(world, system->deliveries))
            return false;
        system->is_active = system->is_enabled && !system->is_removed &&
                            (system->deliveries->count || system->deliveries->broadcast_count);
        segment->has_inactive |= !system->is_active;
    }
    return true;
}

static mica_result run_round(micap_messages *messages, micap_segment *segment)
{
    mica_time time = mica_time_get(messages->world);
    uint64_t end = messages->queue.end;
    mica_result result = MICA_OK;
    segment->dt = time.dt;
    segment->alpha = time.alpha;
    segment->seconds = time.seconds;
    segment->structure = 0; /* jobs depend on messages */
    segment->has_run = false;
    if (fill_mailboxes(messages, segment))
        result = micap_segment_run(segment);
    else
        result = micap_fail_memory(messages->world, "delivery of messages");
    empty_mailboxes(messages);
    if (segment->has_run) {
        ++segment->phase->tick;
        micap_queue_drop(&messages->queue, end);
    }
    return result;
}

mica_result micap_mailboxes_deliver(micap_messages *messages)
{
    if (!messages->queue.first)
        return MICA_OK;
    micap_flow *flow = micap_flow_get(messages->world);
    micap_phase *phase = micap_phase_find_id(flow, MICAP_PHASE_MESSAGES);
    uint64_t version = flow->systems_version;
    mica_result result = micap_messages_update(messages) ? MICA_OK : MICA_ERROR_MEMORY;
    if (result == MICA_OK && version != flow->systems_version)
        result = micap_dependency_graph_update_phase(flow, phase);
    messages->is_delivering = true;
    while (result == MICA_OK && messages->queue.first && phase->segment_count) {
        ++messages->generation;
        result = run_round(messages, phase->segments);
    }
    if (!phase->segment_count) /* there are no handlers */
        micap_queue_drop(&messages->queue, messages->queue.end);
    messages->is_delivering = false;
    messages->generation = 0;
    flow->gates_stale = true;
    return result;
}
