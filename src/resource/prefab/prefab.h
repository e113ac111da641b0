/* What a prefab is in a world: values that are saved, restored and sent like all others.
 *
 *     prefab.c          creating prefabs and making instances, and finding one from the other
 *     prefab_update.c   what changed in a prefab is changed in its instances
 *
 * The root has a component with the prefab as it was when instances were last in step with it: as a file, and the handles of its parts. All
 * parts have a tag that hides them. Each entity of an instance has an edge to its part, with the number of the part: parts are numbered
 * parents before children, siblings in order. Edges stay when a part is destroyed, so that an update finds what has to be destroyed too. */
#ifndef MICAP_RESOURCE_PREFAB_PREFAB_H
#define MICAP_RESOURCE_PREFAB_PREFAB_H

#include "base/memory.h"
#include "mica/disable.h"
#include "mica/prefab.h"
#include "mica/relation.h"

typedef struct mica_prefab {
    mica_list bytes; /* of a file with the parts */
    mica_list parts; /* their handles by number */
} mica_prefab;
MICA_POOL(mica_prefab, (bytes, uint8_t), (parts, mica_entity))
MICA_TAG_WITH(mica_prefab_hidden, (.hides = true))
typedef struct mica_instance_of {
    uint32_t part;
    bool follows;
} mica_instance_of;
MICA_RELATION_WITH(mica_instance_of, (.exclusive = true, .on_target = MICA_TARGET_KEEP), part, follows)

/* A prefab as it is now, and what is needed to read it. */
typedef struct micap_prefab_state {
    mica_world *world;
    const mica_prefab_def *def;
    micap_memory memory;
    mica_entity *parts; /* by number */
    uint32_t part_count;
    mica_blob blob; /* a file with them */
} micap_prefab_state;

/* Reads the tree below an entity. Returns what mica_pack returns. Free it in any case. */
mica_result micap_prefab_read(micap_prefab_state *state, mica_world *world, mica_entity root,
                              const mica_prefab_def *def);
void micap_prefab_free(micap_prefab_state *state);

/* Makes the value for the root; false with a report if memory is short, or the prefab is too large. Clear it in any case. */
bool micap_prefab_make_value(const micap_prefab_state *state, mica_prefab *out);
void micap_prefab_clear_value(mica_prefab *value);

/* Hides all parts. False with a report if memory is short: then those that were not hidden before are not hidden. */
bool micap_prefab_hide(const micap_prefab_state *state);

/* Copies the value of a prefab, at constant cost. False if memory is short. Clear it in any case. */
bool micap_prefab_copy_value(const mica_world *world, mica_entity prefab, mica_prefab *out);

/* Opens the file of a value, which stays valid as long, and has as many entities as parts. NULL with a report on error. */
mica_resource *micap_prefab_open(mica_world *world, const mica_prefab *value, const mica_prefab_def *def);

/* The edge of an entity of an instance to its part, or NULL. */
const mica_instance_of *micap_prefab_edge(const mica_world *world, mica_entity entity, mica_entity *out_part);

/* Whether the world is open for changes at once; a report if not. */
mica_result micap_prefab_check_open(mica_world *world);

#endif
