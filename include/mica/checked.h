/* Mica, checked: builds that stop at a mistake. With MICA_CHECKED defined for the library and the program (CMake option of the
 * same name), a system that touches what it does not declare, changes structure where it must not, or uses a view, a
 * buffer, a staged value or a pointer after its time, stops the program with a report: the system, the component, the
 * entity, the line of the call and the line where the system was added.
 *
 * Pointers, on Linux. What get, write, refs, views, systems by columns and handlers hand out is the value at an address that
 * ends with the next flush that moves anything. Who uses it later is stopped there and then (a debugger shows the line), and
 * the report has the line where it was taken. Not caught: pointers to values with functions of their own (construct, copy,
 * move, destruct), to fields of split components, to what mica_add, hooks and observers hand out, and to the entities of a
 * view; pointers that are more than 32 such flushes old; anything in a world with an allocator of its own; and pointers
 * that a change outside of systems makes stale, until the next flush. Such a world is shared with forked processes, not
 * copied.
 *
 * Nothing in this header is for direct use. In checked builds it lets calls note where they stand; else it is empty. */
#ifndef MICA_CHECKED_H
#define MICA_CHECKED_H

#include "mica/base.h"

MICA_BEGIN

/* Notes the place of the call that this thread is about to make; does nothing in builds that are not checked.
 * Threads: any. */
MICA_API void mica_note_location(const char *file, int line);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define MICA_AT_(argument) (mica_note_location(__FILE__, __LINE__), (argument))
/* A macro does not expand inside itself: each of these is the function of the same name. */
#    define mica_get_id(world, ...) mica_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_get_many_id(world, ...) mica_get_many_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_write_id(world, ...) mica_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_read_id(world, ...) mica_ref_read_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_ref_write_id(world, ...) mica_ref_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_get_id(world, ...) mica_singleton_get_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_singleton_write_id(world, ...) mica_singleton_write_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_read_id(view, ...) mica_view_read_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_id(view, ...) mica_view_write_id(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_read_at(view, ...) mica_view_read_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_write_at(view, ...) mica_view_write_at(MICA_AT_(view), __VA_ARGS__)
#    define mica_view_next(view) mica_view_next(MICA_AT_(view))
#    define mica_create_id(world, ...) mica_create_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_create_many(world, ...) mica_create_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy(world, ...) mica_destroy(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_many(world, ...) mica_destroy_many(MICA_AT_(world), __VA_ARGS__)
#    define mica_add_id(world, ...) mica_add_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_id(world, ...) mica_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_remove_id(world, ...) mica_remove_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_enable_id(world, ...) mica_enable_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone(world, ...) mica_clone(MICA_AT_(world), __VA_ARGS__)
#    define mica_flush(world) mica_flush(MICA_AT_(world))
#    define mica_world_clear(world) mica_world_clear(MICA_AT_(world))
#    define mica_world_trim(world) mica_world_trim(MICA_AT_(world))
#    define mica_world_seal(world, ...) mica_world_seal(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_create(world, ...) mica_query_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_query_destroy(query) mica_query_destroy(MICA_AT_(query))
#    define mica_add_all_id(query, ...) mica_add_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_remove_all_id(query, ...) mica_remove_all_id(MICA_AT_(query), __VA_ARGS__)
#    define mica_destroy_all(query) mica_destroy_all(MICA_AT_(query))
#    define mica_query_sort_rows(query, ...) mica_query_sort_rows(MICA_AT_(query), __VA_ARGS__)
#    define mica_query_begin(query) mica_query_begin(MICA_AT_(query))
#    define mica_query_each(query, ...) mica_query_each(MICA_AT_(query), __VA_ARGS__)
#    define mica_hook_set_id(world, ...) mica_hook_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_set(world, ...) mica_name_set(MICA_AT_(world), __VA_ARGS__)
#    define mica_commands_create(world) mica_commands_create(MICA_AT_(world))
#    define mica_commands_destroy(commands) mica_commands_destroy(MICA_AT_(commands))
#    define mica_component_define(world, ...) mica_component_define(MICA_AT_(world), __VA_ARGS__)
#    define mica_removals_create_id(world, ...) mica_removals_create_id(MICA_AT_(world), __VA_ARGS__)
#endif

#endif
