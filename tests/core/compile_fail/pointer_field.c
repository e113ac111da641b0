/* A pointer among the fields: it means nothing in a file or another process. */
#include "mica/mica.h"

typedef struct Named { float *values; uint32_t count; } Named;
#ifdef MISTAKE
MICA_COMPONENT(Named, values, count)
#else
MICA_COMPONENT(Named, count)
#endif
