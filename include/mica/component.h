/* Mica, component: component descriptions of a world. The macros of mica/describe.h register components on first use;
 * these functions are for bindings, tools and types that are only known at run time. */
#ifndef MICA_COMPONENT_H
#define MICA_COMPONENT_H

#include "mica/describe.h"

MICA_BEGIN

/* Registers a description with the world and returns the component id. The description is copied. Returns 0 with a report if
 * the description is malformed, or if the world has a component of this name with another layout. Threads: owner. */
MICA_API mica_component mica_component_define(mica_world *world, const mica_type *type);

/* Finds a component of this world by name. Returns 0 if there is none. Threads: reader. */
MICA_API mica_component mica_component_find(const mica_world *world, const char *name);

/* Returns the next component of this world by id, or 0 at the end. Start with 0. Threads: reader. */
MICA_API mica_component mica_component_next(const mica_world *world, mica_component component);

/* Returns the description of a component, or NULL for an unknown id. Valid until the process ends. Threads: any. */
MICA_API const mica_type *mica_component_type(mica_component component);

/* Returns the hash of the name, which identifies the component across processes and files, or 0. Threads: any. */
MICA_API uint64_t mica_component_name_hash(mica_component component);

/* Returns the hash of the layout (size, and the kind, name and offset of each field), or 0. Threads: any. */
MICA_API uint64_t mica_component_layout_hash(mica_component component);

/* Returns a constant text that says what is wrong with a description, or NULL if it is valid: what mica_component_define
 * would report. Threads: any. */
MICA_API const char *mica_type_problem(const mica_type *type);

/* Like mica_component_layout_hash, for a valid description that need not belong to a component. Threads: any. */
MICA_API uint64_t mica_type_layout_hash(const mica_type *type);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_component_define(world, ...) mica_component_define(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_find(world, ...) mica_component_find(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_next(world, ...) mica_component_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_component_type(...) MICA_AT_(mica_component_type(__VA_ARGS__))
#    define mica_component_name_hash(...) MICA_AT_(mica_component_name_hash(__VA_ARGS__))
#    define mica_component_layout_hash(...) MICA_AT_(mica_component_layout_hash(__VA_ARGS__))
#    define mica_type_problem(...) MICA_AT_(mica_type_problem(__VA_ARGS__))
#    define mica_type_layout_hash(...) MICA_AT_(mica_type_layout_hash(__VA_ARGS__))
#endif

/* Registers the component T with the world before its first use, so that files and tools find it by name. */
#define mica_define(world, T) mica_component_define((world), &MICA_JOIN_(mica_type_of_, T))

#endif
