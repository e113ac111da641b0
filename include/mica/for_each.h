/* Mica, for_each: the preprocessor loop of the description and create macros. Nothing here is for direct use. */
#ifndef MICA_FOR_EACH_H
#define MICA_FOR_EACH_H

#define MICA_JOIN_(a, b) MICA_JOIN_2_(a, b)
#define MICA_JOIN_2_(a, b) a##b

/* M(...), with arguments that come from macros. */
#define MICA_CALL_(M, ...) M(__VA_ARGS__)

/* MICA_IS_WRAPPED_((x)) is 1, MICA_IS_WRAPPED_(x) is 0. */
#define MICA_IS_WRAPPED_(entry) MICA_CALL_(MICA_SECOND_, MICA_PROBE_ entry, 0, 0)
#define MICA_SECOND_(first, second, ...) second
#define MICA_PROBE_(...) 0, 1

/* 1 for one argument, 2 for up to 40. */
#define MICA_ARGUMENT_41_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, count, ...) count

#define MICA_ONE_OR_MORE_(...) MICA_ARGUMENT_41_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0)

/* MICA_FOR_EACH_(M, T, a, b) is M(T, a) M(T, b), for up to 40 entries: `entry` or `(entry, ...)`. The list is padded with empty
 * entries, for which nothing is written. */
#define MICA_FOR_EACH_(M, T, ...) MICA_EACH_(M, T, __VA_ARGS__,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,, )
#define MICA_EACH_(M, T, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
                   a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,      \
                   a41, ...)                                                                                           \
    MICA_ENTRY_(M, T, a1) MICA_ENTRY_(M, T, a2) MICA_ENTRY_(M, T, a3) MICA_ENTRY_(M, T, a4) MICA_ENTRY_(M, T, a5)      \
    MICA_ENTRY_(M, T, a6) MICA_ENTRY_(M, T, a7) MICA_ENTRY_(M, T, a8) MICA_ENTRY_(M, T, a9) MICA_ENTRY_(M, T, a10)     \
    MICA_ENTRY_(M, T, a11) MICA_ENTRY_(M, T, a12) MICA_ENTRY_(M, T, a13) MICA_ENTRY_(M, T, a14)                        \
    MICA_ENTRY_(M, T, a15) MICA_ENTRY_(M, T, a16) MICA_ENTRY_(M, T, a17) MICA_ENTRY_(M, T, a18)                        \
    MICA_ENTRY_(M, T, a19) MICA_ENTRY_(M, T, a20) MICA_ENTRY_(M, T, a21) MICA_ENTRY_(M, T, a22)                        \
    MICA_ENTRY_(M, T, a23) MICA_ENTRY_(M, T, a24) MICA_ENTRY_(M, T, a25) MICA_ENTRY_(M, T, a26)                        \
    MICA_ENTRY_(M, T, a27) MICA_ENTRY_(M, T, a28) MICA_ENTRY_(M, T, a29) MICA_ENTRY_(M, T, a30)                        \
    MICA_ENTRY_(M, T, a31) MICA_ENTRY_(M, T, a32) MICA_ENTRY_(M, T, a33) MICA_ENTRY_(M, T, a34)                        \
    MICA_ENTRY_(M, T, a35) MICA_ENTRY_(M, T, a36) MICA_ENTRY_(M, T, a37) MICA_ENTRY_(M, T, a38)                        \
    MICA_ENTRY_(M, T, a39) MICA_ENTRY_(M, T, a40) MICA_ENTRY_(MICA_AT_MOST_40_ENTRIES_ARE_ALLOWED, T, a41)
#define MICA_ENTRY_(M, T, entry) MICA_JOIN_(MICA_ENTRY_, MICA_IS_WRAPPED_(entry))(M, T, entry)
#define MICA_ENTRY_0(M, T, entry) MICA_JOIN_(MICA_ENTRY_, MICA_CALL_(MICA_SECOND_, MICA_EMPTY_##entry, 1, 0))(M, T, entry)
#define MICA_ENTRY_1(M, T, entry) M(T, entry)
#define MICA_ENTRY_2(M, T, entry)
#define MICA_EMPTY_ 0, 2

#endif
