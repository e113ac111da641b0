/* Loading, reloading and unloading. A reload builds a second generation beside the first, a world with its libraries, and moves the saved
 * world into it; then one of the two is ended. So a failure at any point leaves the old one as it is. */
#include "base/argument.h"
#include "base/memory.h"
#include "mica/batch.h"
#include "mica/frame.h"
#include "mica/module_load.h"
#include "mica/reload.h"
#include "mica/state.h"
#include "resource/module/module_library.h"

#include <string.h>

/* Checked builds note the file names of calls, which are in the library. */
#ifdef MICA_CHECKED
#    define LIBRARIES_STAY true
#else
#    define LIBRARIES_STAY false
#endif

/* A world and the code that it runs. */
typedef struct generation {
    mica_world *world;
    micap_module_library *libraries;
    uint32_t library_count;
    uint32_t library_capacity;
    mica_resource_rule *rules;
    uint32_t rule_count;
    uint32_t rule_capacity;
} generation;

struct mica_modules {
    micap_memory memory;
    mica_module_def def;
    mica_world_def world_def;
    const char **paths;
    size_t paths_bytes; /* with the text after them */
    uint32_t path_count;
    bool is_busy; /* functions of the program and of modules run */
    mica_watch *watch;
    generation current;
};

static mica_result fail_memory(const mica_world *world)
{
    return mica_world_report(world, MICA_ERROR_MEMORY, "modules: out of memory");
}

static mica_result load_library(mica_modules *modules, generation *next, const char *path)
{
    if (!MICAP_RESERVE(&modules->memory, next->libraries, &next->library_capacity, next->library_count + 1ull))
        return fail_memory(next->world);
    micap_module_library *library = &next->libraries[next->library_count];
    mica_result result = micap_module_open(next->world, path, !modules->def.in_place, library);
    if (result != MICA_OK)
        return result;
    ++next->library_count;
    result = library->main(next->world);
    return result == MICA_OK ? MICA_OK
                             : micap_module_fail(next->world, result, "mica_module_main of %s failed: %s", path,
                                                 mica_result_text(result));
}

static mica_result add_rules(mica_modules *modules, generation *next, uint32_t index)
{
    uint32_t count = 0;
    const micap_module_library *library = &next->libraries[index];
    const mica_resource_rule *rules = library->rules ? library->rules(next->world, modules->def.library, &count) : NULL;
    if (!count)
        return MICA_OK;
    if (!rules)
        return micap_module_fail(next->world, MICA_ERROR_INVALID, "mica_module_rules of %s returned NULL and %u rules",
                                 modules->paths[index], count);
    if (!MICAP_RESERVE(&modules->memory, next->rules, &next->rule_capacity, (uint64_t)next->rule_count + count))
        return fail_memory(next->world);
    memcpy(next->rules + next->rule_count, rules, count * sizeof *rules);
    next->rule_count += count;
    return MICA_OK;
}

/* Reports that there is no new world: to the old one, or to the handler that the first one would have had. */
static mica_result fail_without_world(const mica_modules *modules)
{
    static const char text[] = "modules: no world: out of memory, or its def is invalid";
    if (modules->current.world || !modules->world_def.report)
        return mica_world_report(modules->current.world, MICA_ERROR_MEMORY, text);
    modules->world_def.report(&(mica_report){.result = MICA_ERROR_MEMORY, .text = text},
                              modules->world_def.report_context);
    return MICA_ERROR_MEMORY;
}

/* Creates an empty world with the code as it is now. */
static mica_result build(mica_modules *modules, generation *next)
{
    next->world = mica_world_create(&modules->world_def);
    if (!next->world)
        return fail_without_world(modules);
    mica_result result = MICA_OK;
    if (modules->def.setup) {
        result = modules->def.setup(next->world, modules->def.context);
        if (result != MICA_OK)
            micap_module_fail(next->world, result, "modules: setup failed: %s", mica_result_text(result));
    }
    for (uint32_t i = 0; result == MICA_OK && i < modules->path_count; ++i)
        result = load_library(modules, next, modules->paths[i]);
    for (uint32_t i = 0; result == MICA_OK && i < modules->path_count; ++i)
        result = add_rules(modules, next, i);
    mica_result reported = mica_world_take_error(next->world);
    return result == MICA_OK ? reported : result;
}

/* Destroys a world, and closes libraries except those that the registry of components needs. */
static void end(mica_modules *modules, generation *old)
{
    for (uint32_t i = 0; i < old->library_count; ++i)
        if (LIBRARIES_STAY || micap_module_is_registered(old->world, &old->libraries[i]))
            old->libraries[i].library = NULL;
    mica_world_destroy(old->world);
    for (uint32_t i = old->library_count; i-- > 0;)
        if (old->libraries[i].library)
            micap_module_close(&old->libraries[i]);
    MICAP_RELEASE_ARRAY(&modules->memory, old->libraries, old->library_capacity);
    MICAP_RELEASE_ARRAY(&modules->memory, old->rules, old->rule_capacity);
    *old = (generation){0};
}

static bool copy_paths(mica_modules *modules, const char *const *paths, uint32_t count)
{
    size_t bytes = count * sizeof *paths;
    for (uint32_t i = 0; i < count; ++i)
        bytes += strlen(paths[i]) + 1;
    modules->paths = micap_allocate(&modules->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!modules->paths)
        return false;
    modules->paths_bytes = bytes;
    modules->path_count = count;
    char *text = (char *)(modules->paths + count);
    for (uint32_t i = 0; i < count; ++i) {
        size_t path_bytes = strlen(paths[i]) + 1;
        modules->paths[i] = memcpy(text, paths[i], path_bytes);
        text += path_bytes;
    }
    return true;
}

static mica_modules *allocate(const mica_module_def *def)
{
    micap_memory memory;
    mica_world_def world_def = def->world ? *def->world : mica_world_def_default();
    if (!micap_memory_init(&memory, world_def.allocator)) {
        mica_world_report(NULL, MICA_ERROR_INVALID, "mica_module_load: the allocator needs both functions, or none");
        return NULL;
    }
    mica_modules *modules = micap_allocate_zeroed(&memory, sizeof *modules, MICAP_ARRAY_ALIGNMENT);
    if (!modules)
        return fail_memory(NULL), NULL;
    micap_memory_init(&modules->memory, memory.allocator);
    modules->def = *def;
    modules->world_def = world_def;
    return modules;
}

static void release(mica_modules *modules)
{
    mica_allocator allocator = modules->memory.allocator;
    end(modules, &modules->current);
    mica_watch_destroy(modules->watch);
    micap_release(&modules->memory, modules->paths, modules->paths_bytes, MICAP_ARRAY_ALIGNMENT);
    allocator.release(modules, sizeof *modules, MICAP_ARRAY_ALIGNMENT, allocator.context);
}

mica_modules *mica_module_load(const char *const *paths, uint32_t path_count, const mica_module_def *def)
{
    static const mica_module_def defaults = {0};
    if (MICAP_MISSING_ARRAY(NULL, paths, path_count))
        return NULL;
    for (uint32_t i = 0; i < path_count; ++i)
        if (MICAP_MISSING(NULL, paths[i]))
            return NULL;
    mica_modules *modules = allocate(def ? def : &defaults);
    if (!modules)
        return NULL;
    /* First the watch: what changes while it is loaded has changed afterwards. */
    modules->watch = mica_watch_create(paths, path_count, &modules->memory.allocator);
    modules->is_busy = true;
    bool fine = modules->watch && copy_paths(modules, paths, path_count);
    if (!fine)
        fail_without_world(modules);
    if (!fine || build(modules, &modules->current) != MICA_OK) {
        release(modules);
        return NULL;
    }
    modules->is_busy = false;
    return modules;
}

/* With a report; `refused` is what the caller knows. */
static bool is_refused(const mica_modules *modules, bool refused, const char *what)
{
    refused = refused || modules->is_busy || mica_is_stepping(modules->current.world);
    if (refused)
        micap_module_fail(modules->current.world, MICA_ERROR_REFUSED,
                          "%s: refused inside a frame, a hook or an entry point, or while changes are recorded", what);
    return refused;
}

void mica_module_unload(mica_modules *modules)
{
    if (modules && !is_refused(modules, mica_is_deferred(modules->current.world), __func__))
        release(modules);
}

mica_world *mica_module_world(const mica_modules *modules)
{
    if (MICAP_MISSING(NULL, modules))
        return NULL;
    return modules->current.world;
}

const mica_resource_rule *mica_module_get_rules(const mica_modules *modules, uint32_t *out_rule_count)
{
    if (MICAP_MISSING(NULL, modules) || MICAP_MISSING(modules->current.world, out_rule_count))
        return NULL;
    *out_rule_count = modules->current.rule_count;
    return modules->current.rules;
}

mica_result mica_module_start_run(mica_modules *modules)
{
    if (MICAP_MISSING(NULL, modules))
        return MICA_ERROR_INVALID;
    const generation *current = &modules->current;
    if (is_refused(modules, mica_is_deferred(current->world), __func__))
        return MICA_ERROR_REFUSED;
    mica_result result = MICA_OK;
    modules->is_busy = true;
    for (uint32_t i = 0; result == MICA_OK && i < current->library_count; ++i) {
        result = current->libraries[i].start ? current->libraries[i].start(current->world) : MICA_OK;
        if (result != MICA_OK)
            micap_module_fail(current->world, result, "mica_module_start of %s failed: %s", modules->paths[i],
                              mica_result_text(result));
    }
    modules->is_busy = false;
    return result;
}

const void *mica_module_find(const mica_modules *modules, uint32_t position, const char *name)
{
    if (MICAP_MISSING(NULL, modules) || MICAP_MISSING(modules->current.world, name))
        return NULL;
    const generation *current = &modules->current;
    return position < current->library_count ? micap_module_symbol(&current->libraries[position], name) : NULL;
}

/* Packs the world with its state; without one, the copy would have other handles. */
static mica_result pack(const mica_modules *modules, mica_blob *out_blob)
{
    const generation *old = &modules->current;
    mica_state *state = NULL;
    mica_result result = mica_state_take(old->world, &state);
    if (is_refused(modules, result == MICA_ERROR_REFUSED, "mica_module_reload")) {
        mica_state_free(state);
        return MICA_ERROR_REFUSED;
    }
    if (result != MICA_OK)
        return result; /* out of memory, as reported */
    mica_save_def save = {.allocator = modules->memory.allocator,
                          .rules = old->rules,
                          .rule_count = old->rule_count,
                          .library = modules->def.library};
    save.state = mica_state_bytes(state, &save.state_bytes);
    result = mica_pack(old->world, &save, out_blob);
    mica_state_free(state);
    return result;
}

/* Moves the saved world into a new one. */
static mica_result unpack(const mica_modules *modules, const mica_blob *blob, generation *next)
{
    mica_resource_def open = {.allocator = modules->memory.allocator};
    mica_resource_error error;
    if (!mica_world_is_unused(next->world))
        return mica_world_report(next->world, MICA_ERROR_REFUSED,
                                 "a module creates entities in its entry point: a reload would create them again");
    mica_resource *resource = mica_resource_open(blob->bytes, blob->byte_count, &open, &error);
    if (!resource)
        return mica_world_report(next->world, error.result, error.text);
    mica_spawn_def spawn = {
        .rules = next->rules, .rule_count = next->rule_count, .skip_unknown = modules->def.skip_unknown};
    mica_result result = mica_spawn(next->world, resource, &spawn);
    mica_resource_free(resource);
    mica_result reported = mica_world_take_error(next->world);
    return result == MICA_OK ? reported : result;
}

mica_result mica_module_reload(mica_modules *modules)
{
    if (MICAP_MISSING(NULL, modules))
        return MICA_ERROR_INVALID;
    if (modules->def.in_place)
        return mica_world_report(modules->current.world, MICA_ERROR_REFUSED,
                                 "mica_module_reload: the modules were loaded in place");
    mica_blob blob = {0};
    mica_result result = pack(modules, &blob);
    if (result != MICA_OK)
        return result;
    generation next = {0};
    modules->is_busy = true;
    result = build(modules, &next);
    if (result == MICA_OK)
        result = unpack(modules, &blob, &next);
    mica_blob_free(&blob);
    if (result == MICA_OK) {
        generation old = modules->current;
        modules->current = next;
        next = old;
    }
    end(modules, &next);
    modules->is_busy = false;
    return result;
}

bool mica_module_update(mica_modules *modules)
{
    if (MICAP_MISSING(NULL, modules))
        return false;
    return mica_watch_changed(modules->watch) && mica_module_reload(modules) == MICA_OK;
}
