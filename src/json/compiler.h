/* The compiler: the data that its files share.
 *
 *     source_file.h       JSON files, read once each
 *     entity_tree.h       the tree of entities, with prefabs expanded
 *     value_compile.h     JSON values into fields
 *     entity_reference.h  paths of entities; asset_reference.h: paths of resources
 *     compile_error.h     error messages with their location
 *     compile.c           the public functions */
#ifndef MICAP_JSON_COMPILER_H
#define MICAP_JSON_COMPILER_H

#include "base/memory.h"
#include "mica/compile.h"
#include "mica/draft.h"

#include <jansson.h>

enum {
    MICAP_DEPTH_MAX = 1000, /* of children in children, prefabs included */
    MICAP_ENTITIES_DEFAULT_MAX = 16000000,
};

/* A JSON file, read once. */
typedef struct micap_source_file {
    struct micap_source_file *next;
    char *path;
    char *text;
    size_t text_bytes;
    json_t *root; /* NULL if it could not be read; the error was reported */
    bool broken;
} micap_source_file;

/* The position of an entity in its file. */
typedef struct micap_json_location {
    const struct micap_json_location *up; /* NULL: `index` is among the entities of the file */
    micap_source_file *source;
    uint32_t index;
} micap_json_location;

/* The root of "/" for values of a prefab: their own file, even if the prefab is part of another one. */
typedef struct micap_scope {
    struct micap_node *root; /* of the instance */
    const char *name;        /* of the root in its file, or NULL */
} micap_scope;

/* One of the values of a component; later layers override earlier ones. */
typedef struct micap_layer {
    struct micap_layer *next;
    const json_t *value;
    const micap_json_location *location;
    const micap_scope *scope; /* NULL for the file itself */
    const char *member;       /* of the entity that has it: "components" or "relations" */
} micap_layer;

typedef struct micap_node_component {
    struct micap_node_component *next;
    const char *name;
    micap_layer *first;
    micap_layer *last;
    bool disabled;
} micap_node_component;

/* An entity of the file. */
typedef struct micap_node {
    struct micap_node *parent;
    struct micap_node *next;
    struct micap_node *first_child;
    struct micap_node *last_child;
    struct micap_node *next_by_name; /* in the table of names */
    const char *name;                /* NULL: none */
    const micap_json_location *location;
    micap_node_component *components;
    micap_node_component *last_component;
    uint32_t depth;
    uint32_t child_count;
    uint32_t index; /* in the draft */
} micap_node;

/* A step of the path to the value being compiled. Steps are on the stack. */
typedef struct micap_step_in {
    const struct micap_step_in *up;
    const char *key; /* NULL: an index */
    size_t index;
} micap_step_in;

/* The position of an error. */
typedef struct micap_context {
    const micap_json_location *location; /* NULL: the file itself */
    micap_source_file *source;
    const micap_step_in *path;
} micap_context;

struct mica_compiler {
    micap_memory memory;
    const mica_compile_def *def;
    micap_source_file *sources;
    micap_source_file *last_source;
    uint32_t source_count;
    struct micap_slab *slabs; /* memory that is freed with the compiler */
    mica_draft *draft;
    micap_node top; /* the parent of the roots */
    micap_node **names;
    uint32_t name_capacity;
    uint32_t name_count;
    uint32_t node_count;
    uint32_t error_count;
    bool has_assets;
    bool is_full; /* there are too many entities; the rest is skipped */
    mica_result result;
    micap_context current; /* for mica_compile_fail */
};

/* Returns zeroed memory that is freed with the compiler; NULL with a report if memory is short. */
void *micap_json_allocate(mica_compiler *compiler, size_t bytes);
const char *micap_json_copy(mica_compiler *compiler, const char *text);

/* Frees all memory returned by micap_json_allocate. */
void micap_json_free_all(mica_compiler *compiler);

#endif
