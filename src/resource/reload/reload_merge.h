/* Values that changed in the file are changed in the world, field by field, unless the program has changed them. */
#ifndef MICAP_RESOURCE_RELOAD_RELOAD_MERGE_H
#define MICAP_RESOURCE_RELOAD_RELOAD_MERGE_H

#include "resource/reload/reload.h"

/* Records the values of one copy that changed; false with a report when something can't be recorded. */
bool micap_reload_merge(micap_reloading *work, uint32_t copy);

/* Runs the spawn functions of singletons that changed. What they made is moved into the world by the second, which brings in the
 * others too, when all else has happened; that can't fail. */
bool micap_reload_make_singletons(micap_reloading *work);
void micap_reload_singletons(micap_reloading *work);

/* Frees what values that were read own. */
void micap_reload_free_values(micap_reloading *work);

#endif
