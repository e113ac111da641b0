/* Modules that replace their own file while they run: one source, one definition each. Ticks start at 0 and continue over a reload. */
#define _DEFAULT_SOURCE 1 /* utimensat */

#include "mica/flow.h"
#include "mica/message.h"
#include "mica/module.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#ifdef SECOND /* another order and type of fields, and a new one */
typedef struct Number { double weight; uint64_t value; } Number;
MICA_COMPONENT(Number, (weight, double, .initial = 2.5), value)
enum { STEP = 100 };
#else
typedef struct Number { uint32_t value; } Number;
MICA_COMPONENT(Number, value)
enum { STEP = 1 };
#endif

typedef struct Nudge { uint32_t by; } Nudge;
MICA_STRUCT(Nudge, by)

#ifdef OWNING /* the registry of components keeps pointers to these functions */
typedef struct Owner { uint32_t value; } Owner;
static bool construct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        ((Owner *)values)[i].value = 7;
    return true;
}
MICA_COMPONENT_WITH(Owner, (.construct = construct), value)
#endif

static void count(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value += STEP;
}

/* A handler is swapped with its module. */
static void nudged(const mica_message *message)
{
    Number *number = message->values;
    for (uint32_t i = 0; i < message->count; ++i)
        number[i].value += ((const Nudge *)message->data)->by * STEP;
}

static void send(const mica_frame *frame)
{
    if (frame->tick == 1 || frame->tick == 7)
        mica_broadcast(frame->world, Nudge, {1000});
}

static void replace_file(const mica_frame *frame)
{
#if defined(TOUCHES) || defined(OWNING)
    /* Changes the time of the file in every frame, so that it is reloaded after every frame. */
    struct timespec times[2] = {{.tv_sec = (long)frame->tick + 1}, {.tv_sec = (long)frame->tick + 1}};
    utimensat(AT_FDCWD, "game.so", times, 0);
#else
    char next[64];
    snprintf(next, sizeof next, "next_%d.so", (int)frame->tick);
    rename(next, "game.so");
#endif
}

MICA_MODULE(world)
{
    mica_define(world, Number);
#ifdef OWNING
    mica_define(world, Owner);
    mica_system_add(world, MICA_SYSTEM(count, MICA_WRITE(Number), MICA_MAYBE_READ(Owner)));
#else
    mica_system_add(world, MICA_SYSTEM(count, MICA_WRITE(Number)));
#endif
#ifdef POPULATES
    mica_create(world, MICA_WITH(Number, {5}));
#endif
    mica_handler_add(world, MICA_HANDLER(Number, Nudge, nudged));
    mica_system_add(world, MICA_SYSTEM_ONCE(send));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(replace_file, (.phase = MICA_PHASE_END)));
    return MICA_OK;
}

#ifdef STARTS /* once in a run, whatever is reloaded; refuses a world that has started */
mica_result mica_module_start(mica_world *world)
{
    if (mica_world_get_stats(world).entity_count)
        return MICA_ERROR_EXISTS;
    mica_create(world, MICA_WITH(Number, {3}));
    return MICA_OK;
}

extern MICA_EXPORT const char note_of_module[];
const char note_of_module[] = "what a program looks up";
#endif
