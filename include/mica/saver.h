/* Mica, saver: save in the background while the world runs.
 *
 *     mica_saver *saver = mica_saver_create(world, NULL);
 *     mica_saver_begin(saver, "autosave.mica");        copies what changed since the last save; the frame continues
 *     ...
 *     mica_saver_wait(saver);                          when the file must be on disk
 *
 * A saver has its own copy of the world on its own thread, which follows the original by deltas (mica/delta.h). The owner only
 * pays for encoding what changed; assembling, compressing, writing and syncing happen on the other thread. The file contains the
 * world as it was when the save began, and is written crash-safely like mica_save. A saver needs the memory of a second world.
 *
 * It rejects worlds with components that deltas do not carry: those with functions of their own, or .many.
 *
 * In the library mica_resource.
 */
#ifndef MICA_SAVER_H
#define MICA_SAVER_H

#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_saver mica_saver;

/* Creates a saver. NULL means the defaults. `entities` of the def is ignored: everything is saved. Rules, the parent function and
 * the allocator are used on the saver's thread, with its world. Returns NULL with a report if memory or threads run out.
 * Threads: owner. */
MICA_API mica_saver *mica_saver_create(mica_world *world, const mica_save_def *def);

/* Waits for a running save and destroys the saver. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_saver_destroy(mica_saver *saver);

/* Starts to save the world as it is now. Returns MICA_ERROR_REFUSED with a report during a save, while recording, and for components
 * that cannot be saved this way, or MICA_ERROR_MEMORY; then no save is started. Threads: owner. */
MICA_API mica_result mica_saver_begin(mica_saver *saver, const char *path);

/* Returns whether a save is running. Threads: owner. */
MICA_API bool mica_saver_is_busy(mica_saver *saver);

/* Waits for a running save. Returns the result of the last save, with a report if it failed; the old file is then unchanged.
 * MICA_OK if there was none. Threads: owner. */
MICA_API mica_result mica_saver_wait(mica_saver *saver);

MICA_END
#endif
