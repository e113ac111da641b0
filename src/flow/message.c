/* Handlers of messages: added, described with components, and run every frame. */
#include "core/checked.h"
#include "core/report.h"
#include "flow/flow.h"
#include "flow/messages.h"

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

/* A tag has no column to write, and a split component several. */
static mica_term term_of(const micap_post *post)
{
    return (mica_term){post->component, post->has_values ? MICA_ACCESS_WRITE : MICA_ACCESS_HAS};
}

void *micap_post_values(const micap_post *post, mica_view *view)
{
    return post->has_values ? mica_view_write_at(view, 0) : NULL;
}

static micap_post *find_post(const micap_kind *kind, mica_component component)
{
    for (uint32_t i = 0; i < kind->post_count; ++i)
        if (kind->posts[i]->component == component)
            return kind->posts[i];
    return NULL;
}

/* The system of a post, for a message that comes every frame. */
static void run_post(mica_view *view)
{
    const micap_post *post = view->frame->context;
    mica_message message = {.world = view->world,
                            .component = post->component,
                            .kind = post->kind->id,
                            .count = view->count,
                            .entities = view->entities,
                            .values = micap_post_values(post, view),
                            .data = post->kind->zero,
                            .frame = view->frame};
    micap_post_call(post, &message);
}

static bool add_system(micap_messages *messages, micap_post *post)
{
    char name[160];
    snprintf(name, sizeof name, "%.64s.%.64s", micap_type_of(post->component)->type.name,
             micap_type_of(post->kind->id)->type.name);
    mica_term term = term_of(post);
    post->system = mica_system_add(messages->world, &(mica_system_def){.name = name,
                                                                       .view = run_post,
                                                                       .terms = &term,
                                                                       .term_count = 1,
                                                                       .context = post,
                                                                       .phase = post->kind->phase});
    return post->system.id != 0;
}

static void release_post(micap_messages *messages, micap_post *post)
{
    micap_memory *memory = &messages->world->memory;
    for (micap_handler *handler = post->first, *next; handler; handler = next) {
        next = handler->next;
        micap_release(memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
    }
    micap_release(memory, post, sizeof *post, MICAP_ARRAY_ALIGNMENT);
}

static void sort_in(micap_kind *kind, micap_post *post)
{
    uint32_t at = kind->post_count;
    for (; at > 0 && kind->sorted[at - 1]->component > post->component; --at)
        kind->sorted[at] = kind->sorted[at - 1];
    kind->sorted[at] = post;
    kind->posts[kind->post_count++] = post;
}

static void drop_post(micap_messages *messages, micap_post *post)
{
    micap_kind *kind = post->kind;
    uint32_t kept = 0, kept_sorted = 0;
    for (uint32_t i = 0; i < kind->post_count; ++i) {
        if (kind->posts[i] != post)
            kind->posts[kept++] = kind->posts[i];
        if (kind->sorted[i] != post)
            kind->sorted[kept_sorted++] = kind->sorted[i];
    }
    kind->post_count = kept;
    mica_system_remove(messages->world, post->system);
    mica_query_destroy(post->query);
    release_post(messages, post);
}

static micap_post *make_post(micap_messages *messages, micap_kind *kind, mica_component component)
{
    mica_world *world = messages->world;
    micap_post *post = NULL;
    if (MICAP_RESERVE(&world->memory, kind->posts, &kind->post_capacity, (uint64_t)kind->post_count + 1) &&
        MICAP_RESERVE(&world->memory, kind->sorted, &kind->sorted_capacity, (uint64_t)kind->post_count + 1))
        post = micap_allocate_zeroed(&world->memory, sizeof *post, MICAP_ARRAY_ALIGNMENT);
    if (!post) {
        micap_fail_memory(world, "handler");
        return NULL;
    }
    post->component = component;
    post->has_values = micap_type_of(component)->type.size_bytes && !micap_type_of(component)->leaves;
    post->kind = kind;
    mica_term term = term_of(post);
    post->query = mica_query_create(
        world, &(mica_query_def){.name = micap_type_of(component)->type.name, .terms = &term, .term_count = 1});
    if (!post->query) {
        micap_release(&world->memory, post, sizeof *post, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    sort_in(kind, post);
    if (kind->zero && !add_system(messages, post)) {
        drop_post(messages, post);
        return NULL;
    }
    return post;
}

/* False with a report when memory is short. */
static bool add_handler(micap_messages *messages, mica_component component, const micap_handler *wanted,
                        mica_component message)
{
    mica_world *world = messages->world;
    micap_handler *handler = micap_allocate(&world->memory, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
    micap_kind *kind = handler ? kind_for(messages, message) : NULL;
    micap_post *post = kind ? find_post(kind, component) : NULL;
    if (!kind)
        micap_fail_memory(world, "handler");
    else if (!post)
        post = make_post(messages, kind, component);
    if (!post) {
        micap_release(&world->memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    *handler = *wanted;
    handler->next = NULL;
    *(post->last ? &post->last->next : &post->first) = handler;
    post->last = handler;
    return true;
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
static bool is_refused(const mica_world *world, mica_place place)
{
    const micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    micap_check_door(world, "handler_add or handler_remove");
    const micap_flow *flow = micap_flow_get(world);
    if (!(flow && flow->is_stepping) && !(messages && messages->is_delivering))
        return false;
    micap_fail(world, MICA_ERROR_REFUSED, place, "handler: they can't be added or removed inside a frame or a handler");
    return true;
}

mica_result mica_handler_add(mica_world *world, const mica_handler *handler)
{
    mica_place place = handler ? handler->place : (mica_place){0};
    if (!handler || !handler->component || !handler->message || !handler->fn)
        return micap_fail(world, MICA_ERROR_INVALID, place, "handler: it needs a component, a message and a function");
    if (is_refused(world, place))
        return MICA_ERROR_REFUSED;
    mica_component message = mica_type_id(handler->message);
    const micap_type *type = micap_type_for_entities(world, mica_type_id(handler->component));
    if (!type || !message)
        return type ? micap_fail(world, MICA_ERROR_INVALID, place, "handler: the message is not described well")
                    : micap_failure(world);
    micap_messages *messages = micap_messages_of(world);
    micap_handler wanted = {.fn = handler->fn, .context = handler->context};
    bool done = messages && add_handler(messages, type->id, &wanted, message);
    return done ? MICA_OK : micap_failure(world);
}

bool mica_handler_remove(mica_world *world, mica_component component, mica_component message, mica_message_fn fn)
{
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    const micap_kind *kind = messages ? micap_kind_of(messages, message) : NULL;
    micap_post *post = kind ? find_post(kind, component) : NULL;
    if (!post || is_refused(world, (mica_place){0}))
        return false;
    micap_handler *before = NULL, *handler = post->first;
    for (; handler && (handler->fn != fn || handler->is_described); handler = handler->next)
        before = handler;
    if (!handler)
        return false;
    *(before ? &before->next : &post->first) = handler->next;
    if (post->last == handler)
        post->last = before;
    micap_release(&world->memory, handler, sizeof *handler, MICAP_ARRAY_ALIGNMENT);
    if (!post->first)
        drop_post(messages, post);
    return true;
}

mica_result mica_message_every_frame_kind(mica_world *world, mica_component message, mica_phase phase)
{
    if (is_refused(world, (mica_place){0}))
        return MICA_ERROR_REFUSED;
    const micap_type *type = micap_type_of(message);
    if (!type || !type->type.size_bytes)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_place){0}, "message: there is no such message");
    micap_messages *messages = micap_messages_of(world);
    if (!messages || !micap_messages_update(messages))
        return micap_failure(world);
    micap_kind *kind = kind_for(messages, message);
    if (!kind)
        return micap_fail_memory(world, "message");
    if (kind->zero)
        return micap_fail(world, MICA_ERROR_EXISTS, (mica_place){0}, "message: %s comes every frame already",
                          type->type.name);
    kind->zero = micap_allocate_zeroed(&world->memory, kind->message_bytes, type->type.alignment);
    if (!kind->zero)
        return micap_fail_memory(world, "message");
    kind->phase = phase;
    for (uint32_t i = 0; i < kind->post_count; ++i)
        if (!add_system(messages, kind->posts[i])) {
            while (i-- > 0) {
                mica_system_remove(world, kind->posts[i]->system);
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
}

static void flushed(mica_world *world, void *state)
{
    (void)world;
    micap_messages_deliver(state);
}

static void trim(mica_world *world, void *state)
{
    micap_messages *messages = state;
    if (!micap_is_running(world) && !messages->is_delivering)
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
        MICAP_RELEASE_ARRAY(&world->memory, kind->sorted, kind->sorted_capacity);
        micap_release(&world->memory, kind->zero, kind->message_bytes, micap_type_of(id)->type.alignment);
        micap_release(&world->memory, kind, sizeof *kind, MICAP_ARRAY_ALIGNMENT);
    }
    MICAP_RELEASE_ARRAY(&world->memory, messages->kinds, messages->kind_capacity);
    micap_queue_free(&messages->letters);
    micap_release(&world->memory, messages, sizeof *messages, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops listener = {
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
