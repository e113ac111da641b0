/* What is shown of the battle: the field, the time line, and what each system cost. */
#ifndef MICA_SHOW_PICTURE_H
#define MICA_SHOW_PICTURE_H

#include "battle.h"
#include "canvas.h"
#include "timeline.h"

enum { PICTURE_WIDTH = BATTLE_WIDTH, PICTURE_HEIGHT = BATTLE_HEIGHT + 144 };

/* Milliseconds of each system, tick by tick. */
typedef struct costs {
    float of_system[TIMELINE_TICKS][BATTLE_SYSTEMS_MAX];
} costs;

/* Notes what the last step cost, as that of a tick. */
void costs_note(costs *costs, const battle *battle, uint64_t tick);

void picture_draw(canvas *canvas, const battle *battle, const timeline *timeline, const costs *costs,
                  const char *state);

/* Returns the tick under a place of the time line, or -1 elsewhere. */
int64_t picture_tick_at(const timeline *timeline, int x, int y);

#endif
