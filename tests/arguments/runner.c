/* Calls each public function with invalid arguments, each call in a process of its own: what crashes or hangs is known by
 * name. The cases are made from the public headers by generate.py; the rule they are checked against is in mica/base.h.
 *
 *     test_arguments [WORD]        only the cases with this word in "function, argument: value"
 */
#define _DEFAULT_SOURCE 1
#include "fixture.h"

#include "../support/random.h" /* for UNDER_SANITIZER */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    SECONDS_MAX = UNDER_SANITIZER ? 60 : 10, /* of processor time: the machine may be busy with other work */
    WAITING_SECONDS_MAX = 300,
    MEMORY_BYTES_MAX = UNDER_SANITIZER ? 1 << 29 : 1 << 28,
};

/* Huge counts need allocations that fail instead of ending the program. Few freed bytes are kept, since they count as used. */
#if UNDER_SANITIZER
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:quarantine_size_mb=8";
}
#endif

/* In a build that measures coverage: _exit does not write what was covered. */
#ifdef MICA_COVERAGE
extern void __gcov_dump(void);
#else
#    define __gcov_dump() ((void)0)
#endif

const char *called_function = "";

#ifdef MICA_CHECKED
enum { LINES_ARE_KNOWN = true };
#else
enum { LINES_ARE_KNOWN = false };
#endif

/* What is wrong with the outcome of a call, or NULL. */
static const char *problem_of(expectation expected, const outcome *outcome)
{
    if (!outcome->is_done)
        return "the call was never made";
    if (LINES_ARE_KNOWN && outcome->is_elsewhere)
        return "reported without the line of the call";
    if (outcome->is_reader && (outcome->has_changed || outcome->has_touched))
        return "changed the world, which it only reads";
    switch (expected) {
    case EXPECT_SUCCESS:
        if (outcome->is_harmless)
            return "failed although all arguments are valid";
        return outcome->has_reported ? "reported although all arguments are valid" : NULL;
    case EXPECT_NO_REPORT: return outcome->has_reported ? "reported although all arguments are valid" : NULL;
    case EXPECT_REPORT:
    case EXPECT_QUIET:
        if (!outcome->is_harmless)
            return "returned something else than nil, NULL, 0, false or an error";
        if (outcome->has_changed)
            return "changed the world";
        return expected == EXPECT_REPORT && !outcome->has_reported ? "did not report" : NULL;
    case EXPECT_LOUD: return outcome->is_harmless && !outcome->has_reported ? "failed without a report" : NULL;
    case EXPECT_ANY: return NULL;
    }
    return "has no expectation";
}

/* Limits what the process may allocate from now on. It may have mapped much more before: the shadow of a sanitizer. */
static void limit_memory(void)
{
    unsigned long long page_count = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    REQUIRE(file && fscanf(file, "%llu", &page_count) == 1);
    fclose(file);
    rlim_t bytes = (rlim_t)page_count * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES_MAX;
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

/* Runs a case and says what is wrong with it, on a pipe. */
static void run_child(const argument_case *it, int verdict)
{
    alarm(WAITING_SECONDS_MAX);
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS_MAX, SECONDS_MAX + 5});
    limit_memory();
    struct rlimit core = {0, 0};
    setrlimit(RLIMIT_CORE, &core);
    called_function = it->function;
    it->run(it->call);
    outcome outcome = call_outcome;
    const char *problem = problem_of(it->expected, &outcome);
    if (!problem && !worlds_are_valid())
        problem = "left a world that is not valid";
    char text[1024] = "";
    if (problem)
        snprintf(text, sizeof text, "%s%s%s", problem, outcome.has_reported ? ": " : "", outcome.text);
    if (write(verdict, text, strlen(text)) < 0)
        _exit(2);
    __gcov_dump();
    _exit(problem != NULL);
}

/* What was printed to a file, without line ends. */
static void read_printed(FILE *file, char *text, size_t capacity)
{
    rewind(file);
    size_t count = fread(text, 1, capacity - 1, file);
    text[count] = 0;
    for (size_t i = 0; i < count; ++i)
        text[i] = text[i] == '\n' ? ' ' : text[i];
}

/* Whether a checked build stopped the program because the call was a mistake: it names the mistake. A broken invariant is none. */
static bool is_stopped_by_design(const argument_case *it, const char *printed)
{
    bool is_mistake = it->expected != EXPECT_SUCCESS && it->expected != EXPECT_NO_REPORT;
    bool is_named = strstr(printed, "violation: ") && strstr(printed, "argument_cases.c:");
    return LINES_ARE_KNOWN && is_mistake && (is_named || strstr(printed, "was used after rows were added"));
}

/* Runs a case and fills in what is wrong with it. */
static bool run_case(const argument_case *it, char *text, size_t capacity)
{
    int verdict[2];
    FILE *printed = tmpfile();
    REQUIRE(printed && pipe(verdict) == 0);
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(verdict[0]);
        dup2(fileno(printed), 2);
        run_child(it, verdict[1]);
    }
    close(verdict[1]);
    ssize_t count = read(verdict[0], text, capacity - 1);
    text[count > 0 ? count : 0] = 0;
    close(verdict[0]);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    bool is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFSIGNALED(status)) {
        char said[1024];
        read_printed(printed, said, sizeof said);
        is_fine = WTERMSIG(status) == SIGABRT && is_stopped_by_design(it, said);
        bool is_endless = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU;
        snprintf(text, capacity, "%s (%s) %s", is_endless ? "hung" : "crashed", strsignal(WTERMSIG(status)), said);
    } else if (WEXITSTATUS(status) && !text[0]) {
        read_printed(printed, text, capacity);
    }
    fclose(printed);
    return is_fine;
}

int main(int count, char **words)
{
    unsigned run = 0, failed = 0;
    scratch_folder(); /* one for all cases */
    for (unsigned i = 0; i < argument_case_count; ++i) {
        const argument_case *it = &argument_cases[i];
        char name[256], text[2048];
        snprintf(name, sizeof name, "%s, %s", it->function, it->label);
        if (count > 1 && !strstr(name, words[1]))
            continue;
        ++run;
        if (run_case(it, text, sizeof text))
            continue;
        ++failed;
        printf("FAILED %s: %s\n", name, text);
    }
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_folder());
    if (system(command) != 0)
        fprintf(stderr, "%s: can't be removed\n", scratch_folder());
    printf("%u calls, %u failed\n", run, failed);
    return failed != 0 || run == 0;
}
