#include "core/world/thread_context.h"

_Thread_local micap_here *micap_here_now;
