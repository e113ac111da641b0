/* One shared library with the entry points of mica/module.h. */
#ifndef MICAP_RESOURCE_MODULE_MODULE_LIBRARY_H
#define MICAP_RESOURCE_MODULE_MODULE_LIBRARY_H

#include "base/assert.h"
#include "mica/library.h"
#include "mica/rule.h"

typedef mica_result (*micap_module_main_fn)(mica_world *world);
typedef const mica_resource_rule *(*micap_module_rules_fn)(mica_world *world, const mica_library *library,
                                                           uint32_t *out_rule_count);

typedef struct micap_module_library {
    void *library;
    const void *base; /* where it is mapped */
    micap_module_main_fn main;
    micap_module_rules_fn rules; /* NULL: none */
    micap_module_main_fn start;  /* NULL: none */
} micap_module_library;

/* Reports a formatted text and returns the result. */
mica_result micap_module_fail(const mica_world *world, mica_result result, const char *format, ...) MICAP_FORMAT(3, 4);

/* Opens a library that fits this program. On error, reports to the world, and nothing is open. */
mica_result micap_module_open(mica_world *world, const char *path, bool as_copy, micap_module_library *out_library);

/* Whether the registry of components, which lives as long as the process, has pointers into the library. */
bool micap_module_is_registered(const mica_world *world, const micap_module_library *library);

/* The address of what a library exports; NULL: nothing of this name. */
const void *micap_module_symbol(const micap_module_library *library, const char *name);

void micap_module_close(micap_module_library *library);

#endif
