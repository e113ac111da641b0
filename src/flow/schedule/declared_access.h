/* Checked builds: what a running system declared, and the view that its function was given. */
#ifndef MICAP_FLOW_SCHEDULE_DECLARED_ACCESS_H
#define MICAP_FLOW_SCHEDULE_DECLARED_ACCESS_H

#include "flow/schedule/job_run.h"

#ifdef MICA_CHECKED
void micap_declared_access_begin(micap_running_job *job);
void micap_declared_access_show(micap_running_job *job, const mica_view *view);
#else
static inline void micap_declared_access_begin(micap_running_job *job)
{
    (void)job;
}

static inline void micap_declared_access_show(micap_running_job *job, const mica_view *view)
{
    (void)job, (void)view;
}
#endif

#endif
