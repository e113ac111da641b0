/* The last ticks of the battle, to go back and forth in. */
#ifndef MICA_SHOW_TIMELINE_H
#define MICA_SHOW_TIMELINE_H

#include "mica/snapshot.h"

enum { TIMELINE_TICKS = 180 };

typedef struct timeline {
    mica_world *world;
    mica_snapshot snapshots[TIMELINE_TICKS]; /* by tick modulo their number */
    uint64_t first, last, at;                /* ticks that are kept, and the one the world is in */
} timeline;

/* Starts with the world as it is, as tick 0. False when it can't. */
bool timeline_begin(timeline *timeline, mica_world *world);

/* Keeps the world as the tick behind the one it was in; what came after that one is another future, and forgotten. */
bool timeline_note(timeline *timeline);

/* Makes the world what it was in a tick, or in the nearest that is kept. */
bool timeline_go(timeline *timeline, uint64_t tick);

/* Bytes that are kept for all of them. */
size_t timeline_bytes(const timeline *timeline);

#endif
