/* A program of the playground without the page: prints the hash of a frame, which the page must show, too.
 *
 *     playground PROGRAM FRAME [FRAME:PARAMETER:VALUE...]     a parameter has a value from a frame on, in rising order
 */
#include "playground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of a program, or that of all programs if there is none with this name. */
static uint32_t find_program(const char *name)
{
    uint32_t index = 0;
    while (index < playground_count() && strcmp(playground_program(index)->name, name) != 0)
        ++index;
    return index;
}

/* Sets the values that words name for a frame. */
static void set_values(uint32_t frame, int count, char **words)
{
    for (int i = 0; i < count; ++i) {
        unsigned from, parameter;
        float value;
        if (sscanf(words[i], "%u:%u:%f", &from, &parameter, &value) == 3 && from == frame && parameter < PARAMETERS_MAX)
            playground_values()[parameter] = value;
    }
}

int main(int count, char **words)
{
    uint32_t program = count > 2 ? find_program(words[1]) : playground_count();
    if (program == playground_count()) {
        fputs("usage: playground battle|flock|epidemic|orbits FRAME [FRAME:PARAMETER:VALUE...]\n", stderr);
        return 2;
    }
    uint32_t last = (uint32_t)strtoul(words[2], NULL, 10);
    for (int i = 0; i < PARAMETERS_MAX; ++i)
        playground_values()[i] = playground_program(program)->parameters[i].initial;
    set_values(0, count - 3, words + 3);
    bool fine = playground_start(program);
    while (fine && playground_frame() < last) {
        set_values(playground_frame(), count - 3, words + 3);
        fine = playground_step();
    }
    if (!fine)
        return 1;
    playground_draw();
    printf("frame %u: %u marks, world hash %s\n", (unsigned)playground_frame(), (unsigned)playground_mark_count(),
           playground_hash());
    return 0;
}
