/* Making an index current: rows that were written or moved since the last update are compared with the tracked values, and what differs is
 * changed, or, if it is much, everything is rebuilt from the tracked values. If nothing differs, nothing that readers read is written. */
#ifndef MICAP_INDEX_INDEX_UPDATE_H
#define MICAP_INDEX_INDEX_UPDATE_H

#include "index/world_index.h"

/* See micap_index_head. Reports what goes wrong. */
void micap_index_update(mica_index *index, mica_version seen);

#endif
