#include "base/assert.h"
#include "base/closest_name.h"
#include "json/entity_reference.h"
#include "json/compile_error.h"
#include "json/entity_tree.h"

#include <stdlib.h>
#include <string.h>

static micap_node *child_at(const micap_node *node, const char *segment, size_t length)
{
    char *after;
    unsigned long index = strtoul(segment + 1, &after, 10);
    if (after != segment + length || length < 2 || index >= node->child_count)
        return NULL;
    micap_node *child = node->first_child;
    for (; index; --index)
        child = child->next;
    return child;
}

static const micap_node *step(mica_compiler *compiler, const micap_node *from, const char *segment, size_t length)
{
    if (length == 1 && segment[0] == '.')
        return from;
    if (length == 2 && memcmp(segment, "..", 2) == 0)
        return from->parent;
    if (segment[0] == '#')
        return child_at(from, segment, length);
    return micap_tree_find(compiler, from, segment, length);
}

static bool complain(mica_compiler *compiler, const micap_node *there, const char *path, const char *segment,
                     size_t length, micap_context context)
{
    char wrong[64], hint[100];
    MICAP_ASSERT(there, "paths begin somewhere");
    if (length == 2 && memcmp(segment, "..", 2) == 0)
        return micap_json_error(compiler, context, "the path \"%.100s\" leads above the top of the file", path);
    memcpy(wrong, segment, length < 63 ? length : 63);
    wrong[length < 63 ? length : 63] = 0;
    micap_guess guess = {.wrong = wrong};
    for (const micap_node *child = there->first_child; child; child = child->next)
        if (child->name)
            micap_guess_try(&guess, child->name);
    return micap_json_error(compiler, context, "the path \"%.100s\" leads nowhere: there is no \"%s\" in %s%.60s%s%s",
                            path, wrong, there == &compiler->top ? "the top" : "\"",
                            there == &compiler->top ? ""
                            : there->name           ? there->name
                                                    : "an entity without a name",
                            there == &compiler->top ? "" : "\"", micap_guess_text(&guess, hint, sizeof hint));
}

const micap_node *micap_reference_find(mica_compiler *compiler, const micap_node *from, const micap_layer *layer,
                                       const char *path, micap_context context)
{
    const micap_node *there = from ? from : &compiler->top;
    const char *segment = path;
    if (*path == '/') {
        const micap_scope *scope = layer ? layer->scope : NULL;
        there = &compiler->top;
        ++segment;
        /* In a prefab, "/" is the file of the prefab; its root may have another name now. */
        size_t length = strcspn(segment, "/");
        if (scope && ((scope->name && strlen(scope->name) == length && memcmp(segment, scope->name, length) == 0) ||
                      (length == 2 && memcmp(segment, "#0", 2) == 0))) {
            there = scope->root;
            segment += length + (segment[length] == '/');
        }
    }
    while (*segment) {
        size_t length = strcspn(segment, "/");
        const micap_node *before = there;
        if (length && !(there = step(compiler, before, segment, length))) {
            complain(compiler, before, path, segment, length, context);
            return NULL;
        }
        segment += length + (segment[length] == '/');
    }
    if (there == &compiler->top) {
        micap_json_error(compiler, context, "the path \"%.100s\" leads to the top of the file, which is no entity",
                         path);
        return NULL;
    }
    return there;
}
