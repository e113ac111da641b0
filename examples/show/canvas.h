/* A picture in memory, and the little that is drawn into it. */
#ifndef MICA_SHOW_CANVAS_H
#define MICA_SHOW_CANVAS_H

#include <stdint.h>

typedef struct canvas {
    int width, height;
    uint32_t *pixels; /* 0x00RRGGBB, row by row */
} canvas;

typedef struct box {
    int x, y, width, height;
} box;

void canvas_fill(canvas *canvas, box where, uint32_t color);

/* Adds light: what is crowded glows. Outside of the picture nothing happens. */
void canvas_glow(canvas *canvas, int x, int y, uint32_t color);

/* Writes capitals, digits and some signs, `scale` pixels for each of the font's; returns where the text ends. */
int canvas_text(canvas *canvas, int x, int y, int scale, uint32_t color, const char *text);

enum { FONT_WIDTH = 4, FONT_HEIGHT = 6 };

#endif
