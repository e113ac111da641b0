/* Notes: changes to the state of modules, recorded among those to entities. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_MODULE_NOTES_H
#define MICAP_CORE_COMMANDS_MODULE_NOTES_H

#include "core/commands/recorded_changes.h"

struct micap_note;

/* A flush applies notes before entities change, in the order of buffers and calls. */
typedef struct micap_note_ops {
    /* Returns MICA_OK, or an error if nothing has changed: after MICA_ERROR_MEMORY the flush can be tried again, any other
     * error drops the note, with a report. For a dead entity, return what micap_note_set_aside returns. */
    mica_result (*apply)(mica_world *world, struct micap_note *note);
    /* Undoes apply, last note first, if the flush can't be made. */
    void (*undo)(mica_world *world, struct micap_note *note);
    /* Releases what undo would need, once the flush is sure to be made. May be NULL. */
    void (*finish)(mica_world *world, struct micap_note *note);
    /* Called in the order of buffers and calls when entities have changed. May be NULL. */
    void (*after)(mica_world *world, struct micap_note *note);
    /* The note is discarded, applied or not: destroys what it owns. May be NULL. */
    void (*drop)(mica_world *world, struct micap_note *note);
} micap_note_ops;

typedef struct micap_note {
    const micap_note_ops *ops;
    struct micap_note *next;
    struct micap_note *applied_before; /* set by the flush, */
    bool is_applied;                   /* like this */
    mica_location location;
    const char *label;
} micap_note;

/* Records a note, which begins a struct of that many bytes; the rest is zero. NULL with a report on error. */
micap_note *micap_commands_note(mica_commands *commands, const micap_note_ops *ops, size_t bytes,
                                mica_location location);

/* Discards the notes after one; NULL: all. */
void micap_recording_forget_notes(micap_recording *recording, micap_note *last);

/* Applies all notes. False with the result in `out_result` if the flush must be tried again. The others undo and finish them. */
bool micap_notes_apply(mica_world *world, mica_result *out_result);
void micap_notes_undo(mica_world *world);
void micap_notes_finish(mica_world *world);
void micap_notes_after(mica_world *world);

/* Notes for the flush that the entity of a note is dead, as for a target. */
mica_result micap_note_set_aside(mica_world *world, const micap_note *note, mica_entity entity);

#endif
