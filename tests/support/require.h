/* Assertions for hot paths and for other threads than the test's own: Check notes every assertion that holds in a file,
 * these cost nothing until they fail. */
#ifndef MICA_TESTS_SUPPORT_REQUIRE_H
#define MICA_TESTS_SUPPORT_REQUIRE_H

#include <check.h>

#define REQUIRE(condition) REQUIRE_SAYING(condition, "%s", "")
#define REQUIRE_SAYING(condition, format, ...)                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("not true: %s  " format, #condition, __VA_ARGS__);                                            \
    } while (0)

#endif
