/* A nested struct must be written as (field, Type). */
#include "mica/mica.h"

typedef struct Vec2 { float x, y; } Vec2;
MICA_STRUCT(Vec2, x, y)
typedef struct Place { Vec2 at; } Place;
#ifdef MISTAKE
MICA_COMPONENT(Place, at)
#else
MICA_COMPONENT(Place, (at, Vec2))
#endif
