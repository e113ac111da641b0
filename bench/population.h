/* Worlds full of entities with Position and Velocity, the same on both sides. */
#ifndef BENCH_POPULATION_H
#define BENCH_POPULATION_H

#include "bench.h"
#include "raw.h"

#include "mica/mica.h"

/* Creates n entities one at a time and returns their ids, malloc'ed and permuted by `order` unless it is NULL. */
mica_entity *populate_mica(mica_world *world, uint32_t n, const uint32_t *order);
raw_id *populate_raw(raw_world *world, uint32_t n, const uint32_t *order);

/* Sums up every Position and Velocity, takes the world down and returns the time with the sum. */
measurement finish_mica(mica_world *world, double time);
measurement finish_raw(raw_world *world, double time);

#endif
