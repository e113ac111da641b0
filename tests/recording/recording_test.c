/* The bytes of recordings: each field wrong in one way, cut off, forged, and what tells two of them apart. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/recorded.h"
#include "../support/require.h"
#include "../support/test.h"
#include "base/hash.h"
#include "mica/recording.h"
#include "recording/run_recorder.h"

#include <stdio.h>
#include <string.h>

/* A file under construction. */
typedef struct paper {
    char *bytes;
    size_t count;
} paper;

static char *grow(paper *paper, size_t count)
{
    paper->bytes = realloc(paper->bytes, paper->count + count);
    REQUIRE(paper->bytes);
    memset(paper->bytes + paper->count, 0, count);
    paper->count += count;
    return paper->bytes + paper->count - count;
}

static void set_word(char *to, uint32_t bytes, uint64_t word)
{
    for (uint32_t i = 0; i < bytes; ++i)
        to[i] = (char)(word >> 8 * i);
}

typedef struct head {
    uint32_t version;
    uint32_t byte_count;
    uint32_t detail;
    uint64_t start_hash;
    bool systems;
} head;

static const head sound_head = {.version = 1, .byte_count = 48, .detail = MICA_RECORDING_SLICES, .systems = true};

static void begin(paper *paper, head head)
{
    *paper = (struct paper){0};
    char *bytes = grow(paper, head.byte_count > 48 && head.byte_count < 100 ? head.byte_count : 48);
    memcpy(bytes, MICAP_RECORD_MAGIC, 8);
    set_word(bytes + 8, 4, head.version);
    set_word(bytes + 12, 4, head.byte_count);
    set_word(bytes + 16, 4, head.detail);
    set_word(bytes + 20, 4, head.systems ? MICAP_RECORD_SYSTEMS : 0);
    set_word(bytes + 24, 8, head.start_hash);
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes, 40);
    set_word(bytes + 40, 8, micap_hasher_finish(&hasher));
}

/* Zeroes for NULL. */
static void add(paper *paper, uint32_t kind, const void *payload, uint32_t count)
{
    char *bytes = grow(paper, 16 + count);
    set_word(bytes, 4, kind);
    set_word(bytes + 4, 4, count);
    if (payload)
        memcpy(bytes + 16, payload, count);
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes, 8);
    micap_hasher_bytes(&hasher, bytes + 16, count);
    set_word(bytes + 8, 8, micap_hasher_finish(&hasher));
}

static void add_tick(paper *paper, uint64_t number, uint64_t hash)
{
    char payload[MICAP_RECORD_TICK_BYTES] = {0};
    set_word(payload, 8, number);
    set_word(payload + 8, 8, hash);
    add(paper, MICAP_RECORD_TICK, payload, sizeof payload);
}

static void add_system(paper *paper, uint64_t name_hash, uint64_t hash)
{
    char payload[MICAP_RECORD_SYSTEM_BYTES];
    set_word(payload, 8, name_hash);
    set_word(payload + 8, 8, hash);
    add(paper, MICAP_RECORD_SYSTEM, payload, sizeof payload);
}

static mica_recording *finish(paper *paper)
{
    mica_recording_error error = {0};
    mica_recording *recording = mica_recording_open(paper->bytes, paper->count, &error);
    REQUIRE_SAYING(recording, "%s", error.text);
    free(paper->bytes);
    return recording;
}

static const struct {
    const char *words; /* NULL: it is fine */
    head head;
} heads[] = {
    {NULL, {1, 48, MICA_RECORDING_ENTITIES, 0, false}},
    {NULL, {1 | 7 << 16, 56, MICA_RECORDING_WORLD, 0, true}}, /* of a later version, which has more in its header */
    {"the recording has version 2, and this reads 1", {2, 48, 0, 0, false}},
    {"the header has an invalid size or detail", {1, 47, 0, 0, false}},
    {"the header has an invalid size or detail", {1, 4096, 0, 0, false}},
    {"the header has an invalid size or detail", {1, 48, MICA_RECORDING_ENTITIES + 1, 0, false}},
};

#define TICK(number, dt) number "\0\0\0\0\0\0\0" "hashhash" dt "\0\0\0\0"

static const struct {
    const char *words; /* NULL: it is fine */
    uint32_t kind;
    uint32_t byte_count;
    const char *bytes; /* NULL: zeroes */
} records[] = {
    {NULL, MICAP_RECORD_KINDS, 3, NULL}, /* of a later version */
    {NULL, MICAP_RECORD_INPUT, 0, NULL},
    {NULL, MICAP_RECORD_TICK, 24, TICK("\1", "\0\0\0\x3f")},
    {NULL, MICAP_RECORD_SNAPSHOT, 4, "\1\0\0\0"},
    {"the number of a snapshot has 4 bytes, not 5", MICAP_RECORD_SNAPSHOT, 5, NULL},
    {"the number of a snapshot has 4 bytes, not 0", MICAP_RECORD_DROP, 0, NULL},
    {"snapshot 2 comes after snapshot 0", MICAP_RECORD_SNAPSHOT, 4, "\2\0\0\0"},
    {"there is no snapshot 0", MICAP_RECORD_RESTORE, 4, NULL},
    {"there is no snapshot 1", MICAP_RECORD_DROP, 4, "\1\0\0\0"},
    {"damaged after tick 0", 0, 3, NULL},
    {"a name has 1 to 95 bytes", MICAP_RECORD_NAME, 8, NULL},
    {"a name has 1 to 95 bytes", MICAP_RECORD_NAME, 8 + 96, NULL},
    {"a name has 1 to 95 bytes", MICAP_RECORD_NAME, 10, "hashhasha"},
    {"input has up to 16777216 bytes, not 16777217", MICAP_RECORD_INPUT, MICA_INPUT_BYTES_MAX + 1, NULL},
    {"a system has 16 bytes, not 17", MICAP_RECORD_SYSTEM, 17, NULL},
    {"leaves have 40 bytes each, not 41", MICAP_RECORD_LEAVES, 41, NULL},
    {"leaves are not in order", MICAP_RECORD_LEAVES, 80, NULL},
    {"a tick has 24 bytes, not 8", MICAP_RECORD_TICK, 8, NULL},
    {"tick 0 comes after tick 0", MICAP_RECORD_TICK, 24, NULL},
    {"tick 2 comes after tick 0", MICAP_RECORD_TICK, 24, TICK("\2", "\0\0\0\0")},
    {"a time step of -0.5 seconds is invalid", MICAP_RECORD_TICK, 24, TICK("\1", "\0\0\0\xbf")},
    {"is invalid: expected 0 or more", MICAP_RECORD_TICK, 24, TICK("\1", "\0\0\xc0\x7f")}, /* not a number */
    {"is invalid: expected 0 or more", MICAP_RECORD_TICK, 24, TICK("\1", "\0\0\x80\x7f")}, /* infinite */
};

/* Opens it with and without an error struct. */
static void expect_opening(paper *paper, const char *words)
{
    mica_recording_error error = {0};
    REQUIRE(mica_recording_detect(paper->bytes, 8) && !mica_recording_detect(paper->bytes, 7));
    mica_recording *recording = mica_recording_open(paper->bytes, paper->count, &error);
    REQUIRE_SAYING(!recording == (words != NULL), "%s: %s", words ? words : "fine", error.text);
    REQUIRE_SAYING(!words || (error.result == MICA_ERROR_DATA && strstr(error.text, words)), "%s: %s", words,
                   error.text);
    REQUIRE(!words || (error.offset >= 48 && error.offset <= paper->count));
    mica_recording_free(recording);
    recording = mica_recording_open(paper->bytes, paper->count, NULL);
    REQUIRE(!recording == (words != NULL));
    mica_recording_free(recording);
    free(paper->bytes);
}

START_TEST(each_field_that_is_wrong_is_refused_in_words_of_its_own)
{
    paper paper;
    for (uint32_t i = 0; i < COUNT_OF(heads); ++i) {
        begin(&paper, heads[i].head);
        expect_opening(&paper, heads[i].words);
    }
    for (uint32_t i = 0; i < COUNT_OF(records); ++i) {
        begin(&paper, sound_head);
        add(&paper, records[i].kind, records[i].bytes, records[i].byte_count);
        expect_opening(&paper, records[i].words);
    }
    begin(&paper, sound_head);
    add(&paper, MICAP_RECORD_SNAPSHOT, "\1\0\0\0", 4);
    add(&paper, MICAP_RECORD_RESTORE, "\1\0\0\0", 4);
    add(&paper, MICAP_RECORD_DROP, "\1\0\0\0", 4);
    add(&paper, MICAP_RECORD_RESTORE, "\1\0\0\0", 4);
    expect_opening(&paper, "there is no snapshot 1");
    begin(&paper, sound_head);
    paper.bytes[30] ^= 1;
    expect_opening(&paper, "the header is damaged");
    begin(&paper, sound_head);
    add_tick(&paper, 1, 1);
    add_tick(&paper, 2, 1);
    paper.bytes[paper.count - 1] ^= 1;
    expect_opening(&paper, "damaged after tick 1");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_said_to_be_so)
{
    mica_recording_error error = {0};
    ck_assert_ptr_null(mica_recording_load("/nowhere/x", &error));
    ck_assert_int_eq(error.result, MICA_ERROR_FILE);
    ck_assert_str_eq(error.text, "No such file or directory");
    ck_assert_ptr_null(mica_recording_load("/nowhere/x", NULL));
}
END_TEST

START_TEST(ticks_count_from_one)
{
    paper paper;
    begin(&paper, sound_head);
    add_tick(&paper, 1, 77);
    mica_recording *recording = finish(&paper);
    ck_assert_uint_eq(mica_recording_tick(recording, 0).hash, 0);
    ck_assert_uint_eq(mica_recording_tick(recording, 1).hash, 77);
    ck_assert_uint_eq(mica_recording_tick(recording, 2).hash, 0);
    mica_recording_free(recording);
}
END_TEST

/* One tick, and what is in it. */
typedef struct frame {
    uint64_t start_hash;
    bool systems;
    mica_recording_detail detail;
    const char *input; /* NULL: none */
    uint64_t system;   /* hash after it; 0: it did not run */
    bool is_named;
    uint64_t leaf; /* hash; 0: none */
    uint64_t hash;
    bool has_second_tick; /* with a second tick */
} frame;

static mica_recording *record_frame(const frame *frame)
{
    paper paper;
    begin(&paper, (head){1, 48, frame->detail, frame->start_hash, frame->systems});
    if (frame->is_named)
        add(&paper, MICAP_RECORD_NAME, "hashhashmove", 12);
    if (frame->input)
        add(&paper, MICAP_RECORD_INPUT, frame->input, (uint32_t)strlen(frame->input));
    if (frame->system)
        add_system(&paper, 0x6873616868736168u, frame->system); /* "hashhash" */
    if (frame->leaf) {
        char leaf[MICAP_RECORD_LEAF_BYTES] = {0};
        set_word(leaf + 8, 8, 5);
        set_word(leaf + 20, 4, 3);
        set_word(leaf + 32, 8, frame->leaf);
        add(&paper, MICAP_RECORD_LEAVES, leaf, sizeof leaf);
    } else if (frame->detail) {
        add(&paper, MICAP_RECORD_LEAVES, NULL, 0);
    }
    add_tick(&paper, 1, frame->hash);
    if (frame->has_second_tick)
        add_tick(&paper, 2, frame->hash);
    return finish(&paper);
}

static const struct {
    const char *words; /* NULL: they are alike */
    frame a, b;
} pairs[] = {
    {NULL, {.hash = 1}, {.hash = 1}},
    {"the world before the first frame", {.start_hash = 1}, {.start_hash = 2}},
    {"tick 1: the input, a restored snapshot, or the time step", {.input = "a"}, {.input = "b"}},
    {"tick 1: the input, a restored snapshot, or the time step", {.input = "a"}, {.input = "ab"}},
    {"tick 1: the input, a restored snapshot, or the time step", {.input = "a"}, {.input = NULL}},
    {"tick 1: the world", {.hash = 1}, {.hash = 2}},
    {"tick 2: only one of them has this tick", {.has_second_tick = true}, {.has_second_tick = false}},
    {"tick 1: first after system move: the world",
     {.systems = true, .system = 1, .is_named = true},
     {.systems = true, .system = 2}},
    {"tick 1: first after system ?: the world", {.systems = true, .system = 1}, {.systems = true, .system = 2}},
    {"tick 1: first after system ?: the world", {.systems = true}, {.systems = true, .system = 2}},
    {NULL, {.systems = true, .system = 1}, {.system = 2}}, /* one does not know */
    {NULL, {.system = 1}, {.systems = true, .system = 2}},
    {"tick 1: component #0000000000000005, rows 0 to 2",
     {.detail = MICA_RECORDING_SLICES, .leaf = 1, .hash = 1},
     {.detail = MICA_RECORDING_SLICES, .leaf = 2, .hash = 2}},
    {"tick 1: component #0000000000000005, rows 0 to 2",
     {.detail = MICA_RECORDING_SLICES, .hash = 1},
     {.detail = MICA_RECORDING_SLICES, .leaf = 2, .hash = 2}},
    {"tick 1: the world", /* not the same detail */
     {.detail = MICA_RECORDING_SLICES, .leaf = 1, .hash = 1},
     {.detail = MICA_RECORDING_ENTITIES, .leaf = 2, .hash = 2}},
    {"tick 1: the world", /* the trees know nothing of it */
     {.detail = MICA_RECORDING_SLICES, .leaf = 1, .hash = 1},
     {.detail = MICA_RECORDING_SLICES, .leaf = 1, .hash = 2}},
};

START_TEST(the_first_difference_of_two_recordings_is_named)
{
    for (uint32_t i = 0; i < COUNT_OF(pairs); ++i) {
        mica_recording *a = record_frame(&pairs[i].a), *b = record_frame(&pairs[i].b);
        mica_difference difference;
        bool differs = mica_recording_diff(a, b, &difference);
        REQUIRE_SAYING(differs == (pairs[i].words != NULL), "pair %u: %s", i, difference.text);
        REQUIRE_SAYING(!differs || strcmp(difference.text, pairs[i].words) == 0, "pair %u: %s", i, difference.text);
        REQUIRE(mica_recording_diff(a, b, NULL) == differs);
        mica_recording_free(a);
        mica_recording_free(b);
    }
}
END_TEST

START_TEST(reading_needs_memory_and_says_so)
{
    paper paper;
    begin(&paper, sound_head);
    for (uint32_t tick = 1; tick < 6; ++tick) {
        char leaf[MICAP_RECORD_LEAF_BYTES] = {0}, name[16] = "hashhashname";
        set_word(leaf, 8, tick);
        set_word(leaf + 20, 4, tick == 4 ? UINT32_MAX : 1);
        name[0] = (char)tick;
        add(&paper, MICAP_RECORD_NAME, name, 12);
        add(&paper, MICAP_RECORD_LEAVES, leaf, sizeof leaf);
        add_tick(&paper, tick, tick);
    }
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_allocator allocator = faulty_allocator_interface(&faulty);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        mica_recording_error error = {0};
        faulty_allocator_fail_at(&faulty, k, false);
        mica_recording *recording = micap_recording_open(allocator, paper.bytes, paper.count, &error);
        reached = faulty.failures > 0;
        REQUIRE(!recording == reached && (error.result == MICA_ERROR_MEMORY) == reached);
        mica_recording_free(recording);
        REQUIRE(faulty.live_blocks == 0);
    }
    ck_assert_uint_gt(k, 6);
    faulty_allocator_fail_at(&faulty, 0, false);
    mica_recording *recording = micap_recording_open(allocator, paper.bytes, paper.count, NULL);
    size_t blocks = faulty.live_blocks;
    k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_fail_at(&faulty, k, false);
        mica_hash_tree *tree = micap_recording_tree(recording, 5);
        reached = faulty.failures > 0;
        REQUIRE(!tree == reached);
        uint32_t count = 0;
        REQUIRE(!tree || (mica_hash_tree_leaves(tree, &count) && count == 4));
        mica_hash_tree_free(tree);
        REQUIRE(faulty.live_blocks == blocks);
    }
    ck_assert_uint_gt(k, 4);
    mica_recording_free(recording);
    faulty_allocator_free(&faulty);
    free(paper.bytes);
}
END_TEST

static char *read_file(const char *from, size_t *out_count)
{
    FILE *file = fopen(from, "rb");
    REQUIRE(file);
    fseek(file, 0, SEEK_END);
    *out_count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*out_count);
    REQUIRE(bytes && fread(bytes, 1, *out_count, file) == *out_count);
    fclose(file);
    return bytes;
}

START_TEST(a_recording_that_was_cut_off_has_the_frames_before)
{
    recorded_make(recorded_path, (mica_recording_def){MICA_RECORDING_SLICES, true});
    size_t byte_count;
    char *bytes = read_file(recorded_path, &byte_count);
    uint32_t most = 0;
    for (size_t length = 0; length <= byte_count; length += length < 60 ? 1 : 37) {
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, length, &error);
        REQUIRE((recording != NULL) == (length >= 48));
        if (!recording) {
            REQUIRE(error.result == MICA_ERROR_DATA && error.text[0]);
            continue;
        }
        mica_recording_info info = mica_recording_get_info(recording);
        REQUIRE(info.tick_count >= most && info.tick_count <= RECORDED_TICKS);
        most = info.tick_count;
        mica_difference difference;
        REQUIRE_SAYING(length % 11 || recorded_replay(recording, 1, &difference), "%s", difference.text);
        mica_recording_free(recording);
    }
    free(bytes);
}
END_TEST

START_TEST(any_changed_byte_is_noticed)
{
    recorded_make(recorded_path, (mica_recording_def){MICA_RECORDING_SLICES, true});
    size_t byte_count;
    char *bytes = read_file(recorded_path, &byte_count);
    for (size_t at = 0; at < byte_count; at += at < 400 ? 1 : 23) {
        bytes[at] ^= 0x40;
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, byte_count, &error);
        /* A size that reaches beyond the end looks as if the file was cut off. */
        REQUIRE_SAYING(!recording || mica_recording_get_info(recording).is_cut, "byte %zu", at);
        mica_recording_free(recording);
        bytes[at] ^= 0x40;
    }
    free(bytes);
}
END_TEST

/* Makes the checksums right again, as far as sizes lead. */
static void reseal(char *bytes, size_t byte_count)
{
    for (size_t at = MICAP_RECORD_HEADER_BYTES; at + MICAP_RECORD_HEAD_BYTES <= byte_count;) {
        uint32_t words[2];
        memcpy(words, bytes + at, sizeof words);
        uint32_t count = micap_little32(words[1]);
        if (count > byte_count - at - MICAP_RECORD_HEAD_BYTES)
            return;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_bytes(&hasher, bytes + at, sizeof words);
        micap_hasher_bytes(&hasher, bytes + at + MICAP_RECORD_HEAD_BYTES, count);
        uint64_t check = micap_little64(micap_hasher_finish(&hasher));
        memcpy(bytes + at + sizeof words, &check, sizeof check);
        at += MICAP_RECORD_HEAD_BYTES + count;
    }
}

START_TEST(forged_recordings_are_refused_or_differ)
{
    recorded_make(recorded_path, (mica_recording_def){MICA_RECORDING_SLICES, true});
    size_t byte_count;
    char *sound = read_file(recorded_path, &byte_count), *bytes = malloc(byte_count);
    mica_recording *original = recorded_load(recorded_path);
    random_source random = {11};
    uint32_t refused = 0, different = 0;
    for (uint32_t i = 0; i < 3000; ++i) {
        memcpy(bytes, sound, byte_count);
        for (uint32_t edits = 1 + random_below(&random, 3); edits; --edits) {
            size_t at =
                MICAP_RECORD_HEADER_BYTES + random_below(&random, (uint32_t)byte_count - MICAP_RECORD_HEADER_BYTES);
            bytes[at] = (char)(random_one_in(&random, 2) ? 0xFF : random_u32(&random));
        }
        reseal(bytes, byte_count);
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, byte_count, &error);
        REQUIRE(recording || (error.result == MICA_ERROR_DATA && error.text[0]));
        mica_difference difference;
        refused += !recording;
        if (recording)
            different += mica_recording_diff(original, recording, &difference);
        for (uint32_t tick = 0; recording && tick <= RECORDED_TICKS + 1; ++tick) {
            size_t input_bytes;
            mica_recording_input(recording, tick, 1, &input_bytes);
            REQUIRE(input_bytes <= byte_count);
        }
        mica_recording_free(recording);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_gt(different, 0);
    mica_recording_free(original);
    free(bytes);
    free(sound);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("recording");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_checked_fixture(cases, recorded_begin, recorded_end);
    tcase_add_test(cases, each_field_that_is_wrong_is_refused_in_words_of_its_own);
    tcase_add_test(cases, a_file_that_is_not_there_is_said_to_be_so);
    tcase_add_test(cases, ticks_count_from_one);
    tcase_add_test(cases, the_first_difference_of_two_recordings_is_named);
    tcase_add_test(cases, reading_needs_memory_and_says_so);
    tcase_add_test(cases, a_recording_that_was_cut_off_has_the_frames_before);
    tcase_add_test(cases, any_changed_byte_is_noticed);
    tcase_add_test(cases, forged_recordings_are_refused_or_differ);
    return test_run("recording", cases);
}
