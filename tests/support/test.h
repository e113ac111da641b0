/* What every test file needs: Check, the public header, and a main function made from the list of its tests.
 *
 *     START_TEST(destroying_twice_reports_false) { ... } END_TEST
 *     TEST_SUITE(entity, destroying_twice_reports_false, ...)       up to 40 tests, once, at the end of the file
 */
#ifndef MICA_TESTS_SUPPORT_TEST_H
#define MICA_TESTS_SUPPORT_TEST_H

#include "mica/mica.h"

#include <check.h>
#include <stdlib.h>

/* Runs cases that were put together by hand, as tests that run over a table are. */
static inline int test_run(const char *name, TCase *cases)
{
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define TEST_SUITE(name, ...)                                                                                          \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        TCase *suite_cases = tcase_create(#name);                                                                            \
        tcase_set_timeout(suite_cases, TEST_TIMEOUT_SECONDS);                                                                \
        MICA_FOR_EACH_(TEST_ADD_, suite_cases, __VA_ARGS__)                                                                  \
        return test_run(#name, suite_cases);                                                                                 \
    }
#define TEST_ADD_(cases, test) tcase_add_test(cases, test);

/* Whether this build aborts on mistakes that other builds only report. */
#ifdef MICA_CHECKED
enum { STOPS_AT_MISTAKES = 1 };
#else
enum { STOPS_AT_MISTAKES = 0 };
#endif

/* Long enough for a sanitizer build on a slow machine; a hang still ends. */
#ifndef TEST_TIMEOUT_SECONDS
#    define TEST_TIMEOUT_SECONDS 600
#endif

#endif
