/* What an inspector asks a program to do: a line with a verb and its arguments, and a body. */
#ifndef MICAP_INSPECT_EDIT_H
#define MICAP_INSPECT_EDIT_H

#include "inspect/breakpoint.h"
#include "inspect/past.h"
#include "inspect/traffic_log.h"

#include <stddef.h>

enum { MICAP_EDIT_TEXT_MAX = 320 };

/* What requests work on. */
typedef struct micap_edit_target {
    mica_world *world;
    micap_past past;
    micap_breakpoint breakpoint;
    micap_traffic_log traffic;
    bool has_timeline;  /* a frame is traced now and then */
    micap_bytes answer; /* a text that is too long for the other one, or nothing */
} micap_edit_target;

/* Runs a request between two frames. `line` and `body` end with a zero byte; `line` is taken apart. Returns a result, and a text: what was wrong,
 * or the handle of the entity that was created; or an answer in the target, which ends with a zero byte. */
mica_result micap_edit_run(micap_edit_target *target, char *line, const char *body, char out_text[MICAP_EDIT_TEXT_MAX]);

#endif
