/* What the recorder calls while a recording is replayed. */
#ifndef MICAP_RECORDING_REPLAY_H
#define MICAP_RECORDING_REPLAY_H

#include "recording/run_recorder.h"

/* Compares the world after a system with what was recorded. */
void micap_replay_system(micap_run_recorder *recorder, const char *name, uint64_t name_hash);

#endif
