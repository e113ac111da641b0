/* Mica, draft: build a resource in memory. Saving and the JSON compiler use it; use it for your own importer.
 *
 *     mica_draft *draft = mica_draft_create(NULL);
 *     uint32_t position = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Position});
 *     uint32_t ship = mica_draft_entity(draft, MICA_NO_PARENT, "ship");
 *     *(Position *)mica_draft_add(draft, ship, position) = (Position){1, 2, 3};
 *     mica_draft_finish(draft, NULL, &blob);
 *     mica_draft_destroy(draft);
 *
 * mica_draft_finish groups entities by component set, checks names and writes the bytes.
 */
#ifndef MICA_DRAFT_H
#define MICA_DRAFT_H

#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_draft mica_draft;

/* The index that functions return on error. */
#define MICA_DRAFT_NONE UINT32_MAX

/* Creates an empty draft. NULL means malloc. Returns NULL if memory runs out. Threads: any. */
MICA_API mica_draft *mica_draft_create(const mica_allocator *allocator);

/* Destroys a draft. NULL is a no-op. Threads: any, one at a time. */
MICA_API void mica_draft_destroy(mica_draft *draft);

/* Returns the last error. Valid as long as the draft. Threads: any, one at a time. */
MICA_API const mica_resource_error *mica_draft_error(const mica_draft *draft);

typedef struct mica_draft_component_def {
    const mica_type *type; /* layout of the instances; must stay valid as long as the draft */
    const char *name;      /* NULL: the name of the type */
    mica_storage storage;  /* TAG, SINGLETON, or any other value for data */
    int32_t spawn_order;
} mica_draft_component_def;

/* Adds a component and returns its index; the existing index if the name is known. Returns MICA_DRAFT_NONE on error.
 * Threads: any, one at a time. */
MICA_API uint32_t mica_draft_component(mica_draft *draft, const mica_draft_component_def *def);

/* Adds an entity and returns its index: 0, 1, 2, ... The parent is an entity added earlier, or MICA_NO_PARENT; the name may be NULL.
 * Returns MICA_DRAFT_NONE on error. Threads: any, one at a time. */
MICA_API uint32_t mica_draft_entity(mica_draft *draft, uint32_t parent, const char *name);

/* Adds a component to an entity and returns its instance, initially zero, to be filled in before the next call. Text and lists in it are
 * freed with the draft; what mica_text_of refers to must be valid until the draft is finished. The pointer of a tag must not be
 * dereferenced. For a singleton the entity is ignored. References are {index of the entity in the draft, 1} or
 * nil. Returns NULL on error. Threads: any, one at a time. */
MICA_API void *mica_draft_add(mica_draft *draft, uint32_t entity, uint32_t component);

/* Returns the value of a field that refers to the resource at a path. The path is relative to the root from which resources are
 * loaded: names separated by slashes. Returns none on error. Threads: any, one at a time. */
MICA_API mica_asset mica_draft_asset(mica_draft *draft, const char *path);

/* Marks the last added instance of a component as disabled. Threads: any, one at a time. */
MICA_API bool mica_draft_disable(mica_draft *draft, uint32_t component);

typedef struct mica_draft_finish_def {
    mica_byte_order byte_order;
    int compression; /* 0, or a zstd level */
} mica_draft_finish_def;

/* Writes the file to memory. NULL means the defaults. The draft is unchanged. Threads: any, one at a time. */
MICA_API mica_result mica_draft_finish(mica_draft *draft, const mica_draft_finish_def *def, mica_blob *out_blob);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_draft_create(...) MICA_AT_(mica_draft_create(__VA_ARGS__))
#    define mica_draft_destroy(draft) mica_draft_destroy(MICA_AT_(draft))
#    define mica_draft_error(draft) mica_draft_error(MICA_AT_(draft))
#    define mica_draft_component(draft, ...) mica_draft_component(MICA_AT_(draft), __VA_ARGS__)
#    define mica_draft_entity(draft, ...) mica_draft_entity(MICA_AT_(draft), __VA_ARGS__)
#    define mica_draft_add(draft, ...) mica_draft_add(MICA_AT_(draft), __VA_ARGS__)
#    define mica_draft_asset(draft, ...) mica_draft_asset(MICA_AT_(draft), __VA_ARGS__)
#    define mica_draft_disable(draft, ...) mica_draft_disable(MICA_AT_(draft), __VA_ARGS__)
#    define mica_draft_finish(draft, ...) mica_draft_finish(MICA_AT_(draft), __VA_ARGS__)
#endif
#endif
