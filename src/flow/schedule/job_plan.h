/* The plan of a segment: which rows make up a job, and the sequence numbers of all jobs. It depends on the structure of the
 * world and on the systems, and on nothing else: not on workers, time, or fusion.
 *
 * All rows of the world are numbered, archetype after archetype, and cut into partitions of equally many rows. A job is what
 * a partition has of the rows of a chain, so the jobs of a system are the same in a chain and alone. A view never crosses the
 * border of a partition. Systems that ask for jobs of a given size, that visit rows of a pool or that receive messages have
 * partitions of their own. */
#ifndef MICAP_FLOW_SCHEDULE_JOB_PLAN_H
#define MICAP_FLOW_SCHEDULE_JOB_PLAN_H

#include "flow/schedule/fusion.h"

/* Plans the jobs for the world in its current state. An error if memory is short. */
mica_result micap_job_plan_segment(micap_segment *segment);

/* Adds a job that begins there, and ends there unless another follows. False if memory is short. */
bool micap_job_plan_add(mica_world *world, micap_chain *chain, micap_job_start start, micap_job_start end);

#endif
