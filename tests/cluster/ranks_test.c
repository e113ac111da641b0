/* Messages of one rank to itself. tests/cli/sweep_test.c sends them between several. */
#include "mica/ranks.h"
#include "reports.h"
#include "test.h"

START_TEST(messages_to_oneself_arrive_in_their_order)
{
    mica_ranks *ranks = mica_ranks_open();
    ck_assert_ptr_nonnull(ranks);
    ck_assert_uint_eq(mica_ranks_rank(ranks), 0);
    ck_assert_uint_eq(mica_ranks_rank_count(ranks), 1);
    uint32_t from = 7;
    const void *bytes = NULL;
    size_t byte_count = 0;
    ck_assert(!mica_ranks_receive(ranks, &from, &bytes, &byte_count));
    ck_assert_int_eq(mica_ranks_send(ranks, 0, "one", 4), MICA_OK);
    ck_assert_int_eq(mica_ranks_send(ranks, 0, NULL, 0), MICA_OK);
    ck_assert(mica_ranks_receive(ranks, &from, &bytes, &byte_count));
    ck_assert_int_eq(mica_ranks_send(ranks, 0, "three", 6), MICA_OK);
    ck_assert_str_eq(bytes, "one");
    ck_assert_uint_eq(from, 0);
    ck_assert(mica_ranks_receive(ranks, &from, &bytes, &byte_count));
    ck_assert_uint_eq(byte_count, 0);
    ck_assert(mica_ranks_receive(ranks, &from, &bytes, &byte_count));
    ck_assert_uint_eq(byte_count, 6);
    ck_assert_str_eq(bytes, "three");
    ck_assert(!mica_ranks_receive(ranks, &from, &bytes, &byte_count));
    ck_assert_int_eq(mica_ranks_send(ranks, 0, "lost", 5), MICA_OK);
    mica_ranks_close(ranks);
    mica_ranks_close(NULL);
}
END_TEST

START_TEST(a_rank_that_does_not_exist_gets_no_message)
{
    mica_ranks *ranks = mica_ranks_open();
    ck_assert_int_eq(mica_ranks_send(ranks, 1, "one", 4), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_ranks_send(ranks, 0, "", (size_t)INT32_MAX + 1), MICA_ERROR_INVALID);
    mica_ranks_close(ranks);
}
END_TEST

TEST_SUITE(ranks, messages_to_oneself_arrive_in_their_order, a_rank_that_does_not_exist_gets_no_message)
