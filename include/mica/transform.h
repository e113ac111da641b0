/* Mica, transform: positions relative to parents, and global matrices.
 *
 *     mica_entity sun = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)), MICA_WITH(mica_global_matrix));
 *     mica_entity earth = mica_create_child(world, sun, MICA_WITH(mica_local, MICA_LOCAL_AT(150, 0, 0)),
 *                                           MICA_WITH(mica_global_matrix));
 *     mica_transform_update(world);                           once per frame, after everything that moves entities
 *     float x = mica_get(world, earth, mica_global_matrix)->x[3];
 *
 * You write mica_local; the update writes mica_global_matrix, only for entities that moved and their descendants. An entity takes
 * part if it has both components. Its matrix is relative to the nearest ancestor that takes part; other entities in between, such
 * as folders, have no effect.
 *
 * Moved entities are found by comparing written slices of mica_local with the values of the last update, so MICA_CHANGED
 * (mica_global_matrix) reports what really moved, per slice. The order of the entities is kept between updates: adding,
 * removing or relinking a few entities costs only their share.
 *
 * The result is bit-identical for any number of threads and on every machine.
 */
#ifndef MICA_TRANSFORM_H
#define MICA_TRANSFORM_H

#include "mica/describe.h"
#include "mica/frame.h"
#include "mica/hierarchy.h"

MICA_BEGIN

/* Position, rotation and scale relative to the parent, applied as scale, rotation, translation. */
typedef struct mica_local {
    float position[3];
    float rotation[4]; /* unit quaternion x, y, z, w; all zero means no rotation */
    float scale[3];
} mica_local;

/* The matrix from entity space to global space: three rows, each with the translation last. The fourth row, 0 0 0 1, is implicit.
 * 48 bytes, ready for upload to a GPU. */
typedef struct mica_global_matrix {
    float x[4];
    float y[4];
    float z[4];
} mica_global_matrix;

/* Construct functions of both: no rotation, scale 1. They cannot fail. Threads: any. */
MICA_API bool mica_local_construct(void *values, uint32_t count, void *context);
MICA_API bool mica_global_matrix_construct(void *values, uint32_t count, void *context);

/* The component ids, for bindings and C++. Zero if memory runs out. Threads: any. */
MICA_API mica_component mica_local_id(void);
MICA_API mica_component mica_global_matrix_id(void);

/* Updates all matrices. Returns MICA_ERROR_MEMORY and changes nothing if memory runs out; the next update then does all of it.
 * Returns MICA_ERROR_REFUSED inside a hook. Threads: owner. */
MICA_API mica_result mica_transform_update(mica_world *world);

/* Adds the update as the system "update_transforms" to a phase, usually MICA_PHASE_END. It reads mica_local and writes
 * mica_global_matrix. Levels of large trees are processed in parallel. Returns zero with a report on error. Threads: owner. */
MICA_API mica_system mica_transform_add_system(mica_world *world, mica_phase phase);

/* Computes the matrix of a local transform relative to the matrix of a parent, or NULL for none. Threads: any. */
MICA_API void mica_matrix_from_local(const mica_local *local, const mica_global_matrix *parent,
                                     mica_global_matrix *out);

/* Transforms a point from entity space to global space; `point` and `out` may be the same. Threads: any. */
MICA_API void mica_matrix_point(const mica_global_matrix *matrix, const float point[3], float out[3]);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_local_construct(...) MICA_AT_(mica_local_construct(__VA_ARGS__))
#    define mica_global_matrix_construct(...) MICA_AT_(mica_global_matrix_construct(__VA_ARGS__))
#    define mica_transform_update(world) mica_transform_update(MICA_AT_(world))
#    define mica_transform_add_system(world, ...) mica_transform_add_system(MICA_AT_(world), __VA_ARGS__)
#    define mica_matrix_from_local(...) MICA_AT_(mica_matrix_from_local(__VA_ARGS__))
#    define mica_matrix_point(...) MICA_AT_(mica_matrix_point(__VA_ARGS__))
#endif

/* A mica_local with a position, no rotation and scale 1. */
#define MICA_LOCAL_AT(x, y, z) {{(x), (y), (z)}, {0, 0, 0, 1}, {1, 1, 1}}

#ifndef __cplusplus
MICA_COMPONENT_WITH(mica_local, (.construct = mica_local_construct), position, rotation, scale)
/* Files contain the name that it had in version 0.1. */
MICA_TYPE_(mica_global_matrix, "mica_world_matrix", (.construct = mica_global_matrix_construct), x, y, z)
#endif

#endif
