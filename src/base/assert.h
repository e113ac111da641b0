/* Assertions in two tiers. MICAP_ASSERT guards invariants of Mica itself on paths that are not hot; it is active in
 * debug and checked builds. MICAP_ASSERT_HOT guards the hot paths, in checked builds only. Both cost nothing in release.
 * Mistakes of the user are never asserted: they are reported and have a defined result. Static analysis (MICA_ANALYSED) takes
 * invariants for granted. */
#ifndef MICAP_BASE_ASSERT_H
#define MICAP_BASE_ASSERT_H

#ifdef MICA_ANALYSED
#    define MICAP_ASSERT(condition, message) ((condition) ? (void)0 : __builtin_unreachable())
#elif defined(MICA_CHECKED) || !defined(NDEBUG)
#    include <stdio.h>
#    include <stdlib.h>
#    define MICAP_ASSERT(condition, message)                                                                           \
        ((condition) ? (void)0                                                                                         \
                     : (fprintf(stderr, "mica: %s:%d: broken invariant: %s (%s)\n", __FILE__, __LINE__, message,       \
                                #condition),                                                                           \
                        abort()))
#else
#    define MICAP_ASSERT(condition, message) ((void)0)
#endif

#if defined(MICA_CHECKED) || defined(MICA_ANALYSED)
#    define MICAP_ASSERT_HOT(condition, message) MICAP_ASSERT(condition, message)
#else
#    define MICAP_ASSERT_HOT(condition, message) ((void)0)
#endif

/* Keeps rare paths out of the code of hot ones, where they would cost registers. */
#define MICAP_COLD __attribute__((noinline, cold))

/* For functions that are specialised per caller, with some arguments constant. */
#define MICAP_INLINE inline __attribute__((always_inline))

#define MICAP_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define MICAP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
