#include "flow/schedule/declared_access.h"

#ifdef MICA_CHECKED

#    include "flow/schedule/access_conflict.h"
#    include "flow/schedule/system.h"

static micap_allowed allows(const micap_thread_context *here, mica_component component, bool write)
{
    const micap_running_job *job = (const micap_running_job *)(const void *)here;
    mica_system_access accesses[MICAP_ACCESSES_MAX];
    uint32_t count = micap_system_own_accesses(job->system, accesses);
    micap_allowed best = MICAP_NOT_ALLOWED;
    for (uint32_t i = 0; i < count; ++i) {
        if (accesses[i].component != component || (write && !accesses[i].write))
            continue;
        micap_allowed found = accesses[i].own_rows ? MICAP_ALLOWED_IN_ROWS : MICAP_ALLOWED;
        best = found > best ? found : best;
    }
    return best;
}

void micap_declared_access_begin(micap_running_job *job)
{
    job->here.allows = allows;
    job->here.label = job->system->def.name;
    job->here.location = job->system->def.location;
}

void micap_declared_access_show(micap_running_job *job, const mica_view *view)
{
    job->here.view = view;
}

#else

typedef int micap_declared_access_unchecked; /* C does not allow an empty file */

#endif
