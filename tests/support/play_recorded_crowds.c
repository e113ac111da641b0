/* Bulk changes that are recorded: what a world that records does with a call about many entities, as if each were named in turn. */
#include "play.h"

#include <stdlib.h>

enum { CREATED_MAX = 20, CHANGED_MAX = 300 };

typedef struct column {
    sample_kind kind;
    uint32_t first; /* number; the others count up */
    mica_value value;
} column;

static column make_column(play *play, sample_kind kind, uint32_t count)
{
    column made = {kind, play_draw_number(play), {play->ids[kind], 0, NULL}};
    if (!samples[kind].has_data || random_one_in(&play->random, 4))
        return made;
    uint32_t bytes = samples[kind].type->size_bytes;
    char *values = aligned_alloc(64, ((size_t)count * bytes + 63) / 64 * 64);
    EXPECT(play, values);
    for (uint32_t i = 0; i < count; ++i)
        samples[kind].make(values + (size_t)i * bytes, made.first + i);
    made.value.size_bytes = bytes;
    made.value.data = values;
    return made;
}

static void drop_column(const column *made, uint32_t count)
{
    void *values = (void *)(uintptr_t)made->value.data;
    if (values)
        sample_drop(made->kind, values, count);
    free(values);
}

static void note(play *play, model_command_kind what, mica_entity entity, sample_kind kind, uint32_t number)
{
    model_record(&play->buffers[0], (model_command){.kind = what, .entity = entity, .sample = kind, .number = number});
}

static void create_many(play *play)
{
    uint32_t count = 1 + random_below(&play->random, CREATED_MAX);
    if (play->model.living_count + play->model.pending_count + count > play->config.entity_limit)
        return;
    column columns[SAMPLE_COUNT];
    mica_value values[SAMPLE_COUNT];
    uint32_t column_count = 0, given = play_draw_samples(play, 6), missing = sample_complete(given) & ~given;
    for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
        if (given >> kind & 1) {
            columns[column_count] = make_column(play, kind, count);
            values[column_count] = columns[column_count].value;
            ++column_count;
        }
    mica_entity handles[CREATED_MAX];
    EXPECT(play, mica_create_many(play->world, count, values, column_count, handles) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i) {
        EXPECT(play, model_spawn(&play->model, handles[i], MODEL_PENDING));
        note(play, MODEL_COMMAND_CREATE, handles[i], 0, 0);
        for (uint32_t c = 0; c < column_count; ++c)
            note(play, MODEL_COMMAND_PUT, handles[i], columns[c].kind,
                 values[c].data ? columns[c].first + i : samples[columns[c].kind].start);
        for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
            if (missing >> kind & 1)
                note(play, MODEL_COMMAND_PUT, handles[i], kind, samples[kind].start);
    }
    for (uint32_t c = 0; c < column_count; ++c)
        drop_column(&columns[c], count);
}

/* The entities that a query shows. Returns more than CHANGED_MAX if they are too many. */
static uint32_t list_shown(const play *play, const model_query *query, const model_entity **out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; count <= CHANGED_MAX && i < play->model.living_count; ++i) {
        const model_entity *entity = &play->model.slots[play->model.living[i].index];
        if (model_query_asks(query, entity) == MODEL_YES)
            out[count++] = entity;
    }
    return count;
}

typedef enum change { ADD, REMOVE, DESTROY, CHANGES } change;

/* What the change means for one entity that the query shows. */
static void note_change(play *play, change change, const model_entity *entity, const play_values *value)
{
    sample_kind kind = value->kinds[0];
    bool has = entity->components >> kind & 1;
    model_knowledge knowledge = model_buffer_knows(&play->model, &play->buffers[0], entity->handle);
    if (knowledge.doomed)
        return;
    bool keeps = !value->values[0].data && knowledge.components >> kind & 1; /* what this buffer added before */
    if (change == ADD && !has)
        note(play, MODEL_COMMAND_PUT, entity->handle, kind, keeps ? knowledge.numbers[kind] : value->numbers[0]);
    else if (change == REMOVE && has)
        note(play, MODEL_COMMAND_TAKE, entity->handle, kind, 0);
    else if (change == DESTROY)
        note(play, MODEL_COMMAND_DESTROY, entity->handle, 0, 0);
}

static void change_all(play *play)
{
    static const model_entity *shown[CHANGED_MAX + 1];
    model_query asked = {.terms = {{play_draw_sample(play), MICA_ACCESS_HAS}}, .term_count = 1};
    uint32_t count = list_shown(play, &asked, shown);
    if (count > CHANGED_MAX)
        return;
    mica_query *query = play_make_query(play, &asked, SAMPLE_COUNT);
    change change = random_below(&play->random, play_may_record_deaths(play, 0) ? CHANGES : DESTROY);
    play_values value;
    play_values_begin(play, &value, 1u << play_draw_sample(play));
    mica_result result = change == ADD      ? mica_add_all_id(query, value.values[0])
                         : change == REMOVE ? mica_remove_all_id(query, value.values[0].component)
                                            : mica_destroy_all(query);
    EXPECT_SAYING(play, result == MICA_OK, "%s", play->last_report);
    for (uint32_t i = 0; i < count; ++i)
        note_change(play, change, shown[i], &value);
    play_values_end(&value);
    mica_query_destroy(query);
}

void play_record_crowd(play *play)
{
    if (random_one_in(&play->random, 2))
        create_many(play);
    else if (random_one_in(&play->random, 1 + play->model.living_count / 50))
        change_all(play);
}
