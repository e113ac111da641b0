/* A run to record: things that move, age and die, and input that makes more of them. */
#ifndef MICA_TESTS_SUPPORT_RECORDED_H
#define MICA_TESTS_SUPPORT_RECORDED_H

#include "mica/flow.h"
#include "mica/recording.h"
#include "reports.h"

enum { RECORDED_TICKS = 12, RECORDED_STRAY_TICK = 7, RECORDED_FORMS = 6 };

/* Files of this test alone. A fixture of the test: names them, and removes them. */
extern char recorded_path[64], recorded_other_path[64];
void recorded_begin(void);
void recorded_end(void);

/* Every detail, with systems and without. */
extern const mica_recording_def recorded_forms[RECORDED_FORMS];

/* The tick in which the system "age" does what it did not do before; 0: never. */
extern uint32_t recorded_stray_tick;

mica_world *recorded_world(reports *heard, mica_world_def def, uint32_t workers);
/* The handler of input that this world has. */
void recorded_input(mica_world *world, const void *bytes, size_t byte_count, void *context);

/* Records a whole run. */
void recorded_make(const char *to, mica_recording_def def);
mica_recording *recorded_load(const char *from);
/* Whether the run is the same in a world of its own. */
bool recorded_replay(const mica_recording *recording, uint32_t workers, mica_difference *out);

#endif
