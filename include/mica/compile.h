/* Mica, compile: JSON in, resource out, and back.
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
 * A component without any code is authored through its description: fields by name, structs as objects or as arrays in
 * the order of their fields, constants by name, flags as arrays of names, text as strings, fields that are left out zero.
 * Integers beyond 2^63 are written as strings, as are "nan", "inf" and "-inf". "disabled" lists components that are switched
 * off; "comment" is passed over.
 *
 * A reference is a path, seen from the entity it is in: "../door" is its sibling, "key" its child, "/station/door" starts at
 * the top of the file, and "#2" is the third entity of a scope, named or not; null is nil.
 *
 * A field that refers to another resource (mica/library.h) holds its path, seen from the file it stands in: "rock.mica" is
 * beside it, "../shapes/rock.mica" in a neighbouring folder, and "/shapes/rock.mica" starts at the root; null is none.
 *
 * A prefab is a file with one root. What stands beside "prefab" is laid over it: fields of components, further components and
 * children; a child with a name the prefab has is laid over that child. Prefabs may use prefabs.
 *
 * In the library mica_json (CMake: mica::json), which needs jansson; what runs the game needs neither.
 */
#ifndef MICA_COMPILE_H
#define MICA_COMPILE_H

#include "mica/resource.h"

MICA_BEGIN

/* Components that can be compiled, by name: a program's, a file's or a text's. */
typedef struct mica_schema mica_schema;

/* Something wrong. Texts live until the handler returns. */
typedef struct mica_compile_error {
    const char *file;
    int line;         /* from 1; 0 where it is not known */
    int column;       /* likewise, in bytes */
    const char *path; /* such as entities[3].components.Mesh.lod; "" for the whole file, and for syntax */
    const char *text; /* what is wrong, what was expected, and what may have been meant */
} mica_compile_error;

typedef void (*mica_compile_error_fn)(const mica_compile_error *error, void *context);

/* Makes an empty schema. Returns NULL when memory is short. Threads: any. */
MICA_API mica_schema *mica_schema_create(void);

/* Gives a schema back; NULL is fine. Threads: any, one at a time. */
MICA_API void mica_schema_destroy(mica_schema *schema);

/* Adds one component; the type is copied, but not the context. Fails with MICA_ERROR_INVALID for a malformed one and with
 * MICA_ERROR_EXISTS for a name it has with another layout. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add(mica_schema *schema, const mica_type *type, int32_t spawn_order);

/* Adds all components a world knows. Threads: reader. */
MICA_API mica_result mica_schema_add_world(mica_schema *schema, const mica_world *world);

/* Adds all components a resource holds, as it describes them. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add_resource(mica_schema *schema, const mica_resource *resource);

/* Adds components from a description in JSON, as mica_schema_write makes it:
 *
 *     {"types": [{"name": "Mood", "kind": "enum", "bytes": 4, "constants": {"CALM": 0, "ANGRY": 7}},
 *                {"name": "Monster", "component": "data", "fields": [{"name": "mood", "type": "Mood"},
 *                                                                    {"name": "path", "kind": "f32", "count": 3}]},
 *                {"name": "Frozen", "component": "tag"}]}
 *
 * Offsets, sizes and alignments that are left out are those of a C compiler. Threads: any, one at a time. */
MICA_API mica_result mica_schema_add_file(mica_schema *schema, const char *path, mica_compile_error_fn error,
                                          void *error_context);

/* Writes the schema as JSON. Threads: any, one at a time. */
MICA_API mica_result mica_schema_write(const mica_schema *schema, mica_blob *out_text);

/* Return how many components there are, and the type and the name of one, NULL beyond the last. Threads: any. */
MICA_API uint32_t mica_schema_count(const mica_schema *schema);
MICA_API const mica_type *mica_schema_type(const mica_schema *schema, uint32_t index);
MICA_API const char *mica_schema_name(const mica_schema *schema, uint32_t index);

typedef struct mica_compiler mica_compiler;
struct json_t; /* jansson's: include <jansson.h> to look into one */

/* Fills `out_instance`, which is zero, from the value of a component in JSON. Returns false after mica_compile_fail. */
typedef bool (*mica_compile_fn)(mica_compiler *compiler, const struct json_t *value, void *out_instance, void *context);

/* Reports what is wrong with the value a compile function was given; `field` (NULL: all of it) is a path in it. Other
 * errors of the file are looked for all the same. Returns false. Threads: from within a compile function. */
MICA_API bool mica_compile_fail(mica_compiler *compiler, const char *field, const char *text);

/* How a component is compiled where its description is not enough. */
typedef struct mica_compile_rule {
    const char *name;        /* of the component */
    mica_compile_fn compile; /* NULL: by description */
    const mica_type *recipe; /* what is written; NULL is the component as it is described */
    int32_t spawn_order;
    void *context;
} mica_compile_rule;

/* Called now and then with how far it is. */
typedef void (*mica_compile_progress_fn)(uint64_t done, uint64_t total, void *context);

/* How to compile. Zero is the default of everything but the schema. */
typedef struct mica_compile_def {
    const mica_schema *schema;
    const mica_compile_rule *rules;
    uint32_t rule_count;
    mica_allocator allocator;
    const char *root;            /* the folder that resources are loaded from; NULL: the one the file is in */
    mica_byte_order byte_order;  /* of the machine that will map the file */
    int compression;             /* 0, or a level of zstd */
    uint32_t entity_count_max;   /* against prefabs that multiply; 0 is 16 million */
    mica_compile_error_fn error; /* NULL prints to stderr */
    void *error_context;
    mica_compile_progress_fn progress;
    void *progress_context;
} mica_compile_def;

/* What came of it. Zero is empty. */
typedef struct mica_compiled {
    mica_blob blob;
    char **
        dependencies; /* every file that was read, the first being the one asked for; then those that are referred to */
    uint32_t dependency_count;
    uint32_t error_count;
    uint32_t private_capacity;
    mica_allocator private_allocator;
} mica_compiled;

/* Compiles a file, and the prefabs it uses. Reports every error, not just the first; with any, the result is
 * MICA_ERROR_DATA (or FILE, MEMORY) and the blob empty. Dependencies are there in any case. Threads: any, one at a time
 * per allocator. */
MICA_API mica_result mica_compile_file(const char *path, const mica_compile_def *def, mica_compiled *out_compiled);

/* As mica_compile_file for a text; `name` stands for its path, prefabs are looked for beside it. Threads: as above, any. */
MICA_API mica_result mica_compile_text(const char *name, const char *text, size_t byte_count,
                                       const mica_compile_def *def, mica_compiled *out_compiled);

/* Gives back what was compiled; an empty one is fine. Threads: any, one at a time. */
MICA_API void mica_compiled_free(mica_compiled *compiled);

/* Writes dependencies as a rule for make and ninja: `target: file file ...`. Threads: any. */
MICA_API mica_result mica_write_depfile(const char *path, const char *target, const char *const *files,
                                        uint32_t file_count, mica_resource_error *out_error);

/* Writes a resource as JSON that compiles to the very same bytes, given its own schema. Threads: any. */
MICA_API mica_result mica_dump(const mica_resource *resource, mica_blob *out_text);

MICA_END
#endif
