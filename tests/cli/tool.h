/* Running the tool and looking at what it says. For a file that defines _DEFAULT_SOURCE first. */
#ifndef MICA_TESTS_CLI_TOOL_H
#define MICA_TESTS_CLI_TOOL_H

#include "../support/level.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* A command line, its exit code, and a part of what it says; an empty part is silence. */
typedef struct step {
    const char *arguments;
    int status;
    const char *fragment;
} step;

/* Before the number of ranks. Open MPI does not free everything, which the address sanitizer would count. */
#define MPIRUN                                                                                                         \
    "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\" mpirun --allow-run-as-root --oversubscribe --mca "                  \
    "mpi_yield_when_idle 1 -n "

static char output[1 << 20];

/* Runs the tool in the scratch folder; returns its exit code, and what it said in `output`, errors included. */
static int run(const char *arguments)
{
    char command[1024], folder[128];
    snprintf(folder, sizeof folder, "%s", scratch(""));
    snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1", folder, getenv("MICA_TOOL"), arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t count = fread(output, 1, sizeof output - 1, pipe);
    output[count] = 0;
    int status = pclose(pipe);
    ck_assert_msg(WIFEXITED(status), "%s: it did not end by itself", arguments);
    return WEXITSTATUS(status);
}

/* In order: later ones use what earlier ones wrote. */
static void expect_steps(const step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        int status = run(steps[i].arguments);
        ck_assert_msg(status == steps[i].status, "mica %s: exit code %d, expected %d\n%.2000s", steps[i].arguments,
                      status, steps[i].status, output);
        ck_assert_msg(*steps[i].fragment ? strstr(output, steps[i].fragment) != NULL : !*output,
                      "mica %s: expected \"%s\", found\n%.2000s", steps[i].arguments, steps[i].fragment, output);
    }
}

#endif
