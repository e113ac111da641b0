/* Mica, resource: levels, prefabs and saved games in one binary format, used in place without deserialization.
 *
 *     mica_define(world, Position);                          files refer to components by name: define them first
 *     mica_define(world, Velocity);
 *     mica_resource *level = mica_resource_load("level.mica", NULL, &error);
 *     mica_spawn(world, level, NULL);                        any number of times: the resource is read-only
 *     mica_resource_free(level);
 *     mica_save(world, "quick.mica", NULL);
 *
 * Loading maps the file and verifies every offset, count, index and value before anything else reads it: a damaged or malicious
 * file returns an error with its position and never crashes. Spawning creates all entities at once, grouped by component set, and
 * copies whole columns. docs/format.md describes the bytes. Files are replaced by rename and never changed in place, so a mapped
 * file stays unchanged.
 *
 * In the library mica_resource (CMake: mica::resource), which needs xxhash and zstd.
 */
#ifndef MICA_RESOURCE_H
#define MICA_RESOURCE_H

#include "mica/component.h"
#include "mica/entity.h"
#include "mica/rule.h"
#include "mica/world.h"

MICA_BEGIN

typedef struct mica_resource mica_resource;
typedef struct mica_library mica_library; /* mica/library.h */

/* An error in a file, and its position. */
typedef struct mica_resource_error {
    mica_result result;
    uint64_t offset; /* in the file; 0 if unknown */
    char text[256];
} mica_resource_error;

/* The parent index of a root. */
#define MICA_NO_PARENT UINT32_MAX

enum {
    MICA_RESOURCE_LEAVES_MAX = 16384, /* described scalars or arrays in a component, including nested structs */
    MICA_RESOURCE_FIELDS_MAX = 256,   /* fields of one struct */
    MICA_RESOURCE_NAME_BYTES_MAX =
        255, /* of components, types, fields and constants; names of entities can be longer */
};

/* How to load. Zero is the default. */
typedef struct mica_resource_def {
    mica_allocator allocator;
    uint64_t memory_bytes_max; /* limit for decompressed sections; 0 means 4 GiB */
    bool any_byte_order;       /* also load files of the other byte order, converted: for tools */
} mica_resource_def;

/* Maps and verifies a file. On error returns NULL and fills `out_error` (which may be NULL). Threads: any. */
MICA_API mica_resource *mica_resource_load(const char *path, const mica_resource_def *def,
                                           mica_resource_error *out_error);

/* Like mica_resource_load, for a file in memory, which must stay valid and unchanged as long as the resource. It is copied only if it
 * is not aligned to 64 bytes. Threads: any. */
MICA_API mica_resource *mica_resource_open(const void *bytes, size_t byte_count, const mica_resource_def *def,
                                           mica_resource_error *out_error);

/* Frees a resource. Entities spawned from it stay. NULL is a no-op. Threads: any, if no thread uses it. */
MICA_API void mica_resource_free(mica_resource *resource);

/* One component of a resource. Pointers are valid as long as the resource. */
typedef struct mica_resource_component {
    const char *name;
    const mica_type *type; /* of the instances, as described by the file; a tag has size 0 */
    uint64_t name_hash;
    uint64_t layout_hash;
    mica_storage storage; /* CHUNK, TAG or SINGLETON; the program decides whether data is stored in pools */
    int32_t spawn_order;
    uint32_t instance_count;
    const void *instances; /* contiguous, by ascending entity; entity fields hold {index in the file, 1} or nil */
} mica_resource_component;

/* Return the number of entities and the number of components. Threads: any. */
MICA_API uint32_t mica_resource_entity_count(const mica_resource *resource);
MICA_API uint32_t mica_resource_component_count(const mica_resource *resource);

/* Returns the component at an index, in spawn order; all zero after the last. Threads: any. */
MICA_API mica_resource_component mica_resource_component_at(const mica_resource *resource, uint32_t index);

/* Returns the value of a component (by its index) of an entity, or NULL if the entity does not have it. The pointer of a tag must not
 * be dereferenced. Uses binary search. Threads: any. */
MICA_API const void *mica_resource_value(const mica_resource *resource, uint32_t entity, uint32_t component);

/* Return how many contiguous values of the component the entity has, and whether entities can have several of this component.
 * Threads: any. */
MICA_API uint32_t mica_resource_value_count(const mica_resource *resource, uint32_t entity, uint32_t component);
MICA_API bool mica_resource_is_repeated(const mica_resource *resource, uint32_t component);

/* Returns whether a component is saved as disabled. Threads: any. */
MICA_API bool mica_resource_is_disabled(const mica_resource *resource, uint32_t entity, uint32_t component);

/* Returns all instances of a component as an array, straight from the file, by ascending entity, and their number: for data that is
 * used in place, such as the vertices of a mesh. Returns NULL and 0 if the file has none, or with another layout. Entity fields hold
 * {index in the file, 1} or nil. Valid as long as the resource. Threads: any. */
MICA_API const void *mica_resource_values_id(const mica_resource *resource, const mica_type *type, uint32_t *out_count);
#define mica_resource_values(resource, T, out_count)                                                                         \
    ((const T *)mica_resource_values_id((resource), &MICA_JOIN_(mica_type_of_, T), (out_count)))

/* Return how many resources this one refers to; one of them, or none after the last; and its path, or NULL if it is not referred to.
 * Valid as long as the resource. Threads: any. */
MICA_API uint32_t mica_resource_asset_count(const mica_resource *resource);
MICA_API mica_asset mica_resource_asset_at(const mica_resource *resource, uint32_t index);
MICA_API const char *mica_resource_asset_path(const mica_resource *resource, mica_asset asset);

/* Returns the name of an entity, or NULL. Threads: any. */
MICA_API const char *mica_resource_name(const mica_resource *resource, uint32_t entity);

/* Returns the index of the parent, or MICA_NO_PARENT. Threads: any. */
MICA_API uint32_t mica_resource_parent(const mica_resource *resource, uint32_t entity);

/* Returns the entity at a position of the order in which the file was written: parents before children. Threads: any. */
MICA_API uint32_t mica_resource_entity_in_order(const mica_resource *resource, uint32_t position);

/* A section of the file, for tools. */
typedef struct mica_resource_section {
    const char *kind;
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t bytes; /* uncompressed */
    uint64_t hash;
    uint32_t count;
    uint32_t element_bytes;
    bool compressed;
} mica_resource_section;

typedef struct mica_resource_info {
    uint64_t file_bytes;
    uint32_t section_count;
    uint32_t group_count; /* component sets */
    uint16_t version_major;
    uint16_t version_minor;
    mica_byte_order byte_order; /* LITTLE or BIG, as stored in the file */
    bool has_state;             /* a saved world: see mica_spawn */
} mica_resource_info;

/* Return information about the file. A section after the last is all zero. Threads: any. */
MICA_API mica_resource_info mica_resource_get_info(const mica_resource *resource);
MICA_API mica_resource_section mica_resource_section_at(const mica_resource *resource, uint32_t index);

/* Parents and children, for programs with their own hierarchy. */
typedef struct mica_spawn_links {
    const mica_entity *entities;
    const uint32_t *parents; /* index of the parent in `entities`, or MICA_NO_PARENT */
    const uint32_t *order;   /* indices, parents before children, siblings in order; NULL means 0, 1, 2, ... */
    uint32_t count;
} mica_spawn_links;

/* Links children to parents. The entities exist; no hook has run. Any result except MICA_OK undoes the spawn. */
typedef mica_result (*mica_link_fn)(mica_world *world, const mica_spawn_links *links, void *context);

typedef enum mica_spawn_names {
    MICA_SPAWN_NAMES_ALL = 0, /* it is an error if a name is taken */
    MICA_SPAWN_NAMES_FREE,    /* a root gets no name if it is taken: for prefabs that are spawned many times */
    MICA_SPAWN_NAMES_NONE,
} mica_spawn_names;

/* How to spawn. Zero is the default. */
typedef struct mica_spawn_def {
    const mica_resource_rule *rules;
    uint32_t rule_count;
    bool skip_unknown; /* skip components that the world does not know; otherwise they are an error */
    bool
        skip_without_rule; /* skip components that own something and have no rule (mica/rule.h); otherwise they are an error */
    bool skip_singletons; /* do not change singletons of the world */
    bool skip_state; /* do not restore the state of a saved world: its entities get new handles, and time continues */
    mica_spawn_names names;
    mica_entity
        scope; /* the scope of root names; nil is the top level. Children are named in the scope of their parents */
    mica_entity
        parent; /* roots become its children (mica/hierarchy.h) and are named in its scope; nil: they stay roots */
    mica_link_fn link; /* replaces mica/hierarchy.h; called once per copy */
    void *link_context;
    uint32_t copies; /* how many copies of everything to spawn; 0 means 1 */
    /* Receives all entities in the order of the resource, copy after copy; may be NULL. */
    mica_entity *out_entities;
    uint32_t out_capacity; /* of that array: mica_resource_entity_count for each copy, or MICA_ERROR_LIMIT */
} mica_spawn_def;

/* Creates everything in a resource. On error the world is unchanged. If the layout of a component changed, its fields are migrated by
 * name: new fields get default values, removed fields are ignored, and numbers are converted to wider types. NULL means the
 * defaults. Rejected while recording, and for components that own something and have no rule, as for mica_pack.
 * A saved world that is spawned into an unused one (mica_world_is_unused) that has the same components, systems and streams continues
 * exactly like the world it was saved from: it has the same handles, hash, time, clocks and messages. This does not apply to a
 * second copy, with a parent or scope, or if names are left out. Hooks run as for all spawned entities; what they change comes in
 * addition. Threads: owner. */
MICA_API mica_result mica_spawn(mica_world *world, const mica_resource *resource, const mica_spawn_def *def);

/* Returns the parent of an entity, or nil. */
typedef mica_entity (*mica_parent_fn)(const mica_world *world, mica_entity entity, void *context);

/* How to save. Zero is the default. */
typedef struct mica_save_def {
    mica_allocator allocator;    /* for temporary memory and for the bytes */
    const mica_entity *entities; /* NULL: the whole world. Stale handles and duplicates are skipped */
    uint32_t entity_count;
    const mica_resource_rule *rules;
    uint32_t rule_count;
    const mica_component *skipped; /* components that are not saved; NULL: none */
    uint32_t skipped_count;
    bool skip_singletons;
    bool
        skip_without_rule; /* do not save components that own something and have no rule (mica/rule.h); otherwise they are an error */
    bool skip_state; /* save a whole world without its state (mica/state.h), as some entities are saved */
    /* The state to save instead of that of the world, which is the world of a replica: mica_replica_state. NULL: that of the world. */
    const void *state;
    size_t state_bytes;
    const mica_library *library; /* knows the paths of referenced resources: needed if there are any */
    mica_parent_fn parent;       /* NULL: the parent of mica/hierarchy.h, or else the scope of the name */
    void *parent_context;
    mica_byte_order byte_order;
    int compression; /* 0: none, the file can be mapped; 1 to 19: zstd levels */
} mica_save_def;

/* The bytes of a file. Zero is empty. */
typedef struct mica_blob {
    void *bytes;
    size_t byte_count;
    mica_allocator private_allocator;
} mica_blob;

/* Saves the world, or some entities, to memory. References to entities that are not saved become nil, except in a world that continues
 * (see mica_spawn); fields that are not described are zero in the file. A world is saved with its state (mica/state.h), unless it is
 * not at rest, for example because recorded changes wait for a flush. Returns MICA_ERROR_REFUSED with a report for a component without
 * described fields, or with a destruct, copy or move function of the program, if it has no rule and skip_without_rule is not set.
 * Threads: owner. */
MICA_API mica_result mica_pack(mica_world *world, const mica_save_def *def, mica_blob *out_blob);

/* Frees a blob. An empty one is a no-op. Threads: any. */
MICA_API void mica_blob_free(mica_blob *blob);

/* Like mica_pack, to a file. The data is written to a temporary file, synced and renamed, so that after a crash either the old or the
 * new file exists. Threads: owner. */
MICA_API mica_result mica_save(mica_world *world, const char *path, const mica_save_def *def);

/* Writes bytes to a file in the same crash-safe way. Threads: any. */
MICA_API mica_result mica_write_file(const char *path, const void *bytes, size_t byte_count,
                                     mica_resource_error *out_error);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_resource_load(...) MICA_AT_(mica_resource_load(__VA_ARGS__))
#    define mica_resource_open(...) MICA_AT_(mica_resource_open(__VA_ARGS__))
#    define mica_resource_free(resource) mica_resource_free(MICA_AT_(resource))
#    define mica_resource_entity_count(resource) mica_resource_entity_count(MICA_AT_(resource))
#    define mica_resource_component_count(resource) mica_resource_component_count(MICA_AT_(resource))
#    define mica_resource_component_at(resource, ...) mica_resource_component_at(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_value(resource, ...) mica_resource_value(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_value_count(resource, ...) mica_resource_value_count(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_is_repeated(resource, ...) mica_resource_is_repeated(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_is_disabled(resource, ...) mica_resource_is_disabled(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_values_id(resource, ...) mica_resource_values_id(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_asset_count(resource) mica_resource_asset_count(MICA_AT_(resource))
#    define mica_resource_asset_at(resource, ...) mica_resource_asset_at(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_asset_path(resource, ...) mica_resource_asset_path(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_name(resource, ...) mica_resource_name(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_parent(resource, ...) mica_resource_parent(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_entity_in_order(resource, ...) mica_resource_entity_in_order(MICA_AT_(resource), __VA_ARGS__)
#    define mica_resource_get_info(resource) mica_resource_get_info(MICA_AT_(resource))
#    define mica_resource_section_at(resource, ...) mica_resource_section_at(MICA_AT_(resource), __VA_ARGS__)
#    define mica_spawn(world, ...) mica_spawn(MICA_AT_(world), __VA_ARGS__)
#    define mica_pack(world, ...) mica_pack(MICA_AT_(world), __VA_ARGS__)
#    define mica_blob_free(blob) mica_blob_free(MICA_AT_(blob))
#    define mica_save(world, ...) mica_save(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_file(...) MICA_AT_(mica_write_file(__VA_ARGS__))
#endif
#endif
