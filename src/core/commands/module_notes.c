/* Notes of modules in the stream of recorded changes: kept in the stage of the recording, applied and taken back by the flush. */
#include "core/commands/module_notes.h"

#include "core/commands/flush_coalesce.h"
#include "core/world/report.h"
#include "core/world/world.h"

micap_note *micap_commands_note(mica_commands *commands, const micap_note_ops *ops, size_t bytes,
                                mica_location location)
{
    mica_world *world = commands->world;
    micap_recording *recording = &commands->recording;
    if (commands->refusing) /* which was reported */
        return NULL;
    micap_note *note = micap_stage_allocate(&world->memory, &recording->stage, bytes, _Alignof(max_align_t));
    if (!note) {
        micap_fail_memory(world, "command");
        return NULL;
    }
    memset(note, 0, bytes);
    note->ops = ops;
    note->location = location;
    note->label = commands->label;
    if (recording->last_note)
        recording->last_note->next = note;
    else
        recording->first_note = note;
    recording->last_note = note;
    return note;
}

void micap_recording_forget_notes(micap_recording *recording, micap_note *last)
{
    *(last ? &last->next : &recording->first_note) = NULL;
    recording->last_note = last;
}

mica_result micap_note_set_aside(mica_world *world, const micap_note *note, mica_entity entity)
{
    bool fine = micap_flush_set_aside(world, entity, note->location, note->label);
    return fine ? MICA_ERROR_DEAD : micap_fail_memory(world, "flush");
}

bool micap_notes_apply(mica_world *world, mica_result *out_result)
{
    micap_flush *flush = &world->flush;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        for (micap_note *note = commands->applied.first_note; note; note = note->next) {
            mica_result result = note->ops->apply(world, note);
            note->is_applied = result == MICA_OK;
            if (result == MICA_ERROR_MEMORY) {
                *out_result = result;
                return false;
            }
            if (result == MICA_OK) {
                note->applied_before = flush->last_note;
                flush->last_note = note;
            } else if (result != MICA_ERROR_DEAD) {
                flush->refusal = result;
            }
        }
    return true;
}

void micap_notes_undo(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (; flush->last_note; flush->last_note = flush->last_note->applied_before)
        flush->last_note->ops->undo(world, flush->last_note);
}

void micap_notes_finish(mica_world *world)
{
    for (micap_note *note = world->flush.last_note; note; note = note->applied_before)
        if (note->ops->finish)
            note->ops->finish(world, note);
}

void micap_notes_after(mica_world *world)
{
    if (!world->flush.last_note)
        return;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        for (micap_note *note = commands->applied.first_note; note; note = note->next)
            if (note->ops->after && note->is_applied)
                note->ops->after(world, note);
}
