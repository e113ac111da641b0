/* A recording and the world that made it, which runs its ticks again, in order or after a snapshot was restored. */
#ifndef MICAP_CLI_RECORDED_RUN_H
#define MICAP_CLI_RECORDED_RUN_H

#include "cli/model.h"
#include "mica/recording.h"

typedef struct recorded_run {
    model model;
    mica_recording *recording;
    uint32_t tick_count;
} recorded_run;

/* Whether a file begins like a recording. */
bool is_recording_file(const char *path);

/* Loads a recording with a message on failure. */
mica_recording *load_recording(const char *path);

/* Loads the first input and the modules, which start a run with the other inputs as levels. The world reports to this function. Returns false
 * with a message on failure; close it in either case. */
bool recorded_run_open(recorded_run *run, const options *options, mica_report_fn report, void *context);
void recorded_run_close(recorded_run *run);

/* Passes the input of a tick to the world. */
void recorded_run_input(const recorded_run *run, uint32_t tick);
/* Does that and runs the tick. */
void recorded_run_tick(const recorded_run *run, uint32_t tick);
/* Whether the world is as the recording says after a tick; 0 is before the first. */
bool recorded_run_agrees(const recorded_run *run, uint32_t tick);
/* The time step of a tick. */
float recorded_run_dt(const recorded_run *run, uint32_t tick);

#endif
