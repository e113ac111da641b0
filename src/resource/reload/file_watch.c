/* Polling instead of being told: a look costs a system call per file, and works on every file system. */
#include "base/argument.h"
#include "base/memory.h"
#include "mica/reload.h"
#include "os/file.h"

#include <string.h>

typedef struct watched {
    micap_file_stamp stamp;
    char *path;
    size_t path_bytes;
} watched;

struct mica_watch {
    micap_memory memory;
    watched *files;
    uint32_t file_count;
};

mica_watch *mica_watch_create(const char *const *files, uint32_t file_count, const mica_allocator *allocator)
{
    if (MICAP_MISSING_ARRAY(NULL, files, file_count))
        return NULL;
    micap_memory memory;
    if (!micap_memory_init(&memory, allocator ? *allocator : (mica_allocator){0}))
        return NULL;
    mica_watch *watch = micap_allocate_zeroed(&memory, sizeof *watch, MICAP_ARRAY_ALIGNMENT);
    if (!watch)
        return NULL;
    micap_memory_init(&watch->memory, memory.allocator);
    watch->files = micap_allocate_zeroed(&watch->memory, file_count * sizeof *watch->files, MICAP_ARRAY_ALIGNMENT);
    watch->file_count = watch->files ? file_count : 0;
    bool fine = watch->files != NULL;
    for (uint32_t i = 0; fine && i < file_count; ++i) {
        watched *file = &watch->files[i];
        file->path_bytes = strlen(files[i]) + 1;
        file->path = micap_allocate(&watch->memory, file->path_bytes, 1);
        fine = file->path != NULL;
        if (fine)
            memcpy(file->path, files[i], file->path_bytes);
    }
    if (!fine) {
        mica_watch_destroy(watch);
        return NULL;
    }
    mica_watch_changed(watch);
    return watch;
}

void mica_watch_destroy(mica_watch *watch)
{
    if (!watch)
        return;
    mica_allocator allocator = watch->memory.allocator;
    for (uint32_t i = 0; watch->files && i < watch->file_count; ++i)
        micap_release(&watch->memory, watch->files[i].path, watch->files[i].path_bytes, 1);
    micap_release(&watch->memory, watch->files, watch->file_count * sizeof *watch->files, MICAP_ARRAY_ALIGNMENT);
    allocator.release(watch, sizeof *watch, MICAP_ARRAY_ALIGNMENT, allocator.context);
}

bool mica_watch_changed(mica_watch *watch)
{
    if (MICAP_MISSING(NULL, watch))
        return false;
    bool changed = false;
    for (uint32_t i = 0; i < watch->file_count; ++i) {
        const micap_file_stamp *old = &watch->files[i].stamp;
        micap_file_stamp stamp = micap_file_look(watch->files[i].path);
        changed |= stamp.seconds != old->seconds || stamp.nanoseconds != old->nanoseconds ||
                   stamp.byte_count != old->byte_count || stamp.identity != old->identity;
        watch->files[i].stamp = stamp;
    }
    return changed;
}
