/* Edges that a file adds, drops or changes: a three-way merge by target. */
#ifndef MICAP_RESOURCE_RELOAD_RELOAD_EDGES_H
#define MICAP_RESOURCE_RELOAD_RELOAD_EDGES_H

#include "resource/reload/reload.h"

/* Records the edges from one entity of the new file that changed; false with a report when something can't be recorded. */
bool micap_reload_edges(micap_reloading *work, uint32_t entity, uint32_t copy);

#endif
