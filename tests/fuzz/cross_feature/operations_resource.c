/* Files: pack and spawn, save and load, reload, savers, JSON. */
#include "program.h"

#include "mica/compile.h"
#include "mica/hash.h"
#include "mica/prefab.h"
#include "mica/value.h"

#include <stdlib.h>
#include <string.h>

static mica_resource *open_blob(program *program, const mica_blob *blob)
{
    mica_resource_error error = {0};
    mica_resource *resource = mica_resource_open(blob->bytes, blob->byte_count, NULL, &error);
    if (!resource)
        fprintf(stderr, "%s\n", error.text);
    EXPECT(program, resource != NULL, "what was packed can't be opened");
    return resource;
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    random_source source = {.state = hash ^ more * 0x9e3779b97f4a7c15u};
    return random_u64(&source);
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t byte_count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < byte_count; ++i)
        hash = mix(hash, at[i]);
    return hash;
}

/* Text and lists are not in the bytes of a value. */
static uint64_t mix_values(uint64_t hash, const mica_type *type, const char *values, uint32_t count)
{
    bool is_bytes = true;
    for (uint32_t i = 0; i < type->field_count; ++i)
        is_bytes = is_bytes && type->fields[i].kind != MICA_KIND_TEXT && type->fields[i].kind != MICA_KIND_LIST;
    for (uint32_t i = 0; !is_bytes && i < count; ++i) {
        mica_member member = mica_member_of_type(type, (char *)values + (size_t)i * type->size_bytes);
        size_t length = mica_value_write(member, NULL, 0);
        char *text = malloc(length + 1);
        mica_value_write(member, text, length + 1);
        hash = mix_bytes(hash, text, length);
        free(text);
    }
    return is_bytes ? mix_bytes(hash, values, (size_t)type->size_bytes * count) : hash;
}

/* A replica has edges to nil, for targets that it does not have. In a file without a state they are left out when it is loaded, unless
 * edges of the relation outlive their targets. */
static uint32_t count_edges(const char *name, const mica_type *type, const char *values, uint32_t count)
{
    bool outlives = strcmp(name, "FuzzRemembers") == 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity target;
        memcpy(&target, values + (size_t)i * type->size_bytes + type->fields[0].offset, sizeof target);
        kept += outlives || !mica_is_nil(target);
    }
    return kept;
}

/* Edges refer to entities by their number in the file, which is not what the file says. */
static uint64_t mix_edges(uint64_t hash, const mica_type *type, const char *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const char *value = values + (size_t)i * type->size_bytes;
        uint64_t edge = 0;
        for (uint32_t k = 0; k < type->field_count; ++k)
            if (type->fields[k].kind != MICA_KIND_ENTITY)
                edge = mix_bytes(edge, value + type->fields[k].offset,
                                 (size_t)type->fields[k].element_bytes * type->fields[k].count);
        mica_entity target;
        memcpy(&target, value + type->fields[0].offset, sizeof target);
        hash = mica_is_nil(target) ? hash : mix(hash, edge);
    }
    return hash;
}

static uint64_t digest_of_entity(const mica_resource *resource, uint32_t entity)
{
    const char *name = mica_resource_name(resource, entity);
    uint64_t hash = mix_bytes(0, name, name ? strlen(name) : 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mica_resource_component_count(resource); ++i) {
        mica_resource_component component = mica_resource_component_at(resource, i);
        uint32_t count = mica_resource_value_count(resource, entity, i);
        if (component.storage == MICA_STORAGE_SINGLETON || !mica_resource_value(resource, entity, i))
            continue;
        uint64_t value = mix(component.name_hash, mica_resource_is_disabled(resource, entity, i));
        const char *instances = mica_resource_value(resource, entity, i);
        bool is_edge =
            component.type && component.type->field_count && !strcmp(component.type->fields[0].name, "target");
        uint32_t edges = is_edge ? count_edges(component.name, component.type, instances, count) : 1;
        if (!edges)
            continue;
        if (component.storage == MICA_STORAGE_CHUNK &&
            strcmp(component.name, "mica_prefab") != 0) /* it has numbers, too */
            value = (is_edge ? mix_edges : mix_values)(mix(value, edges), component.type, instances, count);
        sum += value;
    }
    return mix(hash, sum);
}

/* What a file says, whatever the order of its entities: handles and rows are numbered anew when it is loaded. */
static uint64_t digest_of(const mica_resource *resource)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mica_resource_entity_count(resource); ++i) {
        uint32_t parent = mica_resource_parent(resource, i);
        uint64_t parents = parent == MICA_NO_PARENT ? 1 : digest_of_entity(resource, parent);
        sum += mix(digest_of_entity(resource, i), parents);
    }
    return sum;
}

static uint64_t digest_of_blob(program *program, const mica_blob *blob)
{
    mica_resource *resource = open_blob(program, blob);
    uint64_t digest = digest_of(resource);
    mica_resource_free(resource);
    return digest;
}

static void pack(program *program, scene *scene)
{
    mica_blob blob = {0};
    mica_save_def def = {.compression = take_one_in(program, 4)};
    def.skip_singletons = take_one_in(program, 4);
    def.skip_without_rule = take_one_in(program, 4);
    if (!take_one_in(program, 4))
        def.rules = file_rules(&def.rule_count);
    mica_entity some[3];
    for (uint32_t i = 0; i < 3; ++i)
        some[i] = take_entity(program, scene);
    if (take_one_in(program, 3)) {
        def.entities = some;
        def.entity_count = 3;
    }
    if (mica_pack(scene->world, &def, &blob) != MICA_OK)
        return;
    if (program->depth > 0) { /* the resource may be in use */
        mica_blob_free(&blob);
        return;
    }
    mica_resource_free(scene->resource);
    mica_blob_free(&scene->blob);
    scene->blob = blob;
    scene->resource = open_blob(program, &scene->blob);
}

/* The resource of this world or of another one, or one that could not be loaded. */
static const mica_resource *take_resource(program *program, scene *scene)
{
    uint8_t which = take(program) % 8;
    if (which == 7)
        return mica_resource_load("/nowhere/level.mica", NULL, NULL);
    if (!scene->resource && program->depth == 0)
        pack(program, scene);
    struct scene *other = which > 4 ? take_other_scene(program, scene) : NULL;
    return other && other->resource ? other->resource : scene->resource;
}

static mica_spawn_def take_spawn(program *program, scene *scene)
{
    mica_spawn_def def = {.skip_unknown = true};
    def.skip_without_rule = take_one_in(program, 4);
    if (!take_one_in(program, 4))
        def.rules = file_rules(&def.rule_count);
    def.copies = take_below(program, 4);
    def.names = (mica_spawn_names)take_below(program, 3);
    if (take_one_in(program, 3))
        def.parent = take_entity(program, scene);
    return def;
}

static void spawn(program *program, scene *scene)
{
    const mica_resource *resource = take_resource(program, scene);
    mica_spawn_def def = take_spawn(program, scene);
    uint32_t count = resource ? mica_resource_entity_count(resource) * (def.copies ? def.copies : 1) : 0;
    if (is_full(scene) || count > ENTITIES_LIMIT)
        return;
    def.out_capacity = take_one_in(program, 4) ? count / 2 : count;
    def.out_entities = malloc(def.out_capacity * sizeof *def.out_entities);
    if (mica_spawn(scene->world, resource, &def) == MICA_OK && count > 0 && def.out_entities)
        remember(scene, def.out_entities[count - 1]);
    free(def.out_entities);
}

static void forget_spawned(scene *scene)
{
    mica_spawned_free(scene->spawned);
    scene->spawned = NULL;
    mica_resource_free(scene->resource_of_spawned);
    scene->resource_of_spawned = NULL;
    mica_blob_free(&scene->blob_of_spawned);
}

static void hand_resource_to_spawned(scene *scene)
{
    scene->resource_of_spawned = scene->resource;
    scene->blob_of_spawned = scene->blob;
    scene->resource = NULL;
    scene->blob = (mica_blob){0};
}

static void spawn_kept(program *program, scene *scene)
{
    mica_spawn_def def = take_spawn(program, scene);
    if (!scene->resource)
        pack(program, scene);
    if (!scene->resource || is_full(scene))
        return;
    forget_spawned(scene);
    hand_resource_to_spawned(scene);
    scene->spawned = mica_spawn_kept(scene->world, scene->resource_of_spawned, &def);
}

static void reload(program *program, scene *scene)
{
    mica_reload_stats stats;
    if (!scene->spawned && program->depth == 0)
        spawn_kept(program, scene);
    if (!scene->resource && program->depth == 0)
        pack(program, scene);
    if (!scene->spawned || !scene->resource || is_full(scene) ||
        mica_reload(scene->spawned, scene->resource, &stats) != MICA_OK)
        return;
    mica_resource_free(scene->resource_of_spawned);
    mica_blob_free(&scene->blob_of_spawned);
    hand_resource_to_spawned(scene);
}

static mica_blob read_file(const char *path)
{
    mica_blob blob = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return blob;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    blob.bytes = malloc(size > 0 ? (size_t)size : 1);
    blob.byte_count = size > 0 ? fread(blob.bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    return blob;
}

static bool is_same(const mica_blob *a, const mica_blob *b)
{
    return a->byte_count == b->byte_count && memcmp(a->bytes, b->bytes, a->byte_count) == 0;
}

static void save(program *program, scene *scene)
{
    mica_blob blob = {0};
    mica_save_def def = {.skip_without_rule = take_one_in(program, 2)};
    if (take_one_in(program, 2))
        def.rules = file_rules(&def.rule_count);
    if (mica_pack(scene->world, &def, &blob) != MICA_OK)
        return;
    if (mica_save(scene->world, scratch_path("save"), &def) == MICA_OK) {
        mica_blob file = read_file(scratch_path("save"));
        EXPECT(program, is_same(&file, &blob), "a saved file differs from what is packed");
        free(file.bytes);
    }
    mica_blob_free(&blob);
}

static void saver_save(program *program, scene *scene)
{
    mica_blob blob = {0};
    mica_save_def def = {.skip_state = true};
    def.rules = scene_rules(&def.rule_count);
    if (!scene->saver)
        scene->saver = mica_saver_create(scene->world, &def);
    if (!scene->saver || mica_pack(scene->world, &def, &blob) != MICA_OK)
        return;
    if (mica_saver_begin(scene->saver, scratch_path("save")) == MICA_OK && mica_saver_wait(scene->saver) == MICA_OK) {
        mica_blob file = read_file(scratch_path("save"));
        EXPECT(program, digest_of_blob(program, &file) == digest_of_blob(program, &blob),
               "a saver's file says something else than what is packed");
        free(file.bytes);
    }
    mica_blob_free(&blob);
}

static void saver_destroy(program *program, scene *scene)
{
    (void)program;
    mica_saver_destroy(scene->saver);
    scene->saver = NULL;
}

static void ignore_error(const mica_compile_error *error, void *context)
{
    (void)error;
    (void)context;
}

/* JSON of a resource compiles to the same bytes. */
static void dump(program *program, scene *scene)
{
    mica_blob text = {0}, blob = {0};
    mica_compiled compiled = {0};
    mica_save_def save = {.skip_state = true};
    save.rules = file_rules(&save.rule_count);
    if (mica_pack(scene->world, &save, &blob) != MICA_OK)
        return;
    mica_resource *resource = open_blob(program, &blob);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_resource(schema, resource);
    EXPECT(program, mica_dump(resource, &text) == MICA_OK, "a resource can't be dumped");
    mica_compile_def def = {.schema = schema, .error = ignore_error};
    mica_result result = mica_compile_text("dump", text.bytes, text.byte_count, &def, &compiled);
    EXPECT(program, result == MICA_OK, "a dump can't be compiled");
    EXPECT(program, is_same(&compiled.blob, &blob), "a dump compiles to other bytes");
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_blob_free(&text);
    mica_blob_free(&blob);
}

/* Whether an entity lacks a component that another one of it requires: it comes along when a file without a state is spawned. */
static bool is_something_missing(mica_world *world)
{
    bool missing = false;
    mica_query *all = mica_query_create(world, &(mica_query_def){.name = "all", .with_hidden = true});
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        for (uint32_t i = 0; !missing && i < view.count; ++i) {
            uint32_t kinds = 0;
            for (sample_kind kind = 0; kind < SAMPLE_COUNT; ++kind)
                kinds |= (uint32_t)mica_has_id(world, view.entities[i], sample_id(kind)) << kind;
            bool is_night = mica_has(world, view.entities[i], FuzzNight);
            missing = sample_complete(kinds) != kinds || (mica_has(world, view.entities[i], FuzzDawn) && !is_night);
        }
    mica_query_destroy(all);
    return missing;
}

/* A new world with what a blob holds. NULL if it is refused, which is right in one case: without a state, what an entity lacks comes
 * along with what requires it, and the entity has got something since that excludes it. */
static mica_world *load(program *program, scene *scene, const mica_blob *blob)
{
    mica_world_def def = mica_world_def_default();
    def.report = program_note_report;
    struct scene loaded = *scene;
    loaded.world = mica_world_create(&def);
    scene_define(&loaded);
    mica_resource *resource = open_blob(program, blob);
    mica_spawn_def spawn = {.skip_unknown = true};
    spawn.rules = file_rules(&spawn.rule_count);
    mica_result result = mica_spawn(loaded.world, resource, &spawn);
    bool may_refuse = !mica_resource_get_info(resource).has_state && is_something_missing(scene->world);
    EXPECT(program, result == MICA_OK || (result == MICA_ERROR_INVALID && may_refuse),
           "what was packed can't be spawned");
    EXPECT(program, mica_world_validate(loaded.world) == MICA_OK, "a loaded world is not valid");
    mica_resource_free(resource);
    if (result == MICA_OK)
        return loaded.world;
    mica_world_destroy(loaded.world);
    return NULL;
}

/* What is loaded is what was saved. */
void compare_save(program *program, scene *scene)
{
    mica_blob first = {0}, second = {0};
    mica_save_def def = {0};
    def.rules = file_rules(&def.rule_count);
    if (mica_pack(scene->world, &def, &first) != MICA_OK)
        return;
    mica_world *loaded = load(program, scene, &first);
    if (!loaded) {
        mica_blob_free(&first);
        return;
    }
    EXPECT(program, mica_world_get_stats(loaded).entity_count == mica_world_get_stats(scene->world).entity_count,
           "a loaded world has more or fewer entities");
    mica_resource *resource = open_blob(program, &first);
    bool has_state = mica_resource_get_info(resource).has_state;
    if (has_state && mica_world_hash_content(loaded) != mica_world_hash_content(scene->world)) {
        mica_difference difference = {0};
        mica_hash_diff(scene->world, loaded, &difference);
        fprintf(stderr, "%s\n", difference.text);
        EXPECT(program, false, "a loaded world has other handles, values or rows");
    }
    mica_resource_free(resource);
    EXPECT(program, mica_pack(loaded, &def, &second) == MICA_OK, "a loaded world can't be packed");
    EXPECT(program,
           digest_of_blob(program, &first) == digest_of_blob(program, &second) ||
               (!has_state && is_something_missing(scene->world)),
           "a world that is saved and loaded says something else");
    mica_world_destroy(loaded);
    mica_blob_free(&first);
    mica_blob_free(&second);
}

/* How a prefab is read. */
static mica_prefab_def take_prefab(program *program)
{
    mica_prefab_def def = {.skip_without_rule = take_one_in(program, 4)};
    if (!take_one_in(program, 4))
        def.rules = file_rules(&def.rule_count);
    return def;
}

static void prefab_create(program *program, scene *scene)
{
    mica_prefab_def def = take_prefab(program);
    mica_prefab_create(scene->world, take_entity(program, scene), &def);
}

/* A prefab of this world, if there is one, or any entity. */
static mica_entity take_prefab_root(program *program, scene *scene)
{
    mica_entity found = mica_prefab_of(scene->world, take_entity(program, scene));
    for (uint32_t i = 0; i < 4 && mica_is_nil(found); ++i)
        found = take_entity(program, scene);
    return found;
}

static void prefab_spawn(program *program, scene *scene)
{
    mica_prefab_spawn_def def = {.values = take_prefab(program), .is_copy = take_one_in(program, 4)};
    mica_entity roots[3] = {0}, prefab = take_prefab_root(program, scene);
    def.count = take_below(program, 4);
    def.out_entities = roots;
    if (take_one_in(program, 3))
        def.parent = take_entity(program, scene);
    if (is_full(scene) || mica_is_nil(mica_prefab_spawn(scene->world, prefab, &def)))
        return;
    for (uint32_t i = 0; i < 3; ++i)
        if (!mica_is_nil(roots[i]))
            remember(scene, roots[i]);
    EXPECT(program, mica_is_nil(mica_prefab_part(scene->world, roots[0], "/")), "a part has no name");
}

static void prefab_update(program *program, scene *scene)
{
    mica_prefab_def def = take_prefab(program);
    mica_reload_stats stats;
    mica_entity prefab = take_prefab_root(program, scene);
    if (is_full(scene) || mica_prefab_update(scene->world, prefab, &def, &stats) != MICA_OK || program->depth > 0)
        return;
    EXPECT(program, mica_prefab_update(scene->world, prefab, &def, &stats) == MICA_OK, "an update can be repeated");
    EXPECT(program, stats.created_count + stats.destroyed_count == 0, "the second update finds nothing to create");
}

const operation resource_operations[] = {
    {"pack", pack, READS | IN_BODY | SLOW},
    {"spawn", spawn, IN_BODY | SLOW},
    {"spawn_kept", spawn_kept, SLOW},
    {"reload", reload, IN_BODY | SLOW},
    {"save", save, READS | SLOW},
    {"saver_save", saver_save, READS | SLOW},
    {"saver_destroy", saver_destroy, READS | SLOW},
    {"dump", dump, READS | SLOW},
    {"save_compare", compare_save, READS | SLOW},
    {"prefab_create", prefab_create, IN_BODY | SLOW},
    {"prefab_spawn", prefab_spawn, IN_BODY | SLOW},
    {"prefab_update", prefab_update, IN_BODY | SLOW},
};
OPERATIONS(resource)
