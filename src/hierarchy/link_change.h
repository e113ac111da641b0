/* One change of a link, made at once or recorded as a note: checked, applied, and undone if a later change of a list, or the flush,
 * fails. */
#ifndef MICAP_HIERARCHY_LINK_CHANGE_H
#define MICAP_HIERARCHY_LINK_CHANGE_H

#include "hierarchy/links.h"

typedef enum micap_change_kind {
    MICAP_CHANGE_PARENT, /* becomes the last child of `other`, or has no parent if that is nil */
    MICAP_CHANGE_BEFORE, /* becomes the sibling right before `other` */
    MICAP_CHANGE_AFTER,
    MICAP_CHANGE_ORPHANS, /* says what happens to the children */
} micap_change_kind;

typedef struct micap_change {
    mica_entity entity;
    mica_entity other;
    micap_change_kind kind;
    uint32_t flags; /* of MICAP_CHANGE_ORPHANS */
    /* The state before, to undo the change. */
    bool moved;
    bool renamed;
    uint32_t old_flags;
    mica_entity old_parent;
    uint32_t old_next;
    mica_entity old_scope;
} micap_change;

/* Makes the change; everything that can fail comes first. Entities are alive, or pending in a flush. On error, with a report,
 * nothing has changed. */
mica_result micap_change_apply(micap_hierarchy *hierarchy, micap_change *change, mica_location location);

/* Undoes the newest change that is not undone. */
void micap_change_undo(micap_hierarchy *hierarchy, const micap_change *change);

/* Records a change that the caller fills in. NULL with a report if that fails. */
micap_change *micap_change_stage(mica_commands *commands, mica_location location);

/* Records a change. False with a report if it is invalid as far as this buffer knows. */
bool micap_change_record(mica_commands *commands, const micap_change *change, mica_location location);

#endif
