/* A pointer to anything among the fields. */
#include "mica/mica.h"

typedef struct Holder { void *anything; uint32_t count; } Holder;
#ifdef MISTAKE
MICA_COMPONENT(Holder, anything, count)
#else
MICA_COMPONENT(Holder, count)
#endif
