/* Messages, streams, requests and events that own text and lists, against a model that remembers numbers: random lives, outside of
 * systems and in one, with snapshots that are restored in any order. */
#include "base/block_heap.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/flow.h"
#include "mica/snapshot.h"

enum { PEOPLE = 20, PLANS_MAX = 16, UNREAD_MAX = 400, SNAPSHOTS = 3, STEPS = UNDER_SANITIZER ? 150 : 400, KEYS = 3 };
enum { BELL = MICA_EVENT_USER };

/* A note is made from its number. */
typedef struct Note { uint32_t number; mica_text words; mica_list pages; } Note;
MICA_COMPONENT(Note, number, words, (pages, mica_text))
typedef struct Box { uint32_t log; mica_text last; } Box; /* in chunks */
MICA_COMPONENT(Box, log, last)
typedef struct Crate { uint32_t log; mica_text last; } Crate; /* in a pool, and alike */
MICA_POOL(Crate, log, last)
typedef struct Tower { uint32_t log; mica_text last; } Tower;
MICA_SINGLETON(Tower, log, last)

static const char *words_of(uint32_t number)
{
    static const char *const words[4] = {"", "in place", "words that are too long to lie in place",
                                         "words that are much longer than that, and lie in a block of another size"};
    return words[number % 4];
}

static Note note_begin(uint32_t number)
{
    Note note = {.number = number, .words = mica_text_of(words_of(number))};
    for (uint32_t i = 0; i < number % 3; ++i)
        ck_assert_int_eq(mica_text_set(mica_list_append(&note.pages, mica_text), words_of(number + i)), MICA_OK);
    return note;
}

static void note_end(Note *note)
{
    mica_list_clear(&note->pages, mica_text);
}

static uint32_t number_of(const Note *note)
{
    const mica_text *pages = mica_list_items(&note->pages, mica_text);
    REQUIRE(mica_text_is(&note->words, words_of(note->number)));
    REQUIRE((mica_list_count(&note->pages)) == note->number % 3);
    for (uint32_t i = 0; i < note->number % 3; ++i)
        REQUIRE(mica_text_is(&pages[i], words_of(note->number + i)));
    return note->number;
}

/* What can be done with a note. */
typedef enum way { SEND, BROADCAST, PUSH, POST, RING, WAYS } way;

typedef struct plan {
    way way;
    uint32_t person;
    uint32_t number;
} plan;

/* What a world should be like. Zero is no number. */
typedef struct model {
    uint32_t logs[2][PEOPLE], last[2][PEOPLE]; /* of boxes and crates */
    bool has[2][PEOPLE];
    uint32_t bells, last_bell;
    uint32_t answers[PEOPLE];
    plan posted[UNREAD_MAX]; /* and not answered */
    uint32_t posted_count;
    uint32_t unread[UNREAD_MAX];
    uint32_t unread_count;
} model;

typedef struct office {
    mica_world *world;
    mica_stream *stream;
    mica_requests *requests;
    mica_entity people[PEOPLE];
    plan plans[PLANS_MAX]; /* of the system */
    uint32_t plan_count;
    model model;
    mica_snapshot snapshots[SNAPSHOTS];
    uint64_t hashes[SNAPSHOTS];
    model then[SNAPSHOTS];
} office;

static void receive(const mica_message *message)
{
    Box *boxes = message->values; /* crates are alike */
    const Note *note = message->data;
    for (uint32_t i = 0; i < message->count; ++i) {
        boxes[i].log = boxes[i].log * 31 + number_of(note);
        mica_text_copy(&boxes[i].last, &note->words);
    }
}

static void answer(const mica_request_group *group)
{
    const Note *questions = group->questions;
    Note *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        answers[i].number = number_of(&questions[i]);
        mica_text_copy(&answers[i].words, &questions[i].words);
        mica_list_copy(&answers[i].pages, mica_text, &questions[i].pages);
    }
}

static void hear(const mica_event *event)
{
    Tower *tower = mica_singleton_write(event->world, Tower);
    const Note *note = event->data;
    tower->log = tower->log * 31 + number_of(note);
    mica_text_copy(&tower->last, &note->words);
}

static void tell(const office *office, plan plan)
{
    Note note = note_begin(plan.number);
    mica_value value = {MICA_ID(Note), sizeof note, &note};
    mica_entity person = office->people[plan.person];
    switch (plan.way) {
    case SEND: ck_assert(mica_send_id(office->world, person, value, MICA_HERE)); break;
    case BROADCAST: ck_assert(mica_broadcast_id(office->world, value, MICA_HERE)); break;
    case PUSH: ck_assert(mica_stream_push_from(office->stream, Note, &note)); break;
    case POST: ck_assert(mica_request_post_id(office->requests, plan.number % KEYS, person, value, MICA_HERE)); break;
    default: ck_assert(mica_event_emit(office->world, BELL, 0, person, value)); break;
    }
    note_end(&note);
}

static void tell_plans(const mica_frame *frame)
{
    const office *office = frame->context;
    for (uint32_t i = 0; i < office->plan_count; ++i)
        tell(office, office->plans[i]);
}

static void model_receive(model *model, uint32_t person, uint32_t number)
{
    for (uint32_t kind = 0; kind < 2; ++kind)
        if (model->has[kind][person]) {
            model->logs[kind][person] = model->logs[kind][person] * 31 + number;
            model->last[kind][person] = number;
        }
}

static void model_tell(model *model, plan plan)
{
    switch (plan.way) {
    case SEND: model_receive(model, plan.person, plan.number); break;
    case BROADCAST:
        for (uint32_t i = 0; i < PEOPLE; ++i)
            model_receive(model, i, plan.number);
        break;
    case PUSH: model->unread[model->unread_count++] = plan.number; break;
    case POST: model->posted[model->posted_count++] = plan; break;
    default:
        model->bells = model->bells * 31 + plan.number;
        model->last_bell = plan.number;
        break;
    }
}

/* Of one person the answer to the last question counts, whatever its key. */
static void model_answer(model *model)
{
    for (uint32_t i = 0; i < model->posted_count; ++i)
        model->answers[model->posted[i].person] = model->posted[i].number;
    model->posted_count = 0;
}

static void compare(const office *office)
{
    const model *model = &office->model;
    for (uint32_t i = 0; i < PEOPLE; ++i) {
        const Box *box = mica_get(office->world, office->people[i], Box);
        const Crate *crate = mica_get(office->world, office->people[i], Crate);
        const Note *note = mica_get(office->world, office->people[i], Note);
        REQUIRE((box != NULL) == model->has[0][i] && (crate != NULL) == model->has[1][i]);
        REQUIRE(!box || (box->log == model->logs[0][i] && mica_text_is(&box->last, words_of(model->last[0][i]))));
        REQUIRE(!crate || (crate->log == model->logs[1][i] && mica_text_is(&crate->last, words_of(model->last[1][i]))));
        REQUIRE((note ? number_of(note) : 0) == model->answers[i]);
    }
    const Tower *tower = mica_singleton_get(office->world, Tower);
    REQUIRE(tower->log == model->bells && mica_text_is(&tower->last, words_of(model->last_bell)));
    REQUIRE((mica_stream_count(office->stream)) == model->unread_count);
    REQUIRE(mica_world_validate(office->world) == MICA_OK);
}

static void read_stream(office *office)
{
    uint32_t count, place = 0;
    for (const Note *notes; (notes = mica_stream_read(office->stream, Note, &count));)
        for (uint32_t i = 0; i < count; ++i)
            REQUIRE((number_of(&notes[i])) == office->model.unread[place++]);
    REQUIRE((place) == office->model.unread_count);
    office->model.unread_count = 0;
}

static void change_person(office *office, random_source *random)
{
    uint32_t person = random_below(random, PEOPLE), kind = random_below(random, 2);
    mica_component component = kind ? MICA_ID(Crate) : MICA_ID(Box);
    bool *has = &office->model.has[kind][person];
    if (*has)
        ck_assert(mica_remove_id(office->world, office->people[person], component));
    else
        ck_assert_ptr_nonnull(mica_add_id(office->world, office->people[person], component));
    *has = !*has;
    office->model.logs[kind][person] = office->model.last[kind][person] = 0;
}

static void use_snapshot(office *office, uint32_t which, bool takes)
{
    mica_snapshot *snapshot = &office->snapshots[which];
    if (snapshot->id && !takes) {
        ck_assert_int_eq(mica_snapshot_restore(office->world, *snapshot), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(office->world), office->hashes[which]);
        office->model = office->then[which];
        return;
    }
    if (snapshot->id)
        mica_snapshot_drop(office->world, *snapshot);
    office->hashes[which] = mica_world_hash(office->world);
    office->then[which] = office->model;
    *snapshot = mica_snapshot_take(office->world);
    ck_assert_uint_ne(snapshot->id, 0);
}

static plan draw_plan(random_source *random, uint32_t number)
{
    return (plan){random_below(random, WAYS), random_below(random, PEOPLE), number};
}

static void run_frame(office *office, random_source *random, uint32_t *number)
{
    office->plan_count = random_below(random, PLANS_MAX);
    for (uint32_t i = 0; i < office->plan_count; ++i) {
        office->plans[i] = draw_plan(random, ++*number);
        model_tell(&office->model, office->plans[i]);
    }
    ck_assert_int_eq(mica_step(office->world, 1), MICA_OK);
    model_answer(&office->model);
}

static void step(office *office, random_source *random, uint32_t *number)
{
    switch (random_below(random, 8)) {
    case 0: run_frame(office, random, number); break;
    case 1: read_stream(office); break;
    case 2: change_person(office, random); break;
    case 3: use_snapshot(office, random_below(random, SNAPSHOTS), random_one_in(random, 2)); break;
    case 4:
        ck_assert_int_eq(mica_requests_handle(office->requests), MICA_OK);
        model_answer(&office->model);
        break;
    default: {
        plan plan = draw_plan(random, ++*number);
        tell(office, plan);
        model_tell(&office->model, plan);
    }
    }
    if (office->model.unread_count + PLANS_MAX > UNREAD_MAX / 2)
        read_stream(office);
}

/* Plays a life. Returns its last hash. */
static uint64_t play(uint64_t seed, uint32_t workers)
{
    static office office;
    reports heard;
    office = (struct office){.world = open_world(&heard)};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(office.world, &flow);
    office.stream = mica_stream_create(office.world, MICA_STREAM_WITH(Note, (.application = true)));
    office.requests = mica_requests_create(office.world, MICA_REQUESTS(Note, Note, answer, NULL));
    mica_handler_add(office.world, MICA_HANDLER(Box, Note, receive));
    mica_handler_add(office.world, MICA_HANDLER(Crate, Note, receive));
    mica_observer_add(office.world, &(mica_observer_def){.event = BELL, .fn = hear, .location = MICA_HERE});
    mica_singleton_write(office.world, Tower);
    mica_use uses[] = {MICA_USE_STREAM_WRITE(office.stream),
                       MICA_USE_STREAM_WRITE(mica_requests_stream(office.requests))};
    mica_system_add(office.world, &(mica_system_def){.name = "teller",
                                                     .once = tell_plans,
                                                     .context = &office,
                                                     .uses = uses,
                                                     .use_count = 2,
                                                     .location = MICA_HERE});
    for (uint32_t i = 0; i < PEOPLE; ++i)
        office.people[i] = mica_create(office.world);
    random_source random = {seed};
    for (uint32_t i = 0, number = 0; i < STEPS; ++i) {
        step(&office, &random, &number);
        compare(&office);
    }
    uint64_t hash = mica_world_hash(office.world);
    ck_assert_uint_eq(forget_reports(&heard), 0);
    close_world(office.world, &heard);
    return hash;
}

START_TEST(random_lives_agree_with_the_model_for_any_number_of_workers)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    for (uint64_t seed = 1; seed <= (UNDER_SANITIZER ? 4 : 20); ++seed) {
        uint64_t hash = play(seed, 1);
        ck_assert_uint_eq(play(seed, 3), hash);
    }
    micap_heap_trim();
    ck_assert_uint_le(micap_heap_bytes(), before);
}
END_TEST

TEST_SUITE(message_model, random_lives_agree_with_the_model_for_any_number_of_workers)
