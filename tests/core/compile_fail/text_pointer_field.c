/* A pointer to constant text among the fields. */
#include "mica/mica.h"

typedef struct Named { const char *name; uint32_t count; } Named;
#ifdef MISTAKE
MICA_COMPONENT(Named, name, count)
#else
MICA_COMPONENT(Named, count)
#endif
