/* What checked builds know about a system that runs: its declarations. */
#include "flow/schedule/flow.h"

#ifdef MICA_CHECKED

static micap_allowed allows(const micap_here *here, mica_component component, bool write)
{
    const micap_task *task = (const micap_task *)(const void *)here;
    micap_touch touches[MICAP_TOUCHES_MAX];
    uint32_t count = micap_system_touches(task->system, touches);
    micap_allowed best = MICAP_NOT_ALLOWED;
    for (uint32_t i = 0; i < count; ++i) {
        if (touches[i].component != component || (write && !touches[i].write))
            continue;
        micap_allowed found = touches[i].is_rows ? MICAP_ALLOWED_IN_ROWS : MICAP_ALLOWED;
        best = found > best ? found : best;
    }
    return best;
}

void micap_task_declare(micap_task *task)
{
    task->here.allows = allows;
    task->here.label = task->system->def.name;
    task->here.location = task->system->def.location;
}

void micap_task_show(micap_task *task, const mica_view *view)
{
    task->here.view = view;
}

#else

typedef int micap_nothing_to_declare; /* a file must have something in it */

#endif
