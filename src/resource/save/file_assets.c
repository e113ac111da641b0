/* The resources that the values of a draft refer to. */
#include "base/hash.h"
#include "resource/save/file_assets.h"
#include "type/value_bytes.h"

#include <stdlib.h>
#include <string.h>

static int compare_assets(const void *a, const void *b)
{
    const struct micap_listed_asset *first = a, *second = b;
    return first->path_hash < second->path_hash ? -1 : first->path_hash > second->path_hash;
}

bool micap_asset_list_make(micap_asset_list *assets, mica_draft *draft)
{
    const micap_strings *paths = &draft->assets;
    if (!paths->text_count)
        return true;
    if (!MICAP_RESERVE(&draft->memory, assets->list, &assets->capacity, paths->text_count))
        return micap_draft_refuse_memory(draft);
    /* The first byte is the empty string. */
    for (const char *path = paths->bytes + 1; path < paths->bytes + paths->count; path += strlen(path) + 1)
        assets->list[assets->count++] = (struct micap_listed_asset){micap_hash_text(path), path, false};
    qsort(assets->list, assets->count, sizeof *assets->list, compare_assets);
    for (uint32_t i = 1; i < assets->count; ++i)
        if (assets->list[i].path_hash == assets->list[i - 1].path_hash)
            return micap_draft_refuse(draft, MICA_ERROR_EXISTS,
                                      "the paths \"%.80s\" and \"%.80s\" have the same hash: rename one of the files",
                                      assets->list[i - 1].path, assets->list[i].path);
    return true;
}

void micap_asset_list_free(micap_asset_list *assets, mica_draft *draft)
{
    MICAP_RELEASE_ARRAY(&draft->memory, assets->list, assets->capacity);
}

/* The assets of a source that are noted. */
typedef struct asset_notes {
    micap_asset_list *assets;
    const micap_instance_source *source;
} asset_notes;

static bool note_one(void *at, void *context)
{
    const asset_notes *notes = context;
    const micap_asset_list *assets = notes->assets;
    struct micap_listed_asset wanted = {0}, *found;
    memcpy(&wanted.path_hash, at, sizeof wanted.path_hash);
    if (!wanted.path_hash)
        return true;
    found = assets->count ? bsearch(&wanted, assets->list, assets->count, sizeof wanted, compare_assets) : NULL;
    if (!found)
        return micap_draft_refuse(notes->source->draft, MICA_ERROR_INVALID,
                                  "component %.80s refers to a resource whose path is not known",
                                  notes->source->part->name);
    found->used = true;
    return true;
}

static bool note(asset_notes *notes, const micap_scalars *scalars, const char *values, uint32_t count)
{
    const mica_type *type = notes->source->part->type;
    MICAP_EACH_REFERENCE(scalars, type->size_bytes, (uintptr_t)values, count, reference)
    {
        if (!note_one(reference, notes))
            return false;
    }
    for (uint32_t i = 0; notes->source->has_contents && i < count; ++i)
        if (!micap_contents_visit(type, (char *)values + (size_t)i * type->size_bytes, MICA_KIND_ASSET, false, note_one,
                                  notes))
            return false;
    return true;
}

bool micap_asset_list_note(micap_asset_list *assets, const micap_instance_source *source)
{
    micap_memory *memory = &source->draft->memory;
    const micap_draft_part *part = source->part;
    micap_scalars scalars;
    bool fine = micap_scalars_make_kind(&scalars, memory, part->type, MICA_KIND_ASSET) ||
                micap_draft_refuse_memory(source->draft);
    asset_notes notes = {assets, source};
    bool has_some = scalars.count || micap_contents_have(part->type, MICA_KIND_ASSET);
    const char *own = part->data;
    for (uint32_t i = 0; fine && has_some && i < part->run_count; ++i) {
        const micap_draft_run *run = &part->runs[i];
        fine = note(&notes, &scalars, run->values ? run->values : own, run->count);
        own = run->values ? NULL : own + (size_t)run->count * part->type->size_bytes;
    }
    micap_scalars_free(&scalars, memory);
    return fine;
}
