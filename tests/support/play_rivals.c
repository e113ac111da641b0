/* Components that exclude each other, one in each storage. What would give an entity two of them is refused and changes nothing. Changes
 * of one entity that wait in several buffers could contradict each other, and a flush would drop all changes of the entity: so one buffer
 * at a time speaks of the rivals of an entity. */
#include "play.h"

typedef struct PlayDay { uint32_t number; } PlayDay;
MICA_COMPONENT(PlayDay, number)
MICA_TAG_WITH(PlayNight, (.excludes = MICA_TYPES(PlayDay)))
typedef PlayDay PlayDusk;
MICA_POOL_WITH(PlayDusk, (.excludes = MICA_TYPES(PlayDay, PlayNight)), number)

enum { RIVALS = 4, DAY = 1, NIGHT, DUSK };

uint32_t play_rival_in_chunks(const model_entity *entity)
{
    return entity->rival == DUSK ? 0 : entity->rival;
}

static mica_component id_of(uint32_t rival)
{
    return rival == DAY ? MICA_ID(PlayDay) : rival == NIGHT ? MICA_ID(PlayNight) : MICA_ID(PlayDusk);
}

static mica_value value_of(uint32_t rival, const PlayDay *value)
{
    return rival == NIGHT ? (mica_value){id_of(rival), 0, NULL} : (mica_value){id_of(rival), sizeof *value, value};
}

void play_rivals_begin(play *play)
{
    EXPECT(play, mica_define(play->world, PlayDay) && mica_define(play->world, PlayNight));
    if (play->config.seed % 2) /* otherwise it comes into use later */
        EXPECT(play, mica_define(play->world, PlayDusk));
}

void play_compare_rivals(play *play, const model_entity *entity)
{
    for (uint32_t rival = DAY; rival < RIVALS; ++rival) {
        bool there = entity->rival == rival;
        const PlayDay *value = mica_get_id(play->world, entity->handle, id_of(rival));
        EXPECT_SAYING(play, mica_has_id(play->world, entity->handle, id_of(rival)) == there, "rival %u", rival);
        EXPECT_SAYING(play, (value != NULL) == there, "rival %u", rival);
        EXPECT_SAYING(play, !there || rival == NIGHT || value->number == entity->rival_number, "rival %u", rival);
    }
}

/* The rival that an entity has for a buffer, and whether another buffer speaks of its rivals. */
static uint32_t rival_known(const play *play, uint32_t buffer, mica_entity entity, bool *out_elsewhere)
{
    const model_entity *promised = model_find_promised(&play->model, entity);
    model_entity known = {.rival = promised && promised->life == MODEL_LIVING ? promised->rival : 0};
    *out_elsewhere = false;
    if (!promised || promised->rival_flush != play->model.next_flush)
        return known.rival;
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        for (uint32_t i = 0; i < play->buffers[b].count; ++i) {
            const model_command *command = &play->buffers[b].commands[i];
            if (command->kind != MODEL_COMMAND_RIVAL || !mica_same(command->entity, entity))
                continue;
            *out_elsewhere |= b != buffer;
            model_rival(&known, command->rival, command->enabled, command->number);
        }
    return known.rival;
}

void play_note_rival(play *play, uint32_t buffer, model_command command)
{
    model_find_promised(&play->model, command.entity)->rival_flush = play->model.next_flush;
    model_record(&play->buffers[buffer], command);
}

static void record(play *play, uint32_t buffer, model_command command)
{
    PlayDay value = {command.number};
    mica_value given = value_of(command.rival, &value);
    mica_commands *commands = play->commands[buffer];
    bool done;
    if (command.enabled)
        done = buffer ? mica_command_set_id(commands, command.entity, given, MICA_HERE)
                      : mica_set_id(play->world, command.entity, given);
    else
        done = buffer ? mica_command_remove_id(commands, command.entity, given.component, MICA_HERE)
                      : mica_remove_id(play->world, command.entity, given.component);
    EXPECT(play, done);
    play_note_rival(play, buffer, command);
}

/* From one to another: the old one is removed in the same flush. */
void play_record_rival(play *play, uint32_t buffer, mica_entity entity)
{
    bool elsewhere;
    uint32_t known = rival_known(play, buffer, entity, &elsewhere), wanted = random_below(&play->random, RIVALS);
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    if (elsewhere || !knowledge.promised || knowledge.doomed)
        return;
    model_command change = {.kind = MODEL_COMMAND_RIVAL, .entity = entity, .rival = known};
    if (known && known != wanted)
        record(play, buffer, change);
    change.rival = wanted;
    change.enabled = true;
    change.number = wanted == NIGHT ? 0 : play_draw_number(play);
    if (wanted)
        record(play, buffer, change);
}

/* A living entity of whose rivals no buffer speaks, or NULL. */
static model_entity *draw_settled(play *play)
{
    mica_entity drawn = play_draw_living(play);
    bool elsewhere;
    rival_known(play, PLAY_BUFFERS, drawn, &elsewhere);
    return elsewhere ? NULL : model_find(&play->model, drawn);
}

static void expect_refusal(play *play)
{
    EXPECT(play, mica_world_take_error(play->world) == MICA_ERROR_INVALID);
    EXPECT_SAYING(play, play->other_reports == 1, "%u reports", play->other_reports);
    play->other_reports = 0;
}

static void set(play *play)
{
    model_entity *entity = draw_settled(play);
    if (!entity)
        return;
    uint32_t rival = 1 + random_below(&play->random, RIVALS - 1);
    PlayDay value = {rival == NIGHT ? 0 : play_draw_number(play)};
    bool is_added = random_one_in(&play->random, 3); /* not set: an old value stays, a new one is zero */
    bool done = is_added ? mica_add_id(play->world, entity->handle, id_of(rival)) != NULL
                         : mica_set_id(play->world, entity->handle, value_of(rival, &value));
    EXPECT(play, done == (!entity->rival || entity->rival == rival));
    if (!done)
        expect_refusal(play);
    else if (!is_added)
        model_rival(entity, rival, true, value.number);
    else if (!entity->rival)
        model_rival(entity, rival, true, 0);
    play_compare_entity(play, entity);
}

static void take(play *play)
{
    model_entity *entity = draw_settled(play);
    if (!entity)
        return;
    uint32_t rival = 1 + random_below(&play->random, RIVALS - 1);
    EXPECT(play, mica_remove_id(play->world, entity->handle, id_of(rival)) == (entity->rival == rival));
    model_rival(entity, rival, false, 0);
    play_compare_entity(play, entity);
}

/* A list with two of them. */
static void create_both(play *play)
{
    uint32_t first = 1 + random_below(&play->random, RIVALS - 1), second = 1 + first % (RIVALS - 1);
    PlayDay value = {play_draw_number(play)};
    mica_value values[] = {value_of(first, &value), value_of(second, &value)};
    EXPECT(play, mica_is_nil(mica_create_id(play->world, values, 2)));
    expect_refusal(play);
}

/* A flush that would bring two together drops the changes of the entity. */
static void flush_both(play *play)
{
    model_entity *entity = draw_settled(play);
    if (!entity || !entity->rival || !play_is_quiet(play))
        return;
    PlayDay value = {play_draw_number(play)};
    uint32_t other = 1 + entity->rival % (RIVALS - 1);
    mica_defer(play->world);
    EXPECT(play, mica_set_id(play->world, entity->handle, value_of(other, &value)));
    EXPECT(play, mica_set_id(play->world, entity->handle, value_of(entity->rival, &value)));
    EXPECT(play, mica_flush(play->world) == MICA_ERROR_INVALID);
    expect_refusal(play);
    play_compare_entity(play, entity);
}

const play_operation play_rival_operations[] = {
    {"set rival", 15, set, false},
    {"remove rival", 5, take, false},
    {"create rivals", 1, create_both, false},
    {"flush rivals", 1, flush_both, false},
};
const uint32_t play_rival_count = sizeof play_rival_operations / sizeof *play_rival_operations;
