/* The last ticks of a world, as snapshots: of the battle, and of the programs of the playground. */
#ifndef MICA_SHOW_TIMELINE_H
#define MICA_SHOW_TIMELINE_H

#include "mica/snapshot.h"

#ifndef TIMELINE_TICKS
#    define TIMELINE_TICKS 180
#endif

typedef struct timeline {
    mica_world *world;
    mica_snapshot snapshots[TIMELINE_TICKS]; /* by tick modulo their number */
    uint64_t first, last, at;                /* range of stored ticks, and the current tick */
} timeline;

/* Stores the current world as tick 0. Returns false on failure. */
bool timeline_begin(timeline *timeline, mica_world *world);

/* Stores the world as the tick after the current one. Drops later ticks. */
bool timeline_note(timeline *timeline);

/* Restores a tick, or the nearest one that is stored. */
bool timeline_go(timeline *timeline, uint64_t tick);

/* Returns the memory that all snapshots use. */
size_t timeline_bytes(const timeline *timeline);

#endif
