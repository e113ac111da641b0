#include "resource/library/asset_paths.h"

#include "base/hash.h"
#include "resource/verify/resource.h"
#include "base/utf8.h"

const char *micap_asset_path_problem(const char *path)
{
    size_t length = strlen(path);
    if (!length || length > MICAP_ASSET_PATH_BYTES_MAX)
        return "is empty or too long";
    if (!micap_is_utf8(path) || strchr(path, '\\') || strchr(path, ':'))
        return "is not UTF-8, or has a backslash or a colon";
    for (const char *name = path;; ++name) {
        size_t bytes = strcspn(name, "/");
        if (bytes == 0 || (name[0] == '.' && (bytes == 1 || (bytes == 2 && name[1] == '.'))))
            return "begins or ends with a slash, or has a \"//\", a \".\" or a \"..\" in it";
        name += bytes;
        if (!*name)
            return NULL;
    }
}

mica_asset micap_asset_of_path(const char *path)
{
    return (mica_asset){micap_hash_text(path)};
}

bool micap_verify_assets(mica_resource *resource)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < micap_count_of(resource, MICAP_SECTION_ASSETS); ++i) {
        const micap_asset_record *record = micap_record(resource, MICAP_SECTION_ASSETS, i);
        uint64_t at = micap_offset_of(resource, MICAP_SECTION_ASSETS, i);
        const char *path = micap_is_text(resource, record->path) ? micap_text(resource, record->path) : "";
        const char *problem = micap_asset_path_problem(path);
        if (problem)
            return micap_refuse(resource, at + 8, "asset %u: the path \"%.80s\" %s", i, path, problem);
        if (record->path_hash != micap_asset_of_path(path).path_hash || record->path_hash <= before)
            return micap_refuse(resource, at, "asset %u: its hash is not that of its path, or out of order", i);
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
    return micap_count_of(resource, MICAP_SECTION_ASSETS);
}

mica_asset mica_resource_asset_at(const mica_resource *resource, uint32_t index)
{
    if (index >= mica_resource_asset_count(resource))
        return (mica_asset){0};
    const micap_asset_record *record = micap_record(resource, MICAP_SECTION_ASSETS, index);
    return (mica_asset){record->path_hash};
}

const char *mica_resource_asset_path(const mica_resource *resource, mica_asset asset)
{
    const micap_asset_record *record = micap_asset_find(resource, asset.path_hash);
    return record ? micap_text(resource, record->path) : NULL;
}

const void *mica_resource_values_id(const mica_resource *resource, const mica_type *type, uint32_t *out_count)
{
    uint64_t name_hash = micap_hash_text(type->name);
    *out_count = 0;
    for (uint32_t i = 0; i < resource->block_count; ++i) {
        const micap_block *block = &resource->blocks[i];
        if (block->name_hash != name_hash)
            continue;
        if (block->role == MICAP_ROLE_TAG || block->layout_hash != mica_type_layout_hash(type))
            return NULL;
        *out_count = block->instance_count;
        return block->instances;
    }
    return NULL;
}
