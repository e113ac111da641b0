/* Writes a recording, frame by frame, and hands input to the program.
 *
 * Snapshots that the program takes, restores and drops between frames are recorded, and a replay does the same: so a recording
 * stays valid when the world goes back. What systems do with snapshots is done again by the systems of the replay. */
#include "recording/run_recorder.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"
#include "recording/replay.h"

#include <errno.h>

static void put_record(micap_bytes *bytes, micap_record_kind kind, const void *payload, uint32_t byte_count)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, kind, 4);
    micap_hasher_integer(&hasher, byte_count, 4);
    if (byte_count) /* input may have none, and be NULL */
        micap_hasher_bytes(&hasher, payload, byte_count);
    micap_bytes_put32(bytes, kind);
    micap_bytes_put32(bytes, byte_count);
    micap_bytes_put64(bytes, micap_hasher_finish(&hasher));
    micap_bytes_put(bytes, payload, byte_count);
}

/* The file is given up; what is in it stays readable. */
static void stop(micap_run_recorder *recorder, mica_result result, const char *why)
{
    micap_fail(recorder->world, result, (mica_location){0}, "recording: %s: the recording ends at tick %llu", why,
               (unsigned long long)recorder->tick);
    fclose(recorder->file);
    recorder->file = NULL;
    recorder->has_failed = true;
}

static void put_name(micap_run_recorder *recorder, uint64_t hash, const char *text)
{
    for (uint32_t i = 0; i < recorder->named_count; ++i)
        if (recorder->named[i] == hash)
            return;
    micap_memory *memory = &recorder->world->memory;
    if (!MICAP_RESERVE(memory, recorder->named, &recorder->named_capacity, (uint64_t)recorder->named_count + 1)) {
        recorder->frame.failed = true;
        return;
    }
    recorder->named[recorder->named_count++] = hash;
    char payload[8 + sizeof(micap_hash_name)];
    uint64_t little = micap_little64(hash);
    memcpy(payload, &little, 8);
    size_t length = strlen(text);
    length = length < 95 ? length : 95;
    memcpy(payload + 8, text, length);
    put_record(&recorder->frame, MICAP_RECORD_NAME, payload, (uint32_t)(8 + length));
}

static void put_leaf(micap_bytes *bytes, const mica_hash_leaf *leaf, bool is_removed)
{
    micap_bytes_put64(bytes, leaf->table);
    micap_bytes_put64(bytes, leaf->component);
    micap_bytes_put32(bytes, leaf->row);
    micap_bytes_put32(bytes, is_removed ? UINT32_MAX : leaf->row_count);
    micap_bytes_put32(bytes, leaf->entity.index);
    micap_bytes_put32(bytes, leaf->entity.generation);
    micap_bytes_put64(bytes, leaf->hash);
}

static bool is_alike(const mica_hash_leaf *a, const mica_hash_leaf *b)
{
    return a->hash == b->hash && a->row_count == b->row_count && mica_same(a->entity, b->entity);
}

/* What differs from the tree before, which is NULL for the first. */
static void put_leaves(micap_run_recorder *recorder, const mica_hash_tree *before, const mica_hash_tree *tree)
{
    micap_bytes payload = {.memory = &recorder->world->memory};
    uint32_t old_count = before ? before->count : 0;
    for (uint32_t i = 0, j = 0; i < old_count || j < tree->count;) {
        int order = i == old_count     ? 1
                    : j == tree->count ? -1
                                       : micap_hash_leaf_compare(&before->leaves[i], &tree->leaves[j]);
        if (order < 0)
            put_leaf(&payload, &before->leaves[i++], true);
        else if (order > 0)
            put_leaf(&payload, &tree->leaves[j++], false);
        else if (is_alike(&before->leaves[i], &tree->leaves[j]))
            ++i, ++j;
        else
            put_leaf(&payload, &tree->leaves[j++], false), ++i;
    }
    for (uint32_t i = 0; i < tree->name_count; ++i)
        put_name(recorder, tree->names[i].hash, tree->names[i].text);
    if (payload.count)
        put_record(&recorder->frame, MICAP_RECORD_LEAVES, payload.data, payload.count);
    recorder->frame.failed |= payload.failed;
    micap_bytes_free(&payload);
}

static bool put_tree(micap_run_recorder *recorder)
{
    if (recorder->def.detail == MICA_RECORDING_WORLD)
        return true;
    uint32_t rows = recorder->def.detail == MICA_RECORDING_SLICES ? MICA_HASH_SLICES : MICA_HASH_ROWS;
    mica_hash_tree *tree = mica_hash_tree_take(recorder->world, rows);
    if (!tree)
        return false;
    put_leaves(recorder, recorder->tree, tree);
    mica_hash_tree_free(recorder->tree);
    recorder->tree = tree;
    return true;
}

static void end_frame(mica_world *world, void *state)
{
    micap_run_recorder *recorder = state;
    if (!recorder->file)
        return;
    ++recorder->tick;
    bool fine = put_tree(recorder);
    float dt = micap_flow_get(world)->asked_dt;
    uint32_t dt_bits;
    memcpy(&dt_bits, &dt, sizeof dt_bits);
    uint64_t payload[] = {micap_little64(recorder->tick), micap_little64(mica_world_hash(world)),
                          micap_little64(dt_bits)};
    put_record(&recorder->frame, MICAP_RECORD_TICK, payload, sizeof payload);
    if (!fine || recorder->frame.failed)
        stop(recorder, MICA_ERROR_MEMORY, "out of memory");
    else if (fwrite(recorder->frame.data, 1, recorder->frame.count, recorder->file) != recorder->frame.count ||
             fflush(recorder->file))
        stop(recorder, MICA_ERROR_FILE, strerror(errno));
    recorder->frame.count = 0;
    recorder->frame.failed = false;
}

static void hear_system(mica_world *world, void *state, const micap_system *system)
{
    micap_run_recorder *recorder = state;
    const char *name = system->def.name;
    uint64_t name_hash = micap_hash_text(name);
    if (recorder->replay) {
        micap_replay_system(recorder, name, name_hash);
    } else if (recorder->file) {
        put_name(recorder, name_hash, name);
        uint64_t payload[] = {micap_little64(name_hash), micap_little64(mica_world_hash(world))};
        put_record(&recorder->frame, MICAP_RECORD_SYSTEM, payload, sizeof payload);
    }
}

/* What a snapshot remembers: its number in the recording that was written when it was taken. */
typedef struct saved_recorder {
    uint64_t recording; /* 0: none */
    uint32_t number;    /* 0: a system took it */
} saved_recorder;

/* What the handler of input does is done again by a replay, which calls it. */
static bool is_recording(const micap_run_recorder *recorder)
{
    return recorder->file && !recorder->is_in_input;
}

static bool is_in_frame(mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow && flow->is_stepping;
}

static void put_snapshot(micap_run_recorder *recorder, micap_record_kind kind, uint32_t number)
{
    number = micap_little32(number);
    put_record(&recorder->frame, kind, &number, sizeof number);
}

static void *save_recorder(mica_world *world, void *state)
{
    micap_run_recorder *recorder = state;
    saved_recorder *saved = micap_allocate_zeroed(&world->memory, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
    if (!saved || !is_recording(recorder))
        return saved;
    saved->recording = recorder->number;
    if (!is_in_frame(world)) {
        saved->number = ++recorder->snapshot_count;
        put_snapshot(recorder, MICAP_RECORD_SNAPSHOT, saved->number);
    }
    return saved;
}

static void drop_recorder(mica_world *world, void *state, void *data)
{
    micap_run_recorder *recorder = state;
    saved_recorder *saved = data;
    if (is_recording(recorder) && saved->recording == recorder->number && saved->number)
        put_snapshot(recorder, MICAP_RECORD_DROP, saved->number);
    micap_release(&world->memory, saved, sizeof *saved, MICAP_ARRAY_ALIGNMENT);
}

static bool prepare_recorder(mica_world *world, void *state, const void *saved)
{
    (void)world, (void)state, (void)saved;
    return true; /* the file itself does not go back */
}

static void load_recorder(mica_world *world, void *state, const void *data)
{
    micap_run_recorder *recorder = state;
    const saved_recorder *saved = data;
    if (!is_recording(recorder))
        return;
    bool by_system = is_in_frame(world);
    if (!saved || saved->recording != recorder->number)
        stop(recorder, MICA_ERROR_REFUSED, "the world restored a snapshot that is not part of the recording");
    else if (by_system != !saved->number)
        stop(recorder, MICA_ERROR_REFUSED,
             "a system restored a snapshot that was taken between frames, or the other way round");
    else if (!by_system)
        put_snapshot(recorder, MICAP_RECORD_RESTORE, saved->number);
}

static void forget(micap_run_recorder *recorder)
{
    micap_bytes_free(&recorder->frame);
    MICAP_RELEASE_ARRAY(&recorder->world->memory, recorder->named, recorder->named_capacity);
    mica_hash_tree_free(recorder->tree);
    recorder->named = NULL;
    recorder->named_count = recorder->named_capacity = 0;
    recorder->tree = NULL;
    recorder->tick = 0;
    recorder->snapshot_count = 0;
    recorder->has_failed = false;
}

static void free_recorder(mica_world *world, void *state)
{
    micap_run_recorder *recorder = state;
    if (recorder->file)
        fclose(recorder->file);
    forget(recorder);
    micap_release(&world->memory, recorder, sizeof *recorder, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops ops = {.frame_end = end_frame,
                                       .save = save_recorder,
                                       .drop = drop_recorder,
                                       .prepare = prepare_recorder,
                                       .load = load_recorder,
                                       .free = free_recorder};
static const micap_listener_ops ops_with_systems = {.frame_end = end_frame,
                                                    .system_ended = hear_system,
                                                    .save = save_recorder,
                                                    .drop = drop_recorder,
                                                    .prepare = prepare_recorder,
                                                    .load = load_recorder,
                                                    .free = free_recorder};

bool micap_run_recorder_listen(micap_run_recorder *recorder, bool systems)
{
    return micap_listener_set(recorder->world, MICAP_LISTENER_RECORD, systems ? &ops_with_systems : &ops, recorder);
}

micap_run_recorder *micap_run_recorder_of(mica_world *world)
{
    micap_run_recorder *recorder = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (recorder)
        return recorder;
    recorder = micap_allocate_zeroed(&world->memory, sizeof *recorder, MICAP_ARRAY_ALIGNMENT);
    if (!recorder)
        return micap_fail_memory(world, "recording"), NULL;
    recorder->world = world;
    recorder->frame.memory = &world->memory;
    if (micap_run_recorder_listen(recorder, false))
        return recorder;
    micap_release(&world->memory, recorder, sizeof *recorder, MICAP_ARRAY_ALIGNMENT);
    return NULL;
}

mica_result micap_run_recorder_refuse_inside(mica_world *world, const char *what)
{
    const micap_flow *flow = micap_flow_get(world);
    if (micap_thread_context_of(world) || world->recording_depth || world->flushing || (flow && flow->is_stepping))
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                          "%s: refused inside a frame, a hook, or while changes are recorded", what);
    return MICA_OK;
}

mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result result = micap_run_recorder_refuse_inside(world, "input");
    micap_run_recorder *recorder = result == MICA_OK ? micap_run_recorder_of(world) : NULL;
    if (!recorder)
        return result == MICA_OK ? MICA_ERROR_MEMORY : result;
    recorder->input = fn;
    recorder->input_context = context;
    return MICA_OK;
}

void micap_run_recorder_input(micap_run_recorder *recorder, const void *bytes, size_t byte_count)
{
    recorder->is_in_input = true;
    recorder->input(recorder->world, bytes, byte_count, recorder->input_context);
    recorder->is_in_input = false;
}

mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, bytes, byte_count))
        return MICA_ERROR_INVALID;
    mica_result result = micap_run_recorder_refuse_inside(world, "input");
    if (result != MICA_OK)
        return result;
    micap_run_recorder *recorder = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (!recorder || !recorder->input)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0},
                          "input: there is no handler: call mica_input_handle first");
    if (byte_count > MICA_INPUT_BYTES_MAX)
        return micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0}, "input: %llu bytes are more than %d",
                          (unsigned long long)byte_count, MICA_INPUT_BYTES_MAX);
    if (recorder->file)
        put_record(&recorder->frame, MICAP_RECORD_INPUT, bytes, (uint32_t)byte_count);
    micap_run_recorder_input(recorder, bytes, byte_count);
    return MICA_OK;
}

static bool write_header(micap_run_recorder *recorder)
{
    char header[MICAP_RECORD_HEADER_BYTES];
    uint16_t versions[2] = {MICAP_RECORD_VERSION_MAJOR, MICAP_RECORD_VERSION_MINOR};
    uint32_t words[3] = {MICAP_RECORD_HEADER_BYTES, recorder->def.detail,
                         recorder->def.systems ? MICAP_RECORD_SYSTEMS : 0};
    uint64_t hash = micap_little64(mica_world_hash(recorder->world)), reserved = 0;
    memcpy(header, MICAP_RECORD_MAGIC, 8);
    for (uint32_t i = 0; i < 2; ++i) {
        header[8 + 2 * i] = (char)(versions[i] & 0xFF);
        header[9 + 2 * i] = (char)(versions[i] >> 8);
    }
    for (size_t i = 0; i < 3; ++i) {
        uint32_t word = micap_little32(words[i]);
        memcpy(header + 12 + 4 * i, &word, 4);
    }
    memcpy(header + 24, &hash, 8);
    memcpy(header + 32, &reserved, 8);
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, header, 40);
    uint64_t check = micap_little64(micap_hasher_finish(&hasher));
    memcpy(header + 40, &check, 8);
    return fwrite(header, 1, sizeof header, recorder->file) == sizeof header && fflush(recorder->file) == 0;
}

mica_result mica_recording_begin(mica_world *world, const char *path, const mica_recording_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    static const mica_recording_def defaults = {0};
    mica_result result = micap_run_recorder_refuse_inside(world, "recording");
    if (result != MICA_OK)
        return result;
    micap_run_recorder *recorder = micap_run_recorder_of(world);
    if (!recorder)
        return MICA_ERROR_MEMORY;
    if (recorder->file || recorder->replay)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "recording: a recording is in progress");
    forget(recorder);
    ++recorder->number;
    recorder->def = def ? *def : defaults;
    recorder->file = fopen(path, "wb");
    if (!recorder->file || !write_header(recorder)) {
        micap_fail(world, MICA_ERROR_FILE, (mica_location){0}, "recording: %.300s: %s", path, strerror(errno));
        if (recorder->file)
            fclose(recorder->file);
        recorder->file = NULL;
        return MICA_ERROR_FILE;
    }
    micap_run_recorder_listen(recorder, recorder->def.systems); /* it listens already: that can't fail */
    return MICA_OK;
}

mica_result mica_recording_end(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result result = micap_run_recorder_refuse_inside(world, "recording");
    if (result != MICA_OK)
        return result;
    micap_run_recorder *recorder = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (!recorder || (!recorder->file && !recorder->has_failed))
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "recording: there is no recording");
    if (!recorder->file)
        result = MICA_ERROR_FILE; /* which was reported */
    else if (fclose(recorder->file))
        result = micap_fail(world, MICA_ERROR_FILE, (mica_location){0}, "recording: %s", strerror(errno));
    recorder->file = NULL;
    forget(recorder);
    micap_run_recorder_listen(recorder, false);
    return result;
}
