/* Mica, for_each: the preprocessor loop of the description and create macros. Nothing here is for direct use. */
#ifndef MICA_FOR_EACH_H
#define MICA_FOR_EACH_H

#define MICA_JOIN_(a, b) MICA_JOIN_2_(a, b)
#define MICA_JOIN_2_(a, b) a##b

/* MICA_IS_WRAPPED_((x)) is 1, MICA_IS_WRAPPED_(x) is 0. */
#define MICA_IS_WRAPPED_(entry) MICA_SECOND_(MICA_PROBE_ entry, 0, 0)
#define MICA_SECOND_(...) MICA_SECOND_2_(__VA_ARGS__)
#define MICA_SECOND_2_(first, second, ...) second
#define MICA_PROBE_(...) 0, 1

/* How many arguments there are, from 1 to 40. */
#define MICA_COUNT_(...) MICA_COUNT_2_(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define MICA_COUNT_2_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, count, ...) count

/* 1 for one argument, 2 for more. */
#define MICA_ONE_OR_MORE_(...) MICA_COUNT_2_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0)

/* MICA_FOR_EACH_(M, T, a, b) is M(T, a) M(T, b). */
#define MICA_FOR_EACH_(M, T, ...) MICA_JOIN_(MICA_EACH_, MICA_COUNT_(__VA_ARGS__))(M, T, __VA_ARGS__)
#define MICA_EACH_1(M, T, a) M(T, a)
#define MICA_EACH_2(M, T, a, ...) M(T, a) MICA_EACH_1(M, T, __VA_ARGS__)
#define MICA_EACH_3(M, T, a, ...) M(T, a) MICA_EACH_2(M, T, __VA_ARGS__)
#define MICA_EACH_4(M, T, a, ...) M(T, a) MICA_EACH_3(M, T, __VA_ARGS__)
#define MICA_EACH_5(M, T, a, ...) M(T, a) MICA_EACH_4(M, T, __VA_ARGS__)
#define MICA_EACH_6(M, T, a, ...) M(T, a) MICA_EACH_5(M, T, __VA_ARGS__)
#define MICA_EACH_7(M, T, a, ...) M(T, a) MICA_EACH_6(M, T, __VA_ARGS__)
#define MICA_EACH_8(M, T, a, ...) M(T, a) MICA_EACH_7(M, T, __VA_ARGS__)
#define MICA_EACH_9(M, T, a, ...) M(T, a) MICA_EACH_8(M, T, __VA_ARGS__)
#define MICA_EACH_10(M, T, a, ...) M(T, a) MICA_EACH_9(M, T, __VA_ARGS__)
#define MICA_EACH_11(M, T, a, ...) M(T, a) MICA_EACH_10(M, T, __VA_ARGS__)
#define MICA_EACH_12(M, T, a, ...) M(T, a) MICA_EACH_11(M, T, __VA_ARGS__)
#define MICA_EACH_13(M, T, a, ...) M(T, a) MICA_EACH_12(M, T, __VA_ARGS__)
#define MICA_EACH_14(M, T, a, ...) M(T, a) MICA_EACH_13(M, T, __VA_ARGS__)
#define MICA_EACH_15(M, T, a, ...) M(T, a) MICA_EACH_14(M, T, __VA_ARGS__)
#define MICA_EACH_16(M, T, a, ...) M(T, a) MICA_EACH_15(M, T, __VA_ARGS__)
#define MICA_EACH_17(M, T, a, ...) M(T, a) MICA_EACH_16(M, T, __VA_ARGS__)
#define MICA_EACH_18(M, T, a, ...) M(T, a) MICA_EACH_17(M, T, __VA_ARGS__)
#define MICA_EACH_19(M, T, a, ...) M(T, a) MICA_EACH_18(M, T, __VA_ARGS__)
#define MICA_EACH_20(M, T, a, ...) M(T, a) MICA_EACH_19(M, T, __VA_ARGS__)
#define MICA_EACH_21(M, T, a, ...) M(T, a) MICA_EACH_20(M, T, __VA_ARGS__)
#define MICA_EACH_22(M, T, a, ...) M(T, a) MICA_EACH_21(M, T, __VA_ARGS__)
#define MICA_EACH_23(M, T, a, ...) M(T, a) MICA_EACH_22(M, T, __VA_ARGS__)
#define MICA_EACH_24(M, T, a, ...) M(T, a) MICA_EACH_23(M, T, __VA_ARGS__)
#define MICA_EACH_25(M, T, a, ...) M(T, a) MICA_EACH_24(M, T, __VA_ARGS__)
#define MICA_EACH_26(M, T, a, ...) M(T, a) MICA_EACH_25(M, T, __VA_ARGS__)
#define MICA_EACH_27(M, T, a, ...) M(T, a) MICA_EACH_26(M, T, __VA_ARGS__)
#define MICA_EACH_28(M, T, a, ...) M(T, a) MICA_EACH_27(M, T, __VA_ARGS__)
#define MICA_EACH_29(M, T, a, ...) M(T, a) MICA_EACH_28(M, T, __VA_ARGS__)
#define MICA_EACH_30(M, T, a, ...) M(T, a) MICA_EACH_29(M, T, __VA_ARGS__)
#define MICA_EACH_31(M, T, a, ...) M(T, a) MICA_EACH_30(M, T, __VA_ARGS__)
#define MICA_EACH_32(M, T, a, ...) M(T, a) MICA_EACH_31(M, T, __VA_ARGS__)
#define MICA_EACH_33(M, T, a, ...) M(T, a) MICA_EACH_32(M, T, __VA_ARGS__)
#define MICA_EACH_34(M, T, a, ...) M(T, a) MICA_EACH_33(M, T, __VA_ARGS__)
#define MICA_EACH_35(M, T, a, ...) M(T, a) MICA_EACH_34(M, T, __VA_ARGS__)
#define MICA_EACH_36(M, T, a, ...) M(T, a) MICA_EACH_35(M, T, __VA_ARGS__)
#define MICA_EACH_37(M, T, a, ...) M(T, a) MICA_EACH_36(M, T, __VA_ARGS__)
#define MICA_EACH_38(M, T, a, ...) M(T, a) MICA_EACH_37(M, T, __VA_ARGS__)
#define MICA_EACH_39(M, T, a, ...) M(T, a) MICA_EACH_38(M, T, __VA_ARGS__)
#define MICA_EACH_40(M, T, a, ...) M(T, a) MICA_EACH_39(M, T, __VA_ARGS__)

#endif
