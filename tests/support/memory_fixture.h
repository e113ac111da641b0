/* A small world on an allocator that can fail, and a value of each sample made while memory is plenty. */
#ifndef MICA_TESTS_SUPPORT_MEMORY_FIXTURE_H
#define MICA_TESTS_SUPPORT_MEMORY_FIXTURE_H

#include "faulty_allocator.h"
#include "sample.h"

enum { POPULATION = 40, CROWD = 100 };

typedef struct fixture {
    faulty_allocator allocator;
    mica_allocator interface;
    mica_world *world;
    mica_query *query;
    mica_commands *commands;
    mica_entity population[POPULATION];
    mica_entity pending;
    mica_entity crowd[CROWD];        /* many equal entities */
    mica_value values[SAMPLE_COUNT]; /* one of each kind, made while memory is plenty */
    sample_room rooms[SAMPLE_COUNT];
    uint32_t report_count;
} fixture;

/* Without a world, and without memory in use. */
void fixture_begin(fixture *fixture);

/* Makes the world from the failing allocator; `world` stays NULL when that fails. */
void fixture_make_world(fixture *fixture);

/* Both of it, and forty entities in four archetypes, every fifth one named. */
void fixture_open(fixture *fixture);

/* Systems run in the thread of the test: which allocation is the k-th does not depend on others. */
void fixture_run_alone(fixture *fixture);

/* Destroys the world and asserts that all memory and all owned values are released. */
void fixture_close(fixture *fixture);

#endif
