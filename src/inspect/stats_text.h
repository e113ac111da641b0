/* Systems, times, pools and memory of a world as JSON. */
#ifndef MICAP_INSPECT_STATS_TEXT_H
#define MICAP_INSPECT_STATS_TEXT_H

#include "base/byte_stream.h"
#include "inspect/edit.h"

/* Appends an object; `target` has a breakpoint and past frames. Its times are those of the frames that mica_stats_enable keeps; without it they are 0. */
void micap_stats_write(const micap_edit_target *target, micap_bytes *bytes);

#endif
