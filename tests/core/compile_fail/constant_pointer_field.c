/* A pointer that never changes is a pointer still. */
#include "mica/mica.h"

typedef struct Holder { float *const values; uint32_t count; } Holder;
#ifdef MISTAKE
MICA_COMPONENT(Holder, values, count)
#else
MICA_COMPONENT(Holder, count)
#endif
