/* Mica, library: resources that others refer to, loaded once and shared by all.
 *
 *     typedef struct Mesh { mica_asset shape; float scale; } Mesh;
 *     MICA_COMPONENT(Mesh, shape, scale)                     in JSON: "Mesh": {"shape": "rock.mica", "scale": 2}
 *
 *     mica_library *library = mica_library_create(&(mica_library_def){.root = "assets"});
 *     const mica_resource *level = mica_library_load(library, "level.mica", &error);      and rock.mica with it
 *     mica_spawn(world, level, NULL);
 *     ...
 *     const mica_resource *rock = mica_library_find(library, mesh->shape);
 *     const Vertex *vertices = mica_resource_values(rock, Vertex, &count);     where they lie in the file, read-only
 *     ...
 *     mica_library_release(library, level);                  and rock.mica, unless somebody else refers to it
 *
 * What differs from one entity to the next is in its components; what all of them share is in another resource, of which there is
 * one in memory however many refer to it. The component holds its name, which is looked up in a few nanoseconds, and never
 * dangles: what is not loaded is not found. A resource stays loaded as long as somebody loaded it or something loaded refers to it.
 *
 * Paths are seen from the root, which is where a game keeps its data, and there is one way to write each: names with a slash
 * between them. So a file can't reach outside.
 *
 * In the library mica_resource, as mica/resource.h.
 */
#ifndef MICA_LIBRARY_H
#define MICA_LIBRARY_H

#include "mica/resource.h"

MICA_BEGIN

/* Opens the resource of a path: from an archive, say, or from a server. Returns NULL and fills `out_error` when it can't; what it
 * returns is the library's. */
typedef mica_resource *(*mica_library_open_fn)(const char *path, mica_resource_error *out_error, void *context);

/* Where resources come from. Zero is the default of everything. */
typedef struct mica_library_def {
    mica_resource_def resource; /* how to load files; the allocator is the library's too */
    const char *root;           /* the folder that paths are seen from; NULL: the working directory */
    mica_library_open_fn open;  /* NULL: files of the root are mapped */
    void *open_context;
} mica_library_def;

/* Makes an empty library; NULL is the default. Returns NULL when memory is short. Threads: any. */
MICA_API mica_library *mica_library_create(const mica_library_def *def);

/* Gives a library back with everything that is loaded; NULL is fine. Threads: any, one at a time. */
MICA_API void mica_library_destroy(mica_library *library);

/* Loads a resource and what it refers to, each once; what is there already is shared, and counted. Returns NULL, fills
 * `out_error` (which may be NULL) and has loaded nothing when it can't; files that refer to each other in a circle are such a
 * case. The resource lives until it is released as often as it was loaded and nothing refers to it. Threads: any, one at a
 * time. */
MICA_API const mica_resource *mica_library_load(mica_library *library, const char *path,
                                                mica_resource_error *out_error);

/* Takes one load back. False when the resource is not the library's, or was not loaded that often. Threads: any, one at a
 * time. */
MICA_API bool mica_library_release(mica_library *library, const mica_resource *resource);

/* Load and release what a resource refers to that is not the library's own: one that was opened from memory, say. As
 * mica_library_load: all of it or nothing. Threads: any, one at a time. */
MICA_API mica_result mica_library_load_assets(mica_library *library, const mica_resource *resource,
                                              mica_resource_error *out_error);
MICA_API void mica_library_release_assets(mica_library *library, const mica_resource *resource);

/* Returns what is loaded under a name, or NULL. The pointer lives as said above, and until the second reload from here.
 * Threads: any number at a time, while none loads, releases or reloads. */
MICA_API const mica_resource *mica_library_find(const mica_library *library, mica_asset asset);

/* Returns the name of a path, loaded or not, for a component that a program fills in; none when it is malformed or memory is
 * short. Threads: any, one at a time. */
MICA_API mica_asset mica_library_asset(mica_library *library, const char *path);

/* Returns the path of a name that was met before, or NULL; it lives as long as the library. Threads: as mica_library_find. */
MICA_API const char *mica_library_path(const mica_library *library, mica_asset asset);

/* Loads a resource that has changed anew: from now on it is what is found under its name. The one it was before stays until the
 * next reload or until it is released, so that mica_reload can compare. When it can't, everything is as it was. Threads: any, one at
 * a time. */
MICA_API mica_result mica_library_reload(mica_library *library, mica_asset asset, mica_resource_error *out_error);

/* Returns how many resources are loaded. Threads: as mica_library_find. */
MICA_API uint32_t mica_library_count(const mica_library *library);

MICA_END
#endif
