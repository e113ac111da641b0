/* The hierarchy in snapshots and clones: links are copied in blocks before they change, the rest is copied at once. See
 * micap_module_ops. */
#ifndef MICAP_HIERARCHY_HIERARCHY_SNAPSHOT_H
#define MICAP_HIERARCHY_HIERARCHY_SNAPSHOT_H

#include "hierarchy/links.h"

void *micap_hierarchy_save(mica_world *world, void *state);
void micap_hierarchy_drop(mica_world *world, void *state, void *data);
void micap_hierarchy_load(mica_world *world, void *state, const void *data);
void micap_hierarchy_load_kept(mica_world *world, void *state, const struct micap_undo_entry *kept);
bool micap_hierarchy_clone(mica_world *to, const void *state);
void micap_hierarchy_keep_again(mica_world *world, void *state, const struct micap_undo_entry *kept);

/* For files. */
void micap_hierarchy_write(const mica_world *world, const void *state, struct micap_bytes *bytes);
void *micap_hierarchy_read(mica_world *world, void *state, struct micap_reader *reader);

#endif
