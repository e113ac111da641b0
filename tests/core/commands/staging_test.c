/* Stages: memory that stays where it is until the reset, used again after it, and given back whole. */
#include "support/faulty_allocator.h"
#include "support/test.h"

#include "core/commands/staging.h"

#include <string.h>

START_TEST(blocks_before_and_after_a_reset_are_given_back_whatever_their_sizes)
{
    const size_t sizes[][3] = {
        {100, 100, 100}, {100, 100000, 100}, {100000, 100, 1000000}, {1, 5000, 500000},
    };
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        faulty_allocator counted;
        faulty_allocator_init(&counted);
        micap_memory memory;
        micap_memory_init(&memory, faulty_allocator_interface(&counted));
        micap_stage stage = {0};
        for (uint32_t round = 0; round < 3; ++round) {
            char *places[2];
            for (uint32_t n = 0; n < 2; ++n) {
                places[n] = micap_stage_allocate(&memory, &stage, sizes[i][round], 64);
                ck_assert_msg(places[n] && (uintptr_t)places[n] % 64 == 0, "case %u, round %u", i, round);
                memset(places[n], (int)n + 1, sizes[i][round]);
            }
            ck_assert_msg(places[0][sizes[i][round] - 1] == 1, "case %u, round %u: the first is its own", i, round);
            micap_stage_reset(&stage);
        }
        micap_stage_free(&memory, &stage);
        ck_assert_msg(counted.live_blocks == 0 && memory.bytes == 0, "case %u: %zu blocks are lost", i,
                      counted.live_blocks);
        faulty_allocator_free(&counted);
    }
}
END_TEST

START_TEST(rounds_of_one_size_need_no_new_blocks)
{
    faulty_allocator counted;
    faulty_allocator_init(&counted);
    micap_memory memory;
    micap_memory_init(&memory, faulty_allocator_interface(&counted));
    micap_stage stage = {0};
    for (uint32_t round = 0; round < 10; ++round) {
        if (round == 1)
            counted.allocations = 0;
        for (uint32_t i = 0; i < 1000; ++i)
            micap_stage_allocate(&memory, &stage, 100, 8);
        micap_stage_reset(&stage);
    }
    ck_assert_msg(counted.allocations == 0, "%u blocks are new", (unsigned)counted.allocations);
    micap_stage_free(&memory, &stage);
    faulty_allocator_free(&counted);
}
END_TEST

TEST_SUITE(staging, blocks_before_and_after_a_reset_are_given_back_whatever_their_sizes,
           rounds_of_one_size_need_no_new_blocks)
