/* Files from the operating system. The contract of this seam: a mapping is read-only and private; writing is safe
 * against crashes: the bytes go to a temporary file in the same folder, which is synced and renamed to the target. Windows cannot
 * replace a file while it is mapped (EACCES). */
#ifndef MICAP_OS_FILE_H
#define MICAP_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct micap_mapping {
    void *bytes; /* NULL for an empty file */
    size_t byte_count;
} micap_mapping;

/* Returns 0, or an errno that says why not. */
int micap_file_map(const char *path, micap_mapping *out_mapping);
void micap_file_unmap(micap_mapping *mapping);

/* A temporary file that is written and then renamed to the target. */
typedef struct micap_replacement {
    char *path;
    char *temporary;
    intptr_t file;
} micap_replacement;

/* Begin creates the file, which will have that many bytes (0: not known), write writes at any offset, end syncs and renames it, or deletes it if there was a problem and returns that.
 * Return 0 or an errno. If begin fails, do not call end. */
int micap_replacement_begin(micap_replacement *replacement, const char *path, uint64_t byte_count);
int micap_replacement_write(micap_replacement *replacement, uint64_t offset, const void *bytes, size_t byte_count);
int micap_replacement_end(micap_replacement *replacement, int problem);

/* Writes a whole file. */
static inline int micap_file_replace(const char *path, const void *bytes, size_t byte_count)
{
    micap_replacement replacement;
    int problem = micap_replacement_begin(&replacement, path, byte_count);
    return problem ? problem
                   : micap_replacement_end(&replacement, micap_replacement_write(&replacement, 0, bytes, byte_count));
}

/* What follows the path of a target in the name of another file beside it. */
typedef bool (*micap_file_rest_fn)(const char *rest, const void *context);

/* Deletes temporary files that killed processes have left, of this target and of those whose names continue it with numbers ("run.mica.3.1"), and
 * those that the function chooses, which may be NULL. Call it while no process writes them. On some systems none are found. */
void micap_file_remove_leftovers(const char *path, micap_file_rest_fn is_chosen, const void *context);

/* What identifies the state of a file. All zero: there is no file. On some systems only the size is known. */
typedef struct micap_file_stamp {
    uint64_t seconds; /* of the last change */
    uint64_t nanoseconds;
    uint64_t byte_count;
    uint64_t identity; /* another one when it was replaced by rename */
} micap_file_stamp;

micap_file_stamp micap_file_look(const char *path);

#endif
