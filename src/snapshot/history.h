/* Histories: snapshots of the last ticks of a world, in a ring. */
#ifndef MICAP_SNAPSHOT_HISTORY_H
#define MICAP_SNAPSHOT_HISTORY_H

#include "mica/snapshot.h"

/* Releases the memory of a history, and nothing else. Returns the next history of the world. */
mica_history *micap_history_free(mica_history *history);

#endif
