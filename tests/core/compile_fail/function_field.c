/* A pointer to a function among the fields. */
#include "mica/mica.h"

typedef struct Holder { void (*act)(void); uint32_t count; } Holder;
#ifdef MISTAKE
MICA_COMPONENT(Holder, act, count)
#else
MICA_COMPONENT(Holder, count)
#endif
