/* References between entities of different ranks.
 *
 * Each identity has a home, a rank that follows from the identity. The home knows which rank owns the entity and which ranks have stand-ins
 * for it (identity_map.h). Owners tell it when entities are born, move and die; it tells those with stand-ins when the entity has died, so that
 * they destroy them, and what refers to them is treated as in one world. This is repeated until nothing dies any more. Messages to
 * entities out of reach go to the home, which knows where to send them. */
#ifndef MICAP_CLUSTER_REFERENCE_H
#define MICAP_CLUSTER_REFERENCE_H

#include "cluster/cluster_state.h"

#define MICAP_NO_RANK UINT32_MAX

/* What ranks tell each other about an identity. */
typedef enum micap_reference_note {
    MICAP_NOTE_OWNED = 1, /* to the home: it was born, or has moved to a rank */
    MICAP_NOTE_DIED,      /* to the home */
    MICAP_NOTE_WATCH,     /* to the home: this rank has a stand-in */
    MICAP_NOTE_UNWATCH,
    MICAP_NOTE_GONE, /* from the home: the stand-in is that of a dead entity */
    MICAP_NOTE_FAMILIES, /* to the home of a hash: how many new families have it (new_families.h); a number instead of a rank */
    MICAP_NOTE_NUMBER, /* from there: the number of the first of them */
    MICAP_NOTE_COUNT,
} micap_reference_note;

/* Before the first step, once the components are known. False if memory is short. */
bool micap_references_open(mica_cluster *cluster);
void micap_references_free(mica_cluster *cluster);

/* Refuses what the program did to stand-ins. */
void micap_references_check_stand_ins(mica_cluster *cluster);

/* Marks what shared entities of this rank refer to, notes references to new ones, refuses those to entities that are not shared, and destroys
 * stand-ins that nothing refers to. */
void micap_references_mark(mica_cluster *cluster);
bool micap_references_is_marked(const mica_cluster *cluster, mica_entity entity);

/* An entity leaves for another rank: it is destroyed here, or becomes a stand-in if it was marked. */
void micap_references_leave(mica_cluster *cluster, mica_entity entity, uint64_t identity, uint32_t rank);

/* An entity of this rank has got its identity. */
void micap_references_add_born(mica_cluster *cluster, uint64_t identity);

/* Adds the stand-ins of this rank to an array. False if memory is short. */
bool micap_references_list(mica_cluster *cluster, mica_entity **out, uint32_t *out_count, uint32_t *out_capacity);

/* Exchanges notes until nothing dies any more: before entities move and new ones get identities, which follow from what they refer to.
 * Returns whether something refers to a new entity on any rank. Collective. */
bool micap_references_settle(mica_cluster *cluster);

/* Puts a note for a rank into its parcel, or uses it, if it is for this rank. */
void micap_references_tell(mica_cluster *cluster, uint32_t to, micap_reference_note note, uint64_t identity,
                           uint32_t value);

/* Puts notes about what has moved or was born into parcels, and uses those that have arrived. */
void micap_references_send(mica_cluster *cluster);
void micap_references_finish(mica_cluster *cluster);

/* The home of an identity, and at the home, the rank that owns the entity, or MICAP_NO_RANK. */
uint32_t micap_references_home(const mica_cluster *cluster, uint64_t identity);
uint32_t micap_references_owner(const mica_cluster *cluster, uint64_t identity);

/* A note that another rank sent. NULL, or what is wrong; then it can be used. */
const char *micap_references_check(const mica_cluster *cluster, micap_reader *reader);
void micap_references_receive(mica_cluster *cluster, uint32_t from, micap_reader *reader);

/* The identity of a stand-in of this rank, or 0. */
uint64_t micap_references_identity(const mica_cluster *cluster, mica_entity entity);

#endif
