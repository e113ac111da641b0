/* Pictures as files. */
#ifndef MICA_SHOW_IMAGE_H
#define MICA_SHOW_IMAGE_H

#include "canvas.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes a PNG file. False when it can't. */
bool image_write_png(const canvas *canvas, const char *path);

/* An animated GIF, picture by picture, in colours of three bits each for red and green and two for blue. */
typedef struct animation {
    FILE *file;
    int width, height;
} animation;

bool animation_begin(animation *animation, const char *path, int width, int height);
/* Adds a picture, made smaller to the size of the animation by averaging whole blocks. */
bool animation_add(animation *animation, const canvas *canvas, int hundredths);
bool animation_end(animation *animation);

#endif
