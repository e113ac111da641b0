/* Access checks of checked builds. In other builds these functions do nothing.
 *
 *     access_check.c     what systems read and write, against what they declared      stale_pointers.c   pointers from before a flush */
#ifndef MICAP_CORE_WORLD_ACCESS_CHECK_H
#define MICAP_CORE_WORLD_ACCESS_CHECK_H

#include "base/assert.h"
#include "core/world/thread_context.h"
#include "mica/view.h"

#ifdef MICA_CHECKED

#    define MICAP_EVERY_WRITE_IS_CHECKED true

/* Aborts with a report that names the system that runs in this thread, and the source location. */
_Noreturn void micap_violation(const mica_world *world, const char *format, ...) MICAP_FORMAT(2, 3);

/* Before a component of an entity is read, or a singleton (the entity is nil) is read or written. Writes to chunks and pools are
 * checked by their write functions, core/storage/chunk_write.h and pool/pool_undo.h, which call the next two. */
void micap_check_access(const mica_world *world, mica_entity entity, mica_component component, bool write);
/* Before an entity is looked up: its handle is not that of another world. */
void micap_check_handle(const mica_world *world, mica_entity entity);
struct micap_chunk;
/* Before values of rows [row, row + count) of a column of a chunk are written. */
void micap_check_write(const mica_world *world, const struct micap_chunk *chunk, uint32_t column, uint32_t row,
                       uint32_t count);
/* The same for a component in a pool, whose rows have these owners. */
void micap_check_pool_write(const mica_world *world, mica_component component, const mica_entity *owners,
                            uint32_t count);
/* The view of a system is valid while its function runs, the view of a loop until rows move. */
void micap_check_view(const mica_view *view);
/* The query of a system does not have this column. */
void micap_check_column(const mica_view *view, mica_component component, bool write);
/* Before an operation that is not allowed inside a system. */
void micap_check_door(const mica_world *world, const char *what);
/* A system writes or reads a stream that it does not declare: the systems that write it may still run. */
void micap_check_stream(const mica_world *world, const char *name, bool write, mica_location location);
/* Before a system changes an entity, or records that: the guard of the world may have a reason against it. */
void micap_check_change(const mica_world *world, mica_entity entity, mica_location location);
/* A command buffer of a system is used only by the job it belongs to. */
void micap_check_buffer(const mica_commands *commands);
/* Staging memory of earlier flushes was not written since. */
void micap_check_stages(const mica_world *world);

#else

#    define MICAP_EVERY_WRITE_IS_CHECKED false

static inline void micap_check_access(const mica_world *world, mica_entity entity, mica_component component, bool write)
{
    (void)world, (void)entity, (void)component, (void)write;
}

static inline void micap_check_handle(const mica_world *world, mica_entity entity)
{
    (void)world, (void)entity;
}

struct micap_chunk;
static inline void micap_check_write(const mica_world *world, const struct micap_chunk *chunk, uint32_t column,
                                     uint32_t row, uint32_t count)
{
    (void)world, (void)chunk, (void)column, (void)row, (void)count;
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

static inline void micap_check_change(const mica_world *world, mica_entity entity, mica_location location)
{
    (void)world, (void)entity, (void)location;
}

static inline void micap_check_buffer(const mica_commands *commands)
{
    (void)commands;
}

static inline void micap_check_stages(const mica_world *world)
{
    (void)world;
}

#endif
#endif
