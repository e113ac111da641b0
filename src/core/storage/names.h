/* Names: entries found by (scope, text) and by entity, through two chained hash tables over one array. */
#ifndef MICAP_CORE_STORAGE_NAMES_H
#define MICAP_CORE_STORAGE_NAMES_H

#include "base/memory.h"
#include "mica/name.h"

typedef struct micap_name {
    mica_entity entity;
    mica_entity scope;
    char *text;            /* NULL in a free entry */
    uint32_t next_by_text; /* 1 + index; of free entries too */
    uint32_t next_by_entity;
} micap_name;

typedef struct micap_names {
    micap_name *entries;
    uint32_t entry_count; /* used or free */
    uint32_t entry_capacity;
    uint32_t count;
    uint32_t first_free; /* 1 + index */
    uint32_t *by_text;
    uint32_t *by_entity;
    uint32_t bucket_count; /* a power of two, or 0 */
} micap_names;

void micap_names_free(mica_world *world);

/* Takes the name of a dying entity away, if it has one. */
void micap_name_forget(mica_world *world, mica_entity entity);

/* What mica_name_set refuses at once or when it is recorded: a name with '/', an entity that is its own scope. MICA_OK if it is fine. */
mica_result micap_name_check(const mica_world *world, mica_entity entity, mica_entity scope, const char *name);

/* A name that was taken from an entity, which had none if `text` is NULL. */
typedef struct micap_taken_name {
    mica_entity scope;
    char *text;
    bool is_kept; /* nothing was taken: the entity has had the new name before */
} micap_taken_name;

/* Gives an entity a name, NULL or "": none, and hands its old one over. Entity and scope are alive. Returns MICA_ERROR_EXISTS or
 * MICA_ERROR_MEMORY with a report if nothing has changed. The others give the old name back, which can't fail, and release it. */
mica_result micap_name_exchange(mica_world *world, mica_entity entity, mica_entity scope, const char *name,
                                micap_taken_name *out_old);
void micap_name_give_back(mica_world *world, mica_entity entity, micap_taken_name *old);
void micap_name_release(mica_world *world, micap_taken_name *old);

/* The scope of an entity's name; false when it has none. */
bool micap_name_scope(const mica_world *world, mica_entity entity, mica_entity *out_scope);

/* Whether a scope, alive or not, has a name. */
bool micap_name_is_taken(const mica_world *world, mica_entity scope, const char *name);

/* Moves the name of an entity, which has one, to another scope; needs no memory. MICA_ERROR_EXISTS with a report when the name
 * is taken there. */
mica_result micap_name_rescope(mica_world *world, mica_entity entity, mica_entity scope, mica_location location);

/* Saves the name of an entity, or that it has none, in the log of the newest snapshot. */
struct micap_undo_entry;
void micap_undo_save_name(mica_world *world, mica_entity entity);
/* Restores a saved name: allocates its text, so that restoring can't fail, or releases it; removes the name that the entity has
 * now; gives it the saved one. All names are removed before the first is given, since entities may have exchanged them. */
bool micap_name_prepare(mica_world *world, struct micap_undo_entry *kept);
void micap_name_give_up(mica_world *world, struct micap_undo_entry *kept);
void micap_name_clear(mica_world *world, const struct micap_undo_entry *kept);
void micap_name_restore(mica_world *world, struct micap_undo_entry *kept);

/* Gives an entity of this world a name it has in another; false when memory is short. */
bool micap_name_copy(mica_world *world, const micap_name *name);

/* How many names are found by text and by entity, for mica_world_validate; UINT32_MAX when one is not. */
uint32_t micap_names_check(const mica_world *world);

#endif
