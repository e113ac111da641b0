#include "core/world/report.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/world/access_check.h"
#include "core/world/world.h"

#include <stdarg.h>
#include <stdio.h>

const char *mica_result_text(mica_result result)
{
    switch (result) {
    case MICA_OK: return "ok";
    case MICA_ERROR_MEMORY: return "out of memory";
    case MICA_ERROR_INVALID: return "invalid argument";
    case MICA_ERROR_DEAD: return "entity is not alive";
    case MICA_ERROR_UNKNOWN: return "unknown";
    case MICA_ERROR_EXISTS: return "exists already";
    case MICA_ERROR_LIMIT: return "limit reached";
    case MICA_ERROR_LAYOUT: return "layouts differ";
    case MICA_ERROR_REFUSED: return "refused";
    case MICA_ERROR_DATA: return "malformed data";
    case MICA_ERROR_FILE: return "file can't be read or written";
    }
    return "unknown result";
}

void micap_report_to(const mica_world_def *def, const mica_report *report)
{
    if (def->report)
        def->report(report, def->report_context);
    else if (report->location.file)
        fprintf(stderr, "mica: %s:%d: %s\n", report->location.file, report->location.line, report->text);
    else
        fprintf(stderr, "mica: %s\n", report->text);
}

mica_result micap_fail(const mica_world *world, mica_result result, mica_location location, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mica_report report = {result, text, location.file ? location : micap_noted_place()};
    /* Looking something up may fail too: noting that is no change of the world. */
    atomic_store_explicit(&((mica_world *)world)->last_error, result, memory_order_relaxed);
    micap_report_to(&world->def, &report);
    atomic_store_explicit(&((mica_world *)world)->failure, result, memory_order_relaxed); /* whatever the handler did */
    return result;
}

mica_result micap_fail_memory(const mica_world *world, const char *what)
{
    return micap_fail(world, MICA_ERROR_MEMORY, (mica_location){0}, "%s: out of memory", what);
}

const char *micap_dead_text(const mica_world *world, mica_entity entity)
{
    return mica_is_nil(entity) || micap_entity_is_of_space(world->def.handle_space, entity)
               ? "is not alive"
               : "is of another world: it has another handle space";
}

mica_result micap_fail_dead(const mica_world *world, mica_entity entity, const char *what)
{
    if (mica_is_alive(world, entity))
        return micap_fail(world, MICA_ERROR_DEAD, (mica_location){0},
                          "%s: the creation of entity %u (generation %u) is recorded, not applied yet: flush first",
                          what, entity.index, entity.generation);
    return micap_fail(world, MICA_ERROR_DEAD, (mica_location){0}, "%s: entity %u (generation %u) %s", what,
                      entity.index, entity.generation, micap_dead_text(world, entity));
}

mica_result mica_world_report(const mica_world *world, mica_result result, const char *text)
{
    if (MICAP_MISSING(world, text))
        return MICA_ERROR_INVALID;
    if (world)
        return micap_fail(world, result, (mica_location){0}, "%s", text);
    const mica_world_def no_handler = {0};
    micap_report_to(&no_handler, &(mica_report){result, text, micap_noted_place()});
    return result;
}

mica_result mica_world_take_error(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return atomic_exchange_explicit(&world->last_error, MICA_OK, memory_order_relaxed);
}

mica_result micap_refuse_inside(const mica_world *world, const char *what)
{
    micap_check_door(world, what);
    if (!micap_thread_context_of(world))
        return MICA_OK;
    return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                      "%s: refused inside a system; only an exclusive one may do that", what);
}

mica_result micap_refuse_while_recording(const mica_world *world, const char *what)
{
    micap_check_door(world, what);
    if (!world->recording_depth)
        return MICA_OK;
    return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "%s can't be recorded: flush first", what);
}
