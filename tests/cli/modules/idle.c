/* A module that needs nothing of the program that loads it; and one with another component than the other modules. */
#include "mica/flow.h"
#include "mica/module.h"

#ifdef RENAMED
typedef struct Amount { uint32_t value; } Amount;
MICA_COMPONENT(Amount, value)
#endif

MICA_MODULE(world)
{
#ifdef RENAMED
    mica_define(world, Amount);
#endif
    return world ? MICA_OK : MICA_ERROR_INVALID;
}
