#include "hierarchy/matrix.h"
#include "base/argument.h"

bool mica_local_construct(void *values, uint32_t count, void *context)
{
    if (MICAP_MISSING_ARRAY(NULL, values, count))
        return false;
    (void)context;
    mica_local *locals = values;
    for (uint32_t i = 0; i < count; ++i)
        locals[i] = (mica_local)MICA_LOCAL_AT(0, 0, 0);
    return true;
}

bool mica_global_matrix_construct(void *values, uint32_t count, void *context)
{
    if (MICAP_MISSING_ARRAY(NULL, values, count))
        return false;
    (void)context;
    mica_global_matrix *matrices = values;
    for (uint32_t i = 0; i < count; ++i)
        matrices[i] = (mica_global_matrix){{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    return true;
}

mica_component mica_local_id(void)
{
    return MICA_ID(mica_local);
}

mica_component mica_global_matrix_id(void)
{
    return MICA_ID(mica_global_matrix);
}

void mica_matrix_from_local(const mica_local *local, const mica_global_matrix *parent, mica_global_matrix *out)
{
    if (MICAP_MISSING(NULL, local) || MICAP_MISSING(NULL, out))
        return;
    if (parent) {
        micap_matrix_compose(local, parent, out);
        return;
    }
    micap_matrix_row rows[3];
    micap_matrix_of_local(local, rows);
    memcpy(out, rows, sizeof *out);
}

void mica_matrix_point(const mica_global_matrix *matrix, const float point[3], float out[3])
{
    if (MICAP_MISSING(NULL, matrix) || MICAP_MISSING(NULL, point) || MICAP_MISSING(NULL, out))
        return;
    float x = point[0], y = point[1], z = point[2];
    out[0] = matrix->x[0] * x + matrix->x[1] * y + matrix->x[2] * z + matrix->x[3];
    out[1] = matrix->y[0] * x + matrix->y[1] * y + matrix->y[2] * z + matrix->y[3];
    out[2] = matrix->z[0] * x + matrix->z[1] * y + matrix->z[2] * z + matrix->z[3];
}
