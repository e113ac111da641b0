/* Mica, transform: where things are, relative to their parents and in the world.
 *
 *     mica_entity sun = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(0, 0, 0)), MICA_WITH(mica_global_matrix));
 *     mica_entity earth = mica_create_child(world, sun, MICA_WITH(mica_local, MICA_LOCAL_AT(150, 0, 0)),
 *                                           MICA_WITH(mica_global_matrix));
 *     mica_transform_update(world);                           once per frame, behind everything that moves things
 *     float x = mica_get(world, earth, mica_global_matrix)->x[3];
 *
 * You write mica_local; the update writes mica_global_matrix, of those that moved and of what is below them, and of no others. An
 * entity takes part when it has both. Its matrix is relative to the nearest ancestor that takes part: an entity without them in
 * between, a folder, changes nothing.
 *
 * What moved is found by itself: slices of mica_local that were written are compared with what the last update saw. So MICA_CHANGED
 * (mica_global_matrix) shows what really moved, slice by slice. The order in which entities are visited
 * is kept from update to update: a few entities that come, go or get other parents cost no more than their own share.
 *
 * The outcome is the same, bit for bit, for any number of threads and on every machine.
 */
#ifndef MICA_TRANSFORM_H
#define MICA_TRANSFORM_H

#include "mica/describe.h"
#include "mica/frame.h"
#include "mica/hierarchy.h"

MICA_BEGIN

/* Place, turn and size relative to the parent: scaled first, then turned, then moved. */
typedef struct mica_local {
    float position[3];
    float rotation[4]; /* unit quaternion x, y, z, w; all zero counts as no rotation */
    float scale[3];
} mica_local;

/* From the entity's space to the world's: the rows that give x, y and z there, each with the translation last. The fourth row, 0 0 0 1,
 * is understood. 48 bytes: a column of these goes to a graphics card as it lies. */
typedef struct mica_global_matrix {
    float x[4];
    float y[4];
    float z[4];
} mica_global_matrix;

/* Construct functions of the two: no rotation, scale 1. They can't fail. Threads: any. */
MICA_API bool mica_local_construct(void *values, uint32_t count, void *context);
MICA_API bool mica_global_matrix_construct(void *values, uint32_t count, void *context);

/* The ids, for bindings and C++. Zero when memory is short. Threads: any. */
MICA_API mica_component mica_local_id(void);
MICA_API mica_component mica_global_matrix_id(void);

/* Brings every matrix up to date. Returns MICA_ERROR_MEMORY, and does nothing then; the next update does it all.
 * MICA_ERROR_REFUSED inside a hook. Threads: owner. */
MICA_API mica_result mica_transform_update(mica_world *world);

/* Adds the update as the system "update_transforms" to a phase, most often MICA_PHASE_END: it reads mica_local and writes
 * mica_global_matrix, and is ordered among other systems by that. Levels of large trees are shared among the workers. Returns zero with a
 * report when it can't. Threads: owner. */
MICA_API mica_system mica_transform_add_system(mica_world *world, mica_phase phase);

/* Fills in what the update would: the matrix of a place relative to that of a parent, or of none for NULL. Threads: any. */
MICA_API void mica_matrix_from_local(const mica_local *local, const mica_global_matrix *parent,
                                     mica_global_matrix *out);

/* Fills in a point of the entity's space in the world's; in and out may be the same. Threads: any. */
MICA_API void mica_matrix_point(const mica_global_matrix *matrix, const float point[3], float out[3]);

MICA_END

/* The value of a mica_local that is only moved. */
#define MICA_LOCAL_AT(x, y, z) {{(x), (y), (z)}, {0, 0, 0, 1}, {1, 1, 1}}

#ifndef __cplusplus
MICA_COMPONENT_WITH(mica_local, (.construct = mica_local_construct), position, rotation, scale)
/* Files of version 0.1 know it by its old name, which stays. */
MICA_TYPE_NAMED_(mica_global_matrix, "mica_world_matrix", MICA_KIND_STRUCT, (.construct = mica_global_matrix_construct),
                 x, y, z)
#endif

#endif
