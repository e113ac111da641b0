/* Modules use the Mica in this program, which exports its public functions. */
#include "resource/module/module_library.h"

#include "mica/component.h"
#include "mica/module.h"
#include "os/dynamic_library.h"
#include "resource/spawn/spawn_prepare.h"

#include <stdarg.h>
#include <string.h>

mica_result micap_module_fail(const mica_world *world, mica_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    micap_report_text(world, result, format, arguments);
    va_end(arguments);
    return result;
}

/* Whether a library does not fit this program, with a report. */
static bool is_other_build(mica_world *world, const char *path, const mica_module *module)
{
    if (module->version_major != MICA_VERSION_MAJOR || module->version_minor != MICA_VERSION_MINOR) {
        micap_module_fail(world, MICA_ERROR_DATA, "%s was built for Mica %u.%u, and this is %d.%d: build it again",
                          path, module->version_major, module->version_minor, MICA_VERSION_MAJOR, MICA_VERSION_MINOR);
        return true;
    }
    if (module->checked != MICA_MODULE_CHECKED_) {
        micap_module_fail(world, MICA_ERROR_DATA, "%s was built %s MICA_CHECKED, and this program %s", path,
                          MICA_MODULE_CHECKED_ ? "without" : "with", MICA_MODULE_CHECKED_ ? "with" : "without");
        return true;
    }
    return false;
}

/* A second Mica would have a registry of components of its own. */
static bool has_own_mica(void *library)
{
    void *theirs = micap_dynamic_library_find(library, "mica_world_create");
    return theirs && theirs != micap_dynamic_library_find(NULL, "mica_world_create");
}

static bool fits(mica_world *world, const char *path, void *library)
{
    const mica_module *module = micap_dynamic_library_find(library, "mica_module_info");
    if (!module || !micap_dynamic_library_find(library, "mica_module_main")) {
        micap_module_fail(world, MICA_ERROR_DATA,
                          "%s has no %s: write its entry point with MICA_MODULE (mica/module.h)", path,
                          module ? "mica_module_main" : "mica_module_info");
        return false;
    }
    if (is_other_build(world, path, module))
        return false;
    if (has_own_mica(library)) {
        micap_module_fail(world, MICA_ERROR_DATA,
                          "%s brings a Mica of its own: link it with mica::module instead of mica::mica", path);
        return false;
    }
    return true;
}

mica_result micap_module_open(mica_world *world, const char *path, bool as_copy, micap_module_library *out_library)
{
    char reason[400];
    void *library = micap_dynamic_library_open(path, as_copy, reason, sizeof reason);
    if (!library)
        return micap_module_fail(world, MICA_ERROR_FILE, "%s can't be loaded: %s", path, reason);
    if (!fits(world, path, library)) {
        micap_dynamic_library_close(library);
        return MICA_ERROR_DATA;
    }
    void *main = micap_dynamic_library_find(library, "mica_module_main");
    void *rules = micap_dynamic_library_find(library, "mica_module_rules");
    void *start = micap_dynamic_library_find(library, "mica_module_start");
    *out_library = (micap_module_library){.library = library, .base = micap_dynamic_library_base(main)};
    memcpy(&out_library->main, &main, sizeof main); /* ISO C has no cast from an object to a function */
    memcpy(&out_library->rules, &rules, sizeof rules);
    memcpy(&out_library->start, &start, sizeof start);
    return MICA_OK;
}

/* Whether a component has functions or handlers in the library. Names, fields and attributes are copied by the registry. */
static bool is_used_by(const mica_type *type, const void *base)
{
    const void *kept[] = {type->handlers, type->context};
    void (*functions[])(void) = {(void (*)(void))type->construct,   (void (*)(void))type->destruct,
                                 (void (*)(void))type->copy,        (void (*)(void))type->move,
                                 (void (*)(void))type->destroy_one, (void (*)(void))type->copy_one};
    bool found = false;
    for (uint32_t i = 0; i < sizeof kept / sizeof *kept; ++i)
        found = found || micap_dynamic_library_base(kept[i]) == base;
    for (uint32_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        const void *address;
        memcpy(&address, &functions[i], sizeof address);
        found = found || micap_dynamic_library_base(address) == base;
    }
    return found;
}

bool micap_module_is_registered(const mica_world *world, const micap_module_library *library)
{
    for (mica_component at = 0; (at = mica_component_next(world, at)) != 0;)
        if (is_used_by(mica_component_type(at), library->base))
            return true;
    return false;
}

const void *micap_module_symbol(const micap_module_library *library, const char *name)
{
    return micap_dynamic_library_find(library->library, name);
}

void micap_module_close(micap_module_library *library)
{
    micap_dynamic_library_close(library->library);
}
