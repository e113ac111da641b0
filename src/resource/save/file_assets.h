/* The resources that values of a draft refer to. */
#ifndef MICAP_RESOURCE_SAVE_FILE_ASSETS_H
#define MICAP_RESOURCE_SAVE_FILE_ASSETS_H

#include "resource/save/file_instances.h"

/* The paths a draft knows, by hash: those that values refer to are written. */
typedef struct micap_asset_list {
    struct micap_listed_asset {
        uint64_t path_hash;
        const char *path;
        bool used;
    } * list;
    uint32_t count;
    uint32_t capacity;
} micap_asset_list;

bool micap_asset_list_make(micap_asset_list *assets, mica_draft *draft);
void micap_asset_list_free(micap_asset_list *assets, mica_draft *draft);

/* Notes what instances refer to. False with a reason when there is no path for it. */
bool micap_asset_list_note(micap_asset_list *assets, const micap_instance_source *source);

#endif
