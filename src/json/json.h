/* The compiler inside: sources, the tree of entities with prefabs laid out, and where everything came from. */
#ifndef MICAP_JSON_JSON_H
#define MICAP_JSON_JSON_H

#include "base/memory.h"
#include "mica/compile.h"
#include "mica/draft.h"

#include <jansson.h>

enum {
    MICAP_DEPTH_MAX = 1000, /* of children in children, prefabs included */
    MICAP_ENTITIES_DEFAULT_MAX = 16000000,
};

typedef struct micap_schema_entry {
    char *name;     /* of the component; the type may have another */
    mica_type type; /* deep copy */
    int32_t spawn_order;
} micap_schema_entry;

struct mica_schema {
    micap_memory memory;
    micap_schema_entry **entries;
    uint32_t count;
    uint32_t capacity;
};

/* Adds a component under a name; the type is copied. */
mica_result micap_schema_add(mica_schema *schema, const char *name, const mica_type *type, int32_t spawn_order);
const micap_schema_entry *micap_schema_find(const mica_schema *schema, const char *name);

/* A file of JSON, read once. */
typedef struct micap_source {
    struct micap_source *next;
    char *path;
    char *text;
    size_t text_bytes;
    json_t *root; /* NULL when it could not be read, which has been reported */
    bool broken;
} micap_source;

/* Where an entity stands in its file. */
typedef struct micap_place {
    const struct micap_place *up; /* NULL: `index` is among the entities of the file */
    micap_source *source;
    uint32_t index;
} micap_place;

/* What "/" means to values written in a prefab: they see their own file, whatever it became part of. */
typedef struct micap_scope {
    struct micap_node *root; /* of the instance */
    const char *name;        /* that the root has in its file; NULL: none */
} micap_scope;

/* One of the values that are laid over each other for a component. */
typedef struct micap_layer {
    struct micap_layer *next;
    const json_t *value;
    const micap_place *location;
    const micap_scope *scope; /* NULL for the file itself */
} micap_layer;

typedef struct micap_node_component {
    struct micap_node_component *next;
    const char *name;
    micap_layer *first;
    micap_layer *last;
    bool disabled;
} micap_node_component;

/* An entity to be. */
typedef struct micap_node {
    struct micap_node *parent;
    struct micap_node *next;
    struct micap_node *first_child;
    struct micap_node *last_child;
    struct micap_node *next_by_name; /* in the table of names */
    const char *name;                /* NULL: none */
    const micap_place *location;
    micap_node_component *components;
    micap_node_component *last_component;
    uint32_t depth;
    uint32_t child_count;
    uint32_t index; /* in the draft */
} micap_node;

/* A path inside the value being compiled, kept on the stack. */
typedef struct micap_step_in {
    const struct micap_step_in *up;
    const char *key; /* NULL: an index */
    size_t index;
} micap_step_in;

/* What is being looked at, for messages. */
typedef struct micap_context {
    const micap_place *location; /* NULL: the file as such */
    micap_source *source;
    const micap_step_in *path;
} micap_context;

struct mica_compiler {
    micap_memory memory;
    const mica_compile_def *def;
    micap_source *sources;
    micap_source *last_source;
    uint32_t source_count;
    struct micap_slab *slabs; /* what lives until the end */
    mica_draft *draft;
    micap_node top; /* holds the roots */
    micap_node **names;
    uint32_t name_capacity;
    uint32_t name_count;
    uint32_t node_count;
    uint32_t error_count;
    bool has_assets;
    bool is_full; /* there are too many entities: the rest is not looked at */
    mica_result result;
    micap_context current; /* for mica_compile_fail */
};

/* Zeroed, and given back with the compiler; NULL when memory is short, which is noted. */
void *micap_json_allocate(mica_compiler *compiler, size_t bytes);
const char *micap_json_copy(mica_compiler *compiler, const char *text);

/* Reports; returns false. */
bool micap_json_error(mica_compiler *compiler, micap_context context, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool micap_json_error_memory(mica_compiler *compiler);
/* Prints to stderr: what is done with errors when there is no handler. */
void micap_json_print_error(const mica_compile_error *error, void *context);

/* Keeps the closest of several names to a misspelt one. */
typedef struct micap_guess {
    const char *wrong;
    const char *best;
    uint32_t distance;
} micap_guess;
void micap_guess_try(micap_guess *guess, const char *candidate);
/* " (did you mean \"x\"?)", or "" when nothing comes close. */
const char *micap_guess_text(const micap_guess *guess, char *buffer, size_t bytes);

/* The source of a path, read when it is new. `text` (else NULL) stands for what would be in the file. `asked` is who
 * wants it. */
micap_source *micap_source_get(mica_compiler *compiler, const char *path, const char *text, size_t text_bytes,
                               micap_context asked);
void micap_sources_free(mica_compiler *compiler);

/* Finds the line and column, from 1, of a value in a text of JSON; false when the path leads nowhere. */
bool micap_json_locate(const char *text, size_t text_bytes, const char *path, int *out_line, int *out_column);

/* The tree of a file, below compiler->top. Reports everything that is wrong, and goes on where it can. */
void micap_tree_build(mica_compiler *compiler, micap_source *source);
/* The child of a node by name. */
micap_node *micap_tree_find(const mica_compiler *compiler, const micap_node *parent, const char *name, size_t length);

/* The entity at a path, for a value written in a layer; NULL with a report. */
const micap_node *micap_reference_find(mica_compiler *compiler, const micap_node *from, const micap_layer *layer,
                                       const char *path, micap_context context);

/* The resource at a path, for a value written in some file. False with a report. */
bool micap_asset_compile(mica_compiler *compiler, const char *text, micap_context context, mica_asset *out);

/* Who a value belongs to, for references in it; `node` is NULL for a singleton. */
typedef struct micap_value_of {
    const micap_node *node;
    const micap_layer *layer;
} micap_value_of;

/* Lays a value of JSON over an instance. False with reports. */
bool micap_value_compile(mica_compiler *compiler, micap_value_of owner, const json_t *json, const mica_type *type,
                         void *instance, micap_context context);

/* The name of a kind: "f32". */
const char *micap_kind_name(mica_kind kind);
mica_kind micap_kind_of_name(const char *name);

#endif
