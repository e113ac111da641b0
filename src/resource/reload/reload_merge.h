/* Values that changed in the file are changed in the world, field by field, unless the program has changed them. */
#ifndef MICAP_RESOURCE_RELOAD_RELOAD_MERGE_H
#define MICAP_RESOURCE_RELOAD_RELOAD_MERGE_H

#include "resource/reload/reload.h"

/* One component of one entity, in both files. */
typedef struct micap_reload_component {
    const micap_entry *entry; /* NULL, of a relation only: the new file has none */
    const micap_entry *old_entry;
    const micap_scalars *scalars;
    mica_entity entity;
    const char *old; /* instances; NULL: none */
    const char *new;
    uint32_t old_count;
    uint32_t new_count;
    bool was_disabled;
    bool is_disabled;
    const mica_entity *old_entities;
    const mica_entity *new_entities;
} micap_reload_component;

/* Finds the component of an entry of the new file for an entity of it. */
micap_reload_component micap_reload_find_component(const micap_reloading *work, uint32_t e, uint32_t entity,
                                                   uint32_t copy);

/* A value as spawning would make it, in the layout of the recipe, in the first or second room for values. What can't be read is reported,
 * and fails the reload. */
char *micap_reload_read_value(micap_reloading *work, const micap_entry *entry, const void *from,
                              const mica_entity *entities, uint32_t room);

bool micap_reload_is_same_value(const micap_scalars *scalars, const char *a, const char *b);

/* Brings what the file changed into the current value, except where the program changed it too. Returns whether it changed. */
bool micap_reload_merge_value(micap_reloading *work, const micap_scalars *scalars, char *current, const char *old,
                              char *new);

/* Records the values of one copy that changed; false with a report when something can't be recorded. */
bool micap_reload_merge(micap_reloading *work, uint32_t copy);

/* Runs the spawn functions of singletons that changed. What they made is moved into the world by the second, which brings in the
 * others too, when all else has happened; that can't fail. */
bool micap_reload_make_singletons(micap_reloading *work);
void micap_reload_singletons(micap_reloading *work);

/* Frees what values that were read own. */
void micap_reload_free_values(micap_reloading *work);

#endif
