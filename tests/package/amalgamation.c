/* A program that includes mica.c, in front of everything else (MICA_C_FIRST) or after system headers and mica.h. Its own
 * names don't conflict with local names of Mica, and in checked builds its calls are checked. */
#ifdef MICA_C_FIRST
#    include "mica.c"
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mica.h"
#ifndef MICA_C_FIRST
#    include "mica.c"
#endif

typedef struct Position {
    float x, y;
} Position;
MICA_COMPONENT(Position, x, y)

static int find = 1, place = 2, lock = 3, window_of = 4, grow = 5, release = 6;

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity ship = mica_create(world, MICA_WITH(Position, {1, 2}));
    mica_flush(world);
    const Position *position = mica_get(world, ship, Position);
    bool ok = position && position->y == 2 && mica_world_validate(world) == MICA_OK &&
              find + place + lock + window_of + grow + release == 21;
    mica_destroy(world, ship);
    mica_world_destroy(world);
    puts(ok ? "1 passed, 0 failed" : "0 passed, 1 failed");
    return ok ? 0 : 1;
}
