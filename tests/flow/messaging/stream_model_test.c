/* Streams against a plain list, in random lives. */
#include "flow/notes.h"

/* A stream as a list: what a model of it keeps. */
typedef struct model {
    uint32_t values[4096], frames[4096];
    uint32_t count, begin;
    uint32_t capacity, keep, frame;
    uint32_t places[2]; /* of the application and a system */
    uint32_t lost[2];
} model;

static void model_move(model *model, uint32_t begin)
{
    model->begin = begin > model->begin ? begin : model->begin;
    for (int i = 0; i < 2; ++i)
        if (model->places[i] < model->begin) {
            model->lost[i] += model->begin - model->places[i];
            model->places[i] = model->begin;
        }
}

static void model_write(model *model, uint32_t value)
{
    model->values[model->count] = value;
    model->frames[model->count++] = model->frame;
    if (model->capacity && model->count > model->capacity)
        model_move(model, model->count - model->capacity);
}

static void model_frame(model *model)
{
    ++model->frame;
    uint32_t begin = model->places[0] < model->places[1] ? model->places[0] : model->places[1];
    if (model->keep)
        for (begin = model->begin; begin < model->count && model->frames[begin] + model->keep < model->frame;)
            ++begin;
    model_move(model, begin);
}

static void model_read(model *model, int reader, const reading *log)
{
    ck_assert_uint_eq(log->count, model->count - model->places[reader]);
    for (uint32_t i = 0; i < log->count; ++i)
        ck_assert_uint_eq(log->list[i].entity, model->values[model->places[reader] + i]);
    model->places[reader] = model->count;
}

static bool reads_now;

static bool is_reading(const mica_frame *frame)
{
    (void)frame;
    return reads_now;
}

static void play(uint64_t seed)
{
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {seed};
    static reading outside, inside;
    model model = {.capacity = random_below(&random, 3) ? 0 : 1 + random_below(&random, 60),
                   .keep = random_below(&random, 3) ? 0 : 1 + random_below(&random, 3)};
    notes = mica_stream_create(
        world, MICA_STREAM_WITH(Note, (.capacity = model.capacity, .keep_frames = model.keep, .application = true)));
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(
        read_into_context, (MICA_USES(MICA_USE_STREAM_READ(notes)), .condition = is_reading, .context = &inside));
    mica_system_add(world, &def);
    for (uint32_t step = 0, value = 0; step < 300 && model.count < 4000; ++step) {
        outside.count = inside.count = 0;
        switch (random_below(&random, 4)) {
        case 0:
            read_all(&outside);
            model_read(&model, 0, &outside);
            break;
        case 1:
            reads_now = random_below(&random, 2);
            model_frame(&model);
            mica_step(world, 1);
            if (reads_now)
                model_read(&model, 1, &inside);
            break;
        default:
            for (uint32_t i = random_below(&random, 20); i > 0; --i, ++value) {
                emit_number(0, value);
                model_write(&model, value);
            }
        }
        ck_assert_uint_eq(mica_stream_count(notes), model.count - model.places[0]);
        ck_assert_uint_eq(mica_stream_dropped(notes), model.lost[0]);
        expect_valid(world);
    }
    close_world(world, &heard);
}

START_TEST(a_random_life_agrees_with_a_list)
{
    for (uint64_t seed = 1; seed <= 60; ++seed)
        play(seed);
}
END_TEST

TEST_SUITE(stream_model, a_random_life_agrees_with_a_list)
