/* Worlds that are split into many archetypes. */
#ifndef BENCH_FRAGMENTS_H
#define BENCH_FRAGMENTS_H

#include "mica/mica.h"

enum { LETTERS = 26, TAGS = 10, TAG_SETS = 1 << TAGS };

/* Data, always one, with one of 26 components of one float: 26 archetypes, filled in turn. */
void populate_letters(mica_world *world, uint32_t n);

/* Position and Velocity with one of the 1024 subsets of ten tags: 1024 archetypes, filled in turn. */
void populate_tag_sets(mica_world *world, uint32_t n);

/* The i-th of the ten tags. */
mica_component tag_at(uint32_t i);

#endif
