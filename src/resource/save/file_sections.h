/* A draft becomes a file. Nothing is copied before the file is written: what is known of the draft is runs of entities and of
 * values, a few for each chunk in a world without hierarchies.
 *
 *     draft.c            what is to be written, as it is added    file_assets.c     paths of resources that values refer to
 *     file_groups.c      which entities have the same components  file_output.c     layout, checksums, compression, writing
 *     file_instances.c   instances in the order of the file       file_sections.c   all sections, one after the other
 *     save.c             from a world to a draft                  save_order.c      which entities, parents before children
 *     background_save.c  saving in another thread */
#ifndef MICAP_RESOURCE_SAVE_FILE_SECTIONS_H
#define MICAP_RESOURCE_SAVE_FILE_SECTIONS_H

#include "resource/save/draft.h"

/* As mica_draft_finish into a file, which is replaced. */
mica_result micap_draft_finish_file(mica_draft *draft, const mica_draft_finish_def *def, const char *path);

#endif
