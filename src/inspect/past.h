/* The last frames of a program, as snapshots: it can continue from each, and run it again to find out what wrote a value. Kept while an
 * inspector is connected. */
#ifndef MICAP_INSPECT_PAST_H
#define MICAP_INSPECT_PAST_H

#include "base/byte_stream.h"
#include "mica/entity.h"
#include "mica/snapshot.h"

enum {
    MICAP_PAST_FRAMES_MAX = 600,
    /* The default. A frame of a million entities, a tenth of which changes, takes about a third longer with a snapshot in each frame. */
    MICAP_PAST_ENTITIES = 200000,
};
#define MICAP_PAST_BYTES_MAX ((size_t)256 << 20)

/* The world after a frame. */
typedef struct micap_past_frame {
    uint64_t frame;
    double seconds;
    float dt;
    mica_snapshot snapshot;
    size_t bytes; /* of what changed until the next one */
} micap_past_frame;

/* Zero, with a limit, keeps nothing yet. */
typedef struct micap_past {
    micap_past_frame frames[MICAP_PAST_FRAMES_MAX]; /* a ring */
    uint32_t first, count;
    size_t bytes;
    uint32_t entity_max;      /* of the world; with more, nothing is kept */
    uint32_t component_count; /* that were looked at */
    bool is_off;              /* the world has a component that can't be copied, or memory was short */
} micap_past;

/* Remembers the world as it is. A frame of a paused world, perhaps edited, replaces the one before. */
void micap_past_keep(micap_past *past, mica_world *world);
void micap_past_forget(micap_past *past, mica_world *world);

/* Restores a frame and forgets the later ones. The world is paused afterwards if it is now. MICA_ERROR_UNKNOWN if it is not kept. */
mica_result micap_past_branch(micap_past *past, mica_world *world, uint64_t frame);

/* Appends what changed a field in a frame: writers.h. The world is as before afterwards. MICA_ERROR_UNKNOWN if the frame, or the one before
 * it, is not kept. */
mica_result micap_past_find_writers(const micap_past *past, mica_world *world, uint64_t frame, mica_entity entity,
                                    mica_component component, const char *path, micap_bytes *out);

#endif
