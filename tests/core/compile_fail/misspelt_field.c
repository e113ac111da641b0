/* A field that the struct does not have. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
#ifdef MISTAKE
MICA_COMPONENT(Place, x, why)
#else
MICA_COMPONENT(Place, x, y)
#endif
