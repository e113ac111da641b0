/* Paths of resources that others refer to. */
#ifndef MICAP_RESOURCE_LIBRARY_ASSET_PATHS_H
#define MICAP_RESOURCE_LIBRARY_ASSET_PATHS_H

#include "mica/handle.h"

enum { MICAP_ASSET_PATH_BYTES_MAX = 1023 };

/* What is wrong with a path, or NULL. There is one way to write each, since its hash is its name: names with a slash between
 * them, no "." and no "..": so a file can't reach outside of the root it is loaded from. */
const char *micap_asset_path_problem(const char *path);

/* The path must be right. */
mica_asset micap_asset_of_path(const char *path);

#endif
