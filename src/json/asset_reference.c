/* Paths in a file are relative to the file; paths in a resource are relative to the root. */
#include "json/asset_reference.h"
#include "json/compile_error.h"

#include <string.h>

enum { PATH_BYTES_MAX = 4096 };

typedef struct micap_path {
    char text[PATH_BYTES_MAX];
    size_t bytes;
    bool is_full;
} path;

static bool ends_with_up(const path *path)
{
    return path->bytes >= 2 && memcmp(path->text + path->bytes - 2, "..", 2) == 0 &&
           (path->bytes == 2 || path->text[path->bytes - 3] == '/');
}

static void append(path *path, const char *name, size_t bytes)
{
    bool is_up = bytes == 2 && memcmp(name, "..", 2) == 0;
    bool is_top = path->bytes == 1 && path->text[0] == '/';
    if (bytes == 0 || (bytes == 1 && *name == '.') || (is_up && is_top))
        return;
    if (is_up && path->bytes && !ends_with_up(path)) {
        while (path->bytes && path->text[path->bytes - 1] != '/')
            --path->bytes;
        path->bytes -= path->bytes > 1; /* the slash, unless the path begins with it */
        return;
    }
    bool needs_slash = path->bytes && path->text[path->bytes - 1] != '/';
    path->is_full |= path->bytes + needs_slash + bytes >= sizeof path->text;
    if (path->is_full)
        return;
    path->text[path->bytes] = '/';
    memcpy(path->text + path->bytes + needs_slash, name, bytes);
    path->bytes += needs_slash + bytes;
}

/* Appends to a path and resolves "." and ".." as far as possible. */
static void follow(path *path, const char *text, size_t length)
{
    if (!path->bytes && length && *text == '/')
        path->text[path->bytes++] = '/';
    for (const char *end = text + length; text < end;) {
        const char *slash = memchr(text, '/', (size_t)(end - text));
        size_t bytes = (size_t)((slash ? slash : end) - text);
        append(path, text, bytes);
        text += bytes + 1;
    }
}

static void follow_folder(path *path, const char *file)
{
    const char *slash = strrchr(file, '/');
    follow(path, file, slash ? (size_t)(slash - file) + 1 : 0);
}

static void follow_root(path *path, const mica_compiler *compiler)
{
    if (compiler->def->root)
        follow(path, compiler->def->root, strlen(compiler->def->root));
    else
        follow_folder(path, compiler->sources->path);
}

/* Returns the part of a path after the root; NULL if the path is not below the root. */
static const char *after(const path *root, path *whole)
{
    whole->text[whole->bytes] = 0;
    if (!root->bytes)
        return whole->text[0] == '/' || strncmp(whole->text, "../", 3) == 0 ? NULL : whole->text;
    if (whole->bytes <= root->bytes || memcmp(whole->text, root->text, root->bytes) != 0)
        return NULL;
    const char *rest = whole->text + root->bytes;
    return root->text[root->bytes - 1] == '/' ? rest : *rest == '/' ? rest + 1 : NULL;
}

bool micap_asset_compile(mica_compiler *compiler, const char *text, micap_context context, mica_asset *out)
{
    path root = {0}, whole = {0};
    follow_root(&root, compiler);
    if (*text == '/')
        follow_root(&whole, compiler);
    else
        follow_folder(&whole, context.location ? context.location->source->path : compiler->sources->path);
    size_t skipped = strspn(text, "/");
    follow(&whole, text + skipped, strlen(text + skipped));
    const char *name = root.is_full || whole.is_full ? NULL : after(&root, &whole);
    if (!name)
        return micap_json_error(compiler, context, "\"%.100s\" is not below the root that resources are loaded from",
                                text);
    *out = mica_draft_asset(compiler->draft, name);
    compiler->has_assets = true;
    if (out->path_hash)
        return true;
    const mica_resource_error *error = mica_draft_error(compiler->draft);
    return error->result == MICA_ERROR_MEMORY ? micap_json_error_memory(compiler)
                                              : micap_json_error(compiler, context, "%s", error->text);
}
