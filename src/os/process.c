#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for fork, kill and strsignal, which strict C17 hides */
#endif
#include "os/process.h"

#include <errno.h>
#include <stdio.h>

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#    include <poll.h>
#    include <signal.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/socket.h>
#    include <sys/wait.h>
#    include <unistd.h>

enum { POLLED_MAX = 1024 };

int micap_process_start(micap_process *out_process, micap_process_fn fn, void *context)
{
    int ends[2];
    *out_process = (micap_process){.channel = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return errno;
    fflush(NULL); /* what is not written yet would be written twice */
    pid_t id = fork();
    if (id == 0) {
        close(ends[0]);
        exit(fn(ends[1], context));
    }
    int problem = id < 0 ? errno : 0;
    close(ends[1]);
    if (problem)
        close(ends[0]);
    else
        *out_process = (micap_process){.id = id, .channel = ends[0]};
    return problem;
}

void micap_process_end(micap_process *process, bool must_stop, char *out_how, size_t how_bytes)
{
    int status = 0;
    snprintf(out_how, how_bytes, "%s", "");
    if (must_stop)
        kill((pid_t)process->id, SIGKILL);
    close(process->channel);
    while (waitpid((pid_t)process->id, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        snprintf(out_how, how_bytes, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        snprintf(out_how, how_bytes, "exit code %d", WEXITSTATUS(status));
    *process = (micap_process){.channel = -1};
}

int micap_channel_wait(const int *channels, uint32_t count, int milliseconds)
{
    struct pollfd polled[POLLED_MAX];
    count = count < POLLED_MAX ? count : POLLED_MAX;
    for (uint32_t i = 0; i < count; ++i)
        polled[i] = (struct pollfd){.fd = channels[i], .events = POLLIN};
    if (poll(polled, count, milliseconds) <= 0)
        return -1;
    for (uint32_t i = 0; i < count; ++i)
        if (polled[i].revents)
            return (int)i;
    return -1;
}

size_t micap_channel_read(int channel, void *bytes, size_t byte_count)
{
    size_t done = 0;
    while (done < byte_count) {
        ssize_t count = recv(channel, (char *)bytes + done, byte_count - done, 0);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            break;
        done += count > 0 ? (size_t)count : 0;
    }
    return done;
}

size_t micap_channel_write(int channel, const void *bytes, size_t byte_count)
{
    size_t done = 0;
    while (done < byte_count) {
        /* An error instead of a signal if the other end has gone. */
        ssize_t count = send(channel, (const char *)bytes + done, byte_count - done, MSG_NOSIGNAL);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            break;
        done += count > 0 ? (size_t)count : 0;
    }
    return done;
}

void micap_channel_close(int channel)
{
    close(channel);
}

void micap_environment_remove(const char *name)
{
    unsetenv(name);
}
#else
int micap_process_start(micap_process *out_process, micap_process_fn fn, void *context)
{
    (void)fn;
    (void)context;
    *out_process = (micap_process){.channel = -1};
    return ENOSYS;
}

void micap_process_end(micap_process *process, bool must_stop, char *out_how, size_t how_bytes)
{
    (void)process;
    (void)must_stop;
    snprintf(out_how, how_bytes, "%s", "");
}

int micap_channel_wait(const int *channels, uint32_t count, int milliseconds)
{
    (void)channels;
    (void)count;
    (void)milliseconds;
    return -1;
}

size_t micap_channel_read(int channel, void *bytes, size_t byte_count)
{
    (void)channel;
    (void)bytes;
    (void)byte_count;
    return 0;
}

size_t micap_channel_write(int channel, const void *bytes, size_t byte_count)
{
    (void)channel;
    (void)bytes;
    (void)byte_count;
    return 0;
}

void micap_channel_close(int channel)
{
    (void)channel;
}

void micap_environment_remove(const char *name)
{
    (void)name;
}
#endif
