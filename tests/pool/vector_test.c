/* The arrays of a pool are such that a compiler makes vector instructions of a plain loop over them: its own report says so. */
#define _POSIX_C_SOURCE 200809L
#include "../support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20];

static void read_all(FILE *file)
{
    size_t count = fread(text, 1, sizeof text - 1, file);
    text[count] = 0;
}

/* The line of the first loop after a function begins; 0 when there is none. */
static int line_of_loop_in(const char *path, const char *function)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "%s can be read", path);
    read_all(file);
    fclose(file);
    const char *begin = strstr(text, function), *loop = begin ? strstr(begin, "for (") : NULL;
    int line = loop ? 1 : 0;
    for (const char *at = text; loop && at < loop; ++at)
        line += *at == '\n';
    return line;
}

/* Compiles with the options of one kind of compiler; false when it does not know them. What it said is in `text`. */
static bool compile(const char *path, const char *options)
{
    const char *compiler = getenv("CC");
    char command[1024];
    snprintf(command, sizeof command, "LC_ALL=C %s -std=c17 -O3 %s -ffp-contract=off -Iinclude -c %s -o /dev/null 2>&1",
             compiler && *compiler ? compiler : "cc", options, path);
    FILE *said = popen(command, "r");
    ck_assert_msg(said, "the compiler runs");
    read_all(said);
    return pclose(said) == 0;
}

START_TEST(the_loop_over_point_masses_is_vectorised)
{
    static const char path[] = "examples/point_mass.c";
    int line = line_of_loop_in(path, "static void integrate(");
    ck_assert_msg(line > 0, "the example has the loop");
    bool is_gcc = compile(path, "-fopt-info-vec");
    ck_assert_msg(is_gcc || compile(path, "-Rpass=loop-vectorize"), "the compiler reports what it vectorises: %s",
                  text);
    char location[64];
    snprintf(location, sizeof location, "point_mass.c:%d:", line);
    char *report = strstr(text, location);
    ck_assert_msg(report, "a report about line %d in:\n%s", line, text);
    report[strcspn(report, "\n")] = 0;
    ck_assert_msg(strstr(report, "vectorized"), "it says that the loop is vectorised:\n%s", report);
}
END_TEST

TEST_SUITE(vector, the_loop_over_point_masses_is_vectorised)
