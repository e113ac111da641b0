/* The graph between archetypes: an edge leads to the archetype with one component more or less. */
#ifndef MICAP_CORE_STORAGE_ARCHETYPE_GRAPH_H
#define MICAP_CORE_STORAGE_ARCHETYPE_GRAPH_H

#include "core/storage/archetype.h"

/* The edge by a component, with its end known: that adds it when the archetype lacks it, and removes it when not. NULL with
 * a report. Companions come and go with their component. */
micap_edge *micap_archetype_step(mica_world *world, micap_archetype *archetype, mica_component component);

#endif
