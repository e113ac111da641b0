/* The resources that a file refers to, by the hashes of their paths. */
#include "resource/verify/verify_assets.h"

#include "base/argument.h"
#include "resource/format/asset_path.h"
#include "resource/verify/load_error.h"
#include "resource/verify/verify_types.h"

bool micap_verify_assets(mica_resource *resource)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < micap_count_of(resource, MICAP_SECTION_ASSETS); ++i) {
        const micap_asset_record *record = micap_record(resource, MICAP_SECTION_ASSETS, i);
        uint64_t at = micap_offset_of(resource, MICAP_SECTION_ASSETS, i);
        const char *path = micap_is_text(resource, record->path) ? micap_text(resource, record->path) : "";
        const char *problem = micap_asset_path_problem(path);
        if (problem)
            return micap_load_fail(resource, at + 8, "asset %u: the path \"%.80s\" %s", i, path, problem);
        if (record->path_hash != micap_asset_of_path(path).path_hash || record->path_hash <= before)
            return micap_load_fail(resource, at, "asset %u: its hash is not that of its path, or out of order", i);
        before = record->path_hash;
    }
    return true;
}

const micap_asset_record *micap_asset_find(const mica_resource *resource, uint64_t path_hash)
{
    uint32_t low = 0, high = micap_count_of(resource, MICAP_SECTION_ASSETS);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const micap_asset_record *record = micap_record(resource, MICAP_SECTION_ASSETS, middle);
        if (record->path_hash == path_hash)
            return record;
        if (record->path_hash < path_hash)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t mica_resource_asset_count(const mica_resource *resource)
{
    if (MICAP_MISSING(NULL, resource))
        return 0;
    return micap_count_of(resource, MICAP_SECTION_ASSETS);
}

mica_asset mica_resource_asset_at(const mica_resource *resource, uint32_t index)
{
    if (MICAP_MISSING(NULL, resource))
        return (mica_asset){0};
    if (index >= mica_resource_asset_count(resource))
        return (mica_asset){0};
    const micap_asset_record *record = micap_record(resource, MICAP_SECTION_ASSETS, index);
    return (mica_asset){record->path_hash};
}

const char *mica_resource_asset_path(const mica_resource *resource, mica_asset asset)
{
    if (MICAP_MISSING(NULL, resource))
        return NULL;
    const micap_asset_record *record = micap_asset_find(resource, asset.path_hash);
    return record ? micap_text(resource, record->path) : NULL;
}
