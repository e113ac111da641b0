/* Mica, component: what a world knows about a component. The macros of mica/describe.h register by themselves on
 * first use; this is for bindings, tools and types made at run time. */
#ifndef MICA_COMPONENT_H
#define MICA_COMPONENT_H

#include "mica/describe.h"

MICA_BEGIN

/* Registers a description with the world and returns the component's id; everything is copied.
 * Returns 0 with a report when the description is malformed, or the world has this name with another layout.
 * Threads: owner. */
MICA_API mica_component mica_component_define(mica_world *world, const mica_type *type);

/* Returns the component of that name in this world, or 0. Threads: reader. */
MICA_API mica_component mica_component_find(const mica_world *world, const char *name);

/* Returns the component of this world that follows another by id, or 0; 0 starts with the first. Threads: reader. */
MICA_API mica_component mica_component_next(const mica_world *world, mica_component component);

/* Returns the interned description, or NULL for an unknown id. Lives as long as the process. Threads: any. */
MICA_API const mica_type *mica_component_type(mica_component component);

/* Returns the hash of the name that identifies the component across processes and files, or 0. Threads: any. */
MICA_API uint64_t mica_component_name_hash(mica_component component);

/* Returns the hash of the layout: size, fields, their kinds, names and places; or 0. Threads: any. */
MICA_API uint64_t mica_component_layout_hash(mica_component component);

/* Returns what is wrong with a description, as a constant phrase, or NULL: what mica_component_define would say of it.
 * Threads: any. */
MICA_API const char *mica_type_problem(const mica_type *type);

/* As mica_component_layout_hash for a description without problems that need not be a component's. Threads: any. */
MICA_API uint64_t mica_type_layout_hash(const mica_type *type);

MICA_END

/* Makes the component described as T known to the world by name, before its first use: for files and tools. */
#define mica_define(world, T) mica_component_define((world), &mica_type_of_##T)

#endif
