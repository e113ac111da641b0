/* The values of singletons. */
#ifndef MICAP_CORE_STORAGE_SINGLETON_H
#define MICAP_CORE_STORAGE_SINGLETON_H

#include "base/assert.h"
#include "core/storage/component.h"

/* Creates the value of a singleton, which counts as missing until the program requests it. Returns NULL with a report on error. */
micap_component *micap_singleton_prepare(mica_world *world, mica_component id);
/* Makes a singleton without functions of the program, which exists, zero and missing again. */
void micap_singleton_forget(mica_world *world, mica_component id);
/* The value of a singleton that a query shows. This counts as a use: a restored snapshot may have been taken before the first.
 * Any thread. */
static inline void *micap_singleton_show(micap_component *component)
{
    if (MICAP_UNLIKELY(MICAP_LOAD(&component->is_unborn, MICAP_RELAXED)))
        MICAP_STORE(&component->is_unborn, false, MICAP_RELAXED);
    return component->singleton;
}

#endif
