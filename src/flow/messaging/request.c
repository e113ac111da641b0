/* Requests: a stream of questions. When the phase has ended, the questions are sorted by key and answered group by group, and
 * the answers are set in the order in which the questions were asked. */
#include "base/argument.h"
#include "base/call_location.h"
#include "base/bits.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/stream.h"
#include "flow/messaging/traffic.h"
#include "flow/schedule/listener.h"
#include "flow/schedule/system.h"
#include "mica/request.h"
#include "type/owned.h"

/* A question while groups are made. */
typedef struct question_entry {
    uint64_t key;
    const micap_question_head *question;
    uint32_t order; /* in which it was asked */
} question_entry;

typedef struct group {
    uint32_t begin, end; /* of the sorted entries */
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
    /* Scratch memory that is reused. All by index in the sorted list. */
    question_entry *entries, *scratch;
    uint32_t entry_capacity, scratch_capacity;
    group *groups;
    uint32_t group_capacity;
    mica_entity *askers;
    uint32_t asker_capacity;
    bool *answered;
    uint32_t answered_capacity;
    char *question_values, *answer_values;
    size_t question_bytes, answer_bytes; /* of these */
    uint32_t *sorted_index;              /* of each question, by its order */
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

static void free_scratch(mica_requests *requests)
{
    micap_memory *memory = &requests->world->memory;
    MICAP_RELEASE_ARRAY(memory, requests->entries, requests->entry_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->scratch, requests->scratch_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->groups, requests->group_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->askers, requests->asker_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->answered, requests->answered_capacity);
    MICAP_RELEASE_ARRAY(memory, requests->sorted_index, requests->sorted_capacity);
    release_values(requests, requests->question, &requests->question_values, &requests->question_bytes);
    if (requests->answer)
        release_values(requests, requests->answer, &requests->answer_values, &requests->answer_bytes);
    requests->entries = requests->scratch = NULL;
    requests->groups = NULL;
    requests->askers = NULL;
    requests->answered = NULL;
    requests->sorted_index = NULL;
    requests->entry_capacity = requests->scratch_capacity = requests->group_capacity = 0;
    requests->asker_capacity = requests->answered_capacity = requests->sorted_capacity = 0;
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

static bool reserve_scratch(mica_requests *requests, uint64_t count)
{
    micap_memory *memory = &requests->world->memory;
    return MICAP_RESERVE(memory, requests->entries, &requests->entry_capacity, count) &&
           MICAP_RESERVE(memory, requests->scratch, &requests->scratch_capacity, count) &&
           MICAP_RESERVE(memory, requests->groups, &requests->group_capacity, count) &&
           MICAP_RESERVE(memory, requests->askers, &requests->asker_capacity, count) &&
           MICAP_RESERVE(memory, requests->answered, &requests->answered_capacity, count) &&
           MICAP_RESERVE(memory, requests->sorted_index, &requests->sorted_capacity, count) &&
           reserve_values(requests, requests->question, &requests->question_values, &requests->question_bytes,
                          count * requests->question->type.size_bytes) &&
           (!requests->answer || reserve_values(requests, requests->answer, &requests->answer_values,
                                                &requests->answer_bytes, count * requests->answer->type.size_bytes));
}

/* Sorts by rising key. Merging keeps equal keys in the order they were asked. */
static void sort_entries(question_entry **entries, question_entry **scratch, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        const question_entry *from = *entries;
        question_entry *to = *scratch;
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = count - begin < width ? count : begin + width;
            uint32_t end = count - middle < width ? count : middle + width;
            uint32_t left = begin, right = middle;
            for (uint32_t at = begin; at < end; ++at)
                to[at] =
                    right == end || (left < middle && from[left].key <= from[right].key) ? from[left++] : from[right++];
        }
        *scratch = *entries;
        *entries = to;
    }
}

static bool is_sorted(const question_entry *entries, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i)
        if (entries[i].key < entries[i - 1].key)
            return false;
    return true;
}

/* Copies what handlers see into arrays, group after group. Returns how many groups there are. */
static uint32_t make_groups(mica_requests *requests, uint32_t count)
{
    size_t question_bytes = requests->question->type.size_bytes;
    uint32_t groups = 0;
    if (!is_sorted(requests->entries, count))
        sort_entries(&requests->entries, &requests->scratch, count);
    for (uint32_t i = 0; i < count; ++i) {
        const question_entry *entry = &requests->entries[i];
        requests->askers[i] = entry->question->asker;
        requests->answered[i] = true;
        requests->sorted_index[entry->order] = i;
        memcpy(requests->question_values + i * question_bytes,
               (const char *)entry->question + requests->question_offset, question_bytes);
        if (i == 0 || requests->entries[i - 1].key != entry->key)
            requests->groups[groups++] = (group){i, i};
        requests->groups[groups - 1].end = i + 1;
    }
    if (requests->answer)
        memset(requests->answer_values, 0, count * (size_t)requests->answer->type.size_bytes);
    return groups;
}

static void tell_groups(const mica_requests *requests, uint32_t groups)
{
    for (uint32_t i = 0; i < groups; ++i) {
        uint32_t first = requests->groups[i].begin, bytes = requests->question->type.size_bytes;
        mica_traffic traffic = {.world = requests->world,
                                .kind = MICA_TRAFFIC_REQUEST,
                                .name = requests->questions->name,
                                .entity = requests->askers[first],
                                .key = requests->entries[first].key,
                                .count = requests->groups[i].end - first,
                                .type = &requests->question->type,
                                .values = requests->question_values + first * (size_t)bytes,
                                .value_bytes = bytes};
        micap_traffic_tell(requests->world, &traffic);
    }
}

static void answer_groups(uint32_t begin, uint32_t end, void *context)
{
    const mica_requests *requests = context;
    for (uint32_t i = begin; i < end; ++i) {
        uint32_t first = requests->groups[i].begin;
        mica_request_group seen = {.world = requests->world,
                                   .key = requests->entries[first].key,
                                   .count = requests->groups[i].end - first,
                                   .entities = requests->askers + first,
                                   .answered = requests->answered + first,
                                   .context = requests->context};
        seen.questions = requests->question_values + first * (size_t)requests->question->type.size_bytes;
        if (requests->answer)
            seen.answers = requests->answer_values + first * (size_t)requests->answer->type.size_bytes;
        requests->fn(&seen);
    }
}

/* An entity that died meanwhile gets no answer. */
static void give_answer(mica_requests *requests, mica_entity asker, const void *value)
{
    uint32_t bytes = requests->answer->type.size_bytes;
    if (requests->answers)
        mica_stream_push_id(requests->answers, value, bytes, requests->location);
    else if (mica_is_alive(requests->world, asker))
        mica_set_id(requests->world, asker, (mica_value){requests->answer->id, bytes, value});
}

static void give_answers(mica_requests *requests, uint32_t count)
{
    for (uint32_t order = 0; requests->answer && order < count; ++order) {
        uint32_t at = requests->sorted_index[order];
        if (requests->answered[at])
            give_answer(requests, requests->askers[at],
                        requests->answer_values + at * (size_t)requests->answer->type.size_bytes);
    }
}

/* If memory is short, the questions stay for the next time. */
static mica_result handle(mica_requests *requests)
{
    uint64_t waiting = mica_stream_count(requests->questions);
    if (!waiting)
        return MICA_OK;
    if (!reserve_scratch(requests, waiting))
        return micap_fail_memory(requests->world, "requests");
    uint32_t count = 0, some;
    for (const char *at; (at = micap_stream_take(requests->questions, &some));)
        for (; some; --some, at += requests->questions->message_bytes, ++count) {
            const micap_question_head *asked = (const micap_question_head *)(const void *)at;
            requests->entries[count] = (question_entry){asked->key, asked, count};
        }
    uint32_t groups = make_groups(requests, count);
    if (MICAP_UNLIKELY(requests->world->traffic))
        tell_groups(requests, groups);
    requests->is_handling = true;
    mica_defer(requests->world); /* what handlers change is applied before the answers */
    if (requests->in_order)
        answer_groups(0, groups, requests);
    else
        mica_parallel_for(requests->world, groups, 1, answer_groups, requests);
    requests->is_handling = false;
    give_answers(requests, count);
    if (requests->answer && requests->answer->owns)
        micap_owned_release(&requests->answer->type, requests->answer_values, count);
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
        free_scratch(requests);
}

static void free_one(mica_requests *requests)
{
    free_scratch(requests);
    micap_release(&requests->world->memory, requests, sizeof *requests, MICAP_ARRAY_ALIGNMENT);
}

/* The world ends; it frees its streams itself. */
static void free_all(mica_world *world, void *state)
{
    (void)world;
    const all_requests *all = state;
    for (mica_requests *requests = all->first, *next; requests; requests = next) {
        next = requests->next;
        free_one(requests);
    }
}

static const micap_listener_ops listener = {.phase_end = phase_end, .trim = trim, .free = free_all};

static const micap_type *type_of(mica_type *type)
{
    return type ? micap_type_of(mica_type_id(type)) : NULL;
}

static bool has_functions(const micap_type *type)
{
    return type && !type->trivial && !type->owns;
}

/* False with a report. */
static bool is_valid(mica_world *world, const mica_requests_def *def)
{
    const micap_type *question = def ? type_of(def->question) : NULL, *answer = def ? type_of(def->answer) : NULL;
    const char *problem = NULL;
    micap_check_door(world, "requests_create");
    if (!question || !question->type.size_bytes || !def->fn)
        problem = "a question with data and a function are required";
    else if (def->answer && (!answer || !answer->type.size_bytes))
        problem = "the answer must be a component with data";
    else if (has_functions(question) || has_functions(answer))
        problem = "questions and answers are copied as bytes and must be trivial, except for text and lists";
    else if (def->as_stream && !answer)
        problem = "a stream of answers needs answers";
    else if (micap_is_running(world))
        problem = "they can't be created inside a system";
    if (problem)
        micap_fail(world, MICA_ERROR_INVALID, def ? def->location : (mica_location){0}, "requests %s: %s",
                   def && def->name ? def->name : "without a name", problem);
    else if (answer && !def->as_stream &&
             (!micap_type_for_entities(world, answer->id) || !micap_takes_values(world, answer, def->location)))
        return false;
    return !problem;
}

static bool create_streams(mica_requests *requests, const mica_requests_def *def, const char *name)
{
    uint32_t alignment = requests->question->type.alignment;
    alignment = alignment > _Alignof(micap_question_head) ? alignment : (uint32_t) _Alignof(micap_question_head);
    requests->question_offset =
        (uint32_t)micap_align_up(sizeof(micap_question_head), requests->question->type.alignment);
    micap_stream_shape shape = {
        .name = name, .alignment = alignment, .application = true, .is_owned = true, .location = def->location};
    shape.message_bytes =
        (uint32_t)micap_align_up(requests->question_offset + (size_t)requests->question->type.size_bytes, alignment);
    shape.question = requests->question;
    shape.question_offset = requests->question_offset;
    requests->questions = micap_stream_create(requests->world, &shape);
    if (!requests->questions || !def->as_stream)
        return requests->questions != NULL;
    shape.type = requests->answer;
    shape.question = NULL;
    shape.question_offset = 0;
    shape.message_bytes = requests->answer->type.size_bytes;
    shape.alignment = requests->answer->type.alignment;
    shape.application = def->application;
    requests->answers = micap_stream_create(requests->world, &shape);
    if (requests->answers)
        return true;
    micap_stream_remove(requests->questions);
    return false;
}

mica_requests *mica_requests_create(mica_world *world, const mica_requests_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (!is_valid(world, def))
        return NULL;
    all_requests *all =
        micap_listener_require(world, MICAP_LISTENER_REQUESTS, &listener, sizeof(all_requests), "requests");
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
    if (!create_streams(requests, def, def->name ? def->name : requests->question->type.name)) {
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
        micap_fail(
            world, MICA_ERROR_REFUSED, micap_place_of_call(requests->location),
            "requests %s: they can't be destroyed inside a system or their handler, or while a system declares them",
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
    micap_stream_remove(requests->questions);
    if (requests->answers)
        micap_stream_remove(requests->answers);
    free_one(requests);
}

bool mica_request_post_id(mica_requests *requests, uint64_t key, mica_entity asker, mica_value question,
                          mica_location location)
{
    if (MICAP_MISSING(NULL, requests))
        return false;
    if (!question.data || (question.component && question.component != requests->question->id)) {
        micap_fail(requests->world, MICA_ERROR_INVALID, location,
                   "requests %s: the question has no data, or another type", requests->questions->name);
        return false;
    }
    char *room = micap_stream_append(requests->questions, 1, location);
    if (!room)
        return false;
    micap_question_head head = {key, asker};
    memcpy(room, &head, sizeof head);
    memcpy(room + requests->question_offset, question.data, requests->question->type.size_bytes);
    return micap_stream_own(requests->questions, room, 1);
}

mica_result mica_requests_handle(mica_requests *requests)
{
    if (MICAP_MISSING(NULL, requests))
        return MICA_ERROR_INVALID;
    micap_check_door(requests->world, "requests_handle");
    if (micap_is_running(requests->world) || requests->is_handling)
        return micap_fail(requests->world, MICA_ERROR_REFUSED, micap_place_of_call(requests->location),
                          "requests %s: they can't be handled inside a system or their handler",
                          requests->questions->name);
    mica_world *world = requests->world;
    ++world->frame_depth; /* handlers can't destroy it */
    mica_result result = handle(requests);
    --world->frame_depth;
    return result;
}

mica_stream *mica_requests_stream(mica_requests *requests)
{
    if (MICAP_MISSING(NULL, requests))
        return NULL;
    return requests ? requests->questions : NULL;
}

mica_stream *mica_requests_answers(mica_requests *requests)
{
    if (MICAP_MISSING(NULL, requests))
        return NULL;
    return requests ? requests->answers : NULL;
}
