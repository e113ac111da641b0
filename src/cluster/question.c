#include "cluster/question.h"

#include "base/argument.h"
#include "base/hash.h"
#include "cluster/exchange.h"
#include "cluster/envelopes.h"
#include "cluster/mail.h"
#include "mica/command.h"
#include "mica/component.h"
#include "mica/task.h"

/* ---- requests */

static bool is_answer(mica_component component)
{
    const mica_type *type = mica_component_type(component);
    return !micap_codec_message_problem(component) && !type->many && !type->split &&
           type->storage != MICA_STORAGE_SINGLETON && component != MICA_ID(mica_identity);
}

const char *micap_questions_copy(mica_cluster *cluster, const mica_cluster_def *def)
{
    for (uint32_t i = 0; i < def->request_count; ++i) {
        const mica_cluster_request *request = &def->requests[i];
        bool is_known = false;
        for (uint32_t k = 0; k < i; ++k)
            is_known |= def->requests[k].question == request->question;
        if (is_known || !request->fn || micap_codec_message_problem(request->question))
            return "its .requests must have functions, and different questions with data and without entities";
        if (request->answer && !is_answer(request->answer))
            return "the answers of its .requests must be components with data, without entities, one per entity and "
                   "not split";
    }
    cluster->requests =
        micap_allocate(&cluster->memory, def->request_count * sizeof *cluster->requests, MICAP_ARRAY_ALIGNMENT);
    if (!cluster->requests)
        return "out of memory";
    cluster->request_count = def->request_count;
    if (def->request_count)
        memcpy(cluster->requests, def->requests, def->request_count * sizeof *cluster->requests);
    return NULL;
}

void micap_questions_free(mica_cluster *cluster)
{
    MICAP_RELEASE_ARRAY(&cluster->memory, cluster->requests, cluster->request_count);
    micap_envelopes_free(cluster, &cluster->asked);
    micap_envelopes_free(cluster, &cluster->questions);
    micap_envelopes_free(cluster, &cluster->answers);
}

bool mica_cluster_ask(mica_cluster *cluster, mica_entity from, uint64_t key, mica_value question)
{
    if (MICAP_MISSING(NULL, cluster) || MICAP_MISSING(cluster->world, question.data))
        return false;
    uint32_t kind = 0;
    while (kind < cluster->request_count && cluster->requests[kind].question != question.component)
        ++kind;
    if (MICAP_INVALID(cluster->world, kind == cluster->request_count, question.component, "must be in .requests") ||
        MICAP_INVALID(cluster->world, !micap_envelopes_fits(&question), question.size_bytes,
                      "must be the size of the type"))
        return false;
    uint64_t sender = micap_envelopes_sender(cluster, from, __func__);
    micap_envelope envelope = {.to = key, .from = sender, .kind = kind};
    return sender && micap_envelopes_post(cluster, &cluster->asked, envelope, question);
}

/* ---- to the rank of the key */

static uint32_t rank_of_key(const mica_cluster *cluster, uint64_t key)
{
    return cluster->key ? micap_cell_table_owner(&cluster->cells, key)
                        : (uint32_t)(micap_hash_mix(key) >> 32) % cluster->transport.rank_count;
}

static void fail_memory(mica_cluster *cluster)
{
    micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "out of memory for questions");
}

void micap_questions_send(mica_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->asked.count; ++i) {
        micap_envelope envelope = cluster->asked.envelopes[i];
        const char *value = cluster->asked.bytes.data + envelope.offset;
        uint32_t to = rank_of_key(cluster, envelope.to);
        envelope.rank = micap_mail_next_rank(cluster, envelope.from);
        if (to == cluster->transport.rank) {
            if (!micap_envelopes_keep_copy(cluster, &cluster->questions, envelope, value))
                fail_memory(cluster);
            continue;
        }
        micap_bytes *bytes = micap_exchange_parcel(cluster, to);
        if (!bytes)
            break;
        micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_QUESTION}, 1);
        micap_bytes_put64(bytes, envelope.to);
        micap_bytes_put64(bytes, envelope.from);
        micap_bytes_put_number(bytes, envelope.rank);
        micap_bytes_put_number(bytes, envelope.kind);
        micap_bytes_put_number(bytes, envelope.system);
        micap_bytes_put_number(bytes, envelope.order);
        micap_bytes_put(bytes, value, envelope.byte_count);
    }
    micap_envelopes_empty(&cluster->asked);
}

static micap_envelope take_question(micap_reader *reader)
{
    micap_envelope envelope = {.to = micap_reader_take64(reader), .from = micap_reader_take64(reader)};
    envelope.rank = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    envelope.kind = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    envelope.system = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    envelope.order = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    return envelope;
}

static micap_envelope take_answer(micap_reader *reader)
{
    micap_envelope envelope = {.to = micap_reader_take64(reader)};
    envelope.kind = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    envelope.system = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    envelope.order = (uint32_t)micap_reader_take_up_to(reader, UINT32_MAX);
    return envelope;
}

const char *micap_questions_check(mica_cluster *cluster, micap_reader *reader)
{
    micap_envelope envelope = take_question(reader);
    if (reader->failed || envelope.kind >= cluster->request_count || envelope.rank >= cluster->transport.rank_count)
        return "a question is of a type that this rank does not know";
    const mica_type *type = mica_component_type(cluster->requests[envelope.kind].question);
    return micap_codec_take_value(&cluster->codec, reader, type, NULL) ? NULL : "a question is invalid";
}

const char *micap_questions_check_answer(mica_cluster *cluster, micap_reader *reader)
{
    micap_envelope envelope = take_answer(reader);
    if (reader->failed || envelope.kind >= cluster->request_count || !cluster->requests[envelope.kind].answer)
        return "an answer is of a type that this rank does not know";
    const mica_type *type = mica_component_type(cluster->requests[envelope.kind].answer);
    return micap_codec_take_value(&cluster->codec, reader, type, NULL) ? NULL : "an answer is invalid";
}

/* Keeps an envelope whose value follows in the reader. */
static void keep(mica_cluster *cluster, micap_envelopes *envelopes, micap_envelope envelope, mica_component kind,
                 micap_reader *reader)
{
    const char *bytes = reader->at;
    micap_codec_take_value(&cluster->codec, reader, mica_component_type(kind), NULL);
    envelope.byte_count = (uint32_t)(reader->at - bytes);
    if (!micap_envelopes_keep_copy(cluster, envelopes, envelope, bytes))
        fail_memory(cluster);
}

void micap_questions_receive(mica_cluster *cluster, micap_reader *reader)
{
    micap_envelope envelope = take_question(reader);
    keep(cluster, &cluster->questions, envelope, cluster->requests[envelope.kind].question, reader);
}

void micap_questions_receive_answer(mica_cluster *cluster, micap_reader *reader)
{
    micap_envelope envelope = take_answer(reader);
    keep(cluster, &cluster->answers, envelope, cluster->requests[envelope.kind].answer, reader);
}

/* ---- answering */

/* All questions of one kind, in the order of keys. All arrays are by question. */
typedef struct bulk {
    mica_cluster *cluster;
    const mica_cluster_request *request;
    const mica_type *question, *answer; /* the answer may be NULL */
    const micap_sorted_envelope *asked;
    uint32_t count;
    uint64_t *identities;
    char *questions, *answers;
    bool *answered;
    uint32_t *groups; /* the first question of each, and the end */
    uint32_t group_count;
} bulk;

static size_t answer_bytes(const bulk *bulk)
{
    return bulk->answer ? (size_t)bulk->count * bulk->answer->size_bytes : 0;
}

static void free_bulk(bulk *bulk)
{
    micap_memory *memory = &bulk->cluster->memory;
    uint32_t count = bulk->count;
    for (uint32_t i = 0; bulk->questions && i < count; ++i)
        micap_codec_clear_value(bulk->question, bulk->questions + (size_t)i * bulk->question->size_bytes);
    for (uint32_t i = 0; bulk->answer && bulk->answers && i < count; ++i)
        micap_codec_clear_value(bulk->answer, bulk->answers + (size_t)i * bulk->answer->size_bytes);
    MICAP_RELEASE_ARRAY(memory, bulk->identities, count);
    MICAP_RELEASE_ARRAY(memory, bulk->answered, count);
    MICAP_RELEASE_ARRAY(memory, bulk->groups, count + 1);
    micap_release(memory, bulk->questions, (size_t)count * bulk->question->size_bytes, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, bulk->answers, answer_bytes(bulk), MICAP_ARRAY_ALIGNMENT);
}

static bool fill_bulk(bulk *bulk)
{
    micap_memory *memory = &bulk->cluster->memory;
    uint32_t count = bulk->count, question_bytes = bulk->question->size_bytes;
    bulk->identities = micap_allocate(memory, count * sizeof *bulk->identities, MICAP_ARRAY_ALIGNMENT);
    bulk->answered = micap_allocate(memory, count * sizeof *bulk->answered, MICAP_ARRAY_ALIGNMENT);
    bulk->groups = micap_allocate(memory, (count + (size_t)1) * sizeof *bulk->groups, MICAP_ARRAY_ALIGNMENT);
    bulk->questions = micap_allocate_zeroed(memory, (size_t)count * question_bytes, MICAP_ARRAY_ALIGNMENT);
    bulk->answers = micap_allocate_zeroed(memory, answer_bytes(bulk), MICAP_ARRAY_ALIGNMENT);
    if (!bulk->identities || !bulk->answered || !bulk->groups || !bulk->questions || !bulk->answers)
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        const micap_sorted_envelope *asked = &bulk->asked[i];
        if (!i || asked[-1].envelope.to != asked->envelope.to)
            bulk->groups[bulk->group_count++] = i;
        bulk->identities[i] = asked->envelope.from;
        bulk->answered[i] = true;
        if (!micap_envelopes_read(bulk->cluster, asked, bulk->question, bulk->questions + (size_t)i * question_bytes))
            return false;
    }
    bulk->groups[bulk->group_count] = count;
    return true;
}

static void call_handlers(uint32_t begin, uint32_t end, void *context)
{
    const bulk *bulk = context;
    for (uint32_t i = begin; i < end; ++i) {
        uint32_t first = bulk->groups[i];
        mica_cluster_group group = {.world = bulk->cluster->world,
                                    .key = bulk->asked[first].envelope.to,
                                    .count = bulk->groups[i + 1] - first,
                                    .identities = bulk->identities + first,
                                    .questions = bulk->questions + (size_t)first * bulk->question->size_bytes,
                                    .answered = bulk->answered + first,
                                    .context = bulk->request->context};
        if (bulk->answer)
            group.answers = bulk->answers + (size_t)first * bulk->answer->size_bytes;
        bulk->request->fn(&group);
    }
}

static void send_answer(mica_cluster *cluster, const micap_envelope *question, const mica_type *type, const char *value)
{
    micap_envelope envelope = {.to = question->from,
                               .kind = question->kind,
                               .system = question->system,
                               .order = question->order,
                               .offset = cluster->answers.bytes.count};
    if (question->rank == cluster->transport.rank) {
        micap_codec_put_value(&cluster->codec, &cluster->answers.bytes, type, value);
        if (!micap_envelopes_keep(cluster, &cluster->answers, envelope))
            fail_memory(cluster);
        return;
    }
    micap_bytes *bytes = micap_exchange_parcel(cluster, question->rank);
    if (!bytes)
        return;
    micap_bytes_put(bytes, &(uint8_t){MICAP_RECORD_ANSWER}, 1);
    micap_bytes_put64(bytes, envelope.to);
    micap_bytes_put_number(bytes, envelope.kind);
    micap_bytes_put_number(bytes, envelope.system);
    micap_bytes_put_number(bytes, envelope.order);
    micap_codec_put_value(&cluster->codec, bytes, type, value);
}

static void answer_kind(mica_cluster *cluster, uint32_t kind, const micap_sorted_envelope *asked, uint32_t count)
{
    const mica_cluster_request *request = &cluster->requests[kind];
    bulk bulk = {.cluster = cluster,
                 .request = request,
                 .question = mica_component_type(request->question),
                 .answer = request->answer ? mica_component_type(request->answer) : NULL,
                 .asked = asked,
                 .count = count};
    if (!fill_bulk(&bulk)) {
        fail_memory(cluster);
        free_bulk(&bulk);
        return;
    }
    mica_defer(cluster->world); /* handlers that run in order may change entities */
    if (request->in_order)
        call_handlers(0, bulk.group_count, &bulk);
    else
        mica_parallel_for(cluster->world, bulk.group_count, 1, call_handlers, &bulk);
    if (mica_flush(cluster->world) != MICA_OK)
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "what a handler of questions changed can't be applied");
    for (uint32_t i = 0; i < count && bulk.answer; ++i)
        if (bulk.answered[i])
            send_answer(cluster, &asked[i].envelope, bulk.answer, bulk.answers + (size_t)i * bulk.answer->size_bytes);
    free_bulk(&bulk);
}

static int compare_questions(const void *a, const void *b)
{
    const micap_envelope *x = &((const micap_sorted_envelope *)a)->envelope,
                         *y = &((const micap_sorted_envelope *)b)->envelope;
    int order = micap_compare_words(x->kind, y->kind);
    order = order ? order : micap_compare_words(x->to, y->to);
    order = order ? order : micap_compare_words(x->from, y->from);
    order = order ? order : micap_compare_words(x->system, y->system);
    return order ? order : micap_compare_words(x->order, y->order);
}

void micap_questions_answer(mica_cluster *cluster)
{
    uint32_t count = cluster->questions.count;
    micap_sorted_envelope *asked = micap_envelopes_sort(cluster, &cluster->questions, compare_questions);
    for (uint32_t begin = 0, end = 0; asked && begin < count && cluster->result == MICA_OK; begin = end) {
        while (end < count && asked[end].envelope.kind == asked[begin].envelope.kind)
            ++end;
        answer_kind(cluster, asked[begin].envelope.kind, asked + begin, end - begin);
    }
    micap_envelopes_free_sorted(cluster, asked, count);
    micap_envelopes_empty(&cluster->questions);
}

/* ---- answers */

static int compare_answers(const void *a, const void *b)
{
    const micap_envelope *x = &((const micap_sorted_envelope *)a)->envelope,
                         *y = &((const micap_sorted_envelope *)b)->envelope;
    int order = micap_compare_words(x->to, y->to);
    order = order ? order : micap_compare_words(x->system, y->system);
    return order ? order : micap_compare_words(x->order, y->order);
}

static void set_answer(mica_cluster *cluster, const micap_sorted_envelope *answer)
{
    mica_component component = cluster->requests[answer->envelope.kind].answer;
    const mica_type *type = mica_component_type(component);
    mica_entity entity = mica_cluster_find(cluster, answer->envelope.to);
    if (mica_is_nil(entity)) {
        ++cluster->stats.dropped_count;
        return;
    }
    char *value = micap_envelopes_value(cluster, type);
    if (!value)
        return;
    if (!micap_envelopes_read(cluster, answer, type, value) ||
        !mica_set_id(cluster->world, entity, (mica_value){component, type->size_bytes, value}))
        micap_cluster_fail(cluster, MICA_ERROR_MEMORY, "an answer can't be set");
    micap_codec_clear_value(type, value);
    micap_envelopes_free_value(cluster, type, value);
}

void micap_questions_deliver(mica_cluster *cluster)
{
    uint32_t count = cluster->answers.count;
    micap_sorted_envelope *answers = micap_envelopes_sort(cluster, &cluster->answers, compare_answers);
    for (uint32_t i = 0; answers && i < count && cluster->result == MICA_OK; ++i)
        set_answer(cluster, &answers[i]);
    micap_envelopes_free_sorted(cluster, answers, count);
    micap_envelopes_empty(&cluster->answers);
}
