/* One change of a link, made at once or recorded as a note: checked, applied, and taken back where a list of them must be whole or
 * a flush can't be made. */
#ifndef MICAP_HIERARCHY_LINK_CHANGE_H
#define MICAP_HIERARCHY_LINK_CHANGE_H

#include "hierarchy/links.h"

typedef enum micap_change_kind {
    MICAP_CHANGE_PARENT, /* to be the last child of `other`, or nobody's when that is nil */
    MICAP_CHANGE_BEFORE, /* to be the sibling right before `other` */
    MICAP_CHANGE_BEHIND,
    MICAP_CHANGE_ORPHANS, /* a word on the children */
} micap_change_kind;

typedef struct micap_change {
    mica_entity entity;
    mica_entity other;
    micap_change_kind kind;
    uint32_t flags; /* of MICAP_CHANGE_ORPHANS */
    /* What was, to take it back. */
    bool moved;
    bool renamed;
    uint32_t old_flags;
    mica_entity old_parent;
    uint32_t old_next;
    mica_entity old_scope;
} micap_change;

/* Makes the change, everything that can fail first. Entities are alive, or pending in a flush. A report when it can't be made. */
mica_result micap_change_apply(micap_hierarchy *hierarchy, micap_change *change, mica_location location);

/* Takes back the newest change that was applied and is not taken back. */
void micap_change_undo(micap_hierarchy *hierarchy, const micap_change *change);

/* Records a change that the caller fills in; NULL with a report. */
micap_change *micap_change_stage(mica_commands *commands, mica_location location);

/* Records a change that makes sense as far as this buffer knows. False with a report. */
bool micap_change_record(mica_commands *commands, const micap_change *change, mica_location location);

#endif
