/* Loads shared libraries of the user. They use the Mica in this program, which exports all its public functions. */
#include "cli/cli.h"
#include "mica/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

_Static_assert(MICA_VERSION_MAJOR == PROJECT_MAJOR && MICA_VERSION_MINOR == PROJECT_MINOR,
               "mica/base.h and CMakeLists.txt say different versions");

typedef mica_result (*main_fn)(mica_world *world);
typedef const mica_resource_rule *(*rules_fn)(mica_world *world, const mica_library *library, uint32_t *out_count);

enum { RULES_MAX = 1024 };

/* The loaded modules and their rules. */
static void *libraries[sizeof((options *)0)->modules / sizeof(char *)];
static uint32_t library_count;
static mica_resource_rule rules[RULES_MAX];

/* Without a slash, the system would search its library folders. */
static void *open_library(const char *path)
{
    char here[4096];
    if (!strchr(path, '/') && snprintf(here, sizeof here, "./%s", path) < (int)sizeof here)
        path = here;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static bool fits(const char *path, const mica_module *module)
{
    if (module->version_major != MICA_VERSION_MAJOR || module->version_minor != MICA_VERSION_MINOR)
        return complain("run: %s was built for Mica %u.%u, and this is %d.%d: build it again", path,
                        module->version_major, module->version_minor, MICA_VERSION_MAJOR, MICA_VERSION_MINOR),
               false;
#ifdef MICA_CHECKED
    bool checked = true;
#else
    bool checked = false;
#endif
    if (module->checked != checked)
        return complain("run: %s was built %s MICA_CHECKED, and this tool %s", path, checked ? "without" : "with",
                        checked ? "with" : "without"),
               false;
    return true;
}

bool module_load(const char *path, mica_world *world)
{
    /* Never closed, because the registry of components points into it. */
    void *library = open_library(path);
    if (!library)
        return complain("run: %s can't be loaded: %s", path, dlerror()), false;
    const mica_module *module = dlsym(library, "mica_module_info");
    void *symbol = dlsym(library, "mica_module_main");
    if (!module || !symbol)
        return complain("run: %s has no %s: write its entry point with MICA_MODULE (mica/module.h)", path,
                        module ? "mica_module_main" : "mica_module_info"),
               false;
    if (!fits(path, module))
        return false;
    /* Searches the library and its dependencies, not this program. */
    if (dlsym(library, "mica_world_create"))
        return complain("run: %s brings a Mica of its own: link it with mica::module instead of mica::mica", path),
               false;
    main_fn module_main;
    memcpy(&module_main, &symbol, sizeof module_main); /* ISO C has no cast from an object to a function */
    mica_result result = module_main(world);
    libraries[library_count++] = library;
    if (result != MICA_OK)
        complain("run: mica_module_main of %s failed: %s", path, mica_result_text(result));
    return result == MICA_OK;
}

bool module_rules(mica_world *world, const mica_library *library, const mica_resource_rule **out_rules,
                  uint32_t *out_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < library_count; ++i) {
        void *symbol = dlsym(libraries[i], "mica_module_rules");
        uint32_t more = 0;
        rules_fn module_rules_of;
        memcpy(&module_rules_of, &symbol, sizeof module_rules_of);
        const mica_resource_rule *theirs = symbol ? module_rules_of(world, library, &more) : NULL;
        if (more > RULES_MAX - count || (more && !theirs))
            return complain("run: modules give no rules, or more than %d", RULES_MAX), false;
        if (more)
            memcpy(rules + count, theirs, more * sizeof *rules);
        count += more;
    }
    *out_rules = rules;
    *out_count = count;
    return true;
}
