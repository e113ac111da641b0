/* Resources by name: a table from the hash of a path to what is loaded. Names are never forgotten, so the table has no holes; what
 * is loaded is counted. */
#include "mica/library.h"

#include "base/argument.h"
#include "base/memory.h"
#include "resource/format/asset_path.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64 }; /* of files that refer to files */

typedef struct micap_shelf {
    uint64_t path_hash;
    char *path;
    mica_resource *resource; /* NULL: not loaded */
    mica_resource *previous; /* what it was before the last reload, or NULL */
    uint32_t loads;          /* by the program */
    uint32_t users;          /* loads, and loaded resources that refer to it */
    bool is_loading;
    bool is_seen; /* by a walk */
} shelf;

struct mica_library {
    micap_memory memory;
    mica_library_def def;
    char *root;
    size_t root_bytes;
    shelf *shelves;
    uint32_t count;
    uint32_t capacity;
    uint32_t *table; /* open addressing: 1 + number, 0 is free */
    uint32_t table_capacity;
    uint32_t loaded_count;
};

static bool refuse(mica_resource_error *out_error, mica_result result, const char *path, const char *text)
{
    *out_error = (mica_resource_error){.result = result};
    snprintf(out_error->text, sizeof out_error->text, "%.150s%s%.90s", path, *path ? ": " : "", text);
    return false;
}

static bool refuse_memory(mica_resource_error *out_error)
{
    return refuse(out_error, MICA_ERROR_MEMORY, "", "out of memory");
}

mica_library *mica_library_create(const mica_library_def *def)
{
    static const mica_library_def defaults = {0};
    def = def ? def : &defaults;
    const char *root = def->root ? def->root : "";
    micap_memory memory;
    if (MICAP_INVALID(NULL, !micap_memory_init(&memory, def->resource.allocator), def->resource.allocator,
                      "must have both functions, or none"))
        return NULL;
    mica_library *library = micap_allocate_zeroed(&memory, sizeof *library, MICAP_ARRAY_ALIGNMENT);
    if (!library)
        return NULL;
    micap_memory_init(&library->memory, memory.allocator);
    library->def = *def;
    library->root_bytes = strlen(root) + 2; /* with a slash */
    library->root = micap_allocate(&library->memory, library->root_bytes, 1);
    if (!library->root) {
        mica_library_destroy(library);
        return NULL;
    }
    bool needs_slash = *root && root[strlen(root) - 1] != '/';
    snprintf(library->root, library->root_bytes, "%s%s", root, needs_slash ? "/" : "");
    return library;
}

void mica_library_destroy(mica_library *library)
{
    if (!library)
        return;
    for (uint32_t i = 0; i < library->count; ++i) {
        shelf *shelf = &library->shelves[i];
        mica_resource_free(shelf->resource);
        mica_resource_free(shelf->previous);
        micap_release(&library->memory, shelf->path, strlen(shelf->path) + 1, 1);
    }
    MICAP_RELEASE_ARRAY(&library->memory, library->shelves, library->capacity);
    MICAP_RELEASE_ARRAY(&library->memory, library->table, library->table_capacity);
    micap_release(&library->memory, library->root, library->root_bytes, 1);
    mica_allocator allocator = library->memory.allocator;
    allocator.release(library, sizeof *library, MICAP_ARRAY_ALIGNMENT, allocator.context);
}

/* The slot of a name in the table: 1 + its number, or 0 where it would go. */
static uint32_t *find_slot(const mica_library *library, uint64_t path_hash)
{
    for (uint64_t at = path_hash;; ++at) {
        uint32_t *slot = &library->table[at & (library->table_capacity - 1)];
        if (!*slot || library->shelves[*slot - 1].path_hash == path_hash)
            return slot;
    }
}

static shelf *find(const mica_library *library, mica_asset asset)
{
    uint32_t number = library->count ? *find_slot(library, asset.path_hash) : 0;
    return number ? &library->shelves[number - 1] : NULL;
}

static bool grow_table(mica_library *library)
{
    if ((library->count + 1) * 2 <= library->table_capacity)
        return true;
    uint32_t *before = library->table, capacity = library->table_capacity, grown = capacity ? capacity * 2 : 64;
    uint32_t *table = micap_allocate_zeroed(&library->memory, grown * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    library->table = table;
    library->table_capacity = grown;
    for (uint32_t i = 0; i < library->count; ++i)
        *find_slot(library, library->shelves[i].path_hash) = i + 1;
    MICAP_RELEASE_ARRAY(&library->memory, before, capacity);
    return true;
}

/* The number of a path, which is right; MICA_NO_PARENT when it can't be. */
static uint32_t shelf_of(mica_library *library, const char *path, mica_resource_error *out_error)
{
    size_t bytes = strlen(path) + 1;
    uint64_t path_hash = micap_asset_of_path(path).path_hash;
    const shelf *known = find(library, (mica_asset){path_hash});
    if (known && strcmp(known->path, path) != 0)
        return refuse(out_error, MICA_ERROR_EXISTS, path, "another path has the same hash: rename the file"),
               MICA_NO_PARENT;
    if (known)
        return (uint32_t)(known - library->shelves);
    char *copy = NULL;
    if (grow_table(library) &&
        MICAP_RESERVE(&library->memory, library->shelves, &library->capacity, (uint64_t)library->count + 1))
        copy = micap_allocate(&library->memory, bytes, 1);
    if (!copy)
        return refuse_memory(out_error), MICA_NO_PARENT;
    memcpy(copy, path, bytes);
    library->shelves[library->count] = (shelf){.path_hash = path_hash, .path = copy};
    *find_slot(library, path_hash) = library->count + 1;
    return library->count++;
}

static mica_resource *open_resource(mica_library *library, const char *path, mica_resource_error *out_error)
{
    if (library->def.open) {
        refuse(out_error, MICA_ERROR_FILE, path, "can't be opened"); /* unless the function says more */
        return library->def.open(path, out_error, library->def.open_context);
    }
    size_t bytes = library->root_bytes + strlen(path);
    char *whole = micap_allocate(&library->memory, bytes, 1);
    if (!whole)
        return refuse_memory(out_error), NULL;
    snprintf(whole, bytes, "%s%s", library->root, path);
    mica_resource *resource = mica_resource_load(whole, &library->def.resource, out_error);
    if (!resource && out_error->result != MICA_ERROR_FILE) { /* which names the file */
        mica_resource_error inner = *out_error;
        refuse(out_error, inner.result, whole, inner.text);
        out_error->offset = inner.offset;
    }
    micap_release(&library->memory, whole, bytes, 1);
    return resource;
}

/* Takes back one use of a resource; with the last one it goes, and what it refers to likewise. */
static void drop(mica_library *library, mica_asset asset)
{
    shelf *shelf = find(library, asset);
    if (--shelf->users)
        return;
    mica_resource *resource = shelf->resource, *previous = shelf->previous;
    shelf->resource = shelf->previous = NULL;
    --library->loaded_count;
    mica_library_release_assets(library, resource);
    mica_resource_free(resource);
    mica_resource_free(previous);
}

static bool use(mica_library *library, const char *path, uint32_t depth, mica_resource_error *out_error);

static bool use_assets(mica_library *library, const mica_resource *resource, uint32_t depth,
                       mica_resource_error *out_error)
{
    uint32_t count = mica_resource_asset_count(resource), i = 0;
    while (i < count &&
           use(library, mica_resource_asset_path(resource, mica_resource_asset_at(resource, i)), depth, out_error))
        ++i;
    if (i == count)
        return true;
    while (i--)
        drop(library, mica_resource_asset_at(resource, i));
    return false;
}

/* Adds a reference to a resource and loads it if it is the first. Uses indices, because loading can move the array of entries. */
static bool use(mica_library *library, const char *path, uint32_t depth, mica_resource_error *out_error)
{
    uint32_t number = shelf_of(library, path, out_error);
    if (number == MICA_NO_PARENT)
        return false;
    if (library->shelves[number].is_loading || depth > DEPTH_MAX)
        return refuse(out_error, MICA_ERROR_DATA, path, "resources refer to each other in a circle, or too deep");
    if (library->shelves[number].users++)
        return true;
    mica_resource *resource = open_resource(library, path, out_error);
    bool fine = resource != NULL;
    if (fine) {
        library->shelves[number].is_loading = true;
        fine = use_assets(library, resource, depth + 1, out_error);
        library->shelves[number].is_loading = false;
    }
    if (!fine) {
        mica_resource_free(resource);
        library->shelves[number].users = 0;
        return false;
    }
    library->shelves[number].resource = resource;
    ++library->loaded_count;
    return true;
}

const mica_resource *mica_library_load(mica_library *library, const char *path, mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, library) || MICAP_MISSING_INTO(out_error, path))
        return NULL;
    mica_resource_error unheard;
    out_error = out_error ? out_error : &unheard;
    const char *problem = micap_asset_path_problem(path);
    if (problem)
        return refuse(out_error, MICA_ERROR_INVALID, path, problem), NULL;
    if (!use(library, path, 0, out_error))
        return NULL;
    shelf *shelf = find(library, micap_asset_of_path(path));
    ++shelf->loads;
    return shelf->resource;
}

bool mica_library_release(mica_library *library, const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, library) || MICAP_MISSING(NULL, resource))
        return false;
    for (uint32_t i = 0; i < library->count; ++i) {
        shelf *shelf = &library->shelves[i];
        if (!shelf->loads || (shelf->resource != resource && shelf->previous != resource))
            continue;
        --shelf->loads;
        drop(library, (mica_asset){shelf->path_hash});
        return true;
    }
    return false;
}

mica_result mica_library_load_assets(mica_library *library, const mica_resource *resource,
                                     mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, library) || MICAP_MISSING_INTO(out_error, resource))
        return MICA_ERROR_INVALID;
    mica_resource_error unheard;
    out_error = out_error ? out_error : &unheard;
    return use_assets(library, resource, 0, out_error) ? MICA_OK : out_error->result;
}

void mica_library_release_assets(mica_library *library, const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, library) || MICAP_MISSING(NULL, resource))
        return;
    for (uint32_t i = 0; i < mica_resource_asset_count(resource); ++i)
        if (!MICAP_INVALID(NULL, !mica_library_find(library, mica_resource_asset_at(resource, i)), resource,
                           "must have its assets loaded"))
            drop(library, mica_resource_asset_at(resource, i));
}

const mica_resource *mica_library_find(const mica_library *library, mica_asset asset)
{
    if (MICAP_MISSING(NULL, library))
        return NULL;
    const shelf *shelf = find(library, asset);
    return shelf ? shelf->resource : NULL;
}

mica_asset mica_library_asset(mica_library *library, const char *path)
{
    if (MICAP_MISSING(NULL, library) || MICAP_MISSING(NULL, path))
        return (mica_asset){0};
    mica_resource_error unheard;
    const char *problem = micap_asset_path_problem(path);
    if (MICAP_INVALID(NULL, problem, path, problem) || shelf_of(library, path, &unheard) == MICA_NO_PARENT)
        return (mica_asset){0};
    return micap_asset_of_path(path);
}

const char *mica_library_path(const mica_library *library, mica_asset asset)
{
    if (MICAP_MISSING(NULL, library))
        return NULL;
    const shelf *shelf = find(library, asset);
    return shelf ? shelf->path : NULL;
}

/* Whether a resource refers to another, however many are between them; none of the shelves was seen. */
static bool reaches(mica_library *library, const mica_resource *resource, uint64_t path_hash)
{
    for (uint32_t i = 0; i < mica_resource_asset_count(resource); ++i) {
        mica_asset asset = mica_resource_asset_at(resource, i);
        shelf *shelf = find(library, asset);
        if (asset.path_hash == path_hash)
            return true;
        if (shelf->is_seen)
            continue;
        shelf->is_seen = true;
        if (reaches(library, shelf->resource, path_hash))
            return true;
    }
    return false;
}

/* New references of a reloaded resource must not form a cycle, or its resources could never be released. */
static bool check_circle(mica_library *library, const mica_resource *fresh, uint32_t number,
                         mica_resource_error *out_error)
{
    for (uint32_t i = 0; i < library->count; ++i)
        library->shelves[i].is_seen = false;
    if (!reaches(library, fresh, library->shelves[number].path_hash))
        return true;
    mica_library_release_assets(library, fresh);
    return refuse(out_error, MICA_ERROR_DATA, library->shelves[number].path,
                  "resources refer to each other in a circle");
}

mica_result mica_library_reload(mica_library *library, mica_asset asset, mica_resource_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, library))
        return MICA_ERROR_INVALID;
    mica_resource_error unheard;
    out_error = out_error ? out_error : &unheard;
    shelf *before = find(library, asset);
    if (!before || !before->resource)
        return refuse(out_error, MICA_ERROR_UNKNOWN, before ? before->path : "", "it is not loaded"), out_error->result;
    uint32_t number = (uint32_t)(before - library->shelves);
    mica_resource *fresh = open_resource(library, before->path, out_error);
    library->shelves[number].is_loading = true;
    bool fine = fresh && use_assets(library, fresh, 0, out_error);
    library->shelves[number].is_loading = false;
    fine = fine && check_circle(library, fresh, number, out_error);
    if (!fine) {
        mica_resource_free(fresh);
        return out_error->result;
    }
    shelf *shelf = &library->shelves[number];
    mica_library_release_assets(library, shelf->resource);
    mica_resource_free(shelf->previous);
    shelf->previous = shelf->resource;
    shelf->resource = fresh;
    return MICA_OK;
}

uint32_t mica_library_count(const mica_library *library)
{
    if (MICAP_MISSING(NULL, library))
        return 0;
    return library->loaded_count;
}
