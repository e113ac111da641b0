/* Values as text: what one entity has is written, and another one gets it as JSON. */
#include "play.h"

#include "mica/value.h"

#include <stdio.h>

enum { TEXT_BYTES = 1 << 16 };

/* All that such a value has is described. */
static bool is_described(sample_kind kind)
{
    return sample_is_whole(kind) && !sample_is_many(kind) && !samples[kind].owns;
}

static sample_kind draw_described(play *play, const model_entity *entity)
{
    sample_kind first = random_below(&play->random, SAMPLE_COUNT);
    for (uint32_t i = 0; i < SAMPLE_COUNT; ++i) {
        sample_kind kind = (first + i) % SAMPLE_COUNT;
        if (entity->components >> kind & 1 && is_described(kind))
            return kind;
    }
    return SAMPLE_COUNT;
}

static void write_component(play *play, mica_entity entity, sample_kind kind, char *text)
{
    void *value = (void *)(uintptr_t)mica_get_id(play->world, entity, play->ids[kind]);
    int length = snprintf(text, TEXT_BYTES, "{\"components\": {\"%s\": ", samples[kind].type->name);
    size_t all = (size_t)length +
                 mica_value_write(mica_member_of(play->ids[kind], value), text + length, TEXT_BYTES - (size_t)length);
    EXPECT(play, all > (size_t)length && all + 3 <= TEXT_BYTES);
    snprintf(text + all, TEXT_BYTES - all, "}}");
}

void play_put_as_text(play *play)
{
    static char text[TEXT_BYTES];
    play_flush(play); /* which reading an entity from text does, too */
    model_entity *from = model_find(&play->model, play_draw_living(play));
    model_entity *to = model_find(&play->model, play_draw_living(play));
    sample_kind kind = from ? draw_described(play, from) : SAMPLE_COUNT;
    if (kind == SAMPLE_COUNT || !to)
        return;
    uint32_t number = from->numbers[kind];
    write_component(play, from->handle, kind, text);
    mica_value_error error;
    mica_result result = mica_entity_parse_json(play->world, to->handle, text, &error);
    EXPECT_SAYING(play, result == MICA_OK, "%s at %u of %s", error.text, error.position, text);
    model_put(&play->model, to, kind, number);
    play_compare_entity(play, to);
}
