/* Mica, flow: systems and how they communicate. This header includes the core and everything that runs in frames.
 *
 * A system is a function over the entities that have certain components. mica_step runs all systems once, in parallel if their
 * declared reads and writes allow it; the result is the same for any number of threads.
 * Start with examples/systems.c; then read system.h and frame.h. Streams, messages, requests and observers connect systems. */
#ifndef MICA_FLOW_H
#define MICA_FLOW_H

#include "mica/frame.h"
#include "mica/message.h"
#include "mica/mica.h"
#include "mica/observer.h"
#include "mica/random.h"
#include "mica/request.h"
#include "mica/stats.h"
#include "mica/stream.h"
#include "mica/system.h"
#include "mica/task.h"

/* As mica/checked.h does. */
#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_step(world, ...) mica_step(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_run(world, ...) mica_system_run(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_add(world, ...) mica_system_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_remove(world, ...) mica_system_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_system_enable(world, ...) mica_system_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_view_commands(view) mica_view_commands(MICA_AT_(view))
#endif

#endif
