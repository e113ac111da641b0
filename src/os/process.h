/* Child processes that run a function of this program, connected by a channel for bytes in both directions. The contract of this seam: a process
 * whose parent has gone reads the end of its channel, and one that is ended no longer exists afterwards. Windows and WebAssembly have none. */
#ifndef MICAP_OS_PROCESS_H
#define MICAP_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct micap_process {
    int64_t id;  /* 0: none */
    int channel; /* the end of the parent */
} micap_process;

/* Runs in the child, which exits with the result. */
typedef int (*micap_process_fn)(int channel, void *context);

/* Starts a process. Call it before the program has threads. Returns 0, or an errno that says why not. */
int micap_process_start(micap_process *out_process, micap_process_fn fn, void *context);

/* Ends a process if it still runs, and releases it. Writes how it ended if it did not exit with 0: "signal 11 (Segmentation fault)" or "exit
 * code 3"; else an empty text. */
void micap_process_end(micap_process *process, bool must_stop, char *out_how, size_t how_bytes);

/* Waits until one of the channels can be read, at most for the time. Negative channels are left out. Returns its position, or -1. A channel whose
 * other end has gone can be read. */
int micap_channel_wait(const int *channels, uint32_t count, int milliseconds);

/* Read and write exactly so many bytes, or as many as there are until the end. Return how many. */
size_t micap_channel_read(int channel, void *bytes, size_t byte_count);
size_t micap_channel_write(int channel, const void *bytes, size_t byte_count);

void micap_channel_close(int channel);

/* Removes a variable from the environment of this process and of those that it starts. */
void micap_environment_remove(const char *name);

#endif
