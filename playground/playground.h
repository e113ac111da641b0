/* Runs one program of the playground at a time. The page calls these functions in WebAssembly; the program `playground` calls them
 * natively. */
#ifndef MICA_PLAYGROUND_H
#define MICA_PLAYGROUND_H

#include "program.h"

/* Return how many programs there are, and one of them: as a struct, and as JSON, which is valid until the next call. */
uint32_t playground_count(void);
const program *playground_program(uint32_t index);
const char *playground_describe(uint32_t index);

/* Returns the values of the parameters, to write before a start or a step. */
float *playground_values(void);

/* Starts a program with the current values, as frame 0. Ends the one before. Returns false on failure. */
bool playground_start(uint32_t index);

/* Runs a frame with the current values. Frames after the shown one are dropped. Returns false on failure. */
bool playground_step(void);

/* Shows a stored frame, or the nearest one that is stored. Returns false on failure. */
bool playground_rewind(uint32_t frame);

/* Return the shown frame, and the first and last that are stored. */
uint32_t playground_frame(void);
uint32_t playground_first(void);
uint32_t playground_last(void);

/* Return the hash of the world in hexadecimal, and the memory that stored frames use. */
const char *playground_hash(void);
uint32_t playground_history_bytes(void);

/* Draws the shown frame. Returns its marks, their number, and the numbers for the chart. Valid until the next call. */
const mark *playground_draw(void);
uint32_t playground_mark_count(void);
const float *playground_numbers(void);

#endif
