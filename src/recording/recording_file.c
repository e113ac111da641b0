/* Reading recordings: everything is checked before anything is used, so that the rest of the code need not. */
#include "recording/recording_file.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/byte_stream.h"
#include "base/hash.h"
#include "mica/entity.h"
#include "os/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct micap_loading {
    mica_recording *recording;
    mica_recording_error *error;
    micap_reader reader;
    uint32_t frame_record; /* the first of the frame that is being read */
    uint8_t *is_live;      /* by number of a snapshot */
    uint32_t live_capacity;
} loading;

MICAP_FORMAT(3, 4) static bool refuse(loading *work, mica_result result, const char *format, ...)
{
    if (!work->error)
        return false;
    *work->error = (mica_recording_error){.result = result, .offset = (uint64_t)(work->reader.at - work->reader.begin)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(work->error->text, sizeof work->error->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_memory(loading *work)
{
    return refuse(work, MICA_ERROR_MEMORY, "out of memory");
}

static bool read_header(loading *work)
{
    micap_reader *reader = &work->reader;
    mica_recording_info *info = &work->recording->info;
    const char *header = micap_reader_take(reader, MICAP_RECORD_HEADER_BYTES);
    if (!header || memcmp(header, MICAP_RECORD_MAGIC, 8) != 0)
        return refuse(work, MICA_ERROR_DATA, "this is not a recording");
    micap_reader fields = {header, header + 8, header + MICAP_RECORD_HEADER_BYTES, false};
    uint32_t versions = micap_reader_take32(&fields), header_bytes = micap_reader_take32(&fields);
    uint32_t detail = micap_reader_take32(&fields), flags = micap_reader_take32(&fields);
    info->start_hash = micap_reader_take64(&fields);
    micap_reader_take64(&fields);
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, header, 40);
    if (micap_reader_take64(&fields) != micap_hasher_finish(&hasher))
        return refuse(work, MICA_ERROR_DATA, "the header is damaged: its checksum is another");
    if ((versions & 0xFFFF) != MICAP_RECORD_VERSION_MAJOR)
        return refuse(work, MICA_ERROR_DATA, "the recording has version %u, and this reads %d", versions & 0xFFFF,
                      MICAP_RECORD_VERSION_MAJOR);
    if (detail > MICA_RECORDING_ENTITIES || header_bytes < MICAP_RECORD_HEADER_BYTES ||
        !micap_reader_take(reader, header_bytes - MICAP_RECORD_HEADER_BYTES))
        return refuse(work, MICA_ERROR_DATA, "the header has an invalid size or detail");
    info->detail = (mica_recording_detail)detail;
    info->systems = flags & MICAP_RECORD_SYSTEMS;
    return true;
}

static mica_hash_leaf leaf_at(const char *bytes)
{
    micap_reader reader = {bytes, bytes, bytes + MICAP_RECORD_LEAF_BYTES, false};
    mica_hash_leaf leaf = {.table = micap_reader_take64(&reader), .component = micap_reader_take64(&reader)};
    leaf.row = micap_reader_take32(&reader);
    leaf.row_count = micap_reader_take32(&reader);
    leaf.entity.index = micap_reader_take32(&reader);
    leaf.entity.generation = micap_reader_take32(&reader);
    leaf.hash = micap_reader_take64(&reader);
    return leaf;
}

static bool check_leaves(loading *work, const micap_run_record *record)
{
    if (record->byte_count % MICAP_RECORD_LEAF_BYTES)
        return refuse(work, MICA_ERROR_DATA, "leaves have %d bytes each, not %u together", MICAP_RECORD_LEAF_BYTES,
                      record->byte_count);
    mica_hash_leaf before = {0};
    for (uint32_t at = 0; at < record->byte_count; at += MICAP_RECORD_LEAF_BYTES) {
        mica_hash_leaf leaf = leaf_at(record->bytes + at);
        if (at && micap_hash_leaf_compare(&before, &leaf) >= 0)
            return refuse(work, MICA_ERROR_DATA, "leaves are not in order");
        before = leaf;
    }
    return true;
}

static bool take_name(loading *work, const micap_run_record *record)
{
    char text[sizeof((micap_hash_name *)0)->text] = "";
    if (record->byte_count <= 8 || record->byte_count - 8 >= sizeof text ||
        memchr(record->bytes + 8, 0, record->byte_count - 8))
        return refuse(work, MICA_ERROR_DATA, "a name has 1 to %zu bytes and no end", sizeof text - 1);
    micap_reader reader = {record->bytes, record->bytes, record->bytes + 8, false};
    memcpy(text, record->bytes + 8, record->byte_count - 8);
    return micap_hash_tree_add_name(work->recording->names, micap_reader_take64(&reader), text) || refuse_memory(work);
}

/* Ends a frame. */
static bool take_tick(loading *work, const micap_run_record *record)
{
    mica_recording *recording = work->recording;
    if (record->byte_count != MICAP_RECORD_TICK_BYTES)
        return refuse(work, MICA_ERROR_DATA, "a tick has %d bytes, not %u", MICAP_RECORD_TICK_BYTES,
                      record->byte_count);
    micap_reader reader = {record->bytes, record->bytes, record->bytes + record->byte_count, false};
    uint64_t number = micap_reader_take64(&reader);
    micap_run_frame frame = {.record = work->frame_record,
                             .record_count = recording->record_count - work->frame_record,
                             .tick = {.hash = micap_reader_take64(&reader)}};
    uint32_t dt_bits = micap_reader_take32(&reader);
    memcpy(&frame.tick.dt, &dt_bits, sizeof dt_bits);
    if (number != (uint64_t)recording->frame_count + 1)
        return refuse(work, MICA_ERROR_DATA, "tick %llu comes after tick %u", (unsigned long long)number,
                      recording->frame_count);
    if (!(frame.tick.dt >= 0 && frame.tick.dt < 1e9f))
        return refuse(work, MICA_ERROR_DATA, "a time step of %g seconds is invalid: expected 0 or more",
                      (double)frame.tick.dt);
    for (uint32_t i = frame.record; i < recording->record_count; ++i)
        frame.tick.input_count += recording->records[i].kind == MICAP_RECORD_INPUT;
    if (!MICAP_RESERVE(&recording->memory, recording->frames, &recording->frame_capacity,
                       (uint64_t)recording->frame_count + 1))
        return refuse_memory(work);
    recording->frames[recording->frame_count++] = frame;
    work->frame_record = recording->record_count;
    return true;
}

uint32_t micap_run_record_snapshot(const micap_run_record *record)
{
    micap_reader reader = {record->bytes, record->bytes, record->bytes + record->byte_count, false};
    return micap_reader_take32(&reader);
}

/* Snapshots are numbered from 1 on, and restored and dropped while they live. */
static bool take_snapshot(loading *work, const micap_run_record *record)
{
    mica_recording *recording = work->recording;
    uint32_t number = micap_run_record_snapshot(record);
    if (record->byte_count != MICAP_RECORD_SNAPSHOT_BYTES)
        return refuse(work, MICA_ERROR_DATA, "the number of a snapshot has %d bytes, not %u",
                      MICAP_RECORD_SNAPSHOT_BYTES, record->byte_count);
    if (record->kind != MICAP_RECORD_SNAPSHOT) {
        if (!number || number > recording->snapshot_count || !work->is_live[number])
            return refuse(work, MICA_ERROR_DATA, "there is no snapshot %u", number);
        work->is_live[number] = record->kind == MICAP_RECORD_RESTORE;
        return true;
    }
    if (number != recording->snapshot_count + 1)
        return refuse(work, MICA_ERROR_DATA, "snapshot %u comes after snapshot %u", number, recording->snapshot_count);
    bool fits = MICAP_RESERVE(&recording->memory, work->is_live, &work->live_capacity, (uint64_t)number + 1);
    if (fits) {
        recording->snapshot_count = number;
        work->is_live[number] = true;
    }
    return fits || refuse_memory(work);
}

static bool take_record(loading *work, const micap_run_record *record)
{
    mica_recording *recording = work->recording;
    if (!MICAP_RESERVE(&recording->memory, recording->records, &recording->record_capacity,
                       (uint64_t)recording->record_count + 1))
        return refuse_memory(work);
    recording->records[recording->record_count++] = *record;
    switch (record->kind) {
    case MICAP_RECORD_NAME: return take_name(work, record);
    case MICAP_RECORD_TICK: return take_tick(work, record);
    case MICAP_RECORD_LEAVES: return check_leaves(work, record);
    case MICAP_RECORD_SNAPSHOT:
    case MICAP_RECORD_RESTORE:
    case MICAP_RECORD_DROP: return take_snapshot(work, record);
    case MICAP_RECORD_SYSTEM:
        return record->byte_count == MICAP_RECORD_SYSTEM_BYTES ||
               refuse(work, MICA_ERROR_DATA, "a system has %d bytes, not %u", MICAP_RECORD_SYSTEM_BYTES,
                      record->byte_count);
    case MICAP_RECORD_INPUT:
        return record->byte_count <= MICA_INPUT_BYTES_MAX ||
               refuse(work, MICA_ERROR_DATA, "input has up to %d bytes, not %u", MICA_INPUT_BYTES_MAX,
                      record->byte_count);
    default: return true; /* of a later version */
    }
}

static bool read_records(loading *work)
{
    micap_reader *reader = &work->reader;
    mica_recording *recording = work->recording;
    while (micap_reader_left(reader)) {
        uint32_t kind = micap_reader_take32(reader), byte_count = micap_reader_take32(reader);
        uint64_t check = micap_reader_take64(reader);
        const char *bytes = micap_reader_take(reader, byte_count);
        if (!bytes)
            break; /* the program ended while it wrote */
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_integer(&hasher, kind, 4);
        micap_hasher_integer(&hasher, byte_count, 4);
        micap_hasher_bytes(&hasher, bytes, byte_count);
        if (kind == 0 || check != micap_hasher_finish(&hasher))
            return refuse(work, MICA_ERROR_DATA, "the recording is damaged after tick %u", recording->frame_count);
        if (!take_record(work, &(micap_run_record){(micap_record_kind)kind, byte_count, bytes}))
            return false;
    }
    recording->info.is_cut = reader->failed || work->frame_record != recording->record_count;
    recording->info.tick_count = recording->frame_count;
    recording->info.byte_count = recording->byte_count;
    return true;
}

mica_recording *micap_recording_open(mica_allocator allocator, const void *bytes, size_t byte_count,
                                     mica_recording_error *out_error)
{
    loading work = {.error = out_error};
    micap_memory memory;
    micap_memory_init(&memory, allocator);
    mica_recording *recording = micap_allocate_zeroed(&memory, sizeof *recording, MICAP_ARRAY_ALIGNMENT);
    if (!recording)
        return refuse_memory(&work), NULL;
    micap_memory_init(&recording->memory, allocator);
    work.recording = recording;
    recording->byte_count = byte_count;
    recording->bytes = micap_allocate(&recording->memory, byte_count, MICAP_ARRAY_ALIGNMENT);
    recording->names = micap_hash_tree_create(allocator);
    bool fine = (recording->bytes && recording->names) || refuse_memory(&work);
    if (fine) {
        if (byte_count)
            memcpy(recording->bytes, bytes, byte_count);
        work.reader = (micap_reader){recording->bytes, recording->bytes, recording->bytes + byte_count, false};
        fine = read_header(&work) && read_records(&work);
    }
    MICAP_RELEASE_ARRAY(&recording->memory, work.is_live, work.live_capacity);
    if (!fine)
        mica_recording_free(recording);
    return fine ? recording : NULL;
}

bool mica_recording_detect(const void *bytes, size_t byte_count)
{
    return !MICAP_MISSING(NULL, bytes) && byte_count >= MICA_RECORDING_MAGIC_BYTES &&
           memcmp(bytes, MICAP_RECORD_MAGIC, MICA_RECORDING_MAGIC_BYTES) == 0;
}

mica_recording *mica_recording_open(const void *bytes, size_t byte_count, mica_recording_error *out_error)
{
    if (byte_count && MICAP_MISSING_INTO(out_error, bytes))
        return NULL;
    return micap_recording_open((mica_allocator){0}, bytes, byte_count, out_error);
}

mica_recording *mica_recording_load(const char *path, mica_recording_error *out_error)
{
    if (MICAP_MISSING_INTO(out_error, path))
        return NULL;
    micap_mapping mapping;
    int problem = micap_file_map(path, &mapping);
    if (problem) {
        if (out_error) {
            *out_error = (mica_recording_error){.result = MICA_ERROR_FILE};
            snprintf(out_error->text, sizeof out_error->text, "%s", strerror(problem));
        }
        return NULL;
    }
    mica_recording *recording = mica_recording_open(mapping.bytes, mapping.byte_count, out_error);
    micap_file_unmap(&mapping);
    return recording;
}

void mica_recording_free(mica_recording *recording)
{
    if (!recording)
        return;
    micap_release(&recording->memory, recording->bytes, recording->byte_count, MICAP_ARRAY_ALIGNMENT);
    MICAP_RELEASE_ARRAY(&recording->memory, recording->records, recording->record_capacity);
    MICAP_RELEASE_ARRAY(&recording->memory, recording->frames, recording->frame_capacity);
    mica_hash_tree_free(recording->names);
    micap_memory last = {.allocator = recording->memory.allocator};
    atomic_init(&last.bytes, sizeof *recording);
    micap_release(&last, recording, sizeof *recording, MICAP_ARRAY_ALIGNMENT);
}

mica_recording_info mica_recording_get_info(const mica_recording *recording)
{
    if (MICAP_MISSING(NULL, recording))
        return (mica_recording_info){0};
    return recording->info;
}

mica_recorded_tick mica_recording_tick(const mica_recording *recording, uint32_t tick)
{
    if (MICAP_MISSING(NULL, recording))
        return (mica_recorded_tick){0};
    return tick && tick <= recording->frame_count ? recording->frames[tick - 1].tick : (mica_recorded_tick){0};
}

const micap_run_record *micap_recording_find_record(const mica_recording *recording, uint32_t tick,
                                                    micap_record_kind kind, uint32_t index)
{
    if (!tick || tick > recording->frame_count)
        return NULL;
    const micap_run_frame *frame = &recording->frames[tick - 1];
    for (uint32_t i = frame->record; i < frame->record + frame->record_count; ++i)
        if (recording->records[i].kind == kind && index-- == 0)
            return &recording->records[i];
    return NULL;
}

const void *mica_recording_input(const mica_recording *recording, uint32_t tick, uint32_t index, size_t *out_byte_count)
{
    if (MICAP_MISSING(NULL, recording) || MICAP_MISSING(NULL, out_byte_count))
        return NULL;
    const micap_run_record *record = micap_recording_find_record(recording, tick, MICAP_RECORD_INPUT, index);
    *out_byte_count = record ? record->byte_count : 0;
    return record ? record->bytes : NULL;
}

/* The leaves of a record over those of a tree, both in order. */
static bool lay_over(mica_hash_tree *tree, const micap_run_record *record)
{
    uint32_t more = record->byte_count / MICAP_RECORD_LEAF_BYTES, capacity = 0, count = 0, old = 0;
    mica_hash_leaf *merged = NULL;
    if (!more)
        return true;
    if (!MICAP_RESERVE(&tree->memory, merged, &capacity, (uint64_t)tree->count + more))
        return false;
    MICAP_ASSERT(merged, "it has room");
    for (uint32_t i = 0; i < more; ++i) {
        mica_hash_leaf leaf = leaf_at(record->bytes + (size_t)i * MICAP_RECORD_LEAF_BYTES);
        while (old < tree->count && micap_hash_leaf_compare(&tree->leaves[old], &leaf) < 0)
            merged[count++] = tree->leaves[old++];
        old += old < tree->count && micap_hash_leaf_compare(&tree->leaves[old], &leaf) == 0;
        if (leaf.row_count != UINT32_MAX)
            merged[count++] = leaf;
    }
    while (old < tree->count)
        merged[count++] = tree->leaves[old++];
    MICAP_RELEASE_ARRAY(&tree->memory, tree->leaves, tree->capacity);
    tree->leaves = merged;
    tree->capacity = capacity;
    tree->count = count;
    return true;
}

mica_hash_tree *micap_recording_tree(const mica_recording *recording, uint32_t tick)
{
    mica_hash_tree *tree = micap_hash_tree_create(recording->memory.allocator);
    bool fine = tree != NULL;
    for (uint32_t i = 0; fine && i < recording->names->name_count; ++i)
        fine = micap_hash_tree_add_name(tree, recording->names->names[i].hash, recording->names->names[i].text);
    for (uint32_t i = 1; fine && i <= tick; ++i) {
        const micap_run_record *record = micap_recording_find_record(recording, i, MICAP_RECORD_LEAVES, 0);
        fine = !record || lay_over(tree, record);
    }
    if (!fine)
        mica_hash_tree_free(tree);
    return fine ? tree : NULL;
}
