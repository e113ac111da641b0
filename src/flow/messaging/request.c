/* Requests: a stream of questions, sorted by key when the phase has ended, answered group by group, and the answers set in
 * the order the questions were asked in. */
#include "base/bits.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/stream.h"
#include "mica/request.h"

/* A question as it lies in the stream; the user's data follows at question_offset. */
typedef struct envelope {
    uint64_t key;
    mica_entity who;
} envelope;

/* One question while groups are made. */
typedef struct ticket {
    uint64_t key;
    const envelope *envelope;
    uint32_t order; /* in which it was asked */
} ticket;

typedef struct group {
    uint32_t begin, end; /* of the tickets */
} group;

struct mica_requests {
    mica_world *world;
    mica_requests *next;
    mica_stream *questions;
    mica_stream *answers; /* or NULL */
    mica_request_fn fn;
    void *context;
    const micap_type *question, *answer; /* the answer may be NULL */
    uint32_t question_offset;
    bool in_order;
    bool is_handling;
    mica_location location;
    /* What handling works with; kept. All by the place of a ticket in the sorted list. */
    ticket *tickets, *scratch;
    uint32_t ticket_capacity, scratch_capacity;
    group *groups;
    uint32_t group_capacity;
    mica_entity *who;
    uint32_t who_capacity;
    bool *answered;
    uint32_t answered_capacity;
    char *question_values, *answer_values;
    size_t question_bytes, answer_bytes; /* of these */
    uint32_t *sorted_place;              /* of each question, by its order */
    uint32_t sorted_capacity;
};

typedef struct all_requests {
    mica_requests *first, *last;
} all_requests;

static uint32_t alignment_of(const micap_type *type)
{
    return type->type.alignment > 16 ? type->type.alignment : 16;
}

static void release_values(mica_requests *requests, const micap_type *type, char **values, size_t *bytes)
{
    if (*values)
        micap_release(&requests->world->memory, *values, *bytes, alignment_of(type));
    *values = NULL;
    *bytes = 0;
}

static void release_room(mica_requests *requests)
{
    micap_memory *memory = &requests->world->memory;
    MICAP_RELEASE_ARRAY(memory, requests->tickets, requests->ticket_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->scratch, requests->scratch_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->groups, requests->group_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->who, requests->who_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->answered, requests->answered_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->sorted_place, requests->sorted_capacity);
    release_values(requests, requests->question, &requests->question_values, &requests->question_bytes);
    if (requests->answer)
        release_values(requests, requests->answer, &requests->answer_values, &requests->answer_bytes);
    requests->tickets = requests->scratch = NULL;
    requests->groups = NULL;
    requests->who = NULL;
    requests->answered = NULL;
    requests->sorted_place = NULL;
    requests->ticket_capacity = requests->scratch_capacity = requests->group_capacity = 0;
    requests->who_capacity = requests->answered_capacity = requests->sorted_capacity = 0;
}

static bool reserve_values(mica_requests *requests, const micap_type *type, char **values, size_t *bytes, size_t needed)
{
    if (needed <= *bytes)
        return true;
    size_t doubled = needed > *bytes * 2 ? needed : *bytes * 2;
    char *fresh = micap_allocate(&requests->world->memory, doubled, alignment_of(type));
    if (!fresh)
        return false;
    release_values(requests, type, values, bytes);
    *values = fresh;
    *bytes = doubled;
    return true;
}

static bool reserve_room(mica_requests *requests, uint64_t count)
{
    micap_memory *memory = &requests->world->memory;
    return MICAP_RESERVE(memory, requests->tickets, &requests->ticket_capacity, count) &&
           MICAP_RESERVE(memory, requests->scratch, &requests->scratch_capacity, count) &&
           MICAP_RESERVE(memory, requests->groups, &requests->group_capacity, count) &&
           MICAP_RESERVE(memory, requests->who, &requests->who_capacity, count) &&
           MICAP_RESERVE(memory, requests->answered, &requests->answered_capacity, count) &&
           MICAP_RESERVE(memory, requests->sorted_place, &requests->sorted_capacity, count) &&
           reserve_values(requests, requests->question, &requests->question_values, &requests->question_bytes,
                          count * requests->question->type.size_bytes) &&
           (!requests->answer || reserve_values(requests, requests->answer, &requests->answer_values,
                                                &requests->answer_bytes, count * requests->answer->type.size_bytes));
}

/* By rising key, and by order within a key: merging keeps equal ones as they are. */
static void sort_tickets(ticket **tickets, ticket **scratch, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        const ticket *from = *tickets;
        ticket *to = *scratch;
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = count - begin < width ? count : begin + width;
            uint32_t end = count - middle < width ? count : middle + width;
            uint32_t left = begin, right = middle;
            for (uint32_t at = begin; at < end; ++at)
                to[at] =
                    right == end || (left < middle && from[left].key <= from[right].key) ? from[left++] : from[right++];
        }
        *scratch = *tickets;
        *tickets = to;
    }
}

static bool is_sorted(const ticket *tickets, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i)
        if (tickets[i].key < tickets[i - 1].key)
            return false;
    return true;
}

/* Lays out what the handlers see, group behind group; returns how many groups there are. */
static uint32_t make_groups(mica_requests *requests, uint32_t count)
{
    size_t question_bytes = requests->question->type.size_bytes;
    uint32_t groups = 0;
    if (!is_sorted(requests->tickets, count))
        sort_tickets(&requests->tickets, &requests->scratch, count);
    for (uint32_t i = 0; i < count; ++i) {
        const ticket *ticket = &requests->tickets[i];
        requests->who[i] = ticket->envelope->who;
        requests->answered[i] = true;
        requests->sorted_place[ticket->order] = i;
        memcpy(requests->question_values + i * question_bytes,
               (const char *)ticket->envelope + requests->question_offset, question_bytes);
        if (i == 0 || requests->tickets[i - 1].key != ticket->key)
            requests->groups[groups++] = (group){i, i};
        requests->groups[groups - 1].end = i + 1;
    }
    if (requests->answer)
        memset(requests->answer_values, 0, count * (size_t)requests->answer->type.size_bytes);
    return groups;
}

static void answer_groups(uint32_t begin, uint32_t end, void *context)
{
    const mica_requests *requests = context;
    for (uint32_t i = begin; i < end; ++i) {
        uint32_t first = requests->groups[i].begin;
        mica_request_group seen = {.world = requests->world,
                                   .key = requests->tickets[first].key,
                                   .count = requests->groups[i].end - first,
                                   .entities = requests->who + first,
                                   .answered = requests->answered + first,
                                   .context = requests->context};
        seen.questions = requests->question_values + first * (size_t)requests->question->type.size_bytes;
        if (requests->answer)
            seen.answers = requests->answer_values + first * (size_t)requests->answer->type.size_bytes;
        requests->fn(&seen);
    }
}

/* Those who died meanwhile need no answer. */
static void give_answer(mica_requests *requests, mica_entity who, const void *value)
{
    uint32_t bytes = requests->answer->type.size_bytes;
    if (requests->answers)
        mica_stream_push_id(requests->answers, value, bytes, requests->location);
    else if (mica_is_alive(requests->world, who))
        mica_set_id(requests->world, who, (mica_value){requests->answer->id, bytes, value});
}

static void give_answers(mica_requests *requests, uint32_t count)
{
    for (uint32_t order = 0; requests->answer && order < count; ++order) {
        uint32_t at = requests->sorted_place[order];
        if (requests->answered[at])
            give_answer(requests, requests->who[at],
                        requests->answer_values + at * (size_t)requests->answer->type.size_bytes);
    }
}

/* When memory is short, the questions stay for the next time. */
static mica_result handle(mica_requests *requests)
{
    uint64_t waiting = mica_stream_count(requests->questions);
    if (!waiting)
        return MICA_OK;
    if (!reserve_room(requests, waiting))
        return micap_fail_memory(requests->world, "requests");
    uint32_t count = 0, some;
    for (const char *at; (at = micap_stream_take(requests->questions, &some));)
        for (; some; --some, at += requests->questions->message_bytes, ++count) {
            const envelope *asked = (const envelope *)(const void *)at;
            requests->tickets[count] = (ticket){asked->key, asked, count};
        }
    uint32_t groups = make_groups(requests, count);
    requests->is_handling = true;
    mica_defer(requests->world); /* what handlers in order change comes before the answers */
    if (requests->in_order)
        answer_groups(0, groups, requests);
    else
        mica_parallel_for(requests->world, groups, 1, answer_groups, requests);
    requests->is_handling = false;
    give_answers(requests, count);
    return mica_flush(requests->world);
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    const all_requests *all = state;
    for (mica_requests *requests = all->first; requests; requests = requests->next)
        handle(requests);
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    const all_requests *all = state;
    for (mica_requests *requests = all->first; requests; requests = requests->next)
        release_room(requests);
}

static void free_one(mica_requests *requests)
{
    release_room(requests);
    micap_release(&requests->world->memory, requests, sizeof *requests, MICAP_ARRAY_ALIGNMENT);
}

/* The world ends; its streams go by themselves. */
static void release(mica_world *world, void *state)
{
    all_requests *all = state;
    for (mica_requests *requests = all->first, *next; requests; requests = next) {
        next = requests->next;
        free_one(requests);
    }
    micap_release(&world->memory, all, sizeof *all, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops listener = {.phase_end = phase_end, .trim = trim, .free = release};

static all_requests *all_of(mica_world *world)
{
    all_requests *all = micap_listener_state(world, MICAP_LISTENER_REQUESTS);
    if (all)
        return all;
    all = micap_allocate_zeroed(&world->memory, sizeof *all, MICAP_ARRAY_ALIGNMENT);
    if (!all)
        micap_fail_memory(world, "requests");
    else if (!micap_listen(world, MICAP_LISTENER_REQUESTS, &listener, all)) {
        micap_release(&world->memory, all, sizeof *all, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    return all;
}

static const micap_type *type_of(mica_type *type)
{
    return type ? micap_type_of(mica_type_id(type)) : NULL;
}

static bool owns_something(const micap_type *type)
{
    return type && (type->type.copy || type->type.move || type->type.destruct || type->type.construct);
}

/* False with a report. */
static bool is_sane(mica_world *world, const mica_requests_def *def)
{
    const micap_type *question = def ? type_of(def->question) : NULL, *answer = def ? type_of(def->answer) : NULL;
    const char *problem = NULL;
    micap_check_door(world, "requests_create");
    if (!question || !question->type.size_bytes || !def->fn)
        problem = "it needs a question with data and a function";
    else if (def->answer && (!answer || !answer->type.size_bytes))
        problem = "an answer is a component with data";
    else if (owns_something(question) || owns_something(answer))
        problem = "questions and answers are copied as bytes, and must not own anything";
    else if (def->as_stream && !answer)
        problem = "a stream of answers needs answers";
    else if (micap_is_running(world))
        problem = "it can't be made inside a system";
    if (problem)
        micap_fail(world, MICA_ERROR_INVALID, def ? def->location : (mica_location){0}, "requests %s: %s",
                   def && def->name ? def->name : "without a name", problem);
    else if (answer && !def->as_stream && !micap_type_for_entities(world, answer->id))
        return false;
    return !problem;
}

static bool make_streams(mica_requests *requests, const mica_requests_def *def, const char *name)
{
    uint32_t alignment = requests->question->type.alignment;
    alignment = alignment > _Alignof(envelope) ? alignment : (uint32_t) _Alignof(envelope);
    requests->question_offset = (uint32_t)micap_align_up(sizeof(envelope), requests->question->type.alignment);
    micap_stream_shape shape = {
        .name = name, .alignment = alignment, .application = true, .is_owned = true, .location = def->location};
    shape.message_bytes =
        (uint32_t)micap_align_up(requests->question_offset + (size_t)requests->question->type.size_bytes, alignment);
    requests->questions = micap_stream_make(requests->world, &shape);
    if (!requests->questions || !def->as_stream)
        return requests->questions != NULL;
    shape.type = requests->answer;
    shape.message_bytes = requests->answer->type.size_bytes;
    shape.alignment = requests->answer->type.alignment;
    shape.application = def->application;
    requests->answers = micap_stream_make(requests->world, &shape);
    if (requests->answers)
        return true;
    micap_stream_end(requests->questions);
    return false;
}

mica_requests *mica_requests_create(mica_world *world, const mica_requests_def *def)
{
    if (!is_sane(world, def))
        return NULL;
    all_requests *all = all_of(world);
    mica_requests *requests =
        all ? micap_allocate_zeroed(&world->memory, sizeof *requests, MICAP_ARRAY_ALIGNMENT) : NULL;
    if (!requests) {
        if (all)
            micap_fail_memory(world, "requests");
        return NULL;
    }
    requests->world = world;
    requests->fn = def->fn;
    requests->context = def->context;
    requests->in_order = def->in_order;
    requests->location = def->location;
    requests->question = type_of(def->question);
    requests->answer = type_of(def->answer);
    if (!make_streams(requests, def, def->name ? def->name : requests->question->type.name)) {
        micap_release(&world->memory, requests, sizeof *requests, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    *(all->last ? &all->last->next : &all->first) = requests;
    all->last = requests;
    return requests;
}

void mica_requests_destroy(mica_requests *requests)
{
    if (!requests)
        return;
    mica_world *world = requests->world;
    micap_check_door(world, "requests_destroy");
    uint32_t users = micap_stream_user_count(world, requests->questions);
    users += requests->answers ? micap_stream_user_count(world, requests->answers) : 0;
    if (users || micap_is_running(world) || requests->is_handling) {
        micap_fail(world, MICA_ERROR_REFUSED, requests->location,
                   "requests %s: can't be destroyed inside a system or their handler, nor while a system declares them",
                   requests->questions->name);
        return;
    }
    all_requests *all = micap_listener_state(world, MICAP_LISTENER_REQUESTS);
    mica_requests *before = NULL;
    for (mica_requests *other = all->first; other != requests; other = other->next)
        before = other;
    *(before ? &before->next : &all->first) = requests->next;
    if (all->last == requests)
        all->last = before;
    micap_stream_end(requests->questions);
    if (requests->answers)
        micap_stream_end(requests->answers);
    free_one(requests);
}

bool mica_request_post_id(mica_requests *requests, uint64_t key, mica_entity who, mica_value question,
                          mica_location location)
{
    if (!requests)
        return false;
    if (!question.data || (question.component && question.component != requests->question->id)) {
        micap_fail(requests->world, MICA_ERROR_INVALID, location, "requests %s: this is no such question",
                   requests->questions->name);
        return false;
    }
    envelope *room = mica_stream_push_many_id(requests->questions, 1, location);
    if (!room)
        return false;
    *room = (envelope){key, who};
    memcpy((char *)room + requests->question_offset, question.data, requests->question->type.size_bytes);
    return true;
}

mica_result mica_requests_handle(mica_requests *requests)
{
    if (!requests)
        return MICA_ERROR_INVALID;
    micap_check_door(requests->world, "requests_handle");
    if (micap_is_running(requests->world) || requests->is_handling)
        return micap_fail(requests->world, MICA_ERROR_REFUSED, requests->location,
                          "requests %s: they are handled after the phase, and one time after the other",
                          requests->questions->name);
    return handle(requests);
}

mica_stream *mica_requests_stream(mica_requests *requests)
{
    return requests ? requests->questions : NULL;
}

mica_stream *mica_requests_answers(mica_requests *requests)
{
    return requests ? requests->answers : NULL;
}
