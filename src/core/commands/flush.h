/* The flush: from recordings to one move per entity. It first plans, which only reads, and then applies, which can't fail.
 * flush_gather and flush_plan make the plan; apply_batch, apply_single and apply_parallel apply it. */
#ifndef MICAP_CORE_COMMANDS_FLUSH_H
#define MICAP_CORE_COMMANDS_FLUSH_H

#include "core/commands/command_buffer.h"

/* The state of a flush. Its memory is kept between flushes. */
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
    struct micap_note *last_note; /* that was applied */
    micap_stage stage;
    bool is_shared;      /* several threads apply it: what is not of an archetype is left alone */
    mica_result refusal; /* why changes of some target were dropped as impossible, or MICA_OK */
} micap_flush;

void micap_flush_free(mica_world *world);

/* Applies what is recorded in the world's own buffer, and nothing of other buffers. */
mica_result micap_flush_own(mica_world *world);

#endif
