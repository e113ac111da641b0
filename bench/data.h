/* What both sides of the benchmark store. Plain C: the raw side knows nothing of Mica. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stdint.h>
#include <string.h>

typedef struct Position { float x, y, z; } Position;
typedef struct Velocity { float x, y, z; } Velocity;
typedef struct Mass { float value; } Mass;
typedef struct Data { float value; } Data;

/* Entity i starts with the same values on both sides, or the checksums could not be compared. */
static inline Position position_of(uint32_t i)
{
    return (Position){(float)(i & 1023), 1.0f, (float)(i & 7)};
}

static inline Velocity velocity_of(uint32_t i)
{
    return (Velocity){1.0f, (float)(i & 15), 0.5f};
}

static inline float mass_of(uint32_t i)
{
    return 1.0f + (float)(i & 3) * 0.25f;
}

/* Sums of bit patterns don't depend on the order of the rows, sums of floats do. */
static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
