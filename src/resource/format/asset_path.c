#include "resource/format/asset_path.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <string.h>

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
