#include "kernel.h"

void integrate(Position *position, const Velocity *velocity, uint32_t count, float seconds)
{
    for (uint32_t i = 0; i < count; ++i) {
        position[i].x += velocity[i].x * seconds;
        position[i].y += velocity[i].y * seconds;
        position[i].z += velocity[i].z * seconds;
    }
}

void integrate_heavy(Position *position, const Velocity *velocity, const Mass *mass, uint32_t count, float seconds)
{
    for (uint32_t i = 0; i < count; ++i) {
        float scaled = mass[i].value * seconds;
        position[i].x += velocity[i].x * scaled;
        position[i].y += velocity[i].y * scaled;
        position[i].z += velocity[i].z * scaled;
    }
}

void fall(Velocity *velocity, uint32_t count, float seconds)
{
    for (uint32_t i = 0; i < count; ++i)
        velocity[i].y -= 10 * seconds;
}

void drag(Velocity *velocity, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        velocity[i].x *= 0.875f;
        velocity[i].y *= 0.875f;
        velocity[i].z *= 0.875f;
    }
}

void double_data(Data *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        data[i].value *= 2;
}

uint64_t sum_of_data(const Data *data, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += bits_of(data[i].value);
    return sum;
}

uint64_t sum_of_z(const Position *position, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += bits_of(position[i].z);
    return sum;
}

uint64_t sum_of_motion(const Position *position, const Velocity *velocity, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        sum += (uint64_t)bits_of(position[i].x) + bits_of(position[i].y) + bits_of(position[i].z);
        sum += (uint64_t)bits_of(velocity[i].x) + bits_of(velocity[i].y) + bits_of(velocity[i].z);
    }
    return sum;
}
