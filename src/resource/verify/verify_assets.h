/* The resources that a file refers to. */
#ifndef MICAP_RESOURCE_VERIFY_VERIFY_ASSETS_H
#define MICAP_RESOURCE_VERIFY_VERIFY_ASSETS_H

#include "resource/verify/resource.h"

/* Whether every path is valid, and has the hash that the file gives it; needs verified types and strings. */
bool micap_verify_assets(mica_resource *resource);

/* The record of an asset, found by bisection; NULL when the file does not name it. */
const micap_asset_record *micap_asset_find(const mica_resource *resource, uint64_t path_hash);

#endif
