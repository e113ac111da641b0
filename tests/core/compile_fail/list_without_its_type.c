#include "mica/mica.h"

typedef struct Scores { mica_list numbers; } Scores;
#ifdef MISTAKE
MICA_COMPONENT(Scores, numbers)
#else
MICA_COMPONENT(Scores, (numbers, float))
#endif

mica_component compiled(void);
mica_component compiled(void)
{
    return MICA_ID(Scores);
}
