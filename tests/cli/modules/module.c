/* Modules that mica run must refuse, or that go wrong: one source, one definition each. */
#include "mica/flow.h"
#include "mica/library.h"
#include "mica/module.h"

#include <stdlib.h>

typedef struct Number { uint32_t value; } Number;
MICA_COMPONENT(Number, (value, uint32_t, .unit = "apples", .maximum = 100000000, .note = "grows"))

#ifdef WRONG_VERSION
const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR + 1, MICA_MODULE_CHECKED_};
#elif defined(WRONG_CHECKED)
const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, !MICA_MODULE_CHECKED_};
#elif !defined(WITHOUT_INFO)
const mica_module mica_module_info = {MICA_VERSION_MAJOR, MICA_VERSION_MINOR, MICA_MODULE_CHECKED_};
#endif

mica_result absent_everywhere(void);

#ifdef OWN_MICA /* as when a libmica is linked in, which has this name too */
#    undef mica_world_create
mica_world *mica_world_create(const mica_world_def *def)
{
    (void)def;
    return NULL;
}
#endif

static void count(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value += 1;
}

#ifdef RULES
/* One more than the file says, and refuses to spawn a single one. */
static bool spawn(const mica_spawn_run *run, void *context)
{
    Number *number = run->values;
    const Number *instance = run->instances;
    for (uint32_t i = 0; i < run->count; ++i)
        number[i].value = instance[i].value + 1;
    return *(const mica_library **)context && run->count > 1;
}

static const mica_library *shared;
static mica_resource_rule rules[] = {{.spawn = spawn, .context = &shared}};

MICA_MODULE_RULES(world, library, out_rule_count)
{
    shared = library;
    rules[0].component = mica_define(world, Number);
    *out_rule_count = 1;
    return rules;
}
#endif

#ifdef NO_RULES
MICA_MODULE_RULES(world, library, out_rule_count)
{
    *out_rule_count = world && library ? 2 : 1;
    return NULL;
}
#endif

#ifdef COMPLAINS
static void complain(const mica_frame *frame)
{
    if (frame->tick == 2)
        for (int i = 0; i < 12; ++i)
            mica_world_report(frame->world, MICA_ERROR_DATA, "the third frame is not to my taste");
}
#endif

#ifdef STRAYS /* what a deterministic program must not do: look outside */
static void stray(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    if (view->frame->tick == 2 && getenv("STRAY"))
        number[view->count - 1].value += 1;
}
#endif

#ifndef WITHOUT_MAIN
mica_result mica_module_main(mica_world *world)
{
    mica_define(world, Number);
    mica_system_add(world, MICA_SYSTEM(count, MICA_WRITE(Number)));
#    ifdef COMPLAINS
    mica_system_add(world, MICA_SYSTEM_ONCE(complain));
#    elif defined(STRAYS)
    mica_system_add(world, MICA_SYSTEM(stray, MICA_WRITE(Number)));
#    elif defined(REPORTS)
    mica_world_report(world, MICA_ERROR_DATA, "the module is not in the mood");
#    elif defined(FAILS)
    return MICA_ERROR_LIMIT;
#    elif defined(UNRESOLVED)
    return absent_everywhere();
#    endif
    return MICA_OK;
}
#else
mica_result mica_module_mane(mica_world *world);
mica_result mica_module_mane(mica_world *world)
{
    return mica_system_add(world, MICA_SYSTEM(count, MICA_WRITE(Number))).id ? MICA_OK : MICA_ERROR_LIMIT;
}
#endif
