/* Mica, saver: saving while the world runs on.
 *
 *     mica_saver *saver = mica_saver_create(world, NULL);
 *     mica_saver_begin(saver, "autosave.mica");        a copy of what changed since the last time: the frame goes on
 *     ...
 *     mica_saver_wait(saver);                          when it matters that it is on the disk, and whether it is
 *
 * A saver has a world of its own in a thread of its own, which follows the saved one by deltas (mica/delta.h). What a save costs the
 * owner is encoding what changed; putting it together, compressing, writing and syncing is done beside. The file is the world as
 * it was when the save began, written in the crash-safe way of mica_save. It takes the memory of a second world.
 *
 * What deltas don't carry can't be saved so: a world that uses components with functions, or many instances, is refused.
 *
 * In the library mica_resource.
 */
#ifndef MICA_SAVER_H
#define MICA_SAVER_H

#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_saver mica_saver;

/* Makes a saver; NULL means the defaults. `entities` of the def are not used: all are saved. Rules and the parent function are called
 * in the saver's thread, with its world; its allocator is used there too. Returns NULL with a report when memory or threads are
 * short. Threads: owner. */
MICA_API mica_saver *mica_saver_create(mica_world *world, const mica_save_def *def);

/* Waits for what is under way. Before the world; NULL is fine. Threads: owner. */
MICA_API void mica_saver_destroy(mica_saver *saver);

/* Begins to save the world as it is now. MICA_ERROR_REFUSED with a report while a save is under way, while changes are
 * recorded, and for components that can't be saved so; MICA_ERROR_MEMORY. Nothing is begun then. Threads: owner. */
MICA_API mica_result mica_saver_begin(mica_saver *saver, const char *path);

/* Returns whether a save is under way. Threads: owner. */
MICA_API bool mica_saver_is_busy(mica_saver *saver);

/* Waits until no save is under way, and returns what became of the last one, with a report when it failed: the old file is there
 * then. MICA_OK when there was none. Threads: owner. */
MICA_API mica_result mica_saver_wait(mica_saver *saver);

MICA_END
#endif
