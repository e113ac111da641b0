/* Saving that is killed, or fails, at every call to the operating system in turn. The test stands between the library and
 * the system: a program's own pwrite, fsync, ... take the place of libc's, with static and with shared libraries, and without
 * a tracer, which containers mostly forbid.
 *
 * Besides a crash of the process, a power failure is simulated: unsynced writes are lost, and so may be a rename whose folder was not
 * synced. This distinguishes a save that syncs from one that only renames. */
#define _GNU_SOURCE 1
#include "support/components.h"
#include "support/require.h"
#include "support/test.h"
#include "mica/resource.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD_COUNT = 40, NEW_COUNT = 20000, NEVER = 0 }; /* the new one takes several writes */

typedef enum ending {
    PROCESS_DIES,
    POWER_IS_CUT,             /* what was not synced is lost; a rename is kept */
    POWER_IS_CUT_WITH_RENAME, /* and so is the rename */
    CALL_FAILS,
} ending;

static struct {
    bool armed;
    uint32_t calls;
    uint32_t at; /* which call, from 1 on; NEVER */
    ending ending;
    int error;
    size_t write_max;   /* bytes that one write takes; 0: all */
    size_t space_bytes; /* left on the disk, while has_space_limit */
    bool has_space_limit;
    int file; /* the temporary one, a handle of the test's own */
    bool file_dirty;
    bool rename_dirty;
} fault;

static char folder[64];
static char target[96];
static char spare[96]; /* another folder, where the old file lies on after a rename */

static void cut_power(void)
{
    if (fault.file_dirty)
        REQUIRE(ftruncate(fault.file, 0) == 0);
    if (fault.ending == POWER_IS_CUT_WITH_RENAME && fault.rename_dirty)
        REQUIRE(syscall(SYS_renameat, AT_FDCWD, spare, AT_FDCWD, target) == 0);
}

/* Whether this call is to fail; it does not come back from an end. */
static bool strikes(void)
{
    if (!fault.armed || ++fault.calls != fault.at)
        return false;
    if (fault.ending == CALL_FAILS) {
        errno = fault.error;
        return true;
    }
    if (fault.ending != PROCESS_DIES)
        cut_power();
    kill(getpid(), SIGKILL);
    return true;
}

/* The system's own header declares them without names; the test's must agree with it. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wredundant-decls"

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    if (strikes())
        return -1;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fault.armed && flags & O_CREAT)
        fault.file = fcntl(file, F_DUPFD_CLOEXEC, 100);
    return file;
}

ssize_t pwrite(int file, const void *bytes, size_t byte_count, off_t offset)
{
    if (strikes())
        return -1;
    if (fault.armed && fault.write_max && byte_count > fault.write_max)
        byte_count = fault.write_max;
    if (fault.armed && fault.has_space_limit) {
        if (fault.space_bytes == 0)
            return errno = ENOSPC, -1;
        byte_count = byte_count < fault.space_bytes ? byte_count : fault.space_bytes;
        fault.space_bytes -= byte_count;
    }
    fault.file_dirty = fault.file_dirty || fault.armed;
    return syscall(SYS_pwrite64, file, bytes, byte_count, offset);
}

int fsync(int file)
{
    if (strikes())
        return -1;
    if (fault.armed) {
        struct stat about;
        REQUIRE(fstat(file, &about) == 0);
        *(S_ISDIR(about.st_mode) ? &fault.rename_dirty : &fault.file_dirty) = false;
    }
    return (int)syscall(SYS_fsync, file);
}

int close(int file)
{
    bool struck = strikes();
    int result = (int)syscall(SYS_close, file);
    if (struck)
        errno = fault.error;
    return struck ? -1 : result;
}

int rename(const char *from, const char *to)
{
    if (strikes())
        return -1;
    if (fault.armed) {
        REQUIRE(link(to, spare) == 0);
        fault.rename_dirty = true;
    }
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
    if (strikes())
        return -1;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void hear(const mica_report *report, void *context)
{
    snprintf(context, 512, "%s", report->text);
}

static mica_result save(uint32_t entity_count, char *out_text)
{
    mica_world_def def = mica_world_def_default();
    def.report = hear;
    def.report_context = out_text;
    mica_world *world = mica_world_create(&def);
    for (uint32_t i = 0; i < entity_count; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Matrix));
    fault.armed = entity_count == NEW_COUNT;
    mica_result result = mica_save(world, target, NULL);
    fault.armed = false;
    mica_world_destroy(world);
    return result;
}

/* What is in the file; 0 when it does not load. */
static uint32_t saved_count(void)
{
    mica_resource_error error = {0};
    mica_resource *resource = mica_resource_load(target, NULL, &error);
    uint32_t count = resource ? mica_resource_entity_count(resource) : 0;
    mica_resource_free(resource);
    return count;
}

/* Removes all files except the target. Returns how many. */
static uint32_t sweep_folder(void)
{
    uint32_t count = 0;
    DIR *listing = opendir(folder);
    REQUIRE(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(path, target) == 0)
            continue;
        REQUIRE(unlink(path) == 0);
        ++count;
    }
    closedir(listing);
    return count;
}

static void begin(void)
{
    char text[512] = "";
    memset(&fault, 0, sizeof fault);
    unlink(spare);
    REQUIRE(save(OLD_COUNT, text) == MICA_OK);
    REQUIRE(saved_count() == OLD_COUNT);
}

static void open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/mica_crash_XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/save.mica", folder);
    snprintf(spare, sizeof spare, "%s.old", folder);
}

static void close_folder(void)
{
    sweep_folder();
    unlink(spare);
    unlink(target);
    rmdir(folder);
}

START_TEST(killed_at_every_call_leaves_the_old_file_or_the_new_one)
{
    static const ending endings[] = {PROCESS_DIES, POWER_IS_CUT, POWER_IS_CUT_WITH_RENAME};
    open_folder();
    for (uint32_t kind = 0; kind < COUNT_OF(endings); ++kind) {
        uint32_t olds = 0, news = 0, at = 1;
        for (bool died = true; died; ++at) {
            begin();
            fault.at = at;
            fault.ending = endings[kind];
            pid_t child = fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                char text[512];
                bool fine = save(NEW_COUNT, text) == MICA_OK;
                if (fault.ending != PROCESS_DIES)
                    cut_power(); /* it said that all was saved: then it is */
                _exit(fine ? 0 : 1);
            }
            int status;
            REQUIRE(waitpid(child, &status, 0) == child);
            died = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            uint32_t count = saved_count();
            REQUIRE_SAYING(count == OLD_COUNT || count == NEW_COUNT, "ending %u, call %u: %u entities", kind, at,
                           count);
            REQUIRE_SAYING(died || (WIFEXITED(status) && WEXITSTATUS(status) == 0 && count == NEW_COUNT),
                           "ending %u, call %u: status %x, %u entities", kind, at, (unsigned)status, count);
            *(count == OLD_COUNT ? &olds : &news) += 1;
            sweep_folder();
        }
        ck_assert_uint_ge(olds, 6); /* create, some writes, rename */
        ck_assert_uint_ge(news, 1);
    }
    close_folder();
}
END_TEST

START_TEST(a_call_that_fails_is_reported_and_leaves_no_temporary_file)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    open_folder();
    for (uint32_t kind = 0; kind < COUNT_OF(errors); ++kind) {
        uint32_t failed = 0, at = 1;
        for (bool reached = true; reached; ++at) {
            char text[512] = "";
            begin();
            fault.at = at;
            fault.ending = CALL_FAILS;
            fault.error = errors[kind];
            mica_result result = save(NEW_COUNT, text);
            reached = fault.calls >= at;
            uint32_t count = saved_count();
            REQUIRE_SAYING(count == OLD_COUNT || count == NEW_COUNT, "call %u: %u entities", at, count);
            REQUIRE_SAYING(sweep_folder() == 0, "call %u left a temporary file", at);
            if (result == MICA_OK) {
                REQUIRE_SAYING(count == NEW_COUNT, "call %u: saved, they say", at);
                continue;
            }
            ++failed;
            REQUIRE_SAYING(result == MICA_ERROR_FILE && strstr(text, target) && strstr(text, strerror(errors[kind])),
                           "call %u: %s: %s", at, mica_result_text(result), text);
        }
        ck_assert_uint_eq(failed, at - 3); /* not the last, which closes the folder, nor the one without a fault */
    }
    close_folder();
}
END_TEST

START_TEST(short_and_interrupted_writes_are_continued)
{
    static const struct {
        size_t write_max;
        int error;
    } cases[] = {{100, 0}, {1000, 0}, {0, EINTR}, {4096, EINTR}};
    open_folder();
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        for (uint32_t at = 2; at <= (cases[i].error ? 5 : 2); ++at) { /* the writes and the sync */
            char text[512] = "";
            begin();
            fault.write_max = cases[i].write_max;
            fault.ending = CALL_FAILS;
            fault.error = cases[i].error;
            fault.at = cases[i].error ? at : NEVER;
            REQUIRE_SAYING(save(NEW_COUNT, text) == MICA_OK, "case %u: %s", i, text);
            REQUIRE(saved_count() == NEW_COUNT && sweep_folder() == 0);
        }
    close_folder();
}
END_TEST

START_TEST(a_disk_that_fills_up_keeps_the_old_file)
{
    static const size_t spaces[] = {0, 1, 63, 64, 4096, 10000, 1200000};
    open_folder();
    for (uint32_t i = 0; i < COUNT_OF(spaces); ++i) {
        char text[512] = "";
        begin();
        fault.has_space_limit = true;
        fault.space_bytes = spaces[i];
        REQUIRE(save(NEW_COUNT, text) == MICA_ERROR_FILE);
        REQUIRE_SAYING(strstr(text, strerror(ENOSPC)), "%s", text);
        REQUIRE(saved_count() == OLD_COUNT && sweep_folder() == 0);
    }
    close_folder();
}
END_TEST

START_TEST(the_mode_of_a_saved_file_follows_the_umask)
{
    open_folder();
    mode_t mask = umask(027);
    begin();
    umask(mask);
    struct stat about;
    ck_assert_int_eq(stat(target, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0640);
    close_folder();
}
END_TEST

TEST_SUITE(crash, killed_at_every_call_leaves_the_old_file_or_the_new_one,
           a_call_that_fails_is_reported_and_leaves_no_temporary_file, short_and_interrupted_writes_are_continued,
           a_disk_that_fills_up_keeps_the_old_file, the_mode_of_a_saved_file_follows_the_umask)
