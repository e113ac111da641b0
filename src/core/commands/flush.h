/* The flush: from recordings to one move per entity. It plans first, reading only, and then applies what can't fail. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_H
#define MICAP_CORE_COMMANDS_FLUSH_H

#include "core/commands/command_buffer.h"

/* What a flush works with; kept between flushes. */
typedef struct micap_flush {
    micap_target **targets; /* one per entity, in order of first touch over all buffers */
    uint32_t target_count;
    uint32_t target_capacity;
    uint32_t *table; /* by entity index: 1 + position, when it is needed */
    uint32_t table_capacity;
    uint32_t table_mask;
    bool has_table;
    bool has_doomed;
    bool grouped;     /* there is more than one (from, to) */
    uint32_t *groups; /* per target the number of its (from, to) */
    uint32_t groups_capacity;
    micap_target **order; /* the targets, group by group */
    uint32_t order_capacity;
    struct micap_group {
        const micap_archetype *from, *to;
        uint32_t count;
    } * group_list;
    uint32_t group_count;
    uint32_t group_capacity;
    uint32_t *group_table; /* open addressing by (from, to): 1 + group */
    uint32_t group_table_capacity;
    uint32_t group_mask;
    micap_command **dropped; /* values that are not needed */
    uint32_t dropped_count;
    uint32_t dropped_capacity;
    micap_target *dead; /* what was recorded for the dead */
    uint32_t dead_count;
    uint32_t dead_capacity;
    micap_archetype **destinations; /* those with incoming rows */
    uint32_t destination_count;
    uint32_t destination_capacity;
    micap_note *last_note; /* that was applied */
    micap_stage stage;
    bool is_shared;      /* several threads apply it: what is not of an archetype is left alone */
    mica_result refusal; /* why changes of some target were dropped as impossible, or MICA_OK */
} micap_flush;

void micap_flush_free(mica_world *world);

/* Fills the list of targets from what the buffers put aside to be applied; false when memory is short. */
bool micap_flush_gather(mica_world *world);

/* Applies what modules noted; false with the result in `out_result` when the flush must wait for another try. The other takes
 * it back. */
bool micap_notes_apply(mica_world *world, mica_result *out_result);
void micap_notes_undo(mica_world *world);

/* Notes that the entity of a note is dead, as for a target. */
mica_result micap_note_set_aside(mica_world *world, const micap_note *note, mica_entity entity);

/* Whoever depends on an entity that dies in this flush dies with it, and nothing else happens to it: not even a death of its own,
 * which would come sooner or later than the others. False when memory is short. */
bool micap_flush_doom_dependents(mica_world *world);

/* Notes that a target is dead: it is reported, and its values dropped, when the flush is applied. */
bool micap_flush_set_aside(mica_world *world, const micap_target *target);

/* Applies what the world recorded by itself, and not what is in other buffers. */
mica_result micap_flush_own(mica_world *world);

/* Does what the first of these targets say, when they are neighbours that all want the same; returns how many that were,
 * or 0. */
uint32_t micap_targets_apply_run(mica_world *world, micap_target *const *targets, uint32_t count);

/* Applies the plan by several threads where that is possible and worth it; false when it was not. */
bool micap_flush_apply_shared(mica_world *world);

/* Does what a target says. Everything it needs is reserved: it can't fail. */
void micap_target_apply(mica_world *world, micap_target *target);
/* The part of it in pools, of one that lives: what several threads leave to one. */
void micap_target_apply_pools(mica_world *world, const micap_target *target);

#endif
