/* Assertions, and all that depends on the compiler: builtins and attributes of gcc and clang are used here only. tools/style.py checks this,
 * and tools/style_exceptions.txt lists the exceptions. include/mica/base.h has the same for public headers.
 *
 * Assertions in two tiers. MICAP_ASSERT guards invariants of Mica itself on paths that are not hot; it is active in
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

/* For functions that must not become a part of their caller, where they would cost registers. */
#define MICAP_NOINLINE __attribute__((noinline))

/* For functions with a format of printf: the positions of the format and of the first value, counted from 1. */
#define MICAP_FORMAT(text, first) __attribute__((format(printf, text, first)))

#define MICAP_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

#define MICAP_UNUSED __attribute__((unused))
/* Calls a function with the address of a variable at the end of its scope. */
#define MICAP_CLEANUP(function) __attribute__((cleanup(function)))
/* For a thread-local variable: read with a single load, also in a shared library. */
#define MICAP_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
/* For a type whose pointers may point to values of any other type, with at least this alignment. */
#define MICAP_ALIASED(alignment) __attribute__((may_alias, aligned(alignment)))
/* For a file: unrolls short loops in what follows, as clang does in any case. */
#ifdef __clang__
#    define MICAP_UNROLL_LOOPS
#else
#    define MICAP_UNROLL_LOOPS _Pragma("GCC optimize(\"O3\")")
#endif
/* For a type of several numbers in one register. */
#define MICAP_VECTOR(bytes) __attribute__((vector_size(bytes)))
#define MICAP_TYPEOF(expression) __typeof__(expression)
/* The compiler knows nothing about the value of an integer variable afterwards. */
#define MICAP_OPAQUE_TO_COMPILER(variable) __asm__("" : "+r"(variable))

#define MICAP_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define MICAP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Loads an address into the cache; with a second argument 1, to write to it. */
#define MICAP_PREFETCH __builtin_prefetch

/* Of words of 64 bits. The number of zeros of 0 is undefined. */
#define MICAP_TRAILING_ZEROS __builtin_ctzll
#define MICAP_LEADING_ZEROS __builtin_clzll
#define MICAP_ONE_BITS __builtin_popcountll
#define MICAP_TRAILING_ZEROS_32 __builtin_ctz
#define MICAP_SWAP_BYTES_32 __builtin_bswap32
#define MICAP_SWAP_BYTES_64 __builtin_bswap64

/* Atomic access to objects of plain types, which are shared with public structs or are mostly accessed by one thread:
 * MICAP_LOAD(address, order), MICAP_STORE(address, value, order). */
#define MICAP_LOAD __atomic_load_n
#define MICAP_STORE __atomic_store_n
#define MICAP_RELAXED __ATOMIC_RELAXED
#define MICAP_ACQUIRE __ATOMIC_ACQUIRE
#define MICAP_RELEASE __ATOMIC_RELEASE
/* Stores `value` if the object is equal to *expected, else sets *expected to it. Returns whether it stored. */
#define MICAP_EXCHANGE_IF_SAME(address, expected, value)                                                               \
    __atomic_compare_exchange_n((address), (expected), (value), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#endif
