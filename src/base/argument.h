/* How public functions check their arguments. The rule is in mica/base.h: a call with an invalid argument does nothing, and
 * reports which argument it is and what was expected. A function checks its pointers before it uses them:
 *
 *     if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
 *         return NULL;
 *
 * The first argument of each macro is the world to report to; without one, the report is printed to stderr. */
#ifndef MICAP_BASE_ARGUMENT_H
#define MICAP_BASE_ARGUMENT_H

#include "base/assert.h"
#include "mica/world.h"

#include <stdio.h>

/* Whether a required pointer is NULL, with a report. */
#define MICAP_MISSING(world, argument)                                                                                 \
    MICAP_INVALID_IN_((world), __func__, !(argument), #argument, "must not be NULL")

/* The same for an array, which may be NULL when it has no elements. */
#define MICAP_MISSING_ARRAY(world, argument, count)                                                                    \
    MICAP_INVALID_IN_((world), __func__, !(argument) && (count), #argument, "must not be NULL when " #count " is not 0")

/* Whether an argument is invalid in another way, with a report of what it should be. */
#define MICAP_INVALID(world, condition, argument, expected)                                                            \
    MICAP_INVALID_IN_((world), __func__, (condition), #argument, (expected))

/* Like MICAP_MISSING, for tail calls that handle rare cases, so that the common case needs no stack frame. */
#define MICAP_MISSING_IN(function, argument)                                                                           \
    MICAP_INVALID_IN_(NULL, (function), !(argument), #argument, "must not be NULL")

/* Like MICAP_MISSING, for functions that return errors in a struct, which may be NULL. */
#define MICAP_MISSING_INTO(out_error, argument)                                                                        \
    (MICAP_UNLIKELY(!(argument)) && (((out_error) ? (void)MICAP_TELL_MISSING_((out_error), #argument)                  \
                                                  : micap_report_argument(NULL, __func__, #argument,                   \
                                                                          "must not be NULL")),                        \
                                     true))
#define MICAP_TELL_MISSING_(out_error, argument)                                                                       \
    (*(out_error) = (MICAP_TYPEOF(*(out_error))){.result = MICA_ERROR_INVALID},                                          \
     snprintf((out_error)->text, sizeof(out_error)->text, "%s: %s must not be NULL", __func__, argument))

/* The macro does not use a result of the call, so that a compiler sees that nothing after it needs a register. */
#define MICAP_INVALID_IN_(world, function, condition, argument, expected)                                              \
    (MICAP_UNLIKELY(condition) && (micap_report_argument((world), (function), (argument), (expected)), true))

static MICAP_COLD MICAP_UNUSED void micap_report_argument(const mica_world *world, const char *function,
                                                          const char *argument, const char *expected)
{
    char text[256];
    snprintf(text, sizeof text, "%s: %s %s", function, argument, expected);
    mica_world_report(world, MICA_ERROR_INVALID, text);
}

#endif
