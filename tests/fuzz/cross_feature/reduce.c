/* Runs programs in processes of their own, and makes one that fails shorter. */
#define _GNU_SOURCE
#include "reduce.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 };

static char *shared_failure(void)
{
    if (!program_failure) {
        void *memory = mmap(NULL, FAILURE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        program_failure = memory == MAP_FAILED ? NULL : memory;
    }
    return program_failure;
}

bool run_apart(const uint8_t *bytes, size_t byte_count, bool is_quiet, char *out_failure)
{
    char *failure = shared_failure();
    if (failure)
        failure[0] = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (is_quiet && (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)))
            _exit(3);
        alarm(SECONDS_MAX);
        program_run(bytes, byte_count, NULL);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    snprintf(out_failure, FAILURE_BYTES, "%s", failure && failure[0] ? failure : "crash");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool still_fails(const uint8_t *bytes, size_t byte_count, const char *failure)
{
    char now[FAILURE_BYTES];
    return !run_apart(bytes, byte_count, true, now) && strcmp(now, failure) == 0;
}

static size_t without(const uint8_t *bytes, size_t byte_count, size_t at, size_t count, uint8_t *out)
{
    size_t begin = HEADER_BYTES + at * STEP_BYTES;
    size_t end = begin + count * STEP_BYTES;
    end = end < byte_count ? end : byte_count;
    memcpy(out, bytes, begin);
    memcpy(out + begin, bytes + end, byte_count - end);
    return byte_count - (end - begin);
}

/* Leaves out runs of steps, long ones first. */
static size_t leave_steps_out(uint8_t *bytes, size_t byte_count, const char *failure)
{
    uint8_t shorter[PROGRAM_BYTES_MAX];
    for (size_t run = STEPS_MAX / 2; run > 0; run /= 2)
        for (size_t at = 0; HEADER_BYTES + (at + run) * STEP_BYTES <= byte_count;) {
            size_t count = without(bytes, byte_count, at, run, shorter);
            if (still_fails(shorter, count, failure)) {
                memcpy(bytes, shorter, count);
                byte_count = count;
            } else {
                at += run;
            }
        }
    return byte_count;
}

static void clear_bytes(uint8_t *bytes, size_t byte_count, const char *failure)
{
    for (size_t i = 0; i < byte_count; ++i) {
        uint8_t old = bytes[i];
        if (old == 0 || (i >= HEADER_BYTES && (i - HEADER_BYTES) % STEP_BYTES == 0))
            continue;
        bytes[i] = 0;
        if (!still_fails(bytes, byte_count, failure))
            bytes[i] = old;
    }
}

size_t reduce(uint8_t *bytes, size_t byte_count)
{
    char failure[FAILURE_BYTES];
    byte_count = HEADER_BYTES + (byte_count < HEADER_BYTES ? 0 : (byte_count - HEADER_BYTES) / STEP_BYTES * STEP_BYTES);
    if (run_apart(bytes, byte_count, true, failure))
        return byte_count;
    for (;;) {
        size_t before = byte_count;
        byte_count = leave_steps_out(bytes, byte_count, failure);
        if (byte_count == before)
            break;
    }
    clear_bytes(bytes, byte_count, failure);
    return leave_steps_out(bytes, byte_count, failure);
}
