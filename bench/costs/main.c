/* Runs every operation of the cost map in every circumstance, each in a new world. What is counted happens inside `measured`;
 * tools/costs.py runs the program under callgrind, which writes one total per call of it.
 *
 *     costs                              everything; prints a line per cell: operation, circumstance, operations, bytes per entity
 *     costs OPERATION [CIRCUMSTANCE]     only these
 */
#include "costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Neither inlined nor cloned under another name: what it runs is known only at run time. */
void measured(void (*run)(stage *stage), stage *stage);

__attribute__((noinline)) void measured(void (*run)(stage *stage), stage *stage)
{
    run(stage);
    __asm__ volatile("" ::: "memory"); /* otherwise the call becomes a jump, and the function never returns */
}

/* A name or a link of an entity that does not exist yet, or of one that no operation touches; a clone of values that can't be copied. */
static bool is_meaningless(const operation *operation, const circumstance *circumstance)
{
    bool is_attached = circumstance->extra == EXTRA_NAME || circumstance->extra == EXTRA_LINK;
    return (operation->makes_entities && circumstance->here && is_attached) ||
           (operation->copies && circumstance->kind == KIND_OWNER);
}

static void run_cell(stage *stage, const operation *operation, const circumstance *circumstance)
{
    stage_begin(stage, circumstance);
    operation->prepare(stage);
    stage_ready(stage);
    measured(operation->run, stage);
    uint32_t count = operation->per_world != 0 ? operation->per_world
                                               : stage->entity_count * (operation->repeats ? operation->repeats : 1);
    printf("%s %s %u %u\n", operation->name, circumstance->name, count, circumstance->components * circumstance->bytes);
    stage_end(stage);
}

int main(int argument_count, char **arguments)
{
    stage *stage = aligned_alloc(64, (sizeof *stage + 63) / 64 * 64);
    if (stage == NULL)
        return EXIT_FAILURE;
    for (const operation *operation = operations; operation->name != NULL; ++operation)
        for (const circumstance *circumstance = circumstances; circumstance->name != NULL; ++circumstance)
            if ((argument_count < 2 || strcmp(arguments[1], operation->name) == 0) &&
                (argument_count < 3 || strcmp(arguments[2], circumstance->name) == 0) &&
                !is_meaningless(operation, circumstance))
                run_cell(stage, operation, circumstance);
    free(stage);
    return EXIT_SUCCESS;
}
