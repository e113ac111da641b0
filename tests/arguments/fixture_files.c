#define _DEFAULT_SOURCE 1 /* mkdtemp */
/* Snapshots, deltas, recordings and resources for the calls of the argument test. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* Files. */

const char *scratch_folder(void)
{
    static char folder[64];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/mica_arguments_XXXXXX");
        REQUIRE(mkdtemp(folder));
    }
    return folder;
}

const char *scratch(const char *name)
{
    static char paths[16][128];
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof *paths, "%s/%s", scratch_folder(), name);
    return path;
}

const char *long_text(void)
{
    static char text[100001];
    memset(text, 'a', sizeof text - 1);
    return text;
}

const char *text_file(const char *name, const char *text)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "w");
    REQUIRE(file && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

FILE *valid_stdio(void)
{
    return tmpfile();
}

static mica_resource_error resource_error;
static mica_recording_error recording_error;
static mica_value_error value_error;
static bool takes_resource_error, takes_recording_error, takes_value_error;
static mica_draft *the_draft;

void forget_errors(void)
{
    resource_error = (mica_resource_error){0};
    recording_error = (mica_recording_error){0};
    value_error = (mica_value_error){0};
}

const char *error_text(void)
{
    if (strcmp(called_function, "mica_draft_destroy") == 0)
        the_draft = NULL; /* it was destroyed */
    if (resource_error.result != MICA_OK)
        return resource_error.text;
    if (recording_error.result != MICA_OK)
        return recording_error.text;
    if (value_error.result != MICA_OK)
        return value_error.text;
    return the_draft && mica_draft_error(the_draft)->result != MICA_OK ? mica_draft_error(the_draft)->text : NULL;
}

bool takes_error(void)
{
    return takes_resource_error || takes_recording_error || takes_value_error;
}

/* Snapshots, deltas, recordings. */

mica_hash_tree *valid_hash_tree(void)
{
    return mica_hash_tree_take(valid_world(), MICA_HASH_SLICES);
}

mica_hash_tree *other_hash_tree(void)
{
    return mica_hash_tree_take(other_world(), MICA_HASH_SLICES);
}

mica_snapshot valid_snapshot(void)
{
    return mica_snapshot_take(valid_world());
}

mica_snapshot dropped_snapshot(void)
{
    mica_snapshot snapshot = mica_snapshot_take(valid_world());
    REQUIRE(mica_snapshot_drop(valid_world(), snapshot));
    return snapshot;
}

mica_snapshot foreign_snapshot(void)
{
    mica_snapshot snapshot = {0};
    for (uint32_t i = 0; i < 9; ++i)
        snapshot = mica_snapshot_take(other_world());
    return snapshot;
}

mica_history *valid_history(void)
{
    static mica_history *history;
    if (!history) {
        history = mica_history_create(valid_world(), 3);
        REQUIRE(history && mica_history_take(history, 1) == MICA_OK);
    }
    return history;
}

const mica_sender_def *valid_sender_def(void)
{
    static mica_sender_def def;
    static mica_component excluded[1];
    excluded[0] = MICA_ID(Buff);
    def = (mica_sender_def){.excluded = excluded, .excluded_count = 1, .with_state = true};
    return &def;
}

mica_inspector *valid_inspector(void)
{
    static mica_inspector *inspector;
    if (!inspector)
        inspector = mica_inspect_serve(valid_world(), &(mica_inspect_def){.quiet = true});
    REQUIRE(inspector);
    return inspector;
}

mica_sender *valid_sender(void)
{
    static mica_sender *sender;
    if (!sender)
        sender = mica_sender_create(valid_world(), valid_sender_def());
    REQUIRE(sender);
    return sender;
}

/* In a world of its own, with what the sender has. */
mica_replica *valid_replica(void)
{
    static mica_replica *replica;
    if (!replica) {
        mica_delta delta;
        replica = mica_replica_create(make_world(), NULL);
        REQUIRE(replica && mica_delta_encode(valid_sender(), 0, &delta) == MICA_OK);
        REQUIRE(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK);
    }
    return replica;
}

static mica_delta the_delta;

const void *delta_bytes(void)
{
    REQUIRE(mica_delta_encode(valid_sender(), 0, &the_delta) == MICA_OK);
    return the_delta.bytes;
}

size_t delta_byte_count(void)
{
    delta_bytes();
    return the_delta.byte_count;
}

const char *recording_path(void)
{
    static const char *path;
    if (path)
        return path;
    path = scratch("valid.micarec");
    REQUIRE(mica_recording_begin(world_with_input(), path, NULL) == MICA_OK);
    REQUIRE(mica_input(valid_world(), "go", 2) == MICA_OK && mica_step(valid_world(), 0.1f) == MICA_OK);
    REQUIRE(mica_recording_end(valid_world()) == MICA_OK);
    return path;
}

static char file_bytes[65536] __attribute__((aligned(64)));

static size_t read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    size_t count = fread(file_bytes, 1, sizeof file_bytes, file);
    fclose(file);
    return count;
}

const void *recording_bytes(void)
{
    read_file(recording_path());
    return file_bytes;
}

size_t recording_byte_count(void)
{
    return read_file(recording_path());
}

mica_recording *valid_recording(void)
{
    static mica_recording *recording;
    if (!recording)
        recording = mica_recording_load(recording_path(), NULL);
    REQUIRE(recording);
    return recording;
}

mica_recording_error *error_of_recording(void)
{
    takes_recording_error = true;
    return &recording_error;
}

/* Resources. */

static mica_schema *the_schema;

mica_schema *valid_schema(void)
{
    if (!the_schema) {
        the_schema = mica_schema_create();
        REQUIRE(the_schema && mica_schema_add(the_schema, &mica_type_of_Position, 0) == MICA_OK);
        REQUIRE(mica_schema_add(the_schema, &mica_type_of_Shape, 0) == MICA_OK);
    }
    return the_schema;
}

const mica_compile_def *valid_compile_def(void)
{
    static mica_compile_def def;
    def = (mica_compile_def){.schema = valid_schema(), .root = scratch_folder(), .error = on_compile_error};
    return &def;
}

const char *schema_path(void)
{
    return text_file("schema.json", "{\"types\": [{\"name\": \"Wind\", \"component\": \"data\", \"fields\": "
                                    "[{\"name\": \"x\", \"kind\": \"f32\"}]}]}");
}

const char *json_path(void)
{
    return text_file("rock.json", JSON_TEXT);
}

const char *resource_path(void)
{
    static const char *path;
    if (path)
        return path;
    text_file("mesh.json", JSON_TEXT);
    const char *level =
        text_file("level.json", "{\"entities\": [{\"name\": \"rock\", \"components\": {\"Position\": {\"x\": 1}, "
                                "\"Shape\": {\"mesh\": \"mesh.mica\"}}}]}");
    mica_compiled compiled = {0};
    mica_compile_def def = *valid_compile_def();
    REQUIRE(mica_compile_file(level, &def, &compiled) == MICA_OK);
    path = scratch("level.mica");
    REQUIRE(mica_write_file(path, compiled.blob.bytes, compiled.blob.byte_count, NULL) == MICA_OK);
    mica_compiled_free(&compiled);
    REQUIRE(mica_compile_text("mesh.json", JSON_TEXT, sizeof JSON_TEXT - 1, &def, &compiled) == MICA_OK);
    REQUIRE(mica_write_file(scratch("mesh.mica"), compiled.blob.bytes, compiled.blob.byte_count, NULL) == MICA_OK);
    mica_compiled_free(&compiled);
    return path;
}

const void *resource_bytes(void)
{
    read_file(resource_path());
    return file_bytes;
}

size_t resource_byte_count(void)
{
    return read_file(resource_path());
}

mica_resource *valid_resource(void)
{
    static mica_resource *resource;
    if (!resource)
        resource = mica_resource_load(resource_path(), NULL, NULL);
    REQUIRE(resource);
    return resource;
}

mica_asset resource_asset(void)
{
    return mica_resource_asset_at(valid_resource(), 0);
}

mica_resource *resource_with_assets(void)
{
    REQUIRE(mica_library_load_assets(valid_library(), valid_resource(), NULL) == MICA_OK);
    return valid_resource();
}

mica_resource_error *error_of_resource(void)
{
    takes_resource_error = true;
    return &resource_error;
}

mica_value_error *error_of_value(void)
{
    takes_value_error = true;
    return &value_error;
}

mica_text *valid_dynamic_text(void)
{
    static mica_text text;
    mica_text_set(&text, "a text that does not lie in place");
    return &text;
}

mica_list *valid_list(void)
{
    static mica_list list;
    mica_list_assign(&list, int, ((int[]){1, 2, 3}), 3);
    return &list;
}

mica_member valid_member(void)
{
    static Position position;
    return mica_member_of(MICA_ID(Position), &position);
}

mica_blob *valid_blob(void)
{
    static mica_blob blob;
    REQUIRE(mica_pack(valid_world(), valid_save_def(), &blob) == MICA_OK);
    return &blob;
}

const mica_spawn_def *valid_spawn_def(void)
{
    static mica_spawn_def def;
    static mica_resource_rule rule;
    rule.component = MICA_ID(Position);
    def = (mica_spawn_def){.rules = &rule, .rule_count = 1};
    return &def;
}

const mica_save_def *valid_save_def(void)
{
    static mica_save_def def;
    static mica_resource_rule rule;
    rule.component = MICA_ID(Position);
    def = (mica_save_def){.rules = &rule, .rule_count = 1, .library = valid_library()};
    return &def;
}

mica_spawned *valid_spawned(void)
{
    static mica_spawned *spawned;
    if (!spawned)
        spawned = mica_spawn_kept(valid_world(), valid_resource(), NULL);
    REQUIRE(spawned);
    return spawned;
}

mica_entity valid_prefab_root(void)
{
    static mica_entity root;
    if (!mica_is_alive(valid_world(), root))
        root = mica_create(valid_world());
    return root;
}

mica_entity valid_prefab(void)
{
    static mica_entity prefab;
    if (!mica_is_alive(valid_world(), prefab)) {
        prefab = mica_create(valid_world());
        REQUIRE(mica_prefab_create(valid_world(), prefab, NULL) == MICA_OK);
    }
    return prefab;
}

mica_watch *valid_watch(void)
{
    return mica_watch_create(valid_files(), 1, NULL);
}

static mica_result set_up(mica_world *world, void *context)
{
    (void)context;
    return world ? MICA_OK : MICA_ERROR_INVALID;
}

const mica_module_def *valid_module_def(void)
{
    static mica_module_def def;
    def = (mica_module_def){.world = valid_world_def(), .setup = set_up};
    return &def;
}

mica_modules *valid_modules(void)
{
    mica_modules *modules = mica_module_load((const char *[]){IDLE_MODULE}, 1, valid_module_def());
    REQUIRE(modules);
    return modules;
}

const mica_library_def *valid_library_def(void)
{
    static mica_library_def def;
    resource_path();
    def = (mica_library_def){.root = scratch_folder()};
    return &def;
}

mica_library *valid_library(void)
{
    static mica_library *library;
    if (!library)
        library = mica_library_create(valid_library_def());
    REQUIRE(library);
    return library;
}

const mica_resource *library_resource(void)
{
    static const mica_resource *resource;
    if (!resource)
        resource = mica_library_load(valid_library(), "level.mica", NULL);
    REQUIRE(resource);
    return resource;
}

mica_asset library_asset(void)
{
    library_resource();
    return mica_library_asset(valid_library(), "level.mica");
}

mica_asset valid_asset(void)
{
    return library_asset();
}

mica_draft *valid_draft(void)
{
    if (the_draft)
        return the_draft;
    the_draft = mica_draft_create(NULL);
    REQUIRE(the_draft);
    uint32_t health = mica_draft_component(the_draft, &(mica_draft_component_def){.type = &mica_type_of_Health});
    uint32_t entity = mica_draft_entity(the_draft, MICA_NO_PARENT, "first");
    REQUIRE(mica_draft_add(the_draft, entity, health));
    mica_draft_entity(the_draft, MICA_NO_PARENT, "second");
    return the_draft;
}

/* Without instances of a pool for many, which a saver refuses. */
static mica_world *world_to_save(void)
{
    mica_world *world = mica_world_create(valid_world_def());
    REQUIRE(world && !mica_is_nil(mica_create(world, MICA_WITH(Position, {1, 2, 3}))));
    return world;
}

mica_saver *valid_saver(void)
{
    static mica_saver *saver;
    if (!saver)
        saver = mica_saver_create(world_to_save(), NULL);
    REQUIRE(saver);
    return saver;
}

struct sqlite3 *valid_database(void)
{
    sqlite3 *database;
    REQUIRE(sqlite3_open(":memory:", &database) == SQLITE_OK);
    return database;
}

/* Where results go. What the call before put there is released. */
struct ArrowSchema *valid_arrow_schema(void)
{
    static struct ArrowSchema schema;
    if (schema.release)
        schema.release(&schema);
    return &schema;
}

struct ArrowArrayStream *valid_arrow_stream(void)
{
    static struct ArrowArrayStream stream;
    if (stream.release)
        stream.release(&stream);
    return &stream;
}

bool on_arrow_bytes(const void *bytes, size_t byte_count, void *context)
{
    (void)bytes;
    (void)byte_count;
    (void)context;
    return true;
}
