/* What mica_read returns is to look at. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
MICA_COMPONENT(Place, x, y)

void push(mica_view *view)
{
#ifdef MISTAKE
    mica_read(view, Place)[0].x = 1;
#else
    mica_write(view, Place)[0].x = 1;
#endif
}
