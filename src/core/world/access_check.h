/* What checked builds look at. In other builds all of this is nothing. */
#ifndef MICAP_CORE_WORLD_ACCESS_CHECK_H
#define MICAP_CORE_WORLD_ACCESS_CHECK_H

#include "core/world/thread_context.h"
#include "mica/view.h"

#ifdef MICA_CHECKED

/* Stops the program with a report that names what runs in this thread, and where. */
_Noreturn void micap_violation(const mica_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An entity's component, or the singleton when it is nil, is about to be read or written. */
void micap_check_access(const mica_world *world, mica_entity entity, mica_component component, bool write);
/* The view of a system is used while its function runs, that of a loop while nothing has moved. */
void micap_check_view(const mica_view *view);
/* A column that the query of a system does not have. */
void micap_check_column(const mica_view *view, mica_component component, bool write);
/* Something is about to be done that nobody may do inside a system. */
void micap_check_door(const mica_world *world, const char *what);
/* A system writes or reads a stream that it does not declare: its writers may not be done. */
void micap_check_stream(const mica_world *world, const char *name, bool write, mica_location location);
/* A buffer of a system is used by the piece of work it belongs to. */
void micap_check_buffer(const mica_commands *commands);
/* Nobody has written to what was staged for earlier flushes. */
void micap_check_stages(const mica_world *world);

/* The address at which the program gets `count` values that begin with those of an entity; it ends with the next flush that
 * moves anything. What can't be lent is given as it is. */
void *micap_lend(const mica_world *world, mica_entity entity, mica_component component, const void *value,
                 uint32_t count);
/* The same for the column of a term. */
void *micap_lend_column(const mica_view *view, uint32_t term, const void *values);
void micap_lend_end(const mica_world *world);
/* The world goes. */
void micap_lend_drop(const mica_world *world);
/* The place that was noted last in this thread. */
mica_location micap_noted_place(void);

#else

static inline void micap_check_access(const mica_world *world, mica_entity entity, mica_component component, bool write)
{
    (void)world, (void)entity, (void)component, (void)write;
}

static inline void micap_check_view(const mica_view *view)
{
    (void)view;
}

static inline void micap_check_column(const mica_view *view, mica_component component, bool write)
{
    (void)view, (void)component, (void)write;
}

static inline void micap_check_door(const mica_world *world, const char *what)
{
    (void)world, (void)what;
}

static inline void micap_check_stream(const mica_world *world, const char *name, bool write, mica_location location)
{
    (void)world, (void)name, (void)write, (void)location;
}

static inline void micap_check_buffer(const mica_commands *commands)
{
    (void)commands;
}

static inline void micap_check_stages(const mica_world *world)
{
    (void)world;
}

static inline void *micap_lend(const mica_world *world, mica_entity entity, mica_component component, const void *value,
                               uint32_t count)
{
    (void)world, (void)entity, (void)component, (void)count;
    return (void *)(uintptr_t)value;
}

static inline void *micap_lend_column(const mica_view *view, uint32_t term, const void *values)
{
    (void)view, (void)term;
    return (void *)(uintptr_t)values;
}

static inline void micap_lend_end(const mica_world *world)
{
    (void)world;
}

static inline void micap_lend_drop(const mica_world *world)
{
    (void)world;
}

#endif
#endif
