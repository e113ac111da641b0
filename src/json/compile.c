/* Compiles a file to a resource: builds the tree of entities, then a draft from it. */
#include "base/argument.h"
#include "base/closest_name.h"
#include "json/compile_error.h"
#include "json/compiler.h"
#include "json/entity_tree.h"
#include "json/schema.h"
#include "json/source_file.h"
#include "json/value_compile.h"
#include "mica/value.h"
#include "os/file.h"
#include "type/value_bytes.h"

#include <stdio.h>
#include <string.h>

static const mica_compile_rule *rule_for(const mica_compiler *compiler, const char *name)
{
    for (uint32_t i = 0; i < compiler->def->rule_count; ++i)
        if (strcmp(compiler->def->rules[i].name, name) == 0)
            return &compiler->def->rules[i];
    return NULL;
}

/* Reports the last error of the draft. */
static bool draft_error(mica_compiler *compiler, micap_context context)
{
    const mica_resource_error *error = mica_draft_error(compiler->draft);
    return error->result == MICA_ERROR_MEMORY ? micap_json_error_memory(compiler)
                                              : micap_json_error(compiler, context, "%s", error->text);
}

/* Returns the component of the draft for a component; MICA_DRAFT_NONE with a report on failure. */
static uint32_t part_for(mica_compiler *compiler, const micap_schema_entry *entry, micap_context context)
{
    const mica_compile_rule *rule = rule_for(compiler, entry->name);
    mica_draft_component_def def = {.type = rule && rule->recipe ? rule->recipe : &entry->type,
                                    .name = entry->name,
                                    .storage = entry->type.storage,
                                    .spawn_order = rule ? rule->spawn_order : entry->spawn_order};
    uint32_t part = mica_draft_component(compiler->draft, &def);
    if (part == MICA_DRAFT_NONE)
        draft_error(compiler, context);
    return part;
}

/* A compile function of the program gets one value, with all layers merged. */
static bool run_compile_function(mica_compiler *compiler, const mica_compile_rule *rule, const micap_layer *first,
                                 void *instance, micap_context context)
{
    json_t *merged = json_deep_copy(first->value);
    for (const micap_layer *layer = first->next; merged && layer; layer = layer->next)
        if (!json_is_object(merged) || !json_is_object(layer->value) ||
            json_object_update_recursive(merged, (json_t *)layer->value) != 0) {
            json_decref(merged);
            merged = json_deep_copy(layer->value);
        }
    if (!merged)
        return micap_json_error_memory(compiler);
    uint32_t errors = compiler->error_count;
    compiler->current = context;
    bool fine = rule->compile(compiler, merged, instance, rule->context);
    json_decref(merged);
    if (!fine && errors == compiler->error_count)
        micap_json_error(compiler, context, "the compile function of %.60s refused it", rule->name);
    return fine;
}

static bool compile_tag(mica_compiler *compiler, const micap_layer *layer, micap_context context)
{
    bool fine = json_is_true(layer->value) || (json_is_object(layer->value) && !json_object_size(layer->value));
    return fine || micap_json_error(compiler, context, "a tag has no value: expected {} or true");
}

/* Fields that the file leaves out have their initial values. */
static bool initialize(mica_compiler *compiler, const mica_type *type, void *instance)
{
    return !micap_type_has_initial(type) || mica_value_reset(mica_member_of_type(type, instance)) == MICA_OK ||
           micap_json_error_memory(compiler);
}

/* `path` is the path of the value in the file of each layer. */
static void compile_instance(mica_compiler *compiler, const micap_node *node, const micap_layer *first,
                             const micap_schema_entry *entry, void *instance, const micap_step_in *path)
{
    const mica_compile_rule *rule = rule_for(compiler, entry->name);
    const mica_type *type = rule && rule->recipe ? rule->recipe : &entry->type;
    if (!initialize(compiler, type, instance))
        return;
    if (rule && rule->compile) {
        const micap_layer *last = first;
        while (last->next)
            last = last->next;
        micap_context context = {last->location, compiler->sources, path};
        run_compile_function(compiler, rule, first, instance, context);
        return;
    }
    for (const micap_layer *layer = first; layer; layer = layer->next) {
        micap_context context = {layer->location, compiler->sources, path};
        if (entry->type.storage == MICA_STORAGE_TAG)
            compile_tag(compiler, layer, context);
        else
            micap_value_compile(compiler, (micap_value_of){node, layer}, layer->value, type, instance, context);
    }
}

/* Returns NULL with a report on failure. */
static void *add_instance(mica_compiler *compiler, const micap_node *node, const micap_node_component *component,
                          uint32_t part)
{
    void *instance = mica_draft_add(compiler->draft, node->index, part);
    if (instance && (!component->disabled || mica_draft_disable(compiler->draft, part)))
        return instance;
    micap_json_error_memory(compiler);
    return NULL;
}

/* An array means several instances. It replaces all earlier layers. */
static void compile_several(mica_compiler *compiler, const micap_node *node, const micap_node_component *component,
                            const micap_schema_entry *entry, uint32_t part)
{
    const micap_layer *layer = component->last;
    micap_step_in outer = {NULL, layer->member, 0}, step = {&outer, entry->name, 0};
    json_t *value;
    size_t index;
    json_array_foreach((json_t *)layer->value, index, value)
    {
        micap_step_in inner = {&step, NULL, index};
        const micap_layer one = {
            .value = value, .location = layer->location, .scope = layer->scope, .member = layer->member};
        void *instance = add_instance(compiler, node, component, part);
        if (!instance)
            return;
        compile_instance(compiler, node, &one, entry, instance, &inner);
    }
}

static void compile_component(mica_compiler *compiler, const micap_node *node, const micap_node_component *component)
{
    const micap_schema_entry *entry = micap_schema_find(compiler->def->schema, component->name);
    micap_step_in outer = {NULL, component->last->member, 0}, step = {&outer, component->name, 0};
    uint32_t part = part_for(compiler, entry, (micap_context){component->last->location, NULL, &step});
    if (part == MICA_DRAFT_NONE)
        return;
    const json_t *value = component->last->value, *first = json_array_get(value, 0);
    if (json_is_array(value) && (json_is_object(first) || strcmp(component->last->member, "relations") == 0)) {
        compile_several(compiler, node, component, entry, part);
        return;
    }
    void *instance = add_instance(compiler, node, component, part);
    if (instance)
        compile_instance(compiler, node, component->first, entry, instance, &step);
}

/* Reports the components of an entity that exclude each other, each pair once. */
static void check_excluded(mica_compiler *compiler, const micap_node *node)
{
    for (const micap_node_component *component = node->components; component; component = component->next) {
        const micap_schema_entry *entry = micap_schema_find(compiler->def->schema, component->name);
        micap_step_in outer = {NULL, component->last->member, 0}, step = {&outer, component->name, 0};
        for (const micap_node_component *other = node->components; entry->type.excludes && other; other = other->next) {
            const micap_schema_entry *rival = micap_schema_find(compiler->def->schema, other->name);
            bool is_told = micap_schema_excludes(rival, component->name) && strcmp(other->name, component->name) < 0;
            if (micap_schema_excludes(entry, other->name) && !is_told)
                micap_json_error(compiler, (micap_context){component->last->location, NULL, &step},
                                 "components %.60s and %.60s exclude each other: an entity can't have both",
                                 component->name, other->name);
        }
    }
}

static void compile_singletons(mica_compiler *compiler)
{
    const json_t *singletons = json_object_get(compiler->sources->root, "singletons");
    micap_context context = {.source = compiler->sources};
    micap_step_in outer = {NULL, "singletons", 0};
    if (singletons && !json_is_object(singletons)) {
        context.path = &outer;
        micap_json_error(compiler, context, "expected an object of singletons");
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)singletons, key, value)
    {
        micap_step_in step = {&outer, key, 0};
        const micap_schema_entry *entry = micap_schema_find(compiler->def->schema, key);
        context.path = &step;
        if (!entry || entry->type.storage != MICA_STORAGE_SINGLETON) {
            char hint[100];
            micap_guess guess = {.wrong = key};
            const mica_schema *schema = compiler->def->schema;
            for (uint32_t i = 0; i < schema->count; ++i)
                if (schema->entries[i]->type.storage == MICA_STORAGE_SINGLETON)
                    micap_guess_try(&guess, schema->entries[i]->name);
            micap_json_error(compiler, context, "%s \"%.60s\"%s", entry ? "this is no singleton:" : "unknown singleton",
                             key, entry ? "" : micap_guess_text(&guess, hint, sizeof hint));
            continue;
        }
        uint32_t part = part_for(compiler, entry, context);
        void *instance = part == MICA_DRAFT_NONE ? NULL : mica_draft_add(compiler->draft, 0, part);
        micap_layer layer = {.value = value};
        if (instance)
            compile_instance(compiler, NULL, &layer, entry, instance, &step);
        else if (part != MICA_DRAFT_NONE)
            micap_json_error_memory(compiler);
    }
}

static void draft_tree(mica_compiler *compiler)
{
    enum { PROGRESS_EVERY = 4096 };
    for (micap_node *node = compiler->top.first_child; node; node = micap_tree_next(node)) {
        uint32_t parent = node->parent == &compiler->top ? MICA_NO_PARENT : node->parent->index;
        if (mica_draft_entity(compiler->draft, parent, node->name) == MICA_DRAFT_NONE) {
            draft_error(compiler, (micap_context){.location = node->location});
            return;
        }
    }
    for (micap_node *node = compiler->top.first_child; node; node = micap_tree_next(node)) {
        for (const micap_node_component *component = node->components; component; component = component->next)
            compile_component(compiler, node, component);
        check_excluded(compiler, node);
        if (compiler->def->progress && node->index % PROGRESS_EVERY == 0)
            compiler->def->progress(node->index, compiler->node_count, compiler->def->progress_context);
        if (compiler->result == MICA_ERROR_MEMORY)
            return;
    }
}

static void finish(mica_compiler *compiler, mica_compiled *out)
{
    mica_draft_finish_def def = {compiler->def->byte_order, compiler->def->compression};
    if (!compiler->error_count && mica_draft_finish(compiler->draft, &def, &out->blob) != MICA_OK)
        draft_error(compiler, (micap_context){.source = compiler->sources});
}

static void *allocate(mica_compiled *compiled, size_t bytes)
{
    return compiled->private_allocator.allocate(bytes, MICAP_ARRAY_ALIGNMENT, compiled->private_allocator.context);
}

static void copy_dependency(mica_compiler *compiler, const char *folder, const char *path, mica_compiled *out)
{
    size_t folder_bytes = strlen(folder), bytes = folder_bytes + strlen(path) + 1;
    char *copy = allocate(out, bytes);
    if (!copy) {
        micap_json_error_memory(compiler);
        return;
    }
    memcpy(copy, folder, folder_bytes);
    memcpy(copy + folder_bytes, path, bytes - folder_bytes);
    out->dependencies[out->dependency_count++] = copy;
}

/* Returns the folder from which resources are loaded, with a slash at its end, or "". */
static const char *root_folder(mica_compiler *compiler)
{
    const char *given = compiler->def->root, *text = given ? given : compiler->sources->path;
    const char *slash = strrchr(text, '/');
    size_t bytes = given ? strlen(given) : slash ? (size_t)(slash - text) + 1 : 0;
    char *folder = micap_json_allocate(compiler, bytes + 2);
    if (!folder)
        return NULL;
    memcpy(folder, text, bytes);
    if (bytes && folder[bytes - 1] != '/')
        folder[bytes] = '/';
    return folder;
}

/* Opens the compiled resource to list the resources it refers to. */
static mica_resource *open_finished(mica_compiler *compiler, const mica_compiled *out)
{
    mica_resource_def def = {.allocator = compiler->memory.allocator, .any_byte_order = true};
    mica_resource *finished = mica_resource_open(out->blob.bytes, out->blob.byte_count, &def, NULL);
    if (!finished)
        micap_json_error_memory(compiler);
    return finished;
}

static void copy_dependencies(mica_compiler *compiler, mica_compiled *out)
{
    out->private_allocator = compiler->memory.allocator;
    if (!compiler->source_count)
        return;
    mica_resource *finished = compiler->has_assets && out->blob.bytes ? open_finished(compiler, out) : NULL;
    uint32_t asset_count = finished ? mica_resource_asset_count(finished) : 0;
    const char *root = asset_count ? root_folder(compiler) : NULL;
    out->private_capacity = compiler->source_count + (root ? asset_count : 0);
    out->dependencies = allocate(out, out->private_capacity * sizeof *out->dependencies);
    if (!out->dependencies)
        micap_json_error_memory(compiler);
    for (const micap_source_file *source = compiler->sources; out->dependencies && source; source = source->next)
        copy_dependency(compiler, "", source->path, out);
    for (uint32_t i = 0; out->dependencies && root && i < asset_count; ++i)
        copy_dependency(compiler, root, mica_resource_asset_path(finished, mica_resource_asset_at(finished, i)), out);
    mica_resource_free(finished);
}

void mica_compiled_free(mica_compiled *compiled)
{
    if (!compiled)
        return;
    mica_allocator *allocator = &compiled->private_allocator;
    for (uint32_t i = 0; i < compiled->dependency_count; ++i)
        allocator->release(compiled->dependencies[i], strlen(compiled->dependencies[i]) + 1, MICAP_ARRAY_ALIGNMENT,
                           allocator->context);
    if (compiled->dependencies)
        allocator->release(compiled->dependencies, compiled->private_capacity * sizeof *compiled->dependencies,
                           MICAP_ARRAY_ALIGNMENT, allocator->context);
    mica_blob_free(&compiled->blob);
    *compiled = (mica_compiled){0};
}

static mica_result compile(const char *path, const char *text, size_t byte_count, const mica_compile_def *def,
                           mica_compiled *out)
{
    mica_compiler compiler = {.def = def};
    *out = (mica_compiled){0};
    if (MICAP_MISSING(NULL, def->schema) || MICAP_MISSING_ARRAY(NULL, def->rules, def->rule_count) ||
        MICAP_INVALID(NULL, !micap_memory_init(&compiler.memory, def->allocator), def->allocator,
                      "must have both functions, or none"))
        return MICA_ERROR_INVALID;
    micap_source_file *source = micap_source_get(&compiler, path, text, byte_count, (micap_context){0});
    compiler.draft = mica_draft_create(&compiler.memory.allocator);
    if (!compiler.draft)
        micap_json_error_memory(&compiler);
    if (source && !source->broken && compiler.draft) {
        micap_tree_build(&compiler, source);
        if (compiler.result != MICA_ERROR_MEMORY && !compiler.is_full)
            draft_tree(&compiler);
        if (json_is_object(source->root))
            compile_singletons(&compiler);
        finish(&compiler, out);
    }
    copy_dependencies(&compiler, out);
    mica_draft_destroy(compiler.draft);
    micap_sources_free(&compiler);
    micap_json_free_all(&compiler);
    out->error_count = compiler.error_count;
    if (compiler.result != MICA_OK)
        mica_blob_free(&out->blob);
    return compiler.result;
}

mica_result mica_compile_file(const char *path, const mica_compile_def *def, mica_compiled *out_compiled)
{
    if (MICAP_MISSING(NULL, path) || MICAP_MISSING(NULL, def) || MICAP_MISSING(NULL, out_compiled))
        return MICA_ERROR_INVALID;
    return compile(path, NULL, 0, def, out_compiled);
}

mica_result mica_compile_text(const char *name, const char *text, size_t byte_count, const mica_compile_def *def,
                              mica_compiled *out_compiled)
{
    if (MICAP_MISSING(NULL, name) || MICAP_MISSING(NULL, def) || MICAP_MISSING(NULL, out_compiled))
        return MICA_ERROR_INVALID;
    return compile(name, text, byte_count, def, out_compiled);
}
