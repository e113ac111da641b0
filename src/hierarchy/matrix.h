/* The arithmetic of transforms. Rows of four floats are vector types of the compiler. Each element is computed as it would be
 * alone, so the result is the same with and without vector instructions. */
#ifndef MICAP_HIERARCHY_MATRIX_H
#define MICAP_HIERARCHY_MATRIX_H

#include "base/assert.h"
#include "mica/transform.h"

#include <string.h>

typedef float micap_matrix_row MICAP_VECTOR(16);

static inline void micap_matrix_load(const mica_global_matrix *matrix, micap_matrix_row out[3])
{
    memcpy(out, matrix, sizeof *matrix);
}

/* Returns the matrix of a local transform without a parent. */
static inline void micap_matrix_of_local(const mica_local *local, micap_matrix_row out[3])
{
    float x = local->rotation[0], y = local->rotation[1], z = local->rotation[2], w = local->rotation[3];
    float x2 = x + x, y2 = y + y, z2 = z + z;
    float xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    float wx = w * x2, wy = w * y2, wz = w * z2;
    micap_matrix_row scale = {local->scale[0], local->scale[1], local->scale[2], 1};
    out[0] = (micap_matrix_row){1 - (yy + zz), xy - wz, xz + wy, local->position[0]} * scale;
    out[1] = (micap_matrix_row){xy + wz, 1 - (xx + zz), yz - wx, local->position[1]} * scale;
    out[2] = (micap_matrix_row){xz - wy, yz + wx, 1 - (xx + yy), local->position[2]} * scale;
}

/* Returns the matrix of a local transform below a parent. */
static inline void micap_matrix_compose(const mica_local *local, const mica_global_matrix *parent,
                                        mica_global_matrix *out)
{
    micap_matrix_row rows[3], above[3], result[3];
    micap_matrix_of_local(local, rows);
    micap_matrix_load(parent, above);
    for (int i = 0; i < 3; ++i) {
        micap_matrix_row translation = {0, 0, 0, above[i][3]};
        result[i] = above[i][0] * rows[0] + above[i][1] * rows[1] + above[i][2] * rows[2] + translation;
    }
    memcpy(out, result, sizeof *out);
}

#endif
