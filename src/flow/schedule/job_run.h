/* Running one job: the systems of a chain over some of its rows.
 *
 * Sequence numbers are how many writers fill one thing in an order that does not depend on threads. Before a phase runs, each
 * system gets one number for each job that it may have: systems that come first have lower numbers, and so have lower rows of
 * one system. A job runs in one thread at a time, so it needs no lock to write to an entry of its own, and reading the entries
 * by rising sequence number gives the order (system, slice, call). When a system runs, the entries of all systems that it
 * waits for are complete.
 *
 *     const micap_running_job *job = micap_running_job_of(world);
 *     if (job)  append to entries[job->sequence], of which there are micap_sequence_count(world)
 *     else      the owner's thread, outside of systems
 */
#ifndef MICAP_FLOW_SCHEDULE_JOB_RUN_H
#define MICAP_FLOW_SCHEDULE_JOB_RUN_H

#include "core/world/thread_context.h"
#include "mica/frame.h"

struct micap_chain;
struct micap_system;

#define MICAP_SEQUENCE_NONE UINT32_MAX

/* What this thread runs: one system of a job. */
typedef struct micap_running_job {
    micap_thread_context here; /* first: the world, the version it stamps, the buffer it records into */
    struct micap_system *system;
    const mica_frame *frame;
    uint32_t sequence;     /* MICAP_SEQUENCE_NONE in a parallel for inside a system, where nothing has an order */
    uint32_t worker;       /* 0 is the owner */
    uint32_t buffer_index; /* of the system's command buffers */
    const struct micap_delivery *delivery; /* the message, in a system that receives messages; else NULL */
} micap_running_job;

/* Returns what this thread runs for the world, or NULL outside of its systems. */
static inline micap_running_job *micap_running_job_of(const mica_world *world)
{
    return (micap_running_job *)(void *)micap_thread_context_of(world);
}

/* How many sequence numbers the running phase has. Constant from phase_begin to phase_end, and only valid then. */
uint32_t micap_sequence_count(const mica_world *world);

/* Whether systems run: from phase_begin to phase_end. */
bool micap_is_running(const mica_world *world);

/* Returns the command buffer that a job records into, or NULL with a report. */
mica_commands *micap_running_job_open_buffer(micap_thread_context *here);

/* Calls the function of a system with a view. */
void micap_system_call(const struct micap_system *system, mica_view *view);

/* Runs jobs [begin, end) of a chain in this thread, one after the other. */
void micap_jobs_run(struct micap_chain *chain, uint32_t begin, uint32_t end, uint32_t worker);

#endif
