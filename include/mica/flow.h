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
#include "mica/schedule.h"
#include "mica/stats.h"
#include "mica/stream.h"
#include "mica/system.h"
#include "mica/task.h"
#include "mica/traffic.h"

#endif
