/* Mica, draft: a resource in the making. Saving and the JSON compiler are made with it; so can be an importer of your own.
 *
 *     mica_draft *draft = mica_draft_create(NULL);
 *     uint32_t position = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Position});
 *     uint32_t ship = mica_draft_entity(draft, MICA_NO_PARENT, "ship");
 *     *(Position *)mica_draft_add(draft, ship, position) = (Position){1, 2, 3};
 *     mica_draft_finish(draft, NULL, &blob);
 *     mica_draft_destroy(draft);
 *
 * Finishing sorts entities into groups of equal component sets, checks names, and writes the bytes.
 */
#ifndef MICA_DRAFT_H
#define MICA_DRAFT_H

#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_draft mica_draft;

/* The index of nothing: what a call returns that failed. */
#define MICA_DRAFT_NONE UINT32_MAX

/* Makes an empty draft; NULL is malloc. Returns NULL when memory is short. Threads: any. */
MICA_API mica_draft *mica_draft_create(const mica_allocator *allocator);

/* Gives a draft back; NULL is fine. Threads: any, one at a time. */
MICA_API void mica_draft_destroy(mica_draft *draft);

/* Returns what went wrong last, for a call that failed; it lives as long as the draft. Threads: any, one at a time. */
MICA_API const mica_resource_error *mica_draft_error(const mica_draft *draft);

typedef struct mica_draft_component_def {
    const mica_type *type; /* how instances lie; must live as long as the draft */
    const char *name;      /* NULL: the type's */
    mica_storage storage;  /* TAG, SINGLETON, or anything else for data */
    int32_t spawn_order;
} mica_draft_component_def;

/* Adds a component and returns its index: the one it has already when the name is known. MICA_DRAFT_NONE when it can't.
 * Threads: any, one at a time. */
MICA_API uint32_t mica_draft_component(mica_draft *draft, const mica_draft_component_def *def);

/* Adds an entity and returns its index: 0, 1, 2, ... The parent is one that was added before, or MICA_NO_PARENT; the name
 * may be NULL. MICA_DRAFT_NONE when it can't. Threads: any, one at a time. */
MICA_API uint32_t mica_draft_entity(mica_draft *draft, uint32_t parent, const char *name);

/* Gives an entity a component and returns its instance, zero, to be filled in before the next call; a pointer that can't be
 * followed for a tag. The entity of a singleton is not looked at. References are {index of the entity in the draft, 1}, or
 * nil. NULL when it can't. Threads: any, one at a time. */
MICA_API void *mica_draft_add(mica_draft *draft, uint32_t entity, uint32_t component);

/* Returns what a field holds that refers to the resource at a path, seen from the root that resources are loaded from: names
 * with slashes between them. None when it can't. Threads: any, one at a time. */
MICA_API mica_asset mica_draft_asset(mica_draft *draft, const char *path);

/* Marks the instance of a component that was added last as switched off. Threads: any, one at a time. */
MICA_API bool mica_draft_disable(mica_draft *draft, uint32_t component);

typedef struct mica_draft_finish_def {
    mica_byte_order byte_order;
    int compression; /* 0, or a level of zstd */
} mica_draft_finish_def;

/* Writes the file into memory; NULL means the defaults. The draft stays as it is. Threads: any, one at a time. */
MICA_API mica_result mica_draft_finish(mica_draft *draft, const mica_draft_finish_def *def, mica_blob *out_blob);

MICA_END
#endif
