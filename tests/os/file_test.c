/* Files: what can't be mapped or written is told with its number, and leaves what was there. */
#define _DEFAULT_SOURCE 1 /* for temporary folders and limits, which strict C17 hides */
#include "../support/test.h"

#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static void open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/mica-file-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/target", folder);
}

/* Removes the folder; returns how many files lay in it. */
static uint32_t close_folder(void)
{
    uint32_t count = 0;
    DIR *all = opendir(folder);
    for (const struct dirent *file; (file = readdir(all));) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", folder, file->d_name);
        count += file->d_name[0] != '.';
        if (file->d_name[0] != '.')
            remove(name);
    }
    closedir(all);
    ck_assert_int_eq(rmdir(folder), 0);
    return count;
}

static void expect_content(const char *content)
{
    micap_mapping mapping;
    ck_assert_int_eq(micap_file_map(path, &mapping), 0);
    ck_assert_uint_eq(mapping.byte_count, strlen(content));
    ck_assert(!*content || memcmp(mapping.bytes, content, mapping.byte_count) == 0);
    micap_file_unmap(&mapping);
    ck_assert_ptr_null(mapping.bytes);
}

START_TEST(a_file_is_what_was_written_last)
{
    open_folder();
    for (uint32_t i = 0; i < 3; ++i) {
        const char *contents[] = {"first", "", "something longer than before"};
        ck_assert_int_eq(micap_file_replace(path, contents[i], strlen(contents[i])), 0);
        expect_content(contents[i]);
    }
    ck_assert_uint_eq(close_folder(), 1);
}
END_TEST

START_TEST(a_replacement_is_written_anywhere_and_shows_when_it_ends)
{
    open_folder();
    micap_replacement replacement;
    ck_assert_int_eq(micap_file_replace(path, "old", 3), 0);
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(micap_replacement_begin(&replacement, path, i ? 9 : 0), 0);
        ck_assert_int_eq(micap_replacement_write(&replacement, 5, "last", 4), 0);
        ck_assert_int_eq(micap_replacement_write(&replacement, 0, "first", 5), 0);
        expect_content("old");
        ck_assert_int_eq(micap_replacement_end(&replacement, i ? 0 : EINVAL), i ? 0 : EINVAL); /* dropped at first */
        expect_content(i ? "firstlast" : "old");
    }
    ck_assert_uint_eq(close_folder(), 1);
}
END_TEST

START_TEST(a_large_file_has_the_bytes_that_were_written)
{
    enum { BYTES = (3 << 20) + 5 };
    static char bytes[BYTES];
    micap_replacement replacement;
    micap_mapping mapping;
    open_folder();
    for (uint32_t i = 0; i < BYTES; ++i)
        bytes[i] = (char)(i % 251);
    ck_assert_int_eq(micap_replacement_begin(&replacement, path, (uint64_t)1 << 60), 0); /* there is no such room */
    ck_assert_int_eq(micap_replacement_end(&replacement, EINVAL), EINVAL);
    ck_assert_int_eq(micap_file_replace(path, bytes, BYTES), 0);
    ck_assert_int_eq(micap_file_map(path, &mapping), 0);
    ck_assert_uint_eq(mapping.byte_count, BYTES);
    ck_assert_int_eq(memcmp(mapping.bytes, bytes, BYTES), 0);
    micap_file_unmap(&mapping);
    ck_assert_uint_eq(close_folder(), 1);
}
END_TEST

START_TEST(what_can_not_be_mapped_says_why)
{
    micap_mapping mapping;
    open_folder();
    ck_assert_int_eq(micap_file_map(path, &mapping), ENOENT);
    ck_assert_int_eq(micap_file_map(folder, &mapping), EISDIR);
    ck_assert(!mapping.bytes && !mapping.byte_count);
    /* A file with nothing in it that is as large as the file system lets it be, until no address is left. */
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    off_t bytes = (off_t)1 << 46;
    while (ftruncate(file, bytes))
        bytes /= 2;
    close(file);
    enum { MAPPINGS_MAX = 64 };
    micap_mapping mappings[MAPPINGS_MAX];
    uint32_t count = 0;
    int problem = 0;
    while (count < MAPPINGS_MAX && !(problem = micap_file_map(path, &mappings[count])))
        ++count;
    if (bytes >= (off_t)1 << 42)
        ck_assert_int_eq(problem, ENOMEM);
    while (count)
        micap_file_unmap(&mappings[--count]);
    close_folder();
}
END_TEST

START_TEST(a_file_that_can_not_be_replaced_stays_as_it_is)
{
    open_folder();
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/no/such", folder);
    ck_assert_int_eq(micap_file_replace(nowhere, "x", 1), ENOENT);
    ck_assert_int_eq(micap_file_replace(path, "old", 3), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, RLIM_INFINITY}), 0);
    ck_assert_int_eq(micap_file_replace(path, "more than four", 14), EFBIG);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    expect_content("old");
    char taken[160];
    snprintf(taken, sizeof taken, "%s/folder", folder);
    ck_assert_int_eq(mkdir(taken, 0700), 0);
    ck_assert_int_eq(micap_file_replace(taken, "x", 1), EISDIR);
    ck_assert_uint_eq(close_folder(), 2);
}
END_TEST

/* Writers that were killed leave temporary files. If all temporary names are taken, the write fails. */
START_TEST(names_that_are_taken_are_passed_over)
{
    enum { NAMES = 1010 }; /* of which it tries a thousand */
    open_folder();
    ck_assert_int_eq(micap_file_replace(path, "old", 3), 0); /* takes number 0, and gives it back */
    for (uint32_t i = 1; i <= NAMES; ++i) {
        char name[200];
        snprintf(name, sizeof name, "%s.%lx-%x", path, (unsigned long)getpid(), i);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
    ck_assert_int_eq(micap_file_replace(path, "new", 3), EEXIST);
    expect_content("old");
    ck_assert_int_eq(micap_file_replace(path, "new", 3), 0); /* the names are counted on, and end */
    expect_content("new");
    ck_assert_uint_eq(close_folder(), NAMES + 1);
}
END_TEST

static void touch(const char *name)
{
    char full[200];
    snprintf(full, sizeof full, "%s%s", path, name);
    ck_assert_int_eq(micap_file_replace(full, "x", 1), 0);
}

START_TEST(leftovers_of_killed_processes_are_removed_and_nothing_else)
{
    static const char *const stay[] = {"",      ".3.1",  ".old-1", ".ab",  ".ab-",     ".-1",
                                       ".3.-1", "x.1-1", ".1-1.1", ".1-g", ".a.1.1-1", ".12-3x"};
    static const char *const go[] = {".1f-0", ".3.1.2a-1", ".3.1.2a-2"};
    open_folder();
    for (size_t i = 0; i < sizeof stay / sizeof *stay; ++i)
        touch(stay[i]);
    for (size_t i = 0; i < sizeof go / sizeof *go; ++i)
        touch(go[i]);
    micap_file_remove_leftovers(path, NULL, NULL);
    micap_file_remove_leftovers("/no folder/target", NULL, NULL);
    micap_file_remove_leftovers("no file that exists in this folder", NULL, NULL);
    for (size_t i = 0; i < sizeof go / sizeof *go; ++i) {
        char full[200];
        snprintf(full, sizeof full, "%s%s", path, go[i]);
        ck_assert_int_ne(access(full, F_OK), 0);
    }
    ck_assert_uint_eq(close_folder(), sizeof stay / sizeof *stay);
}
END_TEST

TEST_SUITE(file, leftovers_of_killed_processes_are_removed_and_nothing_else, a_file_is_what_was_written_last,
           a_replacement_is_written_anywhere_and_shows_when_it_ends, a_large_file_has_the_bytes_that_were_written,
           what_can_not_be_mapped_says_why, a_file_that_can_not_be_replaced_stays_as_it_is,
           names_that_are_taken_are_passed_over)
