#include "flow/messaging/message_handlers.h"

#include "base/argument.h"
#include "base/bits.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "flow/messaging/mailbox.h"
#include "type/value_bytes.h"
#include "flow/schedule/access_conflict.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

#include <stdio.h>

bool micap_handler_list_skips(const micap_handler_list *list, const mica_world *world, mica_entity entity)
{
    if (!world->archetypes.hidden_count)
        return false;
    micap_row spot = micap_locate(world, entity);
    return micap_is_row(spot) && spot.chunk->archetype->is_hidden &&
           !micap_query_matches_archetype(list->query, spot.chunk->archetype);
}

void micap_handler_list_call(const micap_handler_list *list, mica_message *message)
{
    for (const micap_handler *handler = list->first; handler; handler = handler->next) {
        message->context = handler->context;
        handler->fn(message);
    }
}

static micap_message_kind *kind_for(micap_messages *messages, mica_component id)
{
    micap_message_kind *kind = micap_message_kind_of(messages, id);
    if (kind)
        return kind;
    mica_world *world = messages->world;
    if (!MICAP_RESERVE(&world->memory, messages->kinds, &messages->kind_capacity, (uint64_t)id + 1))
        return NULL;
    kind = micap_allocate_zeroed(&world->memory, sizeof *kind, MICAP_ARRAY_ALIGNMENT);
    if (!kind)
        return NULL;
    kind->id = id;
    kind->message_bytes = micap_type_of(id)->type.size_bytes;
    for (; messages->kind_limit <= id; ++messages->kind_limit)
        messages->kinds[messages->kind_limit] = NULL;
    messages->kinds[id] = kind;
    return kind;
}

static bool is_same_use(const mica_use *a, const mica_use *b)
{
    return a->component == b->component && a->stream == b->stream && a->index == b->index && a->write == b->write;
}

uint32_t micap_handler_list_uses(const micap_handler_list *list, mica_use *uses, uint32_t count)
{
    for (const micap_handler *handler = list->first; handler; handler = handler->next)
        for (uint32_t i = 0; i < handler->use_count; ++i) {
            uint32_t known = 0;
            while (known < count && !is_same_use(&uses[known], &handler->uses[i]))
                ++known;
            if (known == count && count <= MICAP_USES_MAX)
                uses[count++] = handler->uses[i];
        }
    return count;
}

static micap_handler_list *find_list(const micap_message_kind *kind, mica_component component)
{
    for (uint32_t i = 0; i < kind->list_count; ++i)
        if (kind->lists[i]->component == component)
            return kind->lists[i];
    return NULL;
}

void micap_handler_list_call_view(const micap_handler_list *list, mica_view *view, const void *data)
{
    mica_message message = {.world = view->world,
                            .component = list->component,
                            .kind = list->kind->id,
                            .count = view->count,
                            .entities = view->entities,
                            .values = list->mailbox->has_values ? mica_view_write_at(view, 0) : NULL,
                            .data = data,
                            .frame = view->frame};
    micap_handler_list_call(list, &message);
}

/* The function of a system that runs the handlers of a message of every frame. */
static void run_handlers(mica_view *view)
{
    const micap_handler_list *list = view->frame->context;
    micap_handler_list_call_view(list, view, list->kind->zero);
}

/* Adds the system that runs the handlers every frame, or updates it after their uses changed. */
static mica_result update_system(micap_messages *messages, micap_handler_list *list)
{
    char name[160];
    snprintf(name, sizeof name, "%.64s.%.64s", micap_type_of(list->component)->type.name,
             micap_type_of(list->kind->id)->type.name);
    mica_use uses[MICAP_USES_MAX + 1];
    mica_term term = micap_mailbox_term(list->mailbox);
    mica_system_def def = {.name = name,
                           .view = run_handlers,
                           .terms = &term,
                           .term_count = 1,
                           .uses = uses,
                           .use_count = micap_handler_list_uses(list, uses, 0),
                           .context = list,
                           .phase = list->kind->phase};
    if (list->system.id)
        return micap_system_replace(messages->world, list->system, &def);
    list->system = micap_system_add(messages->world, &def, MICAP_SYSTEM_OF_HANDLERS, NULL);
    return list->system.id ? MICA_OK : micap_failure(messages->world);
}

static void free_handler(micap_memory *memory, micap_handler *handler)
{
    micap_release(memory, handler->uses, handler->use_count * sizeof *handler->uses, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
}

static void free_list(micap_messages *messages, micap_handler_list *list)
{
    micap_memory *memory = &messages->world->memory;
    for (micap_handler *handler = list->first, *next; handler; handler = next) {
        next = handler->next;
        free_handler(memory, handler);
    }
    micap_release(memory, list, sizeof *list, MICAP_ARRAY_ALIGNMENT);
}

static void sort_in(micap_message_kind *kind, micap_handler_list *list)
{
    uint32_t at = kind->list_count++;
    for (; at > 0 && kind->lists[at - 1]->mailbox->order > list->mailbox->order; --at)
        kind->lists[at] = kind->lists[at - 1];
    kind->lists[at] = list;
}

static void remove_list(micap_messages *messages, micap_handler_list *list)
{
    micap_message_kind *kind = list->kind;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kind->list_count; ++i)
        if (kind->lists[i] != list)
            kind->lists[kept++] = kind->lists[i];
    kind->list_count = kept;
    if (list->system.id)
        micap_system_remove(messages->world, list->system);
    if (--list->mailbox->list_count == 0)
        micap_mailbox_remove(list->mailbox);
    micap_query_free(list->query);
    free_list(messages, list);
}

/* Creates the query of all entities that have the component of a mailbox. */
static mica_query *create_query(mica_world *world, const micap_mailbox *mailbox, mica_component component)
{
    mica_term term = micap_mailbox_term(mailbox);
    return mica_query_create(
        world, &(mica_query_def){.name = micap_type_of(component)->type.name, .terms = &term, .term_count = 1});
}

static micap_handler_list *create_list(micap_messages *messages, micap_message_kind *kind, mica_component component)
{
    mica_world *world = messages->world;
    micap_handler_list *list = NULL;
    if (MICAP_RESERVE(&world->memory, kind->lists, &kind->list_capacity, (uint64_t)kind->list_count + 1))
        list = micap_allocate(&world->memory, sizeof *list, MICAP_ARRAY_ALIGNMENT);
    if (!list) {
        micap_fail_memory(world, "handler");
        return NULL;
    }
    micap_mailbox *mailbox = micap_mailbox_require(messages, component);
    mica_query *query = mailbox ? create_query(world, mailbox, component) : NULL;
    if (!query) {
        if (mailbox && !mailbox->list_count)
            micap_mailbox_remove(mailbox);
        micap_release(&world->memory, list, sizeof *list, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    *list = (micap_handler_list){.component = component, .kind = kind, .mailbox = mailbox, .query = query};
    ++mailbox->list_count;
    sort_in(kind, list);
    if (kind->zero && update_system(messages, list) != MICA_OK) {
        remove_list(messages, list);
        return NULL;
    }
    return list;
}

/* Copies a handler with its uses. NULL if memory is short. */
static micap_handler *copy_handler(micap_memory *memory, const micap_handler *wanted)
{
    micap_handler *handler = micap_allocate(memory, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
    if (!handler)
        return NULL;
    *handler = *wanted;
    size_t bytes = wanted->use_count * sizeof *wanted->uses;
    handler->uses = bytes ? micap_allocate(memory, bytes, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (handler->uses)
        memcpy(handler->uses, wanted->uses, bytes);
    if (!bytes || handler->uses)
        return handler;
    micap_release(memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
    return NULL;
}

/* Updates the systems of a list after the uses of its handlers changed. */
static mica_result update_uses(micap_messages *messages, micap_handler_list *list)
{
    mica_result result = micap_mailbox_update(list->mailbox);
    return result == MICA_OK && list->system.id ? update_system(messages, list) : result;
}

static void unlink_handler(micap_messages *messages, micap_handler_list *list, micap_handler *handler)
{
    micap_handler *before = NULL;
    for (micap_handler *at = list->first; at != handler; at = at->next)
        before = at;
    *(before ? &before->next : &list->first) = handler->next;
    if (list->last == handler)
        list->last = before;
    bool has_uses = handler->use_count != 0;
    free_handler(&messages->world->memory, handler);
    if (!list->first)
        remove_list(messages, list);
    else if (has_uses)
        update_uses(messages, list);
}

/* False with a report. */
static bool add_handler(micap_messages *messages, mica_component component, const micap_handler *wanted,
                        mica_component message)
{
    mica_world *world = messages->world;
    micap_handler *handler = copy_handler(&world->memory, wanted);
    micap_message_kind *kind = handler ? kind_for(messages, message) : NULL;
    micap_handler_list *list = kind ? find_list(kind, component) : NULL;
    if (!kind)
        micap_fail_memory(world, "handler");
    else if (!list)
        list = create_list(messages, kind, component);
    if (!list) {
        if (handler)
            free_handler(&world->memory, handler);
        return false;
    }
    handler->next = NULL;
    *(list->last ? &list->last->next : &list->first) = handler;
    list->last = handler;
    if (!handler->use_count || update_uses(messages, list) == MICA_OK)
        return true;
    unlink_handler(messages, list, handler);
    return false;
}

static bool has_described(const micap_messages *messages, mica_component component, const mica_handler *described,
                          mica_component message)
{
    const micap_message_kind *kind = micap_message_kind_of(messages, message);
    const micap_handler_list *list = kind ? find_list(kind, component) : NULL;
    for (const micap_handler *handler = list ? list->first : NULL; handler; handler = handler->next)
        if (handler->is_described && handler->fn == described->fn && handler->context == described->context)
            return true;
    return false;
}

static bool add_described(micap_messages *messages, const micap_component *component)
{
    const mica_type *type = &component->type->type;
    for (uint32_t i = 0; i < type->handler_count; ++i) {
        const mica_handler *described = &type->handlers[i];
        mica_component message = described->message ? mica_type_id(described->message) : 0;
        micap_handler wanted = {.fn = described->fn, .context = described->context, .is_described = true};
        if (message && described->fn && !has_described(messages, component->type->id, described, message) &&
            !add_handler(messages, component->type->id, &wanted, message))
            return false;
    }
    return true;
}

bool micap_messages_update(micap_messages *messages)
{
    const micap_components *components = &messages->world->components;
    uint32_t used = components->used;
    if (messages->known_components == used)
        return true;
    for (uint32_t i = 0; i < components->limit; ++i)
        if (components->by_id[i] && !add_described(messages, components->by_id[i]))
            return false;
    for (uint32_t i = 0; i < components->pooled_limit; ++i)
        if (components->pooled[i] && !add_described(messages, components->pooled[i]))
            return false;
    messages->known_components = used;
    return true;
}

/* Whether handlers can't be changed now, with a report. */
static bool is_refused(const mica_world *world, mica_location location)
{
    const micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    micap_check_door(world, "handler_add or handler_remove");
    const micap_flow *flow = micap_flow_get(world);
    if (!(flow && flow->is_stepping) && !(messages && messages->is_delivering))
        return false;
    micap_fail(world, MICA_ERROR_REFUSED, location,
               "handler: handlers can't be added or removed inside a frame or a handler");
    return true;
}

mica_result mica_handler_add(mica_world *world, const mica_handler *handler)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_location location = handler ? handler->location : (mica_location){0};
    if (!handler || !handler->component || !handler->message || !handler->fn)
        return micap_fail(world, MICA_ERROR_INVALID, location,
                          "handler: it needs a component, a message and a function");
    if (is_refused(world, location))
        return MICA_ERROR_REFUSED;
    mica_component message = mica_type_id(handler->message);
    const micap_type *type = micap_type_for_entities(world, mica_type_id(handler->component));
    if (!type || !message)
        return type ? micap_fail(world, MICA_ERROR_INVALID, location,
                                 "handler: the description of the message is invalid")
                    : micap_failure(world);
    if (type->type.relation)
        return micap_fail(world, MICA_ERROR_INVALID, location, "handler: %s is a relation, whose edges get no messages",
                          type->type.name);
    micap_messages *messages = micap_messages_of(world);
    micap_handler wanted = {.fn = handler->fn,
                            .context = handler->context,
                            .uses = (mica_use *)(uintptr_t)handler->uses,
                            .use_count = handler->use_count};
    bool done = messages && add_handler(messages, type->id, &wanted, message);
    return done ? MICA_OK : micap_failure(world);
}

bool mica_handler_remove(mica_world *world, mica_component component, mica_component message, mica_message_fn fn)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, fn))
        return false;
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    const micap_message_kind *kind = messages ? micap_message_kind_of(messages, message) : NULL;
    micap_handler_list *list = kind ? find_list(kind, component) : NULL;
    if (!list || is_refused(world, (mica_location){0}))
        return false;
    micap_handler *handler = list->first;
    while (handler && (handler->fn != fn || handler->is_described))
        handler = handler->next;
    if (handler)
        unlink_handler(messages, list, handler);
    return handler != NULL;
}

mica_result mica_message_every_frame_id(mica_world *world, mica_component message, mica_phase phase)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (is_refused(world, (mica_location){0}))
        return MICA_ERROR_REFUSED;
    const micap_type *type = micap_type_of(message);
    if (!type || !type->type.size_bytes)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0},
                          "message_every_frame: there is no such message, or it has no data");
    const micap_flow *flow = micap_flow_of(world);
    if (flow && MICAP_INVALID(world, !micap_phase_find_id(flow, phase), phase, "must be a phase of this world"))
        return MICA_ERROR_INVALID;
    micap_messages *messages = micap_messages_of(world);
    if (!messages || !micap_messages_update(messages))
        return micap_failure(world);
    micap_message_kind *kind = kind_for(messages, message);
    if (!kind)
        return micap_fail_memory(world, "message");
    if (kind->zero)
        return micap_fail(world, MICA_ERROR_EXISTS, (mica_location){0},
                          "message_every_frame: %s is already sent every frame", type->type.name);
    kind->zero = micap_allocate_zeroed(&world->memory, kind->message_bytes, type->type.alignment);
    if (!kind->zero)
        return micap_fail_memory(world, "message");
    kind->phase = phase;
    for (uint32_t i = 0; i < kind->list_count; ++i)
        if (update_system(messages, kind->lists[i]) != MICA_OK) {
            while (i-- > 0) {
                micap_system_remove(world, kind->lists[i]->system);
                kind->lists[i]->system.id = 0;
            }
            micap_release(&world->memory, kind->zero, kind->message_bytes, type->type.alignment);
            kind->zero = NULL;
            return micap_failure(world);
        }
    return MICA_OK;
}

static void frame_begin(mica_world *world, void *state)
{
    (void)world;
    micap_messages_update(state);
}

static bool phase_begin(mica_world *world, void *state)
{
    micap_messages *messages = state;
    if (micap_queue_prepare(&messages->queue, mica_worker_count(world), micap_sequence_count(world)))
        return true;
    micap_fail_memory(world, "message");
    return false;
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_commit(&messages->queue);
    messages->is_awaited = true;
}

static mica_result flushed(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    mica_result result = micap_mailboxes_deliver(messages);
    messages->is_awaited = false;
    return result;
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_trim(&messages->queue);
}

/* The world ends; it frees its queries and systems itself. */
static void free_messages(mica_world *world, void *state)
{
    micap_messages *messages = state;
    for (uint32_t id = 0; id < messages->kind_limit; ++id) {
        micap_message_kind *kind = messages->kinds[id];
        if (!kind)
            continue;
        for (uint32_t i = 0; i < kind->list_count; ++i)
            free_list(messages, kind->lists[i]);
        MICAP_RELEASE_ARRAY(&world->memory, kind->lists, kind->list_capacity);
        micap_release(&world->memory, kind->zero, kind->message_bytes, micap_type_of(id)->type.alignment);
        micap_release(&world->memory, kind, sizeof *kind, MICAP_ARRAY_ALIGNMENT);
    }
    for (uint32_t i = 0; i < messages->mailbox_count; ++i)
        micap_mailbox_free(messages->mailboxes[i]);
    MICAP_RELEASE_ARRAY(&world->memory, messages->mailboxes, messages->mailbox_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, messages->kinds, messages->kind_capacity);
    micap_queue_free(&messages->queue);
}

static bool init(mica_world *world, void *state)
{
    micap_messages *messages = state;
    messages->world = world;
    micap_message_queue_init(&messages->queue, &world->memory);
    return micap_queue_prepare(&messages->queue, 1, 0);
}

static void *save(mica_world *world, void *state)
{
    (void)world;
    return micap_queue_save(&((const micap_messages *)state)->queue);
}

static void drop(mica_world *world, void *state, void *saved)
{
    (void)state;
    micap_queue_drop_saved(&world->memory, saved);
}

static bool prepare(mica_world *world, void *state, const void *saved)
{
    (void)world;
    return micap_queue_prepare_load(&((micap_messages *)state)->queue, saved);
}

static void load(mica_world *world, void *state, const void *saved)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_load(&messages->queue, saved);
    messages->is_awaited = false;
}

/* The number of bytes goes first, so that a world without the type finds the next message. */
static void put_message(micap_bytes *bytes, const micap_queued_message *message)
{
    const micap_type *type = micap_type_of(message->component);
    micap_bytes_put64(bytes, type->name_hash);
    micap_bytes_put64(bytes, type->layout_hash);
    micap_bytes_put32(bytes, 0);
    uint32_t begin = bytes->count;
    micap_bytes_put_number(bytes, message->kind);
    micap_bytes_put32(bytes, message->entity.index);
    micap_bytes_put32(bytes, message->entity.generation);
    micap_value_put(bytes, &type->type, micap_message_data(message));
    uint32_t count = micap_little32(bytes->count - begin);
    if (!bytes->failed)
        memcpy(bytes->data + begin - sizeof count, &count, sizeof count);
}

static void put_messages(micap_bytes *bytes, const char *begin, const char *end, const void *context)
{
    (void)context;
    uint64_t count = 0;
    for (const char *at = begin; at < end; at += ((const micap_queued_message *)(const void *)at)->bytes)
        ++count;
    micap_bytes_put_number(bytes, count);
    for (const char *at = begin; at < end; at += ((const micap_queued_message *)(const void *)at)->bytes)
        put_message(bytes, (const micap_queued_message *)(const void *)at);
}

static const micap_message_kind *find_kind(const micap_messages *messages, uint64_t name_hash, uint64_t layout_hash)
{
    for (uint32_t id = 0; id < messages->kind_limit; ++id) {
        const micap_type *type = messages->kinds[id] ? micap_type_of(id) : NULL;
        if (type && type->name_hash == name_hash && type->layout_hash == layout_hash)
            return messages->kinds[id];
    }
    return NULL;
}

/* A message that no handler of this world takes is skipped, as if it were sent now. */
static bool take_messages(micap_reader *reader, micap_bytes *out, const void *context)
{
    uint64_t count = micap_reader_take_number(reader);
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        uint64_t name_hash = micap_reader_take64(reader), layout_hash = micap_reader_take64(reader);
        uint32_t written = micap_reader_take32(reader);
        const micap_message_kind *kind = find_kind(context, name_hash, layout_hash);
        if (!kind) {
            micap_reader_take(reader, written);
            continue;
        }
        size_t head = micap_align_up(sizeof(micap_queued_message), MICAP_MESSAGE_ALIGNMENT);
        size_t bytes = head + micap_align_up(kind->message_bytes, MICAP_MESSAGE_ALIGNMENT);
        micap_queued_message message = {
            .bytes = (uint32_t)bytes, .data_bytes = kind->message_bytes, .component = kind->id};
        message.kind = (uint32_t)micap_reader_take_up_to(reader, MICAP_GENERATIONS_MAX);
        message.entity.index = micap_reader_take32(reader);
        message.entity.generation = micap_reader_take32(reader);
        char *room = micap_bytes_grow(out, bytes);
        if (!room)
            return false;
        memset(room, 0, bytes);
        memcpy(room, &message, sizeof message);
        micap_value_take(reader, &micap_type_of(kind->id)->type, room + head);
    }
    return !reader->failed;
}

static void write_waiting(const mica_world *world, const void *state, micap_bytes *bytes)
{
    (void)world;
    micap_queue_codec codec = {put_messages, take_messages, 0, state};
    micap_queue_write(&((const micap_messages *)state)->queue, bytes, &codec);
}

static void *read_waiting(mica_world *world, void *state, micap_reader *reader)
{
    (void)world;
    const micap_messages *messages = state;
    micap_queue_codec codec = {put_messages, take_messages, 0, messages};
    return micap_queue_read(&messages->queue, reader, &codec);
}

static void hash(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    const micap_messages *messages = state;
    for (const micap_queue_span *span = messages->queue.first; span; span = span->next)
        for (const char *at = span->begin; at < span->end;) {
            const micap_queued_message *message = (const micap_queued_message *)(const void *)at;
            const micap_type *type = micap_type_of(message->component);
            micap_hasher_integer(hasher, type->name_hash, 8);
            micap_hasher_integer(hasher, message->kind, 4);
            micap_hash_entity(hasher, message->entity);
            micap_hash_values(hasher, type, micap_message_data(message), 1);
            at += message->bytes;
        }
}

static const micap_listener_ops listener = {
    .init = init,
    .save = save,
    .drop = drop,
    .prepare = prepare,
    .load = load,
    .write = write_waiting,
    .read = read_waiting,
    .hash = hash,
    .frame_begin = frame_begin,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .flushed = flushed,
    .trim = trim,
    .free = free_messages,
};

micap_messages *micap_messages_of(mica_world *world)
{
    return micap_listener_require(world, MICAP_LISTENER_MESSAGES, &listener, sizeof(micap_messages), "message");
}
