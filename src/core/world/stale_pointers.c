#include "core/world/stale_pointers.h"

#include "base/call_location.h"
#include "core/world/access_check.h"
#include "core/query/view.h"
#include "core/storage/pool_lookup.h"
#include "os/revocable_mapping.h"
#include "os/pages.h"

#ifdef MICA_CHECKED

#    include <pthread.h>

enum {
    LOANS_KEPT = 1 << 14,
    CHANGES_CHECKED = 1000, /* immediate changes between two flushes that invalidate; each costs a few system calls */
};

/* What was lent, newest over oldest. */
typedef struct micap_loan {
    const char *begin;
    size_t bytes;
    mica_entity entity; /* the first */
    mica_component component;
    const char *label; /* of the system; NULL: the program */
    mica_location location;
} loan;

static loan loans[LOANS_KEPT];
static uint32_t next_loan, changes_checked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(loan fresh)
{
    pthread_mutex_lock(&lock);
    loans[next_loan++ % LOANS_KEPT] = fresh;
    pthread_mutex_unlock(&lock);
}

static void stop(const void *owner, const void *address)
{
    const mica_world *world = owner;
    for (uint32_t i = 1; i <= LOANS_KEPT; ++i) {
        const loan *old = &loans[(next_loan - i) % LOANS_KEPT];
        if ((const char *)address < old->begin || (const char *)address >= old->begin + old->bytes)
            continue;
        mica_note_location(old->location.file, old->location.line);
        const micap_type *type = micap_type_of(old->component);
        micap_violation(world,
                        "uses a pointer from before the flush or change of structure, taken at this line by %s%s: "
                        "component %s, %zu bytes into the values that begin with that of entity %u (generation %u)",
                        old->label ? "system " : "the program", old->label ? old->label : "", type->type.name,
                        (size_t)((const char *)address - old->begin), old->entity.index, old->entity.generation);
    }
    micap_violation(world, "uses a pointer from long before the last flush or change of structure");
}

static bool is_within(const char *value, char *pages, size_t bytes, char **out_pages, size_t *out_bytes)
{
    *out_pages = pages;
    *out_bytes = bytes;
    return pages && value >= pages && value < pages + bytes;
}

static bool find_region(const micap_arena *arena, const char *value, char **out_pages, size_t *out_bytes)
{
    for (uint32_t i = 0; i < arena->region_count; ++i)
        if (is_within(value, arena->regions[i].base, (size_t)MICAP_BLOCK_BYTES_MIN << arena->regions[i].order,
                      out_pages, out_bytes))
            return true;
    return false;
}

/* The pages a value lies in; false when they are not the world's own to map again. */
static bool find_pages(const mica_world *world, mica_component component, const char *value, char **out_pages,
                       size_t *out_bytes)
{
    if (!micap_memory_is_default(&world->memory))
        return false;
    if (!micap_is_pooled(component))
        return find_region(&world->arena, value, out_pages, out_bytes);
    const mica_pool *pool = micap_pool_of(world, component);
    return pool && (find_region(pool->index.arena, value, out_pages, out_bytes) ||
                    is_within(value, pool->buffer, pool->buffer_bytes, out_pages, out_bytes));
}

void *micap_lend_values(const mica_world *world, mica_entity entity, mica_component component, const void *value,
                        uint32_t count)
{
    char *pages;
    size_t bytes;
    if (!value || !micap_type_of(component)->trivial || !find_pages(world, component, value, &pages, &bytes))
        return (void *)(uintptr_t)value;
    micap_revocable_on_fault(stop);
    void *address = micap_revocable_address(world, pages, bytes, value);
    const micap_thread_context *here = micap_thread_context_of(world);
    const char *alone = micap_this_exclusive.world == world ? micap_this_exclusive.label : NULL;
    remember((loan){address, (size_t)count * micap_type_of(component)->type.size_bytes, entity, component,
                    here ? here->label : alone, micap_noted_place()});
    return address;
}

void *micap_lend_column(const mica_view *view, uint32_t term, const void *values)
{
    if (!values || !view->count)
        return (void *)(uintptr_t)values;
    return micap_lend_values(view->world, view->entities[0], view->private_.query->terms[term].component, values,
                             view->count);
}

void micap_lend_end(const mica_world *world)
{
    micap_revocable_revoke(world);
    pthread_mutex_lock(&lock);
    changes_checked = 0;
    pthread_mutex_unlock(&lock);
}

micap_immediate_change micap_immediate_change_begin(const mica_world *world)
{
    return (micap_immediate_change){world, world ? world->structure : 0};
}

/* Inside a hook the operation that called it is still at work, and ends later. */
void micap_immediate_change_end(const micap_immediate_change *change)
{
    const mica_world *world = change->world;
    if (!world || world->structure == change->structure || world->hook_depth || world->flushing)
        return;
    pthread_mutex_lock(&lock);
    bool is_checked = changes_checked < CHANGES_CHECKED;
    changes_checked += is_checked;
    pthread_mutex_unlock(&lock);
    if (is_checked)
        micap_revocable_revoke(world);
}

void micap_lend_drop(const mica_world *world)
{
    micap_revocable_drop(world);
}

#else

typedef int micap_nothing_to_lend; /* a file must have something in it */

#endif
