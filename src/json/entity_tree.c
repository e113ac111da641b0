/* Expands prefabs; the members next to "prefab" override those of the prefab. */
#include "json/entity_tree.h"
#include "base/closest_name.h"
#include "json/compile_error.h"
#include "json/schema.h"
#include "json/source_file.h"
#include "json/value_compile.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

/* The prefabs being expanded, innermost first, to detect a prefab that contains itself. */
typedef struct chain {
    const struct chain *up;
    const micap_source_file *source;
} chain;

typedef struct expansion {
    mica_compiler *compiler;
    const micap_json_location *location;
    const micap_scope *scope;
    const chain *chain;
} expansion;

static micap_context at(const expansion *work, const micap_step_in *path)
{
    return (micap_context){.location = work->location, .path = path};
}

static const char *kind_of(const json_t *json)
{
    static const char *const names[] = {"an object",     "an array", "a string", "an integer",
                                        "a real number", "true",     "false",    "null"};
    return json ? names[json_typeof(json)] : "nothing";
}

/* Reports keys of an object that are not in the list, which ends with NULL. */
static void check_keys(mica_compiler *compiler, const json_t *object, const char *const *known, micap_context context)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        micap_guess guess = {.wrong = key};
        const char *const *name = known;
        for (; *name && strcmp(*name, key) != 0; ++name)
            micap_guess_try(&guess, *name);
        if (*name)
            continue;
        char hint[100];
        micap_step_in step = {context.path, key, 0};
        micap_context there = context;
        there.path = &step;
        micap_json_error(compiler, there, "unknown key \"%.60s\"%s", key, micap_guess_text(&guess, hint, sizeof hint));
    }
}

/* Returns the member of an object, or NULL; with a report if it has another type. */
static const json_t *member(const expansion *work, const json_t *object, const char *key, json_type type,
                            const char *expected)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_typeof(value) == type)
        return value;
    micap_step_in step = {NULL, key, 0};
    micap_json_error(work->compiler, at(work, &step), "expected %s, found %s", expected, kind_of(value));
    return NULL;
}

static micap_node_component *find_component(const micap_node *node, const char *name)
{
    micap_node_component *component = node->components;
    while (component && strcmp(component->name, name) != 0)
        component = component->next;
    return component;
}

static void complain_unknown(const expansion *work, const char *key, const char *what, micap_context context)
{
    const mica_schema *schema = work->compiler->def->schema;
    char hint[100];
    micap_guess guess = {.wrong = key};
    for (uint32_t i = 0; i < schema->count; ++i)
        micap_guess_try(&guess, schema->entries[i]->name);
    micap_json_error(work->compiler, context, "unknown %s \"%.60s\"%s", what, key,
                     micap_guess_text(&guess, hint, sizeof hint));
}

/* Adds what is in the member "components" or "relations". */
static void add_components(const expansion *work, micap_node *node, const json_t *json, const char *in)
{
    bool is_relations = strcmp(in, "relations") == 0;
    const json_t *components =
        member(work, json, in, JSON_OBJECT, is_relations ? "an object of relations" : "an object of components");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)components, key, value)
    {
        micap_step_in outer = {NULL, in, 0}, step = {&outer, key, 0};
        const micap_schema_entry *entry = micap_schema_find(work->compiler->def->schema, key);
        if (!entry) {
            complain_unknown(work, key, is_relations ? "relation" : "component", at(work, &step));
            continue;
        }
        if (is_relations && !micap_value_is_edge(&entry->type)) {
            micap_json_error(work->compiler, at(work, &step),
                             "%.60s is no relation: it belongs to \"components\" or \"singletons\"", key);
            continue;
        }
        if (entry->type.storage == MICA_STORAGE_SINGLETON) {
            micap_json_error(work->compiler, at(work, &step),
                             "%.60s is a singleton: it belongs to \"singletons\", not to an entity", key);
            continue;
        }
        micap_node_component *component = find_component(node, key);
        if (!component) {
            component = micap_json_allocate(work->compiler, sizeof *component);
            if (!component)
                return;
            component->name = entry->name;
            *(node->last_component ? &node->last_component->next : &node->components) = component;
            node->last_component = component;
        }
        micap_layer *layer = micap_json_allocate(work->compiler, sizeof *layer);
        if (!layer)
            return;
        *layer = (micap_layer){.value = value, .location = work->location, .scope = work->scope, .member = in};
        *(component->last ? &component->last->next : &component->first) = layer;
        component->last = layer;
    }
}

static void drop_component(micap_node *node, micap_node_component *component)
{
    micap_node_component **link = &node->components, *before = NULL;
    while (*link != component) {
        before = *link;
        link = &(*link)->next;
    }
    *link = component->next;
    if (node->last_component == component)
        node->last_component = before;
}

/* Applies the names in "remove" or "disabled". */
static void for_component_names(const expansion *work, micap_node *node, const json_t *json, const char *key,
                                bool is_removal)
{
    const json_t *names = member(work, json, key, JSON_ARRAY, "an array of names of components"), *name;
    size_t index;
    json_array_foreach((json_t *)names, index, name)
    {
        micap_step_in outer = {NULL, key, 0}, step = {&outer, NULL, index};
        if (!json_is_string(name)) {
            micap_json_error(work->compiler, at(work, &step), "expected the name of a component, found %s",
                             kind_of(name));
            continue;
        }
        const char *text = json_string_value(name);
        micap_node_component *component = find_component(node, text);
        if (!component) {
            char hint[100];
            micap_guess guess = {.wrong = text};
            for (const micap_node_component *other = node->components; other; other = other->next)
                micap_guess_try(&guess, other->name);
            micap_json_error(work->compiler, at(work, &step), "the entity has no component \"%.60s\"%s", text,
                             micap_guess_text(&guess, hint, sizeof hint));
        } else if (is_removal) {
            drop_component(node, component);
        } else if (!micap_schema_find(work->compiler->def->schema, text)->type.toggle) {
            micap_json_error(work->compiler, at(work, &step), "%.60s can't be switched off: it is not described so",
                             text);
        } else {
            component->disabled = true;
        }
    }
}

static micap_node *find_child(const micap_node *node, const char *name, micap_guess *guess)
{
    for (micap_node *child = node->first_child; child; child = child->next) {
        if (child->name && strcmp(child->name, name) == 0)
            return child;
        if (guess && child->name)
            micap_guess_try(guess, child->name);
    }
    return NULL;
}

static void drop_child(micap_node *node, micap_node *child)
{
    micap_node **link = &node->first_child, *before = NULL;
    while (*link != child) {
        before = *link;
        link = &(*link)->next;
    }
    *link = child->next;
    if (node->last_child == child)
        node->last_child = before;
    --node->child_count;
}

static void remove_children(const expansion *work, micap_node *node, const json_t *json)
{
    const json_t *names = member(work, json, "remove_children", JSON_ARRAY, "an array of names of children"), *name;
    size_t index;
    json_array_foreach((json_t *)names, index, name)
    {
        micap_step_in outer = {NULL, "remove_children", 0}, step = {&outer, NULL, index};
        const char *text = json_string_value(name);
        micap_guess guess = {.wrong = text};
        char hint[100];
        micap_node *child = text ? find_child(node, text, &guess) : NULL;
        if (child)
            drop_child(node, child);
        else if (text)
            micap_json_error(work->compiler, at(work, &step), "the prefab has no child \"%.60s\"%s", text,
                             micap_guess_text(&guess, hint, sizeof hint));
        else
            micap_json_error(work->compiler, at(work, &step), "expected the name of a child, found %s", kind_of(name));
    }
}

static void expand(const expansion *work, micap_node *node, const json_t *json);

static micap_node *add_node(const expansion *work, micap_node *parent)
{
    mica_compiler *compiler = work->compiler;
    uint32_t limit = compiler->def->entity_count_max ? compiler->def->entity_count_max : MICAP_ENTITIES_DEFAULT_MAX;
    if (compiler->node_count == limit) {
        compiler->is_full = true;
        micap_json_error(compiler, at(work, NULL), "there are more than %u entities", limit);
        return NULL;
    }
    if (parent->depth >= MICAP_DEPTH_MAX) {
        micap_json_error(compiler, at(work, NULL), "children are nested deeper than %d", MICAP_DEPTH_MAX);
        return NULL;
    }
    micap_node *node = micap_json_allocate(compiler, sizeof *node);
    if (!node)
        return NULL;
    node->parent = parent;
    node->location = work->location;
    node->depth = parent->depth + 1;
    *(parent->last_child ? &parent->last_child->next : &parent->first_child) = node;
    parent->last_child = node;
    ++parent->child_count;
    ++compiler->node_count;
    return node;
}

/* Adds children. A child with the name of a child of the prefab overrides it. */
static void add_children(const expansion *work, micap_node *node, const json_t *children, const micap_json_location *up,
                         micap_source_file *source)
{
    const json_t *child;
    size_t index;
    micap_node *last_of_prefab = node->last_child;
    json_array_foreach((json_t *)children, index, child)
    {
        micap_json_location *location = micap_json_allocate(work->compiler, sizeof *location);
        if (!location)
            return;
        *location = (micap_json_location){up, source, (uint32_t)index};
        expansion inner = *work;
        inner.location = location;
        if (!json_is_object(child)) {
            micap_json_error(work->compiler, at(&inner, NULL), "expected an entity, which is an object, found %s",
                             kind_of(child));
            continue;
        }
        const char *name = json_string_value(json_object_get(child, "name"));
        micap_node *there = last_of_prefab && name ? find_child(node, name, NULL) : NULL;
        if (!there)
            there = add_node(&inner, node);
        if (there)
            expand(&inner, there, child);
        if (work->compiler->is_full || work->compiler->result == MICA_ERROR_MEMORY)
            return;
    }
}

/* Returns a path relative to the folder of a file; absolute paths are unchanged. */
static const char *path_beside(mica_compiler *compiler, const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    if (*path == '/' || !slash)
        return path;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    size_t folder = (size_t)(slash - file) + 1, bytes = folder + strlen(path) + 1;
    char *joined = micap_json_allocate(compiler, bytes);
    if (joined) {
        memcpy(joined, file, folder);
        memcpy(joined + folder, path, bytes - folder);
    }
    return joined;
}

static bool is_cycle(const expansion *work, const micap_source_file *source, micap_context context)
{
    char text[400] = "";
    const chain *link = work->chain;
    while (link && link->source != source)
        link = link->up;
    if (!link)
        return false;
    for (const chain *inner = work->chain;; inner = inner->up) {
        char with[400];
        snprintf(with, sizeof with, "%.120s%s%.250s", inner->source->path, *text ? " -> " : "", text);
        snprintf(text, sizeof text, "%s", with);
        if (inner == link)
            break;
    }
    micap_json_error(work->compiler, context, "the prefab contains itself: %.250s -> %.120s", text, source->path);
    return true;
}

static void expand_prefab(const expansion *work, micap_node *node, const char *prefab)
{
    mica_compiler *compiler = work->compiler;
    micap_step_in step = {NULL, "prefab", 0};
    const char *path = path_beside(compiler, work->location->source->path, prefab);
    micap_source_file *source = path ? micap_source_get(compiler, path, NULL, 0, at(work, &step)) : NULL;
    if (!source || source->broken || is_cycle(work, source, at(work, &step)))
        return;
    const json_t *entities = json_object_get(source->root, "entities");
    if (json_array_size(entities) != 1 || !json_is_object(json_array_get(entities, 0))) {
        micap_json_error(compiler, at(work, &step), "a prefab has one entity at its top, %.200s has %zu", source->path,
                         json_array_size(entities));
        return;
    }
    const json_t *root = json_array_get(entities, 0);
    micap_json_location *location = micap_json_allocate(compiler, sizeof *location);
    micap_scope *scope = micap_json_allocate(compiler, sizeof *scope);
    if (!location || !scope)
        return;
    *location = (micap_json_location){NULL, source, 0};
    *scope = (micap_scope){node, json_string_value(json_object_get(root, "name"))};
    chain link = {work->chain, source};
    expand(&(expansion){compiler, location, scope, &link}, node, root);
}

static void expand(const expansion *work, micap_node *node, const json_t *json)
{
    static const char *const keys[] = {"name",   "prefab",   "components",      "relations", "children",
                                       "remove", "disabled", "remove_children", "comment",   NULL};
    check_keys(work->compiler, json, keys, at(work, NULL));
    const json_t *prefab = member(work, json, "prefab", JSON_STRING, "the path of a file");
    if (prefab)
        expand_prefab(work, node, json_string_value(prefab));
    const json_t *name = member(work, json, "name", JSON_STRING, "a string");
    if (name) {
        micap_step_in step = {NULL, "name", 0};
        bool is_valid = !strchr(json_string_value(name), '/');
        if (!is_valid)
            micap_json_error(work->compiler, at(work, &step),
                             "a name must not contain '/': it separates the names of a path");
        node->name = is_valid && *json_string_value(name) ? json_string_value(name) : NULL;
        node->location = work->location;
    }
    for_component_names(work, node, json, "remove", true);
    add_components(work, node, json, "components");
    add_components(work, node, json, "relations");
    for_component_names(work, node, json, "disabled", false);
    remove_children(work, node, json);
    const json_t *children = member(work, json, "children", JSON_ARRAY, "an array of entities");
    if (children)
        add_children(work, node, children, work->location, work->location->source);
}

static uint64_t name_hash(const micap_node *parent, const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull ^ micap_hash_mix(parent->index);
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3ull;
    return micap_hash_mix(hash);
}

micap_node *micap_tree_find(const mica_compiler *compiler, const micap_node *parent, const char *name, size_t length)
{
    if (!compiler->name_capacity)
        return NULL;
    micap_node *node = compiler->names[name_hash(parent, name, length) & (compiler->name_capacity - 1)];
    while (node && (node->parent != parent || strncmp(node->name, name, length) != 0 || node->name[length]))
        node = node->next_by_name;
    return node;
}

micap_node *micap_tree_next(micap_node *node)
{
    if (node->first_child)
        return node->first_child;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

/* Numbers all entities and adds their names to the table. */
static void enter_names(mica_compiler *compiler)
{
    uint32_t count = 0, capacity = 64;
    for (micap_node *node = compiler->top.first_child; node; node = micap_tree_next(node)) {
        node->index = count++;
        compiler->name_count += node->name != NULL;
    }
    while (capacity < compiler->name_count)
        capacity *= 2;
    compiler->top.index = UINT32_MAX;
    compiler->names = micap_json_allocate(compiler, capacity * sizeof *compiler->names);
    if (!compiler->names)
        return;
    compiler->name_capacity = capacity;
    for (micap_node *node = compiler->top.first_child; node; node = micap_tree_next(node)) {
        if (!node->name)
            continue;
        if (micap_tree_find(compiler, node->parent, node->name, strlen(node->name))) {
            micap_step_in step = {NULL, "name", 0};
            micap_json_error(compiler, (micap_context){.location = node->location, .path = &step},
                             "the name \"%.60s\" is there twice in one scope", node->name);
            continue;
        }
        micap_node **bucket =
            &compiler->names[name_hash(node->parent, node->name, strlen(node->name)) & (capacity - 1)];
        node->next_by_name = *bucket;
        *bucket = node;
    }
}

void micap_tree_build(mica_compiler *compiler, micap_source_file *source)
{
    static const char *const keys[] = {"entities", "singletons", "comment", NULL};
    micap_context context = {.source = source};
    if (!json_is_object(source->root)) {
        micap_json_error(compiler, context, "expected an object with \"entities\", found %s", kind_of(source->root));
        return;
    }
    check_keys(compiler, source->root, keys, context);
    const json_t *entities = json_object_get(source->root, "entities");
    if (entities && !json_is_array(entities)) {
        micap_step_in step = {NULL, "entities", 0};
        context.path = &step;
        micap_json_error(compiler, context, "expected an array of entities, found %s", kind_of(entities));
        return;
    }
    chain first = {NULL, source};
    expansion work = {compiler, NULL, NULL, &first};
    add_children(&work, &compiler->top, entities, NULL, source);
    enter_names(compiler);
}
