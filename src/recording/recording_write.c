/* Writing recordings, frame by frame. */
#include "recording/recording.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"

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
static void stop(micap_diary *diary, mica_result result, const char *why)
{
    micap_fail(diary->world, result, (mica_location){0}, "record: %s: the recording ends at tick %llu", why,
               (unsigned long long)diary->tick);
    fclose(diary->file);
    diary->file = NULL;
}

static void put_name(micap_diary *diary, uint64_t hash, const char *text)
{
    for (uint32_t i = 0; i < diary->named_count; ++i)
        if (diary->named[i] == hash)
            return;
    micap_memory *memory = &diary->world->memory;
    if (!MICAP_RESERVE(memory, diary->named, &diary->named_capacity, (uint64_t)diary->named_count + 1)) {
        diary->frame.failed = true;
        return;
    }
    diary->named[diary->named_count++] = hash;
    char payload[8 + sizeof(micap_hash_name)];
    uint64_t little = micap_little64(hash);
    memcpy(payload, &little, 8);
    size_t length = strlen(text);
    length = length < 95 ? length : 95;
    memcpy(payload + 8, text, length);
    put_record(&diary->frame, MICAP_RECORD_NAME, payload, (uint32_t)(8 + length));
}

static void put_leaf(micap_bytes *bytes, const mica_hash_leaf *leaf, bool is_gone)
{
    micap_bytes_put64(bytes, leaf->table);
    micap_bytes_put64(bytes, leaf->component);
    micap_bytes_put32(bytes, leaf->row);
    micap_bytes_put32(bytes, is_gone ? UINT32_MAX : leaf->row_count);
    micap_bytes_put32(bytes, leaf->entity.index);
    micap_bytes_put32(bytes, leaf->entity.generation);
    micap_bytes_put64(bytes, leaf->hash);
}

static bool is_alike(const mica_hash_leaf *a, const mica_hash_leaf *b)
{
    return a->hash == b->hash && a->row_count == b->row_count && mica_same(a->entity, b->entity);
}

/* What differs from the tree before, which is NULL for the first. */
static void put_leaves(micap_diary *diary, const mica_hash_tree *before, const mica_hash_tree *tree)
{
    micap_bytes payload = {.memory = &diary->world->memory};
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
        put_name(diary, tree->names[i].hash, tree->names[i].text);
    if (payload.count)
        put_record(&diary->frame, MICAP_RECORD_LEAVES, payload.data, payload.count);
    diary->frame.failed |= payload.failed;
    micap_bytes_free(&payload);
}

static bool put_tree(micap_diary *diary)
{
    if (diary->def.detail == MICA_RECORD_WORLD)
        return true;
    uint32_t rows = diary->def.detail == MICA_RECORD_SLICES ? MICA_HASH_SLICES : MICA_HASH_ROWS;
    mica_hash_tree *tree = mica_hash_tree_take(diary->world, rows);
    if (!tree)
        return false;
    put_leaves(diary, diary->tree, tree);
    mica_hash_tree_free(diary->tree);
    diary->tree = tree;
    return true;
}

static void end_frame(mica_world *world, void *state)
{
    micap_diary *diary = state;
    if (!diary->file)
        return;
    ++diary->tick;
    bool fine = put_tree(diary);
    float dt = micap_flow_get(world)->asked_dt;
    uint32_t dt_bits;
    memcpy(&dt_bits, &dt, sizeof dt_bits);
    uint64_t payload[] = {micap_little64(diary->tick), micap_little64(mica_world_hash(world)), micap_little64(dt_bits)};
    put_record(&diary->frame, MICAP_RECORD_TICK, payload, sizeof payload);
    if (!fine || diary->frame.failed)
        stop(diary, MICA_ERROR_MEMORY, "out of memory");
    else if (fwrite(diary->frame.data, 1, diary->frame.count, diary->file) != diary->frame.count || fflush(diary->file))
        stop(diary, MICA_ERROR_FILE, strerror(errno));
    diary->frame.count = 0;
    diary->frame.failed = false;
}

static void hear_system(mica_world *world, void *state, const micap_system *system)
{
    micap_diary *diary = state;
    const char *name = system->def.name;
    uint64_t name_hash = micap_hash_text(name);
    if (diary->replay) {
        micap_replay_system(diary, name, name_hash);
    } else if (diary->file) {
        put_name(diary, name_hash, name);
        uint64_t payload[] = {micap_little64(name_hash), micap_little64(mica_world_hash(world))};
        put_record(&diary->frame, MICAP_RECORD_SYSTEM, payload, sizeof payload);
    }
}

static void forget(micap_diary *diary)
{
    micap_bytes_free(&diary->frame);
    MICAP_RELEASE_ARRAY(&diary->world->memory, diary->named, diary->named_capacity);
    mica_hash_tree_free(diary->tree);
    diary->named = NULL;
    diary->named_count = diary->named_capacity = 0;
    diary->tree = NULL;
    diary->tick = 0;
}

static void free_diary(mica_world *world, void *state)
{
    micap_diary *diary = state;
    if (diary->file)
        fclose(diary->file);
    forget(diary);
    micap_release(&world->memory, diary, sizeof *diary, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops ops = {.frame_end = end_frame, .free = free_diary};
static const micap_listener_ops ops_with_systems = {
    .frame_end = end_frame, .system_ended = hear_system, .free = free_diary};

bool micap_diary_listen(micap_diary *diary, bool systems)
{
    return micap_listener_set(diary->world, MICAP_LISTENER_RECORD, systems ? &ops_with_systems : &ops, diary);
}

micap_diary *micap_diary_of(mica_world *world)
{
    micap_diary *diary = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (diary)
        return diary;
    diary = micap_allocate_zeroed(&world->memory, sizeof *diary, MICAP_ARRAY_ALIGNMENT);
    if (!diary)
        return micap_fail_memory(world, "record"), NULL;
    diary->world = world;
    diary->frame.memory = &world->memory;
    if (micap_diary_listen(diary, false))
        return diary;
    micap_release(&world->memory, diary, sizeof *diary, MICAP_ARRAY_ALIGNMENT);
    return NULL;
}

mica_result micap_record_refuse_inside(mica_world *world, const char *what)
{
    const micap_flow *flow = micap_flow_get(world);
    if (micap_here_of(world) || world->recording_depth || world->flushing || (flow && flow->is_stepping))
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                          "%s: refused inside a frame, a hook, or while changes are recorded", what);
    return MICA_OK;
}

mica_result mica_input_handle(mica_world *world, mica_input_fn fn, void *context)
{
    mica_result result = micap_record_refuse_inside(world, "input");
    micap_diary *diary = result == MICA_OK ? micap_diary_of(world) : NULL;
    if (!diary)
        return result == MICA_OK ? MICA_ERROR_MEMORY : result;
    diary->input = fn;
    diary->input_context = context;
    return MICA_OK;
}

mica_result mica_input(mica_world *world, const void *bytes, size_t byte_count)
{
    mica_result result = micap_record_refuse_inside(world, "input");
    if (result != MICA_OK)
        return result;
    micap_diary *diary = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (!diary || !diary->input)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0},
                          "input: nobody handles it: call mica_input_handle first");
    if (byte_count > MICA_INPUT_BYTES_MAX)
        return micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0}, "input: %llu bytes are more than %d",
                          (unsigned long long)byte_count, MICA_INPUT_BYTES_MAX);
    if (diary->file)
        put_record(&diary->frame, MICAP_RECORD_INPUT, bytes, (uint32_t)byte_count);
    diary->input(world, bytes, byte_count, diary->input_context);
    return MICA_OK;
}

static bool write_header(micap_diary *diary)
{
    char header[MICAP_RECORD_HEADER_BYTES];
    uint16_t versions[2] = {MICAP_RECORD_VERSION_MAJOR, MICAP_RECORD_VERSION_MINOR};
    uint32_t words[3] = {MICAP_RECORD_HEADER_BYTES, diary->def.detail, diary->def.systems ? MICAP_RECORD_SYSTEMS : 0};
    uint64_t hash = micap_little64(mica_world_hash(diary->world)), reserved = 0;
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
    return fwrite(header, 1, sizeof header, diary->file) == sizeof header && fflush(diary->file) == 0;
}

mica_result mica_record_begin(mica_world *world, const char *path, const mica_record_def *def)
{
    static const mica_record_def defaults = {0};
    mica_result result = micap_record_refuse_inside(world, "record");
    if (result != MICA_OK)
        return result;
    micap_diary *diary = micap_diary_of(world);
    if (!diary)
        return MICA_ERROR_MEMORY;
    if (diary->file || diary->replay)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "record: a recording is under way");
    forget(diary);
    diary->def = def ? *def : defaults;
    diary->file = fopen(path, "wb");
    if (!diary->file || !write_header(diary)) {
        micap_fail(world, MICA_ERROR_FILE, (mica_location){0}, "record: %.300s: %s", path, strerror(errno));
        if (diary->file)
            fclose(diary->file);
        diary->file = NULL;
        return MICA_ERROR_FILE;
    }
    micap_diary_listen(diary, diary->def.systems); /* it listens already: that can't fail */
    return MICA_OK;
}

mica_result mica_record_end(mica_world *world)
{
    mica_result result = micap_record_refuse_inside(world, "record");
    if (result != MICA_OK)
        return result;
    micap_diary *diary = micap_listener_state(world, MICAP_LISTENER_RECORD);
    if (!diary || (!diary->file && !diary->tick))
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "record: there is no recording");
    if (!diary->file)
        result = MICA_ERROR_FILE; /* which was reported */
    else if (fclose(diary->file))
        result = micap_fail(world, MICA_ERROR_FILE, (mica_location){0}, "record: %s", strerror(errno));
    diary->file = NULL;
    forget(diary);
    micap_diary_listen(diary, false);
    return result;
}
