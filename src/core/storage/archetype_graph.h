/* The graph between archetypes: an edge leads to the archetype with one component more or less. */
#ifndef MICAP_CORE_STORAGE_ARCHETYPE_GRAPH_H
#define MICAP_CORE_STORAGE_ARCHETYPE_GRAPH_H

#include "core/storage/archetype.h"

/* The edge by a component, with its end known: that adds it when the archetype lacks it, and removes it when not. NULL with
 * a report. Companions come and go with their component, and required components come with it: the edge of a component in a pool leads
 * to the archetype with those that it requires. */
micap_edge *micap_archetype_step(mica_world *world, micap_archetype *archetype, mica_component component);

/* Whether the archetype lacks some component that the type requires; those in pools do not matter. */
bool micap_archetype_lacks_required(const micap_archetype *archetype, const micap_type *type);

#endif
