/* libFuzzer: any bytes as a program over all features; see cross_feature/program.h. Mutations keep to whole steps. */
#include "cross_feature/program.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    program_run(data, size, NULL);
    return 0;
}

static size_t steps_of(size_t size)
{
    return size > HEADER_BYTES ? (size - HEADER_BYTES) / STEP_BYTES : 0;
}

static size_t insert_step(uint8_t *data, size_t steps, size_t at, const uint8_t *step)
{
    uint8_t *target = data + HEADER_BYTES + at * STEP_BYTES;
    memmove(target + STEP_BYTES, target, (steps - at) * STEP_BYTES);
    memcpy(target, step, STEP_BYTES);
    return HEADER_BYTES + (steps + 1) * STEP_BYTES;
}

static size_t remove_steps(uint8_t *data, size_t steps, size_t at, size_t count)
{
    uint8_t *target = data + HEADER_BYTES + at * STEP_BYTES;
    memmove(target, target + count * STEP_BYTES, (steps - at - count) * STEP_BYTES);
    return HEADER_BYTES + (steps - count) * STEP_BYTES;
}

static void draw_step(random_source *random, uint8_t *step)
{
    step[0] = (uint8_t)random_below(random, operation_count());
    step[1] = (uint8_t)(random_one_in(random, 4) ? random_below(random, WORLDS_MAX) : 0);
    for (uint32_t i = 2; i < STEP_BYTES; ++i)
        step[i] = (uint8_t)random_u32(random);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    random_source random = {.state = seed};
    size_t steps = steps_of(size);
    size_t max_steps = steps_of(max_size);
    if (max_size < HEADER_BYTES + 2 * STEP_BYTES)
        return LLVMFuzzerMutate(data, size, max_size);
    if (size < HEADER_BYTES || steps == 0) {
        uint8_t drawn[PROGRAM_BYTES_MAX];
        size_t length = program_draw(&random, drawn);
        length = length < max_size ? length : max_size;
        memcpy(data, drawn, length);
        return length;
    }
    uint8_t step[STEP_BYTES];
    size_t at = random_below(&random, (uint32_t)steps);
    uint32_t what = random_below(&random, 16);
    if (what < 6 && steps < max_steps) {
        draw_step(&random, step);
        return insert_step(data, steps, random_below(&random, (uint32_t)steps + 1), step);
    }
    if (what < 8 && steps < max_steps) { /* the same step once more, elsewhere */
        memcpy(step, data + HEADER_BYTES + at * STEP_BYTES, STEP_BYTES);
        return insert_step(data, steps, random_below(&random, (uint32_t)steps + 1), step);
    }
    if (what < 11) {
        size_t count = 1 + random_below(&random, 3);
        return remove_steps(data, steps, at, count < steps - at ? count : steps - at);
    }
    if (what < 15) /* one argument, or the operation */
        data[HEADER_BYTES + at * STEP_BYTES + random_below(&random, STEP_BYTES)] = (uint8_t)random_u32(&random);
    else
        data[random_below(&random, HEADER_BYTES)] = (uint8_t)random_u32(&random);
    return HEADER_BYTES + steps * STEP_BYTES;
}

/* The beginning of one program and the end of another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed)
{
    random_source random = {.state = seed};
    size_t a_steps = steps_of(a_size), b_steps = steps_of(b_size);
    if (a_steps == 0 || b_steps == 0 || max_size < HEADER_BYTES + STEP_BYTES)
        return 0;
    size_t head = 1 + random_below(&random, (uint32_t)a_steps);
    size_t tail = random_below(&random, (uint32_t)b_steps + 1);
    head = head < steps_of(max_size) ? head : steps_of(max_size);
    tail = tail < steps_of(max_size) - head ? tail : steps_of(max_size) - head;
    memcpy(out, a, HEADER_BYTES + head * STEP_BYTES);
    memcpy(out + HEADER_BYTES + head * STEP_BYTES, b + HEADER_BYTES + (b_steps - tail) * STEP_BYTES, tail * STEP_BYTES);
    return HEADER_BYTES + (head + tail) * STEP_BYTES;
}
