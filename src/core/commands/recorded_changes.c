#include "core/commands/recorded_changes.h"

#include "core/commands/module_notes.h"
#include "core/entity/destroy.h"
#include "core/world/world.h"

/* A program that records ever new kinds does not get ever more of them. */
enum { TABLE_FIRST = 64, KINDS_MAX = 2048 };

micap_recorded *micap_recording_step(const micap_recording *recording, micap_log_cursor *cursor)
{
    while (cursor->segment < recording->segment_count) {
        const micap_log_segment *segment = &recording->segments[cursor->segment];
        bool is_last = cursor->segment + 1 == recording->segment_count;
        if (!cursor->at)
            cursor->at = segment->first;
        if (cursor->at < (is_last ? recording->end : segment->end)) {
            micap_recorded *change = (micap_recorded *)(void *)cursor->at;
            cursor->at += recording->kinds[change->kind].stride;
            return change;
        }
        if (is_last)
            break;
        *cursor = (micap_log_cursor){.segment = cursor->segment + 1};
    }
    return NULL;
}

void micap_recorded_drop_values(const micap_recording *recording, micap_recorded *change)
{
    const micap_recorded_kind *kind = &recording->kinds[change->kind];
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (values[i].offset)
            micap_values_destruct(values[i].type, micap_recorded_value(change, &values[i]), 1);
}

void micap_recording_drop(mica_world *world, micap_recording *recording)
{
    micap_log_cursor cursor = {0};
    for (micap_recorded *change; (change = micap_recording_step(recording, &cursor));) {
        if (change->state == MICAP_RECORDED_VOID)
            continue;
        micap_recorded_drop_values(recording, change);
        if (micap_kind_operation(&recording->kinds[change->kind]) == MICAP_OPERATION_CREATE)
            micap_entity_forget_pending(world, change->entity);
    }
    micap_recording_reset(world, recording);
}

/* Releases a table that is much larger than needed, so that one large recording does not slow down all later flushes. */
static void reset_table(mica_world *world, micap_recording *recording)
{
    if (recording->table_capacity > 1024 && recording->table_count < recording->table_capacity / 16) {
        MICAP_RELEASE_ARRAY(&world->memory, recording->table, recording->table_capacity);
        recording->table = NULL;
        recording->table_capacity = 0;
    } else if (recording->table_count) {
        memset(recording->table, 0, recording->table_capacity * sizeof *recording->table);
    }
    recording->table_count = 0;
    recording->tabled = (micap_log_cursor){0};
}

void micap_recording_drop_kinds(micap_recording *recording)
{
    recording->kind_count = 0;
    recording->kind_lists = NULL;
    micap_stage_reset(&recording->kind_stage);
}

void micap_recording_reset(mica_world *world, micap_recording *recording)
{
    for (micap_note *note = recording->first_note; note; note = note->next)
        if (note->ops->drop)
            note->ops->drop(world, note);
    micap_stage_reset(&recording->stage);
    recording->first_note = recording->last_note = NULL;
    recording->recent = recording->created = NULL;
    if (!recording->segment_count)
        return;
    reset_table(world, recording);
    if (recording->kind_count > KINDS_MAX)
        micap_recording_drop_kinds(recording);
    recording->last = NULL;
    recording->slot = NULL;
    recording->end = recording->limit = NULL;
    recording->segment_count = recording->change_count = recording->created_count = 0;
    recording->lowest = recording->highest_pending = 0;
    recording->span = UINT32_MAX;
    recording->has_foreign = recording->has_deaths = false;
}

void micap_recording_free(mica_world *world, micap_recording *recording)
{
    micap_stage_free(&world->memory, &recording->stage);
    micap_stage_free(&world->memory, &recording->kind_stage);
    MICAP_RELEASE_ARRAY(&world->memory, recording->kinds, recording->kind_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, recording->segments, recording->segment_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, recording->table, recording->table_capacity);
    *recording = (micap_recording){0};
}

static inline micap_recorded **slot_of(const micap_recording *recording, mica_entity entity)
{
    for (uint32_t attempt = 0;; ++attempt) {
        micap_recorded **slot = &recording->table[micap_probe(entity.index, attempt) & (recording->table_capacity - 1)];
        if (!*slot || mica_same((*slot)->entity, entity))
            return slot;
    }
}

static bool grow_table(mica_world *world, micap_recording *recording)
{
    uint32_t grown = recording->table_capacity ? recording->table_capacity * 4 : TABLE_FIRST;
    micap_recorded **table =
        micap_allocate_zeroed(&world->memory, (size_t)grown * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    MICAP_RELEASE_ARRAY(&world->memory, recording->table, recording->table_capacity);
    recording->table = table;
    recording->table_capacity = grown;
    recording->table_count = 0;
    recording->tabled = (micap_log_cursor){0};
    return true;
}

/* Puts the changes into the table that were recorded since it was last used, and makes room for one more. False if memory runs
 * out. */
static bool extend_table(mica_world *world, micap_recording *recording)
{
    for (;;) {
        if (MICAP_UNLIKELY((recording->table_count + 1) * 2 > recording->table_capacity) &&
            !grow_table(world, recording))
            return false;
        if (recording->tabled.at == recording->end)
            return true;
        micap_recorded *change = micap_recording_step(recording, &recording->tabled);
        if (!change) /* a segment was begun */
            return true;
        ++recording->table_count;
        if (change->state != MICAP_RECORDED_VOID) {
            recording->tabled_slot = slot_of(recording, change->entity);
            *recording->tabled_slot = change;
        }
    }
}

/* The slow way when there is no memory for the table. */
static micap_recorded *search(const micap_recording *recording, mica_entity entity)
{
    micap_log_cursor cursor = {0};
    micap_recorded *found = NULL;
    for (micap_recorded *change; (change = micap_recording_step(recording, &cursor));)
        if (change->state != MICAP_RECORDED_VOID && mica_same(change->entity, entity))
            found = change;
    return found;
}

micap_recorded *micap_recording_find(mica_world *world, micap_recording *recording, mica_entity entity)
{
    micap_recorded *last = recording->last;
    if (!last) /* nothing is written: the buffer that refuses everything is shared by threads */
        return NULL;
    recording->slot = NULL;
    if (mica_same(last->entity, entity) && last->state != MICAP_RECORDED_VOID)
        return last;
    uint64_t record = micap_record_of(&world->entities, entity);
    if (micap_record_chunk(record) == MICAP_CHUNK_PENDING) {
        if (entity.index > recording->highest_pending)
            return NULL;
    } else if (!micap_recording_has_range(recording) || entity.index - recording->lowest > recording->span) {
        return NULL;
    }
    if (!extend_table(world, recording))
        return search(recording, entity);
    recording->slot = slot_of(recording, entity);
    return *recording->slot;
}

bool micap_recording_destroys(mica_world *world, micap_recording *recording, mica_entity entity)
{
    const micap_recorded *last = micap_recording_find(world, recording, entity);
    return last && micap_kind_operation(&recording->kinds[last->kind]) == MICAP_OPERATION_DESTROY;
}
