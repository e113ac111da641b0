/* Mica, resource: levels, prefabs and save games are one binary format that is used as it lies in the file.
 *
 *     mica_define(world, Position);                          files know components by name: define before spawning
 *     mica_define(world, Velocity);
 *     mica_resource *level = mica_resource_load("level.mica", NULL, &error);
 *     mica_spawn(world, level, NULL);                        as often as you like: the resource is read-only
 *     mica_resource_free(level);
 *     mica_save(world, "quick.mica", NULL);
 *
 * Loading maps the file and proves every offset, count, index and value in it before anything else reads it: a damaged
 * or hostile file gets an error with its place, never a crash. Spawning creates all entities at once, grouped by
 * component set, and copies whole columns. The byte layout is docs/format.md. Files are replaced by rename and never
 * changed in place, so that a mapped one stays what it was.
 *
 * In the library mica_resource (CMake: mica::resource), which needs xxhash and zstd; the core needs neither.
 */
#ifndef MICA_RESOURCE_H
#define MICA_RESOURCE_H

#include "mica/component.h"
#include "mica/entity.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_resource mica_resource;
typedef struct mica_library mica_library; /* mica/library.h */

/* What is wrong with a file, and where. */
typedef struct mica_resource_error {
    mica_result result;
    uint64_t offset; /* in the file; 0 where that says nothing */
    char text[256];
} mica_resource_error;

typedef enum mica_byte_order {
    MICA_BYTE_ORDER_NATIVE = 0,
    MICA_BYTE_ORDER_LITTLE,
    MICA_BYTE_ORDER_BIG,
} mica_byte_order;

/* The parent index of a root. */
#define MICA_NO_PARENT UINT32_MAX

enum {
    MICA_RESOURCE_LEAVES_MAX = 16384,   /* described scalars, or arrays of them, in a component */
    MICA_RESOURCE_FIELDS_MAX = 256,     /* fields of one struct */
    MICA_RESOURCE_NAME_BYTES_MAX = 255, /* of components, types, fields and constants; entities' may be longer */
};

/* How to load. Zero is the default of everything. */
typedef struct mica_resource_def {
    mica_allocator allocator;
    uint64_t memory_bytes_max; /* what compressed sections may grow to; 0 is 4 GiB */
    bool any_byte_order;       /* take files for machines of the other byte order too, converted: for tools */
} mica_resource_def;

/* Maps a file and verifies it. Returns NULL and fills `out_error` (which may be NULL) when it can't. Threads: any. */
MICA_API mica_resource *mica_resource_load(const char *path, const mica_resource_def *def,
                                           mica_resource_error *out_error);

/* As mica_resource_load for a file that is in memory; it must stay there, unchanged, as long as the resource lives,
 * and is copied only when it is not aligned to 64 bytes. Threads: any. */
MICA_API mica_resource *mica_resource_open(const void *bytes, size_t byte_count, const mica_resource_def *def,
                                           mica_resource_error *out_error);

/* Gives a resource back; NULL is fine. What was spawned from it stays. Threads: any, when nobody uses it. */
MICA_API void mica_resource_free(mica_resource *resource);

/* What a resource holds of one component. All pointers live as long as the resource. */
typedef struct mica_resource_component {
    const char *name;
    const mica_type *type; /* of the instances, as the file describes it; a tag's has no size */
    uint64_t name_hash;
    uint64_t layout_hash;
    mica_storage storage; /* CHUNK, TAG or SINGLETON: where else data lives is up to the program */
    int32_t spawn_order;
    uint32_t instance_count;
    const void *instances; /* one after the other by rising entity; entity fields hold {index in the file, 1}, or nil */
} mica_resource_component;

/* Return what the resource holds. Threads: any. */
MICA_API uint32_t mica_resource_entity_count(const mica_resource *resource);
MICA_API uint32_t mica_resource_component_count(const mica_resource *resource);

/* Returns component `index` in spawn order; all zero beyond the last. Threads: any. */
MICA_API mica_resource_component mica_resource_component_at(const mica_resource *resource, uint32_t index);

/* Returns the value of a component (by its position) of an entity, a pointer that can't be followed for a tag, or NULL
 * when the entity has none. Found by bisection over the groups. Threads: any. */
MICA_API const void *mica_resource_value(const mica_resource *resource, uint32_t entity, uint32_t component);

/* Return how many values of the component the entity has, which lie one after the other, and whether it is a component of
 * which entities can have several. Threads: any. */
MICA_API uint32_t mica_resource_value_count(const mica_resource *resource, uint32_t entity, uint32_t component);
MICA_API bool mica_resource_is_repeated(const mica_resource *resource, uint32_t component);

/* Returns whether a component that can be toggled is saved as switched off. Threads: any. */
MICA_API bool mica_resource_is_disabled(const mica_resource *resource, uint32_t entity, uint32_t component);

/* Returns all instances of a component as an array, straight from the file, by rising entity, and how many: for data that is
 * read where it lies, the vertices of a mesh for example. NULL and 0 when the file has none, or in another layout than the
 * type's. Entity fields hold {index in the file, 1}, or nil. It lives as long as the resource. Threads: any. */
MICA_API const void *mica_resource_values_id(const mica_resource *resource, const mica_type *type, uint32_t *out_count);
#define mica_resource_values(resource, T, out_count)                                                                         \
    ((const T *)mica_resource_values_id((resource), &mica_type_of_##T, (out_count)))

/* Return how many resources this one refers to, one of them, none beyond the last, and its path, which is NULL for one that is
 * not referred to and lives as long as the resource. Threads: any. */
MICA_API uint32_t mica_resource_asset_count(const mica_resource *resource);
MICA_API mica_asset mica_resource_asset_at(const mica_resource *resource, uint32_t index);
MICA_API const char *mica_resource_asset_path(const mica_resource *resource, mica_asset asset);

/* Returns the name of an entity, or NULL. Threads: any. */
MICA_API const char *mica_resource_name(const mica_resource *resource, uint32_t entity);

/* Returns the index of the parent, or MICA_NO_PARENT. Threads: any. */
MICA_API uint32_t mica_resource_parent(const mica_resource *resource, uint32_t entity);

/* Returns the entity at a position of the order in which it was written: parents before children. Threads: any. */
MICA_API uint32_t mica_resource_entity_in_order(const mica_resource *resource, uint32_t position);

/* A section of the file, for tools. */
typedef struct mica_resource_section {
    const char *kind;
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t bytes; /* when not compressed */
    uint64_t hash;
    uint32_t count;
    uint32_t element_bytes;
    bool compressed;
} mica_resource_section;

typedef struct mica_resource_info {
    uint64_t file_bytes;
    uint32_t section_count;
    uint32_t group_count; /* sets of components */
    uint16_t version_major;
    uint16_t version_minor;
    mica_byte_order byte_order; /* LITTLE or BIG, as the file was */
} mica_resource_info;

/* Return facts about the file. A section beyond the last is all zero. Threads: any. */
MICA_API mica_resource_info mica_resource_get_info(const mica_resource *resource);
MICA_API mica_resource_section mica_resource_section_at(const mica_resource *resource, uint32_t index);

/* Instances that are being spawned: rows that lie one after the other. */
typedef struct mica_spawn_run {
    mica_world *world;
    mica_component component;
    uint32_t count;
    const mica_entity *entities; /* the owners */
    const void *instances;       /* from the file, in the layout of the recipe; entity fields are handles already */
    void *values;                /* of the component, holding defaults, to be filled in; NULL for a tag */
} mica_spawn_run;

/* Fills in values; changes of structure are recorded. Returning false takes the whole spawn back. */
typedef bool (*mica_spawn_fn)(const mica_spawn_run *run, void *context);

/* Fills `out_instance`, which is zero, from a value. Returning false ends the saving with an error. */
typedef bool (*mica_save_fn)(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                             void *context);

/* How a component enters and leaves the world, where the description of its fields is not enough: a component that owns
 * something, say. Rules are optional. */
typedef struct mica_resource_rule {
    mica_component component;
    int32_t spawn_order; /* lower ones first, all of them before the next; saved with the file */
    const mica_type
        *recipe; /* what lies in the file, for the functions that have to do with it; NULL: the described fields */
    mica_spawn_fn spawn; /* NULL: described fields over a default value */
    mica_save_fn save;   /* NULL: the described fields */
    void *context;
} mica_resource_rule;

/* Who belongs to whom, for whoever keeps hierarchies. */
typedef struct mica_spawn_links {
    const mica_entity *entities;
    const uint32_t *parents; /* position of the parent among `entities`, or MICA_NO_PARENT */
    const uint32_t *order;   /* positions, parents before children, siblings as written; NULL is 0, 1, 2, ... */
    uint32_t count;
} mica_spawn_links;

/* Links children to parents. The entities exist, no hook has run. Anything but MICA_OK takes the spawn back. */
typedef mica_result (*mica_link_fn)(mica_world *world, const mica_spawn_links *links, void *context);

typedef enum mica_spawn_names {
    MICA_SPAWN_NAMES_ALL = 0, /* a name that is taken is an error */
    MICA_SPAWN_NAMES_FREE,    /* a root whose name is taken gets none: for prefabs spawned many times */
    MICA_SPAWN_NAMES_NONE,
} mica_spawn_names;

/* How to spawn. Zero is the default of everything. */
typedef struct mica_spawn_def {
    const mica_resource_rule *rules;
    uint32_t rule_count;
    bool skip_unknown;    /* pass over components the world does not know; otherwise they are an error */
    bool skip_singletons; /* leave the world's singletons alone */
    mica_spawn_names names;
    mica_entity scope; /* where roots are named: nil is the top. Children are named in the scope of their parents */
    mica_entity
        parent; /* roots become its children (mica/hierarchy.h), and are named in its scope; nil: they stay roots */
    mica_link_fn link; /* who keeps links instead of mica/hierarchy.h; called once per copy */
    void *link_context;
    uint32_t copies; /* that many of everything at once, a crowd from a prefab; 0 is 1 */
    /* Gets all entities in the order of the resource, copy after copy; may be NULL. */
    mica_entity *out_entities;
    uint32_t out_capacity; /* of that array: mica_resource_entity_count for each copy, or MICA_ERROR_LIMIT */
} mica_spawn_def;

/* Creates everything a resource holds, or nothing: on failure the world is as it was. Columns whose layout changed are
 * migrated field by field, by name: new fields get defaults, dropped ones are passed over, numbers may become wider.
 * NULL means the defaults. Refused while recording. Threads: owner. */
MICA_API mica_result mica_spawn(mica_world *world, const mica_resource *resource, const mica_spawn_def *def);

/* Returns the parent of an entity, or nil. */
typedef mica_entity (*mica_parent_fn)(const mica_world *world, mica_entity entity, void *context);

/* How to save. Zero is the default of everything. */
typedef struct mica_save_def {
    mica_allocator allocator;    /* for the work and for the bytes */
    const mica_entity *entities; /* NULL: all of the world. Dead ones and repetitions are passed over */
    uint32_t entity_count;
    const mica_resource_rule *rules;
    uint32_t rule_count;
    bool skip_singletons;
    const mica_library *library; /* knows the paths of the resources that values refer to: needed when there are any */
    mica_parent_fn parent;       /* NULL: mica/hierarchy.h's, or else the scope an entity is named in */
    void *parent_context;
    mica_byte_order byte_order;
    int compression; /* 0 is none, the form that is mapped; 1 to 19 are zstd's levels */
} mica_save_def;

/* Bytes of a finished file. Zero is empty. */
typedef struct mica_blob {
    void *bytes;
    size_t byte_count;
    mica_allocator private_allocator;
} mica_blob;

/* Writes the world, or some entities, into memory. References to entities that are not among them become nil; described
 * fields are written, the others are zero in the file. Threads: owner. */
MICA_API mica_result mica_pack(mica_world *world, const mica_save_def *def, mica_blob *out_blob);

/* Gives a blob back; an empty one is fine. Threads: any. */
MICA_API void mica_blob_free(mica_blob *blob);

/* As mica_pack into a file: written beside it, synced and renamed, so that a crash leaves the old file or the new one.
 * Threads: owner. */
MICA_API mica_result mica_save(mica_world *world, const char *path, const mica_save_def *def);

/* Writes bytes to a file in the same crash-safe way. Threads: any. */
MICA_API mica_result mica_write_file(const char *path, const void *bytes, size_t byte_count,
                                     mica_resource_error *out_error);

MICA_END
#endif
