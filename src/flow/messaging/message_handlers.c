/* Handlers of messages: added, described with components, and run every frame. */
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "flow/messaging/message_handlers.h"

#include <stdio.h>

void micap_post_call(const micap_post *post, mica_message *message)
{
    for (const micap_handler *handler = post->first; handler; handler = handler->next) {
        message->context = handler->context;
        handler->fn(message);
    }
}

static micap_kind *kind_for(micap_messages *messages, mica_component id)
{
    micap_kind *kind = micap_kind_of(messages, id);
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
    return a->component == b->component && a->stream == b->stream && a->write == b->write;
}

uint32_t micap_post_uses(const micap_post *post, mica_use *uses, uint32_t count)
{
    for (const micap_handler *handler = post->first; handler; handler = handler->next)
        for (uint32_t i = 0; i < handler->use_count; ++i) {
            uint32_t known = 0;
            while (known < count && !is_same_use(&uses[known], &handler->uses[i]))
                ++known;
            if (known == count && count <= MICAP_USES_MAX)
                uses[count++] = handler->uses[i];
        }
    return count;
}

static micap_post *find_post(const micap_kind *kind, mica_component component)
{
    for (uint32_t i = 0; i < kind->post_count; ++i)
        if (kind->posts[i]->component == component)
            return kind->posts[i];
    return NULL;
}

void micap_post_call_view(const micap_post *post, mica_view *view, const void *data)
{
    mica_message message = {.world = view->world,
                            .component = post->component,
                            .kind = post->kind->id,
                            .count = view->count,
                            .entities = view->entities,
                            .values = post->box->has_values ? mica_view_write_at(view, 0) : NULL,
                            .data = data,
                            .frame = view->frame};
    micap_post_call(post, &message);
}

void micap_post_run(mica_view *view)
{
    const micap_post *post = view->frame->context;
    micap_post_call_view(post, view, post->kind->zero);
}

/* Adds the system of every frame, or tells it what its handlers declare. */
static mica_result update_system(micap_messages *messages, micap_post *post)
{
    char name[160];
    snprintf(name, sizeof name, "%.64s.%.64s", micap_type_of(post->component)->type.name,
             micap_type_of(post->kind->id)->type.name);
    mica_use uses[MICAP_USES_MAX + 1];
    mica_term term = micap_box_term(post->box);
    mica_system_def def = {.name = name,
                           .view = micap_post_run,
                           .terms = &term,
                           .term_count = 1,
                           .uses = uses,
                           .use_count = micap_post_uses(post, uses, 0),
                           .context = post,
                           .phase = post->kind->phase};
    if (post->system.id)
        return mica_system_replace(messages->world, post->system, &def);
    post->system = mica_system_add(messages->world, &def);
    return post->system.id ? MICA_OK : micap_failure(messages->world);
}

static void release_handler(micap_memory *memory, micap_handler *handler)
{
    micap_release(memory, handler->uses, handler->use_count * sizeof *handler->uses, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
}

static void release_post(micap_messages *messages, micap_post *post)
{
    micap_memory *memory = &messages->world->memory;
    for (micap_handler *handler = post->first, *next; handler; handler = next) {
        next = handler->next;
        release_handler(memory, handler);
    }
    micap_release(memory, post, sizeof *post, MICAP_ARRAY_ALIGNMENT);
}

static void sort_in(micap_kind *kind, micap_post *post)
{
    uint32_t at = kind->post_count++;
    for (; at > 0 && kind->posts[at - 1]->box->order > post->box->order; --at)
        kind->posts[at] = kind->posts[at - 1];
    kind->posts[at] = post;
}

static void drop_post(micap_messages *messages, micap_post *post)
{
    micap_kind *kind = post->kind;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kind->post_count; ++i)
        if (kind->posts[i] != post)
            kind->posts[kept++] = kind->posts[i];
    kind->post_count = kept;
    if (post->system.id)
        micap_system_remove(messages->world, post->system);
    if (--post->box->post_count == 0)
        micap_box_drop(post->box);
    mica_query_destroy(post->query);
    release_post(messages, post);
}

/* Shows all who have what the box is for. */
static mica_query *query_box(mica_world *world, const micap_mailbox *box, mica_component component)
{
    mica_term term = micap_box_term(box);
    return mica_query_create(
        world, &(mica_query_def){.name = micap_type_of(component)->type.name, .terms = &term, .term_count = 1});
}

static micap_post *make_post(micap_messages *messages, micap_kind *kind, mica_component component)
{
    mica_world *world = messages->world;
    micap_post *post = NULL;
    if (MICAP_RESERVE(&world->memory, kind->posts, &kind->post_capacity, (uint64_t)kind->post_count + 1))
        post = micap_allocate(&world->memory, sizeof *post, MICAP_ARRAY_ALIGNMENT);
    if (!post) {
        micap_fail_memory(world, "handler");
        return NULL;
    }
    micap_mailbox *box = micap_box_for(messages, component);
    mica_query *query = box ? query_box(world, box, component) : NULL;
    if (!query) {
        if (box && !box->post_count)
            micap_box_drop(box);
        micap_release(&world->memory, post, sizeof *post, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    *post = (micap_post){.component = component, .kind = kind, .box = box, .query = query};
    ++box->post_count;
    sort_in(kind, post);
    if (kind->zero && update_system(messages, post) != MICA_OK) {
        drop_post(messages, post);
        return NULL;
    }
    return post;
}

/* A copy with what it declares; NULL when memory is short. */
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

/* The systems of a post learn what its handlers declare. */
static mica_result update_uses(micap_messages *messages, micap_post *post)
{
    mica_result result = micap_box_update(post->box);
    return result == MICA_OK && post->system.id ? update_system(messages, post) : result;
}

static void unlink_handler(micap_messages *messages, micap_post *post, micap_handler *handler)
{
    micap_handler *before = NULL;
    for (micap_handler *at = post->first; at != handler; at = at->next)
        before = at;
    *(before ? &before->next : &post->first) = handler->next;
    if (post->last == handler)
        post->last = before;
    bool has_uses = handler->use_count != 0;
    release_handler(&messages->world->memory, handler);
    if (!post->first)
        drop_post(messages, post);
    else if (has_uses)
        update_uses(messages, post);
}

/* False with a report. */
static bool add_handler(micap_messages *messages, mica_component component, const micap_handler *wanted,
                        mica_component message)
{
    mica_world *world = messages->world;
    micap_handler *handler = copy_handler(&world->memory, wanted);
    micap_kind *kind = handler ? kind_for(messages, message) : NULL;
    micap_post *post = kind ? find_post(kind, component) : NULL;
    if (!kind)
        micap_fail_memory(world, "handler");
    else if (!post)
        post = make_post(messages, kind, component);
    if (!post) {
        if (handler)
            release_handler(&world->memory, handler);
        return false;
    }
    handler->next = NULL;
    *(post->last ? &post->last->next : &post->first) = handler;
    post->last = handler;
    if (!handler->use_count || update_uses(messages, post) == MICA_OK)
        return true;
    unlink_handler(messages, post, handler);
    return false;
}

static bool has_described(const micap_messages *messages, mica_component component, const mica_handler *described,
                          mica_component message)
{
    const micap_kind *kind = micap_kind_of(messages, message);
    const micap_post *post = kind ? find_post(kind, component) : NULL;
    for (const micap_handler *handler = post ? post->first : NULL; handler; handler = handler->next)
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

/* What is changed while handlers may be walked through. */
static bool is_refused(const mica_world *world, mica_location location)
{
    const micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    micap_check_door(world, "handler_add or handler_remove");
    const micap_flow *flow = micap_flow_get(world);
    if (!(flow && flow->is_stepping) && !(messages && messages->is_delivering))
        return false;
    micap_fail(world, MICA_ERROR_REFUSED, location,
               "handler: they can't be added or removed inside a frame or a handler");
    return true;
}

mica_result mica_handler_add(mica_world *world, const mica_handler *handler)
{
    mica_location location = handler ? handler->location : (mica_location){0};
    if (!handler || !handler->component || !handler->message || !handler->fn)
        return micap_fail(world, MICA_ERROR_INVALID, location,
                          "handler: it needs a component, a message and a function");
    if (is_refused(world, location))
        return MICA_ERROR_REFUSED;
    mica_component message = mica_type_id(handler->message);
    const micap_type *type = micap_type_for_entities(world, mica_type_id(handler->component));
    if (!type || !message)
        return type ? micap_fail(world, MICA_ERROR_INVALID, location, "handler: the message is not described well")
                    : micap_failure(world);
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
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    const micap_kind *kind = messages ? micap_kind_of(messages, message) : NULL;
    micap_post *post = kind ? find_post(kind, component) : NULL;
    if (!post || is_refused(world, (mica_location){0}))
        return false;
    micap_handler *handler = post->first;
    while (handler && (handler->fn != fn || handler->is_described))
        handler = handler->next;
    if (handler)
        unlink_handler(messages, post, handler);
    return handler != NULL;
}

mica_result mica_message_every_frame_id(mica_world *world, mica_component message, mica_phase phase)
{
    if (is_refused(world, (mica_location){0}))
        return MICA_ERROR_REFUSED;
    const micap_type *type = micap_type_of(message);
    if (!type || !type->type.size_bytes)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "message: there is no such message");
    micap_messages *messages = micap_messages_of(world);
    if (!messages || !micap_messages_update(messages))
        return micap_failure(world);
    micap_kind *kind = kind_for(messages, message);
    if (!kind)
        return micap_fail_memory(world, "message");
    if (kind->zero)
        return micap_fail(world, MICA_ERROR_EXISTS, (mica_location){0}, "message: %s comes every frame already",
                          type->type.name);
    kind->zero = micap_allocate_zeroed(&world->memory, kind->message_bytes, type->type.alignment);
    if (!kind->zero)
        return micap_fail_memory(world, "message");
    kind->phase = phase;
    for (uint32_t i = 0; i < kind->post_count; ++i)
        if (update_system(messages, kind->posts[i]) != MICA_OK) {
            while (i-- > 0) {
                micap_system_remove(world, kind->posts[i]->system);
                kind->posts[i]->system.id = 0;
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
    if (micap_queue_prepare(&messages->letters, mica_worker_count(world), micap_lane_count(world)))
        return true;
    micap_fail_memory(world, "message");
    return false;
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_commit(&messages->letters);
    messages->is_awaited = true;
}

static mica_result flushed(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    mica_result result = micap_messages_deliver_rounds(messages);
    messages->is_awaited = false;
    return result;
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_trim(&messages->letters);
}

/* The world ends; its queries and systems go by themselves. */
static void release(mica_world *world, void *state)
{
    micap_messages *messages = state;
    for (uint32_t id = 0; id < messages->kind_limit; ++id) {
        micap_kind *kind = messages->kinds[id];
        if (!kind)
            continue;
        for (uint32_t i = 0; i < kind->post_count; ++i)
            release_post(messages, kind->posts[i]);
        MICAP_RELEASE_ARRAY(&world->memory, kind->posts, kind->post_capacity);
        micap_release(&world->memory, kind->zero, kind->message_bytes, micap_type_of(id)->type.alignment);
        micap_release(&world->memory, kind, sizeof *kind, MICAP_ARRAY_ALIGNMENT);
    }
    for (uint32_t i = 0; i < messages->box_count; ++i)
        micap_box_release(messages->boxes[i]);
    MICAP_RELEASE_ARRAY(&world->memory, messages->boxes, messages->box_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, messages->kinds, messages->kind_capacity);
    micap_queue_free(&messages->letters);
    micap_release(&world->memory, messages, sizeof *messages, MICAP_ARRAY_ALIGNMENT);
}

static void *save(mica_world *world, void *state)
{
    (void)world;
    return micap_queue_save(&((const micap_messages *)state)->letters);
}

static void drop(mica_world *world, void *state, void *saved)
{
    (void)world;
    micap_queue_drop_saved(&((const micap_messages *)state)->letters, saved);
}

static bool prepare(mica_world *world, void *state, const void *saved)
{
    (void)world;
    return micap_queue_prepare_load(&((micap_messages *)state)->letters, saved);
}

static void load(mica_world *world, void *state, const void *saved)
{
    (void)world;
    micap_messages *messages = state;
    micap_queue_load(&messages->letters, saved);
    messages->is_awaited = false;
}

static const micap_listener_ops listener = {
    .save = save,
    .drop = drop,
    .prepare = prepare,
    .load = load,
    .frame_begin = frame_begin,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .flushed = flushed,
    .trim = trim,
    .free = release,
};

micap_messages *micap_messages_of(mica_world *world)
{
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    if (messages)
        return messages;
    messages = micap_allocate_zeroed(&world->memory, sizeof *messages, MICAP_ARRAY_ALIGNMENT);
    if (messages) {
        messages->world = world;
        micap_queue_init(&messages->letters, &world->memory, MICAP_LETTER_ALIGNMENT);
        if (micap_queue_prepare(&messages->letters, 1, 0) &&
            micap_listen(world, MICAP_LISTENER_MESSAGES, &listener, messages))
            return messages;
        micap_queue_free(&messages->letters);
        micap_release(&world->memory, messages, sizeof *messages, MICAP_ARRAY_ALIGNMENT);
    }
    micap_fail_memory(world, "message");
    return NULL;
}
