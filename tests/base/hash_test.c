/* The hashes. Their values are pinned here, computed by another program from the definition: files and other machines
 * rely on them, so a change of one is a change of format. */
#include "base/hash.h"

#include "../support/random.h"
#include "../support/require.h"
#include "../support/test.h"

#include <string.h>

enum { STREAM_BYTES = 1000, STRIPE_BYTES = 32 };

static const uint8_t *stream(void)
{
    static uint8_t bytes[STREAM_BYTES];
    for (uint32_t i = 0; i < STREAM_BYTES; ++i)
        bytes[i] = (uint8_t)(i * 7 + 1);
    return bytes;
}

static uint64_t hash_at_once(const void *bytes, size_t count)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_bytes(&hasher, bytes, count);
    return micap_hasher_finish(&hasher);
}

START_TEST(the_hash_of_text_is_fnv_1a)
{
    const struct {
        const char *text;
        uint64_t hash;
    } cases[] = {
        {"", 0xcbf29ce484222325u},         {"a", 0xaf63dc4c8601ec8cu},
        {"b", 0xaf63df4c8601f1a5u},        {"foobar", 0x85944171f73967e8u},
        {"hello", 0xa430d84680aabd0bu},    {"chongo was here!\n", 0x46810940eff5f915u},
        {"Position", 0xc1611c0558728a2au}, {"\xff\x80", 0x0a9a2607b6f6e56au}, /* bytes are unsigned, whatever char is */
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ck_assert_msg(micap_hash_text(cases[i].text) == cases[i].hash, "case %u: %016llx", i,
                      (unsigned long long)micap_hash_text(cases[i].text));
}
END_TEST

START_TEST(mixing_is_the_finalizer_of_murmur)
{
    const struct {
        uint64_t value, mixed;
    } cases[] = {
        {0, 0},
        {1, 0xb456bcfc34c2cb2cu},
        {2, 0x3abf2a20650683e7u},
        {0x0123456789abcdefu, 0x87cbfbfe89022ceau},
        {UINT64_MAX, 0x64b5720b4b825f21u},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ck_assert_msg(micap_hash_mix(cases[i].value) == cases[i].mixed, "case %u", i);
}
END_TEST

START_TEST(streams_have_the_same_hash_on_every_machine)
{
    const struct {
        size_t bytes;
        uint64_t hash;
    } cases[] = {
        {0, 0x8d9e9e8a43a734f0u},  {1, 0xbd2c2afd3248cf70u},  {7, 0xa315b8336f1f76f4u},  {8, 0xe4ee98472dcbd884u},
        {9, 0x065554f7155a0c62u},  {31, 0x4e0e1687b660dae0u}, {32, 0x08723e78ade89541u}, {33, 0xba206dfdfd937620u},
        {63, 0x616467016a902f92u}, {64, 0xebafc0cfe1c9b7a4u}, {65, 0x08f384396f2a46a6u}, {1000, 0xcf208948cf08ac7eu},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ck_assert_msg(hash_at_once(stream(), cases[i].bytes) == cases[i].hash, "%zu bytes: %016llx", cases[i].bytes,
                      (unsigned long long)hash_at_once(stream(), cases[i].bytes));
}
END_TEST

START_TEST(the_hash_does_not_depend_on_how_the_stream_is_cut)
{
    random_source random = {setting_from_environment("MICA_TEST_SEED", 1)};
    for (uint32_t run = 0; run < 5000; ++run) {
        size_t length = random_below(&random, STREAM_BYTES + 1);
        uint32_t piece_max = 1 + random_below(&random, 100);
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        for (size_t at = 0; at < length;) {
            size_t piece = random_below(&random, piece_max + 1); /* none at all is a piece too */
            piece = piece < length - at ? piece : length - at;
            micap_hasher_bytes(&hasher, stream() + at, piece);
            at += piece;
        }
        REQUIRE_SAYING(micap_hasher_finish(&hasher) == hash_at_once(stream(), length),
                       "run %u, %zu bytes, pieces of up to %u", run, length, piece_max);
    }
}
END_TEST

START_TEST(every_single_cut_gives_the_same)
{
    for (size_t length = 0; length <= 3 * STRIPE_BYTES; ++length)
        for (size_t cut = 0; cut <= length; ++cut) {
            micap_hasher hasher;
            micap_hasher_init(&hasher);
            micap_hasher_bytes(&hasher, stream(), cut);
            micap_hasher_bytes(&hasher, stream() + cut, length - cut);
            REQUIRE_SAYING(micap_hasher_finish(&hasher) == hash_at_once(stream(), length), "%zu of %zu", cut, length);
        }
}
END_TEST

START_TEST(the_address_of_the_bytes_does_not_matter)
{
    uint8_t room[STREAM_BYTES + 16];
    for (size_t shift = 0; shift < 16; ++shift) {
        memcpy(room + shift, stream(), STREAM_BYTES);
        ck_assert_msg(hash_at_once(room + shift, STREAM_BYTES) == hash_at_once(stream(), STREAM_BYTES), "by %zu",
                      shift);
    }
}
END_TEST

START_TEST(finishing_does_not_end_the_stream)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    for (size_t at = 0; at < 200; ++at) {
        ck_assert_uint_eq(micap_hasher_finish(&hasher), hash_at_once(stream(), at));
        micap_hasher_bytes(&hasher, stream() + at, 1);
    }
}
END_TEST

START_TEST(integers_are_little_endian_bytes)
{
    const uint8_t bytes[] = {0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08};
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, 0x01, 1);
    micap_hasher_integer(&hasher, 0x0203, 2);
    micap_hasher_integer(&hasher, 0x04050607, 4);
    micap_hasher_integer(&hasher, 0x08090a0b0c0d0e0f, 8);
    ck_assert_uint_eq(micap_hasher_finish(&hasher), hash_at_once(bytes, sizeof bytes));
    ck_assert_uint_eq(micap_hasher_finish(&hasher), 0x4ebc0b81e45d41a8u);
}
END_TEST

START_TEST(an_integer_is_cut_to_its_bytes)
{
    micap_hasher whole, cut;
    micap_hasher_init(&whole);
    micap_hasher_init(&cut);
    micap_hasher_integer(&whole, 0xffffffffffff1234u, 2);
    micap_hasher_integer(&cut, 0x1234, 2);
    ck_assert_uint_eq(micap_hasher_finish(&whole), micap_hasher_finish(&cut));
}
END_TEST

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The end of a stream is padded with zeros, so lengths have to count; and each bit of each lane has to. */
START_TEST(streams_that_differ_a_little_differ_in_hash)
{
    enum { ZEROS = 200, BITS = 8 * 64 };
    static uint64_t hashes[ZEROS + BITS];
    uint8_t bytes[ZEROS] = {0};
    for (size_t length = 0; length < ZEROS; ++length)
        hashes[length] = hash_at_once(bytes, length);
    for (size_t bit = 0; bit < BITS; ++bit) {
        memset(bytes, 0, sizeof bytes);
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        hashes[ZEROS + bit] = hash_at_once(bytes, BITS / 8);
    }
    qsort(hashes, ZEROS + BITS, sizeof *hashes, compare_hashes);
    for (size_t i = 1; i < ZEROS + BITS; ++i)
        ck_assert_uint_ne(hashes[i - 1], hashes[i]);
}
END_TEST

TEST_SUITE(hash, the_hash_of_text_is_fnv_1a, mixing_is_the_finalizer_of_murmur,
           streams_have_the_same_hash_on_every_machine, the_hash_does_not_depend_on_how_the_stream_is_cut,
           every_single_cut_gives_the_same, the_address_of_the_bytes_does_not_matter, finishing_does_not_end_the_stream,
           integers_are_little_endian_bytes, an_integer_is_cut_to_its_bytes,
           streams_that_differ_a_little_differ_in_hash)
