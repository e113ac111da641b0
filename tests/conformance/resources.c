/* Files: their bytes are the same on every machine. */
#include "conformance.h"
#include "mica/draft.h"
#include "mica/hierarchy.h"
#include "mica/library.h"
#include "mica/module_load.h"
#include "mica/prefab.h"
#include "mica/flow.h"
#include "mica/random.h"
#include "mica/relation.h"
#include "mica/reload.h"
#include "mica/saver.h"
#include "parts.h"

#include <stdio.h>
#include <string.h>

static const char file[] = "conformance.mica";

static uint64_t hash_bytes(const mica_blob *blob)
{
    uint64_t hash = HASH_BASIS;
    for (size_t i = 0; i < blob->byte_count; ++i)
        hash = hash_more(hash, ((const uint8_t *)blob->bytes)[i], 1);
    return hash;
}

typedef struct Mark { mica_text text; uint16_t weight; mica_entity of; } Mark;
MICA_STRUCT(Mark, text, weight, of)
typedef struct Label { mica_text text; mica_list numbers, marks; } Label;
MICA_COMPONENT(Label, text, (numbers, double), (marks, Mark))

static void define_all(mica_world *world)
{
    mica_define(world, Label);
    mica_define(world, Place);
    mica_define(world, Being);
    mica_define(world, Count);
    mica_define(world, Heat);
    mica_define(world, Item);
    mica_define(world, Asleep);
    mica_define(world, Body);
    mica_define(world, Total);
}

static void populate(mica_world *world)
{
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < 300; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Place, {(float)i, 0.1f}));
        if (i % 2)
            mica_set(world, made, Being, {.friend = last, .wealth = -(int64_t)i, .title = "saved", .mood = MOOD_ANGRY});
        if (i % 3 == 0)
            mica_set(world, made, Count, {i});
        if (i % 9 == 0)
            mica_disable(world, made, Count);
        if (i % 4 == 0)
            mica_set(world, made, Heat, {(float)i});
        if (i % 5 == 0)
            mica_instance_write(mica_pool_of(world, Item), mica_pool_add(mica_pool_of(world, Item), made), Item)->kind =
                i;
        if (i % 6 == 0)
            mica_set(world, made, Body, {{1, 2, 3}, (float)i});
        if (i % 7 == 0) {
            mica_set(world, made, Label, {.text = mica_text_of(i % 2 ? "short" : "longer than what lies in place")});
            Label *label = mica_write(world, made, Label);
            mica_list_add(&label->numbers, double, 0.1, i);
            mica_list_add(&label->marks, Mark, {mica_text_of("mark"), (uint16_t)i, last});
        }
        last = made;
    }
    mica_name_set(world, last, mica_nil(), "last");
    mica_singleton_write(world, Total)->sum = 0.25;
}

static void check_saving(void)
{
    mica_world *world = open_world(), *other = open_world();
    define_all(world);
    define_all(other);
    populate(world);
    for (uint32_t order = MICA_BYTE_ORDER_LITTLE; order <= MICA_BYTE_ORDER_BIG; ++order) {
        mica_blob blob;
        mica_save_def def = {.byte_order = (mica_byte_order)order};
        EXPECT(mica_pack(world, &def, &blob) == MICA_OK);
        print_hash("file", order, hash_bytes(&blob));
        mica_resource_error error;
        mica_resource *resource =
            mica_resource_open(blob.bytes, blob.byte_count, &(mica_resource_def){.any_byte_order = true}, &error);
        EXPECT(resource && mica_world_clear(other) == MICA_OK && mica_spawn(other, resource, NULL) == MICA_OK);
        print_hash("spawned", order, mica_world_hash(other));
        mica_resource_free(resource);
        mica_blob_free(&blob);
    }
    for (int level = 0; level <= 3; level += 3) { /* uncompressed, and compressed */
        EXPECT(mica_save(world, file, &(mica_save_def){.compression = level}) == MICA_OK);
        mica_resource *loaded = mica_resource_load(file, NULL, NULL);
        EXPECT(mica_world_clear(other) == MICA_OK && loaded && mica_spawn(other, loaded, NULL) == MICA_OK);
        print_hash("spawned", 3 + (uint32_t)level, mica_world_hash(other));
        mica_resource_free(loaded);
        remove(file);
    }
    mica_world_destroy(other);
    close_world(world, 0);
}

static void jump(mica_view *view)
{
    mica_random random = mica_random_of(view);
    Place *place = mica_view_write(view, Place);
    for (uint32_t i = 0; i < view->count; ++i)
        place[i].x += mica_random_range(&random, -1, 1);
}

static mica_world *open_jumping(void)
{
    mica_world *world = open_world();
    define_all(world);
    mica_system_add(world, MICA_SYSTEM_WITH(jump, (.phase = MICA_PHASE_FIXED), MICA_WRITE(Place)));
    EXPECT(mica_world_is_unused(world));
    return world;
}

/* A saved world continues exactly in a new one, in either byte order. */
static void check_resuming(void)
{
    mica_world *world = open_jumping();
    populate(world);
    for (uint32_t i = 0; i < 10; ++i)
        mica_step(world, 0.03f);
    mica_state *state;
    EXPECT(mica_state_take(world, &state) == MICA_OK);
    size_t byte_count;
    const char *bytes = mica_state_bytes(state, &byte_count);
    EXPECT(mica_state_check(bytes, byte_count) && mica_state_has_time(bytes, byte_count));
    uint64_t hash = HASH_BASIS;
    for (size_t i = 0; i < byte_count; ++i)
        hash = hash_more(hash, (uint8_t)bytes[i], 1);
    print_hash("state", 0, hash);
    for (uint32_t order = MICA_BYTE_ORDER_LITTLE; order <= MICA_BYTE_ORDER_BIG; ++order) {
        mica_blob blob;
        EXPECT(mica_pack(world, &(mica_save_def){.byte_order = (mica_byte_order)order}, &blob) == MICA_OK);
        mica_resource *saved =
            mica_resource_open(blob.bytes, blob.byte_count, &(mica_resource_def){.any_byte_order = true}, NULL);
        EXPECT(mica_resource_get_info(saved).has_state);
        mica_world *other = open_jumping();
        EXPECT(mica_spawn(other, saved, NULL) == MICA_OK && mica_world_hash(other) == mica_world_hash(world));
        mica_step(other, 0.03f);
        print_hash("resumed", order, mica_world_hash(other));
        print_hash("resumed content", order, mica_world_hash_content(other));
        mica_world_destroy(other);
        mica_resource_free(saved);
        mica_blob_free(&blob);
    }
    mica_world *empty = open_world();
    mica_resume *resume;
    EXPECT(mica_resume_begin(empty, bytes, byte_count, NULL, 0, &resume) == MICA_OK);
    mica_resume_cancel(resume);
    EXPECT(mica_world_is_unused(empty));
    EXPECT(mica_resume_begin(empty, bytes, byte_count, NULL, 0, &resume) == MICA_OK &&
           mica_resume_end(resume) == MICA_OK);
    mica_world_destroy(empty);
    mica_state_free(state);
    mica_world_destroy(world);
}

static void check_saver(void)
{
    mica_world *world = open_world(), *other = open_world();
    mica_define(other, Place);
    mica_entity made = mica_create(world, MICA_WITH(Place, {1, 0}));
    mica_saver *saver = mica_saver_create(world, NULL);
    EXPECT(saver && mica_saver_begin(saver, file) == MICA_OK);
    mica_write(world, made, Place)->x = 2; /* it runs on */
    EXPECT(mica_saver_wait(saver) == MICA_OK && !mica_saver_is_busy(saver));
    mica_resource *loaded = mica_resource_load(file, NULL, NULL);
    mica_entity spawned = mica_nil();
    EXPECT(loaded &&
           mica_spawn(other, loaded, &(mica_spawn_def){.out_entities = &spawned, .out_capacity = 1}) == MICA_OK);
    EXPECT(mica_get(other, spawned, Place)->x == 1);
    mica_resource_free(loaded);
    mica_saver_destroy(saver);
    remove(file);
    mica_world_destroy(other);
    close_world(world, 0);
}

static mica_blob draft_level(float x)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t location = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Place});
    uint32_t count = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Count});
    uint32_t ship = mica_draft_entity(draft, MICA_NO_PARENT, "ship"), mast = mica_draft_entity(draft, ship, "mast");
    *(Place *)mica_draft_add(draft, ship, location) = (Place){x, 2};
    *(Count *)mica_draft_add(draft, mast, count) = (Count){7};
    EXPECT(mica_draft_disable(draft, count));
    mica_blob blob = {0};
    EXPECT(mica_draft_finish(draft, NULL, &blob) == MICA_OK && mica_draft_error(draft)->result == MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

static void check_looking(const mica_resource *level)
{
    EXPECT(mica_resource_entity_count(level) == 2 && mica_resource_component_count(level) == 2);
    EXPECT(mica_resource_get_info(level).group_count == 2 && mica_resource_section_at(level, 0).kind);
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t entity = mica_resource_entity_in_order(level, i);
        EXPECT(strcmp(mica_resource_name(level, entity), i ? "mast" : "ship") == 0);
        EXPECT((mica_resource_parent(level, entity) == MICA_NO_PARENT) == (i == 0));
        for (uint32_t k = 0; k < 2; ++k) {
            bool has = mica_resource_value(level, entity, k) != NULL;
            bool is_count = strcmp(mica_resource_component_at(level, k).name, "Count") == 0;
            EXPECT(has == (is_count == (i == 1)) && mica_resource_value_count(level, entity, k) == has);
            EXPECT(!mica_resource_is_repeated(level, k) &&
                   mica_resource_is_disabled(level, entity, k) == (has && is_count));
        }
    }
}

static void check_reloading(void)
{
    mica_blob first = draft_level(1), second = draft_level(5);
    mica_resource *level = mica_resource_open(first.bytes, first.byte_count, NULL, NULL);
    mica_resource *edited = mica_resource_open(second.bytes, second.byte_count, NULL, NULL);
    check_looking(level);
    mica_world *world = open_world();
    define_all(world);
    mica_spawned *spawned = mica_spawn_kept(world, level, NULL);
    EXPECT(mica_spawned_count(spawned) == 2 && mica_spawned_resource(spawned) == level);
    mica_reload_stats stats;
    EXPECT(mica_reload(spawned, edited, &stats) == MICA_OK && stats.updated_count == 1);
    EXPECT(mica_is_alive(world, mica_spawned_entities(spawned)[0]));
    EXPECT(mica_get(world, mica_find(world, "ship"), Place)->x == 5);
    print_hash("reloaded", 0, mica_world_hash(world));
    mica_spawned_free(spawned);

    EXPECT(mica_write_file(file, "a", 1, NULL) == MICA_OK);
    mica_watch *watch = mica_watch_create((const char *[]){file}, 1, NULL);
    EXPECT(!mica_watch_changed(watch));
    EXPECT(mica_write_file(file, "bc", 2, NULL) == MICA_OK && mica_watch_changed(watch));
    mica_watch_destroy(watch);
    remove(file);
    mica_resource_free(level);
    mica_resource_free(edited);
    mica_blob_free(&first);
    mica_blob_free(&second);
    close_world(world, 0);
}

static mica_result define_for_modules(mica_world *world, void *context)
{
    (void)context;
    define_all(world);
    return MICA_OK;
}

/* A reload continues in another world. Without modules, which not every system can load. */
static void check_modules(void)
{
    uint32_t rule_count = 1;
    mica_modules *modules = mica_module_load(NULL, 0, &(mica_module_def){.setup = define_for_modules});
    mica_world *world = mica_module_world(modules);
    mica_entity ship = mica_create(world, MICA_WITH(Place, {1, 2}));
    EXPECT(mica_step(world, 0.5f) == MICA_OK && !mica_module_update(modules));
    uint64_t hash = mica_world_hash(world);
    EXPECT(mica_module_reload(modules) == MICA_OK);
    world = mica_module_world(modules);
    EXPECT(mica_world_hash(world) == hash && mica_get(world, ship, Place)->x == 1);
    EXPECT(!mica_module_get_rules(modules, &rule_count) && rule_count == 0);
    EXPECT(mica_module_start_run(modules) == MICA_OK && !mica_module_find(modules, 0, "mica_module_main"));
    mica_module_unload(modules);
}

/* An instance follows its prefab, except where it has another value. */
static void check_prefabs(void)
{
    mica_world *world = open_world();
    define_all(world);
    EXPECT(mica_prefab_define(world));
    mica_entity ship = mica_create(world, MICA_WITH(Place, {1, 2}));
    mica_entity mast = mica_create_child(world, ship, MICA_WITH(Count, {3}));
    EXPECT(mica_name_child(world, mast, "mast") == MICA_OK && mica_prefab_create(world, ship, NULL) == MICA_OK);
    mica_entity one = mica_prefab_spawn(world, ship, NULL);
    mica_entity part = mica_prefab_part(world, one, "mast");
    EXPECT(mica_same(mica_prefab_of(world, one), ship) && mica_same(mica_prefab_of(world, part), mast));
    EXPECT(mica_same(mica_target_id(world, one, mica_prefab_relation()), ship));
    mica_write(world, one, Place)->x = 10;
    mica_write(world, ship, Place)->x = 20;
    mica_write(world, ship, Place)->y = 30;
    mica_reload_stats stats;
    EXPECT(mica_prefab_update(world, ship, NULL, &stats) == MICA_OK && stats.updated_count == 1);
    EXPECT(mica_get(world, one, Place)->x == 10 && mica_get(world, one, Place)->y == 30);
    print_hash("prefab", 0, mica_world_hash(world));
    close_world(world, 0);
}

/* A file that refers to another one. */
static void check_library(void)
{
    mica_blob mesh = draft_level(3), scene = {0};
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t shape = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Shape});
    uint32_t rock = mica_draft_entity(draft, MICA_NO_PARENT, "rock");
    mica_asset asset = mica_draft_asset(draft, file);
    ((Shape *)mica_draft_add(draft, rock, shape))->mesh = asset;
    EXPECT(mica_draft_finish(draft, NULL, &scene) == MICA_OK);
    mica_draft_destroy(draft);
    EXPECT(mica_write_file(file, mesh.bytes, mesh.byte_count, NULL) == MICA_OK);

    mica_resource *level = mica_resource_open(scene.bytes, scene.byte_count, NULL, NULL);
    EXPECT(mica_resource_asset_count(level) == 1 && mica_resource_asset_at(level, 0).path_hash == asset.path_hash);
    EXPECT(strcmp(mica_resource_asset_path(level, asset), file) == 0);
    mica_library *library = mica_library_create(NULL);
    EXPECT(mica_library_asset(library, file).path_hash == asset.path_hash && !mica_library_find(library, asset));
    EXPECT(mica_library_load_assets(library, level, NULL) == MICA_OK && mica_library_count(library) == 1);
    const mica_resource *found = mica_library_find(library, asset);
    EXPECT(mica_library_load(library, file, NULL) == found && strcmp(mica_library_path(library, asset), file) == 0);
    uint32_t count;
    const Place *places = mica_resource_values(found, Place, &count);
    EXPECT(count == 1 && places && places->x == 3);
    EXPECT(mica_library_reload(library, asset, NULL) == MICA_OK && mica_library_find(library, asset) != found);
    EXPECT(mica_library_release(library, mica_library_find(library, asset)));
    mica_library_release_assets(library, level);
    EXPECT(mica_library_count(library) == 0);
    print_hash("asset", 0, asset.path_hash);
    mica_library_destroy(library);
    mica_resource_free(level);
    mica_blob_free(&mesh);
    mica_blob_free(&scene);
    remove(file);
}

void check_resources(void)
{
    check_library();
    check_saving();
    check_resuming();
    check_saver();
    check_reloading();
    check_prefabs();
    check_modules();
}
