/* Random programs over all features, with one and with several workers, from a seed; and those that are kept in corpus/world.
 *
 *     test_fuzz_cross_feature                     the kept programs, then random ones: MICA_TEST_PROGRAMS from MICA_TEST_SEED
 *     test_fuzz_cross_feature run FILE...         runs programs, as text or as libFuzzer writes them, printing each step
 *     test_fuzz_cross_feature reduce FILE         makes a program that fails shorter, and prints it
 *     test_fuzz_cross_feature print FILE          prints a program as text
 *     test_fuzz_cross_feature seed NUMBER         prints the random program of a seed
 *     test_fuzz_cross_feature hunt FIRST COUNT    runs the random programs of these seeds and prints which of them fail
 *     test_fuzz_cross_feature assemble FILE OUT   writes a program as bytes, for libFuzzer
 *
 * Random programs run in a process beside the one that watches it. When one fails, it is reduced and printed. */
#define _GNU_SOURCE
#include "cross_feature/reduce.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *corpus = "tests/fuzz/corpus/world";

static size_t load(const char *path, uint8_t *out_bytes)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = 0;
    if (strncmp(text, "worlds", 6) == 0 || text[0] == '#')
        return program_parse(text, out_bytes, PROGRAM_BYTES_MAX);
    count = count < PROGRAM_BYTES_MAX ? count : PROGRAM_BYTES_MAX;
    memcpy(out_bytes, text, count);
    return count;
}

static size_t draw(uint64_t seed, uint8_t *out_bytes)
{
    random_source random = {.state = seed};
    return program_draw(&random, out_bytes);
}

static void show_reduced(uint8_t *bytes, size_t byte_count)
{
    char failure[FAILURE_BYTES];
    printf("reduced:\n");
    size_t count = reduce(bytes, byte_count);
    program_print(bytes, count, stdout);
    fflush(stdout);
    run_apart(bytes, count, false, failure);
}

/* Runs random programs in one process that writes down which one it is at. Returns the seed of the first that fails, or
 * `first + count`. */
static uint64_t run_until_failure(uint64_t first, uint64_t count)
{
    uint8_t bytes[PROGRAM_BYTES_MAX];
    uint64_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return first;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (*at = first; *at < first + count; ++*at) {
            alarm(120);
            program_run(bytes, draw(*at, bytes), NULL);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    uint64_t reached = *at;
    munmap(at, sizeof *at);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ended ? first + count : reached;
}

static int run_random(uint64_t first, uint64_t count)
{
    uint8_t bytes[PROGRAM_BYTES_MAX];
    uint64_t failed = run_until_failure(first, count);
    if (failed == first + count)
        return 0;
    printf("the program of seed %llu fails\n", (unsigned long long)failed);
    show_reduced(bytes, draw(failed, bytes));
    return 1;
}

static void hunt(uint64_t first, uint64_t count)
{
    for (uint64_t end = first + count; first < end; ++first) {
        first = run_until_failure(first, end - first);
        if (first < end)
            fprintf(stderr, "seed %llu fails\n", (unsigned long long)first);
    }
}

static int run_corpus(void)
{
    uint8_t bytes[PROGRAM_BYTES_MAX];
    char path[512], failure[FAILURE_BYTES];
    int failed = 0;
    DIR *folder = opendir(corpus);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".txt"))
            continue;
        snprintf(path, sizeof path, "%s/%s", corpus, entry->d_name);
        if (!run_apart(bytes, load(path, bytes), false, failure)) {
            printf("%s fails: %s\n", path, failure);
            ++failed;
        }
    }
    if (folder)
        closedir(folder);
    return failed;
}

static int run_command(int argument_count, char **arguments)
{
    uint8_t bytes[PROGRAM_BYTES_MAX];
    const char *command = arguments[1];
    if (strcmp(command, "run") == 0) {
        for (int i = 2; i < argument_count; ++i)
            program_run(bytes, load(arguments[i], bytes), stdout);
    } else if (strcmp(command, "reduce") == 0) {
        show_reduced(bytes, load(arguments[2], bytes));
    } else if (strcmp(command, "print") == 0) {
        program_print(bytes, load(arguments[2], bytes), stdout);
    } else if (strcmp(command, "seed") == 0) {
        program_print(bytes, draw(strtoull(arguments[2], NULL, 0), bytes), stdout);
    } else if (strcmp(command, "hunt") == 0 && argument_count > 3) {
        hunt(strtoull(arguments[2], NULL, 0), strtoull(arguments[3], NULL, 0));
    } else if (strcmp(command, "assemble") == 0 && argument_count > 3) {
        size_t count = load(arguments[2], bytes);
        FILE *out = fopen(arguments[3], "wb");
        if (!out || fwrite(bytes, 1, count, out) != count || fclose(out) != 0)
            return 2;
    } else {
        return 2;
    }
    return 0;
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 2)
        return run_command(argument_count, arguments);
    uint64_t programs = setting_from_environment("MICA_TEST_PROGRAMS", UNDER_SANITIZER ? 150 : 500);
    int failed = run_corpus();
    failed += run_random(setting_from_environment("MICA_TEST_SEED", 1), programs);
    printf("%s\n", failed ? "failed" : "all programs passed");
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
