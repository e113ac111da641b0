/* Streams, messages and requests. */
#include "program.h"

#include "mica/value.h"

/* The stream, made when it is not there. */
static mica_stream *take_stream(program *program, scene *scene)
{
    mica_stream **slot = &scene->streams[take_below(program, STREAMS)];
    if (*slot || program->depth > 0)
        return *slot;
    mica_stream_def def = {.name = "pings", .type = &mica_type_of_FuzzPing, .location = MICA_HERE};
    def.capacity = take_below(program, 3) * 4;
    def.keep_frames = take_below(program, 3);
    def.application = take_one_in(program, 2);
    *slot = mica_stream_create(scene->world, &def);
    ++scene->stream_age;
    return *slot;
}

/* Only the second one: systems may write the first, and then it can't go. */
static void stream_destroy(program *program, scene *scene)
{
    (void)program;
    mica_stream_destroy(scene->streams[1]);
    scene->streams[1] = NULL;
    ++scene->stream_age;
}

static void fill_numbers(FuzzPing *ping, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        mica_list_add(&ping->numbers, uint16_t, (uint16_t)(i + 1));
}

static void stream_emit(program *program, scene *scene)
{
    mica_stream *stream = take_stream(program, scene);
    if (!stream)
        return;
    if (take_one_in(program, 2)) {
        mica_entity about = take_entity(program, scene);
        uint32_t energy = take(program);
        mica_stream_push(stream, FuzzPing, FUZZ_PING(energy, about));
        return;
    }
    uint32_t count = 1 + take_below(program, 9);
    FuzzPing *pings = mica_stream_push_many(stream, FuzzPing, count);
    for (uint32_t i = 0; pings && i < count; ++i) {
        pings[i].energy = i;
        mica_text_set(&pings[i].words, fuzz_words(i));
        fill_numbers(&pings[i], i);
    }
}

static void stream_read(program *program, scene *scene)
{
    mica_stream *stream = take_stream(program, scene);
    if (!stream)
        return;
    uint32_t count;
    for (const FuzzPing *ping; (ping = mica_stream_read(stream, FuzzPing, &count));)
        EXPECT(program, count > 0 && ping[count - 1].energy < 256 && fuzz_ping_is_whole(&ping[count - 1]),
               "a stream shows what was not written to it");
    mica_stream_count(stream);
    mica_stream_dropped(stream);
}

static void on_ping(const mica_message *message)
{
    const reaction *reaction = message->context;
    const FuzzPing *ping = message->data;
    sample_kind kind = reaction->reads;
    EXPECT(reaction->program, fuzz_ping_is_whole(ping), "a message has other text than was sent");
    for (uint32_t i = 0; message->values && i < message->count; ++i) {
        char *value = (char *)message->values + (size_t)i * samples[kind].type->size_bytes;
        samples[kind].assign(value, samples[kind].key(value) + 1);
    }
    react(reaction, message->entities, message->count, ping->energy);
}

static void handler_add(program *program, scene *scene)
{
    if (scene->reaction_next == REACTIONS)
        return;
    reaction *reaction = &scene->reactions[scene->reaction_next++];
    *reaction = (struct reaction){.program = program, .scene = scene};
    reaction->reads = take_kind(program, scene);
    reaction->changes = take_kind(program, scene);
    reaction->choice = take(program) % 10; /* nothing that has to be declared */
    mica_handler handler = {
        .component = samples[reaction->reads].type,
        .message = &mica_type_of_FuzzPing,
        .fn = on_ping,
        .context = reaction,
        .location = MICA_HERE,
    };
    mica_handler_add(scene->world, &handler);
}

static void handler_remove(program *program, scene *scene)
{
    mica_component component = sample_id(take_kind(program, scene));
    mica_handler_remove(scene->world, component, MICA_ID(FuzzPing), on_ping);
}

static void message_send(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    uint32_t energy = take_below(program, 4);
    FuzzPing ping = FUZZ_PING(energy, entity);
    fill_numbers(&ping, energy * 3);
    mica_send_id(scene->world, entity, (mica_value){MICA_ID(FuzzPing), sizeof ping, &ping}, MICA_HERE);
    mica_list_clear(&ping.numbers, uint16_t);
}

static void message_broadcast(program *program, scene *scene)
{
    uint32_t energy = take_below(program, 3);
    mica_broadcast(scene->world, FuzzPing, FUZZ_PING(energy, mica_nil()));
}

static void message_every_frame(program *program, scene *scene)
{
    mica_message_every_frame(scene->world, FuzzPing, take_one_in(program, 2) ? MICA_PHASE_UPDATE : MICA_PHASE_FIXED);
}

static void answer(const mica_request_group *group)
{
    const FuzzPing *questions = group->questions;
    uint32_t *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        answers[i] = questions[i].energy + group->entities[i].index + mica_text_length(&questions[i].words);
        group->answered[i] = answers[i] % 5 != 4;
    }
}

static void requests_create(program *program, scene *scene)
{
    mica_requests_def def = {
        .name = "questions", .question = &mica_type_of_FuzzPing, .fn = answer, .location = MICA_HERE};
    def.answer = samples[take_one_in(program, 2) ? SAMPLE_SMALL : SAMPLE_POOL].type;
    def.as_stream = take_one_in(program, 3);
    def.in_order = take_one_in(program, 2);
    if (!scene->requests)
        scene->requests = mica_requests_create(scene->world, &def);
    ++scene->stream_age;
}

static void request_post(program *program, scene *scene)
{
    mica_entity entity = take_entity(program, scene);
    if (!scene->requests && program->depth == 0)
        requests_create(program, scene);
    if (scene->requests)
        mica_request_post(scene->requests, take_below(program, 3), entity, FuzzPing, FUZZ_PING(2, entity));
}

static void requests_handle(program *program, scene *scene)
{
    (void)program;
    if (scene->requests)
        mica_requests_handle(scene->requests);
}

/* Values are whole while they pass. */
static void look(const mica_traffic *traffic, void *context)
{
    const scene *scene = context;
    const program *program = scene->program;
    const char *values = traffic->values;
    EXPECT(program, traffic->world == scene->world && mica_traffic_kind_name(traffic->kind),
           "traffic is of another world or of no kind");
    for (uint32_t i = 0; values && traffic->type && i < traffic->count; ++i) {
        mica_member member = mica_member_of_type(traffic->type, (void *)(values + (size_t)i * traffic->value_bytes));
        EXPECT(program, mica_value_write(member, NULL, 0), "a value that passes has no text");
        if (strcmp(traffic->type->name, "FuzzPing") == 0)
            EXPECT(program, fuzz_ping_is_whole(member.data), "a value that passes is not what was sent");
    }
}

static void traffic_watch(program *program, scene *scene)
{
    (void)program;
    if (mica_traffic_watch(scene->world, look, scene) == MICA_ERROR_EXISTS)
        mica_traffic_watch(scene->world, NULL, NULL);
}

const operation message_operations[] = {
    {"stream_destroy", stream_destroy, 0},
    {"stream_emit", stream_emit, IN_BODY},
    {"stream_read", stream_read, IN_BODY},
    {"handler_add", handler_add, IN_BODY},
    {"handler_remove", handler_remove, IN_BODY},
    {"message_send", message_send, IN_BODY | AS_INPUT},
    {"message_broadcast", message_broadcast, IN_BODY | AS_INPUT},
    {"message_every_frame", message_every_frame, IN_BODY},
    {"requests_create", requests_create, 0},
    {"request_post", request_post, IN_BODY},
    {"requests_handle", requests_handle, IN_BODY},
    {"traffic_watch", traffic_watch, 0},
};
OPERATIONS(message)
