/* Mica, compile: compile JSON to a resource, and convert back.
 *
 *     {
 *         "entities": [
 *             {"name": "station", "components": {"Position": {"x": 1, "y": 2, "z": 0}},
 *              "children": [{"name": "door", "components": {"Lock": {"key": "/orc/key"}, "Frozen": {}}}]},
 *             {"name": "orc", "prefab": "orc.json", "components": {"Health": {"current": 5}},
 *              "remove": ["Velocity"], "children": [{"name": "key"}], "remove_children": ["shield"]}
 *         ],
 *         "singletons": {"Clock": {"seconds": 12.5}}
 *     }
 *
 * Components are read according to their description: fields by name, structs as objects or as arrays in field order, enum
 * constants by name, flags as arrays of names, text as strings; missing fields are zero. Integers above 2^63 are written as strings,
 * and so are "nan", "inf" and "-inf". "disabled" lists disabled components; "comment" is ignored.
 *
 * A reference is a path relative to the entity that contains it: "../door" is a sibling, "key" a child, "/station/door" starts at
 * the top of the file, and "#2" is the third entity of a scope, named or not; null is nil.
 *
 * A field that refers to another resource (mica/library.h) contains its path relative to the JSON file: "rock.mica" is in the same
 * folder, "../shapes/rock.mica" in a neighbouring one, and "/shapes/rock.mica" starts at the root; null is none.
 *
 * A prefab is a file with one root. The object that contains "prefab" overrides it: it can set fields, add and remove components
 * and children; a child with the name of a prefab's child overrides that child. Prefabs can use prefabs.
 *
 * In the library mica_json (CMake: mica::json), which needs jansson. A program that only loads resources needs neither.
 */
#ifndef MICA_COMPILE_H
#define MICA_COMPILE_H

#include "mica/resource.h"

MICA_BEGIN

/* The components known to the compiler, by name. They come from a program, a resource or a JSON file. */
typedef struct mica_schema mica_schema;

/* A compile error. The texts are valid until the handler returns. */
typedef struct mica_compile_error {
    const char *file;
    int line;         /* starts at 1; 0 if unknown */
    int column;       /* likewise, in bytes */
    const char *path; /* such as entities[3].components.Mesh.lod; "" for syntax errors and for the whole file */
    const char *text; /* what is wrong, what was expected, and a suggestion */
} mica_compile_error;

typedef void (*mica_compile_error_fn)(const mica_compile_error *error, void *context);

/* Creates an empty schema. Returns NULL if memory runs out. Threads: any. */
MICA_API mica_schema *mica_schema_create(void);

/* Destroys a schema. NULL is a no-op. Threads: any, one at a time. */
MICA_API void mica_schema_destroy(mica_schema *schema);

/* Adds one component. The type is copied, except its context. Returns MICA_ERROR_INVALID if it is malformed, MICA_ERROR_EXISTS if the
 * name exists with another layout. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add(mica_schema *schema, const mica_type *type, int32_t spawn_order);

/* Adds all components of a world. Threads: reader. */
MICA_API mica_result mica_schema_add_world(mica_schema *schema, const mica_world *world);

/* Adds all components of a resource, as described by it. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add_resource(mica_schema *schema, const mica_resource *resource);

/* Adds components from a JSON description, as written by mica_schema_write:
 *
 *     {"types": [{"name": "Mood", "kind": "enum", "bytes": 4, "constants": {"CALM": 0, "ANGRY": 7}},
 *                {"name": "Monster", "component": "data", "fields": [{"name": "mood", "type": "Mood"},
 *                                                                    {"name": "path", "kind": "f32", "count": 3}]},
 *                {"name": "Frozen", "component": "tag"}]}
 *
 * A field of text has the kind "text", a list {"name": "inventory", "list": "Item"} or {"name": "scores", "list": "f32"}.
 * Missing offsets, sizes and alignments are computed like a C compiler does. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add_file(mica_schema *schema, const char *path, mica_compile_error_fn error,
                                          void *error_context);

/* Writes the schema as JSON. Threads: any, one at a time. */
MICA_API mica_result mica_schema_write(const mica_schema *schema, mica_blob *out_text);

/* Return the number of components, and the type and name of one; NULL after the last. Threads: any. */
MICA_API uint32_t mica_schema_count(const mica_schema *schema);
MICA_API const mica_type *mica_schema_type(const mica_schema *schema, uint32_t index);
MICA_API const char *mica_schema_name(const mica_schema *schema, uint32_t index);

typedef struct mica_compiler mica_compiler;
struct json_t; /* of jansson: include <jansson.h> to read it */

/* Fills `out_instance`, initially zero, from the JSON value of a component. Returns false after mica_compile_fail. */
typedef bool (*mica_compile_fn)(mica_compiler *compiler, const struct json_t *value, void *out_instance, void *context);

/* Reports an error in the value passed to a compile function; `field` is a path in it, NULL for the whole value. Compilation continues
 * to find more errors. Returns false. Threads: from within a compile function. */
MICA_API bool mica_compile_fail(mica_compiler *compiler, const char *field, const char *text);

/* How a component is compiled if its description is not enough. */
typedef struct mica_compile_rule {
    const char *name;        /* of the component */
    mica_compile_fn compile; /* NULL: according to the description */
    const mica_type *recipe; /* layout in the file; NULL: that of the component */
    int32_t spawn_order;
    void *context;
} mica_compile_rule;

/* Called from time to time with the progress. */
typedef void (*mica_compile_progress_fn)(uint64_t done, uint64_t total, void *context);

/* How to compile. Zero is the default of everything except the schema. */
typedef struct mica_compile_def {
    const mica_schema *schema;
    const mica_compile_rule *rules;
    uint32_t rule_count;
    mica_allocator allocator;
    const char *root;            /* the folder that resources are loaded from; NULL: the folder of the file */
    mica_byte_order byte_order;  /* of the target machine */
    int compression;             /* 0, or a zstd level */
    uint32_t entity_count_max;   /* limit against exponential prefabs; 0 means 16 million */
    mica_compile_error_fn error; /* NULL prints to stderr */
    void *error_context;
    mica_compile_progress_fn progress;
    void *progress_context;
} mica_compile_def;

/* The result. Zero is empty. */
typedef struct mica_compiled {
    mica_blob blob;
    char **dependencies; /* every file that was read, starting with the compiled one; then the referenced resources */
    uint32_t dependency_count;
    uint32_t error_count;
    uint32_t private_capacity;
    mica_allocator private_allocator;
} mica_compiled;

/* Compiles a file and the prefabs it uses. Reports all errors, not only the first. On error returns MICA_ERROR_DATA (or FILE, MEMORY)
 * and the blob is empty. The dependencies are always filled in. Threads: any, one at a time per allocator. */
MICA_API mica_result mica_compile_file(const char *path, const mica_compile_def *def, mica_compiled *out_compiled);

/* Like mica_compile_file, for text in memory. `name` is used as its path; prefabs are searched next to it.
 * Threads: as above, any. */
MICA_API mica_result mica_compile_text(const char *name, const char *text, size_t byte_count,
                                       const mica_compile_def *def, mica_compiled *out_compiled);

/* Frees a result. An empty one is a no-op. Threads: any, one at a time. */
MICA_API void mica_compiled_free(mica_compiled *compiled);

/* Writes dependencies in the format of make and ninja: `target: file file ...`. Threads: any. */
MICA_API mica_result mica_write_depfile(const char *path, const char *target, const char *const *files,
                                        uint32_t file_count, mica_resource_error *out_error);

/* Converts a resource to JSON that compiles to the same bytes with its own schema. Threads: any. */
MICA_API mica_result mica_dump(const mica_resource *resource, mica_blob *out_text);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_schema_destroy(schema) mica_schema_destroy(MICA_AT_(schema))
#    define mica_schema_add(schema, ...) mica_schema_add(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_add_world(schema, ...) mica_schema_add_world(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_add_resource(schema, ...) mica_schema_add_resource(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_add_file(schema, ...) mica_schema_add_file(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_write(schema, ...) mica_schema_write(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_count(schema) mica_schema_count(MICA_AT_(schema))
#    define mica_schema_type(schema, ...) mica_schema_type(MICA_AT_(schema), __VA_ARGS__)
#    define mica_schema_name(schema, ...) mica_schema_name(MICA_AT_(schema), __VA_ARGS__)
#    define mica_compile_fail(compiler, ...) mica_compile_fail(MICA_AT_(compiler), __VA_ARGS__)
#    define mica_compile_file(...) MICA_AT_(mica_compile_file(__VA_ARGS__))
#    define mica_compile_text(...) MICA_AT_(mica_compile_text(__VA_ARGS__))
#    define mica_compiled_free(compiled) mica_compiled_free(MICA_AT_(compiled))
#    define mica_write_depfile(...) MICA_AT_(mica_write_depfile(__VA_ARGS__))
#    define mica_dump(resource, ...) mica_dump(MICA_AT_(resource), __VA_ARGS__)
#endif
#endif
