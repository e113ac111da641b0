/* Which entities of the old file and of the new one are the same. */
#ifndef MICAP_RESOURCE_RELOAD_RELOAD_MATCH_H
#define MICAP_RESOURCE_RELOAD_RELOAD_MATCH_H

#include "resource/reload/reload.h"

/* Fills old_of_new and new_of_old, which have room; false when memory is short. */
bool micap_reload_match(micap_reloading *work);

#endif
