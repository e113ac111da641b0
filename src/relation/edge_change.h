/* One change of an edge, made now or by a flush. */
#ifndef MICAP_RELATION_EDGE_CHANGE_H
#define MICAP_RELATION_EDGE_CHANGE_H

#include "mica/command.h"
#include "pool/pool_edges.h"

typedef struct micap_edge_change {
    mica_entity source;
    mica_entity target;
    void *value; /* a whole staged value, which is moved into the edge, or NULL: */
    const void *
        fields; /* what the program sees of it, which is copied, or NULL: the default, or those of the edge that exists */
    uint32_t fields_bytes;
    uint32_t rank; /* 0: the next one of the target */
    bool sets;     /* the set hook runs */
    bool dangles;  /* the target is nil: an edge that is added even if there is such a one */
} micap_edge_change;

/* Adds an edge, or changes it. Runs hooks; the caller calls micap_hooks_end. Returns its row, or MICAP_ROW_NONE with a report. */
uint32_t micap_edge_relate(mica_world *world, mica_pool *pool, const micap_edge_change *change, mica_location location);

/* Removes an edge, likewise. False if there is none. */
bool micap_edge_unrelate(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target);

/* An edge of a target, and the source of that before which it comes; nil: the end. */
typedef struct micap_edge_position {
    mica_entity source;
    mica_entity target;
    mica_entity before;
} micap_edge_position;

/* Moves an edge in the order of its target, now or by a flush. */
mica_result micap_edge_place(mica_world *world, mica_pool *pool, const micap_edge_position *position,
                             mica_location location);
mica_result micap_edge_record_place(mica_commands *commands, mica_component relation,
                                    const micap_edge_position *position, mica_location location);

/* Record one. `fields` starts with the default, or a copy of the fields that the edge has now: mica_command_relate_id. */
void *micap_edge_record(mica_commands *commands, const micap_edge_change *change, mica_component relation,
                        mica_location location);

/* Records that the sources of a target, whose first edge this is, are destroyed because it is. */
void micap_edge_doom_sources(mica_world *world, const mica_pool *pool, uint32_t first);

#endif
