/* Mica, library: resources that others refer to, loaded once and shared.
 *
 *     typedef struct Mesh { mica_asset shape; float scale; } Mesh;
 *     MICA_COMPONENT(Mesh, shape, scale)                     in JSON: "Mesh": {"shape": "rock.mica", "scale": 2}
 *
 *     mica_library *library = mica_library_create(&(mica_library_def){.root = "assets"});
 *     const mica_resource *level = mica_library_load(library, "level.mica", &error);      also loads rock.mica
 *     mica_spawn(world, level, NULL);
 *     ...
 *     const mica_resource *rock = mica_library_find(library, mesh->shape);
 *     const Vertex *vertices = mica_resource_values(rock, Vertex, &count);     read-only, straight from the file
 *     ...
 *     mica_library_release(library, level);                  also releases rock.mica, if nothing else refers to it
 *
 * Data that all entities share is in a separate resource, which exists once in memory. Components refer to it by name (mica_asset);
 * finding it takes a few nanoseconds, and a reference never dangles: a resource that is not loaded is not found. A resource stays
 * loaded as long as it was loaded explicitly or a loaded resource refers to it.
 *
 * Paths are relative to the root and have exactly one spelling: names separated by slashes. So no path leads outside the root.
 *
 * In the library mica_resource, like mica/resource.h.
 */
#ifndef MICA_LIBRARY_H
#define MICA_LIBRARY_H

#include "mica/resource.h"

MICA_BEGIN

/* Opens the resource at a path, for example from an archive. On error returns NULL and fills `out_error`. The library owns the
 * result. */
typedef mica_resource *(*mica_library_open_fn)(const char *path, mica_resource_error *out_error, void *context);

/* Where resources come from. Zero is the default. */
typedef struct mica_library_def {
    mica_resource_def resource; /* how to load files; the library uses the same allocator */
    const char *root;           /* the folder that paths are relative to; NULL: the working directory */
    mica_library_open_fn open;  /* NULL: map files below the root */
    void *open_context;
} mica_library_def;

/* Creates an empty library. NULL means the defaults. Returns NULL if memory runs out. Threads: any. */
MICA_API mica_library *mica_library_create(const mica_library_def *def);

/* Destroys a library and everything it loaded. NULL is a no-op. Threads: any, one at a time. */
MICA_API void mica_library_destroy(mica_library *library);

/* Loads a resource and everything it refers to; what is already loaded is shared and counted. On error, including circular
 * references, returns NULL, fills `out_error` (which may be NULL) and loads nothing. The resource is valid until it is released as
 * often as it was loaded and nothing refers to it. Threads: any, one at a time. */
MICA_API const mica_resource *mica_library_load(mica_library *library, const char *path,
                                                mica_resource_error *out_error);

/* Releases one load. Returns false if the resource does not belong to the library or was not loaded that often.
 * Threads: any, one at a time. */
MICA_API bool mica_library_release(mica_library *library, const mica_resource *resource);

/* Load and release what a resource refers to that does not belong to the library, for example one opened from memory. All or nothing,
 * like mica_library_load. Threads: any, one at a time. */
MICA_API mica_result mica_library_load_assets(mica_library *library, const mica_resource *resource,
                                              mica_resource_error *out_error);
MICA_API void mica_library_release_assets(mica_library *library, const mica_resource *resource);

/* Finds a loaded resource, or returns NULL. Valid until released, or until the second reload.
 * Threads: any number at a time, while none loads, releases or reloads. */
MICA_API const mica_resource *mica_library_find(const mica_library *library, mica_asset asset);

/* Returns the reference for a path, loaded or not. Returns none if the path is malformed or memory runs out.
 * Threads: any, one at a time. */
MICA_API mica_asset mica_library_asset(mica_library *library, const char *path);

/* Returns the path of a known reference, or NULL. Valid as long as the library. Threads: as mica_library_find. */
MICA_API const char *mica_library_path(const mica_library *library, mica_asset asset);

/* Reloads a resource that changed; from now on it is found under its name. The old one stays valid until the next reload or until it
 * is released, so that mica_reload can compare. On error nothing changes. Threads: any, one at a time. */
MICA_API mica_result mica_library_reload(mica_library *library, mica_asset asset, mica_resource_error *out_error);

/* Returns the number of loaded resources. Threads: as mica_library_find. */
MICA_API uint32_t mica_library_count(const mica_library *library);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_library_create(...) MICA_AT_(mica_library_create(__VA_ARGS__))
#    define mica_library_destroy(library) mica_library_destroy(MICA_AT_(library))
#    define mica_library_load(library, ...) mica_library_load(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_release(library, ...) mica_library_release(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_load_assets(library, ...) mica_library_load_assets(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_release_assets(library, ...) mica_library_release_assets(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_find(library, ...) mica_library_find(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_asset(library, ...) mica_library_asset(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_path(library, ...) mica_library_path(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_reload(library, ...) mica_library_reload(MICA_AT_(library), __VA_ARGS__)
#    define mica_library_count(library) mica_library_count(MICA_AT_(library))
#endif
#endif
