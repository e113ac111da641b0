/* What mica_view_read returns is to look at. */
#include "mica/mica.h"

typedef struct Place { float x, y; } Place;
MICA_COMPONENT(Place, x, y)

void push(mica_view *view)
{
#ifdef MISTAKE
    mica_view_read(view, Place)[0].x = 1;
#else
    mica_view_write(view, Place)[0].x = 1;
#endif
}
