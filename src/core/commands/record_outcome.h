/* What an entity will have of a component after the changes that a buffer has recorded so far. */
#ifndef MICAP_CORE_COMMANDS_RECORD_OUTCOME_H
#define MICAP_CORE_COMMANDS_RECORD_OUTCOME_H

#include "core/commands/recorded_changes.h"

struct mica_pool;

/* What the changes of an entity in this buffer say of a component. */
typedef struct micap_outcome {
    micap_operation last;    /* the last operation, of creations VALUE; NONE: nothing is recorded */
    bool is_removed;         /* by some change, whatever came after it */
    bool has_value;          /* a value is staged that is still in force, */
    bool is_set;             /* by set, */
    void *value;             /* here; NULL for a tag */
    const void *instance;    /* the first instance since the last removal, */
    bool is_brought;         /* unless another one came along before with a component that requires it */
    micap_recorded *toggled; /* the last change, if it is a toggle */
    micap_recorded *lost;    /* since the last removal, the first change that removes an instance, */
    micap_recorded *end;     /* and the last change of the entity; */
    uint32_t first;          /* which one is the first that is left */
} micap_outcome;

/* What the changes of an entity up to the last one say of a component. NULL: there is none. */
micap_outcome micap_outcome_of(const mica_commands *commands, micap_recorded *last, mica_component component);

/* Whether the entity will have the component. */
bool micap_outcome_has(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                       mica_component component);

/* Whether one of the changes removes the instance that came nth before the flush. */
bool micap_outcome_removes(const micap_recording *recording, const micap_outcome *known, mica_component component,
                           uint32_t nth);

/* The row of the first of many instances that the entity has now and that this buffer does not remove, or MICAP_ROW_NONE. */
uint32_t micap_outcome_first_row(const mica_commands *commands, const micap_outcome *known, mica_entity entity,
                                 const struct mica_pool *pool);

#endif
