/* Remembers since when parts of a world are as they are that have no stamps: counts of rows, toggles, tags, singletons, names and links. */
#ifndef MICAP_REPLICATION_DELTA_TRACK_H
#define MICAP_REPLICATION_DELTA_TRACK_H

#include "base/memory.h"
#include "mica/world.h"

typedef struct micap_delta_track {
    uint64_t key; /* which part; 0: no entry */
    uint64_t hash;
    mica_version version; /* at which the part was first seen with this hash */
} micap_delta_track;

/* Open addressing by key. */
typedef struct micap_delta_tracks {
    micap_memory *memory;
    micap_delta_track *entries;
    uint32_t count;
    uint32_t capacity;
} micap_delta_tracks;

/* Stores that a part has this hash at a version. Returns since which version it has had it, or 0 when memory is short. */
mica_version micap_delta_tracks_note(micap_delta_tracks *tracks, uint64_t key, uint64_t hash, mica_version version);
void micap_delta_tracks_free(micap_delta_tracks *tracks);

#endif
