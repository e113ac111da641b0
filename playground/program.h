/* A program of the playground: a simulation with parameters and a picture. playground.c runs it; only one runs at a time. */
#ifndef MICA_PLAYGROUND_PROGRAM_H
#define MICA_PLAYGROUND_PROGRAM_H

#include "mica/flow.h"

enum { PARAMETERS_MAX = 4, NUMBERS_MAX = 3 };

/* A dot of some size, or a line of some width if it reaches across or down. The page reads marks from the memory of the module. */
typedef struct mark {
    float x, y;
    float across, down;
    float size;
    uint32_t color; /* 0xRRGGBBAA */
} mark;

typedef struct picture {
    mark *marks;
    uint32_t count, capacity;
    float numbers[NUMBERS_MAX]; /* for the chart */
} picture;

/* Adds a mark. If memory runs out, the picture stays without it. */
void picture_add(picture *picture, mark mark);

typedef struct parameter {
    const char *name;
    float minimum, maximum, step, initial;
    bool restarts; /* the world is created anew when it changes; others take effect with the next frame */
} parameter;

typedef struct number {
    const char *name;
    uint32_t color; /* 0xRRGGBBAA */
} number;

typedef struct program {
    const char *name;
    const char *shows;   /* in a sentence or two */
    const char *sources; /* names of its files */
    float width, height; /* of its picture */
    float frames_per_second;
    float frame_seconds;                  /* time that passes in the world */
    parameter parameters[PARAMETERS_MAX]; /* those after the last have no name */
    number numbers[NUMBERS_MAX];
    bool (*start)(mica_world *world, const float *values);  /* fills an empty world */
    void (*adjust)(mica_world *world, const float *values); /* before each frame */
    void (*draw)(mica_world *world, picture *picture);      /* the picture is empty */
} program;

extern const program battle_program, flock_program, epidemic_program, orbits_program;

#endif
