#include "playground.h"

#include "timeline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const program *const programs[] = {&battle_program, &flock_program, &epidemic_program, &orbits_program};

enum { PROGRAM_COUNT = sizeof programs / sizeof *programs, TEXT_BYTES = 4096 };

static struct {
    const program *program;
    mica_world *world;
    timeline timeline;
    picture picture;
    float values[PARAMETERS_MAX];
    char text[TEXT_BYTES];
    char hash[17];
} running;

void picture_add(picture *picture, mark mark)
{
    if (picture->count == picture->capacity) {
        uint32_t capacity = picture->capacity ? 2 * picture->capacity : 1024;
        struct mark *marks = realloc(picture->marks, capacity * sizeof *marks);
        if (!marks)
            return;
        picture->marks = marks;
        picture->capacity = capacity;
    }
    picture->marks[picture->count++] = mark;
}

uint32_t playground_count(void)
{
    return PROGRAM_COUNT;
}

const program *playground_program(uint32_t index)
{
    return programs[index % PROGRAM_COUNT];
}

static void append(size_t *length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(running.text + *length, TEXT_BYTES - *length, format, arguments);
    va_end(arguments);
    *length += written > 0 && (size_t)written < TEXT_BYTES - *length ? (size_t)written : 0;
}

const char *playground_describe(uint32_t index)
{
    const program *program = playground_program(index);
    size_t length = 0;
    append(&length, "{\"name\":\"%s\",\"shows\":\"%s\",\"sources\":\"%s\",\"width\":%g,\"height\":%g,\"rate\":%g,",
           program->name, program->shows, program->sources, (double)program->width, (double)program->height,
           (double)program->frames_per_second);
    append(&length, "\"parameters\":[");
    for (int i = 0; i < PARAMETERS_MAX && program->parameters[i].name; ++i) {
        const parameter *one = &program->parameters[i];
        append(&length, "%s{\"name\":\"%s\",\"minimum\":%g,\"maximum\":%g,\"step\":%g,\"initial\":%g,\"restarts\":%s}",
               i ? "," : "", one->name, (double)one->minimum, (double)one->maximum, (double)one->step,
               (double)one->initial, one->restarts ? "true" : "false");
    }
    append(&length, "],\"numbers\":[");
    for (int i = 0; i < NUMBERS_MAX && program->numbers[i].name; ++i)
        append(&length, "%s{\"name\":\"%s\",\"color\":%" PRIu32 "}", i ? "," : "", program->numbers[i].name,
               program->numbers[i].color);
    append(&length, "]}");
    return running.text;
}

float *playground_values(void)
{
    return running.values;
}

/* A page has one thread, so the native program uses one, too: the result does not depend on it. */
static mica_world *create_world(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    if (world && mica_flow_configure(world, &flow) != MICA_OK) {
        mica_world_destroy(world);
        world = NULL;
    }
    return world;
}

bool playground_start(uint32_t index)
{
    mica_world_destroy(running.world);
    running.program = playground_program(index);
    running.world = create_world();
    return running.world && running.program->start(running.world, running.values) &&
           timeline_begin(&running.timeline, running.world);
}

bool playground_step(void)
{
    running.program->adjust(running.world, running.values);
    return mica_step(running.world, running.program->frame_seconds) == MICA_OK && timeline_note(&running.timeline);
}

bool playground_rewind(uint32_t frame)
{
    return timeline_go(&running.timeline, frame);
}

uint32_t playground_frame(void)
{
    return (uint32_t)running.timeline.at;
}

uint32_t playground_first(void)
{
    return (uint32_t)running.timeline.first;
}

uint32_t playground_last(void)
{
    return (uint32_t)running.timeline.last;
}

const char *playground_hash(void)
{
    snprintf(running.hash, sizeof running.hash, "%016" PRIx64, mica_world_hash(running.world));
    return running.hash;
}

uint32_t playground_history_bytes(void)
{
    return (uint32_t)timeline_bytes(&running.timeline);
}

const mark *playground_draw(void)
{
    running.picture.count = 0;
    memset(running.picture.numbers, 0, sizeof running.picture.numbers);
    running.program->draw(running.world, &running.picture);
    return running.picture.marks;
}

uint32_t playground_mark_count(void)
{
    return running.picture.count;
}

const float *playground_numbers(void)
{
    return running.picture.numbers;
}
