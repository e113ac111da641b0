#include "core/world/thread_context.h"

_Thread_local micap_thread_context *micap_this_thread;

#ifdef MICA_CHECKED
_Thread_local micap_exclusive_run micap_this_exclusive;
#endif
