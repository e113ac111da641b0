/* Operations that are recorded and take effect at the flush: through the world between defer and flush (buffer 0),
 * or through a command buffer. Both doors offer the same, so each recording is written once. */
#include "play.h"

#include <string.h>

static mica_entity door_create(play *play, uint32_t buffer, const play_values *values)
{
    return buffer ? mica_command_create_id(play->commands[buffer], values->values, values->count, MICA_HERE)
                  : mica_create_id(play->world, values->values, values->count);
}

static bool door_destroy(play *play, uint32_t buffer, mica_entity entity)
{
    return buffer ? mica_command_destroy(play->commands[buffer], entity) : mica_destroy(play->world, entity);
}

static void *door_add(play *play, uint32_t buffer, mica_entity entity, sample_kind kind)
{
    return buffer ? mica_command_add_id(play->commands[buffer], entity, play->ids[kind], MICA_HERE)
                  : mica_add_id(play->world, entity, play->ids[kind]);
}

static bool door_set(play *play, uint32_t buffer, mica_entity entity, mica_value value)
{
    return buffer ? mica_command_set_id(play->commands[buffer], entity, value, MICA_HERE)
                  : mica_set_id(play->world, entity, value);
}

static bool door_remove(play *play, uint32_t buffer, mica_entity entity, sample_kind kind)
{
    return buffer ? mica_command_remove_id(play->commands[buffer], entity, play->ids[kind], MICA_HERE)
                  : mica_remove_id(play->world, entity, play->ids[kind]);
}

static bool door_enable(play *play, uint32_t buffer, mica_entity entity, sample_kind kind, bool enabled)
{
    return buffer ? mica_command_enable_id(play->commands[buffer], entity, play->ids[kind], enabled, MICA_HERE)
                  : mica_enable_id(play->world, entity, play->ids[kind], enabled);
}

/* Half of the time an entity that this buffer or another one has spoken of before, so that changes to one entity
 * pile up. */
static mica_entity draw_target(play *play, uint32_t buffer)
{
    if (random_one_in(&play->random, 8))
        buffer = random_below(&play->random, PLAY_BUFFERS);
    const model_buffer *recorded = &play->buffers[buffer];
    if (recorded->count && random_one_in(&play->random, 2)) {
        uint32_t recent = recorded->count < 8 ? recorded->count : 8;
        return recorded->commands[recorded->count - 1 - random_below(&play->random, recent)].entity;
    }
    return play_draw_living(play);
}

/* Whether this buffer can still speak of the entity. A recording for a dead one fails and says so. */
static bool expect_target(play *play, const model_knowledge *knowledge, bool recorded)
{
    bool reachable = knowledge->promised && !knowledge->doomed;
    EXPECT(play, reachable || !recorded);
    if (!reachable)
        play->dead_reports = 0;
    return reachable;
}

static void record_put(play *play, uint32_t buffer, mica_entity entity, sample_kind kind, uint32_t number, void *staged)
{
    model_record(&play->buffers[buffer],
                 (model_command){
                     .kind = MODEL_COMMAND_PUT, .entity = entity, .sample = kind, .number = number, .staged = staged});
}

static void record_create(play *play, uint32_t buffer)
{
    if (play_is_full(play))
        return;
    play_values values;
    play_values_begin(play, &values, play_draw_samples(play, 6));
    mica_entity handle = door_create(play, buffer, &values);
    play_values_end(&values);
    EXPECT_SAYING(play, model_spawn(&play->model, handle, MODEL_PENDING), "{%u, %u} is not a new handle", handle.index,
                  handle.generation);
    EXPECT(play, mica_is_alive(play->world, handle));
    model_record(&play->buffers[buffer], (model_command){.kind = MODEL_COMMAND_CREATE, .entity = handle});
    uint32_t given = 0;
    for (uint32_t i = 0; i < values.count; ++i) {
        record_put(play, buffer, handle, values.kinds[i], values.numbers[i], NULL);
        given |= 1u << values.kinds[i];
    }
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind) /* the list is completed when it is recorded */
        if ((sample_complete(given) & ~given) >> kind & 1)
            record_put(play, buffer, handle, kind, samples[kind].start, NULL);
}

/* Through the world only: a recorded copy of what an entity has now, with every instance and switch. */
static void record_clone(play *play, uint32_t buffer)
{
    mica_entity source = play_draw_living(play);
    if (buffer || play_is_full(play) || mica_is_nil(source) || play_has_guard_edges(play, source))
        return;
    mica_entity clone = mica_clone(play->world, source);
    EXPECT(play, model_spawn(&play->model, clone, MODEL_PENDING));
    const model_entity *original = model_find(&play->model, source);
    model_record(&play->buffers[buffer], (model_command){.kind = MODEL_COMMAND_CREATE, .entity = clone});
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind) {
        for (uint32_t which = 0; which < model_instance_count(original, kind); ++which)
            model_record(&play->buffers[buffer],
                         (model_command){.kind = which ? MODEL_COMMAND_INSTANCE : MODEL_COMMAND_PUT,
                                         .entity = clone,
                                         .sample = kind,
                                         .copies = true,
                                         .number = model_instance_at(original, kind, which).number});
        if (original->disabled >> kind & 1)
            model_record(&play->buffers[buffer],
                         (model_command){.kind = MODEL_COMMAND_SWITCH, .entity = clone, .sample = kind});
    }
    if (original->rival)
        play_note_rival(play, buffer,
                        (model_command){.kind = MODEL_COMMAND_RIVAL,
                                        .entity = clone,
                                        .rival = original->rival,
                                        .number = original->rival_number,
                                        .enabled = true});
    for (uint32_t which = 0; which < MODEL_OPAQUES; ++which)
        if (original->opaques >> which & 1)
            model_record(&play->buffers[buffer], (model_command){.kind = MODEL_COMMAND_OPAQUE,
                                                                 .entity = clone,
                                                                 .rival = which,
                                                                 .number = original->opaque_numbers[which],
                                                                 .enabled = true});
    play_record_cloned_edges(play, source, clone);
}

static void record_destroy(play *play, uint32_t buffer)
{
    mica_entity entity = draw_target(play, buffer);
    if (!play_may_record_deaths(play, buffer))
        return;
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    bool recorded = door_destroy(play, buffer, entity);
    if (!expect_target(play, &knowledge, recorded))
        return;
    EXPECT(play, recorded);
    model_record(&play->buffers[buffer], (model_command){.kind = MODEL_COMMAND_DESTROY, .entity = entity});
}

static void record_add(play *play, uint32_t buffer)
{
    mica_entity entity = draw_target(play, buffer);
    sample_kind kind = play_draw_sample(play);
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    void *staged = door_add(play, buffer, entity, kind);
    if (!expect_target(play, &knowledge, staged != NULL))
        return;
    EXPECT(play, staged);
    uint32_t number = knowledge.components >> kind & 1 ? knowledge.numbers[kind] : samples[kind].start;
    if (samples[kind].has_data) {
        EXPECT_SAYING(play, samples[kind].holds(staged, number), "the staged %s is not %u", samples[kind].name, number);
        if (random_one_in(&play->random, 2)) {
            number = play_draw_number(play);
            samples[kind].assign(staged, number);
        }
    }
    record_put(play, buffer, entity, kind, number, samples[kind].has_data ? staged : NULL);
}

static void record_set(play *play, uint32_t buffer)
{
    mica_entity entity = draw_target(play, buffer);
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    play_values values;
    play_values_begin(play, &values, 1u << play_draw_sample(play));
    bool recorded = door_set(play, buffer, entity, values.values[0]);
    play_values_end(&values);
    if (!expect_target(play, &knowledge, recorded))
        return;
    EXPECT(play, recorded);
    record_put(play, buffer, entity, values.kinds[0], values.numbers[0], NULL);
}

/* The world has no door of its own for this. */
static void record_instance(play *play, uint32_t buffer)
{
    sample_kind kind = play_draw_sample_that(play, sample_is_many);
    mica_entity entity = draw_target(play, buffer);
    if (kind == SAMPLE_COUNT)
        return;
    if (!buffer) {
        EXPECT(play, mica_instance_is_nil(mica_pool_add(play->pools[kind], entity)));
        play->other_reports = 0;
        return;
    }
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    void *staged = mica_command_add_instance_id(play->commands[buffer], entity, play->ids[kind], MICA_HERE);
    if (!expect_target(play, &knowledge, staged != NULL))
        return;
    EXPECT(play, staged && samples[kind].holds(staged, samples[kind].start));
    uint32_t number = play_draw_number(play);
    samples[kind].assign(staged, number);
    model_record(
        &play->buffers[buffer],
        (model_command){
            .kind = MODEL_COMMAND_INSTANCE, .entity = entity, .sample = kind, .number = number, .staged = staged});
}

static void record_remove(play *play, uint32_t buffer)
{
    mica_entity entity = draw_target(play, buffer);
    sample_kind kind = play_draw_sample(play);
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    bool recorded = door_remove(play, buffer, entity, kind);
    if (!expect_target(play, &knowledge, recorded))
        return;
    EXPECT(play, recorded == (knowledge.components >> kind & 1));
    model_record(&play->buffers[buffer], (model_command){.kind = MODEL_COMMAND_TAKE, .entity = entity, .sample = kind});
}

static void record_enable(play *play, uint32_t buffer)
{
    mica_entity entity = draw_target(play, buffer);
    sample_kind kind = play_draw_sample(play);
    if (!samples[kind].type->toggle)
        return;
    bool enabled = random_one_in(&play->random, 2);
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[buffer], entity);
    bool recorded = door_enable(play, buffer, entity, kind, enabled);
    if (!expect_target(play, &knowledge, recorded))
        return;
    EXPECT(play, recorded == (knowledge.components >> kind & 1));
    if (recorded)
        model_record(
            &play->buffers[buffer],
            (model_command){.kind = MODEL_COMMAND_SWITCH, .entity = entity, .sample = kind, .enabled = enabled});
}

/* Whether the staged value of an earlier command is replaced, or gone: an instance is no matter of other values. */
static bool speaks_of(const model_command *a, const model_command *b)
{
    if (!mica_same(a->entity, b->entity))
        return false;
    return b->kind == MODEL_COMMAND_DESTROY || (b->kind == MODEL_COMMAND_TAKE && a->sample == b->sample) ||
           (b->kind == MODEL_COMMAND_PUT && a->kind == MODEL_COMMAND_PUT && a->sample == b->sample);
}

/* Staged values can be filled in until the flush, long after the call: as long as no later call replaced them. */
static void refill_staged(play *play, uint32_t buffer)
{
    model_buffer *recorded = &play->buffers[buffer];
    if (!recorded->count)
        return;
    uint32_t chosen = random_below(&play->random, recorded->count);
    model_command *command = &recorded->commands[chosen];
    if (!command->staged)
        return;
    for (uint32_t later = chosen + 1; later < recorded->count; ++later)
        if (speaks_of(command, &recorded->commands[later]))
            return;
    EXPECT(play, samples[command->sample].holds(command->staged, command->number));
    command->number = play_draw_number(play);
    samples[command->sample].assign(command->staged, command->number);
}

static void record_rival(play *play, uint32_t buffer)
{
    play_record_rival(play, buffer, draw_target(play, buffer));
}

static void record_opaque(play *play, uint32_t buffer)
{
    if (play->opaques)
        play_record_opaque(play, buffer, draw_target(play, buffer));
}

static void record_edge(play *play, uint32_t buffer)
{
    if (play->has_relations)
        play_record_edge(play, buffer, draw_target(play, buffer), draw_target(play, buffer));
}

static void record_something(play *play, uint32_t buffer)
{
    static void (*const recordings[])(struct play *, uint32_t) = {
        record_create, record_clone,  record_destroy, record_add,    record_add,      record_set,
        record_set,    record_remove, record_remove,  record_enable, record_instance, refill_staged,
        record_rival,  record_opaque, record_edge,    record_edge,
    };
    uint32_t count = sizeof recordings / sizeof *recordings;
    recordings[random_below(&play->random, count)](play, buffer);
}

static void bury_the_destroyed(play *play)
{
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        for (uint32_t i = 0; i < play->buffers[b].count; ++i)
            if (play->buffers[b].commands[i].kind == MODEL_COMMAND_DESTROY)
                play_bury(play, play->buffers[b].commands[i].entity);
}

static void bury_the_unborn(play *play, uint32_t buffer)
{
    for (uint32_t i = 0; i < play->buffers[buffer].count; ++i)
        if (play->buffers[buffer].commands[i].kind == MODEL_COMMAND_CREATE)
            play_bury(play, play->buffers[buffer].commands[i].entity);
}

/* The last entities spoken of, compared after the flush. */
typedef struct spoken_of {
    mica_entity entities[32];
    uint32_t count;
} spoken_of;

static spoken_of collect_spoken_of(const play *play)
{
    spoken_of spoken = {.count = 0};
    for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
        for (uint32_t i = 0; i < play->buffers[b].count; ++i)
            spoken.entities[spoken.count++ % 32] = play->buffers[b].commands[i].entity;
    spoken.count = spoken.count < 32 ? spoken.count : 32;
    return spoken;
}

/* A flush removes the rows of entities that were destroyed before it; in packed pools the row count shows it. */
static void expect_the_dead_gone(play *play)
{
    for (uint32_t i = 0; i < play->kind_count; ++i) {
        sample_kind kind = play->kinds[i];
        if (samples[kind].type->dying == MICA_DYING_AT_FLUSH && samples[kind].type->index != MICA_INDEX_DIRECT)
            EXPECT(play, mica_pool_row_count(play->pools[kind]) == play->model.instances[kind]);
    }
}

void play_flush(play *play)
{
    uint32_t dead = model_count_dead_targets(&play->model, play->buffers, PLAY_BUFFERS);
    spoken_of spoken = collect_spoken_of(play);
    play_begin_deaths_of_flush(play);
    mica_result result = mica_flush(play->world);
    if (dead && play->dead_target == MICA_DEAD_TARGET_ERROR) {
        EXPECT(play, result == MICA_ERROR_DEAD && play->dead_reports > 0);
        for (uint32_t b = 0; b < PLAY_BUFFERS; ++b)
            bury_the_unborn(play, b);
        model_drop(&play->model, play->buffers, PLAY_BUFFERS);
    } else {
        uint32_t most = play->dead_target == MICA_DEAD_TARGET_WARN ? dead : 0; /* one entity may stand for several */
        EXPECT_SAYING(play, play->dead_reports <= most, "%u reports, not %u", play->dead_reports, most);
        EXPECT(play, (play->dead_reports > 0) == (most > 0));
        bury_the_destroyed(play);
        uint32_t refused = model_flush(&play->model, play->buffers, PLAY_BUFFERS);
        EXPECT_SAYING(play, result == (refused ? MICA_ERROR_REFUSED : MICA_OK), "%s: %s", mica_result_text(result),
                      play->last_report);
        play_end_deaths(play, refused);
    }
    expect_the_dead_gone(play);
    play->dead_reports = 0;
    for (uint32_t i = 0; i < spoken.count; ++i) {
        model_entity *entity = model_find(&play->model, spoken.entities[i]);
        EXPECT(play, mica_is_alive(play->world, spoken.entities[i]) == (entity != NULL));
        if (entity)
            play_compare_entity(play, entity);
    }
}

static void record_into_buffer(play *play)
{
    record_something(play, 1 + random_below(&play->random, PLAY_BUFFERS - 1));
}

/* Enough handles in one recording that every stock runs dry. */
static void record_many_creations(play *play)
{
    uint32_t buffer = 1 + random_below(&play->random, PLAY_BUFFERS - 1);
    for (uint32_t count = random_below(&play->random, 400); count > 0; --count)
        record_create(play, buffer);
}

/* The world itself records: nothing changes before the flush, whatever is nested inside. */
static void deferred_section(play *play)
{
    play_begin_deaths_of_flush(play);
    mica_defer(play->world);
    uint32_t nested = random_below(&play->random, 3);
    for (uint32_t i = 0; i < nested; ++i)
        mica_defer(play->world);
    for (uint32_t count = random_below(&play->random, 24); count > 0; --count)
        random_one_in(&play->random, 12) ? play_record_crowd(play) : record_something(play, 0);
    model_entity *entity = model_find(&play->model, play_draw_living(play));
    if (entity)
        play_compare_entity(play, entity);
    for (uint32_t i = 0; i < nested; ++i)
        EXPECT(play, mica_flush(play->world) == MICA_OK);
    if (entity)
        play_compare_entity(play, entity);
    play_flush(play);
}

static void open_buffer(play *play, uint32_t buffer)
{
    play->commands[buffer] = mica_commands_create(play->world);
    EXPECT(play, play->commands[buffer]);
    mica_commands_set_label(play->commands[buffer], "play");
}

static void close_buffer(play *play, uint32_t buffer)
{
    bury_the_unborn(play, buffer);
    model_drop(&play->model, &play->buffers[buffer], 1);
    mica_commands_destroy(play->commands[buffer]);
}

void play_buffers_begin(play *play)
{
    for (uint32_t b = 1; b < PLAY_BUFFERS; ++b)
        open_buffer(play, b);
}

void play_buffers_end(play *play)
{
    for (uint32_t b = 1; b < PLAY_BUFFERS; ++b)
        close_buffer(play, b);
}

/* A buffer that is destroyed drops what it recorded, and its entities are never born. A new one comes last. */
static void renew_buffer(play *play)
{
    uint32_t chosen = 1 + random_below(&play->random, PLAY_BUFFERS - 1);
    close_buffer(play, chosen);
    model_buffer emptied = play->buffers[chosen];
    for (uint32_t b = chosen; b + 1 < PLAY_BUFFERS; ++b) {
        play->buffers[b] = play->buffers[b + 1];
        play->commands[b] = play->commands[b + 1];
    }
    play->buffers[PLAY_BUFFERS - 1] = emptied;
    open_buffer(play, PLAY_BUFFERS - 1);
}

const play_operation play_recorded_operations[] = {
    {"record", 200, record_into_buffer, false},        {"record many creations", 1, record_many_creations, true},
    {"deferred section", 10, deferred_section, false}, {"flush", 20, play_flush, false},
    {"put as text", 4, play_put_as_text, false},
    {"renew buffer", 1, renew_buffer, false},
};
const uint32_t play_recorded_count = sizeof play_recorded_operations / sizeof *play_recorded_operations;
