/* Paths of resources that others refer to. */
#ifndef MICAP_RESOURCE_LIBRARY_ASSET_PATHS_H
#define MICAP_RESOURCE_LIBRARY_ASSET_PATHS_H

#include "mica/handle.h"

enum { MICAP_ASSET_PATH_BYTES_MAX = 1023 };

/* Returns what is wrong with a path, or NULL. A path has exactly one spelling, because it is identified by its hash: names separated by
 * slashes, without "." and "..". So a file cannot refer to anything outside its root. */
const char *micap_asset_path_problem(const char *path);

/* The path must be right. */
mica_asset micap_asset_of_path(const char *path);

#endif
