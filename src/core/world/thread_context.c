#include "core/world/thread_context.h"

_Thread_local micap_thread_context *micap_this_thread;
