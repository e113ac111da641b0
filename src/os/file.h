/* Files from the operating system. The contract of this seam: a mapping is read-only and private; writing is safe
 * against crashes: the bytes go to a temporary file beside the target, which is synced and renamed over it. */
#ifndef MICAP_OS_FILE_H
#define MICAP_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct micap_mapping {
    void *bytes; /* NULL for an empty file */
    size_t byte_count;
} micap_mapping;

/* Returns 0, or an errno that says why not. */
int micap_file_map(const char *path, micap_mapping *out_mapping);
void micap_file_unmap(micap_mapping *mapping);
int micap_file_replace(const char *path, const void *bytes, size_t byte_count);

#endif
