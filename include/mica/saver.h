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
 * Like mica_save, a saver saves the state of the world, so that a loaded world continues exactly, unless the world was not at rest when the
 * save began (mica_state_take), or .skip_state is set. Taking the state visits all rows of the world once; skip it if beginning a save takes too long.
 *
 * Components with functions of their own, a construct function included, need a rule in the def (mica/rule.h); if a rule has a recipe, it also needs
 * both functions. With .skip_without_rule the others are not saved.
 *
 * In the library mica_resource.
 */
#ifndef MICA_SAVER_H
#define MICA_SAVER_H

#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_saver mica_saver;

/* Creates a saver. NULL means the defaults. `entities` and `state` of the def are ignored: everything is saved. Rules, the parent function and
 * the allocator are used on the saver's thread, with its world; save functions of rules also in mica_saver_begin. Returns NULL with a
 * report if memory or threads run out. Threads: owner. */
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

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_saver_create(world, ...) mica_saver_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_saver_destroy(saver) mica_saver_destroy(MICA_AT_(saver))
#    define mica_saver_begin(saver, ...) mica_saver_begin(MICA_AT_(saver), __VA_ARGS__)
#    define mica_saver_is_busy(saver) mica_saver_is_busy(MICA_AT_(saver))
#    define mica_saver_wait(saver) mica_saver_wait(MICA_AT_(saver))
#endif
#endif
